//! A disk: requests in, completions out.

use crate::flash::{Flash, FlashSpec};
use crate::rotating::{Rotating, RotatingSpec};
use units::{Bytes, Time, scaled, word};

/// The direction of a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Op {
    /// Reads from the disk.
    Read,
    /// Writes to the disk.
    Write,
}

/// A sequential stream of bytes on a disk: a block replica, a spill file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stream {
    /// The node whose file it is; nodes may share a disk.
    pub node: u32,
    /// The node's name for the file.
    pub id: u64,
    /// Zero for the whole file, or who reads a part of it as a stream of its own. Offsets count from the file's
    /// beginning in any case.
    pub part: u32,
}

impl Stream {
    /// The file, whoever reads it.
    pub const fn file(self) -> Self {
        Self { part: 0, ..self }
    }
}

/// Bytes of a stream to move, and what comes back when that is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request<T> {
    /// Read or write.
    pub op: Op,
    /// The stream that they are part of.
    pub stream: Stream,
    /// Where in the stream.
    pub offset: Bytes,
    /// Bytes to move.
    pub bytes: Bytes,
    /// In how many places they are, at least one: each is reached for itself.
    pub places: u32,
    /// Reported when done.
    pub tag: T,
}

impl<T> Request<T> {
    /// In how many places so many of its bytes are.
    pub(crate) fn places_in(&self, bytes: Bytes) -> u32 {
        if self.places <= 1 {
            return 1;
        }
        let part = scaled(bytes.get(), u64::from(self.places), self.bytes.get().max(1));
        word(part).clamp(1, self.places)
    }
}

/// The kind of a disk, with its timing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskSpec {
    /// Platters and a head.
    Rotating(RotatingSpec),
    /// Flash memory behind parallel channels.
    Flash(FlashSpec),
}

impl DiskSpec {
    /// Its size; zero where that is not known.
    pub const fn capacity(&self) -> Bytes {
        match self {
            Self::Rotating(spec) => spec.capacity,
            Self::Flash(spec) => spec.cells.capacity,
        }
    }
}

/// Counters of a disk.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct DiskCounters {
    /// Time with a request in service.
    pub busy: Time,
    /// Part of `busy` spent on seeks and rotation (rotating disks), or on waiting for a first byte with no transfer
    /// going on (flash).
    pub positioning: Time,
    /// Completed requests.
    pub requests: u64,
    /// Times that the head moved to another place.
    pub switches: u64,
    /// Bytes read by completed requests.
    pub read: Bytes,
    /// Bytes written by completed requests.
    pub written: Bytes,
    /// Bytes written to flash cells for these, garbage collection included.
    pub programmed: Bytes,
    /// The most requests that waited or were in service at the same time.
    pub queue_max: u32,
}

/// What time series have of a disk's counters. It holds until the disk begins or ends something.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct DiskUse {
    /// Time with a request in service, counted in advance up to there.
    busy: Time,
    busy_until: Time,
    /// Bytes read by completed requests.
    pub read: Bytes,
    /// Bytes written by completed requests.
    pub written: Bytes,
}

impl DiskUse {
    /// Time with a request in service up to `now`.
    pub fn busy(&self, now: Time) -> Time {
        self.busy - self.busy_until.saturating_sub(now)
    }
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
    /// Requests that wait for a disk at rest; none while it is ready.
    held: Option<Vec<Request<T>>>,
}

#[derive(Debug, Clone)]
enum Model<T> {
    Rotating(Box<Rotating<T>>),
    Flash(Box<Flash<T>>),
}

impl<T: Copy> Disk<T> {
    /// An idle disk.
    pub fn new(spec: DiskSpec) -> Self {
        let model = match spec {
            DiskSpec::Rotating(spec) => Model::Rotating(Box::new(Rotating::new(spec))),
            DiskSpec::Flash(spec) => Model::Flash(Box::new(Flash::new(spec))),
        };
        Self { model, held: None }
    }
    /// The disk rests: what it is asked for waits.
    pub fn hold(&mut self) {
        self.held.get_or_insert_default();
    }
    /// The disk is ready: it begins with what has waited.
    pub fn release(&mut self, now: Time) {
        for request in self.held.take().unwrap_or_default() {
            self.submit(now, request);
        }
    }
    /// Whether it is at rest.
    pub const fn is_held(&self) -> bool {
        self.held.is_some()
    }
    /// Whether its mechanics or cells have nothing to do, whatever waits for a disk at rest.
    pub fn is_still(&self) -> bool {
        self.queued() == self.held.as_ref().map_or(0, Vec::len)
    }
    /// What it does at this moment; none while it waits for a request, or for the next of a stream.
    pub fn serving(&self) -> Option<Op> {
        match &self.model {
            Model::Rotating(disk) => disk.serving(),
            Model::Flash(disk) => disk.serving(),
        }
    }
    /// A request that waits for the disk at rest: the first.
    pub fn first_held(&self) -> Option<&Request<T>> {
        self.held.as_ref()?.first()
    }
    /// Takes a request.
    pub fn submit(&mut self, now: Time, request: Request<T>) {
        if let Some(held) = &mut self.held {
            return held.push(request);
        }
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
    pub fn retain(&mut self, mut keep: impl FnMut(&Request<T>) -> bool) {
        if let Some(held) = &mut self.held {
            held.retain(&mut keep);
        }
        match &mut self.model {
            Model::Rotating(disk) => disk.retain(keep),
            Model::Flash(disk) => disk.retain(keep),
        }
    }
    /// What begins from now on takes so much longer than by the specification: 1 is normal, 2 twice as long.
    pub const fn set_slowness(&mut self, slowness: f64) {
        match &mut self.model {
            Model::Rotating(disk) => disk.set_slowness(slowness),
            Model::Flash(disk) => disk.set_slowness(slowness),
        }
    }
    /// Requests that wait or are in service.
    pub fn queued(&self) -> usize {
        let held = self.held.as_ref().map_or(0, Vec::len);
        held + match &self.model {
            Model::Rotating(disk) => disk.queued(),
            Model::Flash(disk) => disk.queued(),
        }
    }
    /// Counters at `now`. The request in service counts with its whole positioning and with its transfer up to `now`.
    pub fn counters(&self, now: Time) -> DiskCounters {
        let (counters, _) = self.counted();
        DiskCounters { busy: self.used().busy(now), ..*counters }
    }
    /// What time series have of them.
    pub const fn used(&self) -> DiskUse {
        let (DiskCounters { busy, read, written, .. }, busy_until) = self.counted();
        DiskUse { busy: *busy, busy_until, read: *read, written: *written }
    }
    /// Its counters, and the end of the part of `busy` that is counted in advance.
    const fn counted(&self) -> (&DiskCounters, Time) {
        match &self.model {
            Model::Rotating(disk) => (&disk.counters, disk.busy_until()),
            Model::Flash(disk) => (&disk.counters, disk.busy_until()),
        }
    }
}
