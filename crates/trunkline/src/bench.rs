//! `trunkline bench`.

use crate::args::Bench;
use crate::emit;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::table::Table;
use sim::bench;

/// Runs the workloads, one after the other, and prints what each cost and what came of it.
pub fn bench(args: &Bench) -> Result<(), Failure> {
    let named = || args.names.iter().map(String::as_str).collect();
    let names: Vec<&str> = if args.names.is_empty() { bench::QUICK.to_vec() } else { named() };
    let rows: Vec<bench::Row> = names.into_iter().filter_map(bench::run).collect();
    if args.json {
        let text = serde_json::to_string_pretty(&rows).map_err(|error| Failure::Internal(error.to_string()))?;
        return emit(&format!("{text}\n"));
    }
    let heads = [
        "workload",
        "M hops",
        "CPU s",
        "M hops/CPU s",
        "us/worker",
        "peak MB",
        "drops",
        "rtx",
        "done s",
        "x ns-2",
        "flows",
    ];
    let mut table = Table::new(heads).optional(&[10, 8, 6, 7, 1, 5]);
    let optional =
        |value: Option<f64>, digits: usize| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.digits$}"));
    for row in rows {
        let (hops, speed, peak) = (row.hops as f64 / 1e6, row.hops_per_cpu_s / 1e6, row.peak_bytes as f64 / 1e6);
        // Without packets there is nothing to say of them.
        let of_packets = |text: String| if row.flows.is_some() { "-".to_owned() } else { text };
        table.row([
            row.name.clone(),
            of_packets(format!("{hops:.2}")),
            format!("{:.2}", row.cpu_s),
            of_packets(format!("{speed:.2}")),
            optional(row.cpu_us_per_worker, 0),
            format!("{peak:.1}"),
            of_packets(row.drops.to_string()),
            of_packets(row.retransmissions.to_string()),
            format!("{:.4}", row.completion_s),
            optional(row.times_ns2, 2),
            row.flows.map_or_else(|| "-".to_owned(), |flows| flows.to_string()),
        ]);
    }
    emit(&table.shown(&Screen::of_output()))
}
