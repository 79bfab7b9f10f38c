//! Packets by value in a slab.

use crate::Ecn;
use des::define_index;

define_index! {
    /// A packet in the slab of the network that carries it.
    pub PacketId
}

/// What the network can carry. It reads only a packet's ECN field, and only where a discipline may mark it.
pub trait Packet: Copy {
    /// Its ECN field.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    /// Sets its ECN field to [`Ecn::Ce`]. Called only if the field is [`Ecn::Ect`].
    fn mark(&mut self) {}
    /// Its owner, for the count of drops: a number, and a generation in case the number is reused.
    fn owner(&self) -> (u32, u32) {
        (0, 0)
    }
}

/// A bare number without an ECN field.
impl Packet for usize {}

/// What links need to know of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transit {
    pub packet: PacketId,
    /// Its next place on its route.
    pub next: u32,
    /// Length on the wire.
    pub bytes: u32,
    /// Its flow: one direction of a connection.
    pub flow: u32,
}

/// Holds every packet from its sending to its end. Freed places are reused, last freed first, while they are still in
/// cache.
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
    /// Marks a packet that is [`Ecn::Ect`]; returns whether it did.
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
    /// How many places are occupied.
    pub(crate) fn live(&self) -> u64 {
        (self.places.len() - self.free.len()) as u64
    }
}
