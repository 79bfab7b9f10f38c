//! RACK-TLP in an endpoint (RFC 8985): its reactions to acknowledgements and timers, and tail loss probes.

use crate::control::Control;
use crate::rack::{Rack, Verdict};
use crate::send::{Phase, Sender};
use crate::{Endpoint, Flags, Output, Segment};
use units::Time;

/// The probe timeout before the first RTT sample (section 7.2).
const FIRST_PROBE: Time = Time::from_secs(1);

impl Sender {
    /// RACK's state, if recovery is by RACK.
    #[inline]
    pub fn rack(&mut self) -> Option<&mut Rack> {
        self.repair.written()?.rack.as_deref_mut()
    }
}

impl Endpoint {
    /// Whether RACK or a control watches single segments.
    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.tx.repair.there().is_some_and(|repair| repair.rack.is_some()) || self.special.is_recorded()
    }
    /// Starts an acknowledgement.
    #[inline]
    pub(crate) fn begin_rack(&mut self, now: Time, segment: &Segment) {
        if let Some(rack) = self.tx.rack() {
            let echo = (self.timestamps && segment.flags.contains(Flags::TIMESTAMPS)).then_some(segment.ts_ecr);
            rack.begin(now, echo);
        }
    }
    /// Runs when RACK knows all that the acknowledgement says; `moved` if una has moved. True if more segments are
    /// lost.
    #[inline]
    pub(crate) fn judge_by_rack(&mut self, now: Time, segment: &Segment, moved: bool) -> bool {
        self.tx.rack().is_some() && self.judge(now, segment, moved)
    }
    fn judge(&mut self, now: Time, segment: &Segment, moved: bool) -> bool {
        let (una, nxt) = (self.tx.una, self.tx.nxt);
        let Some(rack) = self.tx.rack() else { return false };
        rack.adapt(una, nxt);
        let bare = !moved && segment.len == 0 && segment.sack_count() == 0;
        let verdict = rack.judge_probe(una, bare);
        let lost = self.find_losses(now);
        if verdict == Verdict::Repaired && self.tx.phase == Phase::Open && !lost {
            // Section 7.4.2: a loss that the probe repaired reduces the window like any other.
            let flight = self.halved();
            if self.loss_is_news() {
                self.control.on_loss(&mut self.tx.window, now, flight);
                self.control.on_recovered(&mut self.tx.window, now);
            }
        }
        lost
    }
    fn find_losses(&mut self, now: Time) -> bool {
        let (recovering, smoothed) = (self.tx.phase != Phase::Open, self.rtt.smoothed().unwrap_or_default());
        let Some(repair) = self.tx.repair.written() else { return false };
        let Some(rack) = &mut repair.rack else { return false };
        let found = rack.find_losses(now, recovering, smoothed);
        repair.board.add_lost(found);
        found > 0
    }
    /// Starts a recovery if RACK has found a loss outside one.
    #[inline]
    pub(crate) fn recover_by_rack(&mut self, now: Time, news: u64, out: &mut Output) {
        if self.tx.phase == Phase::Open && self.tx.rack().is_some_and(|rack| rack.has_lost()) {
            if self.control.recovers_fast() {
                self.enter_recovery(now, news, out);
            } else {
                self.restart(now, out);
            }
        }
    }
    /// Retransmits what RACK has found lost, as far as the window allows. True when new data may follow.
    pub(crate) fn retransmit_found(&mut self, now: Time, out: &mut Output) -> bool {
        loop {
            let full = self.full_segment();
            let Some((start, end)) = self.tx.rack().and_then(|rack| rack.next_lost(full)) else { return true };
            if self.tx.pipe() + full > self.allowance() {
                self.tx.note_use(true);
                return false;
            }
            if self.must_wait(now) {
                return false;
            }
            self.send_again(now, start, end, out);
        }
    }
    /// Marks lost what is overdue at the RTO (section 6.3); with `all`, everything outstanding.
    pub(crate) fn mark_overdue(&mut self, now: Time, all: bool) {
        let smoothed = self.rtt.smoothed().unwrap_or_default();
        if let Some(repair) = self.tx.repair.written()
            && let Some(rack) = &mut repair.rack
        {
            repair.board.add_lost(rack.mark_overdue(now, all, smoothed));
        }
    }

    // === Timers (sections 7.2, 7.3 and 8) ===

    /// Sets the timer for RACK's next deadline. Runs after everything was sent.
    #[inline]
    pub(crate) fn arm_rack(&mut self, now: Time) {
        if self.tx.rack().is_some() {
            self.arm(now);
        }
    }
    fn arm(&mut self, now: Time) {
        let tx = &mut self.tx;
        let (outstanding, open, expiry) = (tx.nxt - tx.una, tx.phase == Phase::Open, tx.timer_at);
        let one = outstanding <= u64::from(tx.window.mss);
        let Some(rack) = tx.rack() else { return };
        let restart = std::mem::take(&mut rack.probe.restart);
        if outstanding == 0 || !open || rack.arrived() > 0 || rack.probe.end.is_some() {
            rack.probe.at = Time::MAX;
        } else if restart {
            // TLP_calc_PTO. The peer may delay the acknowledgement of a single segment, by how much is unknown: Linux
            // allows for its smallest RTO (`tcp_schedule_loss_probe`). Where no acknowledgement is delayed at all,
            // nothing is added.
            let delay = if one && self.config.delayed_ack.is_some() { self.config.min_rto } else { Time::ZERO };
            let wait = self.rtt.smoothed().map_or(FIRST_PROBE, |smoothed| (smoothed * 2).saturating_add(delay));
            rack.probe.at = now.saturating_add(wait).min(expiry);
        }
        let next = rack.probe.at.min(rack.reorder_at);
        if next < self.special.pacing.wake {
            self.special.pacing.wake = next;
        }
    }
    /// The reordering timer or the probe timer may have expired.
    pub(crate) fn on_rack_timer(&mut self, now: Time, out: &mut Output) {
        let Some(rack) = self.tx.rack() else { return };
        let (late, tail) = (now >= rack.reorder_at, now >= rack.probe.at);
        if late {
            self.find_losses(now);
            self.recover_by_rack(now, 0, out);
        }
        if tail {
            self.send_probe(now, out);
        }
    }
    /// TLP_send_probe (section 7.3).
    fn send_probe(&mut self, now: Time, out: &mut Output) {
        let full = self.full_segment();
        let tx = &mut self.tx;
        let (una, nxt, open, room) = (tx.una, tx.nxt, tx.phase == Phase::Open, tx.room);
        let Some(rack) = tx.rack() else { return };
        rack.probe.at = Time::MAX;
        // As Linux (`tcp_send_loss_probe`): what would be probed for may still wait in a full transmit queue.
        if una >= nxt || !open || rack.probe.end.is_some() || !rack.probe.sampled || room == 0 {
            // The retransmission timer takes over.
            return;
        }
        let last = rack.last(full);
        let len = tx.write_end.saturating_sub(nxt).min(full);
        let held = self.cork && tx.push_end < nxt + len && !tx.finishing;
        let fits = nxt < tx.stream_end() && nxt + len <= tx.send_edge(&self.config) && !held;
        if fits {
            self.send_new(now, len as u32, out);
        } else if let Some((start, end)) = last {
            self.send_again(now, start, end, out);
        }
        let nxt = self.tx.nxt;
        if let Some(rack) = self.tx.rack() {
            rack.probe.end = Some(nxt);
            rack.probe.again = !fits;
            rack.probe.sampled = false;
        }
        self.tx.repair.counts.tail_probes += 1;
        self.tx.timer_at = now.saturating_add(self.rtt.rto(&self.config));
    }
}
