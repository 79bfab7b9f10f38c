//! Compressed files: gzip, Zstandard and bzip2, known by their first bytes and not by their names.

use super::MAX_BYTES;
use super::error::{HistoryError as Error, Problem};
use super::zstandard::Frames;
use std::borrow::Cow;
use std::io::{self, Read};

/// A compression that is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstandard,
    /// bzip2, blocks of up to 900 KB.
    Bzip2,
}

impl Compression {
    /// The compression of a file that begins so.
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // A frame, or one to be skipped, with which pzstd begins a file.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstandard),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Self::Bzip2),
            _ => None,
        }
    }

    /// The name for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstandard => "Zstandard",
            Self::Bzip2 => "bzip2",
        }
    }
}

/// The content of a file, uncompressed if it was compressed: at most [`MAX_BYTES`].
pub fn unpack(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Error> {
    if bytes.len() > MAX_BYTES {
        let what = format!("the file has {} bytes; up to {MAX_BYTES} are read", bytes.len());
        return Err(Error::new(MAX_BYTES, Problem::Limit(what)));
    }
    let Some(compression) = Compression::detect(bytes) else { return Ok(Cow::Borrowed(bytes)) };
    let mut rest = bytes;
    let unpacked = match compression {
        Compression::Gzip => collect(flate2::bufread::MultiGzDecoder::new(&mut rest)),
        Compression::Bzip2 => collect(bzip2::bufread::MultiBzDecoder::new(&mut rest)),
        Compression::Zstandard => collect(Frames::new(&mut rest)),
    };
    let at = bytes.len() - rest.len();
    let unpacked = unpacked.map_err(|refused| refused.at(at, bytes.len(), compression))?;
    match Compression::detect(&unpacked) {
        Some(inner) => {
            let (outer, inner) = (compression.name(), inner.name());
            let what = format!("compressed twice, {inner} within {outer}: uncompress it once");
            Err(Error::inconsistent(0, what))
        }
        None => Ok(Cow::Owned(unpacked)),
    }
}

/// Why compressed bytes are not read on.
enum Refused {
    TooLong,
    Broken(io::Error),
}

impl Refused {
    fn at(self, at: usize, end: usize, compression: Compression) -> Error {
        let name = compression.name();
        match self {
            Self::TooLong => {
                let most = MAX_BYTES >> 20;
                let what = format!(
                    "the {end} bytes of {name} become more than {most} MiB, the most that is read: if that is meant, \
                     uncompress the file and cut it into several"
                );
                Error::new(at, Problem::Limit(what))
            }
            Self::Broken(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Error::new(end, Problem::Truncated { within: "compressed data" })
            }
            Self::Broken(error) => Error::malformed(at, format!("{name} data"), error.to_string()),
        }
    }
}

/// Reads to the end, or to one byte more than the most.
fn collect(mut source: impl Read) -> Result<Vec<u8>, Refused> {
    let mut bytes = Vec::new();
    loop {
        // By quarters: doubling would take half a GiB for the last bytes of a large file.
        let step = (bytes.len() / 4).max(1 << 16).min(MAX_BYTES + 1 - bytes.len());
        bytes.reserve_exact(step);
        let read = source.by_ref().take(step as u64).read_to_end(&mut bytes).map_err(Refused::Broken)?;
        if bytes.len() > MAX_BYTES {
            return Err(Refused::TooLong);
        }
        if read < step {
            return Ok(bytes);
        }
    }
}
