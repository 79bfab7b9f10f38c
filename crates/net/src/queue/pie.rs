//! PIE, the proportional integral controller enhanced (RFC 8033, sections 4 and 5, without section 5.3's activation at
//! a third of the buffer).

use super::fifo::Fifo;
use super::{Item, Limit, Queue};
use crate::SpecError;
use des::RandomStream;
use units::{Bytes, Time};

/// How PIE estimates the queueing delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DelayEstimate {
    /// The sojourn time of the last packet that left.
    Timestamp,
    /// The queue's bytes over the measured departure rate (section 5.2).
    DepartureRate,
}

/// Parameters of [`Pie`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PieSpec {
    /// Target queueing delay (`QDELAY_REF`).
    pub target: Time,
    /// Interval of updates of the probability (`T_UPDATE`).
    pub update: Time,
    /// Burst that passes after a quiet time (`MAX_BURST`).
    pub burst: Time,
    /// Weight of the delay's distance from the target, per second.
    pub alpha: f64,
    /// Weight of the delay's change, per second.
    pub beta: f64,
    /// How the delay is estimated.
    pub estimate: DelayEstimate,
    /// Highest probability at which ECN-capable packets are marked instead of dropped (section 5.1); zero never marks.
    pub mark_up_to: f64,
    /// Whether drops are spaced: neither in clumps nor too far apart (section 5.4).
    pub derandomize: bool,
    /// A typical packet: a queue of at most two of these is left alone.
    pub packet: Bytes,
}

impl Default for PieSpec {
    fn default() -> Self {
        Self {
            target: Time::from_ms(15),
            update: Time::from_ms(15),
            burst: Time::from_ms(150),
            alpha: 0.125,
            beta: 1.25,
            estimate: DelayEstimate::Timestamp,
            mark_up_to: 0.1,
            derandomize: true,
            packet: Bytes::new(1_538),
        }
    }
}

impl PieSpec {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        let refuse = |what: &str| Err(SpecError::Discipline(what.to_owned()));
        if self.target == Time::ZERO || self.update == Time::ZERO {
            return refuse("PIE's target and update interval must lie above zero");
        }
        if self.alpha < 0.0 || self.beta < 0.0 || !(0.0..=1.0).contains(&self.mark_up_to) {
            return refuse("PIE's weights must not be negative, and the probability up to which it marks at most 1");
        }
        Ok(())
    }
}

/// Section 5.2: queue length that starts a measurement and bytes that end it (`DQ_THRESHOLD`), and the weight of its
/// result.
const MEASURED: u64 = 1 << 14;
const MEASURED_WEIGHT: f64 = MEASURED as f64 / 65_536.0;
/// Section 5.4: the sum of probabilities since the last drop below which none is dropped, and from which one is.
const TOO_SOON: f64 = 0.85;
const TOO_LATE: f64 = 8.5;

/// Section 5.2's measurement of the departure rate.
#[derive(Debug, Default)]
struct Departures {
    /// When the present measurement began, and the bytes that have left since.
    since: Option<(Time, u64)>,
    /// Bytes per second; zero before the first measurement.
    rate: f64,
}

impl Departures {
    fn left(&mut self, now: Time, bytes: u64, waiting: u64) {
        if self.since.is_none() && waiting >= MEASURED {
            self.since = Some((now, 0));
        }
        let Some((since, count)) = &mut self.since else { return };
        *count += bytes;
        if *count < MEASURED || now <= *since {
            return;
        }
        let rate = *count as f64 / (now - *since).as_secs_f64();
        self.rate = if self.rate == 0.0 { rate } else { MEASURED_WEIGHT * rate + (1.0 - MEASURED_WEIGHT) * self.rate };
        self.since = (waiting >= MEASURED).then_some((now, 0));
    }
}

/// A FIFO queue that drops or marks arriving packets with a probability that follows the queueing delay.
#[derive(Debug)]
pub struct Pie {
    spec: PieSpec,
    limit: Limit,
    fifo: Fifo,
    random: RandomStream,
    probability: f64,
    /// Sum of the probabilities at arrivals since the last drop.
    accumulated: f64,
    burst_left: Time,
    /// Sojourn time of the packet that left last.
    last_wait: Time,
    /// Queueing delay at the last update.
    delay: Time,
    departures: Departures,
    next_update: Time,
}

impl Pie {
    /// An empty queue of at most `limit`, which must not be a delay (see [`Limit::at_rate`]).
    pub fn new(spec: &PieSpec, limit: Limit, random: RandomStream) -> Self {
        Self {
            spec: *spec,
            limit,
            fifo: Fifo::default(),
            random,
            probability: 0.0,
            accumulated: 0.0,
            burst_left: spec.burst,
            last_wait: Time::ZERO,
            delay: Time::ZERO,
            departures: Departures::default(),
            next_update: spec.update,
        }
    }
    /// The drop probability after the last update.
    pub fn probability(&self) -> f64 {
        self.probability
    }
    /// The present estimate of the queueing delay.
    fn delay_now(&self) -> Time {
        match self.spec.estimate {
            _ if self.fifo.len() == 0 => Time::ZERO,
            DelayEstimate::Timestamp => self.last_wait,
            DelayEstimate::DepartureRate if self.departures.rate > 0.0 => {
                Time::from_secs_f64(self.fifo.bytes() as f64 / self.departures.rate)
            }
            DelayEstimate::DepartureRate => Time::ZERO,
        }
    }

    /// Runs the updates due since the last packet arrived or left: in between nothing changes.
    fn catch_up(&mut self, now: Time) {
        while self.next_update <= now {
            self.update();
            self.next_update += self.spec.update;
            let at_rest = self.probability == 0.0 && self.delay == Time::ZERO && self.delay_now() == Time::ZERO;
            if at_rest && self.burst_left == Time::ZERO && self.next_update <= now {
                let skipped = (now - self.next_update).as_ps() / self.spec.update.as_ps() + 1;
                self.next_update += self.spec.update * skipped;
            }
        }
    }

    /// Section 4.2, and the countdown of section 4.4's burst allowance.
    fn update(&mut self) {
        let delay = self.delay_now();
        let seconds = |time: Time| time.as_secs_f64();
        let off_target = seconds(delay) - seconds(self.spec.target);
        let change = seconds(delay) - seconds(self.delay);
        let p = self.spec.alpha * off_target + self.spec.beta * change;
        let mut step = p * scale(self.probability);
        if self.probability >= 0.1 {
            // Section 5.5.
            step = step.min(0.02);
        }
        self.probability += step;
        if delay == Time::ZERO && self.delay == Time::ZERO {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.delay = delay;
        self.burst_left = self.burst_left.saturating_sub(self.spec.update);
    }

    /// Section 4.1, with section 5.4.
    fn strikes(&mut self) -> bool {
        let half = Time::from_ps(self.spec.target.as_ps() / 2);
        if self.probability == 0.0 && self.delay_now() < half && self.delay < half {
            self.burst_left = self.spec.burst;
        }
        if self.burst_left > Time::ZERO {
            return false;
        }
        let light = self.delay < half && self.probability < 0.2;
        if light || self.fifo.bytes() <= 2 * self.spec.packet.get() {
            return false;
        }
        if !self.spec.derandomize {
            return self.random.chance(self.probability);
        }
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        if self.accumulated < TOO_SOON {
            return false;
        }
        let strikes = self.accumulated >= TOO_LATE || self.random.chance(self.probability);
        if strikes {
            self.accumulated = 0.0;
        }
        strikes
    }
}

/// Section 4.2: the smaller the probability, the smaller its steps.
fn scale(probability: f64) -> f64 {
    match probability {
        p if p < 0.000_001 => 1.0 / 2_048.0,
        p if p < 0.000_01 => 1.0 / 512.0,
        p if p < 0.000_1 => 1.0 / 128.0,
        p if p < 0.001 => 1.0 / 32.0,
        p if p < 0.01 => 1.0 / 8.0,
        p if p < 0.1 => 1.0 / 2.0,
        _ => 1.0,
    }
}

impl Queue for Pie {
    fn enqueue(&mut self, now: Time, mut item: Item, dropped: &mut Vec<Item>) {
        self.catch_up(now);
        if !self.limit.holds(self.fifo.len() + 1, self.fifo.bytes() + u64::from(item.bytes)) {
            dropped.push(item);
            return;
        }
        if self.strikes() && !(self.probability <= self.spec.mark_up_to && item.mark()) {
            dropped.push(item);
            return;
        }
        self.fifo.push(now, item);
    }
    fn dequeue(&mut self, now: Time, _dropped: &mut Vec<Item>) -> Option<Item> {
        self.catch_up(now);
        let waiting = self.fifo.bytes();
        let (since, item) = self.fifo.pop()?;
        self.last_wait = now - since;
        self.departures.left(now, u64::from(item.bytes), waiting);
        Some(item)
    }
    fn len(&self) -> usize {
        self.fifo.len()
    }
    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }
}
