//! Byte streams over several connections, run from a scenario's text.

use results::{RunResult, TrafficOutcome};
use std::ops::ControlFlow;

/// What a scenario leaves.
pub fn run(text: &str) -> RunResult {
    run_with(text, &[])
}

/// What a scenario leaves with these keys set otherwise.
fn run_with(text: &str, set: &[&str]) -> RunResult {
    let set: Vec<String> = set.iter().map(|set| (*set).to_owned()).collect();
    let scenario = sim::parse("test.toml", text, &set).unwrap_or_else(|error| panic!("{error}"));
    sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

/// What became of a traffic.
pub fn traffic<'a>(result: &'a RunResult, name: &str) -> &'a TrafficOutcome {
    result.traffic.iter().find(|traffic| traffic.name == name).expect("a traffic of this name")
}

/// `flows` TCP flows, "others", and a byte stream, "ours" (its keys in `ours`), through one queue of a dumbbell, with keys
/// of TCP `set` otherwise than by RFC 5681 and RFC 6675.
pub fn beside(network: &str, flows: u32, others: &str, ours: &str, more: &str, set: &[&str]) -> RunResult {
    let text = format!(
        r#"
        [cluster]
        workers = 2
        [network]
        topology = "dumbbell"
        rate = "1 Gbit/s"
        {network}
        # As RFC 5681 and RFC 6675 count.
        [tcp]
        control = "sack-reno"
        abc-limit = 1
        recovery = "rfc6675"
        [[traffic]]
        name = "others"
        kind = "long"
        from = "worker-2"
        flows = {flows}
        {others}
        [[traffic]]
        name = "ours"
        from = "worker-2"
        {ours}
        [run]
        {more}
        "#
    );
    run_with(&text, set)
}
