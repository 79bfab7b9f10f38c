//! Messages carried as flows (`run.fidelity = "flow"`): links are shared max-min fairly below what TCP lets a
//! connection have, without packets.
//!
//! A stream's bytes flow through all links of its path at one rate ([`fluid`]), those of its acknowledgements back.
//! What TCP lets it have: rounds of slow start from the initial window until the network sets the pace (Cardwell,
//! Savage and Anderson, "Modeling TCP Latency", INFOCOM 2000), the receiver's buffer over the round trip, and on lossy
//! paths the rate of its control's response function ([`limits`]). A message is whole at the other end when its last
//! byte has left the slowest link, and its last segment has gone through the others. One of a few segments goes
//! by itself: it takes no share. Handshakes and ends of messages that are lost wait for their timeouts.
//!
//! Not modelled: queues and what they delay and drop, marks, the air. But where bursts would overflow a queue
//! ([`port`]), their connections go by packets for a while ([`carried`]): incast.

mod carried;
mod ends;
pub mod fluid;
mod limits;
mod net;
mod port;
mod pump;

pub use self::carried::Sockets;
pub use self::net::Interface;

use self::net::Network;
use crate::{End, FlowRecord, Handle, Happened, Message, Open, OwnTcp, Owner, Tag, Tally, Upcall};
use ::net::{LinkId, SpecError, Topology};
use carried::Below;
use des::{Event, EventQueue, RandomStream, Slab, define_index};
use ends::{Connection, other};
use fluid::Fluid;
use port::Port;
use std::collections::BTreeMap;
use units::{BitRate, Bytes, Time};

/// Event kind: something that a flow-level connection waited for happens.
pub const DUE: u8 = 48;

/// Arguments of [`DUE`]: something of a connection, rates are to be computed, a flow ends.
const OF_CONNECTION: u32 = 0;
const SETTLE: u32 = 1;
const ENDS: u32 = 2;

define_index! {
    /// A connection.
    FlowConnection;
    /// Something that will happen to a connection.
    DueIndex
}

/// What will happen at an end of a connection.
#[derive(Clone, Copy, Debug)]
enum Due {
    Connected,
    Delivered(End, Tag, Bytes),
    Acknowledged(End, Tag),
    /// Acknowledgements open the next round of an end's slow start.
    Round(End),
    PeerClosed(End),
    Reset(End),
    /// It goes by packets.
    Enters,
}

/// What bursts have found full queues, and what therefore went by packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overflow {
    /// When the first packet would have been lost, or bursts first went by packets.
    pub first: Time,
    /// How many more would have been lost of what did not go by packets, about: each burst counts as if none before it
    /// had been lost.
    pub packets: f64,
    /// Payload that packets have delivered.
    pub carried: Bytes,
    /// From when on bursts only flow at times, because packets have taken all the time that they may.
    pub spent: Option<Time>,
    /// Bursts only flow, because there are bonds.
    pub bonds: bool,
}

/// Connections whose streams share links.
#[derive(Debug)]
pub struct FlowTransport {
    network: Network,
    fluid: Fluid,
    /// Whose stream a flow is.
    flowing: Vec<(Handle, End)>,
    connections: Slab<FlowConnection, Connection>,
    /// How often each place in the slab has been given away.
    generations: Vec<u32>,
    due: Slab<DueIndex, (Handle, Due)>,
    /// The present time.
    now: Time,
    /// Rates are to be computed: an event is pending.
    unsettled: bool,
    /// When the next flow ends, as far as an event is pending for it.
    armed: Time,
    losses: RandomStream,
    /// The queue before each link.
    ports: Vec<Port>,
    /// The packets that bursts go by where queues overflow.
    below: Below,
    /// Nodes' own TCP settings.
    own: Vec<OwnTcp>,
    upcalls: Vec<Upcall>,
    records: Vec<FlowRecord>,
    tallies: BTreeMap<(u16, u32), Tally>,
}

impl FlowTransport {
    /// No connections yet between the hosts of `topology`. Each segment costs `framing` bytes on the wire beyond its IP
    /// length. Losses are drawn from `seed`.
    pub fn new(topology: Topology, framing: Bytes, seed: u64) -> Self {
        let links = (0..2 * units::count(topology.cables().len())).map(LinkId);
        let ports = links.clone().map(|link| Port::new(topology.spec(link), net::capacity(&topology, link))).collect();
        let fluid = Fluid::new(links.map(|link| net::capacity(&topology, link)), net::precision(&topology));
        Self {
            network: Network::new(topology, framing),
            fluid,
            flowing: Vec::new(),
            connections: Slab::new(),
            generations: Vec::new(),
            due: Slab::new(),
            now: Time::ZERO,
            unsettled: false,
            armed: Time::MAX,
            losses: RandomStream::new(seed, "flow/loss", 0),
            ports,
            below: Below::new(seed),
            own: Vec::new(),
            upcalls: Vec::new(),
            records: Vec::new(),
            tallies: BTreeMap::new(),
        }
    }

    /// Sets the nodes' own TCP settings, by node, for connections opened from now on.
    pub fn set_own_tcp(&mut self, own: Vec<OwnTcp>) {
        self.own = own;
    }

    fn get(&self, handle: Handle) -> Option<&Connection> {
        let current = self.generations.get(handle.index as usize)? == &handle.generation;
        self.connections.get(FlowConnection(handle.index)).filter(|_| current)
    }
    fn get_mut(&mut self, handle: Handle) -> Option<&mut Connection> {
        let current = self.generations.get(handle.index as usize)? == &handle.generation;
        self.connections.get_mut(FlowConnection(handle.index)).filter(|_| current)
    }
    fn handles(&self) -> Vec<Handle> {
        let handle = |index: FlowConnection| Handle { index: index.0, generation: self.generations[index.0 as usize] };
        self.connections.iter().map(|(index, _)| handle(index)).collect()
    }
    fn at(&mut self, time: Time, handle: Handle, due: Due, events: &mut EventQueue) {
        let index = self.due.insert((handle, due));
        events.push(time, DUE, index.0, OF_CONNECTION);
    }
    fn tell(&mut self, handle: Handle, what: Happened) {
        if let Some(connection) = self.get(handle) {
            self.upcalls.push(Upcall { owner: connection.owner, user: connection.user, handle, what });
        }
    }

    // === What owners do ===

    /// Opens a connection.
    pub fn open(&mut self, now: Time, open: &Open, events: &mut EventQueue) -> Handle {
        self.now = now;
        let port = self.network.port(open.from);
        let own = |node: u32, config| self.own.get(node as usize).map_or(config, |own: &OwnTcp| own.over(config));
        let open = &Open { client: own(open.from, open.client), server: own(open.to, open.server), ..*open };
        let index = self.connections.insert(Connection::new(now, open, port, self.network.framing));
        if self.generations.len() <= index.0 as usize {
            self.generations.resize(index.0 as usize + 1, 0);
        }
        let generation = &mut self.generations[index.0 as usize];
        *generation = generation.wrapping_add(1);
        let handle = Handle { index: index.0, generation: *generation };
        self.find_ways(handle);
        if !self.network.is_up(open.from) {
            self.leave(now, handle, End::Client, events);
            self.leave(now, handle, End::Server, events);
            return handle;
        }
        let syn = self.network.syn();
        if self.shakes_by_packets(now, handle, syn, events) {
            return handle;
        }
        let way = self.get(handle).and_then(|connection| connection.look(End::Client).way.as_ref());
        let way = way.filter(|_| self.network.is_up(open.to));
        let trip = way.map(|way| (way.trip(syn) + way.trip_back(syn), 1.0 - (1.0 - way.loss) * (1.0 - way.loss_back)));
        // SYNs are sent again at doubling intervals, and the last one waits as long again (RFC 6298, 5.5).
        let tcp = &open.client;
        let mut waited = Time::ZERO;
        for n in 0..=u32::from(tcp.syn_retries) {
            if let Some((trip, lost)) = trip
                && !(lost > 0.0 && self.losses.chance(lost))
            {
                self.at(now + waited + trip, handle, Due::Connected, events);
                return handle;
            }
            waited = waited.saturating_add((tcp.initial_rto * (1 << n.min(30))).min(tcp.max_rto));
        }
        self.at(now + waited, handle, Due::Reset(End::Client), events);
        handle
    }

    /// Appends a message to the stream from `end`.
    pub fn send(&mut self, now: Time, handle: Handle, end: End, message: Message, events: &mut EventQueue) {
        self.now = now;
        let Some(connection) = self.get_mut(handle).filter(|connection| !connection.is_gone(end)) else { return };
        connection.stream(end).waiting.push_back((message.bytes, message.tag));
        self.pump(now, handle, end, events);
        self.reset_if_in_vain(now, handle, end, events);
    }

    /// Takes bytes out of the receive buffer of a paced reader.
    pub fn consume(&mut self, now: Time, handle: Handle, end: End, bytes: Bytes, events: &mut EventQueue) {
        let Some(connection) = self.get_mut(handle) else { return };
        let stream = connection.stream(other(end));
        stream.unread = stream.unread.saturating_sub(bytes);
        self.pump(now, handle, other(end), events);
    }

    /// Time has come to `now`.
    pub const fn pass(&mut self, now: Time) {
        self.now = now;
    }
    /// When bytes last arrived at an end; zero for never.
    pub fn last_received(&self, handle: Handle, end: End) -> Time {
        let Some(connection) = self.get(handle) else { return Time::ZERO };
        let flows = connection.look(other(end)).flows.and_then(|(id, ..)| self.fluid.rate(id));
        if flows.is_some_and(|rate| rate > 0.0) { self.now } else { connection.delivered_at(end) }
    }

    /// Closes the stream from `end` after the messages sent so far.
    pub fn close(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        let Some(connection) = self.get_mut(handle).filter(|connection| !connection.is_gone(end)) else { return };
        connection.stream(end).closed = true;
        self.finish_if_sent(now, handle, end, events);
        self.leave_if_over(now, handle, end, events);
    }

    /// Aborts the connection at one end. The other end learns it one propagation delay later.
    pub fn abort(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        let Some(connection) = self.get_mut(handle) else { return };
        connection.reset = true;
        let (to, delay) = (connection.node(other(end)), connection.delay(end));
        if self.network.is_up(to) {
            self.at(now + delay, handle, Due::Reset(other(end)), events);
        }
        self.leave(now, handle, end, events);
    }

    /// When an open connection was opened.
    pub fn opened(&self, handle: Handle) -> Option<Time> {
        Some(self.get(handle)?.opened)
    }
    /// Bytes that have come to an end of an open connection.
    pub fn received(&self, handle: Handle, end: End) -> Option<u64> {
        let stream = self.get(handle)?.look(other(end));
        let flows = stream.flows.map_or(0, |(id, payload, _)| {
            let left = self.fluid.left(self.now.as_secs_f64(), id).unwrap_or(0.0);
            payload.saturating_sub(units::whole(left / stream.terms.expansion()))
        });
        Some(stream.sent + flows)
    }

    // === Faults ===

    /// A node crashes, or is back and knows no connection from before.
    pub fn set_node(&mut self, now: Time, node: u32, up: bool, events: &mut EventQueue) {
        const ENDS: [End; 2] = [End::Client, End::Server];
        self.now = now;
        self.network.set_up(node, up);
        match &mut self.below.packets {
            Some(packets) if up => packets.node_up(now, node, events),
            Some(packets) => packets.node_down(now, node, events),
            None => {}
        }
        for handle in self.handles() {
            let at_node = |connection: &Connection, end| connection.node(end) == node;
            for end in ENDS {
                if !up && self.get(handle).is_some_and(|connection| at_node(connection, end)) {
                    self.leave(now, handle, end, events);
                }
            }
            for end in ENDS {
                let Some(connection) = self.get(handle).filter(|connection| at_node(connection, other(end))) else {
                    continue;
                };
                if !up {
                    self.reset_if_in_vain(now, handle, end, events);
                } else if connection.is_gone(other(end)) && connection.awaits(end) {
                    // The peer's retransmission finds no connection and is answered with a reset.
                    let again = now + connection.client.initial_rto;
                    self.at(again, handle, Due::Reset(end), events);
                }
            }
        }
    }
    /// A cable goes down or up. Streams take another path, or wait for one.
    pub fn set_link_up(&mut self, now: Time, link: LinkId, up: bool, events: &mut EventQueue) {
        self.now = now;
        self.network.set_link_up(link, up);
        if let Some(packets) = &mut self.below.packets {
            packets.set_link_up(now, link, up, events);
        }
        for handle in self.handles() {
            for end in [End::Client, End::Server] {
                self.halt(now, handle, end, events);
            }
            self.find_ways(handle);
            self.pump(now, handle, End::Client, events);
            self.pump(now, handle, End::Server, events);
        }
    }
    /// Changes the rate of one direction of a link.
    pub fn set_link_rate(
        &mut self,
        now: Time,
        link: LinkId,
        rate: BitRate,
        events: &mut EventQueue,
    ) -> Result<(), SpecError> {
        let capacity = self.network.set_link_rate(link, rate)?;
        if let Some(packets) = &mut self.below.packets {
            packets.set_link_rate(now, link, rate, events)?;
        }
        self.fluid.set_capacity(link.0, capacity);
        self.ports[link.0 as usize].set_capacity(now.as_secs_f64(), capacity);
        self.unsettle(now, events);
        Ok(())
    }

    // === Events and upcalls ===

    /// Handles a [`DUE`] event, or one of the packets.
    pub fn on_event(&mut self, event: &Event, events: &mut EventQueue) {
        let now = event.time();
        self.now = now;
        if event.kind() != DUE {
            return self.on_packets_event(event, events);
        }
        self.below.flows_events += 1;
        match event.arg {
            OF_CONNECTION => {}
            SETTLE => return self.settle(now, events),
            _ => return self.take_ended_flows(now, events),
        }
        let Some((handle, due)) = self.due.remove(DueIndex(event.index)) else { return };
        let Some(connection) = self.get_mut(handle) else { return };
        match due {
            Due::Connected => {
                // Its SYN may have gone by packets after all.
                if connection.twin.is_none() {
                    self.connect(now, handle, events);
                }
            }
            Due::Delivered(end, tag, bytes) => {
                if connection.is_gone(end) {
                    return;
                }
                connection.deliver(now, end, bytes);
                self.tell(handle, Happened::Delivered(end, tag));
            }
            Due::Acknowledged(end, tag) => {
                if connection.is_gone(other(end)) && !connection.is_over(other(end)) {
                    return;
                }
                connection.stream(end).flying -= 1;
                if !connection.is_gone(end) {
                    self.tell(handle, Happened::Acknowledged(end, tag));
                    self.leave_if_over(now, handle, end, events);
                }
            }
            Due::Round(end) => self.next_round(now, handle, end, events),
            Due::Enters => self.enter(now, handle, events),
            Due::PeerClosed(end) => {
                connection.peer_closed(end);
                if !connection.is_gone(end) {
                    self.tell(handle, Happened::PeerClosed(end));
                    self.leave_if_over(now, handle, end, events);
                }
            }
            Due::Reset(end) => {
                if connection.is_gone(end) {
                    return;
                }
                connection.reset = true;
                self.tell(handle, Happened::Reset(end));
                self.leave(now, handle, end, events);
            }
        }
    }
    /// The handshake is over.
    fn connect(&mut self, now: Time, handle: Handle, events: &mut EventQueue) {
        let Some(connection) = self.get_mut(handle).filter(|connection| !connection.is_gone(End::Client)) else {
            return;
        };
        connection.connected = Some(now);
        self.tell(handle, Happened::Connected);
        self.pump(now, handle, End::Client, events);
        self.pump(now, handle, End::Server, events);
    }
    /// Moves the upcalls since the last call to `upcalls`.
    pub fn take_upcalls(&mut self, upcalls: &mut Vec<Upcall>) {
        upcalls.append(&mut self.upcalls);
    }
    /// Whether an owner has something to be told.
    pub fn has_upcalls(&self) -> bool {
        !self.upcalls.is_empty()
    }

    fn leave_if_over(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        if self.get(handle).is_some_and(|connection| connection.is_over(end)) {
            self.leave(now, handle, end, events);
        }
    }

    /// One end is done. The connection is removed when both are.
    fn leave(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        let Some(connection) = self.get_mut(handle) else { return };
        let orderly = connection.is_over(end);
        connection.leave(end);
        if !orderly {
            self.forget_carried(now, handle);
        }
        // What it has sent is lost on a peer that is gone, and nothing more comes to it.
        for end in [End::Client, End::Server] {
            if self.stop(now, handle, end, 0.0).is_some() {
                self.unsettle(now, events);
            }
        }
        let Some(connection) = self.get(handle) else { return };
        if !(connection.is_gone(End::Client) && connection.is_gone(End::Server)) {
            return;
        }
        let record = connection.record(Some(now));
        self.forget_carried(now, handle);
        self.tell(handle, Happened::Gone { bytes: record.bytes, bytes_back: record.bytes_back });
        self.connections.remove(FlowConnection(handle.index));
        if record.owner == Owner::Traffic {
            self.tallies.entry((record.port, record.from)).or_default().add(&record);
        }
        self.records.push(record);
    }

    // === What became of connections ===

    /// Connections that have ended and were not taken, then those still open.
    pub fn flows(&self) -> Vec<FlowRecord> {
        let open = self.connections.iter().map(|(_, connection)| connection.record(None));
        self.records.iter().copied().chain(open).collect()
    }
    /// How many connections have ended whose records were not taken.
    pub fn ended_connections(&self) -> usize {
        self.records.len()
    }
    /// Takes out the records of connections that have ended since the last call.
    pub fn take_ended(&mut self) -> Vec<FlowRecord> {
        std::mem::take(&mut self.records)
    }
    /// Sums over the connections of plain traffic at a port, ended and open, by the node that opens them.
    pub fn tallies(&self, port: u16) -> Vec<(u32, Tally)> {
        let ended = self.tallies.range((port, 0)..=(port, u32::MAX));
        let mut tallies: BTreeMap<u32, Tally> = ended.map(|((_, from), tally)| (*from, *tally)).collect();
        for (_, connection) in self.connections.iter() {
            if connection.owner == Owner::Traffic && connection.port == port {
                tallies.entry(connection.from).or_default().add(&connection.record(None));
            }
        }
        tallies.into_iter().collect()
    }
    /// Bytes on the wire that came into each node and went out.
    pub fn interfaces(&self) -> Vec<Interface> {
        let mut counted = self.network.counted();
        let below = self.below.packets.as_ref().map_or_else(Vec::new, |packets| packets.interfaces());
        for (interface, below) in counted.iter_mut().zip(below) {
            interface.received += below.received;
            interface.sent += below.sent;
        }
        for (_, connection) in self.connections.iter() {
            for end in [End::Client, End::Server] {
                let stream = connection.look(end);
                let Some((id, payload, _)) = stream.flows else { continue };
                let wire = stream.terms.wire(payload) - self.fluid.left(self.now.as_secs_f64(), id).unwrap_or(0.0);
                let ends = (connection.node(end), connection.node(other(end)));
                Network::count(&mut counted, ends, wire, wire * stream.terms.acknowledgements());
            }
        }
        counted
    }
    /// Whether bursts of windows have overflowed queues, so that times may not be believed.
    pub fn overflow(&self) -> Option<Overflow> {
        let now = self.now.as_secs_f64();
        let (mut packets, mut first) = (0.0, f64::INFINITY);
        for port in &self.ports {
            let (lost, since) = port.overflow(now);
            packets += lost;
            first = since.min(first);
        }
        let since = self.below.since;
        (packets >= 1.0 || since.is_some()).then(|| Overflow {
            first: since.map_or(Time::MAX, |since| since).min(Time::from_secs_f64(first.min(1e6))),
            packets,
            carried: Bytes::new(self.below.bytes),
            spent: self.below.spent,
            bonds: !self.network.topology().bonds().is_empty(),
        })
    }
    /// The network's topology.
    pub fn topology(&self) -> &Topology {
        self.network.topology()
    }
}
