//! The request to stop.

use crate::Error;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// The request to stop, shared between a requester (a signal handler, another thread) and runs, which poll it.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// No request yet.
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Requests all runs with this `Stop` to end.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a request was made.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The request as a `ControlFlow`, for a watcher.
    pub fn check(&self) -> ControlFlow<()> {
        if self.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Fails with [`Error::Interrupted`] after a request.
    pub fn look(&self) -> Result<(), Error> {
        if self.requested() { Err(Error::Interrupted) } else { Ok(()) }
    }
}
