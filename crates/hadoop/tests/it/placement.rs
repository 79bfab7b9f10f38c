//! Replica placement against the rule that HDFS documents.

use des::RandomStream;
use hadoop::hdfs::placement::choose;
use hadoop::{Disks, NodeId, NodeInfo, Nodes};
use proptest::prelude::*;

/// A master and `workers` workers, round robin in `racks` racks.
fn cluster(workers: u32, racks: u32) -> Nodes {
    let info = |n: u32| NodeInfo { rack: n.saturating_sub(1) % racks, host: n, disks: Disks::alike(1) };
    Nodes::new((0..=workers).map(info).collect())
}

#[test]
fn three_replicas_are_on_the_writer_and_on_two_nodes_of_one_other_rack() {
    let nodes = cluster(20, 4);
    let mut random = RandomStream::new(1, "test", 0);
    for _ in 0..1_000 {
        let writer = NodeId(7);
        let targets = choose(&nodes, Some(writer), 3, &[], |_| true, &mut random);
        let racks: Vec<_> = targets.iter().map(|node| nodes.rack(*node)).collect();
        assert_eq!(targets[0], writer);
        assert_ne!(racks[1], racks[0]);
        assert_eq!(racks[2], racks[1]);
        assert_ne!(targets[1], targets[2]);
    }
}

/// The second replica's rack is one of the other three, the node one of its five: each of the 15 nodes with the same
/// probability, for the second and (by symmetry) for the third. 30,000 draws, 4 standard deviations.
#[test]
fn remote_replicas_are_spread_evenly() {
    let nodes = cluster(20, 4);
    let mut random = RandomStream::new(2, "test", 0);
    let mut counts = [[0_i32; 21]; 3];
    for _ in 0..30_000 {
        for (place, node) in choose(&nodes, Some(NodeId(1)), 3, &[], |_| true, &mut random).iter().enumerate() {
            counts[place][node.0 as usize] += 1;
        }
    }
    for place in [1, 2] {
        for node in nodes.workers() {
            let count = counts[place][node.0 as usize];
            let expected = if nodes.rack(node) == 0 { 0 } else { 2_000 };
            assert!(
                (count - expected).abs() <= if expected == 0 { 0 } else { 175 },
                "replica {place} on {node:?}: {count}"
            );
        }
    }
}

#[test]
fn with_one_rack_the_others_are_random() {
    let nodes = cluster(10, 1);
    let mut random = RandomStream::new(3, "test", 0);
    let mut counts = [0_i32; 11];
    for _ in 0..9_000 {
        let targets = choose(&nodes, Some(NodeId(4)), 2, &[], |_| true, &mut random);
        assert_eq!(targets[0], NodeId(4));
        counts[targets[1].0 as usize] += 1;
    }
    assert_eq!(counts[4], 0);
    assert!((1..11).filter(|n| *n != 4).all(|n| (counts[n] - 1_000).abs() < 120), "{counts:?}");
}

/// From outside the cluster the first replica is random too.
#[test]
fn without_a_local_datanode_the_first_is_random() {
    let nodes = cluster(10, 2);
    let mut random = RandomStream::new(4, "test", 0);
    let mut counts = [0_i32; 11];
    for _ in 0..10_000 {
        counts[choose(&nodes, None, 1, &[], |_| true, &mut random)[0].0 as usize] += 1;
    }
    assert!(counts[1..].iter().all(|count| (count - 1_000).abs() < 120), "{counts:?}");
}

/// A block that lost a replica gets one back so that two racks hold it.
#[test]
fn a_lost_replica_comes_back_on_the_rack_that_lacks_one() {
    let nodes = cluster(6, 2);
    let mut random = RandomStream::new(5, "test", 0);
    for _ in 0..200 {
        // Nodes 1, 3, 5 are rack 0.
        let held = [NodeId(1), NodeId(3)];
        let targets = choose(&nodes, Some(NodeId(1)), 3, &held, |_| true, &mut random);
        assert_eq!(targets.len(), 1);
        assert_eq!(nodes.rack(targets[0]), 1);
    }
}

proptest! {
    /// Whatever the cluster: targets are distinct, usable, as many as can be, on two racks at least where there are
    /// two, and no rack holds more than (replicas - 1) / racks + 2.
    #[test]
    fn the_rule_holds_on_any_cluster(
        workers in 1_u32..30,
        racks in 1_u32..6,
        replicas in 1_u32..6,
        writer in 0_u32..30,
        unusable in prop::collection::btree_set(1_u32..30, 0..4),
        seed in any::<u64>(),
    ) {
        let nodes = cluster(workers, racks);
        let racks = racks.min(workers) as usize;
        let usable = |node: NodeId| !unusable.contains(&node.0);
        let mut random = RandomStream::new(seed, "test", 0);
        let writer = (writer > 0 && writer <= workers).then_some(NodeId(writer));
        let targets = choose(&nodes, writer, replicas, &[], usable, &mut random);
        let mut distinct = targets.clone();
        distinct.sort();
        distinct.dedup();
        prop_assert_eq!(distinct.len(), targets.len());
        prop_assert!(targets.iter().all(|node| usable(*node) && node.0 >= 1 && node.0 <= workers));
        let candidates: Vec<_> = nodes.workers().filter(|node| usable(*node)).collect();
        let cap = if racks > 1 { (replicas as usize - 1) / racks + 2 } else { usize::MAX };
        let in_rack = |set: &[NodeId], rack: u32| set.iter().filter(|node| nodes.rack(**node) == rack).count();
        let possible: usize = (0..racks as u32).map(|rack| in_rack(&candidates, rack).min(cap)).sum();
        prop_assert_eq!(targets.len(), possible.min(replicas as usize));
        for rack in 0..racks as u32 {
            prop_assert!(in_rack(&targets, rack) <= cap);
        }
        let used = (0..racks as u32).filter(|rack| in_rack(&targets, *rack) > 0).count();
        let populated = (0..racks as u32).filter(|rack| in_rack(&candidates, *rack) > 0).count();
        prop_assert!(used >= populated.min(2).min(targets.len()));
        if let Some(writer) = writer.filter(|writer| usable(*writer)) {
            prop_assert_eq!(targets[0], writer);
        }
    }
}
