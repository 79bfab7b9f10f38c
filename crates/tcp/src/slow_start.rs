//! What watches a slow start: round trips, burst by burst, and HyStart, which ends it before the queue overflows.

use crate::Endpoint;
use crate::control::{Ack, Control, HyStart, Window};
use crate::send::Phase;
use std::collections::VecDeque;
use units::Time;

/// Segments that were sent at the same instant. In slow start an acknowledgement releases several, so that there are far fewer bursts than segments.
#[derive(Clone, Copy, Debug)]
struct Burst {
    end: u64,
    sent_at: Time,
}

/// When what is in flight was sent.
#[derive(Clone, Debug, Default)]
struct Departures {
    /// Where the first burst starts.
    start: u64,
    bursts: VecDeque<Burst>,
}

impl Departures {
    fn on_send(&mut self, now: Time, start: u64, end: u64) {
        match self.bursts.back_mut() {
            Some(last) if last.sent_at == now => last.end = end,
            Some(_) => self.bursts.push_back(Burst { end, sent_at: now }),
            None => {
                self.start = start;
                self.bursts.push_back(Burst { end, sent_at: now });
            }
        }
    }
    /// Everything below `una` was acknowledged: the round trip of the newest segment of that, if its departure is known.
    fn on_ack(&mut self, now: Time, una: u64) -> Option<Time> {
        let mut newest = None;
        while let Some(burst) = self.bursts.front().filter(|_| self.start < una) {
            newest = Some(burst.sent_at);
            self.start = burst.end.min(una);
            if burst.end <= una {
                self.bursts.pop_front();
            }
        }
        Some(now.saturating_sub(newest?))
    }
}

/// There while HyStart watches a slow start.
#[derive(Clone, Debug, Default)]
pub(crate) struct StartWatch {
    departures: Departures,
    hystart: HyStart,
}

impl Endpoint {
    /// New data `start..end` goes out in slow start.
    #[inline(never)]
    pub(crate) fn note_departure(&mut self, now: Time, start: u64, end: u64) {
        if watches(&self.tx.window, self.tx.phase) && self.control.starts_as_reno() {
            self.special.start.get_or_insert_default().departures.on_send(now, start, end);
        }
    }
    /// Something is sent again: acknowledgements no longer tell which transmission they are for (Karn).
    pub(crate) fn forget_departures(&mut self) {
        if let Some(start) = self.special.start() {
            start.departures.bursts.clear();
        }
    }
    /// New data was acknowledged outside recovery, by `in_order` without any of it SACKed before. True if HyStart++ has grown the window, in place of
    /// the control.
    pub(crate) fn start_by_hystart(&mut self, ack: &Ack, in_order: bool) -> bool {
        let tx = &mut self.tx;
        if !watches(&tx.window, tx.phase) {
            self.special.end_start();
            return false;
        }
        let Some(start) = self.special.start() else { return false };
        let rtt = start.departures.on_ack(ack.now, ack.una).filter(|_| in_order);
        start.hystart.on_ack(&mut tx.window, ack, rtt);
        true
    }
}

/// HyStart++ watches the first slow start alone: whatever sets the threshold, a loss or HyStart++ itself, ends that.
fn watches(window: &Window, phase: Phase) -> bool {
    window.ssthresh == u64::MAX && phase == Phase::Open
}
