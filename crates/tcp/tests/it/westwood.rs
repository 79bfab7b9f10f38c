//! Westwood+: its estimate and what it makes of it, against a second calculation; and the network that it is for.

use crate::support::control::{MSS, window};
use crate::support::{Fate, Side, Wire, plain};
use tcp::control::{Control, ControlKind, Delivery, Westwood};
use tcp::{Config, Endpoint};
use units::{BitRate, Time};

const SMSS: u64 = MSS as u64;

/// An acknowledgement at `ms` of `bytes`, whose segment took `rtt` milliseconds.
fn deliver(westwood: &mut Westwood, ms: u64, bytes: u64, rtt: u64) {
    let rtt = (rtt > 0).then(|| Time::from_ms(rtt));
    let delivery = Delivery { now: Time::from_ms(ms), newly_delivered: bytes, rtt, ..Delivery::default() };
    westwood.on_delivery(&mut window(10, false), &delivery);
}

#[test]
fn one_sample_per_round_trip_goes_through_the_filter() {
    let mut westwood = Westwood::default();
    let mut now = 1000;
    deliver(&mut westwood, now, SMSS, 100);
    assert_eq!(westwood.bandwidth(), 0.0);
    let mut expected = None;
    // Round trips of 100 ms in which so many segments are acknowledged, 10 ms apart.
    for segments in [10_u64, 10, 5, 0, 9, 3] {
        for n in 1..=10 {
            now += 10;
            deliver_if(&mut westwood, now, n <= segments, n == 10);
        }
        // The last acknowledgement of the round is always there, so that its end is seen.
        let acked = SMSS * (segments.min(9) + 1);
        let sample = acked as f64 / 0.1;
        expected = Some(expected.map_or(sample, |old: f64| 0.9 * old + 0.1 * sample));
        assert!((westwood.bandwidth() / expected.unwrap() - 1.0).abs() < 1e-9, "{} {expected:?}", westwood.bandwidth());
    }
}

fn deliver_if(westwood: &mut Westwood, now: u64, some: bool, last: bool) {
    if some || last {
        deliver(westwood, now, SMSS, 100);
    }
}

#[test]
fn a_silence_lowers_the_estimate() {
    let mut westwood = Westwood::default();
    deliver(&mut westwood, 0, SMSS, 100);
    deliver(&mut westwood, 100, 20 * SMSS, 100);
    assert!((westwood.bandwidth() - 200_000.0).abs() < 1e-6);
    // One segment after 900 ms: 1,111 bytes per second go through the filter.
    deliver(&mut westwood, 1000, SMSS, 100);
    let expected = 0.9 * 200_000.0 + 0.1 * 1000.0 / 0.9;
    assert!((westwood.bandwidth() - expected).abs() < 1e-6);
}

#[test]
fn duplicates_without_sack_count_once() {
    // Five duplicates stand for a segment each; the cumulative acknowledgement of six tells of the sixth only.
    let mut westwood = Westwood::default();
    deliver(&mut westwood, 0, SMSS, 100);
    for n in 1..=5 {
        deliver(&mut westwood, 10 * n, 0, 0);
    }
    deliver(&mut westwood, 100, 6 * SMSS, 0);
    assert!((westwood.bandwidth() - 60_000.0).abs() < 1e-6, "{}", westwood.bandwidth());
}

#[test]
fn a_loss_sets_the_window_to_the_pipe() {
    let mut westwood = Westwood::default();
    deliver(&mut westwood, 0, SMSS, 40);
    // 25 segments in 100 ms, with a queue on the way: RTTmin is 40 ms, so 10 segments fill the pipe.
    deliver(&mut westwood, 100, 25 * SMSS, 100);
    let mut w = window(25, false);
    westwood.on_loss(&mut w, Time::from_ms(100), 25 * SMSS);
    assert_eq!((w.cwnd, w.ssthresh), (10 * SMSS, 10 * SMSS));
    let mut w = window(25, false);
    westwood.on_timeout(&mut w, Time::from_ms(100), 25 * SMSS, false);
    assert_eq!((w.cwnd, w.ssthresh), (SMSS, 10 * SMSS));
    // Not below two segments; and half while nothing is known.
    let mut slow = Westwood::default();
    deliver(&mut slow, 0, SMSS, 10);
    deliver(&mut slow, 1000, SMSS, 10);
    slow.on_loss(&mut w, Time::ZERO, 25 * SMSS);
    assert_eq!(w.cwnd, 2 * SMSS);
    Westwood::default().on_loss(&mut w, Time::ZERO, 25 * SMSS);
    assert_eq!(w.cwnd, 25 * SMSS / 2);
}

#[test]
fn on_a_steady_path_the_estimate_is_its_rate() {
    // 10 Mbit/s: 1000 of every 1040 bytes are payload. Acknowledgements of every segment, or of every second.
    for delayed_ack in [None, Some(Time::from_ms(40))] {
        let config = Config { control: ControlKind::Westwood, delayed_ack, max_window: Some(60), ..plain() };
        let mut wire = Wire::new(&config, &config, Time::from_ms(20)).bottleneck(BitRate::from_mbps(10), 100);
        wire.keep_log = false;
        wire.with(Side::Client, Endpoint::open);
        wire.write(Side::Client, 1 << 40);
        wire.run_until(Time::from_secs(10));
        // One loss: the threshold is the product of the rate and the round trip without a queue.
        wire.set_script({
            let mut lost = false;
            move |side, _, segment| {
                let first = side == Side::Client && segment.len > 0 && !std::mem::replace(&mut lost, true);
                if first { Fate::Drop } else { Fate::Deliver }
            }
        });
        while wire.client.counters().fast_recoveries == 0 {
            assert!(wire.step());
        }
        let rate = 10e6 / 8.0 * 1000.0 / 1040.0;
        let least = 0.04 + (1040.0 + 40.0) * 8.0 / 10e6;
        let expected = rate * least;
        let threshold = wire.client.window().ssthresh as f64;
        // A sample ends with an acknowledgement, so it may hold a segment (or two) more or less of some fifty.
        assert!((threshold / expected - 1.0).abs() < 0.04, "{delayed_ack:?}: {threshold} {expected}");
    }
}

#[test]
fn random_losses_cost_it_less_than_reno() {
    // A wireless path: 0.5 % of the packets lost at random. 20 Mbit/s, 50 ms, a buffer of one product.
    let goodput = |control| {
        let config = Config { control, ..plain() };
        let mut state = 0x853c_49e6_748f_ea9b_u64;
        let mut wire = Wire::new(&config, &config, Time::from_ms(25)).bottleneck(BitRate::from_mbps(20), 120).script(
            move |side, _, segment| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                if side == Side::Client && segment.len > 0 && state.is_multiple_of(200) {
                    Fate::Drop
                } else {
                    Fate::Deliver
                }
            },
        );
        wire.keep_log = false;
        wire.with(Side::Client, Endpoint::open);
        wire.write(Side::Client, 1 << 40);
        wire.run_until(Time::from_secs(200));
        wire.server.received() as f64 / 200.0
    };
    let (westwood, reno) = (goodput(ControlKind::Westwood), goodput(ControlKind::Reno));
    assert!(westwood > 1.5 * reno, "{westwood} {reno}");
}
