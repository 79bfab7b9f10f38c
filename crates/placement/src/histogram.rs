//! The weights of keys in bounded memory: Count-Min for all, Space-Saving's counters for the heaviest.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Rows of the Count-Min sketch: an estimate is too large by more than e/width of the whole with probability e^-4.
/// Two rows in one line of a cache are not independent where single keys are heavy. The worst known are keys just above the
/// bound: 1.4 % of the others are then too large, of independent rows it would be 0.9 %, e^-4 is 1.8 %.
const ROWS: usize = 4;
/// Counters of a row.
const WIDTH: usize = 1 << 15;

/// A key of less than this part of the whole is light: the sketch may think half as much of any key (a row's mean
/// error).
const LIGHT: u64 = WIDTH as u64 / 2;

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

/// The Count-Min sketch (Cormode and Muthukrishnan 2005) with conservative update (Estan and Varghese 2002): for any
/// key an estimate that is never too small. 0.5 MiB, and 1 MiB from the first counter on that does not fit 32 bits.
///
/// A key's counters lie in two lines of a cache, two in each, since each line costs a wait for memory.
#[derive(Clone, Debug)]
pub struct CountMin {
    lines: Vec<Line>,
    /// The higher halves of the counters, once one has any.
    higher: Vec<Line>,
}

/// A line of a cache: eight counters of a row, eight of the next.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u32; 16]);

const LINES: usize = ROWS * WIDTH / 16;

impl CountMin {
    /// Of nothing yet.
    pub fn new() -> Self {
        Self { lines: vec![Line([0; 16]); LINES], higher: Vec::new() }
    }

    /// Adds a weight to a key, by its hash, and returns the key's new estimate. A counter that was above it before has
    /// that from other keys, and stays.
    #[inline]
    pub fn add(&mut self, hash: u64, weight: u64) -> u64 {
        let places = places(hash);
        if self.higher.is_empty() {
            let least = places.iter().map(|(line, place)| self.lines[*line].0[*place]).min();
            if let Ok(estimate) = u32::try_from(u64::from(least.unwrap_or(0)) + weight) {
                for (line, place) in places {
                    let counter = &mut self.lines[line].0[place];
                    *counter = (*counter).max(estimate);
                }
                return u64::from(estimate);
            }
        }
        self.add_wide(places, weight)
    }

    #[cold]
    fn add_wide(&mut self, places: [(usize, usize); ROWS], weight: u64) -> u64 {
        self.higher.resize(LINES, Line([0; 16]));
        let counts = places.map(|place| self.counter(place));
        let estimate = counts.into_iter().min().unwrap_or(0) + weight;
        for ((line, place), count) in places.into_iter().zip(counts) {
            let count = count.max(estimate);
            (self.lines[line].0[place], self.higher[line].0[place]) = (count as u32, (count >> 32) as u32);
        }
        estimate
    }

    /// The estimate of a key, by its hash.
    pub fn estimate(&self, hash: u64) -> u64 {
        places(hash).map(|place| self.counter(place)).into_iter().min().unwrap_or(0)
    }

    fn counter(&self, (line, place): (usize, usize)) -> u64 {
        let higher = self.higher.get(line).map_or(0, |line| line.0[place]);
        u64::from(higher) << 32 | u64::from(self.lines[line].0[place])
    }
}

impl Default for CountMin {
    fn default() -> Self {
        Self::new()
    }
}

/// The line and the place in it of a key's counter in each row. Half of the lines has the first two rows.
#[inline(always)]
const fn places(hash: u64) -> [(usize, usize); ROWS] {
    const HALF: usize = LINES / 2;
    let (first, second) = (hash as usize, (hash >> 18) as usize);
    [
        (first % HALF, (first >> 12) % 8),
        (first % HALF, (first >> 15) % 8 + 8),
        (second % HALF + HALF, (second >> 12) % 8),
        (second % HALF + HALF, (second >> 15) % 8 + 8),
    ]
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
/// Space-Saving (Homem and Carvalho 2010), and heavier than a light key. The sketch never thinks too little, so each
/// key has one that weighs more than the lightest counter and than 1/2^14 of the whole; and the many light keys of a
/// long tail move no counters.
#[derive(Clone, Debug)]
pub struct HeavyKeys {
    sketch: CountMin,
    counters: Vec<Counter>,
    /// Counts of counters and their places, the lightest first: a binary heap. Counters have grown since; one is looked
    /// at again when it comes to be the first.
    heap: Vec<(u64, u32)>,
    /// All that was added.
    whole: u64,
    /// What has come of keys that had no counter then, or passed as light, and what keys had that have lost theirs: no key
    /// without a counter weighs more.
    missed: u64,
    by_hash: HashMap<u64, u32, BuildHasherDefault<Same>>,
    room: usize,
    /// Of keys that are added together: their numbers, and what the sketch thinks of them.
    thought_heavy: Vec<(u32, u64)>,
}

#[derive(Clone, Debug)]
struct Counter {
    hash: u64,
    key: Vec<u8>,
    /// What the sketch thought when the key came last and was not light.
    count: u64,
    /// Its weight is at most this, if it has not come since as a light key.
    most: u64,
    /// What has come of it since it has the counter, and when it was not light.
    least: u64,
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
            whole: 0,
            missed: 0,
            by_hash: HashMap::default(),
            room: room.max(1),
            thought_heavy: Vec::new(),
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
        self.whole += weight;
        let estimate = self.sketch.add(hash, weight);
        if estimate > self.least() {
            self.weigh(hash, key, weight, estimate);
        } else {
            self.missed += weight;
        }
    }

    /// [`Self::add`] of the keys with these numbers, of which there are hashes, weights and bytes.
    #[inline]
    pub(crate) fn add_all<'a>(
        &mut self,
        numbers: &[u32],
        hashes: &[u64],
        weights: &[u64],
        key: impl Fn(usize) -> &'a [u8],
    ) {
        let mut heavy = std::mem::take(&mut self.thought_heavy);
        heavy.resize(numbers.len(), (0, 0));
        let (least, mut count) = (self.least(), 0);
        for number in numbers {
            let weight = weights[*number as usize];
            self.whole += weight;
            let estimate = self.sketch.add(hashes[*number as usize], weight);
            heavy[count] = (*number, estimate);
            count += usize::from(estimate > least);
            self.missed += std::hint::select_unpredictable(estimate > least, 0, weight);
        }
        for (number, estimate) in &heavy[..count] {
            let number = *number as usize;
            self.weigh(hashes[number], || key(number), weights[number], *estimate);
        }
        self.thought_heavy = heavy;
    }

    /// Keys up to this weight get no counter. One that has got a counter earlier, and is not light now, is thought as
    /// heavy as it was then at least, so it is above.
    #[inline]
    fn least(&self) -> u64 {
        let lightest = if self.counters.len() < self.room { 0 } else { self.heap[0].0 };
        lightest.max(self.whole / LIGHT)
    }

    /// Adds a weight to a key that the sketch thinks heavier than [`Self::least`].
    fn weigh<'a>(&mut self, hash: u64, key: impl FnOnce() -> &'a [u8], weight: u64, estimate: u64) {
        if let Some(place) = self.by_hash.get(&hash) {
            let light = self.whole / LIGHT;
            let counter = &mut self.counters[*place as usize];
            // A key that was thought heavier than a light key is now cannot have passed as one since.
            counter.most = if counter.count > light { counter.most + weight } else { estimate };
            counter.count = estimate;
            counter.least += weight;
            return;
        }
        if self.counters.len() < self.room {
            let (place, most) = (self.counters.len() as u32, estimate.min(self.missed + weight));
            self.counters.push(Counter { hash, key: key().to_vec(), count: estimate, most, least: weight });
            self.by_hash.insert(hash, place);
            self.heap.push((estimate, place));
            self.rise(self.heap.len() - 1);
            return;
        }
        let place = self.find_lightest();
        let counter = &mut self.counters[place as usize];
        if estimate <= counter.count {
            self.missed += weight;
            return;
        }
        self.missed += counter.count;
        self.by_hash.remove(&counter.hash);
        counter.hash = hash;
        counter.key.clear();
        counter.key.extend_from_slice(key());
        (counter.count, counter.most, counter.least) = (estimate, estimate.min(self.missed + weight), weight);
        self.by_hash.insert(hash, place);
    }

    /// Brings the lightest counter to the front of the heap.
    fn find_lightest(&mut self) -> u32 {
        loop {
            let (count, place) = self.heap[0];
            let now = self.counters[place as usize].count;
            if now == count {
                return place;
            }
            self.heap[0].0 = now;
            self.sink();
        }
    }

    /// The keys that have counters, the heaviest first; those of one weight in the order of their bytes.
    pub fn heaviest(&self) -> Vec<HeavyKey> {
        let known = |counter: &Counter| {
            let (estimate, light) = (self.sketch.estimate(counter.hash), self.whole / LIGHT);
            let most = if counter.count > light { counter.most.min(estimate) } else { estimate };
            HeavyKey { key: counter.key.clone(), most, least: counter.least }
        };
        let mut keys: Vec<HeavyKey> = self.counters.iter().map(known).collect();
        keys.sort_by(|a, b| b.most.cmp(&a.most).then_with(|| a.key.cmp(&b.key)));
        keys
    }

    /// Brings the heap's first to its place.
    fn sink(&mut self) {
        let (first, mut at) = (self.heap[0], 0);
        loop {
            let left = 2 * at + 1;
            let Some(children) = self.heap.get(left..self.heap.len().min(left + 2)) else { break };
            let least = left + usize::from(children.len() > 1 && children[1].0 < children[0].0);
            if least >= self.heap.len() || first.0 <= self.heap[least].0 {
                break;
            }
            self.heap[at] = self.heap[least];
            at = least;
        }
        self.heap[at] = first;
    }

    fn rise(&mut self, mut at: usize) {
        while at > 0 && self.heap[at].0 < self.heap[(at - 1) / 2].0 {
            self.heap.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }
}
