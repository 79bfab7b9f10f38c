//! Slow start by bytes (RFC 3465), as Linux, FreeBSD and ns-2 count them.

use crate::support::control::{MSS, ack, window};
use crate::support::{Fate, Side, Wire, plain};
use tcp::Config;
use tcp::control::{
    Ack, Control, ControlKind, Cubic, CubicParameters, CubicRule, Reno, Scalable, ScalableRule, Window,
};
use units::Time;

const SEGMENT: u64 = MSS as u64;

/// Windows in segments at the end of each round trip of a bulk transfer that begins with ten, acknowledged two segments
/// at a time.
fn windows(abc_limit: Option<u32>, rounds: u64) -> Vec<u64> {
    let config =
        Config { abc_limit, initial_window: 10, delayed_ack: Some(Time::from_ms(40)), quick_acks: 0, ..plain() };
    let mut wire = Wire::new(&config, &config, Time::from_ms(50)).established();
    wire.keep_log = false;
    wire.write(Side::Client, 1 << 30);
    let start = wire.now;
    let mut at_end_of = |round: u64| {
        wire.run_until(start + Time::from_ms(100 * round + 50));
        wire.client.window().cwnd / SEGMENT
    };
    (1..=rounds).map(&mut at_end_of).collect()
}

/// Linux 6.18.44 with Reno, 200 ms of round trip over TUN devices, `tcpi_snd_cwnd`: 10, 20, 40, 80, 160, 320, 640 and
/// past 800 in the seventh round trip. Half as much again per round trip, as with one segment per acknowledgement,
/// needs eleven: 10 x 1.5^11 = 865.
#[test]
fn from_ten_to_eight_hundred_segments_takes_seven_round_trips_as_on_linux() {
    assert_eq!(windows(None, 7), [20, 40, 80, 160, 320, 640, 1280]);
    assert_eq!(windows(Some(2), 7), [20, 40, 80, 160, 320, 640, 1280], "FreeBSD's limit never binds here");
    let ns2 = windows(Some(1), 11);
    assert!(ns2[9] < 800 && (800..=865).contains(&ns2[10]), "{ns2:?}");
}

fn with_limit(segments: Option<u64>, acked: u64, window: &Window) -> Ack {
    Ack { slow_start_limit: segments.map(|segments| segments * SEGMENT), ..ack(Time::ZERO, acked * SEGMENT, window) }
}

/// One acknowledgement of eight segments in slow start: Linux counts all, FreeBSD two, ns-2 one.
#[test]
fn an_acknowledgement_of_many_segments_counts_up_to_the_limit() {
    for (limit, grown) in [(None, 18), (Some(2), 12), (Some(1), 11)] {
        let mut w = window(10, true);
        let it = with_limit(limit, 8, &w);
        Reno::default().on_ack(&mut w, &it);
        assert_eq!(w.cwnd, grown * SEGMENT, "{limit:?}");
    }
}

/// `tcp_slow_start` of Linux: the window stops at the threshold, and what is left counts in congestion avoidance. Nine
/// segments, a threshold of ten, four acknowledged: one opens the window to ten, three count; with seven more a window
/// of ten is full, and it grows by one.
#[test]
fn slow_start_ends_at_the_threshold_and_the_rest_counts_on() {
    let mut w = Window { ssthresh: 10 * SEGMENT, ..window(9, true) };
    let mut reno = Reno::default();
    let it = with_limit(None, 4, &w);
    reno.on_ack(&mut w, &it);
    assert_eq!(w.cwnd, 10 * SEGMENT);
    let it = with_limit(None, 6, &w);
    reno.on_ack(&mut w, &it);
    assert_eq!(w.cwnd, 10 * SEGMENT);
    let it = with_limit(None, 1, &w);
    reno.on_ack(&mut w, &it);
    assert_eq!(w.cwnd, 11 * SEGMENT);
}

/// An acknowledgement of a hundred segments two below the threshold: no control leaps past it by more than congestion
/// avoidance allows, a segment per window acknowledged for Reno, 1 % of the acknowledged for Scalable, Reno's average
/// increase for CUBIC.
#[test]
fn no_control_leaps_past_the_threshold() {
    let after = |control: &mut dyn Control| {
        let mut w = Window { ssthresh: 40 * SEGMENT, ..window(38, true) };
        let it = with_limit(None, 100, &w);
        control.on_ack(&mut w, &it);
        w.cwnd
    };
    assert_eq!(after(&mut Reno::default()), 41 * SEGMENT);
    // 98 segments are left: 980 bytes.
    assert_eq!(after(&mut Scalable::new(ScalableRule::Kelly)), 40 * SEGMENT + 980);
    // RFC 9438, equation 4 with alpha = 1: 40 + 98 / 40 segments.
    let formulas = CubicParameters { rule: CubicRule::Rfc9438, ..CubicParameters::default() };
    assert_eq!(after(&mut Cubic::new(&formulas)), 42_450);
    // Linux: before a loss every 20 segments open cwnd by one.
    assert_eq!(after(&mut Cubic::default()), 44 * SEGMENT);
}

/// After a timeout one retransmission fills a hole before segments that had arrived: the acknowledgement covers them
/// all, but delivers one. Linux counts what is newly delivered, RFC 3465 one segment (section 2.3).
#[test]
fn what_sack_has_told_of_does_not_count_again_after_a_timeout() {
    for abc_limit in [None, Some(2)] {
        let config = Config { abc_limit, initial_window: 20, control: ControlKind::Reno, ..plain() };
        let mut wire = Wire::new(&config, &config, Time::from_ms(50)).established();
        // The first segment, its retransmission, and new data are lost; the other nineteen arrive.
        wire.set_script(move |side, number, _| {
            if side == Side::Client && (number == 0 || (20..40).contains(&number)) { Fate::Drop } else { Fate::Deliver }
        });
        wire.write(Side::Client, 20 * SEGMENT);
        while wire.client.counters().timeouts == 0 || wire.client.in_timeout() && wire.client.acknowledged() == 0 {
            assert!(wire.step());
        }
        assert!(wire.client.window().cwnd <= 2 * SEGMENT, "{abc_limit:?}: {}", wire.client.window().cwnd);
    }
}
