//! Statistics: time-weighted values, histograms, means with their confidence interval.

use units::Time;

/// A value that holds over time: its integral, mean and maximum.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeWeighted {
    since: Time,
    changed: Time,
    value: u64,
    maximum: u64,
    /// Integral in value-picoseconds.
    integral: u128,
}

impl TimeWeighted {
    /// A value of zero that is watched from `since` on.
    pub const fn new(since: Time) -> Self {
        Self { since, changed: since, value: 0, maximum: 0, integral: 0 }
    }
    /// The value is `value` from `now` on.
    pub fn set(&mut self, now: Time, value: u64) {
        self.integral += u128::from(self.value) * u128::from(now.saturating_sub(self.changed).as_ps());
        self.changed = now;
        self.value = value;
        self.maximum = self.maximum.max(value);
    }
    /// The value now.
    pub const fn value(&self) -> u64 {
        self.value
    }
    /// The largest value so far.
    pub const fn maximum(&self) -> u64 {
        self.maximum
    }
    /// The mean over the time from `since` to `now`; zero if none has passed.
    pub fn mean(&self, now: Time) -> f64 {
        let total = now.saturating_sub(self.since).as_ps();
        if total == 0 {
            return 0.0;
        }
        let tail = u128::from(self.value) * u128::from(now.saturating_sub(self.changed).as_ps());
        (self.integral + tail) as f64 / total as f64
    }
}

/// Counts of values in buckets of at most 1/128 relative width (exact below 256), as in HdrHistogram.
#[derive(Debug, Clone, Default)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    sum: u128,
    maximum: u64,
}

const SUB_BITS: u32 = 7;

impl Histogram {
    /// An empty histogram.
    pub const fn new() -> Self {
        Self { counts: Vec::new(), total: 0, sum: 0, maximum: 0 }
    }
    /// Counts a value.
    pub fn record(&mut self, value: u64) {
        let bucket = Self::bucket(value);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
        self.sum += u128::from(value);
        self.maximum = self.maximum.max(value);
    }
    /// The number of values counted.
    pub const fn count(&self) -> u64 {
        self.total
    }
    /// The largest value.
    pub const fn maximum(&self) -> u64 {
        self.maximum
    }
    /// The exact mean; zero if nothing was counted.
    pub fn mean(&self) -> f64 {
        if self.total == 0 { 0.0 } else { self.sum as f64 / self.total as f64 }
    }
    /// The smallest bucket bound below which at least the share `q` (0 to 1) of the values lies.
    pub fn quantile(&self, q: f64) -> u64 {
        let wanted = ((q * self.total as f64).ceil() as u64).clamp(1, self.total.max(1));
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Self::upper(bucket).min(self.maximum);
            }
        }
        self.maximum
    }

    /// The cumulative distribution: the number of values up to a bound, for at most `points` bounds of buckets. The
    /// last bound is the largest value. At least k / `points` of the values lie up to the k-th bound.
    pub fn cumulative(&self, points: usize) -> Vec<(u64, u64)> {
        let mut out = Vec::new();
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            seen += count;
            let wanted = u128::from(self.total) * (out.len() as u128 + 1);
            if seen == self.total || u128::from(seen) * points as u128 >= wanted {
                out.push((Self::upper(bucket).min(self.maximum), seen));
            }
        }
        out
    }

    fn bucket(value: u64) -> usize {
        let magnitude = (64 - value.leading_zeros()).saturating_sub(SUB_BITS + 1);
        ((u64::from(magnitude) << SUB_BITS) + (value >> magnitude)) as usize
    }
    /// The largest value in a bucket.
    fn upper(bucket: usize) -> u64 {
        let magnitude = (bucket as u64 >> SUB_BITS).saturating_sub(1);
        let leading = bucket as u64 - (magnitude << SUB_BITS);
        (((u128::from(leading) + 1) << magnitude) - 1) as u64
    }
}

/// A sample's mean and the half-width of its 95 % confidence interval (Student's t).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The sample mean.
    pub mean: f64,
    /// Half the width of the interval; infinite for a single value, which says nothing about its spread.
    pub half_width: f64,
}

impl Interval {
    /// The estimate of independent values, such as one figure over several seeds; `None` for an empty sample.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        if n == 1 {
            return Some(Self { mean, half_width: f64::INFINITY });
        }
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1) as f64;
        Some(Self { mean, half_width: student_t_975(n - 1) * libm::sqrt(variance / n as f64) })
    }
}

/// The 97.5 % point of Student's t: a table to 30 degrees of freedom, then the Cornish-Fisher expansion (Abramowitz and
/// Stegun 26.7.5).
fn student_t_975(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604,
        2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518,
        2.0484, 2.0452, 2.0423,
    ];
    if let Some(t) = TABLE.get(degrees - 1) {
        return *t;
    }
    let (z, n) = (1.959_964, degrees as f64);
    let (z3, z5) = (z * z * z, z * z * z * z * z);
    z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
}
