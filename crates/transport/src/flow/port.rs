//! The queue before a link, as a fluid that says when bursts overflow it.
//!
//! What a stream may send without waiting comes to a queue as a burst, at the rate of its node's interface. The queue grows
//! by what comes more than the link takes away. When it is full, the rest would be lost, and senders would wait for
//! retransmissions or timeouts: incast (Phanishayee et al., "Measurement and Analysis of TCP Throughput Collapse in
//! Cluster-based Storage Systems", FAST 2008; Zhang, Ren and Lin, "Modeling and Understanding TCP Incast in Data Center
//! Networks", INFOCOM 2011). Flow level does not model what follows; it says that it happened.

use net::{Limit, LinkSpec};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// When a burst begins or ends, which of both, and its packets per second. The order of positive numbers is that of their
/// bits.
type Change = Reverse<(u64, bool, u64)>;

/// A link's queue.
#[derive(Clone, Debug)]
pub(super) struct Port {
    limit: Limit,
    /// Bytes per second that the link takes away.
    capacity: f64,
    /// Packets in the queue at `at` seconds, the one in transmission among them, and the mean bytes of one.
    queue: f64,
    size: f64,
    at: f64,
    /// Packets per second that come.
    inflow: f64,
    changes: BinaryHeap<Change>,
    /// Packets that found the queue full, and when the first one did.
    lost: f64,
    first: f64,
}

impl Port {
    /// The empty queue of a link of so many bytes per second.
    pub fn new(spec: &LinkSpec, capacity: f64) -> Self {
        Self {
            limit: spec.limit,
            capacity,
            queue: 0.0,
            size: 1.0,
            at: 0.0,
            inflow: 0.0,
            changes: BinaryHeap::new(),
            lost: 0.0,
            first: f64::INFINITY,
        }
    }
    /// The link has another rate from now on.
    pub fn set_capacity(&mut self, now: f64, capacity: f64) {
        self.advance(now);
        self.capacity = capacity;
    }

    /// Packets per second that the link takes away.
    fn service(&self) -> f64 {
        self.capacity / self.size
    }
    /// How many packets there may be, the one in transmission among them.
    fn room(&self) -> f64 {
        1.0 + match self.limit {
            Limit::Packets(packets) => f64::from(packets),
            Limit::Bytes(bytes) => bytes.get() as f64 / self.size,
            Limit::Delay(delay) => delay.as_secs_f64() * self.service(),
            Limit::Unlimited => f64::INFINITY,
        }
    }
    /// Packets of another size mix with those in the queue.
    fn mix(&mut self, count: f64, size: f64) {
        let held = self.queue;
        self.size = if held < 1e-9 { size } else { (held * self.size + count * size) / (held + count) };
    }

    /// So many packets come at once to a node's own queue, which holds senders back before it overflows. Returns how many
    /// seconds the first one waits.
    pub fn hold(&mut self, now: f64, count: f64, size: f64) -> f64 {
        self.advance(now);
        self.mix(count, size);
        let wait = self.queue / self.service();
        self.queue += count;
        wait
    }

    /// So many packets come evenly, from `start` on and for so many seconds.
    pub fn burst(&mut self, now: f64, (start, seconds): (f64, f64), count: f64, size: f64) {
        self.advance(now);
        self.mix(count, size);
        let (start, seconds) = (start.max(now), seconds.max(1e-9));
        let rate = (count / seconds).to_bits();
        self.changes.push(Reverse((start.to_bits(), true, rate)));
        self.changes.push(Reverse(((start + seconds).to_bits(), false, rate)));
    }

    /// Packets that have found the queue full up to a time, and when the first one did, in seconds.
    pub fn overflow(&self, now: f64) -> (f64, f64) {
        if self.changes.is_empty() {
            return (self.lost, self.first);
        }
        let mut then = self.clone();
        then.advance(now);
        (then.lost, then.first)
    }

    /// Time passes.
    fn advance(&mut self, now: f64) {
        while let Some(Reverse((time, begins, rate))) = self.changes.peek().copied() {
            let (time, rate) = (f64::from_bits(time), f64::from_bits(rate));
            if time > now {
                break;
            }
            self.changes.pop();
            self.pass(time);
            self.inflow = if begins { self.inflow + rate } else { (self.inflow - rate).max(0.0) };
            if self.changes.is_empty() {
                // Nothing of it is rounding.
                self.inflow = 0.0;
            }
        }
        self.pass(now);
    }

    /// Time passes in which nothing changes.
    fn pass(&mut self, to: f64) {
        let left = to - self.at;
        if left <= 0.0 {
            return;
        }
        let growth = self.inflow - self.service();
        let full = (self.room() - self.queue).max(0.0) / growth.max(f64::MIN_POSITIVE);
        if growth > 0.0 && full < left {
            self.queue = self.queue.max(self.room());
            self.lost += growth * (left - full);
            self.first = self.first.min(self.at + full);
        } else {
            self.queue = (self.queue + growth * left).max(0.0);
        }
        self.at = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{BitRate, Time};

    const SEGMENT: f64 = 1_250.0;

    /// A link that takes away 1,000 segments a second.
    fn port(limit: Limit) -> Port {
        let spec = LinkSpec::new(BitRate::from_mbps(10), Time::ZERO).with_limit(limit);
        Port::new(&spec, SEGMENT * 1_000.0)
    }

    /// Eight senders of ten segments each, as fast as the link, fill the queue by 7 segments a millisecond: with the one in
    /// transmission, 65 fit, so 70 less 65 are lost from 65 / 7 ms on.
    #[test]
    fn what_exceeds_the_room_is_lost() {
        let mut port = port(Limit::Packets(64));
        for _ in 0..8 {
            port.burst(0.0, (0.0, 0.010), 10.0, SEGMENT);
        }
        let (lost, first) = port.overflow(1.0);
        assert!((lost - 5.0).abs() < 1e-6, "{lost}");
        assert!((first - 65.0 / 7_000.0).abs() < 1e-9, "{first}");
    }

    /// Bursts one after the other find room: each is gone before the next comes.
    #[test]
    fn bursts_apart_lose_nothing() {
        let mut port = port(Limit::Packets(8));
        for burst in 0..100 {
            let start = f64::from(burst) * 0.02;
            port.burst(start, (start, 0.010), 10.0, SEGMENT);
        }
        assert_eq!(port.overflow(10.0), (0.0, f64::INFINITY));
    }

    /// A node's own queue holds what comes: after 4 ms of twenty segments sixteen are left.
    #[test]
    fn a_nodes_own_queue_only_waits() {
        let mut port = port(Limit::Packets(8));
        assert_eq!(port.hold(0.0, 20.0, SEGMENT), 0.0);
        assert!((port.hold(0.004, 1.0, SEGMENT) - 0.016).abs() < 1e-12);
        assert_eq!(port.overflow(1.0).0, 0.0);
    }

    /// Twenty segments in a millisecond, of which one leaves: ten may wait and one is in transmission. A bound in bytes or in
    /// time holds as many as it has room for.
    #[test]
    fn limits_of_each_kind() {
        for (limit, lost) in [
            (Limit::Bytes(units::Bytes::new(12_500)), 8.0),
            (Limit::Delay(Time::from_ms(10)), 8.0),
            (Limit::Packets(10), 8.0),
            (Limit::Unlimited, 0.0),
        ] {
            let mut port = port(limit);
            port.burst(0.0, (0.0, 0.001), 20.0, SEGMENT);
            assert!((port.overflow(1.0).0 - lost).abs() < 1e-9, "{limit:?}");
        }
    }
}
