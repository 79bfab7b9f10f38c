//! What chance makes of places that are drawn.

/// The mean of the largest count where so many balls fall into so many bins at random.
///
/// One bin's count is binomial. The largest of `k` independent ones has the mean `sum of 1 - F(x)^k`; that bins share
/// their balls correlates them by `-1 / (k - 1)`, which widens the distance from the mean by `sqrt(k / (k - 1))` (exact
/// for normal counts: Tong, "The Multivariate Normal Distribution", 1990, section 5.1). "Balls and bins": Mitzenmacher
/// and Upfal, "Probability and Computing", 2005, chapter 5.
pub(crate) fn fullest(balls: f64, bins: f64) -> f64 {
    if bins <= 1.0 || balls <= 0.0 {
        return balls.max(0.0);
    }
    let mean = balls / bins;
    // Beyond ten standard deviations nothing is left. The binomial's terms are taken by their logarithms.
    let reach = (mean + 10.0 * libm::sqrt(mean) + 10.0).min(balls);
    let log_odds = -libm::log(bins - 1.0);
    let (mut log_term, mut below, mut largest, mut count) = (balls * libm::log1p(-1.0 / bins), 0.0_f64, 0.0, 0.0);
    while count < reach {
        below = (below + libm::exp(log_term)).min(1.0);
        largest += 1.0 - libm::pow(below, bins);
        log_term += libm::log((balls - count).max(f64::MIN_POSITIVE) / (count + 1.0)) + log_odds;
        count += 1.0;
    }
    let largest = (largest - mean).max(0.0) * libm::sqrt(bins / (bins - 1.0)) + mean;
    largest.max(balls.min(1.0)).min(balls)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four throws of a coin: 4 heads or tails twice in 16, 3 eight times, 2 six times: 44 / 16.
    #[test]
    fn four_throws_of_a_coin() {
        let most = fullest(4.0, 2.0);
        assert!((most - 2.75).abs() < 0.1, "{most}");
    }

    /// Three balls in three bins: all apart in 6 of 27 ways, all together in 3, else two: (6 + 3 x 3 + 18 x 2) / 27.
    #[test]
    fn three_balls_in_three_bins() {
        let most = fullest(3.0, 3.0);
        assert!((most - 51.0 / 27.0).abs() < 0.1, "{most}");
    }

    /// Many balls are normal: of two bins of 10,000 the fuller has 5,000 + 50 sqrt(2 / pi).
    #[test]
    fn ten_thousand_throws_of_a_coin() {
        let most = fullest(10_000.0, 2.0);
        assert!((most - 5_039.9).abs() < 1.0, "{most}");
    }

    #[test]
    fn one_ball_and_one_bin() {
        assert!((fullest(1.0, 20.0) - 1.0).abs() < 1e-9);
        assert!((fullest(7.0, 1.0) - 7.0).abs() < 1e-9);
        assert!(fullest(0.0, 5.0).abs() < 1e-9);
    }
}
