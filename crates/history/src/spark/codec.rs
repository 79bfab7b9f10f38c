//! The compressions in which Spark writes event logs, each as a stream.

use lz4_flex::block;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, Read};

/// A compression of an event log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Codec {
    /// RFC 8878: Spark's default since 3.0.
    Zstandard,
    /// `LZ4BlockOutputStream` of lz4-java: blocks, each with its lengths; not the frames of the program `lz4`.
    Lz4Block,
    /// `SnappyOutputStream` of snappy-java: blocks, each with its length.
    SnappyBlock,
    /// LZF, which is not read.
    Lzf,
    /// RFC 1952, as people keep logs.
    Gzip,
    /// bzip2, as people keep logs.
    Bzip2,
}

/// First bytes of an `LZ4BlockOutputStream`'s blocks.
const LZ4_MAGIC: &[u8; 8] = b"LZ4Block";
/// First bytes of a `SnappyOutputStream`; a version and the oldest that is compatible follow, of four bytes each.
const SNAPPY_MAGIC: &[u8; 8] = b"\x82SNAPPY\0";
/// The largest block of an `LZ4BlockOutputStream` (its `MAX_BLOCK_SIZE`); Spark writes 32 KB
/// (`spark.io.compression.lz4.blockSize`).
const MOST_BLOCK: usize = 1 << 25;

impl Codec {
    /// The codec of a file that begins so; none for a plain one.
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstandard),
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Self::Bzip2),
            [b'Z', b'V', 0 | 1, ..] => Some(Self::Lzf),
            _ if bytes.starts_with(LZ4_MAGIC) => Some(Self::Lz4Block),
            _ if bytes.starts_with(SNAPPY_MAGIC) => Some(Self::SnappyBlock),
            _ => None,
        }
    }

    /// The name for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zstandard => "Zstandard",
            Self::Lz4Block => "LZ4",
            Self::SnappyBlock => "Snappy",
            Self::Lzf => "LZF",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
        }
    }
}

/// A file's content as a stream, uncompressed where it is compressed. An error of kind `UnexpectedEof` means that
/// compressed data break off; one of kind `InvalidData`, that they are wrong.
pub fn open<'a>(mut source: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let codec = Codec::detect(source.fill_buf()?);
    Ok(match codec {
        None => Box::new(source),
        Some(Codec::Gzip) => Box::new(flate2::bufread::MultiGzDecoder::new(source)),
        Some(Codec::Bzip2) => Box::new(bzip2::bufread::MultiBzDecoder::new(source)),
        Some(Codec::Zstandard) => Box::new(Frames { state: State::Between(source) }),
        Some(Codec::Lz4Block) => Box::new(Blocks { source, next: lz4_block, block: Vec::new(), taken: 0 }),
        Some(Codec::SnappyBlock) => {
            source.read_exact(&mut [0; 16])?;
            Box::new(Blocks { source, next: snappy_block, block: Vec::new(), taken: 0 })
        }
        Some(Codec::Lzf) => {
            return Err(wrong("compressed by LZF, which is not read: uncompress it first, or have Spark write zstd"));
        }
    })
}

fn wrong(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

/// Frames of Zstandard one after the other, those to be skipped left out.
struct Frames<R: BufRead> {
    state: State<R>,
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
                        return Err(wrong("data that do not have their checksum"));
                    }
                    self.state = State::Between(frame.source);
                }
            }
        }
    }
}

fn broken(error: &FrameDecoderError) -> io::Error {
    wrong(error.to_string())
}

/// Compressed blocks with their lengths, one after the other.
struct Blocks<R, N> {
    source: R,
    /// Replaces the block by the next; false at the end.
    next: N,
    block: Vec<u8>,
    taken: usize,
}

impl<R: BufRead, N: FnMut(&mut R, &mut Vec<u8>) -> io::Result<bool>> Read for Blocks<R, N> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.block.len() {
            self.taken = 0;
            self.block.clear();
            if self.source.fill_buf()?.is_empty() || !(self.next)(&mut self.source, &mut self.block)? {
                return Ok(0);
            }
        }
        let length = buffer.len().min(self.block.len() - self.taken);
        buffer[..length].copy_from_slice(&self.block[self.taken..self.taken + length]);
        self.taken += length;
        Ok(length)
    }
}

/// Bytes of a block as it is compressed, at most [`MOST_BLOCK`].
fn compressed(source: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    if length > MOST_BLOCK + MOST_BLOCK / 2 {
        return Err(wrong(format!("a block of {length} bytes; up to {MOST_BLOCK} are expected")));
    }
    let mut bytes = Vec::new();
    source.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
}

/// A block of lz4-java: magic, a token with the method, the lengths compressed and not, a checksum, the data. One
/// without data ends a stream; another may follow.
fn lz4_block(source: &mut impl BufRead, block: &mut Vec<u8>) -> io::Result<bool> {
    loop {
        if source.fill_buf()?.is_empty() {
            return Ok(false);
        }
        let mut header = [0; 21];
        source.read_exact(&mut header)?;
        if !header.starts_with(LZ4_MAGIC) {
            return Err(wrong("expected the next block, `LZ4Block`"));
        }
        let word =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]) as usize;
        let (method, packed, length) = (header[8] & 0xf0, word(9), word(13));
        if length == 0 {
            continue;
        }
        if length > MOST_BLOCK {
            return Err(wrong(format!("a block of {length} bytes; up to {MOST_BLOCK} are expected")));
        }
        let data = compressed(source, packed)?;
        *block = match method {
            0x10 => data,
            0x20 => block::decompress(&data, length).map_err(|error| wrong(error.to_string()))?,
            other => return Err(wrong(format!("a block of method {other:#x}; 0x10 and 0x20 are known"))),
        };
        if block.len() != length {
            return Err(wrong(format!("a block of {} bytes that states {length}", block.len())));
        }
        return Ok(true);
    }
}

/// A block of snappy-java: its length compressed, the data.
fn snappy_block(source: &mut impl BufRead, block: &mut Vec<u8>) -> io::Result<bool> {
    let mut header = [0; 4];
    source.read_exact(&mut header)?;
    // Another stream was written behind the first.
    if header == SNAPPY_MAGIC[..4] {
        source.read_exact(&mut [0; 12])?;
        if source.fill_buf()?.is_empty() {
            return Ok(false);
        }
        source.read_exact(&mut header)?;
    }
    let data = compressed(source, u32::from_be_bytes(header) as usize)?;
    match snap::raw::decompress_len(&data) {
        Ok(length) if length <= MOST_BLOCK => {}
        Ok(length) => return Err(wrong(format!("a block of {length} bytes; up to {MOST_BLOCK} are expected"))),
        Err(error) => return Err(wrong(error.to_string())),
    }
    *block = snap::raw::Decoder::new().decompress_vec(&data).map_err(|error| wrong(error.to_string()))?;
    Ok(true)
}
