//! The queue seam: disciplines over opaque items.
//!
//! A discipline knows neither links nor packets: it is handed items and the time, so the same one can serve a simulated
//! link and real frames. Plain FIFO drop-tail needs no discipline object: a link computes departures when packets
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
    /// Opaque to the queue.
    pub packet: PacketId,
    /// Opaque to the queue: where the packet goes next.
    next: u32,
    /// Length on the wire.
    pub bytes: u32,
    /// Names its flow, one direction of a connection.
    pub flow: u32,
    /// Whether it can be marked, or is marked.
    pub ecn: Ecn,
    /// Its flow's class, for disciplines that have classes: 0 goes first.
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
    /// Marks it with congestion experienced; false if its transport would not understand.
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
    /// Takes an item in. What is dropped for it, which may be the item itself or others, is appended to `dropped`.
    fn enqueue(&mut self, now: Time, item: Item, dropped: &mut Vec<Item>);
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
    /// A number of packets.
    Packets(u32),
    /// A number of bytes on the wire.
    Bytes(Bytes),
    /// A packet that would wait longer than this for its transmission is dropped (what a token bucket's `latency` means
    /// in Linux).
    Delay(Time),
    /// Everything waits, as in a computer's own memory.
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
    /// Whether a queue of so many packets and bytes is within it. A delay says nothing without a rate
    /// ([`Limit::at_rate`]).
    pub fn holds(self, packets: usize, bytes: u64) -> bool {
        match self {
            Self::Packets(limit) => packets <= limit as usize,
            Self::Bytes(limit) => bytes <= limit.get(),
            Self::Delay(_) | Self::Unlimited => true,
        }
    }
    /// About how many bytes it is, when full packets are `packet` long; none without a limit.
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
