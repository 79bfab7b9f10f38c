//! Threshold marking: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.1 (1); RFC 8257, section 3.1.
//!
//! One parameter K: a packet is marked if the instantaneous queue, including it, exceeds K. RED in ns-2 and ns-3 does
//! the same when set up for DCTCP, with both thresholds at K and a weight of 1: it looks at the queue before the
//! packet, and marks at K and above.

use super::{DropTail, Item, Limit, Queue};
use units::Time;

/// FIFO drop-tail that marks above a threshold. Packets that are not ECN-capable only meet the limit.
#[derive(Debug)]
pub struct Threshold {
    fifo: DropTail,
    mark_above: Limit,
}

impl Threshold {
    /// An empty queue of at most `limit` that marks above `mark_above`. Neither must be a delay (see
    /// [`Limit::at_rate`]).
    pub const fn new(limit: Limit, mark_above: Limit) -> Self {
        Self { fifo: DropTail::new(limit), mark_above }
    }
}

impl Queue for Threshold {
    fn enqueue(&mut self, now: Time, mut item: Item, dropped: &mut Vec<Item>) {
        if !self.mark_above.holds(self.fifo.len() + 1, self.fifo.bytes() + u64::from(item.bytes)) {
            item.mark();
        }
        self.fifo.enqueue(now, item, dropped);
    }
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Item>) -> Option<Item> {
        self.fifo.dequeue(now, dropped)
    }
    fn len(&self) -> usize {
        self.fifo.len()
    }
    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }
}
