//! Errors of runs, and their exit codes.

use crate::FolderError;
use scenario::ScenarioError;
use sim::RunError;
use std::io;
use std::path::Path;
use thiserror::Error as Derive;

/// The exit codes of the program, and of whatever else reports errors by number.
pub mod exit {
    /// An internal error, or a conservation law violated.
    pub const INTERNAL: u8 = 1;
    /// Bad input.
    pub const INPUT: u8 = 2;
    /// The simulated job failed.
    pub const JOB: u8 = 3;
    /// This host lacks a capability.
    pub const MISSING: u8 = 4;
    /// Output could not be written.
    pub const OUTPUT: u8 = 5;
    /// Interrupted by a signal: 128 + SIGINT, as shells count.
    pub const INTERRUPTED: u8 = 130;
}

/// Why there is no result. The message says what is wrong and where.
#[derive(Clone, Debug, Derive)]
pub enum Error {
    /// An error of the program, or a violated conservation law.
    #[error("{0}")]
    Internal(String),
    /// Wrong input.
    #[error("{0}")]
    Input(String),
    /// Problems of a scenario, with their places.
    #[error("{0}")]
    Scenario(ScenarioError),
    /// Output could not be written.
    #[error("{0}")]
    Output(String),
    /// Interrupted on request. Nothing is left behind.
    #[error("interrupted: nothing is left behind")]
    Interrupted,
    /// Interrupted on request. Finished runs are kept; the text says where, and how to continue.
    #[error("interrupted: {0}")]
    Kept(String),
}

impl Error {
    /// The class of the error as a process's exit code.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Internal(_) => exit::INTERNAL,
            Self::Input(_) | Self::Scenario(_) => exit::INPUT,
            Self::Output(_) => exit::OUTPUT,
            Self::Interrupted | Self::Kept(_) => exit::INTERRUPTED,
        }
    }

    /// A file that cannot be read.
    pub fn reading(path: &Path, error: &io::Error) -> Self {
        Self::Input(format!("cannot read {}: {}", path.display(), cause(error)))
    }

    /// A file that cannot be written.
    pub fn writing(path: &Path, error: &io::Error) -> Self {
        Self::Output(format!("cannot write {}: {}", path.display(), cause(error)))
    }
}

/// The system's words without its number.
pub(crate) fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

impl From<FolderError> for Error {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::Interrupted => Self::Interrupted,
            other => Self::Output(other.to_string()),
        }
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Interrupted => Self::Interrupted,
            RunError::Scenario(message) => Self::Input(message),
            RunError::Ledger(_) => Self::Internal(error.to_string()),
        }
    }
}
