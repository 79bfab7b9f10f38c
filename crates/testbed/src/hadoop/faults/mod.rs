//! Faults of a cluster, as its scenario lists them.
//!
//! The supervisor makes them, since it holds the daemons and the links: a [`FaultServer`]. Whoever runs a job tells it
//! when the job was submitted, and at the job's end asks what was done, by a [`FaultSession`]. When the session ends,
//! however it does, the faults end with it.

mod disk;
mod plan;
mod server;
mod session;

pub use disk::{Disk, LARGEST as LARGEST_DISK, clear, disks_held_below, lacking, lacking_for_slow};
pub use plan::{Planned, What, check, planned, slow_disks};
pub use server::FaultServer;
pub use session::FaultSession;

use serde::{Deserialize, Serialize};

/// What was done of a fault.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Deed {
    /// Which of the scenario's faults, from 0.
    pub fault: usize,
    /// What was done, in words.
    pub what: String,
    /// When it began, in milliseconds since 1970; none if the job was over before.
    pub began_ms: Option<u64>,
    /// When it was undone.
    pub ended_ms: Option<u64>,
    /// When daemons that were started again had registered with their masters.
    pub ready_ms: Option<u64>,
    /// Why it could not be done.
    pub failed: Option<String>,
}

/// The socket's name in a cluster's folder.
const SOCKET: &str = "faults";

/// What a session says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    /// The job was submitted, at this many milliseconds since 1970.
    Submitted(u64),
    /// The job is over.
    Over,
}
