//! Random early detection: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM
//! Transactions on Networking 1(4), 1993, figure 2; its gentle variant (Floyd 2000); Adaptive RED: Floyd, Gummadi and
//! Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of RED's Active Queue Management", 2001, figure 1
//! and section 5.

use super::{DropTail, Item, Limit, Queue, below};
use crate::SpecError;
use des::RandomStream;
use units::{BitRate, Bytes, Time};

/// Parameters of [`Red`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RedSpec {
    /// Average queue below which nothing is dropped. Default: 5 packets; adaptive: 2.5 ms of packets, at least 5.
    pub min: Option<Limit>,
    /// Average queue at which the probability is `max_p`. Default: three times `min`.
    pub max: Option<Limit>,
    /// Probability of a drop at `max`; adaptive: its initial value.
    pub max_p: f64,
    /// Weight of a new sample in the average. Default: 0.002; adaptive: 1 - exp(-1 / C) at a rate of C packets per
    /// second.
    pub weight: Option<f64>,
    /// Whether the probability rises from `max_p` at `max` to 1 at twice `max`. Off, it is 1 from `max` on.
    pub gentle: bool,
    /// Adaptive RED: whether `max_p` follows the average queue.
    pub adaptive: bool,
    /// Whether ECN-capable packets are marked instead of dropped early.
    pub ecn: bool,
    /// A typical packet: converts thresholds from packets to bytes, and is the unit of idle time and of the probability
    /// in byte mode.
    pub packet: Bytes,
}

impl Default for RedSpec {
    fn default() -> Self {
        let packet = Bytes::new(1_000);
        Self { min: None, max: None, max_p: 0.1, weight: None, gentle: true, adaptive: false, ecn: true, packet }
    }
}

/// [`RedSpec`] in front of a given transmitter; thresholds in packets or bytes.
#[derive(Clone, Copy, Debug)]
struct RedParameters {
    by_bytes: bool,
    min: f64,
    max: f64,
    weight: f64,
    /// Transmission time of a typical packet.
    packet_time: Time,
}

/// Adaptive RED, section 5: the queueing delay that `min` is chosen for, in seconds.
const TARGET_DELAY: f64 = 0.005;
/// Adaptive RED, figure 1: interval of changes, bounds of `max_p`, and its decrease.
const INTERVAL: Time = Time::from_ms(500);
const MAX_P: std::ops::RangeInclusive<f64> = 0.01..=0.5;
const DECREASE: f64 = 0.9;
/// A queue of at most this many packets (or bytes) is left alone, however high its average still is. The paper has no
/// such rule, but ns-2 and ns-3 have: without it a link runs empty after each peak.
const NEARLY_EMPTY: f64 = 1.0;

impl RedSpec {
    fn parameters(&self, rate: BitRate) -> RedParameters {
        let packets_per_second = rate.as_bps() as f64 / 8.0 / self.packet.get() as f64;
        let weight =
            self.weight.unwrap_or(if self.adaptive { 1.0 - libm::exp(-1.0 / packets_per_second) } else { 0.002 });
        let measure = |limit: Limit| match limit.at_rate(rate) {
            Limit::Packets(packets) => (false, f64::from(packets)),
            Limit::Bytes(bytes) => (true, bytes.get() as f64),
            Limit::Delay(_) | Limit::Unlimited => (false, f64::INFINITY),
        };
        let default = if self.adaptive { (TARGET_DELAY * packets_per_second / 2.0).max(5.0) } else { 5.0 };
        let (by_bytes, min) = self.min.map_or((false, default), measure);
        let max = self.max.map_or(3.0 * min, |max| measure(max).1);
        RedParameters { by_bytes, min, max, weight, packet_time: rate.transmission_time(self.packet) }
    }

    /// Checks these parameters for a queue of at most `limit` in front of a transmitter of this rate.
    pub(super) fn check(&self, limit: Limit, rate: BitRate) -> Result<(), SpecError> {
        let refuse = |what: String| Err(SpecError::Discipline(what));
        let probability = |p: f64| p > 0.0 && p <= 1.0;
        if !probability(self.max_p) || self.weight.is_some_and(|weight| !probability(weight)) {
            return refuse("RED's probability and weight must lie above 0 and be at most 1".to_owned());
        }
        if self.packet == Bytes::ZERO {
            return refuse("RED's typical packet must have a length".to_owned());
        }
        let unit = |threshold: Limit| matches!(threshold.at_rate(rate), Limit::Bytes(_));
        if let (Some(min), Some(max)) = (self.min, self.max)
            && unit(min) != unit(max)
        {
            return refuse("RED's thresholds must both be packets, or both bytes".to_owned());
        }
        let RedParameters { by_bytes, min, max, .. } = self.parameters(rate);
        let threshold = |value: f64| {
            if by_bytes { Limit::Bytes(Bytes::new(value as u64)) } else { Limit::Packets(value as u32) }
        };
        if min >= max || min.is_infinite() {
            let (min, max) = (threshold(min), threshold(max));
            return refuse(format!("RED's lower threshold, {min}, is not below its upper one, {max}"));
        }
        below("RED's upper threshold", threshold(max), limit, rate)
    }
}

/// A FIFO queue that drops or marks arriving packets with a probability that rises with its average length.
#[derive(Debug)]
pub struct Red {
    spec: RedSpec,
    parameters: RedParameters,
    fifo: DropTail,
    random: RandomStream,
    average: f64,
    /// Packets since the last drop or mark; -1 below the lower threshold.
    count: i64,
    /// Since when the transmitter has been idle.
    idle_since: Option<Time>,
    max_p: f64,
    next_change: Time,
}

impl Red {
    /// An empty queue of at most `limit` in front of a transmitter of this rate.
    pub fn new(spec: &RedSpec, limit: Limit, rate: BitRate, random: RandomStream) -> Self {
        Self {
            spec: *spec,
            parameters: spec.parameters(rate),
            fifo: DropTail::new(limit.at_rate(rate)),
            random,
            average: 0.0,
            count: -1,
            idle_since: Some(Time::ZERO),
            max_p: spec.max_p,
            next_change: INTERVAL,
        }
    }
    /// The average queue at the last arrival, in packets, or in bytes if the thresholds are.
    pub fn average(&self) -> f64 {
        self.average
    }
    /// The probability at the upper threshold.
    pub fn max_p(&self) -> f64 {
        self.max_p
    }

    /// The average at a time without an arrival. While the transmitter is idle, it decays as if small packets had found
    /// the queue empty.
    fn average_at(&self, now: Time) -> f64 {
        let Some(since) = self.idle_since else { return self.average };
        let packets = now.saturating_sub(since).as_ps() as f64 / self.parameters.packet_time.as_ps().max(1) as f64;
        self.average * libm::pow(1.0 - self.parameters.weight, packets)
    }

    /// Adaptive RED, figure 1: additive increase and multiplicative decrease of `max_p`, towards an average midway
    /// between the thresholds.
    fn adapt(&mut self, now: Time) {
        let RedParameters { min, max, .. } = self.parameters;
        while self.spec.adaptive && self.next_change <= now {
            let average = self.average_at(self.next_change);
            if average > min + 0.6 * (max - min) && self.max_p <= *MAX_P.end() {
                self.max_p += (self.max_p / 4.0).min(0.01);
            } else if average < min + 0.4 * (max - min) && self.max_p >= *MAX_P.start() {
                self.max_p *= DECREASE;
            }
            self.next_change += INTERVAL;
        }
    }

    /// Probability of a drop at the present average, before drops are spaced; `None` if the drop is certain.
    fn probability(&self) -> Option<f64> {
        let RedParameters { min, max, .. } = self.parameters;
        if self.average < max {
            return Some((self.max_p * (self.average - min) / (max - min)).max(0.0));
        }
        (self.spec.gentle && self.average < 2.0 * max)
            .then(|| self.max_p + (1.0 - self.max_p) * (self.average - max) / max)
    }
}

impl Queue for Red {
    fn enqueue(&mut self, now: Time, mut item: Item, dropped: &mut Vec<Item>) {
        self.adapt(now);
        let queue = if self.parameters.by_bytes { self.fifo.bytes() as f64 } else { self.fifo.len() as f64 };
        if self.idle_since.is_some() {
            self.average = self.average_at(now);
            self.idle_since = None;
        } else {
            self.average += self.parameters.weight * (queue - self.average);
        }
        if self.average < self.parameters.min || queue <= NEARLY_EMPTY {
            self.count = -1;
        } else if let Some(mut p) = self.probability() {
            self.count += 1;
            if self.parameters.by_bytes {
                p *= f64::from(item.bytes) / self.spec.packet.get() as f64;
            }
            // Spaces drops evenly (section VII, method 2): with constant p the gap to the next drop is uniform, at most
            // 1/p - 1 packets, and at most 1/p before the first drop.
            let spent = self.count as f64 * p;
            let p = if spent < 1.0 { p / (1.0 - spent) } else { 1.0 };
            if self.random.chance(p) {
                self.count = 0;
                if !(self.spec.ecn && item.mark()) {
                    dropped.push(item);
                    return;
                }
            }
        } else {
            // Above its upper threshold RED drops even what it could mark (RFC 3168, section 7).
            self.count = 0;
            dropped.push(item);
            return;
        }
        let before = dropped.len();
        self.fifo.enqueue(now, item, dropped);
        if dropped.len() > before {
            self.count = 0;
        }
    }
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Item>) -> Option<Item> {
        let item = self.fifo.dequeue(now, dropped);
        if item.is_none() {
            self.idle_since.get_or_insert(now);
        }
        item
    }
    fn len(&self) -> usize {
        self.fifo.len()
    }
    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }
}
