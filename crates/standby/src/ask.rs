//! What is said over the socket: one line of JSON each way.

use serde::{Deserialize, Serialize};
use storage::power::{Hint, Phase};
use units::Time;

/// The longest line.
pub(crate) const LONGEST: usize = 4_096;

/// Something that is asked or told.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ask {
    /// The status.
    Status {},
    /// A disk is to start, as for a window of background work.
    Wake {
        /// Its name.
        disk: String,
    },
    /// A simulated disk is used.
    Use {
        /// Its name.
        disk: String,
        /// What is asked of it: a read, a write, or a command past the block layer.
        what: Use,
    },
    /// How far a job is with this node's primary blocks.
    Progress {
        /// Blocks that are not fetched yet.
        left: u32,
        /// Mean seconds between two fetches.
        each_s: f64,
        /// Whether other nodes will have unread blocks by then.
        helping: bool,
    },
    /// The last primary block was fetched.
    LastBlock {},
    /// No job runs any more.
    JobOver {},
    /// Data are imported, replicas are made again, or neither.
    Phase {
        /// What the node does from now on.
        phase: PhaseName,
    },
    /// So many gears are in use; the primaries alone are one.
    Gears {
        /// How many.
        gears: u32,
    },
    /// A primary disk has failed, of this node or of one that it backs up.
    PrimaryFailed {},
    /// A disk is likely to fail.
    FailureExpected {},
    /// Writes are many, or not any more.
    WriteIntensive {
        /// Whether they are.
        many: bool,
    },
}

/// How a simulated disk is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Use {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A discard.
    Discard,
    /// A flush.
    Flush,
    /// A command to start, past the block layer.
    Start,
}

/// What goes on in the cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseName {
    /// Jobs, or nothing.
    Jobs,
    /// Data are copied into the file system.
    Import,
    /// Lost replicas are made again.
    Recovery,
}

/// Why a line is nothing that can be asked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AskError {
    /// Not JSON, or nothing known.
    #[error("{0}; a line is like {{\"ask\": \"status\"}}")]
    Line(String),
    /// Longer than a line may be.
    #[error("a line has at most {LONGEST} bytes")]
    Long,
    /// No time that a fetch may take.
    #[error("`each_s` is {0}: it is a number of seconds from 0 to 1000000")]
    Each(String),
}

impl Ask {
    /// Reads a line.
    pub fn parse(line: &[u8]) -> Result<Self, AskError> {
        if line.len() > LONGEST {
            return Err(AskError::Long);
        }
        let ask = serde_json::from_slice(line).map_err(|error| AskError::Line(error.to_string()))?;
        match ask {
            Self::Progress { each_s, .. } if !(0.0..=1e6).contains(&each_s) => Err(AskError::Each(each_s.to_string())),
            ask => Ok(ask),
        }
    }
    /// As the policies have it, if it is a hint.
    pub fn hint(&self) -> Option<Hint> {
        match *self {
            Self::Status {} | Self::Wake { .. } | Self::Use { .. } => None,
            Self::Progress { left, each_s, helping } => {
                Some(Hint::Progress { left, each: Time::from_secs_f64(each_s), helping })
            }
            Self::LastBlock {} => Some(Hint::LastBlock),
            Self::JobOver {} => Some(Hint::JobOver),
            Self::Phase { phase } => Some(Hint::Phase(match phase {
                PhaseName::Jobs => Phase::Jobs,
                PhaseName::Import => Phase::Import,
                PhaseName::Recovery => Phase::Recovery,
            })),
            Self::Gears { gears } => Some(Hint::Gears(gears)),
            Self::PrimaryFailed {} => Some(Hint::PrimaryFailed),
            Self::FailureExpected {} => Some(Hint::FailureExpected),
            Self::WriteIntensive { many } => Some(Hint::WriteIntensive(many)),
        }
    }
}
