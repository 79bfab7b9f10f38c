//! Results of connections and links, during a run or at its end.

use super::{ConnectionIndex, End, Handle, Owner, PacketTransport, Wireless};
use crate::Interface;
use crate::record::{FlowRecord, Tally, Totals};
use des::Index;
use net::{LedgerError, LinkId, Topology};
use std::collections::BTreeMap;
use tcp::Endpoint;
use units::{Bytes, Time};
use wifi::mac::StationId;

impl PacketTransport {
    /// The network's topology.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }
    /// A link.
    pub fn link(&self, link: LinkId) -> &net::Link {
        self.network.link(link)
    }
    /// All links in order.
    pub fn links(&self) -> &[net::Link] {
        self.network.links()
    }
    /// Bytes on the wire that came into each node through its interfaces and that went out.
    pub fn interfaces(&self) -> Vec<Interface> {
        let mut counted = vec![Interface::default(); self.nodes.len()];
        let mut node_at = vec![None; self.topology.vertex_count()];
        for (node, vertex) in self.topology.hosts().iter().enumerate() {
            node_at[vertex.0 as usize] = Some(node);
        }
        for (link, state) in (0..).map(LinkId).zip(self.links()) {
            let (from, to) = self.topology.ends(link);
            // Loopback traffic does not pass the interface.
            if from == to {
                continue;
            }
            let bytes = Bytes::new(state.counters().bytes);
            if let Some(node) = node_at[from.0 as usize] {
                counted[node].sent += bytes;
            }
            if let Some(node) = node_at[to.0 as usize] {
                counted[node].received += bytes;
            }
        }
        for (interface, station) in counted.iter_mut().zip(self.stations()) {
            interface.received += Bytes::new(station.received_bytes);
            interface.sent += Bytes::new(station.carried_bytes);
        }
        counted
    }
    /// Packet-hops so far: packets accepted by a link's transmitter, and on the air PPDUs.
    pub fn hops(&self) -> u64 {
        self.network.hops() + self.air().map_or(0, Wireless::ppdus)
    }
    /// How many packets queues have marked.
    pub fn marks(&self) -> u64 {
        let on_wires: u64 = self.links().iter().map(|link| link.counters().marks).sum();
        let on_air = self.air().map_or(0, |air| (0..air.len()).map(|id| air.marks(StationId::from_usize(id))).sum());
        on_wires + on_air
    }
    /// Whether a node is up.
    pub fn is_node_up(&self, node: u32) -> bool {
        self.nodes[node as usize].up
    }
    /// When an open connection was opened.
    pub fn opened(&self, handle: Handle) -> Option<Time> {
        self.end(handle, End::Client)?;
        Some(self.connections.get(ConnectionIndex(handle.index))?.opened)
    }
    /// In-order bytes received at an end of an open connection, including those before a crash of its node.
    pub fn received(&self, handle: Handle, end: End) -> Option<u64> {
        let at = self.end(handle, end)?;
        let connection = self.connections.get(ConnectionIndex(handle.index))?;
        Some(self.endpoints[at].received() + connection.forgotten().bytes[at % 2])
    }
    /// The links from an end of an open connection to the other; none where no path leads there.
    pub fn path(&self, handle: Handle, end: End) -> Option<impl Iterator<Item = &net::Link>> {
        let route = self.ports[self.end(handle, end)?].route()?;
        Some(self.network.route_links(route).map(|link| self.network.link(link)))
    }
    /// Bytes on the wire of each packet beyond its IP length.
    pub fn framing(&self) -> u32 {
        self.framing
    }
    /// Sums over the connections of plain traffic at a port, ended and open, by the node that opens them.
    pub fn tallies(&self, port: u16) -> Vec<(u32, Tally)> {
        let ended = self.tallies.range((port, 0)..=(port, u32::MAX));
        let mut tallies: BTreeMap<u32, Tally> = ended.map(|((_, from), tally)| (*from, *tally)).collect();
        for (index, connection) in self.connections.iter() {
            if connection.owner == Owner::Traffic && connection.to_port == port {
                let client = 2 * index.as_usize();
                let record = FlowRecord::new(connection, None, &self.endpoints[client], &self.endpoints[client + 1]);
                tallies.entry(connection.from).or_default().add(&record);
            }
        }
        tallies.into_iter().collect()
    }
    /// The TCP endpoint at an end of an open connection.
    pub fn endpoint(&self, handle: Handle, end: End) -> Option<&Endpoint> {
        Some(&self.endpoints[self.end(handle, end)?])
    }
    /// Changes of bond members so far, in order of time.
    pub fn member_changes(&self) -> &[net::bond::MemberChange] {
        self.network.member_changes()
    }
    /// Counters of one end of a bond, 0 or 1.
    pub fn bond_counters(&self, bond: usize, end: usize) -> net::bond::EndCounters {
        self.network.bond_counters(bond, end)
    }

    /// The ledger: what became of every packet. Not checked.
    pub fn packets(&self) -> net::Ledger {
        let mut ledger = self.network.ledger();
        if let Some(air) = self.air() {
            air.add_to(&mut ledger);
        }
        ledger
    }
    /// The ledger, checked. An imbalance is an error in the simulator.
    pub fn ledger(&self) -> Result<net::Ledger, LedgerError> {
        let ledger = self.packets();
        ledger.check()?;
        // The wireless network's own ledger also finds packets held twice, or by nobody.
        if self.air().is_some_and(|air| !air.balances()) {
            return Err(LedgerError(ledger));
        }
        Ok(ledger)
    }
    /// How many connections are open.
    pub fn open_connections(&self) -> usize {
        self.connections.len()
    }
    /// How many connections have ended whose records were not taken.
    pub fn ended_connections(&self) -> usize {
        self.records.len()
    }
    /// Takes out the records of connections that have ended since the last call, so that they need not all be held.
    pub fn take_ended(&mut self) -> impl Iterator<Item = FlowRecord> {
        self.records.drain(..)
    }
    /// Connections that have ended and were not taken, in the order of their ends, then those still open.
    pub fn flows(&self) -> impl Iterator<Item = FlowRecord> {
        let open = self.connections.iter().map(|(index, connection)| {
            let client = 2 * index.as_usize();
            let record = FlowRecord::new(connection, None, &self.endpoints[client], &self.endpoints[client + 1]);
            FlowRecord { looks: self.looks_at(client), ..record }
        });
        self.records.iter().copied().chain(open)
    }
    /// Retransmitted segments and retransmission timeouts so far, over all connections. Takes constant time.
    pub fn repairs(&self) -> (u64, u64) {
        (self.out.retransmissions, self.out.timeouts)
    }
    /// Sums over all connections so far.
    pub fn totals(&self) -> Totals {
        let mut totals = self.ended;
        for (index, connection) in self.connections.iter() {
            let client = 2 * index.as_usize();
            totals.add(&FlowRecord::new(connection, None, &self.endpoints[client], &self.endpoints[client + 1]).totals);
        }
        totals
    }

    /// Attributes dropped packets to their connections, before these are removed.
    pub fn resolve_dropped(&mut self) {
        let of_air = self.take_air_drops();
        for (at, generation) in self.network.take_dropped().chain(of_air) {
            if self.ports[at as usize].generation == generation
                && let Some(connection) = self.connections.get_mut(ConnectionIndex(at / 2))
            {
                connection.drops += 1;
            }
        }
    }
}
