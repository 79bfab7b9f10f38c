//! Strict priority: while a class has a packet, no later class sends (the static priority scheduler of Zhang and
//! Keshav, "Comparison of Rate-Based Service Disciplines", SIGCOMM 1991; the `prio` queues of routers). A packet in
//! transmission is not preempted.

use super::{DropTail, Item, Limit, Queue};
use units::Time;

/// A drop-tail queue for each class, class 0 first.
#[derive(Debug)]
pub struct Priority {
    classes: Vec<DropTail>,
    len: usize,
    bytes: u64,
}

impl Priority {
    /// Creates `classes` empty queues of at most `limit` each. The limit must not be a delay (see [`Limit::at_rate`]).
    /// Items of higher classes share the last queue.
    pub fn new(classes: u32, limit: Limit) -> Self {
        Self { classes: (0..classes.max(1)).map(|_| DropTail::new(limit)).collect(), len: 0, bytes: 0 }
    }
}

impl Queue for Priority {
    fn enqueue(&mut self, now: Time, item: Item, dropped: &mut Vec<Item>) {
        let class = usize::from(item.class).min(self.classes.len() - 1);
        let before = dropped.len();
        self.classes[class].enqueue(now, item, dropped);
        if dropped.len() == before {
            self.len += 1;
            self.bytes += u64::from(item.bytes);
        }
    }
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Item>) -> Option<Item> {
        let item = self.classes.iter_mut().find_map(|class| class.dequeue(now, dropped))?;
        self.len -= 1;
        self.bytes -= u64::from(item.bytes);
        Some(item)
    }
    fn len(&self) -> usize {
        self.len
    }
    fn bytes(&self) -> u64 {
        self.bytes
    }
}
