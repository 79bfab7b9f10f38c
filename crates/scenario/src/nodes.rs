//! The nodes that a scenario's cluster resolves to.

use super::network::{TopologyKind, node_name};
use super::{Disk, Node, Scenario};
use std::collections::BTreeMap;
use units::Bytes;

/// A node with everything that holds for it.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeSpec {
    /// "master", "worker-1".
    pub name: String,
    /// The rack it stands in, from 1.
    pub rack: u32,
    /// Its hardware.
    pub hardware: Node,
    /// Its disks one by one, or those of the machine that it shares.
    pub disks: Vec<Disk>,
    /// The place of its first disk among those of its machine: not 0 where nodes of one machine have their own.
    pub first_disk: u32,
    /// The physical machine that it shares, from 0.
    pub host: Option<u32>,
}

impl Scenario {
    /// Racks of the topology.
    pub fn racks(&self) -> u32 {
        match self.network.topology {
            TopologyKind::Star | TopologyKind::Wifi => 1,
            TopologyKind::TwoRacks | TopologyKind::Dumbbell => 2,
            TopologyKind::Tree | TopologyKind::LeafSpine => self.network.racks,
            TopologyKind::FatTree => self.network.ports * self.network.ports / 2,
            TopologyKind::Dcell => (self.cluster.workers + 1).div_ceil(self.network.cell),
            TopologyKind::ParkingLot => self.network.hops + 1,
            TopologyKind::Graph => self.cluster.group.iter().filter_map(|group| group.rack).max().unwrap_or(1),
        }
    }

    /// Hardware as it is written down, each with the path of its keys: nodes', the master's own, groups' own.
    pub(crate) fn described(&self) -> Vec<(String, &Node)> {
        let groups = self.cluster.group.iter().enumerate();
        let groups = groups.map(|(i, group)| (format!("cluster.group.{i}.node"), group.node.as_ref()));
        let own = [("node".to_owned(), Some(&self.node)), ("cluster.master".to_owned(), self.cluster.master.as_ref())];
        own.into_iter().chain(groups).filter_map(|(path, node)| Some((path, node?))).collect()
    }

    /// The master, then the workers.
    pub fn nodes(&self) -> Vec<NodeSpec> {
        let (workers, racks) = (self.cluster.workers, self.racks());
        let (mut shared, mut taken) = (BTreeMap::new(), BTreeMap::new());
        let mut spec = |number: u32, rack: u32, hardware: &Node| {
            let host = self.host_of(number);
            let mut first_disk = 0;
            let disks = match (&self.cluster.host, host) {
                (Some(machine), Some(host)) if machine.own_disks => {
                    let disks = one_by_one(hardware, machine.disks);
                    let taken = taken.entry(host).or_insert(0);
                    first_disk = *taken;
                    *taken += disks.len() as u32;
                    disks
                }
                (Some(machine), Some(host)) => {
                    shared.entry(host).or_insert_with(|| one_by_one(hardware, machine.disks)).clone()
                }
                _ => one_by_one(hardware, hardware.disks),
            };
            NodeSpec { name: node_name(number), rack, hardware: hardware.clone(), disks, first_disk, host }
        };
        let mut specs = vec![spec(0, 1, self.cluster.master.as_ref().unwrap_or(&self.node))];
        let groups = self.cluster.group.iter().flat_map(|group| std::iter::repeat_n(group, group.count as usize));
        let mut groups = groups.map(Some).chain(std::iter::repeat(None));
        for number in 1..=workers {
            let group = groups.next().flatten();
            let spread = self
                .place(number)
                .unwrap_or(1 + (u64::from(number - 1) * u64::from(racks) / u64::from(workers)) as u32);
            let rack = group.and_then(|group| group.rack).unwrap_or(spread);
            let hardware = group.and_then(|group| group.node.as_ref()).unwrap_or(&self.node);
            specs.push(spec(number, rack, hardware));
        }
        specs
    }

    /// The rack of a node in topologies that say themselves where each stands.
    fn place(&self, number: u32) -> Option<u32> {
        let network = &self.network;
        match network.topology {
            TopologyKind::FatTree => Some(1 + number / (network.ports / 2).max(1)),
            TopologyKind::Dcell => Some(1 + number / network.cell),
            TopologyKind::ParkingLot => {
                let (pair, receives) = (number.checked_sub(1)? / 2, number.is_multiple_of(2));
                // Pair 0 crosses all hops, the others one hop each in turn (`net::parking_lot_pair`).
                let (from, to) = match pair.checked_sub(1) {
                    None => (0, network.hops),
                    Some(rest) => (rest % network.hops, rest % network.hops + 1),
                };
                Some(1 + if receives { to } else { from })
            }
            _ => None,
        }
    }

    /// Memory that a node offers to containers.
    pub fn node_memory(&self, node: &NodeSpec) -> Bytes {
        self.mapreduce.node_memory.unwrap_or_else(|| node.hardware.memory.min(Bytes::from_mib(8 << 10)))
    }

    fn host_of(&self, number: u32) -> Option<u32> {
        let host = self.cluster.host.as_ref()?;
        match (number, host.nodes) {
            (0, _) => host.master.then_some(0),
            (_, None) => Some(0),
            // The master, where it is on a host, takes the first place on the first.
            (number, Some(nodes)) => Some((number - u32::from(!host.master)) / nodes),
        }
    }
}

/// A machine's disks, of which there are `several` of each kind that says no number.
fn one_by_one(hardware: &Node, several: u32) -> Vec<Disk> {
    let repeated = |disk: &Disk| std::iter::repeat_n(disk.clone(), disk.count.unwrap_or(several) as usize);
    hardware.disk.iter().flat_map(repeated).collect()
}
