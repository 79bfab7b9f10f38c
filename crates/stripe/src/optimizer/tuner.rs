//! Policies that decide the number of streams.

use super::{Controller, Enumerator, Limits, Path, Policy, Reason, Totals};
use units::Time;

/// The policy that decides the number of streams.
#[derive(Clone, Debug)]
pub enum Tuner {
    /// A fixed number.
    Fixed(u32),
    /// By measurements of rates.
    Controller(Box<Controller>),
    /// The paper's enumeration.
    Enumerator(Box<Enumerator>),
}

impl Tuner {
    /// Tunes by measurements, within limits.
    pub fn measuring(policy: Policy, limits: Limits, seed: u32) -> Self {
        Self::Controller(Box::new(Controller::new(policy, limits, seed)))
    }
    /// Tunes by the paper's enumeration, up to `most` streams.
    pub fn enumerating(most: u32) -> Self {
        Self::Enumerator(Box::new(Enumerator::new(most, Time::from_ms(300))))
    }
    /// The number of streams to use.
    pub fn target(&self) -> u32 {
        match self {
            Self::Fixed(count) => *count,
            Self::Controller(controller) => controller.target(),
            Self::Enumerator(enumerator) => enumerator.target(),
        }
    }
    /// The number of streams to keep open: those in use, and some that may be needed again.
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
    /// The number of streams before a try.
    pub fn before(&self) -> Option<u32> {
        if let Self::Controller(controller) = self { controller.compared().map(|(from, _)| from) } else { None }
    }
    /// The reason for the present number, if it is measured.
    pub fn reason(&self) -> Option<Reason> {
        if let Self::Controller(controller) = self { Some(controller.reason()) } else { None }
    }
    /// To be called at the deadline. `streams` is the number in use, `path` what each of them measures. Returns whether
    /// the number has changed.
    pub fn on_round(&mut self, now: Time, totals: &Totals, path: &Path, streams: u32) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Controller(controller) => controller.on_round(now, totals, streams),
            Self::Enumerator(enumerator) => enumerator.on_epoch(now, totals, path, streams),
        }
    }
}
