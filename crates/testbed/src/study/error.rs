//! Why a cell has no figures.

use crate::link::LinkError;
use std::io;
use thiserror::Error;

/// Why a cell could not be measured.
#[derive(Debug, Error)]
pub enum TrialError {
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
    /// There is no link.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A program is not there.
    #[error("{program} is not installed: apt-get install {package}")]
    Missing {
        /// The program's name.
        program: &'static str,
        /// The Debian package of the program.
        package: &'static str,
    },
    /// A server, a gateway or the program failed.
    #[error("{0}")]
    Failed(String),
    /// The system refused something.
    #[error("cannot {what}: {error}")]
    System {
        /// What was tried.
        what: String,
        /// The system's error.
        error: io::Error,
    },
}

impl TrialError {
    pub(super) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::System { what: what.into(), error }
    }
}
