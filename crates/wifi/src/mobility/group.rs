//! Reference point group mobility (Hong, Gerla, Pei and Chiang, "A Group Mobility Model for Ad Hoc Wireless Networks",
//! MSWiM 1999).
//!
//! The centre of a group moves by random waypoint; each member strays around it: every `step` it sets out for another
//! point drawn uniformly in a disc of `radius_m` and arrives there one step later. The centre keeps that radius away
//! from the edges, so that members stay within the area.

use super::waypoint::{RandomWaypoint, Start, Traveller};
use super::{Area, Leg, MobilityError, Position, Velocity};
use des::RandomStream;
use std::f64::consts::TAU;
use units::Time;

/// The settings of a group.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Group {
    /// How the centre moves.
    pub centre: RandomWaypoint,
    /// How far members stray, in metres.
    pub radius_m: f64,
    /// How long a member takes from one point of the disc to the next.
    pub step: Time,
}

/// One member, apart from the leg it is on: its own copy of the centre, and where it strays.
#[derive(Debug, Clone)]
pub(super) struct Member {
    centre: Traveller,
    centre_leg: Leg,
    stream: RandomStream,
    radius_m: f64,
    step: Time,
    stray: Leg,
    goal: Position,
}

impl Member {
    pub(super) fn new(
        seed: u64,
        node: u32,
        group: u32,
        area: Area,
        spec: &Group,
    ) -> Result<(Self, Leg), MobilityError> {
        let radius_m = spec.radius_m;
        let (width_m, height_m) = (area.width_m - 2.0 * radius_m, area.height_m - 2.0 * radius_m);
        if !(radius_m >= 0.0 && width_m > 0.0 && height_m > 0.0) {
            return Err(MobilityError::Radius { radius_m, area });
        }
        if spec.step == Time::ZERO {
            return Err(MobilityError::Step);
        }
        // The centre moves in an area of its own, whose corner lies at (radius, radius).
        let inner = Area { width_m, height_m };
        let start = match spec.centre.start {
            Start::At(place) => {
                let within = Position::ground(place.x - radius_m, place.y - radius_m);
                if !inner.contains(within) {
                    return Err(MobilityError::Centre { place, radius_m });
                }
                Start::At(within)
            }
            start => start,
        };
        let centre = RandomWaypoint { start, ..spec.centre };
        let (centre, centre_leg) = Traveller::new(seed, "wifi/group", u64::from(group), inner, &centre)?;
        let mut stream = RandomStream::new(seed, "wifi/member", u64::from(node));
        // Members begin somewhere on their way, so that they do not turn all at once.
        let (from, goal) = (disc(&mut stream, radius_m), disc(&mut stream, radius_m));
        let stray = Leg::between(Time::ZERO, from, spec.step, goal);
        let done = spec.step.mul_f64(stream.uniform());
        let stray = Leg { start: stray.position(done), until: spec.step.saturating_sub(done), ..stray };
        let member = Self { centre, centre_leg, stream, radius_m, step: spec.step, stray, goal };
        let leg = member.together(Time::ZERO);
        Ok((member, leg))
    }

    pub(super) fn after(&mut self, leg: &Leg) -> Leg {
        let now = leg.until;
        if now >= self.centre_leg.until {
            self.centre_leg = self.centre.after(&self.centre_leg);
        }
        if now >= self.stray.until {
            let from = self.goal;
            self.goal = disc(&mut self.stream, self.radius_m);
            self.stray = Leg::between(now, from, now.saturating_add(self.step), self.goal);
        }
        self.together(now)
    }

    /// The sum of the centre's and the member's own movement from `now` until one of them changes.
    fn together(&self, now: Time) -> Leg {
        let (centre, stray) = (self.centre_leg.position(now), self.stray.position(now));
        let (along, aside) = (self.centre_leg.velocity, self.stray.velocity);
        Leg {
            from: now,
            until: self.centre_leg.until.min(self.stray.until),
            start: Position::ground(self.radius_m + centre.x + stray.x, self.radius_m + centre.y + stray.y),
            velocity: Velocity { x: along.x + aside.x, y: along.y + aside.y, z: 0.0 },
        }
    }
}

/// Uniform in a disc around (0, 0).
fn disc(stream: &mut RandomStream, radius: f64) -> Position {
    let from_centre = radius * stream.uniform().sqrt();
    let (sin, cos) = libm::sincos(TAU * stream.uniform());
    Position::ground(from_centre * cos, from_centre * sin)
}
