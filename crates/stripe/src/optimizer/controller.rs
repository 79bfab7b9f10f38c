//! The number of streams, tuned during the transfer.
//!
//! Every decision compares the rates with two numbers of streams. The measure is the *elasticity*, the part of the
//! proportional gain: (T2/T1 - 1) / (n2/n1 - 1). It is 1 if the streams' own windows or random losses limit them. It is
//! 0 if our streams alone fill the path. It is about m / (n + m), the share of the others, if n of ours and m equal
//! others fill it. So a lower bound of the elasticity bounds what is taken from others, without knowledge of their
//! number or of the path's capacity.

use super::MOST_STREAMS;
use super::losses::Losses;
use super::observed::{Observed, Totals};
use super::rates::Rates;
use super::reason::Reason;
use units::{BitRate, Time};

/// The aim of tuning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Policy {
    /// More streams only to overcome limits of windows and buffers. Together they take no more than one stream with
    /// larger buffers would.
    Polite,
    /// More streams to use spare capacity. Others keep at least three quarters of a full path.
    #[default]
    Fill,
    /// More streams as long as goodput grows.
    Greedy,
}

/// Bounds of the number of streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Upper limit of the initial number; a model may say less.
    pub first: u32,
    /// Upper limit at any time, possibly the peer's.
    pub most: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { first: 4, most: MOST_STREAMS }
    }
}

/// An epoch is six round trips. Each counts as at least 50 ms; as at least 300 ms while there is nothing to send, since
/// looking costs a little.
const ROUNDS: u32 = 6;
const SHORTEST_ROUND: Time = Time::from_ms(50);
const IDLE_ROUND: Time = Time::from_ms(300);
/// Epochs whose mean rate is compared, after one that is not counted.
const MEASURED: u32 = 2;
/// With `greedy`, whose bounds are less than rates vary by, up to so many: more streams are kept as soon as it is clear
/// that they gain, and fewer after all of these epochs.
const CLOSELY_MEASURED: u32 = 8;
/// Streams that a try has added have caught up at this part of the others' windows.
const CAUGHT_UP: f64 = 0.9;
/// Growth factor while windows are the limit. New streams need about ten round trips to fill their windows, however
/// many they are.
const WIDER: u32 = 4;
/// Epochs that are not counted because streams are in slow start, or because some are missing, at most.
const STARTING: u32 = 10;
/// A model is asked if, by it, the present streams carry less than this part of the highest delivery rate.
const MODEL_CARRIES: f64 = 0.85;
/// The model's number carries this multiple of that rate if a queue has shown the path's capacity ...
const MODEL_OF_CAPACITY: f64 = 1.15;
/// ... and this multiple while the capacity is unknown.
const MODEL_OF_RATE: f64 = 2.0;
/// The model's number is at most this multiple of the present one.
const MODEL_GROWTH: u32 = 10;
/// A model is asked again when the highest delivery rate has grown by this factor: before, its answer is the same.
const MODEL_AGAIN: f64 = 1.25;
/// Epochs between two tries: the first time, and at most.
const FIRST_HOLD: u32 = 4;
const LONGEST_HOLD: u32 = 32;
/// An epoch gains if its rate is at least this many times the rate before.
const GAINING: f64 = 1.1;
/// Below the first number fewer streams must carry this part of what more streams carried.
const DEAR: f64 = 0.95;

/// State of the search.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    /// The number doubles while that pays.
    Startup,
    /// No change for this many epochs.
    Hold(u32),
    /// Another number is tried than `from`, which carried `rate` bits per second in the mean of so many epochs.
    Try { from: u32, rate: f64, epochs: u32, step: Step },
}

/// Why this other number is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// Doubled at the beginning.
    Doubled,
    /// At the beginning, by more than that: windows are the limit, and each stream carries one window per round trip,
    /// however many there are.
    Widened,
    /// A step from a number that has proved itself.
    Usual,
    /// Recommended by a model of random losses.
    Modelled,
}

/// The part of the present epoch that has been measured.
#[derive(Clone, Copy, Debug, Default)]
struct Epoch {
    rounds: u32,
    /// Round trips that were idle, limited by credit, in slow start, limited by windows, with a queue on the path.
    idle: u32,
    credit: u32,
    starting: u32,
    windows: u32,
    full: u32,
    /// Sum over the round trips of the newcomers' windows as a part of the others'.
    newcomers: f64,
    time: Time,
    bytes: u64,
    losses: Losses,
}

impl Epoch {
    /// Delivered rate in bits per second.
    fn rate(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.time.as_secs_f64()
    }
    fn most(&self, count: u32) -> bool {
        count * 2 > self.rounds
    }
    /// Windows are the limit, and no queue causes that: rates do not vary then.
    fn is_widening(&self) -> bool {
        self.most(self.windows) && !self.most(self.full)
    }
}

/// The controller. It is asked at its deadlines.
#[derive(Clone, Debug)]
pub struct Controller {
    policy: Policy,
    limits: Limits,
    target: u32,
    reason: Reason,
    phase: Phase,
    /// How long the next hold is.
    hold: u32,
    /// Tries in a row without gain: the next ones have smaller steps, or fewer streams.
    refused: u32,
    deadline: Time,
    last: Option<(Time, Totals)>,
    observed: Observed,
    epoch: Epoch,
    /// Epochs not counted because streams were in slow start.
    started: u32,
    /// Epochs not counted because streams were missing.
    missing: u32,
    /// The highest delivery rate when a model was last asked.
    modelled: f64,
    /// Epochs since the number changed, the rates of those that count, and their losses.
    epochs: u32,
    rates: Rates,
    /// The newcomers' windows in the last epoch, as a part of the others'.
    newcomers: f64,
    /// Whether they are smaller than the others' and grow: what the try carries is not yet what it will.
    catching_up: bool,
    losses: Losses,
    usual: Losses,
    alarms: u32,
}

impl Controller {
    /// Begins with `seed` streams, a model's recommendation, within the limits; `polite` begins with one.
    pub fn new(policy: Policy, limits: Limits, seed: u32) -> Self {
        let seed = if policy == Policy::Polite { 1 } else { seed };
        Self {
            policy,
            limits,
            target: seed.clamp(1, limits.first.min(limits.most).max(1)),
            reason: Reason::Start,
            phase: Phase::Startup,
            hold: FIRST_HOLD,
            refused: 0,
            deadline: Time::ZERO,
            last: None,
            observed: Observed::default(),
            epoch: Epoch::default(),
            started: 0,
            missing: 0,
            modelled: 0.0,
            epochs: 0,
            rates: Rates::default(),
            newcomers: 0.0,
            catching_up: false,
            losses: Losses::default(),
            usual: Losses::default(),
            alarms: 0,
        }
    }
    /// The number of streams to use.
    pub fn target(&self) -> u32 {
        self.target
    }
    /// The number of streams to keep open: while fewer are tried, the others stay open.
    pub fn open(&self) -> u32 {
        if let Phase::Try { from, .. } = self.phase { self.target.max(from) } else { self.target }
    }
    /// The reason for the present number.
    pub fn reason(&self) -> Reason {
        self.reason
    }
    /// When [`on_round`](Self::on_round) is to be called next.
    pub fn deadline(&self) -> Time {
        self.deadline
    }
    /// The mean rate with the present number, if it has been measured.
    pub fn rate(&self) -> Option<BitRate> {
        (self.rates.len() > 0).then(|| BitRate::from_bps(self.rates.mean() as u64))
    }

    /// The number that a try is compared with, and its rate.
    pub fn compared(&self) -> Option<(u32, BitRate)> {
        let Phase::Try { from, rate, .. } = self.phase else { return None };
        Some((from, BitRate::from_bps(rate as u64)))
    }
    /// The highest recent delivery rate.
    pub fn most(&self) -> BitRate {
        BitRate::from_bps(self.observed.most() as u64)
    }
    /// The rate of random losses, once there are enough to estimate it.
    pub fn loss(&self) -> Option<f64> {
        self.observed.random().map(Losses::rate)
    }

    /// A round trip is over; `streams` is how many are used. Returns whether the number has changed.
    pub fn on_round(&mut self, now: Time, totals: &Totals, streams: u32) -> bool {
        let shortest = if totals.idle { IDLE_ROUND } else { SHORTEST_ROUND };
        self.deadline = now.saturating_add(totals.rtt.max(shortest));
        let Some((then, before)) = self.last.replace((now, *totals)) else { return false };
        let time = now.saturating_sub(then);
        if time == Time::ZERO {
            return false;
        }
        let bytes = totals.delivered.saturating_sub(before.delivered);
        if !totals.idle {
            self.observed.add(&before, totals, bytes as f64 * 8.0 / time.as_secs_f64());
        }
        let epoch = &mut self.epoch;
        epoch.rounds += 1;
        epoch.idle += u32::from(totals.idle);
        epoch.credit += u32::from(totals.credit_limited);
        epoch.starting += u32::from(totals.starting);
        epoch.windows += u32::from(totals.window_limited);
        epoch.full += u32::from(self.observed.queued);
        epoch.newcomers += totals.newcomers.unwrap_or(1.0);
        epoch.time = epoch.time.saturating_add(time);
        epoch.bytes += bytes;
        epoch.losses.lost += totals.lost.saturating_sub(before.lost) as f64;
        epoch.losses.sent += totals.sent.saturating_sub(before.sent) as f64;
        let old = self.target;
        if streams == self.target && !totals.idle && self.epoch.rounds > 1 {
            self.model(totals);
        }
        if self.epoch.rounds == ROUNDS && self.target == old {
            let epoch = std::mem::take(&mut self.epoch);
            self.on_epoch(&epoch, streams);
        }
        self.target != old
    }
    fn on_epoch(&mut self, epoch: &Epoch, streams: u32) {
        let idle = epoch.most(epoch.idle);
        if idle || epoch.most(epoch.credit) {
            match self.phase {
                // Streams that wait for credit are judged when they no longer do.
                Phase::Try { .. } if !idle => {}
                // The application's rate is the limit, and it is higher than before.
                Phase::Try { rate, .. } if epoch.rate() > rate => {
                    self.reason = Reason::Idle;
                    self.phase = Phase::Hold(self.hold);
                }
                // It may have come to its end.
                Phase::Try { from, .. } => {
                    self.change(from, Reason::Idle);
                    (self.phase, self.modelled) = (Phase::Hold(self.hold), 0.0);
                }
                _ => self.reason = if idle { Reason::Idle } else { Reason::Credit },
            }
            self.restart();
            return;
        }
        if streams != self.target {
            // Streams are still being opened, or cannot be: then what there is is tried.
            self.missing += 1;
            if let Phase::Try { from, .. } = self.phase
                && self.missing > STARTING
                && (from + 1..self.target).contains(&streams)
            {
                self.change(streams, self.reason);
            }
            return;
        }
        if epoch.most(epoch.starting) && self.started < STARTING {
            self.started += 1;
            return;
        }
        self.epochs += 1;
        if self.epochs == 1 {
            // Data of the former number was still in flight.
            return;
        }
        self.rates.push(epoch.rate());
        let newcomers = epoch.newcomers / f64::from(epoch.rounds);
        self.catching_up = newcomers < CAUGHT_UP && newcomers > self.newcomers;
        self.newcomers = newcomers;
        self.losses.lost += epoch.losses.lost;
        self.losses.sent += epoch.losses.sent;
        if self.is_alarmed(epoch.losses) {
            self.change(self.target / 2, Reason::Emergency);
            self.go_steady();
        } else if self.is_gaining() && self.started < STARTING {
            self.started += 1;
            self.rates.keep(MEASURED as usize - 1);
        } else if self.rates.len() >= MEASURED || (self.phase == Phase::Startup && epoch.is_widening()) {
            self.decide(epoch);
        }
    }
    /// Random losses leave each stream so little that the present number cannot carry what has been delivered: the
    /// model's number.
    fn model(&mut self, totals: &Totals) {
        let Some(stream) = self.observed.stream(totals).filter(|_| self.policy != Policy::Polite) else { return };
        let most = self.observed.most();
        let above = if self.observed.was_full() { MODEL_OF_CAPACITY } else { MODEL_OF_RATE };
        let carried = f64::from(self.target) * stream;
        if carried >= MODEL_CARRIES * most || most < MODEL_AGAIN * self.modelled {
            return;
        }
        let number =
            ((most * above / stream).ceil() as u32).min(self.target.saturating_mul(MODEL_GROWTH)).min(self.limits.most);
        let (from, rate) = match self.phase {
            Phase::Try { from, rate, step: Step::Modelled, .. } if number > self.target => (from, rate),
            // A rate in slow start is no basis for comparison.
            Phase::Try { from, step: Step::Doubled | Step::Widened, .. } => (from, f64::from(from) * stream),
            Phase::Try { .. } => return,
            _ => (self.target, carried),
        };
        if number > self.target {
            self.modelled = most;
            self.expect_random();
            self.change(number, Reason::Modelled);
            self.phase = Phase::Try { from, rate, epochs: u32::MAX, step: Step::Modelled };
        }
    }

    fn decide(&mut self, epoch: &Epoch) {
        match self.phase {
            Phase::Startup => {
                self.learn_usual();
                let (step, times) = if epoch.is_widening() { (Step::Widened, WIDER) } else { (Step::Doubled, 2) };
                self.try_number(self.target.saturating_mul(times), epoch, step);
            }
            Phase::Hold(left) => {
                // The rate to compare with is that of the last few epochs.
                self.rates.keep((2 * MEASURED).max(self.longest_measure()) as usize);
                if let [before @ .., a, b] = self.rates.as_slice()
                    && !before.is_empty()
                {
                    let (before, now) = (before.iter().sum::<f64>() / before.len() as f64, (a + b) / 2.0);
                    if now < 0.6 * before || now > before / 0.6 {
                        // The path has changed: what was found no longer holds.
                        self.refused = if now < before { 2 } else { 0 };
                        self.rates.keep(MEASURED as usize);
                        self.modelled = 0.0;
                        (self.phase, self.hold) = (Phase::Hold(1), FIRST_HOLD);
                        return;
                    }
                }
                if left > 0 {
                    self.phase = Phase::Hold(left - 1);
                    return;
                }
                self.learn_usual();
                let more = |factor: f64| (f64::from(self.target) * factor).ceil() as u32;
                let number = match (self.refused, self.policy) {
                    // What a small step gains on a full path is less than rates vary by.
                    (0, Policy::Greedy) => more(2.0),
                    (0, _) | (1, Policy::Greedy) => more(1.25),
                    (1, _) => more(1.1),
                    _ => (f64::from(self.target) * 0.8).floor() as u32,
                };
                self.try_number(number, epoch, Step::Usual);
            }
            Phase::Try { from, rate, epochs, step } => self.judge(from, rate, epochs, step, epoch),
        }
    }
    /// Begins to try another number, or holds if there is none to try.
    fn try_number(&mut self, number: u32, epoch: &Epoch, step: Step) {
        let number = number.clamp(1, self.limits.most);
        let (from, rate, epochs) = (self.target, self.rates.mean(), self.rates.len());
        let more = number > from;
        let vain = match self.policy {
            Policy::Greedy => None,
            _ if epoch.most(epoch.full) => Some(Reason::Full),
            Policy::Polite if !epoch.most(epoch.windows) => Some(Reason::Enough),
            _ => None,
        };
        // Without a queue nobody else needs what fewer streams would leave.
        let too_few = |stream: f64| f64::from(number) * stream < self.observed.most();
        let stream = self.last.as_ref().and_then(|(_, totals)| self.observed.stream(totals));
        let kept = !more && self.policy == Policy::Fill && (epoch.is_widening() || stream.is_some_and(too_few));
        if number == from || kept || (more && vain.is_some()) {
            self.refused = if more || self.refused < 2 { 2 } else { 0 };
            if let Some(vain) = vain.filter(|_| more) {
                self.reason = vain;
            }
            return self.go_steady();
        }
        self.change(number, if more { Reason::TryMore } else { Reason::TryFewer });
        self.phase = Phase::Try { from, rate, epochs, step };
    }
    fn judge(&mut self, from: u32, rate: f64, epochs: u32, step: Step, epoch: &Epoch) {
        let window_limited = epoch.most(epoch.windows);
        let now = self.rates.mean();
        let proportional = f64::from(self.target) / f64::from(from) - 1.0;
        let elasticity = (now / rate - 1.0) / proportional;
        // Staying with fewer is a little easier than leaving them was: the difference keeps noise from cycling.
        let (grow, shrink) = match self.policy {
            // A model recommends only what was delivered before, and without a queue.
            Policy::Fill if step == Step::Modelled => (0.5, 0.7),
            Policy::Polite | Policy::Fill => (0.8, 0.7),
            Policy::Greedy => (0.1, 0.05),
        };
        let bound = if self.target > from { grow } else { shrink };
        let clear = self.rates.tell((elasticity - bound) * proportional, epochs);
        let fewer = if self.target > from { elasticity < grow } else { elasticity <= shrink };
        if self.rates.len() < self.longest_measure() && (fewer || !clear) {
            return;
        }
        if self.target < from {
            // `polite` gives up streams that only take from others, whatever that costs.
            let vain = self.policy == Policy::Polite && !window_limited;
            // Fewer than at the beginning must carry as much: otherwise nobody gains.
            let dear = self.policy == Policy::Fill && self.target < self.limits.first && now < DEAR * rate;
            if (elasticity <= shrink && !dear) || vain {
                self.reason = Reason::AsGood;
                (self.phase, self.hold) = (Phase::Hold(0), FIRST_HOLD);
            } else {
                self.refused = 0;
                self.change(from, Reason::Needed);
                self.go_steady();
            }
            return;
        }
        let lossy = self.policy != Policy::Greedy && !window_limited && self.usual.exceeded_by(self.losses, 1.6);
        if elasticity < grow && !lossy && self.catching_up && self.started < STARTING {
            self.started += 1;
            self.rates.keep(self.longest_measure() as usize - 1);
            return;
        }
        if elasticity >= grow && !lossy {
            self.reason = Reason::Gained;
            (self.refused, self.hold) = (0, FIRST_HOLD);
            // After a step that gained `greedy` doubles again: what refused the last doubling may have been chance.
            let startup =
                matches!(step, Step::Doubled | Step::Widened) || (self.policy == Policy::Greedy && step == Step::Usual);
            self.phase = if startup { Phase::Startup } else { Phase::Hold(0) };
            return;
        }
        self.refused += 1;
        // The model was wrong about the path, not about the streams: take as many as carry what was carried.
        let known = matches!(step, Step::Modelled | Step::Widened);
        let number = if known { (f64::from(from) * now / rate) as u32 } else { from };
        let back = number.clamp(from, self.target - 1);
        self.change(back, if lossy { Reason::Lossy } else { Reason::TooLittle });
        self.go_steady();
    }

    /// Epochs whose mean rate is compared, at most.
    fn longest_measure(&self) -> u32 {
        if self.policy == Policy::Greedy { CLOSELY_MEASURED } else { MEASURED }
    }
    /// More streams are being tried and carry more from epoch to epoch: their rate is not settled.
    fn is_gaining(&self) -> bool {
        let more = matches!(self.phase, Phase::Try { from, .. } if self.target > from);
        more && matches!(self.rates.as_slice(), [.., before, now] if *now > GAINING * before)
    }
    /// Losses four times as frequent as usual in two epochs running.
    fn is_alarmed(&mut self, losses: Losses) -> bool {
        if self.policy == Policy::Greedy || self.target == 1 {
            return false;
        }
        let alarm = self.usual.sent > 0.0 && self.usual.exceeded_by(losses, 4.0);
        self.alarms = if alarm { self.alarms + 1 } else { 0 };
        self.alarms >= 2
    }
    /// The losses of few streams are the path's own.
    fn learn_usual(&mut self) {
        if self.target <= 2 || self.usual.sent == 0.0 {
            // Old ones count for less and less.
            self.usual.lost = self.usual.lost * 0.75 + self.losses.lost;
            self.usual.sent = self.usual.sent * 0.75 + self.losses.sent;
        }
    }
    /// What a model takes for chance is usual, also where the first epochs have not seen it: more streams lose as often
    /// as few.
    fn expect_random(&mut self) {
        let more = |random: &Losses| random.lost * self.usual.sent >= self.usual.lost * random.sent;
        if let Some(random) = self.observed.random().filter(more) {
            self.usual = random;
        }
    }
    fn change(&mut self, number: u32, reason: Reason) {
        self.reason = reason;
        let number = number.clamp(1, self.limits.most);
        if number != self.target {
            self.target = number;
            self.restart();
        }
    }
    fn restart(&mut self) {
        (self.newcomers, self.catching_up) = (0.0, false);
        (self.epoch, self.started, self.missing) = (Epoch::default(), 0, 0);
        self.epochs = 0;
        self.alarms = 0;
        self.rates.keep(0);
        self.losses = Losses::default();
    }
    fn go_steady(&mut self) {
        self.phase = Phase::Hold(self.hold);
        self.hold = (self.hold * 2).min(LONGEST_HOLD);
    }
}
