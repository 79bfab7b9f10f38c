//! Whole jobs, packet by packet, from scenario text to results.

use results::{AttemptState, JobState, RunResult, TaskKind, Waiting};
use std::ops::ControlFlow;
use units::{Bytes, Time};

fn run(text: &str, assignments: &[&str]) -> RunResult {
    let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
    let scenario = sim::parse("test.toml", text, &assignments).unwrap_or_else(|error| panic!("{error:?}"));
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
        // All of it over the network at least once, with headers: shuffle to other nodes, and no replica of TeraSort's
        // output.
        let received: Bytes = result.nodes.iter().map(|node| node.interface_received).sum();
        assert!(received > job.bytes.shuffle_remote, "{received} received, {} shuffled", job.bytes.shuffle_remote);
        let (launch, finish) = (job.launch.expect("launched"), job.finish.expect("finished"));
        assert!(finish > launch && finish < Time::from_secs(300), "{launch} to {finish}");
        assert_eq!(job.breakdown.total(), finish - job.submit, "the critical path explains the whole job");
        assert!(job.breakdown.of(Waiting::Cpu) > Time::ZERO);
        assert!(result.ledger.len() >= 4);
    }
}

/// The recorded word count without a combiner had 209,821,356 bytes of input and 386,196,972 of intermediate files.
#[test]
fn wordcount_without_its_combiner_shuffles_what_the_recorded_job_did() {
    let result = run(TERASORT, &["job.workload=\"wordcount-nocombine\"", "job.input=\"64 MiB\""]);
    let job = &result.jobs[0];
    assert_eq!((job.state, job.name.as_str()), (JobState::Succeeded, "wordcount-nocombine"), "{}", job.reason);
    let shuffled = (job.bytes.shuffle_local + job.bytes.shuffle_remote).get() as f64;
    let recorded = 386_196_972.0 / 209_821_356.0;
    assert!((shuffled / (64.0 * 1_048_576.0) / recorded - 1.0).abs() < 1e-3, "{shuffled}");
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

/// What arrives is no silence, however long an output takes: a chunk of 4 MiB needs 224 s here, a fetcher waits 180 s
/// for a silent host.
#[test]
fn a_fetch_on_a_slow_network_is_not_given_up_while_bytes_come() {
    let slow = r#"
        cluster = { workers = 2, generation = "hadoop1" }
        network = { rate = "150 Kbit/s" }
        hdfs = { block = "8 MiB", replication = 2 }
        mapreduce = { reducers = 1, speculative = false, job-jar = "0 B", job-conf = "0 B" }
        job = { workload = "terasort", input = "16 MiB" }
    "#;
    let result = run(slow, &[]);
    let job = &result.jobs[0];
    assert_eq!(job.state, JobState::Succeeded, "{}", job.reason);
    assert!(job.bytes.shuffle_remote > Bytes::from_mib(8), "{}", job.bytes.shuffle_remote);
    assert!(result.attempts.iter().all(|attempt| attempt.state == AttemptState::Succeeded), "{:?}", result.events);
    assert_eq!(job.bytes.wasted, Bytes::ZERO);
}

/// In Hadoop 1 the TaskTracker watches over the progress of its tasks, which needs no network: a node that is cut off
/// for longer than their timeout brings their results when it is back.
#[test]
fn a_tasktracker_out_of_reach_keeps_its_tasks() {
    let tablets = r#"
        cluster = { workers = 4, generation = "hadoop1" }
        node = "nexus7"
        hdfs = { block = "64 MiB", replication = 4 }
        mapreduce = { reducers = 1, task-timeout = "60 s", speculative = false }
        job = { workload = "terasort", input = "256 MiB" }
    "#;
    let result = run(tablets, &[r#"faults=[{ at = "20 s", link = "worker-1", down-for = "200 s" }]"#]);
    let job = &result.jobs[0];
    assert_eq!(job.state, JobState::Succeeded, "{}", job.reason);
    let (cut, back) = (Time::from_secs(20), Time::from_secs(220));
    let across = |attempt: &&results::Attempt| attempt.node == 1 && attempt.start < cut && attempt.finish >= back;
    let kept: Vec<_> = result.attempts.iter().filter(across).collect();
    assert!(!kept.is_empty(), "{:?}", result.events);
    assert!(kept.iter().all(|attempt| attempt.state == AttemptState::Succeeded), "{:?}", result.events);
}
