//! Why a file is not read.

use placement::{ScanError, TooLong};
use std::io;
use thiserror::Error;

/// Why a file is not read.
#[derive(Debug, Error)]
pub enum Error {
    /// The operating system's answer.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Its bytes are not what its format has there.
    #[error("it is broken at byte {at}: {what}")]
    Broken {
        /// The byte of the file.
        at: u64,
        /// What is wrong.
        what: String,
    },
    /// What is well-formed, and not read here.
    #[error("{0}")]
    Unread(String),
    /// The question does not fit the file.
    #[error("{0}")]
    Key(String),
    /// A record does not fit the question.
    #[error(transparent)]
    Record(#[from] ScanError),
    /// The reading was stopped.
    #[error("stopped")]
    Stopped,
}

impl Error {
    /// Broken at a byte.
    pub fn broken(at: u64, what: impl Into<String>) -> Self {
        Self::Broken { at, what: what.into() }
    }
}

impl From<TooLong> for Error {
    fn from(error: TooLong) -> Self {
        Self::Record(error.into())
    }
}
