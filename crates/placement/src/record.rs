//! A stream of bytes is cut into records, which are lines.

use memchr::memchr;
use thiserror::Error;

/// The longest line that counts as a record: 16 MiB. Text whose lines are longer is most likely no text.
const LONGEST: usize = 16 << 20;

/// No end of line came for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no end of line within {} MiB: this is not text with one record a line", LONGEST >> 20)]
pub struct TooLong;

/// Cuts bytes that come in pieces of any length into lines, as Hadoop's `LineRecordReader` does: a line ends with LF or
/// CR LF, and the last one need not end.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// The beginning of a line whose end has not come yet.
    begun: Vec<u8>,
}

impl Records {
    /// At the start of a line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes, and hands out each record that ends in them with its length in the stream, line end
    /// included.
    ///
    /// # Errors
    ///
    /// What `take` returns, or [`TooLong`].
    #[inline]
    pub fn feed<E: From<TooLong>>(
        &mut self,
        mut bytes: &[u8],
        mut take: impl FnMut(&[u8], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.begun.is_empty() {
            let Some(end) = memchr(b'\n', bytes) else { return self.keep(bytes).map_err(E::from) };
            self.begun.extend_from_slice(&bytes[..end]);
            let length = self.begun.len() as u64 + 1;
            take(without_return(&self.begun), length)?;
            self.begun.clear();
            bytes = &bytes[end + 1..];
        }
        while let Some(end) = memchr(b'\n', bytes) {
            take(without_return(&bytes[..end]), end as u64 + 1)?;
            bytes = &bytes[end + 1..];
        }
        self.keep(bytes).map_err(E::from)
    }

    /// The stream has ended: what has begun is a record too.
    ///
    /// # Errors
    ///
    /// What `take` returns.
    pub fn end<E>(&mut self, mut take: impl FnMut(&[u8], u64) -> Result<(), E>) -> Result<(), E> {
        if self.begun.is_empty() {
            return Ok(());
        }
        let length = self.begun.len() as u64;
        take(without_return(&self.begun), length)?;
        self.begun.clear();
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.begun.len() + bytes.len() > LONGEST {
            return Err(TooLong);
        }
        self.begun.extend_from_slice(bytes);
        Ok(())
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
