//! BBR, version 1 (Cardwell et al. 2016, "BBR: Congestion-Based Congestion Control";
//! draft-cardwell-iccrg-bbr-congestion-control-00), and what Linux adds to the draft (`tcp_bbr.c`).

mod aggregation;
mod long_term;

use self::aggregation::Aggregation;
use self::long_term::{Counts, LongTerm, Sample, Verdict};
use super::{Ack, Control, Delivery, Window};
use units::Time;

/// 2/ln 2: the smallest gain that doubles the rate every round trip (section 4.1.3.1 of the draft).
const HIGH_GAIN: f64 = std::f64::consts::LOG2_E * 2.0;
/// The cycle of pacing gains while probing for bandwidth (section 4.3.4.2).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Rounds that the bandwidth filter keeps: ten, and Linux the present one besides.
const BANDWIDTH_ROUNDS: usize = 11;
/// How long a minimum RTT stays valid.
const RTPROP_LIFE: Time = Time::from_secs(10);
/// How long cwnd stays at its minimum to measure the RTT without a queue.
const PROBE_RTT_TIME: Time = Time::from_ms(200);
/// The smallest cwnd, in segments, that keeps acknowledgements coming.
const MIN_SEGMENTS: u64 = 4;

/// Part of the estimated bandwidth at which Linux paces.
const PACED_SHARE: f64 = 0.99;
/// Linux makes room for what acknowledgements lump together within this time at most.
const LUMP_TIME: Time = Time::from_ms(100);

/// Whose BBR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BbrRule {
    /// Linux: segments leave in groups of a millisecond, paced a hundredth below the bandwidth; cwnd is in whole
    /// segments and has room for acknowledgements that come in lumps; a policed path is not probed.
    #[default]
    Linux,
    /// The draft: every segment is spaced. So is ns-3's.
    Draft,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBandwidth { phase: usize },
    ProbeRtt,
}

/// Paces by a model of the path: the bottleneck's bandwidth and the RTT without queues.
#[derive(Clone, Debug)]
pub struct Bbr {
    rule: BbrRule,
    state: State,
    /// Largest delivery rate of each of the last rounds, in bytes per picosecond, by round modulo the length.
    bandwidths: [f64; BANDWIDTH_ROUNDS],
    bandwidth: f64,
    /// The round of the last sample that the filter took.
    sampled_round: u64,
    round: u64,
    /// Samples of data sent before this many bytes were delivered show ProbeRTT, not the bandwidth.
    limited_until: u64,
    next_round_delivered: u64,
    round_start: bool,
    rtprop: Option<Time>,
    rtprop_stamp: Time,
    rtprop_expired: bool,
    pacing_gain: f64,
    cwnd_gain: f64,
    cycle_stamp: Time,
    full_bandwidth: f64,
    full_bandwidth_rounds: u8,
    filled_pipe: bool,
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    /// cwnd before recovery or ProbeRTT.
    prior_cwnd: u64,
    recovering: bool,
    packet_conservation: bool,
    initial_cwnd: u64,
    restarting: bool,
    delivered: u64,
    /// Bytes found lost since the connection began.
    lost: u64,
    pipe: u64,
    newly_delivered: u64,
    long_term: LongTerm,
    aggregation: Aggregation,
}

impl Bbr {
    /// Before the handshake.
    pub fn new(rule: BbrRule) -> Self {
        Self {
            rule,
            state: State::Startup,
            bandwidths: [0.0; BANDWIDTH_ROUNDS],
            bandwidth: 0.0,
            sampled_round: 0,
            round: 0,
            limited_until: 0,
            next_round_delivered: 0,
            round_start: false,
            rtprop: None,
            rtprop_stamp: Time::ZERO,
            rtprop_expired: false,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            cycle_stamp: Time::ZERO,
            full_bandwidth: 0.0,
            full_bandwidth_rounds: 0,
            filled_pipe: false,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            prior_cwnd: 0,
            recovering: false,
            packet_conservation: false,
            initial_cwnd: 0,
            restarting: false,
            delivered: 0,
            lost: 0,
            pipe: 0,
            newly_delivered: 0,
            long_term: LongTerm::default(),
            aggregation: Aggregation::default(),
        }
    }
    fn is_linux(&self) -> bool {
        self.rule == BbrRule::Linux
    }

    // === The model of the path (section 4.1) ===

    fn update_round(&mut self, delivery: &Delivery) {
        self.round_start = delivery.prior_delivered.is_some_and(|prior| prior >= self.next_round_delivered);
        if self.round_start {
            self.next_round_delivered = delivery.delivered;
            self.round += 1;
            self.packet_conservation = false;
        }
    }
    fn update_bandwidth(&mut self, delivery: &Delivery) {
        self.update_round(delivery);
        if self.is_linux() && delivery.rate.is_some() {
            self.watch_for_policer(delivery);
        }
        // A limited sample counts only if it is no less than the estimate. Until a sample counts, none expires.
        let held_back = self.is_held_back(delivery);
        let Some(rate) = delivery.rate.filter(|rate| *rate >= self.bandwidth || !held_back) else { return };
        let kept = BANDWIDTH_ROUNDS - usize::from(!self.is_linux());
        for round in (self.sampled_round + 1..=self.round).rev().take(BANDWIDTH_ROUNDS) {
            self.bandwidths[round as usize % BANDWIDTH_ROUNDS] = 0.0;
        }
        self.sampled_round = self.round;
        let slot = &mut self.bandwidths[self.round as usize % BANDWIDTH_ROUNDS];
        *slot = slot.max(rate);
        let recent = (0..kept as u64).filter_map(|back| self.round.checked_sub(back));
        let recent = recent.map(|round| self.bandwidths[round as usize % BANDWIDTH_ROUNDS]);
        self.bandwidth = recent.fold(0.0, f64::max);
    }
    fn watch_for_policer(&mut self, delivery: &Delivery) {
        let sample = Sample {
            counts: Counts { at: delivery.now, delivered: delivery.delivered, lost: self.lost },
            lossy: delivery.newly_lost > 0,
            round_start: self.round_start,
            app_limited: self.is_held_back(delivery),
            probing: matches!(self.state, State::ProbeBandwidth { .. }),
        };
        if self.long_term.take(&sample) == Verdict::Probe {
            self.enter_probe_bandwidth(delivery.now);
        }
    }
    /// The rate to keep to, in bytes per picosecond.
    fn usable_bandwidth(&self) -> f64 {
        self.long_term.policed_rate().unwrap_or(self.bandwidth)
    }
    fn is_held_back(&self, delivery: &Delivery) -> bool {
        delivery.app_limited || delivery.prior_delivered.is_some_and(|prior| prior < self.limited_until)
    }
    fn update_rtprop(&mut self, delivery: &Delivery) {
        self.rtprop_expired = delivery.now > self.rtprop_stamp + RTPROP_LIFE;
        if let Some(rtt) = delivery.rtt
            && (self.rtprop_expired || self.rtprop.is_none_or(|least| rtt <= least))
        {
            self.rtprop = Some(rtt);
            self.rtprop_stamp = delivery.now;
        }
    }
    /// BBRInflight(gain): the bandwidth-delay product times `gain`, and room for three send quanta.
    fn inflight(&self, gain: f64, window: &Window) -> u64 {
        self.inflight_at(self.bandwidth, gain, 0, window)
    }
    /// What BBR wants in flight at this bandwidth (bytes per picosecond), with room for `lumps` bytes of
    /// acknowledgements that come at once; in bytes.
    fn inflight_at(&self, bandwidth: f64, gain: f64, lumps: u64, window: &Window) -> u64 {
        let Some(rtprop) = self.rtprop else { return self.initial_cwnd };
        let product = (gain * bandwidth * rtprop.as_ps() as f64) as u64;
        if !self.is_linux() {
            return product + 3 * Self::send_quantum(window);
        }
        // An even number, for receivers that acknowledge every second segment. Two more while probing, or the gain
        // makes no difference to a small product.
        let mss = u64::from(window.mss);
        let segments = product.div_ceil(mss) + lumps.div_ceil(mss) + 3 * u64::from(Self::group(window));
        let probe = if self.state == (State::ProbeBandwidth { phase: 0 }) { 2 } else { 0 };
        (segments.next_multiple_of(2) + probe) * mss
    }
    /// What of `pipe` will be in flight when pacing lets the next segments go (`bbr_packets_in_net_at_edt`).
    fn pipe_at_departure(&self, pipe: u64, window: &Window, delivery: &Delivery) -> u64 {
        if !self.is_linux() {
            return pipe;
        }
        let wait = delivery.departure.saturating_sub(delivery.now);
        let delivered = (self.usable_bandwidth() * wait.as_ps() as f64) as u64;
        let group = u64::from(Self::group(window)) * u64::from(window.mss);
        (pipe + if self.pacing_gain > 1.0 { group } else { 0 }).saturating_sub(delivered)
    }
    /// Segments that Linux sends together: those of a millisecond, two at least but at rates below 1.2 Mbit/s.
    fn group(window: &Window) -> u16 {
        let rate = if window.pace_ps_per_byte > 0.0 { 1e12 / window.pace_ps_per_byte } else { 0.0 };
        let least = if rate < 150_000.0 { 1 } else { 2 };
        let bytes = (rate / 1024.0).min(65_000.0) as u32;
        (bytes / window.mss).clamp(least, 127) as u16
    }
    /// Section 4.2.2.
    fn send_quantum(window: &Window) -> u64 {
        let mss = u64::from(window.mss);
        let bytes_per_ms = if window.pace_ps_per_byte > 0.0 { 1e9 / window.pace_ps_per_byte } else { 0.0 };
        match bytes_per_ms {
            slow if slow < 150.0 => mss,
            middle if middle < 3000.0 => 2 * mss,
            fast => (fast as u64).clamp(mss, 64 * 1024),
        }
    }

    // === The state machine (section 4.3) ===

    fn check_full_pipe(&mut self, delivery: &Delivery) {
        if self.filled_pipe || !self.round_start || self.is_held_back(delivery) {
            return;
        }
        if self.bandwidth >= self.full_bandwidth * 1.25 {
            self.full_bandwidth = self.bandwidth;
            self.full_bandwidth_rounds = 0;
            return;
        }
        self.full_bandwidth_rounds += 1;
        self.filled_pipe = self.full_bandwidth_rounds >= 3;
    }
    fn check_drain(&mut self, window: &Window, delivery: &Delivery) {
        if self.state == State::Startup && self.filled_pipe {
            self.state = State::Drain;
            self.pacing_gain = 1.0 / HIGH_GAIN;
            self.cwnd_gain = HIGH_GAIN;
        }
        if self.state == State::Drain
            && self.pipe_at_departure(delivery.pipe, window, delivery) <= self.inflight(1.0, window)
        {
            self.enter_probe_bandwidth(delivery.now);
        }
    }
    fn enter_probe_bandwidth(&mut self, now: Time) {
        self.cwnd_gain = 2.0;
        // Any phase but the draining one, so that flows do not probe together. A hash of the time replaces the random
        // draw, and a run is reproducible.
        let hash = (now.as_ps() ^ self.delivered).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let phase = CYCLE.len() - 1 - ((hash * 7) >> 32) as usize;
        self.state = State::ProbeBandwidth { phase };
        self.advance_phase(now);
    }
    fn advance_phase(&mut self, now: Time) {
        if let State::ProbeBandwidth { phase } = &mut self.state {
            *phase = (*phase + 1) % CYCLE.len();
            self.pacing_gain = if self.long_term.policed_rate().is_some() { 1.0 } else { CYCLE[*phase] };
            self.cycle_stamp = now;
        }
    }
    fn check_cycle(&mut self, window: &Window, delivery: &Delivery) {
        if !matches!(self.state, State::ProbeBandwidth { .. }) {
            return;
        }
        let full_length = self.rtprop.is_some_and(|rtprop| delivery.now.saturating_sub(self.cycle_stamp) > rtprop);
        let pipe = self.pipe_at_departure(delivery.prior_pipe, window, delivery);
        let next = if self.pacing_gain > 1.0 {
            let filled = pipe >= self.inflight(self.pacing_gain, window);
            full_length && (delivery.newly_lost > 0 || filled)
        } else if self.pacing_gain < 1.0 {
            full_length || pipe <= self.inflight(1.0, window)
        } else {
            full_length
        };
        if next {
            self.advance_phase(delivery.now);
        }
    }
    fn check_probe_rtt(&mut self, window: &mut Window, delivery: &Delivery) {
        if self.state != State::ProbeRtt && self.rtprop_expired && !self.restarting {
            self.save_cwnd(window);
            self.state = State::ProbeRtt;
            self.pacing_gain = 1.0;
            self.cwnd_gain = 1.0;
            self.probe_rtt_done = None;
        }
        if self.state == State::ProbeRtt {
            self.limited_until = (delivery.delivered + delivery.pipe).max(1);
            if let Some(done) = self.probe_rtt_done {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done && delivery.now > done {
                    self.rtprop_stamp = delivery.now;
                    window.cwnd = window.cwnd.max(self.prior_cwnd);
                    self.exit_probe_rtt(delivery.now);
                }
            } else if delivery.pipe <= MIN_SEGMENTS * u64::from(window.mss) {
                self.probe_rtt_done = Some(delivery.now + PROBE_RTT_TIME);
                self.probe_rtt_round_done = false;
                self.next_round_delivered = delivery.delivered;
            }
        }
        self.restarting = false;
    }
    fn exit_probe_rtt(&mut self, now: Time) {
        if self.filled_pipe {
            self.enter_probe_bandwidth(now);
        } else {
            self.state = State::Startup;
            self.pacing_gain = HIGH_GAIN;
            self.cwnd_gain = HIGH_GAIN;
        }
    }

    // === What it controls (section 4.2) ===

    fn set_pacing_rate(&mut self, window: &mut Window, gain: f64) {
        let rate = gain * self.usable_bandwidth() * self.paced_share();
        let current = if window.pace_ps_per_byte > 0.0 { 1.0 / window.pace_ps_per_byte } else { 0.0 };
        if rate > 0.0 && (self.filled_pipe || rate > current) {
            self.pace(window, rate);
        }
    }
    fn pace(&self, window: &mut Window, rate: f64) {
        window.pace_ps_per_byte = 1.0 / rate;
        window.pace_group = if self.is_linux() { Self::group(window) } else { 0 };
    }
    fn paced_share(&self) -> f64 {
        if self.is_linux() { PACED_SHARE } else { 1.0 }
    }
    fn set_cwnd(&mut self, window: &mut Window, delivery: &Delivery) {
        let mss = u64::from(window.mss);
        let bandwidth = self.usable_bandwidth();
        let lumps = self.aggregation.excess().min((bandwidth * LUMP_TIME.as_ps() as f64) as u64);
        let lumps = if self.filled_pipe { lumps } else { 0 };
        let target = self.inflight_at(bandwidth, self.cwnd_gain, lumps, window);
        if delivery.newly_lost > 0 && self.recovering {
            window.cwnd = window.cwnd.saturating_sub(delivery.newly_lost).max(mss);
        }
        if self.packet_conservation {
            window.cwnd = window.cwnd.max(delivery.pipe + delivery.newly_delivered);
        } else {
            if self.filled_pipe {
                window.cwnd = (window.cwnd + delivery.newly_delivered).min(target);
            } else if window.cwnd < target || self.delivered < self.initial_cwnd {
                window.cwnd += delivery.newly_delivered;
            }
            window.cwnd = window.cwnd.max(MIN_SEGMENTS * mss);
        }
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.min(MIN_SEGMENTS * mss);
        }
    }
    fn save_cwnd(&mut self, window: &Window) {
        self.prior_cwnd = if self.recovering || self.state == State::ProbeRtt {
            self.prior_cwnd.max(window.cwnd)
        } else {
            window.cwnd
        };
    }
}

impl Control for Bbr {
    fn watches_deliveries(&self) -> bool {
        true
    }
    fn starts_as_reno(&self) -> bool {
        false
    }
    fn paces(&self) -> bool {
        true
    }
    fn on_connected(&mut self, window: &mut Window, now: Time, smoothed_rtt: Option<Time>) {
        self.initial_cwnd = window.cwnd;
        self.rtprop = smoothed_rtt;
        self.rtprop_stamp = now;
        self.aggregation.begin(now);
        let nominal = window.cwnd as f64 / smoothed_rtt.unwrap_or(Time::from_ms(1)).as_ps().max(1) as f64;
        self.pace(window, HIGH_GAIN * nominal * self.paced_share());
    }
    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        self.delivered = delivery.delivered;
        self.lost += delivery.newly_lost;
        self.pipe = delivery.pipe;
        self.newly_delivered = delivery.newly_delivered;
        self.update_bandwidth(delivery);
        if self.is_linux() && delivery.rate.is_some() {
            let bandwidth = self.usable_bandwidth();
            self.aggregation.take(delivery.now, delivery.newly_delivered, self.round_start, bandwidth, window.cwnd);
        }
        self.check_cycle(window, delivery);
        self.check_full_pipe(delivery);
        self.check_drain(window, delivery);
        self.update_rtprop(delivery);
        self.check_probe_rtt(window, delivery);
        if self.long_term.policed_rate().is_some() && matches!(self.state, State::ProbeBandwidth { .. }) {
            self.pacing_gain = 1.0;
        }
        self.set_pacing_rate(window, self.pacing_gain);
        self.set_cwnd(window, delivery);
    }
    fn on_ack(&mut self, _: &mut Window, _: &Ack) {}
    fn reduces_proportionally(&self) -> bool {
        false
    }
    fn on_loss(&mut self, window: &mut Window, _: Time, _: u64) {
        // Section 4.2.3.4: packet conservation for one round trip.
        self.save_cwnd(window);
        window.cwnd = self.pipe + self.newly_delivered.max(u64::from(window.mss));
        self.recovering = true;
        self.packet_conservation = true;
        self.next_round_delivered = self.delivered;
    }
    fn answers_echoes(&self) -> bool {
        // Version 1 ignores ECN.
        false
    }
    fn on_timeout(&mut self, window: &mut Window, _: Time, _: u64, _: bool) {
        self.save_cwnd(window);
        window.cwnd = u64::from(window.mss);
        if self.is_linux() {
            self.full_bandwidth = 0.0;
        }
        self.recovering = true;
        self.packet_conservation = false;
    }
    fn on_recovered(&mut self, window: &mut Window, _: Time) {
        self.recovering = false;
        self.packet_conservation = false;
        if self.state != State::ProbeRtt {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
    }
    fn on_restart(&mut self, window: &mut Window) {
        // Section 4.3.4.4: after an idle period, send at the estimated bandwidth, not in a burst.
        self.restarting = true;
        if matches!(self.state, State::ProbeBandwidth { .. }) {
            self.set_pacing_rate(window, 1.0);
        }
    }
    fn on_idle(&mut self, _: &mut Window, _: u64) {}
}
