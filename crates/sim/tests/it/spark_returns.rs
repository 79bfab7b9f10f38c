//! Workers of a standalone cluster that come back with their node: when the Master has an executor launched on them, by
//! hand from what it knows. A process is up after a second of a core (`jvm-start`).

use crate::spark::{run as run_on_four, spark, took};
use crate::spark_loss::near;
use results::{RunResult, SparkApplication, SparkExecutor};
use units::Time;

/// Four tasks of 200 s on four workers of one core.
const LONG: &str = "[[spark.stage]]\nname = \"a\"\ntasks = 4\nwork = \"200 s\"\n";

fn run(stages: &str, faults: &[&str], sets: &[&str]) -> RunResult {
    let faults: Vec<String> = faults.iter().map(|fault| format!("[[faults]]\n{fault}\n")).collect();
    run_on_four(&format!("{stages}{}", faults.concat()), &[&["mapreduce.jvm-start=1 s"], sets].concat())
}

fn lost(app: &SparkApplication) -> Vec<f64> {
    app.executors.iter().filter_map(|executor| executor.lost).map(Time::as_secs_f64).collect()
}

/// The executors that were not there from the start.
fn new(app: &SparkApplication, first: usize) -> &[SparkExecutor] {
    &app.executors[first..]
}

fn registered(executor: &SparkExecutor) -> f64 {
    executor.registered.expect("it registered").as_secs_f64()
}

/// A node dies at 5 s, and its Worker is back at 7 s. The Master takes the old one for alive, of which it heard at the
/// start, until it looks after more than 60 s, between 60 and 120 s; so far the application has all the cores that it
/// asked for. Then it launches an executor on the new Worker, and the task that was lost runs there.
#[test]
fn a_worker_that_is_back_has_an_executor_when_the_old_one_is_dropped() {
    let mut drops = Vec::new();
    for seed in 1..=4 {
        let fault = "at = \"5 s\"\ndown-for = \"2 s\"\nnode = \"worker-2\"";
        let result = run(LONG, &[fault], &[&format!("run.seed={seed}")]);
        let app = spark(&result);
        let (drop, [executor]) = (lost(app)[0], new(app, 4)) else { panic!("one executor more") };
        assert!(drop > 60.0 && drop <= 120.0, "{drop}");
        assert_eq!((executor.node.0, app.lost), (2, 1));
        near(registered(executor), drop + 1.0, 0.01);
        near(took(&result), drop + 1.0 + 200.0, 0.02);
        drops.push(drop);
    }
    assert!(drops.iter().any(|drop| (drop - drops[0]).abs() > 1.0), "when the Master looks is drawn: {drops:?}");
}

/// A Worker that is back when the old one was dropped has its executor at once: 135 s after the start, and a second.
#[test]
fn a_worker_that_is_back_late_has_an_executor_at_once() {
    let result = run(LONG, &["at = \"5 s\"\ndown-for = \"130 s\"\nnode = \"worker-2\""], &[]);
    let app = spark(&result);
    let [executor] = new(app, 4) else { panic!("one executor more") };
    near(registered(executor), 135.0 + 1.0, 0.01);
    near(took(&result), 135.0 + 1.0 + 200.0, 0.02);
}

/// As many executors as its cores are for: two that begin together on one core, after two seconds.
#[test]
fn a_worker_that_is_back_has_all_of_its_executors() {
    let fault = "at = \"5 s\"\ndown-for = \"130 s\"\nnode = \"worker-3\"";
    let result = run(&LONG.replace("tasks = 4", "tasks = 8"), &[fault], &["spark.executors=2"]);
    let app = spark(&result);
    assert_eq!((app.lost, new(app, 8).len()), (2, 2));
    for executor in new(app, 8) {
        assert_eq!(executor.node.0, 3);
        near(registered(executor), 135.0 + 2.0, 0.01);
    }
}

/// Without any executor left the application waits for the only worker to come back.
#[test]
fn an_application_waits_for_a_node_that_comes_back() {
    let stage = "[[spark.stage]]\nname = \"a\"\nwork = \"10 s\"\n";
    let result = run(stage, &["at = \"2 s\"\ndown-for = \"200 s\"\nnode = \"worker-1\""], &["cluster.workers=1"]);
    let app = spark(&result);
    assert_eq!(app.executors.len(), 2);
    near(took(&result), 2.0 + 200.0 + 1.0 + 10.0, 0.02);
}

/// The Worker that is back at 7 s is heard of 7 s after each whole quarter of a minute. Its node dies for good after
/// 400 s: it was heard of last at 397 s, and is dropped when the Master looks for the first time after 457 s.
#[test]
fn a_worker_that_is_back_is_dropped_by_its_own_heartbeats() {
    let faults = ["at = \"5 s\"\ndown-for = \"2 s\"\nnode = \"worker-2\"", "at = \"400 s\"\nnode = \"worker-2\""];
    for seed in 1..=4 {
        let stages = LONG.replace("200 s", "600 s");
        let result = run(&stages, &faults, &[&format!("run.seed={seed}")]);
        let drops = lost(spark(&result));
        assert_eq!(drops.len(), 2);
        let looks = (drops[1] - drops[0]) / 60.0;
        assert!(drops[1] > 457.0 && drops[1] <= 517.0 && (looks - looks.round()).abs() < 1e-3, "{drops:?}");
    }
}

/// A node dies for 2 s between two jobs, with the map output that it had. When the driver launches a task there, at 11
/// s, the node knows of no such connection and resets it. So the driver gives the executor no more tasks, and would
/// take it for lost 5 s later; the other three tasks cannot have its blocks, hear that it does not live, and say so
/// when their executors have read Spark's messages, after 0.5 s. 0.2 s later its map task runs again for a second; then
/// four tasks of a second on three cores are two. By then the Master has not dropped the old Worker, and the new one
/// has no executor.
#[test]
fn shuffle_files_do_not_come_back() {
    let stages = "pause = [\"0 s\", \"10 s\"]\n[[spark.stage]]\nname = \"map\"\ntasks = 4\nwork = \"1 s\"\n\
        shuffle-write = \"4 MB\"\n[[spark.stage]]\nname = \"reduce\"\njob = 1\nparents = [\"map\"]\ntasks = 4\n\
        work = \"1 s\"\n";
    let result = run(stages, &["at = \"5 s\"\ndown-for = \"2 s\"\nnode = \"worker-2\""], &[]);
    let app = spark(&result);
    assert_eq!((app.executors.len(), app.lost), (4, 0));
    let attempts: Vec<u32> = app.stages.iter().map(|stage| stage.attempts).collect();
    assert_eq!((attempts, app.tasks.iter().filter(|task| task.stage == 0).count()), (vec![2, 2], 5));
    near(took(&result), 11.0 + 0.5 + 0.2 + 1.0 + 2.0, 0.3);
}
