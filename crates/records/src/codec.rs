//! Compressions, as Hadoop's codecs, Avro and Parquet use them: of whole streams, and of blocks in memory.

use crate::MOST_BLOCK;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, Read};

/// A compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// RFC 1950: Hadoop's `DefaultCodec` and `DeflateCodec`.
    Zlib,
    /// RFC 1951: Avro's `deflate`.
    Deflate,
    /// RFC 1952: `GzipCodec`, Parquet's GZIP.
    Gzip,
    /// `BZip2Codec`.
    Bzip2,
    /// RFC 8878: `ZStandardCodec`.
    Zstandard,
    /// Snappy's blocks in Hadoop's frames (`SnappyCodec`).
    HadoopSnappy,
    /// LZ4's blocks in Hadoop's frames (`Lz4Codec`).
    HadoopLz4,
    /// One block of Snappy: Avro's and Parquet's.
    Snappy,
    /// One block of LZ4: Parquet's `LZ4_RAW`.
    Lz4,
}

impl Codec {
    /// The compression of a file that begins so.
    pub fn of_bytes(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // A frame, or one to be skipped.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstandard),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, ..] => Some(Self::Bzip2),
            _ => None,
        }
    }

    /// The compression of a file whose name ends so: Hadoop's `CompressionCodecFactory` goes by names alone, and these
    /// have no first bytes of their own.
    pub fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "deflate" => Some(Self::Zlib),
            "snappy" => Some(Self::HadoopSnappy),
            "lz4" => Some(Self::HadoopLz4),
            _ => None,
        }
    }

    /// Hadoop's codec of this class.
    pub fn of_class(class: &str) -> Option<Self> {
        match class.strip_prefix("org.apache.hadoop.io.compress.")? {
            "DefaultCodec" | "DeflateCodec" => Some(Self::Zlib),
            "GzipCodec" => Some(Self::Gzip),
            "BZip2Codec" => Some(Self::Bzip2),
            "ZStandardCodec" => Some(Self::Zstandard),
            "SnappyCodec" => Some(Self::HadoopSnappy),
            "Lz4Codec" => Some(Self::HadoopLz4),
            _ => None,
        }
    }

    /// The stream that was compressed. A block of Snappy or of LZ4 alone is none, and reads as an error.
    pub fn stream<'a>(self, input: impl BufRead + 'a) -> Box<dyn Read + 'a> {
        match self {
            Self::Zlib => Box::new(flate2::bufread::ZlibDecoder::new(input)),
            Self::Deflate => Box::new(flate2::bufread::DeflateDecoder::new(input)),
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
            Self::Zstandard => Box::new(Zstandard::new(input)),
            Self::HadoopSnappy | Self::Snappy => Box::new(HadoopFrames::new(input, Self::Snappy)),
            Self::HadoopLz4 | Self::Lz4 => Box::new(HadoopFrames::new(input, Self::Lz4)),
        }
    }

    /// A block's bytes, at most so many.
    ///
    /// # Errors
    ///
    /// If they are not those of the compression, or more.
    pub fn unpack(self, packed: &[u8], most: usize) -> io::Result<Vec<u8>> {
        let most = most.min(MOST_BLOCK);
        match self {
            Self::Snappy => {
                let length = snap::raw::decompress_len(packed).map_err(io::Error::other)?;
                if length > most {
                    return Err(too_long(most));
                }
                snap::raw::Decoder::new().decompress_vec(packed).map_err(io::Error::other)
            }
            Self::Lz4 => lz4(packed, most),
            stream => {
                let mut bytes = Vec::new();
                stream.stream(packed).take(most as u64 + 1).read_to_end(&mut bytes)?;
                if bytes.len() > most { Err(too_long(most)) } else { Ok(bytes) }
            }
        }
    }
}

fn too_long(most: usize) -> io::Error {
    io::Error::other(format!("a block becomes more than {most} bytes, the most that is read"))
}

/// A block of LZ4 does not say how long it becomes: at most 255 times its own length.
fn lz4(packed: &[u8], most: usize) -> io::Result<Vec<u8>> {
    let mut room = packed.len().saturating_mul(4).max(1 << 12).min(most);
    loop {
        match lz4_flex::block::decompress(packed, room) {
            Ok(bytes) => return Ok(bytes),
            Err(lz4_flex::block::DecompressError::OutputTooSmall { .. }) if room < most => {
                room = room.saturating_mul(4).min(most);
            }
            Err(lz4_flex::block::DecompressError::OutputTooSmall { .. }) => return Err(too_long(most)),
            Err(error) => return Err(io::Error::other(error)),
        }
    }
}

/// Frames of Zstandard, one after the other, those to be skipped left out.
struct Zstandard<R> {
    input: R,
    decoder: FrameDecoder,
    within: bool,
}

impl<R: BufRead> Zstandard<R> {
    fn new(input: R) -> Self {
        Self { input, decoder: FrameDecoder::new(), within: false }
    }

    /// Begins the next frame, if there is one.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.input.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.input) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut (&mut self.input).take(u64::from(length)), &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error.to_string())),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Zstandard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        const AT_ONCE: usize = 1 << 17;
        loop {
            if !self.within {
                self.within = self.begin()?;
                if !self.within {
                    return Ok(0);
                }
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let decoded = self.decoder.decode_blocks(&mut self.input, BlockDecodingStrategy::UptoBytes(AT_ONCE));
                decoded.map_err(|error| io::Error::other(error.to_string()))?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let stated = self.decoder.get_checksum_from_data();
            if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "data that do not have their checksum"));
            }
            self.within = false;
        }
    }
}

/// Hadoop's `BlockCompressorStream`: the length of what was compressed together, then its chunks, each behind its
/// compressed length; all lengths with the highest byte first.
struct HadoopFrames<R> {
    input: R,
    codec: Codec,
    /// Bytes of the present block that are not read yet, behind those of the chunk.
    left: usize,
    chunk: Vec<u8>,
    at: usize,
}

impl<R: BufRead> HadoopFrames<R> {
    fn new(input: R, codec: Codec) -> Self {
        Self { input, codec, left: 0, chunk: Vec::new(), at: 0 }
    }

    fn length(&mut self) -> io::Result<usize> {
        let mut bytes = [0; 4];
        self.input.read_exact(&mut bytes)?;
        let length = u32::from_be_bytes(bytes) as usize;
        if length > MOST_BLOCK { Err(too_long(MOST_BLOCK)) } else { Ok(length) }
    }

    /// The next chunk; `false` at the end.
    fn next(&mut self) -> io::Result<bool> {
        while self.left == 0 {
            if self.input.fill_buf()?.is_empty() {
                return Ok(false);
            }
            self.left = self.length()?;
        }
        let length = self.length()?;
        let mut packed = Vec::new();
        (&mut self.input).take(length as u64).read_to_end(&mut packed)?;
        if packed.len() < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.chunk = self.codec.unpack(&packed, self.left)?;
        self.at = 0;
        self.left -= self.chunk.len();
        Ok(true)
    }
}

impl<R: BufRead> Read for HadoopFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.chunk.len() {
            if !self.next()? {
                return Ok(0);
            }
        }
        let read = buffer.len().min(self.chunk.len() - self.at);
        buffer[..read].copy_from_slice(&self.chunk[self.at..self.at + read]);
        self.at += read;
        Ok(read)
    }
}
