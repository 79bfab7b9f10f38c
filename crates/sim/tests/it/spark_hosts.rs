//! Attempts that fail on some hosts alone, as on one whose disk is full: what becomes of their tasks and of the hosts, by
//! hand from the rules of Spark's `TaskSetExcludelist` and `HealthTracker`. Four workers have an executor of one core
//! each; the process of another takes a second (`jvm-start`).

use crate::spark::{run as run_on_four, spark, took};
use crate::spark_loss::near;
use results::{RunResult, SparkApplication, SparkTask};
use std::collections::BTreeSet;

const ON: &str = "[spark.exclude-on-failure]\n";
/// Offers are in random order, so that a task is on each worker for some of these.
const SEEDS: std::ops::RangeInclusive<u32> = 1..=12;

fn stage(name: &str, keys: &str, attempts: &[&str]) -> String {
    let attempt = |keys: &&str| format!("[[spark.stage.attempt]]\n{keys}\n");
    let attempts: String = attempts.iter().map(attempt).collect();
    format!("[[spark.stage]]\nname = \"{name}\"\n{keys}\n{attempts}")
}

fn run(text: &str, seed: u32, sets: &[&str]) -> RunResult {
    let seed = format!("run.seed={seed}");
    run_on_four(text, &[&["mapreduce.jvm-start=1 s", &*seed], sets].concat())
}

fn failed(app: &SparkApplication) -> Vec<&SparkTask> {
    app.tasks.iter().filter(|task| task.ended.name() == "ExceptionFailure").collect()
}

/// Four tasks of a second, of which the first would fail twice on worker-1 after 0.4 s. It is there at first or nowhere,
/// as the other cores are taken: worker-1 tries it anew, and it ends at 0.4 + 0.4 + 1 s. With exclusion it waits for
/// another core, until 1 s. Elsewhere it does not fail.
#[test]
fn a_task_fails_on_its_host_alone() {
    let fails = "task = 0\nonly-on = [\"worker-1\"]\nafter = \"400 ms\"";
    let text = stage("a", "tasks = 4\nwork = \"1 s\"", &[fails, fails]);
    let mut on_host = BTreeSet::new();
    for seed in SEEDS {
        let (free, excluding) = (run(&text, seed, &[]), run(&format!("{ON}{text}"), seed, &[]));
        let is_there = |result| spark(result).tasks.iter().any(|task| (task.index, task.node.0) == (0, 1));
        let there = is_there(&free);
        assert_eq!(is_there(&excluding), there, "the same order of offers");
        on_host.insert(there);
        let (tried_there, tried_elsewhere) = if there { (1.8, 2.0) } else { (1.0, 1.0) };
        near(took(&free), tried_there, 0.02);
        near(took(&excluding), tried_elsewhere, 0.02);
        let counts = [&free, &excluding].map(|result| failed(spark(result)).len());
        assert_eq!(counts, if there { [2, 1] } else { [0, 0] });
        for task in failed(spark(&free)) {
            assert_eq!((task.index, task.node.0), (0, 1));
        }
    }
    assert_eq!(on_host.len(), 2, "seeds of both kinds");
}

/// Eight tasks of a second; whichever begins on worker-2 fails after 0.4 s. Its core is offered before the first waits
/// again, and before the driver knows why the second has ended: three fail there, at 0.4, 0.8 and 1.2 s. The other cores
/// run four of the five that are left from 1 s and from 2 s on, so that the stage ends at 3 s.
#[test]
fn whatever_begins_on_a_host_fails_until_that_is_excluded() {
    let fails = "only-on = [\"worker-2\"]\nafter = \"400 ms\"";
    let text = format!("{ON}{}", stage("a", "tasks = 8\nwork = \"1 s\"", &[fails; 20]));
    let mut first = BTreeSet::new();
    for seed in SEEDS {
        let result = run(&text, seed, &[]);
        let app = spark(&result);
        let failed = failed(app);
        for (task, at) in failed.iter().zip([0.4, 0.8, 1.2]) {
            near(task.end.expect("an end").as_secs_f64(), at, 0.01);
        }
        assert_eq!(failed.iter().map(|task| task.node.0).collect::<Vec<_>>(), [2, 2, 2]);
        assert_eq!((app.stages[0].excluded_executors, app.tasks.len()), (1, 8 + 3));
        near(took(&result), 3.0, 0.02);
        first.insert(failed[0].index);
    }
    assert!(first.len() > 1, "any task may be the one that begins there");
}

/// Of those that are left the first of the list counts that fits: on worker-2 the second one, as the first is of
/// another. After it worker-2 is well.
#[test]
fn a_host_has_as_many_failures_as_are_listed() {
    let attempts = ["only-on = \"worker-3\"\nafter = \"7 s\"\ntask = 99", "only-on = \"worker-2\"\nafter = \"250 ms\""];
    let text = stage("a", "tasks = 100\nwork = \"100 ms\"", &attempts);
    let result = run(&text, 1, &[]);
    let failed = failed(spark(&result));
    let ends: Vec<_> = failed.iter().map(|task| (task.node.0, task.end.expect("an end").as_secs_f64())).collect();
    assert_eq!(ends[0].0, 2);
    near(ends[0].1, 0.25, 0.01);
    assert!(ends.len() == 1 || (ends.len(), ends[1].0, failed[1].index) == (2, 3, 99), "{ends:?}");
    // All workers are one of them, too: the first attempt of all fails, and no other.
    let any = run(&stage("a", "tasks = 1\nwork = \"1 s\"", &["only-on = \"workers\"\nafter = \"500 ms\""]), 1, &[]);
    near(took(&any), 1.5, 0.02);
}

/// Two workers with two executors each, and one task. A failure excludes its executor from the task, two the node:
/// each attempt on worker-1 takes half a second, of which there may be none, one or two. With one attempt to a node
/// there are no two.
#[test]
fn a_task_leaves_a_host_with_several_executors() {
    let fails = "only-on = [\"worker-1\"]\nafter = \"500 ms\"";
    let text = format!("{ON}{}", stage("a", "work = \"1 s\"", &[fails; 5]));
    let four = ["cluster.workers=2", "spark.executors=2", "node.cores=2"];
    for (of_node, expected) in [(2, &[0, 1, 2][..]), (1, &[0, 1])] {
        let mut seen = BTreeSet::new();
        for seed in SEEDS {
            let of_node = format!("spark.exclude-on-failure.task-attempts-per-node={of_node}");
            let result = run(&text, seed, &[&four[..], &[&*of_node]].concat());
            let failed = failed(spark(&result));
            near(took(&result), 1.0 + 0.5 * failed.len() as f64, 0.02);
            let executors: BTreeSet<usize> = failed.iter().map(|task| task.executor).collect();
            assert_eq!(executors.len(), failed.len(), "no executor twice");
            seen.insert(failed.len());
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
    }
}

/// Two stages as above, the second of a job 5 s after the first, end at 3 s and at 11 s. Three tasks have failed in each
/// on worker-2, so that its executor is excluded from the application and killed, at 3 s; another is there at 4 s, on
/// the same Worker, and as bad. With that the node is excluded at 11 s. The third job has three workers: 16 to 18 s.
#[test]
fn a_bad_host_loses_one_executor_after_the_other_and_is_excluded() {
    let fails = "only-on = [\"worker-2\"]\nafter = \"400 ms\"";
    let bad = |name: &str, job| stage(name, &format!("job = {job}\ntasks = 8\nwork = \"1 s\""), &[fails; 20]);
    let last = stage("c", "job = 2\ntasks = 4\nwork = \"1 s\"", &[fails; 20]);
    let pause = "pause = [\"0 s\", \"5 s\", \"5 s\"]\n";
    let kill = "kill-excluded-executors = true\n";
    let result = run(&format!("{pause}{ON}{kill}{}{}{last}", bad("a", 0), bad("b", 1)), 1, &[]);
    near(took(&result), 18.0, 0.05);
    let app = spark(&result);
    assert_eq!((app.excluded(), app.excluded_nodes, app.lost), (2, 1, 0));
    let failed = failed(app);
    assert_eq!(failed.iter().map(|task| task.stage).collect::<Vec<_>>(), [0, 0, 0, 1, 1, 1]);
    let executors: BTreeSet<usize> = failed.iter().map(|task| task.executor).collect();
    assert_eq!(executors.len(), 2);
    let another = *executors.last().expect("two");
    near(app.executors[another].registered.expect("it came").as_secs_f64(), 4.0, 0.02);
    near(app.executors[another].excluded.expect("excluded").as_secs_f64(), 11.0, 0.05);
    // With the second failure in a stage, until that ends; then from the application, for an hour.
    let first = *executors.first().expect("two");
    let expected = [
        (Some(first), Some(0), 0.8, 3.0),
        (Some(first), None, 3.0, 3_603.0),
        (Some(another), Some(1), 8.8, 11.0),
        (Some(another), None, 11.0, 3_611.0),
        (None, None, 11.0, 3_611.0),
    ];
    assert_eq!(app.exclusions.len(), expected.len());
    for (exclusion, (executor, stage, at, until)) in app.exclusions.iter().zip(expected) {
        assert_eq!((exclusion.executor, exclusion.stage, exclusion.node.0), (executor, stage, 2));
        near(exclusion.at.as_secs_f64(), at, 0.05);
        near(exclusion.until.expect("an end").as_secs_f64(), until, 0.05);
    }
}

/// A slow task is copied, and its copy fails if its host is one of those, after 0.3 s; the task itself goes on.
#[test]
fn a_copy_fails_on_a_bad_host() {
    let slow = "tasks = 4\nworks = [\"8 s\", \"1 s\", \"1 s\", \"1 s\"]";
    let fails = "task = 0\nonly-on = [\"worker-2\"]\nafter = \"300 ms\"";
    let speculation = "speculation = true\nspeculation-quantile = 0.75\n";
    let text = format!("{speculation}{ON}{}", stage("a", slow, &[fails; 3]));
    let mut copies = 0;
    for seed in SEEDS {
        let result = run(&text, seed, &[]);
        for task in failed(spark(&result)).into_iter().filter(|task| task.speculative) {
            copies += 1;
            assert_eq!((task.index, task.node.0), (0, 2));
            let took = task.end.expect("an end").saturating_sub(task.start.expect("a start"));
            near(took.as_secs_f64(), 0.3, 0.01);
            near(self::took(&result), 8.0, 0.02);
        }
    }
    assert!(copies > 0, "a copy was on worker-2");
}
