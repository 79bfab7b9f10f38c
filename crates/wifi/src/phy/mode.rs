//! A mode of the PHY: the rate a frame is sent at, and how long it is then on the air.
//!
//! Source: IEEE Std 802.11-2012, clauses 16 (DSSS), 17 (HR/DSSS), 18 (OFDM), 19 (ERP) and 20 (HT); TXTIME is 17.3.4,
//! 18.4.3, 19.8.3 and 20.4.3. Left out: PBCC, DSSS-OFDM, channels of 5 and 10 MHz, MCS 32 (a duplicate of MCS 0 in 40
//! MHz), MCS 33-76 (unequal modulation) and STBC: products of the time hardly ever used them.

use super::ldpc;
use super::rates::{Band, Code, Coding, DsssRate, Guard, Ht, HtFormat, Modulation, OfdmRate, Preamble, Width};
use std::fmt;
use units::{BitRate, Time};

/// A mode of the PHY: what the MAC hands over with a frame (TXVECTOR).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// DSSS and HR/DSSS (802.11, 802.11b). Make it by [`Mode::dsss`].
    Dsss(DsssRate, Preamble),
    /// OFDM (802.11a) at 5 GHz, ERP-OFDM (802.11g) at 2.4 GHz.
    Ofdm(OfdmRate, Band),
    /// HT (802.11n).
    Ht(Ht),
}

/// Modes are equal in kind if a station that knows one can answer in the other (modulation classes, 9.7.8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// DSSS and HR/DSSS.
    Dsss,
    /// OFDM and ERP-OFDM.
    Ofdm,
    /// HT (802.11n).
    Ht,
}

const SERVICE_BITS: u64 = 16;
const TAIL_BITS: u64 = 6;

impl Mode {
    /// A mode of DSSS; at 1 Mbit/s the preamble is long whatever is asked for.
    pub const fn dsss(rate: DsssRate, preamble: Preamble) -> Self {
        Self::Dsss(rate, if matches!(rate, DsssRate::R1) { Preamble::Long } else { preamble })
    }
    /// A mode of HT, mixed format; `None` for an MCS above 31.
    pub const fn ht(mcs: u8, width: Width, guard: Guard, band: Band) -> Option<Self> {
        match Ht::new(mcs, width, guard, band) {
            Some(ht) => Some(Self::Ht(ht)),
            None => None,
        }
    }

    /// How long a PPDU of `psdu` bytes (one MPDU with its header and FCS, or an A-MPDU) keeps the medium: preamble,
    /// header, service and tail bits, padding to whole symbols, signal extension.
    pub const fn duration(self, psdu: u32) -> Time {
        self.preamble().saturating_add(self.payload(psdu))
    }
    /// The preamble and the headers of the PHY: until then a receiver does not know what comes.
    pub const fn preamble(self) -> Time {
        Time::from_us(match self {
            Self::Dsss(_, Preamble::Long) => 192,
            Self::Dsss(_, Preamble::Short) => 96,
            Self::Ofdm(..) => 20,
            Self::Ht(ht) => ht.preamble_us(),
        })
    }
    /// Time after the headers: the symbols and the signal extension.
    pub const fn payload(self, psdu: u32) -> Time {
        let bits = 8 * psdu as u64;
        match self {
            // In whole us: the header says the length so.
            Self::Dsss(rate, _) => Time::from_us((1_000 * bits).div_ceil(rate.kbps())),
            Self::Ofdm(_, band) => {
                let symbols = (SERVICE_BITS + bits + TAIL_BITS).div_ceil(self.data_bits() as u64);
                Time::from_us(4 * symbols + signal_extension_us(band))
            }
            Self::Ht(ht) => {
                let symbols = match ht.code() {
                    Code::Convolutional => {
                        (SERVICE_BITS + bits + TAIL_BITS * ht.encoders() as u64).div_ceil(ht.data_bits() as u64)
                    }
                    Code::Ldpc => ldpc::symbols(ht, SERVICE_BITS + bits),
                };
                let ns = match (ht.guard(), ht.format()) {
                    (Guard::Long, _) => 4_000 * symbols,
                    // L-SIG says the length in symbols of 4 us.
                    (Guard::Short, HtFormat::Mixed) => 4_000 * (3_600 * symbols).div_ceil(4_000),
                    (Guard::Short, HtFormat::Greenfield) => 3_600 * symbols,
                };
                Time::from_ns(ns + 1_000 * signal_extension_us(ht.band()))
            }
        }
    }
    /// The signal extension: the last part of a PPDU in which nothing is sent.
    pub const fn signal_extension(self) -> Time {
        match self {
            Self::Dsss(..) => Time::ZERO,
            Self::Ofdm(_, band) => Time::from_us(signal_extension_us(band)),
            Self::Ht(ht) => Time::from_us(signal_extension_us(ht.band())),
        }
    }

    /// The nominal data rate, rounded down to whole bits per second.
    pub const fn rate(self) -> BitRate {
        BitRate::from_bps(match self {
            Self::Dsss(rate, _) => rate.kbps() * 1_000,
            Self::Ofdm(..) => self.data_bits() as u64 * 250_000,
            Self::Ht(ht) => match ht.guard() {
                Guard::Long => self.data_bits() as u64 * 250_000,
                Guard::Short => self.data_bits() as u64 * 10_000_000 / 36,
            },
        })
    }
    /// Data bits per symbol (N_DBPS).
    pub const fn data_bits(self) -> u32 {
        match self {
            Self::Dsss(..) => self.scheme().0.bits(),
            Self::Ofdm(rate, _) => {
                let (modulation, coding) = rate.scheme();
                let (information, coded) = coding.ratio();
                48 * modulation.bits() * information / coded
            }
            Self::Ht(ht) => ht.data_bits(),
        }
    }
    /// Time per bit of payload, in picoseconds.
    pub(super) const fn ps_per_bit(self) -> f64 {
        match self {
            Self::Dsss(rate, _) => 1e9 / rate.kbps() as f64,
            Self::Ht(ht) if matches!(ht.guard(), Guard::Short) => 3.6e6 / self.data_bits() as f64,
            Self::Ofdm(..) | Self::Ht(_) => 4e6 / self.data_bits() as f64,
        }
    }
    /// Modulation and code rate.
    pub const fn scheme(self) -> (Modulation, Coding) {
        match self {
            Self::Dsss(rate, _) => (
                match rate {
                    DsssRate::R1 => Modulation::Dbpsk,
                    DsssRate::R2 => Modulation::Dqpsk,
                    DsssRate::R5_5 => Modulation::Cck4,
                    DsssRate::R11 => Modulation::Cck8,
                },
                Coding::None,
            ),
            Self::Ofdm(rate, _) => rate.scheme(),
            Self::Ht(ht) => ht.scheme(),
        }
    }
    /// The code: convolutional but for modes of HT with LDPC.
    pub const fn code(self) -> Code {
        match self {
            Self::Ht(ht) => ht.code(),
            _ => Code::Convolutional,
        }
    }
    /// Spatial streams.
    pub const fn streams(self) -> u32 {
        match self {
            Self::Ht(ht) => ht.streams(),
            _ => 1,
        }
    }
    /// Occupied bandwidth in Hz, over which noise counts: 22 MHz for DSSS, else the channel's.
    pub const fn bandwidth_hz(self) -> f64 {
        match self {
            Self::Dsss(..) => 22e6,
            Self::Ht(ht) if matches!(ht.width(), Width::Mhz40) => 40e6,
            _ => 20e6,
        }
    }
    /// The modulation class.
    pub const fn class(self) -> Class {
        match self {
            Self::Dsss(..) => Class::Dsss,
            Self::Ofdm(..) => Class::Ofdm,
            Self::Ht(_) => Class::Ht,
        }
    }
    /// The longest PSDU in bytes.
    pub const fn max_psdu(self) -> u32 {
        match self {
            Self::Dsss(..) | Self::Ofdm(..) => 4_095,
            Self::Ht(_) => 65_535,
        }
    }
    /// The longest PPDU (aPPDUMaxTime). In mixed format L-SIG bounds it: 4095 bytes at 6 Mbit/s.
    pub const fn max_duration(self) -> Time {
        match self {
            Self::Ht(ht) if matches!(ht.format(), HtFormat::Mixed) => Time::from_us(5_484),
            Self::Ht(_) => Time::from_us(10_000),
            _ => Time::MAX,
        }
    }
    /// For HT the rate of OFDM with the same modulation, by which the rate of an answer is chosen (table 9-6); others
    /// themselves.
    pub const fn non_ht_reference(self) -> Self {
        match self {
            Self::Ht(ht) => {
                let rate = match ht.scheme() {
                    (Modulation::Bpsk, _) => OfdmRate::R6,
                    (Modulation::Qpsk, Coding::Half) => OfdmRate::R12,
                    (Modulation::Qpsk, _) => OfdmRate::R18,
                    (Modulation::Qam16, Coding::Half) => OfdmRate::R24,
                    (Modulation::Qam16, _) => OfdmRate::R36,
                    (_, Coding::TwoThirds) => OfdmRate::R48,
                    _ => OfdmRate::R54,
                };
                Self::Ofdm(rate, ht.band())
            }
            mode => mode,
        }
    }
}

/// aSignalExtension: lets the decoder finish within SIFS, which at 2.4 GHz is 6 us shorter.
const fn signal_extension_us(band: Band) -> u64 {
    match band {
        Band::Ghz2_4 => 6,
        Band::Ghz5 => 0,
    }
}

impl fmt::Display for Mode {
    /// For people: "11 Mbit/s (DSSS)", "54 Mbit/s (OFDM)", "65 Mbit/s (MCS 7, 20 MHz)".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = self.rate();
        match self {
            Self::Dsss(_, Preamble::Long) => write!(f, "{rate:.1} (DSSS)"),
            Self::Dsss(_, Preamble::Short) => write!(f, "{rate:.1} (DSSS, short preamble)"),
            Self::Ofdm(..) => write!(f, "{rate:.1} (OFDM)"),
            Self::Ht(ht) => {
                let width = if ht.width() == Width::Mhz20 { 20 } else { 40 };
                write!(f, "{rate:.1} (MCS {}, {width} MHz", ht.mcs())?;
                if ht.guard() == Guard::Short {
                    f.write_str(", short guard interval")?;
                }
                if ht.format() == HtFormat::Greenfield {
                    f.write_str(", greenfield")?;
                }
                if ht.code() == Code::Ldpc {
                    f.write_str(", LDPC")?;
                }
                f.write_str(")")
            }
        }
    }
}

impl fmt::Debug for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
