//! What travels on a stream: frames of a fixed header of 20 bytes, big-endian, and a body.
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
//! | 1 HELLO | the stream's number | | session (16 bytes), initial credit (u64), longest payload (u32), most streams (u16) |
//! | 2 DATA | of the payload's first byte | 1: the payload's end is the stream's end | payload |
//! | 3 ACK | all below is there | 1: the end too; 2: a reset | credit limit (u64), then up to [`MAX_RANGES`] pairs start, end (u64 each) |
//! | 4 RESET | the final length | | code (u32) |
//! | 5 STOP | 0 | | code (u32) |
//! | 6 GONE | the number of a stream found dead | | |
//!
//! HELLO is the first frame of each stream, both ways, and the only one that every version has to read: a peer of another version is refused with it.
//! A frame of unknown type is skipped if its high bit is set, and an error otherwise.

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
const HELLO_BODY: u32 = 30;
const FLAG_END: u8 = 1;
const FLAG_RESET: u8 = 2;

/// One frame, less the payload of DATA, which is the caller's.
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
        /// Why, in the application's terms.
        code: u32,
        /// How long the byte stream would have been: no byte at or above it was sent.
        end: u64,
    },
    /// The receiver does not want more of the byte stream.
    Stop {
        /// Why.
        code: u32,
    },
    /// A stream is dead as seen from here; whatever was on its way there is to be sent again.
    Gone {
        /// Its number.
        stream: u32,
    },
}

/// Who is on the other end of a stream, and what it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hello {
    /// The session that the stream belongs to.
    pub session: [u8; 16],
    /// The stream's number in the session; never used again.
    pub stream: u32,
    /// How many bytes of each new connection may be sent before the first acknowledgement grants more.
    pub credit: u64,
    /// The longest payload that is accepted.
    pub max_payload: u32,
    /// The most streams that are accepted.
    pub max_streams: u16,
}

/// A segment of the byte stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Data {
    /// Position of its first byte.
    pub offset: u64,
    /// How many bytes; none for an end alone, or to ask for an acknowledgement.
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
    /// What else has arrived, ascending; at most [`MAX_RANGES`].
    pub ranges: Vec<Span>,
}

/// What the bytes at hand are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decoded {
    /// A frame of a connection. So many bytes of the input are read; a DATA frame's payload stands behind them.
    Frame {
        /// The connection; 0 for the session's own frames.
        connection: u32,
        /// The frame.
        frame: Frame,
        /// Bytes read.
        read: usize,
    },
    /// At least so many bytes in all are needed.
    Incomplete(usize),
    /// An extension that is not known here: so many bytes of the input, header included, are to be skipped.
    Skip(usize),
}

/// Why bytes are no frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WireError {
    /// A version that is not spoken here.
    Version(u8),
    /// A type that is not known and not an extension.
    Type(u8),
    /// Flags or a reserved byte that the type does not have.
    Flags(u8),
    /// A body of this length does not fit the type, or what was agreed.
    Length(u32),
    /// An offset, or a range of an acknowledgement, that no byte stream has.
    Offset(u64),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "version {version} of the frame format; this is version {VERSION}"),
            Self::Type(kind) => write!(f, "frame of unknown type {kind}"),
            Self::Flags(flags) => write!(f, "frame with unknown flags {flags:#04x}"),
            Self::Length(length) => write!(f, "frame with a body of {length} bytes, which its type does not have"),
            Self::Offset(offset) => write!(f, "position {offset} is out of order or beyond any byte stream"),
        }
    }
}

impl std::error::Error for WireError {}

impl Frame {
    /// Its length on the stream in bytes, payload included.
    pub fn wire_bytes(&self) -> u64 {
        HEADER as u64
            + match self {
                Self::Hello(_) => u64::from(HELLO_BODY),
                Self::Data(data) => u64::from(data.len),
                Self::Ack(ack) => 8 + 16 * ack.ranges.len().min(MAX_RANGES) as u64,
                Self::Reset { .. } | Self::Stop { .. } => 4,
                Self::Gone { .. } => 0,
            }
    }

    /// Appends the frame, less the payload of DATA, which the caller appends.
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
            Self::Reset { code, .. } | Self::Stop { code } => out.extend(code.to_be_bytes()),
            Self::Data(_) | Self::Gone { .. } => {}
        }
    }
}

/// Reads the frame at the beginning of `input`. `max_payload` is the longest payload of DATA that was agreed. Nothing is allocated before its length has been checked.
pub fn decode(input: &[u8], max_payload: u32) -> Result<Decoded, WireError> {
    let Some((header, body)) = input.split_first_chunk::<HEADER>() else {
        return Ok(Decoded::Incomplete(HEADER));
    };
    let mut fields = Reader(header);
    let [kind, flags, version, reserved] = fields.take();
    let length = u32::from_be_bytes(fields.take());
    let connection = u32::from_be_bytes(fields.take());
    let offset = u64::from_be_bytes(fields.take());
    if version != VERSION {
        return Err(WireError::Version(version));
    }
    if kind & 0x80 != 0 {
        return if length <= MAX_BODY {
            Ok(Decoded::Skip(HEADER + length as usize))
        } else {
            Err(WireError::Length(length))
        };
    }
    let allowed = match kind {
        DATA => FLAG_END,
        ACK => FLAG_END | FLAG_RESET,
        HELLO | RESET | STOP | GONE => 0,
        _ => return Err(WireError::Type(kind)),
    };
    if flags & !allowed != 0 || reserved != 0 {
        return Err(WireError::Flags(if reserved == 0 { flags } else { reserved }));
    }
    let fits = match kind {
        HELLO => length == HELLO_BODY,
        DATA => length <= max_payload.min(MAX_BODY),
        ACK => length >= 8 && (length - 8).is_multiple_of(16) && (length - 8) / 16 <= MAX_RANGES as u32,
        RESET | STOP => length == 4,
        _ => length == 0,
    };
    if !fits {
        return Err(WireError::Length(length));
    }
    // The payload of DATA is left to the caller, who may take it in pieces.
    let needed = if kind == DATA { 0 } else { length as usize };
    let Some(body) = body.get(..needed) else {
        return Ok(Decoded::Incomplete(HEADER + needed));
    };
    let mut body = Reader(body);
    let number = |offset: u64| u32::try_from(offset).map_err(|_| WireError::Offset(offset));
    let frame = match kind {
        HELLO => Frame::Hello(Hello {
            session: body.take(),
            stream: number(offset)?,
            credit: u64::from_be_bytes(body.take()),
            max_payload: u32::from_be_bytes(body.take()),
            max_streams: u16::from_be_bytes(body.take()),
        }),
        DATA => {
            offset.checked_add(u64::from(length)).ok_or(WireError::Offset(offset))?;
            Frame::Data(Data { offset, len: length, end: flags & FLAG_END != 0 })
        }
        ACK => Frame::Ack(decode_ack(&mut body, offset, flags)?),
        RESET => Frame::Reset { code: u32::from_be_bytes(body.take()), end: offset },
        STOP if offset != 0 => return Err(WireError::Offset(offset)),
        STOP => Frame::Stop { code: u32::from_be_bytes(body.take()) },
        _ => Frame::Gone { stream: number(offset)? },
    };
    Ok(Decoded::Frame { connection, frame, read: HEADER + needed })
}

fn decode_ack(body: &mut Reader<'_>, next: u64, flags: u8) -> Result<Ack, WireError> {
    let limit = u64::from_be_bytes(body.take());
    let mut ranges = Vec::with_capacity(body.0.len() / 16);
    let mut floor = next;
    while !body.0.is_empty() {
        let range = Span::new(u64::from_be_bytes(body.take()), u64::from_be_bytes(body.take()));
        // A range that touches what lies below would have been one with it.
        if range.start <= floor || range.end <= range.start {
            return Err(WireError::Offset(range.start));
        }
        floor = range.end;
        ranges.push(range);
    }
    Ok(Ack { next, limit, end: flags & FLAG_END != 0, reset: flags & FLAG_RESET != 0, ranges })
}

/// Fields of a slice whose length has been checked; beyond its end they read as zero.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let Some((field, rest)) = self.0.split_first_chunk::<N>() else {
            self.0 = &[];
            return [0; N];
        };
        self.0 = rest;
        *field
    }
}
