//! When acknowledgements go out (RFC 1122, RFC 5681), and when partial segments do (RFC 896, cork, push).

use crate::support::{Fate, Side, Wire, plain};
use tcp::{Config, Endpoint, Flags};
use units::Time;

const DELAY: Time = Time::from_ms(10);
const ATO: Time = Time::from_ms(40);

fn delayed() -> Config {
    Config { delayed_ack: Some(ATO), quick_acks: 0, initial_window: 10, ..plain() }
}

fn established(config: &Config) -> Wire {
    Wire::new(config, config, DELAY).established()
}

/// (milliseconds since `start`, position acknowledged) of the server's acknowledgements.
fn acks(wire: &Wire, start: Time) -> Vec<(u64, u64)> {
    wire.pure_acks(Side::Server).iter().map(|sent| ((sent.at - start).as_ms(), sent.segment.ack)).collect()
}

#[test]
fn every_second_segment_or_after_the_delay() {
    let mut wire = established(&delayed());
    let start = wire.now;
    wire.write(Side::Client, 5000);
    wire.run();
    assert_eq!(acks(&wire, start), [(10, 2001), (10, 4001), (50, 5001)]);
}

#[test]
fn every_segment_when_not_delayed() {
    let mut wire = established(&Config { delayed_ack: None, ..delayed() });
    let start = wire.now;
    wire.write(Side::Client, 5000);
    wire.run();
    assert_eq!(acks(&wire, start), [(10, 1001), (10, 2001), (10, 3001), (10, 4001), (10, 5001)]);
}

#[test]
fn the_first_segments_are_acknowledged_quickly() {
    let mut wire = established(&Config { quick_acks: 3, ..delayed() });
    let start = wire.now;
    wire.write(Side::Client, 6000);
    wire.run();
    assert_eq!(acks(&wire, start), [(10, 1001), (10, 2001), (10, 3001), (10, 5001), (50, 6001)]);
}

#[test]
fn a_gap_and_its_filling_are_acknowledged_at_once() {
    let mut wire = established(&delayed());
    wire.set_script(
        |side, number, _| {
            if side == Side::Client && number == 1 { Fate::Late(Time::from_ms(3)) } else { Fate::Deliver }
        },
    );
    let start = wire.now;
    wire.write(Side::Client, 3000);
    wire.run();
    // The first waits; the third shows the gap; the second fills it.
    assert_eq!(acks(&wire, start), [(10, 1001), (13, 3001)]);
}

#[test]
fn data_in_return_carries_the_acknowledgement() {
    let mut wire = established(&delayed());
    wire.write(Side::Client, 500);
    wire.run_until(wire.now + DELAY + Time::from_ms(5));
    wire.write(Side::Server, 300);
    wire.run();
    assert_eq!(wire.data(Side::Server).len(), 1);
    assert!(wire.pure_acks(Side::Server).is_empty());
    assert_eq!(wire.client.acknowledged(), 500);
}

/// (milliseconds since `start`, length) of the client's data.
fn lengths(wire: &Wire, start: Time) -> Vec<(u64, u32)> {
    wire.data(Side::Client).iter().map(|(at, _, len)| ((*at - start).as_ms(), *len)).collect()
}

#[test]
fn nagle_gathers_small_writes_while_data_is_unacknowledged() {
    let mut wire = established(&Config { nagle: true, ..plain() });
    let start = wire.now;
    for _ in 0..5 {
        wire.write(Side::Client, 100);
        wire.run_until(wire.now + Time::from_ms(1));
    }
    wire.run();
    // The first goes, the rest when it is acknowledged.
    assert_eq!(lengths(&wire, start), [(0, 100), (20, 400)]);
}

#[test]
fn nagle_lets_full_segments_go() {
    let mut wire = established(&Config { nagle: true, ..plain() });
    let start = wire.now;
    wire.write(Side::Client, 100);
    wire.write(Side::Client, 1950);
    wire.run();
    assert_eq!(lengths(&wire, start), [(0, 100), (0, 1000), (20, 950)]);
}

#[test]
fn without_nagle_every_write_goes() {
    let mut wire = established(&plain());
    let start = wire.now;
    wire.write(Side::Client, 100);
    wire.write(Side::Client, 100);
    assert_eq!(lengths(&wire, start), [(0, 100), (0, 100)]);
}

#[test]
fn nagle_and_delayed_acknowledgement_wait_for_each_other() {
    // The well-known stall of write-write-read: the second, partial write waits for the delayed acknowledgement of the
    // first.
    let mut wire = established(&Config { nagle: true, ..delayed() });
    let start = wire.now;
    wire.write(Side::Client, 100);
    wire.write(Side::Client, 100);
    wire.run();
    assert_eq!(lengths(&wire, start), [(0, 100), (60, 100)]);
}

#[test]
fn cork_holds_partial_segments_until_push_uncork_or_close() {
    let write = |wire: &mut Wire, bytes, push| {
        wire.with(Side::Client, |endpoint, now, out| endpoint.write(now, bytes, push, out).unwrap());
    };
    for ending in 0..3 {
        let mut wire = established(&Config { cork: true, initial_window: 10, ..plain() });
        let start = wire.now;
        write(&mut wire, 700, false);
        write(&mut wire, 700, false);
        wire.run();
        assert_eq!(lengths(&wire, start), [(0, 1000)], "a full segment goes");
        let waited = (wire.now - start).as_ms();
        match ending {
            0 => write(&mut wire, 0, true),
            1 => wire.with(Side::Client, |endpoint, now, out| endpoint.set_cork(now, false, out)),
            _ => wire.with(Side::Client, Endpoint::close),
        }
        wire.run();
        assert_eq!(lengths(&wire, start), [(0, 1000), (waited, 400)]);
    }
}

#[test]
fn push_marks_the_segment_that_ends_a_write() {
    let mut wire = established(&Config { initial_window: 2, ..plain() });
    wire.write(Side::Client, 2500);
    wire.write(Side::Client, 1000);
    wire.run();
    let pushed: Vec<bool> = wire
        .log
        .iter()
        .filter(|sent| sent.from == Side::Client && sent.segment.len > 0)
        .map(|sent| sent.segment.flags.contains(Flags::PSH))
        .collect();
    // 2,500 bytes pushed, then 1,000 more before the rest could go: positions 1, 1001, 2001, 3001.
    assert_eq!(pushed, [false, false, false, true]);
}
