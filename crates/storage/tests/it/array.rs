//! Arrays of disks against closed forms.

use storage::{ArraySpec, CacheSpec, DiskSpec, Op, RaidLevel, Request, RotatingSpec, Store, Stream, VolumeSpec};
use units::{BitRate, Bytes, Time};

const RATE: BitRate = BitRate::from_bps(800_000_000); // 100 MB/s
const UNIT: u64 = 64 << 10;

fn array(level: RaidLevel, members: u32, position: Time) -> Store<u64> {
    let disk =
        DiskSpec::Rotating(RotatingSpec { capacity: Bytes::from_mb(100), ..RotatingSpec::flat(position, RATE, RATE) });
    let spec = ArraySpec { level, members, unit: Bytes::new(UNIT), rebuild: BitRate::from_gbps(8) };
    Store::new(&[VolumeSpec { disk, array: Some(spec) }], CacheSpec::none())
}

fn request(op: Op, id: u64, offset: u64, bytes: u64, tag: u64) -> Request<u64> {
    Request {
        op,
        stream: Stream { node: 0, id, part: 0 },
        offset: Bytes::new(offset),
        bytes: Bytes::new(bytes),
        places: 1,
        tag,
    }
}

fn finish(store: &mut Store<u64>) -> Vec<(Time, u64)> {
    let (mut all, mut done) = (Vec::new(), Vec::new());
    while store.deadline() < Time::MAX {
        let now = store.deadline();
        store.on_timer(now, &mut done);
        all.extend(done.drain(..).map(|tag| (now, tag)));
    }
    all
}

fn moved(store: &Store<u64>, members: usize) -> (u64, u64) {
    let counters = (0..members).map(|member| store.disk_counters(Time::MAX, 0, member));
    counters.fold((0, 0), |sum, of| (sum.0 + of.read.get(), sum.1 + of.written.get()))
}

/// One long transfer: the rate in media rates.
fn speed(level: RaidLevel, members: u32, op: Op) -> f64 {
    let mut store = array(level, members, Time::ZERO);
    // A multiple of the row of every number of members used here.
    let bytes = UNIT * 60 * 20;
    store.submit(Time::ZERO, 0, request(op, 1, 0, bytes, 1));
    let done = finish(&mut store);
    bytes as f64 / done[0].0.as_secs_f64() / 100e6
}

/// Patterson et al. 1988, table of levels: striping gives n disks' rate, parity takes one of it, mirrors write at one
/// disk's.
#[test]
fn long_transfers_go_at_the_rate_of_the_data_disks() {
    for members in [3, 4, 6] {
        let n = f64::from(members);
        for (level, op, expected) in [
            (RaidLevel::Raid0, Op::Read, n),
            (RaidLevel::Raid0, Op::Write, n),
            (RaidLevel::Raid1, Op::Write, 1.0),
            (RaidLevel::Raid5, Op::Read, n - 1.0),
            (RaidLevel::Raid5, Op::Write, n - 1.0),
        ] {
            let got = speed(level, members, op);
            assert!((got / expected - 1.0).abs() < 0.03, "{level:?} of {members}, {op:?}: {got} against {expected}");
        }
    }
}

/// A small write costs four accesses, of which two follow two others: twice the time, and four times the accesses.
#[test]
fn a_small_write_with_parity_reads_before_it_writes() {
    let mut store = array(RaidLevel::Raid5, 5, Time::from_ms(10));
    store.submit(Time::ZERO, 0, request(Op::Write, 1, 0, 4_096, 1));
    let done = finish(&mut store);
    // 10 ms and 41 us for the reads; the head is behind the bytes then, and comes back in 10 ms.
    assert!((done[0].0.as_secs_f64() / (2.0 * (10e-3 + 4_096.0 / 100e6)) - 1.0).abs() < 1e-3, "{}", done[0].0);
    assert_eq!(moved(&store, 5), (8_192, 8_192));
}

/// Mirrors share readers: two streams go at one disk's rate each.
#[test]
fn mirrors_share_reads() {
    let mut store = array(RaidLevel::Raid1, 2, Time::ZERO);
    for id in 0..2 {
        store.submit(Time::ZERO, 0, request(Op::Read, id, 0, 10_000_000, id));
    }
    assert_eq!(finish(&mut store), [(Time::from_ms(100), 0), (Time::from_ms(100), 1)]);
}

/// A reader with two requests of 1 MB under way, each of which takes 10 ms, stays on one mirror: one positioning of 10 ms
/// and 200 ms for 20 MB. Two such readers have a mirror each, and are as fast.
#[test]
fn a_stream_stays_on_its_mirror() {
    for readers in [1_u64, 2] {
        let mut store = array(RaidLevel::Raid1, 2, Time::from_ms(10));
        let ask = |store: &mut Store<u64>, now, id: u64, number: u64| {
            store.submit(now, 0, request(Op::Read, id, number * 1_000_000, 1_000_000, number * 2 + id));
        };
        for number in 0..2 {
            for id in 0..readers {
                ask(&mut store, Time::ZERO, id, number);
            }
        }
        let (mut tags, mut last) = (Vec::new(), Time::ZERO);
        while store.deadline() < Time::MAX {
            last = store.deadline();
            store.on_timer(last, &mut tags);
            for tag in tags.drain(..).filter(|tag| tag / 2 + 2 < 20) {
                ask(&mut store, last, tag % 2, tag / 2 + 2);
            }
        }
        let read = |member| store.disk_counters(last, 0, member).read.get() / 1_000_000;
        assert_eq!((last, read(0), read(1)), (Time::from_ms(210), 20, 20 * (readers - 1)));
    }
}

/// Writes that follow one another fill rows together: nothing is read, whatever their length.
#[test]
fn the_stripe_cache_fills_rows_of_sequential_writes() {
    let mut store = array(RaidLevel::Raid5, 4, Time::from_ms(10));
    let (bytes, count) = (1_000_000, 20);
    let mut now = Time::ZERO;
    let mut done = Vec::new();
    for i in 0..count {
        store.submit(now, 0, request(Op::Write, 1, i * bytes, bytes, i));
        while done.is_empty() {
            now = store.deadline();
            store.on_timer(now, &mut done);
        }
        done.clear();
    }
    let (read, written) = moved(&store, 4);
    assert_eq!(read, 0);
    let whole = bytes * count / (3 * UNIT) * (3 * UNIT);
    assert_eq!(written, whole / 3 * 4);
    // What does not fill a row follows when nothing more comes: its untouched units or its old data are read.
    finish(&mut store);
    let (read, written) = moved(&store, 4);
    assert!(read > 0 && written > bytes * count * 4 / 3, "{read} {written}");
}

/// With a member lost its data come from all others: a small read takes n - 1 accesses, a long one as long as before.
#[test]
fn a_degraded_array_reads_from_the_others() {
    let mut store = array(RaidLevel::Raid5, 4, Time::ZERO);
    // Unit 0 is on member 0: the first row's parity is on member 3.
    assert_eq!(store.fail_member(Time::ZERO, 0, 0), None, "parity has it all");
    store.submit(Time::ZERO, 0, request(Op::Read, 1, 0, 4_096, 1));
    finish(&mut store);
    assert_eq!(moved(&store, 4), (3 * 4_096, 0));
    let bytes = UNIT * 3 * 400;
    let begin = Time::from_secs(1);
    store.submit(begin, 0, request(Op::Read, 1, 0, bytes, 2));
    let done = finish(&mut store);
    let rate = bytes as f64 / (done[0].0 - begin).as_secs_f64() / 100e6;
    assert!((rate / 3.0 - 1.0).abs() < 0.03, "{rate}");
    assert_eq!(store.fail_member(begin, 0, 1), Some(Vec::new()), "two are too many");
    assert!(store.is_gone(0));
}

/// What a member owed when it failed is read from the others, and every request is answered once.
#[test]
fn requests_under_way_outlive_a_member() {
    let mut store = array(RaidLevel::Raid5, 4, Time::from_ms(5));
    for tag in 0..20 {
        let op = if tag % 3 == 0 { Op::Write } else { Op::Read };
        store.submit(Time::ZERO, 0, request(op, tag, 0, 500_000, tag));
    }
    let (mut done, mut all) = (Vec::new(), Vec::new());
    while store.deadline() < Time::from_ms(40) {
        let now = store.deadline();
        store.on_timer(now, &mut done);
    }
    all.append(&mut done);
    assert!(all.len() < 20);
    assert_eq!(store.fail_member(Time::from_ms(40), 0, 2), None);
    all.extend(finish(&mut store).into_iter().map(|(_, tag)| tag));
    all.sort_unstable();
    assert_eq!(all, (0..20).collect::<Vec<_>>());
}

/// The array goes on until `end`, and says when it has done something last.
fn busy_until(store: &mut Store<u64>, end: Time) -> Time {
    let mut last = Time::ZERO;
    while store.deadline() < end {
        last = store.deadline();
        store.on_timer(last, &mut Vec::new());
    }
    last
}

/// A spare of 100 MB is filled from the others at the media's rate, as what has been read is written while the others
/// read on: a second, and one window of 1 MiB more; and all others are read once.
#[test]
fn a_spare_is_filled_from_the_others() {
    let mut store = array(RaidLevel::Raid5, 4, Time::ZERO);
    store.fail_member(Time::ZERO, 0, 1);
    assert_eq!(store.rebuilt(0), None);
    store.replace_member(Time::ZERO, 0, 1);
    assert_eq!(store.rebuilt(0), Some(0.0));
    let last = busy_until(&mut store, Time::MAX);
    assert_eq!(store.rebuilt(0), None);
    assert_eq!(moved(&store, 4), (300_000_000, 100_000_000));
    assert!((last.as_secs_f64() / 1.0105 - 1.0).abs() < 0.005, "{last}");
    // It is whole again.
    assert_eq!(store.fail_member(last, 0, 3), None);
}

/// A spare that has no write cache to take what comes is written without a break all the same, as the next part is
/// there before the last is written.
#[test]
fn a_spare_without_a_write_cache_misses_no_revolution() {
    let array =
        ArraySpec { level: RaidLevel::Raid5, members: 4, unit: Bytes::new(UNIT), rebuild: ArraySpec::SYNC_SPEED };
    let mut store: Store<u64> =
        Store::new(&[VolumeSpec { disk: DiskSpec::sas_10k(), array: Some(array) }], CacheSpec::none());
    store.fail_member(Time::ZERO, 0, 1);
    store.replace_member(Time::ZERO, 0, 1);
    let end = Time::from_secs(20);
    busy_until(&mut store, end);
    let spare = store.disk_counters(end, 0, 1);
    assert!(spare.busy.as_secs_f64() > 19.8, "{spare:?}");
    assert!(spare.positioning.as_secs_f64() < 0.1, "{spare:?}");
}

/// Of three mirrors one is enough.
#[test]
fn the_last_mirror_answers() {
    let mut store = array(RaidLevel::Raid1, 3, Time::ZERO);
    assert_eq!(store.fail_member(Time::ZERO, 0, 0), None);
    assert_eq!(store.fail_member(Time::ZERO, 0, 1), None);
    store.submit(Time::ZERO, 0, request(Op::Read, 1, 0, 1_000_000, 1));
    assert_eq!(finish(&mut store), [(Time::from_ms(10), 1)]);
    assert_eq!(store.fail_member(Time::from_ms(10), 0, 2), Some(Vec::new()));
}

/// A spare fails half way, after half a second: it is filled no further, the array is degraded, and another spare
/// begins anew. That takes a second.
#[test]
fn a_spare_that_fails_is_filled_no_further() {
    let mut store = array(RaidLevel::Raid5, 4, Time::ZERO);
    store.fail_member(Time::ZERO, 0, 1);
    store.replace_member(Time::ZERO, 0, 1);
    let half = Time::from_ms(505);
    busy_until(&mut store, half);
    assert_eq!(store.fail_member(half, 0, 1), None);
    assert_eq!(store.rebuilt(0), None);
    busy_until(&mut store, Time::MAX);
    let written = store.disk_counters(half, 0, 1).written.get() as f64;
    assert!((written / 50e6 - 1.0).abs() < 0.03, "{written} B of it are filled");
    // Another member is now one too many, but for the next spare.
    let again = Time::from_secs(10);
    store.replace_member(again, 0, 1);
    let done = busy_until(&mut store, Time::MAX) - again;
    assert!((done.as_secs_f64() / 1.0105 - 1.0).abs() < 0.005, "{done}");
    assert_eq!(store.fail_member(Time::from_secs(20), 0, 3), None);
}

/// Two of three mirrors are replaced at once: one spare is filled after the other, in a second each, and then any two
/// may fail again.
#[test]
fn spares_are_filled_one_after_the_other() {
    let mut store = array(RaidLevel::Raid1, 3, Time::ZERO);
    for member in [0, 1] {
        store.fail_member(Time::ZERO, 0, member);
        store.replace_member(Time::ZERO, 0, member);
    }
    let done = busy_until(&mut store, Time::MAX);
    assert!((done.as_secs_f64() / 2.021 - 1.0).abs() < 0.005, "{done}");
    for member in 0..3 {
        let counters = store.disk_counters(done, 0, member as usize);
        assert_eq!(counters.written.get(), if member < 2 { 100_000_000 } else { 0 });
    }
    assert_eq!(store.fail_member(done, 0, 1), None);
    assert_eq!(store.fail_member(done, 0, 2), None);
    store.submit(done, 0, request(Op::Read, 1, 0, 1_000_000, 1));
    assert_eq!(finish(&mut store), [(done + Time::from_ms(10), 1)]);
}
