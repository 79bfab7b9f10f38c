//! Executors that get no tasks as some failed there: what that changes in an application, by hand from the rules of
//! Spark's `TaskSetManager`, `HealthTracker` and `TaskSchedulerImpl`. Four workers have an executor of one core each; the
//! process of another takes a second (`jvm-start`).

use crate::spark::{run as run_on_four, spark, took};
use crate::spark_loss::near;
use results::{JobState, RunResult, SparkApplication};

const ON: &str = "[spark.exclude-on-failure]\n";

fn stage(name: &str, keys: &str, attempts: &[&str]) -> String {
    let attempt = |keys: &&str| format!("[[spark.stage.attempt]]\n{keys}\n");
    let attempts: String = attempts.iter().map(attempt).collect();
    format!("[[spark.stage]]\nname = \"{name}\"\n{keys}\n{attempts}")
}

fn run(text: &str, sets: &[&str]) -> RunResult {
    run_on_four(text, &[&["mapreduce.jvm-start=1 s"], sets].concat())
}

/// Where the first attempt at a task ran.
fn first(app: &SparkApplication, index: usize) -> usize {
    app.tasks.iter().find(|task| (task.stage, task.index) == (0, index)).expect("an attempt").executor
}

fn attempts_on(app: &SparkApplication, stage: usize, executor: usize) -> usize {
    app.tasks.iter().filter(|task| (task.stage, task.executor) == (stage, executor)).count()
}

fn failure(result: &RunResult) -> (&str, f64) {
    let app = result.spark.as_ref().expect("an application");
    assert_eq!(app.state, JobState::Failed);
    (&app.reason, result.ended_at.as_secs_f64())
}

/// Eight tasks of a second, of which the first and the fifth fail: the fifth where the first did, as its core is offered
/// before the first waits again. When that has failed, too, at 0.9 s, its core is again offered before: it may not run the
/// first, and gets the sixth. It gets no more: from 1 s on three cores run the five tasks that are left, until 3 s.
const TWO_FAIL: [&str; 2] = ["after = \"500 ms\"", "task = 4\nafter = \"400 ms\""];

#[test]
fn an_executor_of_two_failed_tasks_gets_no_more_of_the_stage() {
    let two = stage("a", "tasks = 8\nwork = \"1 s\"", &TWO_FAIL);
    for seed in 1..=3 {
        let result = run(&format!("{ON}{two}"), &[&format!("run.seed={seed}")]);
        let app = spark(&result);
        let bad = first(app, 0);
        assert_eq!((first(app, 4), attempts_on(app, 0, bad)), (bad, 3));
        assert_eq!((app.stages[0].excluded_executors, app.stages[0].excluded_nodes), (1, 0));
        near(took(&result), 3.0, 0.02);
        // Without exclusion it runs the first again at 0.9 s, and another at 1.9 s.
        let free = run(&two, &[&format!("run.seed={seed}")]);
        assert_eq!(attempts_on(spark(&free), 0, first(spark(&free), 0)), 4);
        near(took(&free), 2.9, 0.02);
    }
}

/// The stage succeeds, so its two failures exclude the executor from the application: a second job of four tasks has three
/// cores. Once they are a second old they no longer do, which is so after a pause of five. Without exclusion from the
/// application the second job has all cores.
#[test]
fn an_executor_is_excluded_from_the_application_for_some_time() {
    let next = stage("b", "job = 1\ntasks = 4\nwork = \"1 s\"", &[]);
    let of = |pause: &str, keys: &str| {
        let two = stage("a", "tasks = 8\nwork = \"1 s\"", &TWO_FAIL);
        run(&format!("pause = [\"0 s\", \"{pause}\"]\n{ON}{keys}\n{two}{next}"), &[])
    };
    let result = of("5 s", "");
    let app = spark(&result);
    near(took(&result), 3.0 + 5.0 + 2.0, 0.02);
    assert_eq!((attempts_on(app, 1, first(app, 0)), app.excluded(), app.excluded_nodes), (0, 1, 0));
    near(app.executors[first(app, 0)].excluded.expect("excluded").as_secs_f64(), 3.0, 0.02);
    near(took(&of("5 s", "timeout = \"1 s\"")), 3.0 + 5.0 + 1.0, 0.02);
    near(took(&of("5 s", "application = false")), 3.0 + 5.0 + 1.0, 0.02);
    // Where only the application excludes, the stage runs as without, and ends at 2.9 s.
    near(took(&of("5 s", "task-and-stage = false")), 2.9 + 5.0 + 2.0, 0.02);
    // Excluded executors are killed, and the Master launches another: there 1 s later.
    let killed = of("5 s", "kill-excluded-executors = true");
    near(took(&killed), 3.0 + 5.0 + 1.0, 0.02);
    let app = spark(&killed);
    assert_eq!((app.executors.len(), app.killed(), app.lost), (5, 1, 0));
    near(app.executors[4].registered.expect("it came").as_secs_f64(), 3.0 + 1.0, 0.02);
}

/// One executor, on which the one task fails after half a second: it gets no other attempt there. The executor is idle, and
/// killed; the Master has another launched on the Worker at once, on which the task may run: 0.5 + 1 + 1 s. Where it
/// fails there, too, the node is excluded: the executor is killed for nothing, and after 120 s the job fails.
#[test]
fn an_idle_executor_is_killed_for_a_task_that_can_run_nowhere() {
    let one = ["cluster.workers=1"];
    let with = |attempts: &[&str]| format!("{ON}{}", stage("a", "work = \"1 s\"", attempts));
    let fails = "after = \"500 ms\"";
    let result = run(&with(&[fails]), &one);
    near(took(&result), 2.5, 0.02);
    assert_eq!((spark(&result).executors.len(), spark(&result).killed()), (2, 1));
    let result = run(&with(&[fails, fails]), &one);
    let (reason, end) = failure(&result);
    assert!(reason.contains("task 0 can run nowhere"), "{reason}");
    near(end, 0.5 + 1.0 + 0.5 + 120.0, 0.01);
    assert_eq!(result.spark.as_ref().expect("it ran").executors.len(), 3);
    // Another node's executor is tried before any of this.
    let result =
        run(&with(&[fails, fails]), &["cluster.workers=2", "spark.exclude-on-failure.unschedulable-timeout=9 s"]);
    near(took(&result), 0.5 + 0.5 + 1.0 + 1.0, 0.02);
}

/// The executor has a second core, on which another task runs: it is not idle, and the job fails at once. A program that
/// catches that goes on.
#[test]
fn without_an_idle_executor_the_job_fails_at_once() {
    let two = stage("a", "tasks = 2\nwork = \"10 s\"", &["after = \"500 ms\""]);
    let sets = ["cluster.workers=1", "spark.executor-cores=2", "node.cores=2"];
    let (reason, end) = (run(&format!("{ON}{two}"), &sets), 0.5);
    near(failure(&reason).1, end, 0.02);
    assert!(failure(&reason).0.contains("can run nowhere"));
    let next = stage("b", "job = 1\nwork = \"1 s\"", &[]);
    let result = run(&format!("catches-failures = true\n{ON}{two}{next}"), &sets);
    near(took(&result), 0.5 + 1.0, 0.05);
    assert_eq!(spark(&result).jobs.iter().map(|job| job.failed).collect::<Vec<_>>(), [true, false]);
}

/// One node with two executors, on each of which one of four tasks fails at least, for 0.1 s each; their stage ends at
/// 2.3 s. Both executors are excluded from the application then, and so is the node. They are killed, and those that the
/// Master has launched there in their place are refused after a second each, until 5 s are over: the next job's two tasks
/// end at 8.3 s.
#[test]
fn an_excluded_node_takes_no_executor() {
    let fails: Vec<String> = (0..4).map(|task| format!("task = {task}\nafter = \"100 ms\"")).collect();
    let fails: Vec<&str> = fails.iter().map(String::as_str).collect();
    let bad = stage("a", "tasks = 4\nwork = \"1 s\"", &fails);
    let next = stage("b", "job = 1\ntasks = 2\nwork = \"1 s\"", &[]);
    let text = format!(
        "{ON}kill-excluded-executors = true\ntask-and-stage = false\ntimeout = \"5 s\"\n\
        application-failed-tasks-per-executor = 1\n{bad}{next}"
    );
    let result = run(&text, &["cluster.workers=1", "spark.executors=2", "node.cores=2"]);
    near(took(&result), 8.3, 0.02);
    let app = spark(&result);
    assert_eq!((app.excluded(), app.excluded_nodes, app.lost), (2, 1, 0));
    let refused = app.executors.iter().filter(|executor| executor.registered.is_none()).count();
    assert_eq!((app.executors.len(), refused), (2 + 8 + 2, 8));
}

/// On YARN the container of an idle executor is given back with the ApplicationMaster's next heartbeat, which asks for
/// another; the task runs there.
#[test]
fn on_yarn_another_container_is_asked_for() {
    let one = stage("a", "work = \"1 s\"", &["after = \"500 ms\""]);
    let sets = ["cluster.workers=1", "node.cores=4", "mapreduce.node-memory=32 GiB", "mapreduce.node-vcores=32"];
    let sets = [&sets[..], &["spark.yarn.instances=1"]].concat();
    let result = run(&format!("{ON}{one}"), &sets);
    let app = spark(&result);
    assert_eq!((app.executors.len(), app.killed(), app.lost), (2, 1, 0));
    let (killed, came) = (app.executors[0].lost.expect("gone"), app.executors[1].registered.expect("it came"));
    assert!(came.as_secs_f64() - killed.as_secs_f64() < 3.0 + 1.0 + 1.2 + 0.1, "{killed:?} {came:?}");
    near(took(&result), came.as_secs_f64() - app.jobs[0].submit.expect("a job").as_secs_f64() + 1.0, 0.02);
}
