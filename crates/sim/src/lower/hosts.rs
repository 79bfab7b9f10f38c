//! The physical machines of a scenario: a node has one of its own unless it shares a host.

use super::{disks, power};
use crate::hosts::{DiskOfMachine, Hosts, MachineSpec, NodeOnMachine};
use des::RandomStream;
use scenario::{Disk, NodeSpec, Scenario};

/// The machines, with the variation of their speeds drawn.
pub(super) fn hosts(scenario: &Scenario) -> Hosts {
    let mut machines: Vec<MachineSpec> = Vec::new();
    let mut shared: Vec<Option<usize>> = Vec::new();
    let nodes = scenario.nodes();
    let mut on_machines = Vec::with_capacity(nodes.len());
    for node in &nodes {
        let machine = if let Some(host) = node.host {
            let host = host as usize;
            shared.resize(shared.len().max(host + 1), None);
            let machine = *shared[host].get_or_insert_with(|| {
                machines.push(shared_machine(scenario, node, host));
                machines.len() - 1
            });
            if machines[machine].disks.len() == node.first_disk as usize {
                // The node has its own disks on this machine.
                machines[machine].disks.extend(disks_of(scenario, node));
            }
            let load = other_work(node, machines[machine].cores);
            machines[machine].load = machines[machine].load.max(load);
            machine
        } else {
            machines.push(machine(scenario, node, node.name.clone(), node.hardware.cores));
            machines.len() - 1
        };
        // Nodes of one machine are all as fast as it is in this run.
        let draw = RandomStream::new(scenario.run.seed, "host/speed", machine as u64).normal();
        let speed = node.hardware.speed * (1.0 + node.hardware.variation * draw).max(0.1);
        on_machines.push(NodeOnMachine { machine, cores: f64::from(node.hardware.cores), speed });
    }
    Hosts::new(machines, &on_machines)
}

fn shared_machine(scenario: &Scenario, first: &NodeSpec, number: usize) -> MachineSpec {
    let cores = scenario.cluster.host.as_ref().map_or(1, |host| host.cores);
    machine(scenario, first, format!("host-{number}"), cores)
}

fn machine(scenario: &Scenario, node: &NodeSpec, name: String, cores: u32) -> MachineSpec {
    let power = scenario.power.as_ref().and_then(|power| power::machine(scenario, power, &node.disks));
    let disks = disks_of(scenario, node).collect();
    MachineSpec { name, cores, load: other_work(node, cores), disks, memory: node.hardware.memory, power }
}

fn disks_of<'a>(scenario: &'a Scenario, node: &'a NodeSpec) -> impl Iterator<Item = DiskOfMachine> + 'a {
    let disk = |disk: &Disk| DiskOfMachine { spec: disks::volume(disk, &scenario.storage), role: disks::role(disk) };
    node.disks.iter().map(disk)
}

/// Threads of other work on a machine with so many cores, as one of its nodes has it.
fn other_work(node: &NodeSpec, cores: u32) -> f64 {
    node.hardware.load * f64::from(cores)
}
