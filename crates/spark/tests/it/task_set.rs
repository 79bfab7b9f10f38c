//! Delay scheduling, as Spark's documentation of `spark.locality.wait` and `TaskSetManager` have it.

use hadoop::NodeId;
use spark::task_set::{Locality, Offered, TaskSet};
use units::Time;

const WAIT: Time = Time::from_secs(3);

fn offer(set: &mut TaskSet, seconds: u64, node: u32) -> Offered {
    let levels = set.levels();
    let mut last = Offered::Nothing;
    for most in levels {
        last = set.offer(Time::from_secs(seconds), (0, NodeId(node)), most, (|_| true, |_| false));
        if let Offered::Task(..) = last {
            break;
        }
    }
    last
}

/// `spark.locality.wait`: "how long to wait to launch a data-local task before giving up and launching it on a
/// less-local node". Standalone there is no rack between: with 3 s a task of node 1 may run anywhere from 3 s on.
#[test]
fn a_task_waits_for_its_node() {
    let mut set = TaskSet::new(Time::ZERO, &vec![vec![NodeId(1)]; 4], WAIT);
    assert_eq!(set.levels(), [Locality::Node, Locality::Any]);
    assert_eq!(offer(&mut set, 0, 1), Offered::Task(0, Locality::Node));
    assert_eq!(offer(&mut set, 2, 2), Offered::Held);
    assert_eq!(offer(&mut set, 3, 2), Offered::Task(1, Locality::Any));
    assert_eq!(offer(&mut set, 3, 1), Offered::Task(2, Locality::Node));
    assert_eq!(set.waiting(), 1);
}

/// Once everything that was offered was taken, the wait begins anew at the level that was used.
#[test]
fn a_reset_begins_the_wait_anew() {
    let mut set = TaskSet::new(Time::ZERO, &vec![vec![NodeId(1)]; 4], WAIT);
    assert_eq!(offer(&mut set, 2, 1), Offered::Task(0, Locality::Node));
    set.reset(Time::from_secs(2), Locality::Node);
    assert_eq!(offer(&mut set, 4, 2), Offered::Held);
    assert_eq!(offer(&mut set, 5, 2), Offered::Task(1, Locality::Any));
    // Any place was allowed; a local launch that takes all brings it back.
    set.reset(Time::from_secs(6), Locality::Node);
    assert_eq!(offer(&mut set, 8, 2), Offered::Held);
}

/// Tasks without a preference run anywhere at once, and wait for nobody.
#[test]
fn a_task_without_preference_runs_at_once() {
    let preferred = [vec![NodeId(1)], Vec::new(), vec![NodeId(2)]];
    let mut set = TaskSet::new(Time::ZERO, &preferred, WAIT);
    assert_eq!(set.levels(), [Locality::Node, Locality::NoPreference, Locality::Any]);
    assert_eq!(offer(&mut set, 0, 3), Offered::Task(1, Locality::Process));
    assert_eq!(offer(&mut set, 0, 3), Offered::Held);
    assert_eq!(offer(&mut set, 0, 2), Offered::Task(2, Locality::Node));
    assert_eq!(offer(&mut set, 0, 1), Offered::Task(0, Locality::Node));
    assert_eq!(offer(&mut set, 9, 1), Offered::Nothing);
}

/// `dequeueTask` says `PROCESS_LOCAL` of a task without preference: after its launch the wait begins anew at the first
/// level, and tasks with a preference are held as before.
#[test]
fn a_task_without_preference_brings_no_other_nearer() {
    let preferred = [vec![NodeId(1)], vec![NodeId(1)], Vec::new()];
    let mut set = TaskSet::new(Time::ZERO, &preferred, WAIT);
    assert_eq!(offer(&mut set, 0, 3), Offered::Task(2, Locality::Process));
    set.reset(Time::ZERO, Locality::Process);
    assert_eq!(offer(&mut set, 1, 2), Offered::Held);
}

/// With a wait of zero nothing is held.
#[test]
fn without_a_wait_a_task_runs_where_a_core_is_free() {
    let mut set = TaskSet::new(Time::ZERO, &vec![vec![NodeId(1)]; 2], Time::ZERO);
    assert_eq!(offer(&mut set, 0, 3), Offered::Task(0, Locality::Any));
}

/// A task whose executor is lost waits again, first of all, and one that another attempt has done need not run (`addPendingTask`,
/// `markPartitionCompleted`). With no executor on the nodes that tasks prefer nobody waits for these
/// (`recomputeLocality`).
#[test]
fn tasks_come_back_and_levels_go_with_their_nodes() {
    let mut set = TaskSet::new(Time::ZERO, &vec![vec![NodeId(1)]; 3], WAIT);
    assert_eq!(offer(&mut set, 0, 1), Offered::Task(0, Locality::Node));
    set.add(0, &[NodeId(1)]);
    set.add(0, &[NodeId(1)]);
    set.drop(1);
    assert_eq!(set.waiting(), 2);
    assert_eq!(offer(&mut set, 0, 2), Offered::Held);
    set.recompute(WAIT, |node| node != NodeId(1), |_| false);
    assert_eq!(set.levels(), [Locality::Any]);
    assert_eq!(offer(&mut set, 0, 2), Offered::Task(0, Locality::Any));
    assert_eq!(offer(&mut set, 0, 2), Offered::Task(2, Locality::Any));
    assert_eq!((offer(&mut set, 0, 2), set.waiting()), (Offered::Nothing, 0));
    // Tasks that wait for a node with executors have it back.
    set.add(1, &[NodeId(2)]);
    set.recompute(WAIT, |node| node != NodeId(1), |_| false);
    assert_eq!(set.levels(), [Locality::Node, Locality::Any]);
}

/// Copies come after tasks that wait, the last first, on nodes where they may run. When nothing else waits they run
/// anywhere at once.
#[test]
fn copies_come_last() {
    let mut set = TaskSet::new(Time::ZERO, &vec![vec![NodeId(1)]; 3], WAIT);
    assert_eq!(offer(&mut set, 0, 1), Offered::Task(0, Locality::Node));
    assert_eq!(offer(&mut set, 0, 1), Offered::Task(1, Locality::Node));
    set.add_copy(0, vec![NodeId(1)]);
    set.add_copy(1, vec![NodeId(1)]);
    assert!(set.has_copy(0) && !set.has_copy(2));
    let copy = |set: &mut TaskSet, node: u32| {
        set.offer(Time::ZERO, (0, NodeId(node)), Locality::Any, (|_| true, |_| node != 1))
    };
    // A task that prefers a node still waits for it, and with it copies elsewhere.
    assert_eq!(copy(&mut set, 2), Offered::Held);
    assert_eq!(copy(&mut set, 1), Offered::Task(2, Locality::Node));
    // Both had an attempt on the first node.
    assert_eq!(copy(&mut set, 1), Offered::Held);
    assert_eq!(copy(&mut set, 2), Offered::Copy(1, Locality::Any));
    // The first is done.
    set.drop(0);
    assert_eq!((copy(&mut set, 2), set.wants()), (Offered::Nothing, false));
}

/// A task whose data an executor keeps waits for that executor, then for another on its node, then for none
/// (`spark.locality.wait.process`, `.node`). Where no such task is left the level of executors is passed over at once
/// (`moreTasksToRunIn`).
#[test]
fn a_task_waits_for_the_executor_that_keeps_its_data() {
    let process = Time::from_secs(2);
    let preferred = [vec![NodeId(1)], vec![NodeId(1)], vec![NodeId(1)], vec![NodeId(3)]];
    let kept = || {
        let mut set = TaskSet::new(Time::ZERO, &preferred, WAIT);
        (0..3).for_each(|task| set.prefer(task, &[10], process));
        set
    };
    let mut set = kept();
    assert_eq!(set.levels(), [Locality::Process, Locality::Node, Locality::Any]);
    let first = |set: &mut TaskSet, seconds: u64, executor: usize, node: u32| {
        let now = Time::from_secs(seconds);
        for most in set.levels() {
            if let task @ Offered::Task(..) = set.offer(now, (executor, NodeId(node)), most, (|_| true, |_| false)) {
                return task;
            }
        }
        Offered::Held
    };
    assert_eq!(first(&mut set, 0, 10, 1), Offered::Task(0, Locality::Process));
    assert_eq!(first(&mut set, 1, 11, 1), Offered::Held);
    assert_eq!(first(&mut set, 1, 12, 3), Offered::Held);
    assert_eq!(first(&mut set, 2, 11, 1), Offered::Task(1, Locality::Node));
    assert_eq!(first(&mut set, 4, 13, 2), Offered::Held);
    assert_eq!(first(&mut set, 5, 13, 2), Offered::Task(2, Locality::Any));
    // Those of executors are gone: the fourth waits for its node from now on, and not for an executor before.
    let mut set = kept();
    (0..3).for_each(|task| set.drop(task));
    assert_eq!(first(&mut set, 1, 13, 2), Offered::Held);
    assert_eq!(first(&mut set, 3, 13, 2), Offered::Held);
    assert_eq!(first(&mut set, 4, 13, 2), Offered::Task(3, Locality::Any));
    // The executor is lost.
    let mut set = kept();
    set.recompute(WAIT, |_| true, |executor| executor == 10);
    assert_eq!(set.levels(), [Locality::Node, Locality::Any]);
}

/// On YARN: three nodes of which the first two are in a rack; a task prefers the first. It waits 3 s for that node, and
/// then 3 s for the rack. Without executors in the rack there is no such level.
#[test]
fn racks_are_between_nodes_and_anywhere() {
    let racks = || std::sync::Arc::from([0, 0, 1]);
    let set =
        || TaskSet::new(Time::ZERO, &[vec![NodeId(0)]], Time::from_secs(3)).with_racks(racks(), Time::from_secs(3));
    assert_eq!(set().levels(), [Locality::Node, Locality::Rack, Locality::Any]);
    assert_eq!(offer(&mut set(), 2, 1), Offered::Held);
    assert_eq!(offer(&mut set(), 3, 1), Offered::Task(0, Locality::Rack));
    assert_eq!(offer(&mut set(), 5, 2), Offered::Held);
    assert_eq!(offer(&mut set(), 6, 2), Offered::Task(0, Locality::Any));
    let mut elsewhere = set();
    elsewhere.recompute(Time::from_secs(3), |node| node == NodeId(2), |_| false);
    assert_eq!(elsewhere.levels(), [Locality::Any]);
    elsewhere.recompute(Time::from_secs(3), |node| node == NodeId(1), |_| false);
    assert_eq!(elsewhere.levels(), [Locality::Rack, Locality::Any]);
    // A task that waits again prefers its rack, too.
    let mut again = set();
    assert_eq!(offer(&mut again, 0, 0), Offered::Task(0, Locality::Node));
    again.add(0, &[NodeId(0)]);
    assert_eq!(offer(&mut again, 3, 1), Offered::Task(0, Locality::Rack));
}
