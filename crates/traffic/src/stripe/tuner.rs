//! Who decides how many streams there are, as the scenario says.

use super::StreamNumber;
use ::stripe::optimizer::{Limits, Tuner};

/// The tuner of a session.
pub(super) fn tuner(number: StreamNumber) -> Tuner {
    match number {
        StreamNumber::Fixed(count) => Tuner::Fixed(count),
        StreamNumber::Tuned(policy, most) => {
            let limits = Limits { most, ..Limits::default() };
            // As many as gateways keep open.
            Tuner::measuring(policy, limits, limits.first)
        }
        StreamNumber::Paper(most) => Tuner::enumerating(most),
    }
}
