//! Printing quantities with a unit a person would choose; what is printed parses back to a value within rounding.

use crate::{BitRate, Bytes, Distance, Energy, Frequency, Power, Quantity, Speed, Time};
use std::fmt;

/// Writes a quantity in the largest unit that leaves at least 1 once it is rounded, with up to `precision` (default 3)
/// decimals and no trailing zeros.
fn write_scaled<Q: Quantity>(f: &mut fmt::Formatter<'_>, quantity: Q, units: &[(&str, u64)]) -> fmt::Result {
    let value = quantity.base();
    let largest = units.iter().rposition(|(_, factor)| value >= *factor);
    let (name, factor) = largest.map_or((Q::SCALE.zero, 1), |at| units[at]);
    let rounded = |factor: u64| format!("{:.*}", f.precision().unwrap_or(3), value as f64 / factor as f64);
    // 999.99 MB with one decimal are 1 GB.
    let next = largest.and_then(|at| units.get(at + 1));
    let next = next
        .filter(|(_, next)| rounded(factor).parse().is_ok_and(|number: f64| number * factor as f64 >= *next as f64));
    let (name, factor) = next.copied().unwrap_or((name, factor));
    let number = rounded(factor);
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
        write_scaled(f, *self, &units)
    }
}

macro_rules! display {
    ($($t:ident $units:expr;)*) => {$(
        impl fmt::Display for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_scaled(f, *self, &$units)
            }
        }
    )*};
}

display! {
    Bytes [("B", 1), ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000)];
    BitRate [("bit/s", 1), ("Kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)];
    Distance [("um", 1), ("mm", 1_000), ("m", 1_000_000), ("km", 1_000_000_000)];
    Speed [("um/s", 1), ("mm/s", 1_000), ("m/s", 1_000_000), ("km/s", 1_000_000_000)];
    Frequency [("Hz", 1), ("kHz", 1_000), ("MHz", 1_000_000), ("GHz", 1_000_000_000)];
    Power [("nW", 1), ("uW", 1_000), ("mW", 1_000_000), ("W", 1_000_000_000), ("kW", 1_000_000_000_000)];
    Energy [("nJ", 1), ("uJ", 1_000), ("mJ", 1_000_000), ("J", 1_000_000_000), ("kJ", 1_000_000_000_000)];
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

debug_as_display!(Time, Bytes, BitRate, Distance, Speed, Frequency, Power, Energy);
