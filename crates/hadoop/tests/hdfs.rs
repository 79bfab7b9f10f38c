//! HDFS on a network and disks whose times can be worked out by hand.

mod support;

use hadoop::hdfs::{BlockId, FileId, HdfsConfig, ReadId, WriteId};
use hadoop::rpc::Process;
use hadoop::{Config, Event, NodeId, Part, Tag};
use support::{Spec, World};
use units::{BitRate, Bytes, Time};

const TAG: Tag = Tag::new(Part::Driver, 0, 1);
const MIB: u64 = 1 << 20;

fn process(node: u32) -> Process {
    Process { node: NodeId(node), id: 9 }
}

fn config(hdfs: HdfsConfig) -> Config {
    Config { hdfs, ..Config::default() }
}

fn quiet() -> HdfsConfig {
    HdfsConfig { heartbeat_interval: Time::from_secs(3), ..HdfsConfig::default() }
}

/// Writes a file in steps of `step` as room is reported; returns the file and when it was closed, or `None` if the stream failed.
fn write_file(world: &mut World, node: u32, length: Bytes, step: Bytes, replication: u32) -> (FileId, Option<Time>) {
    let block = world.cluster.hdfs().config().block_size;
    let id = world.drive(|ctx, hdfs| hdfs.create(ctx, process(node), block, replication, TAG));
    let file = world.cluster.hdfs().file_of(id).expect("an open stream");
    (file, feed(world, id, length, step))
}

fn feed(world: &mut World, id: WriteId, length: Bytes, step: Bytes) -> Option<Time> {
    let mut left = length;
    let mut room = true;
    loop {
        if room && left > Bytes::ZERO {
            let bytes = step.min(left);
            left -= bytes;
            room = false;
            world.drive(|ctx, hdfs| {
                hdfs.append(ctx, id, bytes);
                if left == Bytes::ZERO {
                    hdfs.close(ctx, id);
                }
            });
        }
        for (at, event) in std::mem::take(&mut world.news) {
            match event {
                Event::WriteRoom { .. } => room = true,
                Event::WriteClosed { .. } => return Some(at),
                Event::WriteFailed { .. } => return None,
                _ => {}
            }
        }
        if !(room && left > Bytes::ZERO) {
            assert!(world.step(Time::from_secs(100_000)), "nothing happens any more");
        }
    }
}

/// Reads a block, taking what comes at once; returns bytes by source, and when it was done, or `None` if it failed.
fn read_block(world: &mut World, node: u32, block: BlockId, length: Bytes) -> (Vec<(NodeId, Bytes)>, Option<Time>) {
    let id = world.drive(|ctx, hdfs| hdfs.read(ctx, process(node), block, Bytes::ZERO, length, TAG));
    finish_read(world, id)
}

fn finish_read(world: &mut World, id: ReadId) -> (Vec<(NodeId, Bytes)>, Option<Time>) {
    let mut sources: Vec<(NodeId, Bytes)> = Vec::new();
    loop {
        for (at, event) in std::mem::take(&mut world.news) {
            match event {
                Event::ReadProgress { read, source, bytes, .. } if read == id => {
                    match sources.last_mut() {
                        Some((last, sum)) if *last == source => *sum += bytes,
                        _ => sources.push((source, bytes)),
                    }
                    world.drive(|ctx, hdfs| hdfs.take(ctx, id, bytes));
                }
                Event::ReadDone { read, .. } if read == id => return (sources, Some(at)),
                Event::ReadFailed { read, .. } if read == id => return (sources, None),
                _ => {}
            }
        }
        if world.news.is_empty() {
            assert!(world.step(Time::from_secs(100_000)), "nothing happens any more");
        }
    }
}

fn place(world: &mut World, replicas: &[u32], length: Bytes) -> BlockId {
    let nodes: Vec<_> = replicas.iter().copied().map(NodeId).collect();
    let file = world.drive(|ctx, hdfs| hdfs.place_file(ctx, replicas.len() as u32, &[(length, nodes)]));
    world.cluster.hdfs().namespace().file(file).blocks[0]
}

#[test]
fn a_file_is_written_with_all_its_replicas() {
    let mut world = World::new(config(quiet()), Spec::new(6, 2), 1);
    let length = Bytes::from_mib(300);
    let (file, closed) = write_file(&mut world, 2, length, Bytes::from_mib(1), 3);
    assert!(closed.is_some());
    let namespace = world.cluster.hdfs().namespace();
    assert!(namespace.file(file).complete);
    assert_eq!(namespace.length(file), length);
    let lengths: Vec<_> = namespace.file(file).blocks.iter().map(|block| namespace.block(*block).length).collect();
    assert_eq!(lengths, [Bytes::from_mib(128), Bytes::from_mib(128), Bytes::from_mib(44)]);
    for block in &namespace.file(file).blocks {
        let replicas = &namespace.block(*block).replicas;
        assert_eq!(replicas.len(), 3);
        assert!(replicas.contains(&NodeId(2)));
    }
    let counters = world.cluster.hdfs().counters();
    assert_eq!(counters.written, length);
    assert_eq!(counters.replicas, 9);
    assert_eq!(counters.replica_bytes, length * 3);
}
