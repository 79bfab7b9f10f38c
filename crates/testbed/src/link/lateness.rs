//! How late the emulator was. Every figure measured over a link depends on it.

use hdrhistogram::Histogram;
use serde_json::{Value, json};
use std::fmt;
use units::Time;

/// A frame that leaves later than this is late; so is a processor wait of this length.
pub const TOLERANCE: Time = Time::from_ms(1);
/// Largest lateness that the histogram resolves, in nanoseconds.
const LONGEST_NS: u64 = 60_000_000_000;

/// A histogram of lateness, with a relative error of at most 1 %.
#[derive(Clone, Debug)]
pub struct Lateness(Histogram<u64>);

impl Default for Lateness {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, 2);
        #[expect(clippy::expect_used, reason = "the bounds are constants that hdrhistogram accepts")]
        Self(histogram.expect("1 to a minute with two digits"))
    }
}

/// Median, 99th percentile and maximum.
impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.count() == 0 {
            return f.write_str("none left");
        }
        let (median, most) = (self.quantile(0.5), self.quantile(0.99));
        write!(f, "left late by {median:.0} (median), {most:.0} (99 %), {:.0} (worst)", self.worst())
    }
}

impl Lateness {
    pub(super) fn record(&mut self, late: Time) {
        self.0.saturating_record((late.as_ps() / 1_000).clamp(1, LONGEST_NS));
    }

    /// The values recorded since an earlier state of this histogram.
    pub(super) fn since(&self, before: &Self) -> Self {
        let mut since = self.clone();
        let _ = since.0.subtract(&before.0);
        since
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.0.len()
    }
    /// The number of values above [`TOLERANCE`].
    pub fn late(&self) -> u64 {
        let tolerance = TOLERANCE.as_ps() / 1_000;
        self.0.iter_recorded().filter(|at| at.value_iterated_to() > tolerance).map(|at| at.count_at_value()).sum()
    }
    /// The lateness that this fraction of the values did not exceed.
    pub fn quantile(&self, share: f64) -> Time {
        Time::from_ns(self.0.value_at_quantile(share))
    }
    /// The largest value.
    pub fn worst(&self) -> Time {
        Time::from_ns(self.0.max())
    }

    pub(super) fn to_json(&self) -> Value {
        let us = |time: Time| time.as_secs_f64() * 1e6;
        json!({
            "count": self.count(),
            "late": self.late(),
            "p50_us": us(self.quantile(0.5)),
            "p99_us": us(self.quantile(0.99)),
            "p999_us": us(self.quantile(0.999)),
            "worst_us": us(self.worst()),
        })
    }
}
