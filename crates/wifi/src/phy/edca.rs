//! The four access categories of EDCA and their parameters.

use super::timing::{Standard, Timing};
use units::Time;

/// An access category, lowest priority first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
pub enum AccessCategory {
    /// AC_BK.
    Background,
    /// AC_BE.
    #[default]
    BestEffort,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

impl AccessCategory {
    /// All, lowest priority first: the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Background, Self::BestEffort, Self::Video, Self::Voice];

    /// Of a user priority of 802.1D, 0-7 (IEEE Std 802.11-2012, table 9-1); what is above counts as 7.
    pub const fn of_priority(priority: u8) -> Self {
        match priority {
            1 | 2 => Self::Background,
            0 | 3 => Self::BestEffort,
            4 | 5 => Self::Video,
            _ => Self::Voice,
        }
    }
}

/// How one access category contends (IEEE Std 802.11-2012, table 8-105 for stations, dot11QAPEDCATable for access
/// points).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edca {
    /// AIFS in slots after SIFS.
    pub aifsn: u32,
    /// Backoff is drawn from 0..=cw_min at first,
    pub cw_min: u32,
    /// and never from beyond 0..=cw_max.
    pub cw_max: u32,
    /// How long the station may hold the medium once it has it; zero: one exchange.
    pub txop_limit: Time,
}

impl Edca {
    /// The default parameters of a station.
    pub const fn station(standard: Standard, timing: &Timing, category: AccessCategory) -> Self {
        let (min, max) = (timing.cw_min, timing.cw_max);
        let dsss = matches!(standard, Standard::B);
        match category {
            AccessCategory::Background => Self { aifsn: 7, cw_min: min, cw_max: max, txop_limit: Time::ZERO },
            AccessCategory::BestEffort => Self { aifsn: 3, cw_min: min, cw_max: max, txop_limit: Time::ZERO },
            AccessCategory::Video => {
                let txop_limit = Time::from_us(if dsss { 6_016 } else { 3_008 });
                Self { aifsn: 2, cw_min: min.div_ceil(2) - 1, cw_max: min, txop_limit }
            }
            AccessCategory::Voice => {
                let txop_limit = Time::from_us(if dsss { 3_264 } else { 1_504 });
                Self { aifsn: 2, cw_min: (min + 1) / 4 - 1, cw_max: min.div_ceil(2) - 1, txop_limit }
            }
        }
    }

    /// The default parameters of an access point: nearer to the medium than its stations, as it sends for all of them.
    pub const fn access_point(standard: Standard, timing: &Timing, category: AccessCategory) -> Self {
        let station = Self::station(standard, timing, category);
        match category {
            AccessCategory::Background => station,
            AccessCategory::BestEffort => Self { cw_max: 4 * (timing.cw_min + 1) - 1, ..station },
            AccessCategory::Video | AccessCategory::Voice => Self { aifsn: 1, ..station },
        }
    }

    /// AIFS: the idle time before backoff counts down.
    pub fn aifs(&self, timing: &Timing) -> Time {
        timing.sifs + timing.slot * u64::from(self.aifsn)
    }
}
