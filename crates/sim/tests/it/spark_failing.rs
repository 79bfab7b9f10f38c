//! Attempts that fail, as an import has them: when their tasks run again, and what becomes of their jobs, by hand from
//! the rules of Spark's `TaskSetManager` and `DAGScheduler`. Four workers have an executor of one core each.

use crate::spark::{run as run_on_four, spark, took};
use crate::spark_loss::near;
use results::{JobState, RunResult, SparkApplication};

fn stage(name: &str, keys: &str, attempts: &[&str]) -> String {
    let attempt = |keys: &&str| format!("[[spark.stage.attempt]]\n{keys}\n");
    let attempts: String = attempts.iter().map(attempt).collect();
    format!("[[spark.stage]]\nname = \"{name}\"\n{keys}\n{attempts}")
}

fn run(stages: &str) -> RunResult {
    run_on_four(stages, &[])
}

fn ended(app: &SparkApplication, how: &str) -> usize {
    app.tasks.iter().filter(|task| task.ended.name() == how).count()
}

/// Eight tasks of a second. The first fails after 0.5 s, and its core is given to the fifth before the first waits
/// again, which it does before all others: three cores are free at 1 s for the first and two others, the fourth at 1.5
/// s for the last.
#[test]
fn a_task_that_fails_waits_again_behind_the_offer_of_its_core() {
    let result = run(&stage("a", "tasks = 8\nwork = \"1 s\"", &["after = \"500 ms\""]));
    near(took(&result), 2.5, 0.02);
    let app = spark(&result);
    let launches = |index: usize| {
        let of = app.tasks.iter().filter(|task| task.index == index);
        of.map(|task| task.launch.as_secs_f64()).collect::<Vec<_>>()
    };
    let (first, fifth) = (launches(0), launches(4));
    assert_eq!((first.len(), fifth.len(), ended(app, "ExceptionFailure")), (2, 1, 1));
    near(fifth[0], 0.5, 0.01);
    near(first[1], 1.0, 0.01);
}

/// Three attempts fail, each after its own time, be it longer than the task's work; the fourth succeeds.
#[test]
fn attempts_fail_one_after_the_other() {
    let three = ["after = \"2 s\"", "after = \"3 s\"", "after = \"14 s\""];
    near(took(&run(&stage("a", "work = \"10 s\"", &three))), 2.0 + 3.0 + 14.0 + 10.0, 0.02);
    // A fourth fails the job (`spark.task.maxFailures`), and the application with it.
    let four = [&three[..], &["after = \"5 s\""]].concat();
    for (sets, last, failures) in [(&[][..], 24.0, 4), (&["spark.task-max-failures=2"], 5.0, 2)] {
        let result = run_on_four(&stage("a", "work = \"10 s\"", &four), sets);
        let app = result.spark.as_ref().expect("an application");
        assert_eq!(app.state, JobState::Failed);
        assert!(app.reason.contains(&format!("task 0 has failed {failures} times")), "{}", app.reason);
        let at = app.tasks.iter().filter_map(|task| task.finish).max().expect("an end");
        near(at.as_secs_f64(), last, 0.02);
    }
    let more = run_on_four(&stage("a", "work = \"10 s\"", &four), &["spark.task-max-failures=5"]);
    near(took(&more), 24.0 + 10.0, 0.02);
}

/// The first job fails after 3 s: its other task is killed, and its second stage never runs. The program goes on after
/// 5 s. A job that needs what the first stage would have written runs that before, with no more failures.
#[test]
fn a_program_goes_on_after_a_job_that_failed() {
    let settings = "task-max-failures = 1\ncatches-failures = true\npause = [\"0 s\", \"5 s\"]\n";
    let first = stage("a", "tasks = 2\nwork = \"10 s\"\nshuffle-write = \"2 MB\"", &["after = \"3 s\""]);
    let second = stage("b", "work = \"10 s\"\nparents = [\"a\"]", &[]);
    for (parents, expected) in [("[]", 3.0 + 5.0 + 10.0), ("[\"a\"]", 3.0 + 5.0 + 10.0 + 10.0)] {
        let third = stage("c", &format!("job = 1\nwork = \"10 s\"\nparents = {parents}"), &[]);
        let result = run(&format!("{settings}{first}{second}{third}"));
        near(took(&result), expected, 0.1);
        let app = spark(&result);
        assert_eq!(app.jobs.iter().map(|job| job.failed).collect::<Vec<_>>(), [true, false]);
        near(app.jobs[0].finish.expect("an end").as_secs_f64(), 3.0, 0.02);
        assert_eq!((ended(app, "ExceptionFailure"), ended(app, "TaskKilled"), app.stages[1].attempts), (1, 1, 0));
    }
    // The last job may be the one.
    let result =
        run(&format!("{settings}{}{first}", stage("c", "work = \"1 s\"", &[])).replace("\"a\"\n", "\"a\"\njob = 1\n"));
    near(took(&result), 1.0 + 5.0 + 3.0, 0.1);
}

/// One of four tasks cannot fetch half a second after their job's submission at 11 s; the others go on until 12 s.
/// After 0.2 s the stage is submitted anew, behind the map task whose output is gone with the executor: that ends at
/// 12.7 s. Where none is gone, the new attempt has all four tasks, as three of them still run. The first is launched on
/// the free core at 11.7 s, the missing one at 12 s when others are free.
#[test]
fn a_stage_is_tried_again_when_output_cannot_be_fetched() {
    for (node, maps, attempts, expected) in
        [("\nnode = \"worker-2\"", 5, [2, 2], 11.7 + 1.0 + 1.0), ("", 4, [1, 2], 12.0 + 1.0)]
    {
        let failing = format!("task = 2\nend = \"fetch-failed\"\nafter = \"500 ms\"{node}");
        let map = stage("map", "tasks = 4\nwork = \"1 s\"\nshuffle-write = \"4 MB\"", &[]);
        let reduce = stage("reduce", "job = 1\nparents = [\"map\"]\ntasks = 4\nwork = \"1 s\"", &[&failing]);
        let result = run(&format!("pause = [\"0 s\", \"10 s\"]\n{map}{reduce}"));
        let app = spark(&result);
        let of_maps = app.tasks.iter().filter(|task| task.stage == 0).count();
        assert_eq!((ended(app, "FetchFailed"), of_maps), (1, maps));
        assert_eq!(app.stages.iter().map(|stage| stage.attempts).collect::<Vec<_>>(), attempts);
        near(took(&result), expected, 0.1);
    }
}

/// An attempt that is to fail after 6 s is lost with its executor after 5 s: it counts, as the executor is lost when
/// that of a log was, and the job fails. One that is not to fail does not count.
#[test]
fn an_attempt_that_is_lost_before_it_fails_counts() {
    let two =
        "[[spark.executor]]\nuntil = \"5 s\"\nlost = true\n[[spark.executor]]\nnode = \"worker-2\"\nfrom = \"5 s\"\n";
    let one = ["after = \"6 s\""];
    let of =
        |attempts: &[&str]| run(&format!("task-max-failures = 1\n{two}{}", stage("a", "work = \"10 s\"", attempts)));
    let failed = of(&one);
    let app = failed.spark.as_ref().expect("an application");
    assert!(app.reason.contains("task 0 has failed 1 times"), "{}", app.reason);
    near(took(&of(&[])), 5.0 + 10.0, 0.1);
}
