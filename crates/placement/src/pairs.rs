//! How many pairs of a key and a node there are: what a combiner leaves of a job's pairs, by how records are placed.

use crate::histogram::mixed;
use std::ops::Range;

/// The most keys that are kept: 32 MiB of hashes.
const ROOM: usize = 1 << 22;
/// Keys that are looked up together.
const TOGETHER: usize = 64;

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
        self.keys(keys);
        self.end();
    }

    /// Adds keys of a record, by their hashes: all or some, until it ends.
    #[inline]
    pub(crate) fn keys(&mut self, keys: &[u64]) {
        self.hashes.extend_from_slice(&keys[..keys.len().min(ROOM - self.hashes.len())]);
    }

    /// A record's keys are all there.
    #[inline]
    pub(crate) fn end(&mut self) {
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
        let nodes = nodes.max(1);
        let keys = Numbered::of(&self.hashes);
        let by_key = |place: usize| (mixed(self.hashes[place]) % u64::from(nodes)) as u32;
        let rarest = |record: Range<usize>| {
            let begin = record.start;
            record.min_by_key(|place| (keys.count(*place), self.hashes[*place])).unwrap_or(begin)
        };
        let records = self.ends.len() as u64;
        let pairs = |node_of: &dyn Fn(usize) -> u32| self.pairs(&keys, nodes, node_of);
        PairCount {
            native: pairs(&|record| (record as u64 * u64::from(nodes) / records) as u32),
            first: pairs(&|record| by_key(self.of_record(record).start)),
            rarest: pairs(&|record| by_key(rarest(self.of_record(record)))),
            split: keys.counts.len() as u64,
        }
    }

    /// Where a record's keys stand in `hashes`.
    #[inline]
    fn of_record(&self, record: usize) -> Range<usize> {
        let begin = if record == 0 { 0 } else { self.ends[record - 1] };
        begin as usize..self.ends[record] as usize
    }

    /// Counts the pairs where `node_of` places records: node after node, as each node's keys are brought together first.
    fn pairs(&self, keys: &Numbered, nodes: u32, node_of: &dyn Fn(usize) -> u32) -> u64 {
        let of_record: Vec<u32> = (0..self.ends.len()).map(node_of).collect();
        let mut of_node = vec![0; nodes as usize];
        for (record, node) in of_record.iter().enumerate() {
            of_node[*node as usize] += self.of_record(record).len() as u32;
        }
        let mut ends = starts(&of_node);
        let mut numbers = vec![0; keys.numbers.len()];
        for (record, node) in of_record.iter().enumerate() {
            let end = &mut ends[*node as usize];
            for number in &keys.numbers[self.of_record(record)] {
                numbers[*end as usize] = *number;
                *end += 1;
            }
        }
        // The last node on which each key was seen, from 1.
        let mut last_node = vec![0; keys.counts.len()];
        let (mut begin, mut pairs) = (0, 0);
        for (node, end) in (1..).zip(ends) {
            for number in &numbers[begin..end as usize] {
                pairs += u64::from(std::mem::replace(&mut last_node[*number as usize], node) != node);
            }
            begin = end as usize;
        }
        pairs
    }
}

/// Keys by numbers in the order in which they first come.
struct Numbered {
    /// The number of the key at each place.
    numbers: Vec<u32>,
    /// How often each key is there.
    counts: Vec<u32>,
}

impl Numbered {
    fn of(hashes: &[u64]) -> Self {
        let mut numbers = Vec::with_capacity(hashes.len());
        let (mut keys, mut counts, mut table) = (Vec::new(), Vec::new(), Table::of(&[], 12));
        let mut likely = [0; TOGETHER];
        for some in hashes.chunks(TOGETHER) {
            // Memory is read for all before it is needed for the first, which would wait for each place in turn.
            for (hash, likely) in some.iter().zip(&mut likely) {
                *likely = table.numbers[table.at(*hash)] as usize;
            }
            for likely in &likely[..some.len()] {
                std::hint::black_box((keys.get(*likely).copied(), counts.get(*likely).copied()));
            }
            for hash in some {
                let number = table.number(*hash, &keys);
                if number as usize == keys.len() {
                    keys.push(*hash);
                    counts.push(0);
                    if 2 * keys.len() > table.numbers.len() {
                        table = Table::of(&keys, table.bits + 1);
                    }
                }
                counts[number as usize] += 1;
                numbers.push(number);
            }
        }
        Self { numbers, counts }
    }

    /// How often the key at a place is there.
    #[inline]
    fn count(&self, place: usize) -> u32 {
        self.counts[self.numbers[place] as usize]
    }
}

/// Numbers of keys by their hashes: open addressing, where the next place is tried (linear probing).
struct Table {
    numbers: Vec<u32>,
    bits: u32,
}

impl Table {
    const FREE: u32 = u32::MAX;

    /// With these keys in it, and room for 2^bits.
    fn of(keys: &[u64], bits: u32) -> Self {
        let mut table = Self { numbers: vec![Self::FREE; 1 << bits], bits };
        for place in 0..keys.len() {
            table.number(keys[place], &keys[..place]);
        }
        table
    }

    /// Where a key is looked for first.
    #[inline]
    fn at(&self, hash: u64) -> usize {
        (mixed(hash) >> (u64::BITS - self.bits)) as usize
    }

    /// The number of a key; if it is new, the next one, which it has from now on.
    #[inline]
    fn number(&mut self, hash: u64, keys: &[u64]) -> u32 {
        let mut at = self.at(hash);
        loop {
            let number = &mut self.numbers[at];
            if *number == Self::FREE {
                *number = keys.len() as u32;
            }
            match keys.get(*number as usize) {
                Some(key) if *key != hash => at = (at + 1) & ((1 << self.bits) - 1),
                _ => return *number,
            }
        }
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
