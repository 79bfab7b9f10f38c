//! Rates of epochs with one number of streams, and how much such rates vary.

/// A gain is clear at this many standard errors from its bound.
const CLEAR: f64 = 2.0;
/// Differences of rates over which their variance is averaged.
const DIFFERENCES: u32 = 16;

/// Rates of the epochs since the number of streams changed, in bit/s.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates {
    list: Vec<f64>,
    /// Variance of an epoch's rate, whatever the number, as a part of the mean's square; from so many differences.
    variance: f64,
    differences: u32,
}

impl Rates {
    /// Takes in the rate of an epoch. The variance is that of two epochs in a row, in which a trend counts little
    /// (von Neumann et al., *The mean square successive difference*, 1941).
    pub fn push(&mut self, rate: f64) {
        if let Some(last) = self.list.last().filter(|last| **last + rate > 0.0) {
            let difference = 2.0 * (rate - last) / (rate + last);
            self.differences = (self.differences + 1).min(DIFFERENCES);
            self.variance += (difference * difference / 2.0 - self.variance) / f64::from(self.differences);
        }
        self.list.push(rate);
    }
    /// Forgets all rates but the last ones. How much rates vary is not forgotten.
    pub fn keep(&mut self, count: usize) {
        let surplus = self.list.len().saturating_sub(count);
        self.list.drain(..surplus);
    }
    pub fn len(&self) -> u32 {
        self.list.len() as u32
    }
    pub fn as_slice(&self) -> &[f64] {
        &self.list
    }
    pub fn mean(&self) -> f64 {
        self.list.iter().sum::<f64>() / self.list.len() as f64
    }
    /// Whether a relative gain's `distance` from its bound is more than rates vary by. The gain is that of these rates
    /// over the mean of so many epochs `before`.
    pub fn tell(&self, distance: f64, before: u32) -> bool {
        let variance = self.variance * (1.0 / f64::from(self.len()) + 1.0 / f64::from(before));
        distance.abs() >= CLEAR * variance.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two epochs of 90 and 110: a difference of a fifth, half of whose square, 0.02, is the variance. The means of eight
    /// and eight differ by 0.0707 by chance (one standard deviation), those of two and two by 0.1414.
    #[test]
    fn what_varies_less_is_told_sooner() {
        let mut rates = Rates::default();
        for which in 0..200 {
            rates.push(if which % 2 == 0 { 90.0 } else { 110.0 });
        }
        rates.keep(8);
        assert_eq!((rates.len(), rates.mean()), (8, 100.0));
        assert!(rates.tell(0.142, 8) && !rates.tell(-0.141, 8));
        rates.keep(2);
        assert!(rates.tell(-0.283, 2) && !rates.tell(0.282, 2));
    }
}
