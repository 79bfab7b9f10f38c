//! Quantities with their unit in the type: [`Time`], [`Bytes`], [`BitRate`], [`Distance`], [`Speed`], [`Frequency`],
//! [`Power`], [`Energy`].
//!
//! All are integers, so a run is the same bit for bit on every machine.

mod numbers;
mod parse;
mod physical;
mod print;

pub use numbers::{byte, count, many, scaled, single, whole, word};
pub use physical::{Distance, Energy, Frequency, Power, Speed};

pub use parse::{ParseError, Quantity, Scale, nearest};

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

/// An instant of simulated time or a duration, in picoseconds (up to 213 days).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

impl Time {
    /// The start of a run, or no time at all.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens: "never", for a timer that is not set.
    pub const MAX: Self = Self(u64::MAX);

    /// From picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }
    /// From nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }
    /// From microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }
    /// From milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }
    /// From whole seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s * 1_000_000_000_000)
    }
    /// From seconds, rounded to the nearest picosecond; negative or NaN becomes zero, too large becomes [`Time::MAX`].
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e12).round() as u64)
    }
    /// In picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }
    /// In whole microseconds, rounded down.
    pub const fn as_us(self) -> u64 {
        self.0 / 1_000_000
    }
    /// In whole milliseconds, rounded down.
    pub const fn as_ms(self) -> u64 {
        self.0 / 1_000_000_000
    }
    /// In seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }
    /// The difference, or zero if `other` is later.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// The sum, or [`Time::MAX`].
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
    /// This duration times a number, or [`Time::MAX`].
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
    /// This duration times a factor, rounded to the nearest picosecond.
    pub fn mul_f64(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor).round() as u64)
    }
}

/// A number of bytes: a length, a volume, or an offset.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Self = Self(0);

    /// From a count of bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }
    /// From decimal megabytes (10^6 bytes).
    pub const fn from_mb(mb: u64) -> Self {
        Self(mb * 1_000_000)
    }
    /// From binary mebibytes (2^20 bytes).
    pub const fn from_mib(mib: u64) -> Self {
        Self(mib << 20)
    }
    /// The count of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
    /// The difference, or zero if `other` is larger.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// This volume times a factor, rounded to the nearest byte.
    pub fn mul_f64(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor).round() as u64)
    }
}

/// A rate of transmission in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BitRate(u64);

impl BitRate {
    /// From bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }
    /// From megabits (10^6) per second.
    pub const fn from_mbps(mbps: u64) -> Self {
        Self(mbps * 1_000_000)
    }
    /// From gigabits (10^9) per second.
    pub const fn from_gbps(gbps: u64) -> Self {
        Self(gbps * 1_000_000_000)
    }
    /// In bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }
    /// How long `bytes` take at this rate, rounded up to a whole picosecond; [`Time::MAX`] at rate zero.
    pub const fn transmission_time(self, bytes: Bytes) -> Time {
        if self.0 == 0 {
            return Time::MAX;
        }
        let ps = (bytes.0 as u128 * 8_000_000_000_000).div_ceil(self.0 as u128);
        Time(if ps > u64::MAX as u128 { u64::MAX } else { ps as u64 })
    }
    /// The whole bytes that this rate transmits in `time`.
    pub const fn bytes_in(self, time: Time) -> Bytes {
        Bytes((self.0 as u128 * time.0 as u128 / 8_000_000_000_000) as u64)
    }
}

/// Arithmetic of an integer quantity.
macro_rules! quantity {
    ($t:ident) => {
        impl Add for $t {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl Sub for $t {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl AddAssign for $t {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl SubAssign for $t {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }
        impl Mul<u64> for $t {
            type Output = Self;
            fn mul(self, factor: u64) -> Self {
                Self(self.0 * factor)
            }
        }
        impl Div<u64> for $t {
            type Output = Self;
            fn div(self, divisor: u64) -> Self {
                Self(self.0 / divisor)
            }
        }
        impl Div for $t {
            type Output = u64;
            fn div(self, divisor: Self) -> u64 {
                self.0 / divisor.0
            }
        }
        impl Rem for $t {
            type Output = Self;
            fn rem(self, divisor: Self) -> Self {
                Self(self.0 % divisor.0)
            }
        }
        impl Sum for $t {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self::default(), Add::add)
            }
        }
    };
}

pub(crate) use quantity;

quantity!(Time);
quantity!(Bytes);
quantity!(BitRate);
