//! Shortest paths with equal-cost multipath (RFC 2992's hash choice), as source routes in an arena.
//!
//! A route is a run of link indices that ends in [`END`]; a packet carries its place on it, so that no hop looks anything up
//! (csg-htsim's source routes). Equal routes are stored once and kept, so that packets in flight stay valid when routes change.

use crate::{LinkId, Topology, VertexId};
use des::define_index;
use std::collections::{BTreeMap, VecDeque};

define_index! {
    /// The start of a route in the arena.
    pub RouteId
}

/// The mark after a route's last link.
pub(crate) const END: u32 = u32::MAX;

/// What ECMP hashes: the 5-tuple of a flow (the protocol is TCP).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowKey {
    /// Sender.
    pub from: VertexId,
    /// Receiver.
    pub to: VertexId,
    /// Sender's port.
    pub from_port: u16,
    /// Receiver's port.
    pub to_port: u16,
}

impl FlowKey {
    /// The other direction of the same connection.
    pub const fn reverse(self) -> Self {
        Self { from: self.to, to: self.from, from_port: self.to_port, to_port: self.from_port }
    }
    /// The same for every run and machine.
    fn hash(self, vertex: usize) -> u64 {
        let ports = u64::from(self.from_port) << 16 | u64::from(self.to_port);
        let ends = u64::from(self.from.0) << 32 | u64::from(self.to.0);
        mix(mix(mix(ends) ^ ports) ^ vertex as u64)
    }
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
pub(crate) const fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

const UNREACHABLE: u16 = u16::MAX;

/// Distances and routes over the links that are up.
#[derive(Debug)]
pub(crate) struct Routing {
    /// Neighbours of each vertex with the link to them.
    neighbours: Vec<Vec<(VertexId, LinkId)>>,
    forwards: Vec<bool>,
    down: Vec<bool>,
    /// Hops to a destination from every vertex, computed when first asked for.
    distances: Vec<Option<Box<[u16]>>>,
    arena: Vec<u32>,
    known: BTreeMap<Box<[LinkId]>, RouteId>,
}

impl Routing {
    pub(crate) fn new(topology: &Topology) -> Self {
        let vertices = topology.vertex_count();
        let mut neighbours = vec![Vec::new(); vertices];
        for (k, cable) in topology.cables().iter().enumerate() {
            let forth = LinkId(2 * k as u32);
            neighbours[cable.a.0 as usize].push((cable.b, forth));
            neighbours[cable.b.0 as usize].push((cable.a, forth.reverse()));
        }
        Self {
            neighbours,
            forwards: topology.vertices.iter().map(|vertex| vertex.forwards).collect(),
            down: vec![false; 2 * topology.cables().len()],
            distances: vec![None; vertices],
            arena: Vec::new(),
            known: BTreeMap::new(),
        }
    }

    /// The link index at a place in the arena, or [`END`].
    #[inline]
    pub(crate) fn at(&self, place: u32) -> u32 {
        self.arena[place as usize]
    }

    /// A link's state has changed: distances are computed anew.
    pub(crate) fn set_down(&mut self, link: LinkId, down: bool) {
        self.down[link.0 as usize] = down;
        self.distances.fill(None);
    }

    /// The route of a flow, if its end can be reached. A flow to its own vertex takes its loopback, if it has one.
    pub(crate) fn route(&mut self, key: FlowKey) -> Option<RouteId> {
        if key.from == key.to {
            let (_, loopback) = self.neighbours[key.from.0 as usize].iter().find(|(vertex, _)| *vertex == key.from)?;
            return Some(self.intern(vec![*loopback]));
        }
        let distances = distances_to(key.to, &mut self.distances, &self.neighbours, &self.forwards, &self.down);
        let mut at = key.from;
        if distances[at.0 as usize] == UNREACHABLE {
            return None;
        }
        let mut links = Vec::with_capacity(usize::from(distances[at.0 as usize]));
        while at != key.to {
            let remaining = distances[at.0 as usize] - 1;
            let nearer = |(vertex, link): &&(VertexId, LinkId)| {
                distances[vertex.0 as usize] == remaining
                    && !self.down[link.0 as usize]
                    && (*vertex == key.to || self.forwards[vertex.0 as usize])
            };
            let choices = self.neighbours[at.0 as usize].iter().filter(nearer);
            let count = choices.clone().count() as u64;
            let choice = (u128::from(key.hash(at.0 as usize)) * u128::from(count)) >> 64;
            let (vertex, link) = *choices.clone().nth(choice as usize)?;
            links.push(link);
            at = vertex;
        }
        Some(self.intern(links))
    }

    fn intern(&mut self, links: Vec<LinkId>) -> RouteId {
        let arena = &mut self.arena;
        *self.known.entry(links.into_boxed_slice()).or_insert_with_key(|links| {
            let start = arena.len() as u32;
            arena.extend(links.iter().map(|link| link.0));
            arena.push(END);
            RouteId(start)
        })
    }

    /// The links of a route.
    pub(crate) fn links(&self, route: RouteId) -> impl Iterator<Item = LinkId> {
        self.arena[route.0 as usize..].iter().take_while(|link| **link != END).map(|link| LinkId(*link))
    }
}

/// Breadth-first from the destination backwards. What does not forward is the end of a path, never in its middle.
fn distances_to<'a>(
    to: VertexId,
    cache: &'a mut [Option<Box<[u16]>>],
    neighbours: &[Vec<(VertexId, LinkId)>],
    forwards: &[bool],
    down: &[bool],
) -> &'a [u16] {
    cache[to.0 as usize].get_or_insert_with(|| {
        let mut distances = vec![UNREACHABLE; neighbours.len()].into_boxed_slice();
        distances[to.0 as usize] = 0;
        let mut frontier = VecDeque::from([to]);
        while let Some(vertex) = frontier.pop_front() {
            if vertex != to && !forwards[vertex.0 as usize] {
                continue;
            }
            let distance = distances[vertex.0 as usize] + 1;
            for (neighbour, link) in &neighbours[vertex.0 as usize] {
                if distances[neighbour.0 as usize] == UNREACHABLE && !down[link.reverse().0 as usize] {
                    distances[neighbour.0 as usize] = distance;
                    frontier.push_back(*neighbour);
                }
            }
        }
        distances
    })
}
