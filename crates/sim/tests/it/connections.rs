//! What limited Hadoop's connections, on scenarios where one thing does.

use results::page::ReportData;
use results::{Flow, Limits, RunResult};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

const SHUFFLE: &str = r#"
[cluster]
workers = 4
[hdfs]
block = "32 MiB"
replication = 2
[network]
rate = "100 Mbit/s"
[tcp]
min-rto = "20 ms"
[mapreduce]
reducers = 4
speculative = false
slowstart = 1.0
[job]
workload = "terasort"
input = "256 MiB"
[run]
sample = "10 ms"
"#;

fn run(assignments: &[&str]) -> RunResult {
    let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
    let scenario = sim::parse("test.toml", SHUFFLE, &assignments).unwrap_or_else(|error| panic!("{error:?}"));
    sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

/// The part of all looks at fetches between nodes that each cause has.
fn shares(result: &RunResult) -> BTreeMap<&'static str, f64> {
    let fetches = result.flows.iter().filter(|flow| flow.service == "shuffle" && flow.from != flow.to);
    let looks: Vec<Limits> = fetches.filter_map(|flow| flow.limits).collect();
    // Each of four reducers fetches from three other nodes.
    assert!(looks.len() >= 6, "fetches last longer than a sample: {} of them", looks.len());
    let all: f64 = looks.iter().flat_map(|limits| limits.0).map(f64::from).sum();
    let of = |at: usize| looks.iter().map(|limits| f64::from(limits.0[at])).sum::<f64>() / all;
    (0..Limits::NAMES.len()).map(|at| (Limits::NAMES[at], of(at))).collect()
}

#[test]
fn a_small_receive_buffer_on_a_long_path_is_the_peers_window() {
    let result = run(&["network.delay=\"5 ms\"", "tcp.receive-buffer=\"16 KB\""]);
    let shares = shares(&result);
    assert!(shares["peer"] > 0.6 && shares["window"] < 0.1, "{shares:?}");
}

#[test]
fn losses_show_as_recovery_and_timeouts() {
    // The mean of five seeds: a few timeouts decide a run.
    let repair = |assignment: &str| {
        let of = |seed: u32| {
            let shares = shares(&run(&[assignment, &format!("run.seed={seed}")]));
            shares["recovery"] + shares["timeout"]
        };
        (1..=5).map(of).sum::<f64>() / 5.0
    };
    let (calm, lossy) = (repair("network.loss=0.0"), repair("network.loss=0.05"));
    assert!(lossy > 0.4 && lossy > calm + 0.2, "{lossy}, without loss {calm}");
}

#[test]
fn a_full_link_is_a_full_window_with_a_queue() {
    let result = run(&["network.queue.limit=\"2000 packets\""]);
    let shares = shares(&result);
    assert!(shares["window"] > 0.5, "{shares:?}");
    // 2,000 packets of 1,500 bytes wait 240 ms at 100 Mbit/s; the path itself takes a tenth of a millisecond.
    let fetch = |flow: &&Flow| flow.service == "shuffle" && flow.from != flow.to && flow.bytes_back.get() > 1_000_000;
    let queued = result.flows.iter().filter(fetch).filter_map(|flow| Some((flow.rtt?, flow.least_rtt?)));
    let (with, all) = queued.fold((0, 0), |(with, all), (rtt, least)| (with + u32::from(rtt > least * 2), all + 1));
    assert!(all > 5 && 2 * with > all, "{with} of {all}");
    assert!(result.nodes.iter().skip(1).all(|node| node.window_series.iter().any(|window| *window > 10_000)));
}

/// From a fetch to its connection: what a reducer waited for on the longest chain came over a connection that the page
/// has, between the nodes that the path names.
#[test]
fn a_fetch_on_the_longest_chain_has_its_connection() {
    let result = run(&["network.rate=\"20 Mbit/s\""]);
    let data = ReportData::new(&result, None);
    let node = |row: u32| result.nodes[row as usize].name.clone();
    let path = result.jobs[0].critical_path.iter().filter(|segment| segment.finish > segment.start);
    let mut checked = 0;
    for (segment, shown) in path.zip(&data.jobs[0].critical_path) {
        let (Some(source), Some(row)) = (segment.source, segment.attempt) else { continue };
        let to = result.attempts[row as usize].node;
        if shown.flow < 0 || source == to {
            continue;
        }
        let flow = shown.flow as usize;
        let ends = [&data.flows.from[flow], &data.flows.to[flow]];
        assert!(ends.contains(&&node(source)) && ends.contains(&&node(to)), "{ends:?}: {segment:?}");
        let (start, end) = (data.flows.start_us[flow] as f64 / 1e6, data.flows.end_us[flow] as f64 / 1e6);
        assert!(start < shown.end_s && end > shown.start_s, "{start} to {end}: {segment:?}");
        checked += 1;
    }
    assert!(checked > 0, "the path waits for fetches");
}
