//! Messages carried packet by packet: TCP connections over the simulated network, wired or on the air.
//!
//! A message lies at an offset of its connection's byte stream. It is delivered when its last byte is in order at the
//! receiver, and acknowledged when that byte is acknowledged at the sender.

mod air;
mod capture;
mod carrier;
mod classes;
mod connection;
mod events;
mod faults;
mod gate;
mod lifecycle;
mod own;
mod packet;
mod results;
mod segments;
mod streams;
mod unsent;

use crate::{End, FlowRecord, Handle, Happened, Message, Open, Owner, Tag, Tally, Totals, Upcall};
use air::Air;
pub use air::{Association, StationCounts};
pub use capture::Captured;
pub use carrier::Carrier;
pub use classes::Classes;
pub use events::TIMER;
pub use gate::GATE;
pub use own::OwnTcp;

pub(crate) use connection::Connection;
use connection::Port;
use des::{Slab, define_index};
use gate::Gates;
use net::{Network, SpecError, Topology, VertexId};
pub use packet::Packet;
use segments::Counted;
use std::collections::BTreeMap;
use std::sync::Arc;
use tcp::{Config, Endpoint, Output};
use units::{Bytes, Time};
use unsent::Writers;

define_index! {
    /// A place in the slab of connections; its endpoints are 2k (client) and 2k + 1 (server).
    ConnectionIndex
}

#[derive(Clone, Debug)]
struct Node {
    vertex: VertexId,
    up: bool,
    next_port: u16,
}

/// Connections, the network below them, and what their owners have not been told yet.
#[derive(Debug)]
pub struct PacketTransport {
    network: Network<Packet>,
    /// Between the nodes, where they are on the air.
    air: Option<Box<Air>>,
    topology: Topology,
    /// Bytes of link-layer framing per packet.
    framing: u32,
    connections: Slab<ConnectionIndex, Connection>,
    /// What of an endpoint is needed for every packet, two per connection.
    ports: Vec<Port>,
    endpoints: Vec<Endpoint>,
    /// When bytes last arrived in order at each, where somebody asks.
    heard: Option<Vec<Time>>,
    /// Settings of endpoints: all that are alike share one copy.
    configs: Vec<Arc<Config>>,
    nodes: Vec<Node>,
    out: Output,
    upcalls: Vec<Upcall>,
    records: Vec<FlowRecord>,
    ended: Totals,
    /// Sums over the connections of plain traffic that have ended, by port and opening node.
    tallies: BTreeMap<(u16, u32), Tally>,
    captured: Vec<Captured>,
    /// Where queues have classes: which each connection is of.
    classes: Option<Classes>,
    /// Where TCP watches its transmit queues.
    gates: Option<Box<Gates>>,
    /// Where the TCP of some nodes differs: what each has of its own.
    own: Vec<OwnTcp>,
    /// Of one node, if that is wanted.
    counted: Counted,
    /// Where applications do not write far ahead of TCP.
    writers: Option<Box<Writers>>,
    /// The most bytes that any had written and TCP not sent.
    most_unsent: u64,
}

impl PacketTransport {
    /// No connections yet on the network of `topology`, whose hosts are the nodes. Each packet costs `framing` bytes on
    /// the wire beyond its IP length.
    pub fn new(topology: Topology, framing: Bytes, seed: u64) -> Result<Self, SpecError> {
        let node = |vertex: &VertexId| Node { vertex: *vertex, up: true, next_port: 32_768 };
        Ok(Self {
            network: Network::new(&topology, seed)?,
            air: None,
            nodes: topology.hosts().iter().map(node).collect(),
            topology,
            framing: framing.get() as u32,
            connections: Slab::new(),
            ports: Vec::new(),
            endpoints: Vec::new(),
            heard: None,
            configs: Vec::new(),
            out: Output::default(),
            upcalls: Vec::new(),
            records: Vec::new(),
            ended: Totals::default(),
            tallies: BTreeMap::new(),
            captured: Vec::new(),
            classes: None,
            gates: None,
            own: Vec::new(),
            counted: Counted::default(),
            writers: None,
            most_unsent: 0,
        })
    }

    /// Gives connections opened from now on their classes.
    pub fn set_classes(&mut self, classes: Classes) {
        self.classes = Some(classes);
    }

    /// Where an end of a connection is; none where the handle is stale.
    fn end(&self, handle: Handle, end: End) -> Option<usize> {
        let at = 2 * handle.index as usize + usize::from(end == End::Server);
        let port = self.ports.get(at)?;
        (port.generation == handle.generation && self.is_open(at)).then_some(at)
    }

    fn is_open(&self, at: usize) -> bool {
        self.connections.get(ConnectionIndex(at as u32 / 2)).is_some()
    }
}

fn end_of(at: usize) -> End {
    if at.is_multiple_of(2) { End::Client } else { End::Server }
}
