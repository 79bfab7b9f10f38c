//! An object store under whole jobs: what links, round trips and losses do to it.

use results::{AttemptState, JobState, Phase, RunResult, TaskKind};
use std::ops::ControlFlow;
use units::Bytes;

/// One map reads 64 MB over one connection at 10 MB/s, 10 ms from the store; each request takes 50 ms.
const ONE_MAP: &str = r#"
[cluster]
workers = 1
[hdfs]
replication = 1
[object-store]
delay = "10 ms"
latency = "50 ms"
latency-p99 = "0 s"
connection-rate = "10 MB/s"
s3a = { block = "64 MB" }
[job]
workload = "generic"
input = "64 MB"
input-store = "object-store"
map-ratio = 0
reducers = 0
map-cpu = 1
[mapreduce]
task-overhead = "0 s"
"#;

fn scenario(text: &str, assignments: &[&str]) -> Result<scenario::Scenario, scenario::ScenarioError> {
    let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
    sim::parse("test.toml", text, &assignments)
}

fn run(text: &str, assignments: &[&str]) -> RunResult {
    let scenario = scenario(text, assignments).unwrap_or_else(|error| panic!("{error}"));
    let result = sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(result.jobs[0].state, JobState::Succeeded, "{}", result.jobs[0].reason);
    result
}

/// From the beginning of the first map's reading to the end of its function.
fn reading(result: &RunResult) -> f64 {
    let won = |attempt: &&results::Attempt| attempt.kind == TaskKind::Map && attempt.state == AttemptState::Succeeded;
    let map = result.attempts.iter().find(won).expect("a map");
    let of = |phase: Phase| map.intervals.iter().filter(move |interval| interval.phase == phase);
    let start = of(Phase::Read).map(|interval| interval.start).min().expect("it reads");
    let finish = of(Phase::Compute).map(|interval| interval.finish).max().expect("it computes");
    (finish - start).as_secs_f64()
}

/// A round trip each for TCP, for TLS, for the length and for the request of the bytes, two latencies, and 64 MB at 10
/// MB/s, over packets as over flows. The last piece of some MB is computed in milliseconds.
#[test]
fn a_map_reads_at_its_connection_s_rate_over_packets_and_flows() {
    let expected = 4.0 * 0.020 + 2.0 * 0.050 + 64.0 / 10.0;
    for fidelity in ["packet", "flow"] {
        let result = run(ONE_MAP, &[&format!("run.fidelity={fidelity}")]);
        let took = reading(&result);
        assert!((took / expected - 1.0).abs() < 0.01, "{fidelity}: {took} against {expected}");
        let store = result.object_store.expect("a store");
        assert_eq!((store.read, result.jobs[0].bytes.store_read), (Bytes::from_mb(64), Some(Bytes::from_mb(64))));
        // The map's two, and on a connection of its own the client's look at the input: HEAD, and LIST twice.
        assert_eq!((store.requests(), store.connections, store.throttled), (2 + 3, 2, 0));
        assert!(result.flows.iter().any(|flow| flow.service == "store"));
    }
}

/// On processors of twice the speed S3A's start of 2 s takes one: in the client before it submits the job, in an AppMaster
/// whose job writes objects, and in each task that touches some.
#[test]
fn s3a_starts_in_each_process_that_touches_objects() {
    let seconds = |time: units::Time| time.as_secs_f64();
    // When the job is submitted, from there to its launch, and how long the map's container starts.
    let parts = |set: &[&str], start: &str| {
        let starts = [&format!("object-store.s3a.start='{start}'"), "node.speed=2", "job.input='1 MB'"];
        let result = run(ONE_MAP, &[set, &starts].concat());
        let (job, map) = (&result.jobs[0], result.attempts.iter().find(|attempt| attempt.kind == TaskKind::Map));
        let intervals = map.expect("a map").intervals.iter().filter(|interval| interval.phase == Phase::Start);
        let start: f64 = intervals.map(|interval| seconds(interval.finish - interval.start)).sum();
        [seconds(job.submit), seconds(job.launch.expect("a launch") - job.submit), start]
    };
    for (set, later) in [
        (&[][..], [1.0, 0.0, 1.0]),
        (&["job.output-store=object-store"], [1.0, 1.0, 1.0]),
        (&["job.input-store=hdfs"], [0.0, 0.0, 0.0]),
        // The map is in the AppMaster's process, which has started S3A where it writes, and has not where it reads alone.
        (&["mapreduce.uber.enable=true"], [1.0, 0.0, 1.0]),
        (&["mapreduce.uber.enable=true", "job.output-store=object-store"], [1.0, 1.0, 0.0]),
    ] {
        let (cold, none) = (parts(set, "2 s"), parts(set, "0 s"));
        let differ = (0..3).map(|part| cold[part] - none[part]);
        // An AppMaster and a map are ready some heartbeats later or sooner.
        assert!(differ.zip(later).all(|(differ, later)| (differ - later).abs() < 0.05), "{set:?}: {cold:?}, {none:?}");
    }
}

/// The client is lost with its node a second into that start of 5 s; when the node is back, it begins anew.
#[test]
fn a_client_that_is_lost_starts_s3a_again() {
    let fault = "faults=[{ at = \"1 s\", node = \"master\", down-for = \"2 s\" }]";
    let submitted = |set: &[&str]| {
        let starts = ["object-store.s3a.start='5 s'", "node.speed=1"];
        run(ONE_MAP, &[&starts, set].concat()).jobs[0].submit.as_secs_f64()
    };
    let later = submitted(&[fault]) - submitted(&[]);
    assert!((later - 3.0).abs() < 0.05, "{later} s");
}

/// With 2 s of work before its output's first request, on a processor of twice the speed, a reducer ends a second later
/// after its last merge.
#[test]
fn an_output_stream_loads_what_it_needs_first() {
    let reducing = |start: &str| {
        let set = [&format!("object-store.s3a.write-start='{start}'"), "node.speed=2", "job.input='3 MiB'"];
        let result = run(BOTH, &set);
        let reduce = result.attempts.iter().find(|attempt| attempt.kind == TaskKind::Reduce).expect("a reduce");
        let merged = reduce.intervals.iter().filter(|interval| matches!(interval.phase, Phase::Fetch | Phase::Merge));
        (reduce.finish - merged.map(|interval| interval.finish).max().expect("it fetches")).as_secs_f64()
    };
    let longer = reducing("2 s") - reducing("0 s");
    assert!((longer - 1.0).abs() < 0.1, "{longer} s");
}

/// The link before the store is shared by all readers; here it carries less than their connections together.
#[test]
fn the_store_s_link_bounds_all_readers_together() {
    let shared = [
        "cluster.workers=4",
        "job.input='256 MB'",
        "object-store.s3a.block='32 MB'",
        "object-store.rate='160 Mbit/s'",
        "object-store.delay='100 us'",
        "object-store.latency='1 ms'",
    ];
    let result = run(ONE_MAP, &shared);
    // The link's part of the run: it carries payload in frames of 1,538 bytes with 1,448 of data.
    let link = result.links.iter().find(|link| link.name.starts_with("object-store ->")).expect("the store's link");
    let least = 256e6 * 8.0 * 1_538.0 / 1_448.0 / 160e6;
    let maps = || result.attempts.iter().filter(|attempt| attempt.kind == TaskKind::Map);
    let began = maps().map(results::Attempt::launched).min().expect("a map");
    let ended = maps().map(|attempt| attempt.finish).max().expect("a map");
    let took = (ended - began).as_secs_f64();
    assert!(link.bytes > Bytes::from_mb(256), "{:?}", link.bytes);
    // Maps start and end; each gives up its connection at the end of its split, with what is on the way.
    assert!((least..least * 1.4).contains(&took), "{took} against {least}");
    let wide = run(ONE_MAP, &[&shared[..3], &shared[4..]].concat());
    let took_wide = wide.jobs[0].finish.expect("an end") - wide.jobs[0].submit;
    assert!(took_wide < result.jobs[0].finish.expect("an end") - result.jobs[0].submit);
}

/// Loss on the way to the store is TCP's to mend: the same bytes, later.
#[test]
fn losses_on_the_way_slow_a_reader_down() {
    let (clean, lossy) = (run(ONE_MAP, &[]), run(ONE_MAP, &["object-store.loss=0.02"]));
    assert!(lossy.network.expect("packets").retransmissions > 100);
    assert_eq!(lossy.object_store.as_ref().map(|store| store.read), Some(Bytes::from_mb(64)));
    assert!(reading(&lossy) > 1.5 * reading(&clean), "{} against {}", reading(&lossy), reading(&clean));
}

/// A job that reads from the store and writes to it.
const BOTH: &str = r#"
[cluster]
workers = 3
[object-store]
latency-p99 = "0 s"
s3a = { multipart-size = "8 MiB" }
[job]
workload = "terasort"
input = "192 MiB"
input-store = "object-store"
output-store = "object-store"
reducers = 3
"#;

/// Algorithm 1 copies every byte twice, algorithm 2 once; S3A's committers copy none. The directory committer begins to
/// upload when a task has written all, one part after the other; the magic one has uploaded most of it by then. But it
/// asks for some ten small requests more of each task, as Hadoop was seen to, and where these take long it loses by them.
#[test]
fn committers_copy_or_do_not() {
    let job = |committer: &str| run(BOTH, &[&format!("object-store.s3a.committer={committer}")]);
    let runs = ["file-v1", "file-v2", "directory", "magic"].map(job);
    let written = runs.each_ref().map(|run| run.jobs[0].bytes.written.get());
    let copied = runs.each_ref().map(|run| run.object_store.as_ref().expect("a store").copied.get());
    assert_eq!(copied, [2 * written[0], written[1], 0, 0]);
    let time = |run: &RunResult| (run.jobs[0].finish.expect("an end") - run.jobs[0].submit).as_secs_f64();
    let times = runs.each_ref().map(time);
    assert!(times[0] > times[1] && times[1] > times[2] && times[1] > times[3], "{times:?}");
    let near = |committer: &str| {
        let set = [format!("object-store.s3a.committer={committer}"), "object-store.latency='1 ms'".to_owned()];
        time(&run(BOTH, &set.each_ref().map(String::as_str)))
    };
    let (directory, magic) = (near("directory"), near("magic"));
    assert!(directory > magic, "{directory} against {magic}");
    let commit =
        |run: &RunResult| (run.jobs[0].finish.expect("an end") - run.jobs[0].commit.expect("a commit")).as_secs_f64();
    // One file after the other: all of it at 10 MB/s (from the multipart threshold on in parts; these are smaller).
    assert!((commit(&runs[0]) / (written[0] as f64 / 10e6) - 1.0).abs() < 0.1, "{}", commit(&runs[0]));
    assert!(commit(&runs[3]) < 1.0);
    assert_eq!(job("magic"), runs[3], "the same scenario and seed");
}

/// Maps that read a quarter of each split take in a quarter, by requests for it alone.
#[test]
fn columns_are_read_by_themselves() {
    let result = run(BOTH, &["job.read-range='1 MiB'", "job.read-gap='3 MiB'"]);
    let store = result.object_store.as_ref().expect("a store");
    assert_eq!(store.read, Bytes::from_mib(192 / 4));
    assert_eq!(result.jobs[0].bytes.map_input, Bytes::from_mib(192 / 4));
    let gets = store.requests.iter().find(|(name, _)| *name == "get").expect("GETs");
    assert_eq!((gets.1, store.in_vain), (48, Bytes::ZERO));
}

/// A store that is a node has no host of its own.
#[test]
fn a_node_may_be_the_store() {
    let result = run(BOTH, &["object-store.at=master"]);
    assert!(result.links.iter().all(|link| !link.name.contains("object-store")));
    assert_eq!(result.object_store.map(|store| store.node), Some(0));
}

/// The ready scenario has nothing to be warned of, and its jobs end.
#[test]
fn the_ready_scenario_runs() {
    let text = include_str!("../../../../scenarios/object-store.toml");
    let (_, warnings) = sim::parse_with_warnings("object-store.toml", text, &[]).expect("it can run");
    assert!(warnings.problems.is_empty(), "{warnings}");
    // A second attempt would read its split again.
    let result = run(text, &["mapreduce.speculative=false"]);
    assert!(result.jobs.iter().all(|job| job.state == JobState::Succeeded && job.commit.is_some()));
    let store = result.object_store.as_ref().expect("a store");
    assert_eq!((store.read, store.throttled), (Bytes::from_mib(16 << 10), 0));
}

#[test]
fn a_switch_that_does_not_exist_is_no_place_for_a_store() {
    let error = scenario(BOTH, &["object-store.at=swich"]).expect_err("there is none").to_string();
    assert!(error.contains("there is no switch `swich`") && error.contains("`switch`"), "{error}");
}
