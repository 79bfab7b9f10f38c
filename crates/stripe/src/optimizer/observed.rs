//! What the streams have been seen to do: the most that they delivered, the losses that nobody made, whether a queue
//! stands on the path.

use super::Path;
use units::{Bytes, Time};

/// By which law a stream's congestion control shares a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Law {
    /// One without a model here.
    #[default]
    Unknown,
    /// BBR's, which random losses do not slow down.
    Bbr,
    /// Reno's additive increase and halving.
    Reno,
    /// CUBIC's cubic growth (RFC 9438).
    Cubic,
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
    /// Of `sent`, those of streams and round trips that lost no more than a few; and in how many of these something was
    /// lost. A queue that overflows takes many at a time, chance takes few.
    pub scattered: (u64, u64),
    /// Smoothed round-trip time, the streams' mean, now.
    pub rtt: Time,
    /// Mean over the streams of the least round-trip time measured on their paths; zero where it is not known.
    pub rtt_min: Time,
    /// Payload of a full segment; zero where it is not known.
    pub mss: Bytes,
    /// How the streams share.
    pub law: Law,
    /// A part of the streams, a quarter at least, is in slow start and growing: rates say nothing yet.
    pub starting: bool,
    /// Most streams are held back by the peer's window or their own buffer, not by congestion.
    pub window_limited: bool,
    /// The peer's credit has held the streams back since the last call: rates say nothing.
    pub credit_limited: bool,
    /// The application has not given enough to send since the last call: rates say nothing.
    pub idle: bool,
}

/// Losses from which on a loss rate is estimated.
const ENOUGH_LOSSES: f64 = 8.0;
/// Beyond these, old losses and segments count for less.
const REMEMBERED: [f64; 2] = [64.0, 1e6];
/// Round trips over which the highest rate is remembered; up to twice as many.
const MOST_OF: u32 = 64;
/// Round trips over which a rate is measured.
const ROUNDS: usize = 4;
/// A round-trip time above its least by a tenth and this shows a queue.
const QUEUE: Time = Time::from_ms(2);

/// Whether round trips take as long as on a path with a queue, where they take `least` without.
pub(crate) fn has_queue(rtt: Time, least: Time) -> bool {
    rtt > least + least / 10 + QUEUE
}

/// What is remembered of each round trip.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    /// Rates of the last round trips, in bits per second, and the highest mean of them: of this period and the one
    /// before. Acknowledgements that come all at once are no rate.
    last: [f64; ROUNDS],
    most: [f64; 2],
    /// Whether a queue stood meanwhile.
    full: [bool; 2],
    rounds: u32,
    /// Scattered losses, and the segments among which they were.
    losses: f64,
    segments: f64,
    /// A queue stands: of the streams' own making, or of others'.
    pub queued: bool,
}

impl Observed {
    /// A round trip is over, in which so many bits a second were delivered.
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
        // A queue may have lost them, and what it lost is sent again a round trip later.
        if !std::mem::replace(&mut self.queued, queued) && !queued {
            self.segments += now.scattered.0.saturating_sub(before.scattered.0) as f64;
            self.losses += now.scattered.1.saturating_sub(before.scattered.1) as f64;
            if self.losses > REMEMBERED[0] || self.segments > REMEMBERED[1] {
                (self.losses, self.segments) = (self.losses / 2.0, self.segments / 2.0);
            }
        }
    }
    /// The most that was delivered lately, in bits per second.
    pub fn most(&self) -> f64 {
        self.most[0].max(self.most[1])
    }
    /// Whether that was all that the path carries: a queue stood.
    pub fn was_full(&self) -> bool {
        self.full[0] || self.full[1]
    }
    /// The share of segments that are lost without anybody's doing, if there were enough to say.
    pub fn loss(&self) -> Option<f64> {
        (self.losses >= ENOUGH_LOSSES).then(|| self.losses / self.segments)
    }
    /// What one stream can have at these losses, by the model of its control, in bits per second.
    pub fn stream(&self, totals: &Totals) -> Option<f64> {
        let loss = self.loss()?;
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
