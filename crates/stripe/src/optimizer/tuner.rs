//! Policies that decide the number of streams.

use super::{Controller, Enumerator, Limits, Path, Policy, Reason, Totals};
use units::Time;

/// The policy that decides the number of streams.
#[derive(Clone, Debug)]
pub enum Tuner {
    /// Nobody: so many.
    Fixed(u32),
    /// What is measured.
    Controller(Box<Controller>),
    /// The paper's enumeration.
    Enumerator(Box<Enumerator>),
}

impl Tuner {
    /// By what is measured, with at most so many.
    pub fn measuring(policy: Policy, limits: Limits, seed: u32) -> Self {
        Self::Controller(Box::new(Controller::new(policy, limits, seed)))
    }
    /// By the paper's enumeration, with at most so many.
    pub fn enumerating(most: u32) -> Self {
        Self::Enumerator(Box::new(Enumerator::new(most, Time::from_ms(300))))
    }
    /// How many streams are to be used.
    pub fn target(&self) -> u32 {
        match self {
            Self::Fixed(count) => *count,
            Self::Controller(controller) => controller.target(),
            Self::Enumerator(enumerator) => enumerator.target(),
        }
    }
    /// How many there are to be: those, and some that may be needed again.
    pub fn open(&self) -> u32 {
        if let Self::Controller(controller) = self { controller.open() } else { self.target() }
    }
    /// When [`on_round`](Self::on_round) is to be called next.
    pub fn deadline(&self) -> Time {
        match self {
            Self::Fixed(_) => Time::MAX,
            Self::Controller(controller) => controller.deadline(),
            Self::Enumerator(enumerator) => enumerator.deadline(),
        }
    }
    /// Why the number is what it is, if that was measured.
    pub fn reason(&self) -> Option<Reason> {
        if let Self::Controller(controller) = self { Some(controller.reason()) } else { None }
    }
    /// A round trip is over, or what else was waited for; `streams` is how many are used, `path` what each of them
    /// knows. Returns whether the number has changed.
    pub fn on_round(&mut self, now: Time, totals: &Totals, path: &Path, streams: u32) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Controller(controller) => controller.on_round(now, totals, streams),
            Self::Enumerator(enumerator) => enumerator.on_epoch(now, totals, path, streams),
        }
    }
}
