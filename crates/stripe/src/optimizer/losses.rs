//! Losses: whether there are more than usual, and those that are due to chance.

/// Loss rates below this count as none: one segment in 50,000.
const NO_LOSS: f64 = 2e-5;
/// Losses of a stream in a round trip up to which they may be random: a queue that overflows drops more at a time.
pub(crate) const FEW: u64 = 3;
/// Round trips in a row with losses, of whichever streams, from which on they are not those of one overflow.
const OVERFLOW: u32 = 8;
/// Fewest losses from which a loss rate is estimated.
const ENOUGH_LOSSES: f64 = 8.0;
/// Beyond either of these counts all are halved, so that the estimate follows a changing path.
const REMEMBERED_LOSSES: f64 = 64.0;
const REMEMBERED_SEGMENTS: f64 = 1e6;

/// Losses of so many segments.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Losses {
    pub lost: f64,
    pub sent: f64,
}

impl Losses {
    /// Losses a segment.
    pub fn rate(self) -> f64 {
        self.lost / self.sent
    }
    /// Whether `now` has lost more than `factor` times as often as this, by more than two standard deviations of a
    /// Poisson count. This count is taken at one loss more than was seen, so that few segments prove nothing.
    pub fn exceeded_by(self, now: Self, factor: f64) -> bool {
        let usual = ((self.lost + 1.0) / self.sent.max(1.0)).max(NO_LOSS);
        let expected = factor * usual * now.sent;
        now.lost - expected > 2.0 * (expected + 1.0).sqrt()
    }
}

/// Random losses, told from those of a queue that overflows.
///
/// An overflow takes segments of several streams at once, and it takes some round trips to send them again: counted one
/// by one these losses look like many. Chance has no memory: after a round trip without losses it takes as much as at
/// any time. So the first round trip with losses counts, as one event, and those that follow it do not.
#[derive(Clone, Debug, Default)]
pub(super) struct Chance {
    /// Round trips after one without losses; how many of them had some; the segments sent in them.
    rounds: f64,
    lossy: f64,
    segments: f64,
    /// Losses and segments of round trips with losses before which no overflow can be the cause.
    unending: Losses,
    /// How many round trips in a row have had losses.
    run: u32,
}

impl Chance {
    /// A round trip is over in which streams have sent and lost so many segments. It `counts` if chance may have taken
    /// them.
    pub fn add(&mut self, sent: u64, lost: u64, counts: bool) {
        let run = self.run;
        self.run = if lost > 0 { run.saturating_add(1) } else { 0 };
        if counts && run == 0 {
            self.rounds += 1.0;
            self.lossy += f64::from(u8::from(lost > 0));
            self.segments += sent as f64;
        } else if counts && run >= OVERFLOW {
            self.unending.lost += lost as f64;
            self.unending.sent += sent as f64;
        }
        if self.events() > REMEMBERED_LOSSES || self.segments + self.unending.sent > REMEMBERED_SEGMENTS {
            let Losses { lost, sent } = &mut self.unending;
            for sum in [&mut self.rounds, &mut self.lossy, &mut self.segments, lost, sent] {
                *sum /= 2.0;
            }
        }
    }
    fn events(&self) -> f64 {
        self.lossy + self.unending.lost
    }
    /// The losses, once there are enough. Where chance takes `lambda` segments of a round trip in the mean, it takes none
    /// of `exp(-lambda)` of all round trips (Poisson); these are what tells `lambda`.
    pub fn losses(&self) -> Option<Losses> {
        if self.events() < ENOUGH_LOSSES {
            return None;
        }
        let clear = (self.rounds - self.lossy).max(0.5);
        let lambda = libm::log(self.rounds.max(clear) / clear);
        Some(Losses { lost: self.rounds * lambda + self.unending.lost, sent: self.segments + self.unending.sent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loss rate after round trips that have sent and lost so many segments.
    fn rate(rounds: impl IntoIterator<Item = (u64, u64)>) -> Option<f64> {
        let mut chance = Chance::default();
        for (sent, lost) in rounds {
            chance.add(sent, lost, true);
        }
        chance.losses().map(Losses::rate)
    }

    /// Round trips of so many segments, of which chance takes each with this probability.
    fn random(segments: u64, loss: f64, rounds: usize) -> impl Iterator<Item = (u64, u64)> {
        let mut state = 1_u64;
        let mut is_lost = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 / (1_u64 << 53) as f64) < loss
        };
        (0..rounds).map(move |_| (segments, (0..segments).filter(|_| is_lost()).count() as u64))
    }

    /// 0.05, 0.5, 2 and 10 losses in a round trip: alone mostly, every other, nearly every, every.
    #[test]
    fn chance_is_measured_however_often_it_strikes() {
        for (segments, loss) in [(50, 1e-3), (500, 1e-3), (200, 1e-2), (1000, 1e-2)] {
            // The mean of a hundred estimates, of some ten to sixty losses each.
            let estimates = random(segments, loss, 40_000).collect::<Vec<_>>();
            let each: Vec<f64> = estimates.chunks(400).filter_map(|rounds| rate(rounds.iter().copied())).collect();
            let mean = each.iter().sum::<f64>() / each.len() as f64;
            assert!(each.len() > 95 && (mean / loss - 1.0).abs() < 0.1, "{segments} {loss}: {mean} of {}", each.len());
        }
    }

    /// A queue overflows every twenty round trips: ten streams lose a segment each, in three round trips. That is one
    /// event of 19 round trips less the two that follow it: 17 of 100 segments.
    #[test]
    fn an_overflow_is_one_loss() {
        let overflow = [4, 5, 1].into_iter().chain([0; 17]);
        let rounds = std::iter::repeat_n(overflow, 12).flatten().map(|lost| (100, lost));
        let rate = rate(rounds).expect("twelve events");
        assert!((1.0 / 1800.0..1.0 / 1600.0).contains(&rate), "one of {}", 1.0 / rate);
    }

    /// Seven events say nothing, and neither does what a queue may have taken.
    #[test]
    fn few_losses_say_nothing() {
        let mut chance = Chance::default();
        for round in 0..14 {
            chance.add(1000, round % 2, true);
        }
        for round in 0..14 {
            chance.add(1000, round % 2, false);
        }
        assert_eq!(chance.losses(), None);
        chance.add(1000, 0, true);
        chance.add(1000, 1, true);
        assert!(chance.losses().is_some());
    }

    /// A path that lost a segment in a hundred and loses one in ten thousand: after a million segments, which the first
    /// were a twentieth of, no more than a fifth of them is remembered.
    #[test]
    fn what_is_old_is_forgotten() {
        let before = random(100, 1e-2, 500).chain(random(1000, 1e-4, 1000));
        let rate = rate(before).expect("losses");
        assert!((0.8e-4..2e-4).contains(&rate), "{rate}");
    }
}
