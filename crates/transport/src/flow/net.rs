//! The links as flows see them: what they carry, who is up, which way a stream goes.

use super::fluid::{Hop, PRECISION, WHOLE};
use super::limits::Terms;
use net::{FlowKey, LinkId, Paths, SpecError, Topology, VertexId};
use std::collections::BTreeMap;
use tcp::BASE_HEADER;
use units::{BitRate, Bytes, Time};

/// Bytes on the wire at a node's interfaces, all of them together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Bytes that came in.
    pub received: Bytes,
    /// Bytes that went out.
    pub sent: Bytes,
}

/// A process talks to another on its own node by memory copies, where the topology has no loopback.
const LOOPBACK_DELAY: Time = Time::from_us(10);

/// Bytes of a SYN's options: MSS, SACK-permitted, timestamps, window scale (RFC 7323).
const SYN_OPTIONS: u32 = 20;

/// Where a stream goes, and its acknowledgements.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// What it takes of each link, its acknowledgements included. Empty on a node without a loopback.
    pub hops: Vec<Hop>,
    /// The links there in their order, and how many members of a bond take turns as each.
    pub links: Vec<(LinkId, u32)>,
    /// Bytes per second of the slowest link.
    pub slowest: f64,
    /// Propagation to the other end.
    pub delay: Time,
    /// Propagation back.
    pub back: Time,
    /// Seconds per byte, over all links there, for what waits at each until it is whole.
    stored: f64,
    stored_back: f64,
    /// The probability that a packet is lost.
    pub loss: f64,
    /// The probability that a packet of the other direction is lost.
    pub loss_back: f64,
}

impl Way {
    /// How long a packet of `bytes` takes that finds nothing before it.
    pub fn trip(&self, bytes: f64) -> Time {
        self.delay + Time::from_secs_f64(bytes * self.stored)
    }
    /// How long a packet of `bytes` takes that leaves the slowest link now.
    pub fn rest(&self, bytes: f64) -> Time {
        let others = self.stored - if self.slowest < f64::INFINITY { 1.0 / self.slowest } else { 0.0 };
        self.delay + Time::from_secs_f64((bytes * others).max(0.0))
    }
    /// How long a packet of `bytes` takes back.
    pub fn trip_back(&self, bytes: f64) -> Time {
        self.back + Time::from_secs_f64(bytes * self.stored_back)
    }
    /// The round trip of a full segment and its acknowledgement, without queues.
    pub fn rtt(&self, terms: &Terms) -> Time {
        self.trip(terms.payload + terms.header) + self.trip_back(terms.header)
    }
}

/// Nodes and links.
#[derive(Debug)]
pub(super) struct Network {
    topology: Topology,
    paths: Paths,
    up: Vec<bool>,
    counted: Vec<Interface>,
    next_port: Vec<u16>,
    pub framing: Bytes,
}

/// Bytes per second of a link: its token bucket's where that is slower.
pub(super) fn capacity(topology: &Topology, link: LinkId) -> f64 {
    let spec = topology.spec(link);
    let rate = spec.shaper.map_or(spec.rate, |shaper| shaper.rate.min(spec.rate));
    rate.as_bps() as f64 / 8.0
}

/// The precision of rates. In a network of many hosts a flow that ends changes a few others, each of these a few more, by
/// less and less: in one of a thousand to a tenth of the precision are 2.4 times as many changes, and a job takes 0.02 %
/// longer.
pub(super) fn precision(topology: &Topology) -> f64 {
    const MANY: usize = 100;
    if topology.hosts().len() < MANY { PRECISION } else { 10.0 * PRECISION }
}

impl Network {
    pub fn new(topology: Topology, framing: Bytes) -> Self {
        let nodes = topology.hosts().len();
        Self {
            paths: Paths::new(&topology),
            up: vec![true; nodes],
            counted: vec![Interface::default(); nodes],
            next_port: vec![32_768; nodes],
            topology,
            framing,
        }
    }
    pub const fn topology(&self) -> &Topology {
        &self.topology
    }
    pub fn is_up(&self, node: u32) -> bool {
        self.up[node as usize]
    }
    pub fn set_up(&mut self, node: u32, up: bool) {
        self.up[node as usize] = up;
    }
    pub fn set_link_up(&mut self, link: LinkId, up: bool) {
        self.paths.set_up(link, up);
    }
    /// Links, one of both directions, that are down.
    pub fn down(&self) -> impl Iterator<Item = LinkId> {
        self.paths.down()
    }
    /// Changes a link's rate. Returns its capacity.
    pub fn set_link_rate(&mut self, link: LinkId, rate: BitRate) -> Result<f64, SpecError> {
        let mut spec = self.topology.spec(link).clone();
        spec.rate = rate;
        spec.check()?;
        *self.topology.spec_mut(link) = spec;
        Ok(capacity(&self.topology, link))
    }
    /// A port for a connection that a node opens, by which ECMP and bonds know its flow (Linux's
    /// `ip_local_port_range`).
    pub fn port(&mut self, node: u32) -> u16 {
        let next = &mut self.next_port[node as usize];
        let port = *next;
        *next = if port >= 60_999 { 32_768 } else { port + 1 };
        port
    }
    /// Bytes of a SYN on the wire.
    pub fn syn(&self) -> f64 {
        f64::from(BASE_HEADER + SYN_OPTIONS) + self.framing.get() as f64
    }

    /// Counts `wire` bytes of a stream between two nodes, and `back` bytes of acknowledgements.
    pub fn count(counted: &mut [Interface], (from, to): (u32, u32), wire: f64, back: f64) {
        if from != to {
            let (wire, back) = (Bytes::new(units::whole(wire)), Bytes::new(units::whole(back)));
            counted[from as usize].sent += wire;
            counted[to as usize].received += wire;
            counted[to as usize].sent += back;
            counted[from as usize].received += back;
        }
    }
    pub fn count_sent(&mut self, ends: (u32, u32), wire: f64, back: f64) {
        Self::count(&mut self.counted, ends, wire, back);
    }
    pub fn counted(&self) -> Vec<Interface> {
        self.counted.clone()
    }

    /// The way of a stream between two nodes' ports, if there is one. `back` bytes of acknowledgements go for each byte.
    pub fn way(&mut self, (from, to): (u32, u32), ports: (u16, u16), via: Option<VertexId>, back: f64) -> Option<Way> {
        let vertex = |node: u32| self.topology.hosts()[node as usize];
        let key = FlowKey { from: vertex(from), to: vertex(to), from_port: ports.0, to_port: ports.1 };
        let paths = (self.paths.links(key, via), self.paths.links(key.reverse(), via));
        let (Some(forth), Some(reverse)) = paths else {
            let own = Way {
                hops: Vec::new(),
                links: Vec::new(),
                slowest: f64::INFINITY,
                delay: LOOPBACK_DELAY,
                back: LOOPBACK_DELAY,
                stored: 0.0,
                stored_back: 0.0,
                loss: 0.0,
                loss_back: 0.0,
            };
            return (from == to).then_some(own);
        };
        // Acknowledgements are ahead of data that they meet in a queue: what is lost of them the next one makes good.
        let mut weights: BTreeMap<u32, (u32, bool)> = BTreeMap::new();
        for (links, part, ahead) in [(&forth, 1.0, false), (&reverse, back, true)] {
            for (link, turns) in links {
                let weight = (part * f64::from(WHOLE) / f64::from(*turns)).round().max(1.0);
                weights.entry(link.0).or_insert((0, ahead)).0 += units::word(units::whole(weight));
            }
        }
        let sum = |links: &[(LinkId, u32)]| {
            let (mut delay, mut stored, mut kept, mut slowest) = (0.0, 0.0, 1.0, f64::INFINITY);
            for (link, turns) in links {
                let spec = self.topology.spec(*link);
                // Of members that take turns a packet crosses one.
                let part = 1.0 / f64::from(*turns);
                let rate = capacity(&self.topology, *link);
                delay += spec.delay.as_secs_f64() * part;
                stored += part / rate;
                kept *= 1.0 - spec.loss.mean() * part;
                slowest = slowest.min(rate * f64::from(*turns));
            }
            (Time::from_secs_f64(delay), stored, 1.0 - kept, slowest)
        };
        let (delay, stored, loss, slowest) = sum(&forth);
        let (there_and_back, stored_back, loss_back, _) = sum(&reverse);
        let hops = weights.into_iter().map(|(link, (weight, ahead))| Hop { link, weight, ahead }).collect();
        Some(Way { hops, links: forth, slowest, delay, back: there_and_back, stored, stored_back, loss, loss_back })
    }
}
