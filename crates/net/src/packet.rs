//! Packets by value in a slab.

use des::define_index;

define_index! {
    /// A packet in the slab of the network that carries it.
    pub PacketId
}

/// Holds every packet between its sending and its end; freed places are used again, last freed first, while they are still in cache.
#[derive(Debug, Clone)]
pub(crate) struct Packets<P> {
    places: Vec<P>,
    free: Vec<PacketId>,
}

impl<P: Copy> Packets<P> {
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
    #[inline]
    pub(crate) fn free(&mut self, id: PacketId) {
        self.free.push(id);
    }
    /// How many places are taken.
    pub(crate) fn live(&self) -> u64 {
        (self.places.len() - self.free.len()) as u64
    }
}
