//! Buffer x loss x round trip -> goodput of one long flow, against the limits that theory sets.

use crate::support::{Fate, Side, Wire, plain};
use tcp::control::ControlKind;
use tcp::{Config, Endpoint, Recovery};
use units::{BitRate, Time};

const RATE: BitRate = BitRate::from_mbps(20);
/// A full segment with its header, and its payload.
const PACKET: f64 = 1040.0;
const PAYLOAD: f64 = 1000.0;

struct Outcome {
    /// Payload bytes per second after the warm-up.
    goodput: f64,
    /// Share of the bottleneck's rate that carries new data and its headers.
    utilization: f64,
    /// Share of data segments lost.
    loss: f64,
}

fn flow(config: &Config, rtt: Time, buffer: u64, loss: f64, seconds: u64) -> Outcome {
    let mut state = 0x853c_49e6_748f_ea9b_u64;
    let mut wire =
        Wire::new(config, config, rtt / 2).bottleneck(RATE, buffer as usize).script(move |side, _, segment| {
            // xorshift64.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let unlucky = ((state >> 11) as f64) < loss * (1_u64 << 53) as f64;
            if side == Side::Client && segment.len > 0 && unlucky { Fate::Drop } else { Fate::Deliver }
        });
    wire.keep_log = false;
    wire.with(Side::Client, Endpoint::open);
    wire.write(Side::Client, 1 << 40);
    wire.run_until(Time::from_secs(seconds / 4));
    let before = wire.server.received();
    wire.run_until(Time::from_secs(seconds));
    let goodput = (wire.server.received() - before) as f64 / (seconds - seconds / 4) as f64;
    Outcome {
        goodput,
        utilization: goodput * 8.0 * PACKET / PAYLOAD / RATE.as_bps() as f64,
        loss: wire.drops as f64 / wire.client.counters().segments_sent as f64,
    }
}

fn product(rtt: Time) -> u64 {
    (RATE.bytes_in(rtt).get() as f64 / PACKET) as u64
}

fn config(control: ControlKind) -> Config {
    Config { control, ..plain() }
}

const CONTROLS: [ControlKind; 8] = [
    ControlKind::Reno,
    ControlKind::Vegas,
    ControlKind::Cubic,
    ControlKind::Bbr,
    ControlKind::Dctcp,
    ControlKind::Westwood,
    ControlKind::Scalable,
    ControlKind::Fast { alpha: 8 },
];

#[test]
fn with_a_buffer_of_one_product_every_control_fills_the_link() {
    for control in CONTROLS {
        for rtt in [10, 50].map(Time::from_ms) {
            let out = flow(&config(control), rtt, product(rtt), 0.0, 40);
            // BBR gives up 200 ms in ten seconds to see the path without a queue.
            let least = if control == ControlKind::Bbr { 0.96 } else { 0.99 };
            assert!((least..=1.001).contains(&out.utilization), "{control:?} {rtt}: {}", out.utilization);
        }
    }
}

/// Reno's sawtooth over a buffer of `b` products: from (1 + b)/2 to 1 + b, a segment a round trip, round trips longer
/// once the queue builds.
fn sawtooth(b: f64) -> f64 {
    let (below, above) = ((1.0 - b) / 2.0, b);
    let carried = below * (f64::midpoint(1.0, b) + 1.0) / 2.0 + above * (1.0 + b / 2.0);
    carried / (below + above * (1.0 + b / 2.0))
}

#[test]
fn a_small_buffer_costs_reno_what_its_sawtooth_says() {
    for rtt in [50, 100].map(Time::from_ms) {
        for share in [8, 4, 2] {
            let buffer = product(rtt) / share;
            let out = flow(&config(ControlKind::Reno), rtt, buffer, 0.0, 200);
            let expected = sawtooth(buffer as f64 / product(rtt) as f64);
            assert!((out.utilization / expected - 1.0).abs() < 0.03, "{rtt} /{share}: {} {expected}", out.utilization);
        }
    }
}

#[test]
fn random_loss_limits_reno_as_mathis_says() {
    // Mathis, Semke, Mahdavi and Ott 1997: MSS / RTT x sqrt(3/2) / sqrt(p).
    for (sack, recovery) in [(true, Recovery::Rfc6675), (true, Recovery::Rack), (false, Recovery::Rfc6675)] {
        for (rtt, loss) in [(50, 0.001), (50, 0.004), (100, 0.001), (100, 0.004), (20, 0.01)] {
            let config = Config { sack, recovery, ..config(ControlKind::Reno) };
            let rtt = Time::from_ms(rtt);
            let out = flow(&config, rtt, product(rtt) * 4, loss, 1000);
            let segment = RATE.transmission_time(units::Bytes::new(1080)).as_secs_f64();
            let mathis = PAYLOAD / (rtt.as_secs_f64() + segment) * (1.5 / out.loss).sqrt();
            let ratio = out.goodput / mathis;
            assert!((0.8..1.1).contains(&ratio), "sack {sack} {recovery:?} {rtt} {loss}: {ratio} of the formula");
        }
    }
}

#[test]
fn loss_hardly_matters_to_bbr() {
    for rtt in [10, 50].map(Time::from_ms) {
        let bbr = flow(&config(ControlKind::Bbr), rtt, product(rtt), 0.01, 40).utilization;
        let reno = flow(&config(ControlKind::Reno), rtt, product(rtt), 0.01, 40).utilization;
        assert!(bbr > 0.9 && bbr > 1.8 * reno, "{rtt}: {bbr}, Reno {reno}");
    }
}

#[test]
fn a_fixed_window_gives_window_over_round_trip() {
    for (rtt, segments) in [(50, 10), (50, 40), (100, 20)] {
        let rtt = Time::from_ms(rtt);
        let config = Config { max_window: Some(segments), ..config(ControlKind::Reno) };
        let out = flow(&config, rtt, 100, 0.0, 40);
        let there_and_back = RATE.transmission_time(units::Bytes::new(1080)).as_secs_f64();
        let expected = f64::from(segments) * PAYLOAD / (rtt.as_secs_f64() + there_and_back);
        // The 30 s measured need not end with a round trip: one window more or less.
        let window = f64::from(segments) * PAYLOAD / 30.0;
        assert!((out.goodput - expected).abs() < window, "{} {expected}", out.goodput);
    }
}

#[test]
fn cubic_holds_more_than_reno_on_a_long_path() {
    let rtt = Time::from_ms(200);
    let shares: Vec<f64> = [ControlKind::Reno, ControlKind::Cubic]
        .map(|control| flow(&config(control), rtt, product(rtt) / 4, 0.0, 200).utilization)
        .to_vec();
    assert!(shares[1] > shares[0] + 0.05, "{shares:?}");
}

/// ns-2 and ns-3 on the same path: 100 Mbit/s, 40 ms, buffer 333 packets, random loss, initial window 2, 1,460-byte
/// segments, 100 s. Goodput in Mbit/s over their seeds: (control, window, loss, least, most of the two).
#[test]
fn random_loss_as_in_ns2_and_ns3() {
    let references = [
        (ControlKind::Reno, Some(44), 0.001, 9.39, 9.53),
        (ControlKind::Reno, None, 0.001, 11.47, 12.56),
        (ControlKind::Reno, None, 0.01, 2.90, 3.52),
        // ns-2's Linux CUBIC with today's beta (`dumbbell.tcl` of `sim`, five seeds, 717/1024; its own is 819/1024).
        // ns-3's is no reference under loss: it has no Reno-friendly region.
        (ControlKind::Cubic, Some(44), 0.001, 9.07, 9.73),
        (ControlKind::Cubic, None, 0.01, 2.85, 3.13),
    ];
    for (control, max_window, loss, least, most) in references {
        let config = Config { mss: 1460, max_window, ..config(control) };
        let runs = 6;
        let mean = (0..runs).map(|seed| reference_goodput(&config, loss, seed)).sum::<f64>() / f64::from(runs);
        // 5 % beyond the spread of the two at 0.1 % of loss, 15 % at 1 %: what they differ by themselves.
        let slack = if loss < 0.005 { 0.05 } else { 0.15 };
        let bounds = least * (1.0 - slack)..most * (1.0 + slack);
        assert!(bounds.contains(&mean), "{control:?} {max_window:?} {loss}: {mean} Mbit/s, not in {bounds:?}");
    }
}

fn reference_goodput(config: &Config, loss: f64, seed: u32) -> f64 {
    let mut state = 0x853c_49e6_748f_ea9b_u64 ^ u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut wire = Wire::new(config, config, Time::from_ms(20)).bottleneck(BitRate::from_mbps(100), 333).script(
        move |side, _, segment| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let unlucky = ((state >> 11) as f64) < loss * (1_u64 << 53) as f64;
            if side == Side::Client && segment.len > 0 && unlucky { Fate::Drop } else { Fate::Deliver }
        },
    );
    wire.keep_log = false;
    wire.with(Side::Client, Endpoint::open);
    wire.write(Side::Client, 1 << 40);
    wire.run_until(Time::from_secs(100));
    wire.server.received() as f64 * 8.0 / 100e6
}
