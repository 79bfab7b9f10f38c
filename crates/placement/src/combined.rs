//! What a combiner leaves of a job's pairs: one for each key and map task, or two.

use crate::histogram::{Same, mixed};
use std::collections::{BinaryHeap, HashMap};
use std::hash::BuildHasherDefault;

/// Pairs that are kept: counts have a standard error of 1/sqrt(k), 0.8 %.
const ROOM: usize = 1 << 14;

/// `MapTask` of Hadoop: a spill begins when this much is collected, 0.8 (`mapreduce.map.sort.spill.percent`) of 100 MiB
/// (`mapreduce.task.io.sort.mb`).
const SPILL: u64 = 80 << 20;
/// What it notes of each pair in the same buffer.
const METADATA: u64 = 16;
/// The combiner runs at each spill, and again in their merge if they are so many (`mapreduce.map.combine.minspills`).
const MERGED: u64 = 3;

/// The pairs of a key that all pairs of a map have: one, or one of each of two spills. `bytes`: of all its pairs, which
/// are so many.
pub fn pairs_of_a_key(bytes: f64, pairs: f64) -> f64 {
    if ((bytes + pairs * METADATA as f64) / SPILL as f64).ceil() == 2.0 { 2.0 } else { 1.0 }
}

/// Different pairs of a key and a map task, and their bytes: a bottom-k sketch (Cohen and Kaplan 2007), which keeps the
/// pairs of the lowest hashes. They are a sample of the different pairs, however often each comes.
#[derive(Clone, Debug, Default)]
pub struct Combined {
    kept: HashMap<u64, Kept, BuildHasherDefault<Same>>,
    /// The hashes, the highest first.
    highest: BinaryHeap<u64>,
    /// Hashes from here on are not kept; 0 while all are.
    below: u64,
}

/// A key of a task.
#[derive(Clone, Copy, Debug)]
struct Kept {
    bytes: u64,
    task: u64,
    /// The last spill that has it.
    spill: u64,
    /// Spills that have it.
    spills: u32,
}

impl Combined {
    /// Of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what a task emits into one of its spills, from 0: the hash of its key, and the bytes of the pair.
    #[inline]
    pub fn add(&mut self, key: u64, [task, spill]: [u64; 2], bytes: u64) {
        let hash = mixed(key ^ mixed(task.wrapping_add(1)));
        if self.below == 0 || hash < self.below {
            self.keep(hash, Kept { bytes, task, spill, spills: 1 });
        }
    }

    fn keep(&mut self, hash: u64, new: Kept) {
        if let Some(kept) = self.kept.get_mut(&hash) {
            kept.spills += u32::from(kept.spill != new.spill);
            kept.spill = new.spill;
            return;
        }
        self.kept.insert(hash, new);
        self.highest.push(hash);
        if self.kept.len() > ROOM {
            self.below = self.highest.pop().unwrap_or(0);
            self.kept.remove(&self.below);
        }
    }

    /// A task's spills are merged, and the combiner has run on them.
    fn merge(&mut self, task: u64) {
        for hash in &self.highest {
            if let Some(kept) = self.kept.get_mut(hash).filter(|kept| kept.task == task) {
                kept.spills = 1;
            }
        }
    }

    /// How many of those that are kept stand for one.
    fn factor(&self) -> f64 {
        let count = self.kept.len() as f64;
        if self.below == 0 { 1.0 } else { ROOM as f64 / (self.below as f64 / u64::MAX as f64) / count }
    }

    fn sum(&self, of: impl Fn(&Kept) -> u64) -> f64 {
        self.highest.iter().filter_map(|hash| self.kept.get(hash)).map(of).sum::<u64>() as f64 * self.factor()
    }

    /// How many there are, estimated: k of them have hashes below the (k + 1)th.
    pub fn pairs(&self) -> f64 {
        self.sum(|kept| u64::from(kept.spills))
    }

    /// Their bytes, estimated.
    pub fn bytes(&self) -> f64 {
        self.sum(|kept| kept.bytes * u64::from(kept.spills))
    }
}

/// What a job's combiner leaves of its pairs. A map task reads a block natively, by key the file of a bucket.
#[derive(Clone, Debug)]
pub struct Combiner {
    /// Bytes of records that a map task reads natively.
    block: u64,
    /// Maps sort in a buffer of Hadoop's, and spill. Spark's merge whatever they have spilled.
    spills: bool,
    /// The task of the present block, and what it has collected.
    task: u64,
    collected: u64,
    native: Combined,
    /// What maps send out by key, of pairs whose record does not stand where their key belongs. How much such a map
    /// collects is not known: it is taken to leave one pair of each key.
    away: Combined,
}

impl Combiner {
    /// Of a job whose maps read so many bytes each, and whether they spill as Hadoop's do.
    pub fn new(block: u64, spills: bool) -> Self {
        let [native, away] = [(); 2].map(|()| Combined::new());
        Self { block: block.max(1), spills, task: 0, collected: 0, native, away }
    }

    /// The map task of the block in which this byte of the data is emits a pair.
    #[inline]
    pub fn add(&mut self, key: u64, at: u64, bytes: u64) {
        let task = at / self.block;
        if task != self.task {
            self.end();
            self.task = task;
        }
        let spill = if self.spills { self.collected / SPILL } else { 0 };
        self.native.add(key, [task, spill], bytes);
        self.collected += bytes + METADATA;
    }

    /// The map task of the block in which this byte of a bucket's file is emits a pair whose key is another bucket's.
    #[inline]
    pub fn add_away(&mut self, key: u64, bucket: u32, at: u64, bytes: u64) {
        self.away.add(key, [u64::from(bucket) | (at / self.block) << 32, 0], bytes);
    }

    /// What maps send out by key.
    pub const fn away(&self) -> &Combined {
        &self.away
    }

    fn end(&mut self) {
        if self.collected.div_ceil(SPILL) >= MERGED {
            self.native.merge(self.task);
        }
        self.collected = 0;
    }

    /// What maps send out natively.
    pub fn native(&self) -> Combined {
        let mut last = self.clone();
        last.end();
        last.native
    }
}
