//! Keys that came lately, with what has come of them since: most records of real data have one of few keys, and what is
//! known of a key needs not be found again for each.

use crate::histogram::HeavyKeys;

/// Places: 512 KiB, which stay in a core's second cache beside the sketch.
const PLACES: usize = 1 << 13;
/// The longest key that has a place.
const LONGEST: usize = 39;

/// A table in which each key has one place, and a key takes another one's.
#[derive(Clone, Debug)]
pub struct Recent {
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    hash: u64,
    /// Weight that the histogram does not know of yet.
    weight: u64,
    bucket: u32,
    /// The key's length; [`FREE`] where there is none.
    length: u8,
    key: [u8; LONGEST],
}

const FREE: u8 = u8::MAX;

impl Place {
    const NONE: Self = Self { hash: 0, weight: 0, bucket: 0, length: FREE, key: [0; LONGEST] };

    #[inline]
    fn is_of(&self, hash: u64) -> bool {
        self.hash == hash && self.length != FREE
    }

    fn give(&self, heavy: &mut HeavyKeys) {
        if self.weight > 0 {
            heavy.add(self.hash, &self.key[..self.length as usize], self.weight);
        }
    }
}

impl Recent {
    pub fn new() -> Self {
        Self { places: vec![Place::NONE; PLACES] }
    }

    /// The bucket of a key that has a place.
    #[inline]
    pub fn bucket(&self, hash: u64) -> Option<u32> {
        let place = &self.places[at(hash)];
        place.is_of(hash).then_some(place.bucket)
    }

    /// Adds weight to a key. What another key had in its place goes to the histogram.
    #[inline]
    pub fn add(&mut self, hash: u64, key: &[u8], bucket: u32, weight: u64, heavy: &mut HeavyKeys) {
        let place = &mut self.places[at(hash)];
        if place.is_of(hash) {
            place.weight += weight;
            return;
        }
        place.give(heavy);
        if key.len() > LONGEST {
            *place = Place::NONE;
            if weight > 0 {
                heavy.add(hash, key, weight);
            }
            return;
        }
        (place.hash, place.weight, place.bucket, place.length) = (hash, weight, bucket, key.len() as u8);
        place.key[..key.len()].copy_from_slice(key);
    }

    /// Gives all to a histogram.
    pub fn give(&self, heavy: &mut HeavyKeys) {
        self.places.iter().for_each(|place| place.give(heavy));
    }
}

/// The highest bits: the lower ones of both halves choose the sketch's counters.
#[inline]
fn at(hash: u64) -> usize {
    (hash >> 51) as usize
}
