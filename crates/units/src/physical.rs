//! Lengths, speeds, frequencies, powers and energies.

use crate::{Time, quantity};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

/// A length, in micrometres.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Distance(u64);

impl Distance {
    /// No way at all.
    pub const ZERO: Self = Self(0);

    /// From micrometres.
    pub const fn from_um(um: u64) -> Self {
        Self(um)
    }
    /// From whole metres.
    pub const fn from_metres(metres: u64) -> Self {
        Self(metres * 1_000_000)
    }
    /// From metres, rounded to the nearest micrometre; negative or NaN becomes zero.
    pub fn from_metres_f64(metres: f64) -> Self {
        Self((metres * 1e6).round() as u64)
    }
    /// In micrometres.
    pub const fn as_um(self) -> u64 {
        self.0
    }
    /// In metres.
    pub fn as_metres(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// A speed, in micrometres per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Speed(u64);

impl Speed {
    /// From micrometres per second.
    pub const fn from_um_per_s(um: u64) -> Self {
        Self(um)
    }
    /// From whole metres per second.
    pub const fn from_metres_per_s(metres: u64) -> Self {
        Self(metres * 1_000_000)
    }
    /// In micrometres per second.
    pub const fn as_um_per_s(self) -> u64 {
        self.0
    }
    /// In metres per second.
    pub fn as_metres_per_s(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// A frequency, in hertz.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Frequency(u64);

impl Frequency {
    /// From hertz.
    pub const fn from_hz(hz: u64) -> Self {
        Self(hz)
    }
    /// From megahertz.
    pub const fn from_mhz(mhz: u64) -> Self {
        Self(mhz * 1_000_000)
    }
    /// In hertz.
    pub const fn as_hz(self) -> u64 {
        self.0
    }
}

/// A power, in nanowatts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Power(u64);

impl Power {
    /// From nanowatts.
    pub const fn from_nw(nw: u64) -> Self {
        Self(nw)
    }
    /// From milliwatts.
    pub const fn from_mw(mw: u64) -> Self {
        Self(mw * 1_000_000)
    }
    /// From watts, rounded to the nearest nanowatt; negative or NaN becomes zero.
    pub fn from_watts(watts: f64) -> Self {
        Self((watts * 1e9).round() as u64)
    }
    /// In nanowatts.
    pub const fn as_nw(self) -> u64 {
        self.0
    }
    /// In watts.
    pub fn as_watts(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// The energy that this power amounts to over `time`, rounded down to a whole nanojoule.
    pub const fn over(self, time: Time) -> Energy {
        const SECOND: u64 = 1_000_000_000_000;
        // Whole seconds and the rest of one, in place of a division of 128 bits: 10^12 is 2^12 times 5^12, and dividing
        // by one after the other rounds as dividing by both does.
        let (seconds, rest) = (time.as_ps() / SECOND, time.as_ps() % SECOND);
        let part = (self.0 as u128 * rest as u128) >> 12;
        let part = if part <= u64::MAX as u128 {
            part as u64 / (SECOND >> 12)
        } else {
            (part / (SECOND >> 12) as u128) as u64
        };
        Energy(self.0.wrapping_mul(seconds).wrapping_add(part))
    }
}

/// An energy, in nanojoules.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Energy(u64);

impl Energy {
    /// From nanojoules.
    pub const fn from_nj(nj: u64) -> Self {
        Self(nj)
    }
    /// From joules, rounded to the nearest nanojoule; negative or NaN becomes zero.
    pub fn from_joules(joules: f64) -> Self {
        Self((joules * 1e9).round() as u64)
    }
    /// In nanojoules.
    pub const fn as_nj(self) -> u64 {
        self.0
    }
    /// In joules.
    pub fn as_joules(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// The difference, or zero if `other` is larger.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// How long this energy lasts at a power; [`Time::MAX`] where no power is drawn or the time would overflow.
    pub const fn lasts(self, power: Power) -> Time {
        if power.0 == 0 {
            return Time::MAX;
        }
        let ps = self.0 as u128 * 1_000_000_000_000 / power.0 as u128;
        Time::from_ps(if ps > u64::MAX as u128 { u64::MAX } else { ps as u64 })
    }
}

quantity!(Distance);
quantity!(Speed);
quantity!(Frequency);
quantity!(Power);
quantity!(Energy);
