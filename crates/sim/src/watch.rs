//! Progress of a run, interruption, and errors.

use results::Balance;
use std::ops::ControlFlow;
use thiserror::Error;
use units::Time;

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Progress, 0 to 1: of the jobs, or of the simulated time limit in a run without jobs.
    pub done: f64,
    /// Events handled.
    pub events: u64,
    /// Packet-hops simulated.
    pub hops: u64,
}

/// The watcher of a run. It is called with the progress many times a second, also while the world is built and results
/// are collected, and answers whether to go on.
pub type Watch<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + 'a;

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RunError {
    /// The watcher asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The scenario names something that does not exist in its world.
    #[error("{0}")]
    Scenario(String),
    /// A conservation law does not hold: an error of the simulator.
    #[error("{}", violations(.0))]
    Ledger(Vec<Balance>),
}

/// Calls the watcher outside of the event loop: before the first event, and after the last.
pub(crate) fn look(watch: &mut Watch, progress: &Progress) -> Result<(), RunError> {
    if watch(progress).is_break() { Err(RunError::Interrupted) } else { Ok(()) }
}

fn violations(balances: &[Balance]) -> String {
    let line = |balance: &Balance| {
        let parts: Vec<_> = balance.accounted.iter().map(|(name, count)| format!("{count} {name}")).collect();
        format!("\n  {}: {} offered, accounted for: {}", balance.what, balance.offered, parts.join(", "))
    };
    let lines: String = balances.iter().map(line).collect();
    format!("conservation is violated, so the result cannot be trusted:{lines}")
}
