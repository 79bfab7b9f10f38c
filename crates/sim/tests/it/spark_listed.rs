//! Executors that are listed with when they come and go, as an import has them: when tasks run on them, and what of
//! their files is left, by hand. Tasks take ten seconds on a core.

use crate::spark::{run as run_on_four, spark, took};
use crate::spark_loss::near;
use results::{RunResult, SparkApplication};

fn run(executors: &[&str], stages: &str) -> RunResult {
    let listed: Vec<String> = executors.iter().map(|keys| format!("[[spark.executor]]\n{keys}\n")).collect();
    run_on_four(&format!("{}{stages}", listed.concat()), &[])
}

fn stage(name: &str, keys: &str) -> String {
    format!("[[spark.stage]]\nname = \"{name}\"\nwork = \"10 s\"\n{keys}\n")
}

/// How many attempts ran on each executor.
fn attempts(app: &SparkApplication) -> Vec<usize> {
    (0..app.executors.len()).map(|executor| app.tasks.iter().filter(|task| task.executor == executor).count()).collect()
}

/// Four tasks: one alone, from 10 s on two at once, the fourth from 20 s on. The other workers have no executor.
#[test]
fn an_executor_runs_tasks_from_when_it_comes() {
    let result = run(&["", "node = \"worker-3\"\nfrom = \"10 s\""], &stage("a", "tasks = 4"));
    near(took(&result), 30.0, 0.02);
    let app = spark(&result);
    assert_eq!(app.executors.iter().map(|executor| executor.node.0).collect::<Vec<_>>(), [1, 3]);
    near(app.executors[1].registered.expect("it registered").as_secs_f64(), 10.0, 0.01);
    // One of two cores is two.
    let result = run(&["", "node = \"worker-3\"\ncores = 2"], &stage("a", "tasks = 3"));
    assert_eq!(attempts(spark(&result)), [1, 2]);
}

/// Two executors do four tasks within 20 s, although one may go after 5 s: tasks wait, and then it is busy. The next
/// job comes 5 s later and has one executor. It reads what the other has written, which is still there.
#[test]
fn an_executor_is_given_back_when_it_is_idle() {
    let next = stage("b", "job = 1\ntasks = 2\nparents = [\"a\"]");
    let stages = format!("{}{next}", stage("a", "tasks = 4\nshuffle-write = \"4 MB\""));
    let pauses = "pause = [\"0 s\", \"5 s\"]\n";
    let listed = "[[spark.executor]]\n[[spark.executor]]\nnode = \"worker-2\"\nuntil = \"5 s\"\n";
    let result = run_on_four(&format!("{pauses}{listed}{stages}"), &[]);
    near(took(&result), 20.0 + 5.0 + 20.0, 0.1);
    let app = spark(&result);
    assert_eq!((attempts(app), app.lost), (vec![4, 2], 0));
    assert!(app.shuffle_remote().get() > 1_900_000, "{}", app.shuffle_remote());
    // The last one stays, as no other will come.
    let alone = "[[spark.executor]]\nuntil = \"5 s\"\n";
    near(took(&run_on_four(&format!("{pauses}{alone}{stages}"), &[])), 40.0 + 5.0 + 20.0, 0.1);
}

/// The second executor ends after 15 s, in its second task, with the output of its first. Both run on the first one
/// then: four tasks after 40 s. Without a shuffle it is the one task: 30 s.
#[test]
fn an_executor_that_is_lost_takes_its_task_and_its_files() {
    let two = ["", "node = \"worker-2\"\nuntil = \"15 s\"\nlost = true"];
    let result = run(&two, &stage("a", "tasks = 4"));
    near(took(&result), 30.0, 0.05);
    assert_eq!((attempts(spark(&result)), spark(&result).lost), (vec![3, 2], 1));
    let reader = stage("b", "parents = [\"a\"]");
    let result = run(&two, &format!("{}{reader}", stage("a", "tasks = 4\nshuffle-write = \"4 MB\"")));
    near(took(&result), 40.0 + 10.0, 0.1);
    assert_eq!((attempts(spark(&result)), spark(&result).lost), (vec![5, 2], 1));
}

/// Without an executor, and with none to come, the application fails, as it would have to wait for ever.
#[test]
fn an_application_fails_without_executors_to_come() {
    let gone = "until = \"5 s\"\nlost = true";
    let result = run(&[gone], &stage("a", ""));
    let app = result.spark.as_ref().expect("an application");
    assert!(app.reason.contains("all executors are lost"), "{}", app.reason);
    // One that comes later runs the task.
    near(took(&run(&[gone, "node = \"worker-2\"\nfrom = \"60 s\""], &stage("a", ""))), 70.0, 0.05);
}

/// One comes 2 s after the second job's submission, at 15 s, and may go 1 s after that of the third, which it does as
/// it is idle: 10 s, 5 s of pause, four tasks in 22 s on two executors of which one comes at 17 s, 5 s of pause, and
/// two tasks in 20 s: the third job's tasks are launched at once, one on each, so both executors are busy when the
/// second may go.
#[test]
fn executors_come_and_go_by_the_jobs() {
    let listed = "pause = [\"0 s\", \"5 s\", \"5 s\"]\n[[spark.executor]]\n[[spark.executor]]\nnode = \"worker-3\"\n\
                  job = 1\nfrom = \"2 s\"\nuntil-job = 2\nuntil = \"1 s\"\n";
    let stages = [stage("a", ""), stage("b", "job = 1\ntasks = 4"), stage("c", "job = 2\ntasks = 2")].concat();
    let result = run_on_four(&format!("{listed}{stages}"), &[]);
    let app = spark(&result);
    near(app.executors[1].registered.expect("it registered").as_secs_f64(), 17.0, 0.02);
    near(took(&result), 10.0 + 5.0 + 22.0 + 5.0 + 10.0, 0.1);
    // Where it may go before the third job, one executor does that.
    let sooner = listed.replace("until-job = 2", "until-job = 1").replace("until = \"1 s\"", "until = \"3 s\"");
    near(took(&run_on_four(&format!("{sooner}{stages}"), &[])), 10.0 + 5.0 + 22.0 + 5.0 + 20.0, 0.1);
}
