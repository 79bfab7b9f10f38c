//! How a run was set up, in a few lines of words.

use super::data::Fact;
use crate::results::RunResult;
use crate::scenario::{Direction, Nodes, QueueLimit, Scenario};

fn fact(label: &str, value: String) -> Fact {
    Fact { label: label.to_owned(), value }
}

fn many(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// From the results, and from the scenario where it is at hand.
pub fn setup(result: &RunResult, scenario: Option<&Scenario>) -> Vec<Fact> {
    let mut facts = Vec::new();
    for job in &result.jobs {
        let tasks = format!("{}, {}", many(u64::from(job.maps), "map"), many(u64::from(job.reduces), "reducer"));
        facts.push(fact("Workload", format!("{}, {} in, {tasks}", job.workload, job.bytes.map_input)));
    }
    for traffic in &result.traffic {
        let name = if traffic.name == traffic.kind { String::new() } else { format!("{}: ", traffic.name) };
        facts.push(fact("Traffic", format!("{name}{}", traffic.kind)));
    }
    match scenario {
        Some(scenario) => described(result, scenario, &mut facts),
        None => facts.push(fact("Cluster", many(result.nodes.len().saturating_sub(1) as u64, "worker"))),
    }
    facts.push(fact("Seed", result.seed.to_string()));
    facts.push(fact("Digest", result.scenario_digest.clone()));
    facts
}

fn described(result: &RunResult, scenario: &Scenario, facts: &mut Vec<Fact>) {
    let cluster = &scenario.cluster;
    let node = &scenario.node;
    let mut machines = vec![many(u64::from(cluster.workers), "worker")];
    if !result.jobs.is_empty() {
        machines.push(cluster.generation.word().to_owned());
        let own = format!(
            "{}: {}, {}, {}",
            node.preset.word(),
            many(u64::from(node.cores), "core"),
            node.memory,
            many(u64::from(node.disks), "disk")
        );
        machines.push(own);
    }
    if let Some(host) = &cluster.host {
        let shared = format!("{}, {}", many(u64::from(host.cores), "core"), many(u64::from(host.disks), "disk"));
        let nodes = host
            .nodes
            .map_or_else(|| "on one host".to_owned(), |n| format!("{} to a host", many(u64::from(n), "node")));
        machines.push(format!("{nodes} of {shared}"));
    }
    facts.push(fact("Cluster", machines.join(", ")));

    let network = &scenario.network;
    let limit = |limit: QueueLimit| match limit {
        QueueLimit::Packets(packets) => many(u64::from(packets), "packet"),
        QueueLimit::Bytes(bytes) => bytes.to_string(),
        QueueLimit::Delay(delay) => delay.to_string(),
    };
    let mut wires = format!(
        "{}, {}, {}, {} of {}",
        network.topology.word(),
        network.rate,
        network.delay,
        network.queue.kind.word(),
        limit(network.queue.limit)
    );
    if network.loss > 0.0 {
        wires = format!("{wires}, loss {}", network.loss);
    }
    facts.push(fact("Network", wires));
    for shape in &network.shape {
        let nodes = match &shape.nodes {
            Nodes::All => "all nodes".to_owned(),
            Nodes::Master => "the master".to_owned(),
            Nodes::Workers => "the workers".to_owned(),
            Nodes::List(list) => many(list.len() as u64, "node"),
        };
        let way = match shape.direction {
            Direction::Egress => "out",
            Direction::Ingress => "in",
            Direction::Both => "each way",
        };
        facts.push(fact(
            "Shaper",
            format!("{nodes}, {way}: {}, burst {}, queue {}", shape.rate, shape.burst, limit(shape.limit)),
        ));
    }

    let tcp = &scenario.tcp;
    let sack = if tcp.sack { "SACK" } else { "no SACK" };
    facts.push(fact(
        "TCP",
        format!("{}, {sack}, minimum RTO {}, receive buffer {}", tcp.control.word(), tcp.min_rto, tcp.receive_buffer),
    ));
    if !result.jobs.is_empty() {
        facts.push(fact(
            "HDFS",
            format!("blocks of {}, {}", scenario.hdfs.block, many(u64::from(scenario.hdfs.replication), "replica")),
        ));
    }
}
