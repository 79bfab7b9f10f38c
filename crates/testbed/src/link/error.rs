//! Errors of links.

use std::io;
use thiserror::Error;

/// Why a link cannot be made.
#[derive(Debug, Error)]
pub enum LinkError {
    /// Invalid input.
    #[error("{0}")]
    Input(String),
    /// This machine or user lacks a capability.
    #[error("this host lacks {capability}: {reason}")]
    Missing {
        /// The missing capability.
        capability: &'static str,
        /// How its absence was noticed, and what would help.
        reason: String,
    },
    /// The system refused an operation.
    #[error("cannot {what}: {error}")]
    System {
        /// The operation.
        what: String,
        /// The system's error.
        error: io::Error,
    },
}

impl LinkError {
    pub(super) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::System { what: what.into(), error }
    }
}
