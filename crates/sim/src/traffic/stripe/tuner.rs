//! Who decides how many streams there are, as the scenario says.

use super::StreamNumber;
use ::stripe::optimizer::{Limits, Tuner};

/// The tuner of a session.
pub(super) fn tuner(number: StreamNumber) -> Tuner {
    match number {
        StreamNumber::Fixed(count) => Tuner::Fixed(count),
        StreamNumber::Tuned(policy, most) => Tuner::measuring(policy, Limits { most, ..Limits::default() }, 1),
        StreamNumber::Paper(most) => Tuner::enumerating(most),
    }
}
