//! Tahoe: fast retransmit, then slow start over everything (Fall and Floyd 1996).

use crate::support::control::{MSS, ack, window};
use crate::support::{Side, Wire, plain};
use tcp::Config;
use tcp::control::{Control, ControlKind, Tahoe};
use units::{BitRate, Time};

const SMSS: u64 = MSS as u64;
const DELAY: Time = Time::from_ms(50);

#[test]
fn every_loss_means_one_segment_and_half_as_threshold() {
    let (mut tahoe, mut w) = (Tahoe::default(), window(20, true));
    tahoe.on_loss(&mut w, Time::ZERO, 20 * SMSS);
    assert_eq!((w.cwnd, w.ssthresh), (SMSS, 10 * SMSS));
    // Slow start to the threshold: nine acknowledgements; then one segment per window.
    for expected in 2..=10 {
        let it = ack(Time::ZERO, SMSS, &w);
        tahoe.on_ack(&mut w, &it);
        assert_eq!(w.cwnd, expected * SMSS);
    }
    for _ in 0..10 {
        let it = ack(Time::ZERO, SMSS, &w);
        tahoe.on_ack(&mut w, &it);
    }
    assert_eq!(w.cwnd, 11 * SMSS);
    tahoe.on_timeout(&mut w, Time::ZERO, 11 * SMSS, false);
    assert_eq!((w.cwnd, w.ssthresh), (SMSS, 11 * SMSS / 2));
}

fn established(sack: bool) -> Wire {
    let config = Config { control: ControlKind::Tahoe, sack, initial_window: 10, limited_transmit: false, ..plain() };
    Wire::new(&config, &config, DELAY).established()
}

/// (milliseconds, segment number) of everything that the client sent after the first flight.
fn after_the_first(wire: &Wire, start: Time) -> Vec<(u64, u64)> {
    let sent = wire.data(Side::Client).into_iter().map(|(at, seq, _)| ((at - start).as_ms(), (seq - 1) / SMSS));
    sent.filter(|(at, _)| *at > 0).collect()
}

#[test]
fn one_loss() {
    let mut wire = established(false);
    let start = wire.now;
    wire.lose(&[0]);
    wire.write(Side::Client, 14 * SMSS);
    wire.run();
    // The third duplicate brings the first segment again; its acknowledgement is that of all ten, and slow start goes
    // on with two.
    assert_eq!(after_the_first(&wire, start), [(100, 0), (200, 10), (200, 11), (300, 12), (300, 13)]);
    let counters = wire.client.counters();
    assert_eq!((counters.fast_recoveries, counters.timeouts, counters.retransmissions), (1, 0, 1));
    assert_eq!((counters.recovery_time, counters.timeout_time), (DELAY * 2, Time::ZERO));
    assert_eq!(wire.client.window().ssthresh, 5 * SMSS);
}

#[test]
fn two_losses_send_again_what_has_arrived() {
    let mut wire = established(false);
    let start = wire.now;
    wire.lose(&[0, 3]);
    wire.write(Side::Client, 12 * SMSS);
    wire.run();
    // From the second hole on slow start sends two: the lost 3, and 4, which has long arrived. Then what is new.
    let expected = [(100, 0), (200, 3), (200, 4), (300, 10), (300, 11)];
    assert_eq!(after_the_first(&wire, start)[..3], expected[..3]);
    assert_eq!(wire.server.counters().duplicate_segments, 1);
    assert_eq!(wire.client.counters().timeouts, 0);
    assert_eq!(after_the_first(&wire, start)[3..], expected[3..]);
}

#[test]
fn with_sack_only_holes_are_sent_again() {
    let mut wire = established(true);
    let start = wire.now;
    wire.lose(&[0, 3]);
    wire.write(Side::Client, 10 * SMSS);
    wire.run();
    assert_eq!(after_the_first(&wire, start), [(100, 0), (200, 3)]);
    assert_eq!(wire.server.counters().duplicate_segments, 0);
}

#[test]
fn a_drop_tail_queue_costs_it_more_than_reno() {
    // Fall and Floyd's finding: the slow start after every loss leaves the link idle where Reno keeps sending.
    let goodput = |control| {
        let config = Config { control, sack: false, ..plain() };
        let mut wire = Wire::new(&config, &config, Time::from_ms(25)).bottleneck(BitRate::from_mbps(10), 12);
        wire.keep_log = false;
        wire.with(Side::Client, tcp::Endpoint::open);
        wire.write(Side::Client, 1 << 40);
        wire.run_until(Time::from_secs(100));
        wire.server.received() as f64 / 100.0
    };
    let (tahoe, reno) = (goodput(ControlKind::Tahoe), goodput(ControlKind::Reno));
    assert!(tahoe < 0.97 * reno && tahoe > 0.6 * reno, "{tahoe} {reno}");
}
