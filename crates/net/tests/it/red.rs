//! RED against the formulas of its papers: the average of a burst, its decay, the spacing of marks, the probability's
//! pieces, adaptation.

use des::RandomStream;
use net::Ecn::{self, Ce, Ect, NotEct};
use net::{Discipline, Item, Limit, LinkSpec, PacketId, Queue, Red, RedSpec, SpecError};
use units::{BitRate, Bytes, Time};

/// A typical packet of 1000 B takes 1 ms.
const RATE: BitRate = BitRate::from_mbps(8);

fn red(spec: &RedSpec) -> Red {
    Red::new(spec, Limit::Unlimited, RATE, RandomStream::new(1, "test", 0))
}

/// Thresholds in packets, with the average always the queue itself.
fn instant(min: u32, max: u32) -> RedSpec {
    RedSpec { min: Some(Limit::Packets(min)), max: Some(Limit::Packets(max)), weight: Some(1.0), ..RedSpec::default() }
}

fn item(number: u32, bytes: u32, ecn: Ecn) -> Item {
    Item::new(PacketId(number), 0, bytes, ecn)
}

/// A queue of `length` packets that RED has let in without noticing: its thresholds are asked about what comes after.
fn filled(spec: &RedSpec, length: usize, bytes: u32) -> Red {
    let mut red = red(spec);
    let mut dropped = Vec::new();
    while red.len() < length {
        red.enqueue(Time::ZERO, item(0, bytes, Ect), &mut dropped);
        dropped.clear();
    }
    red
}

/// Offers packets, each of which finds the queue as long as it is now; for each whether it was dropped or marked.
fn strikes(red: &mut Red, count: u32, bytes: u32, ecn: Ecn) -> Vec<bool> {
    let ahead = red.len();
    let (mut dropped, mut left) = (Vec::new(), Vec::new());
    for number in 0..count {
        red.enqueue(Time::ZERO, item(number, bytes, ecn), &mut dropped);
        if red.len() > ahead {
            left.extend(red.dequeue(Time::ZERO, &mut dropped));
        }
    }
    while let Some(item) = red.dequeue(Time::ZERO, &mut dropped) {
        left.push(item);
    }
    let mut struck = vec![false; count as usize];
    let marked = left.iter().skip(ahead).filter(|item| item.ecn == Ce);
    for item in marked.chain(&dropped) {
        struck[item.packet.0 as usize] = true;
    }
    struck
}

fn gaps(struck: &[bool]) -> Vec<usize> {
    let at: Vec<_> = struck.iter().enumerate().filter(|(_, struck)| **struck).map(|(at, _)| at).collect();
    at.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

fn power(base: f64, exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

/// Floyd and Jacobson 1993, equation (2): after a burst that finds 0, 1 ... L packets the average is L + 1 + ((1 -
/// w)^(L + 1) - 1) / w.
#[test]
fn the_average_of_a_burst_follows_the_closed_form() {
    for (w, burst) in [(0.002, 50_u32), (0.001, 100), (0.1, 20)] {
        let mut red = red(&RedSpec { weight: Some(w), ..instant(1_000, 3_000) });
        for number in 0..=burst {
            red.enqueue(Time::ZERO, item(number, 1_000, NotEct), &mut Vec::new());
        }
        let l = f64::from(burst);
        let expected = l + 1.0 + (power(1.0 - w, burst + 1) - 1.0) / w;
        assert!((red.average() - expected).abs() < 1e-9 * expected, "{} {expected}", red.average());
    }
}

#[test]
fn an_idle_transmitter_lets_the_average_decay_by_packet_times() {
    let mut red = red(&RedSpec { weight: Some(0.25), ..instant(1_000, 3_000) });
    let mut dropped = Vec::new();
    for number in 0..9 {
        red.enqueue(Time::ZERO, item(number, 1_000, NotEct), &mut dropped);
    }
    while red.dequeue(Time::from_ms(10), &mut dropped).is_some() {}
    let busy = red.average();
    // Asking an empty queue again does not begin its idle time anew.
    assert_eq!(red.dequeue(Time::from_ms(12), &mut dropped), None);
    red.enqueue(Time::from_us(13_500), item(9, 1_000, NotEct), &mut dropped);
    // 3.5 ms are 3.5 packets.
    assert!((red.average() - busy * power(0.75, 3) * 0.75_f64.sqrt()).abs() < 1e-12, "{}", red.average());
    // The transmitter has taken it: the queue is empty, but not idle.
    let before = red.average();
    red.dequeue(Time::from_us(13_500), &mut dropped);
    red.enqueue(Time::from_us(13_600), item(10, 1_000, NotEct), &mut dropped);
    assert!((red.average() - before * 0.75).abs() < 1e-12);
}

/// Section VII: with p constant the gap between two marks is uniform. A count that begins at 1 gives 1 to 1/p - 1.
#[test]
fn marks_are_spaced_uniformly() {
    // An average of 10 between 5 and 15: p is half of 0.1.
    let mut red = filled(&instant(5, 15), 10, 1_000);
    let gaps = gaps(&strikes(&mut red, 200_000, 1_000, Ect));
    assert!(gaps.len() > 19_500);
    let mut counts = [0_u32; 20];
    for gap in &gaps {
        counts[*gap] += 1;
    }
    let expected = gaps.len() as f64 / 19.0;
    let chi_square: f64 = counts[1..].iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    // 18 degrees of freedom: 42.3 is exceeded once in a thousand.
    assert!(chi_square < 42.3, "{chi_square} {counts:?}");
    assert_eq!(counts[0], 0);
}

/// The mean gap for a constant p with the spacing above, summed from its definition.
fn mean_gap(p: f64) -> f64 {
    let (mut mean, mut none_yet) = (0.0, 1.0);
    for count in 1_u32.. {
        let spent = f64::from(count) * p;
        let strike = if spent < 1.0 { (p / (1.0 - spent)).min(1.0) } else { 1.0 };
        mean += f64::from(count) * none_yet * strike;
        none_yet *= 1.0 - strike;
        if none_yet <= 0.0 {
            break;
        }
    }
    mean
}

#[test]
fn the_probability_rises_in_two_pieces_and_then_everything_is_dropped() {
    let drops = |spec: &RedSpec, length, ecn| {
        let struck = strikes(&mut filled(spec, length, 1_000), 50_000, 1_000, ecn);
        struck.iter().filter(|struck| **struck).count() as f64 / 50_000.0
    };
    let spec = instant(5, 15);
    assert_eq!(drops(&spec, 4, NotEct), 0.0);
    assert_eq!(drops(&spec, 5, NotEct), 0.0, "at the lower threshold the probability is zero");
    // Gentle: 0.1 (q - 5) / 10 up to 15, then 0.1 + 0.9 (q - 15) / 15 up to 30.
    for (length, p) in [(7, 0.02), (12, 0.07), (14, 0.09), (15, 0.1), (18, 0.28), (24, 0.64), (29, 0.94)] {
        for ecn in [NotEct, Ect] {
            let (got, expected) = (drops(&spec, length, ecn), 1.0 / mean_gap(p));
            // The spacing makes counts less variable than binomial ones: four standard deviations of those.
            let near = 4.0 * (expected * (1.0 - expected) / 50_000.0).sqrt() + 1e-4;
            assert!((got - expected).abs() < near, "{length} waiting, {ecn:?}: {got}, {expected} expected");
        }
    }
    assert_eq!(drops(&RedSpec { gentle: false, ..spec }, 15, NotEct), 1.0);
}

#[test]
fn above_its_upper_threshold_it_drops_what_it_could_mark() {
    for (gentle, length) in [(true, 30), (false, 15)] {
        let (mut red, mut dropped) = (filled(&RedSpec { gentle, ..instant(5, 15) }, length, 1_000), Vec::new());
        for number in 0..100 {
            red.enqueue(Time::ZERO, item(number, 1_000, Ect), &mut dropped);
        }
        assert_eq!((red.len(), dropped.len()), (length, 100));
        assert!(dropped.iter().all(|item| item.ecn == Ect));
    }
    // Without ECN, early drops instead of marks: all packets that leave are as they came.
    let mut red = filled(&RedSpec { ecn: false, ..instant(5, 15) }, 10, 1_000);
    let mut dropped = Vec::new();
    for number in 0..1_000 {
        red.enqueue(Time::ZERO, item(number, 1_000, Ect), &mut dropped);
        assert_eq!(red.dequeue(Time::ZERO, &mut dropped).map(|item| item.ecn), Some(Ect));
        while red.len() < 10 {
            red.enqueue(Time::ZERO, item(number, 1_000, Ect), &mut dropped);
        }
    }
    assert!(dropped.len() > 50);
}

/// As in ns-2 and ns-3: while no more than one packet waits none is dropped, however high the average still is.
#[test]
fn a_queue_that_is_nearly_empty_is_left_alone() {
    for (ahead, spared) in [(0, true), (1, true), (2, false)] {
        let mut red = filled(&RedSpec { weight: Some(0.01), ..instant(5, 500) }, 900, 1_000);
        let mut dropped = Vec::new();
        while red.len() > ahead {
            red.dequeue(Time::ZERO, &mut dropped);
        }
        // The average is far above the threshold: the probability is above a half.
        let struck = strikes(&mut red, 20, 1_000, NotEct);
        assert!(red.average() > 500.0);
        assert_eq!(struck.contains(&true), !spared, "{ahead} ahead: {struck:?}");
    }
}

#[test]
fn in_byte_mode_a_packet_counts_by_its_length() {
    let bytes = |bytes: u64| Some(Limit::Bytes(Bytes::new(bytes)));
    let spec = RedSpec { min: bytes(5_000), max: bytes(15_000), ..instant(5, 15) };
    // 10 kB wait: p is 0.05 for a typical packet of 1000 B, a fifth of it for 200 B.
    for (length, p) in [(1_000, 0.05), (200, 0.01), (500, 0.025)] {
        let mut red = filled(&spec, 10_000 / length as usize, length);
        let struck = strikes(&mut red, 100_000, length, Ect);
        let got = struck.iter().filter(|struck| **struck).count() as f64 / 100_000.0;
        let expected = 1.0 / mean_gap(p);
        assert!((got / expected - 1.0).abs() < 0.03, "{length} B: {got}, {expected} expected");
    }
}

/// Adaptive RED, figure 1: above the target zone max_p grows by the smaller of 0.01 and a quarter of itself, below it
/// shrinks by a tenth.
#[test]
fn max_p_follows_the_average() {
    let spec = RedSpec { adaptive: true, max_p: 0.02, ..instant(5, 15) };
    let mut red = filled(&spec, 12, 1_000);
    let mut max_p = Vec::new();
    let offer = |red: &mut Red, ms: u64| {
        let mut dropped = Vec::new();
        red.enqueue(Time::from_ms(ms), item(0, 1_000, Ect), &mut dropped);
        red.dequeue(Time::from_ms(ms), &mut dropped);
    };
    for ms in [499, 500, 999, 1_000, 1_500, 2_000] {
        offer(&mut red, ms);
        max_p.push(red.max_p());
    }
    let expected = [0.02, 0.025, 0.025, 0.031_25, 0.039_062_5, 0.048_828_125];
    assert!(max_p.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-15), "{max_p:?}");
    // By 0.01 each half second from there: above 0.5 after 46 more, and no further.
    for ms in (2_500..60_000).step_by(500) {
        offer(&mut red, ms);
    }
    assert!((red.max_p() - (0.048_828_125 + 0.46)).abs() < 1e-12, "{}", red.max_p());
    // In the target zone, 9 to 11, it stays.
    let mut red = filled(&spec, 10, 1_000);
    offer(&mut red, 10_000);
    assert_eq!(red.max_p(), 0.02);
    // Below it shrinks to just under 0.01: 0.02 x 0.9^7. An idle link's average is below, however high it was.
    let mut red = filled(&spec, 14, 1_000);
    while red.dequeue(Time::from_ms(1), &mut Vec::new()).is_some() {}
    offer(&mut red, 60_000);
    assert!((red.max_p() - 0.02 * power(0.9, 7)).abs() < 1e-15, "{}", red.max_p());
}

#[test]
fn thresholds_are_checked_and_chosen() {
    let check = |spec: RedSpec, limit, mbps| {
        let discipline = Discipline::Red(spec);
        LinkSpec::new(BitRate::from_mbps(mbps), Time::ZERO).with_limit(limit).with_discipline(discipline).check()
    };
    let refused = |result: Result<(), SpecError>, word: &str| match result {
        Err(SpecError::Discipline(what)) => assert!(what.contains(word), "{what}"),
        other => panic!("{other:?}"),
    };
    let packets = |packets| Limit::Packets(packets);
    // 5 and 15 packets where nothing is said, as in the paper.
    assert_eq!(check(RedSpec::default(), packets(16), 8), Ok(()));
    refused(check(RedSpec::default(), packets(15), 8), "not below the queue's limit");
    refused(
        check(RedSpec { min: Some(packets(20)), max: Some(packets(20)), ..instant(5, 15) }, packets(90), 8),
        "lower",
    );
    let bytes = Some(Limit::Bytes(Bytes::new(90_000)));
    refused(check(RedSpec { max: bytes, ..instant(5, 15) }, packets(90), 8), "both");
    refused(check(RedSpec { max_p: 0.0, ..instant(5, 15) }, packets(90), 8), "probability");
    // Adaptive at 10 000 packets per second: half of 5 ms is 25 packets; three times that 75.
    let adaptive = RedSpec { adaptive: true, ..RedSpec::default() };
    assert_eq!(check(adaptive, packets(76), 80), Ok(()));
    refused(check(adaptive, packets(75), 80), "not below");
    // And its weight is 1 - exp(-1 / C), at 1000 packets per second here.
    let mut red = red(&adaptive);
    for number in 0..3 {
        red.enqueue(Time::ZERO, item(number, 1_000, NotEct), &mut Vec::new());
    }
    let w = 1e-3 - 1e-6 / 2.0 + 1e-9 / 6.0;
    assert!((red.average() - (w * (1.0 - w) + 2.0 * w)).abs() < 1e-12, "{}", red.average());
}
