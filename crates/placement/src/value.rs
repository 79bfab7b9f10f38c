//! Types of keys, and a key's text as a value of its type.

use std::fmt;
use std::io::Write as _;
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
    /// A time of day, as 22:31:08 or 22:31:08.000001.
    Time,
    /// A day and a time, as 2017-11-16T22:31:08.000001, with or without a zone (Z, -08:00).
    Timestamp,
    /// A UUID, with its dashes.
    Uuid,
    /// A decimal number, as 14.20: its unscaled value counts, so the digits behind the point are those of the column.
    Decimal,
}

impl KeyType {
    /// All, in the order of the documentation.
    pub const ALL: [Self; 12] = [
        Self::Text,
        Self::Int,
        Self::Long,
        Self::Float,
        Self::Double,
        Self::Boolean,
        Self::Bytes,
        Self::Date,
        Self::Time,
        Self::Timestamp,
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
            Self::Time => "time",
            Self::Timestamp => "timestamp",
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
            Self::Date => Value::Date(i32::try_from(days(text)?).ok()?),
            Self::Time => Value::Time(time(text)?),
            Self::Timestamp => timestamp(text)?,
            Self::Uuid => Value::Uuid(uuid(text)?),
            Self::Decimal => Value::Decimal(unscaled(text)?),
        })
    }

    /// Bytes of a key in a job's pair, where all have as many: a number travels as a number. `None` where a key has
    /// those of its text.
    #[inline]
    pub const fn fixed_bytes(self) -> Option<u64> {
        match self {
            Self::Text | Self::Bytes | Self::Decimal => None,
            Self::Boolean => Some(1),
            Self::Int | Self::Float | Self::Date => Some(4),
            Self::Long | Self::Double | Self::Time | Self::Timestamp => Some(8),
            Self::Uuid => Some(16),
        }
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
    /// Bytes as they are, without a character set.
    Bytes(&'a [u8]),
    /// Days since 1970-01-01.
    Date(i32),
    /// Nanoseconds since midnight.
    Time(i64),
    /// Time since 1970-01-01T00:00:00, in UTC where there is a zone.
    Timestamp {
        /// Whole seconds, rounded down.
        seconds: i64,
        /// The rest, below a second.
        nanos: u32,
    },
    /// Sixteen bytes.
    Uuid([u8; 16]),
    /// The unscaled value.
    Decimal(i128),
}

impl Value<'_> {
    /// A timestamp of so many units since 1970, of which a second has `a_second`.
    pub const fn timestamp(units: i64, a_second: i64) -> Self {
        let nanos = units.rem_euclid(a_second) as i128 * 1_000_000_000 / a_second as i128;
        Self::Timestamp { seconds: units.div_euclid(a_second), nanos: nanos as u32 }
    }

    /// Appends the text of which [`KeyType::value`] makes this value again. A decimal is its unscaled value: see
    /// [`write_decimal`].
    pub fn write(&self, text: &mut Vec<u8>) {
        // A vector takes all that is written.
        let _ = match *self {
            Self::Text(bytes) | Self::Bytes(bytes) => {
                text.extend_from_slice(bytes);
                Ok(())
            }
            Self::Int(value) => write!(text, "{value}"),
            Self::Long(value) => write!(text, "{value}"),
            Self::Float(value) => write!(text, "{value}"),
            Self::Double(value) => write!(text, "{value}"),
            Self::Boolean(value) => write!(text, "{value}"),
            Self::Date(days) => {
                write_day(i64::from(days), text);
                Ok(())
            }
            Self::Time(nanos) => {
                write_time(nanos, text);
                Ok(())
            }
            Self::Timestamp { seconds, nanos } => {
                write_day(seconds.div_euclid(DAY), text);
                text.push(b'T');
                write_time(seconds.rem_euclid(DAY) * 1_000_000_000 + i64::from(nanos), text);
                Ok(())
            }
            Self::Uuid(bytes) => bytes.iter().enumerate().try_for_each(|(at, byte)| {
                write!(text, "{}{byte:02x}", if matches!(at, 4 | 6 | 8 | 10) { "-" } else { "" })
            }),
            Self::Decimal(unscaled) => write!(text, "{unscaled}"),
        };
    }
}

/// Appends a decimal with so many digits behind its point.
pub fn write_decimal(unscaled: i128, scale: usize, text: &mut Vec<u8>) {
    let digits = unscaled.unsigned_abs().to_string();
    let sign = if unscaled < 0 { "-" } else { "" };
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, part) = padded.split_at(padded.len() - scale);
    let point = if scale > 0 { "." } else { "" };
    text.extend_from_slice(format!("{sign}{whole}{point}{part}").as_bytes());
}

/// Seconds of a day.
const DAY: i64 = 86_400;

/// A number's text. White space around it is none of it, as Hadoop's and Spark's own parsers of numbers have it.
fn parsed<T: FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Days since 1970-01-01 of a day of the Gregorian calendar (Hinnant, `days_from_civil`). Years have four digits or
/// more, and perhaps a sign.
fn days(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let mut parts = text.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !(4..=12).contains(&year.len())
        || month.len() != 2
        || day.len() != 2
        || ![year, month, day].into_iter().all(digits)
    {
        return None;
    }
    let (year, month, day): (i64, i64, i64) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    let year = if negative { -year } else { year };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=longest).contains(&day) {
        return None;
    }
    // Years begin in March, so that a leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, month) = (year.div_euclid(400), (month + 9) % 12);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// The day of so many days since 1970-01-01 (Hinnant, `civil_from_days`).
fn write_day(days: i64, text: &mut Vec<u8>) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let sign = if year < 0 { "-" } else { "" };
    let _ = write!(text, "{sign}{:04}-{month:02}-{day:02}", year.abs());
}

/// Nanoseconds since midnight of a time of day.
fn time(text: &[u8]) -> Option<i64> {
    let two = |at: usize| match text.get(at..at + 2)? {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => Some(i64::from(tens - b'0') * 10 + i64::from(ones - b'0')),
        _ => None,
    };
    let (hour, minute, second) = (two(0)?, two(3)?, two(6)?);
    if text[2] != b':' || text[5] != b':' || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let part = match text.get(8..)? {
        [] => 0,
        [b'.', digits @ ..] if (1..=9).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) => {
            let value = digits.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
            (digits.len()..9).fold(value, |value, _| value * 10)
        }
        _ => return None,
    };
    Some((hour * 3600 + minute * 60 + second) * 1_000_000_000 + part)
}

fn write_time(nanos: i64, text: &mut Vec<u8>) {
    let (seconds, part) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let _ = write!(text, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if part > 0 {
        let digits = format!("{part:09}");
        let _ = write!(text, ".{}", digits.trim_end_matches('0'));
    }
}

/// A day, `T` or a blank, a time, and perhaps a zone.
fn timestamp<'a>(text: &[u8]) -> Option<Value<'a>> {
    let at = text.iter().position(|byte| matches!(byte, b'T' | b' '))?;
    let (day, rest) = (days(&text[..at])?, &text[at + 1..]);
    let (clock, east) = match rest.iter().position(|byte| matches!(byte, b'Z' | b'+' | b'-')) {
        None => (rest, 0),
        Some(zone) => (&rest[..zone], seconds_east(&rest[zone..])?),
    };
    let nanos = time(clock)?;
    let seconds = day * DAY + nanos / 1_000_000_000 - east;
    Some(Value::Timestamp { seconds, nanos: (nanos % 1_000_000_000) as u32 })
}

fn seconds_east(zone: &[u8]) -> Option<i64> {
    match zone {
        b"Z" => Some(0),
        [sign, hour @ .., b':', tens, ones] if hour.len() == 2 => {
            let clock = [hour[0], hour[1], b':', *tens, *ones, b':', b'0', b'0'];
            let east = time(&clock)? / 1_000_000_000;
            Some(if *sign == b'-' { -east } else { east })
        }
        _ => None,
    }
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
