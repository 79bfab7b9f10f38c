//! What an import costs, in words.

use super::report::{bytes, count};
use crate::table::Table;
use ::kat::{MOST_NODES, Planned, costs, import};
use placement::ImportCost;

/// Both ways side by side.
pub fn table(found: &Planned) -> Table {
    let [central, own] = costs(found);
    let mut table = Table::new(["the import", "queues in one process", "a queue in each DataNode"]).indented(2);
    let time = |cost: &ImportCost| duration(cost.time);
    let memory = |cost: &ImportCost| {
        if cost.fits { bytes(cost.memory) } else { format!("{}, too much", bytes(cost.memory)) }
    };
    table.row([format!("time at {}", found.asked.rate), time(&central), time(&own)]);
    table.row(["memory where most is".to_owned(), memory(&central), memory(&own)]);
    table.row(["bytes between nodes".to_owned(), bytes(central.transfer), bytes(own.transfer)]);
    table
}

/// From which size of the cluster on the queues belong into the DataNodes.
pub fn crossover(found: &Planned) -> String {
    match import(found).crossover(MOST_NODES) {
        Some(nodes) => format!("queues in the DataNodes are the better way from {} nodes on", count(f64::from(nodes))),
        None => "queues in one process are the better way on a cluster of any size".to_owned(),
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        ..10.0 => format!("{seconds:.1} s"),
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}
