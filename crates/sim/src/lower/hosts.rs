//! The physical machines of a scenario: a node has one of its own unless it shares a host.

use crate::hosts::{Hosts, MachineSpec, NodeOnMachine};
use des::RandomStream;
use scenario::{DiskPreset, NodeSpec, Scenario, Storage};
use storage::DiskSpec;
use units::Time;

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
            let load = other_work(node, machines[machine].cores);
            machines[machine].load = machines[machine].load.max(load);
            machine
        } else {
            let (name, cores, disks) = (node.name.clone(), node.hardware.cores, node.hardware.disks);
            machines.push(machine(scenario, node, name, cores, disks));
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
    let (cores, disks) = scenario.cluster.host.as_ref().map_or((1, 1), |host| (host.cores, host.disks));
    machine(scenario, first, format!("host-{number}"), cores, disks)
}

fn machine(scenario: &Scenario, node: &NodeSpec, name: String, cores: u32, disks: u32) -> MachineSpec {
    let disk = disk_spec(node.hardware.disk, &scenario.storage);
    MachineSpec { name, cores, load: other_work(node, cores), disks, disk, memory: node.hardware.memory }
}

/// Threads of other work on a machine with so many cores, as one of its nodes has it.
fn other_work(node: &NodeSpec, cores: u32) -> f64 {
    node.hardware.load * f64::from(cores)
}

/// The disk of a preset with the scenario's overrides.
pub(super) fn disk_spec(preset: DiskPreset, overrides: &Storage) -> DiskSpec {
    let spec = match preset {
        DiskPreset::Sata2009 => DiskSpec::st3160318as(),
        DiskPreset::Ssd => DiskSpec::f40a(),
        DiskPreset::NandFlash => DiskSpec::nexus7_flash(),
        DiskPreset::Virtual => DiskSpec::virtual_disk(),
    };
    match spec {
        DiskSpec::Rotating(mut rotating) => {
            rotating.seek = overrides.position.unwrap_or(rotating.seek);
            rotating.revolution = if overrides.position.is_some() { Time::ZERO } else { rotating.revolution };
            rotating.read_rate = overrides.read.unwrap_or(rotating.read_rate);
            rotating.write_rate = overrides.write.unwrap_or(rotating.write_rate);
            DiskSpec::Rotating(rotating)
        }
        DiskSpec::Flash(mut flash) => {
            flash.read_latency = overrides.position.unwrap_or(flash.read_latency);
            flash.write_latency = overrides.position.unwrap_or(flash.write_latency);
            flash.read_rate = overrides.read.unwrap_or(flash.read_rate);
            flash.write_rate = overrides.write.unwrap_or(flash.write_rate);
            DiskSpec::Flash(flash)
        }
    }
}
