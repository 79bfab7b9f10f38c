//! How many pairs of a key and a node there are: what a combiner leaves of a job's pairs, by how records are placed.

use crate::histogram::mixed;
use std::ops::Range;

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

    /// Adds a record by the hashes of its keys.
    #[inline]
    pub fn record(&mut self, keys: &[u64]) {
        let kept = &keys[..keys.len().min(ROOM - self.hashes.len())];
        if !kept.is_empty() {
            self.hashes.extend_from_slice(kept);
            self.ends.push(self.hashes.len() as u32);
        }
    }

    /// How many records are kept.
    pub fn records(&self) -> usize {
        self.ends.len()
    }

    /// Counts the pairs on so many nodes.
    pub fn count(&self, nodes: u32) -> PairCount {
        let nodes = nodes.max(1);
        let Numbered { numbers, counts } = Numbered::of(&self.hashes);
        let (numbers, counts) = (&numbers, &counts);
        let by_key = |place: usize| (mixed(self.hashes[place]) % u64::from(nodes)) as u32;
        let rarest = |keys: Range<usize>| {
            let begin = keys.start;
            keys.min_by_key(|place| (counts[numbers[*place] as usize], numbers[*place])).unwrap_or(begin)
        };
        let records = self.ends.len() as u64;
        let pairs = |node_of: &dyn Fn(usize) -> u32| self.pairs(numbers, counts.len(), nodes, node_of);
        PairCount {
            native: pairs(&|record| (record as u64 * u64::from(nodes) / records) as u32),
            first: pairs(&|record| by_key(self.keys(record).start)),
            rarest: pairs(&|record| by_key(rarest(self.keys(record)))),
            split: counts.len() as u64,
        }
    }

    /// Where a record's keys stand in `hashes`.
    #[inline]
    fn keys(&self, record: usize) -> Range<usize> {
        let begin = if record == 0 { 0 } else { self.ends[record - 1] };
        begin as usize..self.ends[record] as usize
    }

    /// Counts the pairs of so many keys, by their numbers, where `node_of` places records: node after node.
    fn pairs(&self, numbers: &[u32], keys: usize, nodes: u32, node_of: &dyn Fn(usize) -> u32) -> u64 {
        let of_record: Vec<u32> = (0..self.ends.len()).map(node_of).collect();
        let mut of_node = vec![0; nodes as usize];
        for node in &of_record {
            of_node[*node as usize] += 1;
        }
        let mut at = starts(&of_node);
        let mut records = vec![0_u32; of_record.len()];
        for (record, node) in (0..).zip(&of_record) {
            let at = &mut at[*node as usize];
            records[*at as usize] = record;
            *at += 1;
        }
        // The last node on which each key was seen, from 1.
        let mut last_node = vec![0; keys];
        let mut pairs = 0;
        for record in records {
            let node = of_record[record as usize] + 1;
            for number in &numbers[self.keys(record as usize)] {
                pairs += u64::from(std::mem::replace(&mut last_node[*number as usize], node) != node);
            }
        }
        pairs
    }
}

/// Keys by numbers in the order of their hashes.
struct Numbered {
    /// The number of the key at each place.
    numbers: Vec<u32>,
    /// How often each key is there.
    counts: Vec<u32>,
}

impl Numbered {
    fn of(hashes: &[u64]) -> Self {
        let mut keys = hashes.to_vec();
        keys.sort_unstable();
        let counts: Vec<u32> = keys.chunk_by(|a, b| a == b).map(|same| same.len() as u32).collect();
        keys.dedup();
        // Hashes are even, so among those of the same highest bits there are a few.
        let bits = keys.len().max(2).ilog2();
        let highest = |hash: u64| (hash >> (64 - bits)) as usize;
        let mut of_bits = vec![0; 1 << bits];
        for key in &keys {
            of_bits[highest(*key)] += 1;
        }
        let mut begins = starts(&of_bits);
        begins.push(keys.len() as u32);
        let number = |hash: &u64| {
            let (begin, end) = (begins[highest(*hash)], begins[highest(*hash) + 1]);
            begin + keys[begin as usize..end as usize].partition_point(|key| key < hash) as u32
        };
        Self { numbers: hashes.iter().map(number).collect(), counts }
    }
}

/// Where each of some lists begins, one behind the other, by their lengths.
fn starts(lengths: &[u32]) -> Vec<u32> {
    let begin = |sum: &mut u32, length: &u32| {
        *sum += length;
        Some(*sum - length)
    };
    lengths.iter().scan(0, begin).collect()
}
