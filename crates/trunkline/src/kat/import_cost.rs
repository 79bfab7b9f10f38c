//! How the records come to their nodes: through queues in one process, or through one in each DataNode (Yang 2012,
//! 3.4.3).

use super::Found;
use super::report::{bytes, count};
use crate::table::Table;
use placement::{Import, ImportCost, Queues};
use serde_json::{Value, json};

/// Beside a record that is sent by itself: Ethernet's framing (38 bytes with preamble and gap), IPv4 (20), TCP with
/// timestamps (32).
const HEADER: f64 = 90.0;
/// A connection is opened in about a millisecond within a cluster.
const CONNECT: f64 = 1e-3;
/// Memory of the one process: that of the document's name node (Yang 2012, table 3.2).
const MEMORY: f64 = 4e9;
/// The largest cluster that is looked at.
const MOST_NODES: u32 = 10_000;

fn import(found: &Found<'_>) -> Import {
    let profile = &found.profile;
    Import {
        bytes: profile.stored as f64 * found.factor,
        record: profile.stored as f64 / profile.records.max(1) as f64,
        header: HEADER,
        replicas: found.planned.plan.replicas() as f64,
        block: found.args.block.get() as f64,
        rate: found.args.rate.as_bps() as f64 / 8.0,
        connect: CONNECT,
        memory: MEMORY,
        // Data that are in HDFS stand on all nodes; others come from one client.
        from_nodes: found.args.present,
    }
}

fn costs(found: &Found<'_>) -> [ImportCost; 2] {
    let nodes = found.planned.plan.nodes().len() as u32;
    [Queues::Central, Queues::PerDataNode].map(|queues| import(found).cost(queues, nodes))
}

/// Both ways side by side.
pub fn table(found: &Found<'_>) -> Table {
    let [central, own] = costs(found);
    let mut table = Table::new(["the import", "queues in one process", "a queue in each DataNode"]).indented(2);
    let time = |cost: &ImportCost| duration(cost.time);
    let memory = |cost: &ImportCost| {
        if cost.fits { bytes(cost.memory) } else { format!("{}, too much", bytes(cost.memory)) }
    };
    table.row([format!("time at {}", found.args.rate), time(&central), time(&own)]);
    table.row(["memory where most is".to_owned(), memory(&central), memory(&own)]);
    table.row(["bytes between nodes".to_owned(), bytes(central.transfer), bytes(own.transfer)]);
    table
}

/// From which size of the cluster on the queues belong into the DataNodes.
pub fn crossover(found: &Found<'_>) -> String {
    match import(found).crossover(MOST_NODES) {
        Some(nodes) => format!("queues in the DataNodes are the better way from {} nodes on", count(f64::from(nodes))),
        None => "queues in one process are the better way on a cluster of any size".to_owned(),
    }
}

/// Both ways, and the crossover.
pub fn json(found: &Found<'_>) -> Value {
    let cost = |cost: &ImportCost| {
        json!({ "time_s": cost.time, "memory_bytes": cost.memory as u64, "transfer_bytes": cost.transfer as u64,
                "fits": cost.fits })
    };
    let [central, own] = costs(found);
    json!({ "central_queues": cost(&central), "queue_per_datanode": cost(&own),
            "crossover_nodes": import(found).crossover(MOST_NODES) })
}

fn duration(seconds: f64) -> String {
    match seconds {
        ..10.0 => format!("{seconds:.1} s"),
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}
