//! Access points and their clients on the medium: what each hop of a packet is, joining and leaving, dozing, and the
//! wire between access points.

use super::node::{Content, Held};
use super::{ALARM, Delivered, Medium, MediumError, Traffic, WIRE};
use crate::mac::{
    AccessPoint, AccessPointSpec, BEACON_INTERVAL, Client, ClientSpec, Management, Move, Offer, PacketId, Reason,
    StationId, Told, Wish,
};
use crate::phy::AccessCategory;
use crate::propagation::Dbm;
use des::{Ecn, EventQueue, Index};
use units::{BitRate, Bytes, Time};

/// Role of a station.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Role {
    /// Sends to whomever it hears.
    #[default]
    AdHoc,
    /// Relays between its clients, and over the wire.
    AccessPoint(AccessPointSpec),
    /// Sends by way of its access point.
    Client(ClientSpec),
}

/// The wire that joins all access points: a switch with a link to each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WireSpec {
    /// Rate of a link.
    pub rate: BitRate,
    /// Delay from one access point to another.
    pub delay: Time,
}

/// The state of a role.
#[derive(Debug)]
pub(super) enum RoleState {
    AdHoc,
    AccessPoint(AccessPoint),
    Client(Client),
}

impl RoleState {
    pub fn new(role: &Role, index: usize) -> Self {
        match role {
            Role::AdHoc => Self::AdHoc,
            // Access points begin at times of their own, or their beacons would collide for ever.
            Role::AccessPoint(spec) => {
                let first = Time::from_us(1_024 * (1 + 37 * index as u64 % 100));
                Self::AccessPoint(AccessPoint::new(*spec, BEACON_INTERVAL, first))
            }
            Role::Client(spec) => {
                let first = Time::from_us(BEACON_INTERVAL.as_us() + 1_000 * (index as u64 % 100));
                Self::Client(Client::new(*spec, BEACON_INTERVAL, first))
            }
        }
    }
    pub fn deadline(&self) -> Time {
        match self {
            Self::AdHoc => Time::MAX,
            Self::AccessPoint(ap) => ap.deadline(),
            Self::Client(client) => client.deadline(),
        }
    }
    pub fn on_timer(&mut self, now: Time, wishes: &mut Vec<Wish>) {
        match self {
            Self::AdHoc => {}
            Self::AccessPoint(ap) => ap.on_timer(now, wishes),
            Self::Client(client) => client.on_timer(now, wishes),
        }
    }
}

/// The wire, and where access points believe stations to be.
#[derive(Debug)]
pub(super) struct Wire {
    spec: Option<WireSpec>,
    /// Until when each access point's link is taken.
    taken: Vec<Time>,
    /// The access point that serves a station, as the switch has learnt.
    serving: Vec<Option<StationId>>,
    messages: Vec<Option<Message>>,
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
enum Message {
    /// A packet for this access point to send on.
    Relay(PacketId, StationId),
    /// A station has moved to this access point from that one.
    Moved(StationId, StationId),
}

impl Wire {
    pub fn new(stations: usize) -> Self {
        let (taken, serving) = (vec![Time::ZERO; stations], vec![None; stations]);
        Self { spec: None, taken, serving, messages: Vec::new(), free: Vec::new() }
    }
    fn carry(&mut self, now: Time, from: StationId, bytes: u32, message: Message, events: &mut EventQueue) -> bool {
        let Some(spec) = self.spec else { return false };
        let taken = &mut self.taken[from.as_usize()];
        *taken = (*taken).max(now) + spec.rate.transmission_time(Bytes::new(u64::from(bytes)));
        let at = self.free.pop().unwrap_or_else(|| {
            self.messages.push(None);
            self.messages.len() as u32 - 1
        });
        self.messages[at as usize] = Some(message);
        events.push(*taken + spec.delay, WIRE, at, 0);
        true
    }
}

impl<P: Copy> Medium<P> {
    /// Adds a wire between the access points.
    pub fn with_wire(mut self, spec: WireSpec) -> Result<Self, MediumError> {
        if spec.rate == BitRate::default() {
            return Err(MediumError::Wire);
        }
        self.wire.spec = Some(spec);
        Ok(self)
    }
    /// Sets off what happens by itself, beacons and the search for access points: once, before the first event.
    pub fn start(&mut self, now: Time, events: &mut EventQueue) {
        for station in 0..self.nodes.len() as u32 {
            self.rearm(now, station);
        }
        self.alarms.arm(now, ALARM, events);
    }
    /// The access point a client is with.
    pub fn access_point(&self, client: StationId) -> Option<StationId> {
        match &self.nodes[client.as_usize()].role {
            RoleState::Client(client) => client.access_point(),
            _ => None,
        }
    }

    /// Puts a packet into the MAC of `at` for its next hop.
    pub(super) fn forward(&mut self, now: Time, at: StationId, mut held: Held<P>, events: &mut EventQueue) {
        if self.nodes[at.as_usize()].off {
            let packet = self.packets.insert(held);
            return self.lose(now, at, packet, Reason::Off);
        }
        let next = match &mut self.nodes[at.as_usize()].role {
            RoleState::AdHoc => Some(held.destination),
            RoleState::Client(client) => {
                client.on_send(now, &mut self.wishes);
                client.access_point()
            }
            RoleState::AccessPoint(ap) if !held.destination.is_unicast() || ap.has(held.destination) => {
                Some(held.destination)
            }
            RoleState::AccessPoint(_) => return self.over_the_wire(now, at, held, events),
        };
        held.to = next.unwrap_or(held.destination);
        let (to, Traffic { bytes, category, flow, ecn }) = (held.to, held.traffic);
        let packet = self.packets.insert(held);
        let offer = Offer { packet, to, bytes, category, flow, ecn };
        if next.is_none() {
            self.lose(now, at, packet, Reason::Unreachable);
            return;
        }
        let node = &mut self.nodes[at.as_usize()];
        if let Some(driver) = &mut node.driver {
            driver.enqueue(now, offer, &mut self.driven);
            self.carry_moves(now, at, events);
        } else {
            node.station.enqueue(now, &offer, &mut self.out);
        }
        self.fulfil(now, at.0, events);
    }
    /// A station's driver is due.
    pub(super) fn drive(&mut self, now: Time, at: StationId, events: &mut EventQueue) {
        if let Some(driver) = &mut self.nodes[at.as_usize()].driver {
            driver.on_timer(now, &mut self.driven);
        }
        self.carry_moves(now, at, events);
        self.effects(now, at.0, events);
    }
    /// Carries out what a driver wants done.
    fn carry_moves(&mut self, now: Time, at: StationId, events: &mut EventQueue) {
        let mut moves = std::mem::take(&mut self.driven);
        for step in moves.drain(..) {
            match step {
                Move::Down(offer) => self.hand_down(now, at, offer),
                Move::Up(packet) => self.hand_over(now, at, packet, events),
                Move::Drop(packet) => self.lose(now, at, packet, Reason::QueueFull),
                Move::Mark(packet) => self.mark(at, packet),
            }
        }
        self.driven = moves;
    }
    /// A packet comes out of a driver towards the chip, which knows whom the station is with by now.
    fn hand_down(&mut self, now: Time, at: StationId, mut offer: Offer) {
        let node = &mut self.nodes[at.as_usize()];
        if let RoleState::Client(client) = &node.role {
            let Some(point) = client.access_point() else {
                node.driver.iter_mut().for_each(|driver| driver.done(now, 1, offer.bytes, node.station.rate_used()));
                return self.lose(now, at, offer.packet, Reason::Unreachable);
            };
            offer.to = point;
            if let Some(held) = self.packets.get_mut(offer.packet) {
                held.to = point;
            }
        }
        node.station.enqueue(now, &offer, &mut self.out);
    }
    /// Sends a packet to the access point that serves its destination.
    fn over_the_wire(&mut self, now: Time, at: StationId, mut held: Held<P>, events: &mut EventQueue) {
        let destination = held.destination;
        let is_access_point = matches!(self.nodes[destination.as_usize()].role, RoleState::AccessPoint(_));
        let serving = if is_access_point { Some(destination) } else { self.wire.serving[destination.as_usize()] };
        let bytes = held.traffic.bytes;
        held.queued = true;
        let id = self.packets.insert(held);
        let carried = serving
            .filter(|serving| *serving != at)
            .is_some_and(|serving| self.wire.carry(now, at, bytes, Message::Relay(id, serving), events));
        if !carried {
            self.lose(now, at, id, Reason::Unreachable);
        }
    }
    /// Something comes out of the wire.
    pub(super) fn unwire(&mut self, now: Time, at: u32, events: &mut EventQueue) {
        let Some(message) = self.wire.messages[at as usize].take() else { return };
        self.wire.free.push(at);
        match message {
            Message::Relay(id, ap) if self.nodes[ap.as_usize()].off => self.lose(now, ap, id, Reason::Off),
            Message::Relay(id, ap) => {
                if let Some(held) = self.packets.get_mut(id) {
                    held.queued = false;
                }
                self.arrive(now, ap, id, events);
            }
            Message::Moved(station, from) => {
                let node = &mut self.nodes[from.as_usize()];
                if let RoleState::AccessPoint(ap) = &mut node.role {
                    ap.leave(station);
                }
                node.station.forget(now, station, &mut self.out);
                self.effects(now, from.0, events);
            }
        }
    }
    /// A packet has arrived at the end of a hop.
    pub(super) fn arrive(&mut self, now: Time, at: StationId, id: PacketId, events: &mut EventQueue) {
        let Some(held) = self.packets.get_mut(id) else { return };
        held.reordered = false;
        match held.content {
            Content::Management(frame) => {
                let from = held.origin;
                self.on_management(now, at, from, frame, events);
                self.let_go(id);
            }
            Content::Packet(_) => match &mut self.nodes[at.as_usize()].driver {
                Some(driver) => {
                    held.waiting += 1;
                    driver.received(now, id);
                }
                None => self.pass_up(now, at, id, events),
            },
        }
    }
    /// A packet comes out of a driver.
    fn hand_over(&mut self, now: Time, at: StationId, id: PacketId, events: &mut EventQueue) {
        if let Some(held) = self.packets.get_mut(id) {
            held.waiting -= 1;
        }
        self.pass_up(now, at, id, events);
    }
    /// A packet reaches the layer above, or what relays.
    fn pass_up(&mut self, now: Time, at: StationId, id: PacketId, events: &mut EventQueue) {
        let Some(held) = self.packets.get_mut(id) else { return };
        let (content, origin, destination) = (held.content, held.origin, held.destination);
        let (traffic, unicast) = (held.traffic, held.to.is_unicast());
        // Else it is an earlier access point's copy of what has been sent anew.
        if let Content::Packet(packet) = content
            && !(unicast && held.ended)
        {
            held.ended |= unicast;
            let onward = Held::new(content, origin, destination, traffic);
            if self.refuses(at, origin) {
                let refused = self.packets.insert(onward);
                self.lose(now, at, refused, Reason::Unreachable);
                self.fulfil(now, at.0, events);
                return self.let_go(id);
            }
            let relays = destination != at && unicast;
            if !relays || !destination.is_unicast() {
                let single = unicast && !relays;
                *(if single { &mut self.ledger.delivered } else { &mut self.ledger.copies }) += 1;
                self.delivered.push(Delivered { packet, from: origin, at, marked: traffic.ecn == Ecn::Ce });
            }
            self.client_received(now, at, events);
            if relays {
                self.forward(now, at, onward, events);
            }
        }
        self.let_go(id);
    }
    /// Whether an access point takes nothing of a client: it does not know it, having been off or heard nothing of it
    /// for long. One that has gone over to another access point may have left something behind.
    fn refuses(&mut self, at: StationId, origin: StationId) -> bool {
        let is_client = matches!(self.nodes[origin.as_usize()].role, RoleState::Client(_));
        let elsewhere = self.wire.serving[origin.as_usize()].is_some_and(|serving| serving != at);
        match &mut self.nodes[at.as_usize()].role {
            RoleState::AccessPoint(ap) if is_client && !elsewhere && !ap.has(origin) => {
                ap.refuse(origin, &mut self.wishes);
                true
            }
            _ => false,
        }
    }
    /// Forwards the packets of a station that has gone to the access point that serves it now.
    pub(super) fn reroute(&mut self, now: Time, at: StationId, id: PacketId, events: &mut EventQueue) {
        let Some(held) = self.packets.get_mut(id) else { return };
        held.queued = false;
        if !held.ended && !held.is_received() && matches!(self.nodes[at.as_usize()].role, RoleState::AccessPoint(_)) {
            held.ended = true;
            let onward = Held::new(held.content, held.origin, held.destination, held.traffic);
            self.let_go(id);
            self.forward(now, at, onward, events);
        } else {
            self.lose(now, at, id, Reason::Unreachable);
        }
    }

    /// Carries out the wishes of a station's role.
    pub(super) fn fulfil(&mut self, now: Time, station: u32, events: &mut EventQueue) {
        let at = StationId(station);
        let mut wishes = std::mem::take(&mut self.wishes);
        for wish in wishes.drain(..) {
            match wish {
                Wish::Send(frame, to) => {
                    let node = &mut self.nodes[station as usize];
                    let category = AccessCategory::Voice;
                    let bytes = frame.bytes(node.station.config().qos);
                    let traffic = Traffic { bytes, category, flow: 0, ecn: Ecn::NotEct };
                    let held = Held::new(Content::Management(frame), at, to, traffic);
                    let id = self.packets.insert(held);
                    node.station.manage(now, id, to, bytes, &mut self.out);
                }
                Wish::Moved { from, to } => {
                    self.moves.push((at, to));
                    // What was on its way to the former one, or from it, is over; with the new one all begins anew.
                    for point in from.into_iter().chain(to) {
                        self.nodes[station as usize].station.forget(now, point, &mut self.out);
                    }
                }
                Wish::Forget(other) => self.nodes[station as usize].station.forget(now, other, &mut self.out),
            }
        }
        self.wishes = wishes;
        self.effects(now, station, events);
    }
    /// A management frame has arrived.
    fn on_management(&mut self, now: Time, at: StationId, from: StationId, frame: Management, events: &mut EventQueue) {
        let power = Dbm::from_milliwatts(self.power);
        let told = self.told(now, from, at);
        let node = &mut self.nodes[at.as_usize()];
        match &mut node.role {
            RoleState::AdHoc => return,
            RoleState::Client(client) => client.on_frame(now, from, frame, power, told, &mut self.wishes),
            RoleState::AccessPoint(ap) => {
                let joined = ap.on_frame(now, from, frame, &mut self.wishes);
                match frame {
                    Management::Null { dozes } if ap.has(from) => node.station.doze(now, from, dozes),
                    Management::PsPoll if ap.has(from) => {
                        let served = node.station.release(now, from);
                        if !served {
                            self.wishes.push(Wish::Send(Management::Null { dozes: false }, from));
                        }
                    }
                    _ => {}
                }
                if joined {
                    node.station.forget(now, from, &mut self.out);
                    let former = self.wire.serving[from.as_usize()].replace(at).filter(|former| *former != at);
                    if let Some(former) = former {
                        // An update frame of layer 2 that the switch and the former access point see.
                        self.wire.carry(now, at, 64, Message::Moved(from, former), events);
                    }
                }
            }
        }
        self.fulfil(now, at.0, events);
    }
    /// The contents of an access point's frame for a client.
    fn told(&self, now: Time, ap: StationId, client: StationId) -> Told {
        let node = &self.nodes[ap.as_usize()];
        match &node.role {
            RoleState::AccessPoint(point) => {
                let waiting = node.station.queued_for(client) > 0 || point.asks(client);
                Told { due: point.last_beacon(), waiting }
            }
            _ => Told { due: now, waiting: false },
        }
    }
    fn client_received(&mut self, now: Time, at: StationId, events: &mut EventQueue) {
        if let RoleState::Client(client) = &self.nodes[at.as_usize()].role {
            let ap = client.access_point();
            // The packet that has just come is still there: it has not been acknowledged yet.
            let more = ap.is_some_and(|ap| self.nodes[ap.as_usize()].station.queued_for(at) > 1);
            if let RoleState::Client(client) = &mut self.nodes[at.as_usize()].role {
                client.on_data(now, more, &mut self.wishes);
            }
            self.fulfil(now, at.0, events);
        }
    }
    /// A management frame has been acknowledged, or given up.
    pub(super) fn sent(&mut self, now: Time, (at, to): (StationId, StationId), frame: Management, acknowledged: bool) {
        let node = &mut self.nodes[at.as_usize()];
        match (&mut node.role, frame) {
            (RoleState::Client(client), Management::Null { dozes: true }) => {
                client.on_announced(now, acknowledged, node.station.queued() == 0);
            }
            (RoleState::AccessPoint(ap), Management::Deauthentication) => ap.on_refused(to),
            _ => {}
        }
    }
    /// A client's radio goes off when it dozes and has nothing under way, and on when it does not doze.
    pub(super) fn update_doze(&mut self, now: Time, station: u32) {
        let node = &mut self.nodes[station as usize];
        let RoleState::Client(client) = &node.role else { return };
        let asleep = client.dozes() && (node.asleep || node.station.is_quiet());
        if asleep != node.asleep {
            node.asleep = asleep;
            node.receiver.send(asleep);
            let busy = !asleep && node.receiver.busy();
            node.station.power(now, busy);
            node.note_radio(now);
        }
    }
}
