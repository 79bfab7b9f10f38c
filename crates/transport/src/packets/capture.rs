//! Observation: captured packets and queue lengths.

use super::{ConnectionIndex, PacketTransport};
use net::LinkId;
use tcp::Segment;
use units::Time;

/// A packet that began to be sent on a captured link.
#[derive(Clone, Copy, Debug)]
pub struct Captured {
    /// When its transmission began.
    pub at: Time,
    /// The node that sent it.
    pub from: u32,
    /// The node it is for.
    pub to: u32,
    /// Port at the sender.
    pub from_port: u16,
    /// Port at the receiver.
    pub to_port: u16,
    /// The TCP segment in it.
    pub segment: Segment,
}

impl PacketTransport {
    /// From `now` on keeps for how long each queue has each length ([`net::Link::occupancy`]).
    pub fn watch_queues(&mut self, now: Time) {
        for link in 0..self.network.links().len() as u32 {
            self.network.watch(now, LinkId(link));
        }
    }
    /// From now on keeps every packet that begins to be sent on a link.
    pub fn capture(&mut self, link: LinkId) {
        self.network.capture(link);
    }
    /// What has been captured since the last call, in order of time.
    pub fn take_captured(&mut self) -> Vec<Captured> {
        self.resolve_captured();
        std::mem::take(&mut self.captured)
    }
    /// Resolves endpoints of captured packets to nodes and ports, before their connections are removed.
    pub(super) fn resolve_captured(&mut self) {
        for (at, packet) in self.network.take_captured() {
            let index = ConnectionIndex(packet.to / 2);
            let to = &self.ports[packet.to as usize];
            let Some(connection) = self.connections.get(index).filter(|_| to.generation == packet.generation) else {
                continue;
            };
            let to_server = packet.to % 2 == 1;
            let (client, server) = ((connection.from, connection.from_port), (connection.to, connection.to_port));
            let ((from, from_port), (to, to_port)) = if to_server { (client, server) } else { (server, client) };
            self.captured.push(Captured { at, from, to, from_port, to_port, segment: packet.segment });
        }
    }
}
