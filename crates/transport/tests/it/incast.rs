//! What flow level says of incast, beside packets: it notes the overflow where packets wait for timeouts, and is right
//! where it notes none.

use crate::barrier::{Barrier, Host};
use units::{BitRate, Time};

const ROUNDS: u32 = 5;

fn reads((senders, bytes, buffer): (u32, u64, u32), host: Host) -> Barrier {
    Barrier {
        senders,
        bytes,
        buffer,
        min_rto: Time::from_ms(200),
        rate: BitRate::from_gbps(1),
        marks: None,
        fresh: true,
        host,
    }
}

/// Packets of new connections lose tails of their first windows of ten segments, and wait for the timeout of 200 ms.
#[test]
fn an_overflow_is_noted_where_packets_wait_for_timeouts() {
    for point in [(16, 8 << 10, 32), (32, 8 << 10, 64), (16, 32 << 10, 64), (64, 32 << 10, 256)] {
        let reads = reads(point, Host::SackReno);
        let ((packets, _), (flows, overflow)) = (reads.packets(ROUNDS, 1), reads.flows(ROUNDS, 1));
        assert!(packets > 0.15 && flows < 0.05, "{reads:?}: {packets} and {flows} s");
        assert!(overflow.is_some_and(|overflow| overflow.packets >= 1.0), "{reads:?}");
    }
}

/// Where windows fit into the queue, both agree within 5 %, and nothing is noted.
#[test]
fn without_an_overflow_flows_agree_with_packets() {
    let points = [(2, 8 << 10, 32), (4, 8 << 10, 64), (8, 8 << 10, 64), (16, 8 << 10, 256)];
    for (point, host) in points.iter().flat_map(|point| [(*point, Host::SackReno), (*point, Host::Linux)]) {
        let reads = reads(point, host);
        let ((packets, _), (flows, overflow)) = (reads.packets(ROUNDS, 1), reads.flows(ROUNDS, 1));
        assert!((flows / packets - 1.0).abs() < 0.05, "{reads:?}: {packets} and {flows} s");
        assert_eq!(overflow, None, "{reads:?}");
    }
}
