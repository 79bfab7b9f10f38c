//! What NodeManagers' heartbeats are given.

use crate::jobs::{MIB, config, finish, plain, succeeded, with_workload};
use crate::support::{Spec, World};
use hadoop::mapreduce::Generation;
use hadoop::record::{Locality, Records, TaskKind};
use hadoop::yarn::Policy;
use hadoop::{Config, NodeId};
use units::{Bytes, Time};

/// A job of so many maps on workers that speak every 20 s, with room for so many containers of 1 GiB each.
fn slow_heartbeats(maps: u64, containers: u64) -> Config {
    let mut cfg = config(Generation::Yarn, vec![with_workload(plain(0.01), maps * 32 * MIB, 0)]);
    cfg.yarn.node_heartbeat = Time::from_secs(20);
    cfg.yarn.node_memory = Bytes::from_mib(1024) * containers;
    cfg.mapreduce.app_master.memory = Bytes::from_mib(1024);
    cfg
}

fn starts(records: &Records) -> Vec<(NodeId, Time)> {
    succeeded(records, TaskKind::Map).iter().map(|map| (map.node, map.start)).collect()
}

/// A ResourceManager of 3.5.0 without its scheduling thread gave each of four workers its four local maps at one
/// heartbeat. One at a heartbeat takes four of them.
#[test]
fn a_heartbeat_is_given_as_many_local_maps_as_it_may() {
    let soon = |most: u32| {
        let mut cfg = slow_heartbeats(15, 4);
        cfg.hdfs.replication = 4;
        cfg.yarn.containers_per_heartbeat = most;
        let records = finish(&mut World::new(cfg, Spec::new(4, 1), 1));
        let starts = starts(&records);
        let launch = records.jobs[0].launch.expect("a launch");
        starts.iter().filter(|(_, at)| *at < launch + Time::from_secs(25)).count()
    };
    assert_eq!(soon(100), 15);
    // A heartbeat of each worker in 20 s, and the second ones of some.
    assert!((4..=11).contains(&soon(1)), "{}", soon(1));
}

/// `FairScheduler.shouldContinueAssigning`: seven places beside the AppMaster are given as four, which are more than half,
/// two of the three that are left, and the last one.
#[test]
fn a_heartbeat_is_given_more_than_half_of_a_node() {
    let mut cfg = slow_heartbeats(12, 8);
    // Each map takes minutes: none ends meanwhile.
    cfg.mapreduce.jobs[0].workload = plain(10.0);
    cfg.scheduler.policy = Policy::Fair;
    cfg.yarn.half_per_heartbeat = true;
    let records = finish(&mut World::new(cfg, Spec::new(1, 1), 1));
    let mut starts: Vec<Time> = starts(&records).into_iter().map(|(_, start)| start).collect();
    starts.sort_unstable();
    let at_once = starts[..7].chunk_by(|a, b| b.saturating_sub(*a) < Time::from_secs(5)).map(<[Time]>::len);
    assert_eq!(at_once.collect::<Vec<_>>(), [4, 2, 1]);
}

/// `FairScheduler` has no locality thresholds by default: it takes the first node with room for any map, where the
/// capacity scheduler waits for the nodes of its block.
#[test]
fn the_fair_scheduler_lets_no_offer_pass() {
    let far = |policy: Policy| {
        let mut cfg = slow_heartbeats(24, 8);
        cfg.yarn.node_heartbeat = Time::from_secs(1);
        cfg.hdfs.replication = 1;
        cfg.scheduler.policy = policy;
        let records = finish(&mut World::new(cfg, Spec::new(12, 1), 1));
        let maps = succeeded(&records, TaskKind::Map);
        maps.iter().filter(|map| map.locality != Some(Locality::Node)).count()
    };
    let (fair, fifo) = (far(Policy::Fair), far(Policy::Fifo));
    assert!(fair >= fifo + 4, "{fair} and {fifo} of 24 maps");
}

/// A NodeManager tells at once what has ended, and waits for no heartbeat (`ContainerDoneTransition`): a node with one place
/// for maps has the next one a heartbeat or two of the AppMaster later, a second apart, where its own are 20 s apart.
#[test]
fn the_place_of_a_container_that_ends_is_given_at_once() {
    let records = finish(&mut World::new(slow_heartbeats(4, 2), Spec::new(1, 1), 1));
    let mut maps = succeeded(&records, TaskKind::Map);
    maps.sort_by_key(|map| map.start);
    assert_eq!(maps.len(), 4);
    for pair in maps.windows(2) {
        let empty = pair[1].start.saturating_sub(pair[0].finish);
        assert!(empty < Time::from_secs(4), "{empty} between two maps");
    }
}
