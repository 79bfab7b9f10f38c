//! The message transport: TCP connections over the simulated network, and the messages on their streams.
//!
//! A message is a length and a tag at an offset of a connection's byte stream. It is delivered when its last byte is in order at the
//! receiver, and acknowledged when that byte is acknowledged at the sender. What happens is told to the connection's owner as [`Upcall`]s.

mod classes;
mod connection;
mod record;

pub(crate) use classes::Classes;
use connection::{Boundary, Connection, Port};
pub use record::{FlowRecord, Tally, Totals};

use des::{Event, EventQueue, Index, Slab, define_index};
use hadoop::{End, Tag};
use net::{Ecn, FlowKey, LedgerError, LinkId, Network, PacketId, SpecError, Topology, VertexId};
use std::collections::BTreeMap;
use std::sync::Arc;
use tcp::control::Weights;
use tcp::{Config, Endpoint, Flags, Notice, Output, Segment, State};
use units::{BitRate, Bytes, Time};

/// Settings that are looked up to be shared; a run that has more keeps the others per endpoint.
const MOST_CONFIGS: usize = 32;

/// Event kind: an endpoint's timer.
pub const TIMER: u8 = 2;

define_index! {
    /// A place in the slab of connections; its endpoints are 2k (client) and 2k + 1 (server).
    ConnectionIndex
}

/// A connection. A handle of a connection that is gone is stale: nothing happens to what has taken its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Handle {
    index: u32,
    generation: u32,
}

/// Who is told what happens to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// Plain traffic.
    Traffic,
    /// The Hadoop cluster.
    Cluster,
}

/// What happened to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happened {
    /// The handshake is done, seen at the client.
    Connected,
    /// A message is whole at this (receiving) end.
    Delivered(End, Tag),
    /// A message sent from this end is acknowledged.
    Acknowledged(End, Tag),
    /// The peer of this end has closed its stream, and all of it has been delivered.
    PeerClosed(End),
    /// The connection is dead as seen at this end.
    Reset(End),
    /// Both ends are done; the handle is stale from now on.
    Gone {
        /// Payload delivered in order at the accepting end.
        bytes: u64,
        /// Payload delivered in order at the opening end.
        bytes_back: u64,
    },
}

/// Tells an owner what happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Upcall {
    /// Whom.
    pub owner: Owner,
    /// The owner's own name for the connection, as given to [`Transport::open`].
    pub user: u32,
    /// The connection.
    pub handle: Handle,
    /// What.
    pub what: Happened,
}

/// How to open a connection.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    /// Whom to tell.
    pub owner: Owner,
    /// The owner's own name for the connection.
    pub user: u32,
    /// The node that opens: a position in the topology's hosts.
    pub from: u32,
    /// The node that accepts.
    pub to: u32,
    /// The port at which it accepts.
    pub port: u16,
    /// TCP at the opening end.
    pub client: Config,
    /// TCP at the accepting end. Without `auto_consume` what it receives stays in the buffer until [`Transport::consume`].
    pub server: Config,
}

/// A message to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Its length; not zero.
    pub bytes: Bytes,
    /// Comes back when it is delivered and when it is acknowledged.
    pub tag: Tag,
    /// Sent at once, and handed over at once: TCP's push.
    pub push: bool,
}

impl Message {
    /// A pushed message.
    pub const fn new(bytes: Bytes, tag: Tag) -> Self {
        Self { bytes, tag, push: true }
    }
}

/// What the network carries.
#[derive(Clone, Copy, Debug)]
struct Packet {
    segment: Segment,
    to: u32,
    /// Of the connection: an older one's packet finds nobody.
    generation: u32,
}

const _: () = assert!(size_of::<Packet>() <= 80);

/// So many drops wait at most to be counted at their connections; a connection that ends counts all.
const MANY_DROPS: usize = 4_096;

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

#[derive(Clone, Debug)]
struct Node {
    vertex: VertexId,
    up: bool,
    next_port: u16,
}

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
    /// What it carries.
    pub segment: Segment,
}

/// Connections, the network below them, and what their owners have not been told yet.
#[derive(Debug)]
pub struct Transport {
    network: Network<Packet>,
    topology: Topology,
    /// Bytes of link-layer framing per packet.
    framing: u32,
    connections: Slab<ConnectionIndex, Connection>,
    /// What of an endpoint is needed for every packet, two per connection.
    ports: Vec<Port>,
    endpoints: Vec<Endpoint>,
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
}

impl Transport {
    /// No connections yet on the network of `topology`, whose hosts are the nodes. Each packet costs `framing` bytes on the wire beyond its IP length.
    pub fn new(topology: Topology, framing: Bytes, seed: u64) -> Result<Self, SpecError> {
        let node = |vertex: &VertexId| Node { vertex: *vertex, up: true, next_port: 32_768 };
        Ok(Self {
            network: Network::new(&topology, seed)?,
            nodes: topology.hosts().iter().map(node).collect(),
            topology,
            framing: framing.get() as u32,
            connections: Slab::new(),
            ports: Vec::new(),
            endpoints: Vec::new(),
            configs: Vec::new(),
            out: Output::default(),
            upcalls: Vec::new(),
            records: Vec::new(),
            ended: Totals::default(),
            tallies: BTreeMap::new(),
            captured: Vec::new(),
            classes: None,
        })
    }

    /// Gives connections opened from now on their classes.
    pub(crate) fn set_classes(&mut self, classes: Classes) {
        self.classes = Some(classes);
    }

    // === What owners do ===

    /// Opens a connection: the client sends its SYN now.
    pub fn open(&mut self, now: Time, open: &Open, events: &mut EventQueue) -> Handle {
        self.open_via(now, open, None, events)
    }
    /// The same by way of a switch.
    pub fn open_via(&mut self, now: Time, open: &Open, via: Option<VertexId>, events: &mut EventQueue) -> Handle {
        let from_port = self.ephemeral_port(open.from);
        let connection = Connection { via, ..Connection::new(now, open, from_port) };
        let index = self.connections.insert(connection);
        let client = 2 * index.as_usize();
        let (client_up, server_up) = (self.nodes[open.from as usize].up, self.nodes[open.to as usize].up);
        let (config, own) = (self.shared(&open.server), Endpoint::connect_as(&self.shared(&open.client)));
        let peer = if server_up { Endpoint::listen_as(&config) } else { Endpoint::connect_as(&config) };
        if client == self.ports.len() {
            self.ports.extend([Port::default(), Port::default()]);
            self.endpoints.extend([own, peer]);
        } else {
            self.endpoints[client] = own;
            self.endpoints[client + 1] = peer;
        }
        self.ports[client].renew(!client_up);
        self.ports[client + 1].renew(!server_up);
        self.ports[client + 1].done = !server_up;
        self.find_routes(index);
        if let Some(classes) = &self.classes {
            let class = classes.of(open.owner, open.port);
            // A flow is named by the endpoint that it goes to.
            self.network.set_class(client as u32, class);
            self.network.set_class(client as u32 + 1, class);
        }
        let handle = Handle { index: index.0, generation: self.ports[client].generation };
        if client_up {
            self.endpoints[client].open(now, &mut self.out);
            self.settle(now, client, events);
        } else {
            self.ports[client].done = true;
            self.retire_if_done(now, client / 2);
        }
        handle
    }

    /// Appends a message to the stream from `end`.
    pub fn send(&mut self, now: Time, handle: Handle, end: End, message: Message, events: &mut EventQueue) {
        let Some(at) = self.end(handle, end) else { return };
        let Message { bytes, tag, push } = message;
        let boundary = Boundary { end: self.endpoints[at].written() + bytes.get(), tag };
        self.ports[at].messages.push(boundary);
        self.ports[at ^ 1].next_delivery = self.ports[at ^ 1].next_delivery.min(boundary.end);
        self.endpoints[at].write(now, bytes.get(), push, &mut self.out);
        self.settle(now, at, events);
    }

    /// Takes bytes out of the receive buffer of a paced reader.
    pub fn consume(&mut self, now: Time, handle: Handle, end: End, bytes: Bytes, events: &mut EventQueue) {
        let Some(at) = self.end(handle, end) else { return };
        self.endpoints[at].consume(now, bytes.get(), &mut self.out);
        self.settle(now, at, events);
    }

    /// Orderly end of the stream from `end`. The connection is gone when both ends have closed and know it of each other.
    pub fn close(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        let Some(at) = self.end(handle, end) else { return };
        self.endpoints[at].close(now, &mut self.out);
        self.settle(now, at, events);
    }

    /// Resets the connection; nothing more is told about it at `end`.
    pub fn abort(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        let Some(at) = self.end(handle, end) else { return };
        self.endpoints[at].abort(now, &mut self.out);
        if let Some(connection) = self.connections.get_mut(ConnectionIndex(handle.index)) {
            connection.reset = true;
        }
        self.ports[at].done = true;
        self.settle(now, at, events);
    }

    /// What has happened since the last call is moved to `upcalls`.
    pub fn take_upcalls(&mut self, upcalls: &mut Vec<Upcall>) {
        upcalls.append(&mut self.upcalls);
    }
    /// Whether an owner has something to be told.
    #[inline]
    pub fn has_upcalls(&self) -> bool {
        !self.upcalls.is_empty()
    }

    // === Faults ===

    /// A node crashes: its ends of connections are gone without a word, and what arrives there is discarded.
    pub fn node_down(&mut self, now: Time, node: u32) {
        self.set_deaf(node, true);
        let ends: Vec<usize> = self
            .connections
            .iter()
            .flat_map(|(index, connection)| connection.ends_at(node).map(move |end| 2 * index.as_usize() + end))
            .collect();
        for at in ends {
            self.forget(at);
            self.retire_if_done(now, at / 2);
        }
    }
    /// A node is back. It knows no connection from before and answers their packets with a reset.
    pub fn node_up(&mut self, node: u32) {
        self.set_deaf(node, false);
    }
    fn set_deaf(&mut self, node: u32, deaf: bool) {
        self.nodes[node as usize].up = !deaf;
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
    }
    fn find_all_routes(&mut self) {
        let open: Vec<_> = self.connections.iter().map(|(index, _)| index).collect();
        for index in open {
            self.find_routes(index);
        }
    }
    /// Lets one direction of a link carry nothing, without a sign of it at its ends; or everything again.
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
        self.network.set_rate(now, link, rate, events)
    }

    // === Events ===

    /// The head of a link's ring arrives.
    #[inline]
    pub fn on_arrival(&mut self, event: &Event, events: &mut EventQueue) {
        if let Some((packet, at)) = self.network.on_arrival(event, events) {
            self.deliver(event.time(), packet, at as usize, events);
        }
    }
    /// Begins what the network does by itself; to be called once, at time zero.
    pub fn start(&mut self, events: &mut EventQueue) {
        self.network.start(events);
    }
    /// Something happens at an end of a bond.
    pub fn on_bond(&mut self, event: &Event, events: &mut EventQueue) {
        if self.network.on_bond(event, events) {
            self.find_all_routes();
        }
    }
    /// A managed link's transmitter is done.
    pub fn on_transmission_done(&mut self, event: &Event, events: &mut EventQueue) {
        self.network.on_transmission_done(event, events);
    }
    /// An endpoint's timer fires; if its deadline has moved it is armed again.
    pub fn on_timer(&mut self, event: &Event, events: &mut EventQueue) {
        let at = event.index as usize;
        if self.ports[at].timer != event.arg {
            return;
        }
        self.ports[at].armed = Time::MAX;
        if self.network.has_dropped() > MANY_DROPS {
            self.resolve_dropped();
        }
        if self.endpoints[at].deadline() <= event.time() {
            self.endpoints[at].on_timer(event.time(), &mut self.out);
        }
        self.settle(event.time(), at, events);
    }

    #[inline]
    fn deliver(&mut self, now: Time, id: PacketId, at: usize, events: &mut EventQueue) {
        let packet = self.network.packet(id);
        let port = &self.ports[at];
        if port.generation == packet.generation && !port.deaf {
            self.endpoints[at].on_segment(now, &packet.segment, &mut self.out);
            self.network.finish(id);
            self.settle(now, at, events);
        } else {
            self.network.finish(id);
        }
    }

    /// Carries out what an endpoint wants after it was called: segments, timer, progress of messages, notices.
    #[inline]
    fn settle(&mut self, now: Time, at: usize, events: &mut EventQueue) {
        let port = &mut self.ports[at];
        for segment in &self.out.segments {
            let packet = Packet { segment: *segment, to: at as u32 ^ 1, generation: port.generation };
            self.network.send(now, &packet, (packet.to, segment.wire_bytes() + self.framing), port.route(), events);
        }
        self.out.segments.clear();
        let endpoint = &self.endpoints[at];
        let deadline = endpoint.deadline();
        if deadline < port.armed {
            port.timer = port.timer.wrapping_add(1);
            port.armed = deadline;
            events.push(deadline, TIMER, at as u32, port.timer);
        }
        let acknowledged = endpoint.acknowledged() >= port.messages.next_acknowledgement();
        if endpoint.received() >= port.next_delivery || acknowledged || !self.out.notices.is_empty() {
            self.report(now, at);
        }
    }

    /// Tells the owner of progress and notices.
    #[inline(never)]
    fn report(&mut self, now: Time, at: usize) {
        let index = ConnectionIndex(at as u32 / 2);
        let end = end_of(at);
        let Some(connection) = self.connections.get_mut(index) else { return };
        let handle = Handle { index: index.0, generation: self.ports[at].generation };
        let (owner, user) = (connection.owner, connection.user);
        let mut tell = |what| self.upcalls.push(Upcall { owner, user, handle, what });

        let (received, acknowledged) = (self.endpoints[at].received(), self.endpoints[at].acknowledged());
        let connected = self.out.notices.contains(&Notice::Connected);
        if connected && end == End::Client {
            connection.connected = now;
            tell(Happened::Connected);
        }
        while let Some(tag) = self.ports[at ^ 1].messages.deliver(received) {
            tell(Happened::Delivered(end, tag));
        }
        self.ports[at].next_delivery = self.ports[at ^ 1].messages.next_delivery();
        while let Some(tag) = self.ports[at].messages.acknowledge(acknowledged) {
            tell(Happened::Acknowledged(end, tag));
        }
        for notice in self.out.notices.drain(..) {
            match notice {
                Notice::Connected => {}
                Notice::PeerFinished => tell(Happened::PeerClosed(end)),
                Notice::Closed => self.ports[at].done = true,
                Notice::Reset => {
                    connection.reset = true;
                    self.ports[at].done = true;
                    tell(Happened::Reset(end));
                }
            }
        }
        self.retire_if_done(now, at / 2);
    }

    // === Connections come and go ===

    fn end(&self, handle: Handle, end: End) -> Option<usize> {
        let at = 2 * handle.index as usize + usize::from(end == End::Server);
        let port = self.ports.get(at)?;
        (port.generation == handle.generation && self.is_open(at)).then_some(at)
    }

    fn is_open(&self, at: usize) -> bool {
        self.connections.get(ConnectionIndex(at as u32 / 2)).is_some()
    }

    /// An end is gone with its node: a closed endpoint, which answers with resets when the node is up again, takes its place.
    fn forget(&mut self, at: usize) {
        let Some(connection) = self.connections.get_mut(ConnectionIndex(at as u32 / 2)) else { return };
        connection.reset = true;
        let forgotten = connection.forgotten.get_or_insert_default();
        forgotten.totals.add_end(&self.endpoints[at]);
        forgotten.bytes[at % 2] += self.endpoints[at].received();
        self.endpoints[at] = Endpoint::connect_as(self.endpoints[at].config());
        let port = &mut self.ports[at];
        port.done = true;
        port.timer = port.timer.wrapping_add(1);
        port.armed = Time::MAX;
    }

    /// A connection both of whose ends are done makes room for another; its packets and events are stale from now on.
    fn retire_if_done(&mut self, now: Time, connection: usize) {
        let index = ConnectionIndex(connection as u32);
        let (client, server) = (2 * connection, 2 * connection + 1);
        // A server that no SYN has reached has nothing to finish.
        let server_done = self.ports[server].done || self.endpoints[server].state() == State::Listen;
        if !(self.ports[client].done && server_done) {
            return;
        }
        self.resolve_captured();
        self.resolve_dropped();
        let Some(connection) = self.connections.remove(index) else { return };
        let handle = Handle { index: index.0, generation: self.ports[client].generation };
        let record = FlowRecord::new(&connection, Some(now), &self.endpoints[client], &self.endpoints[server]);
        let what = Happened::Gone { bytes: record.bytes, bytes_back: record.bytes_back };
        self.upcalls.push(Upcall { owner: connection.owner, user: connection.user, handle, what });
        self.ended.add(&record.totals);
        if record.owner == Owner::Traffic {
            self.tallies.entry((record.port, record.from)).or_default().add(&record);
        }
        self.records.push(record);
        for at in [client, server] {
            self.ports[at].retire();
            // What it held beside its place is given back.
            self.endpoints[at] = Endpoint::connect_as(self.endpoints[at].config());
        }
    }

    /// These settings in the copy that all share who have them.
    fn shared(&mut self, config: &Config) -> Arc<Config> {
        // A run knows few of them: one or two per kind of connection.
        if let Some(known) = self.configs.iter().find(|known| ***known == *config) {
            return Arc::clone(known);
        }
        let config = Arc::new(*config);
        if self.configs.len() < MOST_CONFIGS {
            self.configs.push(Arc::clone(&config));
        }
        config
    }

    /// Counts drops at their connections while these are known. A packet of a connection that is gone counts for none.
    pub(crate) fn resolve_dropped(&mut self) {
        for (at, generation) in self.network.take_dropped() {
            if self.ports[at as usize].generation == generation
                && let Some(connection) = self.connections.get_mut(ConnectionIndex(at / 2))
            {
                connection.drops += 1;
            }
        }
    }

    fn find_routes(&mut self, index: ConnectionIndex) {
        let Some(connection) = self.connections.get(index) else { return };
        let (client, server) = (2 * index.as_usize(), 2 * index.as_usize() + 1);
        let key = FlowKey {
            from: self.nodes[connection.from as usize].vertex,
            to: self.nodes[connection.to as usize].vertex,
            from_port: connection.from_port,
            to_port: connection.to_port,
        };
        for (at, key) in [(client, key), (server, key.reverse())] {
            let route = match connection.via {
                Some(via) => self.network.route_via(key, via),
                None => self.network.route(key),
            };
            self.ports[at].set_route(route);
        }
    }

    fn ephemeral_port(&mut self, node: u32) -> u16 {
        let next = &mut self.nodes[node as usize].next_port;
        let port = *next;
        // 32768 to 60999, as in Linux.
        *next = if port >= 60_999 { 32_768 } else { port + 1 };
        port
    }

    // === Results ===

    /// The graph on which it runs.
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
    /// Packet-hops so far.
    pub fn hops(&self) -> u64 {
        self.network.hops()
    }
    /// Whether a node is up.
    pub fn is_node_up(&self, node: u32) -> bool {
        self.nodes[node as usize].up
    }
    /// In-order bytes that have been received at an end of an open connection, by a node that has crashed since too.
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
    /// An end of an open connection, for whoever wants to look at it.
    pub fn endpoint(&self, handle: Handle, end: End) -> Option<&Endpoint> {
        Some(&self.endpoints[self.end(handle, end)?])
    }
    /// What happened to the members of bonds so far.
    pub fn member_changes(&self) -> &[net::bond::MemberChange] {
        self.network.member_changes()
    }
    /// Counters of one end of a bond, 0 or 1.
    pub fn bond_counters(&self, bond: usize, end: usize) -> net::bond::EndCounters {
        self.network.bond_counters(bond, end)
    }
    /// Hands an end's congestion control the weights that couple it to others.
    pub fn set_weights(&mut self, handle: Handle, end: End, weights: Weights) {
        if let Some(at) = self.end(handle, end) {
            self.endpoints[at].set_weights(weights);
        }
    }
    /// Where every packet went, checked or not.
    pub fn packets(&self) -> net::Ledger {
        self.network.ledger()
    }
    /// Where every packet went; an imbalance is an error in the simulator.
    pub fn ledger(&self) -> Result<net::Ledger, LedgerError> {
        let ledger = self.network.ledger();
        ledger.check()?;
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
            FlowRecord::new(connection, None, &self.endpoints[client], &self.endpoints[client + 1])
        });
        self.records.iter().copied().chain(open)
    }
    /// Segments sent again so far, and retransmission timeouts: of all connections, without looking at any.
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
    /// Puts names to captured packets while their connections are known.
    fn resolve_captured(&mut self) {
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

fn end_of(at: usize) -> End {
    if at.is_multiple_of(2) { End::Client } else { End::Server }
}
