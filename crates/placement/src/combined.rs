//! What a combiner leaves of a job's pairs: one for each key and map task.

use crate::histogram::{Same, mixed};
use std::collections::{BinaryHeap, HashMap};
use std::hash::BuildHasherDefault;

/// Pairs that are kept: counts have a standard error of 1/sqrt(k), 0.8 %.
const ROOM: usize = 1 << 14;

/// Different pairs of a key and a map task, and their bytes: a bottom-k sketch (Cohen and Kaplan 2007), which keeps the
/// pairs of the lowest hashes. They are a sample of the different pairs, however often each comes.
#[derive(Clone, Debug, Default)]
pub struct Combined {
    /// Bytes of pairs by their hashes.
    kept: HashMap<u64, u64, BuildHasherDefault<Same>>,
    /// The hashes, the highest first.
    highest: BinaryHeap<u64>,
    /// The sum of the bytes.
    bytes: u64,
    /// Hashes from here on are not kept; 0 while all are.
    below: u64,
}

impl Combined {
    /// Of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what a task emits: the hash of its key, and the bytes of the pair.
    #[inline]
    pub fn add(&mut self, key: u64, task: u64, bytes: u64) {
        let hash = mixed(key ^ mixed(task.wrapping_add(1)));
        if self.below == 0 || hash < self.below {
            self.keep(hash, bytes);
        }
    }

    fn keep(&mut self, hash: u64, bytes: u64) {
        if self.kept.contains_key(&hash) {
            return;
        }
        self.kept.insert(hash, bytes);
        self.highest.push(hash);
        self.bytes += bytes;
        if self.kept.len() > ROOM {
            self.below = self.highest.pop().unwrap_or(0);
            self.bytes -= self.kept.remove(&self.below).unwrap_or(0);
        }
    }

    /// How many there are, estimated: k of them have hashes below the (k + 1)th.
    pub fn pairs(&self) -> f64 {
        if self.below == 0 { self.kept.len() as f64 } else { ROOM as f64 / (self.below as f64 / u64::MAX as f64) }
    }

    /// Their bytes, estimated.
    pub fn bytes(&self) -> f64 {
        self.bytes as f64 * self.pairs() / self.kept.len().max(1) as f64
    }
}
