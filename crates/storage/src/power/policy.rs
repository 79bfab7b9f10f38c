//! When a disk goes to rest: policies without I/O, for the simulator and for a daemon.

use super::budget::Budget;
use super::profile::{Depth, Profile};
use thiserror::Error;
use units::Time;

/// A policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// Disks never rest.
    AlwaysOn,
    /// A disk rests after so long without a request; `None` is its break-even time, at which no policy that does not
    /// know the future is better in the worst case: at most twice the optimum (Karlin, Manasse, McGeoch, Owicki,
    /// Algorithmica 11, 1994).
    Timeout(Option<Time>),
    /// The timeout doubles after a rest that was too short to pay, and halves after one that paid (Douglis, Krishnan,
    /// Bershad, USENIX Mobile and Location-Independent Computing 1995), from the break-even time over 8 to it times 8.
    Adaptive,
    /// Yang 2012, 4.3.2 and 4.3.3 as printed: a backup disk rests once the replicas are made, is woken when a map
    /// fetches the node's last primary block, and stays ready until the job is over, for the output's replicas.
    AsPrinted,
    /// A backup disk rests at once, and is woken when the time that the node's remaining primary blocks will take has
    /// come down to the time to ready and a margin; only if the node is then expected to help others.
    Predicted {
        /// Added to the drive's time to ready.
        margin: Time,
    },
    /// Yang 2012, 4.3.2: by hand during import and recovery (ready throughout, at rest as soon as they end), otherwise
    /// after a timeout.
    Phased {
        /// Idle time after which a disk rests outside of import and recovery; `None` is its break-even time.
        timeout: Option<Time>,
    },
    /// Each replica is on a gear of its own; gears above the one that the load needs rest (Sierra, Thereska, Donnelly,
    /// Narayanan, EuroSys 2011). Backup disks of gears in use stay ready; primaries rest by their break-even times, as deep
    /// as they may.
    Gears,
}

/// What a policy is told about the work of the disks' node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hint {
    /// A job has so many blocks on the node's primary disks left to read, one in each `each` of time.
    Progress {
        /// Blocks that are not fetched yet.
        left: u32,
        /// Mean time between two fetches, as measured.
        each: Time,
        /// Whether other nodes will still have unread blocks by then, whose replicas the backup disks hold.
        helping: bool,
    },
    /// The last primary block was fetched.
    LastBlock,
    /// No job runs any more.
    JobOver,
    /// Import or recovery begins or ends.
    Phase(Phase),
    /// So many gears are in use; the primaries alone are one.
    Gears(u32),
    /// A primary disk of the node or of one that it backs up has failed.
    PrimaryFailed,
    /// A disk is likely to fail (Yang 2012, 6.2): no end of a job sends the backups to rest. Where the expectation
    /// comes from is not the policy's business.
    FailureExpected,
    /// Writes are many, or not any more: Yang 2012, 4.4.4.
    WriteIntensive(bool),
}

/// What goes on in the cluster, in the words of Yang 2012, 4.3.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Phase {
    /// Jobs, or nothing.
    #[default]
    Jobs,
    /// Data are copied into the file system.
    Import,
    /// Lost replicas are made again.
    Recovery,
}

/// A policy and its limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The policy.
    pub policy: Policy,
    /// How deep a primary disk may rest; `None` is not at all.
    pub primaries: Option<Depth>,
    /// How deep a backup disk may rest.
    pub backups: Option<Depth>,
    /// Rests in standby that each disk has in a day; `None` is a budget of nothing.
    pub spin_ups: Option<Budget>,
    /// Rests with parked heads that each disk has in a day.
    pub loads: Option<Budget>,
    /// Motors of a group that may start at the same time.
    pub stagger: u32,
}

/// Why settings cannot be followed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PolicyError {
    /// No token would ever be there.
    #[error("the policy puts disks into {0} and the wear budget has nothing for it: allow 2 or more in a day")]
    NoBudget(&'static str),
    /// No motor could ever start.
    #[error("no motor may start: at least one at a time must")]
    NoStarts,
}

impl Settings {
    /// Disks that never rest.
    pub const fn always_on() -> Self {
        Self { policy: Policy::AlwaysOn, primaries: None, backups: None, spin_ups: None, loads: None, stagger: 1 }
    }
    /// A policy for backup disks, which may stand by 24 times a day (and park heads 329 times), one motor at a time.
    pub const fn of(policy: Policy) -> Self {
        let (spin_ups, loads) = (Budget::per_day(24), Budget::per_day(329));
        Self { policy, primaries: None, backups: Some(Depth::Standby), spin_ups, loads, stagger: 1 }
    }
    /// Whether the settings can be followed.
    pub fn check(&self) -> Result<(), PolicyError> {
        if self.policy == Policy::AlwaysOn {
            return Ok(());
        }
        for depth in [self.primaries, self.backups].into_iter().flatten() {
            if self.budget(depth).is_none() {
                return Err(PolicyError::NoBudget(depth.name()));
            }
        }
        if self.stagger == 0 { Err(PolicyError::NoStarts) } else { Ok(()) }
    }
    /// The budget that a depth takes from.
    pub const fn budget(&self, depth: Depth) -> Option<Budget> {
        match depth {
            Depth::Standby => self.spin_ups,
            Depth::IdleB | Depth::IdleC => self.loads,
        }
    }
    /// The deepest that a disk of a gear may go; gear 0 are the primaries.
    pub const fn deepest(&self, gear: u32) -> Option<Depth> {
        if gear == 0 { self.primaries } else { self.backups }
    }
}

/// The steps down of an idle disk: after how long, to which depth.
pub(super) type Ladder = Vec<(Time, Depth)>;

/// The lower envelope of the lines `extra + power * time` of idle and of every depth down to `deepest`: the disk is at
/// each moment of an idle interval where it would have been cheapest to be had the interval ended there (Irani, Shukla,
/// Gupta, ACM Transactions on Embedded Computing Systems 2(3), 2003). With one depth that is its break-even time.
pub(super) fn envelope(profile: &Profile, deepest: Depth) -> Ladder {
    let extra = |depth: Depth| {
        let rest = profile.rest(depth)?;
        let moves = rest.down.time + rest.up.time;
        let cost = (rest.down.energy + rest.up.energy).as_joules() - rest.power.over(moves).as_joules();
        Some((cost, rest.power.as_watts(), moves.as_secs_f64(), depth))
    };
    let lines: Vec<_> = Depth::ALL.into_iter().filter(|depth| *depth <= deepest).filter_map(extra).collect();
    let mut ladder = Ladder::new();
    let (mut cost, mut power) = (0.0, profile.idle.as_watts());
    loop {
        // The line that crosses the present one first.
        let crossing = lines.iter().filter(|line| line.1 < power);
        let crossing = crossing.map(|line| (((line.0 - cost) / (power - line.1)).max(line.2), line));
        let Some((at, line)) = crossing.min_by(|a, b| a.0.total_cmp(&b.0)) else { return ladder };
        ladder.push((Time::from_secs_f64(at), line.3));
        (cost, power) = (line.0, line.1);
    }
}
