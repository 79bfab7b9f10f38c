//! FAST: its recurrence step by step, and its equilibrium.

use crate::support::control::{MSS, ack, window};
use crate::support::{Side, Wire, plain};
use tcp::control::{Ack, Control, ControlKind, Delivery, Fast, Window};
use tcp::{Config, Endpoint};
use units::{BitRate, Time};

const SMSS: u64 = MSS as u64;
const BASE: f64 = 0.1;

/// Feeds round trips in which the first acknowledgement ends the one before.
struct Rounds {
    fast: Fast,
    w: Window,
    una: u64,
}

impl Rounds {
    fn new(alpha: u32, segments: u64, slow_start: bool) -> Self {
        Self { fast: Fast::new(alpha), w: window(segments, slow_start), una: 1 }
    }
    /// One acknowledgement with `outstanding` segments after it.
    fn step(&mut self, rtt: f64, outstanding: u64) {
        let delivery = Delivery { rtt: Some(Time::from_secs_f64(rtt)), ..Delivery::default() };
        self.fast.on_delivery(&mut self.w, &delivery);
        self.una += SMSS;
        let it = Ack { una: self.una, nxt: self.una + outstanding * SMSS, ..ack(Time::ZERO, SMSS, &self.w) };
        self.fast.on_ack(&mut self.w, &it);
    }
    /// A window's acknowledgements, each with a round trip of `rtt` seconds.
    fn round(&mut self, rtt: f64) {
        let segments = self.w.cwnd / SMSS;
        (0..segments).for_each(|_| self.step(rtt, segments));
    }
}

#[test]
fn the_window_follows_equation_4() {
    // A hundred segments are outstanding at any time, so every 101st acknowledgement is of more than those outstanding
    // at the last such.
    let mut rounds = Rounds::new(20, 100, false);
    let (mut w, mut average, mut base) = (100.0_f64, 0.0, f64::MAX);
    for n in 0..101 * 12 {
        let rtt = BASE * [1.0, 1.1, 1.3, 2.0, 1.5, 1.0, 0.9, 4.0][n / 77 % 8];
        rounds.step(rtt, 100);
        base = base.min(rtt);
        average = if n == 0 { rtt } else { average + (3.0 / w).min(0.25) * (rtt - average) };
        if n > 0 && n % 101 == 0 {
            w = (2.0 * w).min(0.5 * w + 0.5 * (base / average * w + 20.0));
        }
        let got = rounds.w.cwnd as f64 / f64::from(MSS);
        assert!((got - w).abs() < 0.01, "{n}: {got} {w}");
    }
}

#[test]
fn it_at_most_doubles() {
    let mut rounds = Rounds::new(200, 10, false);
    rounds.round(BASE);
    for expected in [20, 40, 80, 160] {
        rounds.round(BASE);
        assert_eq!(rounds.w.cwnd, expected * SMSS);
    }
    // From 200 segments on the sum is less than the double: w + alpha / 2.
    rounds.round(BASE);
    assert_eq!(rounds.w.cwnd, 260 * SMSS);
}

#[test]
fn slow_start_ends_when_alpha_segments_wait() {
    let mut rounds = Rounds::new(20, 40, true);
    rounds.round(BASE);
    assert!(rounds.w.slow_start() && rounds.w.cwnd == 80 * SMSS);
    // A quarter of the round trip is queueing, and so a quarter of the window waits.
    rounds.round(BASE / 0.7);
    rounds.round(BASE / 0.7);
    assert!(!rounds.w.slow_start());
}

#[test]
fn a_loss_halves_and_a_timeout_starts_slowly() {
    let (mut fast, mut w) = (Fast::new(20), window(100, false));
    fast.on_loss(&mut w, Time::ZERO, 100 * SMSS);
    assert_eq!((w.cwnd, w.ssthresh), (50 * SMSS, 50 * SMSS));
    fast.on_timeout(&mut w, Time::ZERO, 50 * SMSS, false);
    assert_eq!((w.cwnd, w.ssthresh), (SMSS, 25 * SMSS));
}

#[test]
fn in_equilibrium_alpha_segments_wait() {
    // The fixed point of equation 4: w (1 - baseRTT / RTT) = alpha, with nothing lost.
    for (rate, rtt, alpha) in [(20, 40, 20_u32), (100, 20, 50), (10, 100, 8)] {
        let rate = BitRate::from_mbps(rate);
        let config = Config { control: ControlKind::Fast { alpha }, ..plain() };
        let mut wire = Wire::new(&config, &config, Time::from_ms(rtt) / 2).bottleneck(rate, 2000);
        wire.keep_log = false;
        wire.with(Side::Client, Endpoint::open);
        wire.write(Side::Client, 1 << 40);
        wire.run_until(Time::from_secs(20));
        assert_eq!(wire.drops, 0);
        let segment = rate.transmission_time(units::Bytes::new(1040)).as_secs_f64();
        let ack = rate.transmission_time(units::Bytes::new(40)).as_secs_f64();
        let product = (Time::from_ms(rtt).as_secs_f64() + segment + ack) / segment;
        for _ in 0..100 {
            wire.run_until(wire.now + Time::from_ms(37));
            let waiting = wire.client.window().cwnd as f64 / f64::from(MSS) - product;
            assert!((waiting - f64::from(alpha)).abs() < 1.0, "{rate} {rtt}: {waiting} wait, {alpha} should");
        }
    }
}
