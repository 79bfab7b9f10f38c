//! The sending half: what may be sent, and when.

use crate::cold::{Blank, Cold};
use crate::control::{Control, Window};
use crate::counters::Rare;
use crate::rack::Rack;
use crate::scoreboard::Scoreboard;
use crate::undo::Undo;
use crate::{Config, Endpoint, Flags, IdleRestart, Output, StartRule};
use units::{BitRate, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No loss known.
    Open,
    /// Fast recovery, until `recover` is acknowledged.
    Recovery,
    /// Fast retransmit without fast recovery: slow start over all that was outstanding, until `recover` is
    /// acknowledged.
    Restart,
    /// The retransmission timer expired; until `recover` is acknowledged.
    Loss,
}

/// The `room` of a sender whose transmit queue is not limited.
pub(crate) const FREE: u16 = u16::MAX;

#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Sender {
    /// The first position not acknowledged (SND.UNA).
    pub una: u64,
    /// The next position to send (SND.NXT).
    pub nxt: u64,
    /// The end of what the application has written.
    pub write_end: u64,
    /// Right edge of the peer's window.
    pub window_edge: u64,
    /// Position of the segment that last moved the window (SND.WL1).
    pub window_seq: u64,
    pub window: Window,
    /// When the retransmission timer, or with nothing outstanding the persist timer, expires.
    pub timer_at: Time,
    /// The RTT sample under way ends when this is acknowledged; 0 for none.
    pub timed_end: u64,
    pub timed_at: Time,
    /// When new data was last sent.
    pub last_sent: Time,
    /// The application pushed up to here.
    pub push_end: u64,
    /// Largest window the peer has offered.
    pub max_window: u32,
    /// The record of cwnd's use holds until this is acknowledged (`cwnd_usage_seq` of Linux). The low 32 bits suffice:
    /// it lies within a window of `una`.
    use_until: u32,
    /// TS.Recent: the timestamp to echo.
    pub ts_recent: u32,
    /// The most segments outstanding since the record began (`max_packets_out` of Linux).
    most_out: u16,
    /// Segments with data that may be sent before the owner gives room for more; [`FREE`] for any number.
    pub room: u16,
    pub phase: Phase,
    /// cwnd was full since the record began.
    cwnd_limited: bool,
    /// The application has closed.
    pub finishing: bool,
    /// A byte beyond the peer's window is under way.
    pub probing: bool,
    /// The peer's window is zero.
    pub shut: bool,
    /// Doublings of the persist timer.
    pub probes: u8,
    pub retries: u8,
    pub dup_acks: u8,
    /// Loss recovery and rare counters.
    pub repair: Cold<Repair>,
}

/// State of loss recovery. Amounts lie within one window, below 2^30 bytes (RFC 7323), and take 32 bits.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Repair {
    pub board: Scoreboard,
    /// RecoveryPoint: SND.NXT when the recovery began or the timer expired.
    pub recover: u64,
    /// RescueRxt of RFC 6675: a rescue retransmission may follow once more than this is acknowledged.
    pub rescue: u64,
    /// Records of single segments, with [`Recovery::Rack`](crate::Recovery::Rack).
    pub rack: Option<Box<Rack>>,
    pub phase_since: Time,
    /// What the last reduction for a loss took, while it may prove spurious.
    pub undo: Option<Box<Undo>>,
    /// NewReno's inflation of cwnd by duplicate acknowledgements; also limited transmit's.
    pub inflation: u32,
    /// Proportional rate reduction (RFC 6937): prr_delivered, prr_out and RecoverFS.
    delivered: u32,
    sent: u32,
    recover_flight: u32,
    /// *pipe* with [`Recovery::FallFloyd`](crate::Recovery::FallFloyd).
    counted_pipe: u32,
    counts_pipe: bool,
    /// The first partial acknowledgement of this recovery has arrived (RFC 6582).
    pub partial: bool,
    /// Fall and Floyd: the duplicate that has begun the recovery has sent its one segment, and sends no more.
    pub begins: bool,
    pub counts: Rare,
}

const _: () = assert!(size_of::<Repair>() <= 184);

impl Repair {
    const NONE: Self = Self {
        board: Scoreboard::new(),
        inflation: 0,
        recover: 0,
        rescue: 0,
        delivered: 0,
        sent: 0,
        recover_flight: 0,
        counted_pipe: 0,
        counts_pipe: false,
        rack: None,
        phase_since: Time::ZERO,
        undo: None,
        partial: false,
        begins: false,
        counts: Rare::NONE,
    };
}

impl Blank for Repair {
    const BLANK: &'static Self = &Self::NONE;
    fn blank() -> Self {
        Self::NONE
    }
}

impl Sender {
    pub fn new(config: &Config) -> Self {
        let mss = u32::from(config.mss).max(1);
        Self {
            una: 0,
            nxt: 0,
            write_end: 1,
            window_edge: 0,
            window_seq: 0,
            window: Window {
                start_at_ssthresh: config.start_at_ssthresh,
                ..Window::new(mss, config.initial_window.max(1))
            },
            timer_at: Time::MAX,
            timed_end: 0,
            timed_at: Time::ZERO,
            last_sent: Time::ZERO,
            push_end: 0,
            max_window: 0,
            phase: Phase::Open,
            use_until: 0,
            most_out: 0,
            cwnd_limited: false,
            finishing: false,
            probing: false,
            room: FREE,
            shut: false,
            probes: 0,
            retries: 0,
            dup_acks: 0,
            ts_recent: 0,
            repair: Cold::new(),
        }
    }
    #[inline]
    pub fn pipe(&self) -> u64 {
        let outstanding = self.nxt - self.una;
        let Some(repair) = self.repair.there() else { return outstanding };
        if let Some(rack) = &repair.rack {
            return rack.flying();
        }
        if repair.counts_pipe {
            // Lost acknowledgements never lower the count. It cannot exceed everything outstanding, sent twice.
            return u64::from(repair.counted_pipe).min(2 * outstanding);
        }
        repair.board.pipe(outstanding)
    }
    /// Records how far cwnd is used, after data was sent or when cwnd is `full` (Linux, `tcp_cwnd_validate`). A full
    /// cwnd is remembered until all that is outstanding now is acknowledged. Until one is full, the most segments
    /// outstanding are.
    pub fn note_use(&mut self, full: bool) {
        let out = (self.nxt - self.una).div_ceil(u64::from(self.window.mss)).min(u64::from(u16::MAX)) as u16;
        let over = (self.una as u32).wrapping_sub(self.use_until).cast_signed() >= 0;
        if over || full || !self.cwnd_limited && out > self.most_out {
            (self.cwnd_limited, self.most_out, self.use_until) = (full, out, self.nxt as u32);
        }
    }
    /// Whether cwnd is used so far that it may grow (Linux, `tcp_is_cwnd_limited`). In slow start it may grow to twice
    /// the most in flight.
    pub fn uses_window(&self) -> bool {
        let window = &self.window;
        self.cwnd_limited || window.slow_start() && window.cwnd < 2 * u64::from(self.most_out) * u64::from(window.mss)
    }
    /// Nothing at or beyond this is sent: the peer's window, or `max_window` if smaller.
    #[inline]
    pub fn send_edge(&self, config: &Config) -> u64 {
        self.window_edge.min(self.una.saturating_add(config.ceiling()))
    }
    /// The position after the last byte written, and after the FIN if the application has closed.
    #[inline]
    pub fn stream_end(&self) -> u64 {
        self.write_end + u64::from(self.finishing)
    }
    /// Proportional rate reduction (RFC 6937, RFC 9937): during recovery cwnd shrinks to ssthresh in step with
    /// deliveries. After heavy losses it grows to ssthresh: as in slow start while acknowledgements are `safe`, that
    /// is, una moves and nothing more is found lost; otherwise it only replaces what was delivered. Neither makes a
    /// burst.
    pub fn reduce_proportionally(&mut self, delivered: u64, safe: bool) {
        let (pipe, threshold) = (self.pipe(), self.window.ssthresh);
        let repair = &mut *self.repair;
        repair.delivered = repair.delivered.saturating_add(delivered as u32);
        let (all, sent) = (u64::from(repair.delivered), u64::from(repair.sent));
        let may_send = if pipe > threshold {
            let due = (all * threshold).div_ceil(u64::from(repair.recover_flight).max(1));
            due.next_multiple_of(u64::from(self.window.mss)).saturating_sub(sent)
        } else {
            let more = if safe { u64::from(self.window.mss) } else { 0 };
            let limit = all.saturating_sub(sent).max(delivered) + more;
            (threshold - pipe).min(limit)
        };
        // The fast retransmit that begins the recovery always goes (RFC 9937, section 6; Linux, `tcp_cwnd_reduction`).
        let mss = u64::from(self.window.mss);
        let least = if sent == 0 && self.phase == Phase::Recovery { mss } else { 0 };
        self.window.cwnd = (pipe + may_send.max(least)).max(mss);
    }
    /// Fall and Floyd: an acknowledgement in recovery says that `bytes` have left the network.
    pub fn count_down(&mut self, bytes: u64) {
        self.repair.counted_pipe = self.repair.counted_pipe.saturating_sub(bytes as u32);
    }
    /// Fall and Floyd: from now on *pipe* is counted, starting at `pipe`.
    pub fn count_pipe(&mut self, pipe: u64) {
        let repair = &mut *self.repair;
        (repair.counted_pipe, repair.counts_pipe) = (pipe as u32, true);
    }
    /// *pipe* comes from the scoreboard again.
    pub fn stop_counting(&mut self) {
        self.repair.counts_pipe = false;
    }
    /// Starts the counts of [`reduce_proportionally`](Self::reduce_proportionally); `news` bytes are delivered by the
    /// acknowledgement that starts them. RecoverFS is what is still to be delivered: what was SACKed before is not (RFC
    /// 9937, section 6.1).
    pub fn begin_reduction(&mut self, news: u64) {
        let outstanding = self.nxt - self.una;
        let repair = &mut *self.repair;
        let flight = (outstanding + news).saturating_sub(repair.board.sacked());
        (repair.delivered, repair.sent, repair.recover_flight) = (0, 0, flight as u32);
    }
    /// The smallest of cwnd, the peer's window and `max_window`.
    pub fn usable(&self, config: &Config) -> u64 {
        self.window.cwnd.min(self.send_edge(config) - self.una)
    }
    /// FlightSize of RFC 5681, at most cwnd. Limited transmit exceeds cwnd; so does data sent in place of SACKed or
    /// lost data while a hole holds una. Neither shows what the network can carry.
    pub fn flight_size(&self) -> u64 {
        (self.nxt - self.una).min(self.window.cwnd)
    }
}

impl Endpoint {
    /// After an RTO of silence the old cwnd says little about the network (RFC 5681, section 4.1).
    pub(crate) fn restart_if_idle(&mut self, now: Time) {
        let tx = &mut self.tx;
        if tx.una < tx.nxt || tx.nxt <= 1 {
            return;
        }
        self.control.on_restart(&mut tx.window);
        let (idle, rto) = (now.saturating_sub(tx.last_sent), self.rtt.rto(&self.config));
        if idle <= rto {
            return;
        }
        if self.config.timer_runs_on() {
            // It has expired, and the next window's first segment is not retransmitted early (RFC 6582, 3.2, step 1).
            tx.repair.recover = tx.nxt;
            if self.sack && self.config.falls() {
                tx.retries = 1;
            }
        }
        if self.config.idle_restart == IdleRestart::Off {
            return;
        }
        let mss = u64::from(tx.window.mss);
        let initial = u64::from(self.config.initial_window) * mss;
        let window = match self.config.idle_restart {
            IdleRestart::Ns2 => mss,
            IdleRestart::Linux => {
                let timeouts = (idle.as_ps() - 1) / rto.as_ps().max(1);
                let left = tx.window.cwnd.checked_shr(timeouts.min(64) as u32).unwrap_or(0);
                tx.window.ssthresh = tx.window.ssthresh.max(tx.window.cwnd / 4 * 3);
                left.max(initial)
            }
            IdleRestart::Off | IdleRestart::Rfc5681 => initial,
        };
        self.control.on_idle(&mut tx.window, window);
    }
    /// Sends whatever may be sent: what is lost first (RFC 6675, NextSeg), then new data.
    #[inline]
    pub(crate) fn transmit(&mut self, now: Time, out: &mut Output) {
        self.held = false;
        let tx = &mut self.tx;
        self.special.stop_waiting_for_pace();
        if tx.nxt == tx.stream_end() && tx.phase == Phase::Open && !self.is_watched() {
            // A side that only receives ends here.
            return;
        }
        self.transmit_waiting(now, out);
    }
    #[inline(never)]
    fn transmit_waiting(&mut self, now: Time, out: &mut Output) {
        let through = self.transmit_what_may(now, out);
        if self.is_watched() {
            self.note_sent(now, through);
        }
    }
    /// A watched connection has sent what it may; `through` if nothing lost is held back.
    fn note_sent(&mut self, now: Time, through: bool) {
        let tx = &mut self.tx;
        if through && tx.nxt >= tx.stream_end() && tx.pipe() < tx.window.cwnd {
            let pipe = tx.pipe();
            if let Some(flight) = self.special.flight() {
                flight.set_app_limited(pipe);
            }
        }
        self.arm_rack(now);
    }
    fn transmit_what_may(&mut self, now: Time, out: &mut Output) -> bool {
        if self.config.pacing {
            self.set_pace();
        }
        if self.tx.phase != Phase::Open && !self.retransmit_lost(now, out) {
            return false;
        }
        if self.counts_duplicates() {
            self.send_for_duplicate(now, out);
            return true;
        }
        let tx = &self.tx;
        let end = tx.stream_end();
        if tx.nxt < end {
            let start = tx.nxt;
            self.send_new_data(now, end, out);
            let full = self.tx.pipe() + u64::from(self.tx.window.mss) > self.allowance();
            if full || self.tx.nxt > start {
                self.tx.note_use(full);
            }
        }
        true
    }
    /// The pace of a control that sets only cwnd.
    fn set_pace(&mut self) {
        if self.control.paces() {
            return;
        }
        if let Some(pace) = self.window_pace() {
            self.tx.window.pace_ps_per_byte = pace;
        }
    }
    fn window_pace(&self) -> Option<f64> {
        let window = &self.tx.window;
        let ratio = if window.slow_start() { 2.0 } else { 1.2 };
        Some(self.rtt.smoothed()?.as_ps() as f64 / (ratio * window.cwnd as f64))
    }
    /// The rate at which payload is or would be paced; `None` before the first RTT sample.
    pub fn pace(&self) -> Option<BitRate> {
        let set = Some(self.tx.window.pace_ps_per_byte).filter(|pace| *pace > 0.0);
        let ps_per_byte = set.or_else(|| self.window_pace()).filter(|pace| *pace > 0.0)?;
        Some(BitRate::from_bps((8e12 / ps_per_byte) as u64))
    }
    /// From now on at most this many data segments leave; `None` for no limit. [`resume`](Self::resume) sends what
    /// waits. Fast retransmits and tail loss probes leave in any case.
    pub fn set_room(&mut self, segments: Option<u16>) {
        self.tx.room = segments.map_or(FREE, |segments| segments.min(FREE - 1));
    }
    /// Whether segments wait for room in the transmit queue.
    pub fn is_held(&self) -> bool {
        self.held && self.state.is_synchronized()
    }
    /// Sends what waited for room.
    pub fn resume(&mut self, now: Time, out: &mut Output) {
        if self.state.is_synchronized() {
            self.transmit(now, out);
        }
    }
    /// How many bytes may be in flight.
    #[inline]
    pub(crate) fn allowance(&self) -> u64 {
        self.tx.window.cwnd + self.tx.repair.there().map_or(0, |repair| u64::from(repair.inflation))
    }
    /// Payload of a full segment, less the SACK option that it carries (RFC 6691).
    #[inline]
    pub(crate) fn full_segment(&self) -> u64 {
        let options = if self.config.count_options { self.sack_option_bytes() } else { 0 };
        u64::from(self.tx.window.mss.saturating_sub(options).max(1))
    }
    #[inline]
    pub(crate) fn send_new_data(&mut self, now: Time, end: u64, out: &mut Output) {
        let mss = self.full_segment();
        let allowance = self.allowance();
        while self.tx.nxt < end {
            let tx = &self.tx;
            let written = tx.write_end - tx.nxt;
            let mut len = written.min(mss);
            let spans = !self.config.limited_transmit || self.config.falls();
            let counted = if self.sack && spans && tx.phase == Phase::Open { tx.nxt - tx.una } else { tx.pipe() };
            if counted + len > allowance && len > 0 {
                return;
            }
            let room = tx.send_edge(&self.config).saturating_sub(tx.nxt);
            if len > room {
                // Sender silly window avoidance (RFC 1122, section 4.2.3.4): with nothing outstanding, half the largest
                // window is worth filling. Otherwise wait for more, or for the persist timer.
                len = room;
                if tx.una < tx.nxt {
                    return;
                }
                if len == 0 || 2 * len < u64::from(tx.max_window) {
                    return self.arm_persist(now);
                }
            } else if len < mss && !self.may_send_partial(len) {
                return;
            }
            if self.must_wait(now) {
                return;
            }
            self.send_new(now, len as u32, out);
        }
    }
    /// Whether a last, partial segment may go. Cork holds it until it is pushed, Nagle while data is unacknowledged.
    fn may_send_partial(&self, len: u64) -> bool {
        let tx = &self.tx;
        if tx.finishing {
            return true;
        }
        if self.cork && tx.push_end < tx.nxt + len {
            return false;
        }
        !self.config.nagle || tx.una == tx.nxt
    }
    pub(crate) fn arm_persist(&mut self, now: Time) {
        if self.tx.timer_at == Time::MAX {
            let wait = self.rtt.rto(&self.config).as_ps().saturating_mul(1 << self.tx.probes.min(20));
            self.tx.timer_at = now.saturating_add(Time::from_ps(wait).min(self.config.max_rto));
        }
    }
    #[inline]
    pub(crate) fn must_wait(&mut self, now: Time) -> bool {
        if self.tx.room == 0 {
            self.held = true;
            return true;
        }
        if self.tx.window.pace_ps_per_byte > 0.0 && now < self.special.pacing.next {
            let together = self.special.flight.as_ref().is_some_and(|flight| flight.left_at() == now);
            if together && self.special.pacing.left > 0 {
                return false;
            }
            self.special.pacing.wake = self.special.pacing.next;
            return true;
        }
        false
    }
    /// Sends the next `len` bytes, and the FIN if it follows them.
    #[inline]
    pub(crate) fn send_new(&mut self, now: Time, len: u32, out: &mut Output) {
        let tx = &mut self.tx;
        let start = tx.nxt;
        let mut end = start + u64::from(len);
        if tx.finishing && end == tx.write_end {
            end += 1;
        }
        let idle = tx.una == start;
        if let Some(flight) = self.special.flight() {
            flight.on_send(now, start, end, idle);
        }
        if let Some(rack) = tx.rack() {
            rack.on_send(now, start, end);
        }
        if tx.window.slow_start() && self.config.hystart != StartRule::Off {
            self.note_departure(now, start, end);
        }
        let tx = &mut self.tx;
        tx.nxt = end;
        if tx.timed_end == 0 {
            tx.timed_end = end;
            tx.timed_at = now;
        }
        tx.probing = false;
        tx.probes = 0;
        tx.last_sent = now;
        if tx.timer_at == Time::MAX || idle {
            tx.timer_at = now.saturating_add(self.rtt.rto(&self.config));
        }
        let flags = if len > 0 { self.new_data_flags() } else { Flags::NONE };
        self.send_data(now, start, len, flags, out);
    }
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one step of every segment: a call costs as much as what it does")]
    pub(crate) fn send_data(&mut self, now: Time, start: u64, len: u32, mut flags: Flags, out: &mut Output) {
        let tx = &mut self.tx;
        tx.room = if tx.room == FREE { FREE } else { tx.room.saturating_sub(1) };
        let end = start + u64::from(len);
        if end == tx.write_end || (start < tx.push_end && tx.push_end <= end) {
            flags |= Flags::PSH;
            if self.config.push_flow_control {
                self.note_pushed(end);
            }
        }
        let tx = &mut self.tx;
        if tx.finishing && end == tx.write_end && tx.nxt > tx.write_end {
            flags |= Flags::FIN;
        }
        if let Some(repair) = tx.repair.written() {
            repair.sent = repair.sent.saturating_add(len);
            repair.counted_pipe = repair.counted_pipe.saturating_add(len);
        }
        if tx.window.pace_ps_per_byte > 0.0 {
            let gap = Time::from_ps((f64::from(len) * tx.window.pace_ps_per_byte) as u64);
            self.special.pacing.take(now, gap, tx.window.pace_group);
        }
        self.send_segment(now, start, len, flags, out);
    }
}
