//! Optimized link state routing (Clausen and Jacquet, RFC 3626, 2003).
//!
//! Every node says HELLO: whom it hears. From that a node knows its symmetric neighbours and theirs, and chooses few of
//! them as multipoint relays that together reach everyone two hops away. A node chosen says so to the whole network
//! (TC), flooded over relays alone; the shortest ways follow. Routes exist before they are needed; between a change and
//! its news they may be wrong, and loop: packets have a `ttl`.
//!
//! One interface per node, so no MID; no foreign networks (HNA), no link hysteresis (section 14), advertised is who has
//! chosen the node (TC redundancy 0). When the MAC gives up on a neighbour the link is lost at once (section 13) and is
//! sensed anew by the neighbour's next HELLO.

mod mpr;
mod neighbours;
mod topology;

pub use mpr::{Willingness, multipoint_relays};

use super::{Hello, Message, Node, OlsrBody, OlsrMessage, TopologyControl};
use des::RandomStream;
use neighbours::Neighbours;
use std::collections::{BTreeMap, BTreeSet};
use topology::{Routes, Topology};
use units::Time;

/// Section 18's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OlsrSettings {
    /// Between two HELLOs; what they say holds three times as long.
    pub hello: Time,
    /// Between two TC messages; what they say holds three times as long.
    pub topology_control: Time,
    /// How long a message is remembered, so that it is handled once.
    pub duplicate_hold: Time,
    /// Willingness to relay, as announced in HELLOs.
    pub willingness: Willingness,
}

impl Default for OlsrSettings {
    /// The RFC's values.
    fn default() -> Self {
        Self {
            hello: Time::from_secs(2),
            topology_control: Time::from_secs(5),
            duplicate_hold: Time::from_secs(30),
            willingness: Willingness::Default,
        }
    }
}

impl OlsrSettings {
    /// Messages are sent up to so much early, and passed on up to so much late, so that neighbours do not all speak at
    /// once (section 18.2).
    fn max_jitter(&self) -> Time {
        self.hello / 4
    }
}

/// An entry of the duplicate set (section 3.4): a message that was received before.
#[derive(Debug, Clone, Copy)]
struct Duplicate {
    passed_on: bool,
    until: Time,
}

/// One node's OLSR.
#[derive(Debug, Clone)]
pub struct Olsr {
    me: Node,
    settings: OlsrSettings,
    neighbours: Neighbours,
    topology: Topology,
    duplicates: BTreeMap<(Node, u16), Duplicate>,
    /// Messages to be passed on, and when.
    waiting: Vec<(Time, OlsrMessage)>,
    sequence: u16,
    /// The neighbours advertised last, their sequence number (ANSN), and until when an empty set is still sent.
    advertised: Vec<Node>,
    number: u16,
    said_until: Time,
    next_hello: Time,
    next_control: Time,
    /// Routes as of the time given; a message since then empties it.
    routes: Option<(Time, Routes)>,
    stream: RandomStream,
}

impl Olsr {
    /// The routing of node `me`.
    pub fn new(seed: u64, me: Node, settings: OlsrSettings) -> Self {
        let mut stream = RandomStream::new(seed, "wifi/olsr", u64::from(me));
        Self {
            me,
            settings,
            neighbours: Neighbours::new(me),
            topology: Topology::default(),
            duplicates: BTreeMap::new(),
            waiting: Vec::new(),
            sequence: 0,
            advertised: Vec::new(),
            number: 0,
            said_until: Time::ZERO,
            next_hello: settings.hello.mul_f64(stream.uniform()),
            next_control: settings.topology_control.mul_f64(stream.uniform()),
            routes: None,
            stream,
        }
    }

    /// The multipoint relays (MPRs) that this node has chosen.
    pub const fn relays(&self) -> &BTreeSet<Node> {
        self.neighbours.relays()
    }

    /// The number of hops to a destination, as far as this node knows.
    pub fn hops(&self, now: Time, destination: Node) -> Option<u32> {
        self.topology.routes(now, self.me, &self.neighbours).get(&destination).map(|(_, hops)| *hops)
    }

    pub(super) fn next_hop(&mut self, now: Time, destination: Node) -> Option<Node> {
        // What nobody has refreshed runs out by time alone, which is looked at every half second.
        const FRESH: Time = Time::from_ms(500);
        if self.routes.as_ref().is_none_or(|(at, _)| now.saturating_sub(*at) > FRESH) {
            self.routes = Some((now, self.topology.routes(now, self.me, &self.neighbours)));
        }
        let (_, routes) = self.routes.as_ref()?;
        routes.get(&destination).map(|(next_hop, _)| *next_hop)
    }

    pub(super) fn peek(&self, now: Time, destination: Node) -> Option<Node> {
        self.topology.routes(now, self.me, &self.neighbours).get(&destination).map(|(next_hop, _)| *next_hop)
    }

    pub(super) fn on_message(&mut self, now: Time, from: Node, message: &Message) {
        let Message::Olsr(message) = message else { return };
        if message.originator == self.me || message.ttl == 0 {
            return;
        }
        let until = now.saturating_add(message.validity);
        match &message.body {
            OlsrBody::Hello(hello) => {
                let hold = self.settings.hello * 3;
                self.neighbours.on_hello(now, from, hello, until, hold);
                self.routes = None;
            }
            OlsrBody::TopologyControl(control) => {
                // What comes over a link of one direction only is not to be believed (section 9.5).
                if self.neighbours.is_symmetric(now, from) {
                    self.on_control(now, from, message, control, until);
                }
            }
        }
    }

    pub(super) fn on_link_broken(&mut self, now: Time, neighbour: Node) {
        self.neighbours.on_broken(now, neighbour);
        self.routes = None;
    }

    pub(super) fn switch_off(&mut self) {
        self.neighbours = Neighbours::new(self.me);
        self.topology = Topology::default();
        self.duplicates.clear();
        self.waiting.clear();
        self.routes = None;
    }

    pub(super) fn on_timer(&mut self, now: Time, transmit: &mut Vec<(Option<Node>, Message)>) {
        let mut index = 0;
        while index < self.waiting.len() {
            if self.waiting[index].0 > now {
                index += 1;
                continue;
            }
            transmit.push((None, Message::Olsr(self.waiting.remove(index).1)));
        }
        if now >= self.next_hello {
            self.next_hello = self.next(now, self.settings.hello);
            self.neighbours.choose(now);
            let hello = Hello { willingness: self.settings.willingness, links: self.neighbours.links(now) };
            transmit.push((None, self.message(OlsrBody::Hello(hello), self.settings.hello * 3, 1)));
        }
        if now >= self.next_control {
            self.next_control = self.next(now, self.settings.topology_control);
            self.neighbours.choose(now);
            self.say_control(now, transmit);
        }
    }

    pub(super) fn deadline(&self) -> Time {
        self.waiting.iter().map(|(at, _)| *at).fold(self.next_hello.min(self.next_control), Time::min)
    }

    /// Says who has chosen this node; for a while also that nobody has any longer (section 9.3).
    fn say_control(&mut self, now: Time, transmit: &mut Vec<(Option<Node>, Message)>) {
        let validity = self.settings.topology_control * 3;
        let advertised = self.neighbours.selectors(now);
        if advertised != self.advertised {
            self.number = self.number.wrapping_add(1);
            self.advertised.clone_from(&advertised);
        }
        if !advertised.is_empty() {
            self.said_until = now.saturating_add(validity);
        } else if now >= self.said_until {
            return;
        }
        let control = TopologyControl { number: self.number, advertised };
        transmit.push((None, self.message(OlsrBody::TopologyControl(control), validity, 255)));
    }

    /// Takes in a TC message once, and passes it on once if the one it comes from has chosen this node (sections 3.4
    /// and 9.5).
    fn on_control(&mut self, now: Time, from: Node, message: &OlsrMessage, control: &TopologyControl, until: Time) {
        self.duplicates.retain(|_, duplicate| duplicate.until > now);
        let hold = now.saturating_add(self.settings.duplicate_hold);
        let known = self.duplicates.get(&(message.originator, message.sequence)).copied();
        if known.is_none() {
            self.topology.on_control(now, message.originator, control, until);
            self.routes = None;
        }
        let passed_on = known.is_some_and(|duplicate| duplicate.passed_on);
        let passes_on = !passed_on && message.ttl > 1 && self.neighbours.selected_by(now, from);
        if passes_on {
            let at = now.saturating_add(self.settings.max_jitter().mul_f64(self.stream.uniform()));
            self.waiting.push((at, OlsrMessage { ttl: message.ttl - 1, ..message.clone() }));
        }
        self.duplicates.insert(
            (message.originator, message.sequence),
            Duplicate { passed_on: passed_on || passes_on, until: hold },
        );
    }

    fn message(&mut self, body: OlsrBody, validity: Time, ttl: u8) -> Message {
        self.sequence = self.sequence.wrapping_add(1);
        Message::Olsr(OlsrMessage { originator: self.me, sequence: self.sequence, validity, ttl, body })
    }

    /// One interval from now, less a random jitter.
    fn next(&mut self, now: Time, interval: Time) -> Time {
        now.saturating_add(interval.saturating_sub(self.settings.max_jitter().mul_f64(self.stream.uniform())))
    }
}
