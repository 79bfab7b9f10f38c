//! Back-pressure from a host's transmit queue to TCP (Lee 2014; Linux's TSQ and BQL have the same purpose).
//!
//! The transmit queue is that of the first link on a connection's path, or that of the node's wireless station. Before
//! an endpoint sends, [`TransmitQueueLimiter`] says how many segments the queue admits. An endpoint that must wait is
//! held, and restarted when the queue has fallen below its limit. For a plain link that time is known as soon as its
//! packets are queued. A managed link and a station report each departure.

use super::packet::Packet;
use super::{ConnectionIndex, PacketTransport};
use des::{Event, EventQueue, Index};
use net::{Link, LinkId};
use std::collections::VecDeque;
use tcp::{Demand, Level, TransmitQueueLimiter, TransmitQueueLimits};
use units::{BitRate, Bytes, Time};
use wifi::mac::StationId;
use wifi::mesh::Departed;

/// Event kind: a transmit queue may have fallen below its limit.
pub const QUEUE_ROOM: u8 = 12;

/// The transmit queues that TCP watches.
#[derive(Debug)]
pub(super) struct BackPressure {
    /// By node; a node's station has the same number.
    limits: Vec<TransmitQueueLimits>,
    /// By link: the limits of the node that sends on it.
    limits_by_link: Vec<TransmitQueueLimits>,
    /// By link; allocated at the first packet.
    by_link: Vec<Option<Box<WatchedLink>>>,
    /// By station; allocated at the first packet.
    by_station: Vec<Option<Box<WatchedStation>>>,
}

/// The transmit queue of a station.
#[derive(Debug)]
pub(super) struct WatchedStation {
    pub control: TransmitQueueLimiter,
    /// Bytes in the queue from the node's own connections.
    pub bytes: u64,
    drain: Drain,
}

/// Drain rate of a queue while it is not empty: bytes over time, both decaying exponentially.
#[derive(Clone, Copy, Debug)]
struct Drain {
    at: Time,
    bytes: f64,
    seconds: f64,
}

/// Time constant of the drain rate in seconds: a departure this long ago weighs 1/e.
const DRAIN_MEMORY_S: f64 = 0.1;

impl Drain {
    /// Starts at `rate`.
    fn new(rate: BitRate) -> Self {
        Self { at: Time::ZERO, bytes: rate.as_bps() as f64 / 8.0 * DRAIN_MEMORY_S, seconds: DRAIN_MEMORY_S }
    }
    /// `bytes` have left a queue that was not empty.
    fn left(&mut self, now: Time, bytes: u32) {
        let seconds = now.saturating_sub(self.at).as_secs_f64();
        let keep = libm::exp(-seconds / DRAIN_MEMORY_S);
        self.at = now;
        self.bytes = self.bytes * keep + f64::from(bytes);
        self.seconds = self.seconds * keep + seconds;
    }
    /// The queue was empty until `now`.
    fn idle(&mut self, now: Time) {
        self.at = now;
    }
    fn rate(&self) -> BitRate {
        BitRate::from_bps((self.bytes * 8.0 / self.seconds.max(1e-9)) as u64)
    }
}

/// The first queue on an endpoint's path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Link(LinkId),
    Station(u32),
}

#[derive(Debug)]
struct WatchedLink {
    control: TransmitQueueLimiter,
    /// Departures from a plain link, in order: time, flow, bytes.
    releases: VecDeque<(Time, u64, u32)>,
    /// Time and number of the pending event.
    armed: Time,
    event: u32,
}

impl BackPressure {
    /// The limits of a queue; `None` where TCP does not watch it.
    fn limits(&self, place: Place) -> Option<TransmitQueueLimits> {
        let limits = match place {
            Place::Link(link) => self.limits_by_link.get(link.0 as usize),
            Place::Station(station) => self.limits.get(station as usize),
        };
        limits.copied().filter(|limits| *limits != TransmitQueueLimits::default())
    }
    fn get(&mut self, link: LinkId) -> &mut WatchedLink {
        let index = link.0 as usize;
        let limits = self.limits(Place::Link(link)).unwrap_or_default();
        if index >= self.by_link.len() {
            self.by_link.resize_with(index + 1, || None);
        }
        self.by_link[index].get_or_insert_with(|| {
            let control = TransmitQueueLimiter::new(limits);
            Box::new(WatchedLink { control, releases: VecDeque::new(), armed: Time::MAX, event: 0 })
        })
    }
    fn station(&mut self, station: u32, rate: BitRate) -> &mut WatchedStation {
        let index = station as usize;
        let limits = self.limits(Place::Station(station)).unwrap_or_default();
        if index >= self.by_station.len() {
            self.by_station.resize_with(index + 1, || None);
        }
        self.by_station[index].get_or_insert_with(|| {
            let control = TransmitQueueLimiter::new(limits);
            Box::new(WatchedStation { control, bytes: 0, drain: Drain::new(rate) })
        })
    }
    /// Admission control of a queue.
    fn control(&mut self, place: Place) -> &mut TransmitQueueLimiter {
        match place {
            Place::Link(link) => &mut self.get(link).control,
            Place::Station(station) => &mut self.station(station, FIRST_RATE).control,
        }
    }
}

/// Drain rate assumed of a station's queue before its first departure.
const FIRST_RATE: BitRate = BitRate::from_mbps(10);

fn level(link: &Link, now: Time) -> Level {
    let packets = u32::try_from(link.waiting(now)).unwrap_or(u32::MAX);
    Level { packets, bytes: Bytes::new(link.waiting_bytes(now)), rate: link.drain_rate() }
}

impl PacketTransport {
    /// Sets the limits of each node's transmit queue, by node. TCP keeps to them from now on.
    pub fn set_transmit_queue_limits(&mut self, limits: Vec<TransmitQueueLimits>) {
        let mut by_vertex = vec![TransmitQueueLimits::default(); self.topology.vertex_count()];
        for (node, limits) in self.nodes.iter().zip(&limits) {
            by_vertex[node.vertex.as_usize()] = *limits;
        }
        let links = (0..2 * self.topology.cables().len() as u32).map(LinkId);
        let limits_by_link = links.map(|link| by_vertex[self.topology.ends(link).0.as_usize()]).collect();
        self.back_pressure =
            Some(Box::new(BackPressure { limits, limits_by_link, by_link: Vec::new(), by_station: Vec::new() }));
    }

    /// The transmit queue of an endpoint; `None` where TCP does not watch it, or both ends are on one node.
    fn place_of(&self, at: usize) -> Option<Place> {
        let place = if self.is_on_air(at) {
            let connection = self.connections.get(ConnectionIndex(at as u32 / 2))?;
            Place::Station(if at.is_multiple_of(2) { connection.from } else { connection.to })
        } else {
            let link = self.network.route_links(self.ports[at].route()?).next()?;
            let (from, to) = self.topology.ends(link);
            (from != to).then_some(Place::Link(link))?
        };
        self.back_pressure.as_ref()?.limits(place).map(|_| place)
    }
    /// The transmit queue of an endpoint, if it is a link's.
    fn queue_of(&self, at: usize) -> Option<LinkId> {
        match self.place_of(at)? {
            Place::Link(link) => Some(link),
            Place::Station(_) => None,
        }
    }
    /// Whether TCP watches a station's queue.
    pub(super) fn watches_station(&self, station: u32) -> bool {
        self.back_pressure.as_ref().is_some_and(|pressure| pressure.limits(Place::Station(station)).is_some())
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
                let Some(pressure) = &mut self.back_pressure else {
                    return Level { packets, bytes: Bytes::ZERO, rate: FIRST_RATE };
                };
                let watched = pressure.station(station, FIRST_RATE);
                Level { packets, bytes: Bytes::new(watched.bytes + forwarding), rate: watched.drain.rate() }
            }
        }
    }

    /// Before an endpoint is called: sets how many segments it may send. None while other endpoints are held at the
    /// same queue.
    pub(super) fn look_for_room(&mut self, now: Time, at: usize) {
        let Some(place) = self.place_of(at) else { return self.endpoints[at].set_room(None) };
        let (level, demand) = (self.level_of(now, place), self.demand_of(at));
        let Some(pressure) = &mut self.back_pressure else { return };
        let control = pressure.control(place);
        let room = if control.held() > 0 { 0 } else { control.room(&level, &demand) };
        self.endpoints[at].set_room(Some(room));
    }

    /// After an endpoint was called: holds it if it has more to send, and restarts held endpoints that have room.
    pub(super) fn keep_level(&mut self, now: Time, at: usize, events: &mut EventQueue) {
        let Some(place) = self.place_of(at) else { return };
        let flow = self.flow_of(at);
        let held = self.endpoints[at].is_held();
        let Some(pressure) = &mut self.back_pressure else { return };
        if held {
            pressure.control(place).hold(flow);
        }
        match place {
            Place::Link(link) => self.restart_held(now, link, events),
            Place::Station(station) => self.restart_at_station(now, station, events),
        }
    }

    /// Sends an endpoint's segments, and counts each flow's bytes in the transmit queue.
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
            if let (Some(link), Some(pressure)) = (link, &mut self.back_pressure)
                && segment.len > 0
            {
                let (watched, queue) = (pressure.get(link), self.network.link(link));
                if managed {
                    watched.control.enqueued(flow, bytes);
                } else if queue.counters().drops == dropped {
                    watched.control.enqueued(flow, bytes);
                    watched.releases.push_back((queue.free_at(), flow, bytes));
                }
            }
        }
        self.out.segments = segments;
    }
    /// Whether any limit is per flow, so that each flow's bytes must be counted.
    pub(super) fn counts_flows(&self) -> bool {
        self.back_pressure
            .as_ref()
            .is_some_and(|pressure| pressure.limits.iter().any(|limits| limits.per_flow.is_some()))
    }

    /// Handles a [`QUEUE_ROOM`] event.
    pub fn on_queue_room(&mut self, event: &Event, events: &mut EventQueue) {
        let link = LinkId(event.index);
        let Some(pressure) = &mut self.back_pressure else { return };
        let watched = pressure.get(link);
        if watched.event == event.arg {
            watched.armed = Time::MAX;
            self.restart_held(event.time(), link, events);
        }
    }
    /// Restarts held endpoints of a link whose queue may have fallen.
    pub(super) fn look_at_queue(&mut self, now: Time, link: LinkId, events: &mut EventQueue) {
        let known = self
            .back_pressure
            .as_ref()
            .and_then(|pressure| pressure.by_link.get(link.0 as usize))
            .is_some_and(Option::is_some);
        if known {
            self.restart_held(now, link, events);
        }
    }

    /// Restarts held endpoints of all links, after a change of routes.
    pub(super) fn look_at_all_queues(&mut self, now: Time, events: &mut EventQueue) {
        for link in 0..self.back_pressure.as_ref().map_or(0, |pressure| pressure.by_link.len() as u32) {
            self.look_at_queue(now, LinkId(link), events);
        }
    }

    /// Lets held endpoints send one segment each in turn while the queue has room, then arms the next event.
    fn restart_held(&mut self, now: Time, link: LinkId, events: &mut EventQueue) {
        let Some(mut pressure) = self.back_pressure.take() else { return };
        for packet in self.network.take_released() {
            // A packet names its receiving endpoint; the sender is the other one of the pair.
            let flow = u64::from(packet.generation) << 32 | u64::from(packet.to ^ 1);
            if packet.segment.len > 0 {
                pressure.get(link).control.dequeued(flow, packet.segment.wire_bytes() + self.framing);
            }
        }
        self.back_pressure = Some(pressure);
        loop {
            let level = level(self.network.link(link), now);
            let Some(mut pressure) = self.back_pressure.take() else { return };
            let watched = pressure.get(link);
            while let Some((at, flow, bytes)) = watched.releases.front().copied()
                && at <= now
            {
                watched.releases.pop_front();
                watched.control.dequeued(flow, bytes);
            }
            let next = watched.control.next(&level, |flow| self.demand(flow));
            self.back_pressure = Some(pressure);
            let Some(flow) = next else { break };
            self.restart(now, flow, events);
            let at = flow as u32 as usize;
            if self.flow_of(at) == flow
                && self.endpoints[at].is_held()
                && let Some(pressure) = &mut self.back_pressure
            {
                pressure.get(link).control.hold(flow);
            }
        }
        self.arm_link(now, link, events);
    }

    /// A segment was put into a station's queue.
    pub(super) fn enqueued_at_station(&mut self, now: Time, station: u32, at: usize, bytes: u32) {
        let flow = self.flow_of(at);
        let forwarding = self.air().map_or(0, |air| air.forwarding(StationId(station)));
        if let Some(pressure) = &mut self.back_pressure {
            let watched = pressure.station(station, FIRST_RATE);
            if watched.bytes + forwarding == 0 {
                watched.drain.idle(now);
            }
            watched.bytes += u64::from(bytes);
            watched.control.enqueued(flow, bytes);
        }
    }
    /// A packet has left a station's queue: the node's own, or a forwarded one.
    pub(super) fn dequeued_at_station(&mut self, now: Time, departed: &Departed<Packet>) {
        let Departed { packet, at, forwarded } = departed;
        // A packet names its receiving endpoint; the sender is the other one of the pair.
        let flow = u64::from(packet.generation) << 32 | u64::from(packet.to ^ 1);
        if let Some(pressure) = &mut self.back_pressure {
            let watched = pressure.station(at.0, FIRST_RATE);
            let bytes = packet.segment.wire_bytes();
            watched.drain.left(now, bytes);
            if !forwarded {
                watched.bytes = watched.bytes.saturating_sub(u64::from(bytes));
                watched.control.dequeued(flow, bytes);
            }
        }
    }
    /// Restarts held endpoints of all stations.
    pub(super) fn restart_at_stations(&mut self, now: Time, events: &mut EventQueue) {
        let stations = self.back_pressure.as_ref().map_or(0, |pressure| pressure.by_station.len() as u32);
        for station in 0..stations {
            self.restart_at_station(now, station, events);
        }
    }
    fn restart_at_station(&mut self, now: Time, station: u32, events: &mut EventQueue) {
        loop {
            let waits = |pressure: &BackPressure| {
                pressure.by_station.get(station as usize)?.as_ref().map(|watched| watched.control.held())
            };
            if self.back_pressure.as_deref().and_then(waits).unwrap_or(0) == 0 {
                return;
            }
            let level = self.level_of(now, Place::Station(station));
            let Some(mut pressure) = self.back_pressure.take() else { return };
            let next = pressure.station(station, FIRST_RATE).control.next(&level, |flow| self.demand(flow));
            self.back_pressure = Some(pressure);
            let Some(flow) = next else { return };
            self.restart(now, flow, events);
            let at = flow as u32 as usize;
            if self.flow_of(at) == flow
                && self.endpoints[at].is_held()
                && let Some(pressure) = &mut self.back_pressure
            {
                pressure.station(station, FIRST_RATE).control.hold(flow);
            }
        }
    }
    /// Lets an endpoint send one segment.
    fn restart(&mut self, now: Time, flow: u64, events: &mut EventQueue) {
        let at = flow as u32 as usize;
        self.endpoints[at].set_room(Some(1));
        self.endpoints[at].resume(now, &mut self.out);
        self.carry_out(now, at, events);
        if self.flow_of(at) == flow {
            self.endpoints[at].set_room(Some(0));
        }
    }

    fn arm_link(&mut self, now: Time, link: LinkId, events: &mut EventQueue) {
        let queue = self.network.link(link);
        let level = level(queue, now);
        let Some(pressure) = &mut self.back_pressure else { return };
        let watched = pressure.get(link);
        if watched.control.held() == 0 {
            return;
        }
        let mut at = watched.releases.front().map_or(Time::MAX, |(at, _, _)| *at);
        if !queue.is_managed() && level.packets > 0 {
            let below = watched.control.restart_level().min(level.packets);
            at = at.min(queue.waiting_below(now, below as usize));
        }
        if at < watched.armed {
            watched.armed = at;
            watched.event = watched.event.wrapping_add(1);
            events.push(at.max(now), QUEUE_ROOM, link.0, watched.event);
        }
    }

    /// Removes a connection's flows from admission control.
    pub(super) fn forget_flows(&mut self, index: ConnectionIndex) {
        if self.back_pressure.is_none() {
            return;
        }
        for at in [2 * index.0 as usize, 2 * index.0 as usize + 1] {
            let (place, flow) = (self.place_of(at), self.flow_of(at));
            if let (Some(place), Some(pressure)) = (place, &mut self.back_pressure) {
                pressure.control(place).forget(flow);
            }
        }
    }
}
