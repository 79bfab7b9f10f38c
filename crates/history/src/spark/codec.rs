//! The compressions in which Spark writes event logs, each as a stream.

use crate::unpack::Compression;
use crate::zstandard::Frames;
use lz4_flex::block;
use std::io::{self, BufRead, Read};

/// A compression of an event log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Codec {
    /// One in which people keep files; Zstandard is also Spark's default since 3.0.
    Common(Compression),
    /// `LZ4BlockOutputStream` of lz4-java: blocks, each with its lengths; not the frames of the program `lz4`.
    Lz4Block,
    /// `SnappyOutputStream` of snappy-java: blocks, each with its length.
    SnappyBlock,
    /// LZF, which is not read.
    Lzf,
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
            [b'Z', b'V', 0 | 1, ..] => Some(Self::Lzf),
            _ if bytes.starts_with(LZ4_MAGIC) => Some(Self::Lz4Block),
            _ if bytes.starts_with(SNAPPY_MAGIC) => Some(Self::SnappyBlock),
            _ => Compression::detect(bytes).map(Self::Common),
        }
    }

    /// The name for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Common(compression) => compression.name(),
            Self::Lz4Block => "LZ4",
            Self::SnappyBlock => "Snappy",
            Self::Lzf => "LZF",
        }
    }
}

/// A file's content as a stream, uncompressed where it is compressed. An error of kind `UnexpectedEof` means that
/// compressed data break off; one of kind `InvalidData`, that they are wrong.
pub fn open<'a>(mut source: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let codec = Codec::detect(source.fill_buf()?);
    Ok(match codec {
        None => Box::new(source),
        Some(Codec::Common(Compression::Gzip)) => Box::new(flate2::bufread::MultiGzDecoder::new(source)),
        Some(Codec::Common(Compression::Bzip2)) => Box::new(bzip2::bufread::MultiBzDecoder::new(source)),
        Some(Codec::Common(Compression::Zstandard)) => Box::new(Frames::new(source)),
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
