//! The packet type that the network carries.

use net::Ecn;
use tcp::{Flags, Segment};

/// A segment on its way to an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub(super) segment: Segment,
    pub(super) to: u32,
    /// Generation of the connection: a packet of an earlier one is discarded.
    pub(super) generation: u32,
}

const _: () = assert!(size_of::<Packet>() <= 80);

impl net::Packet for Packet {
    fn ecn(&self) -> Ecn {
        match self.segment.flags {
            flags if flags.contains(Flags::CE) => Ecn::Ce,
            flags if flags.contains(Flags::ECT) => Ecn::Ect,
            _ => Ecn::NotEct,
        }
    }
    fn mark(&mut self) {
        self.segment.flags |= Flags::CE;
    }
    fn owner(&self) -> (u32, u32) {
        (self.to, self.generation)
    }
}
