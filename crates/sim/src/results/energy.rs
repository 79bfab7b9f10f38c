//! What nodes have drawn.

use units::{Energy, Time};

/// Energy of a run, where the scenario says what its hardware draws.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnergyUse {
    /// Nodes whose draw is known.
    pub nodes: Vec<NodeEnergy>,
    /// What all of them drew between a job's submission and its end, by job; none where it has not ended. Exact to a step of the sampled series.
    pub jobs: Vec<Option<Energy>>,
}

/// Energy of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeEnergy {
    /// Which: a row of the nodes.
    pub node: u32,
    /// For being on.
    pub idle: Energy,
    /// For its screen.
    pub screen: Energy,
    /// For the work of its cores.
    pub processor: Energy,
    /// For its radio.
    pub radio: Energy,
    /// What its battery holds when it is full, and what it held at the end.
    pub battery: Option<(Energy, Energy)>,
    /// When its battery was empty, and the node went down for good.
    pub empty: Option<Time>,
    /// How long its processor ran slower, hot or low on charge, and how often it began to.
    pub throttled: (Time, u32),
}

/// For how long a node's radio did what; together, the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RadioUse {
    /// It sent.
    pub transmit: Time,
    /// It received a frame.
    pub receive: Time,
    /// It was awake and did neither.
    pub listen: Time,
    /// It slept between beacons.
    pub sleep: Time,
    /// Its node was down.
    pub off: Time,
}

impl NodeEnergy {
    /// All of it.
    pub fn total(&self) -> Energy {
        self.idle + self.screen + self.processor + self.radio
    }
}

impl EnergyUse {
    /// Of all nodes.
    pub fn total(&self) -> Energy {
        self.nodes.iter().map(NodeEnergy::total).sum()
    }
    /// When the first battery was empty.
    pub fn first_empty(&self) -> Option<Time> {
        self.nodes.iter().filter_map(|node| node.empty).min()
    }
}
