//! How a run was set up, in a few lines of words.

use super::data::Fact;
use crate::{FEW_JOBS, Job, RunResult};
use scenario::{Control, Direction, Disk, Generation, HyStart, Network, Node, Nodes, QueueLimit, Recovery, Scenario};
use units::{Bytes, many};

fn fact(label: &str, value: String) -> Fact {
    Fact { label: label.to_owned(), value }
}

/// A size as people set it: in the largest unit, binary or decimal, of which it is a whole number.
pub fn size(bytes: Bytes) -> String {
    const UNITS: [(u64, &str); 7] = [
        (1 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1_000_000_000, "GB"),
        (1 << 20, "MiB"),
        (1_000_000, "MB"),
        (1 << 10, "KiB"),
        (1_000, "KB"),
    ];
    let round = UNITS.iter().find(|(unit, _)| bytes.get() >= *unit && bytes.get().is_multiple_of(*unit));
    round.map_or_else(|| bytes.to_string(), |(unit, name)| format!("{} {name}", bytes.get() / unit))
}

/// From the results, and from the scenario where it is at hand.
pub fn setup(result: &RunResult, scenario: Option<&Scenario>) -> Vec<Fact> {
    let mut facts = Vec::new();
    if result.jobs.len() > FEW_JOBS {
        let sum = |of: fn(&Job) -> u64| result.jobs.iter().map(of).sum::<u64>();
        let tasks = [many(sum(|job| job.maps.into()), "map"), many(sum(|job| job.reduces.into()), "reducer")];
        let input = Bytes::new(sum(|job| job.bytes.map_input.get()));
        facts.push(fact("Workload", format!("{} jobs, {input:.1} in, {}", result.jobs.len(), tasks.join(", "))));
    }
    for job in result.jobs.iter().filter(|_| result.jobs.len() <= FEW_JOBS) {
        let tasks = format!("{}, {}", many(u64::from(job.maps), "map"), many(u64::from(job.reduces), "reducer"));
        facts.push(fact("Workload", format!("{}, {:.1} in, {tasks}", job.workload, job.bytes.map_input)));
    }
    for traffic in &result.traffic {
        let name = if traffic.name == traffic.kind { String::new() } else { format!("{}: ", traffic.name) };
        facts.push(fact("Traffic", format!("{name}{}", traffic.kind)));
    }
    if result.is_sampled() {
        let (drawn, all) = (result.flows.len(), result.flow_count);
        facts.push(fact(
            "Flows",
            format!("{drawn} drawn at random of {all}, the same for the same seed; all stand in flows.parquet"),
        ));
    }
    match scenario {
        Some(scenario) => described(result, scenario, &mut facts),
        None => facts.push(fact("Cluster", many(result.nodes.len().saturating_sub(1) as u64, "worker"))),
    }
    facts.push(fact("Seed", result.seed.to_string()));
    facts.push(fact("Digest", result.scenario_digest.clone()));
    facts
}

/// A node's disks by number, and by kind where there are several.
fn disks(node: &Node) -> String {
    let number = |disk: &Disk| u64::from(disk.count.unwrap_or(node.disks));
    match &node.disk[..] {
        [disk] => many(number(disk), "disk"),
        kinds => {
            let kinds: Vec<_> = kinds.iter().map(|disk| format!("{} {}", number(disk), disk.preset.word())).collect();
            format!("disks {}", kinds.join(" + "))
        }
    }
}

fn described(result: &RunResult, scenario: &Scenario, facts: &mut Vec<Fact>) {
    let cluster = &scenario.cluster;
    let node = &scenario.node;
    let mut machines = vec![many(u64::from(cluster.workers), "worker")];
    if !result.jobs.is_empty() {
        machines.push(
            match cluster.generation {
                Generation::Yarn => "YARN",
                Generation::Hadoop1 => "Hadoop 1",
            }
            .to_owned(),
        );
        let own = format!(
            "{}: {}, {}, {}",
            node.preset.word(),
            many(u64::from(node.cores), "core"),
            size(node.memory),
            disks(node)
        );
        machines.push(own);
    }
    if let Some(host) = &cluster.host {
        let shared = format!("{}, {}", many(u64::from(host.cores), "core"), many(u64::from(host.disks), "disk"));
        let shared = if host.own_disks { shared + " of each node" } else { shared };
        let nodes = host
            .nodes
            .map_or_else(|| "on one host".to_owned(), |n| format!("{} to a host", many(u64::from(n), "node")));
        machines.push(format!("{nodes} of {shared}"));
    }
    facts.push(fact("Cluster", machines.join(", ")));

    facts.push(fact(
        "Network",
        if result.has_packets() { network(&scenario.network) } else { links(&scenario.network) },
    ));
    if let Some(mobility) = &scenario.mobility {
        let sides: Vec<_> = mobility.area.iter().map(ToString::to_string).collect();
        facts.push(fact("Nodes", format!("{} in {}", mobility.model.word(), sides.join(" by "))));
    }
    for shape in &scenario.network.shape {
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
            if result.has_packets() {
                format!("{nodes}, {way}: {}, burst {}, queue {}", shape.rate, shape.burst, limit(shape.limit))
            } else {
                format!("{nodes}, {way}: {}", shape.rate)
            },
        ));
    }

    if result.has_packets() {
        facts.push(fact("TCP", tcp(scenario)));
    } else {
        let shared = "as flows that share links fairly below TCP's windows";
        facts.push(fact("Messages", format!("{shared}; queues and what they drop only where bursts overflow them")));
    }
    if !result.jobs.is_empty() {
        facts.push(fact(
            "HDFS",
            format!(
                "blocks of {}, {}",
                size(scenario.hdfs.block),
                scenario.hdfs.erasure_coding.map_or_else(
                    || many(u64::from(scenario.hdfs.replication), "replica"),
                    |coding| coding.policy().to_owned()
                )
            ),
        ));
    }
}

fn limit(limit: QueueLimit) -> String {
    match limit {
        QueueLimit::Packets(packets) => many(u64::from(packets), "packet"),
        QueueLimit::Bytes(bytes) => size(bytes),
        QueueLimit::Delay(delay) => delay.to_string(),
    }
}

/// Links as whole flows know them.
fn links(network: &Network) -> String {
    format!("{}, {}, {}", network.topology.word(), network.rate, network.delay)
}

/// Links with their queues, or the air.
fn network(network: &Network) -> String {
    if let Some(wifi) = &network.wifi {
        let range = wifi.range.map_or(String::new(), |range| format!(", range {range}"));
        return format!(
            "802.11{}, {}, {} rate, {}, transmit queues of {} packets{range}",
            wifi.standard.word(),
            wifi.mode.word(),
            wifi.rate_control.word(),
            wifi.propagation.model.word(),
            wifi.queue.packets,
        );
    }
    let loss = if network.loss > 0.0 { format!(", loss {}", network.loss) } else { String::new() };
    format!("{}, {} of {}{loss}", links(network), network.queue.kind.word(), limit(network.queue.limit))
}

/// The congestion control, and the options that are on.
fn tcp(scenario: &Scenario) -> String {
    let tcp = &scenario.tcp;
    let control = match tcp.control {
        Control::NewReno => "NewReno",
        Control::SackReno => "Reno",
        Control::Vegas => "Vegas",
        Control::Cubic => "CUBIC",
        Control::Bbr => "BBR",
        Control::Dctcp => "DCTCP",
        Control::Tahoe => "Tahoe",
        Control::Westwood => "Westwood+",
        Control::Scalable => "Scalable",
        Control::Fast => "FAST",
    };
    let mut options = vec![if tcp.uses_sack() { "SACK" } else { "no SACK" }];
    options.extend((tcp.uses_sack() && tcp.recovery == Recovery::Rack).then_some("RACK-TLP"));
    options.extend((tcp.ecn || tcp.control == Control::Dctcp).then_some("ECN"));
    options.extend(match tcp.hystart {
        HyStart::Linux if tcp.control == Control::Cubic => Some("HyStart"),
        HyStart::Rfc9406 => Some("HyStart++"),
        _ => None,
    });
    options.extend(tcp.pacing.then_some("paced"));
    options.extend(tcp.push_flow_control.then_some("push flow control"));
    let watches = (0..=scenario.cluster.workers).any(|node| tcp.of(node).watches_queue());
    options.extend(watches.then_some("transmit queue watched"));
    options.extend((!tcp.node.is_empty()).then_some("some nodes differ"));
    let options = options.join(", ");
    format!("{control}, {options}, minimum RTO {}, receive buffer {}", tcp.min_rto, size(tcp.receive_buffer))
}

#[cfg(test)]
mod tests {
    use super::size;
    use units::Bytes;

    #[test]
    fn sizes_are_said_as_they_are_written() {
        let of = |bytes: u64| size(Bytes::new(bytes));
        // 64 MB are 62,500 KiB too, and nobody writes that.
        assert_eq!(
            [of(64_000_000), of(64 << 20), of(1 << 30), of(4_000_000_000)],
            ["64 MB", "64 MiB", "1 GiB", "4 GB"]
        );
        assert_eq!([of(128 << 10), of(32_000), of(100)], ["128 KiB", "32 KB", "100 B"]);
    }
}
