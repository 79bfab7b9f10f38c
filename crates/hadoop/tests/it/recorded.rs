//! Plans that hold more than starts: recorded times of phases, ends that were no successes, and rooms that must be
//! free. Expectations are sums of the plan's own numbers; what is simulated beside them is kept small.

use crate::jobs::{GENERATIONS, MIB, config, finish, plain, succeeded, with_workload};
use crate::support::{Spec, World};
use hadoop::mapreduce::{Generation, JobSpec, Recorded, Replay, ReplayAttempt, ReplayEnd};
use hadoop::record::{AttemptState, JobState, Records, TaskKind};
use hadoop::workload::{Costs, Workload};
use hadoop::{Config, JobId, NodeId};
use units::{Bytes, Time};

/// Heartbeats, polls and the bytes of a job of two blocks.
const BESIDE: f64 = 3.5;

fn seconds(s: u64) -> Time {
    Time::from_secs(s)
}

fn attempt(kind: TaskKind, task: u32, node: u32, start: u64, recorded: Recorded) -> ReplayAttempt {
    ReplayAttempt { recorded, ..ReplayAttempt::starting(kind, task, NodeId(node), seconds(start)) }
}

fn map(s: u64) -> Recorded {
    Recorded { map: seconds(s), ..Recorded::default() }
}

fn ends(end: ReplayEnd, after: u64) -> Recorded {
    Recorded { end, after: seconds(after), ..Recorded::default() }
}

/// Jobs that take no time but what their plans say, a map at a time on a node, with two replicas.
fn timeless(generation: Generation, jobs: Vec<JobSpec>) -> Config {
    let mut cfg = config(generation, jobs);
    cfg.hdfs.replication = 2;
    cfg.mapreduce.jvm_start_cpu = Time::ZERO;
    cfg.mapreduce.launch_latency = Time::ZERO;
    cfg.mapreduce.task_overhead_cpu = Time::ZERO;
    cfg.mapreduce.app_master.init_cpu = Time::ZERO;
    cfg.mapreduce.hadoop1.map_slots = 1;
    cfg
}

/// Two maps of 32 MiB and a reduce on two workers, with no times but those of the plan. It is launched after 5 s.
fn planned(generation: Generation, plan: Replay) -> Records {
    let workload = Workload { costs: Costs::NONE, ..plain(0.0) };
    let mut cfg = timeless(generation, vec![with_workload(workload, 64 * MIB, 1)]);
    // Room for one task; a plan does not count the AppMaster's container.
    cfg.mapreduce.app_master.map_memory = Bytes::from_mib(2_048);
    cfg.mapreduce.app_master.reduce_memory = Bytes::from_mib(2_048);
    cfg.yarn.node_memory = Bytes::from_mib(2_048);
    cfg.mapreduce.replays = [(JobId(0), Replay { launch: Some(seconds(5)), ..plan })].into();
    finish(&mut World::new(cfg, Spec::new(2, 1), 1))
}

fn at(time: Time) -> f64 {
    time.as_secs_f64()
}

#[test]
fn recorded_times_are_spent_beside_what_is_simulated() {
    for generation in GENERATIONS {
        let reduce = Recorded { copy: seconds(4), sort: seconds(3), reduce: seconds(2), ..Recorded::default() };
        let records = planned(
            generation,
            Replay {
                waits: true,
                commit: seconds(7),
                attempts: vec![
                    attempt(TaskKind::Map, 0, 1, 6, Recorded { sort: seconds(5), ..map(10) }),
                    attempt(TaskKind::Map, 1, 2, 8, map(30)),
                    attempt(TaskKind::Reduce, 0, 1, 22, reduce),
                ],
                ..Replay::default()
            },
        );
        let maps = succeeded(&records, TaskKind::Map);
        let near = |value: Time, from: f64| (from..from + BESIDE).contains(&at(value));
        let first = maps.iter().find(|map| map.task == 0).expect("map 0");
        // 10 s of its function and 5 s of its sort from 6 s on; the other's 30 s from 8 s on.
        assert!(near(first.first_phase_end.expect("a function"), 16.0), "{generation:?} {:?}", first.first_phase_end);
        assert!(near(first.finish, 21.0), "{generation:?} {:?}", first.finish);
        let second = maps.iter().find(|map| map.task == 1).expect("map 1").finish;
        assert!(near(second, 38.0), "{generation:?} {second:?}");
        // The reduce waits for the last map, although it started long before.
        let [reduce] = succeeded(&records, TaskKind::Reduce)[..] else { panic!("one reduce") };
        let shuffled = reduce.first_phase_end.expect("a shuffle");
        assert!(near(shuffled, at(second) + 4.0), "{generation:?} {shuffled:?} after {second:?}");
        let sorted = reduce.sort_end.expect("a sort");
        assert!((3.0..4.5).contains(&at(sorted - shuffled)), "{generation:?} {sorted:?}");
        assert!((2.0..5.5).contains(&at(reduce.finish - sorted)), "{generation:?} {:?}", reduce.finish);
        let finish = records.jobs[0].finish.expect("an end");
        assert!((at(finish - reduce.finish) - 7.0).abs() < 1e-9, "{generation:?} {finish:?}");
        assert!((at(records.jobs[0].launch.expect("a launch") - records.jobs[0].submit) - 5.0).abs() < 0.1);
    }
}

/// Two maps of 10 s on one node, the second due after 4 s. With one slot it waits for the first where starts are the
/// earliest ones; where they are fixed it does not.
#[test]
fn attempts_wait_for_room_where_starts_are_the_earliest() {
    for generation in GENERATIONS {
        for (waits, second) in [(true, 16.0), (false, 10.0)] {
            let records = planned(
                generation,
                Replay {
                    waits,
                    attempts: vec![
                        attempt(TaskKind::Map, 0, 1, 6, map(10)),
                        attempt(TaskKind::Map, 1, 1, 10, map(10)),
                        attempt(TaskKind::Reduce, 0, 2, 10, Recorded::default()),
                    ],
                    ..Replay::default()
                },
            );
            let maps = succeeded(&records, TaskKind::Map);
            let start = at(maps.iter().find(|map| map.task == 1).expect("map 1").start);
            assert!((second..second + BESIDE).contains(&start), "{generation:?} {waits}: {start}");
        }
    }
}

/// A map fails after 7 s and is killed after 3 s the next time; the third attempt succeeds. None of the first two is
/// done before its end, none counts against the task, and nothing is started that the record has not.
#[test]
fn attempts_end_as_recorded() {
    for generation in GENERATIONS {
        let records = planned(
            generation,
            Replay {
                waits: true,
                attempts: vec![
                    attempt(TaskKind::Map, 0, 1, 6, ends(ReplayEnd::Failed, 7)),
                    attempt(TaskKind::Map, 0, 2, 15, ends(ReplayEnd::Killed, 3)),
                    attempt(TaskKind::Map, 0, 1, 20, map(2)),
                    attempt(TaskKind::Map, 1, 1, 30, map(2)),
                    attempt(TaskKind::Reduce, 0, 2, 33, Recorded::default()),
                ],
                ..Replay::default()
            },
        );
        assert_eq!(records.jobs[0].state, JobState::Succeeded, "{generation:?} {}", records.jobs[0].reason);
        let of_first: Vec<_> = records.attempts.iter().filter(|a| a.kind == TaskKind::Map && a.task == 0).collect();
        let states: Vec<_> = of_first.iter().map(|a| a.state).collect();
        assert_eq!(states, [AttemptState::Failed, AttemptState::Killed, AttemptState::Succeeded], "{generation:?}");
        let lengths: Vec<f64> = of_first.iter().map(|a| at(a.finish.saturating_sub(a.start))).collect();
        assert!((7.0..7.6).contains(&lengths[0]) && (3.0..3.6).contains(&lengths[1]), "{generation:?} {lengths:?}");
        assert_eq!(records.attempts.len(), 5);
    }
}

/// A job that failed fails when its last attempt has ended and its clean-up is over, with the recorded reason; a task
/// that never succeeded is not tried again.
#[test]
fn a_job_that_failed_fails() {
    for generation in GENERATIONS {
        let records = planned(
            generation,
            Replay {
                waits: true,
                end: ReplayEnd::Failed,
                reason: "map 1 failed once, as recorded".to_owned(),
                commit: seconds(3),
                attempts: vec![
                    attempt(TaskKind::Map, 0, 1, 6, map(2)),
                    attempt(TaskKind::Map, 1, 2, 6, ends(ReplayEnd::Failed, 20)),
                    attempt(TaskKind::Reduce, 0, 1, 10, ends(ReplayEnd::Killed, 18)),
                ],
                ..Replay::default()
            },
        );
        let job = &records.jobs[0];
        assert_eq!((job.state, job.reason.as_str()), (JobState::Failed, "map 1 failed once, as recorded"));
        let finish = at(job.finish.expect("an end"));
        // The reduce's 18 s from 10 s on, and 3 s.
        assert!((31.0..31.0 + BESIDE).contains(&finish), "{generation:?} {finish}");
        assert_eq!(records.attempts.len(), 3, "{generation:?}");
    }
}

/// A plan without attempts ends, too.
#[test]
fn a_job_that_never_ran_a_task_fails() {
    for generation in GENERATIONS {
        let plan = Replay { waits: true, end: ReplayEnd::Killed, commit: seconds(9), ..Replay::default() };
        let records = planned(generation, plan);
        let finish = at(records.jobs[0].finish.expect("an end"));
        assert!((14.0..14.0 + BESIDE).contains(&finish), "{generation:?} {finish}");
    }
}

/// The worker of a map crashes in its recorded time. The map starts again elsewhere with the whole of it.
#[test]
fn an_attempt_lost_with_its_node_takes_its_recorded_time_again() {
    let workload = Workload { costs: Costs::NONE, ..plain(0.0) };
    let mut cfg = config(Generation::Hadoop1, vec![with_workload(workload, 32 * MIB, 0)]);
    cfg.hdfs.replication = 2;
    cfg.mapreduce.hadoop1.expiry = seconds(30);
    let plan = Replay { waits: true, attempts: vec![attempt(TaskKind::Map, 0, 1, 6, map(20))], ..Replay::default() };
    cfg.mapreduce.replays = [(JobId(0), plan)].into();
    let mut world = World::new(cfg, Spec::new(2, 1), 1);
    world.kill(NodeId(1), seconds(15));
    let records = finish(&mut world);
    let [map] = succeeded(&records, TaskKind::Map)[..] else { panic!("it succeeds") };
    assert_eq!(map.node, NodeId(2));
    assert!((20.0..24.0).contains(&at(map.finish - map.start)), "{map:?}");
}

/// Two jobs with a plan each, the second submitted 20 s later. Both name one node for their map, which has one slot:
/// the second job's map, due at 23 s, waits for the first job's of 30 s, which starts at 6 s. Each commits as it did.
#[test]
fn each_job_follows_its_own_plan() {
    for generation in GENERATIONS {
        let workload = || Workload { costs: Costs::NONE, ..plain(0.0) };
        let later = JobSpec { submit: seconds(20), ..with_workload(workload(), 32 * MIB, 0) };
        let mut cfg = timeless(generation, vec![with_workload(workload(), 32 * MIB, 0), later]);
        // Room for one task beside two AppMasters; a plan does not count their containers.
        cfg.mapreduce.app_master.memory = Bytes::from_mib(1_024);
        cfg.mapreduce.app_master.map_memory = Bytes::from_mib(3_072);
        cfg.yarn.node_memory = Bytes::from_mib(4_096);
        let plan = |commit: u64, due: u64, took: u64| Replay {
            launch: Some(seconds(2)),
            waits: true,
            commit: seconds(commit),
            attempts: vec![attempt(TaskKind::Map, 0, 1, due, map(took))],
            ..Replay::default()
        };
        cfg.mapreduce.replays = [(JobId(0), plan(5, 6, 30)), (JobId(1), plan(9, 3, 10))].into();
        let records = finish(&mut World::new(cfg, Spec::new(2, 1), 1));
        let maps = succeeded(&records, TaskKind::Map);
        let of = |job: u32| maps.iter().find(|map| map.job == JobId(job)).expect("a map");
        let near = |value: Time, from: f64| (from..from + BESIDE).contains(&at(value));
        assert!(near(of(0).start, 6.0) && near(of(0).finish, 36.0), "{generation:?} {:?}", of(0).start);
        assert!(near(of(1).start, 36.0) && near(of(1).finish, 46.0), "{generation:?} {:?}", of(1).start);
        for (job, commit) in [(0, 5.0), (1, 9.0)] {
            let end = records.jobs[job as usize].finish.expect("an end");
            assert!((at(end - of(job).finish) - commit).abs() < 1e-9, "{generation:?} {job}");
        }
    }
}
