//! Stalled runs: jobs made no progress, and the run was given up.

use super::metrics::{Metrics, figure};
use hadoop::mapreduce::Wait;
use std::fmt;
use units::Time;

/// A stall: when, and who waits for what.
#[derive(Clone, Debug, PartialEq)]
pub struct Stall {
    /// When they last made progress.
    pub since: Time,
    /// When the run was given up.
    pub at: Time,
    /// Who waits for what, longest first.
    pub waits: Vec<Wait>,
}

/// The most lines of the account that are shown.
const MOST_WAITS: usize = 40;

impl Stall {
    /// Why the jobs failed.
    pub fn reason(&self) -> String {
        let (at, since) = (self.at.as_secs_f64(), self.since.as_secs_f64());
        format!("no progress from {since:.1} s to {at:.1} s (`run.no-progress`)")
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason())?;
        for wait in self.waits.iter().take(MOST_WAITS) {
            write!(f, "\n  {wait}")?;
        }
        match self.waits.len().saturating_sub(MOST_WAITS) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

/// Why a run was given up.
pub static STALLED: Metrics<Stall> = Metrics {
    name: "stalled",
    what: "Of a run that was given up: jobs that made no progress.",
    file: None,
    metrics: &[
        figure("since_s", "When they last made progress.").time(|stall| stall.since),
        figure("at_s", "When the run was given up.").time(|stall| stall.at),
        figure("waits", "Who waits for what, longest first.")
            .inner(&WAITS, |stall| WAITS.list(stall.run, &stall.waits)),
    ],
};

/// Who waits for what.
pub static WAITS: Metrics<Wait> = Metrics {
    name: "waits",
    what: "Somebody who waited when the run was given up.",
    file: None,
    metrics: &[
        figure("who", "Who waits.").text(|wait| wait.who.clone()),
        figure("waits_for", "What it waits for.").text(|wait| wait.what.clone()),
        figure("since_s", "Since when.").time(|wait| wait.since),
    ],
};
