//! What the daemon says of itself.

use super::event::Event;
use super::journal::Ledger;
use serde::{Deserialize, Serialize};

/// The daemon's status.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Status {
    /// The policy.
    pub policy: String,
    /// Starts that each disk may have in any 24 hours; none without a budget.
    pub starts_per_day: Option<u32>,
    /// Seconds since the daemon was started.
    pub up_s: f64,
    /// Why the journal could not be written, while that is so: no disk is put to rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal_error: Option<String>,
    /// The disks.
    pub disks: Vec<DiskStatus>,
    /// What happened last, each with its seconds since 1970.
    pub events: Vec<(f64, Event)>,
}

/// A disk's status.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DiskStatus {
    /// Its name.
    pub name: String,
    /// `awake`, `standby` or `unknown`.
    pub state: String,
    /// Why the state is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the policy wants it to do: `ready` or `rest`.
    pub wants: String,
    /// Seconds at rest, if it rests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rests_for_s: Option<f64>,
    /// Starts that its budget has left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_left: Option<f64>,
    /// What it did under daemons of this journal.
    pub ledger: Ledger,
}
