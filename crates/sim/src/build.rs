//! A scenario becomes a world.

use crate::cluster::{Driver, MASTER};
use crate::energy::Meters;
use crate::hosts::Hosts;
use crate::scenario::{Fault, Scenario, node_name, node_number, point_name, point_number};
use crate::traffic::traffic_specs;
use crate::transport::Classes;
use crate::world::{Change, World, WorldSpec};
use crate::{AirSpec, RunError, jobs};
use hadoop::Cluster;
use net::{Limit, LinkSpec};
use units::{BitRate, Time};

/// The world of a scenario at time zero.
pub(crate) fn build(scenario: &Scenario) -> Result<World, RunError> {
    let seed = scenario.run.seed;
    let topology = scenario.topology();
    let traffic = traffic_specs(scenario, &topology).map_err(|error| RunError::Scenario(error.to_string()))?;
    let mut spec = WorldSpec {
        topology,
        air: AirSpec::new(scenario)?,
        framing: scenario.framing(),
        traffic,
        warm_up: scenario.run.warm_up,
        changes: Vec::new(),
        seed,
    };
    for fault in &scenario.faults {
        changes(&spec.topology, fault, &mut spec.changes)?;
    }
    if !scenario.job.is_empty() {
        for node in spec.topology.hosts().to_vec() {
            spec.topology.connect(node, node, &loopback());
        }
    }
    let mut world = World::new(&spec).map_err(|error| RunError::Scenario(error.to_string()))?;
    if let Some(meters) = Meters::new(scenario) {
        world.add_meters(meters, scenario.mapreduce.spare_batteries.is_some());
    }
    if scenario.run.occupancy {
        world.transport_mut().0.watch_queues(Time::ZERO);
    }
    let (limits, own) = (scenario.injection_limits(), scenario.own_tcp());
    if !limits.is_empty() {
        world.transport_mut().0.set_injection_limits(limits);
    }
    world.transport_mut().0.set_own_tcp(own);
    if let Some(limit) = scenario.tcp.notsent_lowat {
        world.transport_mut().0.set_unsent_limit(limit);
    }
    if !scenario.network.priority.is_empty() {
        let traffic = spec.traffic.iter().map(|traffic| traffic.name.clone()).collect();
        world.transport_mut().0.set_classes(Classes::new(scenario.network.priority.clone(), traffic));
    }
    if !scenario.job.is_empty() {
        let cluster = Cluster::new(jobs::config(scenario), jobs::node_infos(scenario), seed);
        let driver = Driver::new(cluster, Hosts::new(scenario), scenario.tcp_config());
        world.transport_mut().0.count_segments(MASTER.0);
        world.transport_mut().0.watch_arrivals();
        world.add_cluster(driver.with_master_buffer(scenario.master.receive_buffer, scenario.master.shared_buffer));
    }
    Ok(world)
}

/// What a node's processes reach each other through: memory copies at 40 Gbit/s, 10 us from one to the other, nothing dropped.
fn loopback() -> LinkSpec {
    LinkSpec::new(BitRate::from_gbps(40), Time::from_us(10)).with_limit(Limit::Unlimited)
}

/// What a fault changes, and when it is over.
fn changes(topology: &net::Topology, fault: &Fault, out: &mut Vec<(Time, Change)>) -> Result<(), RunError> {
    let over = |length: Option<Time>| length.map(|length| fault.at.saturating_add(length));
    if let Some(name) = &fault.link {
        let links = Scenario::links(topology, name);
        if links.is_empty() {
            return Err(RunError::Scenario(format!("there is no link \"{name}\" in this topology")));
        }
        let one_way = name.contains("->");
        for link in links {
            if !fault.silent {
                out.push((fault.at, Change::Link { link, up: false }));
                out.extend(over(fault.down_for).map(|at| (at, Change::Link { link, up: true })));
                continue;
            }
            for link in [Some(link), (!one_way).then(|| link.reverse())].into_iter().flatten() {
                out.push((fault.at, Change::Silent { link, silent: true }));
                out.extend(over(fault.down_for).map(|at| (at, Change::Silent { link, silent: false })));
            }
        }
    }
    if let Some(point) = fault.node.as_deref().and_then(point_number) {
        out.push((fault.at, Change::AccessPoint { point, up: false }));
        out.extend(over(fault.down_for).map(|at| (at, Change::AccessPoint { point, up: true })));
    }
    if let Some(node) = fault.node.as_deref().and_then(node_number) {
        if let Some(factor) = fault.slow {
            out.push((fault.at, Change::Speed { node, factor }));
            out.extend(over(fault.slow_for).map(|at| (at, Change::Speed { node, factor: 1.0 })));
        } else {
            out.push((fault.at, Change::Node { node, up: false }));
            out.extend(over(fault.down_for).map(|at| (at, Change::Node { node, up: true })));
        }
    }
    Ok(())
}

/// A change in words, for the list of events: its kind, and what it says.
pub(crate) fn describe(change: &Change, topology: &net::Topology) -> (&'static str, String) {
    match *change {
        Change::Node { node, up: false } => ("node-down", format!("{} crashes", node_name(node))),
        Change::Node { node, up: true } => ("node-up", format!("{} is back", node_name(node))),
        Change::AccessPoint { point, up: false } => ("ap-down", format!("{} is switched off", point_name(point))),
        Change::AccessPoint { point, up: true } => ("ap-up", format!("{} is back", point_name(point))),
        Change::Speed { node, factor } if factor < 1.0 => {
            ("slow", format!("{} goes at {:.0} % of its speed", node_name(node), factor * 100.0))
        }
        Change::Speed { node, .. } => ("normal", format!("{} goes at its own speed again", node_name(node))),
        Change::Link { link, up: false } => ("link-down", format!("{} goes down, both ways", topology.link_name(link))),
        Change::Link { link, up: true } => ("link-up", format!("{} is up again", topology.link_name(link))),
        Change::Silent { link, silent: true } => {
            ("link-silent", format!("{} carries nothing, and nobody sees it", topology.link_name(link)))
        }
        Change::Silent { link, silent: false } => {
            ("link-heard", format!("{} carries packets again", topology.link_name(link)))
        }
        Change::Rate { link, rate } => ("rate", format!("{} goes on at {rate}", topology.link_name(link))),
    }
}
