//! Scalable TCP: Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks" (CCR 33(2), 2003),
//! section 3.

use super::{Ack, Control, Reno, Window};
use units::Time;

/// The window grows by this part of what is acknowledged: a = 0.01.
const A: u64 = 100;
/// It loses this part of itself: b = 0.125.
const B: u64 = 8;
/// Up to this window, in segments, it is Reno: *legacy* traffic is treated as such.
const LEGACY: u64 = 16;

/// Grows and shrinks in proportion to the window, so that the time to recover from a loss depends on the round trip
/// alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scalable {
    reno: Reno,
    /// Acknowledged bytes that have not made the window grow.
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
