//! A sorted set of disjoint ranges of stream positions: a receiver's out-of-order data, a sender's SACKed data.

/// Positions `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub start: u64,
    pub end: u64,
}

/// Disjoint, non-touching ranges in ascending order. There are few at a time, one per hole, so this is a vector.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet(Vec<Range>);

impl RangeSet {
    pub const fn new() -> Self {
        Self(Vec::new())
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn as_slice(&self) -> &[Range] {
        &self.0
    }
    pub fn clear(&mut self) {
        self.0.clear();
    }
    /// The range that holds `position`.
    pub fn containing(&self, position: u64) -> Option<Range> {
        let index = self.0.partition_point(|range| range.end <= position);
        self.0.get(index).copied().filter(|range| range.start <= position)
    }
    /// The first range that ends after `position`.
    pub fn at_or_after(&self, position: u64) -> Option<Range> {
        self.0.get(self.0.partition_point(|range| range.end <= position)).copied()
    }
    /// How many positions of `from..to` are in the set.
    pub fn covered(&self, from: u64, to: u64) -> u64 {
        let first = self.0.partition_point(|range| range.end <= from);
        self.0[first..]
            .iter()
            .take_while(|range| range.start < to)
            .map(|range| range.end.min(to) - range.start.max(from))
            .sum()
    }
    /// Adds `start..end`; calls `added` with each piece that is new.
    pub fn insert(&mut self, start: u64, end: u64, mut added: impl FnMut(u64, u64)) {
        if start >= end {
            return;
        }
        // Most pieces continue the last range or open a new one above it.
        match self.0.last_mut() {
            Some(last) if last.end == start => {
                last.end = end;
                return added(start, end);
            }
            Some(last) if last.end > start => {}
            last => {
                if last.is_none() {
                    // Most losses leave one hole or two.
                    self.0.reserve_exact(2);
                }
                self.0.push(Range { start, end });
                return added(start, end);
            }
        }
        let first = self.0.partition_point(|range| range.end < start);
        let mut merged = Range { start, end };
        let mut cursor = start;
        let mut after = first;
        while let Some(range) = self.0.get(after).filter(|range| range.start <= end) {
            if cursor < range.start {
                added(cursor, range.start);
            }
            cursor = cursor.max(range.end);
            merged = Range { start: merged.start.min(range.start), end: merged.end.max(range.end) };
            after += 1;
        }
        if cursor < end {
            added(cursor, end);
        }
        if after == first {
            self.0.insert(first, merged);
        } else {
            self.0[first] = merged;
            self.0.drain(first + 1..after);
        }
    }
    /// Removes everything below `position`.
    pub fn remove_below(&mut self, position: u64) {
        let gone = self.0.partition_point(|range| range.end <= position);
        if gone == self.0.len() {
            // Frees the memory: most connections are done with losses by then.
            self.0 = Vec::new();
            return;
        }
        self.0.drain(..gone);
        if let Some(first) = self.0.first_mut() {
            first.start = first.start.max(position);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Insertions (start, length, floor of what is then removed) in a small universe, against an array of bits.
        #[test]
        fn agrees_with_an_array_of_bits(
            inserts in prop::collection::vec((0_u64..60, 1_u64..5, prop::option::weighted(0.1, 0_u64..20)), 0..24),
            from in 0_u64..64,
            to in 0_u64..64,
        ) {
            let (mut set, mut bits) = (RangeSet::default(), [false; 64]);
            for (start, length, floor) in inserts {
                let end = start + length;
                let mut fresh = Vec::new();
                set.insert(start, end, |from, to| fresh.extend(from..to));
                let expected: Vec<u64> = (start..end).filter(|p| !bits[*p as usize]).collect();
                prop_assert_eq!(fresh, expected);
                (start..end).for_each(|p| bits[p as usize] = true);
                if let Some(floor) = floor {
                    set.remove_below(floor);
                    (0..floor).for_each(|p| bits[p as usize] = false);
                }
                for p in 0..64_u64 {
                    prop_assert_eq!(set.containing(p).is_some(), bits[p as usize]);
                }
                let count = (from..to).filter(|p| bits[*p as usize]).count() as u64;
                prop_assert_eq!(if from < to { set.covered(from, to) } else { 0 }, count);
                prop_assert!(set.as_slice().windows(2).all(|pair| pair[0].end < pair[1].start));
            }
        }
    }
}
