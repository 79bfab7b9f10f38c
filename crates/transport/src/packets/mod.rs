//! Messages carried packet by packet: TCP connections over the simulated network, wired or on the air.
//!
//! A message lies at an offset of its connection's byte stream. It is delivered when its last byte is in order at the
//! receiver, and acknowledged when that byte is acknowledged at the sender.

mod adopt;
mod air;
mod back_pressure;
mod capture;
mod classes;
mod connection;
mod events;
mod faults;
mod lifecycle;
mod looks;
mod own;
mod packet;
mod results;
mod segments;
mod streams;
mod unsent;
mod wireless;

use crate::{End, FlowRecord, Handle, Happened, Message, Open, Owner, Tag, Tally, Totals, Upcall};
use air::Air;
pub use air::{Association, StationCounts};
pub use back_pressure::QUEUE_ROOM;
pub use capture::Captured;
pub use classes::Classes;
pub use events::TIMER;
pub use looks::Looks;
pub use own::OwnTcp;
pub use wireless::Wireless;

use back_pressure::BackPressure;
pub(crate) use connection::Connection;
use connection::Port;
use des::{Slab, define_index};
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

/// Connections, the network below them, and upcalls that owners have not taken yet.
#[derive(Debug)]
pub struct PacketTransport {
    network: Network<Packet>,
    /// The wireless network between nodes; `None` where they are wired.
    air: Option<Box<Air>>,
    topology: Topology,
    /// Bytes of link-layer framing per packet.
    framing: u32,
    connections: Slab<ConnectionIndex, Connection>,
    /// Per-packet state of endpoints, two per connection.
    ports: Vec<Port>,
    endpoints: Vec<Endpoint>,
    /// Time of the last in-order arrival, by endpoint; kept if somebody asks.
    last_received: Option<Vec<Time>>,
    /// Settings of endpoints; equal settings share one copy.
    configs: Vec<Arc<Config>>,
    nodes: Vec<Node>,
    out: Output,
    upcalls: Vec<Upcall>,
    records: Vec<FlowRecord>,
    ended: Totals,
    /// Sums over the connections of plain traffic that have ended, by port and opening node.
    tallies: BTreeMap<(u16, u32), Tally>,
    captured: Vec<Captured>,
    /// Priority classes of connections, where queues have classes.
    classes: Option<Classes>,
    /// Back-pressure, where TCP watches transmit queues.
    back_pressure: Option<Box<BackPressure>>,
    /// TCP settings of single nodes, by node; empty where all nodes are alike.
    own: Vec<OwnTcp>,
    /// Segment counts of one node.
    counted: Counted,
    /// What looks have shown, by endpoint; empty until somebody looks.
    looks: Vec<Looks>,
    /// Data that applications wait to write, where unsent data is limited.
    writers: Option<Box<Writers>>,
    /// The most bytes written and unsent on any connection.
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
            last_received: None,
            configs: Vec::new(),
            out: Output::default(),
            upcalls: Vec::new(),
            records: Vec::new(),
            ended: Totals::default(),
            tallies: BTreeMap::new(),
            captured: Vec::new(),
            classes: None,
            back_pressure: None,
            own: Vec::new(),
            counted: Counted::default(),
            looks: Vec::new(),
            writers: None,
            most_unsent: 0,
        })
    }

    /// Gives connections opened from now on their classes.
    pub fn set_classes(&mut self, classes: Classes) {
        self.classes = Some(classes);
    }

    /// The endpoint of an end of a connection; `None` for a stale handle.
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
