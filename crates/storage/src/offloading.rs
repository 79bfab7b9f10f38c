//! Off-loading within a machine: what memory writes back for a disk at rest goes to a log on a disk that is ready, and
//! home once the home is ready for another reason or for its planned window (Narayanan, Donnelly, Rowstron, FAST 2008).
//!
//! [`crate::power::OffloadLog`] has the rule of durability and says what is to be done. HDFS keeps at most one replica
//! of a block on a machine, so no other disk of the machine is a home of the same write. Blocks are written once: what
//! is written again goes home in the order of the log.

use crate::cache::WriteBack;
use crate::disk::{Op, Request, Stream};
use crate::power::offload::{Copy, Effect, OffloadLog, Write};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
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
    /// Durable entries by where their bytes belong; of the same place the newest.
    places: BTreeMap<(Stream, u64), Write>,
    /// By disk: where its log ends.
    ends: Vec<Bytes>,
    /// By home: what goes home, and whether its first is on the way.
    homeward: Vec<(VecDeque<Write>, bool)>,
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
        self.entries.insert(write, Entry { extent, home, on, at, durable: false });
        Request { op: Op::Write, stream: log_of(on), offset: at, bytes: extent.bytes, tag: tag(Step::Log(write)) }
    }
    /// A log has an extent on its disk: for which home it is, and what memory need not keep as dirty any more.
    pub fn logged(&mut self, write: Write) -> Option<(u32, WriteBack)> {
        let entry = self.entries.get_mut(&write)?;
        entry.durable = true;
        let Entry { extent, home, on, .. } = *entry;
        self.places.insert((extent.stream, extent.offset.get()), write);
        self.counters[home as usize].logged += extent.bytes;
        self.rule.durable(write, Copy::Log { on, home }, &mut self.effects);
        self.effects.clear();
        Some((home, extent))
    }

    /// A home is ready: what logs have for it goes home, one extent after the other. The disk to ask next, if one is.
    pub fn homeward<T>(&mut self, home: u32, tag: impl FnOnce(Step) -> T) -> Option<(u32, Request<T>)> {
        self.rule.awake(home, &mut self.effects);
        let (queue, under_way) = &mut self.homeward[home as usize];
        let stores = self.effects.drain(..).filter_map(|effect| match effect {
            Effect::Store(write, Copy::Home(_)) => Some(write),
            _ => None,
        });
        queue.extend(stores);
        let write = *queue.front().filter(|_| !*under_way)?;
        *under_way = true;
        let Entry { extent, on, at, .. } = *self.entries.get(&write)?;
        let tag = tag(Step::Fetch(write));
        Some((on, Request { op: Op::Read, stream: log_of(on), offset: at, bytes: extent.bytes, tag }))
    }
    /// An extent has been read from its log: what its home is to write.
    pub fn fetched<T>(&self, write: Write, tag: impl FnOnce(Step) -> T) -> Option<(u32, Request<T>)> {
        let Entry { extent: WriteBack { stream, offset, bytes }, home, .. } = *self.entries.get(&write)?;
        Some((home, Request { op: Op::Write, stream, offset, bytes, tag: tag(Step::Home(write)) }))
    }
    /// The home has an extent on its disk. Its log's copy is discarded.
    pub fn at_home(&mut self, write: Write) -> Option<Stream> {
        let home = self.entries.get(&write)?.home;
        self.rule.durable(write, Copy::Home(home), &mut self.effects);
        let discarded = self.effects.drain(..).any(|effect| matches!(effect, Effect::Discard(..)));
        let entry = self.entries.remove(&write).filter(|_| discarded)?;
        let place = (entry.extent.stream, entry.extent.offset.get());
        if self.places.get(&place) == Some(&write) {
            self.places.remove(&place);
        }
        self.counters[home as usize].returned += entry.extent.bytes;
        let (queue, under_way) = &mut self.homeward[home as usize];
        queue.retain(|other| *other != write);
        *under_way = false;
        Some(entry.extent.stream)
    }

    /// Splits a range of a file into what logs have of it and what its own disk has: disk, stream, offset, bytes.
    pub fn split(&self, disk: u32, stream: Stream, (from, bytes): (Bytes, Bytes)) -> Vec<(u32, Stream, Bytes, Bytes)> {
        let file = stream.file();
        let (mut at, end) = (from.get(), (from + bytes).get());
        let mut parts = Vec::new();
        let own = |from: u64, to: u64| (disk, stream, Bytes::new(from), Bytes::new(to - from));
        let before = self.places.range(..(file, at)).next_back().filter(|((other, _), _)| *other == file);
        for (&(_, start), write) in before.into_iter().chain(self.places.range((file, at)..(file, end))) {
            let Some(entry) = self.entries.get(write) else { continue };
            let stop = (start + entry.extent.bytes.get()).min(end);
            if stop <= at {
                continue;
            }
            if start > at {
                parts.push(own(at, start));
            }
            let first = at.max(start);
            let offset = entry.at + Bytes::new(first - start);
            parts.push((entry.on, log_of(entry.on), offset, Bytes::new(stop - first)));
            at = stop;
        }
        if at < end {
            parts.push(own(at, end));
        }
        parts
    }

    /// A disk has failed, with its log. Its log's copies are lost, and nobody brings home what was for it. Extents that
    /// were on the way into its log are dirty as before, beside their homes.
    pub fn fail(&mut self, disk: u32) -> Vec<(u32, WriteBack)> {
        let mut again = Vec::new();
        let gone = |entry: &Entry| entry.home == disk || entry.on == disk;
        for entry in self.entries.values().filter(|entry| gone(entry)) {
            if !entry.durable {
                again.push((entry.home, entry.extent));
            } else if entry.home != disk {
                self.counters[entry.home as usize].lost += entry.extent.bytes;
            }
        }
        let homes: BTreeSet<u32> = self.entries.values().filter(|entry| gone(entry)).map(|entry| entry.home).collect();
        self.entries.retain(|_, entry| !gone(entry));
        self.places.retain(|_, write| self.entries.contains_key(write));
        for home in homes {
            self.homeward[home as usize] = (VecDeque::new(), false);
        }
        // The others are found again as after a crash, by what the disks have.
        let durable = self.entries.iter().filter(|(_, entry)| entry.durable);
        let found = durable.map(|(write, Entry { on, home, .. })| (*write, Copy::Log { on: *on, home: *home }));
        self.rule = OffloadLog::recover(&found.collect(), &mut self.effects);
        self.effects.clear();
        for (write, entry) in self.entries.iter().filter(|(_, entry)| !entry.durable) {
            let _ = self.rule.begin(*write, &[(entry.home, false)], &[entry.on], &mut self.effects);
        }
        self.effects.clear();
        again
    }
}

/// The log of a disk, as a file.
const fn log_of(disk: u32) -> Stream {
    Stream { node: NOBODY, id: disk as u64, part: 0 }
}
