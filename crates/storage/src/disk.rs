//! A disk: requests in, completions out.

use crate::flash::{Flash, FlashSpec};
use crate::rotating::{Rotating, RotatingSpec};
use units::{Bytes, Time};

/// Which way a request moves data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Op {
    /// From the disk.
    Read,
    /// To the disk.
    Write,
}

/// A sequential stream of bytes on a disk: a block replica, a spill file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stream {
    /// The node whose file it is; nodes may share a disk.
    pub node: u32,
    /// The node's name for it.
    pub id: u64,
}

/// Bytes of a stream to move, and what comes back when that is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request<T> {
    /// Which way.
    pub op: Op,
    /// The stream that they are part of.
    pub stream: Stream,
    /// Where in the stream.
    pub offset: Bytes,
    /// How many.
    pub bytes: Bytes,
    /// Reported when done.
    pub tag: T,
}

/// What kind of disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskSpec {
    /// Platters and a head.
    Rotating(RotatingSpec),
    /// Flash memory behind parallel channels.
    Flash(FlashSpec),
}

/// What a disk has done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct DiskCounters {
    /// Time with a request in service.
    pub busy: Time,
    /// Part of it spent on seeks and rotation (rotating disks), or on the wait for the first byte with no transfer going on (flash).
    pub positioning: Time,
    /// Requests done.
    pub requests: u64,
    /// Times that the head moved to another place.
    pub switches: u64,
    /// Bytes read.
    pub read: Bytes,
    /// Bytes written.
    pub written: Bytes,
    /// The most requests that waited or were in service at the same time.
    pub queue_max: u32,
}

impl DiskCounters {
    pub(crate) fn count(&mut self, op: Op, bytes: Bytes) {
        match op {
            Op::Read => self.read += bytes,
            Op::Write => self.written += bytes,
        }
    }
}

/// A disk.
#[derive(Debug, Clone)]
pub struct Disk<T> {
    model: Model<T>,
}

#[derive(Debug, Clone)]
enum Model<T> {
    Rotating(Rotating<T>),
    Flash(Flash<T>),
}

impl<T: Copy> Disk<T> {
    /// An idle disk.
    pub fn new(spec: DiskSpec) -> Self {
        let model = match spec {
            DiskSpec::Rotating(spec) => Model::Rotating(Rotating::new(spec)),
            DiskSpec::Flash(spec) => Model::Flash(Flash::new(spec)),
        };
        Self { model }
    }
    /// Takes a request.
    pub fn submit(&mut self, now: Time, request: Request<T>) {
        match &mut self.model {
            Model::Rotating(disk) => disk.submit(now, request),
            Model::Flash(disk) => disk.submit(now, request),
        }
    }
    /// When [`Disk::on_timer`] is next due.
    pub fn deadline(&self) -> Time {
        match &self.model {
            Model::Rotating(disk) => disk.deadline(),
            Model::Flash(disk) => disk.deadline(),
        }
    }
    /// Appends the tags of the requests that are done.
    pub fn on_timer(&mut self, now: Time, done: &mut Vec<T>) {
        match &mut self.model {
            Model::Rotating(disk) => disk.on_timer(now, done),
            Model::Flash(disk) => disk.on_timer(now, done),
        }
    }
    /// Drops the requests for which `keep` is false; what is in service occupies the disk to its end, unreported.
    pub fn retain(&mut self, keep: impl Fn(&Request<T>) -> bool) {
        match &mut self.model {
            Model::Rotating(disk) => disk.retain(keep),
            Model::Flash(disk) => disk.retain(keep),
        }
    }
    /// Requests that wait or are in service.
    pub fn queued(&self) -> usize {
        match &self.model {
            Model::Rotating(disk) => disk.queued(),
            Model::Flash(disk) => disk.queued(),
        }
    }
    /// What it has done by `now`. Of the request in service the whole positioning counts, and the time up to now.
    pub fn counters(&self, now: Time) -> DiskCounters {
        let (counters, busy_until) = match &self.model {
            Model::Rotating(disk) => (disk.counters, disk.busy_until()),
            Model::Flash(disk) => (disk.counters, disk.busy_until()),
        };
        DiskCounters { busy: counters.busy - busy_until.saturating_sub(now), ..counters }
    }
}
