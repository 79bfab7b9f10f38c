//! Tahoe: Jacobson, "Congestion Avoidance and Control" (SIGCOMM 1988), with fast retransmit; its behaviour as Fall and
//! Floyd describe it, "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP" (CCR 26(3), 1996), section 2.

use super::{Ack, Control, Reno, Window};
use units::Time;

/// Grows as Reno does; every loss starts slow start from one segment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tahoe {
    reno: Reno,
}

impl Control for Tahoe {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.reno.on_ack(window, ack);
    }
    fn on_loss(&mut self, window: &mut Window, now: Time, flight: u64) {
        self.reno.on_loss(window, now, flight);
        window.cwnd = u64::from(window.mss);
    }
    fn on_echo(&mut self, window: &mut Window, now: Time, flight: u64) {
        // RFC 3168, section 6.1.2: an echo halves cwnd, without slow start.
        self.reno.on_loss(window, now, flight);
    }
    fn on_timeout(&mut self, window: &mut Window, now: Time, flight: u64, repeated: bool) {
        self.reno.on_timeout(window, now, flight, repeated);
    }
    fn recovers_fast(&self) -> bool {
        false
    }
}
