//! Which task runs where and when: sharing between jobs, locality, heartbeats, capacity.

use crate::jobs::{GENERATIONS, MIB, config, finish, plain, run, succeeded, with_workload};
use crate::support::{Spec, World};
use hadoop::mapreduce::{Generation, JobInput, JobSpec};
use hadoop::record::{AttemptRecord, Locality, Phase, Records, TaskKind};
use hadoop::workload::Workload;
use hadoop::yarn::{Policy, SpareConfig};
use hadoop::{Config, NodeId};
use units::{Bytes, Time};

/// Maps alone, of `seconds` each.
fn maps(count: u64, seconds: f64, submit: u64) -> JobSpec {
    let workload = Workload { map_ratio: 0.0, ..plain(seconds / 32.0) };
    JobSpec { submit: Time::from_secs(submit), ..with_workload(workload, count * 32 * MIB, 0) }
}

/// Four maps at once on every worker.
fn four_each(generation: Generation, jobs: Vec<JobSpec>) -> Config {
    let mut cfg = config(generation, jobs);
    cfg.mapreduce.hadoop1.map_slots = 4;
    cfg.mapreduce.hadoop1.tasks_per_heartbeat = 4;
    cfg.yarn.node_memory = Bytes::from_mib(4_096);
    cfg.mapreduce.app_master.memory = Bytes::from_mib(1_024);
    cfg
}

fn job_seconds(records: &Records, job: usize) -> f64 {
    let job = &records.jobs[job];
    (job.finish.expect("it ended") - job.submit).as_secs_f64()
}

#[test]
fn a_small_job_overtakes_a_large_one_under_fair_sharing_only() {
    for generation in GENERATIONS {
        let small = |policy: Policy| {
            let mut cfg = four_each(generation, vec![maps(96, 8.0, 0), maps(4, 8.0, 15)]);
            cfg.scheduler.policy = policy;
            cfg.mapreduce.hadoop1.locality_delay = Time::ZERO;
            job_seconds(&run(cfg, 4), 1)
        };
        let (fifo, fair) = (small(Policy::Fifo), small(Policy::Fair));
        assert!(fair < 0.7 * fifo, "{generation:?}: {fair} s under fair sharing, {fifo} s first come first served");
    }
}

#[test]
fn fair_shares_follow_weights() {
    let mut heavy = maps(200, 4.0, 0);
    heavy.weight = 3.0;
    let mut cfg = four_each(Generation::Hadoop1, vec![heavy, maps(200, 4.0, 0)]);
    cfg.scheduler.policy = Policy::Fair;
    cfg.mapreduce.hadoop1.locality_delay = Time::ZERO;
    let mut world = World::new(cfg, Spec::new(4, 1), 1);
    world.run_to(Time::from_secs(60));
    let records = world.cluster.records();
    let running = |job: u32| {
        records.attempts.iter().filter(|a| a.job.0 == job && a.start > Time::ZERO && a.finish == Time::ZERO).count()
    };
    assert_eq!(running(0) + running(1), 16);
    assert_eq!((running(0), running(1)), (12, 4));
}

/// The share of maps on a node with their input, for several small jobs with one replica of each block.
fn local_share(mut cfg: Config) -> f64 {
    cfg.hdfs.replication = 1;
    let mut world = World::new(cfg, Spec::new(10, 2), 4);
    let records = finish(&mut world);
    let maps = succeeded(&records, TaskKind::Map);
    maps.iter().filter(|map| map.locality == Some(Locality::Node)).count() as f64 / maps.len() as f64
}

/// Zaharia and others (EuroSys 2010): small jobs find few local slots unless they wait a little.
#[test]
fn waiting_a_little_makes_small_jobs_local() {
    let share = |delay: f64| {
        let jobs = (0..12).map(|number| maps(4, 4.0, number * 3)).collect();
        let mut cfg = config(Generation::Hadoop1, jobs);
        cfg.scheduler.policy = Policy::Fair;
        cfg.mapreduce.hadoop1.locality_delay = Time::from_secs_f64(delay);
        local_share(cfg)
    };
    let (none, some) = (share(0.0), share(10.0));
    assert!(some > none + 0.25 && some > 0.8, "{some} with, {none} without delay");
}

#[test]
fn passing_offers_by_makes_small_jobs_local_in_yarn() {
    let share = |delay: u32| {
        let jobs = (0..12).map(|number| maps(4, 4.0, number * 3)).collect();
        let mut cfg = four_each(Generation::Yarn, jobs);
        cfg.yarn.locality_delay = delay;
        local_share(cfg)
    };
    let (none, some) = (share(0), share(40));
    assert!(some > none + 0.1, "{some} with, {none} without delay");
}

/// A map whose only replica is in the other rack reads from there.
#[test]
fn a_map_reads_from_where_its_input_is() {
    for generation in GENERATIONS {
        let mut spec = maps(1, 1.0, 0);
        spec.input = JobInput::Splits(vec![(Bytes::from_mib(32), vec![NodeId(1)])]);
        let mut cfg = four_each(generation, vec![spec]);
        cfg.yarn.locality_delay = 0;
        let mut world = World::new(cfg, Spec::new(4, 2), 1);
        let records = finish(&mut world);
        let map = succeeded(&records, TaskKind::Map)[0];
        let (node, rack, remote) = (map.bytes.read_node, map.bytes.read_rack, map.bytes.read_remote);
        assert_eq!(node + rack + remote, Bytes::from_mib(32));
        let expected = match map.node.0 {
            1 => (Locality::Node, node),
            3 => (Locality::Rack, rack),
            _ => (Locality::Remote, remote),
        };
        assert_eq!((map.locality, Bytes::from_mib(32)), (Some(expected.0), expected.1), "{generation:?}");
    }
}

/// The most attempts that hold a slot on one node at once.
fn most_at_once(records: &Records, kind: TaskKind) -> usize {
    let of_kind = || records.attempts.iter().filter(|a| a.kind == kind);
    let at =
        |node: NodeId, time: Time| of_kind().filter(|a| a.node == node && a.start <= time && time < a.finish).count();
    of_kind().map(|a| at(a.node, a.start)).max().unwrap_or(0)
}

#[test]
fn no_node_runs_more_than_its_capacity() {
    let mut cfg = config(Generation::Hadoop1, vec![with_workload(plain(0.4), 1_024 * MIB, 12)]);
    cfg.mapreduce.hadoop1.map_slots = 3;
    cfg.mapreduce.hadoop1.reduce_slots = 1;
    let records = run(cfg, 4);
    assert_eq!(most_at_once(&records, TaskKind::Map), 3);
    assert_eq!(most_at_once(&records, TaskKind::Reduce), 1);

    // 3 GB hold three maps of 1 GB by memory, and two by cores.
    for (vcores, most) in [(8, 3), (2, 2)] {
        let mut cfg = config(Generation::Yarn, vec![maps(32, 3.0, 0)]);
        cfg.yarn.node_memory = Bytes::from_mib(3_072);
        cfg.yarn.node_vcores = vcores;
        assert_eq!(most_at_once(&run(cfg, 4), TaskKind::Map), most);
    }
}

/// One map per heartbeat of 3 s: the second of a node's two slots is filled a heartbeat after the first.
#[test]
fn hadoop1_hands_out_one_map_per_heartbeat() {
    let mut cfg = config(Generation::Hadoop1, vec![maps(8, 60.0, 5)]);
    cfg.hdfs.replication = 4;
    let interval = cfg.mapreduce.hadoop1.heartbeat_for(4).as_secs_f64();
    let records = run(cfg, 4);
    for node in 1..=4 {
        let starts: Vec<Time> = records.attempts.iter().filter(|a| a.node == NodeId(node)).map(|a| a.start).collect();
        assert_eq!(starts.len(), 2);
        assert!(((starts[1] - starts[0]).as_secs_f64() - interval).abs() < 0.01, "{starts:?}");
    }
}

/// From launch to the first start: the AppMaster asks at its first heartbeat with tasks and is answered at the next.
#[test]
fn yarn_starts_its_first_tasks_two_heartbeats_after_launch() {
    let records = run(config(Generation::Yarn, vec![maps(4, 10.0, 0)]), 4);
    let launch = records.jobs[0].launch.expect("it was launched");
    for map in succeeded(&records, TaskKind::Map) {
        let waited = (map.start - launch).as_secs_f64();
        assert!(waited > 2.0 && waited < 2.1, "{waited} s");
    }
}

/// Attempts at tasks on each of the workers, by when they were given their slot or container.
fn placed(records: &Records, workers: u32, from: u64, to: u64) -> Vec<usize> {
    let within = |at: Time| at >= Time::from_secs(from) && at < Time::from_secs(to);
    let on = |node: u32| {
        records.attempts.iter().filter(|attempt| attempt.node == NodeId(node) && within(attempt.allocated)).count()
    };
    (1..=workers).map(on).collect()
}

/// A worker with little charge is left alone while others have more than the reserve, though the job takes longer;
/// without the option it is not.
#[test]
fn a_worker_with_little_charge_is_spared() {
    for generation in GENERATIONS {
        let run = |spare: Option<SpareConfig>| {
            let mut cfg = four_each(generation, vec![maps(60, 8.0, 0)]);
            cfg.scheduler.spare = spare;
            cfg.mapreduce.hadoop1.locality_delay = Time::ZERO;
            cfg.yarn.locality_delay = 0;
            let mut world = World::new(cfg, Spec::new(4, 1), 1);
            for (node, level) in [(1, 150), (2, 800), (3, 900)] {
                // The fourth is plugged in.
                world.charge(NodeId(node), level, Time::ZERO);
            }
            finish(&mut world)
        };
        let patience = Time::from_secs(60);
        let (usual, spared) = (run(None), run(Some(SpareConfig { reserve: 200, patience })));
        let (before, after) = (placed(&usual, 4, 0, 10_000), placed(&spared, 4, 0, 10_000));
        assert!(before[0] >= 10, "{generation:?}: {before:?}");
        assert_eq!((after[0], after[1..].iter().sum::<usize>()), (0, 60), "{generation:?}: {after:?}");
        assert!(job_seconds(&spared, 0) > job_seconds(&usual, 0), "{generation:?}");
    }
}

/// When all have less than the reserve, the one with the most goes first; the others get what it has no room for.
#[test]
fn of_workers_with_little_charge_the_one_with_most_goes_first() {
    for generation in GENERATIONS {
        let mut cfg = four_each(generation, vec![maps(4, 8.0, 0), maps(20, 8.0, 100)]);
        cfg.scheduler.spare = Some(SpareConfig { reserve: 500, patience: Time::from_secs(60) });
        cfg.mapreduce.hadoop1.locality_delay = Time::ZERO;
        cfg.yarn.locality_delay = 0;
        cfg.yarn.node_memory = Bytes::from_mib(5_120);
        let mut world = World::new(cfg, Spec::new(3, 1), 1);
        for (node, level) in [(1, 100), (2, 300), (3, 200)] {
            world.charge(NodeId(node), level, Time::ZERO);
        }
        let records = finish(&mut world);
        assert_eq!(placed(&records, 3, 0, 90), [0, 4, 0], "{generation:?}");
        let second = placed(&records, 3, 90, 10_000);
        assert!(
            second.iter().all(|tasks| *tasks >= 4) && second[1] >= second[2] && second[2] >= second[0],
            "{generation:?}: {second:?}"
        );
    }
}

/// Nothing hangs on those with more charge: a job that has got nothing for long enough takes the others, be they lost,
/// or full for good.
#[test]
fn a_job_does_not_wait_for_ever_for_workers_with_charge() {
    for generation in GENERATIONS {
        let mut cfg = four_each(generation, vec![maps(8, 8.0, 20)]);
        cfg.scheduler.spare = Some(SpareConfig { reserve: 500, patience: Time::from_secs(40) });
        cfg.hdfs.replication = 3;
        let mut world = World::new(cfg, Spec::new(3, 1), 1);
        world.charge(NodeId(1), 100, Time::ZERO);
        world.charge(NodeId(2), 100, Time::ZERO);
        // The one with charge dies before the job comes and is missed after ten minutes; the job is done before.
        world.kill(NodeId(3), Time::from_secs(10));
        let records = finish(&mut world);
        assert!((40.0..300.0).contains(&job_seconds(&records, 0)), "{generation:?}: {} s", job_seconds(&records, 0));
        assert_eq!(placed(&records, 3, 60, 10_000).iter().take(2).sum::<usize>(), 8, "{generation:?}");
    }
}

/// How long each map of a job waited for its JVM and its set-up, in the order of the tasks.
fn starts(records: &Records, job: u32) -> Vec<f64> {
    let start = |map: &&AttemptRecord| {
        let start = map.intervals.iter().find(|interval| interval.phase == Phase::Start).expect("it has started");
        (start.finish - start.start).as_secs_f64()
    };
    let mut maps = succeeded(records, TaskKind::Map);
    maps.retain(|map| map.job.0 == job);
    maps.sort_by_key(|map| map.task);
    maps.iter().map(start).collect()
}

/// A new JVM takes 0.2 s of latency, 1.2 s of CPU and 0.12 s of the task's set-up. One that has run a task of the job
/// asks for its next half a second after it, when the TaskTracker's heartbeat has long brought one (`Child.main`): from
/// the end of a map to that of the next one's set-up pass 0.5 s and 0.12 s.
#[test]
fn jvms_run_as_many_tasks_as_their_job_allows() {
    const NEW: f64 = 0.2 + 1.2 + 0.12;
    // Which of eight maps one after the other need a JVM of their own.
    for (tasks, new) in [
        (1, [true; 8]),
        (2, [true, false, true, false, true, false, true, false]),
        (3, [true, false, false, true, false, false, true, false]),
        (0, [true, false, false, false, false, false, false, false]),
    ] {
        let mut cfg = config(Generation::Hadoop1, vec![maps(8, 2.0, 0)]);
        cfg.mapreduce.hadoop1.map_slots = 1;
        cfg.mapreduce.hadoop1.tasks_per_jvm = tasks;
        let records = run(cfg, 1);
        let starts = starts(&records, 0);
        assert_eq!(starts.len(), 8);
        for (start, new) in starts.iter().zip(new) {
            // The heartbeat comes within 0.3 s of the answer to the last one.
            let reused = (0.12..0.12 + 0.5).contains(start);
            assert!(if new { (start - NEW).abs() < 0.01 } else { reused }, "{tasks} tasks a JVM: {starts:?}");
        }
        let mut maps = succeeded(&records, TaskKind::Map);
        maps.sort_by_key(|map| map.task);
        for (pair, new) in maps.windows(2).zip(&new[1..]) {
            let ended = pair[0].intervals.last().expect("it ran").finish;
            let began = pair[1].intervals.iter().find(|interval| interval.phase == Phase::Start).expect("it started");
            let between = (began.finish - ended).as_secs_f64();
            assert!(*new || (between - 0.62).abs() < 0.001, "{tasks} tasks a JVM: {between} s between two maps");
        }
    }
}

/// JVMs are not shared between jobs, and one that a task has failed in is not kept.
#[test]
fn a_jvm_runs_tasks_of_one_job() {
    let mut cfg = config(Generation::Hadoop1, vec![maps(2, 2.0, 0), maps(2, 2.0, 0)]);
    cfg.mapreduce.hadoop1.map_slots = 1;
    cfg.mapreduce.hadoop1.tasks_per_jvm = 0;
    let records = run(cfg, 1);
    for job in 0..2 {
        let starts = starts(&records, job);
        assert!(starts[0] > 1.5 && starts[1] < 0.63, "{starts:?}");
    }
}
