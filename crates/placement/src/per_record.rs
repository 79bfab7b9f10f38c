//! Records by how many keys they have.

/// Numbers below this have a counter each.
const EXACT: u64 = 32;
/// Counters between a power of two and the next: a number above is known within 1/16.
const STEPS: u64 = 16;
/// The exponent of `EXACT`.
const FIRST: u32 = EXACT.ilog2();

/// A histogram of keys per record, whose memory does not depend on either: counters at equal steps between powers of
/// two, as in an HDR histogram.
#[derive(Clone, Debug)]
pub struct KeysPerRecord {
    counts: Vec<u64>,
}

impl KeysPerRecord {
    /// Of no record yet.
    pub fn new() -> Self {
        Self { counts: vec![0; (EXACT + STEPS * u64::from(u64::BITS - FIRST)) as usize] }
    }

    /// Counts a record of so many keys.
    #[inline]
    pub fn add(&mut self, keys: u64) {
        self.counts[place(keys)] += 1;
    }

    /// Of each counter that has records: the fewest and the most keys that these may have, and how many records they
    /// are. Fewer keys first.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let counted = self.counts.iter().enumerate().filter(|(_, records)| **records > 0);
        counted.map(|(place, records)| {
            let (least, most) = keys_of(place as u64);
            (least, most, *records)
        })
    }

    /// So many keys at most have this part of the records; not too few, and by no more than a sixteenth too many.
    pub fn at_most(&self, part: f64) -> u64 {
        let whole: u64 = self.counts.iter().sum();
        let wanted = (part * whole as f64).ceil() as u64;
        let mut below = 0;
        let found = self.counts().find(|(_, _, records)| {
            below += records;
            below >= wanted
        });
        found.map_or(0, |(_, most, _)| most)
    }
}

impl Default for KeysPerRecord {
    fn default() -> Self {
        Self::new()
    }
}

#[inline]
fn place(keys: u64) -> usize {
    if keys < EXACT {
        return keys as usize;
    }
    let exponent = keys.ilog2();
    let step = (keys >> (exponent - STEPS.ilog2())) - STEPS;
    (EXACT + STEPS * u64::from(exponent - FIRST) + step) as usize
}

/// The fewest and the most keys of a counter.
fn keys_of(place: u64) -> (u64, u64) {
    if place < EXACT {
        return (place, place);
    }
    let (exponent, step) = ((place - EXACT) / STEPS, (place - EXACT) % STEPS);
    let shift = exponent as u32 + FIRST - STEPS.ilog2();
    let least = (STEPS + step) << shift;
    (least, least + ((1 << shift) - 1))
}
