//! Speculative copies of tasks: when they are launched, by hand from Spark's defaults, and which attempt counts.

use crate::spark::{SHUFFLE, run as run_on_four, spark};
use crate::spark_loss::near;
use results::{RunResult, SparkApplication};
use units::Time;

/// Four tasks of a second.
const STAGE: &str = "[[spark.stage]]\nname = \"a\"\ntasks = 4\nwork = \"1 s\"\n";
/// A second job, 5 s after the first, in which the driver hears of attempts that it has killed.
const LATER: &str = "[[spark.stage]]\nname = \"later\"\njob = 1\n";

/// A first job of these stages, and the second.
fn run(stages: &str, faults: &str, sets: &[&str]) -> RunResult {
    run_on_four(&format!("speculation = true\npause = [\"0 s\", \"5 s\"]\n{stages}{LATER}{faults}"), sets)
}

/// Cores of a node at a part of their speed, from the start.
fn slow_node(node: u32, speed: f64) -> String {
    format!("[[faults]]\nat = \"0 s\"\nnode = \"worker-{node}\"\nslow = {speed}\n")
}

/// When the first stage was done.
fn done(app: &SparkApplication) -> f64 {
    app.stages[0].finish.map(Time::as_secs_f64).expect("an end")
}

fn killed(app: &SparkApplication) -> Vec<(u16, bool)> {
    let killed = app.tasks.iter().filter(|task| task.ended.name() == "TaskKilled");
    killed.map(|task| (u16::try_from(task.node.0).expect("few"), task.speculative)).collect()
}

/// On a node at a tenth of its speed a task takes 10 s. Three of four are done after a second (0.9 of 4 is 3.6, rounded
/// down), and at the first look, every 100 ms, after three times that it has run for too long: at 3.1 s a copy is
/// launched, on another node, which takes a second. The slow attempt is killed.
#[test]
fn a_copy_of_a_slow_nodes_task_is_first() {
    let result = run(STAGE, &slow_node(1, 0.1), &[]);
    let app = spark(&result);
    near(done(app), 3.1 + 1.0, 0.01);
    assert_eq!((app.copies(), killed(app)), ((1, 1), vec![(1, false)]));
    let copy = app.tasks.iter().find(|task| task.speculative).expect("a copy");
    assert!(copy.node.0 != 1, "{copy:?}");
    near(copy.launch.as_secs_f64(), 3.1, 0.001);
    // Off, as is Spark's default, the stage waits for the slow task.
    let result = run(STAGE, &slow_node(1, 0.1), &["spark.speculation=false"]);
    near(done(spark(&result)), 10.0, 0.01);
    assert_eq!(spark(&result).copies(), (0, 0));
    // Not before 6 s.
    let result = run(STAGE, &slow_node(1, 0.1), &["spark.speculation-min-task-runtime=6 s"]);
    near(done(spark(&result)), 6.1 + 1.0, 0.01);
    // A look each second: the first after 3 s and some is at 4 s.
    let result = run(STAGE, &slow_node(1, 0.1), &["spark.speculation-interval=1 s"]);
    near(done(spark(&result)), 4.0 + 1.0, 0.01);
}

/// With two slow nodes two tasks of four are done, which is less than 0.9 of them, and enough for half of them.
#[test]
fn copies_wait_for_the_quantile() {
    let faults = slow_node(1, 0.1) + &slow_node(2, 0.1);
    let result = run(STAGE, &faults, &[]);
    near(done(spark(&result)), 10.0, 0.01);
    assert_eq!(spark(&result).copies(), (0, 0));
    let result = run(STAGE, &faults, &["spark.speculation-quantile=0.5"]);
    near(done(spark(&result)), 3.1 + 1.0, 0.01);
    assert_eq!(spark(&result).copies(), (2, 2));
}

/// At a quarter of its speed the slow node needs 4 s: the copy, begun at 3.1 s, would need until 4.1 s and is killed. Its
/// core is free again for the second job.
#[test]
fn a_copy_that_is_later_is_killed() {
    let result = run(STAGE, &slow_node(1, 0.25), &[]);
    let app = spark(&result);
    near(done(app), 4.0, 0.01);
    assert_eq!(app.copies(), (1, 0));
    assert!(matches!(killed(app)[..], [(node, true)] if node != 1), "{:?}", killed(app));
    // What it was killed in the midst of took until then, and no longer.
    let copy = app.tasks.iter().find(|task| task.speculative).expect("a copy");
    near(copy.end.expect("an end").as_secs_f64(), 4.0, 0.01);
}

/// One of four tasks works for 10 s. Other executors of its own node are no place for a copy; a single task has nothing
/// to be compared with.
#[test]
fn a_copy_runs_on_another_node() {
    let stages = STAGE.replacen("work = \"1 s\"", "works = [\"1 s\", \"1 s\", \"1 s\", \"10 s\"]", 1);
    let alone = ["cluster.workers=1", "spark.executors=4", "node.cores=4"];
    let result = run(&stages, "", &alone);
    near(done(spark(&result)), 10.0, 0.01);
    assert_eq!(spark(&result).copies(), (0, 0));
    // Another node helps little: the copy has as much to do. It is the only one, however long it takes.
    let result = run(&stages, "", &[]);
    near(done(spark(&result)), 10.0, 0.01);
    assert_eq!(spark(&result).copies(), (1, 0));
    let single = STAGE.replacen("tasks = 4", "tasks = 1", 1);
    let faults: String = (1..=4).map(|node| slow_node(node, 0.1)).collect();
    assert_eq!(spark(&run(&single, &faults, &[])).copies(), (0, 0));
}

/// A node dies with its task. Long before the Master drops its Worker, after 60 to 120 s, the task is slow, and its copy
/// is first; without copies the stage waits.
#[test]
fn a_copy_does_not_wait_for_the_loss_of_an_executor() {
    let crash = "[[faults]]\nat = \"500 ms\"\nnode = \"worker-1\"\n";
    let run = |speculation: bool| run_on_four(&format!("speculation = {speculation}\n{STAGE}{crash}"), &[]);
    near(done(spark(&run(true))), 3.1 + 1.0, 0.01);
    let result = run(false);
    assert!(done(spark(&result)) > 60.0);
}

/// Reduce tasks fetch 7.5 MB at 10 Mbit/s, which takes 6.3 s or, with losses, a little more, and then work for a second.
/// The slow node needs 18.7 s for that, until 25 s and more; its copy begins after three times 7.3 s and more, at 22 s,
/// and is killed while its three blocks of 2.5 MB are on their way: they are lost with it. Where the slow node needs
/// 50 s, the copy is first, and has fetched them again.
#[test]
fn bytes_of_a_copy_that_is_killed_are_in_the_books() {
    let stages = &SHUFFLE.replace("work-per-mb = \"20 ms\"", "work = \"1 s\"\nstreamed = 0.0");
    let result = run(stages, &slow_node(1, 1.0 / 18.7), &["network.rate=10 Mbit/s"]);
    let app = spark(&result);
    assert_eq!(app.copies(), (1, 0));
    let of = |is_copy: bool| {
        let is = |task: &&results::SparkTask| {
            task.stage == 1 && task.speculative == is_copy && (is_copy || task.node.0 == 1)
        };
        *app.tasks.iter().find(is).expect("an attempt")
    };
    let (slow, copy) = (of(false), of(true));
    let fetched = slow.start.expect("a start") + slow.fetch_wait;
    near(slow.end.expect("an end").as_secs_f64() - fetched.as_secs_f64(), 18.7, 0.1);
    assert!(fetched.as_secs_f64() > 6.3 && copy.launch.as_secs_f64() > 3.0 * 7.3, "{slow:?}, {copy:?}");
    assert_eq!(app.stages[1].finish, slow.finish);
    let lost = "lost with a connection or its task";
    assert_eq!(served(&result, [lost, "fetched again", "in flight"]), [7_500_000, 0, 0]);
    let result = run(stages, &slow_node(1, 1.0 / 50.0), &["network.rate=10 Mbit/s"]);
    assert_eq!(spark(&result).copies(), (1, 1));
    assert_eq!(served(&result, [lost, "fetched again", "in flight"]), [0, 7_500_000, 0]);
}

/// Parts of what executors have sent of the only shuffle.
fn served(result: &RunResult, parts: [&str; 3]) -> [u64; 3] {
    let served = result.ledger.iter().find(|balance| balance.what.contains("served")).expect("books");
    parts.map(|part| served.accounted.iter().find(|(name, _)| name == part).expect("a part").1)
}
