//! How often data are lost that stand on several disks.

use crate::stripes::RaidLevel;

/// A disk, or an array of them, by how often it fails and how soon what it held is there again.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Failing {
    /// Failures per hour.
    pub failures: f64,
    /// Mean hours until a replacement holds what it held (MTTR).
    pub repair: f64,
}

impl Failing {
    /// Losses per hour of data that are lost when `fatal` of these places are down at the same time, where repairs are
    /// short against the times between failures.
    ///
    /// One place fails, and is the last of so many: each set of `fatal - 1` others is down with the product of their
    /// parts of time, failures times repair. Of n equal places of which two are fatal that is n (n - 1) r^2 MTTR
    /// (Patterson, Gibson and Katz 1988, section 8). Yang 2012 (4.2) leaves the repair time out.
    pub fn losses_per_hour(places: &[Self], fatal: usize) -> f64 {
        let Some(down) = fatal.checked_sub(1) else { return 0.0 };
        let last = |last: usize| {
            // Elementary symmetric polynomials of the others' parts of time.
            let mut sums = vec![0.0; down + 1];
            sums[0] = 1.0;
            let others = places.iter().enumerate().filter(|(place, _)| *place != last);
            for (_, other) in others {
                for size in (1..=down).rev() {
                    sums[size] += sums[size - 1] * other.failures * other.repair;
                }
            }
            places[last].failures * sums[down]
        };
        (0..places.len()).map(last).sum()
    }
}

impl RaidLevel {
    /// How many members have to be down at the same time for data to be lost.
    pub const fn fatal(self, members: u32) -> u32 {
        match self {
            Self::Raid0 => 1,
            Self::Raid1 => members,
            Self::Raid5 => 2,
        }
    }

    /// Losses of data per hour of an array of such members.
    pub fn losses_per_hour(self, members: u32, failures: f64, repair: f64) -> f64 {
        let members = vec![Failing { failures, repair }; members as usize];
        Failing::losses_per_hour(&members, self.fatal(units::count(members.len())) as usize)
    }
}
