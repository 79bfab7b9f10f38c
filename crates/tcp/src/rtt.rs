//! Round-trip time and retransmission timeout: RFC 6298, and the variants of Linux and ns-2.

use crate::Config;
use units::Time;

/// How the retransmission timeout is computed from RTT samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RtoEstimator {
    /// Linux (`tcp_rtt_estimator`): SRTT + max(minimum RTO, 4 RTTVAR). The variance term follows an increase at once
    /// and falls by a quarter of the difference per round trip; a sample below SRTT raises RTTVAR by 1/32 of the error,
    /// not by 1/4.
    #[default]
    Linux,
    /// RFC 6298, rules 2.3 and 2.4: max(minimum RTO, SRTT + max(G, 4 RTTVAR)), with a clock granularity G of 1 ms, as
    /// in ns-3.
    Rfc6298,
    /// ns-2: max(minimum RTO, SRTT + 4 RTTVAR), without granularity, as with a `tcpTick_` far below the round trip.
    Ns2,
}

/// The clock granularity G of RFC 6298: ns-3's `ClockGranularity` by default.
const GRANULARITY: Time = Time::from_ms(1);
/// The timeout when data follows a SYN that had to be retransmitted (RFC 6298, rule 5.7).
const AFTER_LOST_SYN: Time = Time::from_secs(3);

/// SRTT, RTTVAR and back-off of one connection. The limits of the timeout are in the settings, which many share.
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    smoothed: Time,
    variance: Time,
    least: Time,
    /// Linux: microseconds by which the variance term exceeds the minimum RTO.
    excess_us: u32,
    /// Times that the timeout has doubled.
    doublings: u8,
    /// A SYN was lost, and there is no sample yet.
    lost_syn: bool,
    /// Linux: the variance term is still that of the first sample, in its first round trip.
    first_round: bool,
}

impl RttEstimator {
    /// Before the first sample.
    pub fn new() -> Self {
        Self {
            smoothed: Time::ZERO,
            variance: Time::ZERO,
            least: Time::MAX,
            excess_us: 0,
            doublings: 0,
            lost_syn: false,
            first_round: false,
        }
    }
    /// A round trip was measured (rules 2.2 and 2.3). It also ends any backing off (rule 5.7, Karn).
    pub fn sample(&mut self, rtt: Time, config: &Config) {
        self.least = self.least.min(rtt);
        self.doublings = 0;
        let linux = config.rto_estimator == RtoEstimator::Linux;
        if self.smoothed == Time::ZERO {
            self.smoothed = rtt;
            self.variance = rtt / 2;
            self.first_round = true;
            if linux {
                self.excess_us = excess_us(rtt * 2, config.min_rto);
            }
            return;
        }
        let (old, new) = (self.smoothed.as_ps(), rtt.as_ps());
        let (variance, error) = (self.variance.as_ps(), old.abs_diff(new));
        self.variance = Time::from_ps(if linux && new < old && error > variance {
            // A round trip that shrinks must not raise the timeout: the gain is alpha x beta = 1/32.
            variance + (error - variance) / 32
        } else {
            variance - variance / 4 + error / 4
        });
        self.smoothed = Time::from_ps(old - old / 8 + new / 8);
        if linux {
            self.follow_variance(config);
        }
    }
    /// Linux's `rttvar`: the largest 4 RTTVAR of a round trip takes effect at once; a smaller one moves it by a quarter
    /// of the difference. Samples come once per round trip here, so each one ends a round trip. The first round trip
    /// keeps the first sample's value.
    fn follow_variance(&mut self, config: &Config) {
        let deviation = excess_us(self.variance * 4, config.min_rto);
        let first = std::mem::take(&mut self.first_round);
        if deviation > self.excess_us {
            self.excess_us = deviation;
        } else if !first {
            self.excess_us -= (self.excess_us - deviation) / 4;
        }
    }
    /// An acknowledgement that gives no sample ends the back-off all the same.
    pub fn end_back_off(&mut self) {
        if self.smoothed != Time::ZERO {
            self.doublings = 0;
        }
    }
    /// SRTT + 4 RTTVAR, without any estimator's limits.
    pub fn unclamped(&self) -> Time {
        self.smoothed.saturating_add(Time::from_ps(self.variance.as_ps().saturating_mul(4)))
    }
    /// The timer expired: the timeout doubles, up to the maximum (rule 5.5).
    pub fn back_off(&mut self) {
        self.doublings = self.doublings.saturating_add(1);
    }
    /// Data follows a SYN that had to be retransmitted: the timeout starts at three seconds (rule 5.7).
    pub fn after_lost_syn(&mut self) {
        self.lost_syn = true;
        self.doublings = 0;
    }
    /// The retransmission timeout before back-off.
    pub fn base_rto(&self, config: &Config) -> Time {
        let least = config.min_rto;
        let rto = if self.smoothed == Time::ZERO {
            if self.lost_syn { AFTER_LOST_SYN.max(least) } else { config.initial_rto }
        } else {
            match config.rto_estimator {
                RtoEstimator::Linux => {
                    let spread = least.saturating_add(Time::from_us(u64::from(self.excess_us)));
                    self.smoothed.saturating_add(spread)
                }
                RtoEstimator::Rfc6298 => self.unclamped().max(self.smoothed.saturating_add(GRANULARITY)).max(least),
                RtoEstimator::Ns2 => self.unclamped().max(least),
            }
        };
        rto.min(config.max_rto)
    }
    /// The retransmission timeout, backed off.
    #[inline]
    pub fn rto(&self, config: &Config) -> Time {
        let base = self.base_rto(config);
        if self.doublings == 0 {
            return base;
        }
        let factor = 1_u64.checked_shl(u32::from(self.doublings)).unwrap_or(u64::MAX);
        Time::from_ps(base.as_ps().saturating_mul(factor)).min(config.max_rto)
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

impl Default for RttEstimator {
    fn default() -> Self {
        Self::new()
    }
}

/// Whole microseconds, Linux's unit, by which a variance term exceeds the minimum RTO.
fn excess_us(term: Time, least: Time) -> u32 {
    u32::try_from(term.saturating_sub(least).as_us()).unwrap_or(u32::MAX)
}
