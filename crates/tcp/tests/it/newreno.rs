//! Recovery without SACK: NewReno (RFC 6582).

use crate::support::{Side, Wire, plain};
use tcp::Config;
use units::{Bytes, Time};

const DELAY: Time = Time::from_ms(50);
const MSS: u64 = 1000;

fn established(segments: u32) -> Wire {
    // A buffer that needs no scaling: else the first scaled window differs from the SYN's, and a duplicate
    // acknowledgement with another window is none (RFC 5681, section 2).
    let config = Config { initial_window: segments, sack: false, receive_buffer: Bytes::new(65_535), ..plain() };
    Wire::new(&config, &config, DELAY).established()
}

/// (milliseconds since `start`, segment number) of what was sent after the first `skip` segments.
fn sent(wire: &Wire, start: Time, skip: usize) -> Vec<(u64, u64)> {
    let data = wire.data(Side::Client);
    data.iter().skip(skip).map(|(time, seq, _)| ((*time - start).as_ms(), (seq - 1) / MSS)).collect()
}

#[test]
fn one_loss() {
    let mut wire = established(10);
    let start = wire.now;
    wire.lose(&[0]);
    wire.write(Side::Client, 100 * MSS);
    wire.run_until(start + DELAY * 2);
    // Duplicates 1 and 2: limited transmit of 10 and 11. The third: cwnd 10/2 + 3 = 8, 12 outstanding. Up to the ninth
    // it grows to 14: two more.
    assert_eq!(sent(&wire, start, 10), [(100, 10), (100, 11), (100, 0), (100, 12), (100, 13)]);
    assert_eq!(wire.client.window().ssthresh, 5 * MSS);
    wire.run();
    assert_eq!(wire.client.counters().retransmissions, 1);
    assert_eq!(wire.server.received(), 100 * MSS);
}

#[test]
fn one_hole_is_filled_per_round_trip() {
    let mut wire = established(12);
    let start = wire.now;
    wire.lose(&[1, 3, 5]);
    wire.write(Side::Client, 12 * MSS);
    wire.run();
    assert_eq!(sent(&wire, start, 12), [(100, 1), (200, 3), (300, 5)]);
    let counters = wire.client.counters();
    assert_eq!((counters.fast_recoveries, counters.timeouts), (1, 0));
    assert_eq!(counters.recovery_time, DELAY * 6);
}

#[test]
fn the_window_after_a_full_acknowledgement_allows_no_burst() {
    let mut wire = established(12);
    let start = wire.now;
    wire.lose(&[0]);
    wire.write(Side::Client, 12 * MSS);
    wire.run_until(start + DELAY * 4);
    // Option 1: min(ssthresh, max(FlightSize, SMSS) + SMSS), with nothing outstanding.
    assert_eq!(wire.client.window().ssthresh, 6 * MSS);
    assert_eq!(wire.client.window().cwnd, 2 * MSS);
}

#[test]
fn duplicates_after_a_timeout_start_no_recovery() {
    let mut wire = established(10);
    let start = wire.now;
    // The timeout sends again what has arrived; its duplicates must not be taken for a loss (RFC 6582, section 3.2,
    // step 1).
    wire.lose(&[0, 9, 10]);
    wire.write(Side::Client, 10 * MSS);
    wire.run();
    let counters = wire.client.counters();
    assert_eq!((counters.fast_recoveries, counters.timeouts), (1, 1));
    assert!(sent(&wire, start, 10).len() >= 3);
    assert_eq!(wire.server.received(), 10 * MSS);
}

#[test]
fn fewer_than_three_duplicates_wait_for_the_timer() {
    let mut wire = established(3);
    wire.lose(&[0]);
    wire.write(Side::Client, 3 * MSS);
    wire.run();
    let counters = wire.client.counters();
    assert_eq!((counters.fast_recoveries, counters.timeouts, counters.duplicate_acks), (0, 1, 2));
}
