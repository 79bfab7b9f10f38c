//! Writes for a disk at rest go to a log of the machine's other disk, and home later: when, what wakes the home, what a
//! reader gets, and what a crash leaves, at times by hand.

use storage::power::{Budget, Cause, Depth, Policy, Profile, Rest, Settings, Transition};
use storage::{CacheSpec, DiskScheduler, DiskSpec, Op, Request, RotatingSpec, Store, Stream};
use units::{BitRate, Bytes, Energy, Power, Time};

const S: Time = Time::from_secs(1);
const MS: Time = Time::from_ms(1);

/// Disk 0 is always ready and disk 1 a backup that rests after 5 s, and takes 10 s to start. Both move 100 MB/s and
/// position in no time; memory writes back what is 30 s old.
fn machine() -> Store<u64> {
    let rate = BitRate::from_bps(800_000_000);
    machine_of(RotatingSpec::flat(Time::ZERO, rate, rate), 1)
}
/// As many such disks that are always ready, and then the backup.
fn machine_of(disk: RotatingSpec, ready: usize) -> Store<u64> {
    let disk = DiskSpec::Rotating(disk);
    let standby = Rest {
        power: Power::from_watts(1.0),
        down: Transition { time: S, energy: Energy::from_joules(5.0) },
        up: Transition { time: S * 10, energy: Energy::from_joules(200.0) },
    };
    let watts = Power::from_watts;
    let profile = Profile {
        read: watts(10.0),
        write: watts(10.0),
        idle: watts(8.0),
        rests: [None, None, Some(standby)],
        start_limit: None,
        load_limit: None,
    };
    let settings = Settings { spin_ups: Budget::per_day(10_000), ..Settings::of(Policy::Timeout(Some(S * 5))) };
    let mut store = Store::new(&vec![disk; ready + 1], CacheSpec::linux(Bytes::from_mib(1024)));
    let gears = std::iter::repeat_n(0, ready).chain([1]);
    let profiles: Vec<_> = gears.map(|gear| Some((profile, gear))).collect();
    store.set_power(Time::ZERO, settings, &profiles).unwrap();
    store.set_offloading();
    store
}

fn file(id: u64) -> Stream {
    Stream { node: 0, id, part: 0 }
}
fn of_backup(op: Op, id: u64, offset: u64, megabytes: u64) -> Request<u64> {
    Request {
        op,
        stream: file(id),
        offset: Bytes::from_mb(offset),
        bytes: Bytes::from_mb(megabytes),
        places: 1,
        tag: id,
    }
}

/// One step; false if nothing is due until then.
fn step(store: &mut Store<u64>, until: Time, done: &mut Vec<(Time, u64)>) -> bool {
    let now = store.deadline();
    if now > until {
        return false;
    }
    let mut tags = Vec::new();
    store.on_timer(now, &mut tags);
    done.extend(tags.into_iter().map(|tag| (now, tag)));
    true
}
fn run_until(store: &mut Store<u64>, until: Time) -> Vec<(Time, u64)> {
    let mut done = Vec::new();
    while step(store, until, &mut done) {}
    done
}

/// When the backup disk was woken, and why.
fn wakes(store: &Store<u64>) -> Vec<(Time, Cause)> {
    let changes = store.power().unwrap().disk(1).changes();
    changes.iter().filter_map(|change| Some((change.at, change.cause?))).collect()
}
fn moved(store: &Store<u64>, disk: usize) -> (Bytes, Bytes) {
    let counters = store.disk_counters(S * 1000, disk, 0);
    (counters.read, counters.written)
}
/// Bytes that went to logs, that have come home, and that logs still have.
fn logs(store: &Store<u64>) -> (Bytes, Bytes, Bytes) {
    let (counters, owed) = store.offloaded(1).unwrap();
    (counters.logged, counters.returned, owed)
}

/// 20 MB for the disk at rest are written at 50 s and 30 s old at 80 s: disk 0 has them in its log by 80.2 s, and disk 1
/// rests on. At 100 s a read wakes it; from 110 s on the log is read for 0.2 s, and what it has goes home beside the
/// read, which takes a second: both are done at 111.2 s at the latest.
#[test]
fn a_log_takes_what_is_for_a_disk_at_rest_and_gives_it_back_when_that_is_awake() {
    let mut store = machine();
    run_until(&mut store, S * 50);
    store.submit(S * 50, 1, of_backup(Op::Write, 1, 0, 20));
    run_until(&mut store, S * 80 + MS * 199);
    assert_eq!((store.unwritten(), wakes(&store)), (Bytes::from_mb(20), vec![]));
    run_until(&mut store, S * 100);
    let (mb, none) = (Bytes::from_mb(20), Bytes::ZERO);
    assert_eq!((store.unwritten(), logs(&store)), (none, (mb, none, mb)));
    assert_eq!((moved(&store, 0), moved(&store, 1)), ((none, mb), (none, none)));
    store.submit(S * 100, 1, of_backup(Op::Read, 2, 0, 100));
    let done = run_until(&mut store, S * 150);
    assert!(done.len() == 1 && done[0].0 > S * 111 && done[0].0 <= S * 111 + MS * 200, "{done:?}");
    assert_eq!(wakes(&store), [(S * 100, Cause::Read)]);
    assert_eq!((moved(&store, 1), logs(&store)), ((Bytes::from_mb(100), mb), (mb, mb, none)));
}

/// The window of 200 s finds 20 MB in the log: they are read until 200.2 s, wake their disk, which is ready at 210.2 s,
/// and are home at 210.4 s. Five seconds later it rests again. The window of 300 s finds nothing, and wakes nothing.
#[test]
fn a_planned_window_empties_the_log() {
    let mut store = machine();
    run_until(&mut store, S * 50);
    store.submit(S * 50, 1, of_backup(Op::Write, 1, 0, 20));
    run_until(&mut store, S * 200);
    store.window(S * 200, 1);
    run_until(&mut store, S * 210 + MS * 399);
    assert_eq!(logs(&store).2, Bytes::from_mb(20));
    run_until(&mut store, S * 300);
    store.window(S * 300, 1);
    run_until(&mut store, S * 400);
    assert_eq!(wakes(&store), [(S * 200 + MS * 200, Cause::Flush)]);
    assert_eq!((moved(&store, 1).1, logs(&store).2), (Bytes::from_mb(20), Bytes::ZERO));
    let rest = store.power().unwrap().disk(1).changes().iter().rfind(|change| change.cause.is_none()).unwrap().at;
    assert_eq!(rest, S * 216 + MS * 400, "down at 215.4 s, at rest a second later");
}

/// A scanner's 10 MB of 150 s wait for the window at 200 s if they may, and wake the disk then; if not, at 150 s. They
/// do not stay in memory.
#[test]
fn background_work_waits_for_the_window_if_it_may() {
    for (waits, wake) in [(true, (S * 200, Cause::Window)), (false, (S * 150, Cause::Background(3)))] {
        let mut store = machine();
        run_until(&mut store, S * 150);
        store.chore(S * 150, 1, (file(99), Bytes::ZERO), Bytes::from_mb(10), Cause::Background(3), waits);
        assert_eq!(store.waiting_chores(1), usize::from(waits));
        run_until(&mut store, S * 200);
        store.window(S * 200, 1);
        run_until(&mut store, S * 300);
        assert_eq!(wakes(&store), [wake]);
        assert_eq!((moved(&store, 1).0, store.cached(), store.waiting_chores(1)), (Bytes::from_mb(10), Bytes::ZERO, 0));
    }
}

/// What waits goes ahead of its window where the disk is woken for something else: the read of 100 s is done at 110.1 s
/// or, with the scanner's turns between its own, at 110.2 s at the latest.
#[test]
fn background_work_goes_along_with_what_wakes_the_disk() {
    let mut store = machine();
    run_until(&mut store, S * 60);
    store.chore(S * 60, 1, (file(99), Bytes::ZERO), Bytes::from_mb(10), Cause::Background(0), true);
    run_until(&mut store, S * 100);
    store.submit(S * 100, 1, of_backup(Op::Read, 2, 0, 10));
    run_until(&mut store, S * 112);
    assert_eq!((moved(&store, 1).0, wakes(&store)), (Bytes::from_mb(20), vec![(S * 100, Cause::Read)]));
}

/// Memory is lost at 90 s, and what only the log has is read from there: 20 MB in 0.2 s, while the disk rests on.
#[test]
fn a_reader_finds_in_the_log_what_is_not_home() {
    let mut store = machine();
    run_until(&mut store, S * 50);
    store.submit(S * 50, 1, of_backup(Op::Write, 1, 0, 20));
    run_until(&mut store, S * 90);
    store.drop_node(S * 90, 0);
    store.submit(S * 100, 1, of_backup(Op::Read, 1, 0, 20));
    assert_eq!(run_until(&mut store, S * 150), [(S * 100 + MS * 200, 1)]);
    assert_eq!((wakes(&store), moved(&store, 0).0), (vec![], Bytes::from_mb(20)));
}

/// The first 10 MB are written back while the disk is awake, for it has been read at 60 s and rests 5 s after that; the
/// next 10 at 110 s into the log. Without memory a reader gets each half from where it is.
#[test]
fn a_reader_takes_each_part_from_the_disk_that_has_it() {
    let mut store = machine();
    run_until(&mut store, S * 35);
    store.submit(S * 35, 1, of_backup(Op::Write, 1, 0, 10));
    run_until(&mut store, S * 55);
    // Ready at 65 s, and at work until 66 s: the first half is 30 s old in between.
    store.submit(S * 55, 1, of_backup(Op::Read, 2, 0, 100));
    run_until(&mut store, S * 80);
    assert_eq!((moved(&store, 1).1, logs(&store).0), (Bytes::from_mb(10), Bytes::ZERO));
    store.submit(S * 80, 1, of_backup(Op::Write, 1, 10, 10));
    run_until(&mut store, S * 120);
    assert_eq!(logs(&store).2, Bytes::from_mb(10));
    store.drop_node(S * 120, 0);
    let before = (moved(&store, 0).0, moved(&store, 1).0);
    store.submit(S * 120, 1, of_backup(Op::Read, 1, 0, 20));
    // The home's half waits for the start, until 130 s, and takes 0.1 s; what the log has comes home beside it.
    let done = run_until(&mut store, S * 131);
    assert_eq!((done.len(), moved(&store, 1).0 - before.1), (1, Bytes::from_mb(10)));
    assert!(done[0].0 >= S * 130 + MS * 100 && done[0].0 <= S * 130 + MS * 200, "{done:?}");
    // Once for the reader, once on the way home.
    assert_eq!(moved(&store, 0).0 - before.0, Bytes::from_mb(20));
    assert_eq!(logs(&store).2, Bytes::ZERO);
}

/// The rule of durability, by a crash at every step: what memory has reported as written back is in a log or at home,
/// as the disks themselves have counted it; and all of it comes home in the next window, whenever memory was lost.
#[test]
fn a_crash_at_any_step_loses_nothing_that_was_written_back() {
    let mut killed_at_home = 0;
    for kill in 0_u32.. {
        let mut store = machine();
        let mut left = kill;
        let mut at_kill = None;
        let (mut done, mut clock) = (Vec::new(), Time::ZERO);
        for (at, what) in [(50, 1), (51, 2), (52, 3), (200, 0), (400, 0)] {
            loop {
                let (counters, owed) = store.offloaded(1).unwrap();
                let safe = store.counters().written_back;
                // A log's copy is discarded once the home's is there, and not before.
                assert_eq!(safe, counters.returned + owed);
                assert!(safe <= moved(&store, 0).1 && counters.returned <= moved(&store, 1).1);
                if at_kill.is_none() && left == 0 {
                    killed_at_home += u32::from(counters.returned > Bytes::ZERO);
                    store.drop_node(clock, 0);
                    at_kill = Some(safe);
                }
                left = left.saturating_sub(1);
                clock = store.deadline().min(S * at);
                if !step(&mut store, S * at, &mut done) {
                    break;
                }
            }
            match what {
                0 => store.window(S * at, 1),
                id => store.submit(S * at, 1, of_backup(Op::Write, id, 0, 10)),
            }
        }
        run_until(&mut store, S * 500);
        let Some(safe) = at_kill else {
            assert!(kill > 12 && killed_at_home > 2, "{kill} steps, {killed_at_home} behind the first copy at home");
            return;
        };
        assert_eq!(logs(&store).2, Bytes::ZERO);
        assert!(moved(&store, 1).1 >= safe, "killed at step {kill}: {} of {safe} at home", moved(&store, 1).1);
    }
}

/// With the log's disk go its copies: what was durable there is counted as lost, and what was on the way there goes home.
#[test]
fn what_a_failed_disk_had_in_its_log_is_told() {
    let mut store = machine();
    run_until(&mut store, S * 50);
    store.submit(S * 50, 1, of_backup(Op::Write, 1, 0, 20));
    run_until(&mut store, S * 60);
    store.submit(S * 60, 1, of_backup(Op::Write, 2, 0, 30));
    // The second is half way into the log.
    run_until(&mut store, S * 90 + MS * 150);
    store.fail_member(S * 90 + MS * 150, 0, 0);
    run_until(&mut store, S * 200);
    let (counters, owed) = store.offloaded(1).unwrap();
    assert_eq!((counters.lost, owed), (Bytes::from_mb(20), Bytes::ZERO));
    assert_eq!(moved(&store, 1).1, Bytes::from_mb(30));
    assert_eq!(store.power().unwrap().disk(1).wakes(Depth::Standby)[Cause::Write.kind()], 1);
}

/// The log's disk fails at 80.1 s, with the first 20 MB half way into its log. They are 30 s old, so they wake their home
/// at once, and are written when it is ready, at 90.1 s, in 0.2 s: before what is younger, whose 30 s end at 90 s.
#[test]
fn what_was_on_the_way_into_a_failed_log_goes_home_before_what_is_younger() {
    let mut store = machine();
    run_until(&mut store, S * 50);
    store.submit(S * 50, 1, of_backup(Op::Write, 1, 0, 20));
    run_until(&mut store, S * 60);
    store.submit(S * 60, 1, of_backup(Op::Write, 2, 0, 30));
    run_until(&mut store, S * 80 + MS * 100);
    store.fail_member(S * 80 + MS * 100, 0, 0);
    run_until(&mut store, S * 90 + MS * 300);
    assert_eq!(wakes(&store), [(S * 80 + MS * 100, Cause::Write)]);
    assert_eq!((moved(&store, 1).1, store.unwritten()), (Bytes::from_mb(20), Bytes::from_mb(30)));
    run_until(&mut store, S * 90 + MS * 600);
    assert_eq!((moved(&store, 1).1, store.unwritten()), (Bytes::from_mb(50), Bytes::ZERO));
}

/// As above, but all of it is written anew at 80.05 s: the old bytes are not written any more, the new ones at 110.05 s,
/// when they are 30 s old.
#[test]
fn what_was_on_the_way_into_a_failed_log_does_not_overwrite_what_is_younger() {
    let mut store = machine();
    run_until(&mut store, S * 50);
    store.submit(S * 50, 1, of_backup(Op::Write, 1, 0, 20));
    run_until(&mut store, S * 80 + MS * 50);
    store.submit(S * 80 + MS * 50, 1, of_backup(Op::Write, 1, 0, 20));
    run_until(&mut store, S * 80 + MS * 100);
    store.fail_member(S * 80 + MS * 100, 0, 0);
    run_until(&mut store, S * 200);
    assert_eq!(wakes(&store), [(S * 110 + MS * 50, Cause::Write)]);
    assert_eq!((moved(&store, 1).1, store.unwritten()), (Bytes::from_mb(20), Bytes::ZERO));
}

/// A log has 100 MB by 81 s, and half of them are written anew at 82 s. A read of 101 s wakes their home: from 111 s the old
/// ones are on their way there, which takes two seconds. The new ones are 30 s old at 112 s and follow them into the log,
/// so that the home writes both, the new ones last.
#[test]
fn writes_to_the_same_place_come_home_in_their_order() {
    let mut store = machine();
    run_until(&mut store, S * 50);
    store.submit(S * 50, 1, of_backup(Op::Write, 1, 0, 100));
    run_until(&mut store, S * 82);
    store.submit(S * 82, 1, of_backup(Op::Write, 1, 25, 50));
    run_until(&mut store, S * 101);
    store.submit(S * 101, 1, of_backup(Op::Read, 2, 0, 1));
    run_until(&mut store, S * 112 + MS * 100);
    let (old, all, none) = (Bytes::from_mb(100), Bytes::from_mb(150), Bytes::ZERO);
    assert_eq!(logs(&store), (old, none, old));
    run_until(&mut store, S * 130);
    assert_eq!((logs(&store), moved(&store, 1).1), ((all, all, none), all));
}

/// A log has 20 MB of a file by 80.2 s and the next 20, which overlap them by half, by 112.2 s. Memory is lost. A reader of
/// all 30 MB gets each byte once, from the log: 0.3 s.
#[test]
fn a_reader_finds_the_newest_of_what_logs_have() {
    let mut store = machine();
    run_until(&mut store, S * 50);
    store.submit(S * 50, 1, of_backup(Op::Write, 1, 0, 20));
    run_until(&mut store, S * 82);
    store.submit(S * 82, 1, of_backup(Op::Write, 1, 10, 20));
    run_until(&mut store, S * 120);
    store.drop_node(S * 120, 0);
    store.submit(S * 120, 1, of_backup(Op::Read, 1, 0, 30));
    assert_eq!(run_until(&mut store, S * 150), [(S * 120 + MS * 300, 1)]);
    assert_eq!((wakes(&store), moved(&store, 0).0), (vec![], Bytes::from_mb(30)));
}

/// A log's disk fails while a reader waits for what only the log has: the reader hears that it gets no answer.
#[test]
fn a_reader_of_a_failed_log_is_told() {
    let mut store = machine();
    run_until(&mut store, S * 50);
    store.submit(S * 50, 1, of_backup(Op::Write, 1, 0, 20));
    run_until(&mut store, S * 90);
    store.drop_node(S * 90, 0);
    store.submit(S * 90, 1, of_backup(Op::Read, 1, 0, 20));
    run_until(&mut store, S * 90 + MS * 100);
    assert_eq!(store.fail_member(S * 90 + MS * 100, 0, 0), Some(vec![1]));
    assert_eq!(run_until(&mut store, S * 150), []);
}

/// A log's disk fails at 110.2 s. What has been read from it by then, the home being ready at 109.9 s, is on its way there and
/// arrives; what follows is lost.
#[test]
fn what_has_been_read_from_a_failed_log_comes_home() {
    let mut store = machine();
    run_until(&mut store, S * 50);
    store.submit(S * 50, 1, of_backup(Op::Write, 1, 0, 20));
    store.submit(S * 50, 1, of_backup(Op::Write, 2, 0, 30));
    run_until(&mut store, S * 99 + MS * 900);
    store.submit(S * 99 + MS * 900, 1, of_backup(Op::Read, 3, 0, 10));
    run_until(&mut store, S * 110 + MS * 200);
    store.fail_member(S * 110 + MS * 200, 0, 0);
    run_until(&mut store, S * 200);
    let (counters, owed) = store.offloaded(1).unwrap();
    let mb = Bytes::from_mb;
    assert_eq!((counters.logged, counters.returned, counters.lost, owed), (mb(50), mb(20), mb(30), Bytes::ZERO));
    assert_eq!(moved(&store, 1).1, mb(20));
}

/// As above, on disks that turn and choose the order of what they are asked for. The home is ready at 110 s and reads
/// until 110.3 s. What the log has, 20 MB, is read from there by 110.2 s, when its disk fails; some of it was written
/// anew at 80.3 s and goes home, too, behind the old bytes and never before them, wherever it begins.
#[test]
fn what_is_on_its_way_home_does_not_overwrite_what_is_younger() {
    let rate = BitRate::from_bps(800_000_000);
    let flat = RotatingSpec::flat(Time::ZERO, rate, rate);
    let disk = RotatingSpec { revolution: RotatingSpec::revolution(7_200), scheduler: DiskScheduler::NCQ, ..flat };
    for begin in 1..10 {
        let mut store = machine_of(disk, 1);
        run_until(&mut store, S * 50);
        store.submit(S * 50, 1, of_backup(Op::Write, 1, 0, 20));
        run_until(&mut store, S * 80 + MS * 300);
        store.submit(S * 80 + MS * 300, 1, of_backup(Op::Write, 1, begin, 10));
        run_until(&mut store, S * 100);
        store.submit(S * 100, 1, of_backup(Op::Read, 2, 0, 30));
        run_until(&mut store, S * 110 + MS * 240);
        assert_eq!(logs(&store), (Bytes::from_mb(20), Bytes::ZERO, Bytes::from_mb(20)));
        store.fail_member(S * 110 + MS * 240, 0, 0);
        while step(&mut store, S * 200, &mut Vec::new()) {
            let is_home = logs(&store).1 == Bytes::from_mb(20);
            assert!(is_home || store.unwritten() > Bytes::ZERO, "from {begin} MB on the old bytes are written last");
        }
        let (counters, owed) = store.offloaded(1).unwrap();
        assert_eq!((counters.lost, owed, store.unwritten()), (Bytes::ZERO, Bytes::ZERO, Bytes::ZERO));
        assert_eq!(moved(&store, 1).1, Bytes::from_mb(30));
    }
}

/// As above, but the node crashes at 110.26 s, while what was written anew waits in its memory for the old bytes: it is
/// lost, and what is written at 120 s is written back when it is 30 s old.
#[test]
fn what_waits_for_older_bytes_is_lost_with_memory() {
    let mut store = machine();
    run_until(&mut store, S * 50);
    store.submit(S * 50, 1, of_backup(Op::Write, 1, 0, 20));
    run_until(&mut store, S * 80 + MS * 210);
    store.submit(S * 80 + MS * 210, 1, of_backup(Op::Write, 1, 5, 10));
    run_until(&mut store, S * 100);
    store.submit(S * 100, 1, of_backup(Op::Read, 2, 0, 30));
    // The home reads until 110.3 s; the log is read by 110.2 s, its disk fails, and the new bytes are old at 110.21 s.
    run_until(&mut store, S * 110 + MS * 205);
    store.fail_member(S * 110 + MS * 205, 0, 0);
    run_until(&mut store, S * 110 + MS * 260);
    assert_eq!((logs(&store).1, store.unwritten()), (Bytes::ZERO, Bytes::from_mb(10)));
    store.drop_node(S * 110 + MS * 260, 0);
    run_until(&mut store, S * 120);
    assert_eq!((moved(&store, 1).1, store.unwritten()), (Bytes::from_mb(20), Bytes::ZERO));
    store.submit(S * 120, 1, of_backup(Op::Write, 3, 0, 10));
    run_until(&mut store, S * 170);
    assert_eq!((moved(&store, 1).1, store.unwritten()), (Bytes::from_mb(30), Bytes::ZERO));
}

/// A log of disk 0 has 10 MB by 80.1 s. The next 10 go to disk 1 at 110.6 s, as disk 0 is read then, and so do at 142 s
/// 10 that overlap both. Disk 1 fails at 145 s, with 20 MB. The first ten are on their way home from 180 s on, for 0.2
/// s: what is written back of the same place at 180.05 s follows them by their log, as if disk 1 had never had any.
#[test]
fn a_failed_log_leaves_the_order_of_what_another_has() {
    let rate = BitRate::from_bps(800_000_000);
    let mut store = machine_of(RotatingSpec::flat(Time::ZERO, rate, rate), 2);
    let write = |offset, megabytes| of_backup(Op::Write, 1, offset, megabytes);
    for (at, disk, what) in [
        (S * 50, 2, write(0, 10)),
        (S * 80 + MS * 600, 2, write(10, 10)),
        (S * 110 + MS * 500, 0, of_backup(Op::Read, 8, 0, 20)),
        (S * 112, 2, write(5, 10)),
    ] {
        run_until(&mut store, at);
        store.submit(at, disk, what);
    }
    run_until(&mut store, S * 145);
    store.fail_member(S * 145, 1, 0);
    let counters = store.offloaded(2).unwrap().0;
    assert_eq!((counters.logged, counters.lost), (Bytes::from_mb(30), Bytes::from_mb(20)));
    run_until(&mut store, S * 150 + MS * 50);
    store.submit(S * 150 + MS * 50, 2, write(6, 2));
    run_until(&mut store, S * 170);
    store.submit(S * 170, 2, of_backup(Op::Read, 9, 0, 1));
    run_until(&mut store, S * 190);
    let (counters, owed) = store.offloaded(2).unwrap();
    assert_eq!((counters.logged, counters.returned, owed), (Bytes::from_mb(32), Bytes::from_mb(12), Bytes::ZERO));
}
