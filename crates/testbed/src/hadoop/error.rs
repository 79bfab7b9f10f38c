//! Errors of clusters and of jobs on them.

use crate::link::LinkError;
use std::io;
use thiserror::Error;

/// Why a cluster or a job did not do what was asked.
#[derive(Debug, Error)]
pub enum HadoopError {
    /// Invalid input.
    #[error("{0}")]
    Input(String),
    /// This machine lacks something.
    #[error("{what} is missing: {help}")]
    Missing {
        /// What is not there.
        what: String,
        /// What would bring it.
        help: String,
    },
    /// The job failed, or the cluster did.
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
    /// The links cannot be made.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
}

impl HadoopError {
    /// For `map_err`: the system refused to do `what`.
    pub fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::System { what: what.into(), error }
    }

    pub(super) fn missing(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Missing { what: what.into(), help: help.into() }
    }
}
