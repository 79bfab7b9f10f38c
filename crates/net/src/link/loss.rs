//! How a wire loses packets.

use super::SpecError;
use des::RandomStream;

/// How a wire loses packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Loss {
    /// Each alike, with this probability, whatever became of the others.
    Random(f64),
    /// In bursts.
    Bursts(GilbertElliott),
}

/// A wire of two states (Gilbert 1960; Elliott 1963): before each packet it may change between them, then loses it with
/// the state's probability. It begins in the good one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GilbertElliott {
    /// Probability that the good state ends before a packet (p).
    pub to_bad: f64,
    /// Probability that the bad state ends before a packet (r): it lasts 1 / r packets in the mean.
    pub to_good: f64,
    /// Probability of a loss in the bad state (1 - h).
    pub bad: f64,
    /// Probability of a loss in the good state (1 - k).
    pub good: f64,
}

impl GilbertElliott {
    /// Gilbert's wire whose bursts of losses have a mean length in packets and make up a share `loss` of all:
    /// everything is lost in the bad state, nothing in the good one.
    pub fn bursts(loss: f64, length: f64) -> Self {
        let to_good = 1.0 / length;
        Self { to_bad: to_good * loss / (1.0 - loss), to_good, bad: 1.0, good: 0.0 }
    }
}

impl Default for Loss {
    fn default() -> Self {
        Self::Random(0.0)
    }
}

impl From<f64> for Loss {
    fn from(probability: f64) -> Self {
        Self::Random(probability)
    }
}

impl Loss {
    /// The share of packets that it loses in the long run.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Random(probability) => probability,
            Self::Bursts(GilbertElliott { to_bad, to_good, bad, good }) => {
                // A wire that never changes stays in the good state.
                let share_bad = if to_bad > 0.0 { to_bad / (to_bad + to_good) } else { 0.0 };
                share_bad * bad + (1.0 - share_bad) * good
            }
        }
    }

    /// Whether all its numbers are probabilities.
    pub fn check(&self) -> Result<(), SpecError> {
        let numbers = match *self {
            Self::Random(probability) => [probability; 4],
            Self::Bursts(GilbertElliott { to_bad, to_good, bad, good }) => [to_bad, to_good, bad, good],
        };
        match numbers.into_iter().find(|number| !(0.0..=1.0).contains(number)) {
            Some(number) => Err(SpecError::Loss(number)),
            None => Ok(()),
        }
    }
}

/// A wire's losses, packet by packet.
#[derive(Clone, Debug)]
pub struct Losses {
    loss: Loss,
    bad: bool,
    random: RandomStream,
}

impl Losses {
    /// The losses of link number `index` in a run with `seed`.
    pub fn new(loss: Loss, seed: u64, index: u64) -> Self {
        Self { loss, bad: false, random: RandomStream::new(seed, "net/loss", index) }
    }

    /// Whether the next packet is lost.
    pub fn next_is_lost(&mut self) -> bool {
        match self.loss {
            Loss::Random(probability) => self.random.chance(probability),
            Loss::Bursts(wire) => {
                if self.random.chance(if self.bad { wire.to_good } else { wire.to_bad }) {
                    self.bad = !self.bad;
                }
                self.random.chance(if self.bad { wire.bad } else { wire.good })
            }
        }
    }

    /// From now on loses packets in another way; what has been drawn stays drawn.
    pub fn change(&mut self, loss: Loss) {
        self.loss = loss;
    }

    /// The share of packets that it loses in the long run.
    pub fn mean(&self) -> f64 {
        self.loss.mean()
    }
}
