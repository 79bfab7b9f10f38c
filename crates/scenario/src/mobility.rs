//! Where nodes are, and how they move.

use super::Scenario;
use super::key::{choice, section};
use units::{Distance, Speed, Time};

choice! {
    /// How nodes move.
    pub enum MobilityKind {
        /// They stand still.
        Static = "static",
        /// To a random point at a random speed, a pause there, and so on.
        RandomWaypoint = "random-waypoint",
        /// Speed and direction change little by little (Liang and Haas 1999).
        GaussMarkov = "gauss-markov",
        /// In groups: each around a point that moves by random waypoint (Hong et al. 1999).
        Group = "group",
        /// As a file says: ns-2's setdest, or BonnMotion.
        Trace = "trace",
    }
}

choice! {
    /// Where nodes stand at first.
    pub enum PlaceKind {
        /// Anywhere in the area.
        Random = "random",
        /// On a grid that fills the area.
        Grid = "grid",
        /// The master in the middle, the workers on a circle of `radius` around it.
        Circle = "circle",
    }
}

section! {
    /// Where nodes are, and how they move (topology wifi).
    pub struct Mobility {
        /// Width and height of the area in which they are.
        area: Vec<Distance> = vec![Distance::from_metres(50), Distance::from_metres(50)], Distance::from_um(1_000)..=Distance::from_metres(1_000_000);
        /// Where they stand at first; random-waypoint and group begin where their model says unless a `node` is given.
        place: PlaceKind = PlaceKind::Random;
        /// Radius of the circle.
        radius: Distance = Distance::from_metres(3), Distance::from_um(1_000)..=Distance::from_metres(1_000_000);
        /// Nodes that stand at a given place.
        node: Vec<Place> = Vec::new();
        /// How they move.
        model: MobilityKind = MobilityKind::Static;
        /// Whether the master moves too.
        master_moves: bool = true;
        /// Least and greatest speed (random-waypoint, group).
        speed: Vec<Speed> = vec![Speed::from_metres_per_s(1), Speed::from_metres_per_s(2)], Speed::from_um_per_s(1)..=Speed::from_metres_per_s(10_000);
        /// Pause at each point (random-waypoint, group).
        pause: Time = Time::from_secs(2), Time::ZERO..=Time::from_secs(86_400);
        /// Whether speeds and places are from the start as they are in the long run (random-waypoint; Navidi and Camp
        /// 2004); else the mean speed falls for a long time.
        steady: bool = true;
        /// How much of the velocity remains from step to step (gauss-markov).
        memory: f64 = 0.85, 0.0..=0.999_999;
        /// Speed of each node's mean velocity (gauss-markov).
        drift: Speed = Speed::from_metres_per_s(1), Speed::from_um_per_s(0)..=Speed::from_metres_per_s(10_000);
        /// Standard deviation of each component of the velocity (gauss-markov).
        deviation: Speed = Speed::from_um_per_s(500_000), Speed::from_um_per_s(0)..=Speed::from_metres_per_s(10_000);
        /// How long a velocity holds (gauss-markov), or the way of a member from one point near its group's centre to
        /// the next (group).
        step: Time = Time::from_secs(1), Time::from_ms(1)..=Time::from_secs(3_600);
        /// Groups (group): nodes in the order of their numbers in equal runs.
        groups: u32 = 2, 1..=100_000;
        /// How far members stray from their group's centre (group).
        spread: Distance = Distance::from_metres(10), Distance::ZERO..=Distance::from_metres(1_000_000);
        /// The file, its path relative to the scenario's (trace): `$ns_ at T "$node_(I) setdest X Y SPEED"` lines, or
        /// BonnMotion's `T X Y ...` line per node, in a file that ends in `.movements`. Node 0 is the master.
        file: String = String::new();
        /// What that file says; read from it.
        trace: String = String::new();
    }
}

section! {
    /// A node that stands at a given place.
    pub struct Place {
        /// The node.
        node: String = String::new();
        /// Where: x and y.
        at: Vec<Distance> = Vec::new(), Distance::ZERO..=Distance::from_metres(1_000_000);
    }
}

impl Scenario {
    /// The file of movements that the scenario names and does not hold yet, its path relative to the scenario's own.
    pub fn movement_file(&self) -> Option<String> {
        let mobility = self.mobility.as_ref()?;
        (!mobility.file.is_empty() && mobility.trace.is_empty()).then(|| mobility.file.clone())
    }

    /// Takes in the text of that file. What is wrong with it is said, with its line, before the run.
    pub fn take_movements(&mut self, text: &str) {
        if let Some(mobility) = &mut self.mobility {
            text.clone_into(&mut mobility.trace);
        }
    }
}
