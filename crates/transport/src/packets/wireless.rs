//! The wireless network below TCP: one hop, by way of access points, or multi-hop over routers.

use super::packet::Packet;
use des::{Event, EventQueue, Occupancy};
use net::Ledger;
use units::Time;
use wifi::energy::RadioTimes;
use wifi::mac::{Reason, Station, StationId};
use wifi::medium::{Delivered, FrameRecord, Medium, Traffic};
use wifi::mesh::{Departed, Lost, Mesh};

/// The wireless network: stations on a medium, with or without routers above their MACs.
#[derive(Debug)]
pub enum Wireless {
    /// One hop: to stations in range, or by way of access points.
    Direct(Box<Medium<Packet>>),
    /// Multi-hop: other stations forward.
    Routed(Box<Mesh<Packet>>),
}

/// A packet that was given up.
#[derive(Clone, Copy, Debug)]
pub(super) struct GivenUp {
    pub packet: Packet,
    /// The station that had it.
    pub at: StationId,
    /// A queue dropped it, full or too slow; else the MAC or the router gave it up.
    pub by_queue: bool,
}

const fn by_queue(reason: Reason) -> bool {
    matches!(reason, Reason::QueueFull | Reason::Delay)
}

impl Wireless {
    pub(super) fn start(&mut self, events: &mut EventQueue) {
        match self {
            Self::Direct(medium) => medium.start(Time::ZERO, events),
            Self::Routed(mesh) => {
                mesh.medium_mut().start(Time::ZERO, events);
                mesh.start(Time::ZERO, events);
            }
        }
    }
    pub(super) fn send(
        &mut self,
        now: Time,
        packet: Packet,
        way: (StationId, StationId),
        traffic: Traffic,
        events: &mut EventQueue,
    ) {
        match self {
            Self::Direct(medium) => medium.send(now, packet, way, traffic, events),
            Self::Routed(mesh) => mesh.send(now, packet, way, traffic, events),
        }
    }
    /// Switches a station off, or on again.
    pub(super) fn set_power(&mut self, now: Time, id: StationId, on: bool, events: &mut EventQueue) {
        match self {
            Self::Direct(medium) => medium.set_power(now, id, on, events),
            Self::Routed(mesh) => mesh.set_power(now, id, on, events),
        }
    }
    pub(super) fn on_event(&mut self, event: &Event, events: &mut EventQueue) {
        match self {
            Self::Direct(medium) => medium.on_event(event, events),
            Self::Routed(mesh) => mesh.on_event(event, events),
        }
    }
    /// Packets delivered since the last call.
    pub(super) fn take_delivered(&mut self) -> std::vec::Drain<'_, Delivered<Packet>> {
        match self {
            Self::Direct(medium) => medium.take_delivered(),
            Self::Routed(mesh) => mesh.take_delivered(),
        }
    }
    /// Appends the packets given up since the last call.
    pub(super) fn take_given_up(&mut self, given_up: &mut Vec<GivenUp>) {
        match self {
            Self::Direct(medium) => given_up.extend(medium.take_dropped().map(|dropped| GivenUp {
                packet: dropped.packet,
                at: dropped.at,
                by_queue: by_queue(dropped.reason),
            })),
            Self::Routed(mesh) => given_up.extend(mesh.take_failures().map(|failure| GivenUp {
                packet: failure.packet,
                at: failure.at,
                by_queue: matches!(failure.why, Lost::Mac(reason) if by_queue(reason)),
            })),
        }
    }
    /// Clients that have joined an access point, or lost it, since the last call.
    pub(super) fn take_moves(&mut self) -> Vec<(StationId, Option<StationId>)> {
        match self {
            Self::Direct(medium) => medium.take_moves().collect(),
            // Routing is for ad hoc stations: there are no access points.
            Self::Routed(_) => Vec::new(),
        }
    }
    /// Records departures from stations' queues from now on.
    pub(super) fn watch_departures(&mut self) {
        match self {
            Self::Direct(medium) => medium.watch_departures(),
            Self::Routed(mesh) => mesh.watch_departures(),
        }
    }
    /// Departures since the last call.
    pub(super) fn take_departed(&mut self) -> Vec<Departed<Packet>> {
        match self {
            Self::Direct(medium) => {
                medium.take_departed().map(|(at, packet)| Departed { packet, at, forwarded: false }).collect()
            }
            Self::Routed(mesh) => mesh.take_departed().collect(),
        }
    }
    /// Bytes in a station's transmit queue that it forwards for others.
    pub(super) fn forwarding(&self, id: StationId) -> u64 {
        match self {
            Self::Direct(_) => 0,
            Self::Routed(mesh) => mesh.forwarding(id),
        }
    }

    /// Packets that a station's queue has marked.
    pub fn marks(&self, id: StationId) -> u64 {
        match self {
            Self::Direct(medium) => medium.marks(id),
            Self::Routed(mesh) => mesh.medium().marks(id),
        }
    }
    /// The access point that a client is with.
    pub(super) fn access_point(&self, client: StationId) -> Option<StationId> {
        match self {
            Self::Direct(medium) => medium.access_point(client),
            Self::Routed(_) => None,
        }
    }

    /// How many stations there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Direct(medium) => medium.len(),
            Self::Routed(mesh) => mesh.medium().len(),
        }
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// A station's MAC.
    pub fn station(&self, id: StationId) -> &Station {
        match self {
            Self::Direct(medium) => medium.station(id),
            Self::Routed(mesh) => mesh.medium().station(id),
        }
    }
    /// Packets in a station's transmit queue, those that wait for a route included.
    pub fn transmit_queue(&self, id: StationId) -> usize {
        match self {
            Self::Direct(medium) => medium.transmit_queue(id),
            Self::Routed(mesh) => mesh.transmit_queue(id),
        }
    }
    /// Time that a station's radio has spent in each state.
    pub fn radio_times(&self, id: StationId) -> &RadioTimes {
        match self {
            Self::Direct(medium) => medium.radio_times(id),
            Self::Routed(mesh) => mesh.medium().radio_times(id),
        }
    }
    /// Time that a station's transmit queue has had each length.
    pub fn occupancy(&self, id: StationId) -> &Occupancy {
        match self {
            Self::Direct(medium) => medium.occupancy(id),
            Self::Routed(mesh) => mesh.medium().occupancy(id),
        }
    }
    /// A sample of the frames on the air.
    pub fn frames(&self) -> &[FrameRecord] {
        match self {
            Self::Direct(medium) => medium.frames(),
            Self::Routed(mesh) => mesh.medium().frames(),
        }
    }
    /// PPDUs put on the air so far.
    pub fn ppdus(&self) -> u64 {
        (0..self.len() as u32).map(|id| self.station(StationId(id)).counters().ppdus).sum()
    }

    /// Adds the fate of every packet to the ledger of a wired network.
    pub(super) fn add_to(&self, ledger: &mut Ledger) {
        match self {
            Self::Direct(medium) => {
                let air = medium.ledger();
                let given_up = |reason: Reason| air.dropped[reason as usize];
                let of_queues = given_up(Reason::QueueFull) + given_up(Reason::Delay);
                ledger.sent += air.accepted;
                ledger.delivered += air.delivered + air.broadcast;
                ledger.dropped += of_queues;
                ledger.no_route += given_up(Reason::Unreachable);
                ledger.lost += air.all_dropped() - of_queues - given_up(Reason::Unreachable);
                ledger.in_flight += air.held;
                ledger.slab += air.held;
            }
            Self::Routed(mesh) => {
                let mesh = mesh.ledger();
                ledger.sent += mesh.accepted + mesh.copies;
                ledger.delivered += mesh.delivered;
                ledger.lost += mesh.dropped;
                ledger.in_flight += mesh.held;
                ledger.slab += mesh.held;
            }
        }
    }
    /// Whether the wireless network's own ledgers balance.
    pub(super) fn balances(&self) -> bool {
        match self {
            Self::Direct(medium) => medium.ledger().check().is_ok(),
            Self::Routed(mesh) => mesh.ledger().check().is_ok() && mesh.medium().ledger().check().is_ok(),
        }
    }
}
