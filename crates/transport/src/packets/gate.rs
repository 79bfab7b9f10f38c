//! TCP looks at the level of its host's transmit queue, that of the first link on its way or of its station on the air,
//! before it puts more into it.
//!
//! Endpoints behind such a queue have no room of their own: what they may send, [`Injection`] says, and who had to wait
//! is restarted when the queue has fallen below its limit. Where that will be is known of a plain link when its packets
//! are queued; a managed link and a station tell when it happens.

use super::packet::Packet;
use super::{ConnectionIndex, PacketTransport};
use des::{Event, EventQueue, Index};
use net::{Link, LinkId};
use std::collections::VecDeque;
use tcp::{Demand, Injection, InjectionLimits, Level};
use units::{BitRate, Bytes, Time};
use wifi::mac::StationId;
use wifi::mesh::Departed;

/// Event kind: a transmit queue may have fallen below its limit.
pub const GATE: u8 = 12;

/// The transmit queues that TCP watches.
#[derive(Debug)]
pub(super) struct Gates {
    /// By node, whose station has its number.
    limits: Vec<InjectionLimits>,
    /// By the link: those of the node at its beginning.
    limits_by_link: Vec<InjectionLimits>,
    /// By the link; made when it is first sent over.
    by_link: Vec<Option<Box<Gate>>>,
    /// By the station, likewise.
    by_station: Vec<Option<Box<StationGate>>>,
}

/// The transmit queue of a station.
#[derive(Debug)]
pub(super) struct StationGate {
    pub control: Injection,
    /// Bytes in it that are the node's own.
    pub bytes: u64,
    drain: Drain,
}

/// At what rate a queue drains while it is not empty: bytes over time, both forgotten exponentially.
#[derive(Clone, Copy, Debug)]
struct Drain {
    at: Time,
    bytes: f64,
    seconds: f64,
}

/// What happened so long ago counts 1/e.
const DRAIN_MEMORY_S: f64 = 0.1;

impl Drain {
    /// So far `rate`.
    fn new(rate: BitRate) -> Self {
        Self { at: Time::ZERO, bytes: rate.as_bps() as f64 / 8.0 * DRAIN_MEMORY_S, seconds: DRAIN_MEMORY_S }
    }
    /// `bytes` have left; the queue was busy before.
    fn left(&mut self, now: Time, bytes: u32) {
        let seconds = now.saturating_sub(self.at).as_secs_f64();
        let keep = libm::exp(-seconds / DRAIN_MEMORY_S);
        self.at = now;
        self.bytes = self.bytes * keep + f64::from(bytes);
        self.seconds = self.seconds * keep + seconds;
    }
    /// Time passed with nothing to send.
    fn idle(&mut self, now: Time) {
        self.at = now;
    }
    fn rate(&self) -> BitRate {
        BitRate::from_bps((self.bytes * 8.0 / self.seconds.max(1e-9)) as u64)
    }
}

/// Where an endpoint's packets wait first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Link(LinkId),
    Station(u32),
}

#[derive(Debug)]
struct Gate {
    control: Injection,
    /// When a plain link is done with a packet, whose it is and how long; in order.
    releases: VecDeque<(Time, u64, u32)>,
    /// When the pending event fires, and its number.
    armed: Time,
    event: u32,
}

impl Gates {
    /// What holds at a queue; nothing where nobody watches it.
    fn limits(&self, place: Place) -> Option<InjectionLimits> {
        let limits = match place {
            Place::Link(link) => self.limits_by_link.get(link.0 as usize),
            Place::Station(station) => self.limits.get(station as usize),
        };
        limits.copied().filter(|limits| *limits != InjectionLimits::default())
    }
    fn get(&mut self, link: LinkId) -> &mut Gate {
        let index = link.0 as usize;
        let limits = self.limits(Place::Link(link)).unwrap_or_default();
        if index >= self.by_link.len() {
            self.by_link.resize_with(index + 1, || None);
        }
        self.by_link[index].get_or_insert_with(|| {
            let control = Injection::new(limits);
            Box::new(Gate { control, releases: VecDeque::new(), armed: Time::MAX, event: 0 })
        })
    }
    fn station(&mut self, station: u32, rate: BitRate) -> &mut StationGate {
        let index = station as usize;
        let limits = self.limits(Place::Station(station)).unwrap_or_default();
        if index >= self.by_station.len() {
            self.by_station.resize_with(index + 1, || None);
        }
        self.by_station[index].get_or_insert_with(|| {
            let control = Injection::new(limits);
            Box::new(StationGate { control, bytes: 0, drain: Drain::new(rate) })
        })
    }
    /// The control of a queue.
    fn control(&mut self, place: Place) -> &mut Injection {
        match place {
            Place::Link(link) => &mut self.get(link).control,
            Place::Station(station) => &mut self.station(station, FIRST_RATE).control,
        }
    }
}

/// At what rate a station's queue is taken to drain before anything has left it.
const FIRST_RATE: BitRate = BitRate::from_mbps(10);

fn level(link: &Link, now: Time) -> Level {
    let packets = u32::try_from(link.waiting(now)).unwrap_or(u32::MAX);
    Level { packets, bytes: Bytes::new(link.waiting_bytes(now)), rate: link.drain_rate() }
}

impl PacketTransport {
    /// From now on TCP keeps to these limits at the transmit queue of each node, by node.
    pub fn set_injection_limits(&mut self, limits: Vec<InjectionLimits>) {
        let mut by_vertex = vec![InjectionLimits::default(); self.topology.vertex_count()];
        for (node, limits) in self.nodes.iter().zip(&limits) {
            by_vertex[node.vertex.as_usize()] = *limits;
        }
        let links = (0..2 * self.topology.cables().len() as u32).map(LinkId);
        let limits_by_link = links.map(|link| by_vertex[self.topology.ends(link).0.as_usize()]).collect();
        self.gates = Some(Box::new(Gates { limits, limits_by_link, by_link: Vec::new(), by_station: Vec::new() }));
    }

    /// The queue into which an endpoint sends, where its node's TCP watches it; none between processes of one node.
    fn place_of(&self, at: usize) -> Option<Place> {
        let place = if self.is_on_air(at) {
            let connection = self.connections.get(ConnectionIndex(at as u32 / 2))?;
            Place::Station(if at.is_multiple_of(2) { connection.from } else { connection.to })
        } else {
            let link = self.network.route_links(self.ports[at].route()?).next()?;
            let (from, to) = self.topology.ends(link);
            (from != to).then_some(Place::Link(link))?
        };
        self.gates.as_ref()?.limits(place).map(|_| place)
    }
    /// The same, where that is a link.
    fn queue_of(&self, at: usize) -> Option<LinkId> {
        match self.place_of(at)? {
            Place::Link(link) => Some(link),
            Place::Station(_) => None,
        }
    }
    /// Whether TCP watches a station's queue.
    pub(super) fn watches_station(&self, station: u32) -> bool {
        self.gates.as_ref().is_some_and(|gates| gates.limits(Place::Station(station)).is_some())
    }
    fn flow_of(&self, at: usize) -> u64 {
        u64::from(self.ports[at].generation) << 32 | at as u64
    }
    fn demand(&self, flow: u64) -> Option<Demand> {
        let at = flow as u32 as usize;
        if self.flow_of(at) != flow || !self.endpoints[at].is_held() {
            return None;
        }
        Some(self.demand_of(at))
    }
    fn demand_of(&self, at: usize) -> Demand {
        let endpoint = &self.endpoints[at];
        let segment = endpoint.window().mss + tcp::BASE_HEADER + self.framing;
        Demand { flow: self.flow_of(at), segment, pace: endpoint.pace() }
    }

    fn level_of(&mut self, now: Time, place: Place) -> Level {
        match place {
            Place::Link(link) => level(self.network.link(link), now),
            Place::Station(station) => {
                let id = StationId(station);
                let (packets, forwarding) =
                    self.air().map_or((0, 0), |air| (air.transmit_queue(id) as u32, air.forwarding(id)));
                let Some(gates) = &mut self.gates else {
                    return Level { packets, bytes: Bytes::ZERO, rate: FIRST_RATE };
                };
                let gate = gates.station(station, FIRST_RATE);
                Level { packets, bytes: Bytes::new(gate.bytes + forwarding), rate: gate.drain.rate() }
            }
        }
    }

    /// Before an endpoint is called: what it may send in the course of that. Who comes after others that wait, waits
    /// too.
    pub(super) fn look_for_room(&mut self, now: Time, at: usize) {
        let Some(place) = self.place_of(at) else { return self.endpoints[at].set_room(None) };
        let (level, demand) = (self.level_of(now, place), self.demand_of(at));
        let Some(gates) = &mut self.gates else { return };
        let control = gates.control(place);
        let room = if control.held() > 0 { 0 } else { control.room(&level, &demand) };
        self.endpoints[at].set_room(Some(room));
    }

    /// After it: whether it has to wait, and who else need not any more.
    pub(super) fn keep_level(&mut self, now: Time, at: usize, events: &mut EventQueue) {
        let Some(place) = self.place_of(at) else { return };
        let flow = self.flow_of(at);
        let held = self.endpoints[at].is_held();
        let Some(gates) = &mut self.gates else { return };
        if held {
            gates.control(place).hold(flow);
        }
        match place {
            Place::Link(link) => self.restart_held(now, link, events),
            Place::Station(station) => self.restart_at_station(now, station, events),
        }
    }

    /// Gives what an endpoint sends to the network, and says which flow has what in its queue.
    pub(super) fn hand_over_counted(&mut self, now: Time, at: usize, events: &mut EventQueue) {
        let (link, flow) = (self.queue_of(at), self.flow_of(at));
        let managed = link.is_some_and(|link| self.network.link(link).is_managed());
        if let Some(link) = link.filter(|_| managed) {
            self.network.watch_releases(link);
        }
        let segments = std::mem::take(&mut self.out.segments);
        for segment in &segments {
            let dropped = link.map_or(0, |link| self.network.link(link).counters().drops);
            let packet = Packet { segment: *segment, to: at as u32 ^ 1, generation: self.ports[at].generation };
            let bytes = segment.wire_bytes() + self.framing;
            self.network.send(now, &packet, (packet.to, bytes), self.ports[at].route(), events);
            if let (Some(link), Some(gates)) = (link, &mut self.gates)
                && segment.len > 0
            {
                let (gate, queue) = (gates.get(link), self.network.link(link));
                if managed {
                    gate.control.injected(flow, bytes);
                } else if queue.counters().drops == dropped {
                    gate.control.injected(flow, bytes);
                    gate.releases.push_back((queue.free_at(), flow, bytes));
                }
            }
        }
        self.out.segments = segments;
    }
    /// Whether it matters which flow has what in its queue.
    pub(super) fn counts_flows(&self) -> bool {
        self.gates.as_ref().is_some_and(|gates| gates.limits.iter().any(|limits| limits.per_flow.is_some()))
    }

    /// Time has come to look at a queue.
    pub fn on_gate(&mut self, event: &Event, events: &mut EventQueue) {
        let link = LinkId(event.index);
        let Some(gates) = &mut self.gates else { return };
        let gate = gates.get(link);
        if gate.event == event.arg {
            gate.armed = Time::MAX;
            self.restart_held(event.time(), link, events);
        }
    }
    /// Something has happened to a link that may have emptied its queue.
    pub(super) fn look_at_queue(&mut self, now: Time, link: LinkId, events: &mut EventQueue) {
        let known =
            self.gates.as_ref().and_then(|gates| gates.by_link.get(link.0 as usize)).is_some_and(Option::is_some);
        if known {
            self.restart_held(now, link, events);
        }
    }

    /// The same of any link: routes have changed.
    pub(super) fn look_at_all_queues(&mut self, now: Time, events: &mut EventQueue) {
        for link in 0..self.gates.as_ref().map_or(0, |gates| gates.by_link.len() as u32) {
            self.look_at_queue(now, LinkId(link), events);
        }
    }

    /// Lets who waits inject a segment each in turn, as long as there is room; then sees to it that the queue is looked
    /// at again.
    fn restart_held(&mut self, now: Time, link: LinkId, events: &mut EventQueue) {
        let Some(mut gates) = self.gates.take() else { return };
        for packet in self.network.take_released() {
            // A packet names the endpoint that it goes to.
            let flow = u64::from(packet.generation) << 32 | u64::from(packet.to ^ 1);
            if packet.segment.len > 0 {
                gates.get(link).control.released(flow, packet.segment.wire_bytes() + self.framing);
            }
        }
        self.gates = Some(gates);
        loop {
            let level = level(self.network.link(link), now);
            let Some(mut gates) = self.gates.take() else { return };
            let gate = gates.get(link);
            while let Some((at, flow, bytes)) = gate.releases.front().copied()
                && at <= now
            {
                gate.releases.pop_front();
                gate.control.released(flow, bytes);
            }
            let next = gate.control.next(&level, |flow| self.demand(flow));
            self.gates = Some(gates);
            let Some(flow) = next else { break };
            self.restart(now, flow, events);
            let at = flow as u32 as usize;
            if self.flow_of(at) == flow
                && self.endpoints[at].is_held()
                && let Some(gates) = &mut self.gates
            {
                gates.get(link).control.hold(flow);
            }
        }
        self.arm_gate(now, link, events);
    }

    /// A segment has gone into a station's queue.
    pub(super) fn injected_at_station(&mut self, now: Time, station: u32, at: usize, bytes: u32) {
        let flow = self.flow_of(at);
        let forwarding = self.air().map_or(0, |air| air.forwarding(StationId(station)));
        if let Some(gates) = &mut self.gates {
            let gate = gates.station(station, FIRST_RATE);
            if gate.bytes + forwarding == 0 {
                gate.drain.idle(now);
            }
            gate.bytes += u64::from(bytes);
            gate.control.injected(flow, bytes);
        }
    }
    /// A segment has left it: one of the node's own, or one that it passes on.
    pub(super) fn released_at_station(&mut self, now: Time, departed: &Departed<Packet>) {
        let Departed { packet, at, forwarded } = departed;
        // A packet names the endpoint that it goes to.
        let flow = u64::from(packet.generation) << 32 | u64::from(packet.to ^ 1);
        if let Some(gates) = &mut self.gates {
            let gate = gates.station(at.0, FIRST_RATE);
            let bytes = packet.segment.wire_bytes();
            gate.drain.left(now, bytes);
            if !forwarded {
                gate.bytes = gate.bytes.saturating_sub(u64::from(bytes));
                gate.control.released(flow, bytes);
            }
        }
    }
    /// The stations at which somebody waits.
    pub(super) fn restart_at_stations(&mut self, now: Time, events: &mut EventQueue) {
        let stations = self.gates.as_ref().map_or(0, |gates| gates.by_station.len() as u32);
        for station in 0..stations {
            self.restart_at_station(now, station, events);
        }
    }
    fn restart_at_station(&mut self, now: Time, station: u32, events: &mut EventQueue) {
        loop {
            let waits =
                |gates: &Gates| gates.by_station.get(station as usize)?.as_ref().map(|gate| gate.control.held());
            if self.gates.as_deref().and_then(waits).unwrap_or(0) == 0 {
                return;
            }
            let level = self.level_of(now, Place::Station(station));
            let Some(mut gates) = self.gates.take() else { return };
            let next = gates.station(station, FIRST_RATE).control.next(&level, |flow| self.demand(flow));
            self.gates = Some(gates);
            let Some(flow) = next else { return };
            self.restart(now, flow, events);
            let at = flow as u32 as usize;
            if self.flow_of(at) == flow
                && self.endpoints[at].is_held()
                && let Some(gates) = &mut self.gates
            {
                gates.station(station, FIRST_RATE).control.hold(flow);
            }
        }
    }
    /// Lets an endpoint inject one segment.
    fn restart(&mut self, now: Time, flow: u64, events: &mut EventQueue) {
        let at = flow as u32 as usize;
        self.endpoints[at].set_room(Some(1));
        self.endpoints[at].resume(now, &mut self.out);
        self.carry_out(now, at, events);
        if self.flow_of(at) == flow {
            self.endpoints[at].set_room(Some(0));
        }
    }

    fn arm_gate(&mut self, now: Time, link: LinkId, events: &mut EventQueue) {
        let queue = self.network.link(link);
        let level = level(queue, now);
        let Some(gates) = &mut self.gates else { return };
        let gate = gates.get(link);
        if gate.control.held() == 0 {
            return;
        }
        let mut at = gate.releases.front().map_or(Time::MAX, |(at, _, _)| *at);
        if !queue.is_managed() && level.packets > 0 {
            let below = gate.control.restart_level().min(level.packets);
            at = at.min(queue.waiting_below(now, below as usize));
        }
        if at < gate.armed {
            gate.armed = at;
            gate.event = gate.event.wrapping_add(1);
            events.push(at.max(now), GATE, link.0, gate.event);
        }
    }

    /// A connection is gone, and its places are another's from now on.
    pub(super) fn forget_flows(&mut self, index: ConnectionIndex) {
        if self.gates.is_none() {
            return;
        }
        for at in [2 * index.0 as usize, 2 * index.0 as usize + 1] {
            let (place, flow) = (self.place_of(at), self.flow_of(at));
            if let (Some(place), Some(gates)) = (place, &mut self.gates) {
                gates.control(place).forget(flow);
            }
        }
    }
}
