//! The weights of keys in bounded memory: Count-Min for all, Space-Saving's counters for the heaviest.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Rows of the Count-Min sketch: an estimate is too large by more than e/width of the whole with probability e^-4.
const ROWS: usize = 4;
/// Counters of a row.
const WIDTH: usize = 1 << 15;

/// A 64-bit hash of a key, for the sketches alone.
///
/// Words are folded by multiplication with 128 bits, as wyhash does (Wang Yi 2019), and mixed at the end by the
/// finalizer of SplitMix64 (Steele, Lea and Flood 2014).
#[inline]
pub fn sketch_hash(key: &[u8]) -> u64 {
    hash_of_part(key, 0, key.len())
}

/// The hash of `text[begin..end]`. A short key is read as two words of the text, of which bytes that are not the key's
/// are taken away again: a branch for each length costs more than the hash.
#[inline]
pub fn hash_of_part(text: &[u8], begin: usize, end: usize) -> u64 {
    let length = end.wrapping_sub(begin);
    let Some(last) = text.len().checked_sub(8) else { return hash_of_words(text, begin, end) };
    if length >= 16 {
        return hash_of_words(text, begin, end);
    }
    let start = start(length);
    let folded = fold(start ^ eight(text, begin.min(last)), SECRET | 1);
    let hash = std::hint::select_unpredictable(length < 8, start, folded);
    let tail_begins = begin + (length & 8);
    let read = tail_begins.min(last);
    let tail = (eight(text, read) >> ((8 * (tail_begins - read)) & 63)) & !(u64::MAX << (8 * (length & 7)));
    finish(hash, tail)
}

/// The hash of `text[begin..end]`, a key of any length.
fn hash_of_words(text: &[u8], begin: usize, end: usize) -> u64 {
    let key = text.get(begin..end).unwrap_or_default();
    let words = key.chunks_exact(8);
    let tail = words.remainder().iter().rev().fold(0, |tail, byte| tail << 8 | u64::from(*byte));
    finish(words.fold(start(key.len()), |hash, word| fold(hash ^ eight(word, 0), SECRET | 1)), tail)
}

const SECRET: u64 = 0xa076_1d64_78bd_642f;

#[inline]
fn start(length: usize) -> u64 {
    SECRET ^ (length as u64).wrapping_mul(0xe703_7ed1_a0b4_28db)
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[inline]
fn finish(hash: u64, tail: u64) -> u64 {
    mixed(fold(hash ^ tail, 0x8ebc_6af0_9c88_c6e3))
}

/// Eight bytes of a text that has them.
#[inline]
fn eight(text: &[u8], begin: usize) -> u64 {
    text.get(begin..).and_then(<[u8]>::first_chunk).map_or(0, |word| u64::from_le_bytes(*word))
}

/// SplitMix64's finalizer.
#[inline]
pub fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// The Count-Min sketch (Cormode and Muthukrishnan 2005): for any key an estimate that is never too small. 0.5 MiB, and
/// 1 MiB from the first counter on that does not fit 32 bits.
#[derive(Clone, Debug)]
pub struct CountMin {
    counters: Vec<u32>,
    /// The higher halves of the counters, once one has any.
    higher: Vec<u32>,
}

impl CountMin {
    /// Of nothing yet.
    pub fn new() -> Self {
        Self { counters: vec![0; ROWS * WIDTH], higher: Vec::new() }
    }

    /// Adds a weight to a key, by its hash, and returns the key's new estimate.
    #[inline]
    pub fn add(&mut self, hash: u64, weight: u64) -> u64 {
        let places = places(hash);
        if self.higher.is_empty() {
            let sums = places.map(|place| u64::from(self.counters[place]) + weight);
            if sums.iter().all(|sum| u32::try_from(*sum).is_ok()) {
                places.iter().zip(sums).for_each(|(place, sum)| self.counters[*place] = sum as u32);
                return sums.into_iter().min().unwrap_or(0);
            }
        }
        self.add_wide(places, weight)
    }

    #[cold]
    fn add_wide(&mut self, places: [usize; ROWS], weight: u64) -> u64 {
        self.higher.resize(ROWS * WIDTH, 0);
        let sums = places.map(|place| self.counter(place) + weight);
        for (place, sum) in places.into_iter().zip(sums) {
            (self.counters[place], self.higher[place]) = (sum as u32, (sum >> 32) as u32);
        }
        sums.into_iter().min().unwrap_or(0)
    }

    /// The estimate of a key, by its hash.
    pub fn estimate(&self, hash: u64) -> u64 {
        places(hash).map(|place| self.counter(place)).into_iter().min().unwrap_or(0)
    }

    fn counter(&self, place: usize) -> u64 {
        u64::from(self.higher.get(place).copied().unwrap_or(0)) << 32 | u64::from(self.counters[place])
    }
}

impl Default for CountMin {
    fn default() -> Self {
        Self::new()
    }
}

/// A key's counter in each row: two halves of the hash, combined (Kirsch and Mitzenmacher 2006).
#[inline]
fn places(hash: u64) -> [usize; ROWS] {
    let (first, second) = (hash as u32, (hash >> 32) as u32 | 1);
    std::array::from_fn(|row| row * WIDTH + (first.wrapping_add(second.wrapping_mul(row as u32)) >> 17) as usize)
}

/// A heavy key and what is known of its weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeavyKey {
    /// The key.
    pub key: Vec<u8>,
    /// Its weight is at most this.
    pub most: u64,
    /// Its weight is at least this.
    pub least: u64,
}

/// The heaviest keys: Space-Saving's counters (Metwally, Agrawal and El Abbadi 2005) behind a Count-Min sketch.
///
/// A key without a counter gets that of the lightest one once the sketch thinks it heavier, as in filtered
/// Space-Saving (Homem and Carvalho 2010). The sketch never thinks too little, so each key that weighs more than the
/// lightest counter has one; and the many light keys of a long tail move no counters.
#[derive(Clone, Debug)]
pub struct HeavyKeys {
    sketch: CountMin,
    counters: Vec<Counter>,
    /// Places of counters, the lightest first: a binary heap.
    heap: Vec<u32>,
    by_hash: HashMap<u64, u32, BuildHasherDefault<Same>>,
    room: usize,
}

#[derive(Clone, Debug)]
struct Counter {
    hash: u64,
    key: Vec<u8>,
    /// At most this.
    count: u64,
    /// The count may be too large by this.
    error: u64,
    /// Its place in the heap.
    at: u32,
}

/// Hashes are hashes already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash << 8 ^ u64::from(*byte));
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

impl HeavyKeys {
    /// With so many counters.
    pub fn new(room: usize) -> Self {
        Self {
            sketch: CountMin::new(),
            counters: Vec::new(),
            heap: Vec::new(),
            by_hash: HashMap::default(),
            room: room.max(1),
        }
    }

    /// Adds a weight to a key. `hash` is the key's, by a function of the caller's; two keys of one hash are one key.
    #[inline]
    pub fn add(&mut self, hash: u64, key: &[u8], weight: u64) {
        self.add_with(hash, || key, weight);
    }

    /// [`Self::add`], of a key whose bytes are read only if it gets a counter.
    #[inline]
    pub(crate) fn add_with<'a>(&mut self, hash: u64, key: impl FnOnce() -> &'a [u8], weight: u64) {
        let estimate = self.sketch.add(hash, weight);
        // A counter was once an estimate and has since grown no faster, so a key that has one is never thought lighter
        // than its counter, nor than the lightest.
        let full = self.counters.len() >= self.room;
        if full && estimate <= self.counters[self.heap[0] as usize].count {
            return;
        }
        if let Some(place) = self.by_hash.get(&hash) {
            let counter = &mut self.counters[*place as usize];
            counter.count += weight;
            let at = counter.at;
            self.sink(at as usize);
        } else {
            self.admit(hash, key(), weight, estimate);
        }
    }

    fn admit(&mut self, hash: u64, key: &[u8], weight: u64, estimate: u64) {
        let error = estimate - weight;
        if self.counters.len() < self.room {
            let place = self.counters.len() as u32;
            let at = self.heap.len() as u32;
            self.counters.push(Counter { hash, key: key.to_vec(), count: estimate, error, at });
            self.heap.push(place);
            self.by_hash.insert(hash, place);
            self.rise(at as usize);
            return;
        }
        let place = self.heap[0];
        let counter = &mut self.counters[place as usize];
        self.by_hash.remove(&counter.hash);
        counter.hash = hash;
        counter.key.clear();
        counter.key.extend_from_slice(key);
        (counter.count, counter.error) = (estimate, error);
        self.by_hash.insert(hash, place);
        self.sink(0);
    }

    /// The keys that have counters, the heaviest first; those of one weight in the order of their bytes.
    pub fn heaviest(&self) -> Vec<HeavyKey> {
        let known = |counter: &Counter| HeavyKey {
            key: counter.key.clone(),
            most: counter.count.min(self.sketch.estimate(counter.hash)),
            least: counter.count - counter.error,
        };
        let mut keys: Vec<HeavyKey> = self.counters.iter().map(known).collect();
        keys.sort_by(|a, b| b.most.cmp(&a.most).then_with(|| a.key.cmp(&b.key)));
        keys
    }

    fn count(&self, at: usize) -> u64 {
        self.counters[self.heap[at] as usize].count
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.counters[self.heap[a] as usize].at = a as u32;
        self.counters[self.heap[b] as usize].at = b as u32;
    }

    fn sink(&mut self, mut at: usize) {
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let mut least = at;
            if left < self.heap.len() && self.count(left) < self.count(least) {
                least = left;
            }
            if right < self.heap.len() && self.count(right) < self.count(least) {
                least = right;
            }
            if least == at {
                return;
            }
            self.swap(at, least);
            at = least;
        }
    }

    fn rise(&mut self, mut at: usize) {
        while at > 0 && self.count(at) < self.count((at - 1) / 2) {
            self.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }
}
