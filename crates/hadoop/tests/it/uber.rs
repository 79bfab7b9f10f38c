//! Uber jobs: tasks in their AppMaster's JVM, against arithmetic done by hand.

use crate::jobs::{MIB, attempts, config, finish, job, plain, succeeded, with_workload};
use crate::support::{Spec, World};
use hadoop::mapreduce::{Generation, JobSpec, UberConfig};
use hadoop::record::{AttemptRecord, AttemptState, JobState, Records, TaskKind};
use hadoop::workload::Workload;
use hadoop::{Config, NodeId};
use units::{Bytes, Time};

/// Three maps of 8 MiB and a reducer, all of which fit into the AppMaster.
fn small(reducers: u32) -> Config {
    let workload = Workload { reduce_ratio: 0.0, ..plain(0.05) };
    let mut config =
        config(Generation::Yarn, vec![JobSpec { uber: true, ..with_workload(workload, 24 * MIB, reducers) }]);
    config.hdfs.block_size = Bytes::from_mib(8);
    config.mapreduce.uber.max_bytes = Some(Bytes::from_mib(24));
    config
}

fn run(config: Config) -> Records {
    finish(&mut World::new(config, Spec::new(4, 1), 1))
}

fn seconds(attempt: &AttemptRecord) -> f64 {
    (attempt.finish - attempt.start).as_secs_f64()
}

/// Tasks run one after the other on one node without the 0.2 + 1.2 s of a JVM's start: a map takes 0.24 s to set up, 8
/// x 0.05 s behind its first read, and a spill of 8.5 MB at 1 GB/s; from one to the next no time passes.
#[test]
fn tasks_follow_each_other_in_the_app_master() {
    let records = run(small(1));
    let job = &records.jobs[0];
    assert!(job.uber && job.state == JobState::Succeeded, "{}", job.reason);
    let (maps, reduce) = (succeeded(&records, TaskKind::Map), succeeded(&records, TaskKind::Reduce)[0]);
    assert_eq!((maps.len(), records.attempts.len()), (3, 4));
    let order: Vec<&AttemptRecord> = maps.iter().copied().chain([reduce]).collect();
    assert!(order.windows(2).all(|pair| pair[0].finish == pair[1].start && pair[0].node == pair[1].node));
    assert_eq!(Some(order[0].start), job.launch);
    for map in maps {
        // Half of the spill is written while the other is processed.
        let least = 0.24 + 8.0 * 0.05 + 0.008_5;
        assert!((least..least + 0.015).contains(&seconds(map)), "{}", seconds(map));
    }
    // The reducer reads 25.7 MB from its own disk and fetches nothing: nothing crosses the network for it.
    assert_eq!(reduce.bytes.fetched_network, Bytes::ZERO);
    let output = 3 * (8 * MIB + (8 * MIB / 100) * 2 + 6);
    assert!(reduce.bytes.fetched_node.get().abs_diff(output) < 10, "{:?}", reduce.bytes);
    assert_eq!(reduce.bytes.fetched_node, records.jobs[0].ledger.served);
    // 0.24 s, and reading, writing and reading of 25.7 MB at 1 GB/s each.
    assert!((0.24 + 0.051..0.24 + 0.085).contains(&seconds(reduce)), "{}", seconds(reduce));
    let finish = job.finish.expect("it has ended");
    assert_eq!(finish, reduce.finish);
}

/// The same job in containers is slower by its tasks' JVMs and the AppMaster's heartbeats.
#[test]
fn a_small_job_gains_its_start_ups() {
    let mut containers = small(1);
    containers.mapreduce.jobs[0].uber = false;
    let [uber, containers] = [small(1), containers].map(|config| {
        let job = run(config).jobs[0].clone();
        (job.finish.expect("ended") - job.launch.expect("launched")).as_secs_f64()
    });
    // Two waves of 1.4 s, and at least three heartbeats of a second.
    assert!(containers - uber > 2.0, "{containers} s, {uber} s as an uber job");
}

/// What `makeUberDecision` compares.
#[test]
fn a_job_that_is_not_small_gets_containers() {
    let uber = |change: &dyn Fn(&mut Config)| {
        let mut config = small(1);
        change(&mut config);
        run(config).jobs[0].uber
    };
    assert!(uber(&|_| {}));
    assert!(!uber(&|config| config.mapreduce.jobs[0].uber = false));
    assert!(!uber(&|config| config.mapreduce.uber.max_maps = 2));
    assert!(uber(&|config| config.mapreduce.uber.max_maps = 3));
    assert!(!uber(&|config| config.mapreduce.uber.max_reduces = 0));
    assert!(!uber(&|config| config.mapreduce.uber.max_bytes = Some(Bytes::new(24 * MIB - 1))));
    // A block by default.
    assert!(!uber(&|config| config.mapreduce.uber = UberConfig::default()));
    assert!(!uber(&|config| config.mapreduce.app_master.reduce_memory = Bytes::from_mib(1_537)));
    assert!(!uber(&|config| config.mapreduce.app_master.map_memory = Bytes::from_mib(1_537)));
    assert!(!uber(&|config| config.mapreduce.app_master.task_vcores = 2));
    // Reducers that a job does not have do not matter.
    assert!(uber(&|config| {
        config.mapreduce.jobs[0].reducers = 0;
        config.mapreduce.app_master.reduce_memory = Bytes::from_mib(1_537);
    }));
    // The splits of data to be made have no length.
    let mut made = config(Generation::Yarn, vec![JobSpec { uber: true, ..job("teragen", 256 * MIB, 0) }]);
    made.mapreduce.uber.max_bytes = Some(Bytes::ZERO);
    assert!(run(made).jobs[0].uber);
    // Hadoop 1 has no AppMaster.
    let mut old = small(1);
    old.mapreduce.generation = Generation::Hadoop1;
    let job = run(old).jobs[0].clone();
    assert!(!job.uber && job.state == JobState::Succeeded);
}

/// An AppMaster that is lost takes maps that were done with it: the next one runs them again.
#[test]
fn a_lost_app_master_begins_anew() {
    let mut config = small(1);
    config.yarn.node_expiry = Time::from_secs(10);
    let mut world = World::new(config, Spec::new(4, 1), 1);
    let two_done = |world: &World| succeeded(&world.cluster.records(), TaskKind::Map).len() == 2;
    assert!(world.run_until(Time::from_secs(100), two_done));
    let node: NodeId = world.cluster.records().attempts[0].node;
    world.kill(node, world.now);
    let records = finish(&mut world);
    let job = &records.jobs[0];
    assert!(job.uber && job.state == JobState::Succeeded, "{}", job.reason);
    let maps = succeeded(&records, TaskKind::Map);
    assert_eq!((maps.len(), attempts(&records, TaskKind::Map, AttemptState::Killed).len()), (3, 3));
    assert!(maps.iter().all(|map| map.node != node && map.attempt == 1));
    assert_eq!(succeeded(&records, TaskKind::Reduce).len(), 1);
}

/// A task of an uber job has one attempt.
#[test]
fn a_failed_attempt_fails_the_job() {
    let mut config = small(1);
    config.hdfs.replication = 1;
    config.yarn.node_expiry = Time::from_secs(100_000);
    let mut world = World::new(config, Spec::new(4, 1), 1);
    assert!(world.run_until(Time::from_secs(100), |world| !world.cluster.records().attempts.is_empty()));
    let node = world.cluster.records().attempts[0].node;
    for worker in (1..=4).map(NodeId).filter(|worker| *worker != node) {
        world.kill(worker, world.now);
    }
    let records = finish(&mut world);
    assert_eq!(records.jobs[0].state, JobState::Failed);
    assert!(records.jobs[0].reason.contains("failed 1 times"), "{}", records.jobs[0].reason);
}
