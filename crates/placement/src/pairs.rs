//! How many pairs of a key and a node there are: what a combiner leaves of a job's pairs, by how records are placed.

use crate::histogram::mixed;

/// The most keys that are kept: 32 MiB of hashes.
const ROOM: usize = 1 << 22;

/// The keys of records, record by record, as hashes: the first four million.
#[derive(Clone, Debug, Default)]
pub struct PairSample {
    hashes: Vec<u64>,
    /// Where records end in `hashes`.
    ends: Vec<u32>,
}

/// Distinct pairs of a key and a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairCount {
    /// Records in order on equal parts of the nodes, as blocks of a file are.
    pub native: u64,
    /// Whole records by their first key.
    pub first: u64,
    /// Whole records by their rarest key: of one key per record the best that whole records allow.
    pub rarest: u64,
    /// Each key by itself: one pair for each key.
    pub split: u64,
}

impl PairCount {
    /// The part of the native pairs that whole records by their rarest key do without.
    pub fn removed_by_rarest(&self) -> f64 {
        if self.native == 0 { 0.0 } else { 1.0 - self.rarest as f64 / self.native as f64 }
    }
}

impl PairSample {
    /// Of no record yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a key of the present record, by its hash.
    #[inline]
    pub fn add(&mut self, hash: u64) {
        if self.hashes.len() < ROOM {
            self.hashes.push(hash);
        }
    }

    /// The present record has no more keys.
    #[inline]
    pub fn end_record(&mut self) {
        let end = self.hashes.len() as u32;
        if self.ends.last().copied().unwrap_or(0) < end {
            self.ends.push(end);
        }
    }

    /// How many records are kept.
    pub fn records(&self) -> usize {
        self.ends.len()
    }

    /// Counts the pairs on so many nodes.
    pub fn count(&self, nodes: u32) -> PairCount {
        let mut keys = self.hashes.clone();
        keys.sort_unstable();
        let frequency = |hash: u64| keys.partition_point(|key| *key <= hash) - keys.partition_point(|key| *key < hash);
        let nodes = u64::from(nodes.max(1));
        let by_key = |hash: u64| mixed(hash) % nodes;
        let records = self.ends.len() as u64;
        let native = self.pairs(|number, _| number * nodes / records.max(1));
        let first = self.pairs(|_, keys| by_key(keys[0]));
        let rarest = self.pairs(|_, keys| {
            let rarest = keys.iter().copied().min_by_key(|key| (frequency(*key), *key));
            by_key(rarest.unwrap_or(0))
        });
        keys.dedup();
        PairCount { native, first, rarest, split: keys.len() as u64 }
    }

    /// Distinct pairs where a rule places records.
    fn pairs(&self, node: impl Fn(u64, &[u64]) -> u64) -> u64 {
        let mut pairs = Vec::with_capacity(self.hashes.len());
        let mut begin = 0;
        for (number, end) in (0..).zip(&self.ends) {
            let keys = &self.hashes[begin..*end as usize];
            let at = mixed(node(number, keys) + 1);
            pairs.extend(keys.iter().map(|key| key ^ at));
            begin = *end as usize;
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs.len() as u64
    }
}
