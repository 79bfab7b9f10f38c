//! Queueing disciplines over opaque items.
//!
//! A discipline knows neither links nor packets. It is handed items and the time, so the same one can serve a simulated
//! link and real frames. Plain FIFO drop-tail needs no discipline object: the link computes departures when packets
//! arrive (see [`crate::Link`]).

mod codel;
mod discipline;
mod drop_tail;
mod fifo;
mod fq_codel;
mod pie;
mod priority;
mod red;
mod shared;
mod threshold;

pub use codel::{Codel, CodelSpec};
pub use discipline::Discipline;
pub use drop_tail::DropTail;
pub use fq_codel::{FqCodel, FqCodelSpec};
pub use pie::{DelayEstimate, Pie, PieSpec};
pub use priority::Priority;
pub use red::{Red, RedSpec};
pub use shared::{SharedBuffer, SharedBufferSpec, SharedPort};
pub use threshold::Threshold;

pub use des::Ecn;

use discipline::below;

use crate::PacketId;
use crate::packet::Transit;
use std::fmt;
use units::{BitRate, Bytes, Time};

/// What a queue knows of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item {
    /// The packet; opaque to the queue.
    pub packet: PacketId,
    /// Where the packet goes next; opaque to the queue.
    next: u32,
    /// Length on the wire.
    pub bytes: u32,
    /// Its flow: one direction of a connection.
    pub flow: u32,
    /// Whether it is ECN-capable or marked.
    pub ecn: Ecn,
    /// Class of its flow, for disciplines with classes; 0 goes first.
    pub class: u8,
}

impl Item {
    /// A packet of a flow, `bytes` on the wire.
    pub const fn new(packet: PacketId, flow: u32, bytes: u32, ecn: Ecn) -> Self {
        Self { packet, next: 0, bytes, flow, ecn, class: 0 }
    }
    pub(crate) const fn of(transit: Transit, ecn: Ecn, class: u8) -> Self {
        Self { packet: transit.packet, next: transit.next, bytes: transit.bytes, flow: transit.flow, ecn, class }
    }
    pub(crate) const fn transit(self) -> Transit {
        Transit { packet: self.packet, next: self.next, bytes: self.bytes, flow: self.flow }
    }
    /// Sets CE. False if its transport is not ECN-capable.
    pub fn mark(&mut self) -> bool {
        let capable = self.ecn != Ecn::NotEct;
        if capable {
            self.ecn = Ecn::Ce;
        }
        capable
    }
}

/// A queueing discipline in front of a transmitter.
pub trait Queue: fmt::Debug {
    /// Enqueues an item. What is dropped, the item itself or others, is appended to `dropped`.
    fn enqueue(&mut self, now: Time, item: Item, dropped: &mut Vec<Item>);
    /// The next item to transmit. Items that the discipline drops on the way are appended to `dropped`.
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Item>) -> Option<Item>;
    /// How many items wait.
    fn len(&self) -> usize;
    /// Their bytes on the wire.
    fn bytes(&self) -> u64;
    /// Whether no item waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How much may wait in a queue. The packet in transmission is outside the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// A number of packets.
    Packets(u32),
    /// A number of bytes on the wire.
    Bytes(Bytes),
    /// Longest wait for transmission: a packet that would wait longer is dropped (Linux's `latency` of a token bucket).
    Delay(Time),
    /// No limit, as for packets in a computer's own memory.
    Unlimited,
}

impl Limit {
    /// This limit for a discipline, which does not know its transmitter's rate: a delay becomes the bytes sent in that
    /// time at `rate`.
    pub fn at_rate(self, rate: BitRate) -> Self {
        match self {
            Self::Delay(delay) => Self::Bytes(rate.bytes_in(delay)),
            other => other,
        }
    }
    /// Whether a queue of this many packets and bytes is within the limit. A delay is never exceeded here (see
    /// [`Limit::at_rate`]).
    pub fn holds(self, packets: usize, bytes: u64) -> bool {
        match self {
            Self::Packets(limit) => packets <= limit as usize,
            Self::Bytes(limit) => bytes <= limit.get(),
            Self::Delay(_) | Self::Unlimited => true,
        }
    }
    /// The limit in bytes, with full packets of `packet` bytes; `None` for a delay or no limit.
    pub(crate) fn in_bytes(self, packet: Bytes) -> Option<u64> {
        match self {
            Self::Packets(packets) => Some(u64::from(packets) * packet.get()),
            Self::Bytes(bytes) => Some(bytes.get()),
            Self::Delay(_) | Self::Unlimited => None,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(packets) => write!(f, "{packets} packets"),
            Self::Bytes(bytes) => write!(f, "{} B", bytes.get()),
            Self::Delay(delay) => write!(f, "{delay}"),
            Self::Unlimited => f.write_str("no limit"),
        }
    }
}
