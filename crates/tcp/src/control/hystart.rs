//! HyStart++ (RFC 9406): the first slow start ends when round trips grow, before the queue overflows.

use super::{Ack, Window};
use units::Time;

// Section 4.3.
const MIN_RTT_THRESH: Time = Time::from_ms(4);
const MAX_RTT_THRESH: Time = Time::from_ms(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;
/// Segments that one acknowledgement may add without pacing.
const L: u64 = 8;

/// Stands in for the growth of any control whose slow start is that of RFC 5681, until the threshold is known.
#[derive(Clone, Copy, Debug)]
pub struct HyStart {
    /// A round ends when this is acknowledged.
    window_end: u64,
    last_round: Time,
    this_round: Time,
    samples: u32,
    /// In Conservative Slow Start: the round trip that led there, and the rounds spent.
    conservative: Option<(Time, u32)>,
    /// The fraction of a byte that Conservative Slow Start owes, in its divisor.
    owed: u64,
}

impl Default for HyStart {
    fn default() -> Self {
        // The stream begins at position 1.
        Self { window_end: 1, last_round: Time::MAX, this_round: Time::MAX, samples: 0, conservative: None, owed: 0 }
    }
}

impl HyStart {
    /// In Conservative Slow Start.
    pub fn is_conservative(&self) -> bool {
        self.conservative.is_some()
    }
    /// New data was acknowledged in slow start, by a segment whose round trip was `rtt` (section 4.2). Grows the window, or ends slow start by
    /// setting the threshold.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Ack, rtt: Option<Time>) {
        if ack.cwnd_limited {
            let paced = window.pace_ps_per_byte > 0.0;
            let most = if paced { u64::MAX } else { L * u64::from(window.mss) };
            let growth = ack.acked.min(most);
            if self.conservative.is_some() {
                self.owed += growth;
                window.cwnd += self.owed / CSS_GROWTH_DIVISOR;
                self.owed %= CSS_GROWTH_DIVISOR;
            } else {
                window.cwnd += growth;
            }
        }
        if let Some(rtt) = rtt {
            self.this_round = self.this_round.min(rtt);
            self.samples += 1;
        }
        self.judge();
        if ack.una >= self.window_end {
            self.end_round(window, ack.nxt);
        }
    }
    fn judge(&mut self) {
        if self.samples < N_RTT_SAMPLE || self.this_round == Time::MAX {
            return;
        }
        match self.conservative {
            Some((baseline, _)) if self.this_round < baseline => self.conservative = None,
            Some(_) => {}
            None if self.last_round == Time::MAX => {}
            None => {
                let threshold = (self.last_round / MIN_RTT_DIVISOR).min(MAX_RTT_THRESH).max(MIN_RTT_THRESH);
                if self.this_round >= self.last_round.saturating_add(threshold) {
                    self.conservative = Some((self.this_round, 0));
                    self.owed = 0;
                }
            }
        }
    }
    fn end_round(&mut self, window: &mut Window, nxt: u64) {
        self.window_end = nxt;
        self.last_round = std::mem::replace(&mut self.this_round, Time::MAX);
        self.samples = 0;
        if let Some((_, rounds)) = &mut self.conservative {
            *rounds += 1;
            if *rounds >= CSS_ROUNDS {
                window.ssthresh = window.cwnd;
            }
        }
    }
}
