//! What most connections lack: records of single segments, HyStart, ECN, pacing, push flow control.

use crate::cold::{Blank, Cold};
use crate::ecn::Ecn;
use crate::flight::Flight;
use crate::push::PushControl;
use crate::slow_start::StartWatch;
use units::Time;

/// An endpoint that is not watched, not ECN-capable and not paced keeps no such.
#[derive(Clone, Debug)]
pub(crate) struct Special {
    /// For whatever watches single segments: a control, RACK.
    pub flight: Option<Box<Flight>>,
    /// There in a slow start that HyStart watches.
    pub start: Option<Box<StartWatch>>,
    /// There if both ends are ECN-capable.
    pub ecn: Option<Box<Ecn>>,
    pub pacing: Pacing,
    /// Of push flow control.
    pub push: Option<Box<PushControl>>,
}

/// When pacing lets the next segment go.
#[derive(Clone, Debug)]
pub(crate) struct Pacing {
    pub next: Time,
    /// When the endpoint wakes: at `next` while a segment waits for that, or when RACK wants to look.
    pub wake: Time,
}

impl Pacing {
    const NONE: Self = Self { next: Time::ZERO, wake: Time::MAX };

    fn is_idle(&self) -> bool {
        self.next == Time::ZERO && self.wake == Time::MAX
    }
}

const _: () = assert!(size_of::<Special>() <= 48);

impl Blank for Special {
    const BLANK: &'static Self = &Self::NONE;
    fn blank() -> Self {
        Self::NONE
    }
}

impl Special {
    const NONE: Self = Self { flight: None, start: None, ecn: None, pacing: Pacing::NONE, push: None };
}

impl Special {
    /// Says no more than what is blank.
    fn is_idle(&self) -> bool {
        self.flight.is_none()
            && self.start.is_none()
            && self.ecn.is_none()
            && self.pacing.is_idle()
            && self.push.is_none()
    }
}

impl Cold<Special> {
    /// HyStart watches no slow start any more. Most connections have nothing else here.
    pub fn end_start(&mut self) {
        let Some(special) = self.written() else { return };
        special.start = None;
        if special.is_idle() {
            *self = Self::new();
        }
    }
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
    pub fn start(&mut self) -> Option<&mut StartWatch> {
        self.written()?.start.as_deref_mut()
    }
    #[inline]
    pub fn ecn(&mut self) -> Option<&mut Ecn> {
        self.written()?.ecn.as_deref_mut()
    }
    /// Nothing waits for pacing any more.
    #[inline]
    pub fn stop_waiting_for_pace(&mut self) {
        if let Some(special) = self.written() {
            special.pacing.wake = Time::MAX;
        }
    }
}
