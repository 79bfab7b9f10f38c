//! The congestion window of a flow that pauses or never fills it (RFC 5681 section 4.1, RFC 9438 section 5.8, RFC
//! 7661's aim).

use crate::support::{Side, Wire, plain};
use tcp::Config;
use units::Time;

const DELAY: Time = Time::from_ms(50);

fn grown(config: &Config) -> Wire {
    let mut wire = Wire::new(config, config, DELAY).established();
    wire.write(Side::Client, 200_000);
    wire.run();
    assert!(wire.client.window().cwnd > 50_000);
    wire.log.clear();
    wire
}

fn burst(wire: &mut Wire) -> usize {
    let start = wire.now;
    wire.write(Side::Client, 50_000);
    wire.data(Side::Client).iter().filter(|(at, _, _)| *at == start).count()
}

#[test]
fn after_a_timeout_of_silence_the_window_starts_anew() {
    let mut wire = grown(&plain());
    let rto = wire.client.rto();
    wire.run_until(wire.now + rto + Time::from_ms(1));
    assert_eq!(burst(&mut wire), 2);
}

#[test]
fn a_shorter_pause_keeps_it() {
    let mut wire = grown(&plain());
    assert_eq!(burst(&mut wire), 50);
}

#[test]
fn unless_told_otherwise() {
    let mut wire = grown(&Config { idle_restart: false, ..plain() });
    wire.run_until(wire.now + Time::from_secs(60));
    assert_eq!(burst(&mut wire), 50);
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let config = Config { initial_window: 10, ..plain() };
    let mut wire = Wire::new(&config, &config, DELAY).established();
    for _ in 0..100 {
        wire.write(Side::Client, 4000);
        wire.run_until(wire.now + DELAY * 2);
    }
    assert_eq!(wire.client.window().cwnd, 10_000);
}

#[test]
fn a_ceiling_below_the_window_stops_its_growth() {
    let config = Config { max_window: Some(20), ..plain() };
    let mut wire = Wire::new(&config, &config, DELAY).established();
    wire.write(Side::Client, 1_000_000);
    let mut most = 0;
    while wire.step() {
        most = most.max(wire.client.outstanding());
    }
    assert_eq!(most, 20_000);
    assert!(wire.client.window().cwnd <= 40_000);
}

#[test]
fn a_window_that_does_not_hold_back_does_not_grow() {
    // Twenty answers of one segment each, a window of ten: validation leaves it, RFC 5681 alone adds a segment with
    // each in slow start.
    for (window_validation, segments) in [(true, 10), (false, 30)] {
        let config = Config { initial_window: 10, window_validation, ..plain() };
        let mut wire = Wire::new(&config, &config, Time::from_ms(50)).established();
        for _ in 0..20 {
            wire.write(Side::Client, u64::from(config.mss));
            wire.run();
        }
        assert_eq!(wire.client.window().cwnd, segments * u64::from(config.mss));
    }
}

/// `tcp_is_cwnd_limited` of Linux: in slow start cwnd grows to twice the most in flight. Six segments per round trip,
/// each acknowledged: a cwnd of ten opens to twelve and stays.
#[test]
fn slow_start_opens_the_window_to_twice_what_is_in_flight() {
    let config = Config { initial_window: 10, ..plain() };
    let mut wire = Wire::new(&config, &config, DELAY).established();
    for _ in 0..20 {
        wire.write(Side::Client, 6_000);
        wire.run();
    }
    assert_eq!(wire.client.window().cwnd, 12_000);
}

/// `tcp_cwnd_validate` of Linux: a full cwnd is remembered for a round trip. In congestion avoidance two segments more
/// than cwnd are written. The first two ACKs release these two, and from then on cwnd is not full. The other ACKs
/// count all the same, so that cwnd grows by a segment. In the next round half a window is written: cwnd stays.
#[test]
fn a_window_that_was_full_grows_for_a_round() {
    let config = Config { initial_window: 2, ..plain() };
    let mut wire = Wire::new(&config, &config, DELAY).established();
    // One loss ends slow start.
    wire.write(Side::Client, 1_000_000);
    wire.lose(&[40]);
    wire.run();
    let window = *wire.client.window();
    assert!(!window.slow_start());
    let before = window.cwnd / 1_000 * 1_000;
    wire.write(Side::Client, before + 2_000);
    wire.run();
    let after = wire.client.window().cwnd;
    assert!(after > window.cwnd, "{window:?} {after}");
    wire.write(Side::Client, before / 2);
    wire.run();
    assert_eq!(wire.client.window().cwnd, after);
}
