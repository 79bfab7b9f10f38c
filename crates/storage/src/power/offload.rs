//! Writes for disks at rest go to a log on a disk that is ready, and home when that is (Narayanan, Donnelly, Rowstron,
//! "Write off-loading", FAST 2008).
//!
//! **The rule.** An acknowledged write has as many durable copies as it has homes, each on a disk of its own. A copy is
//! durable when its disk has flushed it, at home or in a log; a disk at rest keeps what it has flushed. So:
//!
//! 1. A write is acknowledged when each home, or a log that stands for it, has reported its copy durable. No disk
//!    stands for two homes of a write, nor for one beside being a home of it.
//! 2. A log's copy is discarded only after the home has reported its own copy durable.
//! 3. What a log holds says whose copy it is. After a crash the logs and the homes alone tell what is still to be done.

use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// A disk, by its number.
pub type Disk = u32;
/// A write, by its number.
pub type Write = u64;

/// A copy of a write on a disk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Copy {
    /// Where it belongs.
    Home(Disk),
    /// In the log of a disk, for its home.
    Log {
        /// The disk that has the log.
        on: Disk,
        /// The disk that it is for.
        home: Disk,
    },
}

impl Copy {
    /// The disk that holds it.
    pub const fn disk(self) -> Disk {
        match self {
            Self::Home(disk) | Self::Log { on: disk, .. } => disk,
        }
    }
    const fn home(self) -> Disk {
        match self {
            Self::Home(home) | Self::Log { home, .. } => home,
        }
    }
}

/// What the owner does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Write a copy and flush it, then call [`OffloadLog::durable`].
    Store(Write, Copy),
    /// Tell the writer that its data are safe.
    Acknowledge(Write),
    /// Remove a log's copy; a crash before that is harmless.
    Discard(Write, Copy),
}

/// There are fewer ready disks than copies to keep on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(
    "{asleep} homes are at rest, and {logs} other ready disks may hold logs for them: wake {} of the homes",
    asleep - logs
)]
pub struct TooFewLogs {
    /// Homes at rest.
    pub asleep: usize,
    /// Disks for logs that are no home of the write.
    pub logs: usize,
}

/// A write that is not wholly at home.
#[derive(Clone, Debug, Default)]
struct Pending {
    /// Homes whose copy is durable at home or in a log.
    safe: BTreeSet<Disk>,
    homes: BTreeSet<Disk>,
    /// Homes that are still to get their own copy, and the log's copy that stands for it.
    owed: BTreeMap<Disk, Copy>,
    /// Of these, the ones whose copy is on its way home.
    moving: BTreeSet<Disk>,
    acknowledged: bool,
}

/// The writes that are under way or off-loaded.
#[derive(Clone, Debug, Default)]
pub struct OffloadLog {
    pending: BTreeMap<Write, Pending>,
    /// Writes of which a home is owed a copy, by home.
    by_home: BTreeMap<Disk, BTreeSet<Write>>,
}

impl OffloadLog {
    /// Begins a write to its homes, each with whether it is ready. `logs` are ready disks, in order of preference.
    pub fn begin(
        &mut self,
        write: Write,
        homes: &[(Disk, bool)],
        logs: &[Disk],
        out: &mut Vec<Effect>,
    ) -> Result<(), TooFewLogs> {
        let all: BTreeSet<Disk> = homes.iter().map(|(disk, _)| *disk).collect();
        let asleep: Vec<Disk> = homes.iter().filter(|(_, ready)| !ready).map(|(disk, _)| *disk).collect();
        let mut free: Vec<Disk> = Vec::new();
        for disk in logs {
            if free.len() == asleep.len() {
                break;
            }
            if !all.contains(disk) && !free.contains(disk) {
                free.push(*disk);
            }
        }
        if free.len() < asleep.len() {
            return Err(TooFewLogs { asleep: asleep.len(), logs: free.len() });
        }
        let mut pending = Pending { homes: all, ..Pending::default() };
        for (home, _) in homes.iter().filter(|(_, ready)| *ready) {
            out.push(Effect::Store(write, Copy::Home(*home)));
        }
        for (home, on) in asleep.into_iter().zip(free) {
            let copy = Copy::Log { on, home };
            pending.owed.insert(home, copy);
            self.by_home.entry(home).or_default().insert(write);
            out.push(Effect::Store(write, copy));
        }
        self.pending.insert(write, pending);
        Ok(())
    }
    /// A copy is flushed.
    pub fn durable(&mut self, write: Write, copy: Copy, out: &mut Vec<Effect>) {
        let Some(pending) = self.pending.get_mut(&write) else { return };
        pending.safe.insert(copy.home());
        if pending.safe == pending.homes && !pending.acknowledged {
            pending.acknowledged = true;
            out.push(Effect::Acknowledge(write));
        }
        if let Copy::Home(home) = copy
            && let Some(log) = pending.owed.remove(&home)
        {
            pending.moving.remove(&home);
            if let Some(writes) = self.by_home.get_mut(&home) {
                writes.remove(&write);
            }
            out.push(Effect::Discard(write, log));
        }
        if pending.acknowledged && pending.owed.is_empty() {
            self.pending.remove(&write);
        }
    }
    /// A disk has become ready: what logs hold for it goes home, once.
    pub fn awake(&mut self, home: Disk, out: &mut Vec<Effect>) {
        for write in self.by_home.get(&home).into_iter().flatten() {
            let Some(pending) = self.pending.get_mut(write) else { continue };
            // What its log has not flushed yet cannot be read from there.
            if pending.safe.contains(&home) && pending.moving.insert(home) {
                out.push(Effect::Store(*write, Copy::Home(home)));
            }
        }
    }
    /// Where the copy stands that a home of a write is owed.
    pub fn log_of(&self, write: Write, home: Disk) -> Option<Copy> {
        self.pending.get(&write)?.owed.get(&home).copied()
    }
    /// Writes that logs hold for a disk.
    pub fn owed(&self, home: Disk) -> usize {
        self.by_home.get(&home).map_or(0, BTreeSet::len)
    }
    /// Whether nothing is under way or in a log.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
    /// What is to be done after a crash, from what the disks have durably: copies whose home has its own are discarded,
    /// the others are owed. A write that was not acknowledged has what was flushed of it, as under replication it
    /// would.
    pub fn recover(durable: &BTreeSet<(Write, Copy)>, out: &mut Vec<Effect>) -> Self {
        let mut log = Self::default();
        for &(write, copy) in durable {
            let Copy::Log { home, .. } = copy else { continue };
            if durable.contains(&(write, Copy::Home(home))) {
                out.push(Effect::Discard(write, copy));
                continue;
            }
            let pending = log.pending.entry(write).or_default();
            pending.acknowledged = true;
            pending.homes.insert(home);
            pending.safe.insert(home);
            pending.owed.insert(home, copy);
            log.by_home.entry(home).or_default().insert(write);
        }
        log
    }
}
