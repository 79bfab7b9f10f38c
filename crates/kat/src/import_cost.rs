//! How the records come to their nodes: through queues in one process, or through one in each DataNode (Yang 2012,
//! 3.4.3).

use crate::plan::Planned;
use placement::{Import, ImportCost, Queues};
use serde_json::{Value, json};

/// Beside a record that is sent by itself: Ethernet's framing (38 bytes with preamble and gap), IPv4 (20), TCP with
/// timestamps (32).
const HEADER: f64 = 90.0;
/// A connection is opened in about a millisecond within a cluster.
const CONNECT: f64 = 1e-3;
/// Memory of the one process: that of the document's name node (Yang 2012, table 3.2).
const MEMORY: f64 = 4e9;
/// The largest cluster that is looked at for where the better way changes.
pub const MOST_NODES: u32 = 10_000;

/// The import of a plan.
pub fn import(found: &Planned) -> Import {
    let profile = &found.profile;
    Import {
        bytes: profile.stored as f64 * found.factor,
        record: profile.stored as f64 / profile.records.max(1) as f64,
        header: HEADER,
        replicas: found.placed.plan.replicas() as f64,
        block: found.asked.block.get() as f64,
        rate: found.asked.rate.as_bps() as f64 / 8.0,
        connect: CONNECT,
        memory: MEMORY,
        // Data that are in HDFS stand on all nodes; others come from one client.
        from_nodes: found.asked.present,
    }
}

/// What it costs with queues in one process, and with one in each DataNode.
pub fn costs(found: &Planned) -> [ImportCost; 2] {
    let nodes = found.placed.plan.nodes().len() as u32;
    [Queues::Central, Queues::PerDataNode].map(|queues| import(found).cost(queues, nodes))
}

/// Both ways, and the crossover.
pub fn json(found: &Planned) -> Value {
    let cost = |cost: &ImportCost| {
        json!({ "time_s": cost.time, "memory_bytes": cost.memory as u64, "transfer_bytes": cost.transfer as u64,
                "fits": cost.fits })
    };
    let [central, own] = costs(found);
    json!({ "central_queues": cost(&central), "queue_per_datanode": cost(&own),
            "crossover_nodes": import(found).crossover(MOST_NODES) })
}
