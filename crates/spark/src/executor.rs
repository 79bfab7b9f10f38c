//! An executor: its cores, its connections, and what it has of stages.

use hadoop::{ConnId, ContainerId, Data, NodeId, Nodes, Turns};
use std::collections::{BTreeMap, BTreeSet};
use units::Time;

/// The driver among executors, where it is one that has blocks.
pub const DRIVER: usize = usize::MAX;

/// What an executor has to get once, for all of its tasks of a stage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Need {
    /// The code of the stage's tasks and what is broadcast.
    Broadcast(usize),
    /// Where the outputs are that the stage reads (`MapOutputTracker`), of which the driver tells.
    Statuses(usize),
}

/// An executor.
#[derive(Debug)]
pub struct Executor {
    pub node: NodeId,
    pub cores: u32,
    pub free: u32,
    /// To the driver; this executor is the client.
    pub driver: ConnId,
    /// To the block managers of others, by executor; the driver's has the number [`DRIVER`].
    pub peers: BTreeMap<usize, ConnId>,
    pub has: BTreeSet<Need>,
    /// Stages of which a task has ended here: their classes are loaded and compiled.
    pub warm: BTreeSet<usize>,
    /// It was given back: it gets no more tasks, and what it has written stays.
    pub is_given_back: bool,
    /// Its process is gone, and all that it had on its node.
    pub is_dead: bool,
    /// The driver knows that.
    pub is_lost: bool,
    /// The driver has lost its connection, and gives it no more tasks.
    pub is_disabled: bool,
    /// On YARN: its container, and when that was granted.
    pub container: Option<ContainerId>,
    pub granted: Option<Time>,
    /// When the driver knew of it.
    pub registered: Option<Time>,
    /// When the driver knew that it was lost.
    pub lost: Option<Time>,
    /// On YARN: when its heartbeats come, as the part of an interval that is past.
    pub heartbeat: f64,
    /// Tasks that wait for what was asked for.
    pub waits: BTreeMap<Need, Vec<usize>>,
    pub turns: Turns,
}

impl Executor {
    /// One with no core to offer yet.
    pub fn new(node: NodeId, cores: u32, driver: ConnId) -> Self {
        let (peers, has, waits) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        let warm = BTreeSet::new();
        Self {
            node,
            cores,
            free: 0,
            driver,
            peers,
            has,
            warm,
            is_given_back: false,
            is_dead: false,
            is_lost: false,
            is_disabled: false,
            container: None,
            granted: None,
            registered: None,
            lost: None,
            heartbeat: 0.0,
            waits,
            turns: Turns::default(),
        }
    }

    /// Whether the driver knows that it runs no more tasks.
    pub const fn is_gone(&self) -> bool {
        self.is_lost || self.is_given_back
    }

    /// Whether tasks run on it, as far as the driver knows.
    pub const fn is_up(&self) -> bool {
        self.registered.is_some() && !self.is_gone()
    }

    /// The disk for its next file: those of its node in turn (`spark.local.dir`, of which files are spread over the
    /// folders).
    pub fn disk(&mut self, nodes: &Nodes, data: Data) -> u32 {
        self.turns.take(&nodes.info(self.node).disks, data)
    }
}
