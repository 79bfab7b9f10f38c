//! Event logs with tasks that failed on some hosts alone, where exclusion kept the others from these hosts.

use crate::spark_foreign::{aborted, attempts, imported, job_end, job_start, log, ms, says, stage, task, threw};
use history::spark::SparkImported;
use scenario::{Nodes, Scenario, SparkAttempt, SparkEnd, SparkStage};
use serde_json::Value;

const ON: (&str, &str) = ("spark.excludeOnFailure.enabled", "true");
/// Two executors on h1, one on h2, one on h3: workers 1 to 3.
const FOUR: [(&str, &str, u32); 4] = [("1", "h1", 1), ("2", "h1", 1), ("3", "h2", 1), ("4", "h3", 1)];

/// Two tasks failed on the executors of h1, after 1 s and after 0.5 s. They and a third did well elsewhere.
fn two_failed() -> Vec<Value> {
    vec![
        threw(task((0, 0), 0, "1", (1_100, 2_100))),
        threw(task((0, 0), 1, "2", (1_100, 1_600))),
        task((0, 0), 2, "4", (1_100, 3_100)),
        task((0, 0), 1, "3", (1_600, 3_600)),
        task((0, 0), 0, "4", (3_100, 5_100)),
        stage((0, 0), 3, (1_000, 5_100), &[]),
    ]
}

fn of(properties: &[(&str, &str)], executors: &[(&str, &str, u32)], rest: &[Value]) -> SparkImported {
    imported(&log("4.1.1", properties, executors, 1, rest))
}

/// The task, the workers and the milliseconds of each attempt.
fn on_hosts(stage: &SparkStage) -> Vec<(Option<u32>, Vec<u32>, u64)> {
    let nodes = |attempt: &SparkAttempt| attempt.only_on.as_ref().map_or_else(Vec::new, |nodes| nodes.numbers(3));
    stage.attempt.iter().map(|attempt| (attempt.task, nodes(attempt), attempt.after.as_ms())).collect()
}

#[test]
fn failures_of_a_host_are_its_own() {
    let with = of(&[ON], &FOUR, &two_failed());
    let spark = with.scenario.spark.as_ref().unwrap();
    assert!(spark.exclude_on_failure.is_some());
    assert_eq!(on_hosts(&spark.stage[0]), [(None, vec![1], 1_000), (None, vec![1], 500)]);
    assert_eq!(spark.stage[0].attempt[0].only_on, Some(Nodes::List(vec![1])));
    assert_eq!(spark.stage[0].works, ms(&[2_000, 2_000, 2_000]));
    says(&with, "2 attempts failed on worker-1");
    let text = with.scenario.to_short_toml();
    assert!(text.contains("    { only-on = [\"worker-1\"], after = \"500 ms\" },\n"), "{text}");
    let back = Scenario::parse("back", &text, &[]).expect("it can run");
    assert_eq!(back.to_toml(), with.scenario.to_toml());
}

/// Without exclusion, or with none from tasks, a task may be tried on such a host until its job fails.
#[test]
fn without_exclusion_failures_are_of_their_tasks() {
    let of_tasks = [(0, SparkEnd::Failed, 1_000, None), (1, SparkEnd::Failed, 500, None)];
    for off in [&[][..], &[ON, ("spark.excludeOnFailure.taskAndStage.enabled", "false")]] {
        let spark = of(off, &FOUR, &two_failed()).scenario.spark.unwrap();
        assert_eq!(attempts(&spark.stage[0]), of_tasks);
        assert_eq!(spark.exclude_on_failure.is_some(), !off.is_empty());
    }
}

/// Where tasks ran on one host alone, or failed on each, nothing is known of hosts: here executor 3 is on h1, too, and
/// executor 4 on it or lacking a task that did well.
#[test]
fn without_a_host_that_is_well_failures_are_of_their_tasks() {
    let one = FOUR.map(|(id, _, cores)| (id, "h1", cores));
    let of_tasks = |of: SparkImported| {
        let spark = of.scenario.spark.unwrap();
        assert!(spark.exclude_on_failure.is_some());
        assert_eq!(on_hosts(&spark.stage[0])[..2], [(Some(0), vec![], 1_000), (Some(1), vec![], 500)]);
    };
    of_tasks(of(&[ON], &one, &two_failed()));
    // A third fails on h2, a fourth on h3.
    let mut all = two_failed();
    all.insert(2, threw(task((0, 0), 2, "3", (1_100, 1_500))));
    all.insert(3, threw(task((0, 0), 3, "4", (1_100, 1_200))));
    all.insert(4, task((0, 0), 3, "3", (1_500, 1_600)));
    all.pop();
    all.push(stage((0, 0), 4, (1_000, 5_100), &[]));
    of_tasks(of(&[ON], &FOUR, &all));
}

/// A task that failed on two hosts failed for itself, wherever it runs; the others did for h1.
#[test]
fn a_task_that_failed_on_several_hosts_failed_for_itself() {
    let mut rest = two_failed();
    rest.insert(3, threw(task((0, 0), 0, "3", (2_100, 2_500))));
    let of = of(&[ON], &FOUR, &rest);
    let spark = of.scenario.spark.as_ref().unwrap();
    let expected = [(Some(0), vec![], 1_000), (None, vec![1], 500), (Some(0), vec![], 400)];
    assert_eq!(on_hosts(&spark.stage[0]), expected);
    says(&of, "1 attempt failed on worker-1");
}

/// A job that failed with a task has to fail with it here. Of the next job the failures are those of h1, which alone is
/// bad in it; and what one job says of a host, it does not say of another.
#[test]
fn each_job_tells_its_own_hosts() {
    let rest = [
        threw(task((0, 0), 1, "1", (1_100, 2_100))),
        task((0, 0), 0, "4", (1_100, 2_100)),
        threw(task((0, 0), 1, "2", (2_100, 3_100))),
        aborted(stage((0, 0), 2, (1_000, 3_100), &[]), 2),
        job_end(0, 3_100, false),
        job_start(1, 4_000, &[1]),
        threw(task((1, 0), 0, "1", (4_100, 5_100))),
        task((1, 0), 1, "3", (4_100, 6_100)),
        task((1, 0), 0, "4", (5_100, 7_100)),
        stage((1, 0), 2, (4_000, 7_100), &[]),
        job_end(1, 7_200, true),
        job_start(2, 8_000, &[2]),
        threw(task((2, 0), 0, "3", (8_100, 9_100))),
        task((2, 0), 0, "3", (9_100, 9_200)),
        stage((2, 0), 1, (8_000, 9_200), &[]),
        job_end(2, 9_300, true),
    ];
    let spark = of(&[ON], &FOUR, &rest).scenario.spark.unwrap();
    assert_eq!((spark.task_max_failures, spark.catches_failures), (2, true));
    let stages: Vec<_> = spark.stage.iter().map(on_hosts).collect();
    assert_eq!(stages[0], [(Some(1), vec![], 1_000), (Some(1), vec![], 1_000)]);
    assert_eq!(stages[1], [(None, vec![1], 1_000)]);
    assert_eq!(stages[2], [(Some(0), vec![], 1_000)]);
}
