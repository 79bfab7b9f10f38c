//! What a measurement says: quantities with a unit, and which direction is better.

use serde::{Deserialize, Serialize};

/// A quantity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Payload per second that arrived.
    Goodput,
    /// Its part that went to the server.
    Forth,
    /// Its part that came from the server.
    Back,
    /// Requests or transactions per second.
    Rate,
    /// Share of the requests that were answered.
    Answered,
    /// Median time from a request to the end of its answer.
    P50,
    /// The time that 95 % of the requests stay within.
    P95,
    /// The time that 99 % of the requests stay within.
    P99,
}

/// The better of two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Better {
    /// The larger one.
    Higher,
    /// The smaller one.
    Lower,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 8] =
        [Self::Goodput, Self::Forth, Self::Back, Self::Rate, Self::Answered, Self::P50, Self::P95, Self::P99];

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::Forth => "forth",
            Self::Back => "back",
            Self::Rate => "rate",
            Self::Answered => "answered",
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
        }
    }

    /// The column in `results.csv`, with the unit of records.
    pub const fn column(self) -> &'static str {
        match self {
            Self::Goodput => "goodput_bps",
            Self::Forth => "forth_bps",
            Self::Back => "back_bps",
            Self::Rate => "rate_per_s",
            Self::Answered => "answered_share",
            Self::P50 => "p50_s",
            Self::P95 => "p95_s",
            Self::P99 => "p99_s",
        }
    }

    /// The unit in tables.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Goodput | Self::Forth | Self::Back => "Mbit/s",
            Self::Rate => "1/s",
            Self::Answered => "%",
            Self::P50 | Self::P95 | Self::P99 => "ms",
        }
    }

    /// How many of the unit in tables make one of the unit in records: bit/s, 1/s, a share or s.
    pub const fn scale(self) -> f64 {
        match self {
            Self::Goodput | Self::Forth | Self::Back => 1e-6,
            Self::Rate => 1.0,
            Self::Answered => 1e2,
            Self::P50 | Self::P95 | Self::P99 => 1e3,
        }
    }

    /// Which of two values is better.
    pub const fn better(self) -> Better {
        match self {
            Self::Goodput | Self::Forth | Self::Back | Self::Rate | Self::Answered => Better::Higher,
            Self::P50 | Self::P95 | Self::P99 => Better::Lower,
        }
    }

    /// How good a value is relative to another: above 1 is better, whatever the direction.
    pub fn ratio(self, value: f64, to: f64) -> f64 {
        match self.better() {
            Better::Higher => value / to,
            Better::Lower => to / value,
        }
    }
}

/// A value of a metric: in bit/s, 1/s, s, or a share.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// What it is.
    pub metric: Metric,
    /// How much.
    pub value: f64,
}

impl Figure {
    /// A value of a metric.
    pub const fn new(metric: Metric, value: f64) -> Self {
        Self { metric, value }
    }
}

/// Percentiles of latencies, in seconds, by nearest rank: the smallest latency that the part in question does not
/// exceed.
pub fn percentiles(mut latencies: Vec<f64>) -> Vec<Figure> {
    latencies.sort_unstable_by(f64::total_cmp);
    let at = |part: usize| latencies.get((latencies.len() * part).div_ceil(100).saturating_sub(1)).copied();
    let of = [(Metric::P50, 50), (Metric::P95, 95), (Metric::P99, 99)];
    of.into_iter().filter_map(|(metric, part)| Some(Figure::new(metric, at(part)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let values = |latencies: Vec<f64>| percentiles(latencies).iter().map(|figure| figure.value).collect::<Vec<_>>();
        // Of 1 to 200, in whatever order: ranks 100, 190 and 198.
        assert_eq!(values((1..=200).rev().map(f64::from).collect()), [100.0, 190.0, 198.0]);
        // Of five: ranks 2.5, 4.75 and 4.95, rounded up.
        assert_eq!(values(vec![5.0, 1.0, 4.0, 2.0, 3.0]), [3.0, 5.0, 5.0]);
        assert_eq!(values(vec![7.0]), [7.0, 7.0, 7.0]);
        assert!(percentiles(Vec::new()).is_empty());
    }

    #[test]
    fn a_ratio_above_one_is_better_in_either_direction() {
        assert_eq!(Metric::Rate.ratio(190.0, 200.0), 0.95);
        // Twice the latency is half as good.
        assert_eq!(Metric::P99.ratio(0.002, 0.001), 0.5);
    }
}
