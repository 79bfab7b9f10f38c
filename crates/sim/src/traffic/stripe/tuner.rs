//! Who decides how many streams there are.

use super::StreamNumber;
use ::stripe::optimizer::{Controller, Enumerator, Limits, Reason};
use units::Time;

/// Who decides how many streams there are.
#[derive(Debug)]
pub(super) enum Tuner {
    Fixed(u32),
    Controller(Box<Controller>),
    Enumerator(Box<Enumerator>),
}

impl Tuner {
    pub(super) fn new(number: StreamNumber) -> Self {
        match number {
            StreamNumber::Fixed(count) => Self::Fixed(count),
            StreamNumber::Tuned(policy, most) => {
                let limits = Limits { most, ..Limits::default() };
                Self::Controller(Box::new(Controller::new(policy, limits, 1)))
            }
            StreamNumber::Paper(most) => Self::Enumerator(Box::new(Enumerator::new(most, Time::from_ms(300)))),
        }
    }
    pub(super) fn target(&self) -> u32 {
        match self {
            Self::Fixed(count) => *count,
            Self::Controller(controller) => controller.target(),
            Self::Enumerator(enumerator) => enumerator.target(),
        }
    }
    pub(super) fn deadline(&self) -> Time {
        match self {
            Self::Fixed(_) => Time::MAX,
            Self::Controller(controller) => controller.deadline(),
            Self::Enumerator(enumerator) => enumerator.deadline(),
        }
    }
    pub(super) fn reason(&self) -> Option<Reason> {
        if let Self::Controller(controller) = self { Some(controller.reason()) } else { None }
    }
}

/// A short stable name.
pub(super) fn reason_name(reason: Reason) -> &'static str {
    match reason {
        Reason::Start => "start",
        Reason::TryMore => "try-more",
        Reason::TryFewer => "try-fewer",
        Reason::Gained => "gained",
        Reason::TooLittle => "too-little",
        Reason::Lossy => "lossy",
        Reason::AsGood => "as-good",
        Reason::Needed => "needed",
        Reason::Emergency => "emergency",
        Reason::Idle => "idle",
    }
}
