//! Executors that come and go as tasks need them: when, and what is left of their files, by hand from the rules of Spark's
//! `ExecutorAllocationManager`. Four workers have room for an executor of one core each, whose process takes a second.
//! The driver looks every 0.1 s how many are wanted.

use crate::spark::{run as run_on_four, spark, took};
use crate::spark_loss::near;
use results::{RunResult, SparkApplication};
use units::Time;

const ON: &str = "[spark.dynamic-allocation]\n";

fn run(text: &str, sets: &[&str]) -> RunResult {
    run_on_four(text, &[&["mapreduce.jvm-start=1 s"], sets].concat())
}

fn stage(name: &str, keys: &str) -> String {
    format!("[[spark.stage]]\nname = \"{name}\"\n{keys}\n")
}

fn registered(app: &SparkApplication) -> Vec<f64> {
    app.executors.iter().filter_map(|executor| executor.registered).map(Time::as_secs_f64).collect()
}

fn gone(app: &SparkApplication) -> Vec<f64> {
    let mut gone: Vec<f64> = app.executors.iter().filter_map(|executor| executor.lost).map(Time::as_secs_f64).collect();
    gone.sort_by(f64::total_cmp);
    gone
}

fn all_near(values: &[f64], expected: &[f64], within: f64) {
    assert_eq!(values.len(), expected.len(), "{values:?}, expected {expected:?}");
    for (value, expected) in values.iter().zip(expected) {
        assert!((value - expected).abs() < within, "{values:?}, expected {expected:?}");
    }
}

/// Six tasks of ten seconds, and no executor. After 1 s one is asked for, after 2 s two more, after 3 s a fourth, as
/// there is room for no more, though six are wanted; each is there a second later. Tasks begin at 2, 3, 3, 4, 12 and 13 s.
#[test]
fn executors_are_asked_for_while_tasks_wait() {
    let six = stage("a", "tasks = 6\nwork = \"10 s\"");
    let result = run(&format!("{ON}{six}"), &[]);
    let app = spark(&result);
    all_near(&registered(app), &[2.0, 3.0, 3.0, 4.0], 0.15);
    near(took(&result), 23.0, 0.15);
    // Each task that ends is one for which none is wanted: at 12 s, two at 13 s, at 14 and 22 s.
    let (at, wanted): (Vec<_>, Vec<_>) = app.wanted.iter().map(|of| (of.at.as_secs_f64(), of.executors)).unzip();
    assert_eq!(wanted, [0, 1, 3, 6, 5, 3, 2, 1]);
    all_near(&at, &[0.0, 1.0, 2.0, 3.0, 12.0, 13.0, 14.0, 22.0], 0.25);
    // No more than two; and three from the start on.
    let two = run(&format!("{ON}max-executors = 2\n{six}"), &[]);
    all_near(&registered(spark(&two)), &[2.0, 3.0], 0.15);
    near(took(&two), 33.0, 0.15);
    let three = run(&format!("{ON}initial-executors = 3\n{six}"), &[]);
    all_near(&registered(spark(&three)), &[1.0, 1.0, 1.0, 2.0], 0.15);
    near(took(&three), 21.0, 0.15);
}

/// Two tasks on executors that are there at 2 and 3 s, and end at 12 and 13 s: they go 60 s later, of which the driver
/// hears nothing but that their connections have ended, so that it knows it 5 s after. At 90 s there is none,
/// and the next job's one task waits for another, which is there at 92 s; it ends at 102 s. Where one shall stay, the job
/// has it at once.
#[test]
fn executors_without_a_task_are_given_back() {
    let two = stage("a", "tasks = 2\nwork = \"10 s\"");
    let next = stage("b", "job = 1\nwork = \"10 s\"");
    let text = format!("pause = [\"0 s\", \"77 s\"]\n{ON}{two}{next}");
    let result = run(&text, &[]);
    let app = spark(&result);
    all_near(&registered(app), &[2.0, 3.0, 92.0], 0.2);
    all_near(&gone(app), &[77.0, 78.0], 0.3);
    near(took(&result), 102.0, 0.25);
    assert_eq!((app.killed(), app.lost), (2, 0));
    // One stays that shall.
    let one = run(&text, &["spark.dynamic-allocation.min-executors=1"]);
    assert_eq!(spark(&one).killed(), 1);
    near(took(&one), spark(&one).jobs[1].submit.expect("a job").as_secs_f64() + 10.0, 0.01);
}

/// Shuffle files keep their executors while a job reads them, and for good after it, as Spark has it by default. With a
/// time-out they go, and a job that reads them computes them again; with a shuffle service they go and their files stay.
#[test]
fn shuffle_files_keep_executors_or_stay_with_a_service() {
    let map = stage("map", "tasks = 2\nwork = \"10 s\"\nshuffle-write = \"4 MB\"");
    let next = stage("b", "job = 1\nparents = [\"map\"]\nwork = \"10 s\"");
    let text = |keys: &str| format!("pause = [\"0 s\", \"200 s\"]\n{keys}{ON}{map}{next}");
    let kept = run(&text(""), &[]);
    assert_eq!((spark(&kept).killed(), spark(&kept).stages[0].attempts), (0, 1));
    near(took(&kept), 13.0 + 200.0 + 10.0, 0.15);
    let gone = run(&text(""), &["spark.dynamic-allocation.shuffle-tracking-timeout=60 s"]);
    // Executors come 2 and 3 s after the second job, whose map tasks end at 13 s of it; then its own.
    assert_eq!((spark(&gone).killed(), spark(&gone).stages[0].attempts), (2, 2));
    near(took(&gone), 13.0 + 200.0 + 13.0 + 10.0, 0.3);
    let served = run(&text("shuffle-service = true\n"), &[]);
    let app = spark(&served);
    assert_eq!((app.killed(), app.stages[0].attempts), (2, 1));
    near(took(&served), 13.0 + 200.0 + 2.0 + 10.0, 0.3);
    assert!(app.shuffle_remote().get() > 1_900_000, "{}", app.shuffle_remote());
}

/// Executors that keep a data set stay, and go with a time-out of their own.
#[test]
fn kept_data_keep_executors() {
    let keeps = stage("a", "tasks = 2\nwork = \"10 s\"\npersist = \"memory-only\"\nkept-size = \"2 MB\"");
    let reads = stage("b", "job = 1\ntasks = 2\nreads = \"a\"\nwork = \"1 s\"");
    let text = format!("pause = [\"0 s\", \"200 s\"]\n{ON}{keeps}{reads}");
    let result = run(&text, &[]);
    assert_eq!((spark(&result).killed(), spark(&result).recomputed.get()), (0, 0));
    near(took(&result), 13.0 + 200.0 + 1.0, 0.15);
    let result = run(&text, &["spark.dynamic-allocation.cached-executor-idle-timeout=100 s"]);
    assert_eq!((spark(&result).killed(), spark(&result).recomputed.get()), (2, 2_000_000));
}

/// A node of four dies at 12 s in the middle of a shuffle, whose map tasks end from 7 to 9 s and which takes 6 s. What it has
/// written is written anew by the others, with a service, too, as that is gone with its node.
#[test]
fn an_executor_is_lost_in_the_middle_of_a_shuffle() {
    let map = stage("map", "tasks = 4\nwork = \"5 s\"\nshuffle-write = \"40 MB\"");
    let reduce = stage("reduce", "parents = [\"map\"]\ntasks = 4\nwork-per-mb = \"20 ms\"");
    let fault = "[[faults]]\nat = \"12 s\"\nnode = \"worker-2\"\n";
    for keys in ["", "shuffle-service = true\n"] {
        let result = run(&format!("{keys}{ON}{map}{reduce}{fault}"), &["network.rate=10 Mbit/s"]);
        let app = spark(&result);
        assert_eq!((app.lost, app.stages[0].attempts), (1, 2), "{keys}");
        let died = app.executors.iter().position(|executor| executor.node.0 == 2).expect("one was there");
        let again =
            |index: usize| app.tasks.iter().any(|task| task.stage == 0 && task.index == index && task.attempt == 2);
        for lost in app.tasks.iter().filter(|task| (task.stage, task.executor) == (0, died)) {
            assert!(again(lost.index), "{keys}: map task {}", lost.index);
        }
        assert!(took(&result) > 45.0, "{}", took(&result));
    }
}

/// On YARN executors come as the ApplicationMaster speaks to the ResourceManager, and go with its next heartbeat, at most 3 s
/// after it hears of it. Without an executor at first the program goes on at once.
#[test]
fn on_yarn_executors_come_and_go() {
    let two = stage("a", "tasks = 4\nwork = \"10 s\"");
    let next = stage("b", "job = 1\nwork = \"10 s\"");
    let text = format!("pause = [\"0 s\", \"90 s\"]\n{ON}max-executors = 3\n[spark.yarn]\n{two}{next}");
    let yarn = ["node.cores=16", "mapreduce.node-memory=32 GiB", "mapreduce.node-vcores=32"];
    let result = run(&text, &yarn);
    let app = spark(&result);
    assert_eq!((app.executors.len(), app.killed(), app.lost), (4, 3, 0));
    let (first, submit) = (registered(app), app.jobs[0].submit.expect("a job").as_secs_f64());
    // Asked for after 1 and 2 s, granted at a heartbeat of a node within a second, heard of and started within 2.
    assert!(first[0] > submit + 1.0 + 1.2 && first[0] < submit + 1.0 + 1.2 + 4.0, "{first:?}, {submit}");
    let ends: Vec<f64> = app.tasks.iter().filter_map(|task| task.finish).map(Time::as_secs_f64).collect();
    let last = ends[..4].iter().copied().fold(0.0, f64::max);
    assert!(gone(app).iter().all(|gone| *gone < last + 60.0 + 3.0 + 1.0 + 0.5), "{:?}, {last}", gone(app));
    assert_eq!(result.violations().count(), 0);
}

/// A task fails on the only executor of two cores on whose second core another runs: nobody is idle, so another executor
/// is asked for, and the job goes on.
#[test]
fn an_executor_is_asked_for_where_a_task_can_run_nowhere() {
    let two =
        "[[spark.stage]]\nname = \"a\"\ntasks = 2\nwork = \"10 s\"\n[[spark.stage.attempt]]\nafter = \"500 ms\"\n";
    let text = format!("[spark.exclude-on-failure]\n{ON}{two}");
    let result = run(&text, &["spark.executor-cores=2", "node.cores=2"]);
    let app = spark(&result);
    // At 2 s the first one; the task fails at 2.5 s, another executor is asked for within 1.1 s, and there 1 s later.
    all_near(&registered(app), &[2.0, 4.55], 0.15);
    near(took(&result), 14.55, 0.15);
}
