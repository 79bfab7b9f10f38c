//! How many executors are wanted and which are given back: cases of Spark's `ExecutorAllocationManagerSuite` and
//! `ExecutorMonitorSuite`, whose time-outs are 1 s for a backlog, 2 s for one that lasts, 60 s without a task, 120 s with
//! kept data and 240 s with shuffle files.

use spark::Allocation;
use spark::allocation::{Idle, Load, Target};
use std::collections::BTreeSet;
use units::Time;

fn rules(least: u32, most: u32, initial: u32) -> Allocation {
    Allocation {
        least,
        most,
        initial: initial.max(least),
        sustained_backlog: Time::from_secs(2),
        cached_idle: Some(Time::from_secs(120)),
        shuffle_idle: Some(Time::from_secs(240)),
        ..Allocation::default()
    }
}

const fn waiting(waiting: usize) -> Load {
    Load { waiting, copies: 0, running: 0, unschedulable: 0 }
}

/// A target, and the time so far: at each round the backlog has lasted for long enough.
struct Manager(Allocation, Target, Time);

impl Manager {
    fn new(rules: Allocation) -> Self {
        let mut target = Target::new(&rules);
        target.stage_submitted(&rules, Time::ZERO);
        Self(rules, target, Time::ZERO)
    }

    fn round(&mut self, needed: u32, executors: u32) -> u32 {
        self.2 += Time::from_secs(2);
        self.1.update(&self.0, self.2, needed, executors);
        self.1.executors
    }
}

/// One executor of ten at most, and a thousand tasks: one more, then two, four, and what is left to the bound.
#[test]
fn twice_as_many_are_added_each_time() {
    let mut manager = Manager::new(rules(1, 10, 1));
    let rounds: Vec<u32> = (0..6).map(|_| manager.round(1_000, 0)).collect();
    assert_eq!(rounds, [2, 4, 8, 10, 10, 10]);
}

/// No more are asked for than tasks need. Once a round adds less than it might, the next begins with one again.
#[test]
fn no_more_are_added_than_tasks_need() {
    let rules = rules(0, 10, 0);
    let mut manager = Manager::new(rules);
    let five = rules.needed(waiting(5), 0, 1);
    assert_eq!((0..3).map(|_| manager.round(five, 0)).collect::<Vec<_>>(), [1, 3, 5]);
    // A second stage of three tasks, of which one runs on the first executor.
    let eight = rules.needed(Load { running: 1, ..waiting(7) }, 1, 1);
    assert_eq!((0..3).map(|_| manager.round(eight, 1)).collect::<Vec<_>>(), [6, 8, 8]);
    // A third one of three, of which two run: up to the bound.
    let eleven = rules.needed(Load { running: 3, ..waiting(8) }, 1, 1);
    assert_eq!((0..3).map(|_| manager.round(eleven, 1)).collect::<Vec<_>>(), [9, 10, 10]);
}

/// Twenty tasks, three executors at least and fifteen at most: (cores, ratio, executors).
#[test]
fn a_ratio_asks_for_fewer() {
    for (cores, ratio, expected) in
        [(1, 0.5, 10), (1, 1.0 / 3.0, 7), (2, 1.0 / 3.0, 4), (1, 0.385, 8), (1, 1.0, 15), (4, 1.0 / 3.0, 3)]
    {
        let rules = Allocation { ratio, ..rules(3, 15, 1) };
        let mut manager = Manager::new(rules);
        let last = (0..6).map(|_| manager.round(rules.needed(waiting(20), 0, cores), 0)).last();
        assert_eq!(last, Some(expected), "{cores} cores, {ratio}");
    }
}

/// Executors of two cores, and stages with a task that can run nowhere: beside those that are there as many more as such
/// stages need (SPARK-31418).
#[test]
fn tasks_that_can_run_nowhere_need_more() {
    let rules = rules(0, 10, 0);
    let running = |running, unschedulable| Load { running, unschedulable, ..Load::default() };
    assert_eq!(rules.needed(running(2, 0), 1, 2), 1);
    assert_eq!(rules.needed(running(2, 1), 1, 2), 2);
    // Two stages of four running tasks on three executors; then one such stage, and four executors.
    assert_eq!(rules.needed(running(4, 2), 3, 2), 4);
    assert_eq!(rules.needed(running(4, 1), 4, 2), 5);
}

/// Copies count as tasks; with a single executor of several cores one more is wanted, as a copy runs on another node
/// (SPARK-30511).
#[test]
fn copies_need_executors() {
    let rules = rules(0, 10, 0);
    let of =
        |waiting, copies, running, cores| rules.needed(Load { waiting, copies, running, unschedulable: 0 }, 0, cores);
    assert_eq!(of(2, 1, 0, 1), 3);
    assert_eq!(of(0, 10, 10, 4), 5);
    assert_eq!(of(0, 1, 3, 4), 2);
    assert_eq!(of(0, 0, 4, 4), 1);
}

/// The first executor after a backlog of a second, then two and four more after two seconds each; none once no task
/// waits; then one again.
#[test]
fn a_backlog_has_to_last() {
    let rules = rules(0, 20, 0);
    let mut target = Target::new(&rules);
    let at = Time::from_ms;
    target.stage_submitted(&rules, at(0));
    target.backlogged(&rules, at(300));
    let steps = |steps: &[(u64, u32)], target: &mut Target| {
        for (now, expected) in steps {
            target.update(&rules, at(*now), 1_000, 0);
            assert_eq!(target.executors, *expected, "{now} ms");
        }
    };
    steps(&[(500, 0), (1_500, 1), (2_500, 1), (4_500, 3), (6_500, 7)], &mut target);
    target.drained();
    steps(&[(8_500, 7), (10_500, 7)], &mut target);
    target.backlogged(&rules, at(10_500));
    steps(&[(11_500, 8), (13_500, 10), (15_500, 14), (17_500, 20)], &mut target);
}

/// Before a stage is submitted nothing changes; then fewer are wanted as soon as fewer are needed, and no fewer than the
/// least. Where more are there than are wanted, the next are asked for beyond those.
#[test]
fn a_target_falls_with_the_need() {
    let rules = rules(2, 100, 10);
    let mut target = Target::new(&rules);
    assert!(!target.update(&rules, Time::from_secs(9), 0, 0));
    assert_eq!(target.executors, 10);
    target.some_idle();
    assert!(target.update(&rules, Time::from_secs(9), 4, 10));
    assert_eq!(target.executors, 4);
    assert!(target.update(&rules, Time::from_secs(9), 0, 10));
    assert!(!target.update(&rules, Time::from_secs(9), 0, 10));
    assert_eq!(target.executors, 2);
    target.backlogged(&rules, Time::from_secs(9));
    assert!(target.update(&rules, Time::from_secs(10), 50, 10));
    assert_eq!(target.executors, 11);
    target.reset(&rules);
    assert_eq!(target.executors, 10);
}

/// Ten executors without a task, of which five are wanted at least: five go. Of twelve of which eight are wanted four go.
#[test]
fn as_many_stay_as_are_wanted() {
    let idle: Vec<usize> = (1..=10).collect();
    let target = Target::new(&rules(5, 10, 5));
    assert_eq!(target.given_back(&rules(5, 10, 5), &idle, 10), [1, 2, 3, 4, 5]);
    assert_eq!(target.given_back(&rules(5, 10, 5), &[7, 8], 5), [0_usize; 0]);
    let eight = Target::new(&rules(0, 20, 8));
    assert_eq!(eight.given_back(&rules(0, 20, 8), &idle, 12), [1, 2, 3, 4]);
    assert_eq!(eight.given_back(&rules(0, 20, 8), &idle, 8), [0_usize; 0]);
}

/// An executor that came at 0 goes after 60 s; with kept data after 120 s; when these are gone, at 60 s of then.
#[test]
fn an_executor_stays_longer_with_kept_data() {
    let rules = rules(0, 10, 0);
    let idle = Idle { since: Some(Time::from_secs(30)), ..Idle::default() };
    assert_eq!(idle.until(&rules, false), Some(Time::from_secs(90)));
    assert_eq!(idle.until(&rules, true), Some(Time::from_secs(150)));
    assert_eq!(Idle::default().until(&rules, false), None, "it has a task");
    assert_eq!(idle.until(&Allocation::default(), true), None, "for ever");
}

/// Files of a shuffle keep an executor while a job runs that reads it, and for 240 s then; of several time-outs that hold
/// the longest counts (SPARK-43398). With a shuffle service they do not.
#[test]
fn an_executor_stays_with_shuffle_files() {
    let rules = rules(0, 10, 0);
    let mut idle = Idle { since: Some(Time::ZERO), ..Idle::default() };
    idle.has_shuffle(0);
    assert_eq!((idle.until(&rules, false), idle.until(&rules, true)), (None, None));
    idle.in_use(&BTreeSet::new());
    assert_eq!(idle.until(&rules, false), Some(Time::from_secs(240)));
    assert_eq!(idle.until(&rules, true), Some(Time::from_secs(240)));
    // Time-outs that are shorter than that of an executor without anything change nothing.
    let short = Allocation { cached_idle: Some(Time::from_secs(5)), shuffle_idle: Some(Time::from_secs(9)), ..rules };
    assert_eq!(idle.until(&short, false), Some(Time::from_secs(60)));
    assert_eq!(idle.until(&short, true), Some(Time::from_secs(60)));
    // One for ever is the longest.
    let for_ever = Allocation { shuffle_idle: None, ..rules };
    assert_eq!((idle.until(&for_ever, false), idle.until(&for_ever, true)), (None, None));
    // A later job uses the shuffle again, and another does not.
    idle.in_use(&BTreeSet::from([0, 3]));
    assert_eq!(idle.until(&rules, false), None);
    idle.in_use(&BTreeSet::from([3]));
    assert_eq!(idle.until(&rules, false), Some(Time::from_secs(240)));
    let service = Allocation { tracks_shuffles: false, ..rules };
    idle.in_use(&BTreeSet::from([0]));
    assert_eq!(idle.until(&service, false), Some(Time::from_secs(60)));
    assert_eq!(idle.until(&Allocation::default(), false), None, "for ever, as Spark has it by default");
}
