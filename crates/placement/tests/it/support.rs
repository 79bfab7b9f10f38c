//! What several tests need: keys by Zipf's law.

use des::RandomStream;

/// Draws ranks by Zipf's law: rank k of n with probability in proportion to k^-s.
pub struct Zipf {
    cumulative: Vec<f64>,
}

impl Zipf {
    pub fn new(keys: usize, exponent: f64) -> Self {
        let mut sum = 0.0;
        let cumulative = (1..=keys).map(|rank| {
            sum += libm::pow(rank as f64, -exponent);
            sum
        });
        Self { cumulative: cumulative.collect() }
    }

    pub fn draw(&self, random: &mut RandomStream) -> usize {
        let at = random.uniform() * self.cumulative[self.cumulative.len() - 1];
        self.cumulative.partition_point(|sum| *sum <= at)
    }

    /// Weights that add up to about `total`.
    pub fn weights(&self, total: f64) -> Vec<u64> {
        let whole = self.cumulative[self.cumulative.len() - 1];
        let before = [0.0].into_iter().chain(self.cumulative.iter().copied());
        before.zip(&self.cumulative).map(|(before, sum)| ((sum - before) / whole * total).round() as u64).collect()
    }
}
