//! Where nodes are, and how they move.

use super::Scenario;
use super::key::{choice, section};
use units::{Distance, Speed, Time};

choice! {
    /// Mobility models.
    pub enum MobilityKind {
        /// No movement.
        Static = "static",
        /// Random waypoint: to a random point at a random speed, then a pause.
        RandomWaypoint = "random-waypoint",
        /// Gauss-Markov: speed and direction change gradually (Liang and Haas 1999).
        GaussMarkov = "gauss-markov",
        /// Reference point groups: members move around a point that moves by random waypoint (Hong et al. 1999).
        Group = "group",
        /// A trace: ns-2's setdest, or BonnMotion.
        Trace = "trace",
    }
}

choice! {
    /// Initial positions.
    pub enum PlaceKind {
        /// Uniformly random in the area.
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
        /// Width and height of the area.
        area: Vec<Distance> = vec![Distance::from_metres(50), Distance::from_metres(50)], Distance::from_um(1_000)..=Distance::from_metres(1_000_000);
        /// Initial positions. Random-waypoint and group draw them by their model, except for nodes in `node`.
        place: PlaceKind = PlaceKind::Random;
        /// Radius of the circle (place circle).
        radius: Distance = Distance::from_metres(3), Distance::from_um(1_000)..=Distance::from_metres(1_000_000);
        /// Nodes with a given position.
        node: Vec<Place> = Vec::new();
        /// The mobility model.
        model: MobilityKind = MobilityKind::Static;
        /// Whether the master moves too.
        master_moves: bool = true;
        /// Lowest and highest speed (random-waypoint, group).
        speed: Vec<Speed> = vec![Speed::from_metres_per_s(1), Speed::from_metres_per_s(2)], Speed::from_um_per_s(1)..=Speed::from_metres_per_s(10_000);
        /// Pause at each waypoint (random-waypoint, group).
        pause: Time = Time::from_secs(2), Time::ZERO..=Time::from_secs(86_400);
        /// Whether speeds and positions start in the stationary distribution (random-waypoint; Navidi and Camp 2004).
        /// Else the mean speed falls for a long time.
        steady: bool = true;
        /// Part of the velocity that remains from step to step (gauss-markov).
        memory: f64 = 0.85, 0.0..=0.999_999;
        /// Speed of each node's mean velocity (gauss-markov).
        drift: Speed = Speed::from_metres_per_s(1), Speed::from_um_per_s(0)..=Speed::from_metres_per_s(10_000);
        /// Standard deviation of each component of the velocity (gauss-markov).
        deviation: Speed = Speed::from_um_per_s(500_000), Speed::from_um_per_s(0)..=Speed::from_metres_per_s(10_000);
        /// Time for which a velocity holds (gauss-markov), or for which a member moves from one point near its group's
        /// centre to the next (group).
        step: Time = Time::from_secs(1), Time::from_ms(1)..=Time::from_secs(3_600);
        /// Number of groups (group). Nodes join them in the order of their numbers, in equal runs.
        groups: u32 = 2, 1..=100_000;
        /// Greatest distance of members from their group's centre (group).
        spread: Distance = Distance::from_metres(10), Distance::ZERO..=Distance::from_metres(1_000_000);
        /// A file of movements (trace), its path relative to the scenario's: ns-2's `$ns_ at T "$node_(I) setdest X Y
        /// SPEED"` lines; or BonnMotion's line `T X Y ...` per node, in a file that ends in `.movements`. Node 0 is the
        /// master.
        file: String = String::new();
        /// Content of that file; filled in when the scenario is read.
        trace: String = String::new();
    }
}

section! {
    /// A node that stands at a given place.
    pub struct Place {
        /// The node.
        node: String = String::new();
        /// Its position: x and y.
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
