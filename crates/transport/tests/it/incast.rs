//! What flow level says of incast, beside packets.

use crate::barrier::{Barrier, Host};
use units::{BitRate, Time};

const ROUNDS: u32 = 20;

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

/// Packets of new connections lose tails of their first windows of ten segments, and wait for the timeout of 200 ms:
/// they go by packets at flow level, too, and the mean round is within 15 %.
#[test]
fn where_packets_wait_for_timeouts_flows_wait_as_well() {
    for (point, host) in [
        ((16, 8 << 10, 32), Host::SackReno),
        ((32, 8 << 10, 64), Host::SackReno),
        ((16, 32 << 10, 64), Host::SackReno),
        ((64, 32 << 10, 256), Host::SackReno),
        ((16, 256 << 10, 64), Host::Linux),
        ((32, 8 << 10, 64), Host::Linux),
    ] {
        let reads = reads(point, host);
        let mean = |run: &dyn Fn(u64) -> f64| (1..=3).map(run).sum::<f64>() / 3.0;
        let (packets, flows) = (mean(&|seed| reads.packets(ROUNDS, seed).0), mean(&|seed| reads.flows(ROUNDS, seed).0));
        assert!((flows / packets - 1.0).abs() < 0.15, "{reads:?}: {packets} and {flows} s");
        assert!(reads.flows(ROUNDS, 1).1.is_some_and(|overflow| overflow.carried.get() > 0), "{reads:?}");
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
