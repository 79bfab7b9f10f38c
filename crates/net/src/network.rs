//! The network at run time: packets travel from link to link along their routes.

mod bonding;

use crate::link::Fate;
use crate::packet::{Packet, Packets, Transit};
use crate::queue::{Ecn, Item, Queue, SharedBuffer};
use crate::routing::{END, Routing};
use crate::{FlowKey, Link, LinkId, PacketId, RouteId, SpecError, Topology, VertexId};
use bonding::Bonds;
use des::{Event, EventQueue};
use thiserror::Error;
use units::{BitRate, Time};

/// Event kind: the packet at the head of a link's ring arrives at the link's end.
pub const ARRIVAL: u8 = 0;
/// Event kind: the transmitter of a managed link has finished a packet.
pub const TRANSMISSION_DONE: u8 = 1;
/// Event kind: an end of a bond has something to do.
pub const BOND: u8 = 8;

/// Links, routes, and the packets between them.
#[derive(Debug)]
pub struct Network<P> {
    links: Vec<Link>,
    routing: Routing,
    packets: Packets<P>,
    sent: u64,
    delivered: u64,
    no_route: u64,
    /// Buffer for packets that disciplines drop or links lose.
    gone: Vec<PacketId>,
    captured: Vec<(Time, P)>,
    /// Packets that have left the queues of managed links, where [`Network::watch_releases`] asks for them.
    released: Vec<P>,
    /// Owners of packets that queues have dropped.
    dropped: Vec<(u32, u32)>,
    /// Class of each flow, up to the last that is not 0.
    classes: Vec<u8>,
    bonds: Box<Bonds>,
}

/// What became of every packet sent: delivered, dropped, lost or in flight.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Ledger {
    /// Packets handed to the network.
    pub sent: u64,
    /// Packets handed back at the end of their route.
    pub delivered: u64,
    /// Packets dropped at a full queue or by a discipline, or before the processor of a bond's end.
    pub dropped: u64,
    /// Packets lost at random on a link.
    pub lost: u64,
    /// Packets lost on a link that was or went down or silent, or at a bond without a usable member.
    pub lost_down: u64,
    /// Packets without a path to their receiver.
    pub no_route: u64,
    /// Packets in queues, in transmission and on wires, counted there.
    pub in_flight: u64,
    /// Occupied places of the packet slab.
    pub slab: u64,
}

/// The ledger does not balance: an error in the simulator, never in its input.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the packet ledger does not balance: {0:?}")]
pub struct LedgerError(pub Ledger);

impl Ledger {
    /// Whether every packet is accounted for and none has leaked from the slab.
    pub fn check(&self) -> Result<(), LedgerError> {
        let ended = self.delivered + self.dropped + self.lost + self.lost_down + self.no_route;
        if self.sent == ended + self.in_flight && self.slab == self.in_flight {
            Ok(())
        } else {
            Err(LedgerError(*self))
        }
    }
}

impl<P: Packet> Network<P> {
    /// The network of a topology. Random losses are drawn from `seed`.
    pub fn new(topology: &Topology, seed: u64) -> Result<Self, SpecError> {
        let specs = || topology.cables().iter().flat_map(|cable| [&cable.forth, &cable.back]);
        for spec in specs() {
            spec.check()?;
        }
        let mut network = Self {
            links: specs().enumerate().map(|(index, spec)| Link::new(spec, seed, index as u64)).collect(),
            routing: Routing::new(topology),
            packets: Packets::new(),
            sent: 0,
            delivered: 0,
            no_route: 0,
            gone: Vec::new(),
            captured: Vec::new(),
            released: Vec::new(),
            dropped: Vec::new(),
            classes: Vec::new(),
            bonds: Box::new(Bonds::new(topology, seed)?),
        };
        network.share_buffers(topology, seed)?;
        Ok(network)
    }

    /// Replaces a link's drop-tail queue by a discipline. The link must be idle, before the run.
    pub fn manage(&mut self, link: LinkId, queue: Box<dyn Queue>) {
        self.links[link.0 as usize].manage(queue);
    }

    /// Puts the ports of every switch with a shared buffer into that buffer.
    fn share_buffers(&mut self, topology: &Topology, seed: u64) -> Result<(), SpecError> {
        for (switch, spec) in topology.shared_buffers() {
            spec.check()?;
            let buffer = SharedBuffer::new(*spec);
            let ports = (0..self.links.len() as u32).map(LinkId).filter(|link| topology.ends(*link).0 == *switch);
            for port in ports {
                let queue = topology.spec(port).queue(seed, port.0.into());
                self.manage(port, Box::new(buffer.port(queue)));
            }
        }
        Ok(())
    }

    /// Sets the class of a flow, for queues with classes. Class 0, the first, is the default.
    pub fn set_class(&mut self, flow: u32, class: u8) {
        let flow = flow as usize;
        if flow >= self.classes.len() {
            if class == 0 {
                return;
            }
            self.classes.resize(flow + 1, 0);
        }
        self.classes[flow] = class;
    }

    /// The route of a flow over the links that are up.
    pub fn route(&mut self, key: FlowKey) -> Option<RouteId> {
        self.routing.route(key)
    }
    /// The route of a flow through the switch `via`, over the links that are up.
    pub fn route_via(&mut self, key: FlowKey, via: VertexId) -> Option<RouteId> {
        self.routing.route_via(key, via)
    }
    /// The links of a route. For a bond: the member that the next packet takes; with round robin, the first.
    pub fn route_links(&self, route: RouteId) -> impl Iterator<Item = LinkId> {
        self.routing.places(route).map(|at| match self.routing.bond_for(at) {
            Some((end, class)) => self.bonds.member_for(end, class),
            None => LinkId(at),
        })
    }
    /// A link.
    pub fn link(&self, link: LinkId) -> &Link {
        &self.links[link.0 as usize]
    }
    /// All links in order.
    pub fn links(&self) -> &[Link] {
        &self.links
    }
    /// A packet in the network.
    pub fn packet(&self, id: PacketId) -> &P {
        self.packets.get(id)
    }

    /// Sends a packet of a flow, `bytes` on the wire, along a route.
    #[inline]
    pub fn send(
        &mut self,
        now: Time,
        packet: &P,
        (flow, bytes): (u32, u32),
        route: Option<RouteId>,
        events: &mut EventQueue,
    ) {
        self.sent += 1;
        let Some(route) = route else {
            self.no_route += 1;
            return;
        };
        let packet = self.packets.insert(packet);
        self.forward(now, Transit { packet, next: route.0, bytes, flow }, events);
    }

    /// Handles an [`ARRIVAL`]. Returns a packet at the end of its route, and its flow: read it with
    /// [`Network::packet`], then [`Network::finish`] it.
    #[inline]
    pub fn on_arrival(&mut self, event: &Event, events: &mut EventQueue) -> Option<(PacketId, u32)> {
        let link = &mut self.links[event.index as usize];
        if event.arg != link.generation() {
            return None;
        }
        let (lost, captured) = if link.is_special() { link.inspect() } else { (false, None) };
        let (item, next) = link.arrive()?;
        if let Some(next) = next {
            events.push(next, ARRIVAL, event.index, event.arg);
        }
        if let Some(start) = captured {
            self.captured.push((start, *self.packets.get(item.packet)));
        }
        if lost {
            self.packets.free(item.packet);
            return None;
        }
        if self.routing.at(item.next) == END {
            self.delivered += 1;
            return Some((item.packet, item.flow));
        }
        self.forward(event.time(), item, events);
        None
    }

    /// Frees a packet that was returned.
    #[inline]
    pub fn finish(&mut self, packet: PacketId) {
        self.packets.free(packet);
    }

    /// Handles a [`TRANSMISSION_DONE`].
    pub fn on_transmission_done(&mut self, event: &Event, events: &mut EventQueue) {
        self.begin_next(event.time(), event.index, events);
        self.free_dropped(event.index);
    }

    /// Offers a packet to the next link of its route.
    #[inline]
    fn forward(&mut self, now: Time, mut item: Transit, events: &mut EventQueue) {
        let index = self.routing.at(item.next);
        if index as usize >= self.links.len() {
            return self.forward_bonded(now, index, item, events);
        }
        item.next += 1;
        self.offer(now, index, item, events);
    }

    #[inline]
    fn offer(&mut self, now: Time, index: u32, item: Transit, events: &mut EventQueue) {
        let link = &mut self.links[index as usize];
        if link.is_special() && link.is_managed() && link.is_up() {
            self.forward_managed(now, index, item, events);
            return;
        }
        match link.offer(now, item) {
            Fate::Queued => {}
            Fate::Head(arrival) => events.push(arrival, ARRIVAL, index, link.generation()),
            Fate::Dropped => {
                self.dropped.push(self.packets.get(item.packet).owner());
                self.packets.free(item.packet);
            }
            Fate::Down => self.packets.free(item.packet),
        }
    }

    fn forward_managed(&mut self, now: Time, index: u32, item: Transit, events: &mut EventQueue) {
        let class = self.classes.get(item.flow as usize).copied().unwrap_or(0);
        let item = Item::of(item, self.packets.get(item.packet).ecn(), class);
        self.begin_next(now, index, events);
        self.links[index as usize].enqueue(now, item, &mut self.gone);
        self.begin_next(now, index, events);
        self.links[index as usize].note_queue();
        self.free_dropped(index);
    }

    /// Starts the next transmission on a managed link if it can. Called before anything else happens on the link: a
    /// transmission that ends at the same instant ends first, as on a plain link, whatever the order of the events.
    fn begin_next(&mut self, now: Time, index: u32, events: &mut EventQueue) {
        let link = &mut self.links[index as usize];
        if let Some(begun) = link.begin_next(now, &mut self.gone) {
            if let Fate::Head(arrival) = begun.fate {
                events.push(arrival, ARRIVAL, index, link.generation());
            }
            events.push(begun.done, TRANSMISSION_DONE, index, 0);
            if begun.ecn == Ecn::Ce && self.packets.mark(begun.packet) {
                link.count_mark();
            }
            if link.tells() {
                self.released.push(*self.packets.get(begun.packet));
            }
        }
    }

    fn free_dropped(&mut self, index: u32) {
        let tells = self.links[index as usize].tells();
        for packet in self.gone.drain(..) {
            if tells {
                self.released.push(*self.packets.get(packet));
            }
            self.dropped.push(self.packets.get(packet).owner());
            self.packets.free(packet);
        }
    }

    /// Takes both directions of a cable down or up. What is on it when it goes down is lost. Routes must be asked for
    /// again.
    pub fn set_up(&mut self, now: Time, link: LinkId, up: bool, events: &mut EventQueue) {
        for direction in [link, link.reverse()] {
            self.begin_next(now, direction.0, events);
            let at = &mut self.links[direction.0 as usize];
            if at.is_up() == up {
                continue;
            }
            if up {
                at.go_up();
            } else {
                let before = self.gone.len();
                at.go_down(now, &mut self.gone);
                if at.tells() {
                    self.released.extend(self.gone[before..].iter().map(|packet| *self.packets.get(*packet)));
                }
            }
            self.routing.set_down(direction, !up);
        }
        // Lost with the link, not dropped by a queue.
        for packet in self.gone.drain(..) {
            self.packets.free(packet);
        }
        self.carrier_of_member(now, link, up, events);
    }

    /// Changes the rate of one direction of a link. A rate of zero is refused: take the link down instead.
    pub fn set_rate(
        &mut self,
        now: Time,
        link: LinkId,
        rate: BitRate,
        events: &mut EventQueue,
    ) -> Result<(), SpecError> {
        if rate == BitRate::default() {
            return Err(SpecError::Rate);
        }
        self.begin_next(now, link.0, events);
        let at = &mut self.links[link.0 as usize];
        if let Some(arrival) = at.change_rate(now, rate) {
            events.push(arrival, ARRIVAL, link.0, at.generation());
        }
        if at.is_managed() {
            events.push(at.free_at().max(now), TRANSMISSION_DONE, link.0, 0);
        }
        Ok(())
    }

    /// From `now` on records how long a link's queue has each length ([`Link::occupancy`]).
    pub fn watch(&mut self, now: Time, link: LinkId) {
        self.links[link.0 as usize].watch(now);
    }

    /// From now on records every packet that a link transmits, with the start of its transmission.
    pub fn capture(&mut self, link: LinkId) {
        self.links[link.0 as usize].capture();
    }
    /// The packets recorded since the last call. A packet is recorded when it reaches the link's end.
    pub fn take_captured(&mut self) -> Vec<(Time, P)> {
        std::mem::take(&mut self.captured)
    }

    /// From now on records every packet that leaves the queue of a managed link: sent, dropped, or lost with the link.
    /// For any other link [`Link::waiting_below`] and [`Link::free_at`] predict this.
    pub fn watch_releases(&mut self, link: LinkId) {
        self.links[link.0 as usize].tell();
    }
    /// The packets recorded since the last call, in order.
    pub fn take_released(&mut self) -> std::vec::Drain<'_, P> {
        self.released.drain(..)
    }

    /// How many drops [`Network::take_dropped`] has not returned yet.
    #[inline]
    pub fn has_dropped(&self) -> usize {
        self.dropped.len()
    }
    /// The owners of packets that queues have dropped since the last call, in order.
    pub fn take_dropped(&mut self) -> std::vec::Drain<'_, (u32, u32)> {
        self.dropped.drain(..)
    }

    /// Packet-hops so far: packets accepted by transmitters.
    pub fn hops(&self) -> u64 {
        self.links.iter().map(|link| link.counters().packets).sum()
    }

    /// What became of every packet.
    pub fn ledger(&self) -> Ledger {
        let sum = |count: fn(&Link) -> u64| self.links.iter().map(count).sum();
        Ledger {
            sent: self.sent,
            delivered: self.delivered,
            dropped: sum(|link| link.counters().drops) + self.bonds.drops(),
            lost: sum(|link| link.counters().lost),
            lost_down: sum(|link| link.counters().lost_down) + self.bonds.lost(),
            no_route: self.no_route,
            in_flight: sum(Link::holds) + self.bonds.waiting(),
            slab: self.packets.live(),
        }
    }
}
