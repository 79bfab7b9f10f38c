//! Settings of a PHY for the MAC: times, modes, and the rates of answers.
//!
//! Source: IEEE Std 802.11-2012: 9.3.2.3 (interframe spaces), 9.3.2.8 (ACK procedure), 9.7.6.5 (rates of control
//! responses) and the tables of PHY characteristics 16-2, 17-5, 18-17, 19-8, 20-25.

use super::mode::{Class, Mode};
use super::rates::{Band, Code, DsssRate, Guard, Ht, HtFormat, OfdmRate, Preamble, Width};
use std::fmt;
use thiserror::Error;
use units::{BitRate, Time};

/// The length of an ACK or CTS frame in bytes, FCS included.
pub const ACK_BYTES: u32 = 14;

/// The standard a station speaks: the newest amendment it knows, and the band.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Standard {
    /// 802.11b: DSSS and CCK, 2.4 GHz.
    B,
    /// 802.11a: OFDM, 5 GHz.
    A,
    /// 802.11g: ERP-OFDM, 2.4 GHz.
    G,
    /// 802.11n at 2.4 GHz.
    N2_4,
    /// 802.11n at 5 GHz.
    N5,
}

impl Standard {
    /// The band of its channels.
    pub const fn band(self) -> Band {
        match self {
            Self::A | Self::N5 => Band::Ghz5,
            Self::B | Self::G | Self::N2_4 => Band::Ghz2_4,
        }
    }
    /// Whether it has HT: MCS, A-MPDU, block ACK.
    pub const fn is_ht(self) -> bool {
        matches!(self, Self::N2_4 | Self::N5)
    }
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::B => "802.11b",
            Self::A => "802.11a",
            Self::G => "802.11g",
            Self::N2_4 => "802.11n at 2.4 GHz",
            Self::N5 => "802.11n at 5 GHz",
        })
    }
}

/// The times and bounds of DCF.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Slot time of backoff.
    pub slot: Time,
    /// SIFS: time between a frame and its answer.
    pub sifs: Time,
    /// DIFS: idle time before backoff counts down.
    pub difs: Time,
    /// EIFS: idle time before backoff after a frame that was not understood; it leaves room for an answer that cannot
    /// be heard.
    pub eifs: Time,
    /// CWmin: the first backoff is drawn from 0..=cw_min slots.
    pub cw_min: u32,
    /// CWmax: no backoff exceeds cw_max slots.
    pub cw_max: u32,
}

/// Settings of a station's PHY.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The standard it speaks.
    pub standard: Standard,
    /// The preamble of its DSSS frames.
    pub preamble: Preamble,
    /// At 2.4 GHz: stations of 802.11b share the channel. Then the slot is 20 us, CWmin 31, and frames of OFDM and HT
    /// need protection.
    pub dsss_neighbours: bool,
    /// Spatial streams of HT, 1-4.
    pub streams: u8,
    /// The channel of HT.
    pub width: Width,
    /// The guard interval of HT.
    pub guard: Guard,
    /// The preamble of HT.
    pub format: HtFormat,
    /// The code of HT.
    pub code: Code,
    /// The basic rates that everyone in reach can receive.
    pub basic: BasicRates,
}

/// A set of the rates of DSSS and OFDM: the basic rate set of a BSS.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BasicRates {
    dsss: u8,
    ofdm: u8,
}

impl BasicRates {
    /// The mandatory rates of a standard; those of DSSS only for 802.11b or with neighbours of 802.11b.
    pub const fn mandatory(standard: Standard, dsss_neighbours: bool) -> Self {
        let mut rates = Self { dsss: 0, ofdm: 0 };
        if matches!(standard, Standard::B) || (dsss_neighbours && matches!(standard.band(), Band::Ghz2_4)) {
            rates.dsss = 0b1111;
        }
        if !matches!(standard, Standard::B) {
            rates.ofdm = 1 << OfdmRate::R6 as u8 | 1 << OfdmRate::R12 as u8 | 1 << OfdmRate::R24 as u8;
        }
        rates
    }
    /// With a rate of DSSS.
    pub const fn with_dsss(self, rate: DsssRate) -> Self {
        Self { dsss: self.dsss | 1 << rate as u8, ..self }
    }
    /// With a rate of OFDM.
    pub const fn with_ofdm(self, rate: OfdmRate) -> Self {
        Self { ofdm: self.ofdm | 1 << rate as u8, ..self }
    }

    /// The highest rate of DSSS in the set that is at most `limit`.
    fn dsss(self, limit: DsssRate) -> Option<DsssRate> {
        DsssRate::ALL.into_iter().rev().find(|rate| *rate <= limit && self.dsss & 1 << *rate as u8 != 0)
    }
    fn ofdm(self, limit: OfdmRate) -> Option<OfdmRate> {
        OfdmRate::ALL.into_iter().rev().find(|rate| *rate <= limit && self.ofdm & 1 << *rate as u8 != 0)
    }
}

/// How much of a strong enough frame a receiver can read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Understands {
    /// Nothing: it is energy on the channel.
    Energy,
    /// Its preamble and length, but not what it says: OFDM stations of the legacy part of HT, any of more streams, a
    /// wider channel or another code than its own.
    Preamble,
    /// The whole frame.
    Payload,
}

/// Settings that no PHY of the standard has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// No mode has this rate.
    #[error("{standard} as set has no rate of {rate}; it has {offered}")]
    NoSuchRate {
        /// The standard asked.
        standard: Standard,
        /// The rate wanted.
        rate: BitRate,
        /// The rates that there are, as text.
        offered: String,
    },
    /// The MCS needs more streams than there are, or does not exist.
    #[error(
        "{standard} with {streams} spatial streams has no MCS {mcs}; {}",
        if *.highest > 0 { format!("it has MCS 0-{highest}") } else { "only 802.11n has MCS".into() }
    )]
    NoSuchMcs {
        /// The standard asked.
        standard: Standard,
        /// The MCS wanted.
        mcs: u8,
        /// Streams as set.
        streams: u8,
        /// The highest MCS there is; 0 for none.
        highest: u8,
    },
    /// Spatial streams other than 1-4.
    #[error("{0} spatial streams: 802.11n has 1 to 4")]
    Streams(u8),
}

impl Settings {
    /// The usual settings of a standard: long preamble, nobody of 802.11b about, one stream, 20 MHz, long guard
    /// interval, mixed format, convolutional code, mandatory rates as basic rates.
    pub const fn new(standard: Standard) -> Self {
        Self {
            standard,
            preamble: Preamble::Long,
            dsss_neighbours: false,
            streams: 1,
            width: Width::Mhz20,
            guard: Guard::Long,
            format: HtFormat::Mixed,
            code: Code::Convolutional,
            basic: BasicRates::mandatory(standard, false),
        }
    }
    /// These settings among 802.11b stations. No effect at 5 GHz and for 802.11b itself.
    pub const fn among_dsss(self) -> Self {
        Self { dsss_neighbours: true, basic: BasicRates::mandatory(self.standard, true), ..self }
    }
    /// Whether the settings are of this world.
    pub const fn check(&self) -> Result<(), SettingsError> {
        if self.streams == 0 || self.streams > 4 { Err(SettingsError::Streams(self.streams)) } else { Ok(()) }
    }

    /// How much a station with these settings can read of a frame in `mode`.
    pub fn understands(&self, mode: Mode) -> Understands {
        match mode {
            Mode::Dsss(..) => Understands::Payload,
            _ if self.standard == Standard::B => Understands::Energy,
            Mode::Ofdm(..) => Understands::Payload,
            Mode::Ht(ht) if self.standard.is_ht() => {
                // A station that sends LDPC decodes the convolutional code too.
                let fits =
                    mode.streams() <= u32::from(self.streams) && ht.width() <= self.width && ht.code() <= self.code;
                if fits { Understands::Payload } else { Understands::Preamble }
            }
            Mode::Ht(ht) if ht.format() == HtFormat::Mixed => Understands::Preamble,
            Mode::Ht(_) => Understands::Energy,
        }
    }
    /// Whether a frame in `mode` must be announced by a CTS or RTS that stations of 802.11b understand.
    pub fn needs_protection(&self, mode: Mode) -> bool {
        self.dsss_about() && mode.class() != Class::Dsss
    }
    fn dsss_about(&self) -> bool {
        self.dsss_neighbours && self.standard.band() == Band::Ghz2_4 && self.standard != Standard::B
    }

    /// The times of DCF.
    pub fn timing(&self) -> Timing {
        let (slot, sifs, cw_min) = match self.standard {
            Standard::B => (20, 10, 31),
            Standard::A | Standard::N5 => (9, 16, 15),
            Standard::G | Standard::N2_4 if self.dsss_about() => (20, 10, 31),
            Standard::G | Standard::N2_4 => (9, 10, 15),
        };
        let (slot, sifs) = (Time::from_us(slot), Time::from_us(sifs));
        let difs = sifs + slot * 2;
        let eifs = sifs + difs + self.slowest().duration(ACK_BYTES);
        Timing { slot, sifs, difs, eifs, cw_min, cw_max: 1023 }
    }
    /// The lowest mandatory rate, by which EIFS is reckoned. Where nobody speaks DSSS it is that of OFDM at 2.4 GHz
    /// too.
    pub fn slowest(&self) -> Mode {
        if self.standard == Standard::B || self.dsss_about() {
            Mode::dsss(DsssRate::R1, Preamble::Long)
        } else {
            Mode::Ofdm(OfdmRate::R6, self.standard.band())
        }
    }
    /// How long after the end of a frame the beginning of its answer in `response` must show (ACKTimeout interval:
    /// SIFS, a slot and aRxPHYStartDelay).
    pub fn response_timeout(&self, response: Mode) -> Time {
        let timing = self.timing();
        timing.sifs + timing.slot + response.preamble()
    }

    /// The mode of an answer (ACK, CTS, block ACK) to a frame in `mode`: the highest basic rate of its kind that is not
    /// higher, else the highest such mandatory rate; HT by its reference rate in OFDM.
    pub fn response(&self, mode: Mode) -> Mode {
        match mode.non_ht_reference() {
            Mode::Dsss(rate, preamble) => Mode::dsss(self.basic.dsss(rate).unwrap_or(rate), preamble),
            Mode::Ofdm(rate, band) => {
                let mandatory = BasicRates::mandatory(Standard::A, false);
                let rate = self.basic.ofdm(rate).or_else(|| mandatory.ofdm(rate)).unwrap_or(OfdmRate::R6);
                Mode::Ofdm(rate, band)
            }
            mode @ Mode::Ht(_) => mode,
        }
    }
    /// The mode of an RTS, or of a CTS to oneself, before a frame in `mode`: as an answer to it, but what protects from
    /// stations of 802.11b goes at the highest basic rate of DSSS.
    pub fn request(&self, mode: Mode) -> Mode {
        match self.basic.dsss(DsssRate::R11) {
            Some(rate) if self.needs_protection(mode) => Mode::dsss(rate, self.preamble),
            _ => self.response(mode),
        }
    }

    /// The modes a station so set sends data in, slowest first: MCS for 802.11n, OFDM for a and g, DSSS for b.
    pub fn modes(&self) -> impl Iterator<Item = Mode> + '_ {
        let band = self.standard.band();
        let dsss = DsssRate::ALL.into_iter().map(|rate| Mode::dsss(rate, self.preamble));
        let ofdm = OfdmRate::ALL.into_iter().map(move |rate| Mode::Ofdm(rate, band));
        let ht = (0..8 * self.streams.min(4)).filter_map(|mcs| self.ht(mcs));
        let (b, n) = (self.standard == Standard::B, self.standard.is_ht());
        dsss.filter(move |_| b).chain(ofdm.filter(move |_| !b && !n)).chain(ht.filter(move |_| n))
    }
    /// The mode of HT with this MCS.
    pub fn mcs(&self, mcs: u8) -> Result<Mode, SettingsError> {
        let highest = if self.standard.is_ht() { 8 * self.streams.min(4) - 1 } else { 0 };
        let known = self.standard.is_ht() && mcs <= highest;
        let error = SettingsError::NoSuchMcs { standard: self.standard, mcs, streams: self.streams, highest };
        self.ht(mcs).filter(|_| known).ok_or(error)
    }
    /// The mode of DSSS or OFDM with this rate (802.11g has both).
    pub fn at_rate(&self, rate: BitRate) -> Result<Mode, SettingsError> {
        let band = self.standard.band();
        let dsss = DsssRate::ALL.into_iter().map(|rate| Mode::dsss(rate, self.preamble));
        let ofdm = OfdmRate::ALL.into_iter().map(|rate| Mode::Ofdm(rate, band));
        let offered: Vec<Mode> = match self.standard {
            Standard::B => dsss.collect(),
            Standard::G => dsss.chain(ofdm).collect(),
            _ => ofdm.collect(),
        };
        offered.iter().copied().find(|mode| mode.rate() == rate).ok_or_else(|| {
            let rates: Vec<_> = offered.iter().map(|mode| format!("{}", mode.rate())).collect();
            SettingsError::NoSuchRate { standard: self.standard, rate, offered: rates.join(", ") }
        })
    }
    fn ht(&self, mcs: u8) -> Option<Mode> {
        let ht = Ht::new(mcs, self.width, self.guard, self.standard.band())?;
        Some(Mode::Ht(ht.with_format(self.format).with_code(self.code)))
    }
}
