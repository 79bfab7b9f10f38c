//! CUBIC's window: step by step against the formulas of RFC 9438, and in whole segments as Linux counts.

use crate::support::control::{MSS, ack, window};
use tcp::control::{Ack, Control, Cubic, CubicParameters, CubicRule, Window};
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

fn by_formulas() -> Cubic {
    Cubic::new(&CubicParameters { rule: CubicRule::Rfc9438, ..CubicParameters::default() })
}

/// A control that has just lost at `cwnd` segments.
fn lost_at(cwnd: u64) -> (Cubic, Window) {
    let (mut cubic, mut w) = (by_formulas(), window(cwnd, false));
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
        for mut cubic in [by_formulas(), Cubic::default()] {
            let mut w = window(cwnd, false);
            cubic.on_loss(&mut w, Time::ZERO, flight * SMSS);
            assert!((segments(&w) - expected).abs() < 0.001);
            assert_eq!(w.ssthresh, w.cwnd);
        }
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
    let (mut cubic, mut w) = (by_formulas(), window(100, false));
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

/// Linux counts in whole segments: acknowledges a window per `rtt` milliseconds until `end`, and calls `each` with the
/// milliseconds since the first acknowledgement and cwnd in segments.
fn in_segments(cubic: &mut Cubic, w: &mut Window, rtt: u64, end: u64, mut each: impl FnMut(u64, u64)) {
    let start = Time::from_secs(5);
    let mut us = 0;
    while us < end * 1_000 {
        let it = Ack { least_rtt: Time::from_ms(rtt), ..ack(start + Time::from_us(us), SMSS, w) };
        cubic.on_ack(w, &it);
        assert_eq!(w.cwnd % SMSS, 0, "whole segments");
        each(us / 1_000, w.cwnd / SMSS);
        us += rtt * 1_000 / (w.cwnd / SMSS);
    }
}

#[test]
fn linux_leaves_whole_segments() {
    // tcp_cubic.c, `cubictcp_recalc_ssthresh`: 7 x 717 / 1024 = 4.9, and never less than two.
    for (flight, expected) in [(7, 4), (10, 7), (4, 2), (2, 2)] {
        let (mut cubic, mut w) = (Cubic::default(), window(flight, false));
        cubic.on_loss(&mut w, Time::ZERO, flight * SMSS);
        assert_eq!(w.cwnd, expected * SMSS, "of {flight}");
    }
}

#[test]
fn linux_counts_anew_after_a_loss() {
    // `tcp_init_cwnd_reduction` clears `snd_cwnd_cnt`. Nine of the twenty segments that open the window of ten are
    // acknowledged when it is cut to seven. K = cbrt(3 / 0.4) = 1.957 s, and the target of a round trip of 40 ms is
    // 10 - whole(0.4 x 1.917^3) = 8: the window opens with the seventh segment from then on.
    let (mut cubic, mut w) = (Cubic::default(), window(10, false));
    let acknowledge = |cubic: &mut Cubic, w: &mut Window| {
        let it = Ack { least_rtt: Time::from_ms(40), ..ack(Time::from_secs(5), SMSS, w) };
        cubic.on_ack(w, &it);
        w.cwnd / SMSS
    };
    for _ in 0..9 {
        assert_eq!(acknowledge(&mut cubic, &mut w), 10);
    }
    cubic.on_loss(&mut w, Time::from_secs(5), 10 * SMSS);
    let cwnds: Vec<u64> = (0..7).map(|_| acknowledge(&mut cubic, &mut w)).collect();
    assert_eq!(cwnds, [7, 7, 7, 7, 7, 7, 8]);
}

#[test]
fn linux_reaches_the_plateau_early_and_leaves_it_late() {
    let (mut cubic, mut w) = (Cubic::default(), window(100, false));
    cubic.on_loss(&mut w, Time::ZERO, 100 * SMSS);
    // From 70 segments K = cbrt(30 / 0.4) = 4.217 s. The function is less than a segment from 100 while |t - K| <
    // cbrt(1 / 0.4) = 1.357 s, and t is 200 ms, the minimum RTT, ahead of the clock: between 2.66 and 5.37 s the target
    // is 100. Reno's window has reached 70 + 5.37 / 0.2 / 1.875 = 84 by then.
    in_segments(&mut cubic, &mut w, 200, 7_000, |ms, cwnd| match ms {
        0..2_600 => assert!(cwnd < 100, "{cwnd} at {ms} ms"),
        3_000..5_370 => assert_eq!(cwnd, 100, "at {ms} ms"),
        5_900.. => assert!(cwnd > 100, "{cwnd} at {ms} ms"),
        _ => {}
    });
}

#[test]
fn linux_grows_by_a_twentieth_before_a_loss() {
    // `cnt` is at most 20 while no loss is remembered: some 100 acknowledged segments open a window of 100 by five.
    let (mut cubic, mut w) = (Cubic::default(), window(100, false));
    in_segments(&mut cubic, &mut w, 100, 99, |_, _| ());
    assert_eq!(w.cwnd, 105 * SMSS);
    // After a timeout it is so again (`cubictcp_reset`).
    cubic.on_loss(&mut w, Time::ZERO, 100 * SMSS);
    cubic.on_timeout(&mut w, Time::ZERO, 100 * SMSS, false);
    (w.cwnd, w.ssthresh) = (100 * SMSS, 100 * SMSS);
    in_segments(&mut cubic, &mut w, 100, 99, |_, _| ());
    assert!((105..=106).contains(&(w.cwnd / SMSS)), "{}", w.cwnd);
}

#[test]
fn linux_is_as_fast_as_reno_on_short_paths() {
    // Reno's window grows by one per 1.875 cwnd acknowledged (`beta_scale` 15): from 14 to 20 in 6 x 1.875 = 11.25
    // round trips of 2 ms. While cwnd stays, Linux looks at it every 31.25 ms only: after 15.6 round trips, when it is
    // 22. The six segments then take two acknowledgements each, less than a round trip.
    let (mut cubic, mut w) = (Cubic::default(), window(20, false));
    cubic.on_loss(&mut w, Time::ZERO, 20 * SMSS);
    let mut reached = None;
    in_segments(&mut cubic, &mut w, 2, 60, |ms, cwnd| {
        if cwnd >= 20 && reached.is_none() {
            reached = Some(ms);
        }
    });
    let rounds = reached.unwrap() as f64 / 2.0;
    assert!((15.6..17.6).contains(&rounds), "{rounds}");
}
