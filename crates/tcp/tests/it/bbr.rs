//! BBR: its model and its states, step by step against draft-cardwell-iccrg-bbr-congestion-control-00, and on a path
//! whose bandwidth and delay are known; what Linux adds, against a Linux host. Its policer detection is tested beside
//! its code, and by sixteen flows in `docs/fidelity.md`.

use crate::support::control::{MSS, window};
use crate::support::{Side, Wire, plain};
use tcp::control::{Bbr, BbrRule, Control, ControlKind, Delivery, Window};
use tcp::{Config, Endpoint};
use units::{BitRate, Bytes, Time};

const SMSS: u64 = MSS as u64;
const RTT: Time = Time::from_ms(100);
const HIGH_GAIN: f64 = 2.0 / std::f64::consts::LN_2;

/// One delivery a round trip, at a rate chosen by the test.
struct Rounds {
    bbr: Bbr,
    w: Window,
    now: Time,
    delivered: u64,
    pipe: u64,
    app_limited: bool,
}

impl Rounds {
    fn new() -> Self {
        Self::by(BbrRule::Draft)
    }
    fn by(rule: BbrRule) -> Self {
        let (mut bbr, mut w) = (Bbr::new(rule), window(10, true));
        bbr.on_connected(&mut w, Time::ZERO, Some(RTT));
        Self { bbr, w, now: Time::ZERO, delivered: 0, pipe: 2000 * SMSS, app_limited: false }
    }
    /// A round trip delivers `rate` bytes per second; returns the pacing rate in bytes per second.
    fn round(&mut self, rate: f64) -> f64 {
        self.now += RTT;
        let newly = (rate * RTT.as_secs_f64()) as u64;
        let delivery = Delivery {
            now: self.now,
            delivered: self.delivered + newly,
            newly_delivered: newly,
            prior_delivered: Some(self.delivered),
            rate: Some(rate / 1e12),
            app_limited: self.app_limited,
            rtt: Some(RTT),
            prior_pipe: self.pipe,
            pipe: self.pipe,
            newly_lost: 0,
            departure: Time::ZERO,
        };
        self.delivered += newly;
        self.bbr.on_delivery(&mut self.w, &delivery);
        self.pacing()
    }
    fn pacing(&self) -> f64 {
        1e12 / self.w.pace_ps_per_byte
    }
}

fn close(a: f64, b: f64) {
    assert!((a / b - 1.0).abs() < 1e-6, "{a} instead of {b}");
}

#[test]
fn startup_paces_at_the_high_gain_until_the_pipe_is_full() {
    let mut rounds = Rounds::new();
    // Before anything is known: the initial window per round trip.
    close(rounds.pacing(), HIGH_GAIN * 10.0 * f64::from(MSS) / RTT.as_secs_f64());
    for rate in [1e6, 2e6, 4e6, 8e6, 8.1e6, 8.2e6] {
        close(rounds.round(rate), HIGH_GAIN * rate);
    }
    // The third round trip in a row without a quarter more: Drain.
    close(rounds.round(8.2e6), 8.2e6 / HIGH_GAIN);
    close(rounds.round(8.0e6), 8.2e6 / HIGH_GAIN);
    // One product is in flight at most: ProbeBW, at any gain but the draining one.
    rounds.pipe = 80 * SMSS;
    let gain = rounds.round(8.0e6) / 8.2e6;
    assert!((gain - 1.0).abs() < 1e-6 || (gain - 1.25).abs() < 1e-6, "{gain}");
}

/// In ProbeBW with a bandwidth of 8 MB/s.
fn probing() -> Rounds {
    let mut rounds = Rounds::new();
    for _ in 0..6 {
        rounds.round(8e6);
    }
    rounds.pipe = 10 * SMSS;
    rounds.round(8e6);
    rounds
}

#[test]
fn the_cycle_probes_drains_and_cruises() {
    let mut rounds = probing();
    // Enough in flight that the probing phase ends after one round trip.
    rounds.pipe = 2000 * SMSS;
    let mut gains = Vec::new();
    for _ in 0..48 {
        // Phases last a little more than the round trip.
        rounds.now += Time::from_ms(1);
        gains.push((rounds.round(8e6) / 8e6 * 100.0).round() as u32);
    }
    let first = gains.iter().position(|gain| *gain == 125).unwrap();
    let cycle = [125, 75, 100, 100, 100, 100, 100, 100];
    for (i, gain) in gains[first..].iter().enumerate() {
        assert_eq!(*gain, cycle[i % 8], "{gains:?}");
    }
}

#[test]
fn the_window_is_two_products_and_three_quanta() {
    let mut rounds = probing();
    for _ in 0..30 {
        rounds.round(8e6);
    }
    // 800,000 bytes twice; the quantum of 8 MB/s is 8,000 bytes (a millisecond), times the gain of the moment.
    let quantum = rounds.pacing() / 1000.0;
    let expected = 2.0 * 8e6 * RTT.as_secs_f64() + 3.0 * quantum;
    assert!((rounds.w.cwnd as f64 - expected).abs() <= 3.0 * 2000.0, "{} {expected}", rounds.w.cwnd);
}

#[test]
fn bandwidth_is_remembered_for_ten_rounds() {
    let mut rounds = probing();
    let bandwidths: Vec<f64> = (0..12)
        .map(|_| {
            let pacing = rounds.round(4e6);
            [1.25, 0.75, 1.0]
                .into_iter()
                .map(|gain| pacing / gain)
                .find(|rate| [4e6, 8e6].iter().any(|known| (rate / known - 1.0).abs() < 1e-6))
                .unwrap()
        })
        .collect();
    assert!(bandwidths[..9].iter().all(|rate| (rate / 8e6 - 1.0).abs() < 1e-6), "{bandwidths:?}");
    assert!((bandwidths[10] / 4e6 - 1.0).abs() < 1e-6, "{bandwidths:?}");
}

#[test]
fn an_idle_application_does_not_lower_the_bandwidth() {
    let mut rounds = probing();
    rounds.app_limited = true;
    for _ in 0..50 {
        let gain = rounds.round(1e5) / 8e6;
        assert!([1.25, 0.75, 1.0].iter().any(|known| (gain - known).abs() < 1e-6), "{gain}");
    }
}

#[test]
fn recovery_conserves_packets_and_gives_the_window_back() {
    let mut rounds = probing();
    for _ in 0..30 {
        rounds.round(8e6);
    }
    let before = rounds.w.cwnd;
    rounds.pipe = 500 * SMSS;
    rounds.round(8e6);
    rounds.bbr.on_loss(&mut rounds.w, rounds.now, rounds.pipe);
    // What was delivered last may be replaced.
    assert_eq!(rounds.w.cwnd, 500 * SMSS + 800_000);
    rounds.bbr.on_timeout(&mut rounds.w, rounds.now, rounds.pipe, false);
    assert_eq!(rounds.w.cwnd, SMSS);
    rounds.bbr.on_recovered(&mut rounds.w, rounds.now);
    assert!(rounds.w.cwnd >= before, "{} {before}", rounds.w.cwnd);
}

// === Linux's additions ===

/// One flow of a Linux 6.18 host at 10 Mbit/s and 40 ms, with 1,448 bytes a segment, as `ss -ti` saw it: bandwidth in
/// bit/s, gain and pacing rate.
#[test]
fn linux_paces_a_hundredth_below_the_bandwidth() {
    for (bandwidth, gain, expected) in [
        (9_568_392.0, 1.0, 9_472_712.0),
        (9_662_984.0, 1.0, 9_566_360.0),
        (9_573_920.0, 1.25, 11_847_720.0),
        (9_565_632.0, 0.75, 7_102_480.0),
    ] {
        let mut rounds = Rounds::by(BbrRule::Linux);
        let rate: f64 = bandwidth / 8.0;
        rounds.pipe = 0;
        for _ in 0..6 {
            rounds.round(rate);
        }
        // The probing phase ends, and so does not the draining one before its time.
        rounds.pipe = 2000 * SMSS;
        let found = (0..30).any(|_| {
            rounds.now += Time::from_ms(1);
            (rounds.round(rate) * 8.0 - expected).abs() < 20.0
        });
        assert!(found, "{expected} at a gain of {gain}");
    }
}

/// There ssthresh is 40, the segments in flight at which Drain ends (`bbr_check_drain`): 9,571,848 bit/s and 40.329 ms
/// are 33.3 segments, 34 whole ones; three groups of two; an even number.
#[test]
fn linux_drains_to_whole_segments_and_three_groups() {
    for (pipe, drained) in [(41, false), (40, true)] {
        let (mut bbr, mut w) = (Bbr::new(BbrRule::Linux), Window::new(1448, 10));
        let rtt = Time::from_us(40_329);
        bbr.on_connected(&mut w, Time::ZERO, Some(rtt));
        let rate = 9_571_848.0 / 8.0 / 1e12;
        let mut delivery = Delivery { rate: Some(rate), rtt: Some(rtt), pipe: 70 * 1448, ..Delivery::default() };
        for _ in 0..6 {
            delivery.now += rtt;
            delivery.prior_delivered = Some(delivery.delivered);
            delivery.newly_delivered = 33 * 1448;
            delivery.delivered += delivery.newly_delivered;
            bbr.on_delivery(&mut w, &delivery);
        }
        let draining = 1e12 / w.pace_ps_per_byte;
        (delivery.pipe, delivery.prior_pipe) = (pipe * 1448, pipe * 1448);
        bbr.on_delivery(&mut w, &delivery);
        assert_eq!(1e12 / w.pace_ps_per_byte > 1.5 * draining, drained, "{pipe}");
    }
}

/// When segments leave for a path of 20 ms with room in its queue, from the third second to the fourth.
fn sent_in_the_fourth_second(control: ControlKind) -> Vec<Time> {
    let config = Config { control, ..plain() };
    let mut wire = Wire::new(&config, &config, Time::from_ms(20)).bottleneck(RATE, 2000);
    wire.with(Side::Client, Endpoint::open);
    wire.write(Side::Client, 1 << 40);
    wire.run_until(Time::from_secs(3));
    let from = wire.log.len();
    wire.run_until(Time::from_secs(4));
    wire.log[from..].iter().filter(|s| s.from == Side::Client).map(|s| s.at).collect()
}

/// 2.4 MB/s are two segments of a thousand bytes in 1/1024 s.
#[test]
fn linux_sends_groups_of_a_millisecond() {
    let sent = sent_in_the_fourth_second(ControlKind::Bbr);
    let groups = sent.chunk_by(|a, b| a == b).map(<[Time]>::len).collect::<Vec<_>>();
    assert!(groups[1..groups.len() - 1].iter().all(|group| *group == 2), "{groups:?}");
}

// === On a path ===

const RATE: BitRate = BitRate::from_mbps(20);

fn path(delay: Time, seconds: u64) -> Wire {
    let config = Config { control: ControlKind::BbrDraft, ..plain() };
    let mut wire = Wire::new(&config, &config, delay).bottleneck(RATE, 2000);
    wire.keep_log = false;
    wire.with(Side::Client, Endpoint::open);
    wire.write(Side::Client, 1 << 40);
    wire.run_until(Time::from_secs(seconds));
    wire
}

/// Payload that the bottleneck carries, in bytes per second.
fn bandwidth() -> f64 {
    RATE.as_bps() as f64 / 8.0 * 1000.0 / 1040.0
}

#[test]
fn the_model_finds_bandwidth_and_delay() {
    let mut wire = path(Time::from_ms(20), 3);
    let mut seen = [0; 3];
    for _ in 0..2000 {
        wire.run_until(wire.now + Time::from_ms(1));
        let gain = 1e12 / wire.client.window().pace_ps_per_byte / bandwidth();
        let phase = [1.25, 0.75, 1.0].iter().position(|known| (gain / known - 1.0).abs() < 0.03);
        seen[phase.unwrap_or_else(|| panic!("gain {gain}"))] += 1;
    }
    // A phase of eight probes, one drains, six cruise.
    assert!(seen[0] > 150 && seen[1] > 20 && seen[2] > 1200, "{seen:?}");
}

#[test]
fn the_queue_stays_short_where_reno_fills_it() {
    let mut wire = path(Time::from_ms(20), 5);
    let product = RATE.bytes_in(Time::from_ms(40)).get() as f64 / 1040.0;
    let (mut most, mut sum) = (0.0_f64, 0.0);
    for _ in 0..1000 {
        wire.run_until(wire.now + Time::from_ms(4));
        let queue = wire.client.outstanding() as f64 / 1000.0 - product;
        most = most.max(queue);
        sum += queue;
    }
    // Probing adds a quarter of the product for a round trip in eight.
    assert!(most < 0.35 * product, "{most} of {product}");
    // Draining ends three quanta (of a millisecond each) above the product; the probe adds a triangle of a quarter over
    // two phases of eight, in the mean 1/32; and the segment in transmission.
    let standing = 3.0 * bandwidth() / 1000.0 / 1000.0 + product / 32.0 + 1.0;
    assert!(sum / 1000.0 < 1.1 * standing, "{} {standing}", sum / 1000.0);
    assert_eq!(wire.drops, 0);
}

#[test]
fn every_ten_seconds_the_window_shrinks_to_four_segments() {
    let mut wire = path(Time::from_ms(20), 4);
    let mut shrunk = Vec::new();
    while wire.now < Time::from_secs(40) {
        wire.run_until(wire.now + Time::from_ms(10));
        if wire.client.window().cwnd <= 4 * SMSS {
            shrunk.push(wire.now.as_ms());
        }
    }
    let starts: Vec<u64> =
        shrunk.iter().enumerate().filter(|(i, at)| *i == 0 || **at > shrunk[i - 1] + 10).map(|(_, at)| *at).collect();
    assert!(starts.len() == 3, "{starts:?}");
    for pair in starts.windows(2) {
        assert!((10_000..10_700).contains(&(pair[1] - pair[0])), "{starts:?}");
    }
    // 200 ms and a round trip each, after what was in flight has drained.
    let each = shrunk.len() as u64 * 10 / 3;
    assert!((200..350).contains(&each), "{each} ms");
}

#[test]
fn pacing_spreads_the_segments() {
    let sent = sent_in_the_fourth_second(ControlKind::BbrDraft);
    let segment = RATE.transmission_time(Bytes::new(1040));
    // Never closer than the highest gain of the cycle allows.
    for pair in sent.windows(2) {
        assert!(pair[1] - pair[0] >= segment.mul_f64(0.97 / 1.25), "{}", pair[1] - pair[0]);
    }
    assert!(sent.len() > 2200);
}
