//! Types of keys, and a key's text as a value of its type.

use std::fmt;
use std::str::FromStr;

/// The type that a key has in the engine. The engine's hash of a number is not that of its digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyType {
    /// A string: `Text`, `StringType`, `string`.
    Text,
    /// A signed integer of 32 bits.
    Int,
    /// A signed integer of 64 bits.
    Long,
    /// A number of 32 bits by IEEE 754.
    Float,
    /// A number of 64 bits by IEEE 754.
    Double,
    /// `true` or `false`.
    Boolean,
    /// Bytes, as they stand.
    Bytes,
    /// A day, as 2017-11-16.
    Date,
    /// A UUID, with its dashes.
    Uuid,
    /// A decimal number, as 14.20: its unscaled value counts, so the digits behind the point are those of the column.
    Decimal,
}

impl KeyType {
    /// All, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Text,
        Self::Int,
        Self::Long,
        Self::Float,
        Self::Double,
        Self::Boolean,
        Self::Bytes,
        Self::Date,
        Self::Uuid,
        Self::Decimal,
    ];

    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Int => "int",
            Self::Long => "long",
            Self::Float => "float",
            Self::Double => "double",
            Self::Boolean => "boolean",
            Self::Bytes => "bytes",
            Self::Date => "date",
            Self::Uuid => "uuid",
            Self::Decimal => "decimal",
        }
    }

    /// The value that a key's text stands for; `None` if it is no value of the type.
    #[inline]
    pub fn value(self, text: &[u8]) -> Option<Value<'_>> {
        Some(match self {
            Self::Text => Value::Text(text),
            Self::Bytes => Value::Bytes(text),
            Self::Int => Value::Int(parsed(text)?),
            Self::Long => Value::Long(parsed(text)?),
            Self::Float => Value::Float(parsed(text)?),
            Self::Double => Value::Double(parsed(text)?),
            Self::Boolean => match text {
                b"true" => Value::Boolean(true),
                b"false" => Value::Boolean(false),
                _ => return None,
            },
            Self::Date => Value::Date(days(text)?),
            Self::Uuid => Value::Uuid(uuid(text)?),
            Self::Decimal => Value::Decimal(unscaled(text)?),
        })
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A key as a value of its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A string, in UTF-8.
    Text(&'a [u8]),
    /// 32 bits.
    Int(i32),
    /// 64 bits.
    Long(i64),
    /// 32 bits.
    Float(f32),
    /// 64 bits.
    Double(f64),
    /// A truth value.
    Boolean(bool),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Days since 1970-01-01.
    Date(i32),
    /// Sixteen bytes.
    Uuid([u8; 16]),
    /// The unscaled value.
    Decimal(i128),
}

/// A number's text. White space around it is none of it, as Hadoop's and Spark's own parsers of numbers have it.
fn parsed<T: FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Days since 1970-01-01 of a day of the Gregorian calendar (Hinnant, `days_from_civil`).
fn days(text: &[u8]) -> Option<i32> {
    let text = std::str::from_utf8(text).ok()?;
    let mut parts = text.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if year.len() != 4 || month.len() != 2 || day.len() != 2 {
        return None;
    }
    let (year, month, day): (i32, i32, i32) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + i32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if year < 0 || !(1..=longest).contains(&day) {
        return None;
    }
    // Years begin in March, so that a leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, month) = (year.div_euclid(400), (month + 9) % 12);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    if text.len() != 36 || [8, 13, 18, 23].iter().any(|at| text[*at] != b'-') {
        return None;
    }
    let mut digits = text.iter().filter(|byte| **byte != b'-').map(|byte| (*byte as char).to_digit(16));
    let mut value = [0; 16];
    for byte in &mut value {
        *byte = (digits.next()?? << 4 | digits.next()??) as u8;
    }
    digits.next().is_none().then_some(value)
}

/// A decimal's digits without the point.
fn unscaled(text: &[u8]) -> Option<i128> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let points = memchr::memchr_iter(b'.', digits).count();
    let numerals = digits.len() - points;
    // Decimals have at most 38 digits, in Hive, Spark and Iceberg alike.
    if points > 1 || numerals == 0 || numerals > 38 {
        return None;
    }
    let mut value: i128 = 0;
    for byte in digits.iter().filter(|byte| **byte != b'.') {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i128::from(byte - b'0');
    }
    Some(if negative { -value } else { value })
}
