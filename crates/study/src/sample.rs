//! A value of a curve over seeds: a mean or a spread, its 95 % interval, and how two of them compare.

use super::file::OverSeeds;
use super::rule::number;
use super::spread;
use results::Estimate;
use std::fmt::Write;

/// A value and the 95 % interval about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub mean: f64,
    pub high: f64,
}

/// Whether something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    No,
    Unsure,
    Yes,
}

impl Interval {
    /// The mean of values and its interval; the value itself where there is one.
    pub fn of(values: &[f64]) -> Option<Self> {
        let estimate = Estimate::of(values)?;
        let half_width = estimate.half_width.unwrap_or(0.0);
        Some(Self { low: estimate.mean - half_width, mean: estimate.mean, high: estimate.mean + half_width })
    }

    /// Of a quantity whose logarithm lies in this one.
    fn exp(self) -> Self {
        Self { low: libm::exp(self.low), mean: libm::exp(self.mean), high: libm::exp(self.high) }
    }

    /// Whether it is at least `bound`: no, if even its upper end is below.
    fn at_least(self, bound: f64) -> Truth {
        if self.low >= bound {
            Truth::Yes
        } else if self.high < bound {
            Truth::No
        } else {
            Truth::Unsure
        }
    }

    /// Whether it lies within bounds: yes if all of it does, no if none of it does.
    pub fn within(self, least: f64, most: f64) -> Truth {
        let at_most = Self { low: -self.high, mean: -self.mean, high: -self.low };
        self.at_least(least).min(at_most.at_least(-most))
    }
}

/// What the values of seeds are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Values, of which the mean counts.
    Values,
    /// Jackknife pseudo-values of the logarithm of a spread, of which the mean counts likewise.
    Logarithms,
    /// A spread of nothing: all seeds gave the same value.
    NoSpread,
}

/// A value of a curve: that of each seed, and all together.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    by_seed: Vec<Option<f64>>,
    kind: Kind,
    pub interval: Interval,
}

impl Sample {
    /// What a figure makes of the values of its seeds; none where they do not give it.
    pub fn of(by_seed: Vec<Option<f64>>, over: OverSeeds) -> Option<Self> {
        let values: Vec<f64> = by_seed.iter().flatten().copied().collect();
        let statistic = match over {
            OverSeeds::Mean => {
                return Interval::of(&values).map(|interval| Self { by_seed, kind: Kind::Values, interval });
            }
            OverSeeds::Deviation => spread::deviation,
            OverSeeds::Variation => spread::variation,
        };
        let mean = statistic(&values)?;
        if mean == 0.0 {
            return Some(Self { by_seed, kind: Kind::NoSpread, interval: Interval { low: 0.0, mean, high: 0.0 } });
        }
        let mut logarithms = spread::pseudo_logarithms(&values, statistic).unwrap_or_default();
        let interval = Interval::of(&logarithms).map(Interval::exp);
        let (low, high) = interval.map_or((0.0, f64::INFINITY), |interval| (interval.low, interval.high));
        logarithms.reverse();
        let by_seed = by_seed.into_iter().map(|value| value.and_then(|_| logarithms.pop())).collect();
        Some(Self { by_seed, kind: Kind::Logarithms, interval: Interval { low, mean, high } })
    }

    /// Applies `of` to two values seed by seed, where both have one: the paired t interval with common random numbers
    /// (Law, Simulation Modeling and Analysis, sections 10.2.1 and 11.2). Every random quantity has its own stream, so
    /// a seed gives both the same arrivals and sizes, and their effect drops out.
    fn paired(&self, other: &Self, of: impl Fn(f64, f64) -> f64) -> Vec<Option<f64>> {
        let pairs = self.by_seed.iter().zip(&other.by_seed);
        pairs.map(|(a, b)| Some(of((*a)?, (*b)?))).collect()
    }

    /// What it has more than another, seed by seed where both have a value.
    pub fn differences(&self, other: &Self) -> Vec<Option<f64>> {
        self.paired(other, |a, b| a - b)
    }

    /// Whether it is at least `factor` times another, and their difference (of spreads, their ratio) as text.
    pub fn at_least(&self, other: &Self, factor: f64) -> (Truth, String) {
        let times = if factor == 1.0 { String::new() } else { format!("{} times ", number(factor)) };
        match (self.kind, other.kind) {
            (_, Kind::NoSpread) => (Truth::Yes, "that has no spread".to_owned()),
            (Kind::NoSpread, _) if factor > 0.0 => (Truth::No, "no spread, but that has".to_owned()),
            (Kind::NoSpread, _) => (Truth::Yes, String::new()),
            (Kind::Values, _) => match Interval::of(&present(self.paired(other, |a, b| a - factor * b))) {
                Some(between) => (between.at_least(0.0), format!("{} more than {times}that", value(between))),
                None => (Truth::Unsure, "no seed has both".to_owned()),
            },
            (Kind::Logarithms, _) => match self.ratio(other) {
                Some(ratio) => (ratio.interval.at_least(factor), format!("{} times that", value(ratio.interval))),
                None => (Truth::Unsure, "too few seeds have both".to_owned()),
            },
        }
    }

    /// It divided by another, seed by seed; of spreads, by their logarithms. None where there is no number.
    pub fn ratio(&self, other: &Self) -> Option<Self> {
        if self.kind == Kind::NoSpread || other.kind == Kind::NoSpread {
            return None;
        }
        let logarithms = self.kind == Kind::Logarithms;
        let by_seed = self.paired(other, |a, b| if logarithms { a - b } else { a / b });
        let interval = Interval::of(&present(by_seed.clone()))?;
        let interval = if logarithms { interval.exp() } else { interval };
        let is_number = interval.low.is_finite() && interval.high.is_finite();
        is_number.then_some(Self { by_seed, kind: self.kind, interval })
    }
}

fn present(by_seed: Vec<Option<f64>>) -> Vec<f64> {
    by_seed.into_iter().flatten().collect()
}

/// "43.1 ± 3.2"; where the interval reaches farther to one side, as that of a spread does, "43.1 (40.2 to 51.7)".
pub fn value(y: Interval) -> String {
    let mut text = number(y.mean);
    let (below, above) = (y.mean - y.low, y.high - y.mean);
    if above.is_infinite() {
        return text;
    }
    if (above - below).abs() > 1e-6 * (above + below) {
        let _ = write!(text, " ({} to {})", number(y.low), number(y.high));
    } else if above + below > 0.0 {
        let _ = write!(text, " ± {}", number(f64::midpoint(above, below)));
    }
    text
}
