//! Keys that come often, with their buckets and what has come of them since: most records of real data have one of few
//! keys, and what is known of a key needs not be found again for each.

use crate::histogram::HeavyKeys;

/// Places. What a hit looks at is 256 KiB, and 128 KiB of weights, which share a core's second cache with the sketch.
const PLACES: usize = 1 << 14;
/// The longest key that has a place.
const LONGEST: usize = 39;
/// A key's credit at first, and at most. Each key that finds its place taken costs the one in it one; at none it takes
/// the place. So rare keys that pass by do not drive out those that come often.
const CREDIT: [u8; 2] = [1, 15];

/// A table in which each key has one place.
#[derive(Clone, Debug)]
pub struct Recent {
    places: Vec<Place>,
    /// Weight of each place's key that the histogram does not know of yet.
    weights: Vec<u64>,
    /// The keys themselves, which are looked at only when they leave.
    keys: Vec<Key>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    hash: u64,
    bucket: u32,
    taken: bool,
    credit: u8,
}

#[derive(Clone, Copy, Debug)]
struct Key {
    length: u8,
    bytes: [u8; LONGEST],
}

impl Recent {
    pub fn new() -> Self {
        let place = Place { hash: 0, bucket: 0, taken: false, credit: 0 };
        Self {
            places: vec![place; PLACES],
            weights: vec![0; PLACES],
            keys: vec![Key { length: 0, bytes: [0; LONGEST] }; PLACES],
        }
    }

    /// Reads a key's place, so that it is in the core's first cache when it is looked at. The places of a record's keys
    /// are fetched side by side, where a lookup waits for each before it knows what is next.
    #[inline]
    pub fn fetch(&self, hash: u64) {
        std::hint::black_box(self.places[at(hash)].hash);
    }

    /// Adds weight to a key that has a place; its bucket.
    #[inline]
    pub fn add(&mut self, hash: u64, weight: u64) -> Option<u32> {
        let place = &mut self.places[at(hash)];
        if place.hash != hash || !place.taken {
            return None;
        }
        if place.credit < CREDIT[1] {
            place.credit += 1;
        }
        if weight > 0 {
            self.weights[at(hash)] += weight;
        }
        Some(place.bucket)
    }

    /// Adds weight to a key that has no place. What gets none, and what leaves one, goes to the histogram.
    #[inline]
    pub fn admit(&mut self, hash: u64, key: &[u8], bucket: u32, weight: u64, heavy: &mut HeavyKeys) {
        let place = &mut self.places[at(hash)];
        if place.credit > 0 || key.len() > LONGEST {
            place.credit = place.credit.saturating_sub(1);
            if weight > 0 {
                heavy.add(hash, key, weight);
            }
            return;
        }
        let (held, known) = (&mut self.keys[at(hash)], &mut self.weights[at(hash)]);
        if *known > 0 {
            heavy.add(place.hash, &held.bytes[..held.length as usize], *known);
        }
        *place = Place { hash, bucket, taken: true, credit: CREDIT[0] };
        *known = weight;
        held.length = key.len() as u8;
        held.bytes[..key.len()].copy_from_slice(key);
    }

    /// Gives all to a histogram.
    pub fn give(&self, heavy: &mut HeavyKeys) {
        for ((place, held), weight) in self.places.iter().zip(&self.keys).zip(&self.weights) {
            if *weight > 0 {
                heavy.add(place.hash, &held.bytes[..held.length as usize], *weight);
            }
        }
    }
}

/// The highest bits: the lower ones of both halves choose the sketch's counters.
#[inline]
fn at(hash: u64) -> usize {
    (hash >> 50) as usize
}
