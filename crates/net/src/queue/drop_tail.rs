//! First in, first out, until full.

use super::{Item, Limit, Queue};
use std::collections::VecDeque;
use units::Time;

/// FIFO drop-tail as a discipline object. A link without a discipline does the same with one event per packet; a test
/// holds the two equal.
#[derive(Debug)]
pub struct DropTail {
    limit: Limit,
    items: VecDeque<Item>,
    bytes: u64,
}

impl DropTail {
    /// An empty queue. The limit must not be a delay, because a discipline does not know the transmitter's rate (see
    /// [`Limit::at_rate`]).
    pub const fn new(limit: Limit) -> Self {
        Self { limit, items: VecDeque::new(), bytes: 0 }
    }
}

impl Queue for DropTail {
    fn enqueue(&mut self, _now: Time, item: Item, dropped: &mut Vec<Item>) {
        let bytes = self.bytes + u64::from(item.bytes);
        if !self.limit.holds(self.items.len() + 1, bytes) {
            dropped.push(item);
            return;
        }
        self.bytes = bytes;
        self.items.push_back(item);
    }
    fn dequeue(&mut self, _now: Time, _dropped: &mut Vec<Item>) -> Option<Item> {
        let item = self.items.pop_front()?;
        self.bytes -= u64::from(item.bytes);
        Some(item)
    }
    fn len(&self) -> usize {
        self.items.len()
    }
    fn bytes(&self) -> u64 {
        self.bytes
    }
}
