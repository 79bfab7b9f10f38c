//! How packets find a way when not all nodes hear each other: AODV, OLSR, or nothing (one hop).
//!
//! A [`Router`] is one node's. It is handed packets to send on, the routing messages of neighbours, and the news that
//! the MAC has given up on a neighbour; it appends to an [`Output`] what to transmit, and whom to hand a packet next.
//! It states one deadline.

mod aodv;
mod message;
mod olsr;

pub use aodv::{Aodv, AodvSettings};
pub use message::{Broken, Hello, Link, LinkKind, Message, OlsrBody, OlsrMessage, Reply, Request, TopologyControl};
pub use olsr::{Olsr, OlsrSettings, Willingness, multipoint_relays};

use units::Time;

/// A node's number, which is also its address.
pub type Node = u32;

/// A packet that routers hand on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram<P> {
    /// The packet.
    pub packet: P,
    /// The node that has sent it first.
    pub source: Node,
    /// The node that it is for.
    pub destination: Node,
    /// How many more hops it may take.
    pub ttl: u8,
}

/// Why a router has dropped a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undelivered {
    /// There is no way to the destination, or none was found.
    NoRoute,
    /// Too many packets wait for a route already.
    BufferFull,
    /// Its TTL has run out.
    TtlExpired,
}

/// A packet or message that the MAC has given up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Failed<'a, P> {
    /// A packet.
    Data(Datagram<P>),
    /// A routing message.
    Control(&'a Message),
}

/// Effects of a router's inputs; its owner empties it after every call.
#[derive(Clone, PartialEq, Debug)]
pub struct Output<P> {
    /// Routing messages, each to one neighbour or to all (`None`).
    pub transmit: Vec<(Option<Node>, Message)>,
    /// Packets, each with the neighbour it goes to next.
    pub forward: Vec<(Node, Datagram<P>)>,
    /// Packets that the router has dropped, with the cause.
    pub dropped: Vec<(Datagram<P>, Undelivered)>,
}

impl<P> Output<P> {
    /// Nothing to do.
    pub const fn new() -> Self {
        Self { transmit: Vec::new(), forward: Vec::new(), dropped: Vec::new() }
    }
}

impl<P> Default for Output<P> {
    fn default() -> Self {
        Self::new()
    }
}

/// One node's routing.
#[derive(Debug, Clone)]
pub enum Router<P> {
    /// Every destination is a neighbour: packets go to it directly, or not at all.
    SingleHop,
    /// Ad hoc on-demand distance vector (RFC 3561).
    Aodv(Box<Aodv<P>>),
    /// Optimized link state routing (RFC 3626).
    Olsr(Box<Olsr>),
}

impl<P: Copy> Router<P> {
    /// Sends a packet on. `previous` is the neighbour it came from, `None` for one that begins here; its destination is
    /// another node.
    pub fn route(&mut self, now: Time, datagram: Datagram<P>, previous: Option<Node>, out: &mut Output<P>) {
        if datagram.ttl == 0 {
            out.dropped.push((datagram, Undelivered::TtlExpired));
            return;
        }
        let datagram = Datagram { ttl: datagram.ttl - 1, ..datagram };
        match self {
            Self::SingleHop => out.forward.push((datagram.destination, datagram)),
            Self::Aodv(aodv) => aodv.route(now, datagram, previous, out),
            Self::Olsr(olsr) => match olsr.next_hop(now, datagram.destination) {
                Some(next) => out.forward.push((next, datagram)),
                None => out.dropped.push((datagram, Undelivered::NoRoute)),
            },
        }
    }

    /// A routing message has arrived from a neighbour.
    pub fn on_message(&mut self, now: Time, from: Node, message: &Message, out: &mut Output<P>) {
        match self {
            Self::SingleHop => {}
            Self::Aodv(aodv) => aodv.on_message(now, from, message, out),
            Self::Olsr(olsr) => olsr.on_message(now, from, message),
        }
    }

    /// The MAC has given up sending to `neighbour`.
    pub fn on_failed(&mut self, now: Time, neighbour: Node, failed: Failed<'_, P>, out: &mut Output<P>) {
        match self {
            Self::Aodv(aodv) => return aodv.on_failed(now, neighbour, failed, out),
            Self::Olsr(olsr) => olsr.on_link_broken(now, neighbour),
            Self::SingleHop => {}
        }
        if let Failed::Data(datagram) = failed {
            out.dropped.push((datagram, Undelivered::NoRoute));
        }
    }

    /// Performs what is due at `now`.
    pub fn on_timer(&mut self, now: Time, out: &mut Output<P>) {
        match self {
            Self::SingleHop => {}
            Self::Aodv(aodv) => aodv.on_timer(now, out),
            Self::Olsr(olsr) => olsr.on_timer(now, &mut out.transmit),
        }
    }

    /// Its node is switched off: gives up the packets that wait here, and forgets all it knew of others. Its own
    /// sequence numbers it keeps, as if in memory that outlasts that (RFC 3561, 6.13, has a node without one wait until
    /// nobody remembers it).
    pub fn switch_off(&mut self) -> Vec<Datagram<P>> {
        match self {
            Self::SingleHop => Vec::new(),
            Self::Aodv(aodv) => aodv.switch_off(),
            Self::Olsr(olsr) => {
                olsr.switch_off();
                Vec::new()
            }
        }
    }

    /// When [`Router::on_timer`] wants to be called next.
    pub fn deadline(&self) -> Time {
        match self {
            Self::SingleHop => Time::MAX,
            Self::Aodv(aodv) => aodv.deadline(),
            Self::Olsr(olsr) => olsr.deadline(),
        }
    }

    /// How many packets wait here for a route.
    pub fn held(&self) -> usize {
        match self {
            Self::Aodv(aodv) => aodv.held(),
            Self::SingleHop | Self::Olsr(_) => 0,
        }
    }

    /// To which neighbour a packet for `destination` would go now, if that is known: for reports and checks; it changes
    /// nothing.
    pub fn next_hop(&self, now: Time, destination: Node) -> Option<Node> {
        match self {
            Self::SingleHop => Some(destination),
            Self::Aodv(aodv) => aodv.next_hop(now, destination),
            Self::Olsr(olsr) => olsr.peek(now, destination),
        }
    }
}
