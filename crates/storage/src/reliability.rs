//! How often arrays lose data.

use crate::stripes::RaidLevel;

impl RaidLevel {
    /// Losses of data per hour of an array whose members fail `failures` times an hour each and are replaced and filled
    /// again within `repair` hours on average, where that is short against the time between failures.
    ///
    /// With parity a second member has to fail while a first is being repaired: n failures' worth of beginnings, n - 1
    /// members, the time of a repair (Patterson, Gibson and Katz 1988, section 8: n (n - 1) r^2 MTTR). Yang 2012 (4.2)
    /// leaves the repair time out. Mirrors are lost when all have failed.
    pub fn losses_per_hour(self, members: u32, failures: f64, repair: f64) -> f64 {
        let n = f64::from(members);
        match self {
            Self::Raid0 => n * failures,
            Self::Raid5 => n * (n - 1.0) * failures * failures * repair,
            // Of n mirrors each further one fails during the repair of those before, of which the first to end saves all.
            Self::Raid1 => {
                let mut rate = n * failures;
                for down in 1..members {
                    let down = f64::from(down);
                    rate *= (n - down) * failures * repair / down;
                }
                rate
            }
        }
    }
}
