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
        let by_key = |hash: u64| (mixed(hash) % u64::from(nodes)) as u32;
        let (mut first, mut rarest) = (Vec::with_capacity(self.ends.len()), Vec::with_capacity(self.ends.len()));
        // The records of each key, in their order, key after key.
        let mut records_of = vec![0_u32; numbers.len()];
        let mut at: Vec<u32> = starts(&counts);
        let mut begin = 0;
        for (record, end) in (0..).zip(&self.ends) {
            let keys = begin..*end as usize;
            first.push(by_key(self.hashes[begin]));
            let place = keys.clone().min_by_key(|place| (counts[numbers[*place] as usize], numbers[*place]));
            rarest.push(by_key(self.hashes[place.unwrap_or(begin)]));
            for place in keys {
                let at = &mut at[numbers[place] as usize];
                records_of[*at as usize] = record;
                *at += 1;
            }
            begin = *end as usize;
        }
        let records = self.ends.len() as u64;
        let native = |record: u32| (u64::from(record) * u64::from(nodes) / records.max(1)) as u32;
        let mut pairs = [0; 3];
        // The last key that was seen on each node, from 1.
        let mut last_key = vec![[0_u32; 3]; nodes as usize];
        let mut begin = 0;
        for (key, count) in (1..).zip(&counts) {
            for record in &records_of[begin..begin + *count as usize] {
                let at = [native(*record), first[*record as usize], rarest[*record as usize]];
                for (rule, node) in at.into_iter().enumerate() {
                    let last = &mut last_key[node as usize][rule];
                    pairs[rule] += u64::from(*last != key);
                    *last = key;
                }
            }
            begin += *count as usize;
        }
        let [native, first, rarest] = pairs;
        PairCount { native, first, rarest, split: counts.len() as u64 }
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
