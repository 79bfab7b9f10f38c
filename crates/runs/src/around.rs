//! Threads, interruption and progress of runs. None of them changes a result.

use crate::Stop;
use sim::Progress;
use std::num::NonZero;
use std::thread;

/// How runs are made: threads, interruption, progress.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Parallel runs; `None` for as many as this machine has cores.
    pub threads: Option<u32>,
    /// The request to stop, polled many times a second.
    pub stop: &'a Stop,
    /// Called with the progress of each run, and the run's position among all.
    pub progress: &'a (dyn Fn(usize, &Progress) + Sync),
}

impl Effort<'_> {
    /// Threads for so many runs.
    pub(crate) fn threads_for(&self, runs: usize) -> usize {
        let cores = || thread::available_parallelism().map_or(1, NonZero::get);
        self.threads.map_or_else(cores, |threads| threads as usize).min(runs).max(1)
    }

    /// Reports a run that an earlier call has made.
    pub fn made_before(&self, run: usize) {
        (self.progress)(run, &Progress { done: 1.0, ..Progress::default() });
    }
}
