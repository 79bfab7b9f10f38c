//! What travels on a stream: frames with a fixed header of 20 bytes, big-endian, and a body.
//!
//! ```text
//!  0        1        2        3        4                       8
//! +--------+--------+--------+--------+-----------------------+
//! | type   | flags  | version| 0      | length of the body    |
//! +--------+--------+--------+--------+-----------------------+
//! | connection                        | offset                :
//! +-----------------------------------+-----------------------+
//! : offset (8 bytes)                  | body ...
//! +-----------------------------------+
//! ```
//!
//! | type | offset | flags | body |
//! |---|---|---|---|
//! | 1 HELLO | the stream's number | | see below |
//! | 2 DATA | of the payload's first byte | 1: the byte stream ends with it | payload |
//! | 3 ACK | all below has arrived | 1: the end too; 2: a reset | credit limit (u64), ranges (u64 pairs start, end) |
//! | 4 RESET | the final length | | code (u32) |
//! | 5 STOP | 0 | | code (u32) |
//! | 6 GONE | the number of a stream found dead | | |
//! | 7 START | 0 | | |
//! | 8 JOIN | 0 | | proof (32 bytes) |
//! | 9 REFUSE | 0 | | reason ([`Refusal`], u32) |
//! | 10 OPEN | 0 | | kind (3 name, 4 IPv4, 6 IPv6), port (u16), address (4, 16, or 1 to 255 bytes) |
//! | 11 OPENED | 0 | | |
//! | 12 OVER | 0 | | |
//! | 13 ALLOW | what all connections together may have sent | | |
//! | 14 WANT | a number of streams | | |
//! | 15 PING | a number | | |
//! | 16 PONG | the PING's number | | |
//! | 17 LEAVE | 0 | | |
//! | 128 FLOWS | how many flows of datagrams its sender takes | | |
//! | 129 DATAGRAM | 0 | 1: with its destination | length of the destination (u16) and destination; datagram |
//! | 130 KNOWN | 0 | | |
//! | 131 FORGET | 0 | | code (u32) |
//! | 132 SHARE | what a connection may have sent before its first ACK | | |
//! | 133 KEEPALIVE | 0 | | seconds of silence, seconds between probes, probes (u32 each) |
//!
//! HELLO's body: session (16 bytes), initial credit (u64), longest payload (u32), most streams (u16). ACK has up to
//! [`MAX_RANGES`] ranges. A destination is encoded as in OPEN.
//!
//! HELLO is the first frame of each stream in both directions. Every version has to read it, and no other type: a peer
//! of another version is refused with it. OPEN, OPENED, OVER, DATA, ACK, RESET, STOP and KEEPALIVE belong to a
//! connection. DATAGRAM, KNOWN and FORGET belong to a flow, whose number stands in the same field. The others belong to
//! the session (connection 0). A frame of unknown type is skipped if its high bit is set, and is an error otherwise.

mod datagram;
mod decode;
mod destination;
mod reader;

pub use datagram::{Datagram, MAX_DATAGRAM};
pub use decode::{Decoded, decode};
pub use destination::{Destination, MAX_NAME};
pub use reader::{FrameReader, Item};

use crate::ranges::Span;
use std::fmt;

/// The version of this format.
pub const VERSION: u8 = 1;
/// Length of a frame's header in bytes.
pub const HEADER: usize = 20;
/// Most ranges in an acknowledgement.
pub const MAX_RANGES: usize = 64;
/// A body longer than this is refused whatever was agreed: 16 MiB.
pub const MAX_BODY: u32 = 1 << 24;

const HELLO: u8 = 1;
const DATA: u8 = 2;
const ACK: u8 = 3;
const RESET: u8 = 4;
const STOP: u8 = 5;
const GONE: u8 = 6;
const START: u8 = 7;
const JOIN: u8 = 8;
const REFUSE: u8 = 9;
const OPEN: u8 = 10;
const OPENED: u8 = 11;
const OVER: u8 = 12;
const ALLOW: u8 = 13;
const WANT: u8 = 14;
const PING: u8 = 15;
const PONG: u8 = 16;
const LEAVE: u8 = 17;
/// A peer that does not know a type from here on skips it (P-5).
const FLOWS: u8 = 128;
const DATAGRAM: u8 = 129;
const KNOWN: u8 = 130;
const FORGET: u8 = 131;
const SHARE: u8 = 132;
const KEEPALIVE: u8 = 133;
const HELLO_BODY: u32 = 30;
const JOIN_BODY: u32 = 32;
const KEEPALIVE_BODY: u32 = 12;
const FLAG_END: u8 = 1;
const FLAG_RESET: u8 = 2;
const FLAG_NAMED: u8 = 1;

/// A frame, without the payload of DATA.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Frame {
    /// The first frame of a stream.
    Hello(Hello),
    /// A segment of the byte stream; its payload follows the header.
    Data(Data),
    /// What has arrived, and how far the peer may send.
    Ack(Ack),
    /// The sender gives its byte stream up.
    Reset {
        /// Linux's error number (P-14).
        code: u32,
        /// Final length: no byte at or above it was sent.
        end: u64,
    },
    /// The receiver wants no more of the byte stream.
    Stop {
        /// Linux's error number (P-14).
        code: u32,
    },
    /// A stream was found dead. What was on its way there is to be sent again.
    Gone {
        /// The stream's number.
        stream: u32,
    },
    /// The stream is the first of a new session.
    Start,
    /// The stream joins a session.
    Join {
        /// Proof that this end has the session's secret (P-8).
        proof: [u8; 32],
    },
    /// The stream is refused.
    Refuse(Refusal),
    /// Asks to connect to a destination.
    Open(Destination),
    /// The destination has accepted the connection.
    Opened,
    /// The connection is forgotten (P-18).
    Over,
    /// Credit of all connections together (P-30).
    Allow {
        /// Bytes since the session began.
        limit: u64,
    },
    /// How much of HELLO's credit a new connection is to use (P-33).
    Share {
        /// Bytes before the first ACK.
        bytes: u64,
    },
    /// The number of streams that the far end would like (P-27).
    Want {
        /// Number of streams.
        streams: u32,
    },
    /// Asks for a PONG (P-24).
    Ping {
        /// Any number.
        token: u64,
    },
    /// Answers a PING.
    Pong {
        /// The PING's number.
        token: u64,
    },
    /// Asks for no more connections: this gateway is going down (P-28).
    Leave,
    /// The sender carries datagrams (P-40).
    Flows {
        /// The most flows at a time.
        most: u32,
    },
    /// A datagram of a flow.
    Datagram(Datagram),
    /// The flow's destination is known, and need not be named again (P-41).
    Known,
    /// The flow is over (P-45).
    Forget {
        /// Linux's error number; 0 if nothing went wrong.
        code: u32,
    },
    /// How the program has its connection kept alive (P-19).
    KeepAlive(KeepAlive),
}

/// A socket's keep-alive (RFC 9293, section 3.8.4), in whole seconds as sockets have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeepAlive {
    /// Silence before the first probe.
    pub idle: u32,
    /// Time between probes.
    pub interval: u32,
    /// Probes without an answer after which the other end is given up.
    pub probes: u32,
}

/// Reasons for refusing a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// There is no such session: whatever it had is lost.
    UnknownSession,
    /// The proof is wrong, or of another peer's session.
    Proof,
    /// The stream's number was used before.
    StreamNumber,
    /// The session has as many streams as are accepted.
    TooManyStreams,
    /// There is no room for another session.
    Busy,
    /// A reason that is not known here.
    Other(u32),
}

impl Refusal {
    /// The reason's number in REFUSE.
    pub const fn code(self) -> u32 {
        match self {
            Self::UnknownSession => 1,
            Self::Proof => 2,
            Self::StreamNumber => 3,
            Self::TooManyStreams => 4,
            Self::Busy => 5,
            Self::Other(code) => code,
        }
    }
    const fn of(code: u32) -> Self {
        match code {
            1 => Self::UnknownSession,
            2 => Self::Proof,
            3 => Self::StreamNumber,
            4 => Self::TooManyStreams,
            5 => Self::Busy,
            _ => Self::Other(code),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownSession => write!(f, "the session is not known (any more)"),
            Self::Proof => write!(f, "the proof of membership in the session is wrong"),
            Self::StreamNumber => write!(f, "the stream's number was used before"),
            Self::TooManyStreams => write!(f, "the session has as many streams as are accepted"),
            Self::Busy => write!(f, "there is no room for another session"),
            Self::Other(code) => write!(f, "reason {code}"),
        }
    }
}

/// HELLO: the identity of a stream's other end, and the limits that it sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hello {
    /// The session that the stream belongs to.
    pub session: [u8; 16],
    /// The stream's number in the session; never used again.
    pub stream: u32,
    /// Initial credit of each connection in bytes.
    pub credit: u64,
    /// Longest payload that is accepted.
    pub max_payload: u32,
    /// Most streams that are accepted.
    pub max_streams: u16,
}

/// A segment of the byte stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Data {
    /// Position of its first byte.
    pub offset: u64,
    /// Length in bytes; 0 for an end alone, or to ask for an ACK.
    pub len: u32,
    /// The byte stream ends with it.
    pub end: bool,
}

/// What has arrived, and how far the peer may send.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ack {
    /// All positions below have arrived.
    pub next: u64,
    /// The peer may send positions below this.
    pub limit: u64,
    /// The end has arrived, and all before it.
    pub end: bool,
    /// A reset has arrived.
    pub reset: bool,
    /// Ranges that have arrived above `next`, ascending; at most [`MAX_RANGES`].
    pub ranges: Vec<Span>,
}

/// Errors in frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WireError {
    /// An unknown version.
    Version(u8),
    /// An unknown type that is not an extension.
    Type(u8),
    /// Flags or a reserved byte that the type does not have.
    Flags(u8),
    /// A body whose length does not fit the type, or what was agreed.
    Length(u32),
    /// An offset, or a range of an acknowledgement, that no byte stream has.
    Offset(u64),
    /// A destination of unknown kind, or a name that no host has.
    Destination,
    /// A connection's number where none belongs, or none where one does.
    Connection(u32),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "version {version} of the frame format; this is version {VERSION}"),
            Self::Type(kind) => write!(f, "frame of unknown type {kind}"),
            Self::Flags(flags) => write!(f, "frame with unknown flags {flags:#04x}"),
            Self::Length(length) => write!(f, "frame with a body of {length} bytes, which its type does not have"),
            Self::Offset(offset) => write!(f, "position {offset} is out of order or beyond any byte stream"),
            Self::Destination => write!(f, "a destination that is neither an address nor a host name"),
            Self::Connection(connection) => write!(f, "connection {connection} with a frame that does not have it"),
        }
    }
}

impl std::error::Error for WireError {}

impl Frame {
    /// Length on the stream in bytes, payload included.
    pub fn wire_bytes(&self) -> u64 {
        HEADER as u64
            + match self {
                Self::Hello(_) => u64::from(HELLO_BODY),
                Self::Data(data) => u64::from(data.len),
                Self::Ack(ack) => 8 + 16 * ack.ranges.len().min(MAX_RANGES) as u64,
                Self::Reset { .. } | Self::Stop { .. } | Self::Refuse(_) | Self::Forget { .. } => 4,
                Self::Join { .. } => u64::from(JOIN_BODY),
                Self::KeepAlive(_) => u64::from(KEEPALIVE_BODY),
                Self::Open(destination) => destination.wire_bytes() as u64,
                Self::Datagram(datagram) => datagram.wire_bytes() as u64,
                _ => 0,
            }
    }
    /// Whether it belongs to a flow of datagrams.
    pub fn is_of_flow(&self) -> bool {
        matches!(self, Self::Datagram(_) | Self::Known | Self::Forget { .. })
    }
    /// Whether it belongs to the session, and not to one connection or flow.
    pub fn is_of_session(&self) -> bool {
        !self.is_of_flow()
            && !matches!(
                self,
                Self::Data(_)
                    | Self::Ack(_)
                    | Self::Reset { .. }
                    | Self::Stop { .. }
                    | Self::Open(_)
                    | Self::Opened
                    | Self::Over
                    | Self::KeepAlive(_)
            )
    }

    /// Appends the frame without the payload of DATA, which the caller appends.
    pub fn encode(&self, connection: u32, out: &mut Vec<u8>) {
        let (kind, flags, offset) = match self {
            Self::Hello(hello) => (HELLO, 0, u64::from(hello.stream)),
            Self::Data(data) => (DATA, if data.end { FLAG_END } else { 0 }, data.offset),
            Self::Ack(ack) => {
                let end = if ack.end { FLAG_END } else { 0 };
                (ACK, end | if ack.reset { FLAG_RESET } else { 0 }, ack.next)
            }
            Self::Reset { end, .. } => (RESET, 0, *end),
            Self::Stop { .. } => (STOP, 0, 0),
            Self::Gone { stream } => (GONE, 0, u64::from(*stream)),
            Self::Start => (START, 0, 0),
            Self::Join { .. } => (JOIN, 0, 0),
            Self::Refuse(_) => (REFUSE, 0, 0),
            Self::Open(_) => (OPEN, 0, 0),
            Self::Opened => (OPENED, 0, 0),
            Self::Over => (OVER, 0, 0),
            Self::Allow { limit } => (ALLOW, 0, *limit),
            Self::Share { bytes } => (SHARE, 0, *bytes),
            Self::Want { streams } => (WANT, 0, u64::from(*streams)),
            Self::Ping { token } => (PING, 0, *token),
            Self::Pong { token } => (PONG, 0, *token),
            Self::Leave => (LEAVE, 0, 0),
            Self::Flows { most } => (FLOWS, 0, u64::from(*most)),
            Self::Datagram(datagram) => (DATAGRAM, if datagram.to.is_some() { FLAG_NAMED } else { 0 }, 0),
            Self::Known => (KNOWN, 0, 0),
            Self::Forget { .. } => (FORGET, 0, 0),
            Self::KeepAlive(_) => (KEEPALIVE, 0, 0),
        };
        out.extend([kind, flags, VERSION, 0]);
        out.extend(((self.wire_bytes() - HEADER as u64) as u32).to_be_bytes());
        out.extend(connection.to_be_bytes());
        out.extend(offset.to_be_bytes());
        match self {
            Self::Hello(hello) => {
                out.extend(hello.session);
                out.extend(hello.credit.to_be_bytes());
                out.extend(hello.max_payload.to_be_bytes());
                out.extend(hello.max_streams.to_be_bytes());
            }
            Self::Ack(ack) => {
                out.extend(ack.limit.to_be_bytes());
                for range in ack.ranges.iter().take(MAX_RANGES) {
                    out.extend(range.start.to_be_bytes());
                    out.extend(range.end.to_be_bytes());
                }
            }
            Self::Reset { code, .. } | Self::Stop { code } | Self::Forget { code } => out.extend(code.to_be_bytes()),
            Self::Join { proof } => out.extend(proof),
            Self::Refuse(refusal) => out.extend(refusal.code().to_be_bytes()),
            Self::Open(destination) => destination.encode(out),
            Self::Datagram(datagram) => datagram.encode(out),
            Self::KeepAlive(KeepAlive { idle, interval, probes }) => {
                out.extend([idle, interval, probes].into_iter().flat_map(|number| number.to_be_bytes()));
            }
            _ => {}
        }
    }
}
