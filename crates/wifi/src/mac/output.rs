//! Effects of a station's inputs.

use super::frame::{PacketId, Ppdu};
use crate::phy::Mode;

/// Why a packet was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Reason {
    /// The transmit queue was full.
    QueueFull,
    /// Not acknowledged within the retry limit.
    RetryLimit,
    /// Waited longer than its lifetime.
    Lifetime,
    /// Received after the reorder buffer had given it up.
    Late,
    /// CoDel found that packets wait too long.
    Delay,
    /// The station has no way to the receiver: not associated any more.
    Unreachable,
    /// The station that had it was switched off.
    Off,
}

impl Reason {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 7] =
        [Self::QueueFull, Self::RetryLimit, Self::Lifetime, Self::Late, Self::Delay, Self::Unreachable, Self::Off];
}

/// Effects of one input, appended; the caller takes them and clears.
#[derive(Debug)]
pub struct Output {
    /// The PPDU that goes on the air now, if `transmit`.
    pub ppdu: Ppdu,
    /// Whether it does.
    pub transmit: bool,
    /// Received packets for the layer above, in order.
    pub delivered: Vec<PacketId>,
    /// Packets received out of order: the receiver keeps them until they are delivered.
    pub held: Vec<PacketId>,
    /// Packets sent and acknowledged (or, to everyone, sent): the transmitter lets go of them.
    pub acknowledged: Vec<PacketId>,
    /// Packets given up.
    pub dropped: Vec<(PacketId, Reason)>,
    /// Packets for a receiver that is gone, given back.
    pub returned: Vec<PacketId>,
    /// Packets whose ECN field says from now on that they have met congestion.
    pub marked: Vec<PacketId>,
}

impl Output {
    /// No effects; `mode` is any.
    pub fn new(mode: Mode) -> Self {
        let (delivered, held, acknowledged) = (Vec::new(), Vec::new(), Vec::new());
        let (dropped, returned, marked) = (Vec::new(), Vec::new(), Vec::new());
        Self { ppdu: Ppdu::new(mode), transmit: false, delivered, held, acknowledged, dropped, returned, marked }
    }
    /// Whether it says anything of packets.
    pub fn has_packets(&self) -> bool {
        !(self.delivered.is_empty()
            && self.acknowledged.is_empty()
            && self.held.is_empty()
            && self.dropped.is_empty()
            && self.returned.is_empty()
            && self.marked.is_empty())
    }
    /// Forgets all effects.
    pub fn clear(&mut self) {
        self.transmit = false;
        self.delivered.clear();
        self.held.clear();
        self.acknowledged.clear();
        self.dropped.clear();
        self.returned.clear();
        self.marked.clear();
    }
}
