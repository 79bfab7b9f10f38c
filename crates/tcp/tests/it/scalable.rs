//! Scalable TCP against Kelly's two rules.

use crate::support::control::{MSS, ack, window};
use tcp::control::{Control, Reno, Scalable};
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
fn up_to_sixteen_segments_it_is_reno() {
    let (mut scalable, mut reno) = (Scalable::default(), Reno::default());
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
    let (mut timed_out, mut w) = (Scalable::default(), window(200, false));
    timed_out.on_timeout(&mut w, Time::ZERO, 200 * SMSS, false);
    assert_eq!((w.cwnd, w.ssthresh), (SMSS, 100 * SMSS));
}
