//! A stream of bytes is cut into records, which are lines.

use memchr::{memchr, memrchr};
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
        bytes: &[u8],
        mut take: impl FnMut(&[u8], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        self.feed_lines(bytes, |lines| each_line(lines, &mut take))
    }

    /// Takes the next bytes, and hands out the lines that end in them with their ends, as many at once as stand side by
    /// side: whoever looks through text in blocks needs not stop at each.
    ///
    /// # Errors
    ///
    /// What `take` returns, or [`TooLong`].
    #[inline]
    pub fn feed_lines<E: From<TooLong>>(
        &mut self,
        mut bytes: &[u8],
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.begun.is_empty() {
            let Some(end) = memchr(b'\n', bytes) else { return self.keep(bytes).map_err(E::from) };
            let (rest, behind) = bytes.split_at(end + 1);
            self.begun.extend_from_slice(rest);
            take(&self.begun)?;
            self.begun.clear();
            bytes = behind;
        }
        if let Some(end) = memrchr(b'\n', bytes) {
            let (lines, behind) = bytes.split_at(end + 1);
            take(lines)?;
            bytes = behind;
        }
        self.keep(bytes).map_err(E::from)
    }

    /// The stream has ended: what has begun is a record too.
    ///
    /// # Errors
    ///
    /// What `take` returns.
    pub fn end<E>(&mut self, mut take: impl FnMut(&[u8], u64) -> Result<(), E>) -> Result<(), E> {
        self.end_lines(|line| each_line(line, &mut take))
    }

    /// [`Self::end`], handed out as [`Self::feed_lines`] does it.
    ///
    /// # Errors
    ///
    /// What `take` returns.
    pub fn end_lines<E>(&mut self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        if !self.begun.is_empty() {
            take(&self.begun)?;
            self.begun.clear();
        }
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

/// Hands out each line, without its end, and its length with it.
///
/// # Errors
///
/// What `take` returns.
#[inline]
pub fn each_line<E>(mut lines: &[u8], mut take: impl FnMut(&[u8], u64) -> Result<(), E>) -> Result<(), E> {
    while !lines.is_empty() {
        let end = memchr(b'\n', lines);
        let length = end.map_or(lines.len(), |end| end + 1);
        take(without_return(&lines[..end.unwrap_or(length)]), length as u64)?;
        lines = &lines[length..];
    }
    Ok(())
}

#[inline]
pub fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
