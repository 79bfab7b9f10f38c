//! The settings of a link.

use super::Loss;
use crate::bond::BondError;
use crate::queue::{Discipline, Limit, Queue};
use crate::shaper::TokenBucketSpec;
use des::RandomStream;
use thiserror::Error;
use units::{BitRate, Bytes, Time};

/// One direction of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkSpec {
    /// Rate of the transmitter.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Time,
    /// How much may wait for the transmitter.
    pub limit: Limit,
    /// Random loss of packets on the wire.
    pub loss: Loss,
    /// A token bucket in front of the transmitter.
    pub shaper: Option<TokenBucketSpec>,
    /// Discipline of the queue, beside its `limit`.
    pub discipline: Discipline,
}

impl LinkSpec {
    /// A loss-free link without shaping, whose queue holds 128 packets.
    pub const fn new(rate: BitRate, delay: Time) -> Self {
        let (limit, loss) = (Limit::Packets(128), Loss::Random(0.0));
        Self { rate, delay, limit, loss, shaper: None, discipline: Discipline::DropTail }
    }
    /// Sets the queue's limit.
    pub const fn with_limit(mut self, limit: Limit) -> Self {
        self.limit = limit;
        self
    }
    /// Sets the queue's discipline.
    pub const fn with_discipline(mut self, discipline: Discipline) -> Self {
        self.discipline = discipline;
        self
    }
    /// Sets the loss model; a number is a loss probability per packet.
    pub fn with_loss(mut self, loss: impl Into<Loss>) -> Self {
        self.loss = loss.into();
        self
    }
    /// Puts a token bucket in front of the transmitter and sets the queue's limit.
    pub const fn with_shaper(mut self, shaper: TokenBucketSpec, limit: Limit) -> Self {
        self.shaper = Some(shaper);
        self.limit = limit;
        self
    }

    /// Checks that such a link can carry a packet.
    pub fn check(&self) -> Result<(), SpecError> {
        const LONGEST: Bytes = Bytes::new(1_538);
        if self.rate == BitRate::default() {
            return Err(SpecError::Rate);
        }
        self.loss.check()?;
        match self.limit {
            Limit::Packets(0) => return Err(SpecError::Queue),
            Limit::Bytes(bytes) if bytes < LONGEST => return Err(SpecError::Queue),
            _ => {}
        }
        match self.shaper {
            Some(shaper) if shaper.rate == BitRate::default() => return Err(SpecError::Rate),
            Some(shaper) if shaper.burst < LONGEST => return Err(SpecError::Burst(shaper.burst)),
            _ => {}
        }
        self.discipline.check(self.limit, self.drain_rate())
    }

    /// The queue as an object.
    pub(crate) fn queue(&self, seed: u64, index: u64) -> Box<dyn Queue> {
        self.discipline.build(self.limit, self.drain_rate(), RandomStream::new(seed, "net/queue", index))
    }

    /// The rate at which the queue drains: the token bucket's if it is slower than the transmitter.
    fn drain_rate(&self) -> BitRate {
        self.shaper.map_or(self.rate, |shaper| shaper.rate.min(self.rate))
    }
}

/// Why a [`LinkSpec`] is refused.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum SpecError {
    /// A rate of zero.
    #[error("a link's rate must be above zero")]
    Rate,
    /// A loss that is no probability.
    #[error("a loss of {0} is not a probability: it must lie between 0 and 1")]
    Loss(f64),
    /// A queue that can never hold a packet.
    #[error("the queue must hold at least one packet (1538 B with framing)")]
    Queue,
    /// A bucket that can never hold a packet's tokens.
    #[error("a burst of {0} is too small: the token bucket must hold at least one packet (1538 B with framing)")]
    Burst(Bytes),
    /// A discipline whose parameters contradict each other or the queue's limit.
    #[error("{0}")]
    Discipline(String),
    /// A bond that is refused.
    #[error(transparent)]
    Bond(#[from] BondError),
}
