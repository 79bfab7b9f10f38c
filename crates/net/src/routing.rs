//! Shortest paths with equal-cost multipath (RFC 2992's hash choice), as source routes in an arena.
//!
//! A route is a run of link indices that ends in [`END`]. A packet carries its place on the route, so a hop needs no
//! lookup (csg-htsim's source routes). Equal routes are stored once and never freed, so packets in flight stay valid
//! when routes change.

use crate::bond::{Address, CLASSES, Distribution, HashPolicy, Headers};
use crate::{LinkId, Topology, VertexId};
use des::define_index;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

define_index! {
    /// The start of a route in the arena.
    pub RouteId
}

/// Marks the end of a route.
pub(crate) const END: u32 = u32::MAX;

/// What ECMP hashes: the 5-tuple of a flow (the protocol is TCP).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowKey {
    /// The sending vertex.
    pub from: VertexId,
    /// The receiving vertex.
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
    /// The hash by which `vertex` chooses among equal paths: the same in every run and on every machine.
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
///
/// A bond counts as one link here. End e of the bonds has the link number `links` + e. On a route it stands as `links`
/// + 840 e + (the flow's hash mod 840).
#[derive(Debug)]
pub(crate) struct Routing {
    /// How many links the topology has.
    links: u32,
    /// The hash policy of each end of a bond; `None` for round robin.
    policies: Vec<Option<HashPolicy>>,
    /// Number of each host.
    hosts: Vec<u32>,
    /// The vertex and link of each host that has a single link, to a vertex that forwards. Such hosts, most of a large
    /// network, take no part in the search for shortest paths.
    leaves: Vec<Option<(VertexId, LinkId)>>,
    /// The number of each vertex among those that are no leaves.
    inner: Vec<u32>,
    /// Neighbours of each vertex with the link to them; leaves are left out.
    neighbours: Vec<Vec<(VertexId, LinkId)>>,
    /// The link from a vertex to itself, if it has one.
    loopbacks: Vec<Option<LinkId>>,
    forwards: Vec<bool>,
    down: Vec<bool>,
    /// Hops to a destination from every vertex that is no leaf, computed on first use.
    distances: Vec<Option<Box<[u16]>>>,
    arena: Vec<u32>,
    known: BTreeMap<Box<[u32]>, RouteId>,
    /// Routes between two vertices with only one shortest path and no bond on it: all flows share them.
    only: BTreeMap<(u32, u32), RouteId>,
}

impl Routing {
    pub(crate) fn new(topology: &Topology) -> Self {
        let vertices = topology.vertex_count();
        let mut neighbours = vec![Vec::new(); vertices];
        let mut connect = |(a, b): (VertexId, VertexId), forth: LinkId| {
            neighbours[a.0 as usize].push((b, forth));
            neighbours[b.0 as usize].push((a, forth.reverse()));
        };
        let members: BTreeSet<u32> = topology.bonds().iter().flat_map(|bond| &bond.members).map(|m| m.0 / 2).collect();
        for (k, cable) in topology.cables().iter().enumerate().filter(|(k, _)| !members.contains(&(*k as u32))) {
            connect((cable.a, cable.b), LinkId(2 * k as u32));
        }
        let links = 2 * topology.cables().len() as u32;
        let mut policies = Vec::new();
        for (k, bond) in topology.bonds().iter().enumerate() {
            let Some(first) = bond.members.first() else { continue };
            connect(topology.ends(*first), LinkId(links + 2 * k as u32));
            policies.extend(bond.ends.map(|end| match end.distribution {
                Distribution::Hash(policy) => Some(policy),
                Distribution::RoundRobin => None,
            }));
        }
        let mut hosts = vec![0; vertices];
        for (number, host) in topology.hosts().iter().enumerate() {
            hosts[host.0 as usize] = number as u32;
        }
        let forwards: Vec<bool> = topology.vertices.iter().map(|vertex| vertex.forwards).collect();
        let mut loopbacks = vec![None; vertices];
        for (vertex, neighbours) in (0..).map(VertexId).zip(&mut neighbours) {
            loopbacks[vertex.0 as usize] = neighbours.iter().find(|(to, _)| *to == vertex).map(|(_, link)| *link);
            neighbours.retain(|(to, _)| *to != vertex);
        }
        let leaf = |vertex: usize| match neighbours[vertex].as_slice() {
            [(to, link)] if !forwards[vertex] && forwards[to.0 as usize] => Some((*to, *link)),
            _ => None,
        };
        let leaves: Vec<_> = (0..vertices).map(leaf).collect();
        let mut inner = Vec::with_capacity(vertices);
        let mut count = 0;
        for leaf in &leaves {
            inner.push(count);
            count += u32::from(leaf.is_none());
        }
        for neighbours in &mut neighbours {
            neighbours.retain(|(to, _)| leaves[to.0 as usize].is_none());
        }
        Self {
            links,
            hosts,
            leaves,
            inner,
            neighbours,
            loopbacks,
            forwards,
            down: vec![false; links as usize + policies.len()],
            policies,
            distances: vec![None; count as usize],
            arena: Vec::new(),
            known: BTreeMap::new(),
            only: BTreeMap::new(),
        }
    }

    /// The link index at a place in the arena, or [`END`].
    #[inline]
    pub(crate) fn at(&self, place: u32) -> u32 {
        self.arena[place as usize]
    }

    /// A link has gone up or down: distances are computed anew.
    pub(crate) fn set_down(&mut self, link: LinkId, down: bool) {
        self.down[link.0 as usize] = down;
        self.distances.fill(None);
        self.only.clear();
    }

    /// The route of a flow, if its end is reachable. A flow to its own vertex takes the loopback, if there is one.
    pub(crate) fn route(&mut self, key: FlowKey) -> Option<RouteId> {
        if key.from == key.to {
            let loopback = self.loopbacks[key.from.0 as usize]?;
            return Some(self.intern(vec![loopback.0]));
        }
        if let Some(route) = self.only.get(&(key.from.0, key.to.0)) {
            return Some(*route);
        }
        let mut links = Vec::new();
        let mut alone = self.lead(key, key.from, key.to, &mut links)?;
        for place in &mut links {
            alone &= *place < self.links;
            *place = self.place_of(LinkId(*place), key);
        }
        let route = self.intern(links);
        if alone {
            self.only.insert((key.from.0, key.to.0), route);
        }
        Some(route)
    }

    /// The route of a flow through a switch: the shortest path to it, then the shortest to the end.
    pub(crate) fn route_via(&mut self, key: FlowKey, via: VertexId) -> Option<RouteId> {
        let mut links = Vec::new();
        self.lead(key, key.from, via, &mut links)?;
        self.lead(key, via, key.to, &mut links)?;
        for place in &mut links {
            *place = self.place_of(LinkId(*place), key);
        }
        Some(self.intern(links))
    }

    /// Appends the links of a shortest path of a flow; `None` if there is none. True if there was only one.
    fn lead(&mut self, key: FlowKey, from: VertexId, to: VertexId, links: &mut Vec<u32>) -> Option<bool> {
        let mut at = from;
        if let Some((vertex, link)) = self.leaves[from.0 as usize] {
            links.push(self.if_up(link)?);
            at = vertex;
        }
        let last = match self.leaves[to.0 as usize] {
            Some((vertex, link)) => Some((vertex, self.if_up(link.reverse())?)),
            None => None,
        };
        let to = last.map_or(to, |(vertex, _)| vertex);
        let inner = |vertex: VertexId| self.inner[vertex.0 as usize] as usize;
        let count = self.distances.len();
        let distances = self.distances[inner(to)]
            .get_or_insert_with(|| distances_to(to, &self.inner, &self.neighbours, &self.forwards, &self.down, count));
        if distances[inner(at)] == UNREACHABLE {
            return None;
        }
        let mut alone = true;
        while at != to {
            let remaining = distances[inner(at)] - 1;
            let nearer = |(vertex, link): &&(VertexId, LinkId)| {
                distances[inner(*vertex)] == remaining
                    && !self.down[link.0 as usize]
                    && (*vertex == to || self.forwards[vertex.0 as usize])
            };
            let choices = self.neighbours[at.0 as usize].iter().filter(nearer);
            let count = choices.clone().count() as u64;
            alone &= count == 1;
            let choice = (u128::from(key.hash(at.0 as usize)) * u128::from(count)) >> 64;
            let (vertex, link) = *choices.clone().nth(choice as usize)?;
            links.push(link.0);
            at = vertex;
        }
        links.extend(last.map(|(_, link)| link));
        Some(alone)
    }

    fn if_up(&self, link: LinkId) -> Option<u32> {
        (!self.down[link.0 as usize]).then_some(link.0)
    }

    /// How a link stands on a flow's route.
    fn place_of(&self, link: LinkId, key: FlowKey) -> u32 {
        let Some(end) = link.0.checked_sub(self.links) else { return link.0 };
        let address = |vertex: VertexId| Address::of_host(self.hosts[vertex.0 as usize]);
        let hash = self.policies[end as usize].map_or(0, |policy| {
            policy.hash(&Headers {
                source: address(key.from),
                destination: address(key.to),
                source_port: key.from_port,
                destination_port: key.to_port,
            })
        });
        self.links + end * CLASSES + hash % CLASSES
    }

    /// The bond end and the hash remainder that `at` stands for; `None` for a plain link.
    pub(crate) fn bond_for(&self, at: u32) -> Option<(usize, u32)> {
        let at = at.checked_sub(self.links)?;
        Some(((at / CLASSES) as usize, at % CLASSES))
    }
    /// The link number of a bond, seen from one of its ends.
    pub(crate) fn bond_link(&self, end: usize) -> LinkId {
        LinkId(self.links + end as u32)
    }

    fn intern(&mut self, links: Vec<u32>) -> RouteId {
        let arena = &mut self.arena;
        *self.known.entry(links.into_boxed_slice()).or_insert_with_key(|links| {
            let start = arena.len() as u32;
            arena.extend(links);
            arena.push(END);
            RouteId(start)
        })
    }

    /// The places of a route: links, and bonds as [`Routing::bond_for`] decodes them.
    pub(crate) fn places(&self, route: RouteId) -> impl Iterator<Item = u32> {
        self.arena[route.0 as usize..].iter().copied().take_while(|at| *at != END)
    }
}

/// Breadth-first search backwards from the destination. A vertex that does not forward can only end a path.
fn distances_to(
    to: VertexId,
    inner: &[u32],
    neighbours: &[Vec<(VertexId, LinkId)>],
    forwards: &[bool],
    down: &[bool],
    count: usize,
) -> Box<[u16]> {
    let mut distances = vec![UNREACHABLE; count].into_boxed_slice();
    distances[inner[to.0 as usize] as usize] = 0;
    let mut frontier = VecDeque::from([to]);
    while let Some(vertex) = frontier.pop_front() {
        if vertex != to && !forwards[vertex.0 as usize] {
            continue;
        }
        let distance = distances[inner[vertex.0 as usize] as usize] + 1;
        for (neighbour, link) in &neighbours[vertex.0 as usize] {
            let known = &mut distances[inner[neighbour.0 as usize] as usize];
            if *known == UNREACHABLE && !down[link.reverse().0 as usize] {
                *known = distance;
                frontier.push_back(*neighbour);
            }
        }
    }
    distances
}
