//! Slow start and congestion avoidance (RFC 5681).

use super::{Ack, Control, Window};
use units::Time;

/// Additive increase, multiplicative decrease: the control of NewReno and of SACK-Reno.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno {
    /// Bytes acknowledged in congestion avoidance since the window last grew.
    counted: u64,
}

impl Reno {
    /// Congestion avoidance over `acked` bytes: one segment per cwnd of them, as section 3.1 recommends, without a
    /// division.
    #[inline]
    pub(super) fn avoid_congestion(&mut self, window: &mut Window, acked: u64) {
        self.counted += acked;
        if acked > 0 && self.counted >= window.cwnd {
            self.counted -= window.cwnd;
            window.cwnd += u64::from(window.mss);
        }
    }
}

/// ssthresh after a loss: half of FlightSize, at least two segments (RFC 5681, equation 4).
pub(super) fn half(flight: u64, mss: u32) -> u64 {
    (flight / 2).max(2 * u64::from(mss))
}

impl Control for Reno {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.cwnd_limited {
            return;
        }
        let acked = ack.avoidance(window);
        self.avoid_congestion(window, acked);
    }
    fn on_loss(&mut self, window: &mut Window, _: Time, flight: u64) {
        window.ssthresh = half(flight, window.mss);
        window.cwnd = window.ssthresh;
        self.counted = 0;
    }
    fn on_timeout(&mut self, window: &mut Window, _: Time, flight: u64, repeated: bool) {
        // ssthresh stays when the same data times out again (section 3.1, after equation 4).
        if !repeated {
            window.ssthresh = half(flight, window.mss);
        }
        window.cwnd = u64::from(window.mss);
        self.counted = 0;
    }
}
