//! Runs the paths. One thread per path carries the frames of both directions. What a kernel answers by itself, such as
//! an acknowledgement, is there as soon as the thread has handed over the frame, without a wake-up.

use super::clock::Clock;
use super::forwarder::{Forwarder, Slept};
use super::processor::{ProcessorWaits, raise_priority};
use super::report::PathReport;
use super::waking::Waking;
use nix::poll::{PollFd, PollFlags};
use nix::sys::eventfd::EventFd;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use units::Time;

/// A running path.
#[derive(Debug)]
pub struct Runner {
    report: Arc<Mutex<PathReport>>,
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
    /// Why the thread runs at ordinary priority, if it does.
    pub ordinary_priority: Option<String>,
}

/// Wakes a waiting thread, to stop it.
#[derive(Debug)]
struct Stop {
    asked: AtomicBool,
    wake: EventFd,
}

impl Runner {
    /// Starts to carry the frames of a path. `forwarders`, there and back, are made on the thread that owns them.
    pub fn start(
        name: &str,
        forwarders: impl FnOnce() -> [Forwarder; 2] + Send + 'static,
        clock: Clock,
    ) -> io::Result<Self> {
        let report = Arc::new(Mutex::new(PathReport::new(name)));
        let stop = Arc::new(Stop { asked: AtomicBool::new(false), wake: EventFd::new()? });
        let (shared_report, shared_stop) = (report.clone(), stop.clone());
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        let thread = std::thread::Builder::new().name(format!("link {name}")).spawn(move || {
            // The receiver is gone only if the spawning thread panicked.
            let _ = tell.send(raise_priority());
            let worker = Worker {
                forwarders: forwarders(),
                ready: [true; 2],
                clock,
                report: shared_report,
                stop: shared_stop,
                waking: Waking::measured(clock),
                slept: None,
                waits: ProcessorWaits::open(),
            };
            worker.run();
        })?;
        let ordinary_priority = told.recv().ok().and_then(Result::err);
        Ok(Self { report, stop, thread: Some(thread), ordinary_priority })
    }

    /// The report of the path so far.
    pub fn report(&self) -> PathReport {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.stop.asked.store(true, Ordering::Relaxed);
        // The write fails only if the counter is near its limit, and then it is readable already.
        let _ = self.stop.wake.write(1);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Worker {
    forwarders: [Forwarder; 2],
    /// Whether each forwarder may have something to read.
    ready: [bool; 2],
    clock: Clock,
    report: Arc<Mutex<PathReport>>,
    stop: Arc<Stop>,
    waking: Waking,
    /// The thread's last sleep, if nothing has been read since.
    slept: Option<Slept>,
    waits: ProcessorWaits,
}

impl Worker {
    fn run(mut self) {
        while !self.stop.asked.load(Ordering::Relaxed) {
            for index in 0..2 {
                if self.ready[index] {
                    self.ready[index] = !self.forwarders[index].read(self.clock, &mut self.slept);
                }
                // A frame just sent may have been answered.
                self.ready[1 - index] |= self.forwarders[index].send_due(self.clock);
            }
            self.tell();
            if self.ready == [false; 2] {
                self.wait();
            }
        }
    }

    /// Updates the report, unless a reader holds it: a reader must not make this thread wait.
    fn tell(&mut self) {
        let Ok(mut report) = self.report.try_lock() else { return };
        let PathReport { forth, back, waits, .. } = &mut *report;
        self.forwarders.iter_mut().zip([forth, back]).for_each(|(forwarder, report)| forwarder.tell(report));
        self.waits.look(self.clock.now(), waits);
    }

    fn wait(&mut self) {
        let [forth, back] = &self.forwarders;
        let deadline = forth.deadline().min(back.deadline());
        let inputs = [forth.input(), back.input(), self.stop.wake.as_fd()];
        let mut inputs = inputs.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        self.slept = Some(Slept { since: self.clock.now(), waking: self.waking.usual() });
        self.waking.sleep(self.clock, &mut inputs, (deadline < Time::MAX).then_some(deadline));
        // An error event counts as ready, too: the read shows the error.
        self.ready = [0, 1].map(|index| inputs[index].revents().is_none_or(|events| !events.is_empty()));
    }
}
