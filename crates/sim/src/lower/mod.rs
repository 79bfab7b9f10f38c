//! A scenario becomes the engine's specs, here and nowhere else, and the world that they describe.

mod air;
mod bonds;
mod capacity;
mod check;
mod disk_faults;
pub mod disks;
mod energy;
pub mod grain;
mod hadoop;
mod hosts;
mod keys;
mod mobility;
mod object_store;
mod phy;
pub mod power;
mod queue;
mod spark;
mod tcp;
mod topology;
mod traffic;

pub use bonds::links;
pub use capacity::{Machine, Reach, machines, reach};
pub use hadoop::config as hadoop_config;
pub use keys::check_plans;
pub use tcp::tcp_config;
pub use topology::topology;

use crate::RunError;
use crate::cluster::{Driver, MASTER, SERVICES, port, service_name};
use crate::world::{Change, DiskState, Fidelity, World, WorldSpec};
use ::hadoop::Cluster;
use ::traffic::{FIRST_PORT, TrafficSpec};
use net::{Limit, LinkSpec};
use scenario::{Fault, NodeSpec, Scenario, ScenarioError, ScenarioWarnings, node_number, point_number};
use std::collections::BTreeMap;
use transport::{Classes, Owner, PacketTransport, Sockets, Transport};
use units::{BitRate, Time};

/// Reads a scenario's text, lays `assignments` ("section.key=value") over it, and checks the whole: what the language
/// knows, and what the engine knows (names of links, rates of a PHY, room in a topology).
pub fn parse(file: &str, text: &str, assignments: &[String]) -> Result<Scenario, ScenarioError> {
    parse_with_warnings(file, text, assignments).map(|(scenario, _)| scenario)
}

/// As [`parse`], with warnings of what the scenario will do against expectation.
pub fn parse_with_warnings(
    file: &str,
    text: &str,
    assignments: &[String],
) -> Result<(Scenario, ScenarioWarnings), ScenarioError> {
    Scenario::parse_with(file, text, assignments, check::check)
}

/// A part that cannot be as described, in the scenario's words.
fn wrong(error: impl std::fmt::Display) -> RunError {
    RunError::Scenario(error.to_string())
}

/// The world of a scenario at time zero.
///
/// `look` is asked between the parts whether to go on.
pub(crate) fn world(scenario: &Scenario, look: &mut dyn FnMut() -> Result<(), RunError>) -> Result<World, RunError> {
    let seed = scenario.run.seed;
    look()?;
    check_plans(scenario).map_err(wrong)?;
    let topology = topology(scenario);
    look()?;
    let traffic = traffic::traffic_specs(scenario, &topology).map_err(wrong)?;
    let mut spec = WorldSpec {
        topology,
        fidelity: match scenario.run.fidelity {
            scenario::Fidelity::Packet => Fidelity::Packets,
            scenario::Fidelity::Flow => Fidelity::Flows,
        },
        air: air::air(scenario)?,
        framing: scenario.framing(),
        traffic,
        warm_up: scenario.run.warm_up,
        changes: Vec::new(),
        seed,
    };
    let nodes = if scenario.faults.is_empty() { Vec::new() } else { scenario.nodes() };
    for fault in &scenario.faults {
        changes(&spec.topology, &nodes, fault, &mut spec.changes)?;
    }
    if scenario.has_cluster() {
        for node in spec.topology.hosts().to_vec() {
            spec.topology.connect(node, node, &loopback());
        }
    }
    look()?;
    let mut world = World::new(&spec).map_err(wrong)?;
    look()?;
    if let Some(meters) = energy::meters(scenario) {
        world.add_meters(meters, scenario.mapreduce.spare_batteries.is_some());
    }
    world.transport_mut().0.set_own_tcp(tcp::own_tcp(scenario));
    match world.transport_mut().0 {
        Transport::Packets(packets) => prepare(packets, scenario, &spec.traffic),
        Transport::Flows(flows) => flows.set_sockets(Sockets {
            transmit_queues: tcp::transmit_queue_limits(scenario),
            unsent: scenario.tcp.notsent_lowat,
            classes: (!scenario.network.priority.is_empty())
                .then(|| classes(&scenario.network.priority, &spec.traffic)),
        }),
    }
    if scenario.has_cluster() {
        check_plans(scenario).map_err(wrong)?;
        let cluster = Cluster::new(hadoop::config(scenario), hadoop::node_infos(scenario), seed);
        look()?;
        let driver = Driver::new(cluster, hosts::hosts(scenario), tcp_config(scenario));
        let driver = driver.with_master_buffer(scenario.master.receive_buffer, scenario.master.shared_buffer);
        let driver = driver.with_spark(spark::application(scenario));
        let driver = driver.with_chores(power::chores(scenario, seed));
        world.add_cluster(driver.with_manager(power::manager(scenario)));
    }
    Ok(world)
}

/// What a scenario wants of packets.
fn prepare(packets: &mut PacketTransport, scenario: &Scenario, traffic: &[TrafficSpec]) {
    if scenario.run.occupancy {
        packets.watch_queues(Time::ZERO);
    }
    let limits = tcp::transmit_queue_limits(scenario);
    if !limits.is_empty() {
        packets.set_transmit_queue_limits(limits);
    }
    if let Some(limit) = scenario.tcp.notsent_lowat {
        packets.set_unsent_limit(limit);
    }
    if !scenario.network.priority.is_empty() {
        packets.set_classes(classes(&scenario.network.priority, traffic));
    }
    if scenario.has_cluster() {
        packets.count_segments(MASTER.0);
        packets.watch_arrivals();
    }
}

/// The class of each service and traffic that has a place in the order of precedence; all others come last together.
fn classes(precedence: &[String], traffic: &[TrafficSpec]) -> Classes {
    let services = SERVICES.map(|service| (Owner::Cluster, port(service), service_name(port(service))));
    let traffic = (0_u16..).zip(traffic);
    let traffic = traffic.map(|(n, spec)| (Owner::Traffic, FIRST_PORT.wrapping_add(n), spec.name.as_str()));
    let place = |name: &str| precedence.iter().position(|service| service == name);
    let class = |position: usize| u8::try_from(position).unwrap_or(u8::MAX);
    let of_ports: BTreeMap<_, _> = services
        .into_iter()
        .chain(traffic)
        .filter_map(|(owner, port, name)| Some(((owner, port), class(place(name)?))))
        .collect();
    Classes::new(of_ports, class(precedence.len()))
}

/// What a node's processes reach each other through: memory copies at 40 Gbit/s, 10 us from one to the other, nothing
/// dropped.
fn loopback() -> LinkSpec {
    LinkSpec::new(BitRate::from_gbps(40), Time::from_us(10)).with_limit(Limit::Unlimited)
}

/// A part of the rate at which a link drains its queue: the token bucket's where it has a slower one.
fn slowed(spec: &LinkSpec, factor: f64) -> BitRate {
    let rate = spec.shaper.map_or(spec.rate, |shaper| shaper.rate.min(spec.rate));
    BitRate::from_bps(units::whole(rate.as_bps() as f64 * factor).max(1))
}

/// What a fault changes, and when it is over.
fn changes(
    topology: &net::Topology,
    nodes: &[NodeSpec],
    fault: &Fault,
    out: &mut Vec<(Time, Change)>,
) -> Result<(), RunError> {
    let over = |length: Option<Time>| length.map(|length| fault.at.saturating_add(length));
    if let Some(name) = &fault.link {
        let named = links(topology, name);
        if named.is_empty() {
            return Err(RunError::Scenario(format!("there is no link \"{name}\" in this topology")));
        }
        let one_way = name.contains("->");
        for link in named {
            if let Some(factor) = fault.slow {
                for link in [link, link.reverse()] {
                    let spec = topology.spec(link);
                    out.push((fault.at, Change::Rate { link, rate: slowed(spec, factor) }));
                    out.extend(over(fault.slow_for).map(|at| (at, Change::Rate { link, rate: spec.rate })));
                }
                continue;
            }
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
    if let (Some(node), Some(disk)) = (fault.node.as_deref().and_then(node_number), fault.disk) {
        let first = nodes.get(node as usize).map_or(0, |node| node.first_disk);
        let disk = (first + disk, fault.member.unwrap_or(0));
        let change = |state| Change::Disk { node, disk, state };
        if let Some(factor) = fault.slow {
            out.push((fault.at, change(DiskState::Speed(factor))));
            out.extend(over(fault.slow_for).map(|at| (at, change(DiskState::Speed(1.0)))));
        } else {
            out.push((fault.at, change(DiskState::Failed)));
            out.extend(over(fault.down_for).map(|at| (at, change(DiskState::Replaced))));
        }
    } else if let Some(node) = fault.node.as_deref().and_then(node_number) {
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
