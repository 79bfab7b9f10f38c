//! Curves through a few probes of aggregate throughput over the number of streams. Rates are in any unit, the same
//! throughout.

use super::MOST_STREAMS;

/// Th(n) = n / sqrt(a n^2 + b): it rises to 1 / sqrt(a) and has no peak (Lu, Qiao, Dinda and Bustamante, *Modeling and
/// taming parallel TCP on the wide area network*, IPDPS 2005: from Mathis with p RTT^2 of n streams taken as a n^2 +
/// b).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PartialSecondOrder {
    /// Coefficient of n squared.
    pub a: f64,
    /// Constant term.
    pub b: f64,
}

/// n^2 / Th^2: in these terms the curves are polynomials.
fn inverse((n, rate): (u32, f64)) -> f64 {
    let ratio = f64::from(n) / rate;
    ratio * ratio
}

impl PartialSecondOrder {
    /// The curve through two probes (number of streams, rate). `None` if both have the same number, or if no such curve
    /// goes through them.
    pub fn new(first: (u32, f64), second: (u32, f64)) -> Option<Self> {
        let square = |n: u32| f64::from(n) * f64::from(n);
        let (y1, y2) = (inverse(first), inverse(second));
        let a = (y2 - y1) / (square(second.0) - square(first.0));
        let b = y1 - a * square(first.0);
        (a.is_finite() && a >= 0.0 && b >= 0.0 && a + b > 0.0).then_some(Self { a, b })
    }
    /// The rate of `n` streams.
    pub fn rate(&self, n: u32) -> f64 {
        let n = f64::from(n);
        n / (self.a * n * n + self.b).sqrt()
    }
    /// The fewest streams that reach this part of the limit 1 / sqrt(a): from n^2 / (a n^2 + b) = part^2 / a.
    pub fn reaches(&self, part: f64) -> u32 {
        let n = (self.b * part * part / (self.a * (1.0 - part * part))).sqrt();
        if n.is_finite() { (n.ceil() as u32).clamp(1, MOST_STREAMS) } else { MOST_STREAMS }
    }
}

/// Th(n) = n / sqrt(a n^2 + b n + c), which can have a peak (Yildirim, Yin and Kosar, *Prediction of optimal
/// parallelism level in wide area data transfers*, IEEE TPDS 22(12), 2011).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FullSecondOrder {
    /// Coefficient of n squared.
    pub a: f64,
    /// Coefficient of n.
    pub b: f64,
    /// Constant term.
    pub c: f64,
}

impl FullSecondOrder {
    /// The curve through three probes (number of streams, rate). `None` if two have the same number.
    pub fn new(probes: [(u32, f64); 3]) -> Option<Self> {
        let [n1, n2, n3] = probes.map(|(n, _)| f64::from(n));
        let [y1, y2, y3] = probes.map(inverse);
        // Newton's divided differences of the parabola through the three.
        let d12 = (y2 - y1) / (n2 - n1);
        let d23 = (y3 - y2) / (n3 - n2);
        let a = (d23 - d12) / (n3 - n1);
        let b = d12 - a * (n1 + n2);
        let c = y1 - b * n1 - a * n1 * n1;
        (a.is_finite() && b.is_finite() && c.is_finite()).then_some(Self { a, b, c })
    }
    /// The rate of `n` streams; NaN where the curve has none.
    pub fn rate(&self, n: u32) -> f64 {
        let n = f64::from(n);
        n / (self.a * n * n + self.b * n + self.c).sqrt()
    }
    /// The best number of streams: the peak at -2c / b if there is one between 1 and `most`, else the better end.
    pub fn best(&self, most: u32) -> u32 {
        let peak = -2.0 * self.c / self.b;
        if self.b < 0.0 && self.c > 0.0 && peak < f64::from(most) {
            let below = (peak as u32).max(1);
            return if self.rate(below + 1) > self.rate(below) { below + 1 } else { below };
        }
        if self.rate(1) > self.rate(most) { 1 } else { most }
    }
}
