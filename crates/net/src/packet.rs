//! Packets by value in a slab.

use crate::Ecn;
use des::define_index;

define_index! {
    /// A packet in the slab of the network that carries it.
    pub PacketId
}

/// What the network can carry. It looks at nothing of a packet but its ECN field, and at that only where a discipline
/// may mark it.
pub trait Packet: Copy {
    /// Its ECN field.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    /// Sets its ECN field to [`Ecn::Ce`]; only called if it is [`Ecn::Ect`].
    fn mark(&mut self) {}
    /// Whose it is, for the count of drops: a number, and a generation where the number may have been somebody else's
    /// before.
    fn owner(&self) -> (u32, u32) {
        (0, 0)
    }
}

/// A bare number, without an ECN field.
impl Packet for usize {}

/// What links need of a packet on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transit {
    pub packet: PacketId,
    /// Its place on its route.
    pub next: u32,
    /// Length on the wire.
    pub bytes: u32,
    /// Names its flow, one direction of a connection.
    pub flow: u32,
}

/// Holds every packet between its sending and its end; freed places are used again, last freed first, while they are
/// still in cache.
#[derive(Debug, Clone)]
pub(crate) struct Packets<P> {
    places: Vec<P>,
    free: Vec<PacketId>,
}

impl<P: Packet> Packets<P> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
    #[inline]
    pub(crate) fn insert(&mut self, packet: &P) -> PacketId {
        if let Some(id) = self.free.pop() {
            self.places[id.0 as usize] = *packet;
            return id;
        }
        self.places.push(*packet);
        PacketId(self.places.len() as u32 - 1)
    }
    #[inline]
    pub(crate) fn get(&self, id: PacketId) -> &P {
        &self.places[id.0 as usize]
    }
    /// Marks a packet if it can be and is not; returns whether it has been.
    pub(crate) fn mark(&mut self, id: PacketId) -> bool {
        let packet = &mut self.places[id.0 as usize];
        let markable = packet.ecn() == Ecn::Ect;
        if markable {
            packet.mark();
        }
        markable
    }
    #[inline]
    pub(crate) fn free(&mut self, id: PacketId) {
        self.free.push(id);
    }
    /// How many places are taken.
    pub(crate) fn live(&self) -> u64 {
        (self.places.len() - self.free.len()) as u64
    }
}
