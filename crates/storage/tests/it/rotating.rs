//! Rotating disks with their geometry: accesses a second against data sheets, read-ahead, write-back, order of service.

use storage::{Disk, DiskScheduler, DiskSpec, MediaRate, Op, Request, RotatingSpec, SeekCurve, Stream};
use units::{BitRate, Bytes, Time};

fn request(op: Op, id: u64, offset: u64, bytes: u64, tag: u64) -> Request<u64> {
    let stream = Stream { node: 0, id, part: 0 };
    Request { op, stream, offset: Bytes::new(offset), bytes: Bytes::new(bytes), places: 1, tag }
}

fn spec(disk: DiskSpec) -> RotatingSpec {
    match disk {
        DiskSpec::Rotating(spec) => spec,
        DiskSpec::Flash(_) => panic!("it rotates"),
    }
}

/// A disk at work: requests as they are asked for, and when they are done.
struct Bench {
    disk: Disk<u64>,
    now: Time,
    done: Vec<u64>,
}

impl Bench {
    fn new(spec: RotatingSpec) -> Self {
        Self { disk: Disk::new(DiskSpec::Rotating(spec)), now: Time::ZERO, done: Vec::new() }
    }
    /// Waits for the next completion.
    fn wait(&mut self) -> u64 {
        while self.done.is_empty() {
            self.now = self.disk.deadline();
            assert!(self.now < Time::MAX, "something is under way");
            self.disk.on_timer(self.now, &mut self.done);
        }
        self.done.remove(0)
    }
    /// Lets time pass.
    fn pass(&mut self, time: Time) {
        let until = self.now + time;
        while self.disk.deadline() <= until {
            let due = self.disk.deadline();
            self.disk.on_timer(due, &mut self.done);
        }
        self.now = until;
    }
}

/// Random accesses of 4 KB a second with so many outstanding.
fn accesses(spec: RotatingSpec, op: Op, outstanding: u64) -> f64 {
    let mut bench = Bench::new(spec);
    let total = 6_000;
    for id in 0..total + outstanding {
        if id >= outstanding {
            bench.wait();
        }
        bench.disk.submit(bench.now, request(op, id, 0, 4_096, id));
    }
    total as f64 / bench.now.as_secs_f64()
}

/// One at a time: seek, half a revolution, transfer. Hitachi's Deskstar 7K500 (specification 4.4.5.2) reads 4,096 single
/// sectors anywhere in 55.5 s; its average seek is 8.5 ms with 4.17 ms of latency, and 0.8 ms of commands and transfers
/// remain. The Barracuda's 11 ms (Yang 2012, table 2.1) are 91 a second.
#[test]
fn random_reads_one_at_a_time_take_what_data_sheets_say() {
    let rate = MediaRate { outer: BitRate::from_bps(58 * 8_000_000), inner: BitRate::from_bps(28 * 8_000_000) };
    let deskstar = RotatingSpec {
        capacity: Bytes::from_mb(500_000),
        seek: SeekCurve { track: Time::from_us(1_100), average: Time::from_us(8_500), full: Time::from_us(17_000) },
        overhead: Time::from_us(800),
        read: rate,
        ..spec(DiskSpec::st3160318as())
    };
    for (spec, published) in [(deskstar, 4_096.0 / 55.5), (spec(DiskSpec::st3160318as()), 1.0 / 11e-3)] {
        let got = accesses(spec, Op::Read, 1);
        assert!((got / published - 1.0).abs() < 0.03, "{got} a second against {published}");
    }
}

/// Seagate's Exos X16 (data sheet): 170 random reads of 4 KB a second at a queue of 16. Nothing is fitted to that.
#[test]
fn a_queue_makes_random_reads_as_much_faster_as_data_sheets_say() {
    let exos = spec(DiskSpec::exos_x16());
    let (alone, queued) = (accesses(exos, Op::Read, 1), accesses(exos, Op::Read, 16));
    assert!((queued / 170.0 - 1.0).abs() < 0.15, "{queued} a second against 170 ({alone} one at a time)");
    // "Enterprise SATA disks improve by nearly 100 % with deep queues" (Wikipedia, IOPS).
    let deep = accesses(exos, Op::Read, 32);
    assert!((1.7..3.0).contains(&(deep / alone)), "{deep} against {alone}");
    assert!(deep > queued);
}

/// A command that others overtake is served when it has waited for long enough.
#[test]
fn nobody_starves_behind_nearer_requests() {
    let exos = spec(DiskSpec::exos_x16());
    let mut bench = Bench::new(exos);
    let mut asked = vec![Time::ZERO; 20_000];
    let mut longest = Time::ZERO;
    for id in 0..20_000_u64 {
        if id >= 32 {
            let tag = bench.wait();
            longest = longest.max(bench.now - asked[tag as usize]);
        }
        asked[id as usize] = bench.now;
        bench.disk.submit(bench.now, request(Op::Read, id, 0, 4_096, id));
    }
    // Half a second, and then those that have waited before it.
    assert!(longest < Time::from_ms(800), "{longest}");
}

fn reader(read_ahead: Bytes) -> RotatingSpec {
    RotatingSpec { read_ahead, ..spec(DiskSpec::st3160318as()) }
}

/// The time of `count` reads of 64 KiB one behind the other, with a pause after each.
fn sequential(spec: RotatingSpec, count: u64, pause: Time) -> f64 {
    let mut bench = Bench::new(spec);
    for i in 0..count {
        bench.disk.submit(bench.now, request(Op::Read, 1, i << 16, 1 << 16, i));
        bench.wait();
        if i + 1 < count {
            bench.pass(pause);
        }
    }
    bench.now.as_secs_f64()
}

/// A reader that pauses for less than the media need for its next request goes at the media's rate all the same; without
/// read-ahead each request misses its revolution: 8.33 ms each.
#[test]
fn read_ahead_hides_the_pauses_of_a_reader() {
    let (count, pause) = (400, Time::from_us(200));
    let media = sequential(reader(Bytes::ZERO), count, Time::ZERO);
    let ahead = sequential(reader(Bytes::from_mib(4)), count, pause);
    let without = sequential(reader(Bytes::ZERO), count, pause);
    assert!((ahead / media - 1.0).abs() < 0.02, "{ahead} s against {media} s without a pause");
    let revolutions = 399.0 * 8.333e-3;
    assert!((without / revolutions - 1.0).abs() < 0.1, "{without} s against {revolutions} s");
}

/// After a long pause only what the disk's memory holds is there.
#[test]
fn the_disk_reads_ahead_no_further_than_its_memory() {
    let mut bench = Bench::new(reader(Bytes::from_mib(1)));
    bench.disk.submit(bench.now, request(Op::Read, 1, 0, 1 << 16, 0));
    bench.wait();
    bench.pass(Time::from_secs(1));
    let begin = bench.now;
    bench.disk.submit(begin, request(Op::Read, 1, 1 << 16, 1 << 20, 1));
    bench.wait();
    // 1 MiB over the interface of 300 MB/s: 3.5 ms.
    assert_eq!((bench.now - begin).as_us(), 3_495);
    let begin = bench.now;
    bench.disk.submit(begin, request(Op::Read, 1, (1 << 16) + (1 << 20), 8 << 20, 2));
    bench.wait();
    // The media are at work again from the moment when there was room: 8 MiB at 61 to 125 MB/s.
    let took = (bench.now - begin).as_secs_f64();
    assert!((0.065..0.15).contains(&took), "{took} s");
}

/// The write cache takes writes at the interface's rate until it is full; then they go at the platters' pace.
#[test]
fn the_write_cache_takes_what_it_has_room_for() {
    let disk = spec(DiskSpec::st3160318as());
    let mut bench = Bench::new(disk);
    for id in 0..4 {
        bench.disk.submit(Time::ZERO, request(Op::Write, id, 0, 1 << 20, id));
    }
    for id in 0..4 {
        assert_eq!(bench.wait(), id);
    }
    // 4 MiB at 300 MB/s.
    assert_eq!(bench.now.as_us(), 13_981);
    bench.disk.submit(bench.now, request(Op::Write, 9, 0, 4 << 20, 9));
    let begin = bench.now;
    bench.wait();
    let took = (bench.now - begin).as_secs_f64();
    assert!(took > 0.05, "it waits for the platters: {took} s");
    bench.pass(Time::from_secs(1));
    assert_eq!(bench.disk.counters(bench.now).written, Bytes::from_mib(8), "all of it is on the platters");
}

/// With the write cache more writes are sorted, and so random writes are faster than reads at the same queue.
#[test]
fn the_write_cache_makes_random_writes_faster() {
    let exos = spec(DiskSpec::exos_x16());
    let with = accesses(exos, Op::Write, 16);
    let without = accesses(RotatingSpec { write_back: Bytes::ZERO, ..exos }, Op::Write, 16);
    assert!(with > without, "{with} against {without}");
}

/// Files further out move faster, in proportion to the zone.
#[test]
fn outer_zones_are_faster() {
    let disk = RotatingSpec { scheduler: DiskScheduler::NCQ, ..spec(DiskSpec::st3160318as()) };
    let mut rates: Vec<f64> = (0..200)
        .map(|id| {
            let mut bench = Bench::new(disk);
            bench.disk.submit(Time::ZERO, request(Op::Read, id, 0, 4 << 20, 0));
            bench.wait();
            let first = bench.now;
            bench.disk.submit(first, request(Op::Read, id, 4 << 20, 4 << 20, 1));
            bench.wait();
            (4 << 20) as f64 / (bench.now - first).as_secs_f64() / 1e6
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    assert!((rates[0] - 61.25).abs() < 3.0 && (rates[199] - 125.0).abs() < 3.0, "{} to {}", rates[0], rates[199]);
}

/// Two requests of 16 MiB at once on a disk that orders its commands: it goes from one to the other after each 4 MiB, so
/// that each takes nearly as long as both, and a short request that comes meanwhile waits for one command, not for all
/// that the others have left.
#[test]
fn a_disk_that_orders_its_commands_shares_its_time_among_long_requests() {
    const MIB: u64 = 1 << 20;
    let rate = BitRate::from_mbps(800);
    let disk = RotatingSpec { scheduler: DiskScheduler::NCQ, ..RotatingSpec::flat(Time::from_ms(10), rate, rate) };
    let mut bench = Bench::new(disk);
    for id in 0..2 {
        bench.disk.submit(bench.now, request(Op::Read, id, 0, 16 * MIB, id));
    }
    // 16 MiB take 167.8 ms at 100 MB/s and each of eight changes 10 ms.
    assert_eq!(bench.wait(), 0);
    let first = bench.now.as_secs_f64();
    assert!((first - (7.0 * 4.0 * 1.048_576 / 100.0 + 7.0 * 0.010)).abs() < 1e-6, "{first}");
    assert_eq!(bench.wait(), 1);
    let both = bench.now.as_secs_f64();
    assert!((both - (32.0 * 1.048_576 / 100.0 + 8.0 * 0.010)).abs() < 1e-6, "{both}");

    let mut bench = Bench::new(disk);
    for id in 0..2 {
        bench.disk.submit(bench.now, request(Op::Read, id, 0, 16 * MIB, id));
    }
    bench.pass(Time::from_ms(1));
    bench.disk.submit(bench.now, request(Op::Read, 7, 0, 4_096, 7));
    assert_eq!(bench.wait(), 7);
    assert!(bench.now < Time::from_ms(150), "{}", bench.now);
}
