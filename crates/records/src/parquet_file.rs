//! One column of a Parquet file. The library decodes pages; their compression is undone here, by the codecs that the
//! other formats have too.

use crate::columns::{Column, chosen};
use crate::{Codec, Error, MOST_BLOCK, Sample, Sink, Step};
use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;
use placement::{KeyRule, KeyType, Keys, Value, write_decimal};
use std::cell::Cell;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Rows that are decoded at once.
const AT_ONCE: usize = 4096;

/// An open file.
#[derive(Debug)]
pub struct ParquetFile {
    file: Arc<Bounded>,
    metadata: ParquetMetaData,
    columns: Vec<Column>,
}

/// A file of which nothing is read, nor room made for, that it does not have.
#[derive(Debug)]
struct Bounded {
    file: File,
    length: u64,
}

impl Length for Bounded {
    fn len(&self) -> u64 {
        self.length
    }
}

impl Bounded {
    fn at(&self, start: u64) -> parquet::errors::Result<File> {
        if start > self.length {
            return Err(ParquetError::EOF(format!("byte {start} of a file of {} bytes", self.length)));
        }
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(file)
    }
}

impl ChunkReader for Bounded {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(BufReader::new(self.at(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let file = self.at(start)?;
        if length as u64 > self.length - start || length > MOST_BLOCK {
            let (left, length) = (self.length - start, length as u64);
            return Err(ParquetError::EOF(format!("{length} bytes at byte {start}, behind which there are {left}")));
        }
        let mut bytes = Vec::with_capacity(length);
        file.take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() < length {
            return Err(ParquetError::EOF(format!("{length} bytes at byte {start}")));
        }
        Ok(bytes.into())
    }
}

thread_local! {
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is in a library that panics where a file is broken, which becomes an error: who has a
/// panic hook has nothing to say of it.
pub fn in_foreign_decoder() -> bool {
    WITHIN.get()
}

/// The library has not been written for files that are broken on purpose: where it panics, the file is broken.
fn guarded<T>(what: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    WITHIN.set(true);
    let done = catch_unwind(AssertUnwindSafe(what));
    WITHIN.set(false);
    done.unwrap_or_else(|_| Err(Error::broken(0, "its parts contradict each other")))
}

fn broken(error: &ParquetError) -> Error {
    Error::broken(0, error.to_string())
}

impl ParquetFile {
    /// Reads the foot.
    pub fn open(file: File, length: u64) -> Result<Self, Error> {
        let file = Bounded { file, length };
        let metadata =
            guarded(|| ParquetMetaDataReader::new().parse_and_finish(&file).map_err(|error| broken(&error)))?;
        let schema = metadata.file_metadata().schema_descr();
        let columns =
            schema.columns().iter().map(|column| Column { path: column.path().string(), of: key_type(column) });
        let columns = columns.collect();
        Ok(Self { file: Arc::new(file), metadata, columns })
    }

    /// The rule that holds for this file, and the type of its keys.
    pub fn key(&self, rule: Option<&KeyRule>) -> Result<(KeyRule, KeyType), Error> {
        let column = &self.columns[chosen(&self.columns, rule)?];
        Ok((KeyRule::Field(column.path.clone()), column.of.unwrap_or(KeyType::Text)))
    }

    /// Hands out the keys of the records, or of whole row groups. Returns the bytes of all records: those of their
    /// columns, encoded, not compressed.
    pub fn scan(
        &self,
        rule: &KeyRule,
        sample: Sample,
        sink: &mut impl Sink,
        step: &mut Step<'_>,
    ) -> Result<u64, Error> {
        let column = chosen(&self.columns, Some(rule))?;
        let groups = self.metadata.row_groups();
        let chosen = if sample.is_whole() { (0..groups.len()).collect() } else { sample.of(groups.len()) };
        let whole: u64 = groups.iter().map(bytes_of).sum();
        let step_of_group = self.file.length / (chosen.len().max(1) as u64);
        for number in chosen {
            guarded(|| self.group(&groups[number], column, sink))?;
            if !step(step_of_group) {
                return Err(Error::Stopped);
            }
        }
        Ok(whole)
    }

    fn group(&self, group: &RowGroupMetaData, column: usize, sink: &mut impl Sink) -> Result<(), Error> {
        let chunk = group.columns().get(column).ok_or_else(|| Error::broken(0, "a row group lacks a column"))?;
        let rows = group.num_rows();
        if rows < 0 || chunk.compressed_size() < 0 || chunk.data_page_offset() < 0 || chunk.num_values() < 0 {
            return Err(Error::broken(0, "a row group of less than nothing"));
        }
        if chunk.dictionary_page_offset().is_some_and(|offset| offset < 0) {
            return Err(Error::broken(0, "a dictionary before the file's first byte"));
        }
        let descriptor = chunk.column_descr_ptr();
        let pages = Pages::new(&self.file, chunk, rows as usize)?;
        let mut rows = Rows {
            sink,
            keys: Keys::new(),
            count: rows as u64,
            bytes: bytes_of(group),
            done: 0,
            begun: false,
            levels: [descriptor.max_def_level(), descriptor.max_rep_level()],
        };
        let kind = kind_of(&descriptor).ok_or_else(|| Error::broken(0, "a row group has another schema"))?;
        match get_column_reader(descriptor, Box::new(pages)) {
            ColumnReader::BoolColumnReader(reader) => rows.read(reader, |value, keys| {
                put(keys, &Value::Boolean(*value));
                Some(())
            }),
            ColumnReader::Int32ColumnReader(reader) => {
                rows.read(reader, |value, keys| integer(i64::from(*value), kind, keys))
            }
            ColumnReader::Int64ColumnReader(reader) => rows.read(reader, |value, keys| integer(*value, kind, keys)),
            ColumnReader::Int96ColumnReader(reader) => rows.read(reader, |value, keys| {
                let [low, high, day] = value.data() else { return None };
                let nanos = i64::try_from(u64::from(*high) << 32 | u64::from(*low)).ok()?;
                // The Julian day of 1970-01-01.
                let seconds = (i64::from(*day) - 2_440_588) * 86_400 + nanos / 1_000_000_000;
                put(keys, &Value::Timestamp { seconds, nanos: (nanos % 1_000_000_000) as u32 });
                Some(())
            }),
            ColumnReader::FloatColumnReader(reader) => rows.read(reader, |value, keys| {
                put(keys, &Value::Float(*value));
                Some(())
            }),
            ColumnReader::DoubleColumnReader(reader) => rows.read(reader, |value, keys| {
                put(keys, &Value::Double(*value));
                Some(())
            }),
            ColumnReader::ByteArrayColumnReader(reader) => {
                rows.read(reader, |value, keys| bytes(value.data(), kind, keys))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                rows.read(reader, |value, keys| bytes(value.data(), kind, keys))
            }
        }
    }
}

fn bytes_of(group: &RowGroupMetaData) -> u64 {
    u64::try_from(group.total_byte_size()).unwrap_or(0)
}

/// What a column's values stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Boolean,
    Int,
    Long,
    /// Of 32 bits without a sign, which engines read as a long.
    Unsigned,
    Float,
    Double,
    Text,
    Bytes,
    Uuid,
    Decimal(usize),
    Date,
    /// So many a second.
    Time(i64),
    /// So many a second.
    Timestamp(i64),
}

fn key_type(column: &ColumnDescriptor) -> Option<KeyType> {
    Some(match kind_of(column)? {
        Kind::Boolean => KeyType::Boolean,
        Kind::Int => KeyType::Int,
        Kind::Long | Kind::Unsigned => KeyType::Long,
        Kind::Float => KeyType::Float,
        Kind::Double => KeyType::Double,
        Kind::Text => KeyType::Text,
        Kind::Bytes => KeyType::Bytes,
        Kind::Uuid => KeyType::Uuid,
        Kind::Decimal(_) => KeyType::Decimal,
        Kind::Date => KeyType::Date,
        Kind::Time(_) => KeyType::Time,
        Kind::Timestamp(_) => KeyType::Timestamp,
    })
}

/// By the logical type, else by the older converted type; `None` for values that are no keys.
fn kind_of(column: &ColumnDescriptor) -> Option<Kind> {
    let a_second = |unit: &TimeUnit| match unit {
        TimeUnit::MILLIS => 1000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    };
    let scale = |scale: i32| usize::try_from(scale).ok().filter(|scale| *scale <= 38).map(Kind::Decimal);
    let physical = column.physical_type();
    let plain = match physical {
        Physical::BOOLEAN => Kind::Boolean,
        Physical::INT32 => Kind::Int,
        Physical::INT64 => Kind::Long,
        Physical::INT96 => Kind::Timestamp(0),
        Physical::FLOAT => Kind::Float,
        Physical::DOUBLE => Kind::Double,
        Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY => Kind::Bytes,
    };
    match column.logical_type_ref() {
        Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) => Some(Kind::Text),
        Some(LogicalType::Decimal(decimal)) => scale(decimal.scale),
        Some(LogicalType::Date) => Some(Kind::Date),
        Some(LogicalType::Time(time)) => Some(Kind::Time(a_second(&time.unit))),
        Some(LogicalType::Timestamp(timestamp)) => Some(Kind::Timestamp(a_second(&timestamp.unit))),
        Some(LogicalType::Integer(integer)) if integer.is_signed => Some(plain),
        Some(LogicalType::Integer(integer)) => unsigned(integer.bit_width > 32, physical),
        Some(LogicalType::Uuid) => Some(Kind::Uuid),
        Some(_) => None,
        None => match column.converted_type() {
            ConvertedType::NONE
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64 => Some(plain),
            ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON => Some(Kind::Text),
            ConvertedType::DECIMAL => scale(column.type_scale()),
            ConvertedType::DATE => Some(Kind::Date),
            ConvertedType::TIME_MILLIS => Some(Kind::Time(1000)),
            ConvertedType::TIME_MICROS => Some(Kind::Time(1_000_000)),
            ConvertedType::TIMESTAMP_MILLIS => Some(Kind::Timestamp(1000)),
            ConvertedType::TIMESTAMP_MICROS => Some(Kind::Timestamp(1_000_000)),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 => unsigned(false, physical),
            _ => None,
        },
    }
}

/// Spark reads 64 bits without a sign as a decimal of 20 digits, of whose hash nothing is known here.
fn unsigned(wide: bool, physical: Physical) -> Option<Kind> {
    (!wide && physical == Physical::INT32).then_some(Kind::Unsigned)
}

fn put(keys: &mut Keys, value: &Value<'_>) {
    keys.push_with(|text| value.write(text));
}

fn integer(value: i64, kind: Kind, keys: &mut Keys) -> Option<()> {
    let value = match kind {
        Kind::Int => Value::Int(value as i32),
        Kind::Unsigned => Value::Long(i64::from(value as u32)),
        Kind::Date => Value::Date(i32::try_from(value).ok()?),
        Kind::Time(a_second) if (0..86_400 * a_second).contains(&value) => {
            Value::Time(value * (1_000_000_000 / a_second))
        }
        Kind::Timestamp(a_second) => Value::timestamp(value, a_second.max(1)),
        Kind::Decimal(scale) => {
            keys.push_with(|text| write_decimal(i128::from(value), scale, text));
            return Some(());
        }
        Kind::Long => Value::Long(value),
        _ => return None,
    };
    put(keys, &value);
    Some(())
}

fn bytes(value: &[u8], kind: Kind, keys: &mut Keys) -> Option<()> {
    match kind {
        Kind::Decimal(scale) => {
            let value = unscaled(value)?;
            keys.push_with(|text| write_decimal(value, scale, text));
        }
        Kind::Uuid => put(keys, &Value::Uuid(value.try_into().ok()?)),
        Kind::Text | Kind::Bytes => keys.push(value),
        _ => return None,
    }
    Some(())
}

/// A number in two's complement, the highest byte first.
pub fn unscaled(bytes: &[u8]) -> Option<i128> {
    if bytes.len() > 16 {
        return None;
    }
    let sign = bytes.first().is_some_and(|first| first & 0x80 != 0);
    Some(bytes.iter().fold(if sign { -1 } else { 0 }, |value, byte| value << 8 | i128::from(*byte)))
}

/// Puts a column's values together to records.
struct Rows<'a, S> {
    sink: &'a mut S,
    keys: Keys,
    /// Of the row group.
    count: u64,
    /// Of all its columns.
    bytes: u64,
    done: u64,
    begun: bool,
    /// The highest levels of definition and of repetition.
    levels: [i16; 2],
}

impl<S: Sink> Rows<'_, S> {
    fn read<T: DataType>(
        &mut self,
        mut reader: ColumnReaderImpl<T>,
        mut key: impl FnMut(&T::T, &mut Keys) -> Option<()>,
    ) -> Result<(), Error> {
        let [most_defined, most_repeated] = self.levels;
        let (mut defined, mut repeated, mut values) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            defined.clear();
            repeated.clear();
            values.clear();
            let levels = (most_defined > 0).then_some(&mut defined);
            let (records, _, count) = reader
                .read_records(AT_ONCE, levels, (most_repeated > 0).then_some(&mut repeated), &mut values)
                .map_err(|error| broken(&error))?;
            if records == 0 && count == 0 {
                break;
            }
            let mut values = values.iter();
            for place in 0..count {
                if most_repeated == 0 || repeated.get(place) == Some(&0) {
                    self.next()?;
                }
                if most_defined > 0 && defined.get(place) != Some(&most_defined) {
                    continue;
                }
                let value = values.next().ok_or_else(|| Error::broken(0, "a page has fewer values than levels"))?;
                key(value, &mut self.keys)
                    .ok_or_else(|| Error::broken(0, "a value that is none of its column's type"))?;
            }
        }
        self.next()?;
        if self.done < self.count {
            return Err(Error::broken(0, format!("{} rows of a row group of {}", self.done, self.count)));
        }
        Ok(())
    }

    /// A record begins: hands out the one before.
    fn next(&mut self) -> Result<(), Error> {
        if self.begun {
            if self.done == self.count {
                return Err(Error::broken(0, format!("more rows than the {} of a row group", self.count)));
            }
            // The bytes of the group, spread over its rows.
            let until = |row: u64| (u128::from(self.bytes) * u128::from(row) / u128::from(self.count)) as u64;
            self.sink.keyed(&self.keys, until(self.done + 1) - until(self.done))?;
            self.keys.clear();
            self.done += 1;
        }
        self.begun = true;
        Ok(())
    }
}

/// The pages of a column, uncompressed.
struct Pages {
    inner: SerializedPageReader<Bounded>,
    codec: Option<Codec>,
    /// LZ4 as some writers framed it, and others did not.
    any_lz4: bool,
}

impl Pages {
    fn new(file: &Arc<Bounded>, chunk: &ColumnChunkMetaData, rows: usize) -> Result<Self, Error> {
        let (codec, any_lz4) = match chunk.compression() {
            Compression::UNCOMPRESSED => (None, false),
            Compression::SNAPPY => (Some(Codec::Snappy), false),
            Compression::GZIP(_) => (Some(Codec::Gzip), false),
            Compression::ZSTD(_) => (Some(Codec::Zstandard), false),
            Compression::LZ4_RAW => (Some(Codec::Lz4), false),
            Compression::LZ4 => (Some(Codec::HadoopLz4), true),
            other => {
                return Err(Error::Unread(format!(
                    "its column is compressed by {other}; SNAPPY, GZIP, ZSTD, LZ4 and LZ4_RAW are read"
                )));
            }
        };
        // Said to be uncompressed, pages come as they stand in the file.
        let chunk = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build();
        let chunk = chunk.map_err(|error| broken(&error))?;
        let inner = SerializedPageReader::new(Arc::clone(file), &chunk, rows, None).map_err(|error| broken(&error))?;
        Ok(Self { inner, codec, any_lz4 })
    }

    fn unpacked(&self, packed: &Bytes, codec: Codec) -> parquet::errors::Result<Bytes> {
        let tried = codec.unpack(packed, MOST_BLOCK);
        let unpacked = match tried {
            Err(_) if self.any_lz4 => Codec::Lz4.unpack(packed, MOST_BLOCK),
            tried => tried,
        };
        unpacked.map(Bytes::from).map_err(|error| ParquetError::General(format!("a page of {codec:?}: {error}")))
    }
}

impl Iterator for Pages {
    type Item = parquet::errors::Result<Page>;
    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> parquet::errors::Result<Option<Page>> {
        let (mut page, codec) = match (self.inner.get_next_page()?, self.codec) {
            (Some(page), Some(codec)) => (page, codec),
            (page, _) => return Ok(page),
        };
        match &mut page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => *buf = self.unpacked(buf, codec)?,
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, is_compressed, .. } => {
                // Levels stand before the values, and are never compressed.
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                let values = buf.get(levels..).ok_or_else(|| ParquetError::EOF("a page's levels".to_owned()))?;
                if *is_compressed && !values.is_empty() {
                    let values = self.unpacked(&buf.slice(levels..), codec)?;
                    *buf = [&buf[..levels], &values].concat().into();
                }
                *is_compressed = false;
            }
        }
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> parquet::errors::Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> parquet::errors::Result<()> {
        self.inner.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> parquet::errors::Result<bool> {
        self.inner.at_record_boundary()
    }
}
