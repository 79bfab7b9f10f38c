//! Reductions for losses that were none are undone (RFC 9438, section 4.9; RFC 3522; RFC 3708).

use crate::support::control::{MSS as SEGMENT, ack, window};
use crate::support::{Fate, Side, Wire, plain};
use tcp::control::{Control, ControlKind, Cubic};
use tcp::{Config, Recovery, ReductionBase};
use units::Time;

const DELAY: Time = Time::from_ms(50);
const MSS: u64 = 1000;

/// Twenty segments, of which the first comes 30 ms late: nineteen duplicates make it look lost.
fn overtaken(config: &Config) -> Wire {
    let mut wire = Wire::new(config, config, DELAY).established();
    wire.set_script(
        |side, number, _| {
            if (side, number) == (Side::Client, 0) { Fate::Late(Time::from_ms(30)) } else { Fate::Deliver }
        },
    );
    wire.write(Side::Client, 20 * MSS);
    wire.run();
    wire
}

fn config(timestamps: bool, undo_spurious: bool) -> Config {
    let reduction_base = ReductionBase::Cwnd;
    Config { initial_window: 20, timestamps, undo_spurious, reduction_base, control: ControlKind::Cubic, ..plain() }
}

/// The retransmission leaves at 100 ms; the acknowledgement of the original comes at 130 ms with an older timestamp
/// echo, the DSACK for the retransmission at 200 ms. Both restore cwnd of 20 and no threshold.
#[test]
fn a_late_segment_costs_no_window() {
    for timestamps in [true, false] {
        for recovery in [Recovery::Rfc6675, Recovery::Rack] {
            let wire = overtaken(&Config { recovery, ..config(timestamps, true) });
            let counters = wire.client.counters();
            assert_eq!((counters.fast_recoveries, counters.retransmissions, counters.undone), (1, 1, 1));
            assert!(wire.client.window().cwnd >= 20 * MSS, "{:?}", wire.client.window());
            assert_eq!(wire.client.window().ssthresh, u64::MAX);
        }
    }
}

#[test]
fn without_the_option_the_reduction_stands() {
    let wire = overtaken(&config(true, false));
    assert_eq!(wire.client.counters().undone, 0);
    assert_eq!(wire.client.window().ssthresh, 14 * MSS, "0.7 of 20");
}

#[test]
fn a_loss_is_not_undone() {
    for timestamps in [true, false] {
        let config = config(timestamps, true);
        let mut wire = Wire::new(&config, &config, DELAY).established();
        wire.lose(&[0]);
        wire.write(Side::Client, 20 * MSS);
        wire.run();
        assert_eq!((wire.client.counters().undone, wire.client.window().ssthresh), (0, 14 * MSS));
    }
}

/// Section 4.9.2: W_max, K, the epoch and W_est are restored. A control that lost at 100 segments grows from 70 by the
/// curve of that loss. A second, spurious loss changes nothing of it. K is cbrt(30 / 0.4) = 4.217 s, and Linux rounds
/// the last segment up, cbrt(1 / 0.4) = 1.357 s before; the minimum RTT of 0.1 s is ahead of the clock. So both reach
/// 100 segments again after some 2.8 s.
#[test]
fn cubic_goes_on_along_its_old_curve() {
    let segment = u64::from(SEGMENT);
    let run = |spurious: bool| {
        let (mut cubic, mut w) = (Cubic::default(), window(100, false));
        cubic.on_loss(&mut w, Time::ZERO, 100 * segment);
        let (mut now, mut done) = (Time::ZERO, false);
        while w.cwnd < 100 * segment {
            now += Time::from_ms(100);
            if spurious && !done && now > Time::from_secs(2) {
                done = true;
                let before = w;
                cubic.on_loss(&mut w, now, before.cwnd);
                cubic.on_undo();
                w = before;
            }
            let all = w.cwnd / segment;
            for _ in 0..all {
                let it = ack(now, segment, &w);
                cubic.on_ack(&mut w, &it);
            }
        }
        now
    };
    assert_eq!(run(true), run(false));
    assert!((2.7..3.1).contains(&run(true).as_secs_f64()), "{}", run(true));
}
