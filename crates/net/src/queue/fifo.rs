//! Items with their arrival times, for disciplines that measure sojourn times.

use super::Item;
use std::collections::VecDeque;
use units::Time;

/// Items in order of arrival, with their arrival times.
#[derive(Debug, Default)]
pub(super) struct Fifo {
    items: VecDeque<(Time, Item)>,
    bytes: u64,
}

impl Fifo {
    pub fn push(&mut self, now: Time, item: Item) {
        self.bytes += u64::from(item.bytes);
        self.items.push_back((now, item));
    }
    /// The oldest item and its arrival time.
    pub fn pop(&mut self) -> Option<(Time, Item)> {
        let (since, item) = self.items.pop_front()?;
        self.bytes -= u64::from(item.bytes);
        Some((since, item))
    }
    pub fn len(&self) -> usize {
        self.items.len()
    }
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
