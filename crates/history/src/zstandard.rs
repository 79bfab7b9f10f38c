//! Zstandard (RFC 8878) as a stream.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, Read};

/// Frames of Zstandard one after the other, those to be skipped left out. An error of kind `UnexpectedEof` means that
/// they break off, after what there is of them; one of kind `InvalidData`, that they are wrong.
pub struct Frames<R: BufRead> {
    state: State<R>,
}

impl<R: BufRead> Frames<R> {
    /// Of a source that begins with one.
    pub const fn new(source: R) -> Self {
        Self { state: State::Between(source) }
    }
}

enum State<R: BufRead> {
    Between(R),
    Within(Box<Frame<R>>),
    Over,
}

/// A frame of which the decoder is given whole blocks alone: it keeps a window back until the frame ends, and of a log
/// that is still written, or whose application was killed, the end never comes.
struct Frame<R> {
    source: R,
    decoder: FrameDecoder,
    block: Vec<u8>,
    /// The source ends within a block.
    cut: bool,
}

/// An empty block that is the last of its frame, and a checksum that nobody looks at.
const END: &[u8] = &[1, 0, 0, 0, 0, 0, 0];

impl<R: BufRead> Frame<R> {
    /// Reads the next block with its header (RFC 8878, 3.1.1.2); false if the source ends before.
    fn next_block(&mut self) -> io::Result<bool> {
        self.block.clear();
        self.source.by_ref().take(3).read_to_end(&mut self.block)?;
        let [a, b, c] = self.block[..] else { return Ok(false) };
        let header = u32::from_le_bytes([a, b, c, 0]);
        let size = if header >> 1 & 3 == 1 { 1 } else { header >> 3 };
        self.source.by_ref().take(u64::from(size)).read_to_end(&mut self.block)?;
        Ok(self.block.len() as u64 == 3 + u64::from(size))
    }
}

impl<R: BufRead> Read for Frame<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            self.cut = !self.next_block()?;
            let blocks = BlockDecodingStrategy::UptoBlocks(1);
            let decoded = if self.cut {
                self.decoder.decode_blocks(END, blocks)
            } else {
                // Behind the last block stands the checksum.
                self.decoder.decode_blocks((&self.block[..]).chain(&mut self.source), blocks)
            };
            decoded.map_err(|error| broken(&error))?;
        }
        match self.decoder.read(buffer)? {
            0 if self.cut && !buffer.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            read => Ok(read),
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, State::Over) {
                State::Over => return Ok(0),
                State::Between(mut source) => {
                    if source.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let mut decoder = FrameDecoder::new();
                    match decoder.init(&mut source) {
                        Ok(()) => {
                            self.state =
                                State::Within(Box::new(Frame { source, decoder, block: Vec::new(), cut: false }));
                        }
                        Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                            length,
                            ..
                        })) => {
                            io::copy(&mut source.by_ref().take(u64::from(length)), &mut io::sink())?;
                            self.state = State::Between(source);
                        }
                        Err(_) if source.fill_buf()?.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
                        Err(error) => return Err(broken(&error)),
                    }
                }
                State::Within(mut frame) => {
                    let read = frame.read(buffer)?;
                    if read > 0 || buffer.is_empty() {
                        self.state = State::Within(frame);
                        return Ok(read);
                    }
                    let stated = frame.decoder.get_checksum_from_data();
                    if stated.is_some() && stated != frame.decoder.get_calculated_checksum() {
                        return Err(io::Error::new(io::ErrorKind::InvalidData, "data that do not have their checksum"));
                    }
                    self.state = State::Between(frame.source);
                }
            }
        }
    }
}

fn broken(error: &FrameDecoderError) -> io::Error {
    let kind = match error {
        FrameDecoderError::FailedToReadChecksum(_) => io::ErrorKind::UnexpectedEof,
        _ => io::ErrorKind::InvalidData,
    };
    io::Error::new(kind, error.to_string())
}
