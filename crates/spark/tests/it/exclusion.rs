//! Which executors and nodes are excluded: cases of Spark's `TaskSetExcludelistSuite`, `HealthTrackerSuite` and
//! `TaskSetManagerSuite`, with its defaults unless said otherwise. Nodes are numbers as executors are.

use hadoop::NodeId;
use spark::Exclusion;
use spark::exclusion::{Excluded, Health, StageExclusion};
use spark::task_set::{Locality, Offered, TaskSet};
use units::Time;

const HOUR: Time = Time::from_secs(3_600);
const MS: Time = Time::from_ms(1);
const A: NodeId = NodeId(1);
const B: NodeId = NodeId(2);

fn rules() -> Exclusion {
    Exclusion::default()
}

/// Attempts at these tasks fail on an executor of a node.
fn fail(stage: &mut StageExclusion, rules: &Exclusion, now: Time, here: (usize, NodeId), tasks: &[usize]) {
    for task in tasks {
        stage.failed(rules, now, here, *task);
    }
}

fn failed(now: Time, here: (usize, NodeId), tasks: &[usize]) -> StageExclusion {
    let mut stage = StageExclusion::default();
    fail(&mut stage, &rules(), now, here, tasks);
    stage
}

/// Two tasks fail on each of two executors of a node: the first failure excludes its task from its executor, the second
/// the executor from the stage, and the second executor their node.
#[test]
fn tasks_then_executors_then_nodes_are_excluded() {
    let (rules, mut stage) = (rules(), StageExclusion::default());
    fail(&mut stage, &rules, Time::ZERO, (1, A), &[0]);
    for executor in 1..=4 {
        for task in 0..10 {
            assert_eq!(stage.excludes_task(&rules, (executor, A), task), (executor, task) == (1, 0));
        }
    }
    assert!(!stage.excludes((1, A)));
    fail(&mut stage, &rules, Time::ZERO, (1, A), &[1]);
    assert_eq!((stage.excludes((1, A)), stage.executors(), stage.nodes()), (true, 1, 0));
    fail(&mut stage, &rules, Time::ZERO, (2, A), &[0]);
    assert!(!stage.excludes((2, A)));
    fail(&mut stage, &rules, Time::ZERO, (2, A), &[1]);
    assert_eq!((stage.excludes((2, A)), stage.executors(), stage.nodes()), (true, 2, 1));
    // The node is, with whatever executor it has.
    assert!(stage.excludes((3, A)) && !stage.excludes((3, B)));
}

/// With 2 attempts of a task on an executor and 3 on a node, 2 tasks of a stage on an executor and 3 executors of a node:
/// attempts at the one task count for the task, and tasks for the stage.
#[test]
fn attempts_at_one_task_count_once_for_the_stage() {
    let rules = Exclusion {
        task_attempts_per_executor: 2,
        task_attempts_per_node: 3,
        stage_tasks_per_executor: 2,
        stage_executors_per_node: 3,
        ..rules()
    };
    let mut stage = StageExclusion::default();
    let fail = |stage: &mut StageExclusion, executor: usize, tasks: &[usize]| {
        fail(stage, &rules, Time::ZERO, (executor, A), tasks);
    };
    fail(&mut stage, 1, &[0, 0]);
    assert!(stage.excludes_task(&rules, (1, A), 0) && !stage.excludes_task(&rules, (9, A), 0));
    assert!(!stage.excludes((1, A)));
    fail(&mut stage, 2, &[0]);
    assert!(stage.excludes_task(&rules, (9, A), 0) && !stage.excludes((2, A)));
    fail(&mut stage, 1, &[1]);
    assert!(stage.excludes((1, A)) && stage.nodes() == 0);
    fail(&mut stage, 2, &[2]);
    assert!(stage.excludes((2, A)) && stage.nodes() == 0);
    fail(&mut stage, 3, &[3, 4]);
    assert!(stage.excludes((3, A)) && stage.nodes() == 1);
}

/// Executors of different nodes exclude no node.
#[test]
fn a_node_is_excluded_for_its_own_executors() {
    let mut stage = failed(Time::ZERO, (1, A), &[0, 1]);
    fail(&mut stage, &rules(), Time::ZERO, (2, B), &[0, 1]);
    assert_eq!((stage.executors(), stage.nodes()), (2, 0));
    // Neither does it for the application, until a second one of the same node is.
    let mut health = Health::default();
    for (here, expected) in [
        ((1, A), vec![Excluded::Executor(1)]),
        ((2, B), vec![Excluded::Executor(2)]),
        ((3, A), vec![Excluded::Executor(3), Excluded::Node(A)]),
    ] {
        assert_eq!(health.succeeded(&rules(), Time::ZERO, &failed(Time::ZERO, here, &[0, 1])), expected);
    }
    assert!(health.excludes((4, A)) && !health.excludes((5, B)));
}

/// One task fails in every other of many stages that succeed: with the second the executor is excluded from the
/// application, and no later success brings it back. Stages that fail do not count.
#[test]
fn few_failures_of_many_stages_add_up() {
    let mut health = Health::default();
    let mut failures = 0;
    for number in 0..20 {
        let tasks: &[usize] = if number % 2 == 0 { &[0] } else { &[] };
        failures += tasks.len();
        let excluded = health.succeeded(&rules(), Time::ZERO, &failed(Time::ZERO, (1, A), tasks));
        let expected = if failures == 2 && !tasks.is_empty() { vec![Excluded::Executor(1)] } else { Vec::new() };
        assert_eq!(excluded, expected, "stage {number}");
        assert_eq!(health.excludes((1, A)), failures >= 2);
    }
}

/// Two executors of a node are excluded at once, and the node with them. One millisecond after an hour all get tasks
/// again, and one further failure does not exclude, as the count began anew.
#[test]
fn what_is_excluded_recovers_with_time() {
    let mut health = Health::default();
    assert_eq!(
        health.succeeded(&rules(), Time::ZERO, &failed(Time::ZERO, (1, A), &[0, 1, 2, 3])),
        [Excluded::Executor(1)]
    );
    assert!(!health.excludes_node(A));
    health.succeeded(&rules(), Time::ZERO, &failed(Time::ZERO, (2, A), &[0, 1, 2, 3]));
    assert!(health.excludes_node(A));
    health.expire(HOUR);
    assert!(health.excludes((1, A)) && health.excludes_node(A));
    health.expire(HOUR + MS);
    assert!(!health.excludes((1, A)) && !health.excludes((2, A)) && !health.excludes_node(A));
    let now = HOUR + MS;
    assert_eq!(health.succeeded(&rules(), now, &failed(now, (1, A), &[0])), []);
}

/// An executor that dies is excluded all the same, and counts for its node when another there is half an hour later. The
/// first one's hour ends before the node's.
#[test]
fn lost_executors_count_for_their_node() {
    let mut health = Health::default();
    health.removed(1);
    health.succeeded(&rules(), Time::ZERO, &failed(Time::ZERO, (1, A), &[0, 1, 2, 3]));
    assert!(health.excludes((1, A)));
    let half = Time::from_secs(1_800);
    health.removed(2);
    assert_eq!(
        health.succeeded(&rules(), half, &failed(half, (2, A), &[0, 1, 2, 3])),
        [Excluded::Executor(2), Excluded::Node(A)]
    );
    health.expire(half + half + MS);
    // The node excludes it still.
    assert!(!health.excludes((1, B)));
    assert!(health.excludes((2, B)) && health.excludes_node(A));
    health.expire(half + half + MS + half);
    assert!(!health.excludes_node(A));
}

/// Failures of an executor that are more than an hour apart do not add up, and those that are less do.
#[test]
fn failures_expire() {
    let mut health = Health::default();
    let one = |health: &mut Health, now: Time, executor: usize| {
        health.expire(now);
        health.succeeded(&rules(), now, &failed(now, (executor, NodeId(executor as u32)), &[0]))
    };
    assert_eq!(one(&mut health, Time::ZERO, 1), []);
    assert_eq!(one(&mut health, Time::ZERO, 2), []);
    let second = HOUR + MS;
    assert_eq!(one(&mut health, second, 1), []);
    let third = second + HOUR.saturating_sub(MS);
    assert_eq!(one(&mut health, third, 1), [Excluded::Executor(1)]);
    let fourth = third + HOUR.saturating_sub(MS);
    assert_eq!(one(&mut health, fourth, 3), []);
    assert_eq!(one(&mut health, fourth, 3), [Excluded::Executor(3)]);
    assert!(health.excludes((1, B)) && health.excludes((3, B)));
    health.expire(third + HOUR + MS);
    assert!(!health.excludes((1, B)) && health.excludes((3, B)));
    health.expire(fourth + HOUR + MS);
    assert!(!health.excludes((3, B)));
}

/// Two stages with a failure each, five hours apart, of which the later one ends first: when the other ends, its own
/// failure is long past.
#[test]
fn old_failures_of_long_stages_do_not_count() {
    let mut health = Health::default();
    let (first, later) = (failed(Time::ZERO, (1, A), &[0]), HOUR * 5);
    let second = failed(later, (1, A), &[0]);
    assert_eq!(health.succeeded(&rules(), later + MS, &second), []);
    assert_eq!(health.succeeded(&rules(), later + MS * 2, &first), []);
    assert!(!health.excludes((1, A)));
}

/// One fetch that failed excludes an executor, or with a shuffle service its node.
#[test]
fn a_failed_fetch_excludes_at_once() {
    let mut health = Health::default();
    assert_eq!(health.fetch_failed(&rules(), Time::ZERO, (1, A), false), Some(Excluded::Executor(1)));
    assert_eq!(health.fetch_failed(&rules(), Time::ZERO, (1, A), false), None);
    assert!(health.excludes((1, A)) && !health.excludes_node(A));
    assert_eq!(health.fetch_failed(&rules(), Time::ZERO, (2, B), true), Some(Excluded::Node(B)));
    assert!(health.excludes((3, B)) && health.nodes().eq([B]));
}

/// What fails is noted for the application although it excludes nothing from its stage (`isDryRun`).
#[test]
fn stages_may_exclude_nothing() {
    let rules = Exclusion { task_and_stage: false, ..rules() };
    let mut stage = StageExclusion::default();
    fail(&mut stage, &rules, Time::ZERO, (1, A), &[0, 1]);
    assert!(!stage.excludes_task(&rules, (1, A), 0) && !stage.excludes((1, A)));
    assert_eq!(Health::default().succeeded(&rules, Time::ZERO, &stage), [Excluded::Executor(1)]);
}

/// Four tasks without preferences, and an executor on which the second may not run: it stays for another
/// (`dequeueTaskFromList`).
#[test]
fn a_task_that_may_not_run_somewhere_stays_for_others() {
    let mut set = TaskSet::new(Time::ZERO, &vec![Vec::new(); 4], Time::from_secs(3));
    let mut offer = |executor: usize| {
        let may_run = |task| (executor, task) != (1, 1);
        set.offer(Time::ZERO, (executor, A), Locality::Any, (may_run, |_| false))
    };
    assert_eq!(offer(1), Offered::Task(0, Locality::Process));
    assert_eq!(offer(1), Offered::Task(2, Locality::Process));
    assert_eq!(offer(1), Offered::Task(3, Locality::Process));
    assert_eq!(offer(1), Offered::Held);
    assert_eq!(offer(2), Offered::Task(1, Locality::Process));
    assert_eq!(offer(2), Offered::Nothing);
}
