//! What a run says while it goes on, and how it can end badly.

use crate::results::Balance;
use hadoop::mapreduce::Wait;
use std::fmt;
use std::ops::ControlFlow;
use thiserror::Error;
use units::Time;

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// The part that is done, 0 to 1: of the jobs' and the bounded traffic's bytes, or of the time where the run ends by time.
    pub done: f64,
    /// Events handled.
    pub events: u64,
    /// Packet-hops made.
    pub hops: u64,
}

/// Is told the progress every few thousand events; answers whether to go on.
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
    /// The jobs made no progress for too long.
    #[error("{0}")]
    Stalled(Stall),
    /// A conservation law does not hold: an error of the simulator.
    #[error("{}", violations(.0))]
    Ledger(Vec<Balance>),
}

/// Jobs that got nowhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Stall {
    /// When they last made progress.
    pub since: Time,
    /// When the run was given up.
    pub at: Time,
    /// Who waits for what, longest first.
    pub waits: Vec<Wait>,
}

/// So many lines of the account are shown.
const MOST_WAITS: usize = 40;

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, since) = (self.at.as_secs_f64(), self.since.as_secs_f64());
        write!(f, "no progress from {since:.1} s to {at:.1} s (`run.no-progress`)")?;
        for wait in self.waits.iter().take(MOST_WAITS) {
            write!(f, "\n  {wait}")?;
        }
        match self.waits.len().saturating_sub(MOST_WAITS) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

fn violations(balances: &[Balance]) -> String {
    let line = |balance: &Balance| {
        let parts: Vec<_> = balance.accounted.iter().map(|(name, count)| format!("{count} {name}")).collect();
        format!("\n  {}: {} offered, accounted for: {}", balance.what, balance.offered, parts.join(", "))
    };
    let lines: String = balances.iter().map(line).collect();
    format!("conservation is violated, so the result cannot be trusted:{lines}")
}
