//! Graphs of hosts and switches, and the usual ones ready-made.

mod dcell;
mod fat_tree;
mod parking_lot;

pub use dcell::Dcell;
pub use parking_lot::parking_lot_pair;

use crate::bond::BondSpec;
use crate::{LinkSpec, SharedBufferSpec};
use des::define_index;
use std::collections::BTreeMap;
use thiserror::Error;

define_index! {
    /// A host or switch of a topology.
    pub VertexId;
    /// One direction of a link. The two directions of a cable are 2k and 2k + 1.
    pub LinkId
}

impl LinkId {
    /// The other direction of the same cable.
    pub const fn reverse(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// The kind of a vertex. Switches forward; hosts only where told to ([`Topology::let_forward`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VertexKind {
    /// Sends and receives.
    Host,
    /// Forwards packets between links; neither source nor sink.
    Switch,
}

#[derive(Clone, Debug)]
pub(crate) struct Vertex {
    pub(crate) name: String,
    pub(crate) kind: VertexKind,
    pub(crate) forwards: bool,
    /// The first link that begins here and ends elsewhere.
    uplink: Option<LinkId>,
}

/// Why a topology is refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum TopologyError {
    /// Ports that cannot be halved.
    #[error("a fat-tree's switches have an even number of ports, at least 2, not {0}")]
    FatTree(u32),
    /// Too few or too many servers.
    #[error(
        "DCell({per_switch}, {level}) has none or more than 200000 servers: their number is squared with each level"
    )]
    Dcell {
        /// Servers on a mini-switch.
        per_switch: u32,
        /// Level of recursion.
        level: u32,
    },
}

/// A full-duplex link between two vertices.
#[derive(Clone, Debug)]
pub struct Cable {
    /// One end.
    pub a: VertexId,
    /// The other end.
    pub b: VertexId,
    /// The direction a to b, whose queue is at a.
    pub forth: LinkSpec,
    /// The direction b to a, whose queue is at b.
    pub back: LinkSpec,
}

/// A graph of hosts and switches.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) cables: Vec<Cable>,
    hosts: Vec<VertexId>,
    shared: Vec<(VertexId, SharedBufferSpec)>,
    bonds: Vec<BondSpec>,
    /// The first vertex of each name.
    by_name: BTreeMap<String, VertexId>,
    /// For each cable in a bond: the first bond that it is in, and its number among the members.
    in_bond: BTreeMap<u32, (usize, usize)>,
}

impl Topology {
    /// A topology without vertices.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a host.
    pub fn add_host(&mut self, name: impl Into<String>) -> VertexId {
        let host = self.add(name.into(), VertexKind::Host);
        self.hosts.push(host);
        host
    }
    /// Adds a switch.
    pub fn add_switch(&mut self, name: impl Into<String>) -> VertexId {
        self.add(name.into(), VertexKind::Switch)
    }
    fn add(&mut self, name: String, kind: VertexKind) -> VertexId {
        let vertex = VertexId(self.vertices.len() as u32);
        self.by_name.entry(name.clone()).or_insert(vertex);
        self.vertices.push(Vertex { name, kind, forwards: kind == VertexKind::Switch, uplink: None });
        vertex
    }
    /// Lets a host forward like a switch, without delay of its own: for server-centric networks.
    pub fn let_forward(&mut self, host: VertexId) {
        self.vertices[host.0 as usize].forwards = true;
    }
    /// Whether a vertex forwards packets for others.
    pub fn forwards(&self, vertex: VertexId) -> bool {
        self.vertices[vertex.0 as usize].forwards
    }
    /// Connects two vertices by a full-duplex link, equal both ways. Returns the direction a to b.
    pub fn connect(&mut self, a: VertexId, b: VertexId, spec: &LinkSpec) -> LinkId {
        self.connect_both(a, b, spec.clone(), spec.clone())
    }
    /// Connects two vertices by a full-duplex link with separate settings each way. Returns the direction a to b.
    pub fn connect_both(&mut self, a: VertexId, b: VertexId, forth: LinkSpec, back: LinkSpec) -> LinkId {
        let link = LinkId(2 * self.cables.len() as u32);
        self.cables.push(Cable { a, b, forth, back });
        if a != b {
            for (vertex, link) in [(a, link), (b, link.reverse())] {
                self.vertices[vertex.0 as usize].uplink.get_or_insert(link);
            }
        }
        link
    }

    /// Nodes that share a physical host. Each connects to a bridge inside the host by a link of `inside`; the bridge
    /// connects to `switch` by `uplink`, the host's one network card. Traffic between the nodes never leaves the host.
    /// Returns the nodes.
    pub fn add_shared_host(
        &mut self,
        name: &str,
        nodes: usize,
        inside: &LinkSpec,
        switch: VertexId,
        uplink: &LinkSpec,
    ) -> Vec<VertexId> {
        let bridge = self.add_switch(format!("{name}/bridge"));
        self.connect(bridge, switch, uplink);
        let attach = |i| {
            let node = self.add_host(format!("{name}/{i}"));
            self.connect(node, bridge, inside);
            node
        };
        (0..nodes).map(attach).collect()
    }

    /// Gives a switch one buffer for the queues of all its ports. Each port's limit and discipline still hold.
    pub fn share_buffer(&mut self, switch: VertexId, buffer: SharedBufferSpec) {
        self.shared.retain(|(at, _)| *at != switch);
        self.shared.push((switch, buffer));
    }
    /// The switches whose ports share a buffer.
    pub fn shared_buffers(&self) -> &[(VertexId, SharedBufferSpec)] {
        &self.shared
    }
    /// Bonds cables. [`BondSpec::check`] says whether they can be bonded.
    pub fn add_bond(&mut self, bond: BondSpec) {
        for (member, link) in bond.members.iter().enumerate() {
            self.in_bond.entry(link.0 / 2).or_insert((self.bonds.len(), member));
        }
        self.bonds.push(bond);
    }
    /// The bonds in the order in which they were added.
    pub fn bonds(&self) -> &[BondSpec] {
        &self.bonds
    }
    /// The bond of a link, and the link's number among its members.
    pub fn bond_of(&self, link: LinkId) -> Option<(&BondSpec, usize)> {
        let (bond, member) = *self.in_bond.get(&(link.0 / 2))?;
        Some((&self.bonds[bond], member))
    }

    /// Gives every host a loopback: a cable to itself.
    pub fn add_loopbacks(&mut self, spec: &LinkSpec) {
        for host in self.hosts.clone() {
            self.connect(host, host, spec);
        }
    }

    /// The hosts in the order in which they were added.
    pub fn hosts(&self) -> &[VertexId] {
        &self.hosts
    }
    /// All cables; the directions of cable k are the links 2k and 2k + 1.
    pub fn cables(&self) -> &[Cable] {
        &self.cables
    }
    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.vertices.len()
    }
    /// A vertex by its name.
    pub fn find(&self, name: &str) -> Option<VertexId> {
        self.by_name.get(name).copied()
    }
    /// The name of a vertex.
    pub fn name(&self, vertex: VertexId) -> &str {
        &self.vertices[vertex.0 as usize].name
    }
    /// The kind of a vertex.
    pub fn kind(&self, vertex: VertexId) -> VertexKind {
        self.vertices[vertex.0 as usize].kind
    }
    /// The vertices at which a link begins and ends.
    pub fn ends(&self, link: LinkId) -> (VertexId, VertexId) {
        let cable = &self.cables[link.0 as usize / 2];
        if link.0.is_multiple_of(2) { (cable.a, cable.b) } else { (cable.b, cable.a) }
    }
    /// The settings of a link.
    pub fn spec(&self, link: LinkId) -> &LinkSpec {
        let cable = &self.cables[link.0 as usize / 2];
        if link.0.is_multiple_of(2) { &cable.forth } else { &cable.back }
    }
    /// The settings of a link, to change before the run.
    pub fn spec_mut(&mut self, link: LinkId) -> &mut LinkSpec {
        let cable = &mut self.cables[link.0 as usize / 2];
        if link.0.is_multiple_of(2) { &mut cable.forth } else { &mut cable.back }
    }
    /// The name of a link: `from->to`, or `from->to #2` for the second member of a bond.
    pub fn link_name(&self, link: LinkId) -> String {
        let (from, to) = self.ends(link);
        let member = self.bond_of(link).map_or_else(String::new, |(_, member)| format!(" #{}", member + 1));
        format!("{}->{}{member}", self.name(from), self.name(to))
    }
    /// The link on which a host sends, the first if there are several; its reverse is one on which it receives. `None`
    /// for a vertex without a cable.
    pub fn uplink(&self, host: VertexId) -> Option<LinkId> {
        self.vertices[host.0 as usize].uplink
    }

    /// Hosts on one switch.
    pub fn star(hosts: usize, link: &LinkSpec) -> Self {
        let mut topology = Self::new();
        let switch = topology.add_switch("switch");
        topology.add_hosts(hosts, switch, link);
        topology
    }

    /// `pairs` senders on one router, as many receivers on another, and a bottleneck between the routers. Senders are
    /// the first hosts. The bottleneck is cable 0; its loaded direction is link 0.
    pub fn dumbbell(pairs: usize, access: &LinkSpec, bottleneck: &LinkSpec, bottleneck_back: &LinkSpec) -> Self {
        let mut topology = Self::new();
        let left = topology.add_switch("left");
        let right = topology.add_switch("right");
        topology.connect_both(left, right, bottleneck.clone(), bottleneck_back.clone());
        topology.add_hosts(pairs, left, access);
        topology.add_hosts(pairs, right, access);
        topology
    }

    /// Racks of hosts; `trunk` connects each rack's switch to one core switch.
    pub fn racks(racks: usize, hosts_per_rack: usize, link: &LinkSpec, trunk: &LinkSpec) -> Self {
        let mut topology = Self::new();
        let core = topology.add_switch("core");
        for rack in 0..racks {
            let switch = topology.add_switch(format!("rack-{rack}"));
            topology.connect(switch, core, trunk);
            topology.add_hosts(hosts_per_rack, switch, link);
        }
        topology
    }

    /// Two racks; `trunk` connects their switches directly.
    pub fn two_racks(hosts_per_rack: [usize; 2], link: &LinkSpec, trunk: &LinkSpec) -> Self {
        let mut topology = Self::new();
        let first = topology.add_switch("rack-0");
        let second = topology.add_switch("rack-1");
        topology.connect(first, second, trunk);
        topology.add_hosts(hosts_per_rack[0], first, link);
        topology.add_hosts(hosts_per_rack[1], second, link);
        topology
    }

    /// A tree of switches below a root, with `fanouts` children per level. The children of the last level are hosts.
    /// `specs` are the links of each level.
    pub fn tree(fanouts: &[usize], specs: &[LinkSpec]) -> Self {
        let mut topology = Self::new();
        let mut level = vec![topology.add_switch("root")];
        for (depth, (fanout, spec)) in fanouts.iter().zip(specs).enumerate() {
            if depth + 1 == fanouts.len() {
                for parent in &level {
                    topology.add_hosts(*fanout, *parent, spec);
                }
                break;
            }
            let mut next = Vec::new();
            for parent in &level {
                for _ in 0..*fanout {
                    let child = topology.add_switch(format!("switch-{depth}-{}", next.len()));
                    topology.connect(child, *parent, spec);
                    next.push(child);
                }
            }
            level = next;
        }
        topology
    }

    /// Leaf switches with hosts, each leaf connected to every spine.
    pub fn leaf_spine(leaves: usize, hosts_per_leaf: usize, spines: usize, link: &LinkSpec, fabric: &LinkSpec) -> Self {
        let mut topology = Self::new();
        let spines: Vec<_> = (0..spines).map(|i| topology.add_switch(format!("spine-{i}"))).collect();
        for leaf in 0..leaves {
            let switch = topology.add_switch(format!("leaf-{leaf}"));
            for spine in &spines {
                topology.connect(switch, *spine, fabric);
            }
            topology.add_hosts(hosts_per_leaf, switch, link);
        }
        topology
    }

    /// Adds hosts named `host-0` and so on to a switch.
    pub fn add_hosts(&mut self, count: usize, switch: VertexId, link: &LinkSpec) {
        for _ in 0..count {
            let host = self.add_host(format!("host-{}", self.hosts.len()));
            self.connect(host, switch, link);
        }
    }
}
