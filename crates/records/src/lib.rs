//! Records of real files, as Hadoop's engines read and write them: text with one record a line, SequenceFile, Avro and
//! Parquet, under the codecs that compress them. Their keys go to a [`Sink`].
//!
//! A file is read from first to last, or by pieces from all over it: a piece has the records that begin in it, whole
//! blocks or row groups of them, as a map task's split has. Foreign bytes never panic, and memory is bounded by
//! [`MOST_BLOCK`].

mod avro;
mod codec;
mod columns;
mod cursor;
mod error;
mod parquet_file;
mod pieces;
mod sequence;
mod source;
mod text;

pub use codec::Codec;
pub use columns::Column;
pub use error::Error;
pub use parquet_file::in_foreign_decoder;
pub use pieces::Sample;
pub use source::{Format, Source, of_text};
pub use text::read_stream;

use placement::{Hint, Keys, Profile, ScanError, each_line};

/// The most bytes that a block has, compressed or not: a record, a block of a SequenceFile or of Avro, a page of
/// Parquet.
pub const MOST_BLOCK: usize = 128 << 20;

/// Who takes records.
pub trait Sink {
    /// A record in which keys have to be found, and its bytes in the uncompressed file.
    ///
    /// # Errors
    ///
    /// If a key does not fit.
    fn record(&mut self, record: &[u8], length: u64) -> Result<(), ScanError>;

    /// Whole lines of text, each a record.
    ///
    /// # Errors
    ///
    /// If a key does not fit.
    fn lines(&mut self, lines: &[u8]) -> Result<(), ScanError> {
        each_line(lines, |record, length| self.record(record, length))
    }

    /// A record of these keys.
    ///
    /// # Errors
    ///
    /// If a key does not fit.
    fn keyed(&mut self, keys: &Keys, length: u64) -> Result<(), ScanError>;
}

impl<H: Hint> Sink for Profile<H> {
    #[inline]
    fn record(&mut self, record: &[u8], length: u64) -> Result<(), ScanError> {
        Profile::record(self, record, length)
    }
    fn lines(&mut self, lines: &[u8]) -> Result<(), ScanError> {
        Profile::lines(self, lines)
    }
    #[inline]
    fn keyed(&mut self, keys: &Keys, length: u64) -> Result<(), ScanError> {
        Profile::keyed(self, &[], keys, length)
    }
}

/// Is told of bytes of the file that lie behind; `false` stops the reading.
pub type Step<'a> = dyn FnMut(u64) -> bool + 'a;
