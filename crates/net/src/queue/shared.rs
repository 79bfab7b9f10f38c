//! One buffer for all ports of a switch, with dynamic thresholds: Choudhury and Hahne, "Dynamic Queue Length Thresholds
//! for Shared-Memory Packet Switches", IEEE/ACM Transactions on Networking 6(2), 1998, equation (1).
//!
//! A port may hold alpha times the free buffer: T(t) = alpha (B - Q(t)). If S ports want more than their share, each
//! holds alpha B / (1 + alpha S) in the end, and B / (1 + alpha S) stays free for ports that become busy (equations (3)
//! and (4)).

use super::{Item, Queue};
use crate::SpecError;
use std::cell::Cell;
use std::rc::Rc;
use units::{Bytes, Time};

/// A switch's buffer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SharedBufferSpec {
    /// B: most bytes that all ports together hold.
    pub size: Bytes,
    /// Alpha: a port may hold this many times the free buffer.
    pub alpha: f64,
}

impl SharedBufferSpec {
    pub(crate) fn check(&self) -> Result<(), SpecError> {
        if self.alpha <= 0.0 || !self.alpha.is_finite() {
            return Err(SpecError::Discipline("a shared buffer's alpha must lie above zero".to_owned()));
        }
        if self.size < Bytes::new(1_538) {
            return Err(SpecError::Queue);
        }
        Ok(())
    }
}

/// The state that a switch's ports share: how much of the buffer is taken.
#[derive(Clone, Debug)]
pub struct SharedBuffer {
    spec: SharedBufferSpec,
    taken: Rc<Cell<u64>>,
}

impl SharedBuffer {
    /// An empty buffer.
    pub fn new(spec: SharedBufferSpec) -> Self {
        Self { spec, taken: Rc::new(Cell::new(0)) }
    }
    /// Q(t): bytes that all ports hold.
    pub fn taken(&self) -> u64 {
        self.taken.get()
    }
    /// T(t): bytes that a port may hold now.
    pub fn threshold(&self) -> f64 {
        self.spec.alpha * self.spec.size.get().saturating_sub(self.taken()) as f64
    }
    /// A port: any discipline, behind the threshold.
    pub fn port(&self, queue: Box<dyn Queue>) -> SharedPort {
        SharedPort { queue, buffer: self.clone() }
    }

    fn moved(&self, before: u64, after: u64) {
        self.taken.set(self.taken() + after - before);
    }
}

/// A port's queue in a shared buffer.
#[derive(Debug)]
pub struct SharedPort {
    queue: Box<dyn Queue>,
    buffer: SharedBuffer,
}

impl Queue for SharedPort {
    fn enqueue(&mut self, now: Time, item: Item, dropped: &mut Vec<Item>) {
        let before = self.queue.bytes();
        // A port below its threshold may take the packet, if the buffer has room for it.
        let fits = self.buffer.taken() + u64::from(item.bytes) <= self.buffer.spec.size.get();
        if (before as f64) < self.buffer.threshold() && fits {
            self.queue.enqueue(now, item, dropped);
        } else {
            dropped.push(item);
        }
        self.buffer.moved(before, self.queue.bytes());
    }
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Item>) -> Option<Item> {
        let before = self.queue.bytes();
        let item = self.queue.dequeue(now, dropped);
        self.buffer.moved(before, self.queue.bytes());
        item
    }
    fn len(&self) -> usize {
        self.queue.len()
    }
    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}
