//! Vegas: Brakmo, O'Malley and Peterson, "TCP Vegas: New Techniques for Congestion Detection and Avoidance" (SIGCOMM
//! 1994).

use super::{Ack, Control, Delivery, Window, reno};
use units::Time;

/// Segments queued in the network, by which Vegas decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VegasParameters {
    /// cwnd grows while fewer than this are queued.
    pub alpha: u32,
    /// cwnd shrinks while more than this are queued.
    pub beta: u32,
    /// Slow start ends when more than this are queued.
    pub gamma: u32,
}

impl Default for VegasParameters {
    fn default() -> Self {
        Self { alpha: 1, beta: 3, gamma: 1 }
    }
}

/// Compares, once per RTT, the throughput with what it would be without queues.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vegas {
    parameters: VegasParameters,
    /// BaseRTT: the minimum RTT, that of a path without queues.
    base_rtt: Option<Time>,
    rtt_sum: Time,
    rtt_count: u64,
    /// The present round ends when more than this is acknowledged (the distinguished segment of the paper).
    begin: u64,
    /// In slow start, cwnd grows in every other round; whether it grows in this one.
    grows: bool,
}

impl Vegas {
    /// Vegas with parameters of its own.
    pub fn new(parameters: VegasParameters) -> Self {
        Self { parameters, ..Self::default() }
    }
    /// A round has ended with `sent` bytes sent in it. An application-limited round says nothing of queues.
    fn end_round(&mut self, window: &mut Window, sent: u64, cwnd_limited: bool) {
        let count = std::mem::take(&mut self.rtt_count);
        let sum = std::mem::take(&mut self.rtt_sum);
        let Some(base) = self.base_rtt.filter(|_| count > 0 && cwnd_limited) else { return };
        let rtt = sum / count;
        let mss = u64::from(window.mss);
        // (Expected - Actual) x BaseRTT: the segments queued.
        let actual = sent as f64 * base.as_ps() as f64 / rtt.as_ps() as f64;
        let waiting = (window.cwnd as f64 - actual) / mss as f64;
        let slow_start = window.slow_start();
        let VegasParameters { alpha, beta, gamma } = self.parameters;
        if slow_start && waiting > f64::from(gamma) {
            // Slow start has overshot by about an eighth (Brakmo and Peterson 1995, section 3.3).
            window.cwnd = (window.cwnd - window.cwnd / 8).max(2 * mss);
            window.ssthresh = window.cwnd;
        } else if slow_start {
            self.grows = !self.grows;
        } else if waiting > f64::from(beta) {
            window.cwnd = (window.cwnd - mss).max(2 * mss);
            window.ssthresh = window.ssthresh.min(window.cwnd);
        } else if waiting < f64::from(alpha) {
            window.cwnd += mss;
        }
    }
}

impl Control for Vegas {
    fn watches_deliveries(&self) -> bool {
        true
    }
    fn starts_as_reno(&self) -> bool {
        false
    }
    fn on_delivery(&mut self, _: &mut Window, delivery: &Delivery) {
        if let Some(rtt) = delivery.rtt {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
            self.rtt_sum = self.rtt_sum.saturating_add(rtt);
            self.rtt_count += 1;
        }
    }
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if ack.una > self.begin {
            let sent = ack.nxt - self.begin.min(ack.nxt);
            if self.begin > 0 {
                self.end_round(window, sent, ack.cwnd_limited);
            }
            self.begin = ack.nxt;
        }
        if window.slow_start() && self.grows && ack.cwnd_limited {
            ack.slow_start(window);
        }
    }
    fn on_loss(&mut self, window: &mut Window, _: Time, _: u64) {
        // A loss cuts by a quarter, not by half (Hengartner, Bolliger and Gross 2000, "TCP Vegas Revisited", section
        // II).
        window.cwnd = (window.cwnd - window.cwnd / 4).max(2 * u64::from(window.mss));
        window.ssthresh = window.cwnd;
    }
    fn on_timeout(&mut self, window: &mut Window, _: Time, flight: u64, repeated: bool) {
        if !repeated {
            window.ssthresh = reno::half(flight, window.mss);
        }
        // Slow start begins with two segments (SIGCOMM 1994, section 3.1, and its implementation).
        window.cwnd = 2 * u64::from(window.mss);
        self.grows = true;
    }
    fn retransmits_early(&self) -> bool {
        true
    }
}
