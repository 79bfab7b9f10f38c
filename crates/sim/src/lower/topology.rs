//! The graph of hosts, switches and links that a scenario's network resolves to.

use super::bonds::{install, links, places};
use super::{object_store, queue};
use net::{
    Dcell, Discipline, LinkId, LinkSpec, Loss, SharedBufferSpec, TokenBucketSpec, Topology, VertexId, VertexKind,
};
use scenario::{Bond, Core, Direction, NodeSpec, Queue, Scenario, SharedBuffer, TopologyKind, node_name, node_number};
use std::collections::BTreeMap;
use units::BitRate;

/// The network as a graph. Its hosts are the nodes in order: the master, then the workers; and an object store that is
/// none of them.
pub fn topology(scenario: &Scenario) -> Topology {
    let nodes = scenario.nodes();
    let mut wiring = Wiring { scenario, nodes: &nodes, topology: Topology::new(), bridges: BTreeMap::new() };
    match scenario.network.topology {
        TopologyKind::Graph => wiring.graph(),
        TopologyKind::Wifi => wiring.air(),
        TopologyKind::Dcell => wiring.dcell(),
        _ => wiring.racks(),
    }
    wiring.shape();
    wiring.object_store();
    wiring.bonds();
    wiring.ports();
    wiring.topology
}

/// Rate of each core link of a rack with so many nodes.
fn core_rate(scenario: &Scenario, nodes: usize) -> BitRate {
    let network = &scenario.network;
    let spines = if network.topology == TopologyKind::LeafSpine { network.spines } else { 1 };
    network.core.rate.unwrap_or_else(|| {
        if !matches!(network.topology, TopologyKind::TwoRacks | TopologyKind::Tree | TopologyKind::LeafSpine) {
            return network.rate;
        }
        let share = nodes.max(1) as f64 / network.core.oversubscription / f64::from(spines);
        BitRate::from_bps(units::whole((network.rate.as_bps() as f64 * share).round()).max(1))
    })
}

struct Wiring<'a> {
    scenario: &'a Scenario,
    nodes: &'a [NodeSpec],
    topology: Topology,
    /// The switch inside each physical machine whose card its nodes share.
    bridges: BTreeMap<u32, VertexId>,
}

impl Wiring<'_> {
    /// A link of the network's own rate, delay and loss behind a queue.
    fn spec(&self, queue: &Queue) -> LinkSpec {
        let network = &self.scenario.network;
        LinkSpec::new(network.rate, network.delay)
            .with_loss(network.loss)
            .with_limit(queue::limit(queue.limit))
            .with_discipline(self.discipline(queue))
    }

    fn discipline(&self, queue: &Queue) -> Discipline {
        let packet = self.scenario.network.mtu + self.scenario.framing();
        queue::discipline(queue, packet, units::count(self.scenario.network.priority.len()) + 1)
    }

    fn core_spec(&self, rack: u32) -> LinkSpec {
        let network = &self.scenario.network;
        let Core { delay, loss, queue, .. } = &network.core;
        let nodes = match network.topology {
            // The one link between two racks carries what the larger can send.
            TopologyKind::TwoRacks => (1..=2).map(|rack| self.in_rack(rack)).max().unwrap_or(1),
            _ => self.in_rack(rack),
        };
        let queue = queue.as_ref().unwrap_or(&network.queue);
        LinkSpec::new(core_rate(self.scenario, nodes), delay.unwrap_or(network.delay))
            .with_loss(*loss)
            .with_limit(queue::limit(queue.limit))
            .with_discipline(self.discipline(queue))
    }

    fn in_rack(&self, rack: u32) -> usize {
        self.nodes.iter().filter(|node| node.rack == rack).count()
    }

    /// The built-in topologies: a switch per rack, and what connects the racks.
    fn racks(&mut self) {
        let kind = self.scenario.network.topology;
        let racks = self.scenario.racks();
        let name = |rack: u32| match (kind, rack) {
            (TopologyKind::Star, _) => "switch".to_owned(),
            (TopologyKind::Dumbbell, 1) => "left".to_owned(),
            (TopologyKind::Dumbbell, _) => "right".to_owned(),
            (TopologyKind::ParkingLot, _) => format!("router-{rack}"),
            _ => format!("rack-{rack}"),
        };
        let switches: Vec<VertexId> = if kind == TopologyKind::FatTree {
            let spec = self.core_spec(1);
            // An odd number of ports is refused before it comes to this.
            self.topology.add_fat_tree(self.scenario.network.ports, &spec).unwrap_or_default()
        } else {
            (1..=racks).map(|rack| self.topology.add_switch(name(rack))).collect()
        };
        match kind {
            TopologyKind::TwoRacks | TopologyKind::Dumbbell => {
                let spec = self.core_spec(1);
                self.topology.connect(switches[0], switches[1], &spec);
            }
            TopologyKind::Tree => self.spines(&switches, &["core".to_owned()]),
            TopologyKind::LeafSpine => {
                let spines: Vec<_> = (1..=self.scenario.network.spines).map(|spine| format!("spine-{spine}")).collect();
                self.spines(&switches, &spines);
            }
            TopologyKind::ParkingLot => {
                let spec = self.core_spec(1);
                for ends in switches.windows(2) {
                    self.topology.connect(ends[0], ends[1], &spec);
                }
            }
            TopologyKind::Star
            | TopologyKind::FatTree
            | TopologyKind::Dcell
            | TopologyKind::Graph
            | TopologyKind::Wifi => {}
        }
        for node in self.nodes {
            let Some(switch) = switches.get(node.rack as usize - 1) else { continue };
            let switch = self.switch_of(node, *switch);
            let host = self.topology.add_host(node.name.as_str());
            let (forth, back) = (self.spec(&self.scenario.network.host_queue), self.spec(&self.scenario.network.queue));
            self.topology.connect_both(host, switch, forth, back);
        }
    }

    /// A mini-switch per cell, and links between its servers: nodes first, then those that only forward.
    fn dcell(&mut self) {
        let network = &self.scenario.network;
        // One that is too large is refused before it comes to this.
        let Ok(plan) = Dcell::new(network.cell, network.level) else { return };
        let (forth, back) = (self.spec(&network.host_queue), self.spec(&network.queue));
        let mut servers = Vec::new();
        let mut switch = None;
        for server in 0..plan.servers {
            if server % plan.per_switch == 0 {
                switch = Some(self.topology.add_switch(format!("cell-{}", server / plan.per_switch + 1)));
            }
            let vertex = if let Some(node) = self.nodes.get(server) {
                let host = self.topology.add_host(node.name.as_str());
                self.topology.let_forward(host);
                host
            } else {
                self.topology.add_switch(format!("spare-{}", server - self.nodes.len() + 1))
            };
            if let Some(switch) = switch {
                self.topology.connect_both(vertex, switch, forth.clone(), back.clone());
            }
            servers.push(vertex);
        }
        let mut between = self.core_spec(1);
        if network.core.queue.is_none() {
            // Both ends are servers.
            between.limit = queue::limit(network.host_queue.limit);
            between.discipline = self.discipline(&network.host_queue);
        }
        for (a, b) in plan.links {
            self.topology.connect(servers[a], servers[b], &between);
        }
    }

    fn spines(&mut self, switches: &[VertexId], names: &[String]) {
        let spines: Vec<VertexId> = names.iter().map(|name| self.topology.add_switch(name.as_str())).collect();
        for (i, switch) in switches.iter().enumerate() {
            let spec = self.core_spec(units::count(i) + 1);
            for spine in &spines {
                self.topology.connect(*switch, *spine, &spec);
            }
        }
    }

    /// The switch that a node hangs on: its rack's, or the bridge of a machine whose card it shares.
    fn switch_of(&mut self, node: &NodeSpec, rack: VertexId) -> VertexId {
        let card = self.scenario.cluster.host.as_ref().and_then(|host| host.rate);
        let (Some(host), Some(rate)) = (node.host, card) else { return rack };
        if let Some(bridge) = self.bridges.get(&host) {
            return *bridge;
        }
        let network = &self.scenario.network;
        let bridge = self.topology.add_switch(format!("host-{}", host + 1));
        let spec = |queue: &Queue| LinkSpec { rate, ..self.spec(queue) };
        let (forth, back) = (spec(&network.host_queue), spec(&network.queue));
        self.topology.connect_both(bridge, rack, forth, back);
        self.bridges.insert(host, bridge);
        bridge
    }

    /// Nodes without a wire between them.
    fn air(&mut self) {
        for node in self.nodes {
            self.topology.add_host(node.name.as_str());
        }
    }

    fn graph(&mut self) {
        let network = &self.scenario.network;
        for node in self.nodes {
            self.topology.add_host(node.name.as_str());
        }
        for link in &network.links(self.scenario.cluster.workers) {
            let ends = [&link.from, &link.to]
                .map(|name| self.topology.find(name).unwrap_or_else(|| self.topology.add_switch(name.as_str())));
            let spec = |end: &str| {
                let own = if node_number(end).is_some() { &network.host_queue } else { &network.queue };
                let mut spec = self.spec(link.queue.as_ref().unwrap_or(own));
                spec.rate = link.rate.unwrap_or(spec.rate);
                spec.delay = link.delay.unwrap_or(spec.delay);
                spec.loss = link.loss.map_or(spec.loss, Loss::Random);
                spec
            };
            let (forth, back) = (spec(&link.from), spec(&link.to));
            self.topology.connect_both(ends[0], ends[1], forth, back);
        }
    }

    /// An object store that is no node hangs on its switch by a link of its own.
    fn object_store(&mut self) {
        let Some(store) = &self.scenario.object_store else { return };
        let Some(switch) = object_store::switch(self.scenario, &self.topology) else { return };
        let host = self.topology.add_host(results::STORE_NAME);
        let spec = |queue: &Queue| LinkSpec {
            rate: store.rate,
            delay: store.delay,
            loss: Loss::Random(store.loss),
            ..self.spec(queue)
        };
        let (forth, back) = (spec(&self.scenario.network.host_queue), spec(&self.scenario.network.queue));
        self.topology.connect_both(host, switch, forth, back);
    }

    /// Puts the queues that are given for single links in their places, and the shared buffers into the switches.
    fn ports(&mut self) {
        for port in &self.scenario.network.port {
            let discipline = self.discipline(&port.queue);
            let one_way = port.link.contains("->");
            let ways = links(&self.topology, &port.link).into_iter();
            for link in ways.flat_map(|link| [Some(link), (!one_way).then(|| link.reverse())]).flatten() {
                let spec = self.topology.spec_mut(link);
                (spec.limit, spec.discipline) = (queue::limit(port.queue.limit), discipline);
            }
        }
        let Some(SharedBuffer { size, alpha }) = self.scenario.network.shared_buffer else { return };
        let vertices = (0..units::count(self.topology.vertex_count())).map(VertexId);
        // What only forwards inside a machine, or in place of a node, is no switch with a buffer.
        let is_switch = |at: &VertexId| {
            self.topology.kind(*at) == VertexKind::Switch
                && !self.bridges.values().any(|bridge| bridge == at)
                && !self.topology.name(*at).starts_with("spare-")
        };
        let switches: Vec<_> = vertices.filter(is_switch).collect();
        for switch in switches {
            self.topology.share_buffer(switch, SharedBufferSpec { size, alpha });
        }
    }

    /// Puts the bonds in the place of links; what cannot be is said when the scenario is checked.
    fn bonds(&mut self) {
        let bonds = &self.scenario.network.bond;
        let found = |(number, bond): (usize, &Bond)| places(bond, number, self.scenario, &self.topology);
        let places: Vec<_> = bonds.iter().enumerate().map(|bond| found(bond).unwrap_or_default()).collect();
        for (bond, places) in bonds.iter().zip(places) {
            for (name, link) in places {
                install(bond, name, link, &mut self.topology);
            }
        }
    }

    /// Puts the token buckets on the nodes' links; a later one replaces an earlier.
    fn shape(&mut self) {
        for shape in &self.scenario.network.shape {
            let bucket = TokenBucketSpec { rate: shape.rate, burst: shape.burst };
            for number in shape.nodes.numbers(self.scenario.cluster.workers) {
                let host = self.topology.find(&node_name(number));
                let Some(uplink) = host.and_then(|host| self.topology.uplink(host)) else { continue };
                let links: &[LinkId] = match shape.direction {
                    Direction::Egress => &[uplink],
                    Direction::Ingress => &[uplink.reverse()],
                    Direction::Both => &[uplink, uplink.reverse()],
                };
                for link in links {
                    let spec = self.topology.spec_mut(*link);
                    *spec = spec.clone().with_shaper(bucket, queue::limit(shape.limit));
                }
            }
        }
    }
}
