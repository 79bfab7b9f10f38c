//! Slow start and congestion avoidance (RFC 5681).

use super::{Ack, Control, Window};
use crate::Config;
use units::Time;

/// How congestion avoidance opens cwnd by a segment per round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum IncreaseRule {
    /// By a whole segment once a cwnd of bytes is acknowledged, as RFC 5681, section 3.1, recommends and Linux does
    /// (`tcp_cong_avoid_ai`). The count starts anew at a loss.
    #[default]
    Counted,
    /// By SMSS x SMSS / cwnd with every acknowledgement (RFC 5681, equation 3), as ns-2 and ns-3. It is a little
    /// slower: from two segments to three takes three acknowledgements, not two. A loss halves the fraction too, and
    /// leaves one segment at least; ssthresh is in whole segments, two at least (ns-2, `TcpAgent::slowdown`).
    PerAck,
}

/// Additive increase, multiplicative decrease: the control of NewReno and of SACK-Reno.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno {
    rule: IncreaseRule,
    /// ssthresh is in whole segments, as in Linux (`tcp_reno_ssthresh`) and ns-2 (`TcpAgent::slowdown`): a loss leaves
    /// two of five. Where a window holds few segments, the half decides how often it overflows the queue.
    whole: bool,
    /// Bytes acknowledged in congestion avoidance since the window last grew: less than a window, which 32 bits hold.
    counted: u32,
}

impl Reno {
    /// Reno that grows by such a rule.
    pub fn new(rule: IncreaseRule) -> Self {
        Self { rule, whole: rule == IncreaseRule::PerAck, counted: 0 }
    }
    /// Reno of such an endpoint: one that cuts cwnd, as Linux does, counts whole segments.
    pub(super) fn of(config: &Config) -> Self {
        let reno = Self::new(config.increase);
        Self { whole: reno.whole || config.reduces_cwnd(), ..reno }
    }
    /// Counts anew: after a reduction that is not Reno's own, as after one of its own (Linux,
    /// `tcp_init_cwnd_reduction`).
    pub(super) fn count_anew(&mut self) {
        self.counted = 0;
    }
    /// ssthresh after a loss.
    fn half(self, flight: u64, mss: u32) -> u64 {
        let segment = if self.whole { u64::from(mss) } else { 1 };
        half(flight, mss) / segment * segment
    }
    /// Congestion avoidance over `acked` bytes: one segment per cwnd of them, without a division.
    #[inline]
    pub(super) fn avoid_congestion(&mut self, window: &mut Window, acked: u64) {
        if self.rule == IncreaseRule::PerAck {
            return grow_per_ack(window, acked);
        }
        let counted = u64::from(self.counted) + acked;
        let full = acked > 0 && counted >= window.cwnd;
        self.counted = (counted - if full { window.cwnd } else { 0 }).min(u64::from(u32::MAX)) as u32;
        if full {
            window.cwnd += u64::from(window.mss);
        }
    }
}

#[inline(never)]
fn grow_per_ack(window: &mut Window, acked: u64) {
    if acked > 0 {
        let mss = u64::from(window.mss);
        // To the nearest byte: ns-2 and ns-3 count in fractions, and rounding down every time lags behind them.
        window.cwnd += ((mss * mss + window.cwnd / 2) / window.cwnd).max(1);
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
        window.ssthresh = self.half(flight, window.mss);
        window.cwnd = match self.rule {
            IncreaseRule::Counted => window.ssthresh,
            IncreaseRule::PerAck => (flight / 2).max(u64::from(window.mss)),
        };
        self.counted = 0;
    }
    fn on_timeout(&mut self, window: &mut Window, _: Time, flight: u64, repeated: bool) {
        // ssthresh stays when the same data times out again (section 3.1, after equation 4).
        if !repeated {
            window.ssthresh = self.half(flight, window.mss);
        }
        window.cwnd = u64::from(window.mss);
        self.counted = 0;
    }
}
