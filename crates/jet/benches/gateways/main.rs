//! The cost of two gateways beside direct TCP and beside a plain relay with the same TLS, each in a process of its own,
//! all in one run.
//!
//!     cargo bench -p jet --bench gateways               measure, and compare with baseline.json
//!     cargo bench -p jet --bench gateways -- --save     measure, and keep it as the baseline

mod load;
mod process;

use load::VOLUME;
use process::{Failure, Process, gateways, stunnel};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// Rounds, in which each way is measured in turn; the median counts.
const ROUNDS: usize = 3;
/// Connections that do nothing, and the most that a gateway may hold with them, in bytes.
const IDLE: usize = 10_000;
const IDLE_BYTES: u64 = 500_000_000;
/// Downloads that nobody reads, and the most that a gateway may hold for each, in bytes: 1 MB at a rate of zero, and
/// the rest of its blocks.
const UNREAD: usize = 20;
const UNREAD_BYTES: u64 = 1_100_000;
/// How much slower than direct TCP a question may be answered, in seconds.
const SLOWER: f64 = 0.3e-3;
/// Time until nothing moves any more.
const SETTLED: Duration = Duration::from_secs(2);
/// Factor of the baseline up to which the gateways' cost is accepted. Cost is relative to the other ways in the same
/// run, so it compares between machines and loads.
const TOLERANCE: f64 = 1.25;

/// One way from a program to a server.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
struct Row {
    /// One download, in bits per second.
    goodput_bps: f64,
    /// CPU time of the gateways or relays, in seconds per 10^9 bytes: beside the program, beside the server. For direct
    /// TCP that of program and server.
    cpu_s_per_gb: [f64; 2],
    /// From a question of one byte to its answer, in seconds: median and 99th percentile.
    byte_s: [f64; 2],
    /// From a question of 16 KiB to its answer, likewise.
    block_s: [f64; 2],
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Results {
    /// `direct`, `stunnel` where it is installed, `jet`.
    ways: BTreeMap<String, Row>,
    /// Resident memory of the gateways with [`IDLE`] connections that do nothing, in bytes: near, far.
    idle_bytes: [u64; 2],
    /// Resident memory for each of [`UNREAD`] downloads that nobody reads, in bytes: near, far.
    unread_bytes: [u64; 2],
}

impl Results {
    /// CPU time of both gateways over that of program and server with direct TCP.
    fn cost(&self) -> Option<f64> {
        let cpu = |way| self.ways.get(way).map(|row: &Row| row.cpu_s_per_gb.iter().sum::<f64>());
        Some(cpu("jet")? / cpu("direct")?)
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(done) = process::role(&arguments) {
        return done;
    }
    let folder = std::env::temp_dir().join(format!("trunkline-gateways-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let results = measure(&folder);
    let _ = std::fs::remove_dir_all(&folder);
    let results = results?;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/gateways/baseline.json");
    if arguments.iter().any(|argument| argument == "--save") {
        std::fs::write(file, serde_json::to_string_pretty(&results)? + "\n")?;
        return Ok(());
    }
    judge(&results, &serde_json::from_str(&std::fs::read_to_string(file)?)?)
}

/// Measures all ways in turn, and prints what comes out.
fn measure(folder: &Path) -> Result<Results, Failure> {
    jet::host::raise_descriptors();
    let server = Process::start(&["server"])?;
    let jet = gateways(folder, server.address)?;
    let relays = stunnel(folder, server.address)?;
    let mut ways: Vec<(&str, SocketAddr, Option<&[Process; 2]>)> = vec![("direct", server.address, None)];
    ways.extend(relays.as_ref().map(|relays| ("stunnel", relays[0].address, Some(relays))));
    ways.push(("jet", jet[0].address, Some(&jet)));
    let mut rounds: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    let heads = ["", "Gbit/s", "CPU s/GB near", "far", "1 B p50", "p99", "16 KiB p50", "p99"];
    let [name, rate, near, far, byte, p99, block, p99_too] = heads;
    println!("{name:<8} {rate:>7} {near:>14} {far:>6} {byte:>8} {p99:>8} {block:>11} {p99_too:>8}");
    for _ in 0..ROUNDS {
        for (name, way, between) in &ways {
            let row = once(*way, &server, *between)?;
            print(name, &row);
            rounds.entry((*name).to_owned()).or_default().push(row);
        }
    }
    println!("medians:");
    let ways: BTreeMap<String, Row> = rounds.into_iter().map(|(name, rows)| (name, median(&rows))).collect();
    for (name, row) in &ways {
        print(name, row);
    }
    let before = resident(&jet);
    let unread: Vec<_> = (0..UNREAD).map(|_| load::unread(jet[0].address)).collect::<Result<_, _>>()?;
    std::thread::sleep(SETTLED);
    let after = resident(&jet);
    let unread_bytes = [0, 1].map(|at| after[at].saturating_sub(before[at]) / UNREAD as u64);
    let [near, far] = unread_bytes.map(mb);
    println!("a download that nobody reads: near {near:.2} MB, far {far:.2} MB (of {})", unread.len());
    drop(unread);
    let idle: Vec<_> = (0..IDLE).map(|_| load::idle(jet[0].address)).collect::<Result<_, _>>()?;
    let idle_bytes = resident(&jet);
    let [near, far] = idle_bytes.map(mb);
    println!("{} idle connections: near {near:.1} MB, far {far:.1} MB", idle.len());
    Ok(Results { ways, idle_bytes, unread_bytes })
}

fn resident(gateways: &[Process; 2]) -> [u64; 2] {
    gateways.each_ref().map(Process::resident)
}

fn once(way: SocketAddr, server: &Process, between: Option<&[Process; 2]>) -> Result<Row, Failure> {
    let own = || rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let own = || own().tv_sec as f64 + own().tv_nsec as f64 * 1e-9;
    let cpu = || between.map_or_else(|| [own(), server.cpu_s()], |[near, far]| [near.cpu_s(), far.cpu_s()]);
    let before = cpu();
    let time = load::download(way)?;
    let after = cpu();
    Ok(Row {
        goodput_bps: VOLUME as f64 * 8.0 / time.as_secs_f64(),
        cpu_s_per_gb: std::array::from_fn(|at| (after[at] - before[at]) / (VOLUME as f64 * 1e-9)),
        byte_s: load::echo(way, 1)?,
        block_s: load::echo(way, 16 << 10)?,
    })
}

fn median(rows: &[Row]) -> Row {
    let of = |value: &dyn Fn(&Row) -> f64| {
        let mut values: Vec<f64> = rows.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Row {
        goodput_bps: of(&|row| row.goodput_bps),
        cpu_s_per_gb: [0, 1].map(|at| of(&|row: &Row| row.cpu_s_per_gb[at])),
        byte_s: [0, 1].map(|at| of(&|row: &Row| row.byte_s[at])),
        block_s: [0, 1].map(|at| of(&|row: &Row| row.block_s[at])),
    }
}

fn print(name: &str, row: &Row) {
    let us = |time: f64| format!("{:.0} us", time * 1e6);
    println!(
        "{name:<8} {:>7.2} {:>14.3} {:>6.3} {:>8} {:>8} {:>11} {:>8}",
        row.goodput_bps / 1e9,
        row.cpu_s_per_gb[0],
        row.cpu_s_per_gb[1],
        us(row.byte_s[0]),
        us(row.byte_s[1]),
        us(row.block_s[0]),
        us(row.block_s[1])
    );
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// What has to hold, and what may not have become worse.
fn judge(results: &Results, baseline: &Results) -> Result<(), Failure> {
    let mut wrong = Vec::new();
    if results.idle_bytes.iter().any(|bytes| *bytes > IDLE_BYTES) {
        wrong.push(format!("{IDLE} idle connections take more than {:.0} MB", mb(IDLE_BYTES)));
    }
    if results.unread_bytes.iter().any(|bytes| *bytes > UNREAD_BYTES) {
        wrong.push(format!("a download that nobody reads takes more than {:.1} MB", mb(UNREAD_BYTES)));
    }
    if let (Some(jet), Some(direct)) = (results.ways.get("jet"), results.ways.get("direct")) {
        // One core for the dearer gateway; and all cores there are, for both gateways, the program and the server.
        let one = 8e9 / jet.cpu_s_per_gb.into_iter().fold(0.0, f64::max);
        let cores = std::thread::available_parallelism()?.get() as f64;
        let all = 8e9 * cores / jet.cpu_s_per_gb.into_iter().chain(direct.cpu_s_per_gb).sum::<f64>();
        println!(
            "one core of a gateway carries {:.1} Gbit/s, this host's {cores} carry {:.1} Gbit/s with program and server; \
             jet {:.0} % of the smaller of the first and direct TCP, {:.0} % of the second",
            one / 1e9,
            all / 1e9,
            jet.goodput_bps / one.min(direct.goodput_bps) * 100.0,
            jet.goodput_bps / all * 100.0
        );
        for (what, ours, plain) in [("1 B", jet.byte_s, direct.byte_s), ("16 KiB", jet.block_s, direct.block_s)] {
            let slower = [ours[0] - plain[0], ours[1] - plain[1]];
            println!(
                "{what}: {:.3} ms slower than direct at the median, {:.3} ms at p99",
                slower[0] * 1e3,
                slower[1] * 1e3
            );
            if slower[0] > SLOWER {
                wrong.push(format!("an answer of {what} comes more than {:.1} ms later", SLOWER * 1e3));
            }
        }
    }
    if let (Some(cost), Some(before)) = (results.cost(), baseline.cost()) {
        println!("both gateways take {cost:.2} times the CPU time of direct TCP's ends; {before:.2} in the baseline");
        if cost > before * TOLERANCE {
            wrong.push(format!("that is more than {TOLERANCE} times the baseline"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ").into()) }
}
