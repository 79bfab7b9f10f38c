//! Gauss-Markov: each component of the velocity is a Gaussian process with memory (Liang and Haas, "Predictive
//! Distance-Based Mobility Management for PCS Networks", INFOCOM 1999).
//!
//! v' = a v + (1 - a) u + s sqrt(1 - a^2) w, with memory a, mean velocity u, deviation s and a standard normal w, drawn
//! every `step`: stationary from the start, and correlated by a^k over k steps. At an edge the node is reflected, and
//! its mean velocity with it; a reflected way leaves a uniform distribution of places uniform (Nain, Towsley, Liu and
//! Liu, "Properties of Random Direction Models", INFOCOM 2005), so that a run begins and stays stationary.

use super::{Area, Leg, MobilityError, Position, Velocity};
use des::RandomStream;
use std::f64::consts::TAU;
use units::Time;

/// The settings of Gauss-Markov.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GaussMarkov {
    /// Correlation of a component of the velocity with itself one step earlier: at least 0, below 1.
    pub memory: f64,
    /// Speed of the mean velocity, in metres per second; its direction is drawn once for each node. With 0 a node
    /// wanders about.
    pub drift_mps: f64,
    /// Standard deviation of each component around the mean velocity, in metres per second. Without drift the mean
    /// speed is sqrt(pi/2) = 1.253 times this.
    pub deviation_mps: f64,
    /// How long a velocity holds.
    pub step: Time,
}

/// One wanderer, apart from the leg it is on.
#[derive(Debug, Clone)]
pub(super) struct Wanderer {
    stream: RandomStream,
    area: Area,
    spec: GaussMarkov,
    mean: Velocity,
    velocity: Velocity,
    /// When the next velocity is drawn.
    turn: Time,
}

impl Wanderer {
    pub(super) fn new(seed: u64, node: u32, area: Area, spec: &GaussMarkov) -> Result<(Self, Leg), MobilityError> {
        if !(0.0..1.0).contains(&spec.memory) {
            return Err(MobilityError::Memory(spec.memory));
        }
        for speed in [spec.drift_mps, spec.deviation_mps] {
            if !(speed.is_finite() && speed >= 0.0) {
                return Err(MobilityError::Speed(speed));
            }
        }
        if spec.step == Time::ZERO {
            return Err(MobilityError::Step);
        }
        let mut stream = RandomStream::new(seed, "wifi/gauss-markov", u64::from(node));
        let place = Position::ground(stream.range(0.0, area.width_m), stream.range(0.0, area.height_m));
        let (sin, cos) = libm::sincos(TAU * stream.uniform());
        let mean = Velocity { x: spec.drift_mps * cos, y: spec.drift_mps * sin, z: 0.0 };
        let mut component = |mean| mean + spec.deviation_mps * stream.normal();
        let velocity = Velocity { x: component(mean.x), y: component(mean.y), z: 0.0 };
        let mut wanderer = Self { stream, area, spec: *spec, mean, velocity, turn: spec.step };
        let leg = wanderer.from(place, Time::ZERO);
        Ok((wanderer, leg))
    }

    pub(super) fn after(&mut self, leg: &Leg) -> Leg {
        if leg.until >= self.turn {
            let (memory, deviation) =
                (self.spec.memory, self.spec.deviation_mps * (1.0 - self.spec.memory * self.spec.memory).sqrt());
            let stream = &mut self.stream;
            let mut next =
                |velocity: f64, mean: f64| memory * velocity + (1.0 - memory) * mean + deviation * stream.normal();
            self.velocity =
                Velocity { x: next(self.velocity.x, self.mean.x), y: next(self.velocity.y, self.mean.y), z: 0.0 };
            self.turn = leg.until.saturating_add(self.spec.step);
        }
        self.from(leg.position(leg.until), leg.until)
    }

    /// The leg from `place` to the next turn or edge, reflected first if it leads out of the area.
    fn from(&mut self, place: Position, from: Time) -> Leg {
        let (x, at_x) = (place.x.clamp(0.0, self.area.width_m), self.area.width_m);
        let (y, at_y) = (place.y.clamp(0.0, self.area.height_m), self.area.height_m);
        let x_edge = reflect(x, at_x, &mut self.velocity.x, &mut self.mean.x);
        let y_edge = reflect(y, at_y, &mut self.velocity.y, &mut self.mean.y);
        let edge = from.saturating_add(Time::from_secs_f64(x_edge.min(y_edge)).max(Time::from_ps(1)));
        Leg { from, until: edge.min(self.turn), start: Position::ground(x, y), velocity: self.velocity }
    }
}

/// Turns a velocity inwards where it leads over the edge at 0 or `side`, and tells in how many seconds the next edge
/// comes.
fn reflect(place: f64, side: f64, velocity: &mut f64, mean: &mut f64) -> f64 {
    // Places within a nanometre of an edge are on it: legs end at whole picoseconds.
    const ON: f64 = 1e-9;
    if (place <= ON && *velocity < 0.0) || (place >= side - ON && *velocity > 0.0) {
        *velocity = -*velocity;
        *mean = -*mean;
    }
    let left = if *velocity > 0.0 { side - place } else { place };
    if *velocity == 0.0 { f64::INFINITY } else { left / velocity.abs() }
}
