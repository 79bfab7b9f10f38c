//! Packets between nodes that are wireless stations.

use super::packet::Packet;
use super::wireless::{GivenUp, Wireless};
use super::{ConnectionIndex, PacketTransport};
use des::{Event, EventQueue, Index};
use net::Packet as _;
use units::Time;
use wifi::energy::RadioTimes;
use wifi::mac::StationId;
use wifi::medium::{Delivered, Traffic};
use wifi::phy::AccessCategory;

/// The wireless network between nodes, with counters per station.
#[derive(Debug)]
pub(super) struct Air {
    wireless: Wireless,
    counts: Vec<StationCounts>,
    /// Reused for what has arrived.
    arrived: Vec<Delivered<Packet>>,
    /// Packets that stations have given up and that no connection has counted yet: endpoint and its generation.
    drops: Vec<(u32, u32)>,
    /// Reused for what stations have given up.
    given_up: Vec<GivenUp>,
    moves: Vec<Association>,
}

/// A client has joined an access point, or lost it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Association {
    /// When it joined or left.
    pub at: Time,
    /// The client, by its number among stations.
    pub client: u32,
    /// The access point that it has joined; `None` when it has lost its last one.
    pub access_point: Option<u32>,
}

/// Counters of a station's interface. Bytes are those of IP packets.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StationCounts {
    /// Packets from this station that arrived; at an access point, packets relayed to their receivers.
    pub carried: u64,
    /// Their bytes.
    pub carried_bytes: u64,
    /// Bytes of packets that have arrived here.
    pub received_bytes: u64,
    /// Packets dropped by its queue: the queue was full, or they waited too long.
    pub dropped: u64,
    /// Packets given up by its MAC: retry limit, lifetime, or no receiver.
    pub lost: u64,
}

impl Air {
    /// Counts the packets that stations have given up.
    fn count_dropped(&mut self) {
        self.wireless.take_given_up(&mut self.given_up);
        for GivenUp { packet, at, by_queue } in self.given_up.drain(..) {
            let counts = &mut self.counts[at.as_usize()];
            if by_queue {
                counts.dropped += 1;
            } else {
                counts.lost += 1;
            }
            self.drops.push((packet.to, packet.generation));
        }
    }
    fn count_delivered(&mut self) {
        self.arrived.extend(self.wireless.take_delivered());
        for delivered in &self.arrived {
            let bytes = u64::from(delivered.packet.segment.wire_bytes());
            let counts = &mut self.counts[delivered.from.as_usize()];
            counts.carried += 1;
            counts.carried_bytes += bytes;
            self.counts[delivered.at.as_usize()].received_bytes += bytes;
            if let Some(point) = self.wireless.access_point(delivered.at) {
                let relay = &mut self.counts[point.as_usize()];
                relay.carried += 1;
                relay.carried_bytes += bytes;
            }
        }
    }
}

impl PacketTransport {
    /// Sends packets between nodes over `wireless` from now on. Its first stations are the nodes, in order.
    pub fn set_air(&mut self, mut wireless: Wireless, events: &mut EventQueue) {
        wireless.start(events);
        let counts = vec![StationCounts::default(); wireless.len()];
        let (arrived, drops, given_up, moves) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        self.air = Some(Box::new(Air { wireless, counts, arrived, drops, given_up, moves }));
    }
    /// The air, where nodes are on it.
    pub fn air(&self) -> Option<&Wireless> {
        self.air.as_ref().map(|air| &air.wireless)
    }
    /// Counters of stations, the nodes' first. Empty where nodes are wired.
    pub fn stations(&self) -> &[StationCounts] {
        self.air.as_ref().map_or(&[], |air| &air.counts)
    }
    /// Time that a node's radio has spent in each state; `None` where nodes are wired.
    pub fn radio_times(&self, node: u32) -> Option<&RadioTimes> {
        Some(self.air()?.radio_times(StationId(node)))
    }
    /// All changes of association so far, in order of time.
    pub fn associations(&self) -> &[Association] {
        self.air.as_ref().map_or(&[], |air| &air.moves)
    }
    /// Packets that stations have given up since the last call: endpoint and its generation.
    pub(super) fn take_air_drops(&mut self) -> Vec<(u32, u32)> {
        self.air.as_mut().map_or_else(Vec::new, |air| std::mem::take(&mut air.drops))
    }

    /// Whether an endpoint's packets go through the air: not those to a process of the same node.
    #[inline]
    pub(super) fn is_on_air(&self, at: usize) -> bool {
        self.air.is_some() && self.ports[at].route().is_none()
    }

    /// Handles an event of the wireless network.
    pub fn on_air(&mut self, event: &Event, events: &mut EventQueue) {
        let Some(air) = &mut self.air else { return };
        air.wireless.on_event(event, events);
        self.note_moves(event.time());
        self.deliver_from_air(event.time(), events);
    }
    /// A station, a node's or after these an access point, is switched off or on.
    pub fn set_station(&mut self, now: Time, station: u32, on: bool, events: &mut EventQueue) {
        let Some(air) = &mut self.air else { return };
        air.wireless.set_power(now, StationId(station), on, events);
        self.note_moves(now);
        self.deliver_from_air(now, events);
    }
    fn note_moves(&mut self, now: Time) {
        let Some(air) = &mut self.air else { return };
        let moved = |(client, point): (StationId, Option<StationId>)| Association {
            at: now,
            client: client.0,
            access_point: point.map(|point| point.0),
        };
        air.moves.extend(air.wireless.take_moves().into_iter().map(moved));
    }

    /// Hands what an endpoint sends to its node's station.
    pub(super) fn hand_to_air(&mut self, now: Time, at: usize, events: &mut EventQueue) {
        let Some(connection) = self.connections.get(ConnectionIndex(at as u32 / 2)) else {
            self.out.segments.clear();
            return;
        };
        let ends = [connection.from, connection.to].map(|node| StationId::from_usize(node as usize));
        let way = if at.is_multiple_of(2) { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
        let generation = self.ports[at].generation;
        let watched = self.watches_station(way.0.0);
        let segments = std::mem::take(&mut self.out.segments);
        for segment in segments.iter().copied().filter(|_| watched) {
            self.enqueued_at_station(now, way.0.0, at, segment.wire_bytes());
        }
        let Some(air) = &mut self.air else { return };
        if watched {
            air.wireless.watch_departures();
        }
        for segment in segments.iter().copied() {
            let packet = Packet { segment, to: at as u32 ^ 1, generation };
            let ecn = packet.ecn();
            let (bytes, category) = (segment.wire_bytes(), AccessCategory::BestEffort);
            let traffic = Traffic { bytes, category, flow: packet.to, ecn };
            air.wireless.send(now, packet, way, traffic, events);
        }
        // A full queue drops packets at once.
        air.count_dropped();
        self.out.segments = segments;
        self.out.segments.clear();
    }

    /// Delivers arrived packets to their endpoints.
    fn deliver_from_air(&mut self, now: Time, events: &mut EventQueue) {
        let Some(air) = &mut self.air else { return };
        air.count_delivered();
        air.count_dropped();
        let mut arrived = std::mem::take(&mut air.arrived);
        for Delivered { mut packet, marked, .. } in arrived.drain(..) {
            if marked {
                packet.mark();
            }
            self.receive(now, packet.to as usize, &packet, events);
        }
        if let Some(air) = &mut self.air {
            air.arrived = arrived;
        }
        if self.back_pressure.is_some() {
            self.report_departures(now, events);
        }
    }

    /// Tells the back-pressure which packets have left stations' queues, and restarts held connections.
    fn report_departures(&mut self, now: Time, events: &mut EventQueue) {
        let Some(air) = &mut self.air else { return };
        let released = air.wireless.take_departed();
        for departed in &released {
            if self.watches_station(departed.at.0) {
                self.dequeued_at_station(now, departed);
            }
        }
        // A driver takes frames out of the queue before anything is acknowledged.
        self.restart_at_stations(now, events);
    }
}
