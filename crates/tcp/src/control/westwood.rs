//! Westwood+: Grieco and Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP
//! Congestion Control" (CCR 34(2), 2004), section 2. It counts duplicate acknowledgements as Mascolo et al., "TCP
//! Westwood" (MobiCom 2001), section 2.3.

use super::{Ack, Control, Delivery, Reno, Window, reno};
use units::Time;

/// Weight of the old estimate at each sample.
const KEPT: f64 = 0.9;

/// Grows as Reno does. A loss sets cwnd to the estimated bandwidth times the minimum RTT.
#[derive(Clone, Copy, Debug, Default)]
pub struct Westwood {
    reno: Reno,
    /// Bytes per picosecond, filtered; 0 before the first sample.
    bandwidth: f64,
    least_rtt: Option<Time>,
    last_rtt: Time,
    /// The present sample: when it began, and the bytes acknowledged since.
    begun: Option<Time>,
    acked: u64,
    /// Bytes counted for duplicate acknowledgements that a cumulative one will acknowledge again.
    counted_ahead: u64,
}

impl Westwood {
    /// BWE: the estimated bandwidth in bytes per second.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth * 1e12
    }
    /// AckedCount: a duplicate without SACK stands for one segment. The cumulative acknowledgement must not count it
    /// again.
    fn count(&mut self, delivered: u64, mss: u64) {
        self.acked += if delivered == 0 {
            self.counted_ahead += mss;
            mss
        } else if self.counted_ahead >= delivered {
            self.counted_ahead -= delivered;
            mss.min(delivered)
        } else {
            delivered - std::mem::take(&mut self.counted_ahead)
        };
    }
    /// Once per RTT: b = d / D, then the low-pass filter.
    fn sample(&mut self, now: Time) {
        let Some(begun) = self.begun else {
            self.begun = Some(now);
            self.acked = 0;
            return;
        };
        let interval = now.saturating_sub(begun);
        if interval == Time::ZERO || interval < self.last_rtt {
            return;
        }
        let sample = self.acked as f64 / interval.as_ps() as f64;
        // The first sample is the estimate: a filter that starts from zero takes some twenty RTTs to be of use.
        self.bandwidth = if self.bandwidth == 0.0 { sample } else { KEPT * self.bandwidth + (1.0 - KEPT) * sample };
        self.begun = Some(now);
        self.acked = 0;
    }
    /// BWE x RTTmin, at least two segments; Reno's half before the first sample.
    fn share(&self, window: &Window, flight: u64) -> u64 {
        match self.least_rtt {
            Some(least) if self.bandwidth > 0.0 => {
                ((self.bandwidth * least.as_ps() as f64) as u64).max(2 * u64::from(window.mss))
            }
            _ => reno::half(flight, window.mss),
        }
    }
}

impl Control for Westwood {
    fn watches_deliveries(&self) -> bool {
        true
    }
    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        if let Some(rtt) = delivery.rtt {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
            self.last_rtt = rtt;
        }
        self.count(delivery.newly_delivered, u64::from(window.mss));
        self.sample(delivery.now);
    }
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.reno.on_ack(window, ack);
    }
    fn on_loss(&mut self, window: &mut Window, now: Time, flight: u64) {
        let share = self.share(window, flight);
        self.reno.on_loss(window, now, flight);
        window.ssthresh = share;
        window.cwnd = share;
    }
    fn on_timeout(&mut self, window: &mut Window, now: Time, flight: u64, repeated: bool) {
        let share = self.share(window, flight);
        self.reno.on_timeout(window, now, flight, repeated);
        if self.bandwidth > 0.0 {
            window.ssthresh = share;
        }
    }
}
