//! What stations send to each other: MPDUs of their kinds with their lengths, and the PPDU that carries them (IEEE Std
//! 802.11-2012, clause 8).

use crate::phy::{AccessCategory, Mode};
use des::Ecn;
use units::Time;

des::define_index! {
    /// A station: a node's radio and MAC.
    pub StationId;
    /// A packet that some station's MAC has accepted.
    pub PacketId
}

impl StationId {
    /// Everyone who hears it.
    pub const BROADCAST: Self = Self(u32::MAX);

    /// Whether it names one station.
    pub const fn is_unicast(self) -> bool {
        self.0 != u32::MAX
    }
}

/// Kind of a PPDU's content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Data: one MPDU, or several in an A-MPDU.
    Data,
    /// A management frame (and, as it is treated alike, a PS-Poll or a null frame): one MPDU.
    Management,
    /// Request to send.
    Rts,
    /// Clear to send: the answer to an RTS.
    Cts,
    /// The answer to a single MPDU.
    Ack,
    /// Asks for a block ACK and tells where the window now begins (compressed, one TID).
    BlockAckRequest {
        /// First sequence number of the window.
        start: u16,
    },
    /// The answer to an A-MPDU or a request: which of 64 MPDUs from `start` have been received (compressed).
    BlockAck {
        /// Sequence number of bit 0.
        start: u16,
        /// One bit per MPDU.
        received: u64,
    },
}

impl Kind {
    /// Whether it carries MPDUs of data or management, which are queued and acknowledged.
    pub const fn is_queued(self) -> bool {
        matches!(self, Self::Data | Self::Management)
    }
    /// Length of a control frame with its FCS, in bytes; zero for others, whose MPDUs say their own.
    pub const fn control_bytes(self) -> u32 {
        match self {
            Self::Data | Self::Management => 0,
            Self::Rts => 20,
            Self::Cts | Self::Ack => 14,
            // Frame control, duration, two addresses, BAR control, starting sequence number, FCS.
            Self::BlockAckRequest { .. } => 24,
            Self::BlockAck { .. } => 32,
        }
    }
}

/// Bytes around an MSDU in an MPDU of its own: header with three addresses, LLC/SNAP (RFC 1042), FCS, and in QoS data
/// the QoS control field.
pub const fn mpdu_bytes(msdu: u32, qos: bool) -> u32 {
    24 + 8 + 4 + if qos { 2 } else { 0 } + msdu
}

/// Length of the delimiter before each MPDU of an A-MPDU.
pub const DELIMITER_BYTES: u32 = 4;

/// The range of sequence numbers.
pub const SEQUENCES: u16 = 4_096;

/// How far `to` lies ahead of `from`.
pub const fn ahead(from: u16, to: u16) -> u16 {
    to.wrapping_sub(from) % SEQUENCES
}

/// One MPDU of data in a PPDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mpdu {
    /// 12 bits, counted per receiver and access category.
    pub sequence: u16,
    /// The retry bit: it has been sent before.
    pub retry: bool,
    /// Length with header and FCS.
    pub bytes: u32,
    /// Its packets are [`Ppdu::packets`] from here on,
    pub first: u32,
    /// so many: one, or more in an A-MSDU.
    pub count: u32,
}

/// A packet that the layer above wants sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The packet's identity.
    pub packet: PacketId,
    /// Its next hop, or everyone.
    pub to: StationId,
    /// Its length.
    pub bytes: u32,
    /// Its category.
    pub category: AccessCategory,
    /// Names its flow, one direction of a connection.
    pub flow: u32,
    /// Whether it can be marked.
    pub ecn: Ecn,
}

/// A PPDU: what a station puts on the air at once. Reused, so that the vectors keep their memory.
#[derive(Clone, Debug)]
pub struct Ppdu {
    /// The transmitter.
    pub from: StationId,
    /// The receiver.
    pub to: StationId,
    /// Kind of its content.
    pub kind: Kind,
    /// The category of its data, or of the data it asks or answers for.
    pub category: AccessCategory,
    /// The rate.
    pub mode: Mode,
    /// Length of the PSDU in bytes.
    pub bytes: u32,
    /// Duration field: how long after its end the medium is reserved.
    pub reserved: Time,
    /// Its data are under a block ACK agreement: the receiver puts them in order.
    pub agreed: bool,
    /// The MPDUs of data.
    pub mpdus: Vec<Mpdu>,
    /// The packets of all MPDUs.
    pub packets: Vec<PacketId>,
}

impl Ppdu {
    /// Carries nothing yet.
    pub const fn new(mode: Mode) -> Self {
        Self {
            from: StationId(0),
            to: StationId(0),
            kind: Kind::Data,
            category: AccessCategory::BestEffort,
            mode,
            bytes: 0,
            reserved: Time::ZERO,
            agreed: false,
            mpdus: Vec::new(),
            packets: Vec::new(),
        }
    }
    /// Time on the air.
    pub const fn duration(&self) -> Time {
        self.mode.duration(self.bytes)
    }
    /// The packets of one of its MPDUs.
    pub fn packets_of(&self, mpdu: &Mpdu) -> &[PacketId] {
        let first = mpdu.first as usize;
        self.packets.get(first..first + mpdu.count as usize).unwrap_or_default()
    }
}
