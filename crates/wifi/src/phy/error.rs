//! How often a bit is received wrong, by modulation, code and the ratio of signal to interference and noise.
//!
//! Models of OFDM and HT on white noise:
//! - Link: curves of link simulation with soft decisions ([`super::link_curves`]).
//! - NIST: L. E. Miller, Validation of 802.11a/UWB coexistence simulation, NIST 2003: a Viterbi decoder with hard
//!   decisions; union bound over the code's weight spectrum with Chernoff's bound on the probability of each wrong
//!   path. A subcarrier's Es/N0 is the signal-to-noise ratio.
//! - YANS: M. Lacage and T. R. Henderson, Yet another network simulator, WNS2 2006: hard decisions too; the first one
//!   or two terms of the union bound on error events, each exact. All of the signal's energy, that of pilots and guard
//!   intervals too, counts for the data, which makes it the more optimistic.
//!
//! DSSS: differential detection (J. G. Proakis, Digital Communications, 4th edition, 5.2.8). CCK: coherent detection of
//! biorthogonal signals (Proakis 5.2.2), which is what the code words of 5.5 Mbit/s are; those of 11 Mbit/s are pairs
//! of them with half the energy each (M. B. Pursley and T. C. Royster, Properties and performance of the IEEE 802.11b
//! complementary-code-key signal sets, IEEE Trans. Communications 57(2), 2009). Real receivers lose 3 dB more.

use super::link_curves::{self, Frame};
use super::mode::Mode;
use super::rates::{Coding, Modulation};
use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// A model of reception errors in OFDM and HT; DSSS and CCK are the same in all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ErrorModel {
    /// Published curves of link simulation, soft decisions.
    #[default]
    Link,
    /// Miller 2003.
    Nist,
    /// Lacage and Henderson 2006.
    Yans,
}

/// What receivers of CCK lose against coherent detection of the code words: 3 dB, as in ns-3, whose four rates G. Pei
/// and T. R. Henderson (Validation of ns-3 802.11b PHY model, 2009) compared with cards on Carnegie Mellon's emulator.
/// Their curves lie over the cards' with 7 dB of noise figure, which was fitted.
const CCK_LOSS: f64 = 0.5;

/// Error weights of the standard's convolutional code (K = 7, 133/171 octal) and its puncturings: information bits
/// wrong on all paths of distance d, summed, for d from the free distance on. From the trellis; D. Haccoun and G. Begin
/// (High-rate punctured convolutional codes, IEEE Trans. Communications 37(11), 1989), who count a path that touches
/// the zero state within a period of the puncturing as one, print a little more for the last terms.
struct Spectrum {
    /// The first distance.
    free: i32,
    /// Bit errors on paths of distance free, free + 1, ...
    bits: &'static [f64],
    /// Paths of distance free and free + 1.
    paths: [f64; 2],
}

const HALF: Spectrum = Spectrum {
    free: 10,
    // No path of an odd distance: ten terms reach to 28.
    bits: &[
        36.0,
        0.0,
        211.0,
        0.0,
        1_404.0,
        0.0,
        11_633.0,
        0.0,
        77_433.0,
        0.0,
        502_690.0,
        0.0,
        3_322_763.0,
        0.0,
        21_292_910.0,
        0.0,
        134_365_911.0,
        0.0,
        843_425_871.0,
    ],
    paths: [11.0, 0.0],
};
const TWO_THIRDS: Spectrum = Spectrum {
    free: 6,
    bits: &[3.0, 70.0, 285.0, 1_276.0, 6_160.0, 27_128.0, 117_019.0, 498_835.0, 2_103_480.0, 8_781_268.0],
    paths: [1.0, 16.0],
};
const THREE_QUARTERS: Spectrum = Spectrum {
    free: 5,
    bits: &[
        42.0,
        201.0,
        1_492.0,
        10_469.0,
        62_935.0,
        379_546.0,
        2_252_394.0,
        13_064_540.0,
        75_080_308.0,
        427_474_864.0,
    ],
    paths: [8.0, 31.0],
};
const FIVE_SIXTHS: Spectrum = Spectrum {
    free: 4,
    bits: &[
        92.0,
        528.0,
        8_694.0,
        79_453.0,
        791_795.0,
        7_369_828.0,
        67_809_347.0,
        609_896_348.0,
        5_416_272_113.0,
        47_544_404_956.0,
    ],
    paths: [14.0, 69.0],
};

impl Spectrum {
    const fn of(coding: Coding) -> &'static Self {
        match coding {
            Coding::None | Coding::Half => &HALF,
            Coding::TwoThirds => &TWO_THIRDS,
            Coding::ThreeQuarters => &THREE_QUARTERS,
            Coding::FiveSixths => &FIVE_SIXTHS,
        }
    }
}

impl ErrorModel {
    /// Factor from the signal-to-noise ratio to the Es/N0 that [`ErrorModel::bit_error`] takes.
    pub const fn symbol_ratio(self, mode: Mode) -> f64 {
        match (self, mode) {
            // Chips at 11 MHz in a noise bandwidth of 22 MHz; a symbol is 11 chips, or 8 of CCK. ns-3 needs 3 dB more
            // for CCK than coherent detection does, and for DSSS no more than differential detection.
            (_, Mode::Dsss(..)) => match mode.scheme().0 {
                Modulation::Cck4 | Modulation::Cck8 => 16.0 * CCK_LOSS,
                _ => 22.0,
            },
            (Self::Link | Self::Nist, _) => 1.0,
            (Self::Yans, _) => {
                let (information, coded) = mode.scheme().1.ratio();
                let coded_rate = mode.rate().as_bps() as f64 * coded as f64 / information as f64;
                mode.bandwidth_hz() * (mode.scheme().0.bits() * mode.streams()) as f64 / coded_rate
            }
        }
    }

    /// The probability that an information bit is wrong, at most 1/2. `ratio` is Es/N0 of one stream. The link curves
    /// are of frames, `frame` says which; for the others all bits are alike.
    pub fn bit_error(self, modulation: Modulation, coding: Coding, frame: Frame, ratio: f64) -> f64 {
        let spectrum = Spectrum::of(coding);
        let error = match (modulation, self) {
            (Modulation::Dbpsk, _) => 0.5 * libm::exp(-ratio),
            (Modulation::Dqpsk, _) => dqpsk(ratio / 2.0),
            (Modulation::Cck4, _) => per_bit(biorthogonal16(ratio), 4.0),
            (Modulation::Cck8, _) => {
                let half = biorthogonal16(ratio / 2.0);
                per_bit(half * (2.0 - half), 8.0)
            }
            (_, Self::Link) => link_curves::bit_error(modulation, coding, frame, ratio),
            (_, Self::Nist) => {
                let raw = nist(modulation, ratio);
                let distance = libm::sqrt(4.0 * raw * (1.0 - raw));
                let union: f64 =
                    (0..).zip(spectrum.bits).map(|(i, bits)| bits * powi(distance, spectrum.free + i)).sum();
                union / f64::from(2 * coding.ratio().0)
            }
            (_, Self::Yans) => {
                let raw = yans(modulation, ratio);
                // With BPSK only the first term is taken.
                let terms = if modulation == Modulation::Bpsk { 1 } else { 2 };
                (0..)
                    .zip(&spectrum.paths)
                    .take(terms)
                    .map(|(i, paths)| paths * wrong_path(raw, spectrum.free + i))
                    .sum()
            }
        };
        error.min(0.5)
    }
}

/// Uncoded bit error of Miller: the nearest neighbours of the constellation, with Gray's code.
fn nist(modulation: Modulation, ratio: f64) -> f64 {
    let q = |x: f64| 0.5 * libm::erfc(libm::sqrt(x));
    match modulation {
        Modulation::Bpsk => q(ratio),
        Modulation::Qpsk => q(ratio / 2.0),
        Modulation::Qam16 => 0.75 * q(ratio / 10.0),
        _ => 7.0 / 12.0 * q(ratio / 42.0),
    }
}

/// Uncoded bit error of Lacage and Henderson: symbol error of square QAM over its bits (Proakis 5.2.9); BPSK as it is.
fn yans(modulation: Modulation, ratio: f64) -> f64 {
    if modulation == Modulation::Bpsk {
        return 0.5 * libm::erfc(libm::sqrt(ratio));
    }
    let bits = f64::from(modulation.bits());
    let points = f64::from(1 << modulation.bits());
    let axis = (1.0 - 1.0 / libm::sqrt(points)) * libm::erfc(libm::sqrt(1.5 * ratio / (points - 1.0)));
    axis * (2.0 - axis) / bits
}

/// The probability that a decoder with hard decisions prefers one path at distance `d`: more than half of the `d` bits
/// wrong, or half and a coin.
fn wrong_path(p: f64, d: i32) -> f64 {
    let term = |k: i32| binomial(d, k) * powi(p, k) * powi(1.0 - p, d - k);
    let most: f64 = (d / 2 + 1..=d).map(term).sum();
    if d % 2 == 0 { most + 0.5 * term(d / 2) } else { most }
}

fn binomial(n: i32, k: i32) -> f64 {
    (1..=k).fold(1.0, |product, i| product * f64::from(n - k + i) / f64::from(i))
}

/// Power by repeated multiplication, the same on every machine.
fn powi(base: f64, exponent: i32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

/// The bit error that makes `bits` bits as likely to be all right as a symbol with this error.
fn per_bit(symbol: f64, bits: f64) -> f64 {
    (-libm::expm1(libm::log1p(-symbol.min(1.0)) / bits)).min(0.5)
}

/// Bit error of differentially detected QPSK with Gray's code at Eb/N0 `ratio`, as an integral over one period of an
/// angle (M. K. Simon and M.-S. Alouini, Digital Communication over Fading Channels, 8.2.4); the trapezoidal rule
/// converges geometrically.
fn dqpsk(ratio: f64) -> f64 {
    const POINTS: i32 = 128;
    let (a2, b2) = (2.0 * ratio * (1.0 - FRAC_1_SQRT_2), 2.0 * ratio * (1.0 + FRAC_1_SQRT_2));
    let zeta = libm::sqrt(a2 / b2);
    let sum: f64 = (0..POINTS)
        .map(|i| {
            let sin = libm::sin(2.0 * PI * f64::from(i) / f64::from(POINTS));
            let norm = 1.0 + 2.0 * zeta * sin + zeta * zeta;
            (1.0 - zeta * zeta) / norm * libm::exp(-0.5 * b2 * norm)
        })
        .sum();
    0.5 * sum / f64::from(POINTS)
}

/// Symbol error of 16 biorthogonal signals at Es/N0 `ratio`: 1 - the integral over x > -v of (2 Phi(x + v) - 1)^7
/// phi(x), v^2 = 2 Es/N0, written so that small errors keep their digits.
fn biorthogonal16(ratio: f64) -> f64 {
    const STEPS: i32 = 128;
    let v = libm::sqrt(2.0 * ratio);
    let low = -v.min(9.0);
    let step = (9.0 - low) / f64::from(STEPS);
    let error = |x: f64| {
        let right = libm::erfc((x + v) / SQRT_2);
        -libm::expm1(7.0 * libm::log1p(-right.min(1.0 - 1e-16))) * libm::exp(-0.5 * x * x)
    };
    // Simpson.
    let sum: f64 = (0..=STEPS)
        .map(|i| {
            let weight = if i == 0 || i == STEPS { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
            weight * error(low + f64::from(i) * step)
        })
        .sum();
    0.5 * libm::erfc(v / SQRT_2) + sum * step / 3.0 / libm::sqrt(2.0 * PI)
}
