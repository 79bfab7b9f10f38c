//! Scalable TCP against Kelly's two rules, and as Linux has it.

use crate::support::control::{MSS, ack, window};
use tcp::control::{Control, Reno, Scalable, ScalableRule};
use units::Time;

const SMSS: u64 = MSS as u64;

#[test]
fn a_hundredth_of_a_segment_for_each_acknowledged() {
    let (mut scalable, mut w) = (Scalable::default(), window(200, false));
    let mut expected = 200.0;
    // Acknowledgements of one and of two segments alike.
    for n in 0..5000_u64 {
        let segments = 1 + n % 2;
        let it = ack(Time::ZERO, segments * SMSS, &w);
        scalable.on_ack(&mut w, &it);
        expected += 0.01 * segments as f64;
        assert!((w.cwnd as f64 / f64::from(MSS) - expected).abs() < 0.001, "{} {expected}", w.cwnd);
    }
}

#[test]
fn an_eighth_is_lost() {
    let (mut scalable, mut w) = (Scalable::default(), window(200, false));
    let mut expected = 200.0;
    for _ in 0..10 {
        let flight = w.cwnd;
        scalable.on_loss(&mut w, Time::ZERO, flight);
        expected *= 0.875;
        assert!((w.cwnd as f64 / f64::from(MSS) - expected).abs() < 0.01);
        assert_eq!(w.ssthresh, w.cwnd);
    }
}

#[test]
fn the_time_to_recover_does_not_depend_on_the_window() {
    // log(1 - b) / log(1 + a) = 13.4 round trips (section 3), whatever the window.
    let expected = libm::log(1.0 / 0.875) / libm::log(1.01);
    for start in [100, 1000, 20_000] {
        let (mut scalable, mut w) = (Scalable::default(), window(start, false));
        scalable.on_loss(&mut w, Time::ZERO, start * SMSS);
        let mut rounds = 0.0;
        while w.cwnd < start * SMSS {
            let acked = w.cwnd;
            for _ in 0..acked / SMSS {
                let it = ack(Time::ZERO, SMSS, &w);
                scalable.on_ack(&mut w, &it);
            }
            rounds += 1.0;
        }
        assert!(rounds >= expected && rounds < expected + 1.1, "{rounds} {expected}");
    }
}

#[test]
fn by_kelly_it_is_reno_up_to_sixteen_segments() {
    let (mut scalable, mut reno) = (Scalable::new(ScalableRule::Kelly), Reno::default());
    let (mut w, mut r) = (window(1, true), window(1, true));
    (w.ssthresh, r.ssthresh) = (8 * SMSS, 8 * SMSS);
    while w.cwnd < 16 * SMSS {
        let it = ack(Time::ZERO, SMSS, &w);
        scalable.on_ack(&mut w, &it);
        reno.on_ack(&mut r, &it);
        assert_eq!(w, r);
    }
    scalable.on_loss(&mut w, Time::ZERO, 16 * SMSS);
    assert_eq!(w.cwnd, 8 * SMSS);
    let (mut timed_out, mut w) = (Scalable::new(ScalableRule::Kelly), window(200, false));
    timed_out.on_timeout(&mut w, Time::ZERO, 200 * SMSS, false);
    assert_eq!((w.cwnd, w.ssthresh), (SMSS, 100 * SMSS));
}

/// `tcp_scalable.c` of Linux: cwnd grows by one segment per min(cwnd, 100) segments acknowledged, and an eighth is
/// lost at every cwnd, by a timeout too.
#[test]
fn hosts_grow_as_reno_below_a_hundred_segments() {
    let (mut scalable, mut w) = (Scalable::default(), window(40, false));
    // 40 + 41 + ... + 99 acknowledgements of a segment lead from 40 to 100 segments, one by one.
    for cwnd in 40..100 {
        for n in 0..cwnd {
            assert_eq!(w.cwnd / SMSS, cwnd, "after {n}");
            let it = ack(Time::ZERO, SMSS, &w);
            scalable.on_ack(&mut w, &it);
        }
    }
    assert_eq!(w.cwnd, 100 * SMSS);
    // From there on a hundredth for each.
    for _ in 0..100 {
        let it = ack(Time::ZERO, SMSS, &w);
        scalable.on_ack(&mut w, &it);
    }
    assert_eq!(w.cwnd, 101 * SMSS);
    let mut small = window(8, false);
    scalable.on_loss(&mut small, Time::ZERO, 8 * SMSS);
    assert_eq!(small.cwnd, 7 * SMSS);
    let mut late = window(16, false);
    scalable.on_timeout(&mut late, Time::ZERO, 16 * SMSS, false);
    assert_eq!((late.cwnd, late.ssthresh), (SMSS, 14 * SMSS));
}
