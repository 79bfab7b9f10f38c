//! Decoding of frames.

use super::datagram::MAX_DATAGRAM_BODY;
use super::{
    ACK, ALLOW, Ack, DATA, DATAGRAM, Data, Datagram, Destination, FLAG_END, FLAG_NAMED, FLAG_RESET, FLOWS, FORGET,
    Frame, GONE, HEADER, HELLO, HELLO_BODY, Hello, JOIN, JOIN_BODY, KEEPALIVE, KEEPALIVE_BODY, KNOWN, KeepAlive, LEAVE,
    MAX_BODY, MAX_NAME, MAX_RANGES, OPEN, OPENED, OVER, PING, PONG, REFUSE, RESET, Refusal, SHARE, START, STOP,
    VERSION, WANT, WireError,
};
use crate::ranges::Span;

/// Result of decoding the bytes at hand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decoded {
    /// A whole frame. The payload of DATA follows the bytes read.
    Frame {
        /// The connection; 0 for the session's own frames.
        connection: u32,
        /// The frame.
        frame: Frame,
        /// Bytes read.
        read: usize,
    },
    /// More bytes are needed: at least this many in all.
    Incomplete(usize),
    /// An unknown extension. This many bytes, header included, are to be skipped.
    Skip(usize),
}

/// Decodes the frame at the beginning of `input`. `max_payload` is the agreed longest payload of DATA. Lengths are
/// checked before anything is allocated.
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
    if kind & 0x80 != 0 && !(FLOWS..=KEEPALIVE).contains(&kind) {
        return if length <= MAX_BODY {
            Ok(Decoded::Skip(HEADER + length as usize))
        } else {
            Err(WireError::Length(length))
        };
    }
    let allowed = match kind {
        DATA => FLAG_END,
        ACK => FLAG_END | FLAG_RESET,
        DATAGRAM => FLAG_NAMED,
        HELLO | RESET..=LEAVE | FLOWS..=KEEPALIVE => 0,
        _ => return Err(WireError::Type(kind)),
    };
    if flags & !allowed != 0 || reserved != 0 {
        return Err(WireError::Flags(if reserved == 0 { flags } else { reserved }));
    }
    let fits = match kind {
        HELLO => length == HELLO_BODY,
        DATA => length <= max_payload.min(MAX_BODY),
        ACK => length >= 8 && (length - 8).is_multiple_of(16) && (length - 8) / 16 <= MAX_RANGES as u32,
        RESET | STOP | REFUSE | FORGET => length == 4,
        DATAGRAM => length <= MAX_DATAGRAM_BODY as u32,
        JOIN => length == JOIN_BODY,
        KEEPALIVE => length == KEEPALIVE_BODY,
        OPEN => length <= MAX_NAME as u32 + 3,
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
        GONE => Frame::Gone { stream: number(offset)? },
        ALLOW => Frame::Allow { limit: offset },
        SHARE => Frame::Share { bytes: offset },
        WANT => Frame::Want { streams: number(offset)? },
        PING => Frame::Ping { token: offset },
        PONG => Frame::Pong { token: offset },
        FLOWS => Frame::Flows { most: number(offset)? },
        _ if offset != 0 => return Err(WireError::Offset(offset)),
        STOP => Frame::Stop { code: u32::from_be_bytes(body.take()) },
        START => Frame::Start,
        JOIN => Frame::Join { proof: body.take() },
        REFUSE => Frame::Refuse(Refusal::of(u32::from_be_bytes(body.take()))),
        OPEN => Frame::Open(Destination::decode(body.0)?),
        OPENED => Frame::Opened,
        OVER => Frame::Over,
        DATAGRAM => Frame::Datagram(Datagram::decode(body.0, flags & FLAG_NAMED != 0)?),
        KNOWN => Frame::Known,
        FORGET => Frame::Forget { code: u32::from_be_bytes(body.take()) },
        KEEPALIVE => Frame::KeepAlive(KeepAlive {
            idle: u32::from_be_bytes(body.take()),
            interval: u32::from_be_bytes(body.take()),
            probes: u32::from_be_bytes(body.take()),
        }),
        _ => Frame::Leave,
    };
    // P-5: a frame of the session has no connection, and a frame of a connection has one.
    if frame.is_of_session() != (connection == 0) {
        return Err(WireError::Connection(connection));
    }
    Ok(Decoded::Frame { connection, frame, read: HEADER + needed })
}

fn decode_ack(body: &mut Reader<'_>, next: u64, flags: u8) -> Result<Ack, WireError> {
    let limit = u64::from_be_bytes(body.take());
    let mut ranges = Vec::with_capacity(body.0.len() / 16);
    let mut floor = next;
    while !body.0.is_empty() {
        let range = Span::new(u64::from_be_bytes(body.take()), u64::from_be_bytes(body.take()));
        // A range that touches what lies below would be one with it.
        if range.start <= floor || range.end <= range.start {
            return Err(WireError::Offset(range.start));
        }
        floor = range.end;
        ranges.push(range);
    }
    Ok(Ack { next, limit, end: flags & FLAG_END != 0, reset: flags & FLAG_RESET != 0, ranges })
}

/// Reads fields of a slice whose length has been checked. Beyond its end they read as zero.
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
