//! The wish to stop.

use crate::Error;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// The wish to stop, shared between who asks (a signal handler, another thread) and the runs that look at it.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Nobody has asked yet.
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Asks all that look at it to stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody has asked.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The answer to a run that asks whether to go on.
    pub fn check(&self) -> ControlFlow<()> {
        if self.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// [`Error::Interrupted`] if somebody has asked.
    pub fn look(&self) -> Result<(), Error> {
        if self.requested() { Err(Error::Interrupted) } else { Ok(()) }
    }
}
