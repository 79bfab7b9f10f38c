//! Executors that are lost: times by hand from Spark's own limits, and books that close.

use crate::spark::{run as run_on_four, spark, took};
use results::{JobState, RunResult, SparkApplication};
use units::Time;

/// Four map tasks of a second; of what they write a later job's four tasks of a second read a quarter each.
const TWO_JOBS: &str = r#"
[[spark.stage]]
name = "map"
tasks = 4
work = "1 s"
shuffle-write = "4 MB"
[[spark.stage]]
name = "reduce"
job = 1
parents = ["map"]
tasks = 4
work = "1 s"
"#;

/// The second job is submitted 10 s after the first is done.
fn run(stages: &str, fault: &str, sets: &[&str]) -> RunResult {
    run_on_four(&format!("pause = [\"0 s\", \"10 s\"]\n{stages}[[faults]]\n{fault}\n"), sets)
}

pub fn near(value: f64, expected: f64, within: f64) {
    assert!((value - expected).abs() < within, "{value}, expected {expected}");
}

/// By end: how many attempts at tasks, and when the driver knew of the first.
fn ended(app: &SparkApplication, how: &str) -> (usize, f64) {
    let of = || app.tasks.iter().filter(|task| task.ended.name() == how);
    (of().count(), of().filter_map(|task| task.finish).map(Time::as_secs_f64).fold(f64::INFINITY, f64::min))
}

fn attempts(app: &SparkApplication) -> Vec<u32> {
    app.stages.iter().map(|stage| stage.attempts).collect()
}

/// Eight tasks of a second on four cores; a node dies in the second wave. Its Worker was last heard of at the start, so
/// the Master, which looks every 60 s, drops it between 60 and 120 s (`spark.worker.timeout`). Its task then runs for a
/// second elsewhere; that of the first wave, whose result the driver has, does not.
#[test]
fn a_silent_worker_is_dropped_after_its_timeout() {
    let stage = "[[spark.stage]]\nname = \"a\"\ntasks = 8\nwork = \"1 s\"\n";
    let mut drops = Vec::new();
    for seed in 1..=6 {
        let result =
            run(stage, "at = \"1500 ms\"\nnode = \"worker-1\"", &["spark.pause=[]", &format!("run.seed={seed}")]);
        let app = spark(&result);
        let (lost, at) = ended(app, "ExecutorLostFailure");
        assert_eq!((lost, ended(app, "Success").0, app.lost, attempts(app)), (1, 8, 1, vec![1]));
        assert!(at > 60.0 && at <= 120.0, "{at}");
        near(took(&result), at + 1.0, 0.01);
        drops.push(at);
    }
    drops.sort_by(f64::total_cmp);
    assert!(drops[5] - drops[0] > 5.0, "when the Master looks is drawn: {drops:?}");
}

/// A node dies between two jobs. The driver does not know, and three tasks of the second want blocks from it, at 11 s.
/// Nobody answers for 120 s (`spark.shuffle.io.connectionCreationTimeout`); by then the Master has dropped the Worker, and
/// the driver knows the executor for dead. Each executor says so 0.5 s later, as that is its first exception with one of
/// Spark's messages, which it reads. The stage is submitted anew after 0.2 s, behind the one map task whose output is
/// gone: a second; then four tasks of a second on three cores are two.
#[test]
fn blocks_of_a_dead_executor_are_computed_anew() {
    let result = run(TWO_JOBS, "at = \"5 s\"\nnode = \"worker-2\"", &[]);
    let app = spark(&result);
    let (failed, at) = ended(app, "FetchFailed");
    assert_eq!((failed, attempts(app)), (3, vec![2, 2]));
    near(at, 11.0 + 120.0 + 0.5, 0.1);
    near(took(&result), 11.0 + 120.0 + 0.5 + 0.2 + 1.0 + 2.0, 0.3);
    // Five map tasks have run, and eight reduce tasks were launched, one of them where it was lost.
    let of = |stage: usize| app.tasks.iter().filter(|task| task.stage == stage).count();
    assert_eq!((of(0), of(1), ended(app, "ExecutorLostFailure").0), (5, 8, 1));
}

/// A node dies in the midst of a shuffle at 10 Mbit/s. What the others await from it does not come: they close their
/// connections after 120 s (`spark.network.timeout`), connect anew 5 s later, and have waited for 120 s more when they hear
/// that the driver knows the executor for dead, and 0.5 s more for their first message of Spark's.
#[test]
fn a_fetch_under_way_fails_after_the_network_timeout() {
    let stages = TWO_JOBS.replace("4 MB", "40 MB").replace("job = 1\n", "");
    let result = run(&stages, "at = \"4 s\"\nnode = \"worker-3\"", &["network.rate=10 Mbit/s", "spark.pause=[]"]);
    let app = spark(&result);
    let (failed, at) = ended(app, "FetchFailed");
    assert_eq!((failed, ended(app, "ExecutorLostFailure").0, attempts(app)), (3, 1, vec![2, 2]));
    near(at, 4.0 + 120.0 + 5.0 + 120.0 + 0.5, 0.1);
    // Blocks that had come before are fetched again by the second attempt.
    let served = result.ledger.iter().find(|balance| balance.what.contains("served")).expect("books");
    let of = |part: &str| served.accounted.iter().find(|(name, _)| name == part).expect("a part").1;
    assert!(of("fetched again") > 0 && of("in flight") == 0, "{:?}", served.accounted);
}

/// Who has all of its blocks does not fail with the executor that gave them: the reduce task of the dead node alone runs
/// again, once the driver knows (its blocks of that node are gone: 0.2 s, then a map task of a second), for 10 s.
#[test]
fn a_task_that_has_its_blocks_goes_on() {
    let stages =
        TWO_JOBS.replace("job = 1\n", "").replace("tasks = 4\nwork = \"1 s\"\n", "tasks = 4\nwork = \"10 s\"\n");
    let stages = stages.replacen("work = \"10 s\"", "work = \"1 s\"", 1);
    let result = run(&stages, "at = \"5 s\"\nnode = \"worker-1\"", &["spark.pause=[]"]);
    let app = spark(&result);
    let (lost, at) = ended(app, "ExecutorLostFailure");
    assert_eq!((lost, ended(app, "FetchFailed").0, attempts(app)), (1, 1, vec![2, 2]));
    assert_eq!(app.tasks.iter().filter(|task| task.stage == 1).count(), 6);
    near(took(&result), at + 0.2 + 1.0 + 10.0, 0.2);
}

/// The node of the driver ends the application; so does the last executor's.
#[test]
fn an_application_needs_a_driver_and_an_executor() {
    let stage = "[[spark.stage]]\nname = \"a\"\nwork = \"10 s\"\n";
    let reason = |fault: &str, sets: &[&str]| {
        let result = run(stage, fault, sets);
        let app = result.spark.expect("an application");
        assert_eq!(app.state, JobState::Failed);
        app.reason
    };
    let driver = reason("at = \"2 s\"\nnode = \"master\"", &["spark.pause=[]"]);
    assert!(driver.contains("driver's node"), "{driver}");
    let alone = reason("at = \"2 s\"\nnode = \"worker-1\"", &["spark.pause=[]", "cluster.workers=1"]);
    assert!(alone.contains("all executors are lost"), "{alone}");
}
