//! Random waypoint: go straight to a place drawn uniformly, at a speed drawn uniformly, rest, and again (Johnson and
//! Maltz 1996).
//!
//! A leg at low speed lasts long, so that nodes met at a random time are slower than the speeds drawn, and nearer to
//! the middle of the area than uniform. A run that begins with uniform places and speeds drifts from those to the
//! stationary state; with a lowest speed of zero it never arrives there (Yoon, Liu and Noble, "Random Waypoint
//! Considered Harmful", INFOCOM 2003). [`Start::Stationary`] draws the first leg from the stationary distributions
//! (Navidi and Camp, IEEE Transactions on Mobile Computing 3, 2004), so that nothing drifts.

use super::{Area, Leg, MobilityError, Position};
use des::RandomStream;
use units::Time;

/// The settings of random waypoint.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RandomWaypoint {
    /// Lowest and highest speed, in metres per second.
    pub speed_mps: (f64, f64),
    /// Rest at each waypoint.
    pub pause: Time,
    /// Distribution of the first leg.
    pub start: Start,
}

/// The state in which a node begins.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Start {
    /// In the middle of a leg or a rest, as met at a random time in a run that has lasted for ever.
    Stationary,
    /// At a place drawn uniformly, at the beginning of a rest: what ns-2's setdest and ns-3 do.
    Uniform,
    /// At this place, at the beginning of a rest.
    At(Position),
}

/// One traveller, apart from the leg it is on.
#[derive(Debug, Clone)]
pub(super) struct Traveller {
    stream: RandomStream,
    area: Area,
    speed_mps: (f64, f64),
    pause: Time,
    /// Where the present leg leads, or where the node rests.
    goal: Position,
    resting: bool,
}

impl Traveller {
    /// The traveller whose draws come from the stream `name` number `index`, and its first leg.
    pub(super) fn new(
        seed: u64,
        name: &str,
        index: u64,
        area: Area,
        spec: &RandomWaypoint,
    ) -> Result<(Self, Leg), MobilityError> {
        let (low, high) = spec.speed_mps;
        if !(low > 0.0 && high >= low && high.is_finite()) {
            return Err(MobilityError::Speeds { low, high });
        }
        let mut stream = RandomStream::new(seed, name, index);
        let goal = match spec.start {
            Start::At(place) => area.check(place)?,
            Start::Uniform | Start::Stationary => uniform(&mut stream, &area),
        };
        let mut traveller = Self { stream, area, speed_mps: spec.speed_mps, pause: spec.pause, goal, resting: true };
        let leg = if spec.start == Start::Stationary {
            traveller.stationary()
        } else {
            Leg::rest(goal, Time::ZERO, spec.pause)
        };
        Ok((traveller, leg))
    }

    pub(super) fn after(&mut self, leg: &Leg) -> Leg {
        if !self.resting && self.pause > Time::ZERO {
            self.resting = true;
            return Leg::rest(self.goal, leg.until, leg.until.saturating_add(self.pause));
        }
        self.resting = false;
        let (low, high) = self.speed_mps;
        let (start, speed) = (self.goal, self.stream.range(low, high));
        self.goal = uniform(&mut self.stream, &self.area);
        towards(start, self.goal, speed, leg.until)
    }

    /// A first leg as one finds it at a random time: with the probability of a rest a place drawn uniformly and a
    /// remainder of the rest; otherwise a way drawn with probability proportional to its length, a point drawn
    /// uniformly on it, and a speed with density proportional to 1/speed.
    fn stationary(&mut self) -> Leg {
        let (low, high) = self.speed_mps;
        let slowness = if high > low { libm::log(high / low) / (high - low) } else { 1.0 / low };
        let (pause, travel) = (self.pause.as_secs_f64(), mean_distance(&self.area) * slowness);
        if self.stream.chance(pause / (pause + travel)) {
            let left = self.pause.mul_f64(1.0 - self.stream.uniform());
            return Leg::rest(self.goal, Time::ZERO, left);
        }
        self.resting = false;
        let longest = libm::hypot(self.area.width_m, self.area.height_m);
        let (from, to) = loop {
            let (from, to) = (uniform(&mut self.stream, &self.area), uniform(&mut self.stream, &self.area));
            if self.stream.uniform() * longest < from.distance(to) {
                break (from, to);
            }
        };
        let done = self.stream.uniform();
        let speed = low * libm::pow(high / low, self.stream.uniform());
        self.goal = to;
        let place = Position::ground(from.x + done * (to.x - from.x), from.y + done * (to.y - from.y));
        towards(place, to, speed, Time::ZERO)
    }
}

/// The leg from `start` to `goal` at `speed`. It lasts at least a picosecond, so that time goes on.
pub(super) fn towards(start: Position, goal: Position, speed: f64, from: Time) -> Leg {
    let seconds = (start.distance(goal) / speed).max(1e-12);
    let until = from.saturating_add(Time::from_secs_f64(seconds));
    Leg { from, until, start, velocity: start.velocity(goal, seconds) }
}

fn uniform(stream: &mut RandomStream, area: &Area) -> Position {
    Position::ground(stream.range(0.0, area.width_m), stream.range(0.0, area.height_m))
}

/// The mean distance of two places drawn uniformly in a rectangle (Ghosh 1951): 0.5214 of the side of a square.
fn mean_distance(area: &Area) -> f64 {
    let (a, b) = (area.width_m, area.height_m);
    let (aa, bb, d) = (a * a, b * b, libm::hypot(a, b));
    let corners = aa * a / bb + bb * b / aa + d * (3.0 - aa / bb - bb / aa);
    corners / 15.0 + (bb / a * libm::acosh(d / b) + aa / b * libm::acosh(d / a)) / 6.0
}
