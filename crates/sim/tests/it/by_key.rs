//! Input that is placed by key: what is shuffled over the network, and where reducers run.

use results::{AttemptState, JobState, RunResult, TaskKind};
use std::ops::ControlFlow;
use units::{Bytes, Time};

/// One reducer a node, and records of one key.
const GROUPS: &str = r#"
[cluster]
workers = 4
[hdfs]
block = "32 MiB"
replication = 2
[mapreduce]
reducers = 4
speculative = false
[job]
workload = "terasort"
input = "256 MiB"
"#;

fn run(assignments: &[&str]) -> RunResult {
    let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
    let scenario = sim::parse("test.toml", GROUPS, &assignments).unwrap_or_else(|error| panic!("{error:?}"));
    let result = sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(result.jobs[0].state, JobState::Succeeded, "{}", result.jobs[0].reason);
    result
}

/// Remote bytes of a run's shuffle, of all.
fn remote(result: &RunResult) -> f64 {
    let bytes = &result.jobs[0].bytes;
    bytes.shuffle_remote.get() as f64 / (bytes.shuffle_local + bytes.shuffle_remote).get() as f64
}

/// The probability that a map and a reduce, each drawn by its part of the work, ran on the same node.
fn meeting(result: &RunResult) -> f64 {
    let part = |kind: TaskKind, node: u32| {
        let won = |attempt: &&results::Attempt| attempt.kind == kind && attempt.state == AttemptState::Succeeded;
        let all = result.attempts.iter().filter(won).count() as f64;
        result.attempts.iter().filter(won).filter(|attempt| attempt.node == node).count() as f64 / all
    };
    (0..=4).map(|node| part(TaskKind::Map, node) * part(TaskKind::Reduce, node)).sum()
}

/// Natively a pair is reduced where its map ran with the probability that a map and a reduce meet. Placed by key none is
/// reduced elsewhere, but for maps that ran away from their block, of which a balanced job on an idle cluster has few.
#[test]
fn records_of_one_key_are_shuffled_within_their_node() {
    for generation in ["yarn", "hadoop1"] {
        let generation = format!("cluster.generation=\"{generation}\"");
        let native = run(&[&generation]);
        let placed = run(&[&generation, "hdfs.placement.kind=by-key"]);
        let expected = 1.0 - meeting(&native);
        assert!((remote(&native) - expected).abs() < 0.001, "{generation}: {}, {expected}", remote(&native));
        assert!(remote(&placed) < 0.01, "{generation}: {}", remote(&placed));
        // The same bytes are shuffled, and all reducers have as much.
        let all = |result: &RunResult| result.jobs[0].bytes.shuffle_local + result.jobs[0].bytes.shuffle_remote;
        let (native_bytes, placed_bytes) = (all(&native).get() as f64, all(&placed).get() as f64);
        assert!((placed_bytes / native_bytes - 1.0).abs() < 1e-3, "{native_bytes}, {placed_bytes}");
        let nodes: std::collections::BTreeSet<u32> = reducers(&placed);
        assert_eq!(nodes.len(), 4, "a reducer on each node");
    }
}

fn reducers(result: &RunResult) -> std::collections::BTreeSet<u32> {
    let reduces = result.attempts.iter().filter(|attempt| attempt.kind == TaskKind::Reduce);
    reduces.map(|attempt| attempt.node).collect()
}

/// A record of ten keys stands with one of them: a tenth of its pairs is at home, and of the others one in four.
#[test]
fn records_of_many_keys_keep_most_of_their_shuffle() {
    let placed = run(&["hdfs.placement.kind=by-key", "job.keys-per-record=10"]);
    assert!((remote(&placed) - 0.9 * 0.75).abs() < 0.03, "{}", remote(&placed));
}

/// With half as many reducers as nodes, half of the nodes have no reducer for their keys.
#[test]
fn nodes_without_a_reducer_send_their_pairs() {
    let placed = run(&["hdfs.placement.kind=by-key", "mapreduce.reducers=2"]);
    assert!((remote(&placed) - 0.5).abs() < 0.05, "{}", remote(&placed));
    let bytes = &placed.jobs[0].bytes;
    assert!(bytes.shuffle_local > Bytes::ZERO);
}

/// On a slow network the job gains what its remote shuffle took: three quarters of 266 MB over four links of 10 Mbit/s
/// need at least 40 s.
#[test]
fn a_slow_network_shows_what_placement_saves() {
    let slow = ["network.rate=\"10 Mbit/s\"", "hdfs.placement.kind=native"];
    let native = run(&slow).jobs[0].finish.expect("finished");
    let placed = run(&[slow[0], "hdfs.placement.kind=by-key"]).jobs[0].finish.expect("finished");
    assert!(placed + Time::from_secs(40) < native, "{placed} against {native}");
}

/// A word count's combiner finds a quarter of the words in a map whose block has one node's keys, so fewer pairs leave
/// it; a reducer gets the same words.
#[test]
fn a_combiner_leaves_fewer_pairs_of_records_with_one_nodes_keys() {
    let job = ["job.workload=wordcount", "job.combiner=true"];
    let all = |result: &RunResult| (result.jobs[0].bytes.shuffle_local + result.jobs[0].bytes.shuffle_remote).get();
    let native = all(&run(&job));
    let placed = all(&run(&[job[0], job[1], "hdfs.placement.kind=by-key"]));
    // By words: each of the 8 maps has nearly all of 50,000 of them natively, and 12,500 by key.
    let ratio = placed as f64 / native as f64;
    assert!((0.2..0.4).contains(&ratio), "{placed} of {native}");
}
