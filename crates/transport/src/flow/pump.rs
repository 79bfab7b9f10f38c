//! What a stream sends when: messages, rounds of slow start, and the end of the stream.

use super::ends::{Connection, other};
use super::fluid::FluidId;
use super::limits::Terms;
use super::port::{Burst, Meets, Sender};
use super::{DUE, Due, ENDS, FlowConnection, FlowTransport, SETTLE, limits};
use crate::{End, Handle};
use ::net::LinkId;
use des::EventQueue;
use units::{Bytes, Time};

impl FlowTransport {
    /// Finds the ways of both streams of a connection over the links that are up.
    pub(super) fn find_ways(&mut self, handle: Handle) {
        for end in [End::Client, End::Server] {
            let Some(connection) = self.get(handle) else { return };
            let back = connection.look(end).terms.acknowledgements();
            let ends = (connection.node(end), connection.node(other(end)));
            let way = self.network.way(ends, connection.ports(end), connection.via, back);
            if let Some(connection) = self.get_mut(handle) {
                connection.stream(end).way = way;
            }
        }
    }

    /// Rates are to be computed once all that happens now has happened.
    pub(super) fn unsettle(&mut self, now: Time, events: &mut EventQueue) {
        if !std::mem::replace(&mut self.unsettled, true) {
            events.push(now, DUE, 0, SETTLE);
        }
    }
    pub(super) fn settle(&mut self, now: Time, events: &mut EventQueue) {
        self.unsettled = false;
        self.fluid.settle(now.as_secs_f64());
        self.arm(now, events);
    }
    fn arm(&mut self, now: Time, events: &mut EventQueue) {
        let Some(next) = self.fluid.next_end() else { return };
        let at = Time::from_secs_f64(next).max(now);
        if at < self.armed {
            self.armed = at;
            events.push(at, DUE, 0, ENDS);
        }
    }

    /// Flows that have ended make room, and their streams go on.
    pub(super) fn take_ended_flows(&mut self, now: Time, events: &mut EventQueue) {
        if self.armed != now {
            return;
        }
        self.armed = Time::MAX;
        while let Some(id) = self.fluid.ended(now.as_secs_f64()) {
            let (handle, end) = self.flowing[id.0 as usize];
            self.flow_ended(now, handle, end, id, events);
        }
        self.arm(now, events);
    }

    fn flow_ended(&mut self, now: Time, handle: Handle, end: End, id: FluidId, events: &mut EventQueue) {
        let flows = self.get_mut(handle).and_then(|connection| connection.stream(end).flows);
        let Some((own, payload, cap)) = flows.filter(|(own, ..)| *own == id) else {
            // Whose it was is gone.
            self.fluid.stop(now.as_secs_f64(), id);
            return self.unsettle(now, events);
        };
        self.has_sent(now, handle, end, payload, events);
        // The next part of the stream flows on in its place, if the cap is the same.
        let next = self.next_part(now, handle, end, events);
        match next {
            Some((payload, wire, next_cap)) if next_cap.to_bits() == cap.to_bits() => {
                self.fluid.extend(own, wire);
                self.set_flows(handle, end, Some((own, payload, cap)));
            }
            next => {
                self.fluid.stop(now.as_secs_f64(), own);
                self.set_flows(handle, end, None);
                self.unsettle(now, events);
                if let Some(next) = next {
                    self.start(now, handle, end, next, events);
                }
            }
        }
    }

    fn set_flows(&mut self, handle: Handle, end: End, flows: Option<(FluidId, u64, f64)>) {
        if let Some(connection) = self.get_mut(handle) {
            connection.stream(end).flows = flows;
        }
    }

    fn start(
        &mut self,
        now: Time,
        handle: Handle,
        end: End,
        (payload, wire, cap): (u64, f64, f64),
        events: &mut EventQueue,
    ) {
        let Some(connection) = self.get(handle) else { return };
        let Some(way) = &connection.look(end).way else { return };
        // On a node without a loopback nothing is shared: memory copies take no time.
        let cap = if way.hops.is_empty() { 1e15 } else { cap };
        let hops = way.hops.clone();
        let id = self.fluid.start(now.as_secs_f64(), &hops, cap, wire);
        if self.flowing.len() <= id.0 as usize {
            self.flowing.resize(id.0 as usize + 1, (handle, end));
        }
        self.flowing[id.0 as usize] = (handle, end);
        self.set_flows(handle, end, Some((id, payload, cap)));
        self.unsettle(now, events);
    }

    /// Sends what an end may send.
    pub(super) fn pump(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        if self.get(handle).is_none_or(|connection| connection.look(end).flows.is_some()) {
            return;
        }
        if let Some(next) = self.next_part(now, handle, end, events) {
            self.start(now, handle, end, next, events);
        }
    }

    /// The next part of a stream that may flow now: its payload, its bytes on the wire, its cap. Small messages go by
    /// themselves, and those to a peer that is gone are lost.
    fn next_part(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) -> Option<(u64, f64, f64)> {
        loop {
            let connection = self.get_mut(handle)?;
            if connection.connected.is_none() || connection.is_gone(end) || connection.enters {
                return None;
            }
            if connection.carried.is_some() {
                self.feed(now, handle, end, events);
                return None;
            }
            if connection.look(end).window.waits {
                return None;
            }
            let (to, buffer) = (connection.node(other(end)), connection.buffer(other(end)));
            let gone = connection.is_gone(other(end));
            let stream = connection.stream(end);
            let Some(&(bytes, _)) = stream.waiting.front() else {
                self.finish_if_sent(now, handle, end, events);
                return None;
            };
            let begins = stream.sent_of_first == 0;
            let full = buffer.is_some_and(|buffer| stream.unread > Bytes::ZERO && stream.unread + bytes > buffer);
            if (full && !stream.first_counts) || stream.way.is_none() {
                return None;
            }
            if gone || !self.network.is_up(to) {
                let stream = self.get_mut(handle)?.stream(end);
                stream.waiting.pop_front();
                (stream.sent_of_first, stream.first_counts) = (0, false);
                stream.flying += 1;
                continue;
            }
            let connection = self.get_mut(handle)?;
            let (limit, growth) = (connection.window_limit(end), connection.growth(end));
            let config = *connection.config(end);
            let stream = connection.stream(end);
            let way = stream.way.as_ref()?;
            let (terms, rtt) = (stream.terms, way.rtt(&stream.terms));
            let pauses = begins && stream.flying == 0;
            if begins {
                stream.window.since = now;
            }
            let left = bytes.get() - stream.sent_of_first;
            if buffer.is_some() && !std::mem::replace(&mut stream.first_counts, true) {
                stream.unread += bytes;
            }
            let lossy = limits::lossy_rate(&config, &terms, way.loss, rtt);
            let slowest = way.slowest;
            stream.window.begin_round(now, &config, &terms, (rtt, growth));
            let window = &mut stream.window;
            // The window no longer matters where the network, losses or the receiver set the pace.
            let seconds = rtt.as_secs_f64();
            // What may leave at once: the window, which after a pause is nowhere in flight.
            let idles = now > window.active + rtt;
            let heap = match window.size {
                f64::INFINITY if pauses || idles => window.cwnd,
                f64::INFINITY => 0.0,
                size => size.min(window.credit),
            };
            let most = limit.min(lossy * seconds);
            if window.size >= most.min(slowest * seconds / terms.expansion()) {
                window.let_go();
            }
            let at_once = window.credit_or_all() >= left as f64 && is_short(left, &terms, slowest * seconds);
            let short = begins && at_once;
            let paced = window.size == f64::INFINITY;
            let part = if short || paced { left } else { left.min(units::whole(window.credit).max(1)) };
            let burst = if paced && !short { left.min(units::whole(heap.min(most))) } else { part };
            let noted = self.note_burst(now, handle, end, (burst, (pauses || idles).then_some(left)), events);
            let wait = noted?;
            let stream = self.get_mut(handle)?.stream(end);
            let (window, way) = (&mut stream.window, stream.way.as_ref()?);
            if short {
                window.credit -= left as f64;
                // One after the other.
                let leaves = window.clear.max(now + Time::from_secs_f64(wait));
                window.clear = leaves + Time::from_secs_f64(terms.wire(left) / slowest);
                let last = (left as f64).min(terms.payload) + terms.header;
                let trip = window.clear.saturating_sub(now) + way.rest(last);
                self.deliver(now, handle, end, left, trip, events);
                continue;
            }
            let cap = if paced { (most / seconds) * terms.expansion() } else { f64::INFINITY };
            // A cap above the slowest link is none.
            let cap = if cap >= slowest { f64::INFINITY } else { cap };
            return Some((part, terms.wire(part), cap));
        }
    }

    /// Seconds until the deepest queue on the way of a stream is empty once it is full, but for that of its node.
    fn deepest(&self, handle: Handle, end: End) -> f64 {
        let way = self.get(handle).and_then(|connection| connection.look(end).way.as_ref());
        let links = way.map_or(&[][..], |way| &way.links).iter().skip(1);
        links.map(|(link, _)| self.ports[link.0 as usize].depth()).fold(0.0, f64::max)
    }

    /// So many bytes of a stream leave at once. A node's own queue only holds them back: they come to the other queues
    /// of their way as fast as its interface sends. `first` says what is left of the message if this is the first
    /// burst after a pause. Returns how many seconds its last packet waits for those before it; none if it goes by
    /// packets, as do then those that it meets.
    fn note_burst(
        &mut self,
        now: Time,
        handle: Handle,
        end: End,
        (payload, first): (u64, Option<u64>),
        events: &mut EventQueue,
    ) -> Option<f64> {
        let connection = self.get(handle)?;
        let stream = connection.look(end);
        let (terms, window, rtt) = (stream.terms, stream.window, stream.rtt());
        if payload == 0 {
            return Some(0.0);
        }
        // The acknowledgement that ends a handshake goes before the first message.
        let shakes = end == End::Client && connection.connected == Some(now);
        let (data, segments) = (terms.wire(payload), libm::ceil(payload as f64 / terms.payload));
        let (wire, count) = if shakes { (data + terms.header, segments + 1.0) } else { (data, segments) };
        let sender = first.map(|left| {
            let (left, config) = (left.max(payload), connection.config(end));
            // Slow start sends a message in rounds of twice as much, so that about half of it is in the last one.
            let cwnd = window.cwnd();
            let grows = f64::midpoint(left as f64, cwnd)
                .min(left as f64)
                .min(connection.window_limit(end))
                .min(window.ssthresh.max(cwnd));
            let reach = grows.max(payload as f64) / terms.payload;
            Sender { handle, left: terms.wire(left), reach, rtt: rtt.as_secs_f64(), patience: patience(config) }
        });
        let (tight, wait) = self.burst(now, handle, end, (count, wire / count), sender);
        (!self.meet(now, tight, events)).then_some(wait)
    }

    /// Connections that meet at a queue which is too small for them go by packets. Returns whether there are any.
    pub(super) fn meet(&mut self, now: Time, tight: Vec<Handle>, events: &mut EventQueue) -> bool {
        if tight.is_empty() {
            return false;
        }
        for handle in tight {
            if let Some(connection) = self.get_mut(handle)
                && !std::mem::replace(&mut connection.enters, true)
            {
                self.at(now, handle, Due::Enters, events);
            }
        }
        true
    }

    /// So many packets of a stream, of so many bytes each, come to the queues on its way. Returns the connections that
    /// meet at queues which are too small for them, and how many seconds the last packet waits for those before it.
    pub(super) fn burst(
        &mut self,
        now: Time,
        handle: Handle,
        end: End,
        (count, size): (f64, f64),
        sender: Option<Sender>,
    ) -> (Vec<Handle>, f64) {
        let (mut met, mut wait) = (Vec::new(), 0.0_f64);
        let may = self.goes_by_packets();
        let Some(connection) = self.connections.get(FlowConnection(handle.index)) else { return (met, wait) };
        let links = connection.look(end).way.as_ref().map_or(&[][..], |way| &way.links);
        let at = now.as_secs_f64();
        let (mut start, mut seconds) = (at, 0.0_f64);
        for (place, (link, turns)) in links.iter().enumerate() {
            let (count, port) = (count / f64::from(*turns), &mut self.ports[link.0 as usize]);
            let burst = Burst { start, seconds, count, size };
            // One train of packets meets another at the first queue, and follows it through the others.
            wait = wait.max(port.wait(at, burst));
            let meets = match sender {
                _ if place == 0 => {
                    start += port.hold(at, count, size);
                    Meets::Room
                }
                None => {
                    port.burst(at, burst);
                    Meets::Room
                }
                Some(sender) => port.first_burst(at, burst, sender),
            };
            let together = match meets {
                _ if !may => false,
                Meets::Room => false,
                Meets::Overflow { spare } => {
                    let short = self.flows_less(at, *link, spare);
                    if short {
                        self.ports[link.0 as usize].tighten(at);
                    }
                    short || self.ports[link.0 as usize].is_tight(at)
                }
                Meets::Tight => true,
            };
            if together {
                met.extend(self.ports[link.0 as usize].meeting());
                met.extend(self.crossing(*link));
            }
            seconds = seconds.max(count * size / self.fluid.capacity(link.0));
        }
        (met, wait)
    }

    /// Whether what flows through a link has less than `spare` bytes left there.
    fn flows_less(&self, at: f64, link: LinkId, spare: f64) -> bool {
        let mut sum = 0.0;
        self.fluid.on(link.0).all(|id| {
            sum += self.fluid.left(at, id).unwrap_or(0.0);
            sum < spare
        })
    }
    /// Connections whose data flows through a link.
    fn crossing(&self, link: LinkId) -> impl Iterator<Item = Handle> {
        let through = move |(handle, end): &(Handle, End)| {
            let way = self.get(*handle).and_then(|connection| connection.look(*end).way.as_ref());
            way.is_some_and(|way| way.links.iter().skip(1).any(|(other, _)| *other == link))
        };
        self.fluid.on(link.0).map(|id| self.flowing[id.0 as usize]).filter(through).map(|(handle, _)| handle)
    }

    /// So much of a stream has left its slowest link.
    fn has_sent(&mut self, now: Time, handle: Handle, end: End, payload: u64, events: &mut EventQueue) {
        let Some(connection) = self.get_mut(handle) else { return };
        let stream = connection.stream(end);
        let (terms, rtt) = (stream.terms, stream.rtt());
        stream.window.active = now;
        if stream.window.size < f64::INFINITY {
            stream.window.credit -= payload as f64;
        }
        stream.sent_of_first += payload;
        let Some(&(bytes, _)) = stream.waiting.front() else { return };
        let whole = stream.sent_of_first >= bytes.get();
        if stream.window.size < f64::INFINITY && stream.window.credit < 1.0 {
            let acknowledged = stream.window.began + rtt;
            if acknowledged <= now {
                // Acknowledgements come while the window is being sent: they set the pace.
                stream.window.let_go();
            } else {
                stream.window.waits = true;
                self.at(acknowledged, handle, Due::Round(end), events);
            }
        }
        if whole {
            let last = (bytes.get() as f64).min(terms.payload) + terms.header;
            let Some(way) = self.get(handle).and_then(|connection| connection.look(end).way.as_ref()) else { return };
            let trip = way.rest(last);
            self.deliver(now, handle, end, payload, trip, events);
        } else {
            self.count(handle, end, payload);
        }
    }

    fn count(&mut self, handle: Handle, end: End, payload: u64) {
        let Some(connection) = self.get_mut(handle) else { return };
        let stream = connection.stream(end);
        stream.sent += payload;
        let wire = stream.terms.wire(payload);
        let back = wire * stream.terms.acknowledgements();
        let ends = (connection.node(end), connection.node(other(end)));
        self.network.count_sent(ends, wire, back);
    }

    /// The first message of a stream has been sent, its last part of `payload` now; that is there after `trip`.
    fn deliver(&mut self, now: Time, handle: Handle, end: End, payload: u64, trip: Time, events: &mut EventQueue) {
        self.count(handle, end, payload);
        let Some(connection) = self.get_mut(handle) else { return };
        let config = *connection.config(end);
        let stream = connection.stream(end);
        let Some((bytes, tag)) = stream.waiting.pop_front() else { return };
        (stream.sent_of_first, stream.first_counts) = (0, false);
        stream.window.active = now;
        stream.flying += 1;
        let Some(way) = &stream.way else { return };
        let (loss, back) = (way.loss, way.trip_back(stream.terms.header));
        let (rtt, segments) = (stream.rtt(), libm::ceil(bytes.get() as f64 / stream.terms.payload));
        let (last, is_last) = (stream.last, stream.waiting.is_empty());
        let deepest = self.deepest(handle, end);
        if let Some(connection) = self.get_mut(handle) {
            let limit = connection.window_limit(end);
            let window = &mut connection.stream(end).window;
            // More than its part of the path with a full queue is not in flight.
            let seconds = now.saturating_sub(window.since).as_secs_f64();
            let part = bytes.get() as f64 / seconds * (rtt.as_secs_f64() + deepest);
            window.grow(bytes.get() as f64, limit.min(part));
        }
        let mut arrival = (now + trip).max(last);
        if loss > 0.0 {
            arrival += self.recovery(&config, (loss, rtt), segments, is_last);
        }
        if let Some(connection) = self.get_mut(handle) {
            connection.stream(end).last = arrival;
        }
        self.at(arrival, handle, Due::Delivered(other(end), tag, bytes), events);
        self.at(arrival + back, handle, Due::Acknowledged(end, tag), events);
    }

    /// How much later a message of so many segments is whole because of losses: what the response function does not
    /// say. A lost segment with fewer than three behind it, the last ones of a stream, waits for a timeout (RFC 5681),
    /// which doubles while its retransmission is lost, too. One before them takes a round trip more.
    fn recovery(&mut self, config: &tcp::Config, (loss, rtt): (f64, Time), segments: f64, is_last: bool) -> Time {
        const DUPLICATES: f64 = 3.0;
        let tail = if is_last { segments.min(DUPLICATES) } else { 0.0 };
        let any = |segments: f64| 1.0 - libm::pow(1.0 - loss, segments);
        let mut late = Time::ZERO;
        if self.losses.chance(any(tail)) {
            late += limits::tail_timeout(config, rtt);
            let mut timeout = limits::timeout(config, rtt);
            for _ in 0..config.max_retries {
                if !self.losses.chance(loss) {
                    break;
                }
                timeout = (timeout * 2).min(config.max_rto);
                late += timeout;
            }
        } else if self.losses.chance(any((segments - tail).min(f64::from(config.initial_window)))) {
            late += rtt;
        }
        late
    }

    /// Acknowledgements open the next round.
    pub(super) fn next_round(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        let Some(connection) = self.get_mut(handle) else { return };
        connection.stream(end).window.waits = false;
        self.pump(now, handle, end, events);
    }

    /// Takes the flow of a stream out. What it has sent counts, but for the last bytes, up to a window.
    pub(super) fn stop(&mut self, now: Time, handle: Handle, end: End, window: f64) -> Option<u64> {
        let connection = self.get_mut(handle)?;
        let (id, payload, _) = connection.stream(end).flows.take()?;
        let expansion = connection.look(end).terms.expansion();
        let left = self.fluid.stop(now.as_secs_f64(), id).unwrap_or(0.0);
        let sent = payload.saturating_sub(units::whole(left / expansion + window));
        self.count(handle, end, sent);
        if sent > 0 {
            self.get_mut(handle)?.touch(now, other(end));
        }
        Some(sent)
    }

    /// Takes the flow of a stream out; the rest of its message is sent later.
    pub(super) fn halt(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        self.take_back(now, handle, end, 0.0, events);
    }

    /// [`Self::halt`], with what was sent last, up to a window, as if it had not been.
    pub(super) fn take_back(&mut self, now: Time, handle: Handle, end: End, window: f64, events: &mut EventQueue) {
        let Some(sent) = self.stop(now, handle, end, window) else { return };
        if let Some(connection) = self.get_mut(handle) {
            let stream = connection.stream(end);
            let whole = stream.waiting.front().map_or(0, |(bytes, _)| bytes.get());
            // Its last byte is sent again at the least, so that it ends as a message.
            stream.sent_of_first = (stream.sent_of_first + sent).min(whole.saturating_sub(1));
        }
        self.unsettle(now, events);
    }

    /// The end of a stream follows its last message.
    pub(super) fn finish_if_sent(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        let Some(connection) = self.get_mut(handle) else { return };
        let (established, delay) = (connection.connected.is_some(), connection.delay(end));
        if connection.carried.as_ref().is_some_and(|carried| carried.has_undelivered(end)) {
            return;
        }
        let stream = connection.stream(end);
        if !stream.closed || stream.finished || !stream.waiting.is_empty() || !established {
            return;
        }
        stream.finished = true;
        let at = (now + delay).max(stream.last);
        self.at(at, handle, Due::PeerClosed(other(end)), events);
    }

    /// An end with data on its way to a peer that is gone gives up after a while (RFC 1122, 4.2.3.5).
    pub(super) fn reset_if_in_vain(&mut self, now: Time, handle: Handle, end: End, events: &mut EventQueue) {
        let Some(connection) = self.get(handle) else { return };
        if connection.is_gone(other(end)) && !connection.is_gone(end) && connection.awaits(end) {
            let tcp = &connection.client;
            let timeouts = (0..=u32::from(tcp.max_retries)).map(|n| (tcp.min_rto * (1 << n.min(30))).min(tcp.max_rto));
            let patience = timeouts.fold(Time::ZERO, Time::saturating_add);
            self.at(now + patience, handle, Due::Reset(end), events);
        }
    }
}

/// Whether a message goes by itself: it takes no share of links, and waits for what is in the queues on its way. That is
/// one of a segment, and one of a few that has left before an acknowledgement could come, for which a path of so many
/// bytes has room. So are requests, answers and heartbeats: most of a cluster's messages, and few of its bytes.
fn is_short(payload: u64, terms: &Terms, path: f64) -> bool {
    const FEW: f64 = 4.0;
    let segments = payload as f64 / terms.payload;
    segments <= 1.0 || (segments <= FEW && terms.wire(payload) <= path)
}

/// In how many seconds all must pass that is short beside timeouts: ten of the least, or the first one of all.
pub(super) fn patience(config: &tcp::Config) -> f64 {
    (config.min_rto * 10).max(config.initial_rto).as_secs_f64()
}

impl Connection {
    /// Propagation from an end to the other; nothing where no path leads.
    pub(super) fn delay(&self, end: End) -> Time {
        self.look(end).way.as_ref().map_or(Time::ZERO, |way| way.delay)
    }
}
