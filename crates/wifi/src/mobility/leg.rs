//! Straight movement at constant speed: what every model of mobility is made of.

use units::Time;

/// A place, in metres; `z` is height above the ground.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Position {
    /// Along the area's width.
    pub x: f64,
    /// Along the area's height.
    pub y: f64,
    /// Height above the ground.
    pub z: f64,
}

impl Position {
    /// A place on the ground.
    pub const fn ground(x: f64, y: f64) -> Self {
        Self { x, y, z: 0.0 }
    }
    /// How far away another place is, in metres.
    pub fn distance(self, other: Self) -> f64 {
        let (dx, dy, dz) = (self.x - other.x, self.y - other.y, self.z - other.z);
        (dx * dx + dy * dy + dz * dz).sqrt()
    }
    /// How far away another place is if both lie on the ground.
    pub fn distance_on_ground(self, other: Self) -> f64 {
        let (dx, dy) = (self.x - other.x, self.y - other.y);
        (dx * dx + dy * dy).sqrt()
    }
    /// Where one comes from here in `seconds`.
    pub fn after(self, velocity: Velocity, seconds: f64) -> Self {
        Self { x: self.x + velocity.x * seconds, y: self.y + velocity.y * seconds, z: self.z + velocity.z * seconds }
    }
    /// With what velocity one comes from here to `goal` in `seconds`.
    pub(super) fn velocity(self, goal: Self, seconds: f64) -> Velocity {
        Velocity { x: (goal.x - self.x) / seconds, y: (goal.y - self.y) / seconds, z: (goal.z - self.z) / seconds }
    }
}

/// A velocity, in metres per second.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Velocity {
    /// Component along the area's width.
    pub x: f64,
    /// Component along the area's height.
    pub y: f64,
    /// Vertical component.
    pub z: f64,
}

impl Velocity {
    /// How fast, in metres per second.
    pub fn speed(self) -> f64 {
        (self.x * self.x + self.y * self.y + self.z * self.z).sqrt()
    }
}

/// One straight piece of a node's way; it holds from `from` to `until`, both included.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Leg {
    /// Start of the leg.
    pub from: Time,
    /// When the node turns, stops or starts; [`Time::MAX`] if it never does.
    pub until: Time,
    /// Where it is at `from`.
    pub start: Position,
    /// Constant velocity during the leg.
    pub velocity: Velocity,
}

impl Leg {
    /// Stays at `place` from `from` to `until`.
    pub const fn rest(place: Position, from: Time, until: Time) -> Self {
        Self { from, until, start: place, velocity: Velocity { x: 0.0, y: 0.0, z: 0.0 } }
    }
    /// From `start` at `from` straight to `goal`, there at `until`, which is later.
    pub(super) fn between(from: Time, start: Position, until: Time, goal: Position) -> Self {
        Self { from, until, start, velocity: start.velocity(goal, until.saturating_sub(from).as_secs_f64()) }
    }
    /// Where the node is at `now`, which lies within the leg.
    pub fn position(&self, now: Time) -> Position {
        self.start.after(self.velocity, now.saturating_sub(self.from).as_secs_f64())
    }
}
