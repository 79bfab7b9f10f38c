//! PIE against RFC 8033's equations, worked out apart from it.

use des::RandomStream;
use net::Ecn::{self, Ce, Ect, NotEct};
use net::{DelayEstimate, Item, Limit, PacketId, Pie, PieSpec, Queue};
use units::Time;

fn pie(spec: &PieSpec) -> Pie {
    Pie::new(spec, Limit::Unlimited, RandomStream::new(1, "test", 0))
}

fn put(pie: &mut Pie, now: Time, ecn: Ecn) -> bool {
    let mut dropped = Vec::new();
    pie.enqueue(now, Item::new(PacketId(0), 0, 1_500, ecn), &mut dropped);
    dropped.is_empty()
}

fn take(pie: &mut Pie, now: Time) -> Option<Item> {
    pie.dequeue(now, &mut Vec::new())
}

/// 30 packets at time zero, then one out and one in every millisecond: until 30 ms packets wait since zero, from then
/// on 30 ms. The probability just after each update, every 15 ms.
fn probabilities(spec: &PieSpec, updates: u64) -> Vec<f64> {
    let mut pie = pie(&PieSpec { burst: Time::from_secs(100), ..*spec });
    for _ in 0..30 {
        assert!(put(&mut pie, Time::ZERO, NotEct));
    }
    let mut seen = Vec::new();
    for ms in 1..=15 * updates {
        let now = Time::from_ms(ms);
        assert!(take(&mut pie, now).is_some() && put(&mut pie, now, NotEct), "a burst passes");
        if ms % 15 == 0 {
            seen.push(pie.probability());
        }
    }
    seen
}

fn close(got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() < 1e-12 * expected.abs().max(1e-6), "{got}, {expected} expected");
    }
}

/// Section 4.2: p grows by (alpha (delay - target) + beta (delay - old delay)) / divisor, the divisor by p's magnitude.
#[test]
fn the_probability_follows_the_controller() {
    // When the update at 15 ms is made, the packet that left last, at 14 ms, had waited 14 ms; at 30 ms 29 ms; from 45
    // ms on 30 ms. Distance from the target and change, in milliseconds, and the divisor for the probability before.
    let steps = [(-1.0, 14.0, 2048.0), (14.0, 15.0, 512.0), (15.0, 1.0, 128.0), (15.0, 0.0, 128.0), (15.0, 0.0, 128.0)];
    let steps = steps.into_iter().chain([(15.0, 0.0, 32.0); 4]);
    let mut p = 0.0;
    let expected: Vec<f64> = steps
        .map(|(off, change, divisor)| {
            p += (0.125 * off / 1_000.0 + 1.25 * change / 1_000.0) / divisor;
            p
        })
        .collect();
    assert!(expected[0] < 1e-5 && expected[1] > 1e-5 && expected[3] < 1e-4 && expected[4] > 1e-4 && expected[8] < 1e-3);
    close(&probabilities(&PieSpec::default(), 9), &expected);
}

/// Section 5.2: 16 KiB leave in a measured time; a new rate weighs a quarter. The first measurement counts the packet
/// that begins it.
#[test]
fn the_departure_rate_gives_the_same_controller_its_delay() {
    let spec = PieSpec { estimate: DelayEstimate::DepartureRate, ..PieSpec::default() };
    // 11 packets of 1500 B exceed 16 KiB: at 1 to 11 ms in 10 ms, then from 11 to 22, to 33, to 44 ms in 11 ms.
    let first = 11.0 * 1_500.0 / 0.010;
    let second = 0.25 * 1_500_000.0 + 0.75 * first;
    let third = 0.25 * 1_500_000.0 + 0.75 * second;
    let [d1, d2, d3] = [first, second, third].map(|rate| 45_000.0 / rate);
    let p1 = (0.125 * (d1 - 0.015) + 1.25 * d1) / 2_048.0;
    let p2 = p1 + (0.125 * (d2 - 0.015) + 1.25 * (d2 - d1)) / 128.0;
    // The fourth measurement ends at 44 ms.
    let fourth = 0.25 * 1_500_000.0 + 0.75 * third;
    let d4 = 45_000.0 / fourth;
    assert!(p1 > 1e-5 && p2 < 1e-4 && d3 < d4);
    let p3 = p2 + (0.125 * (d4 - 0.015) + 1.25 * (d4 - d2)) / 128.0;
    let got = probabilities(&spec, 3);
    for (got, expected) in got.iter().zip([p1, p2, p3]) {
        // Times are whole picoseconds.
        assert!((got - expected).abs() < 1e-12, "{got}, {expected} expected");
    }
}

/// A queue of many whose probability is `p` from 2 s on, until 4 s: one update, of a packet that has waited 1 s longer
/// than the target of 15 ms.
fn at_probability(p: f64, spec: &PieSpec) -> Pie {
    let mut pie =
        pie(&PieSpec { update: Time::from_secs(2), burst: Time::ZERO, alpha: p * 2_048.0, beta: 0.0, ..*spec });
    for _ in 0..1_000 {
        assert!(put(&mut pie, Time::ZERO, NotEct));
    }
    take(&mut pie, Time::from_ms(1_015));
    assert!((put(&mut pie, Time::from_secs(2), NotEct), (pie.probability() - p).abs() < 1e-9).1);
    pie
}

/// Section 5.4: no drop while the probabilities since the last sum to less than 0.85, one for sure when they reach 8.5.
#[test]
fn drops_neither_clump_nor_stay_away() {
    let mut queue = at_probability(0.1, &PieSpec::default());
    let mut gaps = Vec::new();
    let mut gap = 0;
    for _ in 0..300_000 {
        gap += 1;
        if !put(&mut queue, Time::from_secs(3), NotEct) {
            gaps.push(std::mem::take(&mut gap));
        }
    }
    gaps.remove(0);
    let (least, most) = (*gaps.iter().min().unwrap(), *gaps.iter().max().unwrap());
    // Sums of 0.1: 0.9 is the first above 0.85.
    assert!(least == 9 && most <= 86, "{least} to {most}");
    // Eight are safe, the rest is geometric with 0.1, cut off at 77: 9.997 in the mean, its standard deviation 9.5.
    let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
    assert!((mean - 17.997).abs() < 4.0 * 9.5 / (gaps.len() as f64).sqrt(), "{mean}");
    // Without, each is dropped with the probability alone.
    let mut queue = at_probability(0.1, &PieSpec { derandomize: false, ..PieSpec::default() });
    let dropped = (0..100_000).filter(|_| !put(&mut queue, Time::from_secs(3), NotEct)).count();
    // Binomial: standard deviation 95.
    assert!(dropped.abs_diff(10_000) < 380, "{dropped}");
}

/// Section 5.1: marks up to a probability of 0.1, drops above.
#[test]
fn up_to_a_tenth_what_can_be_marked_is() {
    for (p, marks) in [(0.09, true), (0.11, false)] {
        let mut queue = at_probability(p, &PieSpec::default());
        let dropped = (0..10_000).filter(|_| !put(&mut queue, Time::from_secs(3), Ect)).count();
        let marked = std::iter::from_fn(|| take(&mut queue, Time::from_secs(3))).filter(|item| item.ecn == Ce).count();
        assert_eq!((dropped == 0, marked > 400), (marks, marks), "{p}: {dropped} dropped, {marked} marked");
    }
}

/// Section 5.5: from a probability of 0.1 on it grows by no more than 0.02 at a time.
#[test]
fn a_high_probability_grows_slowly() {
    let mut queue = at_probability(0.15, &PieSpec::default());
    for (second, expected) in [(4, 0.17), (6, 0.19), (8, 0.21)] {
        take(&mut queue, Time::from_secs(second - 1));
        put(&mut queue, Time::from_secs(second), NotEct);
        assert!((queue.probability() - expected).abs() < 1e-9, "{} at {second} s", queue.probability());
    }
}

/// Section 4.4: for 150 ms after quiet nothing is dropped; section 4.2: with nothing waiting the probability vanishes.
#[test]
fn a_burst_passes_and_quiet_allows_the_next() {
    // So eager that the probability is 1 as soon as the delay is above the target, and 0 when it is below.
    let spec = PieSpec { alpha: 1e9, beta: 0.0, ..PieSpec::default() };
    let mut queue = pie(&spec);
    for _ in 0..300 {
        put(&mut queue, Time::ZERO, NotEct);
    }
    let refused = |queue: &mut Pie, from: u64, until: u64| {
        let mut times = (from..until).filter(|ms| {
            take(queue, Time::from_ms(*ms));
            !put(queue, Time::from_ms(*ms), NotEct)
        });
        times.next()
    };
    // Ten updates of 15 ms use the allowance up, the tenth at 150 ms.
    assert_eq!(refused(&mut queue, 1, 1_000), Some(150));
    assert_eq!(queue.probability(), 1.0);
    while take(&mut queue, Time::from_ms(160)).is_some() {}
    // At 165 ms nothing waits: the probability is 0, and with two quiet updates the allowance is there again.
    put(&mut queue, Time::from_ms(200), NotEct);
    assert_eq!(queue.probability(), 0.0);
    for _ in 0..300 {
        put(&mut queue, Time::from_ms(200), NotEct);
    }
    // Given anew while 200 ms is the time: used up with the tenth update from then, at 345 ms.
    assert_eq!(refused(&mut queue, 201, 1_000), Some(345));
}

/// Updates that nothing could see are skipped, not made: an hour, or a day, of quiet costs nothing and changes nothing.
#[test]
fn long_quiet_is_made_up_for_at_once() {
    let mut queue = pie(&PieSpec::default());
    put(&mut queue, Time::from_secs(1_000_000), NotEct);
    assert_eq!((queue.probability(), queue.len()), (0.0, 1));
    // The updates keep their times, multiples of 15 ms.
    let start = Time::from_secs(1_000_000);
    let late = Time::from_ms(1_000_000_005);
    assert!(late.as_ms().is_multiple_of(15));
    for _ in 0..10 {
        put(&mut queue, start, NotEct);
    }
    take(&mut queue, late - Time::from_ps(1));
    assert_eq!(queue.probability(), 0.0);
    put(&mut queue, late, NotEct);
    // 5 ms of waiting: (0.125 x -10 ms + 1.25 x 5 ms) / 2048.
    assert!((queue.probability() - 0.005 / 2_048.0).abs() < 1e-9, "{}", queue.probability());
}
