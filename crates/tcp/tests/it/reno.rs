//! Reno's window, step by step against RFC 5681.

use crate::support::control::{MSS, ack, window};
use crate::support::{Side, Wire};
use tcp::Config;
use tcp::control::{Ack, Control, ControlKind, IncreaseRule, Reno, Window};
use units::Time;

const SMSS: u64 = MSS as u64;

#[test]
fn slow_start_adds_at_most_a_segment_per_acknowledgement() {
    let (mut reno, mut w) = (Reno::default(), window(2, true));
    let mut expected = 2 * SMSS;
    for acked in [SMSS, SMSS, 500, 2 * SMSS, 1, SMSS] {
        let it = ack(Time::ZERO, acked, &w);
        reno.on_ack(&mut w, &it);
        // Equation 2: cwnd += min(N, SMSS).
        expected += acked.min(SMSS);
        assert_eq!(w.cwnd, expected);
    }
}

/// RFC 5681, section 3.1: at cwnd = ssthresh either may be used.
#[test]
fn slow_start_may_go_on_where_the_window_equals_the_threshold() {
    for (start_at_ssthresh, after) in [(false, 10), (true, 11)] {
        let (mut reno, mut w) = (Reno::default(), Window { start_at_ssthresh, ..window(10, false) });
        for _ in 0..9 {
            let it = ack(Time::ZERO, SMSS, &w);
            reno.on_ack(&mut w, &it);
        }
        assert_eq!(w.cwnd, after * SMSS);
    }
}

#[test]
fn congestion_avoidance_adds_a_segment_per_window() {
    let (mut reno, mut w) = (Reno::default(), window(10, false));
    for segments in 10..40_u64 {
        // Equation 3 adds SMSS x SMSS / cwnd for each; over a window's acknowledgements that is one segment.
        for _ in 0..segments {
            assert_eq!(w.cwnd, segments * SMSS);
            let it = ack(Time::ZERO, SMSS, &w);
            reno.on_ack(&mut w, &it);
        }
        assert_eq!(w.cwnd, (segments + 1) * SMSS);
    }
}

#[test]
fn delayed_acknowledgements_do_not_slow_congestion_avoidance() {
    let (mut reno, mut w) = (Reno::default(), window(10, false));
    for _ in 0..5 {
        let it = ack(Time::ZERO, 2 * SMSS, &w);
        reno.on_ack(&mut w, &it);
    }
    assert_eq!(w.cwnd, 11 * SMSS);
}

#[test]
fn a_window_not_used_does_not_grow() {
    for slow_start in [true, false] {
        let (mut reno, mut w) = (Reno::default(), window(10, slow_start));
        for _ in 0..100 {
            let it = Ack { cwnd_limited: false, ..ack(Time::ZERO, SMSS, &w) };
            reno.on_ack(&mut w, &it);
        }
        assert_eq!(w.cwnd, 10 * SMSS);
    }
}

/// A trace of Linux 6.18 (`tcp_probe`; sixteen flows on 10 Mbit/s): of cwnd 5 and 4 a loss leaves 2, of 6 and 7 3.
#[test]
fn a_loss_leaves_whole_segments_as_in_linux() {
    for (cwnd, left) in [(4, 2), (5, 2), (6, 3), (7, 3)] {
        let config = Config {
            control: ControlKind::Reno,
            mss: SMSS as u16,
            initial_window: cwnd,
            timestamps: false,
            count_options: false,
            ..Config::default()
        };
        let mut wire = Wire::new(&config, &config, Time::from_ms(10)).established();
        wire.lose(&[0]);
        wire.write(Side::Client, 100 * SMSS);
        wire.run_until(wire.now + Time::from_ms(21));
        assert!(wire.client.in_recovery(), "cwnd {cwnd}");
        assert_eq!(wire.client.window().ssthresh, left * SMSS, "cwnd {cwnd}");
    }
}

#[test]
fn losses_halve_what_was_outstanding() {
    for (flight, expected) in [(20, 10), (21, 10), (4, 2), (3, 2), (1, 2)] {
        let (mut reno, mut w) = (Reno::default(), window(30, false));
        reno.on_loss(&mut w, Time::ZERO, flight * SMSS);
        // Equation 4: max(FlightSize / 2, 2 SMSS).
        assert_eq!(w.ssthresh, (flight * SMSS / 2).max(2 * SMSS));
        assert_eq!(w.cwnd / SMSS, expected);
    }
}

#[test]
fn a_timeout_starts_over_and_a_repeated_one_keeps_the_threshold() {
    let (mut reno, mut w) = (Reno::default(), window(30, false));
    reno.on_timeout(&mut w, Time::ZERO, 24 * SMSS, false);
    assert_eq!((w.cwnd, w.ssthresh), (SMSS, 12 * SMSS));
    reno.on_timeout(&mut w, Time::ZERO, SMSS, true);
    assert_eq!((w.cwnd, w.ssthresh), (SMSS, 12 * SMSS));
}

#[test]
fn after_idling_the_window_is_at_most_the_initial_one() {
    let (mut reno, mut w) = (Reno::default(), window(30, false));
    reno.on_idle(&mut w, 10 * SMSS);
    assert_eq!(w.cwnd, 10 * SMSS);
    let mut w = window(4, false);
    reno.on_idle(&mut w, 10 * SMSS);
    assert_eq!(w.cwnd, 4 * SMSS);
}

#[test]
fn growth_per_ack_is_slower_than_growth_by_counting() {
    // RFC 5681, equation 3, of 1000 bytes each: 2000 + 500, + 400, + 344.8. Counting opens cwnd after two.
    let (mut reno, mut w) = (Reno::new(IncreaseRule::PerAck), window(2, false));
    let (mut counted, mut v) = (Reno::default(), window(2, false));
    for expected in [(2_500, 2_000), (2_900, 3_000), (3_245, 3_000)] {
        let it = ack(Time::ZERO, SMSS, &w);
        reno.on_ack(&mut w, &it);
        let it = ack(Time::ZERO, SMSS, &v);
        counted.on_ack(&mut v, &it);
        assert_eq!((w.cwnd, v.cwnd), expected);
    }
}
