//! Reading quantities as people write them: `"64 MB"`, `"10 Mbit/s"`, `"25 us"`.

use crate::{BitRate, Bytes, Distance, Energy, Frequency, Power, Speed, Time};
use std::fmt;
use std::str::FromStr;

/// Why a text is not a quantity; its message says what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ParseError {}

/// How one kind of quantity is written: its noun and its units.
pub struct Scale {
    /// The noun of messages: "duration", "size", "rate".
    pub noun: &'static str,
    /// A value as people write it.
    pub example: &'static str,
    /// Unit names and the base units that one of each makes.
    pub units: &'static [(&'static str, u64)],
    /// So many of them, from the first, are also written.
    pub written: usize,
    /// The unit that zero is written in: the plain one, as people do.
    pub zero: &'static str,
}

/// A number with a unit.
pub trait Quantity: FromStr<Err = ParseError> + fmt::Display + Copy + PartialOrd {
    /// The units it is written in.
    const SCALE: Scale;
    /// The value in the base unit.
    fn base(self) -> u64;
    /// Writes the value without rounding, in the largest unit that leaves a whole number, so that it reads back as the
    /// same value.
    fn exact(self) -> String {
        let [text] = exact(&Self::SCALE, [self.base()]);
        text
    }
    /// Both ends of a range without rounding, in the largest unit that leaves whole numbers of both.
    fn exact_ends(self, end: Self) -> [String; 2]
    where
        Self: Sized,
    {
        exact(&Self::SCALE, [self.base(), end.base()])
    }
}

/// Values in one unit: the largest that leaves a whole number of each.
fn exact<const N: usize>(scale: &Scale, values: [u64; N]) -> [String; N] {
    let fits =
        |factor: u64| values.iter().all(|value| value.is_multiple_of(factor)) && values.iter().any(|value| *value > 0);
    let largest = scale.units[..scale.written].iter().filter(|(_, factor)| fits(*factor)).max_by_key(|unit| unit.1);
    let (name, factor) = largest.copied().unwrap_or((scale.zero, 1));
    values.map(|value| format!("{} {name}", value / factor))
}

/// Reads and writes a quantity on a scale whose base unit is what `from` takes and `to` gives.
macro_rules! on_scale {
    ($($t:ident $scale:ident $from:ident $to:ident;)*) => {$(
        impl Quantity for $t {
            const SCALE: Scale = $scale;
            fn base(self) -> u64 {
                self.$to()
            }
        }
        impl FromStr for $t {
            type Err = ParseError;
            fn from_str(text: &str) -> Result<Self, ParseError> {
                $scale.parse(text).map(Self::$from)
            }
        }
    )*};
}

on_scale! {
    Time TIME from_ps as_ps;
    Bytes BYTES new get;
    BitRate RATE from_bps as_bps;
    Distance DISTANCE from_um as_um;
    Speed SPEED from_um_per_s as_um_per_s;
    Frequency FREQUENCY from_hz as_hz;
    Power POWER from_nw as_nw;
    Energy ENERGY from_nj as_nj;
}

const TIME: Scale = Scale {
    noun: "duration",
    example: "25 us",
    units: &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
        ("min", 60_000_000_000_000),
        ("h", 3_600_000_000_000_000),
        ("d", 86_400_000_000_000_000),
    ],
    written: 8,
    zero: "s",
};

const BYTES: Scale = Scale {
    noun: "size",
    example: "64 MB",
    units: &[
        ("B", 1),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
    ],
    written: 9,
    zero: "B",
};

const RATE: Scale = Scale {
    noun: "rate",
    example: "10 Mbit/s",
    units: &[
        ("bit/s", 1),
        ("Kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("B/s", 8),
        ("KB/s", 8_000),
        ("MB/s", 8_000_000),
        ("GB/s", 8_000_000_000),
    ],
    written: 4,
    zero: "bit/s",
};

const DISTANCE: Scale = Scale {
    noun: "distance",
    example: "100 m",
    units: &[("um", 1), ("mm", 1_000), ("cm", 10_000), ("m", 1_000_000), ("km", 1_000_000_000)],
    written: 5,
    zero: "m",
};

const SPEED: Scale = Scale {
    noun: "speed",
    example: "1.5 m/s",
    units: &[("um/s", 1), ("mm/s", 1_000), ("m/s", 1_000_000), ("km/s", 1_000_000_000)],
    written: 4,
    zero: "m/s",
};

const FREQUENCY: Scale = Scale {
    noun: "frequency",
    example: "2437 MHz",
    units: &[("Hz", 1), ("kHz", 1_000), ("MHz", 1_000_000), ("GHz", 1_000_000_000)],
    written: 4,
    zero: "Hz",
};

const POWER: Scale = Scale {
    noun: "power",
    example: "7.97 W",
    units: &[("nW", 1), ("uW", 1_000), ("mW", 1_000_000), ("W", 1_000_000_000), ("kW", 1_000_000_000_000)],
    written: 5,
    zero: "W",
};

const ENERGY: Scale = Scale {
    noun: "energy",
    example: "16 Wh",
    units: &[
        ("nJ", 1),
        ("uJ", 1_000),
        ("mJ", 1_000_000),
        ("J", 1_000_000_000),
        ("kJ", 1_000_000_000_000),
        ("mWh", 3_600_000_000),
        ("Wh", 3_600_000_000_000),
        ("kWh", 3_600_000_000_000_000),
    ],
    written: 5,
    zero: "J",
};

impl Scale {
    fn parse(&self, text: &str) -> Result<u64, ParseError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(self.error("it is empty"));
        }
        let split = trimmed
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '-' | '+')))
            .unwrap_or(trimmed.len());
        let (number, unit) = (trimmed[..split].replace('_', ""), trimmed[split..].trim());
        let value: f64 = number.parse().map_err(|_| self.error(&format!("`{text}` does not start with a number")))?;
        if !value.is_finite() || value < 0.0 {
            return Err(self.error(&format!("`{text}` is negative")));
        }
        if unit.is_empty() {
            return Err(self.error(&format!("`{text}` has no unit")));
        }
        let Some(&(_, factor)) = self.units.iter().find(|(name, _)| *name == unit) else {
            // Spelt otherwise, not mistyped: by letters alone "Gbps" is nearer to GB/s, eight times as much.
            let usual = unit.strip_suffix("bps").map(|prefix| format!("{}bit/s", prefix.to_uppercase()));
            let known = |name: &&str| Some(*name) == usual.as_deref();
            let hint = (self.units.iter().map(|(name, _)| *name).find(known))
                .or_else(|| nearest(unit, self.units.iter().map(|(name, _)| *name)))
                .map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
            return Err(self.error(&format!("`{unit}` is not a unit of a {}{hint}", self.noun)));
        };
        // Whole numbers stay exact; fractions go through f64.
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(factor).ok_or_else(|| self.error(&format!("`{text}` is too large")));
        }
        let scaled = (value * factor as f64).round();
        if scaled >= u64::MAX as f64 {
            return Err(self.error(&format!("`{text}` is too large")));
        }
        Ok(scaled as u64)
    }

    fn error(&self, what: &str) -> ParseError {
        let units: Vec<_> = self.units.iter().map(|(name, _)| *name).collect();
        ParseError {
            message: format!(
                "{what}; a {} is written like \"{}\" (units: {})",
                self.noun,
                self.example,
                units.join(", ")
            ),
        }
    }
}

/// The candidate that is fewest edits away from `word`, if it is near enough to be what was meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (edits(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().max(word.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The Levenshtein distance of two texts.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}
