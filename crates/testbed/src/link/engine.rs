//! Runs the paths. One thread per path carries the frames of both directions. What a kernel answers by itself, such as
//! an acknowledgement, is there as soon as the thread has handed over the frame, without a wake-up.

use super::clock::Clock;
use super::forwarder::{Forwarder, Slept};
use super::processor::{ProcessorWaits, raise_priority};
use super::report::PathReport;
use super::waking::Waking;
use nix::poll::{PollFd, PollFlags};
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use units::{BitRate, Time};

/// A running path.
#[derive(Debug)]
pub struct Runner {
    report: Arc<Mutex<PathReport>>,
    orders: Arc<Orders>,
    thread: Option<JoinHandle<()>>,
    /// Why the thread runs at ordinary priority, if it does.
    pub ordinary_priority: Option<String>,
}

/// What a thread is to do beside carrying frames, and what wakes it for that.
#[derive(Debug)]
struct Orders {
    stop: AtomicBool,
    /// New rates: the direction, there 0 and back 1, and its rate.
    rates: Mutex<Vec<(usize, Option<BitRate>)>>,
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
        let (stop, rates) = (AtomicBool::new(false), Mutex::default());
        let orders = Arc::new(Orders { stop, rates, wake: EventFd::from_flags(EfdFlags::EFD_NONBLOCK)? });
        let (shared_report, shared_orders) = (report.clone(), orders.clone());
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        let thread = std::thread::Builder::new().name(format!("link {name}")).spawn(move || {
            // The receiver is gone only if the spawning thread panicked.
            let _ = tell.send(raise_priority());
            let worker = Worker {
                forwarders: forwarders(),
                ready: [true; 2],
                clock,
                report: shared_report,
                orders: shared_orders,
                waking: Waking::measured(clock),
                slept: None,
                waits: ProcessorWaits::open(),
            };
            worker.run();
        })?;
        let ordinary_priority = told.recv().ok().and_then(Result::err);
        Ok(Self { report, orders, thread: Some(thread), ordinary_priority })
    }

    /// Changes the rate of a direction, there 0 and back 1, of a path without a trace; `None` is unlimited.
    pub fn set_rate(&self, direction: usize, rate: Option<BitRate>) {
        self.orders.rates.lock().unwrap_or_else(PoisonError::into_inner).push((direction, rate));
        self.orders.wake();
    }

    /// The report of the path so far.
    pub fn report(&self) -> PathReport {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.orders.stop.store(true, Ordering::Relaxed);
        self.orders.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Orders {
    fn wake(&self) {
        // The write fails only if the counter is near its limit, and then it is readable already.
        let _ = self.wake.write(1);
    }
}

struct Worker {
    forwarders: [Forwarder; 2],
    /// Whether each forwarder may have something to read.
    ready: [bool; 2],
    clock: Clock,
    report: Arc<Mutex<PathReport>>,
    orders: Arc<Orders>,
    waking: Waking,
    /// The thread's last sleep, if nothing has been read since.
    slept: Option<Slept>,
    waits: ProcessorWaits,
}

impl Worker {
    fn run(mut self) {
        while !self.orders.stop.load(Ordering::Relaxed) {
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
        let inputs = [forth.input(), back.input(), self.orders.wake.as_fd()];
        let mut inputs = inputs.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        self.slept = Some(Slept { since: self.clock.now(), waking: self.waking.usual() });
        self.waking.sleep(self.clock, &mut inputs, (deadline < Time::MAX).then_some(deadline));
        // An error event counts as ready, too: the read shows the error.
        let happened = [0, 1, 2].map(|index| inputs[index].revents().is_none_or(|events| !events.is_empty()));
        self.ready = [happened[0], happened[1]];
        if happened[2] {
            self.obey();
        }
    }

    /// Does what it was woken for.
    fn obey(&mut self) {
        // There is nothing to read if the poll has failed.
        let _ = self.orders.wake.read();
        let rates = std::mem::take(&mut *self.orders.rates.lock().unwrap_or_else(PoisonError::into_inner));
        for (direction, rate) in rates {
            self.forwarders[direction].set_rate(self.clock, rate);
        }
    }
}
