//! Numbers and bytes from a slice, and from a file whose position is known. Nothing is read past the end.

use crate::{Error, MOST_BLOCK};
use memchr::memmem;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

/// A slice that is read from its beginning.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub const fn left(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    #[inline]
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*taken)
    }

    /// Hadoop's `WritableUtils.readVLong`: small numbers in one byte, else sign and length, then the number's bytes,
    /// the highest first.
    #[inline]
    pub fn hadoop_long(&mut self) -> Option<i64> {
        let [first] = self.array()?;
        let (bytes, negative) = hadoop_length(first as i8);
        if bytes == 0 {
            return Some(i64::from(first as i8));
        }
        Some(hadoop_value(self.take(bytes)?, negative))
    }

    /// Avro's long.
    #[inline]
    pub fn avro_long(&mut self) -> Option<i64> {
        let (number, length) = ::avro::long(self.bytes).ok()?;
        self.bytes = &self.bytes[length..];
        Some(number)
    }

    /// Avro's bytes, behind their length.
    #[inline]
    pub fn avro_bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.avro_long()?;
        self.take(usize::try_from(length).ok()?)
    }
}

/// Bytes behind the first one of Hadoop's number, and whether it is negative.
const fn hadoop_length(first: i8) -> (usize, bool) {
    match first {
        -112.. => (0, false),
        -120..=-113 => ((-112 - first as i32) as usize, false),
        _ => ((-120 - first as i32) as usize, true),
    }
}

fn hadoop_value(bytes: &[u8], negative: bool) -> i64 {
    let value = bytes.iter().fold(0_i64, |value, byte| value << 8 | i64::from(*byte));
    if negative { !value } else { value }
}

/// A file that is read forward, and from places that are sought.
#[derive(Debug)]
pub struct Input {
    reader: BufReader<File>,
    at: u64,
    length: u64,
}

impl Input {
    pub fn new(file: File, length: u64) -> Self {
        Self { reader: BufReader::with_capacity(1 << 16, file), at: 0, length }
    }

    pub const fn at(&self) -> u64 {
        self.at
    }

    pub const fn length(&self) -> u64 {
        self.length
    }

    pub fn seek(&mut self, at: u64) -> Result<(), Error> {
        self.reader.seek(SeekFrom::Start(at))?;
        self.at = at;
        Ok(())
    }

    pub fn skip(&mut self, bytes: u64) -> Result<(), Error> {
        self.within(bytes)?;
        self.reader.seek_relative(bytes as i64)?;
        self.at += bytes;
        Ok(())
    }

    fn within(&self, bytes: u64) -> Result<(), Error> {
        let left = self.length.saturating_sub(self.at);
        if bytes > left {
            return Err(Error::broken(self.at, format!("{bytes} bytes should follow, and the file ends after {left}")));
        }
        Ok(())
    }

    /// The next bytes, in `buffer` anew.
    pub fn bytes(&mut self, length: u64, buffer: &mut Vec<u8>) -> Result<(), Error> {
        self.within(length)?;
        if length > MOST_BLOCK as u64 {
            return Err(Error::broken(self.at, format!("a block of {length} bytes; up to {MOST_BLOCK} are read")));
        }
        buffer.resize(length as usize, 0);
        self.reader.read_exact(buffer)?;
        self.at += length;
        Ok(())
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.within(N as u64)?;
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes)?;
        self.at += N as u64;
        Ok(bytes)
    }

    pub fn int(&mut self) -> Result<i32, Error> {
        self.array().map(i32::from_be_bytes)
    }

    /// A length or count that Hadoop wrote with a variable number of bytes.
    pub fn hadoop_length(&mut self) -> Result<u64, Error> {
        let at = self.at;
        let [first] = self.array()?;
        let (bytes, negative) = hadoop_length(first as i8);
        let mut value = i64::from(first as i8);
        if bytes > 0 {
            let mut digits = [0; 8];
            for digit in &mut digits[..bytes] {
                [*digit] = self.array()?;
            }
            value = hadoop_value(&digits[..bytes], negative);
        }
        u64::try_from(value).map_err(|_| Error::broken(at, format!("{value} is no length")))
    }

    /// Text behind its length: class names, and what describes the file.
    pub fn hadoop_text(&mut self) -> Result<String, Error> {
        let at = self.at;
        let length = self.hadoop_length()?;
        if length > 1 << 20 {
            return Err(Error::broken(at, format!("a text of {length} bytes in the file's head")));
        }
        let mut bytes = Vec::new();
        self.bytes(length, &mut bytes)?;
        String::from_utf8(bytes).map_err(|_| Error::broken(at, "a text in the file's head that is not UTF-8"))
    }

    /// A length or count of Avro.
    pub fn avro_long(&mut self) -> Result<i64, Error> {
        let at = self.at;
        let mut bytes = Vec::with_capacity(10);
        loop {
            let [byte] = self.array()?;
            bytes.push(byte);
            if byte < 0x80 || bytes.len() == 10 {
                let value = Cursor::new(&bytes).avro_long();
                return value.ok_or_else(|| Error::broken(at, "a number of more than 64 bits"));
            }
        }
    }

    /// The place of a marker that begins at `from` or behind; `None` if there is none up to the end.
    pub fn find(&mut self, marker: &[u8], from: u64) -> Result<Option<u64>, Error> {
        const WINDOW: u64 = 1 << 16;
        let finder = memmem::Finder::new(marker);
        let (mut begin, mut window) = (from, Vec::new());
        while begin + marker.len() as u64 <= self.length {
            self.seek(begin)?;
            self.bytes(WINDOW.min(self.length - begin), &mut window)?;
            if let Some(place) = finder.find(&window) {
                return Ok(Some(begin + place as u64));
            }
            begin += (window.len() - marker.len() + 1) as u64;
        }
        Ok(None)
    }
}
