//! An executor: its cores, its connections, and what it has of stages.

use hadoop::{ConnId, Data, NodeId, Nodes, Turns};
use std::collections::{BTreeMap, BTreeSet};

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
    pub free: u32,
    /// To the driver; this executor is the client.
    pub driver: ConnId,
    /// To the block managers of others, by executor; the driver's is behind all of them.
    pub peers: BTreeMap<usize, ConnId>,
    pub has: BTreeSet<Need>,
    /// Stages of which a task has ended here: their classes are loaded and compiled.
    pub warm: BTreeSet<usize>,
    /// Its process is gone, and all that it had on its node.
    pub is_dead: bool,
    /// The driver knows that.
    pub is_lost: bool,
    /// Tasks that wait for what was asked for.
    pub waits: BTreeMap<Need, Vec<usize>>,
    turns: Turns,
}

impl Executor {
    pub fn new(node: NodeId, cores: u32, driver: ConnId) -> Self {
        let (peers, has, waits) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        let warm = BTreeSet::new();
        Self {
            node,
            free: cores,
            driver,
            peers,
            has,
            warm,
            is_dead: false,
            is_lost: false,
            waits,
            turns: Turns::default(),
        }
    }

    /// The disk for its next file: those of its node in turn (`spark.local.dir`, of which files are spread over the
    /// folders).
    pub fn disk(&mut self, nodes: &Nodes, data: Data) -> u32 {
        self.turns.take(&nodes.info(self.node).disks, data)
    }
}
