//! Frames lost against the signal-to-noise ratio, from link simulation: soft decisions, white noise, ideal
//! synchronisation and channel estimation.
//!
//! The figures are those that R. Patidar, S. Roy, T. R. Henderson and A. Chandramohan (Link-to-system mapping for ns-3
//! Wi-Fi OFDM error models, WNS3 2017) and their successors made with the WLAN toolbox of MATLAB and published with
//! ns-3: frames of 32 and of 1,458 bytes in the convolutional code (BCC), of 1,458 bytes in LDPC. A frame of another
//! length L is reckoned from one of them, of length R, as 1 - (1 - PER)^(L/R): BCC below 400 bytes from 32, other
//! lengths and LDPC from 1,458 (IEEE 802.11-14/0571r12, TGax evaluation methodology, R. Porat et al. 2016).
//!
//! The ratio is Es/N0 of a subcarrier, so that 802.11a and g have the same curves, and their BPSK 3/4, of which HT has
//! none, that of QPSK 3/4 at half of the ratio. Between points the logarithm of -ln(1 - PER) is a line in the ratio,
//! beyond them the same line goes on: rare errors of a code fall exponentially with the ratio.

use super::rates::{Code, Coding, Modulation};

/// The simulated frames that a frame is reckoned from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Frame {
    /// Of 32 bytes, convolutional code.
    Short,
    /// Of 1,458 bytes, convolutional code.
    Long,
    /// Of 1,458 bytes, LDPC.
    Ldpc,
}

/// From so many bytes on a frame is a long one.
const LONG_BYTES: f64 = 400.0;

impl Frame {
    /// All, in the order of their discriminants.
    pub const ALL: [Self; 3] = [Self::Short, Self::Long, Self::Ldpc];

    /// For a frame of `bits` bits.
    pub fn of(code: Code, bits: f64) -> Self {
        match code {
            Code::Ldpc => Self::Ldpc,
            Code::Convolutional if bits < 8.0 * LONG_BYTES => Self::Short,
            Code::Convolutional => Self::Long,
        }
    }

    const fn bits(self) -> f64 {
        match self {
            Self::Short => 8.0 * 32.0,
            Self::Long | Self::Ldpc => 8.0 * 1_458.0,
        }
    }
    /// Between two points of a curve, in dB.
    const fn step_db(self) -> f64 {
        match self {
            Self::Short | Self::Long => 0.5,
            Self::Ldpc => 0.25,
        }
    }
}

/// One curve: the ratio of its first point in dB, and frames lost of 100,000 there and at each step from there. Points
/// with fewer than 100 lost, or fewer than 1,000 received, are left out: chance has too great a part in them.
type Curve = (f64, &'static [u32]);

/// By MCS 0 to 7.
const SHORT: [Curve; 8] = [
    (-2.5, &[94_080, 82_590, 58_950, 30_830, 12_540, 3_440, 850, 150]),
    (0.5, &[96_710, 83_490, 58_740, 31_690, 11_820, 3_640, 850, 160]),
    (3.0, &[95_880, 85_120, 59_900, 31_250, 11_710, 3_390, 780, 160]),
    (5.5, &[96_900, 88_430, 74_090, 46_510, 25_710, 10_800, 3_810, 1_190, 320]),
    (9.0, &[94_790, 79_890, 59_230, 33_700, 15_720, 5_420, 1_580, 400, 110]),
    (12.5, &[96_530, 89_700, 73_010, 52_570, 30_580, 15_750, 6_460, 2_410, 790, 230]),
    (14.0, &[96_250, 83_980, 68_660, 46_340, 25_200, 11_450, 4_610, 1_580, 490, 160]),
    (15.0, &[98_330, 94_260, 84_830, 63_470, 43_770, 22_260, 11_110, 4_400, 1_730, 530, 190]),
];
const LONG: [Curve; 8] = [
    (0.0, &[81_850, 29_080, 6_630, 1_120, 150]),
    (3.0, &[79_440, 30_080, 7_280, 1_200, 150]),
    (5.5, &[75_780, 30_100, 6_760, 1_220, 230]),
    (8.5, &[84_050, 43_410, 14_190, 3_740, 860, 190]),
    (11.5, &[92_690, 51_390, 18_260, 4_650, 1_100, 260]),
    (15.5, &[94_790, 66_250, 29_780, 10_580, 3_340, 910, 230]),
    (17.0, &[87_960, 51_390, 20_910, 6_390, 1_860, 460, 130]),
    (18.0, &[97_850, 73_930, 33_750, 12_340, 3_550, 1_000, 270]),
];
const LDPC: [Curve; 8] = [
    (-1.25, &[97_950, 60_480, 17_050, 3_320, 530]),
    (1.75, &[97_470, 62_330, 18_590, 3_400, 550]),
    (4.25, &[98_720, 62_560, 15_800, 2_090, 250]),
    (7.25, &[94_340, 57_890, 20_640, 4_840, 930, 180]),
    (10.5, &[70_890, 24_720, 4_700, 590]),
    (14.5, &[91_830, 53_790, 16_610, 3_690, 650, 100]),
    (15.75, &[98_140, 73_930, 33_110, 8_150, 1_620, 270]),
    (17.25, &[97_750, 73_980, 33_190, 9_640, 2_180, 470]),
];

/// The probability that an information bit is wrong, at most 1/2, such that bits with this probability make the frame
/// as likely to be lost as the curve says.
pub(super) fn bit_error(modulation: Modulation, coding: Coding, frame: Frame, ratio: f64) -> f64 {
    let (mcs, ratio) = match (modulation, coding) {
        (Modulation::Bpsk, Coding::ThreeQuarters) => (2, 2.0 * ratio),
        (Modulation::Bpsk, _) => (0, ratio),
        (Modulation::Qpsk, Coding::ThreeQuarters) => (2, ratio),
        (Modulation::Qpsk, _) => (1, ratio),
        (Modulation::Qam16, Coding::ThreeQuarters) => (4, ratio),
        (Modulation::Qam16, _) => (3, ratio),
        (_, Coding::ThreeQuarters) => (6, ratio),
        (_, Coding::FiveSixths) => (7, ratio),
        _ => (5, ratio),
    };
    let curves = match frame {
        Frame::Short => &SHORT,
        Frame::Long => &LONG,
        Frame::Ldpc => &LDPC,
    };
    let exponent = libm::exp(logarithm(curves[mcs], frame.step_db(), ratio)) / frame.bits();
    (-libm::expm1(-exponent)).min(0.5)
}

/// The logarithm of -ln(1 - PER) of a curve at a ratio.
fn logarithm((first_db, lost): Curve, step_db: f64, ratio: f64) -> f64 {
    let place = |point: usize| libm::pow(10.0, (first_db + step_db * point as f64) / 10.0);
    let value = |point: usize| libm::log(-libm::log1p(-f64::from(lost[point]) / 1e5));
    let last = lost.len() - 2;
    let left = (0..last).find(|&point| ratio < place(point + 1)).unwrap_or(last);
    let (from, to) = (place(left), place(left + 1));
    value(left) + (value(left + 1) - value(left)) * (ratio - from) / (to - from)
}
