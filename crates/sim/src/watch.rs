//! What a run says while it goes on, and how it can end badly.

use results::Balance;
use std::ops::ControlFlow;
use thiserror::Error;
use units::Time;

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// The part that is done, 0 to 1: of the jobs' and the bounded traffic's bytes, or of the time where the run ends
    /// by time.
    pub done: f64,
    /// Events handled.
    pub events: u64,
    /// Packet-hops made.
    pub hops: u64,
}

/// Is told the progress every few thousand events, and while the world is built and its results are gathered; answers
/// whether to go on.
pub type Watch<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + 'a;

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RunError {
    /// The watcher asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The scenario names something that does not exist, as only the world that it builds can tell.
    #[error("{0}")]
    Scenario(String),
    /// A conservation law does not hold: an error of the simulator.
    #[error("{}", violations(.0))]
    Ledger(Vec<Balance>),
}

/// Asks the watcher where nothing is simulated: before the first event, and after the last.
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
