//! HDFS on a network and disks whose times can be worked out by hand.

use crate::support::{Spec, World, hdfs_only};
use hadoop::hdfs::{BlockId, FileId, HdfsConfig, ReadId, WriteId};
use hadoop::rpc::{Process, Server};
use hadoop::{Event, NodeId, ReadNews, Reader, Service, WriteNews, Writer};
use units::{BitRate, Bytes, Time};

const MIB: u64 = 1 << 20;

fn process(node: u32) -> Process {
    Process { node: NodeId(node), id: 9 }
}

/// Writes a file in steps of `step` as room is reported; returns the file and when it was closed, or `None` if the
/// stream failed.
fn write_file(world: &mut World, node: u32, length: Bytes, step: Bytes, replication: u32) -> (FileId, Option<Time>) {
    let block = world.cluster.hdfs().config().block_size;
    let id = world.drive(|ctx, hdfs| hdfs.create(ctx, process(node), block, replication, Writer::Driver(1)));
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
                Event::Write { news: WriteNews::Room, .. } => room = true,
                Event::Write { news: WriteNews::Closed, .. } => return Some(at),
                Event::Write { news: WriteNews::Failed, .. } => return None,
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
    let id = world.drive(|ctx, hdfs| hdfs.read(ctx, process(node), block, Bytes::ZERO, length, Reader::Driver(1)));
    finish_read(world, id)
}

fn finish_read(world: &mut World, id: ReadId) -> (Vec<(NodeId, Bytes)>, Option<Time>) {
    let mut sources: Vec<(NodeId, Bytes)> = Vec::new();
    loop {
        for (at, event) in std::mem::take(&mut world.news) {
            match event {
                Event::Read { read, news: ReadNews::Progress { source, bytes }, .. } if read == id => {
                    match sources.last_mut() {
                        Some((last, sum)) if *last == source => *sum += bytes,
                        _ => sources.push((source, bytes)),
                    }
                    world.drive(|ctx, hdfs| hdfs.take(ctx, id, bytes));
                }
                Event::Read { read, news: ReadNews::Done, .. } if read == id => return (sources, Some(at)),
                Event::Read { read, news: ReadNews::Failed, .. } if read == id => return (sources, None),
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
    let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(6, 2), 1);
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

/// On a network of 1 Gbit/s and fast disks a pipeline goes at the rate of one interface, whatever its length: each
/// packet passes every node once and the packets overlap.
#[test]
fn a_pipeline_goes_at_the_rate_of_its_slowest_link() {
    let length = Bytes::from_mib(512);
    // The writer is the master, which holds no replica: every hop uses the network.
    for replication in [1, 2, 3] {
        let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(4, 2), 1);
        let (_, closed) = write_file(&mut world, 0, length, Bytes::from_mib(4), replication);
        let took = closed.expect("closed").as_secs_f64();
        // 64 KiB of data is 64 KiB + 512 B of checksums + 33 B of header, in 46 segments with a header of 40 B each.
        let expected = length.get() as f64 * (65_536.0 + 512.0 + 33.0 + 46.0 * 40.0) / 65_536.0 / 125e6;
        // A node that forwards also acknowledges what it gets: 40 B for every second segment of 1,500 B.
        let expected = if replication > 1 { expected * (1.0 + 20.0 / 1_500.0) } else { expected };
        assert!((took / expected - 1.0).abs() < 0.02, "{replication} replicas: {took} s against {expected} s");
    }
}

/// A writer waits for acknowledgements, which come packet by packet: a packet of 64 KiB may take 53 s but not 106, 60 s
/// and 5 for its node being what a writer waits (`DFSClient.getDatanodeReadTimeout`).
#[test]
fn a_pipeline_breaks_when_a_packet_takes_longer_than_its_patience() {
    for (kbits, holds) in [(10, true), (5, false)] {
        let rate = BitRate::from_bps(kbits * 1_000);
        let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec { rate, ..Spec::new(1, 1) }, 1);
        let length = Bytes::new(256 * 1024);
        let (_, closed) = write_file(&mut world, 0, length, length, 1);
        assert_eq!(closed.is_some(), holds, "at {rate}");
    }
}

/// With fewer live DataNodes than a file wants replicas the NameNode takes those there are.
#[test]
fn as_many_replicas_are_placed_as_there_are_live_nodes() {
    let config = HdfsConfig { recheck_interval: Time::from_secs(5), ..HdfsConfig::default() };
    let mut world = World::new(hdfs_only(config), Spec::new(4, 1), 1);
    world.kill(NodeId(3), Time::from_secs(1));
    world.run_to(Time::from_secs(60));
    let (file, closed) = write_file(&mut world, 0, Bytes::from_mib(1), Bytes::from_mib(1), 10);
    assert!(closed.is_some_and(|at| at < Time::from_secs(61)));
    let namespace = world.cluster.hdfs().namespace();
    let mut replicas = namespace.block(namespace.file(file).blocks[0]).replicas.clone();
    replicas.sort();
    assert_eq!(replicas, [1, 2, 4].map(NodeId));
}

/// With a slow disk in the row the pipeline goes at the disk's rate: 40 MB/s.
#[test]
fn a_pipeline_waits_for_its_disks() {
    let mut spec = Spec::new(4, 1);
    let rate = BitRate::from_bps(40 * 8_000_000);
    let disk = storage::RotatingSpec::flat(Time::ZERO, rate, rate);
    spec.disk = storage::DiskSpec::Rotating(disk);
    let mut world = World::new(hdfs_only(HdfsConfig::default()), spec, 1);
    let length = Bytes::from_mib(512);
    let (_, closed) = write_file(&mut world, 1, length, Bytes::from_mib(4), 3);
    let (took, expected) = (closed.expect("closed").as_secs_f64(), length.get() as f64 / 40e6);
    assert!((took / expected - 1.0).abs() < 0.02, "{took} s against {expected} s");
}

/// No more than the window waits: the writer is told of room only as acknowledgements come.
#[test]
fn a_writer_is_held_back_by_the_window() {
    let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(3, 1), 1);
    let id = world.drive(|ctx, hdfs| hdfs.create(ctx, process(0), Bytes::from_mib(128), 2, Writer::Driver(1)));
    let window = 80 * 65_536;
    let mut appended = 0;
    for _ in 0..20 {
        world.drive(|ctx, hdfs| hdfs.append(ctx, id, Bytes::new(MIB)));
        appended += MIB;
        assert!(world.run_until(Time::from_secs(60), |world| !world.news.is_empty()));
        assert!(matches!(world.news[..], [(_, Event::Write { news: WriteNews::Room, .. })]), "{:?}", world.news);
        world.news.clear();
        let waiting = appended - world.cluster.hdfs().counters().written.get();
        assert!(waiting <= window, "{waiting} bytes wait");
    }
}

#[test]
fn the_nearest_replica_is_read() {
    let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(6, 2), 1);
    // Rack 0 has nodes 1, 3, 5; rack 1 has 2, 4, 6.
    let length = Bytes::from_mib(64);
    let block = place(&mut world, &[2, 4, 5], length);
    let (sources, done) = read_block(&mut world, 4, block, length);
    assert_eq!(sources, [(NodeId(4), length)]);
    // The local disk at 1 GB/s, after a call to the NameNode.
    let took = done.expect("done").as_secs_f64();
    assert!((took / (64.0 * MIB as f64 / 1e9) - 1.0).abs() < 0.02, "{took}");

    let (sources, _) = read_block(&mut world, 1, block, length);
    assert_eq!(sources, [(NodeId(5), length)]);

    let (sources, _) = read_block(&mut world, 6, block, length);
    assert!(sources == [(NodeId(2), length)] || sources == [(NodeId(4), length)], "{sources:?}");

    let lone = place(&mut world, &[2], length);
    let (sources, _) = read_block(&mut world, 1, lone, length);
    assert_eq!(sources, [(NodeId(2), length)]);

    let counters = world.cluster.hdfs().counters();
    assert_eq!((counters.read_local, counters.read_rack, counters.read_remote), (length, length * 2, length));
}

/// Equal replicas are used equally: 300 reads over 3 replicas, each within 4 standard deviations of 100.
#[test]
fn equal_replicas_share_the_readers() {
    let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(4, 1), 1);
    let block = place(&mut world, &[1, 2, 3], Bytes::new(65_536));
    let mut counts = [0_i32; 4];
    for _ in 0..300 {
        let (sources, _) = read_block(&mut world, 4, block, Bytes::new(65_536));
        counts[sources[0].0.0 as usize] += 1;
    }
    assert!(counts[1..].iter().all(|count| (count - 100).abs() < 33), "{counts:?}");
}

#[test]
fn a_remote_read_goes_at_the_rate_of_the_link() {
    let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(2, 1), 1);
    let length = Bytes::from_mib(128);
    let block = place(&mut world, &[2], length);
    let (_, done) = read_block(&mut world, 1, block, length);
    // A packet of 64 KiB is 46 segments with a header of 40 B each.
    let expected = length.get() as f64 * (66_081.0 + 46.0 * 40.0) / 65_536.0 / 125e6;
    let took = done.expect("done").as_secs_f64();
    assert!((took / expected - 1.0).abs() < 0.02, "{took} s against {expected} s");
}

/// A reader that takes 10 MB/s is never sent more than a window beyond what it has taken.
#[test]
fn a_slow_reader_holds_its_source_back() {
    for source in [1, 2] {
        let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(2, 1), 1);
        let length = Bytes::from_mib(64);
        let block = place(&mut world, &[source], length);
        let id = world.drive(|ctx, hdfs| hdfs.read(ctx, process(1), block, Bytes::ZERO, length, Reader::Driver(1)));
        let (mut read, mut taken, mut now) = (Bytes::ZERO, Bytes::ZERO, Time::ZERO);
        let mut done = false;
        while !done {
            now += Time::from_ms(100);
            world.run_to(now);
            for (_, event) in std::mem::take(&mut world.news) {
                match event {
                    Event::Read { news: ReadNews::Progress { bytes, .. }, .. } => read += bytes,
                    Event::Read { news: ReadNews::Done, .. } => done = true,
                    other => panic!("{other:?}"),
                }
            }
            assert!(read - taken <= Bytes::from_mib(4), "{} ahead", read - taken);
            let bytes = Bytes::from_mib(1).min(read - taken);
            taken += bytes;
            world.drive(|ctx, hdfs| hdfs.take(ctx, id, bytes));
        }
        assert_eq!(read, length);
        // 60 MiB must have been taken before the last could come.
        assert!(now >= Time::from_ms(5_900) && now <= Time::from_ms(6_700), "{now}");
    }
}

#[test]
fn a_read_goes_on_with_another_replica_when_its_source_dies() {
    let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(4, 2), 1);
    let length = Bytes::from_mib(128);
    let block = place(&mut world, &[3, 2], length);
    // Half-way (1 Gbit/s: 1.07 s) the nearer source dies; its reader waits for its socket timeout of 60 s.
    world.kill(NodeId(3), Time::from_ms(500));
    let (sources, done) = read_block(&mut world, 1, block, length);
    assert_eq!(sources.iter().map(|(node, _)| node.0).collect::<Vec<_>>(), [3, 2]);
    assert_eq!(sources.iter().map(|(_, bytes)| *bytes).sum::<Bytes>(), length);
    let done = done.expect("done");
    assert!(done > Time::from_secs(60) && done < Time::from_secs(62), "{done}");
    assert_eq!(world.cluster.hdfs().counters().read_failovers, 1);
}

#[test]
fn a_read_without_any_replica_fails_after_its_rounds() {
    let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(3, 1), 1);
    let block = place(&mut world, &[2, 3], Bytes::from_mib(1));
    world.kill(NodeId(2), Time::ZERO);
    world.kill(NodeId(3), Time::ZERO);
    world.run_to(Time::from_ms(1));
    let (sources, done) = read_block(&mut world, 1, block, Bytes::from_mib(1));
    assert_eq!((sources, done), (vec![], None));
    // Four rounds of two connections refused after 3 s each, and three pauses of up to 3, 3 to 9 and 6 to 15 s.
    assert!(world.now > Time::from_secs(24 + 9) && world.now < Time::from_secs(24 + 28), "{}", world.now);
}

/// Rounds are counted from zero whenever bytes have come (`DFSInputStream.read`): a source may fail more often than
/// four times.
#[test]
fn a_read_goes_on_as_long_as_bytes_come_between_its_failures() {
    let mut world =
        World::new(hdfs_only(HdfsConfig::default()), Spec { rate: BitRate::from_mbps(10), ..Spec::new(3, 1) }, 1);
    let length = Bytes::from_mib(64); // 54 s on the wire
    let block = place(&mut world, &[2], length);
    for failure in 0..6 {
        let at = Time::from_secs(5 + 70 * failure);
        world.kill(NodeId(2), at);
        world.revive(NodeId(2), at + Time::from_secs(1));
    }
    let (sources, done) = read_block(&mut world, 1, block, length);
    assert_eq!(sources.iter().map(|(_, bytes)| *bytes).sum::<Bytes>(), length);
    assert!(done.is_some());
    assert_eq!(world.cluster.hdfs().counters().read_failovers, 6);
}

#[test]
fn a_cancelled_read_is_not_heard_of() {
    let silent = HdfsConfig { heartbeat_interval: Time::from_secs(1_000_000), ..HdfsConfig::default() };
    let mut world = World::new(hdfs_only(silent), Spec::new(3, 1), 1);
    let block = place(&mut world, &[2], Bytes::from_mib(64));
    let id =
        world.drive(|ctx, hdfs| hdfs.read(ctx, process(1), block, Bytes::ZERO, Bytes::from_mib(64), Reader::Driver(1)));
    world.run_to(Time::from_ms(50));
    assert!(!world.news.is_empty());
    world.news.clear();
    world.drive(|ctx, hdfs| hdfs.cancel_read(ctx, id));
    world.run_to(Time::from_ms(500));
    assert!(world.news.is_empty());
    assert_eq!(world.cluster.context().connection_count(Service::DataTransfer), 0);
}

#[test]
fn a_stream_goes_on_with_the_survivors_when_a_datanode_dies() {
    for victim in 0..3 {
        let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(6, 2), 7);
        let id = world.drive(|ctx, hdfs| hdfs.create(ctx, process(0), Bytes::from_mib(128), 3, Writer::Driver(1)));
        let file = world.cluster.hdfs().file_of(id).expect("an open stream");
        let length = Bytes::from_mib(256);
        // The pipeline's nodes are known when the first packets have been sent: whoever receives.
        world.drive(|ctx, hdfs| hdfs.append(ctx, id, Bytes::from_mib(4)));
        world.run_to(Time::from_ms(30));
        world.news.clear();
        let members: Vec<_> = (1..7).map(NodeId).filter(|n| world.received(*n) > Bytes::from_mib(1)).collect();
        assert_eq!(members.len(), 3, "{members:?}");
        world.kill(members[victim], Time::from_ms(500));
        let closed = feed(&mut world, id, length - Bytes::from_mib(4), Bytes::from_mib(1));
        let closed = closed.expect("the stream survives");
        // Found out by a silent socket, at the latest after 60 s and 5 s for each node behind.
        assert!(closed < Time::from_secs(80), "{closed}");
        let (namespace, counters) = (world.cluster.hdfs().namespace(), world.cluster.hdfs().counters());
        assert_eq!(counters.pipeline_recoveries, 1);
        assert_eq!(counters.written, length);
        assert_eq!(namespace.length(file), length);
        let first = namespace.block(namespace.file(file).blocks[0]);
        assert_eq!(first.replicas.len(), 2, "{first:?}");
        assert!(!first.replicas.contains(&members[victim]));
        // The NameNode has the third replica made; it may order it from the dead node, of which it knows nothing before
        // 900 s, and then waits 300 s for the report.
        let block = namespace.file(file).blocks[0];
        let full = |world: &World| world.cluster.hdfs().namespace().block(block).replicas.len() == 3;
        assert!(world.run_until(Time::from_secs(1_300), full), "not replicated again");
    }
}

#[test]
fn a_stream_fails_when_all_its_datanodes_die() {
    let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(3, 1), 7);
    for node in 1..4 {
        world.kill(NodeId(node), Time::from_ms(500 + 100 * u64::from(node)));
    }
    let (file, closed) = write_file(&mut world, 0, Bytes::from_mib(512), Bytes::from_mib(1), 3);
    assert_eq!(closed, None);
    assert!(!world.cluster.hdfs().namespace().file(file).complete);
}

#[test]
fn a_dead_target_is_excluded_when_a_pipeline_is_set_up() {
    let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(4, 1), 7);
    world.kill(NodeId(3), Time::ZERO);
    world.run_to(Time::from_ms(1));
    // Sooner or later every stream is offered the dead node; all are written all the same, by three live ones.
    for _ in 0..10 {
        let (file, closed) = write_file(&mut world, 1, Bytes::from_mib(1), Bytes::from_mib(1), 3);
        assert!(closed.is_some());
        world.run_to(world.now + Time::from_ms(100));
        let namespace = world.cluster.hdfs().namespace();
        let mut replicas = namespace.block(namespace.file(file).blocks[0]).replicas.clone();
        replicas.sort();
        assert_eq!(replicas, [NodeId(1), NodeId(2), NodeId(4)]);
    }
}

#[test]
fn a_killed_writer_leaves_nothing_running() {
    let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(4, 1), 7);
    let id = world.drive(|ctx, hdfs| hdfs.create(ctx, process(1), Bytes::from_mib(128), 3, Writer::Driver(1)));
    world.drive(|ctx, hdfs| hdfs.append(ctx, id, Bytes::from_mib(5)));
    world.run_to(Time::from_ms(20));
    world.drive(|ctx, hdfs| hdfs.abort_write(ctx, id));
    world.drive(|ctx, _| hadoop::rpc::exit(ctx, process(1)));
    world.news.clear();
    world.run_to(Time::from_secs(2));
    assert!(world.news.is_empty());
    assert_eq!(world.cluster.context().connection_count(Service::DataTransfer), 0);
}

/// A DataNode is dead 10 min 30 s after its last heartbeat, at the next look (every 5 min); what it held is copied from
/// others.
#[test]
fn a_dead_datanode_is_noticed_and_its_replicas_are_made_again() {
    let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(6, 2), 3);
    let file = world.drive(|ctx, hdfs| hdfs.add_file(ctx, Bytes::from_mib(128) * 30, Bytes::from_mib(128), 3, None));
    let held = |world: &World, node: u32| {
        let namespace = world.cluster.hdfs().namespace();
        namespace.file(file).blocks.iter().filter(|b| namespace.block(**b).replicas.contains(&NodeId(node))).count()
    };
    let lost = held(&world, 5);
    assert!(lost > 5);
    world.kill(NodeId(5), Time::from_secs(100));
    assert!(world.run_until(Time::from_secs(2_000), |world| !world.cluster.hdfs().is_alive(NodeId(5))));
    // Last heard of between 97 and 100 s: expired from 727 to 730 s; looks at 300, 600, 900 s.
    assert_eq!(world.now, Time::from_secs(900));
    let restored = |world: &World| {
        let namespace = world.cluster.hdfs().namespace();
        namespace.file(file).blocks.iter().all(|b| namespace.block(*b).replicas.len() == 3)
    };
    assert!(world.run_until(Time::from_secs(2_000), restored));
    assert_eq!(world.cluster.hdfs().counters().rereplications, lost as u64);
    assert_eq!(held(&world, 5), 0);
    // Two racks hold every block still.
    let namespace = world.cluster.hdfs().namespace();
    for block in &namespace.file(file).blocks {
        let racks: Vec<_> =
            namespace.block(*block).replicas.iter().map(|n| world.cluster.context().nodes.rack(*n)).collect();
        assert!(racks.contains(&0) && racks.contains(&1), "{racks:?}");
    }
    // The node returns with its disks: what is one too many is deleted again.
    world.revive(NodeId(5), world.now + Time::from_secs(10));
    world.run_to(world.now + Time::from_secs(60));
    assert!(world.cluster.hdfs().is_alive(NodeId(5)));
    assert!(restored(&world));
}

/// At most two streams leave a DataNode at a time, so 20 blocks of one source take at least 10 rounds of its heartbeat.
#[test]
fn copies_are_throttled_at_their_source() {
    let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(4, 1), 3);
    for _ in 0..20 {
        place(&mut world, &[1, 2], Bytes::from_mib(16));
    }
    world.kill(NodeId(2), Time::from_secs(1));
    assert!(world.run_until(Time::from_secs(2_000), |world| !world.cluster.hdfs().is_alive(NodeId(2))));
    let began = world.now;
    assert!(world.run_until(Time::from_secs(4_000), |world| world.cluster.hdfs().counters().rereplications == 20));
    let took = world.now - began;
    assert!(took >= Time::from_secs(27) && took <= Time::from_secs(70), "{took}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(5, 2), seed);
        world.kill(NodeId(2), Time::from_secs(1));
        world.revive(NodeId(2), Time::from_secs(20));
        let (_, closed) = write_file(&mut world, 1, Bytes::from_mib(300), Bytes::from_mib(2), 3);
        (world.digest, world.inputs, closed)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).0, run(2).0);
}

/// A busy NameNode hears of its DataNodes late, but no DataNode sends a heartbeat before the last is answered: 20
/// DataNodes, 3 s, a call of
/// 0.3 s and one handler make a closed loop of 6 s a round.
#[test]
fn heartbeats_wait_for_a_busy_namenode() {
    let slow = HdfsConfig { call_service: Time::from_ms(300), handlers: 1, ..HdfsConfig::default() };
    let mut world = World::new(hdfs_only(slow), Spec::new(20, 1), 1);
    world.run_to(Time::from_secs(600));
    let counters = world.cluster.context().server_counters(Server::namenode(NodeId(0)));
    // At capacity: 600 s / 0.3 s, less the first seconds.
    assert!((1_985..=2_000).contains(&counters.served), "{}", counters.served);
    assert!(counters.latency_max <= Time::from_ms(6_010), "{}", counters.latency_max);
    assert!(counters.queue_max < 20);
}

/// While the NameNode is down nothing is asked of it in vain for ever: it comes back, and so do its DataNodes.
#[test]
fn the_namenode_may_crash_and_return() {
    let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(4, 2), 1);
    world.kill(NodeId(0), Time::from_secs(10));
    world.revive(NodeId(0), Time::from_secs(2_000));
    world.run_to(Time::from_secs(2_300));
    assert!((1..5).all(|node| world.cluster.hdfs().is_alive(NodeId(node))));
    let (_, closed) = write_file(&mut world, 1, Bytes::from_mib(200), Bytes::from_mib(1), 3);
    assert!(closed.is_some());
}

/// A DataNode pays for what it receives: with 100 ns a byte on one core a replica takes 10.5 s of processor for each
/// 100 MiB.
#[test]
fn a_datanode_spends_processor_time_on_what_it_receives() {
    let costly = HdfsConfig { receive_cpu: 100e-9, ..HdfsConfig::default() };
    let spec = Spec { cores: 1, ..Spec::new(2, 1) };
    let mut world = World::new(hdfs_only(costly), spec, 1);
    let (_, closed) = write_file(&mut world, 0, Bytes::from_mib(100), Bytes::from_mib(1), 1);
    let took = closed.expect("closed").as_secs_f64();
    let expected = 100.0 * MIB as f64 * 100e-9;
    assert!((took / expected - 1.0).abs() < 0.02, "{took} s against {expected} s");
}
