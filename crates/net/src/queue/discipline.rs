//! The discipline of a queue as data: checked, then built.

use super::{
    Codel, CodelSpec, DropTail, FqCodel, FqCodelSpec, Limit, Pie, PieSpec, Priority, Queue, Red, RedSpec, Threshold,
};
use crate::SpecError;
use des::RandomStream;
use units::{BitRate, Bytes};

/// A full Ethernet frame with preamble and gap: converts packets to bytes where the two are compared.
const PACKET: Bytes = Bytes::new(1_538);

/// A queue's discipline and its parameters.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Discipline {
    /// First in, first out, until full.
    #[default]
    DropTail,
    /// Drop-tail that also marks above a threshold ([`Threshold`]).
    Threshold {
        /// Marks a packet if the queue, including it, exceeds this.
        mark_above: Limit,
    },
    /// Random early detection ([`Red`]).
    Red(RedSpec),
    /// CoDel ([`Codel`]).
    Codel(CodelSpec),
    /// CoDel per flow ([`FqCodel`]).
    FqCodel(FqCodelSpec),
    /// PIE, a proportional integral controller of the delay ([`Pie`]).
    Pie(PieSpec),
    /// Classes in strict order ([`Priority`]).
    Priority {
        /// Number of classes.
        classes: u32,
    },
}

impl Discipline {
    /// Checks this discipline for a queue of at most `limit` in front of a transmitter of this rate.
    pub fn check(&self, limit: Limit, rate: BitRate) -> Result<(), SpecError> {
        match self {
            Self::Threshold { mark_above: Limit::Unlimited } => {
                Err(SpecError::Discipline("a marking threshold is needed".to_owned()))
            }
            Self::Threshold { mark_above } => below("the marking threshold", *mark_above, limit, rate),
            Self::Red(spec) => spec.check(limit, rate),
            Self::Codel(spec) => spec.check(),
            Self::FqCodel(spec) => spec.check(),
            Self::Pie(spec) => spec.check(),
            Self::Priority { classes: 0 } => {
                Err(SpecError::Discipline("a priority queue needs at least one class".to_owned()))
            }
            Self::DropTail | Self::Priority { .. } => Ok(()),
        }
    }

    /// The queue as an object; random draws come from `random`.
    pub fn build(&self, limit: Limit, rate: BitRate, mut random: RandomStream) -> Box<dyn Queue> {
        let limit = limit.at_rate(rate);
        match self {
            Self::DropTail => Box::new(DropTail::new(limit)),
            Self::Threshold { mark_above } => Box::new(Threshold::new(limit, mark_above.at_rate(rate))),
            Self::Red(spec) => Box::new(Red::new(spec, limit, rate, random)),
            Self::Codel(spec) => Box::new(Codel::new(spec, limit)),
            Self::FqCodel(spec) => Box::new(FqCodel::new(spec, limit, random.next_u64())),
            Self::Pie(spec) => Box::new(Pie::new(spec, limit, random)),
            Self::Priority { classes } => Box::new(Priority::new(*classes, limit)),
        }
    }
}

/// Refuses a threshold that the queue can never reach.
pub(super) fn below(what: &str, threshold: Limit, limit: Limit, rate: BitRate) -> Result<(), SpecError> {
    let (threshold, limit) = (threshold.at_rate(rate), limit.at_rate(rate));
    match (threshold.in_bytes(PACKET), limit.in_bytes(PACKET)) {
        (Some(threshold_bytes), Some(limit_bytes)) if threshold_bytes >= limit_bytes => Err(SpecError::Discipline(
            format!("{what}, {threshold}, is not below the queue's limit, {limit}: it would never be reached"),
        )),
        _ => Ok(()),
    }
}
