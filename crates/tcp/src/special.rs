//! State that most connections lack: records of single segments, HyStart, ECN, pacing, push flow control.

use crate::cold::{Blank, Cold};
use crate::ecn::Ecn;
use crate::flight::Flight;
use crate::push::PushControl;
use crate::slow_start::StartWatch;
use units::Time;

/// Allocated when the first of these is used.
#[derive(Clone, Debug)]
pub(crate) struct Special {
    /// Records of single segments, for a control.
    pub flight: Option<Box<Flight>>,
    /// HyStart's state, in a slow start that it watches.
    pub start: Option<Box<StartWatch>>,
    /// ECN state, if both ends are ECN-capable.
    pub ecn: Option<Box<Ecn>>,
    pub pacing: Pacing,
    /// State of push flow control.
    pub push: Option<Box<PushControl>>,
}

/// When pacing lets the next segment go, and when the endpoint wakes.
#[derive(Clone, Debug)]
pub(crate) struct Pacing {
    pub next: Time,
    /// When the endpoint wakes: at `next` if a segment waits for pacing, or at RACK's next deadline.
    pub wake: Time,
    /// Segments that may leave together with the last one.
    pub left: u16,
}

impl Pacing {
    const NONE: Self = Self { next: Time::ZERO, wake: Time::MAX, left: 0 };

    /// A segment leaves that takes `gap` at the pace; `group` as in [`Window::pace_group`].
    pub fn take(&mut self, now: Time, gap: Time, group: u16) {
        if now < self.next {
            self.left = self.left.saturating_sub(1);
            self.next = self.next.saturating_add(gap);
            return;
        }
        // Linux's credit for what the clock or the window has held (`tcp_update_skb_after_send`).
        let credit = now.saturating_sub(self.next).min(gap * u64::from(group) / 2);
        self.left = group.saturating_sub(1);
        self.next = now.saturating_add(gap).saturating_sub(credit);
    }
    fn is_idle(&self) -> bool {
        self.next == Time::ZERO && self.wake == Time::MAX
    }
}

const _: () = assert!(size_of::<Special>() <= 56);

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
    /// Whether this equals the blank state.
    fn is_idle(&self) -> bool {
        self.flight.is_none()
            && self.start.is_none()
            && self.ecn.is_none()
            && self.pacing.is_idle()
            && self.push.is_none()
    }
}

impl Cold<Special> {
    /// HyStart no longer watches. On most connections nothing else is left here, and the box is freed.
    pub fn end_start(&mut self) {
        let Some(special) = self.written() else { return };
        special.start = None;
        if special.is_idle() {
            *self = Self::new();
        }
    }
    /// Whether a control watches single segments.
    #[inline]
    pub fn is_recorded(&self) -> bool {
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
    /// No segment waits for pacing any more.
    #[inline]
    pub fn stop_waiting_for_pace(&mut self) {
        if let Some(special) = self.written() {
            special.pacing.wake = Time::MAX;
        }
    }
}
