//! BBR, version 1 (Cardwell et al. 2016, "BBR: Congestion-Based Congestion Control";
//! draft-cardwell-iccrg-bbr-congestion-control-00).

use super::{Ack, Control, Delivery, Window};
use units::Time;

/// 2/ln 2: the smallest gain that doubles the rate every round trip (section 4.1.3.1 of the draft).
const HIGH_GAIN: f64 = std::f64::consts::LOG2_E * 2.0;
/// The cycle of pacing gains while probing for bandwidth (section 4.3.4.2).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Rounds that the bandwidth filter looks back.
const BANDWIDTH_ROUNDS: usize = 10;
/// How long a minimum RTT stays valid.
const RTPROP_LIFE: Time = Time::from_secs(10);
/// How long cwnd stays at its minimum to measure the RTT without a queue.
const PROBE_RTT_TIME: Time = Time::from_ms(200);
/// The smallest cwnd, in segments, that keeps acknowledgements coming.
const MIN_SEGMENTS: u64 = 4;

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
    pipe: u64,
    newly_delivered: u64,
}

impl Default for Bbr {
    fn default() -> Self {
        Self {
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
            pipe: 0,
            newly_delivered: 0,
        }
    }
}

impl Bbr {
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
        // A limited sample counts only if it is no less than the estimate. Until a sample counts, none expires.
        let held_back = self.is_held_back(delivery);
        let Some(rate) = delivery.rate.filter(|rate| *rate >= self.bandwidth || !held_back) else { return };
        for round in (self.sampled_round + 1..=self.round).rev().take(BANDWIDTH_ROUNDS) {
            self.bandwidths[round as usize % BANDWIDTH_ROUNDS] = 0.0;
        }
        self.sampled_round = self.round;
        let slot = &mut self.bandwidths[self.round as usize % BANDWIDTH_ROUNDS];
        *slot = slot.max(rate);
        self.bandwidth = self.bandwidths.iter().copied().fold(0.0, f64::max);
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
        let Some(rtprop) = self.rtprop else { return self.initial_cwnd };
        let product = self.bandwidth * rtprop.as_ps() as f64;
        (gain * product) as u64 + 3 * Self::send_quantum(window)
    }
    /// Section 4.2.2. Pacing here spaces single segments, but hosts send this much at a time.
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
        if self.state == State::Drain && delivery.pipe <= self.inflight(1.0, window) {
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
            self.pacing_gain = CYCLE[*phase];
            self.cycle_stamp = now;
        }
    }
    fn check_cycle(&mut self, window: &Window, delivery: &Delivery) {
        if !matches!(self.state, State::ProbeBandwidth { .. }) {
            return;
        }
        let full_length = self.rtprop.is_some_and(|rtprop| delivery.now.saturating_sub(self.cycle_stamp) > rtprop);
        let next = if self.pacing_gain > 1.0 {
            let filled = delivery.prior_pipe >= self.inflight(self.pacing_gain, window);
            full_length && (delivery.newly_lost > 0 || filled)
        } else if self.pacing_gain < 1.0 {
            full_length || delivery.prior_pipe <= self.inflight(1.0, window)
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
        let rate = gain * self.bandwidth;
        let current = if window.pace_ps_per_byte > 0.0 { 1.0 / window.pace_ps_per_byte } else { 0.0 };
        if rate > 0.0 && (self.filled_pipe || rate > current) {
            window.pace_ps_per_byte = 1.0 / rate;
        }
    }
    fn set_cwnd(&mut self, window: &mut Window, delivery: &Delivery) {
        let mss = u64::from(window.mss);
        let target = self.inflight(self.cwnd_gain, window);
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
        let nominal = window.cwnd as f64 / smoothed_rtt.unwrap_or(Time::from_ms(1)).as_ps().max(1) as f64;
        window.pace_ps_per_byte = 1.0 / (HIGH_GAIN * nominal);
    }
    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        self.delivered = delivery.delivered;
        self.pipe = delivery.pipe;
        self.newly_delivered = delivery.newly_delivered;
        self.update_bandwidth(delivery);
        self.check_cycle(window, delivery);
        self.check_full_pipe(delivery);
        self.check_drain(window, delivery);
        self.update_rtprop(delivery);
        self.check_probe_rtt(window, delivery);
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
