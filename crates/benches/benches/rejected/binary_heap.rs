//! The standard library's binary heap.

use des::Event;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use units::Time;

struct Earliest(Event);

impl PartialEq for Earliest {
    fn eq(&self, other: &Self) -> bool {
        self.0.key() == other.0.key()
    }
}
impl Eq for Earliest {}
impl PartialOrd for Earliest {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Earliest {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.key().cmp(&self.0.key())
    }
}

#[derive(Default)]
pub struct BinaryHeapQueue {
    heap: BinaryHeap<Earliest>,
    pushed: u64,
}

impl BinaryHeapQueue {
    pub fn push(&mut self, time: Time, kind: u8, index: u32, arg: u32) {
        self.heap.push(Earliest(Event::new(time, self.pushed, kind, index, arg)));
        self.pushed += 1;
    }
    pub fn pop(&mut self) -> Option<Event> {
        self.heap.pop().map(|earliest| earliest.0)
    }
}
