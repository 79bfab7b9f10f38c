//! The page cache: which extents are in memory, and which of them are dirty.
//!
//! Extents are found by file and offset. Clean ones are evicted least recently used first; dirty ones are written
//! back oldest first.

use crate::disk::Stream;
use std::collections::BTreeMap;
use units::{BitRate, Bytes, Time};

/// A host's page cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheSpec {
    /// Memory for cached bytes; zero turns the cache off.
    pub capacity: Bytes,
    /// Writers wait while more than this is not on disk.
    pub dirty_limit: Bytes,
    /// Beyond this the disks write back at once.
    pub background: Bytes,
    /// Bytes that have been dirty for this long are written back.
    pub expire: Time,
    /// Rate of a copy to or from the cache.
    pub copy_rate: BitRate,
}

/// The largest extent, and so the largest write-back: Linux writes back up to 1,024 pages of one file before the next.
const EXTENT: u64 = 4 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Clean,
    Dirty,
    Writing,
}

#[derive(Debug, Clone, Copy)]
struct Extent {
    end: u64,
    disk: u32,
    state: State,
    /// The extent's place in the order of use (clean) or of age (dirty).
    order: u64,
    since: Time,
}

type Key = (Stream, u64);

/// The extents in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cache {
    extents: BTreeMap<Key, Extent>,
    clean: BTreeMap<u64, Key>,
    /// By disk, its dirty extents by age, each with the time since when it is dirty.
    dirty: Vec<BTreeMap<u64, (Key, Time)>>,
    next: u64,
    total: u64,
    unwritten: u64,
}

/// An extent to write back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriteBack {
    pub stream: Stream,
    pub offset: Bytes,
    pub bytes: Bytes,
}

impl Cache {
    /// Bytes in memory.
    pub fn total(&self) -> Bytes {
        Bytes::new(self.total)
    }
    /// Bytes that are not on disk yet.
    pub fn unwritten(&self) -> Bytes {
        Bytes::new(self.unwritten)
    }

    /// The parts of a range that are not in memory; the others count as just used.
    pub fn look_up(&mut self, stream: Stream, offset: Bytes, bytes: Bytes) -> Vec<(Bytes, Bytes)> {
        let stream = stream.file();
        let (mut at, end) = (offset.get(), (offset + bytes).get());
        let mut gaps = Vec::new();
        for key in self.overlapping(stream, at, end) {
            let Some(&extent) = self.extents.get(&key) else { continue };
            if key.1 > at {
                gaps.push((Bytes::new(at), Bytes::new(key.1 - at)));
            }
            at = extent.end.min(end);
            if extent.state == State::Clean {
                self.clean.remove(&extent.order);
                let order = self.order();
                self.clean.insert(order, key);
                if let Some(extent) = self.extents.get_mut(&key) {
                    extent.order = order;
                }
            }
        }
        if at < end {
            gaps.push((Bytes::new(at), Bytes::new(end - at)));
        }
        gaps
    }

    /// Bytes that have been read from a disk.
    pub fn insert_clean(&mut self, disk: u32, stream: Stream, offset: Bytes, bytes: Bytes) {
        for (offset, bytes) in self.look_up(stream, offset, bytes) {
            self.insert(Time::ZERO, disk, stream.file(), offset, bytes, State::Clean);
        }
    }

    /// Bytes that have been written and that the disk does not have.
    pub fn insert_dirty(&mut self, now: Time, disk: u32, stream: Stream, offset: Bytes, bytes: Bytes) {
        let stream = stream.file();
        self.cut_out(stream, offset.get(), (offset + bytes).get());
        self.insert(now, disk, stream, offset, bytes, State::Dirty);
    }

    /// The oldest extent of a disk that is not being written back yet, and since when it is dirty.
    pub fn oldest_dirty(&self, disk: u32) -> Option<Time> {
        self.dirty.get(disk as usize)?.first_key_value().map(|(_, (_, since))| *since)
    }

    /// Begins to write back the oldest extent of a disk.
    pub fn write_back(&mut self, disk: u32) -> Option<WriteBack> {
        let (_, (key, _)) = self.dirty.get_mut(disk as usize)?.pop_first()?;
        let extent = self.extents.get_mut(&key)?;
        extent.state = State::Writing;
        Some(WriteBack { stream: key.0, offset: Bytes::new(key.1), bytes: Bytes::new(extent.end - key.1) })
    }

    /// An extent is on disk.
    pub fn written_back(&mut self, extent: WriteBack) {
        // What was overwritten or dropped meanwhile is not there any more, or is dirty again.
        let (start, end) = (extent.offset.get(), (extent.offset + extent.bytes).get());
        for key in self.overlapping(extent.stream, start, end) {
            let order = self.order();
            if let Some(found) = self.extents.get_mut(&key)
                && found.state == State::Writing
            {
                found.state = State::Clean;
                found.order = order;
                self.unwritten -= found.end - key.1;
                self.clean.insert(order, key);
            }
        }
    }

    /// Drops the least recently used clean extents until `capacity` suffices or only dirty ones are left.
    pub fn shrink_to(&mut self, capacity: Bytes) {
        while self.total > capacity.get() {
            let Some((_, key)) = self.clean.pop_first() else { return };
            if let Some(extent) = self.extents.remove(&key) {
                self.total -= extent.end - key.1;
            }
        }
    }

    /// Forgets all bytes of a disk, written or not.
    pub fn drop_disk(&mut self, disk: u32) {
        let keys: Vec<_> = self.extents.iter().filter(|(_, extent)| extent.disk == disk).map(|(key, _)| *key).collect();
        for key in keys {
            self.remove(key);
        }
    }

    /// Forgets all of a node's bytes.
    pub fn drop_node(&mut self, node: u32) {
        let keys: Vec<_> = self
            .extents
            .range((Stream { node, id: 0, part: 0 }, 0)..=(Stream { node, id: u64::MAX, part: u32::MAX }, u64::MAX))
            .map(|(key, _)| *key)
            .collect();
        for key in keys {
            self.remove(key);
        }
    }

    fn order(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn overlapping(&self, stream: Stream, start: u64, end: u64) -> Vec<Key> {
        let before = self.extents.range((stream, 0)..(stream, start)).next_back();
        let before = before.filter(|(_, extent)| extent.end > start).map(|(key, _)| *key);
        before.into_iter().chain(self.extents.range((stream, start)..(stream, end)).map(|(key, _)| *key)).collect()
    }

    fn insert(&mut self, now: Time, disk: u32, stream: Stream, offset: Bytes, bytes: Bytes, state: State) {
        if bytes == Bytes::ZERO {
            return;
        }
        let (start, end) = (offset.get(), (offset + bytes).get());
        self.total += bytes.get();
        if state == State::Dirty {
            self.unwritten += bytes.get();
        }
        let before = self.extents.range_mut((stream, 0)..(stream, start)).next_back();
        if let Some((key, extent)) = before
            && extent.end == start
            && extent.state == state
            && extent.disk == disk
            && end - key.1 <= EXTENT
        {
            extent.end = end;
            return;
        }
        let order = self.order();
        self.extents.insert((stream, start), Extent { end, disk, state, order, since: now });
        self.enlist((stream, start));
    }

    fn enlist(&mut self, key: Key) {
        let Some(extent) = self.extents.get(&key) else { return };
        match extent.state {
            State::Clean => drop(self.clean.insert(extent.order, key)),
            State::Dirty => {
                let disk = extent.disk as usize;
                if self.dirty.len() <= disk {
                    self.dirty.resize_with(disk + 1, BTreeMap::new);
                }
                self.dirty[disk].insert(extent.order, (key, extent.since));
            }
            State::Writing => {}
        }
    }

    fn remove(&mut self, key: Key) -> Option<Extent> {
        let extent = self.extents.remove(&key)?;
        let length = extent.end - key.1;
        self.total -= length;
        match extent.state {
            State::Clean => drop(self.clean.remove(&extent.order)),
            State::Dirty => drop(self.dirty[extent.disk as usize].remove(&extent.order)),
            State::Writing => {}
        }
        if extent.state != State::Clean {
            self.unwritten -= length;
        }
        Some(extent)
    }

    /// Takes a range out of the extents that overlap it; the rest of them stays.
    fn cut_out(&mut self, stream: Stream, start: u64, end: u64) {
        for key in self.overlapping(stream, start, end) {
            let Some(extent) = self.remove(key) else { continue };
            for (from, to) in [(key.1, start), (end, extent.end)] {
                if from < to {
                    let order = self.order();
                    self.total += to - from;
                    if extent.state != State::Clean {
                        self.unwritten += to - from;
                    }
                    self.extents.insert((stream, from), Extent { end: to, order, ..extent });
                    self.enlist((stream, from));
                }
            }
        }
    }
}
