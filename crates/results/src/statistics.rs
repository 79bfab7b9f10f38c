//! Means over runs with confidence intervals by Student's t.

/// A mean over independent runs with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Number of values.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Half the width of the 95 % interval of the mean; none for a single value.
    pub half_width: Option<f64>,
    /// The least value.
    pub least: f64,
    /// The greatest value.
    pub greatest: f64,
    /// The median.
    pub median: f64,
    /// The 5 % and the 95 % quantile of the values: between them lie 90 % of the runs.
    pub nine_tenths: (f64, f64),
}

/// A spread below this part of the mean comes from rounding sums of equal values. What a simulation measures in
/// picoseconds and bytes cannot differ by so little.
const ROUNDING: f64 = 1e-12;

/// A quantile of sorted values, interpolated between the two nearest (Hyndman and Fan 1996, definition 7).
fn quantile(sorted: &[f64], part: f64) -> Option<f64> {
    let place = part * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64))
}

impl Estimate {
    /// Of values that are independent draws; none of no values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let half_width = (count > 1).then(|| {
            let half = t_quantile(count - 1) * libm::sqrt(squares / (count - 1) as f64 / count as f64);
            if half < ROUNDING * mean.abs() { 0.0 } else { half }
        });
        let least = values.iter().copied().reduce(f64::min)?;
        let greatest = values.iter().copied().reduce(f64::max)?;
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let nine_tenths = (quantile(&sorted, 0.05)?, quantile(&sorted, 0.95)?);
        let median = quantile(&sorted, 0.5)?;
        Some(Self { count, mean, half_width, least, greatest, median, nine_tenths })
    }

    /// Whether the interval leaves zero out: for a mean of differences, whether they are significant at 5 %.
    pub fn excludes_zero(&self) -> bool {
        self.half_width.is_some_and(|half_width| self.mean.abs() > half_width)
    }
}

/// The 97.5 % quantile of Student's t: tabled to 30 degrees of freedom, then by the Cornish-Fisher expansion about the
/// normal quantile (Abramowitz and Stegun, 26.7.5), which is right to 1e-5 there.
pub fn t_quantile(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004, 2.262_157, 2.228_139,
        2.200_985, 2.178_813, 2.160_369, 2.144_787, 2.131_450, 2.119_905, 2.109_816, 2.100_922, 2.093_024, 2.085_963,
        2.079_614, 2.073_873, 2.068_658, 2.063_899, 2.059_539, 2.055_529, 2.051_831, 2.048_407, 2.045_230, 2.042_272,
    ];
    if let Some(quantile) = degrees.checked_sub(1).and_then(|index| TABLE.get(index)) {
        return *quantile;
    }
    let (z, n) = (1.959_963_984_540_054_f64, degrees as f64);
    let z3 = z * z * z;
    let z5 = z3 * z * z;
    z + (z3 + z) / (4.0 * n)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
        + (3.0 * z5 * z * z + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n * n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_tenths_of_one_to_twenty_one_lie_from_two_to_twenty() {
        let values: Vec<f64> = (1..=21).rev().map(f64::from).collect();
        assert_eq!(Estimate::of(&values).map(|estimate| estimate.nine_tenths), Some((2.0, 20.0)));
        assert_eq!(Estimate::of(&values).map(|estimate| estimate.median), Some(11.0));
        assert_eq!(Estimate::of(&[7.0]).map(|estimate| estimate.nine_tenths), Some((7.0, 7.0)));
        assert_eq!(Estimate::of(&[0.0, 10.0]).map(|estimate| estimate.nine_tenths), Some((0.5, 9.5)));
    }

    /// Published tables of Student's t, two-sided 5 %.
    #[test]
    fn quantiles_agree_with_published_tables() {
        for (degrees, quantile) in
            [(1, 12.706), (4, 2.776), (19, 2.093), (30, 2.042), (40, 2.021), (60, 2.000), (120, 1.980)]
        {
            assert!((t_quantile(degrees) - quantile).abs() < 6e-4, "{degrees}: {}", t_quantile(degrees));
        }
        assert!(t_quantile(30) > t_quantile(31) && t_quantile(30) - t_quantile(31) < 0.003);
    }

    /// Worked by hand: 2, 4, 6 have mean 4 and deviation 2, so the half width is 4.302653 * 2 / sqrt(3).
    #[test]
    fn an_interval_is_the_textbook_one() {
        let estimate = Estimate::of(&[2.0, 4.0, 6.0]).expect("three values");
        assert_eq!((estimate.count, estimate.mean, estimate.least, estimate.greatest), (3, 4.0, 2.0, 6.0));
        assert!((estimate.half_width.expect("three values") - 4.968_275).abs() < 1e-5);
        assert!(!estimate.excludes_zero());
        assert!(Estimate::of(&[2.0, 2.1, 1.9]).expect("three values").excludes_zero());
        assert_eq!(Estimate::of(&[5.0]).expect("one value").half_width, None);
        // The mean of three times 0.1 is not 0.1 as it is rounded.
        assert_eq!(Estimate::of(&[0.1, 0.1, 0.1]).expect("three values").half_width, Some(0.0));
        assert_eq!(Estimate::of(&[]), None);
    }
}
