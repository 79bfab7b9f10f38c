//! How runs are made, which never changes what comes out of them.

use crate::Stop;
use sim::Progress;
use std::num::NonZero;
use std::thread;

/// How runs are made: threads, interruption, progress.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Runs at the same time; the cores of this machine where none is given.
    pub threads: Option<u32>,
    /// Asked many times a second.
    pub stop: &'a Stop,
    /// Is told how far each run is, by its position among all that were asked for.
    pub progress: &'a (dyn Fn(usize, &Progress) + Sync),
}

impl Effort<'_> {
    /// Threads for so many runs.
    pub(crate) fn threads_for(&self, runs: usize) -> usize {
        let cores = || thread::available_parallelism().map_or(1, NonZero::get);
        self.threads.map_or_else(cores, |threads| threads as usize).min(runs).max(1)
    }

    /// Tells that an earlier call has made a run.
    pub(crate) fn made_before(&self, run: usize) {
        (self.progress)(run, &Progress { done: 1.0, ..Progress::default() });
    }
}
