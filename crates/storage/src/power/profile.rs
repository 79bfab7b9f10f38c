//! What a drive draws in each state, and what moving between the states costs.
//!
//! The states are those of T13's Extended Power Conditions (ACS-2, 7.17): active, `Idle_A` (heads over the platters),
//! `Idle_B` (heads parked), `Idle_C` (heads parked, fewer revolutions) and `Standby_Z` (motor stopped).

use thiserror::Error;
use units::{Energy, Power, Time};

/// A state in which a drive rests, from light to deep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Depth {
    /// Heads parked, full revolutions.
    IdleB,
    /// Heads parked, fewer revolutions.
    IdleC,
    /// Motor stopped.
    Standby,
}

impl Depth {
    /// All depths, from light to deep.
    pub const ALL: [Self; 3] = [Self::IdleB, Self::IdleC, Self::Standby];
    /// Place in [`Depth::ALL`].
    pub const fn index(self) -> usize {
        match self {
            Self::IdleB => 0,
            Self::IdleC => 1,
            Self::Standby => 2,
        }
    }
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::IdleB => "idle-b",
            Self::IdleC => "idle-c",
            Self::Standby => "standby",
        }
    }
}

/// A move from one state to another: how long it takes, and what it draws in all.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Transition {
    /// Its length.
    pub time: Time,
    /// Energy over the whole length.
    pub energy: Energy,
}

impl Transition {
    /// A move at constant power.
    pub const fn at(power: Power, time: Time) -> Self {
        Self { time, energy: power.over(time) }
    }
    /// Mean power; zero where the move takes no time.
    pub fn power(&self) -> Power {
        if self.time == Time::ZERO {
            return Power::default();
        }
        Power::from_watts(self.energy.as_joules() / self.time.as_secs_f64())
    }
}

/// A depth that a drive has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rest {
    /// Power while it rests.
    pub power: Power,
    /// From idle into the depth.
    pub down: Transition,
    /// From the depth until it is ready.
    pub up: Transition,
}

/// What a drive draws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Power while it reads.
    pub read: Power,
    /// Power while it writes.
    pub write: Power,
    /// Power while it is ready and has nothing to do.
    pub idle: Power,
    /// What it has of each depth, by [`Depth::index`].
    pub rests: [Option<Rest>; 3],
    /// Starts and stops of the motor that it is made for.
    pub start_limit: Option<u32>,
    /// Loads and unloads of its heads that it is made for.
    pub load_limit: Option<u32>,
}

/// Why a profile describes no drive.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ProfileError {
    /// Idle draws more than reading or writing.
    #[error("idle ({} W) draws more than active ({} W): an idle drive does less", .idle.as_watts(), .active.as_watts())]
    IdleAboveActive {
        /// Power of idle.
        idle: Power,
        /// The lesser of the powers of reading and writing.
        active: Power,
    },
    /// A depth draws more than what is above it.
    #[error(
        "{depth} ({} W) draws more than {above} ({} W): a deeper state draws less",
        .rest.as_watts(), .power.as_watts()
    )]
    Upside {
        /// The depth.
        depth: &'static str,
        /// Its power.
        rest: Power,
        /// The state above.
        above: &'static str,
        /// The power of the state above.
        power: Power,
    },
    /// Energy that is drawn in no time.
    #[error("{0} takes energy and no time: say how long it takes")]
    NoTime(&'static str),
    /// A move that draws less than the depth at its end.
    #[error(
        "a move to or from {depth} draws {} J, less than resting there for as long ({} J)",
        .energy.as_joules(), .least.as_joules()
    )]
    Free {
        /// The depth.
        depth: &'static str,
        /// What the move draws.
        energy: Energy,
        /// What the depth draws over the same time.
        least: Energy,
    },
}

impl Profile {
    /// A drive that has no state but being on.
    pub const fn constant(power: Power) -> Self {
        Self { read: power, write: power, idle: power, rests: [None; 3], start_limit: None, load_limit: None }
    }
    /// The depth, if the drive has it.
    pub const fn rest(&self, depth: Depth) -> Option<&Rest> {
        self.rests[depth.index()].as_ref()
    }
    /// Whether the figures can be those of a drive.
    pub fn check(&self) -> Result<(), ProfileError> {
        let active = self.read.min(self.write);
        if self.idle > active {
            return Err(ProfileError::IdleAboveActive { idle: self.idle, active });
        }
        let (mut above, mut power) = ("idle", self.idle);
        for depth in Depth::ALL {
            let Some(rest) = self.rest(depth) else { continue };
            if rest.power > power {
                return Err(ProfileError::Upside { depth: depth.name(), rest: rest.power, above, power });
            }
            let moves = [("spin-down", rest.down), ("spin-up", rest.up)];
            for (name, transition) in moves {
                if transition.time == Time::ZERO && transition.energy > Energy::default() {
                    return Err(ProfileError::NoTime(name));
                }
                let least = rest.power.over(transition.time);
                if transition.energy < least {
                    return Err(ProfileError::Free { depth: depth.name(), energy: transition.energy, least });
                }
            }
            (above, power) = (depth.name(), rest.power);
        }
        Ok(())
    }
    /// Length of an idle interval, both moves within it, that costs the same at rest as idle: as in the
    /// literature on spin-down (Deng, ACM Computing Surveys 43(3), 2011). `None` where the drive lacks the depth or
    /// the depth saves nothing.
    pub fn break_even(&self, depth: Depth) -> Option<Time> {
        let rest = self.rest(depth)?;
        let saved = self.idle.as_watts() - rest.power.as_watts();
        let moves = rest.down.time + rest.up.time;
        let extra = (rest.down.energy + rest.up.energy).as_joules() - rest.power.over(moves).as_joules();
        (saved > 0.0).then(|| Time::from_secs_f64(extra / saved).max(moves))
    }
    /// The part of a store's idle power that the depth can save if what readers need always turns, `needed` of `all`
    /// equal disks: (P_idle - P_rest) (all - needed) / (all P_idle). That is 1 of r replicas, or k of the k + m parts
    /// of an erasure code. `None` where the drive lacks the depth.
    pub fn ceiling(&self, depth: Depth, needed: u32, all: u32) -> Option<f64> {
        let rest = self.rest(depth)?.power.as_watts();
        let (idle, all) = (self.idle.as_watts(), all.max(1));
        let spare = f64::from(all.saturating_sub(needed)) / f64::from(all);
        (idle > 0.0).then(|| (idle - rest) / idle * spare)
    }
}
