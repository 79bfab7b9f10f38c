//! What an executor keeps of data sets: in a bounded storage memory, from which the least recently used go first
//! (`MemoryStore`, `StorageMemoryPool`), and on its node's disks (`DiskStore`).

use crate::config::Level;
use hadoop::DiskStream;
use std::collections::BTreeMap;
use units::Bytes;

/// A partition of a data set that is kept: its place among those of the stage that keeps it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct KeptPartition {
    pub stage: usize,
    pub number: usize,
}

/// Where a partition is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    Memory,
    Disk(u32, DiskStream),
}

#[derive(Debug)]
struct Entry {
    bytes: Bytes,
    level: Level,
    /// When it was used last, if it is in memory.
    used: Option<u64>,
    disk: Option<(u32, DiskStream)>,
}

/// What came of putting a partition into memory: those that had to go, by whether they stay on disk. None where it has no
/// room, and nothing goes.
pub type Evicted = Option<Vec<(KeptPartition, Bytes, Level)>>;

/// What one executor keeps.
#[derive(Debug)]
pub struct Store {
    free: Bytes,
    capacity: Bytes,
    entries: BTreeMap<KeptPartition, Entry>,
    by_use: BTreeMap<u64, KeptPartition>,
    uses: u64,
}

impl Store {
    pub const fn new(capacity: Bytes) -> Self {
        Self { free: capacity, capacity, entries: BTreeMap::new(), by_use: BTreeMap::new(), uses: 0 }
    }

    /// Where a partition is, without using it.
    pub fn find(&self, partition: KeptPartition) -> Option<Found> {
        let entry = self.entries.get(&partition)?;
        if entry.used.is_some() {
            return Some(Found::Memory);
        }
        entry.disk.map(|(disk, file)| Found::Disk(disk, file))
    }

    /// Takes room in memory for a partition. Others go, the least recently used first, none of them of the same data set or
    /// locked; where these are too few, none goes (`evictBlocksToFreeSpace`). The caller writes those to disk that stay
    /// there.
    pub fn put(
        &mut self,
        (partition, bytes): (KeptPartition, Bytes),
        level: Level,
        is_locked: impl Fn(KeptPartition) -> bool,
    ) -> Evicted {
        if bytes > self.capacity {
            return None;
        }
        let (mut room, mut go) = (self.free, Vec::new());
        let may_go = |other: KeptPartition| other.stage != partition.stage && !is_locked(other);
        for (used, other) in self.by_use.iter().filter(|(_, other)| may_go(**other)) {
            if room >= bytes {
                break;
            }
            room += self.entries.get(other).map_or(Bytes::ZERO, |entry| entry.bytes);
            go.push((*used, *other));
        }
        if room < bytes {
            return None;
        }
        self.free = room - bytes;
        let mut evicted = Vec::new();
        for (used, other) in go {
            self.by_use.remove(&used);
            let Some(entry) = self.entries.get_mut(&other) else { continue };
            entry.used = None;
            if entry.disk.is_none() {
                evicted.push((other, entry.bytes, entry.level));
                if entry.level == Level::MemoryOnly {
                    self.entries.remove(&other);
                }
            }
        }
        self.entries.entry(partition).or_insert(Entry { bytes, level, used: None, disk: None });
        self.touch_new(partition);
        Some(evicted)
    }

    /// A partition is on disk.
    pub fn put_on_disk(&mut self, partition: KeptPartition, bytes: Bytes, level: Level, disk: (u32, DiskStream)) {
        self.entries.entry(partition).or_insert(Entry { bytes, level, used: None, disk: None }).disk = Some(disk);
    }

    /// A partition in memory is used.
    pub fn touch(&mut self, partition: KeptPartition) {
        let Some(used) = self.entries.get(&partition).and_then(|entry| entry.used) else { return };
        self.by_use.remove(&used);
        self.touch_new(partition);
    }

    fn touch_new(&mut self, partition: KeptPartition) {
        self.uses += 1;
        if let Some(entry) = self.entries.get_mut(&partition) {
            entry.used = Some(self.uses);
            self.by_use.insert(self.uses, partition);
        }
    }

    /// All that it keeps, each with whether it is in memory.
    pub fn all(&self) -> impl Iterator<Item = (KeptPartition, Bytes, bool)> {
        self.entries.iter().map(|(partition, entry)| (*partition, entry.bytes, entry.used.is_some()))
    }

    /// Its process is gone.
    pub fn clear(&mut self) {
        *self = Self::new(self.capacity);
    }
}
