//! What chance allows.

/// How many of so many records may lie outside the intervals that have nine tenths of what is simulated: the most that
/// would be missed in one test of twenty or more, if each is missed with one chance in ten.
pub fn misses(records: usize) -> usize {
    (0..records).find(|missed| at_most(*missed, records, 0.1) >= 0.95).unwrap_or(0)
}

/// The probability of at most so many of n independent events.
pub fn at_most(most: usize, n: usize, probability: f64) -> f64 {
    let mut term = (1.0 - probability).powi(n as i32);
    let mut sum = term;
    for k in 0..most {
        term *= (n - k) as f64 / (k + 1) as f64 * probability / (1.0 - probability);
        sum += term;
    }
    sum
}
