//! Movements from files: ns-2's setdest scripts and BonnMotion's waypoints.

mod bonnmotion;
mod setdest;

pub use bonnmotion::read_bonnmotion;
pub use setdest::read_setdest;

use super::{Area, Leg, Position};
use thiserror::Error;
use units::Time;

/// Why a trace cannot be followed, and in which line, counted from 1.
#[derive(Clone, PartialEq, Debug, Error)]
#[error("line {line}: {problem}")]
pub struct TraceError {
    /// Line number, from 1.
    pub line: usize,
    /// The problem with it.
    pub problem: TraceProblem,
}

/// What is wrong with a line of a trace.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum TraceProblem {
    /// A word that should be a number.
    #[error("`{0}` is not a number")]
    Number(String),
    /// A time outside of the simulator's range, in seconds.
    #[error("a time of {0} s is impossible: it must lie between 0 s and 213 days")]
    Time(f64),
    #[error("{what} of node {node} at {time_s} s comes after one at {before_s} s: a node's times must not run back")]
    /// A node's command is earlier than the one before it.
    RunsBack {
        /// The kind of command.
        what: &'static str,
        /// The node.
        node: u32,
        /// Time of the command in seconds.
        time_s: f64,
        /// Time of the node's previous command in seconds.
        before_s: f64,
    },
    #[error("node {node} is unknown: there are {nodes} nodes, numbered from 0")]
    /// A node number that the scenario does not have.
    UnknownNode {
        /// The number in the trace.
        node: u64,
        /// How many nodes there are.
        nodes: usize,
    },
    #[error(
        "node {node} is sent to ({x}, {y}) m, outside the area of {} m x {} m, which leaves out {outside} of the file's \
         {places} places: x is from {} to {} m, y from {} to {} m",
        .area.width_m(), .area.height_m(), .least.x, .greatest.x, .least.y, .greatest.y
    )]
    /// Destinations outside of the area: the first, and how many there are in which extent.
    Outside {
        /// The node.
        node: u32,
        /// Coordinate along the area's width in metres.
        x: f64,
        /// Coordinate along the area's height in metres.
        y: f64,
        /// The area.
        area: Area,
        /// How many of the file's places are outside.
        outside: u32,
        /// How many places the file has.
        places: u32,
        /// The least coordinates of all places.
        least: Position,
        /// The greatest coordinates of all places.
        greatest: Position,
    },
    #[error(
        "node {node} jumps from ({}, {}) to ({}, {}) m at {time_s} s: moving takes time",
        .from.x, .from.y, .to.x, .to.y
    )]
    /// Two positions at the same time.
    Jump {
        /// The node.
        node: u32,
        /// Where it is.
        from: Position,
        /// Where the trace puts it.
        to: Position,
        /// Time of the jump in seconds.
        time_s: f64,
    },
    /// A negative speed, or one that is not a number, in m/s.
    #[error("a speed of {0} m/s is impossible: it must be at least 0 m/s")]
    Speed(f64),
    /// A line of waypoints whose count of numbers is no multiple of three.
    #[error("{0} numbers: each waypoint is a time, x and y")]
    Triples(usize),
    /// XML, as of SUMO.
    #[error(
        "XML is no trace of movements: of SUMO's floating car data its `traceExporter.py` makes one \
         (`--fcd-input FILE --ns2mobility-output FILE`)"
    )]
    Xml,
    /// A node without a position.
    #[error("the trace ends without a place for node {0}")]
    NoPlace(u32),
    /// A line that is no command.
    #[error(
        "`{0}` is not a movement: expected `$node_(N) set X_ x` or `$ns_ at TIME \"$node_(N) setdest X Y SPEED\"`, or, \
         in a file that ends in `.movements`, BonnMotion's `TIME X Y ...`"
    )]
    Unknown(String),
}

impl TraceProblem {
    const fn at(self, line: usize) -> TraceError {
        TraceError { line, problem: self }
    }
}

/// The legs that are still to come.
#[derive(Debug, Clone)]
pub(super) struct Itinerary(std::vec::IntoIter<Leg>);

impl Itinerary {
    /// What comes after the first of `legs`, and the first.
    pub(super) fn new(legs: Vec<Leg>) -> (Self, Leg) {
        let mut legs = legs.into_iter();
        let first = legs.next().unwrap_or(Leg::rest(Position::default(), Time::ZERO, Time::MAX));
        (Self(legs), first)
    }
    /// The next leg; after the last the node rests where that led.
    pub(super) fn after(&mut self, leg: &Leg) -> Leg {
        self.0.next().unwrap_or_else(|| Leg::rest(leg.position(leg.until), leg.until, Time::MAX))
    }
}

/// A number as traces write it; `inf` and `nan` are none.
fn number(text: &str) -> Result<f64, TraceProblem> {
    text.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(|| TraceProblem::Number(shortened(text)))
}

/// A time in seconds as a [`Time`] before [`Time::MAX`].
fn time(seconds: f64) -> Result<Time, TraceProblem> {
    const LONGEST: f64 = 213.0 * 86_400.0;
    if (0.0..=LONGEST).contains(&seconds) { Ok(Time::from_secs_f64(seconds)) } else { Err(TraceProblem::Time(seconds)) }
}

/// A node's number, if there are so many.
fn known(node: u64, nodes: usize) -> Result<u32, TraceProblem> {
    u32::try_from(node).ok().filter(|node| (*node as usize) < nodes).ok_or(TraceProblem::UnknownNode { node, nodes })
}

/// The places of a file, and whether all of them lie in the area.
#[derive(Debug)]
struct Extent {
    area: Area,
    places: u32,
    outside: u32,
    /// The first place outside of the area, with its line and node.
    first: Option<(usize, u32, Position)>,
    least: Position,
    greatest: Position,
}

impl Extent {
    const fn new(area: Area) -> Self {
        let least = Position::ground(f64::INFINITY, f64::INFINITY);
        let greatest = Position::ground(f64::NEG_INFINITY, f64::NEG_INFINITY);
        Self { area, places: 0, outside: 0, first: None, least, greatest }
    }
    /// Takes in a place of a line.
    fn place(&mut self, line: usize, node: u32, x: f64, y: f64) -> Position {
        let place = Position::ground(x, y);
        self.places += 1;
        self.least = Position::ground(self.least.x.min(x), self.least.y.min(y));
        self.greatest = Position::ground(self.greatest.x.max(x), self.greatest.y.max(y));
        if !self.area.contains(place) {
            self.outside += 1;
            // The lines of a file do not have to name nodes, or first places, in their order.
            if self.first.is_none_or(|(before, ..)| line < before) {
                self.first = Some((line, node, place));
            }
        }
        place
    }
    /// Whether all places lie in the area.
    fn check(self) -> Result<(), TraceError> {
        let Self { area, places, outside, first, least, greatest } = self;
        let Some((line, node, Position { x, y, .. })) = first else { return Ok(()) };
        Err(TraceProblem::Outside { node, x, y, area, outside, places, least, greatest }.at(line))
    }
}

/// The beginning of a text, short enough for an error message.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        text.into()
    } else {
        text.chars().take(LONGEST).chain("...".chars()).collect()
    }
}
