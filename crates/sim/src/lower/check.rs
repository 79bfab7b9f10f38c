//! What is wrong with a scenario that only an engine knows: links that do not exist, rates that a PHY does not have,
//! queues that cannot work.

use super::bonds::{links, places};
use super::hadoop::room_for_blocks;
use super::phy::{mode, settings};
use super::traffic::sizes;
use super::{disk_faults, disks, keys, object_store, power, queue, topology};
use net::{Dcell, LinkId, Topology, TopologyError, VertexKind};
use scenario::{Check, Fidelity, Scenario, SizeKind, TopologyKind, Traffic, TrafficKind, node_name};
use units::{Bytes, Quantity};

/// A full packet with Ethernet's framing, for thresholds of queues.
const FRAME: Bytes = Bytes::new(1_538);

/// Says what the engine cannot make of a scenario.
pub(super) fn check(check: &mut Check<'_>) {
    let scenario = check.scenario;
    flows(check);
    disks::check(check);
    disk_faults::check(check);
    balancer(check);
    power::check(check);
    queues(check);
    room(check);
    rate(check);
    for (i, traffic) in scenario.traffic.iter().enumerate() {
        check_sizes(check, &format!("traffic.{i}"), traffic);
    }
    // The topology of a scenario with problems may not be what its author means.
    if !check.is_clean() {
        return;
    }
    bonds(check);
    keys::check(check);
    if check.is_clean() && names_links(scenario) {
        let topology = topology(scenario);
        object_store::check(check, &topology);
        ports(check, &topology);
        faults(check, &topology);
        for (i, traffic) in scenario.traffic.iter().enumerate() {
            ways(check, &format!("traffic.{i}"), traffic, &topology);
        }
    }
}

/// Whether anything in a scenario is said of a link by its name. If not, no topology needs to be built to check it.
fn names_links(scenario: &Scenario) -> bool {
    !scenario.network.port.is_empty()
        || scenario.object_store.is_some()
        || scenario.faults.iter().any(|fault| fault.link.is_some())
        || scenario.traffic.iter().any(|traffic| traffic.load_link.is_some() || !traffic.stripe.paths.is_empty())
}

/// What only packets can show is not asked of flows.
fn flows(check: &mut Check<'_>) {
    let scenario = check.scenario;
    if scenario.run.fidelity == Fidelity::Packet {
        return;
    }
    let help = "`run.fidelity = \"packet\"`";
    if scenario.network.topology == TopologyKind::Wifi {
        check.says("network.topology", "the air is not modelled with flows", help);
    }
    for (i, traffic) in scenario.traffic.iter().enumerate() {
        if matches!(traffic.kind, TrafficKind::Stripe | TrafficKind::Mptcp) {
            let message = format!("{} traffic goes by TCP's windows, which flows do not have", traffic.kind.word());
            check.says(&format!("traffic.{i}.kind"), message, help);
        }
    }
    for (i, _) in scenario.faults.iter().enumerate().filter(|(_, fault)| fault.silent) {
        check.says(&format!("faults.{i}.silent"), "silent links are not modelled with flows", help);
    }
    if scenario.master.shared_buffer.is_some() {
        check.says("master.shared-buffer", "receive windows are not modelled with flows", help);
    }
}

/// The Balancer knows how full a DataNode is.
fn balancer(check: &mut Check<'_>) {
    let scenario = check.scenario;
    if scenario.hdfs.balancer.is_none() {
        return;
    }
    let nodes = scenario.nodes();
    let unknown = |node: &&scenario::NodeSpec| room_for_blocks(scenario, node) == Bytes::ZERO;
    if let Some(node) = nodes.iter().skip(1).find(unknown) {
        let message =
            format!("the Balancer goes by how full DataNodes are, and the disks of {} have no size", node.name);
        check.says("hdfs.balancer", message, "`hdfs.balancer.capacity`, or another `node.disk.preset`");
    }
}

/// Thresholds of each queue suit its limit and the rate of its link.
fn queues(check: &mut Check<'_>) {
    for (path, queue, rate) in check.scenario.network.queues() {
        if queue.contradiction().is_some() {
            continue;
        }
        if let Err(error) = queue::discipline(queue, FRAME, 1).check(queue::limit(queue.limit), rate) {
            let path = format!("{path}.{}", queue.own_key());
            check.says(&path, error.to_string(), "thresholds in order, and below `limit`");
        }
    }
}

/// A fat-tree or DCell has room for the nodes.
fn room(check: &mut Check<'_>) {
    let scenario = check.scenario;
    let network = &scenario.network;
    let nodes = u64::from(scenario.cluster.workers) + 1;
    match network.topology {
        TopologyKind::FatTree => {
            let (ports, room) = (network.ports, u64::from(network.ports).pow(3) / 4);
            if !ports.is_multiple_of(2) {
                let message = TopologyError::FatTree(ports).to_string();
                check.says("network.ports", message, format!("{} or {}", ports - 1, ports + 1));
            } else if room < nodes {
                let enough = (2_u64..).step_by(2).find(|k| k.pow(3) / 4 >= nodes).unwrap_or(2);
                let message =
                    format!("a fat-tree of {ports}-port switches has room for {room} nodes, and there are {nodes}");
                check.says("network.ports", message, format!("{enough} ports, or fewer workers"));
            }
        }
        TopologyKind::Dcell => {
            match Dcell::new(network.cell, network.level) {
                Err(error) => check.says("network.level", error.to_string(), "a lower `level` or a smaller `cell`"),
                Ok(plan) if (plan.servers as u64) < nodes => {
                    let (cell, level, room) = (network.cell, network.level, plan.servers);
                    let message = format!("DCell({cell}, {level}) has room for {room} nodes, and there are {nodes}");
                    check.says("network.cell", message, "a larger `cell` or a higher `level`");
                }
                Ok(_) => {}
            }
            if scenario.cluster.host.as_ref().is_some_and(|host| host.rate.is_some()) {
                let message = "nodes of a dcell have cards of their own: they forward";
                check.says("cluster.host.rate", message, "leave it out, or take another topology");
            }
        }
        _ => {}
    }
}

/// The standard has the rate that is asked for.
fn rate(check: &mut Check<'_>) {
    let network = &check.scenario.network;
    let Some(wifi) = network.wifi.as_ref().filter(|_| network.topology == TopologyKind::Wifi) else { return };
    if mode(wifi).is_none() {
        let rate = wifi.rate.unwrap_or_default();
        let message = format!("802.11{} as set has no rate of {rate}", wifi.standard.word());
        let rates: Vec<_> = settings(wifi).modes().map(|mode| mode.rate().exact()).collect();
        check.says("network.wifi.rate", message, format!("one of: {}", rates.join(", ")));
    }
}

/// Sizes have a distribution.
fn check_sizes(check: &mut Check<'_>, path: &str, traffic: &Traffic) {
    let given = &traffic.sizes;
    let in_file = given.kind == SizeKind::Cdf && (!given.file.is_empty() || given.point.is_empty());
    let contradictory = given.kind == SizeKind::Uniform && given.most.is_some_and(|most| most < given.least);
    if in_file || contradictory {
        return;
    }
    if let Err(error) = sizes(traffic) {
        check.says(&format!("{path}.sizes"), error.to_string(), "see `trunkline schema --reference`, `sizes`");
    }
}

/// Bonds stand in the place of links that exist, one for each.
fn bonds(check: &mut Check<'_>) {
    let scenario = check.scenario;
    if scenario.network.bond.is_empty() {
        return;
    }
    let mut plain = scenario.clone();
    plain.network.bond.clear();
    let topology = topology(&plain);
    let mut taken: Vec<(LinkId, String)> = Vec::new();
    for (i, bond) in scenario.network.bond.iter().enumerate() {
        let path = format!("network.bond.{i}");
        let places = match places(bond, i, scenario, &topology) {
            Ok(places) => places,
            Err(misfit) => {
                check.says(&format!("{path}.{}", misfit.key), misfit.message, misfit.help);
                continue;
            }
        };
        for (name, link) in places {
            let (spec, link_name) = (topology.spec(link), topology.link_name(link));
            if let Some(rate) = bond.to_rate.filter(|rate| bond.rate.is_none() && spec.rate != *rate) {
                let message = format!("members at {} at one end and {rate} at the other", spec.rate);
                check.says(&format!("{path}.to-rate"), message, "the same rate at both ends");
            }
            if spec.shaper.is_some() || topology.spec(link.reverse()).shaper.is_some() {
                let message = format!("there is a token bucket on {link_name}");
                check.says(&path, message, "a bond or `network.shape`, not both on one link");
            }
            let cable = link.0 / 2;
            if let Some((_, other)) = taken.iter().find(|(link, _)| link.0 / 2 == cable) {
                let message = format!("{link_name} is in {other} already");
                check.says(&path, message, "one bond for each link; more `members` of it");
            }
            taken.push((link, name));
        }
    }
}

/// Links with a queue of their own exist.
fn ports(check: &mut Check<'_>, topology: &Topology) {
    for (i, port) in check.scenario.network.port.iter().enumerate() {
        unless_there(check, topology, &format!("network.port.{i}.link"), &port.link);
    }
}

/// Links that fail exist.
fn faults(check: &mut Check<'_>, topology: &Topology) {
    for (i, fault) in check.scenario.faults.iter().enumerate() {
        if let Some(name) = &fault.link {
            unless_there(check, topology, &format!("faults.{i}.link"), name);
        }
    }
}

fn unless_there(check: &mut Check<'_>, topology: &Topology, path: &str, name: &str) {
    if links(topology, name).is_empty() {
        let near = nearest_link(check.scenario, topology, name);
        check.says(path, format!("there is no link `{name}`"), format!("did you mean `{near}`?"));
    }
}

fn nearest_link(scenario: &Scenario, topology: &Topology, name: &str) -> String {
    let cables = (0..units::count(topology.cables().len())).map(|cable| topology.ends(LinkId(2 * cable)));
    let members = topology.bonds().iter().flat_map(|bond| &bond.members);
    let names: Vec<_> = cables
        .map(|(a, b)| format!("{} -- {}", topology.name(a), topology.name(b)))
        .chain((0..=scenario.cluster.workers).map(node_name))
        .chain(members.map(|link| topology.link_name(*link).replace("->", " -- ")))
        .collect();
    units::nearest(name, names.iter().map(String::as_str)).unwrap_or("worker-1").to_owned()
}

/// The switches and the link that a traffic names exist.
fn ways(check: &mut Check<'_>, path: &str, traffic: &Traffic, topology: &Topology) {
    let is_switch = |vertex| topology.kind(vertex) == VertexKind::Switch;
    if matches!(traffic.kind, TrafficKind::Stripe | TrafficKind::Mptcp) {
        for (number, name) in traffic.stripe.paths.iter().enumerate() {
            if !topology.find(name).is_some_and(is_switch) {
                let help = "names of switches, like `spine-1`, or as [[network.link]] has them";
                check.says(&format!("{path}.stripe.paths.{number}"), format!("there is no switch `{name}`"), help);
            }
        }
    }
    if let Some(name) = traffic.load_link.as_ref().filter(|name| links(topology, name).is_empty()) {
        let help = "a node (\"worker-3\"), or two neighbours (\"left -- right\")";
        check.says(&format!("{path}.load-link"), format!("there is no link `{name}`"), help);
    }
}
