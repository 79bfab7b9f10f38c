//! From a key to its bucket, by the engine's own hash: a layout by any other would not remove the engine's exchange.

mod java;
mod murmur;
mod python;

use crate::value::{KeyType, Value};
use std::fmt;
use std::ops::Range;
use thiserror::Error;

/// Who runs the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Hadoop's MapReduce.
    MapReduce,
    /// Apache Spark: data frames and SQL, or RDDs.
    Spark,
    /// Apache Hive.
    Hive,
    /// Apache Iceberg's partition transform.
    Iceberg,
}

impl Engine {
    /// The engines in the order in which they are listed for users.
    pub const ALL: [Self; 4] = [Self::MapReduce, Self::Spark, Self::Hive, Self::Iceberg];

    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MapReduce => "mapreduce",
            Self::Spark => "spark",
            Self::Hive => "hive",
            Self::Iceberg => "iceberg",
        }
    }

    /// The hashes by which it partitions, its default first.
    pub const fn hashes(self) -> &'static [Hash] {
        match self {
            Self::MapReduce => &[Hash::HashPartitioner],
            Self::Spark => &[Hash::SparkMurmur3, Hash::SparkRdd, Hash::PySpark, Hash::PySpark310],
            Self::Hive => &[Hash::HiveV2, Hash::HiveV1],
            Self::Iceberg => &[Hash::IcebergBucket],
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A function from keys to buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// Hadoop's `HashPartitioner` over `Text`, `IntWritable`, `LongWritable`, ...
    HashPartitioner,
    /// Spark SQL's `HashPartitioning`: Murmur3 with seed 42, positive remainder. Also Spark's bucketed tables.
    SparkMurmur3,
    /// Spark's `HashPartitioner` of RDDs: Java's `hashCode`, positive remainder.
    SparkRdd,
    /// `PySpark`'s `portable_hash` with `PYTHONHASHSEED=0`, which `PySpark` demands, on Python 3.11 or later.
    PySpark,
    /// The same on a Python before 3.11, whose strings have another hash.
    PySpark310,
    /// Hive's bucketing version 1.
    HiveV1,
    /// Hive's bucketing version 2: Murmur3, since Hive 3.
    HiveV2,
    /// Iceberg's transform `bucket[N]`: Murmur3 with seed 0.
    IcebergBucket,
}

impl Hash {
    /// The hashes in the order in which they are listed for users.
    pub const ALL: [Self; 8] = [
        Self::HashPartitioner,
        Self::SparkMurmur3,
        Self::SparkRdd,
        Self::PySpark,
        Self::PySpark310,
        Self::HiveV1,
        Self::HiveV2,
        Self::IcebergBucket,
    ];

    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HashPartitioner => "hash-partitioner",
            Self::SparkMurmur3 => "murmur3",
            Self::SparkRdd => "rdd",
            Self::PySpark => "pyspark",
            Self::PySpark310 => "pyspark-3.10",
            Self::HiveV1 => "hive-v1",
            Self::HiveV2 => "hive-v2",
            Self::IcebergBucket => "bucket",
        }
    }

    /// Types of keys for which it is known here.
    pub const fn types(self) -> &'static [KeyType] {
        use KeyType::{Boolean, Bytes, Date, Decimal, Double, Float, Int, Long, Text, Time, Timestamp, Uuid};
        match self {
            Self::HashPartitioner => &[Text, Int, Long, Float, Double, Boolean, Bytes],
            Self::SparkMurmur3 => &[Text, Int, Long, Float, Double, Boolean, Bytes, Date, Timestamp],
            Self::SparkRdd => &[Text, Int, Long, Float, Double, Boolean],
            Self::PySpark | Self::PySpark310 => &[Text, Int, Long, Double, Boolean, Bytes],
            Self::HiveV1 | Self::HiveV2 => &[Text, Int, Long, Float, Double, Boolean, Date],
            Self::IcebergBucket => &[Text, Int, Long, Bytes, Date, Time, Timestamp, Uuid, Decimal],
        }
    }

    /// The hash of a value before the remainder; `None` for a type that it does not know, for a string that is not
    /// UTF-8 where its characters count, or for NaN in Python, which has a hash of chance.
    #[inline]
    pub fn of(self, value: Value<'_>) -> Option<i64> {
        let hash: i32 = match self {
            Self::HashPartitioner => hadoop(value)?,
            Self::SparkMurmur3 => spark(value)?,
            Self::SparkRdd => rdd(value)?,
            Self::PySpark => return pyspark(value, 1),
            Self::PySpark310 => return pyspark(value, 2),
            Self::HiveV1 => hive_v1(value)?,
            Self::HiveV2 => hive_v2(value)?,
            Self::IcebergBucket => iceberg(value)?,
        };
        Some(i64::from(hash))
    }

    /// The bucket of a value among so many.
    #[inline]
    pub fn bucket(self, value: Value<'_>, buckets: u32) -> Option<u32> {
        let hash = self.of(value)?;
        Some(match self {
            // `(hash & Integer.MAX_VALUE) % buckets`, in Hadoop, Hive and Iceberg.
            Self::HashPartitioner | Self::HiveV1 | Self::HiveV2 | Self::IcebergBucket => {
                (hash as u32 & i32::MAX as u32) % buckets
            }
            // The remainder that is not negative.
            Self::SparkMurmur3 | Self::SparkRdd | Self::PySpark | Self::PySpark310 => {
                hash.rem_euclid(i64::from(buckets)) as u32
            }
        })
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Hash, key type and number of buckets that fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucketing {
    hash: Hash,
    of: KeyType,
    buckets: u32,
}

/// A hash that is not the engine's, or that does not know the type.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BucketingError {
    /// Another engine's.
    #[error("{engine} does not partition by {hash}, so its exchange would stay; it has: {known}")]
    NotOfEngine {
        /// The engine.
        engine: Engine,
        /// The hash.
        hash: Hash,
        /// Those that it has.
        known: String,
    },
    /// No bucket for such keys.
    #[error("{hash} has no bucket for keys of type {of}; it has: {known}")]
    Type {
        /// The hash.
        hash: Hash,
        /// The type.
        of: KeyType,
        /// The types that it has.
        known: String,
    },
}

impl Bucketing {
    /// An engine's buckets of keys of a type, by a hash of its own or by its default.
    ///
    /// # Errors
    ///
    /// If the hash is not the engine's, or does not know the type.
    pub fn new(engine: Engine, hash: Option<Hash>, of: KeyType, buckets: u32) -> Result<Self, BucketingError> {
        let hash = hash.unwrap_or(engine.hashes()[0]);
        if !engine.hashes().contains(&hash) {
            let known = list(engine.hashes().iter().map(|hash| hash.name()));
            return Err(BucketingError::NotOfEngine { engine, hash, known });
        }
        if !hash.types().contains(&of) {
            return Err(BucketingError::Type { hash, of, known: list(hash.types().iter().map(|known| known.name())) });
        }
        Ok(Self { hash, of, buckets: buckets.max(1) })
    }

    /// The hash.
    pub const fn hash(&self) -> Hash {
        self.hash
    }

    /// The type of the keys.
    pub const fn key_type(&self) -> KeyType {
        self.of
    }

    /// How many buckets there are.
    pub const fn buckets(&self) -> u32 {
        self.buckets
    }

    /// The same with another number of buckets.
    pub const fn with_buckets(self, buckets: u32) -> Self {
        Self { buckets: if buckets == 0 { 1 } else { buckets }, ..self }
    }

    /// The bucket of a key's text; `None` if the text is no value of the type.
    #[inline]
    pub fn bucket(&self, key: &[u8]) -> Option<u32> {
        self.hash.bucket(self.of.value(key)?, self.buckets)
    }

    /// The bucket of the key `text[begin..end]`.
    #[inline]
    pub(crate) fn bucket_of_part(self, text: &[u8], key: Range<usize>) -> Option<u32> {
        match (self.hash, self.of) {
            (Hash::HashPartitioner, KeyType::Text) => {
                let hash = (java::of_part(text, key.start, key.end, 1) & i32::MAX) as u32;
                // A division takes as long as the hash.
                Some(if self.buckets.is_power_of_two() { hash & (self.buckets - 1) } else { hash % self.buckets })
            }
            _ => self.bucket(text.get(key).unwrap_or_default()),
        }
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// `hashCode` of Hadoop's writables: those of 64 bits keep their lower half.
#[inline]
fn hadoop(value: Value<'_>) -> Option<i32> {
    Some(match value {
        Value::Text(bytes) | Value::Bytes(bytes) => java::of_bytes(bytes, 1),
        Value::Int(value) => value,
        Value::Long(value) => value as i32,
        Value::Float(value) => java::float_bits(value),
        Value::Double(value) => java::double_bits(value) as i32,
        Value::Boolean(value) => i32::from(!value),
        _ => return None,
    })
}

/// Spark's `Murmur3Hash`: seed 42; zeros have no sign.
#[inline]
fn spark(value: Value<'_>) -> Option<i32> {
    const SEED: u32 = 42;
    let int = |value: i32| murmur::of_spark(&value.to_le_bytes(), SEED);
    let long = |value: i64| murmur::of_spark(&value.to_le_bytes(), SEED);
    Some(match value {
        Value::Text(bytes) | Value::Bytes(bytes) => murmur::of_spark(bytes, SEED),
        Value::Int(value) | Value::Date(value) => int(value),
        Value::Long(value) => long(value),
        Value::Float(value) => int(if value == 0.0 { 0 } else { java::float_bits(value) }),
        Value::Double(value) => long(if value == 0.0 { 0 } else { java::double_bits(value) }),
        Value::Boolean(value) => int(i32::from(value)),
        Value::Timestamp { seconds, nanos } => long(micros(seconds, nanos)),
        _ => return None,
    })
}

/// Java's `hashCode` of boxed values.
fn rdd(value: Value<'_>) -> Option<i32> {
    Some(match value {
        Value::Text(bytes) => java::of_string(bytes)?,
        Value::Int(value) => value,
        Value::Long(value) => java::of_long(value),
        Value::Float(value) => java::float_bits(value),
        Value::Double(value) => java::of_long(java::double_bits(value)),
        Value::Boolean(value) => {
            if value {
                1231
            } else {
                1237
            }
        }
        _ => return None,
    })
}

/// Microseconds, as Spark and Iceberg keep a timestamp: what is less is cut off.
const fn micros(seconds: i64, nanos: u32) -> i64 {
    seconds.wrapping_mul(1_000_000).wrapping_add(nanos as i64 / 1000)
}

fn pyspark(value: Value<'_>, compressions: u32) -> Option<i64> {
    match value {
        Value::Text(bytes) => python::text(bytes, compressions),
        Value::Bytes(bytes) => Some(python::of_bytes(bytes, compressions)),
        Value::Int(value) => Some(python::int(i64::from(value))),
        Value::Long(value) => Some(python::int(value)),
        Value::Double(value) => python::float(value),
        Value::Boolean(value) => Some(i64::from(value)),
        _ => None,
    }
}

/// `ObjectInspectorUtils.getBucketHashCodeOld` of one column. A string's is Java's sum over its bytes.
#[inline]
fn hive_v1(value: Value<'_>) -> Option<i32> {
    Some(match value {
        Value::Text(bytes) => java::of_bytes(bytes, 0),
        Value::Int(value) | Value::Date(value) => value,
        Value::Long(value) => java::of_long(value),
        Value::Float(value) => java::float_bits(value),
        Value::Double(value) => java::of_long(java::double_bits(value)),
        Value::Boolean(value) => i32::from(value),
        _ => return None,
    })
}

/// `ObjectInspectorUtils.getBucketHashCode` of one column: Murmur3 over the value's bytes, the highest first.
/// Of a fraction these are the bytes of the number that its bits are as an integer (`putFloat(floatToIntBits(value))`).
#[inline]
fn hive_v2(value: Value<'_>) -> Option<i32> {
    /// `Murmur3.DEFAULT_SEED`.
    const SEED: u32 = 104_729;
    let int = |value: i32| murmur::of_hive(&value.to_be_bytes(), SEED);
    let long = |value: i64| murmur::of_hive(&value.to_be_bytes(), SEED);
    Some(match value {
        Value::Text(bytes) => murmur::of_hive(bytes, SEED),
        Value::Int(value) | Value::Date(value) => int(value),
        Value::Long(value) => long(value),
        Value::Float(value) => murmur::of_hive(&(java::float_bits(value) as f32).to_be_bytes(), SEED),
        Value::Double(value) => murmur::of_hive(&(java::double_bits(value) as f64).to_be_bytes(), SEED),
        Value::Boolean(value) => i32::from(value),
        _ => return None,
    })
}

/// Iceberg's table specification, appendix B: integers, days, times and timestamps as 64 bits, the lowest byte first;
/// decimals as the fewest bytes of two's complement, the highest first.
#[inline]
fn iceberg(value: Value<'_>) -> Option<i32> {
    let long = |value: i64| murmur::standard(&value.to_le_bytes(), 0);
    Some(match value {
        Value::Text(bytes) | Value::Bytes(bytes) => murmur::standard(bytes, 0),
        Value::Int(value) | Value::Date(value) => long(i64::from(value)),
        Value::Long(value) => long(value),
        Value::Time(nanos) => long(nanos / 1000),
        Value::Timestamp { seconds, nanos } => long(micros(seconds, nanos)),
        Value::Uuid(bytes) => murmur::standard(&bytes, 0),
        Value::Decimal(unscaled) => {
            let bytes = unscaled.to_be_bytes();
            // A leading byte says nothing if it repeats the sign of the next one.
            let needless =
                bytes.windows(2).take_while(|pair| pair[0] == if pair[1] & 0x80 == 0 { 0 } else { 0xff }).count();
            murmur::standard(&bytes[needless..], 0)
        }
        Value::Float(_) | Value::Double(_) | Value::Boolean(_) => return None,
    })
}

/// CPython's `hash(str)` with `PYTHONHASHSEED=0`, of Python 3.11 or later; `None` where the bytes are not UTF-8.
pub fn python_hash_of_text(bytes: &[u8]) -> Option<i64> {
    python::text(bytes, 1)
}
