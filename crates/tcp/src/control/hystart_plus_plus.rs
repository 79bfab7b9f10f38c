//! HyStart++ (RFC 9406): ends the first slow start when RTTs grow, before the queue overflows.

use super::{Ack, HyStartBounds, Window};
use units::Time;

// Section 4.3.
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u8 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u8 = 5;
/// Segments that one acknowledgement may add without pacing.
const L: u64 = 8;

/// Replaces the slow start of a control whose slow start is that of RFC 5681, until ssthresh is set.
#[derive(Clone, Copy, Debug)]
pub struct HyStartPlusPlus {
    /// A round ends when this is acknowledged.
    window_end: u64,
    last_round: Time,
    this_round: Time,
    /// `cssBaselineMinRtt`: the RTT that led into Conservative Slow Start; `Time::MAX` outside it.
    baseline: Time,
    samples: u8,
    /// Rounds spent in Conservative Slow Start.
    rounds: u8,
    /// Growth in Conservative Slow Start that is less than a byte, in units of 1 / divisor.
    owed: u8,
}

impl Default for HyStartPlusPlus {
    fn default() -> Self {
        Self {
            // The stream begins at position 1.
            window_end: 1,
            last_round: Time::MAX,
            this_round: Time::MAX,
            baseline: Time::MAX,
            samples: 0,
            rounds: 0,
            owed: 0,
        }
    }
}

impl HyStartPlusPlus {
    /// In Conservative Slow Start.
    pub fn is_conservative(&self) -> bool {
        self.baseline < Time::MAX
    }
    /// New data was acknowledged in slow start; the newest segment of it had the RTT `rtt` (section 4.2). Grows cwnd,
    /// or ends slow start by setting ssthresh.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Ack, rtt: Option<Time>, bounds: &HyStartBounds) {
        if ack.cwnd_limited {
            self.grow(window, ack.acked);
        }
        if let Some(rtt) = rtt {
            self.this_round = self.this_round.min(rtt);
            self.samples = self.samples.saturating_add(1);
        }
        self.judge(bounds);
        if ack.una >= self.window_end {
            self.end_round(window, ack.nxt);
        }
    }
    fn grow(&mut self, window: &mut Window, acked: u64) {
        let paced = window.pace_ps_per_byte > 0.0;
        let growth = if paced { acked } else { acked.min(L * u64::from(window.mss)) };
        if self.is_conservative() {
            let due = u64::from(self.owed) + growth;
            window.cwnd += due / CSS_GROWTH_DIVISOR;
            self.owed = (due % CSS_GROWTH_DIVISOR) as u8;
        } else {
            window.cwnd += growth;
        }
    }
    fn judge(&mut self, bounds: &HyStartBounds) {
        if self.samples < N_RTT_SAMPLE {
            return;
        }
        if self.is_conservative() {
            if self.this_round < self.baseline {
                self.baseline = Time::MAX;
            }
        } else if self.last_round < Time::MAX {
            let threshold = (self.last_round / MIN_RTT_DIVISOR).min(bounds.delay_max).max(bounds.delay_min);
            if self.this_round >= self.last_round.saturating_add(threshold) {
                (self.baseline, self.rounds, self.owed) = (self.this_round, 0, 0);
            }
        }
    }
    fn end_round(&mut self, window: &mut Window, nxt: u64) {
        self.window_end = nxt;
        self.last_round = std::mem::replace(&mut self.this_round, Time::MAX);
        self.samples = 0;
        if self.is_conservative() {
            self.rounds += 1;
            if self.rounds >= CSS_ROUNDS {
                window.ssthresh = window.cwnd;
            }
        }
    }
}
