//! Keys that come often, with their buckets and what has come of them since: most records of real data have one of few
//! keys, and what is known of a key needs not be found again for each.

use crate::histogram::HeavyKeys;
use std::collections::BTreeMap;

/// Places: 256 KiB, which share a core's second cache with the sketch.
const PLACES: usize = 1 << BITS;
const BITS: u32 = 14;
/// The longest key that has a place.
const LONGEST: usize = 39;
/// A key's credit at first, and at most. Each key that finds its place taken costs the one in it one; at none it takes
/// the place. So rare keys that pass by do not drive out those that come often.
const CREDIT: [u64; 2] = [1, 15];
/// Of keys that find a place without credit one in eight takes it, because a change costs more than a key that has
/// none.
const LOTS: u32 = 3;
/// 2^64 over the golden ratio: its multiples are even (Knuth 1973, 6.4).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// The bit of a mark that says that a key has the place, above those of its credit.
const TAKEN: u64 = CREDIT[1] + 1;

/// A table in which each key has one place.
#[derive(Clone, Debug)]
pub struct Recent {
    places: Box<[Place; PLACES]>,
    /// Keys without a place that have found one without credit draw lots by it.
    lots: u64,
    /// By place, what its weight cannot hold.
    carried: BTreeMap<usize, u64>,
    /// The keys themselves, which are looked at only when they leave.
    keys: Vec<Key>,
}

/// 16 bytes, so that a hit reads and writes one line of a cache.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The bits of the key's hash that do not tell the place, in the room of the others [`TAKEN`] and the credit.
    mark: u64,
    bucket: u32,
    /// Weight that the histogram does not know of yet, the lower half of it.
    weight: u32,
}

#[derive(Clone, Copy, Debug)]
struct Key {
    length: u8,
    bytes: [u8; LONGEST],
}

impl Recent {
    pub fn new() -> Self {
        Self {
            places: vec![Place::default(); PLACES].try_into().unwrap_or_else(|_| unreachable!()),
            lots: 0,
            carried: BTreeMap::new(),
            keys: vec![Key { length: 0, bytes: [0; LONGEST] }; PLACES],
        }
    }

    /// [`Self::add`] of many keys: the buckets of those that have a place, and the numbers of those that have none.
    #[inline]
    pub fn add_all(&mut self, hashes: &[u64], weights: &[u64], buckets: &mut Vec<u32>, without: &mut Vec<u32>) {
        // The places are fetched side by side, where a lookup waits for each before it knows what is next.
        for hash in hashes {
            std::hint::black_box(self.places[at(*hash)].mark);
        }
        buckets.resize(hashes.len(), 0);
        without.resize(hashes.len(), 0);
        let mut count = 0;
        for (number, ((hash, weight), bucket)) in hashes.iter().zip(weights).zip(&mut *buckets).enumerate() {
            let place = &mut self.places[at(*hash)];
            let credit = place.mark ^ mark(*hash);
            let is_its = credit <= CREDIT[1];
            place.mark += u64::from(credit < CREDIT[1]);
            let sum = u64::from(place.weight) + std::hint::select_unpredictable(is_its, *weight, 0);
            place.weight = sum as u32;
            *bucket = place.bucket;
            without[count] = number as u32;
            count += usize::from(!is_its);
            if sum > u64::from(u32::MAX) {
                self.carry(at(*hash), sum);
            }
        }
        without.truncate(count);
    }

    /// Adds weight to a key that has a place; its bucket.
    #[inline]
    pub fn add(&mut self, hash: u64, weight: u64) -> Option<u32> {
        let place = &mut self.places[at(hash)];
        // Of the key's own place the credit alone is left.
        let credit = place.mark ^ mark(hash);
        if credit > CREDIT[1] {
            return None;
        }
        place.mark += u64::from(credit < CREDIT[1]);
        let sum = u64::from(place.weight) + weight;
        place.weight = sum as u32;
        let bucket = place.bucket;
        if sum > u64::from(u32::MAX) {
            self.carry(at(hash), sum);
        }
        Some(bucket)
    }

    /// Gives a place to a key that has none, with its weight, if it may have one; whether it has. The key that leaves
    /// it goes to the histogram.
    #[inline]
    pub fn admit(&mut self, hash: u64, key: &[u8], bucket: u32, weight: u64, heavy: &mut HeavyKeys) -> bool {
        let place = &mut self.places[at(hash)];
        let credit = place.mark & CREDIT[1];
        place.mark -= u64::from(credit > 0);
        self.lots = self.lots.wrapping_add(GOLDEN);
        let keeps_out = credit.max(place.mark.min(self.lots >> (u64::BITS - LOTS)));
        if keeps_out > 0 || key.len() > LONGEST {
            return false;
        }
        self.take(hash, key, bucket, weight, heavy);
        true
    }

    /// Gives a place to a key; the one that has it goes to the histogram.
    #[inline(never)]
    fn take(&mut self, hash: u64, key: &[u8], bucket: u32, weight: u64, heavy: &mut HeavyKeys) {
        self.leave(at(hash), heavy);
        self.places[at(hash)] = Place { mark: mark(hash) | CREDIT[0], bucket, weight: weight as u32 };
        if !self.carried.is_empty() {
            self.carried.remove(&at(hash));
        }
        if weight > u64::from(u32::MAX) {
            self.carry(at(hash), weight);
        }
        let held = &mut self.keys[at(hash)];
        held.length = key.len() as u8;
        held.bytes[..key.len()].copy_from_slice(key);
    }

    /// Keeps the upper half of a weight.
    #[cold]
    fn carry(&mut self, at: usize, weight: u64) {
        *self.carried.entry(at).or_default() += weight >> 32 << 32;
    }

    /// Gives the weight of a place's key to a histogram.
    fn leave(&self, at: usize, heavy: &mut HeavyKeys) {
        let place = &self.places[at];
        let carried = if self.carried.is_empty() { 0 } else { self.carried.get(&at).copied().unwrap_or(0) };
        let weight = carried + u64::from(place.weight);
        if weight > 0 {
            let hash = (at as u64) << (u64::BITS - BITS) | place.mark >> BITS;
            let key = || {
                let held = &self.keys[at];
                &held.bytes[..held.length as usize]
            };
            heavy.add_with(hash, key, weight);
        }
    }

    /// Gives all to a histogram.
    pub fn give(&self, heavy: &mut HeavyKeys) {
        (0..PLACES).for_each(|at| self.leave(at, heavy));
    }
}

/// The highest bits: the lower ones of both halves choose the sketch's counters.
#[inline]
fn at(hash: u64) -> usize {
    (hash >> (u64::BITS - BITS)) as usize
}

/// The mark of a key in its place, without credit.
#[inline]
fn mark(hash: u64) -> u64 {
    hash << BITS | TAKEN
}
