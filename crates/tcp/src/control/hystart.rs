//! HyStart of Linux's CUBIC (`tcp_cubic.c` since Linux 5.6, after Ha and Rhee, "Taming the elephants: New TCP slow
//! start", Computer Networks 55(9), 2011). Slow start ends when a round's ACK train lasts half the minimum RTT, or when
//! RTTs grow.

use super::{Ack, Window};
use units::Time;

/// What HyStart (Linux's module parameters and constants) and HyStart++ (RFC 9406, section 4.3) are tuned by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HyStartBounds {
    /// HyStart ignores windows below this, in segments (`hystart_low_window`). HyStart++ watches all.
    pub low_window: u32,
    /// Acknowledgements further apart are no train (`hystart_ack_delta_us`).
    pub ack_delta: Time,
    /// The least growth of RTTs that ends slow start (`HYSTART_DELAY_MIN`, `MIN_RTT_THRESH`).
    pub delay_min: Time,
    /// The growth that ends it in any case (`HYSTART_DELAY_MAX`, `MAX_RTT_THRESH`).
    pub delay_max: Time,
}

impl Default for HyStartBounds {
    fn default() -> Self {
        Self { low_window: 16, ack_delta: Time::from_ms(2), delay_min: Time::from_ms(4), delay_max: Time::from_ms(16) }
    }
}

/// RTT samples of a round before the delay test decides (`HYSTART_MIN_SAMPLES`).
const MIN_SAMPLES: u8 = 8;
/// How much RTTs have to grow: this part of the minimum, within the bounds.
const DELAY_DIVISOR: u64 = 8;
/// Delay by TSO and GRO at both ends, which is no queue (`hystart_ack_delay`): four bursts of 64 KiB, paced at two
/// windows per RTT, at most 1 ms.
const BURSTS: u64 = 4 * 65_536;
const PACING_RATIO: u64 = 2;
const ACK_DELAY_MAX: Time = Time::from_ms(1);

/// Watches while the control grows cwnd, and sets ssthresh.
#[derive(Clone, Copy, Debug)]
pub struct HyStart {
    /// A round ends when more than this is acknowledged.
    round_end: u64,
    round_start: Time,
    /// The last acknowledgement of the train that began with the round.
    last_ack: Time,
    /// The minimum RTT so far.
    least: Time,
    /// The minimum RTT of this round.
    round_least: Time,
    /// RTT samples of this round, up to [`MIN_SAMPLES`].
    samples: u8,
}

impl HyStart {
    /// Begins at `now`, with everything below `nxt` sent.
    pub fn new(now: Time, nxt: u64) -> Self {
        Self { round_end: nxt, round_start: now, last_ack: now, least: Time::MAX, round_least: Time::MAX, samples: 0 }
    }
    /// New data was acknowledged in slow start; the newest segment of it had the RTT `rtt`. True if that ends slow
    /// start: ssthresh is set.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Ack, rtt: Time, bounds: &HyStartBounds) -> bool {
        self.least = self.least.min(rtt);
        if ack.una > self.round_end {
            *self = Self { least: self.least, ..Self::new(ack.now, ack.nxt) };
        }
        if window.cwnd < u64::from(bounds.low_window) * u64::from(window.mss) {
            return false;
        }
        let (long, late) = (self.train_is_long(window, ack, bounds), self.is_late(rtt, bounds));
        if long || late {
            window.ssthresh = window.cwnd;
        }
        long || late
    }
    /// ACK train test: acknowledgements less than `ack_delta` apart since the round began show that the path is full
    /// for that long. Half the minimum RTT is enough without pacing.
    fn train_is_long(&mut self, window: &Window, ack: &Ack, bounds: &HyStartBounds) -> bool {
        if ack.now.saturating_sub(self.last_ack) > bounds.ack_delta {
            return false;
        }
        self.last_ack = ack.now;
        let held_back = Time::from_ps(ack.smoothed_rtt.as_ps().saturating_mul(BURSTS / PACING_RATIO) / window.cwnd);
        let whole = self.least.saturating_add(held_back.min(ACK_DELAY_MAX));
        let paced = window.pace_ps_per_byte > 0.0;
        ack.now.saturating_sub(self.round_start) > if paced { whole } else { whole / 2 }
    }
    /// Delay test: the minimum RTT of this round exceeds the minimum of all.
    fn is_late(&mut self, rtt: Time, bounds: &HyStartBounds) -> bool {
        self.round_least = self.round_least.min(rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let growth = (self.least / DELAY_DIVISOR).max(bounds.delay_min).min(bounds.delay_max);
        self.round_least > self.least.saturating_add(growth)
    }
}
