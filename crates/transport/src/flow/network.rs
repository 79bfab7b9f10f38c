//! Nodes' interfaces, and how far nodes are from each other.

use net::{LinkId, SpecError, Topology, VertexId};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
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

#[derive(Clone, Copy, Debug)]
struct Node {
    vertex: VertexId,
    up: bool,
    /// The times from which the interface is free to send, and to receive.
    out_free: Time,
    in_free: Time,
    counted: Interface,
}

/// A process talks to another on its own node by memory copies.
const LOOPBACK_DELAY: Time = Time::from_us(10);

/// The interfaces of all nodes.
#[derive(Debug)]
pub(super) struct Interfaces {
    topology: Topology,
    nodes: Vec<Node>,
    /// A header with its framing.
    header: u64,
    /// Cables that are down.
    down: BTreeSet<u32>,
    /// The propagation delays from a vertex to all others, for those that were asked for; [`Time::MAX`] where no path
    /// leads.
    delays: RefCell<BTreeMap<VertexId, Vec<Time>>>,
}

impl Interfaces {
    pub fn new(topology: Topology, framing: Bytes) -> Self {
        let node = |vertex: &VertexId| Node {
            vertex: *vertex,
            up: true,
            out_free: Time::ZERO,
            in_free: Time::ZERO,
            counted: Interface::default(),
        };
        Self {
            nodes: topology.hosts().iter().map(node).collect(),
            topology,
            header: u64::from(BASE_HEADER) + framing.get(),
            down: BTreeSet::new(),
            delays: RefCell::default(),
        }
    }
    pub fn topology(&self) -> &Topology {
        &self.topology
    }
    pub fn is_up(&self, node: u32) -> bool {
        self.nodes[node as usize].up
    }
    pub fn set_up(&mut self, node: u32, up: bool) {
        self.nodes[node as usize].up = up;
    }
    pub fn counted(&self) -> Vec<Interface> {
        self.nodes.iter().map(|node| node.counted).collect()
    }
    pub fn set_link_up(&mut self, link: LinkId, up: bool) {
        if up {
            self.down.remove(&(link.0 / 2));
        } else {
            self.down.insert(link.0 / 2);
        }
        self.delays.borrow_mut().clear();
    }
    pub fn set_link_rate(&mut self, link: LinkId, rate: BitRate) -> Result<(), SpecError> {
        let mut spec = self.topology.spec(link).clone();
        spec.rate = rate;
        spec.check()?;
        *self.topology.spec_mut(link) = spec;
        Ok(())
    }

    /// Whether a path leads from a node to another.
    pub fn reach(&self, from: u32, to: u32) -> bool {
        from == to || self.path(from, to) < Time::MAX
    }
    /// Propagation delay from a node to another.
    pub fn delay(&self, from: u32, to: u32) -> Time {
        let path = if from == to { LOOPBACK_DELAY } else { self.path(from, to) };
        // Nothing new is sent where no path leads. A message already in flight keeps its arrival time.
        if path == Time::MAX { Time::ZERO } else { path }
    }

    /// Sends a message. Returns the arrival time of its last byte.
    pub fn carry(&mut self, now: Time, (from, to): (u32, u32), bytes: Bytes, mss: u16) -> Time {
        if from == to {
            return now + LOOPBACK_DELAY;
        }
        let segments = bytes.get().div_ceil(u64::from(mss.max(1)));
        let wire = bytes + Bytes::new(segments * self.header);
        let delay = self.delay(from, to);
        let (out, into) = (self.rate(from, false), self.rate(to, true));
        let left = self.nodes[from as usize].out_free.max(now) + out.transmission_time(wire);
        self.nodes[from as usize].out_free = left;
        let taken = self.nodes[to as usize].in_free.max(now + delay) + into.transmission_time(wire);
        let arrival = (left + delay).max(taken);
        self.nodes[to as usize].in_free = arrival;
        self.nodes[from as usize].counted.sent += wire;
        self.nodes[to as usize].counted.received += wire;
        arrival
    }

    /// The rate at which a node sends, or takes `into` itself: that of its first link, its token bucket's where that is
    /// lower, and all members' together where the link is a bond.
    fn rate(&self, node: u32, into: bool) -> BitRate {
        let Some(up) = self.topology.uplink(self.nodes[node as usize].vertex) else {
            return BitRate::from_gbps(10_000);
        };
        let link = if into { up.reverse() } else { up };
        let spec = self.topology.spec(link);
        let rate = spec.shaper.map_or(spec.rate, |shaper| shaper.rate.min(spec.rate));
        let members = self.topology.bond_of(up).map_or(1, |(bond, _)| bond.members.len() as u64);
        BitRate::from_bps(rate.as_bps() * members)
    }

    /// The least propagation delay (Dijkstra), by way of vertices that forward.
    fn path(&self, from: u32, to: u32) -> Time {
        let (from, to) = (self.nodes[from as usize].vertex, self.nodes[to as usize].vertex);
        // Distances are cached per switch: all hosts of one switch share them.
        let Some(first) = self.topology.uplink(from).filter(|link| !self.down.contains(&(link.0 / 2))) else {
            return Time::MAX;
        };
        let (_, neighbour) = self.topology.ends(first);
        let mut delays = self.delays.borrow_mut();
        let known = delays.entry(neighbour).or_insert_with(|| self.distances(neighbour));
        known[to.0 as usize].saturating_add(self.topology.spec(first).delay)
    }

    fn distances(&self, from: VertexId) -> Vec<Time> {
        let mut links: Vec<Vec<LinkId>> = vec![Vec::new(); self.topology.vertex_count()];
        for link in (0..2 * self.topology.cables().len() as u32).map(LinkId) {
            if !self.down.contains(&(link.0 / 2)) {
                links[self.topology.ends(link).0.0 as usize].push(link);
            }
        }
        let mut least = vec![Time::MAX; self.topology.vertex_count()];
        least[from.0 as usize] = Time::ZERO;
        let mut next = BinaryHeap::from([(Reverse(Time::ZERO), from.0)]);
        while let Some((Reverse(at), vertex)) = next.pop() {
            let forwards = vertex == from.0 || self.topology.forwards(VertexId(vertex));
            if at > least[vertex as usize] || !forwards {
                continue;
            }
            for link in &links[vertex as usize] {
                let (to, arrival) = (self.topology.ends(*link).1, at + self.topology.spec(*link).delay);
                if arrival < least[to.0 as usize] {
                    least[to.0 as usize] = arrival;
                    next.push((Reverse(arrival), to.0));
                }
            }
        }
        least
    }
}
