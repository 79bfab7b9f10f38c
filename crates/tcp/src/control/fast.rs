//! FAST: Wei, Jin, Low and Hegde, "FAST TCP: Motivation, Architecture, Algorithms, Performance" (IEEE/ACM Transactions
//! on Networking 14(6), 2006), section IV.

use super::{Ack, Control, Delivery, Reno, Window};
use units::Time;

/// How far cwnd goes towards its target in one RTT.
const GAMMA: f64 = 0.5;

/// Steers, once per RTT, towards a fixed number of segments queued in the network.
#[derive(Clone, Copy, Debug)]
pub struct Fast {
    reno: Reno,
    /// Segments that this flow keeps queued.
    alpha: f64,
    /// baseRTT: the minimum RTT.
    base_rtt: Option<Time>,
    /// The average RTT in picoseconds; 0 before the first sample.
    rtt: f64,
    /// The present round ends when more than this is acknowledged.
    begin: u64,
}

impl Fast {
    /// Keeps `alpha` segments queued.
    pub fn new(alpha: u32) -> Self {
        Self { reno: Reno::default(), alpha: f64::from(alpha), base_rtt: None, rtt: 0.0, begin: 0 }
    }
    fn end_round(&mut self, window: &mut Window) {
        let Some(base) = self.base_rtt else { return };
        let mss = f64::from(window.mss);
        let w = window.cwnd as f64 / mss;
        let share = base.as_ps() as f64 / self.rtt;
        if window.slow_start() && w * (1.0 - share) < self.alpha {
            return;
        }
        // Equation 4.
        let next = (2.0 * w).min((1.0 - GAMMA) * w + GAMMA * (share * w + self.alpha));
        window.cwnd = ((next * mss) as u64).max(2 * u64::from(window.mss));
        // Slow start ends once `alpha` segments are queued: from there the equation steers.
        window.ssthresh = window.ssthresh.min(window.cwnd);
    }
}

impl Control for Fast {
    fn watches_deliveries(&self) -> bool {
        true
    }
    fn starts_as_reno(&self) -> bool {
        false
    }
    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        let Some(rtt) = delivery.rtt else { return };
        self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
        let rtt = rtt.as_ps() as f64;
        // The average moves by min(3 / w, 1 / 4) with each sample (section IV-A).
        let weight = (3.0 * f64::from(window.mss) / window.cwnd as f64).min(0.25);
        self.rtt = if self.rtt == 0.0 { rtt } else { self.rtt + weight * (rtt - self.rtt) };
    }
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if ack.una > self.begin {
            if self.begin > 0 && ack.cwnd_limited {
                self.end_round(window);
            }
            self.begin = ack.nxt;
        }
        if window.slow_start() && ack.cwnd_limited {
            ack.slow_start(window);
        }
    }
    fn on_loss(&mut self, window: &mut Window, now: Time, flight: u64) {
        // Halved, as Reno's (section IV-B).
        self.reno.on_loss(window, now, flight);
    }
    fn on_timeout(&mut self, window: &mut Window, now: Time, flight: u64, repeated: bool) {
        self.reno.on_timeout(window, now, flight, repeated);
    }
}
