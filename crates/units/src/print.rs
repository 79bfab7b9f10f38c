//! Printing quantities with a unit a person would choose; what is printed parses back to a value within rounding.

use crate::{BitRate, Bytes, Time};
use std::fmt;

/// Writes `value` in the largest unit that leaves at least 1, with up to `precision` (default 3) decimals and no trailing zeros.
fn write_scaled(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let (name, factor) = units.iter().rev().find(|(_, factor)| value >= *factor).unwrap_or(&units[0]);
    let number = format!("{:.*}", f.precision().unwrap_or(3), value as f64 / *factor as f64);
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { &number };
    pad(f, &format!("{number} {name}"))
}

/// Pads to the width asked for; unlike `Formatter::pad` it does not take the precision for a greatest length.
fn pad(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let missing = f.width().unwrap_or(0).saturating_sub(text.len());
    let before = match f.align() {
        Some(fmt::Alignment::Right) => missing,
        Some(fmt::Alignment::Center) => missing / 2,
        _ => 0,
    };
    write!(f, "{:before$}{text}{:after$}", "", "", after = missing - before)
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::MAX {
            return pad(f, "never");
        }
        let units = [("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];
        write_scaled(f, self.as_ps(), &units)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("B", 1), ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000)];
        write_scaled(f, self.get(), &units)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("bit/s", 1), ("Kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)];
        write_scaled(f, self.as_bps(), &units)
    }
}

macro_rules! debug_as_display {
    ($($t:ty),*) => {$(
        impl fmt::Debug for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

debug_as_display!(Time, Bytes, BitRate);
