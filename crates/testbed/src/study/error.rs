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
    /// The link could not be made.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A program is not installed.
    #[error("{program} is not installed{}", source(package))]
    Missing {
        /// The program's name.
        program: &'static str,
        /// The Debian package of the program; empty if there is none.
        package: &'static str,
    },
    /// A server, a gateway or the program failed.
    #[error("{0}")]
    Failed(String),
    /// The system refused an operation.
    #[error("cannot {what}: {error}")]
    System {
        /// The operation.
        what: String,
        /// The system's error.
        error: io::Error,
    },
}

fn source(package: &str) -> String {
    if package.is_empty() {
        ", and Debian has no package of it".to_owned()
    } else {
        format!(": apt-get install {package}")
    }
}

impl TrialError {
    pub(super) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::System { what: what.into(), error }
    }
}
