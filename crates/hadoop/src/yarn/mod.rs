//! What YARN's ResourceManager knows of its nodes and containers, and what each NodeManager has to tell it.
//!
//! It knows a container's application, its role and its resources, and nothing of what runs in it. A framework asks whether a node has room, takes
//! containers and gives them back; who is offered a node first, and how near to its data a task must be, is decided with [`scheduler`].

pub(crate) mod scheduler;

use crate::ids::{AttemptId, ContainerId, JobId, NodeId};
use des::Index;
use units::{Bytes, Time};

/// What a container is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The application's master.
    Master,
    /// A task, by the priority with which the application asked for it (YARN serves lower numbers first).
    Task(u32),
}

/// What a container holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resources {
    pub memory: Bytes,
    pub vcores: u32,
}

/// A container that was granted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Container {
    /// Its application.
    pub job: JobId,
    pub node: NodeId,
    pub role: Role,
    pub resources: Resources,
    /// What the application runs in it.
    pub attempt: Option<AttemptId>,
    pub granted: Time,
    /// Its NodeManager has begun to start it (masters).
    pub started: bool,
    pub ended: bool,
}

/// A node as the ResourceManager sees it.
#[derive(Debug)]
struct Node {
    free: Resources,
    /// Its last heartbeat; none before the first, and after it was lost.
    heard: Option<Time>,
    /// Which of the node's lives it knows.
    life: u32,
    containers: Vec<ContainerId>,
    /// Attempts that it is to stop (their master was lost).
    clean_up: Vec<AttemptId>,
}

/// A NodeManager: what it has to tell at its next heartbeat.
#[derive(Debug, Default)]
struct NodeManager {
    ended: Vec<ContainerId>,
    /// On their way in a heartbeat.
    telling: Vec<ContainerId>,
    /// Counts the node's lives, so that a timer of an earlier one is known.
    life: u32,
}

/// The ResourceManager's nodes and containers, and the NodeManagers.
#[derive(Debug)]
pub(crate) struct Yarn {
    nodes: Vec<Node>,
    containers: Vec<Container>,
    managers: Vec<NodeManager>,
}

impl Yarn {
    /// So many nodes, of which the first runs the masters and no container.
    pub fn new(worker: Resources, nodes: usize) -> Self {
        let nothing = Resources { memory: Bytes::ZERO, vcores: 0 };
        let node = |number: usize| Node {
            free: if number == 0 { nothing } else { worker },
            heard: None,
            life: 0,
            containers: Vec::new(),
            clean_up: Vec::new(),
        };
        Self {
            nodes: (0..nodes).map(node).collect(),
            containers: Vec::new(),
            managers: (0..nodes).map(|_| NodeManager::default()).collect(),
        }
    }
    fn node(&mut self, node: NodeId) -> &mut Node {
        &mut self.nodes[node.0 as usize]
    }
    fn manager(&mut self, node: NodeId) -> &mut NodeManager {
        &mut self.managers[node.0 as usize]
    }
    /// A container that was granted.
    pub fn container(&self, id: ContainerId) -> &Container {
        &self.containers[id.0 as usize]
    }
    pub fn container_mut(&mut self, id: ContainerId) -> &mut Container {
        &mut self.containers[id.0 as usize]
    }

    /// Whether a node has room for a container.
    pub fn fits(&self, node: NodeId, resources: Resources) -> bool {
        let free = &self.nodes[node.0 as usize].free;
        free.memory >= resources.memory && free.vcores >= resources.vcores
    }
    /// Memory that no container holds, on nodes that are heard of.
    pub fn free_memory(&self) -> Bytes {
        self.nodes.iter().filter(|node| node.heard.is_some()).map(|node| node.free.memory).sum()
    }
    /// Grants a container on a node that has room for it.
    pub fn grant(&mut self, now: Time, job: JobId, node: NodeId, role: Role, resources: Resources) -> ContainerId {
        let id = ContainerId::from_usize(self.containers.len());
        let container =
            Container { job, node, role, resources, attempt: None, granted: now, started: false, ended: false };
        self.containers.push(container);
        let state = self.node(node);
        state.free.memory -= resources.memory;
        state.free.vcores -= resources.vcores;
        state.containers.push(id);
        id
    }
    /// The ResourceManager knows that a container has ended; returns it unless it knew before.
    pub fn free(&mut self, id: ContainerId) -> Option<Container> {
        let container = self.container_mut(id);
        if std::mem::replace(&mut container.ended, true) {
            return None;
        }
        let container = *container;
        let state = self.node(container.node);
        state.free.memory += container.resources.memory;
        state.free.vcores += container.resources.vcores;
        state.containers.retain(|&other| other != id);
        Some(container)
    }

    /// Whether the ResourceManager hears of a node.
    pub fn is_heard(&self, node: NodeId) -> bool {
        self.nodes[node.0 as usize].heard.is_some()
    }
    /// Whether it has not heard of a node for so long that it gives it up.
    pub fn is_overdue(&self, now: Time, node: NodeId, expiry: Time) -> bool {
        self.nodes[node.0 as usize].heard.is_some_and(|heard| heard.saturating_add(expiry) <= now)
    }
    /// A NodeManager's heartbeat is there; whether it has restarted since the last one.
    pub fn registers_anew(&mut self, node: NodeId) -> bool {
        let life = self.manager(node).life;
        std::mem::replace(&mut self.node(node).life, life) != life
    }
    pub fn hear(&mut self, now: Time, node: NodeId) {
        self.node(node).heard = Some(now);
    }
    /// The ResourceManager gives a node up; returns the containers that were there.
    pub fn lose(&mut self, node: NodeId) -> Vec<ContainerId> {
        let state = self.node(node);
        state.heard = None;
        std::mem::take(&mut state.containers)
    }
    /// A NodeManager is to stop an attempt when it is next heard.
    pub fn clean_up(&mut self, node: NodeId, attempt: AttemptId) {
        self.node(node).clean_up.push(attempt);
    }
    /// How many attempts a node is to stop.
    pub fn to_clean_up(&self, node: NodeId) -> usize {
        self.nodes[node.0 as usize].clean_up.len()
    }

    /// Which of its lives a NodeManager is in.
    pub fn life(&self, node: NodeId) -> u32 {
        self.managers[node.0 as usize].life
    }
    /// A NodeManager sees that a container's process is gone; its next heartbeat tells.
    pub fn exited(&mut self, node: NodeId, container: ContainerId) {
        self.manager(node).ended.push(container);
    }
    /// A NodeManager's heartbeat leaves; returns how many containers it says have ended.
    pub fn beat(&mut self, node: NodeId) -> usize {
        let manager = self.manager(node);
        let ended = std::mem::take(&mut manager.ended);
        let count = ended.len();
        manager.telling.extend(ended);
        count
    }
    /// The containers that a NodeManager's heartbeat says have ended.
    pub fn told(&self, node: NodeId) -> Vec<ContainerId> {
        self.managers[node.0 as usize].telling.clone()
    }
    /// The heartbeat was answered; returns the attempts that the NodeManager is to stop.
    pub fn beat_answered(&mut self, node: NodeId) -> Vec<AttemptId> {
        self.manager(node).telling.clear();
        std::mem::take(&mut self.node(node).clean_up)
    }
    /// The heartbeat has failed: the next one says it all again.
    pub fn beat_failed(&mut self, node: NodeId) {
        let manager = self.manager(node);
        let telling = std::mem::take(&mut manager.telling);
        manager.ended.extend(telling);
    }
    /// A node's processes are gone; the ResourceManager hears of it by silence.
    pub fn node_down(&mut self, node: NodeId) {
        let life = self.manager(node).life + 1;
        *self.manager(node) = NodeManager { life, ..NodeManager::default() };
        self.node(node).clean_up.clear();
    }
}
