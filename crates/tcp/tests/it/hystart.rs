//! HyStart against `hystart_update` of Linux (`tcp_cubic.c`), worked by hand, and on a path that slow start overruns.

use crate::support::control::{MSS, ack, window};
use crate::support::{Side, Wire, plain};
use tcp::control::{Ack, ControlKind, HyStart, HyStartBounds, Window};
use tcp::{Config, Endpoint, StartRule};
use units::{BitRate, Time};

const SEGMENT: u64 = MSS as u64;

/// A round in progress: the first acknowledgement has come at 1 s, with a window of `segments` and round trips of
/// `rtt`.
struct Round {
    hystart: HyStart,
    w: Window,
    rtt: Time,
}

impl Round {
    fn new(segments: u64, rtt: Time) -> Self {
        let mut round = Self { hystart: HyStart::new(Time::ZERO, 1), w: window(segments, true), rtt };
        assert!(!round.ack_at(Time::ZERO, rtt));
        round
    }
    /// An acknowledgement `at` after the first of the round; true if slow start ends.
    fn ack_at(&mut self, at: Time, rtt: Time) -> bool {
        let it = Ack { una: 2, nxt: 1 << 30, smoothed_rtt: self.rtt, ..ack(Time::from_secs(1) + at, SEGMENT, &self.w) };
        self.hystart.on_ack(&mut self.w, &it, rtt, &HyStartBounds::default())
    }
    /// Acknowledgements a millisecond apart from `from` to `to`; when slow start ends.
    fn train(&mut self, from: u64, to: u64) -> Option<u64> {
        (from..=to).find(|ms| self.ack_at(Time::from_ms(*ms), self.rtt))
    }
}

/// A round trip of 100 ms, and a millisecond for TSO and GRO: 131,072 B at 100,000 B per round trip would be 131 ms, so
/// the millisecond is what holds. Half of 101 ms has passed with the 51st millisecond; with pacing all of it has to
/// pass.
#[test]
fn a_train_of_half_a_round_trip_ends_slow_start() {
    let mut round = Round::new(100, Time::from_ms(100));
    assert_eq!(round.train(1, 200), Some(51));
    assert_eq!(round.w.ssthresh, 100 * SEGMENT);
    let mut paced = Round::new(100, Time::from_ms(100));
    paced.w.pace_ps_per_byte = 1.0;
    assert_eq!(paced.train(1, 200), Some(102));
}

#[test]
fn a_gap_of_more_than_two_milliseconds_ends_the_train() {
    let mut round = Round::new(100, Time::from_ms(100));
    assert_eq!(round.train(1, 30), None);
    assert_eq!(round.train(33, 200), None);
    let mut round = Round::new(100, Time::from_ms(100));
    assert_eq!(round.train(1, 30), None);
    assert_eq!(round.train(32, 200), Some(51), "two milliseconds are none");
}

/// 200 us of round trip: with 16 segments the bursts may hold back 0.2 ms x 131,072 / 16,000 = 1.6 ms, of which 1 ms
/// counts, so that half of 1.2 ms have to pass; with 1000 segments 26.2 us, half of 226.2 us.
#[test]
fn bursts_count_for_less_in_wider_windows() {
    for (segments, last, first) in [(16, 600, 601), (1_000, 113, 114)] {
        let mut round = Round::new(segments, Time::from_us(200));
        assert!(!round.ack_at(Time::from_us(last), Time::from_us(200)), "{segments}");
        assert!(round.ack_at(Time::from_us(first), Time::from_us(200)), "{segments}");
    }
}

/// An eighth of the least round trip, between 4 and 16 ms; more than that, not as much.
#[test]
fn round_trips_that_grow_by_an_eighth_end_slow_start() {
    for (least, grown, ends) in
        [(100, 112, false), (100, 113, true), (10, 14, false), (10, 15, true), (400, 416, false), (400, 417, true)]
    {
        let mut round = Round::new(100, Time::from_ms(least));
        // The next round. Three milliseconds between acknowledgements make no train.
        round.hystart = {
            let mut next = round.hystart;
            let it = Ack { una: (1 << 30) + 1, nxt: 1 << 31, ..ack(Time::from_secs(2), SEGMENT, &round.w) };
            assert!(!next.on_ack(&mut round.w, &it, Time::from_ms(grown), &HyStartBounds::default()));
            next
        };
        // Eight samples with the one that began the round; the ninth acknowledgement gives the verdict.
        let ended = (1..20).find(|n| round.ack_at(Time::from_ms(1_000 + 3 * n), Time::from_ms(grown)));
        assert_eq!(ended, ends.then_some(8), "{least} {grown}");
    }
}

#[test]
fn below_sixteen_segments_it_does_not_look() {
    assert_eq!(Round::new(15, Time::from_ms(100)).train(1, 200), None);
    assert_eq!(Round::new(16, Time::from_ms(100)).train(1, 200), Some(51));
}

/// 20 Mbit/s, 100 ms. A packet of 1040 B takes 0.416 ms, its acknowledgement of 40 B 0.016 ms: the round trip is
/// 100.432 ms, its product 241 packets, and half of it and of the millisecond for bursts are 50.716 ms. From two
/// segments on windows double, a segment per acknowledgement: 2, 4, 8, ..., 128. The acknowledgements of 128 last 127 x
/// 0.416 = 52.8 ms: the 122nd after the first comes 50.75 ms after it and finds a window of 128 + 122. Each has
/// released two packets while one left: 122 wait.
#[test]
fn slow_start_ends_where_the_path_is_full() {
    let run = |hystart, seconds| {
        let config = Config { control: ControlKind::Cubic, hystart, ..plain() };
        let mut wire =
            Wire::new(&config, &config, Time::from_ms(50)).bottleneck(BitRate::from_mbps(20), 125).established();
        wire.keep_log = false;
        wire.write(Side::Client, 1 << 30);
        wire.run_until(Time::from_secs(seconds));
        (wire.client.window().ssthresh, wire.drops)
    };
    // cwnd has doubled from 10 to 250 by half a second. Linux's CUBIC then grows by 5 % per round trip, and overflows
    // the queue some time after the first second.
    assert_eq!(run(StartRule::Linux, 1), (250 * SEGMENT, 0));
    let (_, drops) = run(StartRule::Off, 2);
    assert!(drops > 100, "{drops}");
}

/// Linux 6.18.44 over TUN devices with a rate, a delay and a queue between them: `tcpi_snd_ssthresh` once slow start is
/// over, the same in every run. Its receiver acknowledged every segment. At 5 Mbit/s those are 2.4 ms apart, no train,
/// so that the delay decides; at the others the train does.
#[test]
fn slow_start_ends_where_linux_ends_it() {
    for (mbps, round_trip_ms, linux) in
        [(5, 200, 328), (10, 100, 123), (20, 20, 39), (20, 100, 245), (40, 100, 490), (50, 40, 247)]
    {
        let config = Config {
            control: ControlKind::Cubic,
            hystart: StartRule::Linux,
            abc_limit: None,
            delayed_ack: None,
            ..Config::default()
        };
        let mut wire = Wire::new(&config, &config, Time::from_ms(round_trip_ms / 2))
            .bottleneck(BitRate::from_mbps(mbps), 800)
            .established();
        wire.keep_log = false;
        wire.write(Side::Client, 1 << 30);
        while wire.client.window().ssthresh == u64::MAX {
            assert!(wire.step());
        }
        let window = wire.client.window();
        let ours = (window.ssthresh / u64::from(window.mss)) as f64;
        assert!(
            (ours / f64::from(linux) - 1.0).abs() <= 0.02,
            "{mbps} Mbit/s, {round_trip_ms} ms: {ours}, Linux {linux}"
        );
    }
}

#[test]
fn only_cubic_has_it() {
    for control in [ControlKind::Reno, ControlKind::Dctcp, ControlKind::Westwood, ControlKind::Vegas, ControlKind::Bbr]
    {
        let run = |hystart| {
            let config = Config { control, hystart, ..plain() };
            let mut wire = Wire::new(&config, &config, Time::from_ms(20)).bottleneck(BitRate::from_mbps(20), 100);
            wire.with(Side::Client, Endpoint::open);
            wire.write(Side::Client, 3_000_000);
            wire.run();
            wire.data(Side::Client)
        };
        assert_eq!(run(StartRule::Linux), run(StartRule::Off), "{control:?}");
    }
}
