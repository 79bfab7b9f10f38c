//! What the machine hears of disks, wants done, and tells.

use super::counters::Io;
use serde::{Deserialize, Serialize};

/// The state of a disk as its driver tells it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seen {
    /// Its motor turns.
    Awake,
    /// It rests.
    Standby,
    /// Not known, and why.
    Unknown(String),
}

/// Who said something over the socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Who {
    /// The user, by number.
    pub uid: u32,
    /// The process, by number in the daemon's namespace.
    pub pid: i32,
}

/// What is to be done, in this order.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// Write the journal. A [`Effect::Rest`] behind it is not carried out where that fails, but reported as failed.
    Keep,
    /// Ask the driver for the state of this disk, then read its counters.
    Look(usize),
    /// Put the disk into standby.
    Rest(usize),
    /// Start the disk.
    Wake(usize),
    /// Something to tell.
    Tell(Event),
}

/// Something to tell.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A disk has come to rest.
    Rest {
        /// The disk.
        disk: String,
        /// Whether by the daemon; else by a command of somebody else's or a timer of its own.
        own: bool,
    },
    /// A disk was woken.
    Wake {
        /// The disk.
        disk: String,
        /// Why: `read`, `write`, `discard`, `flush`, several of them; `outside`: no request of the block layer; the
        /// hint's or the policy's name; `end` of the daemon; `boot` of the machine.
        cause: String,
        /// Who gave the hint.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<Who>,
        /// Requests since it came to rest.
        io: Io,
        /// Seconds since the daemon knows that it rests.
        rested_s: f64,
        /// Whether it happened while no daemon ran.
        away: bool,
    },
    /// What a disk's state is cannot be said any more; nothing is done with it.
    Unknown {
        /// The disk.
        disk: String,
        /// Why.
        why: String,
    },
    /// A command failed, or had no effect.
    Failed {
        /// The disk.
        disk: String,
        /// `rest` or `wake`.
        what: String,
        /// Why.
        why: String,
    },
}
