//! What most connections lack: records of single segments, ECN, pacing, push flow control.

use crate::cold::{Blank, Cold};
use crate::ecn::Ecn;
use crate::flight::Flight;
use crate::push::PushControl;
use units::Time;

/// An endpoint that is not watched, not ECN-capable and not paced keeps no such.
#[derive(Clone, Debug)]
pub(crate) struct Special {
    /// For whatever watches single segments: a control, HyStart++, RACK.
    pub flight: Option<Box<Flight>>,
    /// There if both ends are ECN-capable.
    pub ecn: Option<Ecn>,
    pub pacing: Pacing,
    /// Of push flow control.
    pub push: PushControl,
}

/// When pacing lets the next segment go.
#[derive(Clone, Debug)]
pub(crate) struct Pacing {
    pub next: Time,
    /// The same, while a segment waits for that; or when RACK wants to look.
    pub wake: Time,
}

impl Pacing {
    const NONE: Self = Self { next: Time::ZERO, wake: Time::MAX };
}

impl Blank for Special {
    const BLANK: &'static Self = &Self::NONE;
    fn blank() -> Self {
        Self::NONE
    }
}

impl Special {
    const NONE: Self = Self { flight: None, ecn: None, pacing: Pacing::NONE, push: PushControl::NONE };
}

impl Cold<Special> {
    /// Something watches single segments.
    #[inline]
    pub fn is_watched(&self) -> bool {
        self.there().is_some_and(|special| special.flight.is_some())
    }
    #[inline]
    pub fn flight(&mut self) -> Option<&mut Flight> {
        self.written()?.flight.as_deref_mut()
    }
    #[inline]
    pub fn ecn(&mut self) -> Option<&mut Ecn> {
        self.written()?.ecn.as_mut()
    }
    /// Nothing waits for pacing any more.
    #[inline]
    pub fn stop_waiting_for_pace(&mut self) {
        if let Some(special) = self.written() {
            special.pacing.wake = Time::MAX;
        }
    }
}
