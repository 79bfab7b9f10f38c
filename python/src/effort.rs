//! Work that takes time: in threads of its own, while other threads of Python go on.

use crate::errors::raised;
use pyo3::prelude::*;
use runs::{Effort, Error, Stop};
use sim::Progress;
use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often Python's signals are looked at and progress is told.
const LOOK: Duration = Duration::from_millis(50);

/// How runs are made, as Python says it.
pub struct Asked {
    /// Parallel runs.
    pub threads: Option<u32>,
    /// Called with the runs that have ended, the part that is done of those that go, and the simulated seconds of the
    /// run that is furthest.
    pub progress: Option<Py<PyAny>>,
}

/// Does work that takes time. Ctrl-C, and an exception of `progress`, ask it to stop; it then leaves nothing partial,
/// and the exception is raised.
pub fn watched<T: Send>(
    py: Python<'_>,
    asked: &Asked,
    work: impl FnOnce(&Effort<'_>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let stop = Stop::new();
    let far: Mutex<BTreeMap<usize, Progress>> = Mutex::new(BTreeMap::new());
    let progress = |run: usize, progress: &Progress| {
        far.lock().unwrap_or_else(PoisonError::into_inner).insert(run, *progress);
    };
    let (done, is_done) = channel::<()>();
    let mut raise: Option<PyErr> = None;
    let made = thread::scope(|scope| {
        let effort = Effort { threads: asked.threads, stop: &stop, progress: &progress };
        let worker = scope.spawn(move || {
            // Dropped with the thread's end, a panic included.
            let _done = done;
            work(&effort)
        });
        // The receiver is one thread's alone, and `detach` takes what may go to another.
        let is_done = Mutex::new(is_done);
        let wait = || is_done.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK);
        while py.detach(wait) == Err(RecvTimeoutError::Timeout) {
            if raise.is_none() {
                raise = py.check_signals().and_then(|()| tell(py, asked, &far)).err();
                if raise.is_some() {
                    stop.request();
                }
            }
        }
        py.detach(|| worker.join())
    });
    match (raise, made) {
        (Some(error), _) => Err(error),
        (None, Ok(Ok(made))) => {
            tell(py, asked, &far)?;
            Ok(made)
        }
        (None, Ok(Err(error))) => Err(raised(py, &error)),
        (None, Err(_)) => {
            let message = "an error of trunkline, not of the input: please report it with the scenario";
            Err(raised(py, &Error::Internal(message.to_owned())))
        }
    }
}

fn tell(py: Python<'_>, asked: &Asked, far: &Mutex<BTreeMap<usize, Progress>>) -> PyResult<()> {
    let Some(progress) = &asked.progress else { return Ok(()) };
    let (ended, part, now) = {
        let far = far.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = far.values().filter(|progress| progress.done >= 1.0).count();
        let part: f64 = far.values().map(|progress| progress.done).filter(|done| *done < 1.0).sum();
        let now = far.values().map(|progress| progress.now).max().unwrap_or_default();
        (ended, part, now.as_secs_f64())
    };
    progress.call1(py, (ended, part, now)).map(|_| ())
}
