//! The page cache: which extents are in memory, and which of them are dirty.
//!
//! Extents are found by file and offset. Clean ones are evicted least recently used first; dirty ones are written
//! back oldest first.

use crate::disk::Stream;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
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

/// No slot.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Clean,
    Dirty,
    Writing,
}

#[derive(Debug, Clone, Copy)]
struct Extent {
    stream: Stream,
    start: u64,
    end: u64,
    disk: u32,
    state: State,
    since: Time,
    /// Its neighbours in the queue of its state.
    before: u32,
    behind: u32,
}

/// A queue of extents, linked through their slots: clean ones by use, or a disk's dirty ones by age.
#[derive(Debug, Clone, Copy)]
struct Queue {
    first: u32,
    last: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self { first: NONE, last: NONE }
    }
}

impl Queue {
    /// Behind those that are as old: what was cut from an old extent, or not written after all, keeps its age.
    fn push_by_age(&mut self, slots: &mut [Extent], slot: u32) {
        let since = slots[slot as usize].since;
        let mut before = self.last;
        while let Some(extent) = slots.get(before as usize).filter(|extent| extent.since > since) {
            before = extent.before;
        }
        let behind = slots.get(before as usize).map_or(self.first, |extent| extent.behind);
        (slots[slot as usize].before, slots[slot as usize].behind) = (before, behind);
        match slots.get_mut(before as usize) {
            Some(extent) => extent.behind = slot,
            None => self.first = slot,
        }
        match slots.get_mut(behind as usize) {
            Some(extent) => extent.before = slot,
            None => self.last = slot,
        }
    }
    fn push(&mut self, slots: &mut [Extent], slot: u32) {
        (slots[slot as usize].before, slots[slot as usize].behind) = (self.last, NONE);
        match slots.get_mut(self.last as usize) {
            Some(last) => last.behind = slot,
            None => self.first = slot,
        }
        self.last = slot;
    }
    fn unlink(&mut self, slots: &mut [Extent], slot: u32) {
        let Extent { before, behind, .. } = slots[slot as usize];
        match slots.get_mut(before as usize) {
            Some(before) => before.behind = behind,
            None => self.first = behind,
        }
        match slots.get_mut(behind as usize) {
            Some(behind) => behind.before = before,
            None => self.last = before,
        }
    }
    fn pop(&mut self, slots: &mut [Extent]) -> Option<u32> {
        let slot = self.first;
        (slot != NONE).then(|| {
            self.unlink(slots, slot);
            slot
        })
    }
}

/// The extents of a file in order: where each begins, and its slot.
type File = VecDeque<(u64, u32)>;

/// A file by its node and number, as one number that is quick to compare.
const fn key(stream: Stream) -> u128 {
    ((stream.node as u128) << 64) | stream.id as u128
}

/// The extents in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cache {
    slots: Vec<Extent>,
    free: Vec<u32>,
    /// By [`key`].
    files: BTreeMap<u128, File>,
    clean: Queue,
    /// By disk.
    dirty: Vec<Queue>,
    total: u64,
    unwritten: u64,
    gaps: Vec<(Bytes, Bytes)>,
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

    /// Puts the parts of a range that are not in memory into `gaps`; the others count as just used.
    pub fn look_up(&mut self, stream: Stream, offset: Bytes, bytes: Bytes, gaps: &mut Vec<(Bytes, Bytes)>) {
        gaps.clear();
        let (mut at, end) = (offset.get(), (offset + bytes).get());
        let Self { slots, files, clean, .. } = self;
        if let Some(file) = files.get(&key(stream)) {
            for &(start, slot) in file.range(overlapping(file, slots, at, end)) {
                let extent = slots[slot as usize];
                if start > at {
                    gaps.push((Bytes::new(at), Bytes::new(start - at)));
                }
                at = extent.end.min(end);
                if extent.state == State::Clean && clean.last != slot {
                    clean.unlink(slots, slot);
                    clean.push(slots, slot);
                }
            }
        }
        if at < end {
            gaps.push((Bytes::new(at), Bytes::new(end - at)));
        }
    }

    /// Bytes that have been read from a disk.
    pub fn insert_clean(&mut self, disk: u32, stream: Stream, offset: Bytes, bytes: Bytes) {
        let mut gaps = std::mem::take(&mut self.gaps);
        self.look_up(stream, offset, bytes, &mut gaps);
        for (offset, bytes) in gaps.drain(..) {
            self.insert(Time::ZERO, disk, stream.file(), (offset, bytes), State::Clean);
        }
        self.gaps = gaps;
    }

    /// Bytes that have been written and that the disk does not have.
    pub fn insert_dirty(&mut self, now: Time, disk: u32, stream: Stream, offset: Bytes, bytes: Bytes) {
        let stream = stream.file();
        self.cut_out(stream, offset.get(), (offset + bytes).get());
        self.insert(now, disk, stream, (offset, bytes), State::Dirty);
    }

    /// Since when the oldest extent of a disk is dirty that is not being written back yet.
    pub fn oldest_dirty(&self, disk: u32) -> Option<Time> {
        let oldest = self.dirty.get(disk as usize)?.first;
        self.slots.get(oldest as usize).map(|extent| extent.since)
    }

    /// Begins to write back the oldest extent of a disk.
    pub fn write_back(&mut self, disk: u32) -> Option<WriteBack> {
        let slot = self.dirty.get_mut(disk as usize)?.pop(&mut self.slots)?;
        let extent = &mut self.slots[slot as usize];
        extent.state = State::Writing;
        let (offset, bytes) = (Bytes::new(extent.start), Bytes::new(extent.end - extent.start));
        Some(WriteBack { stream: extent.stream, offset, bytes })
    }

    /// An extent is on disk.
    pub fn written_back(&mut self, extent: WriteBack) {
        self.end_write(extent, State::Clean);
    }

    /// An extent is not on disk after all: it is written back before those that are younger.
    pub fn not_written(&mut self, extent: WriteBack) {
        self.end_write(extent, State::Dirty);
    }

    /// What was overwritten or dropped while an extent was written is not there any more, or is dirty again.
    fn end_write(&mut self, extent: WriteBack, to: State) {
        let (start, end) = (extent.offset.get(), (extent.offset + extent.bytes).get());
        let Self { slots, files, clean, dirty, .. } = self;
        let Some(file) = files.get(&key(extent.stream)) else { return };
        for &(start, slot) in file.range(overlapping(file, slots, start, end)) {
            let found = &mut slots[slot as usize];
            if found.state != State::Writing {
                continue;
            }
            found.state = to;
            if to == State::Clean {
                self.unwritten -= found.end - start;
                clean.push(slots, slot);
            } else {
                dirty[found.disk as usize].push_by_age(slots, slot);
            }
        }
    }

    /// Drops the least recently used clean extents until `capacity` suffices or only dirty ones are left.
    pub fn shrink_to(&mut self, capacity: Bytes) {
        while self.total > capacity.get() && self.clean.first != NONE {
            let Extent { stream, start, .. } = self.slots[self.clean.first as usize];
            self.remove(stream, start);
        }
    }

    /// Forgets all bytes of a disk, written or not.
    pub fn drop_disk(&mut self, disk: u32) {
        let slots = self.files.values().flatten().map(|(_, slot)| self.slots[*slot as usize]);
        let places: Vec<_> =
            slots.filter(|extent| extent.disk == disk).map(|extent| (extent.stream, extent.start)).collect();
        for (stream, start) in places {
            self.remove(stream, start);
        }
    }

    /// Forgets all of a node's bytes.
    pub fn drop_node(&mut self, node: u32) {
        let all = key(Stream { node, id: 0, part: 0 })..=key(Stream { node, id: u64::MAX, part: 0 });
        let slots = self.files.range(all).flat_map(|(_, file)| file).map(|(_, slot)| self.slots[*slot as usize]);
        let places: Vec<_> = slots.map(|extent| (extent.stream, extent.start)).collect();
        for (stream, start) in places {
            self.remove(stream, start);
        }
    }

    fn insert(&mut self, now: Time, disk: u32, stream: Stream, (offset, bytes): (Bytes, Bytes), state: State) {
        if bytes == Bytes::ZERO {
            return;
        }
        let (start, end) = (offset.get(), (offset + bytes).get());
        let file = self.files.entry(key(stream)).or_default();
        let at = file.partition_point(|(from, _)| *from < start);
        if let Some(&(from, slot)) = at.checked_sub(1).and_then(|before| file.get(before)) {
            let before = &mut self.slots[slot as usize];
            if before.end == start && before.state == state && before.disk == disk && end - from <= EXTENT {
                before.end = end;
                self.total += end - start;
                self.unwritten += if state == State::Dirty { end - start } else { 0 };
                return;
            }
        }
        let extent = Extent { stream, start, end, disk, state, since: now, before: NONE, behind: NONE };
        let slot = put(&mut self.slots, &mut self.free, extent);
        file.insert(at, (start, slot));
        self.enlist(slot);
    }

    /// Counts an extent, at the end of the queue of its state.
    fn enlist(&mut self, slot: u32) {
        let Extent { start, end, disk, state, .. } = self.slots[slot as usize];
        self.total += end - start;
        if state != State::Clean {
            self.unwritten += end - start;
        }
        match state {
            State::Clean => self.clean.push(&mut self.slots, slot),
            State::Dirty => {
                if self.dirty.len() <= disk as usize {
                    self.dirty.resize_with(disk as usize + 1, Queue::default);
                }
                self.dirty[disk as usize].push_by_age(&mut self.slots, slot);
            }
            State::Writing => {}
        }
    }

    fn remove(&mut self, stream: Stream, start: u64) -> Option<Extent> {
        let file = self.files.get_mut(&key(stream))?;
        let at = file.binary_search_by_key(&start, |(from, _)| *from).ok()?;
        let (_, slot) = file.remove(at)?;
        if file.is_empty() {
            self.files.remove(&key(stream));
        }
        let extent = self.slots[slot as usize];
        let length = extent.end - start;
        self.total -= length;
        if extent.state != State::Clean {
            self.unwritten -= length;
        }
        match extent.state {
            State::Clean => self.clean.unlink(&mut self.slots, slot),
            State::Dirty => self.dirty[extent.disk as usize].unlink(&mut self.slots, slot),
            State::Writing => {}
        }
        self.free.push(slot);
        Some(extent)
    }

    /// Takes a range out of the extents that overlap it; the rest of them stays.
    fn cut_out(&mut self, stream: Stream, start: u64, end: u64) {
        let first = |cache: &Self| {
            let file = cache.files.get(&key(stream))?;
            file.range(overlapping(file, &cache.slots, start, end)).next().map(|(from, _)| *from)
        };
        while let Some(extent) = first(self).and_then(|from| self.remove(stream, from)) {
            for (from, to) in [(extent.start, start), (end, extent.end)] {
                if from < to {
                    let slot = put(&mut self.slots, &mut self.free, Extent { start: from, end: to, ..extent });
                    let file = self.files.entry(key(stream)).or_default();
                    let at = file.partition_point(|(before, _)| *before < from);
                    file.insert(at, (from, slot));
                    self.enlist(slot);
                }
            }
        }
    }
}

/// The extents of a file that overlap a range, or an empty one within them.
fn overlapping(file: &File, slots: &[Extent], start: u64, end: u64) -> Range<usize> {
    let from = file.partition_point(|(from, _)| *from < start);
    let to = from + file.range(from..).take_while(|(from, _)| *from < end).count();
    let before = from.checked_sub(1).filter(|before| slots[file[*before].1 as usize].end > start);
    before.unwrap_or(from)..to
}

fn put(slots: &mut Vec<Extent>, free: &mut Vec<u32>, extent: Extent) -> u32 {
    if let Some(slot) = free.pop() {
        slots[slot as usize] = extent;
        return slot;
    }
    slots.push(extent);
    units::count(slots.len() - 1)
}
