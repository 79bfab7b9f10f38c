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

/// Two reducers a node, of which one runs at a time, and a node at a tenth of its speed. Strict, its second reducer waits
/// for its first and all is local. Relaxed, it runs on a node that is through, and an eighth of the pairs is remote.
#[test]
fn a_strict_reducer_waits_for_its_node_and_a_relaxed_one_does_not() {
    let slow = [
        "cluster.generation=\"hadoop1\"",
        "mapreduce.reduce-slots=1",
        "mapreduce.reducers=8",
        "hdfs.placement.kind=by-key",
        "faults=[{ node = 'worker-1', at = '0 s', slow = 0.1 }]",
    ];
    let with = |patience: &str| {
        let mut keys: Vec<&str> = slow.to_vec();
        keys.push(patience);
        run(&keys)
    };
    let (strict, relaxed) = (with("hdfs.placement.patience=86400 s"), with("hdfs.placement.patience=0 s"));
    assert!(remote(&strict) < 0.01, "strict: {}", remote(&strict));
    assert!((remote(&relaxed) - 0.125).abs() < 0.02, "relaxed: {}", remote(&relaxed));
    assert!(relaxed.jobs[0].finish < strict.jobs[0].finish, "waiting costs time");
}

/// The node of a reducer's keys is lost for good after its maps' outputs are gone: with a fallback the job ends all the
/// same, on the other nodes, and waits for it no longer than that.
#[test]
fn a_reducer_whose_node_is_lost_falls_back_to_another() {
    let lost =
        ["hdfs.placement.kind=by-key", "hdfs.placement.patience=20 s", "faults=[{ node = 'worker-2', at = '5 s' }]"];
    for generation in ["yarn", "hadoop1"] {
        let generation = format!("cluster.generation=\"{generation}\"");
        let result = run(&[&generation, lost[0], lost[1], lost[2], "mapreduce.node-expiry=10 s", "hdfs.recheck=1 s"]);
        let nodes = reducers(&result);
        assert!(!nodes.is_empty());
        let last: std::collections::BTreeSet<u32> = result
            .attempts
            .iter()
            .filter(|attempt| attempt.kind == TaskKind::Reduce && attempt.state == AttemptState::Succeeded)
            .map(|attempt| attempt.node)
            .collect();
        assert!(!last.contains(&2) && last.len() == 3, "{last:?}");
    }
}

/// What is said of each worker sums to what is said of the job, and what some send others receive.
#[test]
fn loads_of_workers_sum_to_the_volumes_of_the_job() {
    let result = run(&[]);
    let job = &result.jobs[0].bytes;
    let sum = |of: fn(&results::NodeLoad) -> Bytes| -> Bytes {
        result.nodes.iter().filter_map(|node| node.load.as_ref()).map(of).sum()
    };
    assert!(result.nodes[0].load.is_none(), "the master is no worker");
    assert_eq!(sum(|load| load.map_input), job.map_input);
    assert_eq!(sum(|load| load.shuffle_sent), job.shuffle_remote);
    assert_eq!(sum(|load| load.shuffle_received), job.shuffle_remote);
    assert_eq!(sum(|load| load.stored_at_start), job.map_input * 2, "two replicas");
    // TeraSort writes its output once. The job's own files (program, configuration, list of splits) come on top.
    let own = sum(|load| load.stored) - job.map_input * 2 - job.written;
    assert!(own < Bytes::from_mb(5), "{own}");
}

/// Progress goes from nothing to all, never back on a cluster without failures, and reducers end last.
#[test]
fn progress_rises_to_one() {
    let job = &run(&["run.sample=100 ms"]).jobs[0];
    for (name, series) in [("maps", &job.map_progress), ("reduces", &job.reduce_progress)] {
        assert!(series.first().is_some_and(|first| *first < 0.1), "{name}: {:?}", series.first());
        assert!(series.last().is_some_and(|last| *last > 0.99), "{name}: {:?}", series.last());
        assert!(series.windows(2).all(|pair| pair[1] >= pair[0]), "{name} go back");
    }
}
