//! The page cache before the disks.

use proptest::prelude::*;
use storage::{CacheSpec, DiskSpec, Op, Request, RotatingSpec, Store, Stream};
use units::{BitRate, Bytes, Time};

const MB: u64 = 1_000_000;

/// 100 MB/s, no positioning, so that the times are plain.
fn disk() -> DiskSpec {
    let rate = BitRate::from_bps(800_000_000);
    DiskSpec::Rotating(RotatingSpec::flat(Time::ZERO, rate, rate))
}

/// Copies at 1 GB/s.
fn cache(capacity: u64, dirty_limit: u64, background: u64) -> CacheSpec {
    CacheSpec {
        capacity: Bytes::new(capacity),
        dirty_limit: Bytes::new(dirty_limit),
        background: Bytes::new(background),
        expire: Time::from_secs(30),
        copy_rate: BitRate::from_gbps(8),
    }
}

fn request(op: Op, id: u64, offset: u64, bytes: u64, tag: u64) -> Request<u64> {
    let stream = Stream { node: (tag >> 32) as u32, id, part: 0 };
    Request { op, stream, offset: Bytes::new(offset), bytes: Bytes::new(bytes), places: 1, tag }
}

fn run_until(store: &mut Store<u64>, until: Time) -> Vec<(Time, u64)> {
    let (mut all, mut done) = (Vec::new(), Vec::new());
    while store.deadline() <= until && store.deadline() < Time::MAX {
        let now = store.deadline();
        store.on_timer(now, &mut done);
        all.extend(done.drain(..).map(|tag| (now, tag)));
    }
    all
}

#[test]
fn a_read_comes_from_the_disk_once_and_then_from_memory() {
    let mut store = Store::new(&[disk()], cache(1000 * MB, 200 * MB, 100 * MB));
    store.submit(Time::ZERO, 0, request(Op::Read, 1, 0, 10 * MB, 1));
    assert_eq!(run_until(&mut store, Time::MAX), vec![(Time::from_ms(100), 1)]);
    let now = Time::from_ms(100);
    store.submit(now, 0, request(Op::Read, 1, 5 * MB, 10 * MB, 2));
    // Half of it is in memory.
    assert_eq!(run_until(&mut store, Time::MAX), vec![(Time::from_ms(150), 2)]);
    store.submit(Time::from_ms(150), 0, request(Op::Read, 1, 0, 15 * MB, 3));
    assert_eq!(run_until(&mut store, Time::MAX), vec![(Time::from_ms(165), 3)]);
    assert_eq!(store.counters().hits, Bytes::from_mb(20));
    assert_eq!(store.counters().misses, Bytes::from_mb(15));
    assert_eq!(store.disk_counters(Time::MAX, 0, 0).read, Bytes::from_mb(15));
}

/// Whoever reads a part of a file as a stream of its own finds in memory what was written as a whole, and the other
/// way round.
#[test]
fn memory_knows_files_whoever_reads_them() {
    let mut store = Store::new(&[disk()], cache(1000 * MB, 200 * MB, 100 * MB));
    store.submit(Time::ZERO, 0, request(Op::Write, 1, 0, 10 * MB, 1));
    assert_eq!(run_until(&mut store, Time::from_ms(10)), vec![(Time::from_ms(10), 1)]);
    let part = |offset: u64, bytes: u64, tag: u64| {
        let whole = request(Op::Read, 1, offset, bytes, tag);
        Request { stream: Stream { part: 3, ..whole.stream }, ..whole }
    };
    // Two MB at 1 GB/s, then two that end 1 MB beyond what was written, which comes from the disk at 100 MB/s.
    store.submit(Time::from_ms(10), 0, part(4 * MB, 2 * MB, 2));
    assert_eq!(run_until(&mut store, Time::from_ms(15)), vec![(Time::from_ms(12), 2)]);
    store.submit(Time::from_ms(15), 0, part(9 * MB, 2 * MB, 3));
    assert_eq!(run_until(&mut store, Time::from_ms(30)), vec![(Time::from_ms(25), 3)]);
    store.submit(Time::from_ms(30), 0, request(Op::Read, 1, 0, 11 * MB, 4));
    assert_eq!(run_until(&mut store, Time::from_ms(100)), vec![(Time::from_ms(41), 4)]);
    assert_eq!(store.counters().misses, Bytes::from_mb(1));
}

#[test]
fn a_write_is_done_at_memory_speed_and_reaches_the_disk_when_it_expires() {
    let mut store = Store::new(&[disk()], cache(1000 * MB, 200 * MB, 100 * MB));
    store.submit(Time::ZERO, 0, request(Op::Write, 1, 0, 50 * MB, 1));
    assert_eq!(run_until(&mut store, Time::from_secs(29)), vec![(Time::from_ms(50), 1)]);
    assert_eq!(store.disk_counters(Time::MAX, 0, 0).written, Bytes::ZERO);
    run_until(&mut store, Time::MAX);
    assert_eq!(store.disk_counters(Time::MAX, 0, 0).written, Bytes::from_mb(50));
    assert_eq!(store.unwritten(), Bytes::ZERO);
}

/// A long stream of writes: the first `dirty_limit` at memory speed, the rest at the disk's.
#[test]
fn beyond_the_dirty_limit_writers_go_at_the_pace_of_the_disk() {
    let mut store = Store::new(&[disk()], cache(1000 * MB, 200 * MB, 100 * MB));
    let (mut now, mut done, mut written) = (Time::ZERO, Vec::new(), 0);
    store.submit(now, 0, request(Op::Write, 1, 0, MB, 0));
    while written < 1_200 {
        now = store.deadline();
        store.on_timer(now, &mut done);
        for _ in done.drain(..) {
            written += 1;
            store.submit(now, 0, request(Op::Write, 1, written * MB, MB, written));
        }
    }
    // All but what may be dirty is on disk: 1,000 MB at 100 MB/s, begun when 100 MB were dirty at 1 GB/s, extents of 4
    // MiB apart.
    let expected = 0.1 + 10.0;
    assert!((now.as_secs_f64() / expected - 1.0).abs() < 0.01, "{now} against {expected}");
    assert!(store.counters().throttled > 0);
    assert!(store.unwritten() <= Bytes::from_mb(200));
}

#[test]
fn what_was_just_written_is_read_from_memory() {
    let mut store = Store::new(&[disk()], cache(1000 * MB, 200 * MB, 100 * MB));
    store.submit(Time::ZERO, 0, request(Op::Write, 1, 0, 20 * MB, 1));
    run_until(&mut store, Time::from_ms(20));
    store.submit(Time::from_ms(20), 0, request(Op::Read, 1, 0, 20 * MB, 2));
    assert_eq!(run_until(&mut store, Time::from_secs(1)), vec![(Time::from_ms(40), 2)]);
}

#[test]
fn the_least_recently_used_stream_leaves_first() {
    let mut store = Store::new(&[disk()], cache(10 * MB, 2 * MB, MB));
    let mut now = Time::ZERO;
    let mut read = |id: u64| {
        let before = store.counters().misses;
        store.submit(now, 0, request(Op::Read, id, 0, 4 * MB, id));
        now = run_until(&mut store, Time::MAX)[0].0;
        store.counters().misses > before
    };
    assert!(read(1) && read(2));
    assert!(!read(1)); // 1 is now younger than 2
    assert!(read(3)); // drops 2
    assert!(!read(1) && read(2));
}

#[test]
fn without_a_cache_each_request_is_one_of_the_disk() {
    let mut store = Store::new(&[disk()], CacheSpec::none());
    store.submit(Time::ZERO, 0, request(Op::Write, 1, 0, 10 * MB, 1));
    store.submit(Time::ZERO, 0, request(Op::Read, 1, 0, 10 * MB, 2));
    let done = run_until(&mut store, Time::MAX);
    assert_eq!(done.last().map(|(at, _)| *at), Some(Time::from_ms(200)));
    assert_eq!(store.cached(), Bytes::ZERO);
}

#[test]
fn a_crash_empties_a_nodes_memory_and_forgets_its_requests() {
    let mut store = Store::new(&[disk(), disk()], cache(1000 * MB, 200 * MB, 100 * MB));
    let other = 1 << 32;
    store.submit(Time::ZERO, 0, request(Op::Read, 1, 0, 10 * MB, 1));
    store.submit(Time::ZERO, 1, request(Op::Read, 1, 0, 10 * MB, other));
    store.submit(Time::ZERO, 0, request(Op::Write, 2, 0, 10 * MB, 2));
    store.drop_node(Time::ZERO, 0);
    assert_eq!(run_until(&mut store, Time::MAX), vec![(Time::from_ms(100), other)]);
    assert_eq!(store.unwritten(), Bytes::ZERO);
    assert_eq!(store.cached(), Bytes::from_mb(10));
}

proptest! {
    /// Each request is reported once; every byte written is on the disk in the end, at least once and at most as often
    /// as it was written.
    #[test]
    fn bytes_are_conserved(
        asks in prop::collection::vec((0_u64..3_000, 0_u64..4, any::<bool>(), 0_u64..20, 1_u64..8_000_000), 1..60),
        capacity in 0_u64..40,
    ) {
        let mut asks = asks;
        asks.sort_unstable();
        let mut store = Store::new(&[disk(), disk()], cache(capacity * MB, capacity * MB / 4, capacity * MB / 8));
        let mut reported = Vec::new();
        for (tag, &(at, id, write, place, bytes)) in asks.iter().enumerate() {
            reported.extend(run_until(&mut store, Time::from_ms(at)));
            let op = if write { Op::Write } else { Op::Read };
            // A stream stays on its disk.
            store.submit(Time::from_ms(at), id as u32, request(op, id, place * MB, bytes, tag as u64));
        }
        reported.extend(run_until(&mut store, Time::MAX));
        let mut tags: Vec<_> = reported.iter().map(|(_, tag)| *tag).collect();
        tags.sort_unstable();
        prop_assert_eq!(tags, (0..asks.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(store.unwritten(), Bytes::ZERO);
        let on_disk: u64 = (0..2).map(|d| store.disk_counters(Time::MAX, d, 0).written.get()).sum();
        let asked: u64 = asks.iter().filter(|ask| ask.2).map(|ask| ask.4).sum();
        prop_assert!(on_disk <= asked);
        let mut distinct: Vec<(u64, u64, u64)> =
            asks.iter().filter(|ask| ask.2).map(|ask| (ask.1, ask.3 * MB, ask.3 * MB + ask.4)).collect();
        distinct.sort_unstable();
        let (mut union, mut reach) = (0, (u64::MAX, 0));
        for (id, start, end) in distinct {
            let from = if reach.0 == id { start.max(reach.1) } else { start };
            union += end.saturating_sub(from);
            reach = (id, if reach.0 == id { end.max(reach.1) } else { end });
        }
        prop_assert!(on_disk >= union, "{} on disk of {}", on_disk, union);
        prop_assert!(store.cached() <= Bytes::new(capacity * MB));
    }
}
