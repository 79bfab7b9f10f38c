//! HyStart++ against RFC 9406, section 4.2, and on a path that slow start overruns.

use crate::support::control::{MSS, ack, window};
use crate::support::{Side, Wire, plain};
use tcp::control::{Ack, ControlKind, HyStartBounds, HyStartPlusPlus, Window};
use tcp::{Config, Endpoint, StartRule};
use units::{BitRate, Time};

const SMSS: u64 = MSS as u64;

/// Rounds of acknowledgements of one segment each.
struct Rounds {
    hystart: HyStartPlusPlus,
    w: Window,
    una: u64,
}

impl Rounds {
    fn new(segments: u64) -> Self {
        Self { hystart: HyStartPlusPlus::default(), w: window(segments, true), una: 1 }
    }
    fn step(&mut self, bytes: u64, rtt_ms: u64) {
        self.una += bytes;
        let it = Ack { una: self.una, nxt: self.una + self.w.cwnd, ..ack(Time::ZERO, bytes, &self.w) };
        self.hystart.on_ack(&mut self.w, &it, Some(Time::from_ms(rtt_ms)), &HyStartBounds::default());
    }
    /// Everything outstanding is acknowledged, a segment at a time; returns the window after.
    fn round(&mut self, rtt_ms: u64) -> u64 {
        let segments = self.w.cwnd / SMSS;
        (0..segments).for_each(|_| self.step(SMSS, rtt_ms));
        self.w.cwnd / SMSS
    }
}

#[test]
fn it_doubles_while_round_trips_stay() {
    let mut rounds = Rounds::new(10);
    assert_eq!([100, 100, 101, 100].map(|rtt| rounds.round(rtt)), [20, 40, 80, 160]);
    assert!(!rounds.hystart.is_conservative());
}

#[test]
fn the_threshold_is_an_eighth_between_4_and_16_milliseconds() {
    for (last, grown, conservative) in
        [(100, 112, false), (100, 113, true), (10, 13, false), (10, 14, true), (400, 415, false), (400, 416, true)]
    {
        let mut rounds = Rounds::new(20);
        // The first acknowledgement ends the round in which the connection was opened.
        rounds.round(last);
        rounds.round(last);
        rounds.round(grown);
        assert_eq!(rounds.hystart.is_conservative(), conservative, "{last} {grown}");
    }
}

#[test]
fn eight_samples_are_needed() {
    // Every round has a hundred acknowledgements and one: a hundred segments are outstanding at its end. The first
    // acknowledgement ends the round in which the connection was opened.
    let mut rounds = Rounds::new(100);
    for n in 0..=202 {
        rounds.una += SMSS;
        let it = Ack { una: rounds.una, nxt: rounds.una + 100 * SMSS, ..ack(Time::ZERO, SMSS, &rounds.w) };
        rounds.hystart.on_ack(
            &mut rounds.w,
            &it,
            Some(Time::from_ms(if n <= 100 { 100 } else { 200 })),
            &HyStartBounds::default(),
        );
        assert_eq!(rounds.hystart.is_conservative(), n >= 108, "{n}");
    }
}

#[test]
fn conservative_slow_start_grows_a_quarter_for_five_rounds() {
    let mut rounds = Rounds::new(64);
    rounds.round(100);
    rounds.round(100);
    while !rounds.hystart.is_conservative() {
        rounds.step(SMSS, 150);
    }
    // A quarter of what is acknowledged, byte for byte.
    let before = rounds.w.cwnd;
    (0..40).for_each(|_| rounds.step(SMSS, 150));
    assert_eq!(rounds.w.cwnd - before, 10 * SMSS);
    // Then, with the part of a round in which it began, five rounds: a window grows by a quarter each, 1.25^4 to 1.25^5
    // in all.
    while rounds.w.ssthresh == u64::MAX {
        rounds.step(SMSS, 150);
        assert!(rounds.w.cwnd < 4 * before, "it does not end");
    }
    let growth = rounds.w.cwnd as f64 / before as f64;
    assert_eq!(rounds.w.ssthresh, rounds.w.cwnd);
    assert!((1.25_f64.powi(4)..1.25_f64.powi(5) + 0.1).contains(&growth), "{growth}");
}

#[test]
fn shorter_round_trips_resume_slow_start() {
    let mut rounds = Rounds::new(64);
    rounds.round(100);
    rounds.round(100);
    while !rounds.hystart.is_conservative() {
        rounds.step(SMSS, 150);
    }
    // It was jitter: the next rounds are as fast as before.
    for _ in 0..2 {
        rounds.round(100);
    }
    assert!(!rounds.hystart.is_conservative());
    let before = rounds.w.cwnd;
    rounds.step(SMSS, 100);
    assert_eq!(rounds.w.cwnd, before + SMSS);
}

#[test]
fn one_acknowledgement_adds_eight_segments_at_most_without_pacing() {
    let mut rounds = Rounds::new(100);
    rounds.step(20 * SMSS, 100);
    assert_eq!(rounds.w.cwnd, 108 * SMSS);
    rounds.w.pace_ps_per_byte = 1.0;
    rounds.step(20 * SMSS, 100);
    assert_eq!(rounds.w.cwnd, 128 * SMSS);
}

#[test]
fn it_loses_about_half_as_much_at_the_end_of_slow_start() {
    // 50 Mbit/s, 80 ms: a product of 481 packets.
    let drops = |control, hystart, buffer| {
        let config = Config { control, hystart, ..plain() };
        let mut wire = Wire::new(&config, &config, Time::from_ms(40)).bottleneck(BitRate::from_mbps(50), buffer);
        wire.keep_log = false;
        wire.with(Side::Client, Endpoint::open);
        wire.write(Side::Client, 1 << 40);
        wire.run_until(Time::from_secs(6));
        wire.drops
    };
    for control in [ControlKind::Reno, ControlKind::Cubic, ControlKind::Scalable, ControlKind::Westwood] {
        for buffer in [962, 1924] {
            let (without, with) = (drops(control, StartRule::Off, buffer), drops(control, StartRule::Rfc9406, buffer));
            assert!(without > 1000 && (with as f64) < 0.6 * without as f64, "{control:?} {buffer}: {without} {with}");
        }
        // A buffer of one product overflows in the very round in which the queue begins to stand: the first eight
        // samples of that round, of a window of 512, show 31 waiting packets, which is 5 ms and below the threshold of
        // 10 ms.
        assert_eq!(drops(control, StartRule::Rfc9406, 481), drops(control, StartRule::Off, 481), "{control:?}");
    }
}

#[test]
fn controls_with_a_slow_start_of_their_own_are_as_they_were() {
    for control in [ControlKind::Vegas, ControlKind::Bbr, ControlKind::Fast { alpha: 20 }] {
        let run = |hystart| {
            let config = Config { control, hystart, ..plain() };
            let mut wire = Wire::new(&config, &config, Time::from_ms(20)).bottleneck(BitRate::from_mbps(20), 100);
            wire.with(Side::Client, Endpoint::open);
            wire.write(Side::Client, 3_000_000);
            wire.run();
            wire.data(Side::Client)
        };
        assert_eq!(run(StartRule::Rfc9406), run(StartRule::Off), "{control:?}");
    }
}
