//! Random loss on a wire.

use super::SpecError;
use des::RandomStream;

/// How a wire loses packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Loss {
    /// Independent losses with this probability.
    Random(f64),
    /// In bursts.
    Bursts(GilbertElliott),
}

/// Gilbert-Elliott: a wire of two states (Gilbert 1960; Elliott 1963). Before each packet it may change state, then it
/// loses the packet with the state's probability. It starts in the good state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GilbertElliott {
    /// Probability p that the good state ends before a packet.
    pub to_bad: f64,
    /// Probability r that the bad state ends before a packet; it lasts 1 / r packets on average.
    pub to_good: f64,
    /// Loss probability 1 - h in the bad state.
    pub bad: f64,
    /// Loss probability 1 - k in the good state.
    pub good: f64,
}

impl GilbertElliott {
    /// Gilbert's wire with bursts of `length` packets on average and a fraction `loss` of packets lost: the bad state
    /// loses everything, the good state nothing.
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
    /// The fraction of packets lost in the long run.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Random(probability) => probability,
            Self::Bursts(GilbertElliott { to_bad, to_good, bad, good }) => {
                // A wire that never changes state stays in the good one.
                let share_bad = if to_bad > 0.0 { to_bad / (to_bad + to_good) } else { 0.0 };
                share_bad * bad + (1.0 - share_bad) * good
            }
        }
    }

    /// Checks that all numbers are probabilities.
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

    /// Changes the loss model. Draws already made stand.
    pub fn change(&mut self, loss: Loss) {
        self.loss = loss;
    }

    /// The fraction of packets lost in the long run.
    pub fn mean(&self) -> f64 {
        self.loss.mean()
    }
}
