//! Hadoop's `SequenceFile`, versions 5 and 6: records of a key and a value, plain, with compressed values, or in
//! compressed blocks.
//!
//! A marker of 16 random bytes stands before every block, or about every 100 KB before a record. A piece of a file has
//! what follows a marker that begins in it, as `SequenceFileInputFormat` cuts its splits.

use crate::cursor::{Cursor, Input};
use crate::{Codec, Error, MOST_BLOCK, Sample, Sink, Step};
use placement::{KeyRule, KeyType, Keys, Value};

/// What stands in place of a record's length before a marker.
const ESCAPE: i32 = -1;

/// A writable of Hadoop's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writable {
    Text,
    Bytes,
    Byte,
    Short,
    Int,
    Long,
    VarInt,
    VarLong,
    Float,
    Double,
    Boolean,
}

impl Writable {
    const KNOWN: &str = "Text, BytesWritable, ByteWritable, ShortWritable, IntWritable, LongWritable, VIntWritable, \
                         VLongWritable, FloatWritable, DoubleWritable, BooleanWritable";

    fn of_class(class: &str) -> Option<Self> {
        Some(match class.strip_prefix("org.apache.hadoop.io.")? {
            "Text" => Self::Text,
            "BytesWritable" => Self::Bytes,
            "ByteWritable" => Self::Byte,
            "ShortWritable" => Self::Short,
            "IntWritable" => Self::Int,
            "LongWritable" => Self::Long,
            "VIntWritable" => Self::VarInt,
            "VLongWritable" => Self::VarLong,
            "FloatWritable" => Self::Float,
            "DoubleWritable" => Self::Double,
            "BooleanWritable" => Self::Boolean,
            _ => return None,
        })
    }

    /// The type whose hash is the writable's: that of the small integers is their value, as an `IntWritable`'s.
    const fn key_type(self) -> KeyType {
        match self {
            Self::Text => KeyType::Text,
            Self::Bytes => KeyType::Bytes,
            Self::Byte | Self::Short | Self::Int | Self::VarInt => KeyType::Int,
            Self::Long | Self::VarLong => KeyType::Long,
            Self::Float => KeyType::Float,
            Self::Double => KeyType::Double,
            Self::Boolean => KeyType::Boolean,
        }
    }

    /// The value that these bytes, all of them, are.
    #[inline]
    fn value(self, bytes: &[u8]) -> Option<Value<'_>> {
        let mut cursor = Cursor::new(bytes);
        let value = match self {
            Self::Text => {
                let length = cursor.hadoop_long()?;
                Value::Text(cursor.take(usize::try_from(length).ok()?)?)
            }
            Self::Bytes => {
                let length = i32::from_be_bytes(cursor.array()?);
                Value::Bytes(cursor.take(usize::try_from(length).ok()?)?)
            }
            Self::Byte => Value::Int(i32::from(i8::from_be_bytes(cursor.array()?))),
            Self::Short => Value::Int(i32::from(i16::from_be_bytes(cursor.array()?))),
            Self::Int => Value::Int(i32::from_be_bytes(cursor.array()?)),
            Self::Long => Value::Long(i64::from_be_bytes(cursor.array()?)),
            Self::VarInt => Value::Int(i32::try_from(cursor.hadoop_long()?).ok()?),
            Self::VarLong => Value::Long(cursor.hadoop_long()?),
            Self::Float => Value::Float(f32::from_be_bytes(cursor.array()?)),
            Self::Double => Value::Double(f64::from_be_bytes(cursor.array()?)),
            Self::Boolean => Value::Boolean(cursor.array::<1>()? != [0]),
        };
        (cursor.left() == 0).then_some(value)
    }
}

/// How records stand in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Plain,
    Values(Codec),
    Blocks(Codec),
}

/// An open file.
#[derive(Debug)]
pub struct SequenceFile {
    input: Input,
    key_class: String,
    value_class: String,
    packing: Packing,
    marker: [u8; 16],
    /// The byte behind its head.
    begin: u64,
}

/// Where keys are.
#[derive(Clone, Copy)]
enum From {
    Key(Writable),
    Value(Writable),
}

impl SequenceFile {
    /// Reads the head.
    pub fn open(mut input: Input) -> Result<Self, Error> {
        let [b'S', b'E', b'Q', version] = input.array()? else {
            return Err(Error::broken(0, "a SequenceFile begins with SEQ"));
        };
        if !(5..=6).contains(&version) {
            return Err(Error::Unread(format!("it is a SequenceFile of version {version}; 5 and 6 are read")));
        }
        let (key_class, value_class) = (input.hadoop_text()?, input.hadoop_text()?);
        let [compressed, blocks] = input.array()?.map(|byte| byte != 0);
        let packing = if compressed {
            let class = input.hadoop_text()?;
            let codec = Codec::of_class(&class).ok_or_else(|| {
                Error::Unread(format!(
                    "it is a SequenceFile compressed by {class}; DefaultCodec, DeflateCodec, GzipCodec, BZip2Codec, \
                     ZStandardCodec, SnappyCodec and Lz4Codec are read"
                ))
            })?;
            if blocks { Packing::Blocks(codec) } else { Packing::Values(codec) }
        } else {
            Packing::Plain
        };
        if version >= 6 {
            let at = input.at();
            let entries = input.int()?;
            if !(0..=1 << 16).contains(&entries) {
                return Err(Error::broken(at, format!("{entries} entries of metadata")));
            }
            for _ in 0..entries {
                input.hadoop_text()?;
                input.hadoop_text()?;
            }
        }
        let marker = input.array()?;
        let begin = input.at();
        Ok(Self { input, key_class, value_class, packing, marker, begin })
    }

    /// The rule that holds for this file, and the type of its keys.
    pub fn key(&self, rule: Option<&KeyRule>) -> Result<(KeyRule, KeyType), Error> {
        let rule = rule.unwrap_or(&KeyRule::Own);
        let of = match self.from(rule)? {
            From::Key(writable) => writable.key_type(),
            From::Value(_) => KeyType::Text,
        };
        Ok((rule.clone(), of))
    }

    fn from(&self, rule: &KeyRule) -> Result<From, Error> {
        let short = |class: &str| class.rsplit('.').next().unwrap_or_default().to_owned();
        let (key, value) = (short(&self.key_class), short(&self.value_class));
        match rule {
            KeyRule::Own => Writable::of_class(&self.key_class).map(From::Key).ok_or_else(|| {
                Error::Key(format!(
                    "its keys are {key}, of which no bucket is known; those of {} are. --key column:2 and the like \
                     find keys in values that are Text, and its values are {value}",
                    Writable::KNOWN
                ))
            }),
            KeyRule::Field(name) => Err(Error::Key(format!(
                "a SequenceFile has no column `{name}`: --key key is its key ({key}), and column:2 and the like find \
                 keys in a value of Text (its values are {value})"
            ))),
            rule => match Writable::of_class(&self.value_class) {
                Some(writable @ (Writable::Text | Writable::Bytes)) => Ok(From::Value(writable)),
                _ => Err(Error::Key(format!(
                    "key {rule} is found in text, and the file's values are {value}; --key key is its key ({key})"
                ))),
            },
        }
    }

    /// Hands out the records, or a sample of them. Returns the bytes of all records, uncompressed, as far as is known.
    pub fn scan(
        mut self,
        rule: &KeyRule,
        sample: Sample,
        sink: &mut impl Sink,
        step: &mut Step<'_>,
    ) -> Result<u64, Error> {
        let mut reading = Reading { from: self.from(rule)?, keys: Keys::new(), sink, bytes: 0 };
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
                // What stands before the first marker belongs to the piece in which it begins.
                let at = if begin <= self.begin && self.begin < end {
                    Some(self.begin)
                } else {
                    // The marker's escape stands before it, where the run begins.
                    self.input.find(&self.marker, (begin + 4).max(self.begin + 4))?.map(|marker| marker - 4)
                };
                if let Some(at) = at.filter(|at| *at < end) {
                    covered += self.run(at, end, &mut reading, &mut |_| true)? - at;
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

    /// Records from a marker on up to the first marker at `end` or behind. Returns where that is.
    fn run<S: Sink>(
        &mut self,
        at: u64,
        end: u64,
        reading: &mut Reading<'_, S>,
        step: &mut Step<'_>,
    ) -> Result<u64, Error> {
        const STEP: u64 = 1 << 20;
        self.input.seek(at)?;
        let (mut key, mut value) = (Vec::new(), Vec::new());
        let mut told = at;
        while self.input.at() < self.input.length() {
            let before = self.input.at();
            if before - told >= STEP {
                if !step(before - told) {
                    return Err(Error::Stopped);
                }
                told = before;
            }
            let mut length = self.input.int()?;
            if length == ESCAPE {
                if self.input.array()? != self.marker {
                    return Err(Error::broken(before, "where a marker should be there is another"));
                }
                if before >= end {
                    return Ok(before);
                }
                if let Packing::Blocks(codec) = self.packing {
                    self.block(codec, reading)?;
                    continue;
                }
                if self.input.at() == self.input.length() {
                    break;
                }
                length = self.input.int()?;
            } else if let Packing::Blocks(_) = self.packing {
                return Err(Error::broken(before, "a block begins with a marker"));
            }
            let record = self.input.at();
            let key_length = self.input.int()?;
            if length < 0 || !(0..=length).contains(&key_length) {
                return Err(Error::broken(record, format!("a record of {length} bytes with a key of {key_length}")));
            }
            self.input.bytes(key_length as u64, &mut key)?;
            let value_length = (length - key_length) as u64;
            let packed = match self.packing {
                Packing::Values(codec) => Some(codec),
                _ => None,
            };
            if packed.is_none() && matches!(reading.from, From::Key(_)) {
                self.input.skip(value_length)?;
                reading.record(&key, &[], value_length, record)?;
                continue;
            }
            self.input.bytes(value_length, &mut value)?;
            let unpacked = match packed {
                None => &value,
                Some(codec) => &unpacked(codec, &value, record)?,
            };
            reading.record(&key, unpacked, unpacked.len() as u64, record)?;
        }
        step(self.input.at().saturating_sub(told));
        Ok(self.input.at())
    }

    /// A block: lengths of keys, keys, lengths of values, values, each compressed by itself.
    fn block<S: Sink>(&mut self, codec: Codec, reading: &mut Reading<'_, S>) -> Result<(), Error> {
        let at = self.input.at();
        let records = self.input.hadoop_length()?;
        let (key_lengths, keys) = (self.part(codec)?, self.part(codec)?);
        let value_lengths = self.part(codec)?;
        let values = match reading.from {
            From::Value(_) => self.part(codec)?,
            From::Key(_) => {
                let length = self.input.hadoop_length()?;
                self.input.skip(length)?;
                Vec::new()
            }
        };
        let (mut key_lengths, mut value_lengths) = (Cursor::new(&key_lengths), Cursor::new(&value_lengths));
        let (mut keys, mut values) = (Cursor::new(&keys), Cursor::new(&values));
        let broken = || Error::broken(at, "a block whose keys or values do not have their lengths");
        for _ in 0..records {
            let length = |lengths: &mut Cursor<'_>| usize::try_from(lengths.hadoop_long()?).ok();
            let (key, value) = length(&mut key_lengths).zip(length(&mut value_lengths)).ok_or_else(broken)?;
            let key = keys.take(key).ok_or_else(broken)?;
            let text = match reading.from {
                From::Value(_) => values.take(value).ok_or_else(broken)?,
                From::Key(_) => &[],
            };
            reading.record(key, text, value as u64, at)?;
        }
        Ok(())
    }

    fn part(&mut self, codec: Codec) -> Result<Vec<u8>, Error> {
        let at = self.input.at();
        let length = self.input.hadoop_length()?;
        let mut packed = Vec::new();
        self.input.bytes(length, &mut packed)?;
        unpacked(codec, &packed, at)
    }
}

fn unpacked(codec: Codec, packed: &[u8], at: u64) -> Result<Vec<u8>, Error> {
    // Nothing is written for nothing.
    if packed.is_empty() {
        return Ok(Vec::new());
    }
    codec.unpack(packed, MOST_BLOCK).map_err(|error| Error::broken(at, format!("what {codec:?} compressed: {error}")))
}

/// What is done with each record.
struct Reading<'a, S> {
    from: From,
    keys: Keys,
    sink: &'a mut S,
    bytes: u64,
}

impl<S: Sink> Reading<'_, S> {
    #[inline]
    fn record(&mut self, key: &[u8], value: &[u8], value_length: u64, at: u64) -> Result<(), Error> {
        // Two lengths of four bytes each stand before a record.
        let length = key.len() as u64 + value_length + 8;
        self.bytes += length;
        let broken = |what: &str| Error::broken(at, format!("a {what} that is none of its class"));
        match self.from {
            From::Key(writable) => {
                let value = writable.value(key).ok_or_else(|| broken("key"))?;
                self.keys.clear();
                self.keys.push_with(|text| value.write(text));
                self.sink.keyed(&self.keys, length)?;
            }
            From::Value(writable) => match writable.value(value) {
                Some(Value::Text(text) | Value::Bytes(text)) => self.sink.record(text, length)?,
                _ => return Err(broken("value")),
            },
        }
        Ok(())
    }
}
