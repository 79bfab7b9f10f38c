//! A scenario becomes a world.

use crate::cluster::Driver;
use crate::hosts::Hosts;
use crate::scenario::{Fault, Scenario, Traffic, TrafficKind, node_name, node_number};
use crate::traffic::{Exchange, FlowSpec, TrafficKind as Kind, TrafficSpec, netpipe_sizes};
use crate::world::{Change, World, WorldSpec};
use crate::{RunError, jobs};
use hadoop::Cluster;
use net::{Limit, LinkSpec};
use units::{BitRate, Bytes, Time};

/// What a flow, session or answer carries where the scenario does not say.
const DEFAULT_BYTES: Bytes = Bytes::from_mb(1);
/// What a ping-pong's request carries where the scenario does not say.
const DEFAULT_REQUEST: Bytes = Bytes::new(100);

/// The world of a scenario at time zero.
pub(crate) fn build(scenario: &Scenario) -> Result<World, RunError> {
    let seed = scenario.run.seed;
    let mut spec = WorldSpec {
        topology: scenario.topology(),
        framing: scenario.framing(),
        traffic: scenario.traffic.iter().map(|traffic| traffic_spec(scenario, traffic)).collect(),
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
    if !scenario.job.is_empty() {
        let cluster = Cluster::new(jobs::config(scenario), jobs::node_infos(scenario), seed);
        world.add_cluster(Driver::new(cluster, Hosts::new(scenario), scenario.tcp_config()));
    }
    Ok(world)
}

/// What a node's processes reach each other through: memory copies at 40 Gbit/s, 10 us from one to the other, nothing dropped.
fn loopback() -> LinkSpec {
    LinkSpec::new(BitRate::from_gbps(40), Time::from_us(10)).with_limit(Limit::Unlimited)
}

fn traffic_spec(scenario: &Scenario, traffic: &Traffic) -> TrafficSpec {
    let bytes = traffic.bytes.unwrap_or(DEFAULT_BYTES);
    let workers = scenario.cluster.workers;
    let number = |name: &str| node_number(name).unwrap_or(0);
    let kind = match traffic.kind {
        TrafficKind::Long => Kind::Long { flows: traffic.flows, bytes: traffic.bytes },
        TrafficKind::AllToAll => Kind::AllToAll { bytes },
        TrafficKind::Barrier => {
            Kind::Barrier { request: traffic.request.unwrap_or_default(), bytes, rounds: traffic.rounds }
        }
        TrafficKind::Poisson => Kind::Poisson { bytes, interval: traffic.interval, persistent: traffic.persistent },
        TrafficKind::PingPong => {
            let exchanges = match traffic.largest {
                Some(largest) => netpipe_sizes(traffic.smallest, largest, traffic.perturbation)
                    .into_iter()
                    .map(Exchange::equal)
                    .collect(),
                None => vec![Exchange { request: traffic.request.unwrap_or(DEFAULT_REQUEST), answer: bytes }],
            };
            Kind::PingPong { exchanges, rounds: traffic.rounds }
        }
        TrafficKind::Csv => Kind::Flows(
            traffic
                .flow
                .iter()
                .map(|flow| FlowSpec {
                    start: flow.start,
                    from: number(&flow.from),
                    to: number(&flow.to),
                    bytes: flow.bytes,
                })
                .collect(),
        ),
    };
    let position = scenario.traffic.iter().position(|other| std::ptr::eq(other, traffic)).unwrap_or(0);
    TrafficSpec {
        name: if traffic.name.is_empty() { format!("{}-{}", kind.name(), position + 1) } else { traffic.name.clone() },
        kind,
        from: traffic.from.numbers(workers),
        to: traffic.to_or_default().numbers(workers),
        start: traffic.start,
        stop: traffic.stop,
        jitter: traffic.jitter,
        tcp: scenario.tcp_config(),
    }
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
