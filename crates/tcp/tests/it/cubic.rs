//! CUBIC's window, step by step against RFC 9438.

use crate::support::control::{MSS, ack, window};
use tcp::control::{Ack, Control, Cubic, Window};
use units::Time;

const SMSS: u64 = MSS as u64;

/// The RFC's formulas, in segments and seconds.
struct Rfc9438 {
    cwnd: f64,
    w_max: f64,
    k: f64,
    w_est: f64,
    cwnd_prior: f64,
}

impl Rfc9438 {
    /// After a loss at `cwnd`, not having lost before.
    fn after_loss(cwnd: f64) -> Self {
        let (w_max, start) = (cwnd, cwnd * 0.7);
        Self { cwnd: start, w_max, k: libm::cbrt((w_max - start) / 0.4), w_est: start, cwnd_prior: cwnd }
    }
    fn w_cubic(&self, t: f64) -> f64 {
        0.4 * (t - self.k) * (t - self.k) * (t - self.k) + self.w_max
    }
    /// One acknowledgement of one segment `t` seconds into the epoch.
    fn on_ack(&mut self, t: f64, rtt: f64) {
        let alpha = if self.w_est < self.cwnd_prior { 3.0 * 0.3 / 1.7 } else { 1.0 };
        self.w_est += alpha / self.cwnd;
        if self.w_cubic(t) < self.w_est {
            self.cwnd = self.cwnd.max(self.w_est);
        } else {
            let target = self.w_cubic(t + rtt).max(self.cwnd).min(1.5 * self.cwnd);
            self.cwnd += (target - self.cwnd) / self.cwnd;
        }
    }
}

fn segments(w: &Window) -> f64 {
    w.cwnd as f64 / f64::from(MSS)
}

/// A control that has just lost at `cwnd` segments.
fn lost_at(cwnd: u64) -> (Cubic, Window) {
    let (mut cubic, mut w) = (Cubic::default(), window(cwnd, false));
    cubic.on_loss(&mut w, Time::ZERO, cwnd * SMSS);
    (cubic, w)
}

/// Acknowledges segment by segment, a window per round trip, beside the formulas; calls `each` after each.
fn follow(
    cubic: &mut Cubic,
    w: &mut Window,
    rfc: &mut Rfc9438,
    rtt: f64,
    seconds: f64,
    mut each: impl FnMut(f64, f64),
) {
    let start = Time::from_secs(5);
    let mut t = 0.0;
    while t < seconds {
        let now = start + Time::from_secs_f64(t);
        let it = Ack { smoothed_rtt: Time::from_secs_f64(rtt), ..ack(now, SMSS, w) };
        cubic.on_ack(w, &it);
        rfc.on_ack(t, rtt);
        let got = segments(w);
        assert!((got - rfc.cwnd).abs() < 0.01, "at {t} s: {got}, by the formulas {}", rfc.cwnd);
        each(t, got);
        t += rtt / rfc.cwnd;
    }
}

#[test]
fn a_loss_reduces_to_seven_tenths() {
    for (cwnd, flight, expected) in [(100, 100, 70.0), (100, 60, 42.0), (2, 2, 2.0)] {
        let (mut cubic, mut w) = (Cubic::default(), window(cwnd, false));
        cubic.on_loss(&mut w, Time::ZERO, flight * SMSS);
        assert!((segments(&w) - expected).abs() < 0.001);
        assert_eq!(w.ssthresh, w.cwnd);
    }
}

#[test]
fn concave_then_convex() {
    let (mut cubic, mut w) = lost_at(1000);
    let mut rfc = Rfc9438::after_loss(1000.0);
    // K = cbrt(300 / 0.4) = 9.086 s.
    assert!((rfc.k - 9.0856).abs() < 0.001);
    let (mut at_k, mut at_2k) = (0.0, 0.0);
    follow(&mut cubic, &mut w, &mut rfc, 0.1, 18.2, |t, cwnd| {
        if t < 9.0856 {
            at_k = cwnd;
        }
        if t < 2.0 * 9.0856 {
            at_2k = cwnd;
        }
    });
    // Back at the old window after K, and as far above it after 2 K as it had fallen below.
    assert!((at_k - 1000.0).abs() < 2.0, "{at_k}");
    assert!((at_2k - 1300.0).abs() < 15.0, "{at_2k}");
}

#[test]
fn friendly_to_reno_on_short_paths() {
    let (mut cubic, mut w) = lost_at(20);
    let mut rfc = Rfc9438::after_loss(20.0);
    let mut reached = None;
    follow(&mut cubic, &mut w, &mut rfc, 0.002, 0.2, |t, cwnd| {
        if reached.is_none() && cwnd >= 20.0 {
            reached = Some(t);
        }
    });
    // Additive increase of 9/17 a round trip takes 6 / (9/17) = 11.3 round trips back to the old window, and the cubic
    // function seconds.
    let rounds = reached.unwrap() / 0.002;
    assert!((11.0..13.0).contains(&rounds), "{rounds}");
}

#[test]
fn fast_convergence_gives_way() {
    let (mut cubic, mut w) = lost_at(1000);
    // The next loss comes below the old window of 1000: W_max = 700 x (1 + 0.7) / 2.
    cubic.on_loss(&mut w, Time::from_secs(1), 700 * SMSS);
    let mut rfc = Rfc9438::after_loss(700.0);
    rfc.w_max = 700.0 * 0.85;
    rfc.k = libm::cbrt((rfc.w_max - 490.0) / 0.4);
    follow(&mut cubic, &mut w, &mut rfc, 0.1, 10.0, |_, _| ());
}

#[test]
fn after_a_timeout_the_curve_starts_at_its_plateau() {
    let (mut cubic, mut w) = (Cubic::default(), window(100, false));
    cubic.on_timeout(&mut w, Time::ZERO, 100 * SMSS, false);
    assert_eq!((w.cwnd, w.ssthresh), (SMSS, 70 * SMSS));
    while w.slow_start() {
        let it = ack(Time::from_secs(1), SMSS, &w);
        cubic.on_ack(&mut w, &it);
    }
    let mut rfc = Rfc9438 { cwnd: 70.0, w_max: 70.0, k: 0.0, w_est: 70.0, cwnd_prior: 100.0 };
    follow(&mut cubic, &mut w, &mut rfc, 0.1, 6.0, |_, _| ());
}

#[test]
fn the_clock_stands_still_while_the_window_is_not_used() {
    let (mut cubic, mut w) = lost_at(1000);
    let mut rfc = Rfc9438::after_loss(1000.0);
    follow(&mut cubic, &mut w, &mut rfc, 0.1, 3.0, |_, _| ());
    let before = w.cwnd;
    // A minute of an application that sends little.
    for tenth in 1..=600 {
        let now = Time::from_secs(8) + Time::from_ms(100 * tenth);
        let it = Ack { cwnd_limited: false, ..ack(now, SMSS, &w) };
        cubic.on_ack(&mut w, &it);
    }
    assert_eq!(w.cwnd, before);
    let it = ack(Time::from_secs(68) + Time::from_ms(100), SMSS, &w);
    cubic.on_ack(&mut w, &it);
    // Were the minute counted, the target would be half as large again.
    assert!(w.cwnd - before < SMSS / 5, "{}", w.cwnd - before);
}
