//! Stations that pass packets on: a router on top of each MAC of a [`Medium`].
//!
//! Packets carry a header of the router (`Datagram`), routing messages travel as packets of their own, to one neighbour
//! or to everyone, in the access category of network control. A router is told of a neighbour that the MAC has given up
//! on. With [`Router::SingleHop`] a mesh does what its medium does.

use crate::mac::{Reason, StationId};
use crate::medium::{Alarms, Delivered, Dropped, Medium, Traffic};
use crate::phy::AccessCategory;
use crate::routing::{Datagram, Failed, Message, Node, Output, Router, Undelivered};
use des::{Ecn, Event, EventQueue};
use std::collections::BTreeMap;
use thiserror::Error;
use units::Time;

/// Event kind: some router wants to be woken.
pub const ROUTER: u8 = 35;

/// Hops that a packet may take at most: the usual TTL of a host.
const TTL: u8 = 64;

/// A packet or routing message on the medium of a mesh.
#[derive(Clone, Copy, Debug)]
pub enum Envelope<P> {
    /// A packet with its router's header.
    Data(Datagram<Parcel<P>>),
    /// A routing message, by its number.
    Control {
        /// The message's number in the mesh.
        number: u64,
        /// Broadcast to all neighbours.
        to_all: bool,
    },
}

/// A packet, and what the MAC has to know of it.
#[derive(Clone, Copy, Debug)]
pub struct Parcel<P> {
    packet: P,
    traffic: Traffic,
    /// The MAC of the station where it began has given it back to the router, with which it is from then on as if it
    /// came from elsewhere.
    returned: bool,
}

impl<P> Datagram<Parcel<P>> {
    /// Whether a station that has it passes it on, and has not just been given it by its own host.
    const fn is_passed_on(&self, at: StationId) -> bool {
        self.source != at.0 || self.packet.returned
    }
}

/// A packet that a station is done with: its MAC has sent it or given it up, or its router has before that. What a MAC
/// gives up and a router sends once more departs again, as forwarded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departed<P> {
    /// The packet.
    pub packet: P,
    /// The station.
    pub at: StationId,
    /// Forwarded: it was not, or no longer, the station's own.
    pub forwarded: bool,
}

/// Why a packet did not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lost {
    /// A MAC has dropped it.
    Mac(Reason),
    /// A router has.
    Router(Undelivered),
}

/// A packet that did not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure<P> {
    /// The packet.
    pub packet: P,
    /// Its source.
    pub from: StationId,
    /// Its destination.
    pub to: StationId,
    /// The station that had it last.
    pub at: StationId,
    /// The cause.
    pub why: Lost,
}

/// Where every packet has gone.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct MeshLedger {
    /// Handed to the mesh.
    pub accepted: u64,
    /// Arrived at their destination, copies included.
    pub delivered: u64,
    /// Given up by a MAC or a router.
    pub dropped: u64,
    /// Copies: a MAC has given up a packet that had been delivered all the same, and its router has sent it again.
    pub copies: u64,
    /// In MACs, or waiting for a route.
    pub held: u64,
    /// Hops that packets have taken, the last one included.
    pub hops: u64,
    /// Routing messages sent, and their bytes with the headers of IP.
    pub control: u64,
    /// Bytes of routing messages sent, with headers of IP and UDP.
    pub control_bytes: u64,
}

/// The books do not balance: an error in the simulator, never in its input.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the ledger of the mesh does not balance: {0:?}")]
pub struct MeshLedgerError(pub MeshLedger);

impl MeshLedger {
    /// Whether every packet is accounted for.
    pub fn check(&self) -> Result<(), MeshLedgerError> {
        let balances = self.accepted + self.copies == self.delivered + self.dropped + self.held;
        if balances { Ok(()) } else { Err(MeshLedgerError(*self)) }
    }
}

/// A medium whose stations have routers.
#[derive(Debug)]
pub struct Mesh<P> {
    medium: Medium<Envelope<P>>,
    routers: Vec<Router<Parcel<P>>>,
    /// Messages that are still on their way.
    messages: BTreeMap<u64, Message>,
    number: u64,
    /// When each router wants to be woken.
    alarms: Alarms,
    /// Packets in MACs.
    in_macs: u64,
    out: Output<Parcel<P>>,
    /// What the medium has just brought and lost: kept for their room.
    brought: Vec<Delivered<Envelope<P>>>,
    lost: Vec<Dropped<Envelope<P>>>,
    delivered: Vec<Delivered<P>>,
    failures: Vec<Failure<P>>,
    /// Packets that stations are done with, while that is watched.
    departed: Option<Vec<Departed<P>>>,
    /// Bytes of others' packets in each MAC, while somebody watches.
    forwarding: Vec<u64>,
    ledger: MeshLedger,
}

impl<P: Copy> Mesh<P> {
    /// A mesh over `medium`; `router` makes the routing of each station.
    pub fn new(medium: Medium<Envelope<P>>, router: impl Fn(Node) -> Router<Parcel<P>>) -> Self {
        let routers: Vec<_> = (0..medium.len() as Node).map(router).collect();
        let mut alarms = Alarms::new(routers.len());
        for (router, station) in routers.iter().zip(0..) {
            alarms.set(station, router.deadline());
        }
        Self {
            medium,
            routers,
            messages: BTreeMap::new(),
            number: 0,
            alarms,
            in_macs: 0,
            out: Output::new(),
            brought: Vec::new(),
            lost: Vec::new(),
            delivered: Vec::new(),
            failures: Vec::new(),
            departed: None,
            forwarding: Vec::new(),
            ledger: MeshLedger::default(),
        }
    }
    /// The medium below.
    pub const fn medium(&self) -> &Medium<Envelope<P>> {
        &self.medium
    }
    /// The medium below, to look at its space or watch its queues.
    pub const fn medium_mut(&mut self) -> &mut Medium<Envelope<P>> {
        &mut self.medium
    }
    /// The router of a station.
    pub fn router(&self, id: StationId) -> &Router<Parcel<P>> {
        &self.routers[id.0 as usize]
    }
    /// Where every packet has gone.
    pub fn ledger(&self) -> MeshLedger {
        let waiting: usize = self.routers.iter().map(Router::held).sum();
        MeshLedger { held: self.in_macs + waiting as u64, ..self.ledger }
    }

    /// Lets routers begin what they do unasked.
    pub fn start(&mut self, now: Time, events: &mut EventQueue) {
        self.alarms.arm(now, ROUTER, events);
    }
    /// Sends a packet to another station, over as many hops as it takes.
    pub fn send(
        &mut self,
        now: Time,
        packet: P,
        (from, to): (StationId, StationId),
        traffic: Traffic,
        events: &mut EventQueue,
    ) {
        self.ledger.accepted += 1;
        let datagram = Datagram {
            packet: Parcel { packet, traffic, returned: false },
            source: from.0,
            destination: to.0,
            ttl: TTL,
        };
        if !self.medium.is_on(from) {
            return self.fail(&datagram, from, Lost::Mac(Reason::Off));
        }
        self.routers[from.0 as usize].route(now, datagram, None, &mut self.out);
        self.carry(now, from, events);
        self.drain_medium(now, events);
    }
    /// Switches a station and its router off, or on again: what waits there for a route ends, and what it knew of
    /// others is forgotten.
    pub fn set_power(&mut self, now: Time, id: StationId, on: bool, events: &mut EventQueue) {
        self.medium.set_power(now, id, on, events);
        if !on {
            for datagram in self.routers[id.0 as usize].switch_off() {
                self.fail(&datagram, id, Lost::Mac(Reason::Off));
            }
        }
        self.carry(now, id, events);
        self.drain_medium(now, events);
    }
    /// An event of this module's kind or the medium's has come.
    pub fn on_event(&mut self, event: &Event, events: &mut EventQueue) {
        let now = event.time();
        if event.kind() != ROUTER {
            self.medium.on_event(event, events);
        } else if self.alarms.ring(event) {
            while let Some(station) = self.alarms.due(now) {
                self.routers[station as usize].on_timer(now, &mut self.out);
                self.carry(now, StationId(station), events);
            }
        } else {
            return;
        }
        self.drain_medium(now, events);
    }
    /// Packets that have arrived since the last call.
    pub fn take_delivered(&mut self) -> std::vec::Drain<'_, Delivered<P>> {
        self.delivered.drain(..)
    }
    /// From now on keeps the packets that stations are done with.
    pub fn watch_departures(&mut self) {
        self.medium.watch_departures();
        self.departed.get_or_insert_default();
        self.forwarding.resize(self.routers.len(), 0);
    }
    /// The packets that have departed since the last call.
    pub fn take_departed(&mut self) -> impl Iterator<Item = Departed<P>> {
        self.departed.as_mut().map(|departed| departed.drain(..)).into_iter().flatten()
    }
    /// Packets in a station's transmit queue, and waiting for a route at its router.
    pub fn transmit_queue(&self, id: StationId) -> usize {
        self.medium.transmit_queue(id) + self.routers[id.0 as usize].held()
    }
    /// Bytes of others' packets in its transmit queue; none unless departures are watched.
    pub fn forwarding(&self, id: StationId) -> u64 {
        self.forwarding.get(id.0 as usize).copied().unwrap_or(0)
    }
    /// Packets that have been given up since the last call.
    pub fn take_failures(&mut self) -> std::vec::Drain<'_, Failure<P>> {
        self.failures.drain(..)
    }

    /// Does what the router of a station wants.
    fn carry(&mut self, now: Time, at: StationId, events: &mut EventQueue) {
        let mut out = std::mem::take(&mut self.out);
        for (to, message) in out.transmit.drain(..) {
            let bytes = message.wire_bytes().get();
            (self.ledger.control, self.ledger.control_bytes) =
                (self.ledger.control + 1, self.ledger.control_bytes + bytes);
            self.number += 1;
            self.messages.insert(self.number, message);
            let envelope = Envelope::Control { number: self.number, to_all: to.is_none() };
            let (category, ecn) = (AccessCategory::Voice, Ecn::NotEct);
            let traffic = Traffic { bytes: bytes as u32, category, flow: u32::MAX, ecn };
            let to = to.map_or(StationId::BROADCAST, StationId);
            self.medium.send(now, envelope, (at, to), traffic, events);
        }
        for (next, datagram) in out.forward.drain(..) {
            self.in_macs += 1;
            if let Some(bytes) = self.forwarding.get_mut(at.0 as usize).filter(|_| datagram.is_passed_on(at)) {
                *bytes += u64::from(datagram.packet.traffic.bytes);
            }
            self.medium.send(now, Envelope::Data(datagram), (at, StationId(next)), datagram.packet.traffic, events);
        }
        for (datagram, why) in out.dropped.drain(..) {
            if let Some(departed) = self.departed.as_mut().filter(|_| !datagram.is_passed_on(at)) {
                departed.push(Departed { packet: datagram.packet.packet, at, forwarded: false });
            }
            self.fail(&datagram, at, Lost::Router(why));
        }
        self.out = out;
        let deadline = if self.medium.is_on(at) { self.routers[at.0 as usize].deadline() } else { Time::MAX };
        self.alarms.set(at.0, deadline);
    }

    /// Hands routers what the medium has brought and lost, until nothing is left.
    fn drain_medium(&mut self, now: Time, events: &mut EventQueue) {
        let (mut brought, mut lost) = (std::mem::take(&mut self.brought), std::mem::take(&mut self.lost));
        loop {
            brought.extend(self.medium.take_delivered());
            lost.extend(self.medium.take_dropped());
            if brought.is_empty() && lost.is_empty() {
                break;
            }
            for Delivered { mut packet, from, at, marked } in brought.drain(..) {
                if let (Envelope::Data(datagram), true) = (&mut packet, marked) {
                    datagram.packet.traffic.ecn = Ecn::Ce;
                }
                self.arrived(now, packet, (from, at), events);
            }
            for dropped in lost.drain(..) {
                self.given_up(now, &dropped, events);
            }
        }
        (self.brought, self.lost) = (brought, lost);
        if let Some(departed) = &mut self.departed {
            for (at, envelope) in self.medium.take_departed() {
                let Envelope::Data(datagram) = envelope else { continue };
                let forwarded = datagram.is_passed_on(at);
                if forwarded {
                    let bytes = &mut self.forwarding[at.0 as usize];
                    *bytes = bytes.saturating_sub(u64::from(datagram.packet.traffic.bytes));
                }
                departed.push(Departed { packet: datagram.packet.packet, at, forwarded });
            }
        }
        // All who could hear these have been served.
        for envelope in self.medium.take_released() {
            if let Envelope::Control { number, .. } = envelope {
                self.messages.remove(&number);
            }
        }
        self.alarms.arm(now, ROUTER, events);
    }

    fn arrived(
        &mut self,
        now: Time,
        envelope: Envelope<P>,
        (from, at): (StationId, StationId),
        events: &mut EventQueue,
    ) {
        match envelope {
            Envelope::Data(datagram) => {
                self.in_macs -= 1;
                self.ledger.hops += 1;
                if datagram.destination == at.0 {
                    self.ledger.delivered += 1;
                    self.delivered.push(Delivered {
                        packet: datagram.packet.packet,
                        from: StationId(datagram.source),
                        at,
                        marked: datagram.packet.traffic.ecn == Ecn::Ce,
                    });
                    return;
                }
                self.routers[at.0 as usize].route(now, datagram, Some(from.0), &mut self.out);
            }
            Envelope::Control { number, to_all } => {
                let Some(message) = self.messages.get(&number) else { return };
                self.routers[at.0 as usize].on_message(now, from.0, message, &mut self.out);
                if !to_all {
                    self.messages.remove(&number);
                }
            }
        }
        self.carry(now, at, events);
    }

    /// A MAC has given up: on the neighbour if it did not answer, otherwise only on the packet.
    fn given_up(&mut self, now: Time, dropped: &Dropped<Envelope<P>>, events: &mut EventQueue) {
        let silent = matches!(dropped.reason, Reason::RetryLimit | Reason::Unreachable);
        let (at, to) = (dropped.at, dropped.to.0);
        match dropped.packet {
            Envelope::Data(mut datagram) => {
                if dropped.arrived {
                    if !silent {
                        return;
                    }
                    self.ledger.copies += 1;
                } else {
                    self.in_macs -= 1;
                }
                if silent {
                    datagram.packet.returned |= datagram.source == at.0;
                    self.routers[at.0 as usize].on_failed(now, to, Failed::Data(datagram), &mut self.out);
                } else {
                    self.fail(&datagram, at, Lost::Mac(dropped.reason));
                }
            }
            Envelope::Control { number, to_all: false } => {
                if let Some(message) = self.messages.remove(&number).filter(|_| silent) {
                    self.routers[at.0 as usize].on_failed(now, to, Failed::Control(&message), &mut self.out);
                }
            }
            Envelope::Control { .. } => {}
        }
        self.carry(now, at, events);
    }

    fn fail(&mut self, datagram: &Datagram<Parcel<P>>, at: StationId, why: Lost) {
        self.ledger.dropped += 1;
        let (from, to) = (StationId(datagram.source), StationId(datagram.destination));
        self.failures.push(Failure { packet: datagram.packet.packet, from, to, at, why });
    }
}
