//! What HyStart needs of a slow start: RTT samples per burst, and the rule that ends it before the queue overflows.

use crate::control::{Ack, Control, ControlKind, HyStart, HyStartPlusPlus};
use crate::send::Phase;
use crate::{Endpoint, StartRule};
use std::collections::VecDeque;
use units::Time;

/// Segments sent at the same instant. In slow start one acknowledgement releases several, so bursts are far fewer than
/// segments.
#[derive(Clone, Copy, Debug)]
struct Burst {
    end: u64,
    sent_at: Time,
}

/// Send times of the data in flight.
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
    /// Everything below `una` is acknowledged. Returns the RTT of the newest segment acknowledged, if its send time is
    /// known.
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

/// Exists while HyStart watches a slow start.
#[derive(Clone, Debug)]
pub(crate) struct StartWatch {
    departures: Departures,
    judge: Judge,
}

#[derive(Clone, Debug)]
enum Judge {
    Linux(HyStart),
    Rfc9406(HyStartPlusPlus),
}

// One per connection that is in slow start (`sim/tests/it/scale.rs`).
const _: () = assert!(size_of::<StartWatch>() <= 96);

impl Endpoint {
    /// Whether HyStart applies now. HyStart++ watches only the first slow start: whatever sets ssthresh ends it.
    /// Linux's HyStart watches every slow start until it has ended one, and again after a timeout.
    fn hystart_watches(&self) -> bool {
        let window = &self.tx.window;
        self.tx.phase == Phase::Open
            && match self.config.hystart {
                StartRule::Off => false,
                StartRule::Linux => {
                    self.config.control == ControlKind::Cubic && window.slow_start() && !self.start_ended
                }
                StartRule::Rfc9406 => self.control.starts_as_reno() && window.ssthresh == u64::MAX,
            }
    }
    /// New data `start..end` is sent in slow start.
    #[inline(never)]
    pub(crate) fn note_departure(&mut self, now: Time, start: u64, end: u64) {
        if !self.hystart_watches() {
            return;
        }
        let by_linux = self.config.hystart == StartRule::Linux;
        let judge = || {
            if by_linux { Judge::Linux(HyStart::new(now, start)) } else { Judge::Rfc9406(HyStartPlusPlus::default()) }
        };
        let begin = || Box::new(StartWatch { departures: Departures::default(), judge: judge() });
        self.special.start.get_or_insert_with(begin).departures.on_send(now, start, end);
    }
    /// After a retransmission an acknowledgement does not tell which transmission it is for (Karn).
    pub(crate) fn forget_departures(&mut self) {
        if let Some(start) = self.special.start() {
            start.departures.bursts.clear();
        }
    }
    /// New data was acknowledged outside recovery; `in_order` if none of it was SACKed before. True if HyStart++ has
    /// grown the window in place of the control.
    pub(crate) fn start_by_hystart(&mut self, ack: &Ack, in_order: bool) -> bool {
        if !self.hystart_watches() {
            self.special.end_start();
            return false;
        }
        let window = &mut self.tx.window;
        let bounds = &self.config.hystart_bounds;
        let Some(start) = self.special.start() else { return false };
        let rtt = start.departures.on_ack(ack.now, ack.una).filter(|_| in_order);
        match &mut start.judge {
            Judge::Linux(hystart) => {
                self.start_ended = rtt.is_some_and(|rtt| hystart.on_ack(window, ack, rtt, bounds));
                false
            }
            Judge::Rfc9406(hystart) => {
                hystart.on_ack(window, ack, rtt, bounds);
                true
            }
        }
    }
}
