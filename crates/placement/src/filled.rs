//! Which part of a split key a record belongs to.

use crate::plan::Plan;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How full the parts of split keys are, for whoever hands out records one after the other.
///
/// A record goes to the part of its key that has the fewest bytes, the first of several (list scheduling, Graham 1966):
/// two parts of a key never differ by more than a record. A hash of the record would not do: records that are alike
/// would all be of one part. The same records in the same order have the same parts.
#[derive(Clone, Debug)]
pub struct Filled {
    /// Of each split key its parts, by bytes and number.
    keys: Vec<BinaryHeap<Reverse<(u64, u32)>>>,
}

impl Filled {
    /// Nothing is handed out yet.
    pub fn new(plan: &Plan) -> Self {
        let empty = |parts: u32| (0..parts).map(|part| Reverse((0, part))).collect();
        Self { keys: plan.split().iter().map(|key| empty(key.parts)).collect() }
    }

    /// The part of a split key that takes its next record, of so many bytes; `None` for a key of another plan.
    pub(crate) fn next(&mut self, key: u32, bytes: u64) -> Option<u32> {
        let mut least = self.keys.get_mut(key as usize)?.peek_mut()?;
        let Reverse((filled, part)) = *least;
        // An empty record is one, too.
        *least = Reverse((filled + bytes.max(1), part));
        Some(part)
    }
}
