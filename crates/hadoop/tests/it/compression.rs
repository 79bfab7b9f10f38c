//! Compression of map outputs and of the output, against arithmetic done by hand.

use crate::jobs::{GENERATIONS, MIB, config, finish, plain, succeeded, with_workload};
use crate::support::{Spec, World};
use hadoop::mapreduce::{Compression, Generation, JobCompression};
use hadoop::record::{AttemptRecord, Records, TaskKind, Waiting};
use hadoop::workload::Workload;
use hadoop::{Config, NodeId};
use units::Bytes;

/// A quarter is left; 8 bytes of frame; 10 ns to compress a byte, 2 ns to restore it.
const CODEC: Compression = Compression { ratio: 0.25, frame: 8, compress: 10e-9, decompress: 2e-9 };
const MAPS: JobCompression = JobCompression { map: Some(CODEC), output: None };

/// 32 MiB are 335,544 records of 100 bytes; each has two bytes of lengths in the file, each of two partitions an end
/// marker of two bytes and a checksum of four.
const PLAIN: u64 = 33_554_432 + 335_544 * 2 + 2 * 6;
/// All but the checksums shrinks to a quarter; each partition has a frame of 8 bytes.
const PACKED: u64 = (PLAIN - 2 * 4) / 4 + 2 * (4 + 8);

/// One map of 32 MiB whose output goes to reducers that write nothing and start when it is done.
fn one_map(generation: Generation, compression: JobCompression, reducers: u32) -> Config {
    let mut job = with_workload(Workload { reduce_ratio: 0.0, ..plain(0.001) }, 32 * MIB, reducers);
    job.compression = compression;
    let mut config = config(generation, vec![job]);
    config.mapreduce.slow_start = 1.0;
    // One spill in Hadoop 1 too, where 5 % of the buffer is for metadata.
    config.mapreduce.sort_buffer = Bytes::from_mib(200);
    config
}

fn run(config: Config) -> (Records, u64) {
    let mut world = World::new(config, Spec::new(3, 1), 1);
    let records = finish(&mut world);
    let received = (0..=3).map(|node| world.received(NodeId(node)).get()).sum();
    (records, received)
}

fn sum(attempts: &[&AttemptRecord], of: impl Fn(&AttemptRecord) -> Bytes) -> u64 {
    attempts.iter().map(|attempt| of(attempt).get()).sum()
}

#[test]
fn a_spill_and_the_shuffle_carry_compressed_bytes() {
    for generation in GENERATIONS {
        let (records, received) = run(one_map(generation, MAPS, 2));
        let map = succeeded(&records, TaskKind::Map)[0];
        assert_eq!(map.bytes.disk_written, Bytes::new(PACKED));
        assert_eq!((map.bytes.output, map.bytes.output_plain), (Bytes::new(PACKED), Bytes::new(PLAIN)));
        let reduces = succeeded(&records, TaskKind::Reduce);
        assert_eq!(sum(&reduces, |reduce| reduce.bytes.fetched_node + reduce.bytes.fetched_network), PACKED);
        // On the wire: the same cluster without compression receives so much more as crosses it less compressed.
        let network = |reduces: &[&AttemptRecord]| sum(reduces, |reduce| reduce.bytes.fetched_network);
        let (without, received_plain) = run(one_map(generation, JobCompression::default(), 2));
        let saved = network(&succeeded(&without, TaskKind::Reduce)) - network(&reduces);
        assert!(saved > PLAIN / 3, "a reducer is on another node than the map, {saved}");
        let difference = received_plain - received;
        assert!(difference.abs_diff(saved) < 20_000, "{difference} bytes less on the wire, {saved} saved");
    }
}

/// The map compresses what it spills. The reducer restores it as it arrives, compresses what leaves its memory and
/// restores that for the reduce function: each plain byte costs it 2 + 10 + 2 ns.
#[test]
fn compressing_and_restoring_take_the_processor() {
    let cpu = |compression: JobCompression| {
        let (records, _) = run(one_map(Generation::Yarn, compression, 1));
        [TaskKind::Map, TaskKind::Reduce].map(|kind| {
            let attempts = succeeded(&records, kind);
            attempts.iter().map(|attempt| attempt.split().of(Waiting::Cpu).as_secs_f64()).sum::<f64>()
        })
    };
    let (with, without) = (cpu(MAPS), cpu(JobCompression::default()));
    let plain = (PLAIN - 6) as f64;
    let expected = [plain * 10e-9, plain * 14e-9];
    for (kind, more) in expected.into_iter().enumerate() {
        let took = with[kind] - without[kind];
        // Disk and processor take turns: part of the work hides behind disk requests of 1 ns per byte.
        assert!((took - more).abs() < 0.002 * more + 0.01, "{took} s more against {more} s");
    }
}

/// A reducer's memory holds what it has decompressed. An output of 34 MB goes to disk if a quarter of 70 % of the heap
/// is 17.5 MiB, however short it is on the wire, and stays compressed there.
#[test]
fn memory_counts_plain_bytes_and_disks_compressed_ones() {
    let mut config = one_map(Generation::Yarn, MAPS, 1);
    config.mapreduce.reduce_heap = Bytes::from_mib(100);
    let (records, _) = run(config);
    let reduce = succeeded(&records, TaskKind::Reduce)[0];
    let fetched = reduce.bytes.fetched_node + reduce.bytes.fetched_network;
    assert!(fetched.get().abs_diff((PLAIN - 6 - 4) / 4 + 4 + 8) <= 1, "{fetched:?}");
    assert_eq!(reduce.bytes.disk_written, fetched);
    assert_eq!(reduce.bytes.disk_read, fetched);
    assert_eq!(reduce.spills, 0);
}

/// 42 spills and five merge passes (`spills_and_merge_passes_are_those_of_the_arithmetic` in `mapreduce.rs`) write and
/// read a quarter of the bytes, and spill as many records.
#[test]
fn merges_shrink_as_the_spills_do() {
    let map = |compression: JobCompression| {
        let mut config = one_map(Generation::Yarn, compression, 1);
        config.mapreduce.sort_buffer = Bytes::new(1_160_000);
        let (records, _) = run(config);
        succeeded(&records, TaskKind::Map)[0].clone()
    };
    let (with, without) = (map(MAPS), map(JobCompression::default()));
    assert_eq!((with.spills, without.spills), (42, 42));
    // Beside the quarter: a frame of 8 bytes and three quarters of a checksum for each of 47 files.
    let near = |with: Bytes, without: Bytes| {
        let more = with.get() as f64 - without.get() as f64 / 4.0;
        assert!((0.0..600.0).contains(&more), "{with:?} of {without:?}");
    };
    near(with.bytes.disk_written, without.bytes.disk_written);
    near(with.bytes.disk_read, without.bytes.disk_read);
    assert!(with.spilled_records.abs_diff(without.spilled_records) < 400);
}

/// A job's output shrinks in HDFS, in a job without reducers too, but not what a map function writes by itself.
#[test]
fn output_is_compressed_by_its_task() {
    let compression = JobCompression { map: None, output: Some(CODEC) };
    for (reducers, side) in [(1, 0.0), (0, 0.0), (0, 0.5)] {
        let workload = Workload { side_output_ratio: side, ..plain(0.001) };
        let mut job = with_workload(workload, 32 * MIB, reducers);
        job.compression = compression;
        let (records, _) = run(config(Generation::Yarn, vec![job]));
        let kind = if reducers == 0 { TaskKind::Map } else { TaskKind::Reduce };
        let written = succeeded(&records, kind)[0].bytes;
        // A reducer's records have lengths, too; what ends a partition is none.
        let plain = if reducers == 0 { 32 * MIB } else { PLAIN - 2 * 6 };
        let side = (side * (32 * MIB) as f64) as u64;
        assert_eq!(written.output_plain, Bytes::new(plain + side));
        assert!(written.output.get().abs_diff(plain / 4 + side) <= 1, "{:?}", written.output);
    }
}
