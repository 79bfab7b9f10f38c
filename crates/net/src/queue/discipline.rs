//! Which discipline a queue has, as data: checked, then built.

use super::{Limit, Queue, Threshold};
use crate::SpecError;
use units::{BitRate, Bytes};

/// A full Ethernet frame with preamble and gap: what a packet counts where packets and bytes are compared.
const PACKET: Bytes = Bytes::new(1_538);

/// A queue's discipline and its parameters.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Discipline {
    /// First in, first out, until it is full.
    #[default]
    DropTail,
    /// The same, and marks above a threshold ([`Threshold`]).
    Threshold {
        /// Marks a packet when the queue, counted with it, exceeds this.
        mark_above: Limit,
    },
}

impl Discipline {
    /// Whether such a queue of at most `limit` can be, in front of a transmitter of this rate.
    pub fn check(&self, limit: Limit, rate: BitRate) -> Result<(), SpecError> {
        match self {
            Self::DropTail => Ok(()),
            Self::Threshold { mark_above } => {
                if *mark_above == Limit::Unlimited {
                    return Err(SpecError::Discipline("a marking threshold is needed".to_owned()));
                }
                below("the marking threshold", *mark_above, limit, rate)
            }
        }
    }

    /// The queue, if it takes an object: drop-tail does not.
    pub(crate) fn build(&self, limit: Limit, rate: BitRate) -> Option<Box<dyn Queue>> {
        let limit = limit.at_rate(rate);
        match self {
            Self::DropTail => None,
            Self::Threshold { mark_above } => Some(Box::new(Threshold::new(limit, mark_above.at_rate(rate)))),
        }
    }
}

/// Refuses a threshold that the queue can never reach.
fn below(what: &str, threshold: Limit, limit: Limit, rate: BitRate) -> Result<(), SpecError> {
    let in_bytes = |limit: Limit| limit.in_bytes(rate, PACKET);
    match (in_bytes(threshold), in_bytes(limit)) {
        (Some(threshold), Some(limit)) if threshold >= limit => Err(SpecError::Discipline(format!(
            "{what} ({threshold} B) is not below the queue's limit ({limit} B): it would never be reached"
        ))),
        _ => Ok(()),
    }
}
