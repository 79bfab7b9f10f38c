//! Acknowledgements, loss detection and recovery (RFC 5681, RFC 6582, RFC 6675, RFC 6298).

use crate::control::{Ack, Control};
use crate::ranges::Range;
use crate::scoreboard::DUP_THRESH;
use crate::send::{Phase, Repair};
use crate::{Endpoint, Flags, Output, Recovery, ReductionBase, Segment};
use units::Time;

impl Endpoint {
    // === Acknowledgements ===

    /// Takes the acknowledgement, window and SACK blocks of a segment.
    #[inline]
    pub(crate) fn take_ack(&mut self, now: Time, segment: &Segment, out: &mut Output) {
        let tx = &mut self.tx;
        if segment.ack < tx.una {
            if segment.sack_count() > 0 && self.sack && tx.una < tx.nxt && !self.goes_back_n() {
                self.take_overtaken_ack(now, segment, out);
            }
            return;
        }
        let phase = tx.phase;
        let edge = segment.ack + u64::from(segment.window);
        // As Linux (`tcp_may_update_window`): what acknowledges something new is news of the window too, also in a
        // retransmission, whose sequence number is old. So the edge is never behind una.
        let current = segment.seq >= tx.window_seq || segment.ack > tx.una;
        let moved = current && edge != tx.window_edge;
        if moved {
            tx.window_edge = edge;
            tx.window_seq = segment.seq;
            tx.max_window = tx.max_window.max(segment.window);
        }
        if current && (segment.window == 0) != tx.shut {
            tx.shut = !tx.shut;
            tx.repair.counts.zero_windows_seen += u32::from(tx.shut);
            if self.tx.shut && self.config.push_flow_control {
                self.begin_push_flow_control();
            }
        }
        if self.config.push_flow_control {
            self.judge_push_flow_control(segment);
        }
        if self.tx.probing {
            self.take_probe_answer(segment);
        }
        let watched = self.is_watched();
        let pipe_before = if watched { self.begin_watched(now, segment) } else { 0 };
        let news = if segment.sack_count() == 0 || !self.sack {
            0
        } else if self.goes_back_n() {
            self.counts_as_duplicate(segment)
        } else {
            self.take_sack(now, segment)
        };
        let echoed = self.take_echo(now, segment);
        let tx = &mut self.tx;
        if segment.ack > tx.una {
            self.take_new_ack(now, segment, news, pipe_before, echoed, out);
        } else {
            if watched {
                self.judge_by_rack(now, segment, false);
            }
            let tx = &mut self.tx;
            // ns-2 has no windows that could move; the first one after the handshake always does.
            let moved = moved && !self.config.falls();
            if tx.una < tx.nxt && segment.len == 0 && (news > 0 || !self.sack && !moved) {
                self.report_delivery(now, pipe_before);
                self.take_duplicate_ack(now, news, out);
            }
        }
        if self.tx.repair.there().is_some_and(|repair| repair.undo.is_some()) {
            self.judge_undo(now, segment, phase);
        }
        if watched {
            self.recover_by_rack(now, news, out);
        }
    }
    /// An acknowledgement that a later one has overtaken: its field says nothing new, its SACK blocks may.
    #[cold]
    fn take_overtaken_ack(&mut self, now: Time, segment: &Segment, out: &mut Output) {
        let watched = self.is_watched();
        let pipe_before = if watched { self.begin_watched(now, segment) } else { 0 };
        let news = self.take_sack(now, segment);
        if watched {
            self.judge_by_rack(now, segment, false);
        }
        if news > 0 {
            self.report_delivery(now, pipe_before);
            self.take_duplicate_ack(now, news, out);
        }
        if watched {
            self.recover_by_rack(now, news, out);
        }
    }
    /// Starts an acknowledgement of a watched connection; returns the bytes in flight before it.
    fn begin_watched(&mut self, now: Time, segment: &Segment) -> u64 {
        self.begin_rack(now, segment);
        self.tx.pipe()
    }
    /// The acknowledgement has moved una on a watched connection. True if RACK finds a loss.
    fn take_watched(&mut self, now: Time, segment: &Segment, pipe_before: u64) -> bool {
        if let Some(rack) = self.tx.rack() {
            rack.on_ack(segment.ack);
        }
        let found = self.judge_by_rack(now, segment, true);
        self.report_delivery(now, pipe_before);
        found
    }
    /// Takes the SACK blocks; returns how many bytes they newly cover.
    #[cold]
    fn take_sack(&mut self, now: Time, segment: &Segment) -> u64 {
        let tx = &mut self.tx;
        let mut news = 0;
        if let Some((start, end)) = segment.dsack() {
            if let Some(rack) = tx.rack() {
                rack.on_dsack(end);
            }
            if let Some(undo) = tx.undo() {
                undo.on_dsack(start, end);
            }
        }
        let floor = segment.ack.max(tx.una);
        for (start, end) in segment.sack_blocks() {
            if start > floor && start < end && end <= tx.nxt {
                let block = Range { start, end };
                let Repair { board, rack, .. } = &mut *tx.repair;
                news += board.sack(start, end, |piece| {
                    if let Some(flight) = self.special.flight() {
                        flight.on_sack(now, block, piece);
                    }
                    if let Some(rack) = rack {
                        rack.on_sack(block, piece);
                    }
                });
            }
        }
        news
    }
    /// Hands a control that watches deliveries the sample of this acknowledgement.
    #[inline]
    fn report_delivery(&mut self, now: Time, pipe_before: u64) {
        let tx = &mut self.tx;
        let Some(special) = self.special.written() else { return };
        let Some(flight) = special.flight.as_deref_mut() else { return };
        let pipe = tx.pipe();
        flight.on_ack(now, tx.una);
        let mut delivery = flight.take_delivery(self.rtt.min());
        delivery.now = now;
        delivery.newly_lost = tx.repair.written().map_or(0, |repair| repair.board.take_lost());
        delivery.prior_pipe = pipe_before;
        delivery.pipe = pipe;
        delivery.departure = special.pacing.next;
        self.control.on_delivery(&mut tx.window, &delivery);
    }
    #[inline]
    fn take_new_ack(
        &mut self,
        now: Time,
        segment: &Segment,
        news: u64,
        pipe_before: u64,
        echoed: bool,
        out: &mut Output,
    ) {
        let pushed = self.config.push_flow_control && self.acknowledges_pushed(segment);
        let tx = &mut self.tx;
        let acked = segment.ack - tx.una;
        let flight = tx.nxt - tx.una;
        let fresh = match tx.repair.written() {
            Some(repair) if !repair.board.is_clear() => repair.board.advance(tx.una, segment.ack),
            _ => acked,
        };
        // Without SACK every duplicate acknowledgement stood for a segment that had arrived (Linux,
        // `tcp_remove_reno_sacks`): what slow start counts is the rest, at least a segment.
        let fresh = if tx.dup_acks > 0 && !self.sack && tx.phase == Phase::Open {
            let mss = u64::from(tx.window.mss);
            fresh.saturating_sub(u64::from(tx.dup_acks) * mss).max(mss).min(acked)
        } else {
            fresh
        };
        if tx.dup_acks > 0 && matches!(tx.phase, Phase::Open | Phase::Loss) && (!self.sack || self.config.falls()) {
            // Limited transmit is for duplicates alone (RFC 3042): the window must not stay wider.
            self.tx.repair.inflation = 0;
        }
        let tx = &mut self.tx;
        tx.una = segment.ack;
        tx.retries = 0;
        tx.dup_acks = 0;
        if tx.timed_end != 0 && tx.una >= tx.timed_end {
            // With timestamps the echo tells which transmission is acknowledged. Without, Karn's rule: a retransmission
            // has cleared `timed_end`.
            let rtt = if self.timestamps && segment.flags.contains(Flags::TIMESTAMPS) && tx.timed_at == Time::MAX {
                Time::from_us(u64::from((now.as_us() as u32).wrapping_sub(segment.ts_ecr)))
            } else {
                now.saturating_sub(tx.timed_at)
            };
            tx.timed_end = 0;
            if pushed {
                self.rtt.end_back_off();
            } else {
                self.rtt.sample(rtt, &self.config);
            }
        }
        // RFC 6582, section 4, the impatient variant: only the first partial acknowledgement restarts the timer.
        let impatient = tx.phase == Phase::Recovery && !self.sack && tx.repair.partial && tx.una < tx.repair.recover;
        if !impatient {
            if tx.una < tx.nxt {
                tx.timer_at = now.saturating_add(self.rtt.rto(&self.config));
            } else {
                tx.timer_at = Time::MAX;
                if self.config.timer_runs_on() {
                    // ns-2's timer runs on from here.
                    tx.last_sent = now;
                }
            }
        }
        let watched = self.is_watched();
        let found = watched && self.take_watched(now, segment, pipe_before);
        let follows = self.follows_echo();
        let tx = &mut self.tx;
        let ack = Ack {
            now,
            acked,
            delivered: fresh + news,
            slow_start_limit: self.config.slow_start_limit(tx.window.mss, tx.phase == Phase::Loss),
            flight,
            una: tx.una,
            nxt: tx.nxt,
            cwnd_limited: tx.uses_window() || !self.config.window_validation,
            smoothed_rtt: self.rtt.smoothed().unwrap_or_default(),
            least_rtt: self.rtt.min().unwrap_or_default(),
        };
        match tx.phase {
            Phase::Open if follows => {
                if self.follow_echo(fresh + news, true) && !echoed && !found {
                    self.open_after_reduction(&ack);
                }
            }
            Phase::Open if echoed || found => {}
            Phase::Open if self.special.is_blank() => self.control.on_ack(&mut tx.window, &ack),
            Phase::Open => {
                if !self.start_by_hystart(&ack, fresh == acked) {
                    self.control.on_ack(&mut self.tx.window, &ack);
                }
            }
            Phase::Recovery => {
                self.advance_recovery(now, &ack, found, out);
                let ends = self.tx.phase == Phase::Open && self.sack && self.reduces_proportionally();
                if ends && !echoed && !found {
                    self.open_after_reduction(&ack);
                }
            }
            Phase::Restart | Phase::Loss => {
                if !echoed {
                    self.control.on_ack(&mut tx.window, &ack);
                }
                if tx.una >= tx.repair.recover {
                    self.enter_phase(now, Phase::Open);
                    self.control.on_recovered(&mut self.tx.window, now);
                }
            }
        }
        if pushed && self.tx.phase == Phase::Open {
            self.clamp_pushed(flight);
        }
        if self.tx.finishing && self.tx.una > self.tx.write_end {
            self.on_fin_acknowledged(now, out);
        }
    }
    /// The acknowledgement that ends a proportional reduction finds cwnd at ssthresh and opens it by what it delivers
    /// itself (Linux, `tcp_ack`: the state is open again when `tcp_cong_control` looks at it).
    #[cold]
    fn open_after_reduction(&mut self, ack: &Ack) {
        self.control.on_ack(&mut self.tx.window, &Ack { acked: ack.delivered, ..*ack });
    }
    /// A cumulative acknowledgement in fast recovery, full or partial.
    #[cold]
    fn advance_recovery(&mut self, now: Time, ack: &Ack, found: bool, out: &mut Output) {
        let (acked, delivered) = (ack.acked, ack.delivered);
        let tx = &mut self.tx;
        let mss = u64::from(tx.window.mss);
        let falls = self.config.falls();
        let mut opens = false;
        if tx.una >= tx.repair.recover {
            if !self.sack && falls {
                // ns-2's NewReno: cwnd is what the losses left of it, and grows.
                opens = true;
            } else if !self.sack {
                // RFC 6582, section 3.2, full acknowledgement, option 1: no burst.
                tx.window.cwnd = tx.window.ssthresh.min((tx.nxt - tx.una).max(mss) + mss);
            } else if self.reduces_proportionally() {
                self.tx.window.cwnd = self.tx.window.ssthresh;
            }
            self.enter_phase(now, Phase::Open);
            if self.sack && self.config.timer_runs_on() {
                self.tx.repair.recover = 0;
            }
            self.control.on_recovered(&mut self.tx.window, now);
            if opens {
                self.control.on_ack(&mut self.tx.window, &Ack { acked: mss, delivered: mss, ..*ack });
            }
        } else if self.sack {
            // Fall and Floyd: two segments have left the network, the lost one and its retransmission.
            tx.count_down(2 * mss);
            tx.repair.partial = true;
            self.continue_sack_recovery(delivered, true, found);
        } else {
            // RFC 6582, partial acknowledgement: deflate by the bytes acknowledged, add back one segment, retransmit
            // the next hole.
            let refill = if acked >= mss { mss as u32 } else { 0 };
            if falls && acked > u64::from(tx.repair.inflation) {
                // ns-2 (`NewRenoTcpAgent::partialnewack`) takes the rest from cwnd.
                let rest = acked - u64::from(tx.repair.inflation);
                tx.window.cwnd = tx.window.cwnd.saturating_sub(rest).max(mss);
                tx.repair.inflation = acked as u32;
            }
            tx.repair.inflation = (tx.repair.inflation + refill).saturating_sub(acked as u32);
            tx.repair.partial = true;
            self.retransmit_first(now, out);
        }
    }
    #[cold]
    fn take_duplicate_ack(&mut self, now: Time, news: u64, out: &mut Output) {
        let tx = &mut self.tx;
        tx.repair.counts.duplicate_acks += 1;
        let mss = tx.window.mss;
        tx.dup_acks = tx.dup_acks.saturating_add(1);
        if self.loses_the_first() {
            return self.enter_recovery(now, news, out);
        }
        let tx = &mut self.tx;
        match tx.phase {
            Phase::Recovery if self.sack => {
                tx.count_down(u64::from(mss));
                self.continue_sack_recovery(news, false, false);
            }
            Phase::Recovery => tx.repair.inflation += mss,
            Phase::Loss if self.config.falls() => {
                // ns-2 (`send_one`): the first two duplicates let another segment go here too.
                if self.config.limited_transmit && u64::from(tx.dup_acks) < DUP_THRESH {
                    tx.repair.inflation = u32::from(tx.dup_acks) * mss;
                }
            }
            Phase::Restart | Phase::Loss => {}
            // RACK does not count duplicates.
            Phase::Open if tx.repair.rack.is_some() => {}
            Phase::Open => {
                if self.follows_echo() {
                    self.follow_echo(news, false);
                }
                let tx = &mut self.tx;
                let stale = |sent: Time| now > sent.saturating_add(self.rtt.unclamped());
                let enough = u64::from(tx.dup_acks) >= DUP_THRESH
                    || self.control.retransmits_early()
                        && self.special.flight().and_then(|flight| flight.first_sent_at()).is_some_and(stale);
                let falls = self.config.falls();
                let lost = if self.sack && !self.config.timer_runs_on() {
                    tx.una >= tx.repair.recover && (enough || tx.repair.board.is_lost(tx.una, mss))
                } else if self.sack {
                    // `Sack1TcpAgent::dupack_action`: something beyond the last timeout's window is acknowledged. Its
                    // Sack1 counts duplicates alone, whatever their blocks say.
                    let enough = enough || !falls && tx.repair.board.is_lost(tx.una, mss);
                    tx.una > tx.repair.recover && enough
                } else {
                    tx.una > tx.repair.recover && enough
                };
                if lost && !self.control.recovers_fast() {
                    self.restart(now, out);
                } else if lost {
                    self.enter_recovery(now, news, out);
                } else if (!self.sack || falls && tx.retries == 0)
                    && self.config.limited_transmit
                    && u64::from(tx.dup_acks) < DUP_THRESH
                {
                    // RFC 3042: one new segment for each of the first two duplicates. With SACK, *pipe* has shrunk by
                    // itself.
                    tx.repair.inflation = u32::from(tx.dup_acks) * mss;
                }
            }
        }
    }
    pub(crate) fn enter_recovery(&mut self, now: Time, news: u64, out: &mut Output) {
        self.tx.repair.counts.fast_recoveries += 1;
        self.enter_phase(now, Phase::Recovery);
        let news_of_loss = self.loss_is_news();
        let tx = &mut self.tx;
        let mss = tx.window.mss;
        tx.repair.recover = tx.nxt;
        tx.repair.partial = false;
        let flight = self.halved();
        if news_of_loss {
            self.begin_undo();
            self.control.on_loss(&mut self.tx.window, now, flight);
        }
        let under_way = self.end_echo_reduction();
        let tx = &mut self.tx;
        if self.sack {
            if !under_way {
                tx.begin_reduction(news);
            }
            self.continue_sack_recovery(news, false, false);
        } else {
            tx.repair.inflation = DUP_THRESH as u32 * mss;
        }
        self.tx.timer_at = now.saturating_add(self.rtt.rto(&self.config));
        self.retransmit_first(now, out);
        if self.sack && self.config.falls() {
            // *pipe* starts at the outstanding data less three segments; the retransmission is not added.
            let tx = &mut self.tx;
            let pipe = (tx.nxt - tx.una).saturating_sub(DUP_THRESH * u64::from(mss));
            tx.count_pipe(pipe);
            tx.repair.begins = true;
        }
        // RFC 6675, step 4.3: no premature rescue retransmission.
        self.tx.repair.rescue = self.tx.repair.board.retransmitted_edge();
    }
    /// A loss under a control without fast recovery: the segment is retransmitted at once, and the rest in slow start.
    pub(crate) fn restart(&mut self, now: Time, out: &mut Output) {
        self.tx.repair.counts.fast_recoveries += 1;
        let flight = self.halved();
        self.enter_phase(now, Phase::Restart);
        let news_of_loss = self.loss_is_news();
        let tx = &mut self.tx;
        tx.repair.recover = tx.nxt;
        if tx.rack().is_none() {
            tx.repair.board.mark_lost(tx.una, tx.nxt);
        }
        self.mark_overdue(now, true);
        let tx = &mut self.tx;
        let threshold = tx.window.ssthresh;
        self.control.on_loss(&mut tx.window, now, flight);
        if !news_of_loss {
            tx.window.ssthresh = threshold;
        }
        tx.timer_at = now.saturating_add(self.rtt.rto(&self.config));
        self.transmit(now, out);
    }
    /// A further acknowledgement in recovery, with `delivered` bytes newly delivered; `moved` if una has moved.
    fn continue_sack_recovery(&mut self, delivered: u64, moved: bool, found: bool) {
        let tx = &mut self.tx;
        let mut worse = found;
        if tx.rack().is_none() {
            let lost = tx.repair.board.lost();
            tx.repair.board.find_losses(tx.una, tx.window.mss);
            worse = tx.repair.board.lost() > lost;
        }
        if self.reduces_proportionally() {
            self.tx.reduce_proportionally(delivered, moved && !worse);
        }
    }
    /// What a loss cuts: cwnd or FlightSize, or the usable window, as Fall and Floyd do. A cwnd that grows unused is no
    /// measure of the network (RFC 9438, section 4.6).
    pub(crate) fn halved(&self) -> u64 {
        let window = self.config.reduction_base == ReductionBase::Window;
        if window || self.sack && self.config.falls() {
            self.tx.usable(&self.config)
        } else if self.config.reduces_cwnd() {
            self.tx.window.cwnd
        } else {
            self.tx.flight_size()
        }
    }
    /// Whether proportional rate reduction (RFC 6937) governs the window in recovery.
    pub(crate) fn reduces_proportionally(&self) -> bool {
        self.config.proportional_reduction
            && self.config.recovery != Recovery::FallFloyd
            && self.control.reduces_proportionally()
    }
    /// Changes the phase, and clears the scoreboard's loss marks.
    pub(crate) fn enter_phase(&mut self, now: Time, phase: Phase) {
        let tx = &mut self.tx;
        let spent = now.saturating_sub(tx.repair.phase_since);
        match tx.phase {
            Phase::Open => {}
            Phase::Recovery | Phase::Restart => tx.repair.counts.recovery_time += spent,
            Phase::Loss => tx.repair.counts.timeout_time += spent,
        }
        tx.dup_acks = 0;
        if phase == Phase::Open && tx.repair.is_blank() {
            return;
        }
        if let Some(rack) = tx.rack() {
            rack.reset_probe();
            if phase == Phase::Open {
                rack.on_recovered();
            }
        }
        if phase != Phase::Open {
            self.special.end_start();
        }
        let tx = &mut self.tx;
        tx.phase = phase;
        tx.repair.phase_since = now;
        tx.repair.inflation = 0;
        tx.stop_counting();
        tx.repair.board.forget_losses();
    }

    // === Timeouts ===

    pub(crate) fn on_retransmission_timeout(&mut self, now: Time, out: &mut Output) {
        self.tx.repair.counts.timeouts += 1;
        out.timeouts += 1;
        // The wait for this timer began in the phase that ends now. It counts as lost to the timeout.
        let wait = self.rtt.rto(&self.config);
        match self.tx.phase {
            Phase::Open => self.tx.repair.counts.timeout_time += wait,
            Phase::Recovery | Phase::Restart => {
                self.tx.repair.counts.timeout_time += wait;
                self.tx.repair.phase_since = self.tx.repair.phase_since.saturating_add(wait).min(now);
            }
            Phase::Loss => {}
        }
        if self.tx.retries >= self.config.max_retries {
            return self.give_up(now, out);
        }
        // Linux (`tcp_enter_loss`): a recovery that the timer interrupts has cut ssthresh already, and cwnd is no
        // measure while it shrinks.
        let cut = self.config.reduces_cwnd() && self.tx.phase == Phase::Recovery;
        let falls = self.config.falls();
        // ns-2 (`TcpAgent::timeout`) halves what is left with every timeout.
        let repeated = (self.tx.retries > 0 || cut) && !falls;
        self.tx.retries += 1;
        let flight = self.halved();
        if !repeated {
            self.begin_undo();
        }
        self.end_echo_reduction();
        self.enter_phase(now, Phase::Loss);
        self.start_ended = false;
        self.note_reduction();
        let goes_back_n = self.goes_back_n();
        let tx = &mut self.tx;
        if goes_back_n || tx.repair.board.is_sacked(tx.una) {
            // The receiver reneged on what it SACKed (RFC 2018, section 8).
            tx.repair.board.forget_sacked();
            if let Some(rack) = tx.rack() {
                rack.forget_arrived();
            }
        }
        tx.repair.recover = tx.nxt;
        if tx.rack().is_none() {
            tx.repair.board.mark_lost(tx.una, tx.nxt);
        }
        self.mark_overdue(now, false);
        let tx = &mut self.tx;
        self.control.on_timeout(&mut tx.window, now, flight, repeated);
        self.rtt.back_off();
        tx.timer_at = now.saturating_add(self.rtt.rto(&self.config));
        if tx.rack().is_some() {
            // The first lost segment goes, whatever is still believed in flight.
            self.retransmit_first(now, out);
        }
        self.transmit(now, out);
    }
    /// The persist timer has expired: the peer's window is zero (RFC 9293, section 3.8.6.1), or too small to be worth
    /// filling (RFC 1122, section 4.2.3.4). Sends what fits, or a one-byte window probe.
    pub(crate) fn on_persist_timeout(&mut self, now: Time, out: &mut Output) {
        let full = self.full_segment();
        let tx = &mut self.tx;
        if tx.nxt >= tx.write_end {
            return self.transmit(now, out);
        }
        if tx.retries >= self.config.max_retries {
            return self.give_up(now, out);
        }
        tx.retries += 1;
        tx.probes = tx.probes.saturating_add(1);
        let room = tx.window_edge.saturating_sub(tx.nxt);
        let len = room.min(tx.write_end - tx.nxt).min(full);
        if len > 0 {
            self.send_new(now, len as u32, out);
        } else {
            tx.repair.counts.window_probes += 1;
            tx.probing = true;
            self.arm_persist(now);
            self.send_segment(now, self.tx.nxt, 1, Flags::NONE, out);
        }
    }
    /// An answer while a window probe is out: the peer lives, and may have taken the byte.
    #[cold]
    fn take_probe_answer(&mut self, segment: &Segment) {
        let tx = &mut self.tx;
        tx.retries = 0;
        if segment.ack > tx.nxt {
            tx.nxt = segment.ack;
        }
        if tx.window_edge > tx.nxt {
            tx.probing = false;
            tx.timer_at = Time::MAX;
        }
    }
}
