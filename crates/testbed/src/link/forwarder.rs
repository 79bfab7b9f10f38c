//! Carries the frames of one direction of a path, from one TAP device through the pipe to the other.

use super::clock::Clock;
use super::frame;
use super::pipe::Pipe;
use super::report::PipeReport;
use net::{Ecn, Item, PacketId};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;
use tun_rs::SyncDevice;
use units::{BitRate, Time};

/// One direction of a path, with the bytes of the frames it holds.
pub struct Forwarder {
    pipe: Pipe,
    from: Arc<SyncDevice>,
    to: Arc<SyncDevice>,
    frames: Frames,
    /// Buffer for frames that the pipe has dropped or lost.
    gone: Vec<Item>,
    /// Lateness of frames, not reported yet.
    lateness: Vec<Time>,
    marked: u64,
    refused: u64,
}

/// A sleep that ended because a frame arrived.
#[derive(Clone, Copy, Debug)]
pub struct Slept {
    /// When the sleep began.
    pub since: Time,
    /// How long the processor takes to wake the thread.
    pub waking: Time,
}

/// Frames read before due frames are sent.
const BATCH: usize = 16;
/// A frame without VLAN tags has 1514 bytes.
const BUFFER: usize = 1_536;

impl Forwarder {
    pub fn new(pipe: Pipe, from: Arc<SyncDevice>, to: Arc<SyncDevice>) -> Self {
        let (frames, gone, lateness) = (Frames::default(), Vec::new(), Vec::new());
        Self { pipe, from, to, frames, gone, lateness, marked: 0, refused: 0 }
    }

    /// Reads at most a batch of frames that have arrived; true if none is left. The frame that woke the thread is dated
    /// back by the waking time, but not before the sleep.
    pub fn read(&mut self, clock: Clock, slept: &mut Option<Slept>) -> bool {
        for _ in 0..BATCH {
            let packet = self.frames.take();
            let buffer = self.frames.buffer(packet);
            match self.from.recv(buffer) {
                Ok(length) => {
                    let item = frame::item(packet, &buffer[..length]);
                    let now = clock.now();
                    let came = slept.take().map_or(now, |slept| now.saturating_sub(slept.waking).max(slept.since));
                    self.pipe.offer(came, item, &mut self.gone);
                    self.free_gone();
                }
                Err(error) => {
                    self.frames.free(packet);
                    if !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) {
                        // The interface is gone or broken, and will not recover at once.
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    return true;
                }
            }
        }
        false
    }

    /// Sends the frames that are due. True if there were any.
    pub fn send_due(&mut self, clock: Clock) -> bool {
        let now = clock.now();
        self.pipe.advance(now, &mut self.gone);
        self.free_gone();
        let before = self.lateness.len();
        while let Some((due, item)) = self.pipe.take_arrived(now) {
            let buffer = &mut self.frames.buffer(item.packet)[..item.bytes as usize];
            if item.ecn == Ecn::Ce && frame::mark(buffer) {
                self.marked += 1;
            }
            // The frame leaves at the start of the call. The rest of the call is the receiving host's own work.
            self.lateness.push(clock.now().saturating_sub(due));
            self.refused += u64::from(self.to.send(buffer).is_err());
            self.frames.free(item.packet);
        }
        self.lateness.len() > before
    }

    /// Changes the rate of the pipe; `None` is unlimited.
    pub fn set_rate(&mut self, clock: Clock, rate: Option<BitRate>) {
        self.pipe.set_rate(clock.now(), rate, &mut self.gone);
        self.free_gone();
    }

    /// Updates a report.
    pub fn tell(&mut self, report: &mut PipeReport) {
        report.counters = self.pipe.counters();
        report.marked = self.marked;
        report.refused = self.refused;
        self.lateness.drain(..).for_each(|late| report.lateness.record(late));
    }

    /// When the next frame is due, if none arrives before.
    pub fn deadline(&self) -> Time {
        self.pipe.deadline()
    }

    /// Becomes readable when a frame arrives.
    pub fn input(&self) -> BorrowedFd<'_> {
        self.from.as_fd()
    }

    fn free_gone(&mut self) {
        self.gone.drain(..).for_each(|item| self.frames.free(item.packet));
    }
}

/// The bytes of the frames in a pipe.
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
