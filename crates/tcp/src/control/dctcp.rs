//! DCTCP (RFC 8257): cwnd is cut in proportion to the fraction of marked bytes.

use super::{Ack, Control, Reno, Window};
use units::Time;

/// Weight of the newest fraction in the estimate (section 4.2 recommends 1/16).
const G: f64 = 1.0 / 16.0;

/// The sender of section 3.3. It grows as Reno does, and reacts to losses as Reno does (sections 3.4 and 3.5). The
/// endpoint's receiver makes the precise echo that it needs.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    reno: Reno,
    /// DCTCP.Alpha: the fraction of bytes marked, smoothed over windows.
    alpha: f64,
    /// DCTCP.WindowEnd: an acknowledgement of more than this ends the window under observation.
    window_end: u64,
    /// Bytes acknowledged in this window, and those of them by acknowledgements with an echo.
    acked: u64,
    marked: u64,
}

impl Default for Dctcp {
    fn default() -> Self {
        // Pessimistic at first (section 4.2); the stream begins at position 1.
        Self { reno: Reno::default(), alpha: 1.0, window_end: 1, acked: 0, marked: 0 }
    }
}

impl Dctcp {
    /// The estimated fraction of bytes marked, 0 to 1.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }
}

impl Control for Dctcp {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.reno.on_ack(window, ack);
    }
    fn on_marks(&mut self, acked: u64, marked: bool, una: u64, nxt: u64) {
        // Steps 1 to 8.
        self.acked += acked;
        self.marked += if marked { acked } else { 0 };
        if una <= self.window_end || self.acked == 0 {
            return;
        }
        let share = self.marked as f64 / self.acked as f64;
        self.alpha = self.alpha * (1.0 - G) + G * share;
        self.window_end = nxt;
        (self.acked, self.marked) = (0, 0);
    }
    fn on_echo(&mut self, window: &mut Window, _: Time, _: u64) {
        // Step 9, with RFC 5681's floor of ssthresh (equation 4).
        let cut = (window.cwnd as f64 * self.alpha / 2.0) as u64;
        window.cwnd = (window.cwnd - cut).max(2 * u64::from(window.mss));
        window.ssthresh = window.cwnd;
        self.reno.count_anew();
    }
    fn on_loss(&mut self, window: &mut Window, now: Time, flight: u64) {
        self.reno.on_loss(window, now, flight);
    }
    fn on_timeout(&mut self, window: &mut Window, now: Time, flight: u64, repeated: bool) {
        self.reno.on_timeout(window, now, flight, repeated);
    }
}
