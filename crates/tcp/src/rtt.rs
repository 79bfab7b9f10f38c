//! Round-trip time and retransmission timeout (RFC 6298).

use crate::Config;
use units::Time;

/// The clock granularity G of RFC 6298: times are exact to the picosecond, so the term is only a floor on the variance.
const GRANULARITY: Time = Time::from_ps(1);

/// SRTT, RTTVAR and RTO of one connection. The limits of the timeout are in the settings, which many share.
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    smoothed: Time,
    variance: Time,
    rto: Time,
    least: Time,
}

impl RttEstimator {
    /// Before the first sample: the initial timeout (rule 2.1).
    pub fn new(config: &Config) -> Self {
        let rto = config.initial_rto.min(config.max_rto);
        Self { smoothed: Time::ZERO, variance: Time::ZERO, rto, least: Time::MAX }
    }
    /// A round trip was measured (rules 2.2 to 2.5). It also ends any backing off (rule 5.7, Karn).
    pub fn sample(&mut self, rtt: Time, config: &Config) {
        self.least = self.least.min(rtt);
        if self.smoothed == Time::ZERO {
            self.smoothed = rtt;
            self.variance = Time::from_ps(rtt.as_ps() / 2);
        } else {
            let (old, new) = (self.smoothed.as_ps(), rtt.as_ps());
            let variance = self.variance.as_ps();
            self.variance = Time::from_ps(variance - variance / 4 + old.abs_diff(new) / 4);
            self.smoothed = Time::from_ps(old - old / 8 + new / 8);
        }
        self.settle(config);
    }
    /// There would have been a sample, but it tells nothing.
    pub fn end_back_off(&mut self, config: &Config) {
        if self.smoothed != Time::ZERO {
            self.settle(config);
        }
    }
    fn settle(&mut self, config: &Config) {
        self.rto = self.unclamped().max(config.min_rto).min(config.max_rto);
    }
    /// SRTT + max(G, 4 RTTVAR), whatever the limits.
    pub fn unclamped(&self) -> Time {
        let spread = GRANULARITY.as_ps().max(self.variance.as_ps().saturating_mul(4));
        self.smoothed.saturating_add(Time::from_ps(spread))
    }
    /// The timer expired: the timeout doubles, up to the maximum (rule 5.5).
    pub fn back_off(&mut self, config: &Config) {
        self.rto = Time::from_ps(self.rto.as_ps().saturating_mul(2)).min(config.max_rto);
    }
    /// Data follows a SYN that had to be retransmitted: the timeout starts at three seconds (rule 5.7).
    pub fn after_lost_syn(&mut self, config: &Config) {
        self.rto = Time::from_secs(3).clamp(config.min_rto.min(config.max_rto), config.max_rto);
    }
    /// The retransmission timeout now.
    pub fn rto(&self) -> Time {
        self.rto
    }
    /// The smoothed round-trip time, once there was a sample.
    pub fn smoothed(&self) -> Option<Time> {
        (self.smoothed != Time::ZERO).then_some(self.smoothed)
    }
    /// The smallest sample.
    pub fn min(&self) -> Option<Time> {
        (self.least != Time::MAX).then_some(self.least)
    }
    /// RTTVAR.
    pub fn variance(&self) -> Time {
        self.variance
    }
}
