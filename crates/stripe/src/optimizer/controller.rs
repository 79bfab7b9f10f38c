//! The number of streams, tuned while they run.
//!
//! Every decision compares the rate with another number of streams to that with the present one. What counts is the *elasticity*: the part of the proportional gain that is had, (T2/T1 - 1) / (n2/n1 - 1). Where the
//! streams' own window or random loss holds them back it is 1; where the path is full and only ours it is 0; where n of ours share a full path with m equal others it is about m / (n + m), which is
//! what these others keep of the path. So a least elasticity is a bound on what is taken from others, and needs neither their number nor the path's capacity.

use super::MOST_STREAMS;
use units::{BitRate, Time};

/// What more streams are used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Policy {
    /// To lift a limit of windows and buffers, and for nothing else: the streams together take no more than one with larger buffers would.
    Polite,
    /// To fill what others leave: no more streams than leave them three quarters of a full path.
    #[default]
    Fill,
    /// As long as it gains anything.
    Greedy,
}

/// Bounds of the number of streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// To begin with, at most; a model may say less.
    pub first: u32,
    /// At most, at any time. The other end may have said so.
    pub most: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { first: 4, most: MOST_STREAMS }
    }
}

/// What the streams have done since the beginning, all together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Totals {
    /// Payload that has arrived.
    pub delivered: u64,
    /// Segments sent, retransmissions included.
    pub sent: u64,
    /// Segments retransmitted.
    pub lost: u64,
    /// Smoothed round-trip time, the streams' mean, now.
    pub rtt: Time,
    /// Most streams are held back by the peer's window or their own buffer, not by congestion.
    pub window_limited: bool,
    /// The application has not given enough to send since the last call: rates say nothing.
    pub idle: bool,
}

/// Why the number is what it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// It is where it began.
    Start,
    /// More are being tried.
    TryMore,
    /// Fewer are being tried.
    TryFewer,
    /// More gained enough.
    Gained,
    /// More gained too little for the policy: back.
    TooLittle,
    /// More lost more: back.
    Lossy,
    /// Fewer do as well.
    AsGood,
    /// Fewer do not: back.
    Needed,
    /// Losses have become far more frequent: half.
    Emergency,
    /// The application has not enough to send.
    Idle,
}

impl Reason {
    /// A short stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::TryMore => "try-more",
            Self::TryFewer => "try-fewer",
            Self::Gained => "gained",
            Self::TooLittle => "too-little",
            Self::Lossy => "lossy",
            Self::AsGood => "as-good",
            Self::Needed => "needed",
            Self::Emergency => "emergency",
            Self::Idle => "idle",
        }
    }
}

/// An epoch is six round trips, at least this long.
const SHORTEST_EPOCH: Time = Time::from_ms(300);
/// Epochs whose mean rate is compared, after one that is not counted.
const MEASURED: u32 = 2;
/// Epochs without a try, at first, and at most.
const HOLD: [u32; 2] = [4, 32];
/// A loss below this is none: one segment in 50,000.
const NO_LOSS: f64 = 2e-5;

/// Losses of so many segments.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    lost: f64,
    sent: f64,
}

impl Losses {
    /// Whether `now` has lost more than `factor` times as often as this, by more than twice its standard deviation (of a Poisson count). This is taken at one loss more than was
    /// seen, so that few segments prove nothing.
    fn exceeded_by(self, now: Self, factor: f64) -> bool {
        let usual = ((self.lost + 1.0) / self.sent.max(1.0)).max(NO_LOSS);
        let expected = factor * usual * now.sent;
        now.lost - expected > 2.0 * (expected + 1.0).sqrt()
    }
}

/// What is being done.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    /// Doubling.
    Startup,
    /// Nothing, for so many epochs.
    Hold(u32),
    /// More or fewer than `from`, whose rate was `rate`.
    Try { from: u32, rate: f64, startup: bool },
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
    /// More were refused last time: next come smaller steps, and fewer.
    refused: u32,
    deadline: Time,
    last: Option<(Time, Totals)>,
    /// Epochs since the number changed, the rates of those that count, and their losses.
    epochs: u32,
    rates: Vec<f64>,
    losses: Losses,
    usual: Losses,
    alarms: u32,
}

impl Controller {
    /// Begins with `seed` streams, what a model recommends, within the limits; politely with one.
    pub fn new(policy: Policy, limits: Limits, seed: u32) -> Self {
        let seed = if policy == Policy::Polite { 1 } else { seed };
        Self {
            policy,
            limits,
            target: seed.clamp(1, limits.first.min(limits.most).max(1)),
            reason: Reason::Start,
            phase: Phase::Startup,
            hold: HOLD[0],
            refused: 0,
            deadline: Time::ZERO,
            last: None,
            epochs: 0,
            rates: Vec::new(),
            losses: Losses::default(),
            usual: Losses::default(),
            alarms: 0,
        }
    }
    /// How many streams there are to be.
    pub fn target(&self) -> u32 {
        self.target
    }
    /// Why.
    pub fn reason(&self) -> Reason {
        self.reason
    }
    /// When [`on_epoch`](Self::on_epoch) is to be called next.
    pub fn deadline(&self) -> Time {
        self.deadline
    }
    /// The mean rate with the present number, if it has been measured.
    pub fn rate(&self) -> Option<BitRate> {
        (!self.rates.is_empty()).then(|| BitRate::from_bps(self.mean() as u64))
    }

    /// An epoch is over; `streams` is how many there are. Returns whether the number has changed.
    pub fn on_epoch(&mut self, now: Time, totals: &Totals, streams: u32) -> bool {
        self.deadline = now.saturating_add((totals.rtt * 6).max(SHORTEST_EPOCH));
        let Some((then, before)) = self.last.replace((now, *totals)) else { return false };
        let time = now.saturating_sub(then).as_secs_f64();
        if totals.idle || time == 0.0 {
            self.reason = Reason::Idle;
            if let Phase::Try { .. } = self.phase {
                self.phase = Phase::Hold(self.hold);
            }
            self.restart();
            return false;
        }
        if streams != self.target {
            // Streams are still being opened, or could not be.
            return false;
        }
        self.epochs += 1;
        if self.epochs == 1 {
            // What was under way with another number.
            return false;
        }
        self.rates.push(totals.delivered.saturating_sub(before.delivered) as f64 * 8.0 / time);
        let losses = Losses {
            lost: totals.lost.saturating_sub(before.lost) as f64,
            sent: totals.sent.saturating_sub(before.sent) as f64,
        };
        self.losses.lost += losses.lost;
        self.losses.sent += losses.sent;
        let old = self.target;
        if self.is_alarmed(losses) {
            self.change(self.target / 2, Reason::Emergency);
            self.go_steady();
        } else if self.rates.len() as u32 >= MEASURED {
            self.decide(totals);
        }
        self.target != old
    }

    fn decide(&mut self, totals: &Totals) {
        match self.phase {
            Phase::Startup => {
                self.learn_usual();
                let double = self.target.saturating_mul(2);
                self.try_number(double, totals, true);
            }
            Phase::Hold(left) => {
                // The rate to compare with is that of the last few epochs.
                let surplus = self.rates.len().saturating_sub(2 * MEASURED as usize);
                self.rates.drain(..surplus);
                if let [before @ .., a, b] = self.rates.as_slice()
                    && !before.is_empty()
                {
                    let (before, now) = (before.iter().sum::<f64>() / before.len() as f64, (a + b) / 2.0);
                    if now < 0.6 * before || now > before / 0.6 {
                        // The path has changed: what was found no longer holds.
                        self.refused = if now < before { 2 } else { 0 };
                        let old = self.rates.len() - MEASURED as usize;
                        self.rates.drain(..old);
                        (self.phase, self.hold) = (Phase::Hold(1), HOLD[0]);
                        return;
                    }
                }
                if left > 0 {
                    self.phase = Phase::Hold(left - 1);
                    return;
                }
                self.learn_usual();
                let more = |factor: f64| (f64::from(self.target) * factor).ceil() as u32;
                let number = match self.refused {
                    0 => more(1.25),
                    1 => more(1.1),
                    _ => (f64::from(self.target) * 0.8).floor() as u32,
                };
                self.try_number(number, totals, false);
            }
            Phase::Try { from, rate, startup } => self.judge(from, rate, startup, totals),
        }
    }
    /// Begins a try, or holds where there is nothing to try.
    fn try_number(&mut self, number: u32, totals: &Totals, startup: bool) {
        let number = number.clamp(1, self.limits.most);
        let (from, rate) = (self.target, self.mean());
        let more = number > from;
        if number == from || (more && self.policy == Policy::Polite && !totals.window_limited) {
            self.refused = if more || self.refused < 2 { 2 } else { 0 };
            return self.go_steady();
        }
        self.change(number, if more { Reason::TryMore } else { Reason::TryFewer });
        self.phase = Phase::Try { from, rate, startup };
    }
    fn judge(&mut self, from: u32, rate: f64, startup: bool, totals: &Totals) {
        let now = self.mean();
        let proportional = f64::from(self.target) / f64::from(from) - 1.0;
        let elasticity = (now / rate - 1.0) / proportional;
        // To stay with fewer has to be a little easier than it was to come: the difference keeps noise from going round.
        let (grow, shrink) = match self.policy {
            Policy::Polite | Policy::Fill => (0.8, 0.7),
            Policy::Greedy => (0.1, 0.05),
        };
        if self.target < from {
            // Of what only takes from others the polite lets go whatever it costs.
            let vain = self.policy == Policy::Polite && !totals.window_limited;
            if elasticity <= shrink || vain {
                self.reason = Reason::AsGood;
                (self.phase, self.hold) = (Phase::Hold(0), HOLD[0]);
            } else {
                self.refused = 0;
                self.change(from, Reason::Needed);
                self.go_steady();
            }
            return;
        }
        let lossy = self.policy != Policy::Greedy && !totals.window_limited && self.usual.exceeded_by(self.losses, 1.6);
        if elasticity >= grow && !lossy {
            self.reason = Reason::Gained;
            (self.refused, self.hold) = (0, HOLD[0]);
            self.phase = if startup { Phase::Startup } else { Phase::Hold(0) };
            return;
        }
        self.refused += 1;
        self.change(from, if lossy { Reason::Lossy } else { Reason::TooLittle });
        self.go_steady();
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
    fn change(&mut self, number: u32, reason: Reason) {
        self.reason = reason;
        let number = number.clamp(1, self.limits.most);
        if number != self.target {
            self.target = number;
            self.restart();
        }
    }
    fn restart(&mut self) {
        self.epochs = 0;
        self.alarms = 0;
        self.rates.clear();
        self.losses = Losses::default();
    }
    fn go_steady(&mut self) {
        self.phase = Phase::Hold(self.hold);
        self.hold = (self.hold * 2).min(HOLD[1]);
    }
    fn mean(&self) -> f64 {
        self.rates.iter().sum::<f64>() / self.rates.len() as f64
    }
}
