//! The end of a split's last record, which is in the next block: who reads it, what that costs, and what a dead DataNode
//! does to it.

use crate::jobs::{MIB, config, finish, job, plain, run, succeeded, with_workload};
use crate::support::{Spec, World, hdfs_only};
use hadoop::hdfs::{BlockId, ErasureCode, HdfsConfig, ReadId};
use hadoop::mapreduce::{Generation, JobInput, JobSpec};
use hadoop::record::{AttemptRecord, TaskKind};
use hadoop::rpc::Process;
use hadoop::workload::{InputFormat, Workload};
use hadoop::{Event, NodeId, ReadNews, Reader, Service};
use units::{BitRate, Bytes, Time};

const READER: Process = Process { node: NodeId(1), id: 9 };
const PACKET: Bytes = Bytes::new(65_536);

/// A file of two blocks of 4 MiB with replicas on these nodes.
fn two_blocks(world: &mut World, first: &[u32], second: &[u32]) -> [BlockId; 2] {
    let on = |nodes: &[u32]| (Bytes::from_mib(4), nodes.iter().copied().map(NodeId).collect());
    let blocks = [on(first), on(second)];
    let file = world.drive(|ctx, hdfs| hdfs.place_file(ctx, 2, &blocks));
    let blocks = &world.cluster.hdfs().namespace().file(file).blocks;
    [blocks[0], blocks[1]]
}

/// Takes what comes of a read until it is done: how much, and when that was.
fn until_done(world: &mut World, id: ReadId) -> (Bytes, Time) {
    let mut read = Bytes::ZERO;
    loop {
        for (at, event) in std::mem::take(&mut world.news) {
            match event {
                Event::Read { news: ReadNews::Progress { bytes, .. }, .. } => {
                    read += bytes;
                    world.drive(|ctx, hdfs| hdfs.take(ctx, id, bytes));
                }
                Event::Read { news: ReadNews::Done, .. } => return (read, at),
                Event::Read { news, .. } => panic!("{news:?}"),
                _ => {}
            }
        }
        assert!(!world.news.is_empty() || world.step(Time::from_secs(100_000)), "nothing happens any more");
    }
}

/// Reads the first of two blocks and the beginning of the second: bytes of each, and how long each took.
fn read_both(world: &mut World, [first, second]: [BlockId; 2]) -> [(Bytes, f64); 2] {
    let start = world.now;
    let id = world.drive(|ctx, hdfs| {
        let id = hdfs.read(ctx, READER, first, Bytes::ZERO, Bytes::from_mib(4), Reader::Driver(1));
        hdfs.hold(id);
        id
    });
    let (whole, middle) = until_done(world, id);
    world.drive(|ctx, hdfs| hdfs.read_on(ctx, id, READER, (second, Bytes::ZERO), Reader::Driver(1)));
    let (part, end) = until_done(world, id);
    [(whole, (middle - start).as_secs_f64()), (part, (end - middle).as_secs_f64())]
}

/// At 10 Mbit/s a packet with 516 B of checksums and header for 46 segments takes 54.3 ms; a handshake, the request
/// and the first segment some tenths of a millisecond. The DataNode has the order to send 4 MiB: what it sends until it
/// is told to stop comes in vain, in as long as a segment takes both ways.
#[test]
fn the_reader_takes_a_packet_and_hangs_up() {
    let spec = Spec { rate: BitRate::from_mbps(10), ..Spec::new(3, 1) };
    let mut world = World::new(hdfs_only(HdfsConfig::default()), spec, 1);
    let blocks = two_blocks(&mut world, &[1], &[2]);
    let before = world.received(NodeId(1));
    let [(whole, _), (part, took)] = read_both(&mut world, blocks);
    assert_eq!((whole, part), (Bytes::from_mib(4), PACKET));
    let packet = (65_536.0 + 545.0 + 46.0 * 40.0) / 1.25e6;
    assert!(took > packet && took < packet + 0.005, "{took} s");
    world.run_to(world.now + Time::from_secs(5));
    let came = (world.received(NodeId(1)) - before).get() as f64;
    assert!((66_081.0..76_081.0).contains(&came), "{came} B");
    assert_eq!(world.cluster.context().connection_count(Service::DataTransfer), 0);
    assert_eq!(world.cluster.hdfs().counters().read_rack, PACKET);
}

/// The next block's nearer replica (workers 1 and 3 are in one rack) is on a node that has crashed. A connection to it
/// fails after 2 s, as HDFS's client is set here, before TCP gives up (1 + 2 s in this world).
#[test]
fn a_dead_datanode_holds_the_last_record_up() {
    let impatient = HdfsConfig { socket_timeout: Time::from_secs(2), ..HdfsConfig::default() };
    let mut world = World::new(hdfs_only(impatient), Spec::new(4, 2), 1);
    let blocks = two_blocks(&mut world, &[1, 2], &[3, 2]);
    world.kill(NodeId(3), Time::from_ms(1));
    world.run_to(Time::from_ms(2));
    let [_, (part, took)] = read_both(&mut world, blocks);
    assert_eq!(part, PACKET);
    assert!((2.0..2.01).contains(&took), "{took} s");
}

/// A stream that has met a dead node does not try it again for the next block.
#[test]
fn a_stream_remembers_who_did_not_answer() {
    let mut world = World::new(hdfs_only(HdfsConfig::default()), Spec::new(4, 2), 1);
    let blocks = two_blocks(&mut world, &[3, 2], &[3, 2]);
    world.kill(NodeId(3), Time::from_ms(1));
    world.run_to(Time::from_ms(2));
    let [(whole, first), (part, second)] = read_both(&mut world, blocks);
    assert_eq!((whole, part), (Bytes::from_mib(4), PACKET));
    assert!((3.0..3.1).contains(&first), "{first} s");
    assert!(second < 0.01, "{second} s");
}

/// What maps have read beyond their splits.
fn beyond(spec: JobSpec, workers: u32) -> Bytes {
    let (input, cfg) = (spec.input.bytes(), config(Generation::Yarn, vec![spec]));
    let records = run(cfg, workers);
    let read = |map: &&AttemptRecord| map.bytes.read_node + map.bytes.read_rack + map.bytes.read_remote;
    let maps = succeeded(&records, TaskKind::Map);
    assert_eq!(maps.iter().map(|map| map.bytes.input).sum::<Bytes>(), input);
    maps.iter().map(read).sum::<Bytes>() - input
}

/// Splits of a whole block go on in the next, but for a file's last one; in 80 MiB there are two (of 32 MiB blocks).
#[test]
fn records_end_in_the_next_block_of_their_file() {
    let of = |format: InputFormat, input: JobInput| JobSpec {
        input,
        ..with_workload(Workload { input_format: format, ..plain(0.001) }, 1, 1)
    };
    let file = |mib: u64| Bytes::from_mib(mib);
    let files = |mib: &[u64]| JobInput::Files(mib.iter().copied().map(file).collect());
    assert_eq!(beyond(of(InputFormat::Text, files(&[80])), 3), PACKET * 2);
    assert_eq!(beyond(of(InputFormat::SequenceFile, files(&[80])), 3), PACKET * 2);
    assert_eq!(beyond(of(InputFormat::Binary, files(&[80])), 3), Bytes::ZERO);
    // Files of a block each, and of exactly two.
    assert_eq!(beyond(of(InputFormat::Text, files(&[32, 20, 32])), 3), Bytes::ZERO);
    assert_eq!(beyond(of(InputFormat::Text, files(&[64])), 3), PACKET);
    // 2^25 is no multiple of 100, but of 64.
    assert_eq!(beyond(of(InputFormat::Fixed(100), files(&[80])), 3), PACKET * 2);
    assert_eq!(beyond(of(InputFormat::Fixed(64), files(&[80])), 3), Bytes::ZERO);
    // The next block may be shorter than a packet.
    let input = JobInput::Files(vec![file(32) + Bytes::new(1_000)]);
    assert_eq!(beyond(of(InputFormat::Text, input), 3), Bytes::new(1_000));
    // A recorded layout of two files, 80 MiB and 40 MiB.
    let split = |mib: u64| (Bytes::from_mib(mib), vec![NodeId(1)]);
    let layout = JobInput::Splits([32, 32, 16, 32, 8].map(split).to_vec());
    assert_eq!(beyond(of(InputFormat::Text, layout), 3), PACKET * 3);
}

/// Splits of 32 MiB of a group of 3 + 2 parts, whose rows have 3 MiB: the first ends in the row that ends at 33 MiB, the
/// second in the one that ends at 66 MiB. The last, of 16 MiB, is the file's end.
#[test]
fn a_group_is_read_on_to_the_end_of_a_row() {
    let spec = with_workload(plain(0.001), 80 * MIB, 1);
    let mut cfg = config(Generation::Yarn, vec![spec]);
    cfg.hdfs.erasure = Some(ErasureCode::reed_solomon(3, 2));
    let records = run(cfg, 6);
    let read = |map: &&AttemptRecord| map.bytes.read_node + map.bytes.read_rack + map.bytes.read_remote;
    let read: Bytes = succeeded(&records, TaskKind::Map).iter().map(read).sum();
    assert_eq!(read, Bytes::from_mib(80 + 1 + 2));
}

/// The one map's next block has its nearer replica on a node that crashes before: the map takes so much longer as TCP
/// tries to connect.
#[test]
fn a_map_waits_for_a_dead_datanode_at_the_end_of_its_split() {
    let took = |dies: bool| {
        let spec = job("wordcount", 1, 1);
        let split = |nodes: [u32; 2]| (Bytes::from_mib(32), nodes.map(NodeId).to_vec());
        let spec = JobSpec { input: JobInput::Splits(vec![split([1, 2]), split([3, 2])]), ..spec };
        let mut cfg = config(Generation::Yarn, vec![spec]);
        cfg.yarn.node_expiry = Time::from_secs(10);
        let mut world = World::new(cfg, Spec::new(4, 2), 1);
        if dies {
            world.kill(NodeId(3), Time::from_ms(10));
        }
        let records = finish(&mut world);
        let maps = succeeded(&records, TaskKind::Map);
        let map = maps.iter().find(|map| map.task == 0).expect("a map");
        assert_eq!(map.node, NodeId(1), "the test wants it beside its data");
        (map.finish - map.start).as_secs_f64()
    };
    let (with, without) = (took(true), took(false));
    assert!((with - without - 3.0).abs() < 0.01, "{with} s against {without} s");
}
