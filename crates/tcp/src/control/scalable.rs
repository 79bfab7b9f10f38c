//! Scalable TCP: Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks" (CCR 33(2), 2003),
//! section 3.

use super::{Ack, Control, Reno, Window};
use units::Time;

/// cwnd grows by this fraction of the bytes acknowledged: a = 0.01.
const A: u64 = 100;
/// A loss takes this fraction of cwnd: b = 0.125.
const B: u64 = 8;
/// Up to this cwnd, in segments, it is Reno: the paper's *legacy* window.
const LEGACY: u64 = 16;

/// Grows and shrinks in proportion to cwnd, so that the recovery time after a loss depends on the RTT alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scalable {
    reno: Reno,
    /// Acknowledged bytes that cwnd has not grown for yet.
    counted: u64,
}

impl Control for Scalable {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.cwnd_limited {
            return;
        }
        let acked = ack.avoidance(window);
        if window.cwnd <= LEGACY * u64::from(window.mss) {
            self.reno.avoid_congestion(window, acked);
        } else {
            self.counted += acked;
            window.cwnd += self.counted / A;
            self.counted %= A;
        }
    }
    fn on_loss(&mut self, window: &mut Window, now: Time, flight: u64) {
        if window.cwnd <= LEGACY * u64::from(window.mss) {
            return self.reno.on_loss(window, now, flight);
        }
        window.ssthresh = (flight - flight / B).max(2 * u64::from(window.mss));
        window.cwnd = window.ssthresh;
        self.counted = 0;
    }
    fn on_timeout(&mut self, window: &mut Window, now: Time, flight: u64, repeated: bool) {
        self.reno.on_timeout(window, now, flight, repeated);
        self.counted = 0;
    }
}
