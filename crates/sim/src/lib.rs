//! A scenario becomes a world, runs, and leaves results.

mod air;
pub mod bench;
mod build;
mod cluster;
mod energy;
mod flows;
mod harvest;
mod hosts;
pub mod import;
mod jobs;
pub mod report;
pub mod results;
mod run;
mod sample;
pub mod scenario;
pub mod study;
mod throttle;
pub mod traffic;
pub mod transport;
mod watch;
pub mod world;

pub use air::AirSpec;
pub use flows::{MOST_FLOWS, SAMPLE, TakeFlows};
pub use run::{Tap, run, run_tapped, run_with};
pub use watch::{Progress, RunError, Watch};
