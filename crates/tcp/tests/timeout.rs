//! The retransmission timeout, value by value against the formulas of RFC 6298.

mod support;

use support::{Fate, Side, Wire, plain};
use tcp::{Config, Notice, RttEstimator, State};
use units::Time;

const MS: Time = Time::from_ms(1);

/// RFC 6298, rules 2.2 and 2.3, in floating point seconds.
struct Rfc6298 {
    srtt: f64,
    rttvar: f64,
}

impl Rfc6298 {
    fn first(r: f64) -> Self {
        Self { srtt: r, rttvar: r / 2.0 }
    }
    fn next(&mut self, r: f64) {
        self.rttvar = 0.75 * self.rttvar + 0.25 * (self.srtt - r).abs();
        self.srtt = 0.875 * self.srtt + 0.125 * r;
    }
    fn rto(&self, min: f64, max: f64) -> f64 {
        (self.srtt + 4.0 * self.rttvar).max(min).min(max)
    }
}

#[test]
fn smoothing_follows_the_formulas() {
    let config = Config { min_rto: MS, max_rto: Time::from_secs(60), ..Config::default() };
    let mut estimator = RttEstimator::new(&config);
    assert_eq!(estimator.rto(), Time::from_secs(1));
    let samples = [0.1, 0.12, 0.09, 0.3, 0.05, 0.05, 0.05, 0.11, 0.8, 0.1];
    let mut expected = Rfc6298::first(samples[0]);
    for (i, r) in samples.into_iter().enumerate() {
        estimator.sample(Time::from_secs_f64(r), &config);
        if i > 0 {
            expected.next(r);
        }
        let rto = estimator.rto().as_secs_f64();
        assert!((rto - expected.rto(0.001, 60.0)).abs() < 1e-9, "sample {i}: {rto}");
        assert!((estimator.smoothed().unwrap().as_secs_f64() - expected.srtt).abs() < 1e-9);
    }
    assert_eq!(estimator.min(), Some(MS * 50));
}

#[test]
fn limits_hold_and_backing_off_doubles() {
    let config = Config { max_rto: Time::from_secs(60), ..Config::default() };
    let mut estimator = RttEstimator::new(&config);
    estimator.sample(Time::from_ms(10), &config);
    assert_eq!(estimator.rto(), Time::from_ms(200));
    let doubled: Vec<u64> = (0..10)
        .map(|_| {
            estimator.back_off(&config);
            estimator.rto().as_ms()
        })
        .collect();
    assert_eq!(doubled, [400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 60_000, 60_000]);
    // A new sample ends it.
    estimator.sample(Time::from_ms(10), &config);
    assert_eq!(estimator.rto(), Time::from_ms(200));
}

fn ms(times: &[Time]) -> Vec<u64> {
    times.iter().map(|time| time.as_ms()).collect()
}

/// A connection whose client's RTO is known: one round trip of 100 ms was measured, so 100 + 4 x 50 = 300 ms.
fn measured(config: &Config) -> Wire {
    let wire = Wire::new(config, config, Time::from_ms(50)).established();
    assert_eq!(wire.client.rtt().rto(), Time::from_ms(300));
    wire
}

#[test]
fn retransmissions_back_off_until_the_connection_is_given_up() {
    let config = Config { max_retries: 4, max_rto: Time::from_secs(2), ..plain() };
    let mut wire = measured(&config);
    wire.set_script(|side, _, _| if side == Side::Client { Fate::Drop } else { Fate::Deliver });
    let start = wire.now;
    wire.write(Side::Client, 500);
    wire.run();
    let sent: Vec<Time> = wire.data(Side::Client).iter().map(|(at, _, _)| *at - start).collect();
    assert_eq!(ms(&sent), [0, 300, 900, 2100, 4100]);
    assert_eq!(wire.notices, [(start + Time::from_ms(6100), Side::Client, Notice::Reset)]);
    assert_eq!(wire.client.state(), State::Closed);
    assert_eq!((wire.client.counters().timeouts, wire.client.counters().retransmissions), (5, 4));
    assert_eq!(wire.client.counters().timeout_time, Time::from_ms(6100));
}

#[test]
fn karn_no_sample_of_a_retransmission() {
    let mut wire = measured(&plain());
    wire.set_script(|side, number, _| if side == Side::Client && number == 0 { Fate::Drop } else { Fate::Deliver });
    wire.write(Side::Client, 500);
    wire.run();
    // The backed off value stays until new data is timed.
    assert_eq!(wire.client.rtt().rto(), Time::from_ms(600));
    wire.write(Side::Client, 500);
    wire.run();
    let mut expected = Rfc6298::first(0.1);
    expected.next(0.1);
    assert_eq!(wire.client.rtt().rto(), Time::from_secs_f64(expected.rto(0.2, 60.0)));
}

#[test]
fn with_timestamps_a_retransmission_is_measured() {
    let mut wire = measured(&Config { timestamps: true, ..plain() });
    wire.set_script(|side, number, _| if side == Side::Client && number == 0 { Fate::Drop } else { Fate::Deliver });
    wire.write(Side::Client, 500);
    wire.run();
    let mut expected = Rfc6298::first(0.1);
    expected.next(0.1);
    assert_eq!(wire.client.rtt().rto(), Time::from_secs_f64(expected.rto(0.2, 60.0)));
}

#[test]
fn the_timer_restarts_with_every_acknowledgement() {
    let mut wire = measured(&plain());
    let start = wire.now;
    wire.write(Side::Client, 2000);
    assert_eq!(wire.client.deadline(), start + Time::from_ms(300));
    wire.run_until(start + Time::from_ms(60));
    wire.write(Side::Client, 1000);
    // Running already: rule 5.1 does not touch it.
    assert_eq!(wire.client.deadline(), start + Time::from_ms(300));
    wire.run_until(start + Time::from_ms(100));
    // Rule 5.3, with the timeout of the new sample.
    let rto = wire.client.rtt().rto();
    assert_eq!(wire.client.deadline(), start + Time::from_ms(100) + rto);
    wire.run();
    assert_eq!(wire.client.deadline(), Time::MAX, "rule 5.2: all acknowledged");
}

#[test]
fn a_timeout_starts_slow_start_over_what_is_outstanding() {
    let config = Config { initial_window: 10, ..plain() };
    let mut wire = measured(&config);
    // The whole flight is lost.
    wire.set_script(|side, number, _| if side == Side::Client && number < 10 { Fate::Drop } else { Fate::Deliver });
    let start = wire.now;
    wire.write(Side::Client, 10_000);
    wire.run_until(start + Time::from_ms(300));
    assert_eq!(wire.client.window().ssthresh, 5000);
    assert_eq!(wire.client.window().cwnd, 1000);
    assert_eq!((wire.client.pipe(), wire.client.outstanding()), (1000, 10_000));
    assert!(wire.client.in_timeout());
    wire.run();
    let rounds: Vec<(u64, u64)> =
        wire.data(Side::Client).iter().map(|(at, seq, _)| ((*at - start).as_ms(), *seq)).collect();
    // One, two, four segments a round trip, then on from the threshold.
    let expected: Vec<(u64, u64)> = (0..10)
        .map(|i| (0, i))
        .chain([(300, 0), (400, 1), (400, 2), (500, 3), (500, 4), (500, 5), (500, 6), (600, 7), (600, 8), (600, 9)])
        .map(|(at, segment)| (at, 1 + 1000 * segment))
        .collect();
    assert_eq!(rounds, expected);
    assert!(!wire.client.in_timeout());
}
