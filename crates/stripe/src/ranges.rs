//! A sorted set of disjoint spans of stream positions: what a receiver holds out of order, and what a sender has to
//! send again.

use std::collections::BTreeMap;

/// Stream positions `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// The first position.
    pub start: u64,
    /// One beyond the last.
    pub end: u64,
}

impl Span {
    /// The span `start..end`.
    pub const fn new(start: u64, end: u64) -> Self {
        Self { start, end }
    }
    /// Number of positions; 0 if `end` is not above `start`.
    pub const fn len(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
    /// Whether the span has no positions.
    pub const fn is_empty(&self) -> bool {
        self.end <= self.start
    }
}

/// Disjoint, non-touching spans in ascending order. A tree and not a vector: a peer may leave as many holes as its
/// credit has bytes, and retransmission removes spans from the middle.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet {
    /// Ends by start.
    spans: BTreeMap<u64, u64>,
    total: u64,
}

impl RangeSet {
    /// Number of positions in the set.
    pub fn total(&self) -> u64 {
        self.total
    }
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }
    /// Number of spans.
    pub fn len(&self) -> usize {
        self.spans.len()
    }
    pub fn contains(&self, position: u64) -> bool {
        self.spans.range(..=position).next_back().is_some_and(|(_, end)| *end > position)
    }
    pub fn iter(&self) -> impl Iterator<Item = Span> + '_ {
        self.spans.iter().map(|(start, end)| Span::new(*start, *end))
    }
    pub fn first(&self) -> Option<Span> {
        self.iter().next()
    }
    /// One beyond the highest position; 0 if the set is empty.
    pub fn end(&self) -> u64 {
        self.spans.last_key_value().map_or(0, |(_, end)| *end)
    }
    /// Adds a span. Calls `added` for each part that was not in the set.
    pub fn insert(&mut self, span: Span, mut added: impl FnMut(Span)) {
        if span.is_empty() {
            return;
        }
        let mut merged = span;
        let mut cursor = span.start;
        if let Some((start, end)) = self.spans.range(..span.start).next_back().map(|(start, end)| (*start, *end))
            && end >= span.start
        {
            self.spans.remove(&start);
            (merged.start, cursor) = (start, end);
            merged.end = merged.end.max(end);
        }
        while let Some((start, end)) = self.spans.range(span.start..=span.end).next().map(|(start, end)| (*start, *end))
        {
            self.spans.remove(&start);
            if cursor < start {
                self.total += start - cursor;
                added(Span::new(cursor, start));
            }
            cursor = cursor.max(end);
            merged.end = merged.end.max(end);
        }
        if cursor < span.end {
            self.total += span.end - cursor;
            added(Span::new(cursor, span.end));
        }
        self.spans.insert(merged.start, merged.end);
    }
    /// Removes a span, or what of it is in the set.
    pub fn remove(&mut self, span: Span) {
        if span.is_empty() {
            return;
        }
        if let Some((start, end)) = self.spans.range(..span.start).next_back().map(|(start, end)| (*start, *end))
            && end > span.start
        {
            self.spans.insert(start, span.start);
            self.total -= end.min(span.end) - span.start;
            if end > span.end {
                self.spans.insert(span.end, end);
            }
        }
        while let Some((start, end)) = self.spans.range(span.start..span.end).next().map(|(start, end)| (*start, *end))
        {
            self.spans.remove(&start);
            self.total -= end.min(span.end) - start;
            if end > span.end {
                self.spans.insert(span.end, end);
            }
        }
    }
    /// Removes and returns the lowest positions: one span of at most `most`.
    pub fn take_first(&mut self, most: u64) -> Option<Span> {
        let first = self.first()?;
        let piece = Span::new(first.start, first.end.min(first.start.saturating_add(most)));
        self.remove(piece);
        Some(piece)
    }
    pub fn clear(&mut self) {
        self.spans.clear();
        self.total = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Change {
        Insert(Span),
        Remove(Span),
        TakeFirst(u64),
    }

    fn changes() -> impl Strategy<Value = Vec<Change>> {
        let span = || (0_u64..58, 0_u64..7).prop_map(|(start, len)| Span::new(start, start + len));
        let change = prop_oneof![
            2 => span().prop_map(Change::Insert),
            1 => span().prop_map(Change::Remove),
            1 => (1_u64..5).prop_map(Change::TakeFirst),
        ];
        prop::collection::vec(change, 0..32)
    }

    proptest! {
        /// Compares the set with an array of bits over 64 positions.
        #[test]
        fn agrees_with_an_array_of_bits(changes in changes()) {
            let (mut set, mut bits) = (RangeSet::default(), [false; 64]);
            for change in changes {
                match change {
                    Change::Remove(span) => {
                        set.remove(span);
                        (span.start..span.end).for_each(|p| bits[p as usize] = false);
                    }
                    Change::TakeFirst(most) => {
                        let low = bits.iter().position(|bit| *bit);
                        let taken = set.take_first(most);
                        prop_assert_eq!(taken.map(|span| span.start as usize), low);
                        if let Some(taken) = taken {
                            prop_assert!(taken.len() <= most && !taken.is_empty());
                            for p in taken.start..taken.end {
                                prop_assert!(std::mem::take(&mut bits[p as usize]));
                            }
                        }
                    }
                    Change::Insert(span) => {
                        let mut fresh = Vec::new();
                        set.insert(span, |piece| fresh.extend(piece.start..piece.end));
                        let expected: Vec<u64> = (span.start..span.end).filter(|p| !bits[*p as usize]).collect();
                        prop_assert_eq!(fresh, expected);
                        (span.start..span.end).for_each(|p| bits[p as usize] = true);
                    }
                }
                let members: Vec<u64> = set.iter().flat_map(|span| span.start..span.end).collect();
                let expected: Vec<u64> = (0..64).filter(|p| bits[*p as usize]).collect();
                prop_assert_eq!(&members, &expected);
                prop_assert_eq!(set.total(), expected.len() as u64);
                let spans: Vec<Span> = set.iter().collect();
                prop_assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start));
            }
        }
    }
}
