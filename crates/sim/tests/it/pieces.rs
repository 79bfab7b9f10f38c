//! Larger pieces of data at flow level, beside the same jobs in Hadoop's own.

use results::{JobState, RunResult};
use std::ops::ControlFlow;

fn run(grain: u32, assignments: &[&str]) -> RunResult {
    let text = format!(
        "[cluster]\nworkers = 8\n[network]\ntopology = \"leaf-spine\"\nracks = 2\nspines = 2\nrate = \"1 Gbit/s\"\n\
         [node]\ncores = 4\nmemory = \"16 GiB\"\ndisks = 2\n[mapreduce]\nreducers = 16\nslowstart = 1.0\n\
         [[job]]\nworkload = \"terasort\"\ninput = \"12 GB\"\n[run]\nfidelity = \"flow\"\ngrain = {grain}\n"
    );
    let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
    let scenario = sim::parse("test.toml", &text, &assignments).unwrap_or_else(|error| panic!("{error:?}"));
    let result = sim::run(&scenario, &mut |_| ControlFlow::Continue(())).expect("a run");
    assert_eq!(result.jobs[0].state, JobState::Succeeded, "{}", result.jobs[0].reason);
    assert_eq!(result.violations().count(), 0, "{:?}", result.violations().collect::<Vec<_>>());
    result
}

fn seconds(result: &RunResult) -> f64 {
    let job = &result.jobs[0];
    (job.finish.expect("an end") - job.submit).as_secs_f64()
}

/// Sorted on disks that the kernel schedules and on those that do it themselves, with one replica of the output and with
/// three: as long, as many bytes, and fewer requests to disks.
#[test]
fn a_job_takes_as_long_in_larger_pieces() {
    for more in [
        &["node.disk=\"sata-2009\""][..],
        &["node.disk=\"hdd-16tb\""],
        &["node.disk=\"sata-2009\"", "job.output-replication=3"],
    ] {
        let mean = |grain: u32| {
            let of = |seed: u32| {
                let seed = format!("run.seed={seed}");
                run(grain, &[more, &[seed.as_str()]].concat())
            };
            let results: Vec<RunResult> = (1..=3).map(of).collect();
            let bytes: Vec<_> = results.iter().map(|result| result.jobs[0].bytes.written).collect();
            let requests: u64 = results.iter().flat_map(|result| &result.disks).map(|disk| disk.requests).sum();
            (results.iter().map(seconds).sum::<f64>() / 3.0, bytes, requests)
        };
        let ((fine, written, many), (coarse, again, few)) = (mean(1), mean(8));
        assert_eq!(written, again);
        assert!((coarse / fine - 1.0).abs() < 0.05, "{more:?}: {fine:.1} s, and in larger pieces {coarse:.1} s");
        assert!(few * 3 < many * 2, "{more:?}: {few} of {many} requests");
    }
}

/// What is not Hadoop's is said.
#[test]
fn larger_pieces_are_an_event() {
    let told = |result: &RunResult| {
        let mut events = result.events.iter().filter(|event| event.kind == "large-pieces");
        events.next().map(|event| event.detail.clone())
    };
    let few = ["job.input=\"1 GB\"", "hdfs.block=\"64 MiB\""];
    assert_eq!(told(&run(1, &few)), None);
    let detail = told(&run(8, &few)).expect("an event");
    assert!(detail.contains("pieces of up to 8.389 MB") && detail.contains("`run.grain = 1`"), "{detail}");
}
