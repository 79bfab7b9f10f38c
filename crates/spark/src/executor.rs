//! An executor: its cores, its connections, and what it has of stages.

use crate::allocation::Idle;
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

/// Whether an executor's process has read the list of messages that exceptions of Spark's have.
#[derive(Debug, Default)]
pub enum Messages {
    #[default]
    Unknown,
    /// It reads it. Tasks wait that cannot fetch from an executor.
    Reading(Vec<(usize, usize)>),
    Known,
}

/// An executor.
#[derive(Debug)]
pub struct Executor {
    pub node: NodeId,
    pub cores: u32,
    pub free: u32,
    /// Tasks that run on it, as far as the driver knows, and how long it is kept without any.
    pub running: u32,
    pub idle: Idle,
    /// To the driver; this executor is the client.
    pub driver: ConnId,
    /// To the block managers of others, by executor; the driver's has the number [`DRIVER`].
    pub peers: BTreeMap<usize, ConnId>,
    /// To the shuffle services of other nodes.
    pub services: BTreeMap<NodeId, ConnId>,
    pub has: BTreeSet<Need>,
    /// Stages of which a task has ended here: their classes are loaded and compiled.
    pub warm: BTreeSet<usize>,
    /// It was given back: it gets no more tasks, and what it has written stays.
    pub is_given_back: bool,
    /// The driver has asked for its end: it gets no more tasks.
    pub is_killed: bool,
    /// Its process is gone.
    pub is_dead: bool,
    /// Nobody serves its shuffle files any more.
    pub is_without_files: bool,
    /// The driver knows that its process is gone.
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
    /// When it was first excluded from the application.
    pub excluded: Option<Time>,
    /// On YARN: when its heartbeats come, as the part of an interval that is past.
    pub heartbeat: f64,
    /// Tasks that wait for what was asked for.
    pub waits: BTreeMap<Need, Vec<usize>>,
    pub messages: Messages,
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
            running: 0,
            idle: Idle::default(),
            driver,
            peers,
            services: BTreeMap::new(),
            has,
            warm,
            is_given_back: false,
            is_killed: false,
            is_dead: false,
            is_without_files: false,
            is_lost: false,
            is_disabled: false,
            container: None,
            granted: None,
            registered: None,
            lost: None,
            excluded: None,
            heartbeat: 0.0,
            waits,
            messages: Messages::default(),
            turns: Turns::default(),
        }
    }

    /// Whether the driver knows that it runs no more tasks.
    pub const fn is_gone(&self) -> bool {
        self.is_lost || self.is_given_back
    }

    /// Whether its cores are offered where tasks may run on it.
    pub const fn takes_tasks(&self) -> bool {
        self.free > 0 && !self.is_disabled && !self.is_given_back && !self.is_killed
    }

    /// Whether the driver takes it for alive, be it that it gets no more tasks (`hostToExecutors`).
    pub const fn is_known(&self) -> bool {
        self.is_up() && !self.is_disabled
    }

    /// Whether the driver says that it lives to others that ask for its blocks (`isExecutorActive`).
    pub const fn is_active(&self) -> bool {
        !self.is_lost && !self.is_disabled && !self.is_killed
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
