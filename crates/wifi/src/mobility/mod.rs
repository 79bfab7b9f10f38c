//! Where a node is when: straight legs at constant speed, drawn by a model or read from a trace.
//!
//! Each node has a [`Mobility`] of its own and shares nothing with the others, so that the same seed gives it the same
//! way whoever else takes part.

mod gauss_markov;
mod group;
mod leg;
mod trace;
mod waypoint;

pub use gauss_markov::GaussMarkov;
pub use group::Group;
pub use leg::{Leg, Position, Velocity};
pub use trace::{TraceError, TraceProblem, read_bonnmotion, read_setdest};
pub use waypoint::{RandomWaypoint, Start};

use gauss_markov::Wanderer;
use group::Member;
use thiserror::Error;
use trace::Itinerary;
use units::Time;
use waypoint::Traveller;

/// The rectangle in which nodes move, with one corner at (0, 0).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Area {
    width_m: f64,
    height_m: f64,
}

impl Area {
    /// An area of `width_m` by `height_m`.
    pub fn new(width_m: f64, height_m: f64) -> Result<Self, MobilityError> {
        if [width_m, height_m].iter().all(|side| side.is_finite() && *side > 0.0) {
            Ok(Self { width_m, height_m })
        } else {
            Err(MobilityError::Area { width_m, height_m })
        }
    }
    /// Its extent along x, in metres.
    pub const fn width_m(&self) -> f64 {
        self.width_m
    }
    /// Its extent along y, in metres.
    pub const fn height_m(&self) -> f64 {
        self.height_m
    }
    /// Whether a place lies within it, its edges included.
    pub fn contains(&self, place: Position) -> bool {
        (0.0..=self.width_m).contains(&place.x) && (0.0..=self.height_m).contains(&place.y) && place.z.is_finite()
    }
    /// The place as it is if it lies within.
    pub fn check(&self, place: Position) -> Result<Position, MobilityError> {
        if self.contains(place) { Ok(place) } else { Err(MobilityError::Outside { place, area: *self }) }
    }
}

/// Why nodes cannot move as described.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum MobilityError {
    #[error("an area of {width_m} m x {height_m} m is impossible: both sides must be above 0 m")]
    /// A side of the area is not above zero.
    Area {
        /// Width in metres.
        width_m: f64,
        /// Height in metres.
        height_m: f64,
    },
    #[error("({}, {}) m is outside the area of {} m x {} m", .place.x, .place.y, .area.width_m, .area.height_m)]
    /// A position outside of the area.
    Outside {
        /// The position asked for.
        place: Position,
        /// The area.
        area: Area,
    },
    #[error(
        "speeds from {low} to {high} m/s are impossible: the lowest must be above 0 m/s, or nodes end up creeping for \
         ever and the mean speed decays to nothing, and the highest not below it"
    )]
    /// A range of speeds that begins at zero, or is empty.
    Speeds {
        /// Lowest speed in m/s.
        low: f64,
        /// Highest speed in m/s.
        high: f64,
    },
    /// Gauss-Markov's memory is not in 0..1.
    #[error("a memory of {0} is impossible: it must be at least 0 (each step anew) and below 1 (always the same)")]
    Memory(f64),
    /// A negative speed, or one that is not a number.
    #[error("a speed of {0} m/s is impossible here: it must be at least 0 m/s")]
    Speed(f64),
    /// The interval between changes of velocity is zero.
    #[error("a step of no time is impossible: it must be above 0 s")]
    Step,
    #[error(
        "a group of radius {radius_m} m has no room to move in an area of {} m x {} m: twice the radius must be below \
         both sides",
        .area.width_m,
        .area.height_m
    )]
    /// A group as wide as the area.
    Radius {
        /// Radius in metres.
        radius_m: f64,
        /// The area.
        area: Area,
    },
    #[error(
        "a group's centre at ({}, {}) m is too near to the edge: it must be at least the radius of {radius_m} m inside \
         the area",
        .place.x,
        .place.y
    )]
    /// A group that reaches over the area's edge.
    Centre {
        /// The centre asked for.
        place: Position,
        /// Radius of the group in metres.
        radius_m: f64,
    },
}

/// Where one node is when. Times it is asked for must not run back.
#[derive(Debug, Clone)]
pub struct Mobility {
    leg: Leg,
    model: Model,
}

#[derive(Debug, Clone)]
enum Model {
    Fixed,
    RandomWaypoint(Box<Traveller>),
    GaussMarkov(Box<Wanderer>),
    Group(Box<Member>),
    Trace(Itinerary),
}

impl Mobility {
    /// A node that stays at `place`.
    pub fn fixed(place: Position, area: &Area) -> Result<Self, MobilityError> {
        Ok(Self { leg: Leg::rest(area.check(place)?, Time::ZERO, Time::MAX), model: Model::Fixed })
    }
    /// A node that moves by the random waypoint model.
    pub fn random_waypoint(seed: u64, node: u32, area: Area, spec: &RandomWaypoint) -> Result<Self, MobilityError> {
        let (traveller, leg) = Traveller::new(seed, "wifi/waypoint", u64::from(node), area, spec)?;
        Ok(Self { leg, model: Model::RandomWaypoint(Box::new(traveller)) })
    }
    /// A node that moves by the Gauss-Markov model.
    pub fn gauss_markov(seed: u64, node: u32, area: Area, spec: &GaussMarkov) -> Result<Self, MobilityError> {
        let (wanderer, leg) = Wanderer::new(seed, node, area, spec)?;
        Ok(Self { leg, model: Model::GaussMarkov(Box::new(wanderer)) })
    }
    /// A node that moves with the group number `group`.
    pub fn group(seed: u64, node: u32, group: u32, area: Area, spec: &Group) -> Result<Self, MobilityError> {
        let (member, leg) = Member::new(seed, node, group, area, spec)?;
        Ok(Self { leg, model: Model::Group(Box::new(member)) })
    }
    /// A node that follows legs, each of which begins when the one before ends; the first begins at [`Time::ZERO`], the
    /// last never ends.
    fn itinerary(legs: Vec<Leg>) -> Self {
        let (itinerary, leg) = Itinerary::new(legs);
        Self { leg, model: Model::Trace(itinerary) }
    }

    /// Where the node is now.
    pub fn position(&mut self, now: Time) -> Position {
        self.leg(now).position(now)
    }

    /// The leg the node is on now; it ends later than now, or never.
    pub fn leg(&mut self, now: Time) -> Leg {
        while now >= self.leg.until && self.leg.until < Time::MAX {
            self.leg = match &mut self.model {
                Model::Fixed => Leg::rest(self.leg.start, self.leg.until, Time::MAX),
                Model::RandomWaypoint(traveller) => traveller.after(&self.leg),
                Model::GaussMarkov(wanderer) => wanderer.after(&self.leg),
                Model::Group(member) => member.after(&self.leg),
                Model::Trace(itinerary) => itinerary.after(&self.leg),
            };
        }
        self.leg
    }
}
