//! Off-loading within a machine: what memory writes back for a disk at rest goes to a log on a disk that is ready, and
//! home once the home is ready for another reason or for its planned window (Narayanan, Donnelly, Rowstron, FAST 2008).
//!
//! [`crate::power::OffloadLog`] has the rule of durability and says what is to be done. HDFS keeps at most one replica
//! of a block on a machine, so no other disk of the machine is a home of the same write.
//!
//! Writes to the same place come home in their order: what overlaps bytes that a log has follows them into that log, even
//! if its home is ready, and logs are emptied oldest first. What a failed disk had in its log does not come home,
//! but for what has been read from there: what overlaps that waits until it is home.

use crate::cache::WriteBack;
use crate::disk::{Op, Request, Stream};
use crate::power::offload::{Copy, Effect, OffloadLog, Write};
use std::collections::{BTreeMap, VecDeque};
use units::Bytes;

/// The node of streams that are of no node: logs.
const NOBODY: u32 = u32::MAX - 1;

/// What became of writes for disks at rest.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct OffloadCounters {
    /// Bytes written to logs in place of their home.
    pub logged: Bytes,
    /// Of these, bytes that have come home.
    pub returned: Bytes,
    /// Of these, bytes that were lost with the disk of their log.
    pub lost: Bytes,
}

/// Bytes of a write, and where its log has them.
#[derive(Clone, Copy, Debug)]
struct Entry {
    extent: WriteBack,
    home: u32,
    on: u32,
    at: Bytes,
    durable: bool,
    /// It has been read from the log: its home gets it, whatever becomes of the log.
    read: bool,
}

/// A step on the way home.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// The extent goes to the log of a disk.
    Log(Write),
    /// It is read from there.
    Fetch(Write),
    /// It is written home.
    Home(Write),
}

/// Logs of a machine's disks.
#[derive(Clone, Debug)]
pub(crate) struct Offloading {
    rule: OffloadLog,
    effects: Vec<Effect>,
    next: Write,
    entries: BTreeMap<Write, Entry>,
    /// Durable bytes by where they belong and begin: where they end, and the newest write of them.
    places: BTreeMap<(Stream, u64), (u64, Write)>,
    /// By disk: where its log ends.
    ends: Vec<Bytes>,
    /// By home: what goes home, and whether its first is on the way.
    homeward: Vec<(VecDeque<Write>, bool)>,
    /// By home: an extent that waits for older bytes of its place, which are on their way home and in no log any more.
    follows: Vec<Option<WriteBack>>,
    counters: Vec<OffloadCounters>,
}

impl Offloading {
    pub fn new(disks: usize) -> Self {
        Self {
            rule: OffloadLog::default(),
            effects: Vec::new(),
            next: 0,
            entries: BTreeMap::new(),
            places: BTreeMap::new(),
            ends: vec![Bytes::ZERO; disks],
            homeward: vec![(VecDeque::new(), false); disks],
            follows: vec![None; disks],
            counters: vec![OffloadCounters::default(); disks],
        }
    }

    /// By home.
    pub fn counters(&self, home: usize) -> OffloadCounters {
        self.counters[home]
    }
    /// Bytes that logs have for a home.
    pub fn owed(&self, home: u32) -> Bytes {
        self.entries.values().filter(|entry| entry.home == home && entry.durable).map(|entry| entry.extent.bytes).sum()
    }
    /// Whether a home is owed something.
    pub fn owes(&self, home: u32) -> bool {
        self.rule.owed(home) > 0
    }

    /// An extent goes to the log of the disk `on`: what that is to write.
    pub fn begin<T>(&mut self, extent: WriteBack, home: u32, on: u32, tag: impl FnOnce(Step) -> T) -> Request<T> {
        self.next += 1;
        let write = self.next;
        // Neither disk is at fault: one log is there for one home.
        let _ = self.rule.begin(write, &[(home, false)], &[on], &mut self.effects);
        self.effects.clear();
        let at = self.ends[on as usize];
        self.ends[on as usize] += extent.bytes;
        self.entries.insert(write, Entry { extent, home, on, at, durable: false, read: false });
        Request {
            op: Op::Write,
            stream: log_of(on),
            offset: at,
            bytes: extent.bytes,
            places: 1,
            tag: tag(Step::Log(write)),
        }
    }
    /// A log has an extent on its disk: for which home it is, and what memory need not keep as dirty any more.
    pub fn logged(&mut self, write: Write) -> Option<(u32, WriteBack)> {
        let entry = self.entries.get_mut(&write)?;
        entry.durable = true;
        let Entry { extent, home, on, .. } = *entry;
        self.place(extent, write);
        self.counters[home as usize].logged += extent.bytes;
        self.rule.durable(write, Copy::Log { on, home }, &mut self.effects);
        self.effects.clear();
        Some((home, extent))
    }

    /// A home is ready: what logs have for it goes home, one extent after the other. The disk to ask next, if one is.
    pub fn homeward<T>(&mut self, home: u32, tag: impl FnOnce(Step) -> T) -> Option<(u32, Request<T>)> {
        self.rule.awake(home, &mut self.effects);
        let (queue, under_way) = &mut self.homeward[home as usize];
        queue.extend(self.effects.drain(..).filter_map(going_home));
        let write = *queue.front().filter(|_| !*under_way)?;
        *under_way = true;
        let Entry { extent, on, at, .. } = *self.entries.get(&write)?;
        let tag = tag(Step::Fetch(write));
        Some((on, Request { op: Op::Read, stream: log_of(on), offset: at, bytes: extent.bytes, places: 1, tag }))
    }
    /// An extent has been read from its log: what its home is to write.
    pub fn fetched<T>(&mut self, write: Write, tag: impl FnOnce(Step) -> T) -> Option<(u32, Request<T>)> {
        let entry = self.entries.get_mut(&write)?;
        entry.read = true;
        let Entry { extent: WriteBack { stream, offset, bytes }, home, .. } = *entry;
        Some((home, Request { op: Op::Write, stream, offset, bytes, places: 1, tag: tag(Step::Home(write)) }))
    }
    /// Has an extent wait for older bytes of its place that are on their way home from a log that has failed; whether
    /// there are such. [`Offloading::follower`] then has it.
    pub fn wait_for_older(&mut self, extent: WriteBack, home: u32) -> bool {
        let (from, to) = span(extent);
        let older = |entry: &Entry| {
            let (start, end) = span(entry.extent);
            entry.read && entry.extent.stream == extent.stream && start < to && from < end
        };
        let waits = self.homeward[home as usize].1 && self.entries.values().any(older);
        if waits {
            self.follows[home as usize] = Some(extent);
        }
        waits
    }
    /// What has waited for bytes that are home now.
    pub fn follower(&mut self, home: u32) -> Option<WriteBack> {
        self.follows[home as usize].take()
    }
    /// A node's memory is gone, and with it what waits there: whose homes these are.
    pub fn drop_node(&mut self, node: u32) -> impl Iterator<Item = usize> {
        let waits = move |extent: &mut WriteBack| extent.stream.node == node;
        self.follows.iter_mut().enumerate().filter_map(move |(home, follows)| follows.take_if(waits).map(|_| home))
    }
    /// The home has an extent on its disk: which home, and whose bytes. Its log's copy is discarded.
    pub fn at_home(&mut self, write: Write) -> Option<(u32, Stream)> {
        let home = self.entries.get(&write)?.home;
        self.rule.durable(write, Copy::Home(home), &mut self.effects);
        let discarded = self.effects.drain(..).any(|effect| matches!(effect, Effect::Discard(..)));
        let entry = self.entries.remove(&write).filter(|_| discarded)?;
        let (from, to) = span(entry.extent);
        for (start, _, newest) in self.overlapping(entry.extent.stream, from, to).collect::<Vec<_>>() {
            if newest == write {
                self.places.remove(&(entry.extent.stream, start));
            }
        }
        self.counters[home as usize].returned += entry.extent.bytes;
        let (queue, under_way) = &mut self.homeward[home as usize];
        queue.retain(|other| *other != write);
        *under_way = false;
        Some((home, entry.extent.stream))
    }

    /// The disk whose log has the newest bytes of an extent that are not home.
    pub fn log_with(&self, extent: WriteBack) -> Option<u32> {
        let (from, to) = span(extent);
        let newest = self.overlapping(extent.stream, from, to).map(|(_, _, write)| write).max()?;
        self.entries.get(&newest).map(|entry| entry.on)
    }
    /// Durable bytes that overlap a range of a file: where they begin and end, and their write.
    fn overlapping(&self, file: Stream, from: u64, to: u64) -> impl Iterator<Item = (u64, u64, Write)> {
        let before = self.places.range(..(file, from)).next_back().filter(|((other, _), _)| *other == file);
        let all = before.into_iter().chain(self.places.range((file, from)..(file, to)));
        all.map(|((_, start), (end, write))| (*start, *end, *write)).filter(move |(_, end, _)| *end > from)
    }
    /// Bytes take the place of older ones.
    fn place(&mut self, extent: WriteBack, write: Write) {
        let (from, to) = span(extent);
        for (start, end, older) in self.overlapping(extent.stream, from, to).collect::<Vec<_>>() {
            self.places.remove(&(extent.stream, start));
            for (start, end) in [(start, end.min(from)), (start.max(to), end)] {
                if start < end {
                    self.places.insert((extent.stream, start), (end, older));
                }
            }
        }
        self.places.insert((extent.stream, from), (to, write));
    }

    /// Splits a range of a file into what logs have of it and what its own disk has: disk, stream, offset, bytes.
    pub fn split(&self, disk: u32, stream: Stream, (from, bytes): (Bytes, Bytes)) -> Vec<(u32, Stream, Bytes, Bytes)> {
        let file = stream.file();
        let (mut at, end) = (from.get(), (from + bytes).get());
        let mut parts = Vec::new();
        let own = |from: u64, to: u64| (disk, stream, Bytes::new(from), Bytes::new(to - from));
        for (start, stop, write) in self.overlapping(file, at, end) {
            let Some(entry) = self.entries.get(&write) else { continue };
            let (first, stop) = (at.max(start), stop.min(end));
            if first > at {
                parts.push(own(at, first));
            }
            let offset = entry.at + (Bytes::new(first) - entry.extent.offset);
            parts.push((entry.on, log_of(entry.on), offset, Bytes::new(stop - first)));
            at = stop;
        }
        if at < end {
            parts.push(own(at, end));
        }
        parts
    }

    /// A disk has failed, with its log. What its log had is lost but for what has been read from there, and nobody brings
    /// home what was for it. Extents that were on the way into its log are dirty as before, beside their homes.
    pub fn fail(&mut self, disk: u32) -> Vec<(u32, WriteBack)> {
        let mut again = Vec::new();
        let gone = |entry: &Entry| entry.home == disk || (entry.on == disk && !entry.read);
        for entry in self.entries.values().filter(|entry| gone(entry)) {
            if !entry.durable {
                again.push((entry.home, entry.extent));
            } else if entry.home != disk {
                self.counters[entry.home as usize].lost += entry.extent.bytes;
            }
        }
        self.entries.retain(|_, entry| !gone(entry));
        self.follows[disk as usize] = None;
        // The others are found again as after a crash, by what the disks have.
        let durable = self.entries.iter().filter(|(_, entry)| entry.durable);
        let durable: Vec<_> = durable.map(|(write, entry)| (*write, *entry)).collect();
        self.places.clear();
        for (write, entry) in durable.iter().filter(|(_, entry)| entry.on != disk) {
            self.place(entry.extent, *write);
        }
        let entries = &self.entries;
        let found = durable.into_iter().map(|(write, Entry { on, home, .. })| (write, Copy::Log { on, home }));
        self.rule = OffloadLog::recover(&found.collect(), &mut self.effects);
        for (write, entry) in entries.iter().filter(|(_, entry)| !entry.durable) {
            let _ = self.rule.begin(*write, &[(entry.home, false)], &[entry.on], &mut self.effects);
        }
        self.effects.clear();
        for (home, (queue, under_way)) in (0..).zip(&mut self.homeward) {
            let first = queue.front().copied();
            queue.clear();
            *under_way &= first.is_some_and(|first| entries.contains_key(&first));
            if first.is_some() {
                self.rule.awake(home, &mut self.effects);
                queue.extend(self.effects.drain(..).filter_map(going_home));
            }
        }
        again
    }
}

/// The write that a home is to get.
const fn going_home(effect: Effect) -> Option<Write> {
    match effect {
        Effect::Store(write, Copy::Home(_)) => Some(write),
        _ => None,
    }
}

/// Where an extent begins and ends.
fn span(extent: WriteBack) -> (u64, u64) {
    (extent.offset.get(), (extent.offset + extent.bytes).get())
}

/// The log of a disk, as a file.
const fn log_of(disk: u32) -> Stream {
    Stream { node: NOBODY, id: disk as u64, part: 0 }
}
