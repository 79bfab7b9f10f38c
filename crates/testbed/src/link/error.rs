//! What can go wrong with a link.

use std::io;
use thiserror::Error;

/// Why there is no link.
#[derive(Debug, Error)]
pub enum LinkError {
    /// Bad input.
    #[error("{0}")]
    Input(String),
    /// This machine, or this user, cannot.
    #[error("this host lacks {capability}: {reason}")]
    Missing {
        /// The missing capability.
        capability: &'static str,
        /// How its absence was seen, and what would help.
        reason: String,
    },
    /// The system refused something that it should have done.
    #[error("cannot {what}: {error}")]
    System {
        /// What was tried.
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
