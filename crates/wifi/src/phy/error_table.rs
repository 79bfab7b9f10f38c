//! [`ErrorModel`] as a table: what a simulation asks millions of times.

use super::error::ErrorModel;
use super::link_curves::Frame;
use super::mode::Mode;
use super::rates::{Coding, Modulation};
use std::sync::OnceLock;

/// Bins per doubling of the ratio.
const BINS: usize = 64;
const BINS_BITS: u32 = BINS.trailing_zeros();
/// Ratios from 2^-8 (-24 dB) to 2^16 (48 dB).
const LOWEST: i32 = -8;
const OCTAVES: usize = 24;
const KNOTS: usize = BINS * OCTAVES + 1;

/// The combinations of modulation and code that there are, first those of DSSS.
const DSSS: usize = 4;
const SCHEMES: [(Modulation, Coding); 13] = [
    (Modulation::Dbpsk, Coding::None),
    (Modulation::Dqpsk, Coding::None),
    (Modulation::Cck4, Coding::None),
    (Modulation::Cck8, Coding::None),
    (Modulation::Bpsk, Coding::Half),
    (Modulation::Bpsk, Coding::ThreeQuarters),
    (Modulation::Qpsk, Coding::Half),
    (Modulation::Qpsk, Coding::ThreeQuarters),
    (Modulation::Qam16, Coding::Half),
    (Modulation::Qam16, Coding::ThreeQuarters),
    (Modulation::Qam64, Coding::TwoThirds),
    (Modulation::Qam64, Coding::ThreeQuarters),
    (Modulation::Qam64, Coding::FiveSixths),
];

/// The logarithm of the exponent x per bit with which n bits are all right, exp(-n x), for every scheme over knots of
/// the ratio, linear between them: it nearly is a line in the ratio where errors are rare. 64 knots per 3 dB keep the
/// success of any frame within 0.001 of the formulas, and within 0.01 of the link curves, which have corners.
#[derive(Debug)]
pub struct ErrorTable {
    model: ErrorModel,
    /// All schemes for the first kind of frame, then those but DSSS for each of the others that has curves of its own.
    schemes: Vec<[f64; KNOTS]>,
    /// By kind of frame: how far its schemes stand behind those of the first.
    offsets: [usize; Frame::ALL.len()],
}

impl ErrorTable {
    /// The table of a model, made once.
    pub fn of(model: ErrorModel) -> &'static Self {
        static LINK: OnceLock<ErrorTable> = OnceLock::new();
        static NIST: OnceLock<ErrorTable> = OnceLock::new();
        static YANS: OnceLock<ErrorTable> = OnceLock::new();
        match model {
            ErrorModel::Link => LINK.get_or_init(|| Self::new(model)),
            ErrorModel::Nist => NIST.get_or_init(|| Self::new(model)),
            ErrorModel::Yans => YANS.get_or_init(|| Self::new(model)),
        }
    }

    fn new(model: ErrorModel) -> Self {
        let knots = |frame: Frame, (modulation, coding): (Modulation, Coding)| {
            std::array::from_fn(|knot| {
                let (octave, bin) = (knot / BINS, knot % BINS);
                let ratio = libm::ldexp(1.0 + bin as f64 / BINS as f64, LOWEST + octave as i32);
                let exponent = -libm::log1p(-model.bit_error(modulation, coding, frame, ratio));
                libm::log(exponent.max(f64::MIN_POSITIVE))
            })
        };
        let [first, others @ ..] = Frame::ALL;
        let mut schemes: Vec<_> = SCHEMES.into_iter().map(|scheme| knots(first, scheme)).collect();
        let mut offsets = [0; Frame::ALL.len()];
        if model == ErrorModel::Link {
            for frame in others {
                offsets[frame as usize] = schemes.len() - DSSS;
                schemes.extend(SCHEMES.into_iter().skip(DSSS).map(|scheme| knots(frame, scheme)));
            }
        }
        Self { model, schemes, offsets }
    }

    /// The model.
    pub const fn model(&self) -> ErrorModel {
        self.model
    }

    /// The exponent per information bit of the payload of a `frame` in `mode`, at this ratio of signal to interference
    /// and noise on each stream.
    pub fn exponent(&self, mode: Mode, frame: Frame, sinr: f64) -> f64 {
        let (modulation, coding) = mode.scheme();
        let scheme = scheme(modulation, coding);
        let offset = if scheme < DSSS { 0 } else { self.offsets[frame as usize] };
        self.at(scheme + offset, sinr * self.model.symbol_ratio(mode))
    }
    /// The probability that a frame of `bits` bits of payload in `mode` is all right.
    pub fn success(&self, mode: Mode, sinr: f64, bits: f64) -> f64 {
        libm::exp(-bits * self.exponent(mode, Frame::of(mode.code(), bits), sinr))
    }

    fn at(&self, scheme: usize, ratio: f64) -> f64 {
        // Exponent and leading bits of the mantissa are the knot, the rest of the mantissa is the way to the next.
        let lowest = (1023 + LOWEST) as u64;
        let bits = ratio.max(f64::from_bits(lowest << 52)).to_bits();
        let knot = (bits >> (52 - BINS_BITS)) as usize - ((lowest as usize) << BINS_BITS);
        let logarithms = &self.schemes[scheme];
        let [Some(left), Some(right)] = [knot, knot + 1].map(|knot| logarithms.get(knot)) else { return 0.0 };
        let rest = (bits & ((1 << (52 - BINS_BITS)) - 1)) as f64 / (1_u64 << (52 - BINS_BITS)) as f64;
        libm::exp(left + (right - left) * rest)
    }
}

const fn scheme(modulation: Modulation, coding: Coding) -> usize {
    match (modulation, coding) {
        (Modulation::Dbpsk, _) => 0,
        (Modulation::Dqpsk, _) => 1,
        (Modulation::Cck4, _) => 2,
        (Modulation::Cck8, _) => 3,
        (Modulation::Bpsk, Coding::Half) => 4,
        (Modulation::Bpsk, _) => 5,
        (Modulation::Qpsk, Coding::Half) => 6,
        (Modulation::Qpsk, _) => 7,
        (Modulation::Qam16, Coding::Half) => 8,
        (Modulation::Qam16, _) => 9,
        (Modulation::Qam64, Coding::TwoThirds) => 10,
        (Modulation::Qam64, Coding::ThreeQuarters) => 11,
        (Modulation::Qam64, _) => 12,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_is_where_it_is_looked_up() {
        for (index, (modulation, coding)) in SCHEMES.into_iter().enumerate() {
            assert_eq!(scheme(modulation, coding), index);
        }
    }
}
