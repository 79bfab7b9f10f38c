//! Messages carried as flows (`run.fidelity = "flow"`), experimental: how long whole messages take, without packets.
//!
//! A message leaves its node through one first-in-first-out interface at the rate of the node's link, crosses the
//! network in the path's propagation delay, and enters through such an interface at the other node, cut through: it is
//! delivered a delay after its last byte has left, or when the receiver's interface has taken it in, whichever is
//! later. Bytes are those on the wire: a header and framing for each full segment. A connection takes a round trip to
//! open. A paced reader's buffer holds senders back. Not modelled: switches' own links, shares between concurrent
//! messages of a node, windows, losses, queues' limits, the air.

mod ends;
mod network;

pub use network::Interface;

use crate::{End, FlowRecord, Handle, Happened, Message, Open, Owner, Tag, Tally, Upcall};
use des::{Event, EventQueue, Slab, define_index};
use ends::{Connection, other};
use net::{LinkId, SpecError, Topology};
use network::Interfaces;
use std::collections::BTreeMap;
use units::{BitRate, Bytes, Time};

/// Event kind: something that a flow-level connection waited for happens.
pub const DUE: u8 = 48;

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
    PeerClosed(End),
    Reset(End),
}

/// Connections whose messages share nodes' interfaces.
#[derive(Debug)]
pub struct FlowTransport {
    interfaces: Interfaces,
    connections: Slab<FlowConnection, Connection>,
    /// How often each place in the slab has been given away.
    generations: Vec<u32>,
    due: Slab<DueIndex, (Handle, Due)>,
    upcalls: Vec<Upcall>,
    records: Vec<FlowRecord>,
    tallies: BTreeMap<(u16, u32), Tally>,
}

impl FlowTransport {
    /// No connections yet between the hosts of `topology`. Each segment costs `framing` bytes on the wire beyond its IP
    /// length.
    pub fn new(topology: Topology, framing: Bytes) -> Self {
        Self {
            interfaces: Interfaces::new(topology, framing),
            connections: Slab::new(),
            generations: Vec::new(),
            due: Slab::new(),
            upcalls: Vec::new(),
            records: Vec::new(),
            tallies: BTreeMap::new(),
        }
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
        events.push(time, DUE, index.0, 0);
    }
    fn tell(&mut self, handle: Handle, what: Happened) {
        if let Some(connection) = self.get(handle) {
            self.upcalls.push(Upcall { owner: connection.owner, user: connection.user, handle, what });
        }
    }

    // === What owners do ===

    /// Opens a connection.
    pub fn open(&mut self, now: Time, open: &Open, events: &mut EventQueue) -> Handle {
        let index = self.connections.insert(Connection::new(now, open));
        if self.generations.len() <= index.0 as usize {
            self.generations.resize(index.0 as usize + 1, 0);
        }
        let generation = &mut self.generations[index.0 as usize];
        *generation = generation.wrapping_add(1);
        let handle = Handle { index: index.0, generation: *generation };
        let trip = self.interfaces.delay(open.from, open.to) + self.interfaces.delay(open.to, open.from);
        if !self.interfaces.is_up(open.from) {
            self.leave(now, handle, End::Client);
            self.leave(now, handle, End::Server);
        } else if self.interfaces.is_up(open.to) && self.interfaces.reach(open.from, open.to) {
            self.at(now + trip, handle, Due::Connected, events);
        } else {
            // SYNs are sent again at doubling intervals, and the last one waits as long again (RFC 6298, 5.5).
            let tcp = &open.client;
            let patience = (0..=u32::from(tcp.syn_retries))
                .map(|n| (tcp.initial_rto * (1 << n.min(30))).min(tcp.max_rto))
                .fold(Time::ZERO, Time::saturating_add);
            self.at(now + patience, handle, Due::Reset(End::Client), events);
        }
        handle
    }

    /// Appends a message to the stream from `end`.
    pub fn send(&mut self, now: Time, handle: Handle, end: End, message: Message, events: &mut EventQueue) {
        let Some(connection) = self.get_mut(handle).filter(|connection| !connection.is_gone(end)) else { return };
        connection.way(end).waiting.push_back((message.bytes, message.tag));
        self.send_what_fits(now, handle, end, events);
        self.reset_if_in_vain(now, handle, end, events);
    }

    /// Takes bytes out of the receive buffer of a paced reader.
    pub fn consume(&mut self, now: Time, handle: Handle, end: End, bytes: Bytes, events: &mut EventQueue) {
        let Some(connection) = self.get_mut(handle) else { return };
        let way = connection.way(other(end));
        way.unread = way.unread.saturating_sub(bytes);
        self.send_what_fits(now, handle, other(end), events);
    }

    /// When a message was last delivered at an end; zero for never.
    pub fn last_received(&self, handle: Handle, end: End) -> Time {
        self.get(handle).map_or(Time::ZERO, |connection| connection.delivered_at(end))
    }

    /// Closes the stream from `end` after the messages sent so far.
    pub fn close(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        let Some(connection) = self.get_mut(handle).filter(|connection| !connection.is_gone(end)) else { return };
        connection.way(end).closed = true;
        self.finish_if_sent(now, handle, end, events);
        self.leave_if_over(now, handle, end);
    }

    /// Aborts the connection at one end. The other end learns it one propagation delay later.
    pub fn abort(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        let Some(connection) = self.get_mut(handle) else { return };
        connection.reset = true;
        let (from, to) = (connection.node(end), connection.node(other(end)));
        if self.interfaces.is_up(to) {
            let at = now + self.interfaces.delay(from, to);
            self.at(at, handle, Due::Reset(other(end)), events);
        }
        self.leave(now, handle, end);
    }

    /// When an open connection was opened.
    pub fn opened(&self, handle: Handle) -> Option<Time> {
        Some(self.get(handle)?.opened)
    }
    /// Bytes of messages that have been delivered at an end of an open connection.
    pub fn received(&self, handle: Handle, end: End) -> Option<u64> {
        Some(self.get(handle)?.received(end))
    }

    // === Faults ===

    /// A node crashes, or is back and knows no connection from before.
    pub fn set_node(&mut self, now: Time, node: u32, up: bool, events: &mut EventQueue) {
        const ENDS: [End; 2] = [End::Client, End::Server];
        self.interfaces.set_up(node, up);
        for handle in self.handles() {
            let at_node = |connection: &Connection, end| connection.node(end) == node;
            for end in ENDS {
                if !up && self.get(handle).is_some_and(|connection| at_node(connection, end)) {
                    self.leave(now, handle, end);
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
    /// A cable goes down or up. Messages in flight still arrive. Later messages take another path, or wait for this
    /// one.
    pub fn set_link_up(&mut self, now: Time, link: LinkId, up: bool, events: &mut EventQueue) {
        self.interfaces.set_link_up(link, up);
        for handle in self.handles().into_iter().filter(|_| up) {
            self.send_what_fits(now, handle, End::Client, events);
            self.send_what_fits(now, handle, End::Server, events);
        }
    }
    /// Changes the rate of one direction of a link, for messages sent from now on.
    pub fn set_link_rate(&mut self, link: LinkId, rate: BitRate) -> Result<(), SpecError> {
        self.interfaces.set_link_rate(link, rate)
    }

    // === Events and upcalls ===

    /// Handles a [`DUE`] event.
    pub fn on_due(&mut self, event: &Event, events: &mut EventQueue) {
        let now = event.time();
        let Some((handle, due)) = self.due.remove(DueIndex(event.index)) else { return };
        let Some(connection) = self.get_mut(handle) else { return };
        match due {
            Due::Connected => {
                if connection.is_gone(End::Client) {
                    return;
                }
                connection.connected = Some(now);
                self.tell(handle, Happened::Connected);
                self.send_what_fits(now, handle, End::Client, events);
                self.send_what_fits(now, handle, End::Server, events);
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
                connection.way(end).flying -= 1;
                if !connection.is_gone(end) {
                    self.tell(handle, Happened::Acknowledged(end, tag));
                }
            }
            Due::PeerClosed(end) => {
                connection.peer_closed(end);
                if !connection.is_gone(end) {
                    self.tell(handle, Happened::PeerClosed(end));
                    self.leave_if_over(now, handle, end);
                }
            }
            Due::Reset(end) => {
                if connection.is_gone(end) {
                    return;
                }
                connection.reset = true;
                self.tell(handle, Happened::Reset(end));
                self.leave(now, handle, end);
            }
        }
    }
    /// Moves the upcalls since the last call to `upcalls`.
    pub fn take_upcalls(&mut self, upcalls: &mut Vec<Upcall>) {
        upcalls.append(&mut self.upcalls);
    }
    /// Whether an owner has something to be told.
    pub fn has_upcalls(&self) -> bool {
        !self.upcalls.is_empty()
    }

    // === Sending ===

    /// Sends the messages that the receiver's buffer has room for; one that is larger goes alone.
    fn send_what_fits(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        loop {
            let Some(connection) = self.get_mut(handle) else { return };
            if connection.connected.is_none() || connection.is_gone(end) {
                return;
            }
            let (from, to) = (connection.node(end), connection.node(other(end)));
            let (mss, buffer) = (connection.mss(end), connection.buffer(other(end)));
            let alive = !connection.is_gone(other(end));
            let way = connection.way(end);
            let Some(&(bytes, tag)) = way.waiting.front() else {
                return self.finish_if_sent(now, handle, end, events);
            };
            let full = buffer.is_some_and(|buffer| way.unread > Bytes::ZERO && way.unread + bytes > buffer);
            if full || !self.interfaces.reach(from, to) {
                return;
            }
            let Some(connection) = self.get_mut(handle) else { return };
            let way = connection.way(end);
            way.waiting.pop_front();
            way.flying += 1;
            if buffer.is_some() {
                way.unread += bytes;
            }
            if alive && self.interfaces.is_up(to) {
                let arrival = self.interfaces.carry(now, (from, to), bytes, mss);
                let back = arrival + self.interfaces.delay(to, from);
                if let Some(connection) = self.get_mut(handle) {
                    connection.way(end).last = arrival;
                }
                self.at(arrival, handle, Due::Delivered(other(end), tag, bytes), events);
                self.at(back, handle, Due::Acknowledged(end, tag), events);
            }
        }
    }

    /// The end of a stream follows its last message.
    fn finish_if_sent(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        let Some(connection) = self.get_mut(handle) else { return };
        let (from, to) = (connection.node(end), connection.node(other(end)));
        let established = connection.connected.is_some();
        let way = connection.way(end);
        if !way.closed || way.finished || !way.waiting.is_empty() || !established {
            return;
        }
        way.finished = true;
        let last = way.last;
        let at = (now + self.interfaces.delay(from, to)).max(last);
        self.at(at, handle, Due::PeerClosed(other(end)), events);
    }

    /// An end with data on its way to a peer that is gone gives up after a while (RFC 1122, 4.2.3.5).
    fn reset_if_in_vain(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        let Some(connection) = self.get(handle) else { return };
        if connection.is_gone(other(end)) && !connection.is_gone(end) && connection.awaits(end) {
            let tcp = &connection.client;
            let timeouts = (0..=u32::from(tcp.max_retries)).map(|n| (tcp.min_rto * (1 << n.min(30))).min(tcp.max_rto));
            let patience = timeouts.fold(Time::ZERO, Time::saturating_add);
            self.at(now + patience, handle, Due::Reset(end), events);
        }
    }

    fn leave_if_over(&mut self, now: Time, handle: Handle, end: End) {
        if self.get(handle).is_some_and(|connection| connection.is_over(end)) {
            self.leave(now, handle, end);
        }
    }

    /// One end is done. The connection is removed when both are.
    fn leave(&mut self, now: Time, handle: Handle, end: End) {
        let Some(connection) = self.get_mut(handle) else { return };
        connection.leave(end);
        if !(connection.is_gone(End::Client) && connection.is_gone(End::Server)) {
            return;
        }
        let record = connection.record(Some(now));
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
        self.interfaces.counted()
    }
    /// The network's topology.
    pub fn topology(&self) -> &Topology {
        self.interfaces.topology()
    }
}
