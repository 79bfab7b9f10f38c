//! Whole jobs, packet by packet, from scenario text to results.

use sim::results::{AttemptState, JobState, RunResult, TaskKind, Waiting};
use sim::scenario::Scenario;
use std::ops::ControlFlow;
use units::{Bytes, Time};

fn run(text: &str, assignments: &[&str]) -> RunResult {
    let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
    let scenario = Scenario::parse("test.toml", text, &assignments).unwrap_or_else(|error| panic!("{error:?}"));
    sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

const TERASORT: &str = r#"
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

#[test]
fn terasort_moves_its_bytes_in_both_generations() {
    for generation in ["yarn", "hadoop1"] {
        let result = run(TERASORT, &[&format!("cluster.generation=\"{generation}\"")]);
        let job = &result.jobs[0];
        assert_eq!(job.state, JobState::Succeeded, "{generation}: {}", job.reason);
        assert_eq!((job.maps, job.reduces), (8, 4));
        assert_eq!(job.bytes.map_input, Bytes::from_mib(256));
        // Hadoop's intermediate format: 104 bytes for each record of 100, 6 for each partition.
        let shuffled = (job.bytes.shuffle_local + job.bytes.shuffle_remote).get() as f64;
        assert!((shuffled / (256.0 * 1_048_576.0 * 1.04) - 1.0).abs() < 1e-3, "{shuffled}");
        // All of it over the network at least once, with headers: shuffle to other nodes, and no replica of TeraSort's output.
        let received: Bytes = result.nodes.iter().map(|node| node.interface_received).sum();
        assert!(received > job.bytes.shuffle_remote, "{received} received, {} shuffled", job.bytes.shuffle_remote);
        let (launch, finish) = (job.launch.expect("launched"), job.finish.expect("finished"));
        assert!(finish > launch && finish < Time::from_secs(300), "{launch} to {finish}");
        assert_eq!(job.breakdown.total(), finish - job.submit, "the critical path explains the whole job");
        assert!(job.breakdown.of(Waiting::Cpu) > Time::ZERO);
        assert!(result.ledger.len() >= 4);
    }
}

#[test]
fn a_slow_network_lengthens_the_shuffle_by_what_its_bytes_need() {
    let fast = run(TERASORT, &[]);
    let slow = run(TERASORT, &["network.rate=\"20 Mbit/s\""]);
    let busiest = slow.nodes.iter().map(|node| node.interface_received.max(node.interface_sent)).max().expect("nodes");
    let needed = units::BitRate::from_mbps(20).transmission_time(busiest);
    let (fast, slow) = (fast.jobs[0].finish.expect("finished"), slow.jobs[0].finish.expect("finished"));
    assert!(slow > needed, "{slow} is less than the {needed} that the bytes of one node need");
    assert!(slow < fast + needed.mul_f64(1.6), "{slow} against {fast} and {needed}");
}

#[test]
fn the_same_seed_gives_the_same_result() {
    assert_eq!(run(TERASORT, &["run.seed=7"]), run(TERASORT, &["run.seed=7"]));
    assert_ne!(run(TERASORT, &["run.seed=7"]).jobs[0].finish, run(TERASORT, &["run.seed=8"]).jobs[0].finish);
}

#[test]
fn a_crashed_worker_costs_its_attempts_and_not_the_job() {
    let faults = r#"faults=[{ at = "12.5 s", node = "worker-1" }]"#;
    let result = run(TERASORT, &[faults, "mapreduce.node-expiry=\"15 s\"", "hdfs.recheck=\"5 s\""]);
    let job = &result.jobs[0];
    assert_eq!(job.state, JobState::Succeeded, "{}", job.reason);
    let lost = result.attempts.iter().filter(|attempt| attempt.node == 1);
    // Its maps had succeeded, and their output was gone with it.
    assert!(lost.clone().any(|attempt| attempt.kind == TaskKind::Map && attempt.state == AttemptState::Killed));
    let again = result.attempts.iter().filter(|attempt| attempt.kind == TaskKind::Map && attempt.attempt > 0);
    assert!(again.clone().count() > 0, "maps of the lost node run again: {:?}", lost.collect::<Vec<_>>());
    assert!(again.clone().all(|attempt| attempt.node != 1));
    let news = || result.events.iter().filter(|event| event.detail.contains("lost with its output"));
    assert!(news().count() > 0, "{:?}", result.events);
    assert!(news().all(|event| event.at > Time::from_ms(12_500)), "what is lost in a crash is known after it");
}
