//! Erasure-coded files: what they put on links, against closed forms.

use crate::support::{Spec, World, hdfs_only};
use hadoop::hdfs::{BlockId, ErasureCode, FileId, HdfsConfig};
use hadoop::rpc::Process;
use hadoop::{Event, NodeId, ReadNews, Reader, WriteNews, Writer};
use units::{Bytes, Time};

const MIB: u64 = 1 << 20;
/// What a packet of 64 KiB is on its connection: a header, and a checksum of 4 bytes for each 512.
const PACKET: f64 = (65_536.0 + 512.0 + 33.0) / 65_536.0;

fn process(node: u32) -> Process {
    Process { node: NodeId(node), id: 9 }
}

fn config(data: usize, parity: usize) -> HdfsConfig {
    let erasure = Some(ErasureCode::reed_solomon(data, parity));
    HdfsConfig {
        erasure,
        block_size: Bytes::from_mib(8),
        recheck_interval: Time::from_secs(5),
        ..HdfsConfig::default()
    }
}

fn world(workers: u32, config: HdfsConfig) -> World {
    World::new(hdfs_only(config), Spec::new(workers, 1), 1)
}

/// Writes a file from a node as room is reported, with `act` done after some of it; whether it was closed.
fn write(world: &mut World, node: u32, length: Bytes, mut act: impl FnMut(&mut World, Bytes)) -> (FileId, bool) {
    let id = world.drive(|ctx, hdfs| hdfs.create_output(ctx, process(node), Bytes::from_mib(8), 1, Writer::Driver(1)));
    let file = world.cluster.hdfs().file_of(id).expect("an open stream");
    let (mut left, mut room) = (length, true);
    loop {
        if room && left > Bytes::ZERO {
            let bytes = Bytes::from_mib(1).min(left);
            left -= bytes;
            room = false;
            world.drive(|ctx, hdfs| {
                hdfs.append(ctx, id, bytes);
                if left == Bytes::ZERO {
                    hdfs.close(ctx, id);
                }
            });
            act(world, length - left);
        }
        for (_, event) in std::mem::take(&mut world.news) {
            match event {
                Event::Write { news: WriteNews::Room, .. } => room = true,
                Event::Write { news: WriteNews::Closed, .. } => return (file, true),
                Event::Write { news: WriteNews::Failed, .. } => return (file, false),
                _ => {}
            }
        }
        if !(room && left > Bytes::ZERO) {
            assert!(world.step(Time::from_secs(100_000)), "nothing happens any more");
        }
    }
}

/// Reads a range of a block; the bytes by source, and whether all came.
fn read(world: &mut World, node: u32, block: BlockId, from: Bytes, length: Bytes) -> (Vec<(NodeId, Bytes)>, bool) {
    let id = world.drive(|ctx, hdfs| hdfs.read(ctx, process(node), block, from, length, Reader::Driver(1)));
    let mut sources = Vec::new();
    loop {
        for (_, event) in std::mem::take(&mut world.news) {
            match event {
                Event::Read { read, news: ReadNews::Progress { source, bytes }, .. } if read == id => {
                    sources.push((source, bytes));
                    world.drive(|ctx, hdfs| hdfs.take(ctx, id, bytes));
                }
                Event::Read { read, news: ReadNews::Done, .. } if read == id => return (sources, true),
                Event::Read { read, news: ReadNews::Failed, .. } if read == id => return (sources, false),
                _ => {}
            }
        }
        if world.news.is_empty() {
            assert!(world.step(Time::from_secs(100_000)), "nothing happens any more");
        }
    }
}

fn received(world: &World, nodes: impl Iterator<Item = u32>) -> f64 {
    nodes.map(|node| world.received(NodeId(node)).get() as f64).sum()
}

fn input(world: &mut World, length: Bytes) -> BlockId {
    let file = world.drive(|ctx, hdfs| hdfs.add_input(ctx, length, Bytes::from_mib(8), 1, None));
    world.cluster.hdfs().namespace().file(file).blocks[0]
}

fn holders(world: &World, block: BlockId) -> Vec<NodeId> {
    world.cluster.hdfs().namespace().holders(block)
}

fn sum(sources: &[(NodeId, Bytes)]) -> Bytes {
    sources.iter().map(|(_, bytes)| *bytes).sum()
}

/// A client outside sends each byte and its parity: (k + m) / k of what it writes. One on a DataNode keeps its own
/// part.
#[test]
fn a_write_puts_data_and_parity_on_the_client_s_link() {
    for (data, parity) in [(3_u32, 2_u32), (6, 3), (10, 4)] {
        let (k, parts) = (f64::from(data), data + parity);
        let config = config(data as usize, parity as usize);
        // Four whole groups, and one of two rows.
        let length = Bytes::from_mib(u64::from(data) * (4 * 8 + 2));
        for writer in [0, 1] {
            let mut world = world(parts, config.clone());
            let (file, closed) = write(&mut world, writer, length, |_, _| {});
            assert!(closed);
            let namespace = world.cluster.hdfs().namespace();
            assert_eq!((namespace.length(file), namespace.file(file).blocks.len()), (length, 5));
            assert_eq!(world.cluster.hdfs().counters().written, length);
            let others = (1..=parts).filter(|node| *node != writer);
            let own = if writer == 0 { 0.0 } else { 1.0 };
            let expected = length.get() as f64 * (f64::from(parts) - own) / k * PACKET;
            let got = received(&world, others);
            // Headers, calls and the last, empty packets of blocks.
            assert!((got / expected - 1.0).abs() < 2e-3, "RS-{data}-{parity} from {writer}: {got} of {expected} B");
        }
    }
}

/// The client's link carries 5/3 of what it writes, and nothing else holds it back.
#[test]
fn a_write_takes_the_time_of_data_and_parity_on_the_client_s_link() {
    let mut world = world(5, config(3, 2));
    let length = Bytes::from_mib(3 * 8 * 8);
    let (_, closed) = write(&mut world, 0, length, |_, _| {});
    assert!(closed);
    // As `a_pipeline_goes_at_the_rate_of_its_slowest_link` derives it, times 5 / 3.
    let expected = length.get() as f64 * (65_536.0 + 512.0 + 33.0 + 46.0 * 40.0) / 65_536.0 / 125e6 * 5.0 / 3.0;
    let took = world.now.as_secs_f64();
    // Between groups the stream waits for the last acknowledgement and for the NameNode.
    assert!((1.0..1.06).contains(&(took / expected)), "{took} s against {expected} s");
}

/// Two parity cells of a row take each of its three cells' bytes once: with 20 ns for it a row takes 126 ms, more than
/// its 42 ms on the link, and the client does nothing meanwhile.
#[test]
fn coding_takes_the_client_s_processor() {
    let config = HdfsConfig { coding_cost: 20e-9, ..config(3, 2) };
    let mut world = world(5, config);
    let rows = 24;
    let (_, closed) = write(&mut world, 0, Bytes::from_mib(3 * rows), |_, _| {});
    assert!(closed);
    let expected = rows as f64 * 2.0 * 3.0 * MIB as f64 * 20e-9;
    let took = world.now.as_secs_f64();
    assert!((1.0..1.1).contains(&(took / expected)), "{took} s against {expected} s");
}

/// A reader gets a part of each row from each of k DataNodes: of one on its own node it takes nothing from the network.
#[test]
fn a_read_comes_from_k_nodes() {
    let mut world = world(6, config(3, 2));
    let length = Bytes::from_mib(24);
    let block = input(&mut world, length);
    let nodes = holders(&world, block);
    let outside = (1..=6).find(|node| !nodes.contains(&NodeId(*node))).expect("six nodes, five parts");
    for (reader, remote) in [(outside, 3.0), (nodes[0].0, 2.0), (nodes[4].0, 3.0)] {
        let before = received(&world, [reader].into_iter());
        let (sources, whole) = read(&mut world, reader, block, Bytes::ZERO, length);
        assert!(whole);
        assert_eq!(sum(&sources), length);
        for node in &nodes[..3] {
            let of: Bytes = sources.iter().filter(|(source, _)| source == node).map(|(_, bytes)| *bytes).sum();
            assert_eq!(of, length / 3);
        }
        let (got, expected) = (received(&world, [reader].into_iter()) - before, 8.0 * MIB as f64 * remote * PACKET);
        assert!((got / expected - 1.0).abs() < 2e-3, "{got} of {expected} B to {reader}");
    }
}

/// A range that begins and ends within cells reads its own bytes and no others.
#[test]
fn a_range_reads_its_own_cells() {
    let mut world = world(6, config(3, 2));
    let block = input(&mut world, Bytes::from_mib(24));
    let nodes = holders(&world, block);
    // From the middle of cell 1 to the middle of cell 4: half of cell 1, cells 2 and 3, half of cell 4.
    let (from, length) = (Bytes::new(MIB * 3 / 2), Bytes::from_mib(3));
    let (sources, whole) = read(&mut world, 0, block, from, length);
    assert!(whole);
    let of = |number: usize| -> u64 {
        sources.iter().filter(|(source, _)| *source == nodes[number]).map(|(_, bytes)| bytes.get()).sum()
    };
    assert_eq!([of(0), of(1), of(2)], [MIB, MIB, MIB], "cells 3, 1 and 4, 2");
}

/// Without a data part its reader takes k cells of each row all the same, one of them parity, and computes the missing
/// one: 60 ns a byte of k cells is 189 ms a row.
#[test]
fn a_degraded_read_takes_k_cells_of_each_row_and_computes() {
    let config = HdfsConfig { coding_cost: 60e-9, ..config(3, 2) };
    let mut world = world(5, config);
    let length = Bytes::from_mib(24);
    let block = input(&mut world, length);
    let nodes = holders(&world, block);
    world.kill(nodes[1], Time::from_secs(1));
    // Dead after twice the recheck interval and ten heartbeats: 40 s.
    world.run_to(Time::from_secs(60));
    assert_eq!(holders(&world, block).len(), 4);
    let (before, began) = (received(&world, [0].into_iter()), world.now);
    let (sources, whole) = read(&mut world, 0, block, Bytes::ZERO, length);
    assert!(whole && sum(&sources) == length);
    assert!(sources.iter().all(|(source, _)| *source != nodes[1]), "{sources:?}");
    assert!(sources.iter().any(|(source, _)| *source == nodes[3]), "the first parity part stands in: {sources:?}");
    let (got, expected) = (received(&world, [0].into_iter()) - before, length.get() as f64 * PACKET);
    assert!((got / expected - 1.0).abs() < 2e-3, "{got} of {expected} B");
    let (took, coding) = ((world.now - began).as_secs_f64(), 8.0 * 3.0 * MIB as f64 * 60e-9);
    assert!((1.0..1.4).contains(&(took / coding)), "{took} s of which coding takes {coding} s");
}

/// A DataNode that dies under a reader is replaced by parity from the row on that is being read.
#[test]
fn a_reader_goes_on_when_a_datanode_dies() {
    let mut world = world(5, config(3, 2));
    let length = Bytes::from_mib(24);
    let block = input(&mut world, length);
    let victim = holders(&world, block)[2];
    world.kill(victim, Time::from_ms(60));
    let (sources, whole) = read(&mut world, 0, block, Bytes::ZERO, length);
    assert!(whole);
    assert_eq!(sum(&sources), length);
    let of_victim: Bytes = sources.iter().filter(|(source, _)| *source == victim).map(|(_, bytes)| *bytes).sum();
    assert!(of_victim > Bytes::ZERO && of_victim < length / 3, "{of_victim}");
}

#[test]
fn with_fewer_than_k_parts_a_read_fails() {
    let mut world = world(5, config(3, 2));
    let block = input(&mut world, Bytes::from_mib(24));
    for node in &holders(&world, block)[..3] {
        world.kill(*node, Time::from_secs(1));
    }
    world.run_to(Time::from_secs(60));
    let (_, whole) = read(&mut world, 0, block, Bytes::ZERO, Bytes::from_mib(24));
    assert!(!whole);
}

/// What a lost part had is made again on a node without a part of its group, from k parts: k times its bytes cross the
/// network, where a replica would be copied once.
#[test]
fn a_repair_moves_k_times_what_was_lost() {
    let mut world = world(7, config(3, 2));
    let blocks: Vec<BlockId> = (0..6).map(|_| input(&mut world, Bytes::from_mib(24))).collect();
    let victim = holders(&world, blocks[0])[0];
    let lost: Vec<BlockId> = blocks.iter().copied().filter(|block| holders(&world, *block).contains(&victim)).collect();
    world.kill(victim, Time::from_secs(1));
    world.run_to(Time::from_secs(30));
    let before = received(&world, 1..=7);
    let whole = |world: &World| blocks.iter().all(|block| holders(world, *block).len() == 5);
    // It is dead to the NameNode after 40 s.
    world.run_to(Time::from_secs(50));
    assert!(world.run_until(Time::from_secs(200), whole), "not made again");
    let expected = lost.len() as f64 * 3.0 * 8.0 * MIB as f64 * PACKET;
    let got = received(&world, 1..=7) - before;
    assert!((got / expected - 1.0).abs() < 5e-3, "{got} of {expected} B for {} parts", lost.len());
    assert_eq!(world.cluster.hdfs().counters().rereplications, lost.len() as u64);
    for block in blocks {
        let mut nodes = holders(&world, block);
        nodes.sort();
        nodes.dedup();
        assert!(nodes.len() == 5 && !nodes.contains(&victim), "{nodes:?}");
    }
}

/// On as many nodes as there are parts a lost one has nowhere to go: it is back with its node.
#[test]
fn a_part_without_another_place_comes_back_with_its_node() {
    let mut world = world(5, config(3, 2));
    let block = input(&mut world, Bytes::from_mib(24));
    let victim = holders(&world, block)[3];
    world.kill(victim, Time::from_secs(1));
    world.run_to(Time::from_secs(100));
    assert_eq!(holders(&world, block).len(), 4);
    world.revive(victim, Time::from_secs(101));
    world.run_to(Time::from_secs(110));
    assert_eq!(holders(&world, block).len(), 5);
}

/// A stream goes on without a part whose DataNode dies, as long as there is parity for it; the part is made later.
#[test]
fn a_stream_goes_on_without_a_part() {
    let mut world = world(6, config(3, 2));
    let length = Bytes::from_mib(48);
    let mut victim = None;
    let (file, closed) = write(&mut world, 0, length, |world, done| {
        if done == Bytes::from_mib(12) {
            let most = (1..=6).map(NodeId).max_by_key(|node| world.received(*node)).expect("six");
            victim = Some(most);
            world.kill(most, world.now);
        }
    });
    assert!(closed);
    let victim = victim.expect("killed");
    let namespace = world.cluster.hdfs().namespace();
    assert_eq!(namespace.length(file), length);
    let blocks = namespace.file(file).blocks.clone();
    assert_eq!(world.cluster.hdfs().counters().written, length);
    let whole = |world: &World| {
        blocks.iter().all(|block| {
            let nodes = holders(world, *block);
            nodes.len() == 5 && !nodes.contains(&victim)
        })
    };
    assert!(world.run_until(Time::from_secs(700), whole), "not made again");
    let (sources, read) = read(&mut world, 0, blocks[0], Bytes::ZERO, Bytes::from_mib(24));
    assert!(read && sum(&sources) == Bytes::from_mib(24));
}

/// A file shorter than a cell has one data part, and as much parity.
#[test]
fn a_short_file_has_one_data_part_and_its_parity() {
    let mut world = world(5, config(3, 2));
    let (file, closed) = write(&mut world, 0, Bytes::new(100_000), |_, _| {});
    assert!(closed);
    world.run_to(world.now + Time::from_secs(1));
    let block = world.cluster.hdfs().namespace().file(file).blocks[0];
    assert_eq!(holders(&world, block).len(), 3);
    let stored = world.cluster.hdfs().counters().replica_bytes;
    assert_eq!(stored, Bytes::new(300_000));
    let (sources, whole) = read(&mut world, 0, block, Bytes::ZERO, Bytes::new(100_000));
    assert!(whole && sum(&sources) == Bytes::new(100_000));
}
