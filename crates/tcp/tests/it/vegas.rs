//! Vegas, step by step against Brakmo, O'Malley and Peterson (SIGCOMM 1994), and on a path whose queue is known.

use crate::support::control::{MSS, ack, window};
use crate::support::{self, Side, Wire, plain};
use tcp::control::{Ack, Control, ControlKind, Delivery, Vegas, Window};
use tcp::{Config, Endpoint};
use units::{BitRate, Time};

const SMSS: u64 = MSS as u64;

/// A window kept full, acknowledged round trip by round trip.
struct Rounds {
    vegas: Vegas,
    w: Window,
    una: u64,
    nxt: u64,
    end: u64,
}

impl Rounds {
    fn new(segments: u64, slow_start: bool) -> Self {
        let w = window(segments, slow_start);
        let mut rounds = Self { vegas: Vegas::default(), w, una: 1, nxt: 1 + w.cwnd, end: 0 };
        // The first acknowledgement begins the first round trip.
        rounds.round(Time::from_ms(100));
        rounds
    }
    /// One round trip in which every segment takes `rtt`; the change of the window in segments.
    fn round(&mut self, rtt: Time) -> i64 {
        let before = self.w.cwnd;
        loop {
            self.una += SMSS;
            let delivery = Delivery { rtt: Some(rtt), newly_delivered: SMSS, ..Delivery::default() };
            self.vegas.on_delivery(&mut self.w, &delivery);
            let it = Ack { una: self.una, nxt: self.nxt, ..ack(Time::ZERO, SMSS, &self.w) };
            self.vegas.on_ack(&mut self.w, &it);
            let over = self.una > self.end;
            if over {
                self.end = self.nxt;
            }
            self.nxt = self.nxt.max(self.una + self.w.cwnd);
            if over {
                return (self.w.cwnd as i64 - before as i64) / i64::from(MSS);
            }
        }
    }
}

/// The round trip at which `waiting` of `window` segments stand in queues: Expected - Actual = waiting / BaseRTT.
fn rtt_with(waiting: f64, window: f64, base: Time) -> Time {
    base.mul_f64(window / (window - waiting))
}

#[test]
fn the_window_moves_by_what_waits() {
    let base = Time::from_ms(100);
    for (waiting, change) in [(0.0, 1), (0.9, 1), (1.1, 0), (2.0, 0), (2.9, 0), (3.1, -1), (8.0, -1)] {
        let mut rounds = Rounds::new(19, false);
        assert_eq!(rounds.round(base), 1);
        assert_eq!(rounds.round(rtt_with(waiting, 20.0, base)), change, "{waiting} segments wait");
    }
}

#[test]
fn slow_start_doubles_every_other_round_trip() {
    let mut rounds = Rounds::new(2, true);
    let windows: Vec<u64> = (0..9)
        .map(|_| {
            rounds.round(Time::from_ms(100));
            rounds.w.cwnd / SMSS
        })
        .collect();
    // Doubled, held, doubled, held; the acknowledgement that ends one round trip already counts for the next.
    assert_eq!(windows, [3, 4, 5, 8, 9, 16, 17, 32, 33]);
}

#[test]
fn slow_start_ends_when_a_segment_waits() {
    let base = Time::from_ms(100);
    let mut rounds = Rounds::new(32, true);
    rounds.round(base);
    assert!(rounds.w.slow_start());
    let before = rounds.w.cwnd;
    rounds.round(rtt_with(2.0, before as f64 / f64::from(MSS), base));
    // An eighth less, and from now on linear.
    assert!(!rounds.w.slow_start());
    assert!(rounds.w.cwnd < before * 2 && rounds.w.cwnd == rounds.w.ssthresh);
}

#[test]
fn losses_and_timeouts() {
    let (mut vegas, mut w) = (Vegas::default(), window(20, false));
    vegas.on_loss(&mut w, Time::ZERO, 20 * SMSS);
    assert_eq!(w.cwnd, 15 * SMSS);
    vegas.on_timeout(&mut w, Time::ZERO, 15 * SMSS, false);
    assert_eq!((w.cwnd, w.ssthresh), (2 * SMSS, 7500));
}

#[test]
fn one_flow_keeps_one_to_three_segments_in_the_queue() {
    let config = Config { control: ControlKind::Vegas, ..plain() };
    let (rate, delay) = (BitRate::from_mbps(10), Time::from_ms(20));
    let mut wire = Wire::new(&config, &config, delay).bottleneck(rate, 200);
    wire.with(Side::Client, Endpoint::open);
    wire.write(Side::Client, 1 << 40);
    wire.run_until(Time::from_secs(20));
    assert_eq!(wire.drops, 0);
    // The bandwidth-delay product in segments of 1,040 bytes, with the time of a segment and of its acknowledgement.
    let segment = rate.transmission_time(units::Bytes::new(1040)).as_secs_f64();
    let ack = rate.transmission_time(units::Bytes::new(40)).as_secs_f64();
    let product = (0.04 + segment + ack) / segment;
    for _ in 0..1000 {
        wire.run_until(wire.now + Time::from_ms(10));
        let waiting = wire.client.outstanding() as f64 / 1000.0 - product;
        assert!((0.0..=4.0).contains(&waiting), "{waiting} segments wait");
    }
}

/// Two segments can never give three duplicates. Vegas retransmits the first at the second's acknowledgement if it was
/// sent longer ago than SRTT + 4 RTTVAR; any other control, and Vegas with both sent at once, waits for the timer.
#[test]
fn an_old_segment_is_retransmitted_at_the_first_duplicate() {
    for (control, apart, timeouts) in [
        (ControlKind::Vegas, Time::from_ms(30), 0),
        (ControlKind::Vegas, Time::ZERO, 1),
        (ControlKind::Reno, Time::from_ms(30), 1),
        (ControlKind::Bbr, Time::from_ms(30), 1),
    ] {
        let config = Config { control, initial_window: 10, min_rto: Time::from_secs(1), ..plain() };
        let mut wire = Wire::new(&config, &config, Time::from_ms(20)).established();
        // Steady round trips of 40 ms shrink the spread.
        for _ in 0..60 {
            wire.write(Side::Client, 1000);
            wire.run_until(wire.now + Time::from_ms(100));
        }
        wire.set_script(|side, number, _| {
            if side == Side::Client && number == 60 { support::Fate::Drop } else { support::Fate::Deliver }
        });
        wire.write(Side::Client, 1000);
        wire.run_until(wire.now + apart);
        wire.write(Side::Client, 1000);
        wire.run();
        assert_eq!(wire.client.counters().timeouts, timeouts, "{control:?}, {apart} apart");
        assert_eq!(wire.server.received(), 62_000);
    }
}
