//! Parts of modes: bands, preambles, the rates of DSSS and OFDM, modulation and coding schemes of HT.
//!
//! Source: the rate tables of IEEE Std 802.11-2012: 16.2.3.3, 17.2.3.3, 18.2.2.3 and 20.6.

/// The band a channel lies in. At 2.4 GHz the PHYs of OFDM keep the medium for 6 us of silence after each frame (signal
/// extension).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Band {
    /// 2.4 GHz.
    Ghz2_4,
    /// 5 GHz.
    Ghz5,
}

/// The preamble of a DSSS frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Preamble {
    /// 144 bits and a header of 48, all at 1 Mbit/s: 192 us.
    Long,
    /// 72 bits at 1 Mbit/s and the header at 2 Mbit/s: 96 us. Not for frames at 1 Mbit/s.
    Short,
}

/// The rates of DSSS (1, 2 Mbit/s) and HR/DSSS (CCK: 5.5, 11 Mbit/s).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum DsssRate {
    /// 1 Mbit/s: DBPSK, Barker code.
    R1,
    /// 2 Mbit/s: DQPSK, Barker code.
    R2,
    /// 5.5 Mbit/s: CCK.
    R5_5,
    /// 11 Mbit/s: CCK.
    R11,
}

/// The rates of OFDM in a channel of 20 MHz.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum OfdmRate {
    /// 6 Mbit/s: BPSK 1/2.
    R6,
    /// 9 Mbit/s: BPSK 3/4.
    R9,
    /// 12 Mbit/s: QPSK 1/2.
    R12,
    /// 18 Mbit/s: QPSK 3/4.
    R18,
    /// 24 Mbit/s: 16-QAM 1/2.
    R24,
    /// 36 Mbit/s: 16-QAM 3/4.
    R36,
    /// 48 Mbit/s: 64-QAM 2/3.
    R48,
    /// 54 Mbit/s: 64-QAM 3/4.
    R54,
}

/// The width of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Width {
    /// 20 MHz.
    Mhz20,
    /// 40 MHz.
    Mhz40,
}

/// The guard interval between OFDM symbols.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Guard {
    /// 800 ns: a symbol takes 4 us.
    Long,
    /// 400 ns: a symbol takes 3.6 us.
    Short,
}

/// The preamble of an HT frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum HtFormat {
    /// Begins as a frame of OFDM does, so that older stations defer to it.
    Mixed,
    /// Shorter, not understood by older stations.
    Greenfield,
}

/// The code of a mode of HT.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Code {
    /// Convolutional (BCC), which every station has.
    Convolutional,
    /// Low-density parity check (LDPC), an option.
    Ldpc,
}

/// A mode of HT (802.11n) with the same modulation on every stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Ht {
    mcs: u8,
    width: Width,
    guard: Guard,
    format: HtFormat,
    band: Band,
    code: Code,
}

/// The modulation of a (sub)carrier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Modulation {
    /// 1 bit per symbol, differential.
    Dbpsk,
    /// 2 bits per symbol, differential.
    Dqpsk,
    /// Complementary codes of 8 chips with 4 bits each.
    Cck4,
    /// Complementary codes of 8 chips with 8 bits each.
    Cck8,
    /// 1 bit per subcarrier.
    Bpsk,
    /// 2 bits per subcarrier.
    Qpsk,
    /// 4 bits per subcarrier.
    Qam16,
    /// 6 bits per subcarrier.
    Qam64,
}

/// The rate of the code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Coding {
    /// Not coded (DSSS and CCK).
    None,
    /// 1/2.
    Half,
    /// 2/3.
    TwoThirds,
    /// 3/4.
    ThreeQuarters,
    /// 5/6.
    FiveSixths,
}

impl Coding {
    /// Information bits and coded bits.
    pub const fn ratio(self) -> (u32, u32) {
        match self {
            Self::None => (1, 1),
            Self::Half => (1, 2),
            Self::TwoThirds => (2, 3),
            Self::ThreeQuarters => (3, 4),
            Self::FiveSixths => (5, 6),
        }
    }
}

impl Modulation {
    /// Bits that one subcarrier (or, for DSSS and CCK, one symbol) carries.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Dbpsk | Self::Bpsk => 1,
            Self::Dqpsk | Self::Qpsk => 2,
            Self::Cck4 | Self::Qam16 => 4,
            Self::Qam64 => 6,
            Self::Cck8 => 8,
        }
    }
}

impl DsssRate {
    /// All, slowest first.
    pub const ALL: [Self; 4] = [Self::R1, Self::R2, Self::R5_5, Self::R11];

    pub(super) const fn kbps(self) -> u64 {
        match self {
            Self::R1 => 1_000,
            Self::R2 => 2_000,
            Self::R5_5 => 5_500,
            Self::R11 => 11_000,
        }
    }
}

impl OfdmRate {
    /// All, slowest first.
    pub const ALL: [Self; 8] = [Self::R6, Self::R9, Self::R12, Self::R18, Self::R24, Self::R36, Self::R48, Self::R54];

    pub(super) const fn scheme(self) -> (Modulation, Coding) {
        match self {
            Self::R6 => (Modulation::Bpsk, Coding::Half),
            Self::R9 => (Modulation::Bpsk, Coding::ThreeQuarters),
            Self::R12 => (Modulation::Qpsk, Coding::Half),
            Self::R18 => (Modulation::Qpsk, Coding::ThreeQuarters),
            Self::R24 => (Modulation::Qam16, Coding::Half),
            Self::R36 => (Modulation::Qam16, Coding::ThreeQuarters),
            Self::R48 => (Modulation::Qam64, Coding::TwoThirds),
            Self::R54 => (Modulation::Qam64, Coding::ThreeQuarters),
        }
    }
}

impl Ht {
    /// `mcs` 0-31 of mixed format, convolutional code; `None` beyond.
    pub const fn new(mcs: u8, width: Width, guard: Guard, band: Band) -> Option<Self> {
        if mcs > 31 {
            return None;
        }
        Some(Self { mcs, width, guard, format: HtFormat::Mixed, band, code: Code::Convolutional })
    }
    /// This rate with the preamble of `format`.
    pub const fn with_format(self, format: HtFormat) -> Self {
        Self { format, ..self }
    }
    /// This rate in `code`.
    pub const fn with_code(self, code: Code) -> Self {
        Self { code, ..self }
    }
    /// The modulation and coding scheme, 0-31.
    pub const fn mcs(self) -> u8 {
        self.mcs
    }
    /// The width of the channel.
    pub const fn width(self) -> Width {
        self.width
    }
    /// The guard interval.
    pub const fn guard(self) -> Guard {
        self.guard
    }
    /// The preamble.
    pub const fn format(self) -> HtFormat {
        self.format
    }
    /// The band.
    pub const fn band(self) -> Band {
        self.band
    }
    /// The code.
    pub const fn code(self) -> Code {
        self.code
    }
    /// Bits of the headers that say how the payload is sent: L-SIG (but for the greenfield format) and HT-SIG.
    pub(super) const fn header_bits(self) -> f64 {
        match self.format {
            HtFormat::Mixed => 72.0,
            HtFormat::Greenfield => 48.0,
        }
    }

    pub(super) const fn streams(self) -> u32 {
        self.mcs as u32 / 8 + 1
    }
    pub(super) const fn scheme(self) -> (Modulation, Coding) {
        match self.mcs % 8 {
            0 => (Modulation::Bpsk, Coding::Half),
            1 => (Modulation::Qpsk, Coding::Half),
            2 => (Modulation::Qpsk, Coding::ThreeQuarters),
            3 => (Modulation::Qam16, Coding::Half),
            4 => (Modulation::Qam16, Coding::ThreeQuarters),
            5 => (Modulation::Qam64, Coding::TwoThirds),
            6 => (Modulation::Qam64, Coding::ThreeQuarters),
            _ => (Modulation::Qam64, Coding::FiveSixths),
        }
    }
    /// Coded bits per symbol (N_CBPS).
    pub(super) const fn coded_bits(self) -> u32 {
        let subcarriers = match self.width {
            Width::Mhz20 => 52,
            Width::Mhz40 => 108,
        };
        subcarriers * self.scheme().0.bits() * self.streams()
    }
    /// Data bits per symbol (N_DBPS).
    pub(super) const fn data_bits(self) -> u32 {
        let (information, coded) = self.scheme().1.ratio();
        self.coded_bits() * information / coded
    }
    /// Parallel convolutional encoders (N_ES): two above 300 Mbit/s with the long guard interval (tables 20-30 to
    /// 20-44).
    pub(super) const fn encoders(self) -> u32 {
        if self.data_bits() > 1_200 { 2 } else { 1 }
    }
    /// Preamble and header, in us.
    pub(super) const fn preamble_us(self) -> u64 {
        // Long training fields: as many as streams, but four for three.
        let training = match self.streams() {
            1 => 1,
            2 => 2,
            _ => 4,
        };
        match self.format {
            // Legacy training 16, L-SIG 4, HT-SIG 8, HT-STF 4, HT-LTFs 4 each.
            HtFormat::Mixed => 16 + 4 + 8 + 4 + 4 * training,
            // HT-GF-STF 8, the first HT-LTF 8, HT-SIG 8, further HT-LTFs 4 each.
            HtFormat::Greenfield => 8 + 8 + 8 + 4 * (training - 1),
        }
    }
}
