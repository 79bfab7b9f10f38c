//! Moves frames between TAP devices: one thread for each direction of each path.

use super::clock::Clock;
use super::frame;
use super::lane::Lane;
use super::lateness::Lateness;
use super::report::LaneReport;
use net::{Ecn, Item, PacketId};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::EventFd;
use nix::sys::time::TimeSpec;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};
use tun_rs::SyncDevice;
use units::Time;

/// A running direction of a path.
#[derive(Debug)]
pub struct Runner {
    report: Arc<Mutex<LaneReport>>,
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
    /// Why its thread runs at ordinary priority, if it does.
    pub ordinary_priority: Option<String>,
}

/// Wakes a thread that waits, for the last time.
#[derive(Debug)]
struct Stop {
    asked: AtomicBool,
    wake: EventFd,
}

/// So many frames are read before those that are due are sent.
const BATCH: usize = 16;
/// A frame without virtual LAN tags has 1514 bytes.
const BUFFER: usize = 1_536;
/// Above ordinary threads, below the kernel's own (50 and up).
const PRIORITY: u8 = 20;
/// A processor that sleeps needs about this long to wake: a thread whose next frame is due after a longer pause wakes so much earlier, and then
/// watches the clock. One whose frames follow each other closely does not, because it would never sleep.
const WAKING: Time = Time::from_us(120);
const PAUSE: Time = Time::from_us(1_000);
/// The kernel is asked this often, at most, for how long the thread had to wait for a processor.
const WAITS_EVERY: Time = Time::from_ms(10);

impl Runner {
    /// Begins to carry frames from one device to another through a lane, which is made on the thread that owns it.
    pub fn start(
        lane: impl FnOnce() -> Lane + Send + 'static,
        clock: Clock,
        from: Arc<SyncDevice>,
        to: Arc<SyncDevice>,
    ) -> io::Result<Self> {
        let report = Arc::new(Mutex::new(LaneReport::default()));
        let stop = Arc::new(Stop { asked: AtomicBool::new(false), wake: EventFd::new()? });
        let (shared_report, shared_stop) = (report.clone(), stop.clone());
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        let thread = std::thread::Builder::new().name("link".to_owned()).spawn(move || {
            // Nobody listens any more only if this one panicked.
            let _ = tell.send(raise_priority());
            let worker = Worker {
                lane: lane(),
                clock,
                from,
                to,
                frames: Frames::default(),
                gone: Vec::new(),
                report: shared_report,
                stop: shared_stop,
                lateness: Vec::new(),
                marked: 0,
                refused: 0,
                watched: Time::MAX,
                waits: ProcessorWaits::open(),
            };
            worker.run();
        })?;
        let ordinary_priority = told.recv().ok().and_then(Result::err);
        Ok(Self { report, stop, thread: Some(thread), ordinary_priority })
    }

    /// What it has done so far.
    pub fn report(&self) -> LaneReport {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.stop.asked.store(true, Ordering::Relaxed);
        // Only a counter near its limit refuses, and that one is readable already.
        let _ = self.stop.wake.write(1);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// First in, first out, real-time: an ordinary thread that has something to do waits meanwhile.
fn raise_priority() -> Result<(), String> {
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let priority = ThreadPriority::try_from(PRIORITY)?;
    set_thread_priority_and_policy(thread_native_id(), priority, policy)
        .map_err(|error| format!("SCHED_FIFO is refused: {error}"))
}

struct Worker {
    lane: Lane,
    clock: Clock,
    from: Arc<SyncDevice>,
    to: Arc<SyncDevice>,
    frames: Frames,
    /// Reused for frames that the lane has dropped or lost.
    gone: Vec<Item>,
    report: Arc<Mutex<LaneReport>>,
    stop: Arc<Stop>,
    /// Of frames that are not in the report yet.
    lateness: Vec<Time>,
    marked: u64,
    refused: u64,
    /// The deadline for which it wakes early.
    watched: Time,
    waits: ProcessorWaits,
}

impl Worker {
    fn run(mut self) {
        while !self.stop.asked.load(Ordering::Relaxed) {
            let drained = self.read();
            self.send_due();
            self.tell();
            if drained {
                self.wait();
            }
        }
    }

    /// Takes what has come, a batch at most; returns whether nothing is left.
    fn read(&mut self) -> bool {
        for _ in 0..BATCH {
            let packet = self.frames.take();
            let buffer = self.frames.buffer(packet);
            match self.from.recv(buffer) {
                Ok(length) => {
                    let item = frame::item(packet, &buffer[..length]);
                    self.lane.offer(self.clock.now(), item, &mut self.gone);
                    self.free_gone();
                }
                Err(error) => {
                    self.frames.free(packet);
                    if !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) {
                        // The interface is gone or broken; it will not be better in no time.
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    return true;
                }
            }
        }
        false
    }

    fn send_due(&mut self) {
        let now = self.clock.now();
        self.lane.advance(now, &mut self.gone);
        self.free_gone();
        while let Some((due, item)) = self.lane.take_arrived(now) {
            let buffer = &mut self.frames.buffer(item.packet)[..item.bytes as usize];
            if item.ecn == Ecn::Ce && frame::mark(buffer) {
                self.marked += 1;
            }
            self.refused += u64::from(self.to.send(buffer).is_err());
            self.lateness.push(self.clock.now().saturating_sub(due));
            self.frames.free(item.packet);
        }
    }

    /// Brings the report up to date, unless somebody is reading it: a reader must not make this thread wait.
    fn tell(&mut self) {
        let Ok(mut report) = self.report.try_lock() else { return };
        report.counters = self.lane.counters();
        report.marked = self.marked;
        report.refused = self.refused;
        self.lateness.drain(..).for_each(|late| report.lateness.record(late));
        self.waits.look(self.clock.now(), &mut report.waits);
    }

    fn wait(&mut self) {
        let deadline = self.lane.deadline();
        let timeout = (deadline < Time::MAX).then(|| {
            let left = deadline.saturating_sub(self.clock.now());
            // Watching the clock is the same turn over and over, with no time to wait.
            let mut asleep = left;
            if left > PAUSE || deadline == self.watched {
                self.watched = deadline;
                asleep = left.saturating_sub(WAKING);
            }
            TimeSpec::from_duration(Duration::from_nanos(asleep.as_ps() / 1_000))
        });
        let mut fds =
            [PollFd::new(self.from.as_fd(), PollFlags::POLLIN), PollFd::new(self.stop.wake.as_fd(), PollFlags::POLLIN)];
        // A signal wakes it early, which does no harm.
        let _ = ppoll(&mut fds, timeout, None);
    }

    fn free_gone(&mut self) {
        self.gone.drain(..).for_each(|item| self.frames.free(item.packet));
    }
}

/// The bytes of the frames that a lane holds.
#[derive(Default)]
struct Frames {
    #[expect(clippy::vec_box, reason = "growing must not copy frames: that takes milliseconds when there are many")]
    buffers: Vec<Box<[u8; BUFFER]>>,
    free: Vec<PacketId>,
}

impl Frames {
    fn take(&mut self) -> PacketId {
        self.free.pop().unwrap_or_else(|| {
            self.buffers.push(Box::new([0; BUFFER]));
            PacketId(self.buffers.len() as u32 - 1)
        })
    }
    fn buffer(&mut self, packet: PacketId) -> &mut [u8; BUFFER] {
        &mut self.buffers[packet.0 as usize]
    }
    fn free(&mut self, packet: PacketId) {
        self.free.push(packet);
    }
}

/// For how long the calling thread was ready and had no processor, as the kernel counts it.
struct ProcessorWaits {
    file: Option<File>,
    looked: Time,
    waited_ns: u64,
}

impl ProcessorWaits {
    /// Kernels without scheduler statistics tell nothing.
    fn open() -> Self {
        let file = File::open("/proc/thread-self/schedstat").ok();
        let mut waits = Self { file, looked: Time::ZERO, waited_ns: 0 };
        waits.waited_ns = waits.read().unwrap_or(0);
        waits
    }

    fn look(&mut self, now: Time, into: &mut Lateness) {
        if now.saturating_sub(self.looked) < WAITS_EVERY {
            return;
        }
        self.looked = now;
        if let Some(waited) = self.read() {
            into.record(Time::from_ns(waited.saturating_sub(self.waited_ns)));
            self.waited_ns = waited;
        }
    }

    /// The second number: nanoseconds spent waiting on a run queue.
    fn read(&self) -> Option<u64> {
        let mut text = [0; 64];
        let length = self.file.as_ref()?.read_at(&mut text, 0).ok()?;
        std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
    }
}
