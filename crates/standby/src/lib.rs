//! The daemon of `trunkline power daemon`: puts a DataNode's backup disks into standby, and says who woke them.
//!
//! [`Machine`] decides, by the policies of `storage::power` and without I/O. [`run`](fn@run) is around it: counters of
//! the block layer, programs that talk to the disks, the socket, the journal.

mod ask;
mod client;
mod counters;
mod device;
mod driver;
mod event;
mod host;
mod journal;
mod lock;
mod machine;
mod privileges;
mod program;
mod run;
mod sense;
mod simulated;
mod socket;
mod status;

pub use ask::{Ask, AskError, Use};
pub use client::ask;
pub use counters::{Counters, CountersError, Io};
pub use device::DeviceSpec;
pub use driver::{DriverSpec, Programs};
pub use event::{Effect, Event, Seen, Who};
pub use journal::{Journal, KeptDisk, KeptRest, Ledger};
pub use machine::{DiskSpec, Machine, Spec};
pub use run::{DaemonSpec, run};
pub use sense::{hdparm_state, sense_state};
pub use simulated::SimulatedDisk;
pub use status::{DiskStatus, Status};

/// Why a daemon did not start, or ended.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Failure {
    /// What it was told is wrong.
    #[error("{0}")]
    Input(String),
    /// This machine lacks something.
    #[error("{0}")]
    Missing(String),
    /// Its files could not be written.
    #[error("{0}")]
    Output(String),
}

impl Failure {
    /// The same of one disk.
    fn of(self, disk: &str) -> Self {
        let with = |why: String| format!("disk {disk}: {why}");
        match self {
            Self::Input(why) => Self::Input(with(why)),
            Self::Missing(why) => Self::Missing(with(why)),
            Self::Output(why) => Self::Output(with(why)),
        }
    }
}
