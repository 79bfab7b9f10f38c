//! Pacing of controls that know only a window.

use crate::support::{Fate, Side, Wire, plain};
use tcp::control::ControlKind;
use tcp::{Config, Endpoint};
use units::{BitRate, Time};

const DELAY: Time = Time::from_ms(50);

fn config(segments: u32) -> Config {
    Config { pacing: true, initial_window: segments, ..plain() }
}

#[test]
fn slow_start_sends_at_twice_a_window_per_round_trip() {
    let mut wire = Wire::new(&config(10), &config(10), DELAY).established();
    let start = wire.now;
    wire.write(Side::Client, 10_000);
    wire.run();
    // The handshake took 100 ms: 10 segments in 50 ms.
    let at: Vec<u64> = wire.data(Side::Client).iter().map(|(at, _, _)| (*at - start).as_us()).collect();
    assert_eq!(at, (0..10).map(|n| n * 5_000).collect::<Vec<_>>());
}

#[test]
fn congestion_avoidance_sends_at_a_fifth_more_than_a_window_per_round_trip() {
    let mut wire = Wire::new(&config(20), &config(20), DELAY).established();
    // A loss ends slow start.
    wire.set_script(|side, number, _| if (side, number) == (Side::Client, 5) { Fate::Drop } else { Fate::Deliver });
    wire.write(Side::Client, 1 << 30);
    wire.run_until(wire.now + Time::from_secs(2));
    assert!(!wire.client.in_recovery() && !wire.client.window().slow_start());
    let from = wire.log.len();
    wire.run_until(wire.now + Time::from_ms(400));
    let sent: Vec<Time> = wire.log[from..].iter().filter(|sent| sent.segment.len > 0).map(|sent| sent.at).collect();
    let window = wire.client.window().cwnd as f64 / 1000.0;
    let smoothed = wire.client.rtt().smoothed().map_or(0.0, Time::as_secs_f64);
    let gap = smoothed / (1.2 * window);
    let least = sent.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).fold(f64::MAX, f64::min);
    // The window has grown by a segment or two in the meantime.
    assert!((least / gap - 1.0).abs() < 0.15, "{least} {gap}");
}

#[test]
fn the_queue_of_a_fast_access_link_stays_short() {
    // One round trip of slow start over a bottleneck: without pacing half of each window waits, with it what exceeds
    // the rate.
    let longest = |pacing| {
        let config = Config { pacing, ..config(10) };
        let mut wire = Wire::new(&config, &config, DELAY).bottleneck(BitRate::from_mbps(50), 20);
        wire.keep_log = false;
        wire.with(Side::Client, Endpoint::open);
        wire.write(Side::Client, 300_000);
        wire.run();
        wire.drops
    };
    let (bursts, paced) = (longest(false), longest(true));
    assert!(bursts > 0 && paced == 0, "{bursts} {paced}");
}

#[test]
fn bbr_paces_by_itself() {
    let run = |pacing| {
        let config = Config { control: ControlKind::Bbr, pacing, ..config(10) };
        let mut wire = Wire::new(&config, &config, DELAY).bottleneck(BitRate::from_mbps(20), 100);
        wire.with(Side::Client, Endpoint::open);
        wire.write(Side::Client, 3_000_000);
        wire.run();
        wire.data(Side::Client)
    };
    assert_eq!(run(true), run(false));
}
