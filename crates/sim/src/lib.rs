//! A scenario becomes a world, runs, and leaves results.

pub mod report;
pub mod results;
pub mod scenario;
mod watch;

pub use watch::{Progress, RunError, Watch};
