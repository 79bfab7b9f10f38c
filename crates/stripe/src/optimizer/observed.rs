//! Observations of the streams: the highest delivery rate, the rate of random losses, and whether there is a queue on
//! the path.

use super::Path;
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

/// Random losses, apart from those of a queue that overflows. A queue drops many segments at a time, chance few: only
/// round trips of streams with at most three losses count.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Scattered {
    /// Segments sent in these round trips.
    pub sent: u64,
    /// Round trips with a loss.
    pub losses: u64,
}

/// Cumulative counters and present measurements of all streams together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Totals {
    /// Payload that has arrived.
    pub delivered: u64,
    /// Segments sent, retransmissions included.
    pub sent: u64,
    /// Segments retransmitted.
    pub lost: u64,
    /// Segments and losses of the round trips in which a stream lost at most a few.
    pub scattered: Scattered,
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
    /// Most streams are held back by the peer's window or their own buffer, not by congestion.
    pub window_limited: bool,
    /// The peer's credit has held the streams back since the last call: rates say nothing.
    pub credit_limited: bool,
    /// The application has not given enough to send since the last call: rates say nothing.
    pub idle: bool,
}

/// Fewest losses from which a loss rate is estimated.
const ENOUGH_LOSSES: f64 = 8.0;
/// Beyond either of these counts both are halved, so that the estimate follows a changing path.
const REMEMBERED_LOSSES: f64 = 64.0;
const REMEMBERED_SEGMENTS: f64 = 1e6;
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
    /// Random losses, and the segments among which they were counted.
    losses: f64,
    segments: f64,
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
        if !std::mem::replace(&mut self.queued, queued) && !queued {
            self.segments += now.scattered.sent.saturating_sub(before.scattered.sent) as f64;
            self.losses += now.scattered.losses.saturating_sub(before.scattered.losses) as f64;
            if self.losses > REMEMBERED_LOSSES || self.segments > REMEMBERED_SEGMENTS {
                (self.losses, self.segments) = (self.losses / 2.0, self.segments / 2.0);
            }
        }
    }
    /// The highest recent delivery rate, in bit/s.
    pub fn most(&self) -> f64 {
        self.most[0].max(self.most[1])
    }
    /// Whether the highest rate was the path's capacity: there was a queue.
    pub fn was_full(&self) -> bool {
        self.full[0] || self.full[1]
    }
    /// The rate of random losses, once there are enough to estimate it.
    pub fn loss(&self) -> Option<f64> {
        (self.losses >= ENOUGH_LOSSES).then(|| self.losses / self.segments)
    }
    /// The rate of one stream at these losses, by the model of its control, in bit/s.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The loss rate after round trips with so many losses among so many segments.
    fn loss(rounds: &[(u64, u64)]) -> Option<f64> {
        let (mut observed, mut before) = (Observed::default(), Totals::default());
        for (losses, sent) in rounds {
            let mut now = before;
            now.scattered.losses += losses;
            now.scattered.sent += sent;
            observed.add(&before, &now, 0.0);
            before = now;
        }
        observed.loss()
    }

    /// Each count is halved alone. Otherwise the estimates were 100 of 280,000, and 20 of 1,300,000.
    #[test]
    fn old_losses_count_half() {
        // 80 of 80,000 become 40 of 40,000. With 20 of 200,000 these are 60 of 240,000.
        assert_eq!(loss(&[(80, 80_000), (20, 200_000)]), Some(60.0 / 240_000.0));
        // 20 of 1,200,000 become 10 of 600,000. With 10 of 100,000 these are 20 of 700,000.
        assert_eq!(loss(&[(20, 1_200_000), (10, 100_000)]), Some(20.0 / 700_000.0));
    }

    /// 64 losses and 1,000,000 segments are not beyond the limits.
    #[test]
    fn at_the_limits_nothing_is_halved() {
        assert_eq!(loss(&[(64, 64_000), (0, 64_000)]), Some(64.0 / 128_000.0));
        assert_eq!(loss(&[(10, 1_000_000), (10, 0)]), Some(20.0 / 1_000_000.0));
    }

    #[test]
    fn seven_losses_are_not_enough() {
        assert_eq!(loss(&[(7, 10_000)]), None);
        assert_eq!(loss(&[(8, 10_000)]), Some(8.0 / 10_000.0));
    }
}
