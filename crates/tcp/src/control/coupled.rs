//! Coupled congestion controls: the subflows of one connection (MPTCP's, or several streams under one socket) grow
//! together.
//!
//! Each is Reno with a weighted increase, and with BALIA a weighted decrease. A weight follows from the windows and
//! RTTs of all subflows. Their owner asks [`Coupling::weights`] and hands each endpoint its weights, at least whenever
//! a window has changed by a segment (RFC 6356, section 4, says so of its alpha).

use super::{Ack, Control, Reno, Window};
use units::Time;

/// How subflows are coupled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coupling {
    /// Linked increases (RFC 6356).
    Lia,
    /// Opportunistic linked increases (Khalili, Gast, Popovic and Le Boudec, *MPTCP is not Pareto-optimal*, CoNEXT
    /// 2012, section 4).
    Olia,
    /// Balanced linked adaptation (Peng, Walid, Hwang and Low, *Multipath TCP: analysis, design and implementation*,
    /// IEEE/ACM ToN 2016, section V).
    Balia,
}

/// What coupling needs to know of a subflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subflow {
    /// Congestion window in bytes; not zero.
    pub cwnd: u64,
    /// Smoothed round-trip time; not zero.
    pub rtt: Time,
    /// Bytes acknowledged between the last two losses, or since the last one if that is more (OLIA's l).
    pub between_losses: u64,
}

impl Subflow {
    /// Its rate in bytes per second.
    fn rate(&self) -> f64 {
        self.cwnd as f64 / self.rtt.as_secs_f64()
    }
}

/// A subflow's increase and decrease, relative to Reno's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// The fraction of Reno's increase in congestion avoidance; below zero cwnd shrinks.
    pub increase: f64,
    /// The fraction of Reno's decrease, half of FlightSize.
    pub decrease: f64,
}

impl Weights {
    /// Reno itself.
    pub const RENO: Self = Self { increase: 1.0, decrease: 1.0 };
}

impl Coupling {
    /// The weights of subflow `which`. All segments are taken to have one size.
    pub fn weights(self, subflows: &[Subflow], which: usize) -> Weights {
        let Some(own) = subflows.get(which) else { return Weights::RENO };
        let all: f64 = subflows.iter().map(Subflow::rate).sum();
        let part = own.rate() / all;
        match self {
            // RFC 6356, section 3: min(alpha acked MSS / total, acked MSS / cwnd), alpha = total max(cwnd / rtt^2) /
            // (sum of cwnd / rtt)^2.
            Self::Lia => {
                let total: u64 = subflows.iter().map(|subflow| subflow.cwnd).sum();
                let best =
                    subflows.iter().map(|subflow| subflow.rate() / subflow.rtt.as_secs_f64()).fold(0.0, f64::max);
                let alpha = total as f64 * best / (all * all);
                Weights { increase: (alpha * own.cwnd as f64 / total as f64).min(1.0), decrease: 1.0 }
            }
            // Per acknowledged segment w / rtt^2 / (sum of w / rtt)^2 + alpha / w, where Reno has 1 / w.
            Self::Olia => Weights { increase: part * part + olia_alpha(subflows, which), decrease: 1.0 },
            // x / rtt / (sum of x)^2 x (1 + alpha) / 2 x (4 + alpha) / 5 with alpha = max x / x, and a loss takes w / 2
            // x min(alpha, 1.5).
            Self::Balia => {
                let most = subflows.iter().map(Subflow::rate).fold(0.0, f64::max);
                let alpha = most / own.rate();
                let increase = part * part * f64::midpoint(1.0, alpha) * ((4.0 + alpha) / 5.0);
                Weights { increase, decrease: alpha.min(1.5) }
            }
        }
    }
}

/// OLIA's alpha. The best paths (most bytes between losses squared over RTT) whose windows are not the largest share
/// one part of the increase. Those with the largest windows lose it.
fn olia_alpha(subflows: &[Subflow], which: usize) -> f64 {
    let quality = |subflow: &Subflow| (subflow.between_losses as f64).powi(2) / subflow.rtt.as_secs_f64();
    let best = subflows.iter().map(quality).fold(0.0, f64::max);
    let largest = subflows.iter().map(|subflow| subflow.cwnd).max().unwrap_or(0);
    let is_collected = |subflow: &Subflow| quality(subflow) >= best && subflow.cwnd < largest;
    let collected = subflows.iter().filter(|subflow| is_collected(subflow)).count();
    if collected == 0 {
        return 0.0;
    }
    let share = 1.0 / subflows.len() as f64;
    if is_collected(&subflows[which]) {
        share / collected as f64
    } else if subflows[which].cwnd == largest {
        -share / subflows.iter().filter(|subflow| subflow.cwnd == largest).count() as f64
    } else {
        0.0
    }
}

/// Reno with weights from outside.
#[derive(Clone, Copy, Debug)]
pub struct Coupled {
    weights: Weights,
    /// Change of cwnd that is less than a byte.
    fraction: f64,
    reno: Reno,
}

impl Default for Coupled {
    fn default() -> Self {
        Self { weights: Weights::RENO, fraction: 0.0, reno: Reno::default() }
    }
}

impl Coupled {
    /// Sets the weights.
    pub fn set_weights(&mut self, weights: Weights) {
        self.weights = weights;
    }
}

impl Control for Coupled {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.cwnd_limited {
            return;
        }
        // RFC 6356, section 3: slow start is each subflow's own.
        let acked = ack.avoidance(window);
        if acked == 0 {
            return;
        }
        let mss = f64::from(window.mss);
        self.fraction += self.weights.increase * acked as f64 * mss / window.cwnd as f64;
        let whole = self.fraction.trunc();
        self.fraction -= whole;
        let cwnd = window.cwnd as f64 + whole;
        window.cwnd = (cwnd as u64).max(u64::from(window.mss));
        // A window that shrinks stays in congestion avoidance.
        window.ssthresh = window.ssthresh.min(window.cwnd);
    }
    fn on_loss(&mut self, window: &mut Window, now: Time, flight: u64) {
        self.reno.on_loss(window, now, flight);
        let reduction = flight as f64 / 2.0 * self.weights.decrease;
        window.ssthresh = ((flight as f64 - reduction) as u64).max(2 * u64::from(window.mss));
        window.cwnd = window.ssthresh;
        self.fraction = 0.0;
    }
    fn on_timeout(&mut self, window: &mut Window, now: Time, flight: u64, repeated: bool) {
        self.reno.on_timeout(window, now, flight, repeated);
        self.fraction = 0.0;
    }
}
