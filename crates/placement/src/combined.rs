//! What a combiner leaves of a job's pairs: one for each key and map task.

use crate::histogram::mixed;
use std::collections::BTreeMap;

/// Pairs that are kept: counts have a standard error of 1/sqrt(k), 0.8 %.
const ROOM: usize = 1 << 14;

/// Different pairs of a key and a map task, and their bytes: a bottom-k sketch (Cohen and Kaplan 2007), which keeps the
/// pairs of the lowest hashes. They are a sample of the different pairs, however often each comes.
#[derive(Clone, Debug, Default)]
pub struct Combined {
    /// Bytes of pairs by their hashes.
    kept: BTreeMap<u64, u64>,
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

    #[inline(never)]
    fn keep(&mut self, hash: u64, bytes: u64) {
        self.kept.entry(hash).or_insert(bytes);
        if self.kept.len() > ROOM {
            self.below = self.kept.pop_last().map_or(0, |(highest, _)| highest);
        }
    }

    /// How many there are, estimated: k of them have hashes below the (k + 1)th.
    pub fn pairs(&self) -> f64 {
        if self.below == 0 { self.kept.len() as f64 } else { ROOM as f64 / (self.below as f64 / u64::MAX as f64) }
    }

    /// Their bytes, estimated.
    pub fn bytes(&self) -> f64 {
        let kept: u64 = self.kept.values().sum();
        kept as f64 * self.pairs() / self.kept.len().max(1) as f64
    }
}
