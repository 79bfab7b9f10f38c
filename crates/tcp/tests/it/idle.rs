//! The congestion window of a flow that pauses or never fills it (RFC 5681 section 4.1, RFC 9438 section 5.8, RFC
//! 7661's aim).

use crate::support::{Fate, Side, Wire, plain};
use tcp::{Config, IdleRestart};
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
    let mut wire = grown(&Config { idle_restart: IdleRestart::Rfc5681, ..plain() });
    let rto = wire.client.rto();
    wire.run_until(wire.now + rto + Time::from_ms(1));
    assert_eq!(burst(&mut wire), 2);
}

/// `tcp_cwnd_restart` of Linux: a halving for each RTO since data was last sent, down to the initial window; ssthresh is
/// at least three quarters of cwnd (`tcp_current_ssthresh`).
#[test]
fn on_linux_the_window_halves_with_each_timeout_of_silence() {
    let after = |timeouts: f64| {
        let mut wire = grown(&Config { idle_restart: IdleRestart::Linux, initial_window: 3, ..plain() });
        // One loss makes ssthresh known.
        let mut segments = 0;
        wire.set_script(move |side, _, _| {
            segments += u32::from(side == Side::Client);
            if segments == 60 { Fate::Drop } else { Fate::Deliver }
        });
        wire.write(Side::Client, 1_000_000);
        wire.run();
        let before = *wire.client.window();
        wire.log.clear();
        // Its last segment was sent a round trip ago.
        let sent = wire.now - DELAY * 2;
        wire.run_until(sent + wire.client.rto().mul_f64(timeouts));
        let segments = burst(&mut wire) as u64;
        (before, *wire.client.window(), segments)
    };
    for (timeouts, halvings) in [(0.9, 0), (1.5, 1), (2.5, 2), (3.5, 3)] {
        let (before, window, segments) = after(timeouts);
        assert!(before.cwnd >= 24_000, "{before:?}");
        assert_eq!(window.cwnd, before.cwnd >> halvings, "{timeouts} {before:?}");
        assert_eq!(segments, (window.cwnd / 1_000).min(50), "{timeouts}");
        let least = if halvings == 0 { 0 } else { before.cwnd / 4 * 3 };
        assert_eq!(window.ssthresh, before.ssthresh.max(least), "{timeouts}");
    }
    let (_, window, segments) = after(60.0);
    assert_eq!((window.cwnd, segments), (3_000, 3));
}

/// ns-2 2.35, `Agent/TCP/Sack1` with 100 ms of round trip and a minimum RTO of 200 ms: a pause of 190 ms after the last
/// acknowledgement leaves cwnd, one of 250 ms closes it to a segment.
#[test]
fn in_ns2_the_window_closes_a_timeout_after_the_last_acknowledgement() {
    let burst_after = |part: f64| {
        let mut wire = grown(&Config { idle_restart: IdleRestart::Ns2, ..plain() });
        // The wire has run dry: the last acknowledgement came just now.
        let rto = wire.client.rto();
        wire.run_until(wire.now + rto.mul_f64(part));
        burst(&mut wire)
    };
    assert_eq!((burst_after(0.95), burst_after(1.05)), (50, 1));
}

#[test]
fn a_shorter_pause_keeps_it() {
    let mut wire = grown(&plain());
    assert_eq!(burst(&mut wire), 50);
}

#[test]
fn unless_told_otherwise() {
    let mut wire = grown(&Config { idle_restart: IdleRestart::Off, ..plain() });
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
