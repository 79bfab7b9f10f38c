//! Keys by a law: how many there are, how often each comes, and which bucket has it. For whoever knows data by its law
//! alone, as a simulated job.

use crate::hash::Bucketing;
use crate::histogram::{HeavyKey, mixed};
use std::collections::BTreeMap;

/// Keys that are known one by one: as many as a scan has counters for heavy keys.
const SINGLE: u64 = 4096;
/// Keys whose bucket the engine's hash says, the heaviest ones. Those behind them are so light and so many that each
/// bucket has an equal part of them.
const HASHED: u64 = 1 << 20;
/// Behind the single keys, ranks in a row this part of the first one's rank long are taken for equally heavy.
const GRAIN: u64 = 20;

/// So many distinct keys, the k-th heaviest with a weight in proportion to `k^-exponent` (Zipf's law; 0 is uniform).
///
/// The text of the k-th key are twelve letters: `SplitMix64`'s finalizer of k in base 26, the lowest digit first. So
/// other programs can write the same keys, and they divide over buckets as words do, not as numbers in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyLaw {
    distinct: u64,
    exponent: f64,
}

/// Keys of one bucket that weigh about the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyClass {
    /// The rank of the heaviest, from 1.
    pub rank: u64,
    /// The bucket.
    pub bucket: u32,
    /// How many keys.
    pub keys: u64,
    /// The weight of each, on average, as a part of the whole.
    pub weight: f64,
}

/// All keys of a law.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyClasses {
    /// The heaviest keys, by rank and then bucket; below [`KeyClasses::SINGLE`] one by one.
    pub head: Vec<KeyClass>,
    /// The others: how many, and the weight of each. Each bucket has an equal part of them.
    pub tail: Vec<(f64, f64)>,
}

impl KeyClasses {
    /// Classes of ranks up to this one are single keys.
    pub const SINGLE: u64 = SINGLE;

    /// Each bucket's part of the whole.
    pub fn weights(&self, buckets: u32) -> Vec<f64> {
        let tail: f64 = self.tail.iter().map(|(keys, weight)| keys * weight).sum();
        let mut weights = vec![tail / f64::from(buckets.max(1)); buckets as usize];
        for class in &self.head {
            weights[class.bucket as usize] += class.keys as f64 * class.weight;
        }
        weights
    }
}

impl KeyLaw {
    /// At least one key.
    pub const fn new(distinct: u64, exponent: f64) -> Self {
        Self { distinct: if distinct == 0 { 1 } else { distinct }, exponent }
    }

    /// How many keys there are.
    pub const fn distinct(&self) -> u64 {
        self.distinct
    }

    /// The text of the key of a rank.
    pub fn key(rank: u64) -> [u8; 12] {
        let mut left = mixed(rank);
        [(); 12].map(|()| {
            let letter = b'a' + (left % 26) as u8;
            left /= 26;
            letter
        })
    }

    /// Its keys by bucket and weight, in memory that does not grow with their number.
    pub fn classes(&self, bucketing: Bucketing) -> KeyClasses {
        let whole = self.whole();
        let mut head = Vec::new();
        let mut tail = Vec::new();
        for (low, keys) in self.bins() {
            if low > HASHED {
                tail.push((keys as f64, self.sum(low, keys) / whole / keys as f64));
                continue;
            }
            let mut sums: BTreeMap<u32, (u64, f64)> = BTreeMap::new();
            for rank in low..low + keys {
                let (keys, sum) = sums.entry(bucketing.bucket(&Self::key(rank)).unwrap_or(0)).or_default();
                *keys += 1;
                *sum += self.sum(rank, 1);
            }
            head.extend(sums.into_iter().map(|(bucket, (keys, sum))| {
                let weight = sum / whole / keys as f64;
                KeyClass { rank: low, bucket, keys, weight }
            }));
        }
        KeyClasses { head, tail }
    }

    /// The keys behind a rank: how many, and the weight of each as a part of theirs together.
    pub fn behind(&self, rank: u64) -> Vec<(f64, f64)> {
        let bins: Vec<(u64, u64)> = self
            .bins()
            .filter(|(low, keys)| low + keys > rank + 1)
            .map(|(low, keys)| (low.max(rank + 1), keys - (rank + 1).saturating_sub(low)))
            .collect();
        let whole: f64 = bins.iter().map(|(low, keys)| self.sum(*low, *keys)).sum();
        bins.into_iter().map(|(low, keys)| (keys as f64, self.sum(low, keys) / whole / keys as f64)).collect()
    }

    /// The heaviest keys of so many bytes, as a scan of all of them would find them.
    pub fn heaviest(&self, bytes: u64) -> Vec<HeavyKey> {
        let whole = self.whole();
        (1..=self.distinct.min(SINGLE))
            .map(|rank| {
                let bytes = (self.sum(rank, 1) / whole * bytes as f64) as u64;
                HeavyKey { key: Self::key(rank).to_vec(), most: bytes, least: bytes }
            })
            .collect()
    }

    /// The sum of the weights of so many keys from a rank on, not yet divided by that of all. Behind the hashed keys by
    /// the integral, whose midpoint rule is off by less than a 10^-12 part there.
    fn sum(&self, low: u64, keys: u64) -> f64 {
        if low <= HASHED {
            return (low..low + keys).map(|rank| libm::pow(rank as f64, -self.exponent)).sum();
        }
        let (from, to) = (low as f64 - 0.5, (low + keys) as f64 - 0.5);
        let power = 1.0 - self.exponent;
        let log = libm::log(to / from);
        // (to^power - from^power) / power, also where the power is near zero.
        if power.abs() < 1e-12 { log } else { libm::pow(from, power) * libm::expm1(power * log) / power }
    }

    fn whole(&self) -> f64 {
        self.bins().map(|(low, keys)| self.sum(low, keys)).sum()
    }

    /// Ranks in rows: the first one, and how many. None reaches over the end of the hashed keys.
    fn bins(&self) -> impl Iterator<Item = (u64, u64)> {
        let distinct = self.distinct;
        let mut low = 1;
        std::iter::from_fn(move || {
            let end = if low <= HASHED { distinct.min(HASHED) } else { distinct };
            if low > distinct {
                return None;
            }
            let keys = if low <= SINGLE { 1 } else { (low / GRAIN).min(end - low + 1) };
            let bin = (low, keys);
            low += keys;
            Some(bin)
        })
    }
}
