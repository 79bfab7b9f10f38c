//! Carries the frames of one direction of a path from a TAP device through its pipe to another.

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
use units::Time;

/// One direction of a path, with the bytes of the frames that it holds.
pub struct Forwarder {
    pipe: Pipe,
    from: Arc<SyncDevice>,
    to: Arc<SyncDevice>,
    frames: Frames,
    /// Reused for frames that the pipe has dropped or lost.
    gone: Vec<Item>,
    /// Counts of frames that are not in the report yet.
    lateness: Vec<Time>,
    marked: u64,
    refused: u64,
}

/// A sleep from which its thread has woken to read.
#[derive(Clone, Copy, Debug)]
pub struct Slept {
    /// When it began.
    pub since: Time,
    /// How long the processor takes to wake the thread.
    pub waking: Time,
}

/// Frames read before those that are due are sent.
const BATCH: usize = 16;
/// A frame without virtual LAN tags has 1514 bytes.
const BUFFER: usize = 1_536;

impl Forwarder {
    pub fn new(pipe: Pipe, from: Arc<SyncDevice>, to: Arc<SyncDevice>) -> Self {
        let (frames, gone, lateness) = (Frames::default(), Vec::new(), Vec::new());
        Self { pipe, from, to, frames, gone, lateness, marked: 0, refused: 0 }
    }

    /// Reads the frames that have come, at most a batch. Returns whether none is left. The frame that woke the thread
    /// is dated back by the waking time, but not before the sleep.
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
                        // The interface is gone or broken; it will not be better in no time.
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    return true;
                }
            }
        }
        false
    }

    /// Hands out the frames whose time has come; returns whether there were any.
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
            // The frame leaves at the beginning of the call: the rest of that is the receiving host's own work.
            self.lateness.push(clock.now().saturating_sub(due));
            self.refused += u64::from(self.to.send(buffer).is_err());
            self.frames.free(item.packet);
        }
        self.lateness.len() > before
    }

    /// Brings a report up to date.
    pub fn tell(&mut self, report: &mut PipeReport) {
        report.counters = self.pipe.counters();
        report.marked = self.marked;
        report.refused = self.refused;
        self.lateness.drain(..).for_each(|late| report.lateness.record(late));
    }

    /// Nothing is due before this, if nothing comes.
    pub fn deadline(&self) -> Time {
        self.pipe.deadline()
    }

    /// Becomes readable when something comes.
    pub fn input(&self) -> BorrowedFd<'_> {
        self.from.as_fd()
    }

    fn free_gone(&mut self) {
        self.gone.drain(..).for_each(|item| self.frames.free(item.packet));
    }
}

/// The bytes of the frames that a pipe holds.
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
