//! The queue seam: disciplines over opaque items.
//!
//! A discipline knows neither links nor packets: it is handed items and the time, so the same one can serve a simulated link and real
//! frames. Plain FIFO drop-tail needs no discipline object: a link computes departures when packets arrive (see [`crate::Link`]).

use crate::PacketId;
use std::collections::VecDeque;
use units::{Bytes, Time};

/// What a queue knows of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item {
    /// Opaque to the queue.
    pub packet: PacketId,
    /// Opaque to the queue: where the packet goes next.
    pub(crate) next: u32,
    /// Length on the wire.
    pub bytes: u32,
    /// Names its flow, one direction of a connection.
    pub flow: u32,
}

/// A queueing discipline in front of a transmitter.
pub trait Queue: std::fmt::Debug {
    /// Takes an item in, or hands back the one that is dropped for it (which need not be the same).
    fn enqueue(&mut self, now: Time, item: Item) -> Result<(), Item>;
    /// The item to transmit next. Items that the discipline drops on the way are appended to `dropped`.
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Item>) -> Option<Item>;
    /// How many items wait.
    fn len(&self) -> usize;
    /// How many bytes on the wire they are.
    fn bytes(&self) -> u64;
    /// Whether none waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How much may wait in a drop-tail queue. The packet in transmission is outside the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// So many packets.
    Packets(u32),
    /// So many bytes on the wire.
    Bytes(Bytes),
    /// A packet that would wait longer than this for its transmission is dropped (what a token bucket's `latency` means in Linux).
    Delay(Time),
    /// Everything waits, as in a computer's own memory.
    Unlimited,
}

/// FIFO drop-tail as a discipline object; a link without one does the same with one event per packet, and a test holds the two equal.
#[derive(Debug)]
pub struct DropTail {
    limit: Limit,
    items: VecDeque<Item>,
    bytes: u64,
}

impl DropTail {
    /// An empty queue. A limit by delay needs the transmitter's rate, which a discipline does not know: it counts as unlimited here.
    pub const fn new(limit: Limit) -> Self {
        Self { limit, items: VecDeque::new(), bytes: 0 }
    }
}

impl Queue for DropTail {
    fn enqueue(&mut self, _now: Time, item: Item) -> Result<(), Item> {
        let fits = match self.limit {
            Limit::Packets(limit) => self.items.len() < limit as usize,
            Limit::Bytes(limit) => self.bytes + u64::from(item.bytes) <= limit.get(),
            Limit::Delay(_) | Limit::Unlimited => true,
        };
        if !fits {
            return Err(item);
        }
        self.bytes += u64::from(item.bytes);
        self.items.push_back(item);
        Ok(())
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
