//! Spreads over seeds, with intervals that do not take values for normal.
//!
//! The interval of a standard deviation by the chi-square distribution, and of two by F, holds for normal values alone:
//! a longer tail makes it too narrow, however many values there are. Finish times have such tails (a straggler, a
//! timeout). The jackknife of the logarithm holds for them too (R. G. Miller, Jackknifing variances, Annals of
//! Mathematical Statistics 39, 1968): of n values, the i-th pseudo-value of a statistic is n times that of all less
//! n - 1 times that without the i-th. Pseudo-values are nearly independent, and Student's t gives the interval of their
//! mean. Two spreads over the same seeds are compared by the differences of their pseudo-values, seed by seed.

/// A spread below this part of the mean comes from rounding (as in `results::Estimate`).
const ROUNDING: f64 = 1e-12;

/// The standard deviation of a sample, by n - 1; none of fewer than two values, and exactly zero of equal ones.
pub fn deviation(values: &[f64]) -> Option<f64> {
    let (mean, deviation) = moments(values)?;
    Some(if deviation <= ROUNDING * mean.abs() { 0.0 } else { deviation })
}

/// The coefficient of variation: the standard deviation in units of the mean. None where the mean is zero.
pub fn variation(values: &[f64]) -> Option<f64> {
    let (mean, _) = moments(values)?;
    (mean != 0.0).then_some(deviation(values)? / mean.abs())
}

fn moments(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (values.len() > 1).then(|| (mean, libm::sqrt(squares / (count - 1.0))))
}

/// The jackknife pseudo-values of a statistic's logarithm. None of fewer than three values, and where the statistic is
/// zero without one of them: then one value makes all the spread.
pub fn pseudo_logarithms(values: &[f64], statistic: fn(&[f64]) -> Option<f64>) -> Option<Vec<f64>> {
    let logarithm = |values: &[f64]| statistic(values).filter(|spread| *spread > 0.0).map(libm::log);
    let (count, all) = (values.len() as f64, logarithm(values)?);
    let without = |left_out: usize| {
        let rest: Vec<f64> =
            values.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, value)| *value).collect();
        Some(count * all - (count - 1.0) * logarithm(&rest)?)
    };
    (0..values.len()).map(without).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::OverSeeds;
    use crate::sample::{Sample, Truth};
    use des::RandomStream;

    /// Worked by hand: of 2, 4, 6 the deviation is 2; without one of them sqrt(2), sqrt(8) and sqrt(2). So the
    /// pseudo-values of its logarithm are 3 ln 2 - 2 ln sqrt(2) = 2 ln 2, twice, and 3 ln 2 - 2 ln sqrt(8) = 0.
    #[test]
    fn pseudo_values_are_those_worked_by_hand() {
        assert_eq!(deviation(&[2.0, 4.0, 6.0]), Some(2.0));
        assert_eq!(variation(&[2.0, 4.0, 6.0]), Some(0.5));
        let found = pseudo_logarithms(&[2.0, 4.0, 6.0], deviation).expect("three values");
        let twice = 2.0 * std::f64::consts::LN_2;
        for (found, expected) in found.iter().zip([twice, 0.0, twice]) {
            assert!((found - expected).abs() < 1e-12, "{found}, {expected}");
        }
        assert_eq!(deviation(&[5.0]), None);
        assert_eq!(deviation(&[0.1, 0.1, 0.1]), Some(0.0), "rounding is no spread");
        assert_eq!(pseudo_logarithms(&[1.0, 2.0], deviation), None, "two values have no interval");
        assert_eq!(pseudo_logarithms(&[1.0, 1.0, 2.0], deviation), None, "one value makes all the spread");
    }

    fn normal(random: &mut RandomStream) -> f64 {
        random.normal()
    }
    fn exponential(random: &mut RandomStream) -> f64 {
        random.exponential(1.0)
    }

    const TRIALS: u32 = 2000;

    fn sample(count: usize, mut draw: impl FnMut() -> f64) -> Sample {
        Sample::of((0..count).map(|_| Some(draw())).collect(), OverSeeds::Deviation).expect("values")
    }

    /// How often the interval of `count` values holds the deviation that they were drawn with, which is 1.
    fn coverage(count: usize, draw: fn(&mut RandomStream) -> f64) -> f64 {
        let mut random = RandomStream::new(7, "study/spread", count as u64);
        let held = (0..TRIALS).filter(|_| {
            let interval = sample(count, || draw(&mut random)).interval;
            interval.low <= 1.0 && 1.0 <= interval.high
        });
        held.count() as f64 / f64::from(TRIALS)
    }

    /// By its definition a 95 % interval holds the truth in 95 of 100 trials. Ten seeds are what studies have. Of many
    /// exponential values, whose tail is long, a chi-square interval holds it in 67 of 100: their s^2 has a variance of
    /// (9 - 1) / n, four times the 2 / n of normal ones, so it is P(|N| < 1.96 / 2).
    #[test]
    fn an_interval_holds_the_deviation_that_values_were_drawn_with() {
        let of_normal = coverage(10, normal);
        assert!((0.92..0.98).contains(&of_normal), "normal: {of_normal}");
        let of_many = coverage(40, normal);
        assert!((0.93..0.97).contains(&of_many), "normal, 40: {of_many}");
        let of_exponential = coverage(40, exponential);
        assert!(of_exponential > 0.85, "exponential, 40: {of_exponential}");
    }

    /// Two spreads over seeds that share their noise: of equal ones neither is said to be greater in more than 5 of 100
    /// trials. Half of each value's variance is common to both, so by normal theory the logarithm of the ratio of two
    /// spreads of twenty values deviates by sqrt(2 (1 - 0.25) / (2 * 19)) = 0.2: three times the spread, ln 3 = 1.1,
    /// is five of that.
    #[test]
    fn equal_spreads_are_rarely_told_apart_and_unequal_ones_mostly() {
        let mut random = RandomStream::new(8, "study/spread", 0);
        let told = |scale: f64, random: &mut RandomStream| {
            let mut found = 0;
            for _ in 0..TRIALS {
                let common: Vec<f64> = (0..20).map(|_| normal(random)).collect();
                let draw = |scale: f64, random: &mut RandomStream| {
                    let values = common.iter().map(|common| Some(scale * (common + normal(random)))).collect();
                    Sample::of(values, OverSeeds::Deviation).expect("values")
                };
                let (a, b) = (draw(scale, random), draw(1.0, random));
                found += u32::from(a.at_least(&b, 1.0).0 == Truth::Yes);
            }
            f64::from(found) / f64::from(TRIALS)
        };
        let (equal, thrice) = (told(1.0, &mut random), told(3.0, &mut random));
        assert!(equal < 0.05, "one side of 95 % is 2.5 of 100: {equal}");
        assert!(thrice > 0.97, "{thrice}");
    }

    #[test]
    fn seeds_without_spread_or_too_few_of_them_are_said() {
        let of = |values: &[f64]| {
            Sample::of(values.iter().copied().map(Some).collect(), OverSeeds::Deviation).expect("values")
        };
        let (none, some, two) = (of(&[3.0; 5]), of(&[1.0, 2.0, 4.0, 3.0, 2.5]), of(&[1.0, 2.0]));
        assert_eq!(none.at_least(&some, 1.0).0, Truth::No);
        assert_eq!(some.at_least(&none, 2.0).0, Truth::Yes);
        assert_eq!(none.at_least(&none, 1.0).0, Truth::Yes);
        assert_eq!(two.at_least(&some, 1.0), (Truth::Unsure, "too few seeds have both".to_owned()));
        assert_eq!(two.interval.within(0.0, 1e9), Truth::Unsure, "two seeds bound nothing");
        assert_eq!(Sample::of(vec![Some(1.0), None], OverSeeds::Deviation), None);
    }
}
