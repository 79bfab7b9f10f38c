//! Clusters of more than 65,536 nodes: no name of a node is cut to 16 bits.

use crate::jobs::{attempts, config, finish, plain, succeeded, with_workload};
use crate::support::{Spec, World, hdfs_only};
use hadoop::hdfs::HdfsConfig;
use hadoop::mapreduce::{Generation, JobInput, JobSpec, Replay, ReplayAttempt};
use hadoop::record::{AttemptState, TaskKind};
use hadoop::rpc::Process;
use hadoop::{Config, Event, JobId, NodeId, WriteNews, Writer};
use units::{Bytes, Time};

const WORKERS: u32 = 66_000;
/// In 16 bits it would be worker 4.
const FAR: NodeId = NodeId(65_540);
const NEAR: NodeId = NodeId(1);
const NEVER: Time = Time::from_secs(1_000_000);

/// The nodes that do something have hosts of their own; all others share one, so that the world is small.
fn spec() -> Spec {
    let mut spec = Spec::new(WORKERS, 1);
    for (number, node) in (0..).map(NodeId).zip(&mut spec.nodes) {
        node.host = match number {
            NodeId(0) => 0,
            NEAR => 1,
            FAR => 2,
            _ => 3,
        };
    }
    spec
}

/// DataNodes that say nothing unless something happens.
fn silent_datanodes() -> HdfsConfig {
    HdfsConfig { heartbeat_interval: NEVER, block_report_interval: NEVER, ..HdfsConfig::default() }
}

#[test]
fn a_block_written_on_a_far_node_is_reported() {
    let mut world = World::new(hdfs_only(silent_datanodes()), spec(), 1);
    let write = world.drive(|ctx, hdfs| {
        let write = hdfs.create(ctx, Process { node: FAR, id: 9 }, Bytes::from_mib(128), 1, Writer::Driver(1));
        hdfs.append(ctx, write, Bytes::from_mib(1));
        hdfs.close(ctx, write);
        write
    });
    let file = world.cluster.hdfs().file_of(write).expect("an open stream");
    world.run_to(Time::from_secs(10));
    let namespace = world.cluster.hdfs().namespace();
    let [block] = namespace.file(file).blocks[..] else { panic!("one block is written") };
    assert_eq!(namespace.block(block).replicas, [FAR]);
    assert!(namespace.file(file).complete);
    let closed = |(_, event): &(Time, Event)| matches!(event, Event::Write { news: WriteNews::Closed, .. });
    assert!(world.news.iter().any(closed));
}

/// A reduce fetches from a far node, which crashes meanwhile and comes back empty. The fetch fails after the shuffle's
/// 180 s, and the host is left alone for 13 s; the map has run again on the same node by then, and its output is
/// fetched.
#[test]
fn a_far_host_is_fetched_from_again_after_its_penalty() {
    let job =
        JobSpec { input: JobInput::Splits(vec![(Bytes::from_mib(256), vec![FAR])]), ..with_workload(plain(0.0), 0, 1) };
    let attempt = |kind, node, start| ReplayAttempt::starting(kind, 0, node, start);
    let recorded = vec![attempt(TaskKind::Map, FAR, Time::ZERO), attempt(TaskKind::Reduce, NEAR, Time::from_secs(1))];
    let mut config: Config = config(Generation::Hadoop1, vec![job]);
    config.hdfs = silent_datanodes();
    config.mapreduce.replays = [(JobId(0), Replay { attempts: recorded, ..Replay::default() })].into();
    config.mapreduce.hadoop1.out_of_band = true;
    config.mapreduce.task_timeout = Time::ZERO;
    let mut world = World::new(config, spec(), 1);
    // The map's HDFS input is local: what comes in at the near node in bulk is the fetch.
    let fetching = |world: &World| world.received(NEAR) > Bytes::from_mib(20);
    assert!(world.run_until(Time::from_secs(5_000), fetching), "the reduce does not fetch");
    let now = world.now;
    world.kill(FAR, now);
    world.revive(FAR, now + Time::from_secs(5));
    let records = finish(&mut world);
    let [lost] = attempts(&records, TaskKind::Map, AttemptState::Killed)[..] else { panic!("one output is lost") };
    let [map] = succeeded(&records, TaskKind::Map)[..] else { panic!("the map runs again") };
    let [reduce] = succeeded(&records, TaskKind::Reduce)[..] else { panic!("the reduce goes on") };
    assert_eq!((lost.node, map.node, reduce.attempt), (FAR, FAR, 0));
    let fetched = reduce.first_phase_end.expect("all is fetched");
    // 180 s of silence, 1.3 times 10 s of penalty.
    assert!(fetched > now + Time::from_secs(193), "{fetched:?} after {now:?}");
}
