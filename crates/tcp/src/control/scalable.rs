//! Scalable TCP: Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks" (CCR 33(2), 2003),
//! section 3, and the variant that hosts have.

use super::{Ack, Control, Reno, Window};
use units::Time;

/// cwnd grows by this fraction of the bytes acknowledged: a = 0.01.
const A: u64 = 100;
/// A loss takes this fraction of cwnd: b = 0.125.
const B: u64 = 8;
/// Up to this cwnd, in segments, Kelly's rule is Reno: the paper's *legacy* window.
const LEGACY: u64 = 16;

/// Which windows grow and shrink in proportion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ScalableRule {
    /// Linux (`tcp_scalable.c`): below 100 segments, where a hundredth per acknowledgement would be less than Reno's
    /// growth, cwnd grows as Reno's. Every loss and timeout takes an eighth. ns-3 has the same rule with 50.
    #[default]
    Linux,
    /// Kelly's paper: up to 16 segments it is Reno in growth and reduction; a timeout halves.
    Kelly,
}

/// Grows and shrinks in proportion to cwnd, so that the recovery time after a loss depends on the RTT alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scalable {
    rule: ScalableRule,
    reno: Reno,
    /// Acknowledged bytes that cwnd has not grown for yet.
    counted: u64,
}

impl Scalable {
    /// Scalable TCP by `rule`.
    pub fn new(rule: ScalableRule) -> Self {
        Self { rule, ..Self::default() }
    }
    fn grows_as_reno(&self, window: &Window) -> bool {
        let mss = u64::from(window.mss);
        match self.rule {
            ScalableRule::Linux => window.cwnd < A * mss,
            ScalableRule::Kelly => window.cwnd <= LEGACY * mss,
        }
    }
}

/// ssthresh after a loss.
fn reduced(flight: u64, mss: u32) -> u64 {
    (flight - flight / B).max(2 * u64::from(mss))
}

impl Control for Scalable {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.cwnd_limited {
            return;
        }
        let acked = ack.avoidance(window);
        if self.grows_as_reno(window) {
            self.reno.avoid_congestion(window, acked);
        } else {
            self.counted += acked;
            window.cwnd += self.counted / A;
            self.counted %= A;
        }
    }
    fn on_loss(&mut self, window: &mut Window, now: Time, flight: u64) {
        let legacy = self.rule == ScalableRule::Kelly && window.cwnd <= LEGACY * u64::from(window.mss);
        self.reno.on_loss(window, now, flight);
        if !legacy {
            window.ssthresh = reduced(flight, window.mss);
            window.cwnd = window.ssthresh;
            self.counted = 0;
        }
    }
    fn on_timeout(&mut self, window: &mut Window, now: Time, flight: u64, repeated: bool) {
        self.reno.on_timeout(window, now, flight, repeated);
        if self.rule == ScalableRule::Linux && !repeated {
            window.ssthresh = reduced(flight, window.mss);
        }
        self.counted = 0;
    }
}
