//! Nodes and links fail and come back.

use super::PacketTransport;
use des::{EventQueue, Index};
use net::{LinkId, SpecError};
use units::{BitRate, Time};

impl PacketTransport {
    /// A node crashes. Its ends of connections vanish without a FIN or RST, arriving packets are discarded, and its
    /// ends of bonds send no LACPDUs.
    pub fn node_down(&mut self, now: Time, node: u32, events: &mut EventQueue) {
        self.set_deaf(now, node, true, events);
        let ends: Vec<usize> = self
            .connections
            .iter()
            .flat_map(|(index, connection)| connection.ends_at(node).map(move |end| 2 * index.as_usize() + end))
            .collect();
        for at in ends {
            self.forget(at);
            self.retire_if_done(now, at / 2);
        }
        // The packets in its station's queue belong to connections that were forgotten above.
        self.set_station(now, node, false, events);
    }
    /// A node is back. It knows no connection from before and answers their packets with a reset.
    pub fn node_up(&mut self, now: Time, node: u32, events: &mut EventQueue) {
        self.set_deaf(now, node, false, events);
        self.set_station(now, node, true, events);
    }
    fn set_deaf(&mut self, now: Time, node: u32, deaf: bool, events: &mut EventQueue) {
        self.nodes[node as usize].up = !deaf;
        if self.network.set_halted(now, self.nodes[node as usize].vertex, deaf, events) {
            self.find_all_routes();
        }
        for (index, connection) in self.connections.iter() {
            for end in connection.ends_at(node) {
                self.ports[2 * index.as_usize() + end].deaf = deaf;
            }
        }
    }
    /// Takes both directions of a cable down or up, and finds new routes for all connections.
    pub fn set_link_up(&mut self, now: Time, link: LinkId, up: bool, events: &mut EventQueue) {
        self.network.set_up(now, link, up, events);
        self.find_all_routes();
        self.look_at_all_queues(now, events);
    }
    pub(super) fn find_all_routes(&mut self) {
        let open: Vec<_> = self.connections.iter().map(|(index, _)| index).collect();
        for index in open {
            self.find_routes(index);
        }
    }
    /// Makes one direction of a link lose every packet while both ends still see a carrier, or restores it.
    pub fn set_link_silent(&mut self, link: LinkId, silent: bool) {
        self.network.set_silent(link, silent);
    }
    /// Changes the rate of one direction of a link.
    pub fn set_link_rate(
        &mut self,
        now: Time,
        link: LinkId,
        rate: BitRate,
        events: &mut EventQueue,
    ) -> Result<(), SpecError> {
        self.network.set_rate(now, link, rate, events)?;
        self.look_at_queue(now, link, events);
        Ok(())
    }
}
