//! Nodes and containers as the ResourceManager tracks them, and what each NodeManager has to report.

use super::{Container, Resources, Role};
use crate::ids::{ApplicationId, ContainerId, NodeId};
use des::Index;
use units::{Bytes, Time};

/// A node as the ResourceManager sees it.
#[derive(Debug)]
struct Node {
    free: Resources,
    /// When its last heartbeat came; none before the first, and after the node was given up.
    last_heartbeat: Option<Time>,
    /// The life of the NodeManager that is registered.
    life: u32,
    containers: Vec<ContainerId>,
    /// Containers that its NodeManager is to stop, by the reply to its next heartbeat.
    clean_up: Vec<ContainerId>,
}

/// What a NodeManager has to report at its next heartbeat.
#[derive(Debug, Default)]
struct NodeManager {
    completed: Vec<ContainerId>,
    /// Completed containers in the heartbeat under way.
    reported: Vec<ContainerId>,
    /// Counts the node's lives.
    life: u32,
    /// Counts its waits for the next heartbeat, so that the timer of an earlier one is known.
    waits: u32,
    /// It waits for one, and has none under way.
    waiting: bool,
}

/// The nodes with their containers, and the NodeManagers.
#[derive(Debug)]
pub(super) struct NodeTracker {
    nodes: Vec<Node>,
    containers: Vec<Container>,
    managers: Vec<NodeManager>,
}

impl NodeTracker {
    /// So many nodes. The first is the master: no container runs there.
    pub fn new(worker: Resources, nodes: usize) -> Self {
        let nothing = Resources { memory: Bytes::ZERO, vcores: 0 };
        let node = |number: usize| Node {
            free: if number == 0 { nothing } else { worker },
            last_heartbeat: None,
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

    // === Containers ===

    /// A container that was granted.
    pub fn container(&self, id: ContainerId) -> &Container {
        &self.containers[id.0 as usize]
    }
    pub fn container_mut(&mut self, id: ContainerId) -> &mut Container {
        &mut self.containers[id.0 as usize]
    }
    /// An application's containers that have not ended.
    pub fn containers_of(&self, application: ApplicationId) -> Vec<ContainerId> {
        let here = |id: &ContainerId| self.container(*id).application == application;
        self.nodes.iter().flat_map(|node| node.containers.iter().copied()).filter(here).collect()
    }
    /// What no container of a node holds.
    pub fn free_on(&self, node: NodeId) -> Resources {
        self.nodes[node.0 as usize].free
    }
    /// Whether a node has room for a container.
    pub fn fits(&self, node: NodeId, resources: Resources) -> bool {
        let free = &self.nodes[node.0 as usize].free;
        free.memory >= resources.memory && free.vcores >= resources.vcores
    }
    /// Memory that no container holds, on active nodes.
    pub fn free_memory(&self) -> Bytes {
        self.nodes.iter().filter(|node| node.last_heartbeat.is_some()).map(|node| node.free.memory).sum()
    }
    /// Grants a container on a node that has room for it.
    pub fn grant(
        &mut self,
        now: Time,
        application: ApplicationId,
        node: NodeId,
        role: Role,
        resources: Resources,
    ) -> ContainerId {
        let id = ContainerId::from_usize(self.containers.len());
        self.containers.push(Container {
            application,
            node,
            role,
            resources,
            granted: now,
            launched: false,
            started: false,
            ended: false,
        });
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

    // === Nodes ===

    /// Whether a node's heartbeats come, as far as the ResourceManager knows.
    pub fn is_active(&self, node: NodeId) -> bool {
        self.nodes[node.0 as usize].last_heartbeat.is_some()
    }
    /// Whether an active node's last heartbeat came within this time.
    pub fn spoke_within(&self, now: Time, node: NodeId, time: Time) -> bool {
        self.nodes[node.0 as usize].last_heartbeat.is_some_and(|last| now.saturating_sub(last) <= time)
    }
    /// Whether an active node has been silent for the expiry interval.
    pub fn is_expired(&self, now: Time, node: NodeId, expiry: Time) -> bool {
        self.nodes[node.0 as usize].last_heartbeat.is_some_and(|last| last.saturating_add(expiry) <= now)
    }
    /// A heartbeat has come; whether the NodeManager has restarted since the one before.
    pub fn registers_anew(&mut self, node: NodeId) -> bool {
        let life = self.manager(node).life;
        std::mem::replace(&mut self.node(node).life, life) != life
    }
    pub fn on_heartbeat(&mut self, now: Time, node: NodeId) {
        self.node(node).last_heartbeat = Some(now);
    }
    /// The ResourceManager gives a node up; returns the containers that were there.
    pub fn give_up(&mut self, node: NodeId) -> Vec<ContainerId> {
        let state = self.node(node);
        state.last_heartbeat = None;
        std::mem::take(&mut state.containers)
    }
    /// The reply to the next heartbeat of a container's node tells it to stop the container.
    pub fn clean_up(&mut self, container: ContainerId) {
        let node = self.container(container).node;
        self.node(node).clean_up.push(container);
    }
    /// How many containers a node is to stop.
    pub fn to_clean_up(&self, node: NodeId) -> usize {
        self.nodes[node.0 as usize].clean_up.len()
    }

    // === NodeManagers ===

    /// A NodeManager waits for its next heartbeat anew; returns which of its waits that is.
    pub fn wait(&mut self, node: NodeId) -> u32 {
        let manager = self.manager(node);
        manager.waits += 1;
        manager.waiting = true;
        manager.waits
    }
    /// Whether it is in this one of its waits.
    pub fn is_waiting(&self, node: NodeId, wait: u32) -> bool {
        let manager = &self.managers[node.0 as usize];
        manager.waiting && manager.waits == wait
    }
    /// A NodeManager sees that a container's process is gone; returns whether it waits for its next heartbeat.
    pub fn exited(&mut self, container: ContainerId) -> bool {
        let node = self.container(container).node;
        let manager = self.manager(node);
        manager.completed.push(container);
        manager.waiting
    }
    /// A NodeManager's heartbeat leaves; returns how many containers it reports as completed.
    pub fn send_heartbeat(&mut self, node: NodeId) -> usize {
        let manager = self.manager(node);
        manager.waiting = false;
        let completed = std::mem::take(&mut manager.completed);
        let count = completed.len();
        manager.reported.extend(completed);
        count
    }
    /// The containers that the heartbeat under way reports as completed.
    pub fn reported(&self, node: NodeId) -> Vec<ContainerId> {
        self.managers[node.0 as usize].reported.clone()
    }
    /// The heartbeat was answered; returns the containers that the NodeManager is to stop.
    pub fn heartbeat_answered(&mut self, node: NodeId) -> Vec<ContainerId> {
        self.manager(node).reported.clear();
        std::mem::take(&mut self.node(node).clean_up)
    }
    /// The heartbeat has failed: the next one reports the same again.
    pub fn heartbeat_failed(&mut self, node: NodeId) {
        let manager = self.manager(node);
        let reported = std::mem::take(&mut manager.reported);
        manager.completed.extend(reported);
    }
    /// A node's processes are gone; the ResourceManager notices by silence.
    pub fn node_down(&mut self, node: NodeId) {
        let NodeManager { life, waits, .. } = *self.manager(node);
        *self.manager(node) = NodeManager { life: life + 1, waits, ..NodeManager::default() };
        self.node(node).clean_up.clear();
    }
}
