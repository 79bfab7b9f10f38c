//! The queue before a link, as a fluid that says when bursts overflow it.
//!
//! What a stream may send without waiting comes to a queue as a burst, at the rate of its node's interface. The queue
//! grows by what comes more than the link takes away. When it is full, the rest would be lost, and senders would wait
//! for retransmissions or timeouts: incast (Phanishayee et al., "Measurement and Analysis of TCP Throughput Collapse
//! in Cluster-based Storage Systems", FAST 2008; Zhang, Ren and Lin, "Modeling and Understanding TCP Incast in Data
//! Center Networks", INFOCOM 2011). What follows is left to packets ([`super::carried`]).

use crate::Handle;
use net::{Discipline, Limit, LinkSpec};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// For so many seconds from an overflow on, bursts that meet there go by packets: RFC 6298's first timeout.
const HOLD: f64 = 2.0;

/// A message of more than so many times what a queue and the path hold takes many windows: what its first ones lose
/// matters little.
const SHORT: f64 = 16.0;

/// What fills a queue so far may overflow it.
const FULL: f64 = 0.75;

/// When a burst begins or ends, which of both, and its packets per second. The order of positive numbers is that of
/// their bits.
type Change = Reverse<(u64, bool, u64)>;

/// What a stream sends without waiting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Burst {
    /// When it begins to come, and for how long, in seconds.
    pub start: f64,
    pub seconds: f64,
    /// Packets, and the mean bytes of one.
    pub count: f64,
    pub size: f64,
}

/// Whose burst it is, where it is the first after a pause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sender {
    pub handle: Handle,
    /// Bytes on the wire that are left of its message.
    pub left: f64,
    /// The most packets that its slow start will have in flight.
    pub reach: f64,
    /// The round trip in seconds.
    pub rtt: f64,
    /// What passes within so many seconds is short beside the timeouts that it may wait for.
    pub patience: f64,
}

/// What a first burst finds at a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meets {
    /// Nothing that is in its way.
    Room,
    /// It and those that it meets overflow the queue together. They are short beside timeouts as long as what flows
    /// there already has less than `spare` bytes left.
    Overflow { spare: f64 },
    /// Others that overflowed the queue not long ago.
    Tight,
}

/// A first burst that comes to the queue, or is in it.
#[derive(Clone, Copy, Debug)]
struct Coming {
    /// When it has left the queue, in seconds.
    leaves: f64,
    count: f64,
    sender: Sender,
}

/// A link's queue.
#[derive(Clone, Debug)]
pub(super) struct Port {
    limit: Limit,
    /// From where on packets are marked.
    marks: Limit,
    /// Bytes per second that the link takes away.
    capacity: f64,
    /// Packets in the queue at `at` seconds, the one in transmission among them, and the mean bytes of one.
    queue: f64,
    size: f64,
    at: f64,
    /// Packets per second that come, and packets of bursts that have begun or will and have not come.
    inflow: f64,
    pending: f64,
    changes: BinaryHeap<Change>,
    /// First bursts that still come or are in it.
    coming: Vec<Coming>,
    /// Until when it is too small for bursts that meet there.
    tight: f64,
    /// Streams of which packets are under way through it.
    carried: u32,
    /// Packets that found the queue full, and when the first one did.
    lost: f64,
    first: f64,
}

impl Port {
    /// The empty queue of a link of so many bytes per second.
    pub fn new(spec: &LinkSpec, capacity: f64) -> Self {
        Self {
            limit: spec.limit,
            marks: match spec.discipline {
                Discipline::Threshold { mark_above } => mark_above,
                _ => Limit::Unlimited,
            },
            capacity,
            queue: 0.0,
            size: 1.0,
            at: 0.0,
            inflow: 0.0,
            pending: 0.0,
            changes: BinaryHeap::new(),
            coming: Vec::new(),
            tight: f64::NEG_INFINITY,
            carried: 0,
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
        self.packets(self.limit)
    }
    fn packets(&self, limit: Limit) -> f64 {
        1.0 + match limit {
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

    /// So many packets come at once to a node's own queue, which holds senders back before it overflows. Returns how
    /// many seconds the first one waits.
    pub fn hold(&mut self, now: f64, count: f64, size: f64) -> f64 {
        self.advance(now);
        self.mix(count, size);
        let wait = self.queue / self.service();
        self.queue += count;
        wait
    }

    /// How many seconds the last packet of a burst waits, behind what has come and what comes before it.
    pub fn wait(&mut self, now: f64, burst: Burst) -> f64 {
        self.advance(now);
        let before = (self.queue + self.pending).min(self.room());
        (before / self.service() - burst.seconds).max(0.0)
    }

    /// A burst comes evenly.
    pub fn burst(&mut self, now: f64, burst: Burst) {
        self.advance(now);
        self.mix(burst.count, burst.size);
        self.pending += burst.count;
        let (start, seconds) = (burst.start.max(now), burst.seconds.max(1e-9));
        let rate = (burst.count / seconds).to_bits();
        self.changes.push(Reverse((start.to_bits(), true, rate)));
        self.changes.push(Reverse(((start + seconds).to_bits(), false, rate)));
    }

    /// [`Self::burst`], the first one of a sender after a pause. Returns what it meets.
    pub fn first_burst(&mut self, now: f64, burst: Burst, sender: Sender) -> Meets {
        self.burst(now, burst);
        self.coming.retain(|coming| coming.leaves > now);
        if self.is_long(sender.left, sender.rtt) {
            return Meets::Room;
        }
        let alone = self.coming.iter().all(|coming| coming.sender.handle == sender.handle);
        let leaves = burst.start.max(now) + burst.seconds + (self.queue + burst.count) / self.service();
        self.coming.push(Coming { leaves, count: burst.count, sender });
        let tight = now < self.tight && (!alone || self.carried > 0 || burst.count <= 2.0);
        let otherwise = if tight { Meets::Tight } else { Meets::Room };
        if alone {
            return otherwise;
        }
        let sum = |of: fn(&Coming) -> f64| self.coming.iter().map(of).sum::<f64>();
        let path = sender.rtt * self.service();
        // Marks hold windows down.
        let room = FULL * self.room().min(self.packets(self.marks));
        let overflow = sum(|coming| coming.sender.reach) > room + path
            || (self.queue + sum(|coming| coming.count) > room && self.will_exceed(room));
        let spare = sender.patience * self.capacity - sum(|coming| coming.sender.left);
        if overflow && spare > 0.0 { Meets::Overflow { spare } } else { otherwise }
    }
    /// Whether a message of so many bytes on the wire takes many windows here.
    pub fn is_long(&self, left: f64, rtt: f64) -> bool {
        let room = self.room().min(self.packets(self.marks));
        left > SHORT * (room * self.size + rtt * self.capacity)
    }
    /// Bursts overflow it together.
    pub const fn tighten(&mut self, now: f64) {
        self.tight = now + HOLD;
    }
    /// Whether it is too small for bursts that meet there.
    pub fn is_tight(&self, now: f64) -> bool {
        now < self.tight
    }
    /// Whether no packets are under way through it.
    pub const fn is_empty(&self) -> bool {
        self.carried == 0
    }
    /// Packets of one more stream are under way, or of one less.
    pub const fn carry(&mut self, begins: bool) {
        self.carried = if begins { self.carried + 1 } else { self.carried - 1 };
    }
    /// Those whose first bursts still come or are in it.
    pub fn meeting(&self) -> impl Iterator<Item = Handle> {
        self.coming.iter().map(|coming| coming.sender.handle)
    }
    /// Seconds until a full queue is empty.
    pub fn depth(&self) -> f64 {
        self.room() / self.service()
    }
    /// Whether what comes is a packet more than there is room.
    fn will_exceed(&self, room: f64) -> bool {
        let mut then = self.clone();
        then.limit = Limit::Packets(room as u32 - 1);
        while let Some(Reverse((time, ..))) = then.changes.peek().copied() {
            then.advance(f64::from_bits(time));
        }
        then.lost >= self.lost + 1.0
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
                (self.inflow, self.pending) = (0.0, 0.0);
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
        self.pending = (self.pending - self.inflow * left).max(0.0);
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
    fn burst(start: f64, seconds: f64, count: f64) -> Burst {
        Burst { start, seconds, count, size: SEGMENT }
    }
    fn sender(index: u32, reach: f64) -> Sender {
        Sender { handle: Handle { index, generation: 1 }, left: reach * SEGMENT, reach, rtt: 0.002, patience: 1.0 }
    }

    /// A link that takes away 1,000 segments a second.
    fn port(limit: Limit) -> Port {
        let spec = LinkSpec::new(BitRate::from_mbps(10), Time::ZERO).with_limit(limit);
        Port::new(&spec, SEGMENT * 1_000.0)
    }

    /// Eight senders of ten segments each, as fast as the link, fill the queue by 7 segments a millisecond: with the
    /// one in transmission, 65 fit, so 70 less 65 are lost from 65 / 7 ms on.
    #[test]
    fn what_exceeds_the_room_is_lost() {
        let mut port = port(Limit::Packets(64));
        for _ in 0..8 {
            port.burst(0.0, burst(0.0, 0.010, 10.0));
        }
        let (lost, first) = port.overflow(1.0);
        assert!((lost - 5.0).abs() < 1e-6, "{lost}");
        assert!((first - 65.0 / 7_000.0).abs() < 1e-9, "{first}");
    }

    /// Bursts one after the other find room: each is gone before the next comes.
    #[test]
    fn bursts_apart_lose_nothing() {
        let mut port = port(Limit::Packets(8));
        for number in 0..100 {
            let start = f64::from(number) * 0.02;
            port.burst(start, burst(start, 0.010, 10.0));
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

    /// Twenty segments in a millisecond, of which one leaves: ten may wait and one is in transmission. A bound in
    /// bytes or in time holds as many as it has room for.
    #[test]
    fn limits_of_each_kind() {
        for (limit, lost) in [
            (Limit::Bytes(units::Bytes::new(12_500)), 8.0),
            (Limit::Delay(Time::from_ms(10)), 8.0),
            (Limit::Packets(10), 8.0),
            (Limit::Unlimited, 0.0),
        ] {
            let mut port = port(limit);
            port.burst(0.0, burst(0.0, 0.001, 20.0));
            assert!((port.overflow(1.0).0 - lost).abs() < 1e-9, "{limit:?}");
        }
    }

    /// The last of six packets comes a millisecond after the first five began to; one of them has left by then.
    #[test]
    fn who_comes_later_waits_for_those_before() {
        let mut port = port(Limit::Packets(64));
        port.burst(0.0, burst(0.0, 0.001, 5.0));
        assert!((port.wait(0.0, burst(0.0, 0.001, 1.0)) - 0.004).abs() < 1e-12);
        assert_eq!(port.wait(0.010, burst(0.010, 0.001, 1.0)), 0.0);
    }

    /// Nine find room, the next seven do not: that is known when they begin. For two seconds those are told that meet
    /// others, or packets, or that are of one packet, whose place in the queue is all that matters to them.
    #[test]
    fn what_will_overflow_is_known_when_it_begins() {
        let mut port = port(Limit::Packets(8));
        assert_eq!(port.first_burst(0.0, burst(0.0, 0.001, 8.0), sender(0, 8.0)), Meets::Room);
        // A second's worth less the sixteen.
        let spare = SEGMENT * (1_000.0 - 16.0);
        assert_eq!(port.first_burst(0.0, burst(0.0, 0.001, 8.0), sender(1, 8.0)), Meets::Overflow { spare });
        assert_eq!(port.meeting().map(|handle| handle.index).collect::<Vec<_>>(), [0, 1]);
        port.tighten(0.0);
        assert_eq!(port.first_burst(0.5, burst(0.5, 0.001, 3.0), sender(0, 3.0)), Meets::Room, "it meets nobody");
        assert_eq!(port.first_burst(0.5, burst(0.5, 0.001, 3.0), sender(1, 3.0)), Meets::Tight);
        assert_eq!(port.first_burst(1.0, burst(1.0, 0.001, 1.0), sender(0, 1.0)), Meets::Tight);
        port.carry(true);
        assert_eq!(port.first_burst(1.5, burst(1.5, 0.001, 3.0), sender(0, 3.0)), Meets::Tight);
        assert_eq!(port.first_burst(2.5, burst(2.5, 0.001, 3.0), sender(0, 3.0)), Meets::Room);
    }

    /// Three quarters of nine packets fit into the queue, two onto the path of two milliseconds: two senders whose
    /// windows will grow to five each may lose some, with four each they do not.
    #[test]
    fn what_slow_start_comes_to_counts() {
        for (reach, fits) in [(4.0, true), (5.0, false)] {
            let mut port = port(Limit::Packets(8));
            port.first_burst(0.0, burst(0.0, 0.001, 2.0), sender(0, reach));
            let meets = port.first_burst(0.0, burst(0.0, 0.001, 2.0), sender(1, reach));
            assert_eq!(meets == Meets::Room, fits, "{reach}");
        }
    }

    /// Two messages that take the link six tenths of their patience each keep it busy while one waits for a timeout.
    #[test]
    fn long_messages_are_left_to_flows() {
        let mut port = port(Limit::Packets(8));
        let long = |index| Sender { left: 600.0 * SEGMENT, ..sender(index, 600.0) };
        port.first_burst(0.0, burst(0.0, 0.001, 8.0), long(0));
        assert_eq!(port.first_burst(0.0, burst(0.0, 0.001, 8.0), long(1)), Meets::Room);
    }
}
