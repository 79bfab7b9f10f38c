//! Models of a TCP stream's steady state, of many together, and the number of streams that they recommend.

use super::MOST_STREAMS;
use units::{BitRate, Bytes, Time};

/// Figures of a path for the models.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Path {
    /// Payload of a full segment.
    pub mss: Bytes,
    /// Round-trip time; not zero.
    pub rtt: Time,
    /// Loss rate, 0 to 1.
    pub loss: f64,
    /// Retransmission timeout T0 of a stream.
    pub rto: Time,
    /// Most bytes in flight of a stream: the smaller of the peer's window and the send buffer.
    pub window: Bytes,
    /// Segments per acknowledgement, PFTK's b: 2 with delayed acknowledgements, else 1.
    pub per_ack: f64,
}

impl Path {
    /// Rate in bit/s of so many segments per round trip.
    fn rate(&self, segments: f64) -> f64 {
        segments * self.mss.get() as f64 * 8.0 / self.rtt.as_secs_f64()
    }
    /// What the window alone allows, in bits per second.
    pub fn window_limit(&self) -> f64 {
        self.window.get() as f64 * 8.0 / self.rtt.as_secs_f64()
    }
    /// Reno without timeouts, in bits per second: MSS / RTT x sqrt(3 / (2 b p)) (Mathis, Semke, Mahdavi and Ott, *The
    /// macroscopic behavior of the TCP congestion avoidance algorithm*, CCR 27(3), 1997, eq. 3; C = sqrt(3/2) for an
    /// acknowledgement of every segment). No more than the window allows.
    pub fn mathis(&self) -> f64 {
        self.rate((1.5 / (self.per_ack * self.loss)).sqrt()).min(self.window_limit())
    }
    /// Reno with timeouts, in bits per second (Padhye, Firoiu, Towsley and Kurose, *Modeling TCP throughput*, SIGCOMM
    /// 1998, eq. 32).
    pub fn pftk(&self) -> f64 {
        let (p, b) = (self.loss, self.per_ack);
        let timeouts = self.rto.as_secs_f64() * (3.0 * (3.0 * b * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
        let time = self.rtt.as_secs_f64() * (2.0 * b * p / 3.0).sqrt() + timeouts;
        (self.mss.get() as f64 * 8.0 / time).min(self.window_limit())
    }
    /// CUBIC without timeouts, in bits per second: the larger of its own mean window, 1.054 (RTT / p)^(3/4) segments,
    /// and Reno's, which it follows where that is larger (RFC 9438, sections 5.1 and 4.3: C = 0.4, beta = 0.7). No more
    /// than the window allows.
    pub fn cubic(&self) -> f64 {
        let ratio = self.rtt.as_secs_f64() / self.loss;
        // (C (3 + beta) / (4 (1 - beta)))^(1/4), and x^(3/4), from square roots, which are the same on every machine.
        let constant = (0.4_f64 * 3.7 / (4.0 * 0.3)).sqrt().sqrt();
        let own = constant * ratio.sqrt() * ratio.sqrt().sqrt();
        self.rate(own.max((1.5 / self.loss).sqrt())).min(self.window_limit())
    }
}

/// An upper bound in bit/s of what streams carry together: the sum over streams of MSS / RTT / sqrt(p) (Hacker, Athey
/// and Noble, *The end-to-end performance effects of parallel TCP sockets on a lossy wide-area network*, IPDPS 2002,
/// eq. 5). It holds while the streams do not cause the losses: then losses do not grow with their number.
pub fn hacker(streams: &[Path]) -> f64 {
    streams.iter().map(|path| path.rate(1.0 / path.loss.sqrt())).sum()
}

/// The number of streams that fills a capacity if each carries `rate` bits per second: 1 to [`MOST_STREAMS`].
pub fn streams_to_fill(capacity: BitRate, rate: f64) -> u32 {
    ((capacity.as_bps() as f64 / rate).ceil() as u32).clamp(1, MOST_STREAMS)
}

/// The loss of n streams: alpha n^2 + beta n + gamma, the "complete second order polynomial" of Wang et al. 2014,
/// section 3.3, eq. 1, fitted to measurements. (The equation is a picture that the published text lacks; its symbols
/// and its degree are stated.)
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LossFit {
    /// Coefficient of n squared.
    pub alpha: f64,
    /// Coefficient of n.
    pub beta: f64,
    /// Constant term: the loss without our streams.
    pub gamma: f64,
    /// The correlation coefficient R of the fit.
    pub r: f64,
}

impl LossFit {
    /// Least squares over (number of streams, loss). `None` if fewer than three different numbers were measured.
    pub fn new(points: &[(u32, f64)]) -> Option<Self> {
        let mut numbers: Vec<u32> = points.iter().map(|(n, _)| *n).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.len() < 3 {
            return None;
        }
        let sum = |f: &dyn Fn(f64, f64) -> f64| points.iter().map(|(n, p)| f(f64::from(*n), *p)).sum::<f64>();
        let power = |k: i32| sum(&|n, _| n.powi(k));
        let moment = |k: i32| sum(&|n, p| n.powi(k) * p);
        let rows = [
            [power(4), power(3), power(2), moment(2)],
            [power(3), power(2), power(1), moment(1)],
            [power(2), power(1), power(0), moment(0)],
        ];
        let [alpha, beta, gamma] = solve(rows)?;
        let mean = moment(0) / power(0);
        let fit = Self { alpha, beta, gamma, r: 0.0 };
        let left = sum(&|n, p| (p - (alpha * n * n + beta * n + gamma)).powi(2));
        let all = sum(&|_, p| (p - mean).powi(2));
        let r = if all > 0.0 { (1.0 - left / all).max(0.0).sqrt() } else { 1.0 };
        Some(Self { r, ..fit })
    }
    /// The loss of `n` streams: 0 to 1.
    pub fn loss(&self, n: u32) -> f64 {
        let n = f64::from(n);
        (self.alpha * n * n + self.beta * n + self.gamma).clamp(1e-9, 1.0)
    }
}

/// Solves three linear equations, each given by its coefficients and its right side. `None` if they determine nothing.
fn solve(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for column in 0..3 {
        let pivot = (column..3).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let lead = rows[column];
        if lead[column] == 0.0 {
            return None;
        }
        for row in rows.iter_mut().skip(column + 1) {
            let factor = row[column] / lead[column];
            for (value, above) in row.iter_mut().zip(lead) {
                *value -= factor * above;
            }
        }
    }
    let z = rows[2][3] / rows[2][2];
    let y = (rows[1][3] - rows[1][2] * z) / rows[1][1];
    let x = (rows[0][3] - rows[0][2] * z - rows[0][1] * y) / rows[0][0];
    Some([x, y, z])
}

/// The best number of streams and what they carry together, in bits per second: n times PFTK's rate at the loss of n
/// streams, tried for n = 1 to [`MOST_STREAMS`] (Wang et al. 2014, section 3.3, eq. 2 after Hacker et al.; "enumerating
/// n from 1 to 128"). With eq. 1 in PFTK's p (1 + 32 p^2) sqrt(p) this is of the 7th degree in n, as the paper says of
/// it. `path.loss` is not used.
pub fn best_number(path: &Path, loss: &LossFit) -> (u32, f64) {
    let rate = |n: u32| f64::from(n) * Path { loss: loss.loss(n), ..*path }.pftk();
    let mut best = (1, rate(1));
    for n in 2..=MOST_STREAMS {
        let rate = rate(n);
        if rate > best.1 {
            best = (n, rate);
        }
    }
    best
}
