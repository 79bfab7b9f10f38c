//! The numbers of streams that a session has had, in bounded memory however long it lasts (P-4).

use std::collections::BTreeSet;

/// How many numbers are remembered. Streams that are opened together arrive in any order, and are far fewer.
const REMEMBERED: usize = 1024;

/// The highest used numbers, and the highest number that is forgotten.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    highest: BTreeSet<u32>,
    forgotten: Option<u32>,
}

impl Numbers {
    /// Takes a number; false if it was used, or may have been (P-4).
    pub fn take(&mut self, number: u32) -> bool {
        if self.forgotten.is_some_and(|forgotten| number <= forgotten) || !self.highest.insert(number) {
            return false;
        }
        if self.highest.len() > REMEMBERED {
            self.forgotten = self.highest.pop_first();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// P-4, in a session of many years: one stream after the other, some late, and one never.
    #[test]
    fn what_is_remembered_is_bounded_and_what_may_be_forgotten_is_refused() {
        let mut numbers = Numbers::default();
        let late = |number: u32| number.is_multiple_of(16);
        for number in (1..=200_000).filter(|number| *number != 5) {
            assert!(late(number) || numbers.take(number), "{number}");
            // Sixty others later.
            let number = number.saturating_sub(60);
            assert!(number == 0 || !late(number) || numbers.take(number), "{number}");
            assert!(numbers.highest.len() <= REMEMBERED);
        }
        assert!([1, 2, 5, 100_000, 199_999].iter().all(|number| !numbers.take(*number)));
        assert!(numbers.take(199_984), "it is late, and may come yet");
        assert!(numbers.take(u32::MAX) && !numbers.take(u32::MAX) && numbers.take(u32::MAX - 1));
    }

    proptest! {
        /// P-4, against a set of all numbers: none is taken twice, and each is taken once if fewer than a thousand are
        /// above it.
        #[test]
        fn no_number_is_taken_twice(steps in prop::collection::vec((0_u32..6, 0_u32..2000), 0..3000)) {
            let (mut numbers, mut all, mut next) = (Numbers::default(), BTreeSet::new(), 0);
            for (ahead, back) in steps {
                next += ahead;
                let number = if ahead == 0 { u32::saturating_sub(next, back) } else { next };
                let above = all.range(number..).count();
                let fresh = !all.contains(&number);
                let taken = numbers.take(number);
                prop_assert!(!taken || fresh, "{number} twice");
                prop_assert!(taken || !fresh || above >= REMEMBERED, "{number}, with {above} above");
                all.insert(number);
            }
        }
    }
}
