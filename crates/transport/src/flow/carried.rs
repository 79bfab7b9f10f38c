//! Connections that go by packets for a while: what bursts do to a queue that they overflow.
//!
//! When bursts of short messages will overflow a queue ([`super::port`]), their connections are handed to the packet
//! level with their windows and what is left of their messages, and so is all whose data flows through that queue. For
//! a while bursts that meet others there go by packets as well. A connection flows again when a long message of it
//! begins and no packets are under way, or when its slow start is over, many segments in a row needed no repair, and
//! no queue on its way is too small any more. Its endpoints are kept for the next time. Handshakes, ends of streams
//! and readers' buffers stay at flow level. On links whose queues are large enough flows and packets do not take rate
//! from each other.

use super::ends::{Connection, other};
use super::port::{Port, Sender};
use super::pump::patience;
use super::{Due, FlowConnection, FlowTransport};
use crate::{Classes, End, Handle, Happened, Message, Open, PacketTransport, Tag, Upcall};
use ::net::LinkId;
use des::{Event, EventQueue};
use std::collections::VecDeque;
use tcp::TransmitQueueLimits;
use units::{Bytes, Time};

/// Packets carry a message in pieces of so many segments.
const PIECE: f64 = 32.0;
/// So many segments in a row without repair end a connection's time at the packets.
const CLEAN: f64 = 128.0;
/// Events of packets, one for each hop, that a run may take at first, a tenth of a second of a processor. As many more
/// as half of the events of flow level: some tenth of its time. Without any left bursts only flow, until so many are
/// left again.
const EVENTS: u64 = 1_000_000;
const FLOWS_EVENTS: u64 = 2;
const EVENTS_AGAIN: u64 = 250_000;

/// What hosts' sockets and queues are like beyond TCP and links, where packets are simulated.
#[derive(Clone, Debug, Default)]
pub struct Sockets {
    /// Back-pressure of transmit queues, by node; none where TCP does not watch them.
    pub transmit_queues: Vec<TransmitQueueLimits>,
    /// The limit of unsent data.
    pub unsent: Option<Bytes>,
    /// Priority classes, where queues have classes.
    pub classes: Option<Classes>,
}

/// The packet level below flows.
#[derive(Debug, Default)]
pub(super) struct Below {
    sockets: Sockets,
    seed: u64,
    /// Built when first needed.
    pub packets: Option<Box<PacketTransport>>,
    upcalls: Vec<Upcall>,
    /// Pieces so far.
    pieces: u64,
    /// When it was built.
    pub since: Option<Time>,
    /// Payload that it has delivered.
    pub bytes: u64,
    /// Events of flow level so far, and of packets.
    pub flows_events: u64,
    packets_events: u64,
    /// Its events are used up.
    rests: bool,
    /// When they first were.
    pub spent: Option<Time>,
}

/// A part of a message that packets carry.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Its name at the packets.
    tag: Tag,
    bytes: u64,
    /// The message that is whole with it.
    whole: Option<(Bytes, Tag)>,
}

/// What packets carry of the stream from an end.
#[derive(Debug, Default)]
struct Stream {
    /// Pieces that are not acknowledged, how many of them are delivered, and their payload.
    pieces: VecDeque<Piece>,
    delivered: usize,
    outstanding: u64,
    /// Payload acknowledged since the last repair, and repairs so far.
    clean: u64,
    repairs: u64,
    /// The queues on its way, but for that of its node.
    ports: Vec<LinkId>,
}

/// What packets carry of a connection.
#[derive(Debug, Default)]
pub(super) struct Carried {
    streams: [Stream; 2],
    /// Packets get nothing more: it flows again when they have nothing.
    leaves: bool,
}

impl Below {
    /// Nothing goes by packets yet. Losses on their wires are drawn from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }
    /// Whether packets may carry something.
    fn works(&mut self, now: Time) -> bool {
        let left = (EVENTS + self.flows_events / FLOWS_EVENTS).saturating_sub(self.packets_events);
        if left == 0 && !self.rests {
            self.rests = true;
            self.spent.get_or_insert(now);
        } else if left >= EVENTS_AGAIN {
            self.rests = false;
        }
        !self.rests
    }
}

impl Carried {
    fn of(connection: &Connection) -> Box<Self> {
        let streams = [End::Client, End::Server].map(|end| {
            let way = connection.look(end).way.as_ref();
            let ports = way.into_iter().flat_map(|way| way.links.iter().skip(1).map(|(link, _)| *link)).collect();
            Stream { ports, ..Stream::default() }
        });
        Box::new(Self { streams, leaves: false })
    }
    /// Whether something of the stream from an end is on its way.
    pub fn has_undelivered(&self, end: End) -> bool {
        let stream = &self.streams[end as usize];
        stream.delivered < stream.pieces.len()
    }
}

/// A connection as packets have it, by the name that it has here.
fn twin_of(connection: &Connection, handle: Handle) -> Open {
    // Readers' pace is a matter of flow level.
    let eager = |end| tcp::Config { auto_consume: true, ..*connection.config(end) };
    Open {
        owner: connection.owner,
        user: handle.index,
        from: connection.from,
        to: connection.to,
        port: connection.port,
        via: connection.via,
        client: eager(End::Client),
        server: eager(End::Server),
    }
}

/// Packets of one more stream go through these queues, or of one less.
fn carry(ports: &mut [Port], on: &[LinkId], begins: bool) {
    for link in on {
        ports[link.0 as usize].carry(begins);
    }
}

impl FlowTransport {
    /// Sets what hosts' sockets and queues are like, before anything is sent.
    pub fn set_sockets(&mut self, sockets: Sockets) {
        self.below.sockets = sockets;
    }

    /// Whether bursts may go by packets now. With bonds they never do: bonds' own messages would have to as well.
    pub(super) fn goes_by_packets(&mut self) -> bool {
        self.network.topology().bonds().is_empty() && self.below.works(self.now)
    }

    /// The packet level, built when it is first asked for, with nodes and links as they are now.
    fn packets(&mut self, now: Time, events: &mut EventQueue) -> Option<&mut PacketTransport> {
        if self.below.packets.is_none() {
            let (topology, framing) = (self.network.topology(), self.network.framing);
            let mut packets = PacketTransport::new(topology.clone(), framing, self.below.seed).ok()?;
            let sockets = self.below.sockets.clone();
            if !sockets.transmit_queues.is_empty() {
                packets.set_transmit_queue_limits(sockets.transmit_queues);
            }
            if let Some(limit) = sockets.unsent {
                packets.set_unsent_limit(limit);
            }
            if let Some(classes) = sockets.classes {
                packets.set_classes(classes);
            }
            for node in (0..units::count(topology.hosts().len())).filter(|node| !self.network.is_up(*node)) {
                packets.node_down(now, node, events);
            }
            for link in self.network.down() {
                packets.set_link_up(now, link, false, events);
            }
            (self.below.packets, self.below.since) = (Some(Box::new(packets)), Some(now));
        }
        self.below.packets.as_deref_mut()
    }

    /// A connection whose burst will overflow a queue goes by packets from now on.
    pub(super) fn enter(&mut self, now: Time, handle: Handle, events: &mut EventQueue) {
        const ENDS: [End; 2] = [End::Client, End::Server];
        let Some(connection) = self.get_mut(handle) else { return };
        connection.enters = false;
        let sends = |connection: &Connection, end| {
            let stream = connection.look(end);
            !stream.waiting.is_empty() && !stream.window.waits
        };
        let alive = ENDS.iter().all(|end| !connection.is_gone(*end));
        if alive && connection.connected.is_none() && connection.twin.is_none() {
            self.shake(now, handle, events);
            return;
        }
        if alive && connection.carried.is_none() && ENDS.iter().any(|end| sends(connection, *end)) {
            for end in ENDS {
                // What is in flight is sent anew, by packets.
                let window = self.get(handle).map_or(0.0, |connection| connection.look(end).window.cwnd());
                self.take_back(now, handle, end, window, events);
            }
            self.hand_over(now, handle, events);
        }
        for end in ENDS {
            self.pump(now, handle, end, events);
        }
    }

    /// Whether a connection's handshake goes by packets, because its SYN meets others at a queue that is too small.
    pub(super) fn shakes_by_packets(&mut self, now: Time, handle: Handle, syn: f64, events: &mut EventQueue) -> bool {
        let config = self.get(handle).map_or_else(Default::default, |connection| connection.client);
        let sender = Sender { handle, left: syn, reach: 1.0, rtt: 0.0, patience: patience(&config) };
        let (tight, _) = self.burst(now, handle, End::Client, (1.0, syn), Some(sender));
        self.meet(now, tight, events)
    }
    fn shake(&mut self, now: Time, handle: Handle, events: &mut EventQueue) -> Option<()> {
        let connection = self.get(handle)?;
        let (open, from_port) = (twin_of(connection, handle), connection.from_port);
        let twin = self.packets(now, events)?.open_from(now, &open, from_port, events);
        let connection = self.get_mut(handle)?;
        (connection.twin, connection.carried) = (Some(twin), Some(Carried::of(connection)));
        Some(())
    }

    fn hand_over(&mut self, now: Time, handle: Handle, events: &mut EventQueue) -> Option<()> {
        let connection = self.get(handle)?;
        let (way, from_port, twin) =
            (connection.look(End::Client).way.as_ref()?, connection.from_port, connection.twin);
        let syn = self.network.syn();
        let shook = (connection.connected?, way.trip(syn) + way.trip_back(syn));
        let windows = [End::Client, End::Server].map(|end| {
            let window = &connection.look(end).window;
            (end, units::whole(window.cwnd()), window.active)
        });
        let open = twin_of(connection, handle);
        let packets = self.packets(now, events)?;
        let twin = twin.unwrap_or_else(|| packets.adopt(now, &open, from_port, shook, events));
        for (end, cwnd, active) in windows {
            packets.catch_up(twin, end, cwnd, active);
        }
        let connection = self.get_mut(handle)?;
        (connection.twin, connection.carried) = (Some(twin), Some(Carried::of(connection)));
        Some(())
    }

    /// Gives packets what they may have of a stream.
    pub(super) fn feed(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        if !self.below.works(now) || self.is_long(handle, end) {
            // Of what has nothing under way, no packet would tell that it is to leave.
            if let Some(carried) = self.get_mut(handle).and_then(|connection| connection.carried.as_mut()) {
                carried.leaves = true;
            }
            self.flow_again_if_over(now, handle, events);
        }
        while let Some((twin, message)) = self.next_piece(now, handle, end, events) {
            if let Some(packets) = &mut self.below.packets {
                packets.send(now, twin, end, message, events);
            }
        }
    }

    /// Whether a message begins that takes many windows at all queues on its way that are too small, and meets no
    /// packets there.
    fn is_long(&self, handle: Handle, end: End) -> bool {
        let Some(connection) = self.get(handle) else { return false };
        let stream = connection.look(end);
        let Some((bytes, _)) = stream.waiting.front().filter(|_| stream.sent_of_first == 0) else { return false };
        let (wire, rtt, now) = (stream.terms.wire(bytes.get()), stream.rtt().as_secs_f64(), self.now.as_secs_f64());
        let links = stream.way.as_ref().map_or(&[][..], |way| &way.links).iter().skip(1);
        let mut tight =
            links.map(|(link, _)| &self.ports[link.0 as usize]).filter(|port| port.is_tight(now)).peekable();
        tight.peek().is_some() && tight.all(|port| port.is_empty() && port.is_long(wire, rtt))
    }

    fn next_piece(
        &mut self,
        now: Time,
        handle: Handle,
        end: End,
        events: &mut EventQueue,
    ) -> Option<(Handle, Message)> {
        loop {
            let (rests, number) = (self.below.rests, self.below.pieces);
            let connection = self.get(handle)?;
            let (twin, carried) = (connection.twin?, connection.carried.as_ref()?);
            let (leaves, outstanding) = (carried.leaves || rests, carried.streams[end as usize].outstanding);
            let gone = connection.is_gone(other(end)) || !self.network.is_up(connection.node(other(end)));
            let buffer = connection.buffer(other(end));
            let cwnd = self.below.packets.as_ref()?.endpoint(twin, end)?.window().cwnd;
            let connection = self.connections.get_mut(FlowConnection(handle.index))?;
            let stream = connection.stream(end);
            let Some(&(bytes, tag)) = stream.waiting.front() else {
                self.finish_if_sent(now, handle, end, events);
                return None;
            };
            if gone {
                stream.waiting.pop_front();
                (stream.sent_of_first, stream.first_counts) = (0, false);
                stream.flying += 1;
                continue;
            }
            let full = buffer.is_some_and(|buffer| stream.unread > Bytes::ZERO && stream.unread + bytes > buffer);
            let piece = units::whole(PIECE * stream.terms.payload);
            let enough = outstanding >= 2 * (cwnd + piece);
            if leaves || stream.window.waits || enough || (full && !stream.first_counts) {
                return None;
            }
            if buffer.is_some() && !std::mem::replace(&mut stream.first_counts, true) {
                stream.unread += bytes;
            }
            let piece = (bytes.get() - stream.sent_of_first).min(piece);
            stream.sent_of_first += piece;
            stream.window.active = now;
            let whole = stream.sent_of_first >= bytes.get();
            if whole {
                stream.waiting.pop_front();
                (stream.sent_of_first, stream.first_counts) = (0, false);
                stream.flying += 1;
            }
            let stream = &mut connection.carried.as_mut()?.streams[end as usize];
            let name = Tag(number);
            stream.pieces.push_back(Piece { tag: name, bytes: piece, whole: whole.then_some((bytes, tag)) });
            if stream.outstanding == 0 {
                carry(&mut self.ports, &stream.ports, true);
            }
            stream.outstanding += piece;
            self.below.pieces += 1;
            return Some((twin, Message { push: whole, ..Message::new(Bytes::new(piece), name) }));
        }
    }

    /// Handles an event of the packet level, and what it tells.
    pub(super) fn on_packets_event(&mut self, event: &Event, events: &mut EventQueue) {
        let now = event.time();
        let Some(packets) = &mut self.below.packets else { return };
        self.below.packets_events += 1;
        packets.on_event(event, events);
        if !packets.has_upcalls() {
            return;
        }
        let mut told = std::mem::take(&mut self.below.upcalls);
        packets.take_upcalls(&mut told);
        for upcall in told.drain(..) {
            let index = upcall.user;
            let Some(generation) = self.generations.get(index as usize) else { continue };
            let handle = Handle { index, generation: *generation };
            if self.get(handle).is_some_and(|connection| connection.twin == Some(upcall.handle)) {
                self.on_packets_upcall(now, handle, upcall.what, events);
            }
        }
        self.below.upcalls = told;
    }

    fn on_packets_upcall(&mut self, now: Time, handle: Handle, what: Happened, events: &mut EventQueue) {
        match what {
            Happened::Delivered(end, tag) => {
                self.piece_delivered(now, handle, (other(end), tag), events);
                self.flow_again_if_over(now, handle, events);
            }
            Happened::Acknowledged(end, tag) => {
                self.piece_acknowledged(handle, (end, tag));
                self.flow_again_if_over(now, handle, events);
                self.pump(now, handle, end, events);
            }
            Happened::Reset(end) => self.at(now, handle, Due::Reset(end), events),
            Happened::Gone { .. } => {
                self.end_carriage(handle);
                if let Some(connection) = self.get_mut(handle) {
                    connection.twin = None;
                }
            }
            Happened::Connected => self.connect(now, handle, events),
            Happened::PeerClosed(_) => {}
        }
    }

    fn piece_delivered(&mut self, now: Time, handle: Handle, (end, tag): (End, Tag), events: &mut EventQueue) {
        let Some(connection) = self.get_mut(handle) else { return };
        let Some(carried) = &mut connection.carried else { return };
        let carried = &mut carried.streams[end as usize];
        let Some(piece) = carried.pieces.get(carried.delivered).copied().filter(|piece| piece.tag == tag) else {
            return;
        };
        carried.delivered += 1;
        connection.touch(now, other(end));
        let stream = connection.stream(end);
        stream.sent += piece.bytes;
        self.below.bytes += piece.bytes;
        let Some((bytes, tag)) = piece.whole else { return };
        let Some(connection) = self.get_mut(handle) else { return };
        let stream = connection.stream(end);
        // What flowed before it may still be on its way.
        stream.last = stream.last.max(now);
        let last = stream.last;
        let back = stream.way.as_ref().map_or(Time::ZERO, |way| way.trip_back(stream.terms.header));
        self.at(last, handle, Due::Delivered(other(end), tag, bytes), events);
        self.at(last + back, handle, Due::Acknowledged(end, tag), events);
        self.finish_if_sent(now, handle, end, events);
    }

    fn piece_acknowledged(&mut self, handle: Handle, (end, tag): (End, Tag)) -> Option<()> {
        let rests = self.below.rests;
        let connection = self.connections.get_mut(FlowConnection(handle.index))?;
        let (limit, segment) = (connection.window_limit(end), connection.look(end).terms.payload);
        let twin = connection.twin?;
        let endpoint = self.below.packets.as_ref()?.endpoint(twin, end)?;
        let carried = connection.carried.as_mut()?;
        let stream = &mut carried.streams[end as usize];
        // It may have been of an earlier time at the packets.
        let piece = stream.pieces.pop_front_if(|piece| piece.tag == tag)?;
        stream.delivered -= 1;
        stream.outstanding -= piece.bytes;
        if stream.outstanding == 0 {
            carry(&mut self.ports, &stream.ports, false);
        }
        let counters = endpoint.counters();
        let repairs = counters.retransmissions + u64::from(counters.timeouts);
        let clean = piece.bytes.max(units::whole(segment));
        stream.clean = if repairs == stream.repairs { stream.clean + clean } else { 0 };
        stream.repairs = repairs;
        let window = endpoint.window();
        let unused = 2 * (stream.outstanding + piece.bytes) < window.cwnd;
        let started = unused || !window.slow_start() || window.cwnd as f64 >= limit;
        let calm = started && !endpoint.in_recovery() && !endpoint.in_timeout();
        let tight = stream.ports.iter().any(|link| self.ports[link.0 as usize].is_tight(self.now.as_secs_f64()));
        carried.leaves |= rests || (calm && !tight && stream.clean as f64 >= CLEAN * segment);
        Some(())
    }

    /// A connection flows again that is to leave and of which nothing is under way.
    fn flow_again_if_over(&mut self, now: Time, handle: Handle, events: &mut EventQueue) {
        const ENDS: [End; 2] = [End::Client, End::Server];
        let Some(connection) = self.get(handle) else { return };
        let Some(carried) = &connection.carried else { return };
        if carried.leaves && ENDS.iter().all(|end| !carried.has_undelivered(*end)) {
            self.flow_again(now, handle);
            for end in ENDS {
                self.pump(now, handle, end, events);
            }
        }
    }
    fn flow_again(&mut self, now: Time, handle: Handle) -> Option<()> {
        self.end_carriage(handle);
        let connection = self.connections.get_mut(FlowConnection(handle.index))?;
        let packets = self.below.packets.as_ref()?;
        let twin = connection.twin?;
        for end in [End::Client, End::Server] {
            let window = packets.endpoint(twin, end)?.window();
            let stream = connection.stream(end);
            let (rtt, terms) = (stream.rtt(), stream.terms);
            let slowest = stream.way.as_ref().map_or(f64::INFINITY, |way| way.slowest);
            stream.window.go_on(now, (window.cwnd, window.ssthresh), slowest * rtt.as_secs_f64() / terms.expansion());
        }
        Some(())
    }

    /// Packets have nothing of a connection any more.
    fn end_carriage(&mut self, handle: Handle) -> Option<()> {
        let carried = self.connections.get_mut(FlowConnection(handle.index))?.carried.take()?;
        for stream in carried.streams.iter().filter(|stream| stream.outstanding > 0) {
            carry(&mut self.ports, &stream.ports, false);
        }
        Some(())
    }

    /// An end is gone, or both are: packets forget the connection.
    pub(super) fn forget_carried(&mut self, now: Time, handle: Handle) {
        self.end_carriage(handle);
        let Some(connection) = self.get_mut(handle) else { return };
        if let (Some(twin), Some(packets)) = (connection.twin.take(), &mut self.below.packets) {
            packets.drop_adopted(now, twin);
        }
    }
}
