//! Transmit queueing level control (Lee 2014, Algorithm 1), TCP's half: the corrected reading, what is wrong with the
//! printed one, and its kin.

use crate::support::{Side, Wire, plain};
use tcp::{Config, Demand, Endpoint, Flags, Level, TransmitQueueLimiter, TransmitQueueLimits};
use units::{BitRate, Bytes, Time};

const MS: Time = Time::from_ms(1);
const DELAY: Time = Time::from_ms(10);

fn level(packets: u32) -> Level {
    Level { packets, bytes: Bytes::new(u64::from(packets) * 1040), rate: BitRate::from_bps(8_320_000) }
}

fn demand(flow: u64) -> Demand {
    Demand { flow, segment: 1040, pace: None }
}

fn by_packets(packets: u32, restart: Option<u32>) -> TransmitQueueLimiter {
    TransmitQueueLimiter::new(TransmitQueueLimits { packets: Some(packets), restart, ..TransmitQueueLimits::default() })
}

#[test]
fn stops_at_the_threshold_and_restarts_below_it() {
    let mut control = by_packets(5, None);
    let room: Vec<u16> = [0, 3, 5, 9, 5, 4, 5, 0].map(|packets| control.room(&level(packets), &demand(0))).to_vec();
    assert_eq!(room, [5, 2, 0, 0, 0, 1, 0, 5]);
    // With a lower level to restart from: once stopped, it waits for that.
    let mut control = by_packets(5, Some(2));
    let room: Vec<u16> = [4, 5, 4, 2, 1, 4, 5, 2, 0].map(|packets| control.room(&level(packets), &demand(0))).to_vec();
    assert_eq!(room, [1, 0, 0, 0, 4, 1, 0, 0, 5]);
    assert_eq!(control.restart_level(), 5);
    control.room(&level(5), &demand(0));
    assert_eq!(control.restart_level(), 2);
}

/// Lines 1 to 18 of the algorithm as printed.
#[derive(Default)]
struct Printed {
    injecting: bool,
    tx_bound: u32,
}

impl Printed {
    fn run(&mut self, tx_qlen: u32, fc_threshold: u32, rx_pending: bool, max_frames: u32) {
        if tx_qlen > 0 {
            if self.injecting {
                if tx_qlen >= fc_threshold {
                    self.injecting = false;
                }
            } else if tx_qlen < fc_threshold {
                self.injecting = true;
            }
            if !rx_pending {
                self.tx_bound = max_frames;
            } else if tx_qlen == 0 {
                self.tx_bound = max_frames / 2;
            }
        }
    }
}

/// A transmit queue of `capacity` from which the device takes everything at once, as it does for an aggregate; TCP has
/// 1,000 packets to send. Returns how many it has sent after a hundred rounds.
fn drained_in_batches(mut injects: impl FnMut(u32) -> u32, capacity: u32) -> u32 {
    let (mut left, mut sent) = (1000, 0);
    for _ in 0..100 {
        let mut queued = 0;
        loop {
            let more = injects(queued).min(left).min(capacity - queued);
            if more == 0 {
                break;
            }
            (queued, left, sent) = (queued + more, left - more, sent + more);
        }
    }
    sent
}

#[test]
fn as_printed_a_queue_that_drains_in_one_batch_never_restarts() {
    let mut printed = Printed { injecting: true, tx_bound: 0 };
    let sent = drained_in_batches(
        |queued| {
            printed.run(queued, 32, false, 64);
            u32::from(printed.injecting)
        },
        128,
    );
    assert_eq!(sent, 32, "the batch is gone, and with it whatever could have asked again");

    let mut control = by_packets(32, None);
    let sent = drained_in_batches(|queued| u32::from(control.room(&level(queued), &demand(0))), 128);
    assert_eq!(sent, 1000);
}

#[test]
fn as_printed_half_the_frames_are_never_scheduled() {
    for tx_qlen in 0..300 {
        for rx_pending in [false, true] {
            let mut printed = Printed { injecting: true, tx_bound: 1 };
            printed.run(tx_qlen, 100, rx_pending, 64);
            assert_ne!(printed.tx_bound, 32);
        }
    }
}

#[test]
fn held_flows_are_restarted_in_turn() {
    let mut control = by_packets(10, None);
    for flow in [7, 8, 9, 8] {
        control.hold(flow);
    }
    let known = |flow| Some(demand(flow));
    let mut order = Vec::new();
    for _ in 0..7 {
        let flow = control.next(&level(9), known).unwrap();
        order.push(flow);
        control.hold(flow);
    }
    assert_eq!(order, [7, 8, 9, 7, 8, 9, 7]);
    assert_eq!(control.next(&level(10), known), None, "no room");
    assert_eq!(control.held(), 3);
    // One that is gone is passed over for good.
    assert_eq!(control.next(&level(0), |flow| known(flow).filter(|_| flow != 8)), Some(9));
    assert_eq!(control.held(), 1);

    // Where flows have limits of their own, one that is at its limit keeps its turn.
    let mut control =
        TransmitQueueLimiter::new(TransmitQueueLimits { per_flow: Some(MS), ..TransmitQueueLimits::default() });
    for flow in [1, 2] {
        control.hold(flow);
    }
    control.enqueued(1, 2080);
    assert_eq!((control.next(&level(2), known), control.next(&level(2), known)), (Some(2), None));
    control.dequeued(1, 1040);
    assert_eq!(control.next(&level(1), known), Some(1));
}

#[test]
fn limits_in_time_and_bytes_follow_the_rate() {
    // 1,040 bytes take a millisecond.
    let mut control = TransmitQueueLimiter::new(TransmitQueueLimits {
        delay: Some(Time::from_ms(20)),
        ..TransmitQueueLimits::default()
    });
    assert_eq!(control.room(&level(0), &demand(0)), 20);
    assert_eq!(control.room(&level(15), &demand(0)), 5);
    let slower = Level { rate: BitRate::from_bps(8_320_000 / 4), ..level(0) };
    assert_eq!(control.room(&slower, &demand(0)), 5);
    let crawling = Level { rate: BitRate::from_bps(8), ..level(0) };
    assert_eq!(control.room(&crawling, &demand(0)), 1);

    let mut control = TransmitQueueLimiter::new(TransmitQueueLimits {
        bytes: Some(Bytes::new(5000)),
        ..TransmitQueueLimits::default()
    });
    // The packet that passes the limit still goes: 5,200 bytes.
    assert_eq!([0, 4, 5].map(|packets| control.room(&level(packets), &demand(0))), [5, 1, 0]);
}

#[test]
fn a_small_queue_holds_a_millisecond_at_the_flows_own_pace_and_two_segments() {
    let mut control =
        TransmitQueueLimiter::new(TransmitQueueLimits { per_flow: Some(MS), ..TransmitQueueLimits::default() });
    // 20 Mbit/s: 2,500 bytes in a millisecond; 100 Mbit/s: 12,500.
    let paced = |flow, mbps| Demand { pace: Some(BitRate::from_mbps(mbps)), ..demand(flow) };
    assert_eq!(control.room(&level(50), &demand(1)), 2, "no round trip yet");
    assert_eq!(control.room(&level(50), &paced(1, 1)), 2);
    assert_eq!(control.room(&level(50), &paced(1, 20)), 3);
    assert_eq!(control.room(&level(50), &paced(1, 100)), 13);
    control.enqueued(1, 1040);
    control.enqueued(1, 1040);
    assert_eq!((control.room(&level(50), &paced(1, 1)), control.room(&level(50), &paced(2, 1))), (0, 2));
    control.dequeued(1, 1040);
    assert_eq!(control.room(&level(50), &paced(1, 1)), 1);
}

#[test]
fn an_endpoint_without_room_acknowledges_and_waits() {
    let mut wire = Wire::new(&plain(), &plain(), DELAY).established();
    wire.client.set_room(Some(1));
    wire.write(Side::Client, 10_000);
    assert_eq!(wire.data(Side::Client).len(), 1, "the window would take two");
    assert!(wire.client.is_held());
    wire.write(Side::Server, 5000);
    wire.run_until(wire.now + DELAY * 10);
    // Everything of the other side is acknowledged, and nothing of its own went.
    assert_eq!((wire.client.received(), wire.data(Side::Client).len()), (5000, 1));
    assert_eq!(wire.client.window().cwnd, 2000, "what is held back says nothing about the network");
    wire.client.set_room(Some(1));
    wire.with(Side::Client, Endpoint::resume);
    assert_eq!((wire.data(Side::Client).len(), wire.client.is_held()), (2, true));
    wire.client.set_room(None);
    wire.with(Side::Client, Endpoint::resume);
    wire.run();
    assert_eq!((wire.server.received(), wire.client.is_held()), (10_000, false));
    // Its own end follows its data.
    wire.client.set_room(Some(0));
    wire.close(Side::Client);
    wire.run_until(wire.now + DELAY * 10);
    assert!(wire.log.iter().all(|sent| sent.from == Side::Server || !sent.segment.flags.contains(Flags::FIN)));
    wire.client.set_room(None);
    wire.with(Side::Client, Endpoint::resume);
    assert!(wire.log.last().is_some_and(|sent| sent.segment.flags.contains(Flags::FIN)));
    assert!(!wire.client.is_held());
}

/// A sender that has a window of 1,000 packets before a queue of 128, for a second; `at` is told the time and the level
/// every millisecond.
fn sender(control: Option<&mut TransmitQueueLimiter>, mut at: impl FnMut(&mut Wire, u32)) -> Wire {
    let config = Config { initial_window: 1000, ..plain() };
    let mut wire = Wire::new(&config, &config, DELAY).bottleneck(BitRate::from_bps(8_320_000), 128).established();
    wire.client.set_room(control.is_some().then_some(0));
    wire.write(Side::Client, 1 << 30);
    let mut control = control;
    for t in 0..4000_u32 {
        if let Some(control) = &mut control {
            while wire.client.is_held() {
                let level = Level { rate: wire.rate.unwrap(), ..level(wire.queued(Side::Client) as u32) };
                let room = control.room(&level, &demand(0));
                if room == 0 {
                    break;
                }
                wire.client.set_room(Some(room));
                wire.with(Side::Client, Endpoint::resume);
                wire.client.set_room(Some(0));
            }
        }
        if t % 4 == 0 {
            at(&mut wire, t / 4);
        }
        wire.run_until(wire.now + Time::from_us(250));
    }
    wire
}

#[test]
fn the_queue_stays_at_the_threshold_and_loses_nothing() {
    let mut free = sender(None, |_, _| {});
    assert!(free.drops > 800, "{} of a thousand packets into a queue of 128", free.drops);
    assert!(free.client.counters().retransmissions > 0);

    let mut control = by_packets(100, None);
    let wire = sender(Some(&mut control), |wire, t| {
        let queued = wire.queued(Side::Client);
        // One packet starts each millisecond, and is replaced within a quarter of one. A SYN can offer 64 KB only,
        // which last for the first round trip.
        assert!(t < 22 || (99..=101).contains(&queued), "{t} ms: {queued}");
    });
    assert_eq!((wire.drops, wire.client.counters().retransmissions), (0, 0));
    // 5.3: TCP, the link and the receiver go at one rate, a packet a millisecond but for the first round trip.
    assert!((986..=990).contains(&(wire.server.received() / 1000)), "{}", wire.server.received());
    free.client.set_room(None);
}

#[test]
fn a_threshold_in_time_follows_a_falling_rate() {
    let lasts = |limits: TransmitQueueLimits| {
        let mut control = TransmitQueueLimiter::new(limits);
        let mut last = 0;
        sender(Some(&mut control), |wire, t| {
            if t == 300 {
                // From 65 to 26 Mbit/s, as it were.
                wire.rate = Some(BitRate::from_bps(3_328_000));
            }
            last = wire.queued(Side::Client);
        });
        last
    };
    // 100 packets last 100 ms at first and 250 ms in the end; 100 ms are 100 packets at first and 40 in the end.
    assert!((99..=101).contains(&lasts(TransmitQueueLimits { packets: Some(100), ..TransmitQueueLimits::default() })));
    assert!(
        (39..=41).contains(&lasts(TransmitQueueLimits {
            delay: Some(Time::from_ms(100)),
            ..TransmitQueueLimits::default()
        }))
    );
}
