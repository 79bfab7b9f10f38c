//! A scenario becomes a world, runs, and leaves results.

pub mod bench;
pub mod import;
pub mod report;
pub mod results;
pub mod scenario;
pub mod traffic;
pub mod transport;
mod watch;
pub mod world;

pub use watch::{Progress, RunError, Watch};
