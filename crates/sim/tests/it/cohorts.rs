//! Fetches that stand for several map outputs, beside the same job with each output fetched for itself.

use results::{AttemptState, JobState, RunResult, TaskKind};
use scenario::Scenario;
use std::ops::ControlFlow;
use std::sync::LazyLock;

/// 954 maps and 40 reducers: 38,160 outputs, or about 4,770 fetches of eight each.
fn scenario(most_fetches: u64, more: &str) -> Scenario {
    let text = format!(
        "[cluster]\nworkers = 20\n[network]\ntopology = \"leaf-spine\"\nracks = 4\nspines = 2\nrate = \"1 Gbit/s\"\n\
         [hdfs]\nblock = \"16 MiB\"\n[mapreduce]\nreducers = 40\n[[job]]\nworkload = \"terasort\"\n\
         input = \"16 GB\"\n{more}[run]\nfidelity = \"flow\"\nmost-fetches = {most_fetches}\n"
    );
    sim::parse("test.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn run(most_fetches: u64, more: &str) -> RunResult {
    let result = sim::run(&scenario(most_fetches, more), &mut |_| ControlFlow::Continue(())).expect("a run");
    assert_eq!(result.jobs[0].state, JobState::Succeeded, "{}", result.jobs[0].reason);
    assert_eq!(result.violations().count(), 0, "{:?}", result.violations().collect::<Vec<_>>());
    result
}

/// The job with each output fetched for itself, which is beside both of the others.
static EACH: LazyLock<RunResult> = LazyLock::new(|| run(0, ""));

/// Bytes into each reduce.
fn inputs(result: &RunResult) -> Vec<u64> {
    let won = |task| {
        let mine = |attempt: &&results::Attempt| {
            attempt.kind == TaskKind::Reduce && attempt.task == task && attempt.state == AttemptState::Succeeded
        };
        result.attempts.iter().find(mine).map_or(0, |attempt| attempt.input.get())
    };
    (0..40).map(won).collect()
}

fn seconds(result: &RunResult) -> f64 {
    let job = &result.jobs[0];
    (job.finish.expect("an end") - job.submit).as_secs_f64()
}

#[test]
fn a_job_takes_as_long_and_every_reduce_has_its_bytes() {
    let skew = "skew = 0.5\n";
    for (each, more) in [(&*EACH, ""), (&run(0, skew), skew)] {
        let together = run(4_000, more);
        let told = |result: &RunResult| result.events.iter().filter(|event| event.kind == "fetches-together").count();
        assert_eq!((told(each), told(&together)), (0, 1));
        for (one, other) in inputs(each).into_iter().zip(inputs(&together)) {
            // A byte for each map and its rounding.
            assert!(one.abs_diff(other) <= 954, "{one} and together {other}");
        }
        let (one, other) = (seconds(each), seconds(&together));
        assert!((other / one - 1.0).abs() < 0.05, "{one:.1} s, and together {other:.1} s");
    }
}

/// A node goes down while its outputs are being fetched: its maps run again, and the job ends.
#[test]
fn outputs_that_are_lost_are_made_again() {
    let fault = "[[faults]]\nat = \"60 s\"\nnode = \"worker-3\"\n";
    let result = run(4_000, fault);
    assert!(result.attempts.iter().any(|attempt| attempt.output_lost.is_some()), "an output was lost");
    let total: u64 = inputs(&result).iter().sum();
    assert!(total.abs_diff(inputs(&EACH).iter().sum()) <= 954 * 40, "{total}");
}
