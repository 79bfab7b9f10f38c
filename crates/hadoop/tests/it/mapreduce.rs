//! What jobs do to their data, in both generations, against arithmetic done by hand.

use crate::jobs::{GENERATIONS, MIB, config, finish, job, job_time, plain, run, succeeded, with_workload};
use crate::support::{Spec, World};
use hadoop::JobId;
use hadoop::mapreduce::{Generation, Replay, ReplayAttempt};
use hadoop::record::{AttemptRecord, JobState, Phase, TaskKind, Waiting};
use hadoop::workload::{Skew, Workload};
use proptest::prelude::*;
use units::{Bytes, Time};

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// A sort writes what it reads, to the byte: of records of 100 bytes, 102 in the buffer and 104 in files, whose
    /// blocks end within records, in any number of maps and reducers, whatever their shares.
    #[test]
    fn a_sort_writes_what_it_reads(
        records in 1_u64..60_000,
        block in 1_u64..4,
        reducers in 1_u32..24,
        skew in 0.0..1.5_f64,
        old in any::<bool>(),
    ) {
        let generation = GENERATIONS[usize::from(old)];
        let sort = Workload { skew: Skew::Zipf(skew), ..Workload::preset("terasort").expect("a preset") };
        let mut cfg = config(generation, vec![with_workload(sort, 100 * records, reducers)]);
        cfg.hdfs.block_size = Bytes::new(block << 20);
        cfg.mapreduce.sort_buffer = Bytes::from_mib(1);
        let records_of = run(cfg, 3);
        let all = |kind: TaskKind, of: &dyn Fn(&AttemptRecord) -> Bytes| {
            succeeded(&records_of, kind).into_iter().map(of).sum::<Bytes>().get()
        };
        let maps = succeeded(&records_of, TaskKind::Map).len() as u64;
        prop_assert_eq!(maps, (100 * records).div_ceil(block << 20));
        prop_assert_eq!(all(TaskKind::Map, &|map| map.bytes.input), 100 * records);
        let output = 104 * records + 6 * maps * u64::from(reducers);
        prop_assert_eq!(all(TaskKind::Map, &|map| map.bytes.output), output);
        let fetched = |reduce: &AttemptRecord| reduce.bytes.fetched_node + reduce.bytes.fetched_network;
        prop_assert_eq!(all(TaskKind::Reduce, &fetched), output);
        prop_assert_eq!(all(TaskKind::Reduce, &|reduce| reduce.bytes.output), 100 * records);
    }
}

#[test]
fn terasort_moves_the_same_bytes_in_both_generations() {
    let volumes = GENERATIONS.map(|generation| {
        let records = run(config(generation, vec![job("terasort", 256 * MIB, 4)]), 4);
        assert_eq!(records.jobs[0].state, JobState::Succeeded);
        let (maps, reduces) = (succeeded(&records, TaskKind::Map), succeeded(&records, TaskKind::Reduce));
        assert_eq!((maps.len(), reduces.len()), (8, 4));
        let sum = |of: &dyn Fn(&AttemptRecord) -> Bytes| records.attempts.iter().map(of).sum::<Bytes>();
        let read = sum(&|a| a.bytes.read_node + a.bytes.read_rack + a.bytes.read_remote);
        let fetched = sum(&|a| a.bytes.fetched_node + a.bytes.fetched_network);
        let map_output: Bytes = maps.iter().map(|a| a.bytes.output).sum();
        assert_eq!(fetched, map_output);
        let written: Vec<Bytes> = reduces.iter().map(|a| a.bytes.output).collect();
        (read, map_output, written)
    });
    // 256 MiB hold 2,684,354.56 records of 100 bytes, 102 with their lengths in the buffer and 104 in the file; 4
    // partitions of each of 8 maps add 6 bytes each.
    let map_output = 273_804_165 + 2_684_355 * 2 + 8 * 24;
    // No block but the last ends with a record (2^25 k is a multiple of 100 from k = 25 on): each of the other seven maps
    // reads a packet of the next.
    assert_eq!(volumes[0].0, Bytes::from_mib(256) + Bytes::new(7 * 65_536));
    assert_eq!(volumes[0].1, Bytes::new(map_output));
    assert_eq!(volumes[0], volumes[1]);
}

/// Two blocks of 32 MiB on the only worker, maps one after the other: start-up 0.2 + 1.2 s and half of the overhead of
/// 0.24 s, then 32 MiB at 0.05 s each behind the first read. The other half of the overhead follows the last byte, as
/// in recorded tasks without work (TestDFSIO's reducer: 0.17 s from the end of its sort to its own).
#[test]
fn a_map_takes_start_up_and_computation_behind_its_first_read() {
    let mut cfg =
        config(Generation::Hadoop1, vec![with_workload(Workload { map_ratio: 0.0, ..plain(0.05) }, 64 * MIB, 0)]);
    cfg.hdfs.replication = 1;
    cfg.mapreduce.hadoop1.map_slots = 1;
    let first_read = cfg.hdfs.local_chunk.get() as f64 / 1e9;
    let records = run(cfg, 1);
    let maps = succeeded(&records, TaskKind::Map);
    assert_eq!(maps.len(), 2);
    // The first reads on to the end of its last record, which begins the second's block: a packet.
    let read: Bytes = maps.iter().map(|map| map.bytes.read_node).sum();
    assert_eq!(read, Bytes::from_mib(64) + Bytes::new(65_536));
    for map in maps {
        let ended = map.first_phase_end.expect("the map function ended") - map.start;
        let expected = 0.2 + 1.2 + 0.12 + first_read + 32.0 * 0.05;
        assert!((ended.as_secs_f64() - expected).abs() < 0.001, "{ended:?} against {expected} s");
        assert!((map.split().of(Waiting::Cpu).as_secs_f64() - 1.72).abs() < 1e-6);
        assert!((map.split().of(Waiting::StartUp).as_secs_f64() - 1.52).abs() < 1e-6);
        let phases: Vec<Phase> = map.intervals.iter().map(|interval| interval.phase).collect();
        assert_eq!(phases, [Phase::Start, Phase::Read, Phase::Compute]);
    }
}

/// A sort buffer of 1,160,000 bytes takes 8,000 records of 100 bytes and their 16 bytes of metadata before it spills at
/// 80 %: 335,544 records make 42 spills. Merging 42 files ten at a time: (42 - 1) mod 9 = 5, so 6 first, which leaves
/// 37; then 10, 10 and 10, which leaves 7 + 3 = 10 for the last.
#[test]
fn spills_and_merge_passes_are_those_of_the_arithmetic() {
    let mut cfg = config(Generation::Yarn, vec![with_workload(plain(0.001), 32 * MIB, 1)]);
    cfg.mapreduce.sort_buffer = Bytes::new(1_160_000);
    let records = run(cfg, 3);
    let map = succeeded(&records, TaskKind::Map)[0];
    assert_eq!(map.spills, 42);
    let unit = 102 * 8_000 + 6_u64;
    let rest = 32 * MIB - 41 * 800_000;
    let last_spill = rest + (rest / 100) * 2 + 6;
    let spilled = 41 * unit + last_spill;
    // The smallest spill, the last one, is in the first pass; the other three take ten full ones each: the first result
    // is smaller than none of them.
    let first_pass = 5 * unit + last_spill;
    let intermediate = first_pass + 3 * 10 * unit;
    let output = 32 * MIB + 335_544 * 2 + 6;
    let near = |a: Bytes, b: u64| assert!(a.get().abs_diff(b) <= 200, "{a:?} against {b} B");
    near(map.bytes.disk_written, spilled + intermediate + output);
    near(map.bytes.disk_read, spilled + intermediate);
    near(map.bytes.output, output);
    let in_passes = (intermediate as f64 / spilled as f64 * 335_544.0) as u64;
    assert!(map.spilled_records.abs_diff(2 * 335_544 + in_passes) < 400, "{}", map.spilled_records);
}

/// Spilling a byte takes four times as long as mapping one. 4 MiB hold 4 / 1.16 = 3.448 MiB of records, and a spill
/// begins at 80 % of that. While one is under way the mapper collects 20 % more and waits; when it is over, 60 % are
/// still missing until the next begins.
#[test]
fn a_mapper_waits_for_a_slow_spill_when_the_buffer_is_full() {
    let mut workload = plain(0.01);
    workload.costs.spill = 0.04 / MIB as f64;
    let mut cfg = config(Generation::Yarn, vec![with_workload(workload, 32 * MIB, 1)]);
    cfg.mapreduce.sort_buffer = Bytes::from_mib(4);
    let records = run(cfg, 3);
    let map = succeeded(&records, TaskKind::Map)[0];
    let hard = 4.0 / 1.16;
    let spill = 0.8 * hard * (1.02 * 0.04 + 1.02 * MIB as f64 / 1e9);
    let (full, rest) = (11.0, 32.0 - 11.0 * 0.8 * hard);
    let expected = 0.01 * (0.8 * hard + (full - 1.0) * 0.6 * hard + rest - 0.2 * hard) + full * spill;
    let compute = map.intervals.iter().find(|i| i.phase == Phase::Compute).expect("it computed");
    let took = (map.first_phase_end.expect("it ended") - compute.start).as_secs_f64();
    assert!((took - expected).abs() < 0.002, "{took} against {expected} s");
    assert_eq!(map.spills, 12);
}

#[test]
fn the_combiner_leaves_one_record_per_key() {
    let output = |name: &str| {
        let mut cfg = config(Generation::Yarn, vec![job(name, 64 * MIB, 4)]);
        cfg.mapreduce.sort_buffer = Bytes::from_mib(64);
        let records = run(cfg, 4);
        succeeded(&records, TaskKind::Map).iter().map(|map| map.bytes.output.get()).sum::<u64>()
    };
    let (with, without) = (output("wordcount"), output("wordcount-nocombine"));
    // A split of 33,554,432 bytes left 61,770,783 bytes without and 663,661 with the combiner in the recorded runs,
    // with the same buffer.
    let ratio = without as f64 / with as f64;
    assert!((ratio / (61_770_783.0 / 663_661.0) - 1.0).abs() < 0.05, "{ratio}");
}

/// With room for little in memory, each fetched output is written as it is, and merged in the passes of `MergePlan`.
#[test]
fn outputs_above_the_single_limit_go_to_disk() {
    let mut cfg = config(Generation::Yarn, vec![with_workload(plain(0.001), 256 * MIB, 1)]);
    cfg.mapreduce.reduce_heap = Bytes::from_mib(40);
    let records = run(cfg, 4);
    let reduce = succeeded(&records, TaskKind::Reduce)[0];
    let fetched = reduce.bytes.fetched_node + reduce.bytes.fetched_network;
    // 2,684,354.56 records of 100 bytes, each with its two lengths, in 8 files.
    let output = 256 * MIB + 2_684_355 * 2 + 8 * 6;
    assert_eq!(fetched, Bytes::new(output));
    // Eight files are merged in one pass that is not written: each byte is written once and read once.
    assert_eq!(reduce.bytes.disk_written, fetched);
    assert_eq!(reduce.bytes.disk_read, fetched);
    assert_eq!(reduce.spills, 0);
}

/// 70 % of a heap of 100 MiB holds map outputs, and two thirds of that begin a merge: 46.2 MiB are two outputs of 32
/// MiB.
#[test]
fn memory_is_merged_when_two_thirds_full() {
    let mut cfg = config(Generation::Yarn, vec![with_workload(plain(0.001), 256 * MIB, 1)]);
    cfg.mapreduce.reduce_heap = Bytes::from_mib(100);
    cfg.mapreduce.shuffle_memory_limit_percent = 0.5;
    let records = run(cfg, 4);
    let reduce = succeeded(&records, TaskKind::Reduce)[0];
    assert_eq!(reduce.spills, 4);
    assert_eq!(reduce.bytes.disk_written, reduce.bytes.input);
}

#[test]
fn skew_gives_the_first_reducer_its_share() {
    let workload = Workload { skew: Skew::Explicit(vec![7.0, 1.0, 1.0, 1.0]), ..plain(0.001) };
    let records = run(config(Generation::Yarn, vec![with_workload(workload, 128 * MIB, 4)]), 4);
    let reduces = succeeded(&records, TaskKind::Reduce);
    let total: u64 = reduces.iter().map(|reduce| reduce.bytes.input.get()).sum();
    let first = reduces.iter().find(|reduce| reduce.task == 0).expect("reducer 0").bytes.input.get();
    assert!((first as f64 / total as f64 - 0.7).abs() < 1e-6);
}

#[test]
fn reducers_start_when_slow_start_allows() {
    for generation in GENERATIONS {
        for (slow_start, needed) in [(0.05, 1), (0.5, 8), (1.0, 16)] {
            let mut cfg = config(generation, vec![with_workload(plain(0.2), 512 * MIB, 2)]);
            cfg.mapreduce.slow_start = slow_start;
            cfg.mapreduce.hadoop1.map_slots = 1;
            cfg.yarn.node_memory = Bytes::from_mib(4_096);
            let records = run(cfg, 4);
            let mut ends: Vec<Time> = succeeded(&records, TaskKind::Map).iter().map(|map| map.finish).collect();
            ends.sort_unstable();
            let requested: Vec<Time> = succeeded(&records, TaskKind::Reduce).iter().map(|r| r.requested).collect();
            assert_eq!(requested, [ends[needed - 1]; 2], "{generation:?} {slow_start}");
        }
    }
}

#[test]
fn map_only_jobs_write_what_their_maps_make() {
    for generation in GENERATIONS {
        let records = run(config(generation, vec![job("teragen", 100 * MIB, 0)]), 4);
        let maps = succeeded(&records, TaskKind::Map);
        assert_eq!(maps.iter().map(|map| map.bytes.output).collect::<Vec<_>>(), [Bytes::from_mib(50); 2]);
        assert_eq!(maps.iter().map(|map| map.spills).sum::<u32>(), 0);
    }
}

#[test]
fn a_whole_file_is_one_split() {
    let mut spec = job("dfsio-read", 96 * MIB, 1);
    spec.whole_files = true;
    let records = run(config(Generation::Yarn, vec![spec]), 4);
    let maps = succeeded(&records, TaskKind::Map);
    assert_eq!(maps.len(), 1);
    assert_eq!(maps[0].bytes.input, Bytes::from_mib(96));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for generation in GENERATIONS {
        let run = |seed| {
            let cfg = config(generation, vec![job("wordcount", 256 * MIB, 3)]);
            let mut world = World::new(cfg, Spec::new(4, 2), seed);
            (finish(&mut world), world.digest)
        };
        let (first, again, other) = (run(7), run(7), run(8));
        assert_eq!(first, again);
        assert_ne!(first.1, other.1);
    }
}

/// A run's own attempts, given as a record, start again where and when they did, and the job takes as long.
#[test]
fn a_replay_puts_attempts_where_and_when_they_were() {
    for generation in GENERATIONS {
        let spec = || vec![job("terasort", 256 * MIB, 4)];
        let mut world = World::new(config(generation, spec()), Spec::new(4, 1), 3);
        let records = finish(&mut world);
        let attempts: Vec<ReplayAttempt> =
            records.attempts.iter().map(|a| ReplayAttempt::starting(a.kind, a.task, a.node, a.start)).collect();
        let launch = records.jobs[0].launch;
        let mut cfg = config(generation, spec());
        cfg.mapreduce.replays = [(JobId(0), Replay { launch, attempts: attempts.clone(), ..Replay::default() })].into();
        let mut again = World::new(cfg, Spec::new(4, 1), 3);
        let replayed = finish(&mut again);
        let mut seen: Vec<ReplayAttempt> =
            replayed.attempts.iter().map(|a| ReplayAttempt::starting(a.kind, a.task, a.node, a.start)).collect();
        let mut wanted = attempts;
        let key = |a: &ReplayAttempt| (a.start, a.kind, a.task);
        seen.sort_by_key(key);
        wanted.sort_by_key(key);
        assert_eq!(seen, wanted);
        let (first, second) = (job_time(&records), job_time(&replayed));
        assert!((second / first - 1.0).abs() < 0.03, "{generation:?}: {second} against {first} s");
    }
}

/// A map writes 34 MB to the page cache, and the reducers fetch it from there: 17 MB each over a link of a gigabit take
/// 0.14 s, or 0.27 s where both share one, and 8.6 ms on the map's own node. The disk, at 10 MB/s, would take 3.4 s.
#[test]
fn a_reducer_finds_fresh_map_output_in_memory() {
    let mut cfg =
        config(Generation::Yarn, vec![with_workload(Workload { reduce_ratio: 0.0, ..plain(0.001) }, 32 * MIB, 2)]);
    cfg.mapreduce.slow_start = 1.0;
    let rate = units::BitRate::from_mbps(80);
    let disk = storage::RotatingSpec::flat(Time::ZERO, rate, rate);
    let cache = storage::CacheSpec::linux(Bytes::from_mib(8 << 10));
    let spec = Spec { disk: storage::DiskSpec::Rotating(disk), cache, ..Spec::new(3, 1) };
    let records = finish(&mut World::new(cfg, spec, 1));
    for reduce in succeeded(&records, TaskKind::Reduce) {
        let fetch = reduce.intervals.iter().find(|interval| interval.phase == Phase::Fetch).expect("it fetched");
        let took = (fetch.finish - fetch.start).as_secs_f64();
        let least = if reduce.bytes.fetched_network > Bytes::ZERO { 0.13 } else { 0.008 };
        assert!((least..0.4).contains(&took), "{took} s");
    }
}
