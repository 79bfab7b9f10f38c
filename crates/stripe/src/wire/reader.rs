//! Frames from the bytes of a stream, however they are cut.

use super::{Data, Decoded, Frame, WireError, decode};

/// Capacity that is kept for frames that are cut: most are short.
const KEPT: usize = 2 << 10;

/// The next item on a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item<'a> {
    /// A frame without payload.
    Frame {
        /// The connection; 0 for the session's own frames.
        connection: u32,
        /// The frame.
        frame: Frame,
    },
    /// A piece of a DATA frame: the payload that has come, with its own offset. Only the last piece carries the end.
    Payload {
        /// The connection.
        connection: u32,
        /// Offset, length and end of the piece.
        data: Data,
        /// Payload of the piece.
        payload: &'a [u8],
    },
}

/// Reads one stream. It holds no payload of DATA. Of a frame that is cut it holds at most a header and the longest
/// other body, which is a datagram's.
#[derive(Clone, Debug)]
pub struct FrameReader {
    max_payload: u32,
    /// Beginning of a frame that is cut.
    begun: Vec<u8>,
    /// Payload of a DATA frame that is still to come.
    payload: Option<(u32, Data)>,
    /// Bytes of an extension that are still to be skipped.
    skip: usize,
}

impl FrameReader {
    /// A reader that accepts payloads up to this length.
    pub fn new(max_payload: u32) -> Self {
        Self { max_payload, begun: Vec::new(), payload: None, skip: 0 }
    }

    /// Whether the stream may end here, between frames.
    pub fn is_between(&self) -> bool {
        self.begun.is_empty() && self.payload.is_none() && self.skip == 0
    }

    /// Takes the next item from the front of `input`; `None` when all is read. After an error the stream is of no use.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Item<'a>>, WireError> {
        loop {
            let skipped = self.skip.min(input.len());
            *input = &input[skipped..];
            self.skip -= skipped;
            if input.is_empty() {
                return Ok(None);
            }
            if let Some((connection, data)) = self.payload.take() {
                return Ok(Some(self.piece(connection, data, input)));
            }
            let (decoded, all) = if self.begun.is_empty() {
                (decode(input, self.max_payload)?, input.len())
            } else {
                self.complete(input)?
            };
            match decoded {
                Decoded::Incomplete(_) => {
                    if self.begun.is_empty() {
                        self.begun.extend_from_slice(input);
                        *input = &[];
                    }
                    return Ok(None);
                }
                Decoded::Skip(bytes) => self.pass(bytes, all, input),
                Decoded::Frame { connection, frame, read } => {
                    self.pass(read, all, input);
                    match frame {
                        Frame::Data(data) if data.len > 0 => self.payload = Some((connection, data)),
                        frame => return Ok(Some(Item::Frame { connection, frame })),
                    }
                }
            }
        }
    }

    /// Completes a frame that was cut with bytes of the input. Returns the frame, and how many of its bytes are here.
    fn complete(&mut self, input: &mut &[u8]) -> Result<(Decoded, usize), WireError> {
        loop {
            let decoded = decode(&self.begun, self.max_payload)?;
            let Decoded::Incomplete(needed) = decoded else { return Ok((decoded, self.begun.len())) };
            let taken = (needed - self.begun.len()).min(input.len());
            if taken == 0 {
                return Ok((decoded, self.begun.len()));
            }
            self.begun.extend_from_slice(&input[..taken]);
            *input = &input[taken..];
        }
    }
    /// Removes the first `bytes` bytes of a frame. Up to `all` bytes of it stand in what was begun, or at the front of
    /// the input.
    fn pass(&mut self, bytes: usize, all: usize, input: &mut &[u8]) {
        let here = bytes.min(all);
        if self.begun.is_empty() {
            *input = &input[here..];
        } else {
            self.begun.clear();
            self.begun.shrink_to(KEPT);
        }
        self.skip = bytes - here;
    }
    fn piece<'a>(&mut self, connection: u32, data: Data, input: &mut &'a [u8]) -> Item<'a> {
        let len = (data.len as usize).min(input.len());
        let (payload, rest) = input.split_at(len);
        *input = rest;
        let left = data.len - len as u32;
        if left > 0 {
            self.payload = Some((connection, Data { offset: data.offset + len as u64, len: left, end: data.end }));
        }
        Item::Payload { connection, data: Data { len: len as u32, end: data.end && left == 0, ..data }, payload }
    }
}
