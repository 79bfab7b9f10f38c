//! Avro's object container files (specification 1.11): blocks of records behind a schema, each block followed by a
//! marker.
//!
//! Of a record the key's column is read, and the rest passed over.

mod columns;
mod datum;

use crate::columns::{Column, chosen};
use crate::cursor::{Cursor, Input};
use crate::{Codec, Error, MOST_BLOCK, Sample, Sink, Step};
use ::avro::Schema;
use datum::Datum;
use placement::{KeyRule, KeyType, Keys};

/// The longest head: schema, codec, and what programs leave beside them.
const MOST_HEAD: u64 = 16 << 20;

/// An open file.
#[derive(Debug)]
pub struct Avro {
    input: Input,
    schema: Schema,
    columns: Vec<Column>,
    codec: Option<Codec>,
    marker: [u8; 16],
    /// The byte behind its head.
    begin: u64,
}

impl Avro {
    /// Reads the head.
    pub fn open(mut input: Input) -> Result<Self, Error> {
        if input.array()? != *b"Obj\x01" {
            return Err(Error::broken(0, "an Avro file begins with Obj and 1"));
        }
        let (mut schema, mut codec) = (None, None);
        loop {
            let at = input.at();
            let count = input.avro_long()?;
            if count == 0 {
                break;
            }
            if count < 0 {
                input.avro_long()?;
            }
            for _ in 0..count.unsigned_abs() {
                let (name, value) = (head_bytes(&mut input)?, head_bytes(&mut input)?);
                match name.as_slice() {
                    b"avro.schema" => schema = Some((at, value)),
                    b"avro.codec" => codec = Some(value),
                    _ => {}
                }
            }
        }
        let marker = input.array()?;
        let begin = input.at();
        let (at, schema) = schema.ok_or_else(|| Error::broken(begin, "the head has no schema"))?;
        let schema = Schema::parse(&schema).map_err(|error| Error::broken(at, error.to_string()))?;
        let codec = match codec.as_deref() {
            None | Some(b"null") => None,
            Some(b"deflate") => Some(Codec::Deflate),
            Some(b"snappy") => Some(Codec::Snappy),
            Some(b"bzip2") => Some(Codec::Bzip2),
            Some(b"zstandard") => Some(Codec::Zstandard),
            Some(other) => {
                let other = String::from_utf8_lossy(other);
                return Err(Error::Unread(format!(
                    "it is an Avro file compressed by {other}; null, deflate, snappy, bzip2 and zstandard are read"
                )));
            }
        };
        let columns = columns::columns(&schema);
        Ok(Self { input, schema, columns, codec, marker, begin })
    }

    /// The rule that holds for this file, and the type of its keys.
    pub fn key(&self, rule: Option<&KeyRule>) -> Result<(KeyRule, KeyType), Error> {
        let column = &self.columns[chosen(&self.columns, rule)?];
        Ok((KeyRule::Field(column.path.clone()), column.of.unwrap_or(KeyType::Text)))
    }

    /// Hands out the keys of the records, or of a sample of them. Returns the bytes of all records, uncompressed, as
    /// far as is known.
    pub fn scan(
        mut self,
        rule: &KeyRule,
        sample: Sample,
        sink: &mut impl Sink,
        step: &mut Step<'_>,
    ) -> Result<u64, Error> {
        let path = self.columns[chosen(&self.columns, Some(rule))?].path.clone();
        let path: Vec<&str> = path.split('.').collect();
        let schema = std::mem::take(&mut self.schema);
        let mut reading = Reading { datum: Datum::new(&schema), path: &path, keys: Keys::new(), sink, bytes: 0 };
        let length = self.input.length();
        if sample.is_whole() {
            self.run(self.begin, length, &mut reading, step)?;
            return Ok(reading.bytes);
        }
        let piece = sample.piece(length);
        let mut covered = 0;
        for number in 0..length.div_ceil(piece) {
            let (begin, end) = (number * piece, (number + 1) * piece);
            if sample.has(number) {
                // A block belongs to the piece in which the marker before it begins.
                let from = begin.max(self.begin - 16);
                let at = self.input.find(&self.marker, from)?.filter(|marker| *marker < end);
                if let Some(marker) = at {
                    covered += self.run(marker + 16, end, &mut reading, &mut |_| true)? - (marker + 16);
                }
            }
            if !step(piece) {
                return Err(Error::Stopped);
            }
        }
        let whole = length.saturating_sub(self.begin);
        // Where no piece has a marker, its own bytes are all that is known.
        Ok(if covered == 0 { whole } else { (reading.bytes as f64 * (whole as f64 / covered as f64)) as u64 })
    }

    /// Blocks from `at` on, up to one whose marker before it begins at `end` or behind. Returns where that is.
    fn run<S: Sink>(
        &mut self,
        at: u64,
        end: u64,
        reading: &mut Reading<'_, S>,
        step: &mut Step<'_>,
    ) -> Result<u64, Error> {
        self.input.seek(at)?;
        let mut packed = Vec::new();
        while self.input.at() < self.input.length() && self.input.at() < end.saturating_add(16) {
            let before = self.input.at();
            let (count, length) = (self.input.avro_long()?, self.input.avro_long()?);
            let (Ok(count), Ok(length)) = (u64::try_from(count), u64::try_from(length)) else {
                return Err(Error::broken(before, format!("a block of {count} records in {length} bytes")));
            };
            self.input.bytes(length, &mut packed)?;
            if self.input.array()? != self.marker {
                return Err(Error::broken(before, "the marker behind a block is not the file's"));
            }
            let unpacked = match self.codec {
                None => &packed,
                Some(codec) => {
                    // A checksum of four bytes stands behind a block of Snappy.
                    let end = if codec == Codec::Snappy { packed.len().saturating_sub(4) } else { packed.len() };
                    &codec
                        .unpack(&packed[..end], MOST_BLOCK)
                        .map_err(|error| Error::broken(before, error.to_string()))?
                }
            };
            reading.block(unpacked, count, before)?;
            if !step(self.input.at() - before) {
                return Err(Error::Stopped);
            }
        }
        Ok(self.input.at())
    }
}

fn head_bytes(input: &mut Input) -> Result<Vec<u8>, Error> {
    let at = input.at();
    let length = input.avro_long()?;
    if !(0..=MOST_HEAD as i64).contains(&length) || at + length as u64 > MOST_HEAD {
        return Err(Error::broken(at, format!("an entry of {length} bytes in the head")));
    }
    let mut bytes = Vec::new();
    input.bytes(length as u64, &mut bytes)?;
    Ok(bytes)
}

/// What is done with each record.
struct Reading<'a, S> {
    datum: Datum<'a>,
    path: &'a [&'a str],
    keys: Keys,
    sink: &'a mut S,
    bytes: u64,
}

impl<S: Sink> Reading<'_, S> {
    fn block(&mut self, bytes: &[u8], count: u64, at: u64) -> Result<(), Error> {
        let mut cursor = Cursor::new(bytes);
        self.datum.begin_block(bytes.len());
        for number in 0..count {
            let before = cursor.left();
            self.keys.clear();
            self.datum.record(&mut cursor, self.path, &mut self.keys).ok_or_else(|| {
                Error::broken(at, format!("record {} of a block does not have its schema", number + 1))
            })?;
            let length = (before - cursor.left()) as u64;
            self.bytes += length;
            self.sink.keyed(&self.keys, length)?;
        }
        if cursor.left() > 0 {
            return Err(Error::broken(at, format!("{} bytes behind the last record of a block", cursor.left())));
        }
        Ok(())
    }
}
