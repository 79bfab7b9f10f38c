//! Observations of the streams: the highest delivery rate, the rate of random losses, and whether there is a queue on
//! the path.

use super::Path;
use super::losses::{Chance, FEW, Losses};
use units::{Bytes, Time};

/// The response function of a stream's congestion control.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Law {
    /// A control without a model here.
    #[default]
    Unknown,
    /// BBR: random losses do not slow it down.
    Bbr,
    /// Reno: additive increase, halving.
    Reno,
    /// CUBIC (RFC 9438).
    Cubic,
}

/// Cumulative counters and present measurements of all streams together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Totals {
    /// Payload that streams have brought, each in its own order.
    pub delivered: u64,
    /// Segments sent, retransmissions included.
    pub sent: u64,
    /// Segments retransmitted.
    pub lost: u64,
    /// The most segments that one stream has retransmitted since the last call.
    pub lost_most: u64,
    /// Smoothed round-trip time, the streams' mean, now.
    pub rtt: Time,
    /// Mean over the streams of the least round-trip time measured on their paths; zero where it is not known.
    pub rtt_min: Time,
    /// Payload of a full segment; zero where it is not known.
    pub mss: Bytes,
    /// Response function of the streams' congestion control.
    pub law: Law,
    /// At least a quarter of the streams is in slow start and growing: rates say nothing yet.
    pub starting: bool,
    /// The mean window of the streams that a try has added, as a part of that of the others; `None` where none are
    /// added ([`Newcomers`](super::Newcomers)).
    pub newcomers: Option<f64>,
    /// Most streams are held back by the peer's window or their own buffer, not by congestion.
    pub window_limited: bool,
    /// The peer's credit has held the streams back since the last call: rates say nothing.
    pub credit_limited: bool,
    /// The application has not given enough to send since the last call: rates say nothing.
    pub idle: bool,
}

/// Period in round trips over which the highest rate is remembered, together with the period before.
const MOST_OF: u32 = 64;
/// Round trips over which a rate is measured.
const ROUNDS: usize = 4;
/// A queue shows in a round-trip time above 1.1 x the minimum and this.
const QUEUE: Time = Time::from_ms(2);

/// Whether a round-trip time shows a queue, given the minimum of the path.
pub(crate) fn has_queue(rtt: Time, least: Time) -> bool {
    rtt > least + least / 10 + QUEUE
}

/// What the controller remembers of past round trips.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    /// Rates of the last round trips in bit/s. Their mean counts, since acknowledgements may come in bursts. `most` has
    /// the highest mean of this period and of the one before.
    last: [f64; ROUNDS],
    most: [f64; 2],
    /// Whether there was a queue in these periods.
    full: [bool; 2],
    rounds: u32,
    chance: Chance,
    /// There is a queue on the path, of our own streams or of others.
    pub queued: bool,
}

impl Observed {
    /// Takes in a round trip with its delivery rate in bit/s.
    pub fn add(&mut self, before: &Totals, now: &Totals, rate: f64) {
        self.last.rotate_left(1);
        self.last[ROUNDS - 1] = rate;
        let rate = self.last.iter().sum::<f64>() / ROUNDS as f64;
        self.most[0] = self.most[0].max(rate);
        self.rounds += 1;
        if self.rounds == MOST_OF {
            (self.most, self.full, self.rounds) = ([0.0, self.most[0]], [false, self.full[0]], 0);
        }
        let queued = now.rtt_min > Time::ZERO && has_queue(now.rtt, now.rtt_min);
        self.full[0] |= queued;
        // The losses of a queue are retransmitted a round trip later: the round trip after a queue does not count
        // either.
        let counts = !std::mem::replace(&mut self.queued, queued) && !queued;
        let (sent, lost) = (now.sent.saturating_sub(before.sent), now.lost.saturating_sub(before.lost));
        self.chance.add(sent, lost, counts && now.lost_most <= FEW);
    }
    /// The highest recent delivery rate, in bit/s.
    pub fn most(&self) -> f64 {
        self.most[0].max(self.most[1])
    }
    /// Whether the highest rate was the path's capacity: there was a queue.
    pub fn was_full(&self) -> bool {
        self.full[0] || self.full[1]
    }
    /// Random losses, once there are enough to estimate their rate.
    pub fn random(&self) -> Option<Losses> {
        self.chance.losses()
    }
    /// The rate of one stream at these losses, by the model of its control, in bit/s.
    pub fn stream(&self, totals: &Totals) -> Option<f64> {
        let loss = self.random()?.rate();
        let rtt = if totals.rtt_min > Time::ZERO { totals.rtt_min } else { totals.rtt };
        let path = Path { mss: totals.mss, rtt, loss, rto: rtt, window: Bytes::new(u64::MAX), per_ack: 1.0 };
        match totals.law {
            _ if totals.mss == Bytes::ZERO || rtt == Time::ZERO => None,
            Law::Unknown | Law::Bbr => None,
            Law::Reno => Some(path.mathis()),
            Law::Cubic => Some(path.cubic()),
        }
    }
}
