//! Events: arriving packets and timers are handed to endpoints, and the output of endpoints is carried out.

use super::packet::Packet;
use super::{ConnectionIndex, End, Handle, Happened, PacketTransport, QUEUE_ROOM, Upcall, end_of};
use des::{Event, EventQueue};
use net::{ARRIVAL, BOND, LinkId, PacketId, TRANSMISSION_DONE};
use tcp::Notice;
use units::Time;

/// Event kind: an endpoint's timer.
pub const TIMER: u8 = 2;

/// Drops are attributed to their connections in batches of at most this many. The end of a connection attributes all.
const MANY_DROPS: usize = 4_096;

impl PacketTransport {
    /// Handles an event of one of the packets' kinds.
    #[inline]
    pub fn on_event(&mut self, event: &Event, events: &mut EventQueue) {
        match event.kind() {
            ARRIVAL => self.on_arrival(event, events),
            TIMER => self.on_timer(event, events),
            TRANSMISSION_DONE => self.on_transmission_done(event, events),
            QUEUE_ROOM => self.on_queue_room(event, events),
            BOND => self.on_bond(event, events),
            _ => self.on_air(event, events),
        }
    }
    /// The head of a link's ring arrives.
    #[inline]
    pub fn on_arrival(&mut self, event: &Event, events: &mut EventQueue) {
        if let Some((packet, at)) = self.network.on_arrival(event, events) {
            self.deliver(event.time(), packet, at as usize, events);
        }
    }
    /// Starts the network's own processes (LACP). To be called once, at time zero.
    pub fn start(&mut self, events: &mut EventQueue) {
        self.network.start(events);
    }
    /// Handles an event of a bond's end.
    pub fn on_bond(&mut self, event: &Event, events: &mut EventQueue) {
        if self.network.on_bond(event, events) {
            self.find_all_routes();
            self.look_at_all_queues(event.time(), events);
        }
    }
    /// A managed link's transmitter is done.
    pub fn on_transmission_done(&mut self, event: &Event, events: &mut EventQueue) {
        self.network.on_transmission_done(event, events);
        self.look_at_queue(event.time(), LinkId(event.index), events);
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
            self.before_call(event.time(), at);
            self.endpoints[at].on_timer(event.time(), &mut self.out);
        }
        self.after_call(event.time(), at, events);
    }

    #[inline]
    fn deliver(&mut self, now: Time, id: PacketId, at: usize, events: &mut EventQueue) {
        let packet = *self.network.packet(id);
        self.network.finish(id);
        self.receive(now, at, &packet, events);
    }
    #[inline]
    pub(super) fn receive(&mut self, now: Time, at: usize, packet: &Packet, events: &mut EventQueue) {
        self.before_call(now, at);
        let port = &self.ports[at];
        if port.generation == packet.generation && !port.deaf {
            if port.counted {
                self.counted.receive(&packet.segment);
            }
            let before = self.endpoints[at].received();
            self.endpoints[at].on_segment(now, &packet.segment, &mut self.out);
            if let Some(times) = &mut self.last_received
                && self.endpoints[at].received() > before
            {
                times.resize(times.len().max(at + 1), Time::ZERO);
                times[at] = now;
            }
            self.after_call(now, at, events);
        }
    }

    /// To be called before an endpoint that may then send data: asks the transmit queue for room.
    #[inline]
    pub(super) fn before_call(&mut self, now: Time, at: usize) {
        if self.back_pressure.is_some() {
            self.look_for_room(now, at);
        }
    }

    /// To be called after an endpoint: carries out its output, and holds it if the transmit queue is full.
    #[inline]
    pub(super) fn after_call(&mut self, now: Time, at: usize, events: &mut EventQueue) {
        self.carry_out(now, at, events);
        if self.back_pressure.is_some() {
            self.keep_level(now, at, events);
        }
    }

    /// Carries out an endpoint's output: segments, timer, progress of messages, notices.
    #[inline]
    pub(super) fn carry_out(&mut self, now: Time, at: usize, events: &mut EventQueue) {
        self.go_on_writing(now, at);
        if !self.out.segments.is_empty() {
            self.hand_over(now, at, events);
        }
        let port = &mut self.ports[at];
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

    /// Sends an endpoint's segments.
    #[inline]
    fn hand_over(&mut self, now: Time, at: usize, events: &mut EventQueue) {
        if self.ports[at].counted {
            self.counted.send(&self.out.segments);
        }
        if self.is_on_air(at) {
            return self.hand_to_air(now, at, events);
        }
        if self.counts_flows() {
            self.hand_over_counted(now, at, events);
        } else {
            let port = &self.ports[at];
            for segment in &self.out.segments {
                let packet = Packet { segment: *segment, to: at as u32 ^ 1, generation: port.generation };
                let bytes = segment.wire_bytes() + self.framing;
                self.network.send(now, &packet, (packet.to, bytes), port.route(), events);
            }
        }
        self.out.segments.clear();
    }

    /// Queues upcalls for progress of messages and for notices.
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
}
