//! `trunkline bench`.

use crate::args::Bench;
use crate::emit;
use crate::failure::Failure;
use sim::bench;
use std::fmt::Write;

/// Runs the work loads, one after the other, and prints what each cost and what came of it.
pub fn bench(args: &Bench) -> Result<(), Failure> {
    let named = || args.names.iter().map(String::as_str).collect();
    let names: Vec<&str> = if args.names.is_empty() { bench::QUICK.to_vec() } else { named() };
    let rows: Vec<bench::Row> = names.into_iter().filter_map(bench::run).collect();
    if args.json {
        let text = serde_json::to_string_pretty(&rows).map_err(|error| Failure::Internal(error.to_string()))?;
        return emit(&format!("{text}\n"));
    }
    let heads = ["work load", "M hops", "CPU s", "M hops/CPU s", "peak MB", "drops", "rtx", "done s", "x ns-2"];
    let [name, hops, cpu, speed, peak, drops, retransmissions, completion, ns2] = heads;
    let mut text = format!(
        "{name:<18} {hops:>8} {cpu:>7} {speed:>12} {peak:>8} {drops:>9} {retransmissions:>9} {completion:>9} {ns2:>7}\n"
    );
    for row in rows {
        let (hops, speed, peak) = (row.hops as f64 / 1e6, row.hops_per_cpu_s / 1e6, row.peak_bytes as f64 / 1e6);
        let ns2 = row.times_ns2.map_or_else(|| "-".to_owned(), |times| format!("{times:.2}"));
        let _ = writeln!(
            text,
            "{:<18} {hops:>8.2} {:>7.2} {speed:>12.2} {peak:>8.1} {:>9} {:>9} {:>9.4} {:>7}",
            row.name, row.cpu_s, row.drops, row.retransmissions, row.completion_s, ns2
        );
    }
    emit(&text)
}
