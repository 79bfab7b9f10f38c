//! What becomes of jobs when nodes crash, freeze or slow down.

use crate::jobs::{GENERATIONS, MIB, attempts, check, config, finish, job, job_time, plain, succeeded, with_workload};
use crate::support::{Spec, World};
use des::RandomStream;
use hadoop::mapreduce::Generation;
use hadoop::record::{AttemptState, JobState, TaskKind};
use hadoop::workload::Workload;
use hadoop::yarn::Policy;
use hadoop::{Config, NodeId};
use units::{BitRate, Bytes, Time};

/// As slow as not running at all.
const FROZEN: f64 = 1e-9;

fn seconds(s: f64) -> Time {
    Time::from_secs_f64(s)
}

/// Silence is noticed after `expiry`, in both generations.
fn expiring(mut cfg: Config, expiry: u64) -> Config {
    cfg.yarn.node_expiry = Time::from_secs(expiry);
    cfg.mapreduce.hadoop1.expiry = Time::from_secs(expiry);
    cfg
}

/// 16 maps of about 7 s, and reducers that come when all are done.
fn long_job(generation: Generation) -> Config {
    let mut cfg = config(generation, vec![with_workload(plain(0.2), 512 * MIB, 2)]);
    cfg.mapreduce.slow_start = 1.0;
    cfg
}

/// Runs until so many maps are done, and returns a node on which one of them was, other than the AppMaster's (which is
/// busy with nothing else).
fn until_maps_done(world: &mut World, count: usize) -> NodeId {
    let done = |world: &World| succeeded(&world.cluster.records(), TaskKind::Map).len() >= count;
    assert!(world.run_until(Time::from_secs(1_000), done));
    let records = world.cluster.records();
    succeeded(&records, TaskKind::Map)[0].node
}

#[test]
fn maps_whose_output_died_with_their_node_run_again() {
    for generation in GENERATIONS {
        let mut world = World::new(expiring(long_job(generation), 6), Spec::new(4, 1), 2);
        let node = until_maps_done(&mut world, 4);
        let before = world.cluster.records();
        let lost = succeeded(&before, TaskKind::Map).iter().filter(|map| map.node == node).count();
        assert!(lost > 0);
        world.kill(node, world.now);
        let records = finish(&mut world);
        assert_eq!(records.jobs[0].state, JobState::Succeeded, "{}", records.jobs[0].reason);
        let rerun = records.attempts.iter().filter(|a| a.kind == TaskKind::Map && a.state == AttemptState::Killed);
        let rerun =
            rerun.filter(|a| a.reason == "its node was lost with its output" || a.reason.contains("AppMaster")).count();
        assert!(rerun >= lost, "{generation:?}: {rerun} maps of {lost} again");
        let maps = succeeded(&records, TaskKind::Map);
        assert_eq!(maps.len(), 16);
        assert!(maps.iter().all(|map| map.node != node));
    }
}

#[test]
fn outputs_that_cannot_be_fetched_make_their_maps_run_again() {
    for generation in GENERATIONS {
        // The masters are slow to give the node up: the reducers notice first.
        let mut cfg = expiring(long_job(generation), 3_000);
        cfg.mapreduce.shuffle_timeout = Time::from_secs(5);
        cfg.mapreduce.task_timeout = Time::from_secs(2_000);
        cfg.mapreduce.jobs[0].reducers = 4;
        let mut world = World::new(cfg, Spec::new(6, 1), 5);
        assert!(
            world.run_until(Time::from_secs(1_000), |world| succeeded(&world.cluster.records(), TaskKind::Map).len()
                == 16)
        );
        let records = world.cluster.records();
        let maps = succeeded(&records, TaskKind::Map);
        // A node with outputs, without the AppMaster (which holds the first container).
        let master = records.jobs[0].master_start.map_or(NodeId(0), |_| master_node(&world));
        let node = maps.iter().map(|map| map.node).find(|&node| node != master).expect("another node");
        world.kill(node, world.now);
        let records = finish(&mut world);
        assert_eq!(records.jobs[0].state, JobState::Succeeded, "{}", records.jobs[0].reason);
        let failed = attempts(&records, TaskKind::Map, AttemptState::Failed);
        assert!(!failed.is_empty());
        assert!(failed.iter().all(|map| map.node == node && map.reason == "too many fetches of its output failed"));
        assert!(job_time(&records) < 1_000.0, "{generation:?}: {} s", job_time(&records));
    }
}

fn master_node(world: &World) -> NodeId {
    world.cluster.master_node(hadoop::JobId(0)).unwrap_or(NodeId(0))
}

#[test]
fn a_lost_app_master_is_replaced_and_keeps_the_maps_that_were_done() {
    let mut world = World::new(expiring(long_job(Generation::Yarn), 30), Spec::new(4, 1), 4);
    until_maps_done(&mut world, 8);
    let before = world.cluster.records();
    let node = master_node(&world);
    let kept: Vec<u32> =
        succeeded(&before, TaskKind::Map).iter().filter(|map| map.node != node).map(|map| map.task).collect();
    world.kill(node, world.now);
    let records = finish(&mut world);
    assert_eq!(records.jobs[0].state, JobState::Succeeded);
    for task in kept {
        let tries = records.attempts.iter().filter(|a| a.kind == TaskKind::Map && a.task == task).count();
        assert_eq!(tries, 1, "map {task} was done and its output stands");
    }
}

#[test]
fn a_job_whose_app_masters_are_all_lost_fails_with_the_reason() {
    let mut cfg = expiring(long_job(Generation::Yarn), 30);
    cfg.mapreduce.app_master.max_attempts = 1;
    let mut world = World::new(cfg, Spec::new(4, 1), 4);
    until_maps_done(&mut world, 1);
    world.kill(master_node(&world), world.now);
    let records = finish(&mut world);
    assert_eq!(records.jobs[0].state, JobState::Failed);
    assert_eq!(records.jobs[0].reason, "its AppMaster was lost 1 times");
}

/// A job that is over stays over when its AppMaster dies while it writes the history: nothing starts again, and the run
/// ends.
#[test]
fn an_app_master_lost_after_its_job_is_not_missed() {
    let mut cfg = expiring(long_job(Generation::Yarn), 30);
    cfg.mapreduce.job_conf = Bytes::from_mib(1);
    let mut world = World::new(cfg, Spec::new(4, 1), 4);
    assert!(world.run_until(Time::from_secs(1_000), |world| world.cluster.records().jobs[0].finish.is_some()));
    let attempts = world.cluster.records().attempts.len();
    world.kill(master_node(&world), world.now);
    let records = finish(&mut world);
    assert_eq!((records.jobs[0].state, records.attempts.len()), (JobState::Succeeded, attempts));
}

/// Freezes a worker when its first map has started, but not yet reported anything.
fn freeze_one(world: &mut World) -> NodeId {
    let started = |world: &World| {
        let records = world.cluster.records();
        records.attempts.iter().any(|a| a.start > Time::ZERO && a.node != master_node(world))
    };
    assert!(world.run_until(Time::from_secs(1_000), started));
    let records = world.cluster.records();
    let master = master_node(world);
    let node =
        records.attempts.iter().find(|a| a.start > Time::ZERO && a.node != master).expect("one has started").node;
    world.set_speed(node, FROZEN);
    node
}

#[test]
fn a_silent_task_is_failed_after_600_seconds() {
    for generation in GENERATIONS {
        let mut cfg = long_job(generation);
        cfg.hdfs.replication = 3;
        let mut world = World::new(cfg, Spec::new(4, 1), 6);
        let node = freeze_one(&mut world);
        let records = finish(&mut world);
        assert_eq!(records.jobs[0].state, JobState::Succeeded, "{}", records.jobs[0].reason);
        let failed = attempts(&records, TaskKind::Map, AttemptState::Failed);
        let silent: Vec<_> =
            failed.iter().filter(|map| map.reason == "no progress for as long as the task timeout").collect();
        assert!(!silent.is_empty());
        for map in silent {
            assert_eq!(map.node, node);
            let (lasted, limit) = (map.finish - map.start, Time::from_secs(600));
            match generation {
                Generation::Yarn => assert_eq!(lasted, limit),
                // The TaskTracker fails it, and its next heartbeat says so.
                Generation::Hadoop1 => assert!(lasted >= limit && lasted <= limit + Time::from_secs(3), "{lasted}"),
            }
        }
    }
}

#[test]
fn a_task_that_fails_too_often_fails_its_job_with_the_reason() {
    for generation in GENERATIONS {
        let mut cfg = config(generation, vec![with_workload(plain(0.2), 32 * MIB, 2)]);
        cfg.mapreduce.max_attempts = 1;
        let mut world = World::new(cfg, Spec::new(4, 1), 6);
        freeze_one(&mut world);
        let records = finish(&mut world);
        assert_eq!(records.jobs[0].state, JobState::Failed);
        let reason = &records.jobs[0].reason;
        assert!(
            reason.ends_with("failed 1 times, the last because: no progress for as long as the task timeout"),
            "{reason}"
        );
    }
}

/// In Hadoop 1 a frozen node goes on taking tasks, as its TaskTracker's heartbeats go on: until three have failed
/// there.
#[test]
fn a_node_that_fails_three_attempts_is_avoided() {
    let starts_after_failures = |node_failures: u32| {
        let workload = Workload { map_ratio: 0.0, ..plain(0.5) };
        let mut cfg = config(Generation::Hadoop1, vec![with_workload(workload, 2_048 * MIB, 0)]);
        cfg.mapreduce.node_failures = node_failures;
        cfg.mapreduce.max_attempts = 20;
        cfg.mapreduce.task_timeout = Time::from_secs(40);
        let mut world = World::new(cfg, Spec::new(4, 1), 6);
        let node = freeze_one(&mut world);
        let records = finish(&mut world);
        let mut failures: Vec<Time> = attempts(&records, TaskKind::Map, AttemptState::Failed)
            .iter()
            .filter(|a| a.node == node)
            .map(|a| a.finish)
            .collect();
        failures.sort_unstable();
        let third = failures[2];
        records.attempts.iter().filter(|a| a.node == node && a.allocated > third).count()
    };
    assert_eq!(starts_after_failures(3), 0);
    assert!(starts_after_failures(1_000) > 0);
}

#[test]
fn a_second_attempt_saves_a_job_with_a_slow_node() {
    for generation in GENERATIONS {
        let time = |speculative: bool| {
            let workload = Workload { map_ratio: 0.0, ..plain(0.2) };
            let mut cfg = config(generation, vec![with_workload(workload, 512 * MIB, 0)]);
            cfg.mapreduce.speculative_maps = speculative;
            cfg.hdfs.replication = 4;
            let mut world = World::new(cfg, Spec::new(4, 1), 6);
            let started =
                |world: &World| world.cluster.records().attempts.iter().filter(|a| a.start > Time::ZERO).count() >= 4;
            assert!(world.run_until(Time::from_secs(1_000), started));
            let master = master_node(&world);
            let node =
                world.cluster.records().attempts.iter().map(|a| a.node).find(|&node| node != master).expect("a node");
            world.set_speed(node, 0.02);
            let records = finish(&mut world);
            let copies = succeeded(&records, TaskKind::Map).iter().filter(|map| map.speculative).count();
            assert_eq!(copies > 0, speculative, "{generation:?}");
            if speculative {
                let losers = attempts(&records, TaskKind::Map, AttemptState::Killed);
                assert!(losers.iter().any(|map| map.node == node && map.reason == "another attempt was first"));
            }
            job_time(&records)
        };
        let (with, without) = (time(true), time(false));
        assert!(with < 0.6 * without, "{generation:?}: {with} s against {without} s");
    }
}

/// All reducers are running when maps must run again and no container is free: reducers give way.
#[test]
fn reducers_give_way_to_maps_that_must_run_again() {
    let mut cfg = expiring(config(Generation::Yarn, vec![with_workload(plain(0.2), 256 * MIB, 7)]), 20);
    cfg.yarn.node_memory = Bytes::from_mib(2_048);
    cfg.mapreduce.app_master.memory = Bytes::from_mib(1_024);
    cfg.mapreduce.shuffle_timeout = Time::from_secs(10);
    // Slow enough that all of them still fetch when the node dies.
    let mut world = World::new(cfg, Spec { rate: BitRate::from_mbps(20), ..Spec::new(4, 1) }, 3);
    let all_reduce = |world: &World| {
        let records = world.cluster.records();
        records.attempts.iter().filter(|a| a.kind == TaskKind::Reduce && a.start > Time::ZERO).count() == 7
    };
    assert!(world.run_until(Time::from_secs(1_000), all_reduce));
    let records = world.cluster.records();
    let master = master_node(&world);
    let node =
        succeeded(&records, TaskKind::Map).iter().map(|map| map.node).find(|&node| node != master).expect("a node");
    world.kill(node, world.now);
    let records = finish(&mut world);
    assert_eq!(records.jobs[0].state, JobState::Succeeded, "{}", records.jobs[0].reason);
    assert!(records.attempts.iter().any(|a| a.kind == TaskKind::Reduce && a.reason == "preempted for a map"));
}

/// Any jobs with any settings, under any crashes: they end, and every ledger closes.
#[test]
fn jobs_end_and_ledgers_close_under_random_crashes() {
    let names =
        ["terasort", "wordcount", "grep", "teragen", "dfsio-write", "wordcount-nocombine", "dfsio-read", "sort"];
    for generation in GENERATIONS {
        for seed in 0..40 {
            let mut random = RandomStream::new(seed, "test", 0);
            let count = 1 + random.below(3);
            let jobs = (0..count).map(|_| {
                let name = names[random.below(8) as usize];
                let reducers = if name == "teragen" { 0 } else { 1 + random.below(5) as u32 };
                let mut spec = job(name, (20 + random.below(400)) * MIB, reducers);
                spec.submit = Time::from_secs(random.below(20));
                spec
            });
            let jobs = jobs.collect();
            let mut cfg = expiring(config(generation, jobs), 60);
            cfg.yarn.node_memory = Bytes::from_mib(3_072);
            let settings = &mut cfg.mapreduce;
            settings.speculative_maps = random.chance(0.5);
            settings.speculative_reduces = random.chance(0.5);
            cfg.scheduler.policy = if random.chance(0.5) { Policy::Fair } else { Policy::Fifo };
            settings.sort_buffer = Bytes::from_mib(4 + random.below(40));
            settings.sort_factor = 2 + random.below(9) as u32;
            settings.reduce_heap = Bytes::from_mib(4 + random.below(200));
            settings.shuffle_keep_alive = random.chance(0.5);
            settings.parallel_copies = 1 + random.below(5) as u32;
            settings.shuffle_threads = 1 + random.below(4) as u32;
            settings.task_timeout = Time::from_secs(60);
            settings.shuffle_timeout = Time::from_secs(30);
            let mut world = World::new(cfg, Spec::new(6, 1 + random.below(3) as u32), seed);
            for _ in 0..random.below(3) {
                let node = NodeId(1 + random.below(6) as u32);
                let at = seconds(random.range(0.5, 40.0));
                world.kill(node, at);
                if random.chance(0.7) {
                    world.revive(node, at + seconds(random.range(1.0, 100.0)));
                }
            }
            assert!(world.run_to_finish(Time::from_secs(5_000)), "{generation:?} {seed} does not end");
            let records = world.cluster.records();
            check(&records);
            assert!(records.jobs.iter().all(|job| job.finish.is_some()), "{generation:?} {seed}");
        }
    }
}

/// Two map outputs of 34 MB begin to arrive in a memory of 40 MB when the nodes of both crash. What they were to take
/// is free again, or the reducer would wait for room for ever.
#[test]
fn memory_for_what_never_arrived_is_free_again() {
    let mut went_on = 0;
    for seed in 1..=12 {
        let mut cfg = expiring(config(Generation::Yarn, vec![with_workload(plain(0.001), 64 * MIB, 1)]), 6);
        cfg.mapreduce.slow_start = 1.0;
        cfg.mapreduce.shuffle_memory_limit_percent = 1.0;
        cfg.mapreduce.reduce_heap = Bytes::new(57_142_857);
        let spec = Spec { rate: BitRate::from_mbps(100), ..Spec::new(8, 1) };
        let mut world = World::new(cfg, spec, seed);
        let reducing = |world: &World| world.cluster.records().attempts.iter().any(|a| a.kind == TaskKind::Reduce);
        assert!(world.run_until(Time::from_secs(100), reducing));
        // It starts within 2 s, and each output takes 3 to 6 s.
        world.run_to(world.now + seconds(3.5));
        let records = world.cluster.records();
        let reducer = records.attempts.iter().find(|a| a.kind == TaskKind::Reduce).expect("it runs").node;
        let maps: Vec<NodeId> = succeeded(&records, TaskKind::Map).iter().map(|map| map.node).collect();
        // Maps and reducer must be on three nodes.
        if maps[0] == maps[1] || maps.contains(&reducer) {
            continue;
        }
        for node in maps {
            world.kill(node, world.now);
        }
        let records = finish(&mut world);
        assert_eq!(records.jobs[0].state, JobState::Succeeded, "{}", records.jobs[0].reason);
        // The same attempt went on, unless the AppMaster was on one of the nodes.
        went_on += u32::from(records.attempts.iter().filter(|a| a.kind == TaskKind::Reduce).count() == 1);
    }
    assert!(went_on > 0, "no seed of twelve places maps, reducer and AppMaster apart");
}
