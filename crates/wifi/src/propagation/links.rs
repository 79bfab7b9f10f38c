//! State of a pair of nodes, whichever of them sends: the way through the air is the same in both directions.

use crate::mobility::Position;

/// One `T` for each pair of nodes that has been asked for.
#[derive(Debug, Clone)]
pub(super) struct Links<T>(Vec<Vec<Option<Box<T>>>>);

impl<T> Links<T> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }
    /// The state of a pair, made from the pair's number when it is asked for first.
    pub(super) fn of(&mut self, pair: Pair, blank: impl FnOnce(u64) -> T) -> &mut T {
        let (low, high) = (pair.low as usize, pair.high as usize);
        if self.0.len() <= high {
            self.0.resize_with(high + 1, Vec::new);
        }
        let row = &mut self.0[high];
        if row.len() <= low {
            row.resize_with(low + 1, || None);
        }
        row[low].get_or_insert_with(|| Box::new(blank(u64::from(pair.high) << 32 | u64::from(pair.low))))
    }
}

/// Two nodes and where they are, the one with the lower number first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) low: u32,
    pub(super) high: u32,
    pub(super) places: [Position; 2],
}

impl Pair {
    pub(super) fn new((a, b): (u32, u32), (at_a, at_b): (Position, Position)) -> Self {
        if a <= b {
            Self { low: a, high: b, places: [at_a, at_b] }
        } else {
            Self { low: b, high: a, places: [at_b, at_a] }
        }
    }
}
