//! An application as the ResourceManager knows it, and what its AppMaster asks for.

use super::Resources;
use super::scheduler::MissedOffers;
use crate::context::Nodes;
use crate::ids::{ContainerId, NodeId};
use crate::request::Framework;
use std::collections::BTreeMap;
use units::{Bytes, Time};

/// An application to run.
#[derive(Debug, Clone, Copy)]
pub struct ApplicationSpec {
    /// Whose it is.
    pub framework: Framework,
    /// When it is to be submitted: the order of FIFO scheduling.
    pub submit: Time,
    /// Its weight under fair sharing.
    pub weight: f64,
    /// What its AppMaster's container holds.
    pub master: Resources,
    /// AppMasters that it may lose before it fails, the last included.
    pub max_attempts: u32,
}

/// Where and when an AppMaster's container may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MasterPlacement {
    /// The only node for it; none if any will do.
    pub node: Option<NodeId>,
    /// Not earlier than this.
    pub not_before: Time,
}

/// How many of the containers asked for would be local on each node, and in each rack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Locations {
    /// By node.
    pub by_node: Vec<u32>,
    /// By rack.
    pub by_rack: BTreeMap<u32, u32>,
    /// Hosts and racks that are named and that the cluster has not.
    pub unknown: usize,
}

impl Locations {
    /// None on any of so many nodes.
    pub fn nowhere(nodes: usize) -> Self {
        Self { by_node: vec![0; nodes], by_rack: BTreeMap::new(), unknown: 0 }
    }
    /// `count` containers more would be local on `localhost`, which is none of the nodes. It is in the default rack:
    /// that of all nodes where they are in one.
    pub fn add_localhost(&mut self, count: u32, nodes: &Nodes) {
        match nodes.only_rack() {
            Some(rack) => {
                *self.by_rack.entry(rack).or_default() += count;
                self.unknown = 1;
            }
            None => self.unknown = 2,
        }
    }
    /// `count` containers more would be local on these nodes, and in their racks.
    pub fn add(&mut self, count: u32, hosts: &[NodeId], nodes: &Nodes) {
        let mut racks: Vec<u32> = Vec::new();
        for &host in hosts {
            self.by_node[host.0 as usize] += count;
            let rack = nodes.rack(host);
            if !racks.contains(&rack) {
                racks.push(rack);
                *self.by_rack.entry(rack).or_default() += count;
            }
        }
    }
    /// How many nodes are named.
    fn nodes(&self) -> usize {
        self.by_node.iter().filter(|&&count| count > 0).count()
    }
    /// How many hosts and racks are named.
    pub(super) fn places(&self) -> usize {
        self.nodes() + self.unknown + self.by_rack.values().filter(|&&count| count > 0).count()
    }
    pub(super) fn names_node(&self, node: NodeId) -> bool {
        self.by_node.get(node.0 as usize).is_some_and(|&count| count > 0)
    }
    pub(super) fn names_rack(&self, rack: u32) -> bool {
        self.by_rack.get(&rack).is_some_and(|&count| count > 0)
    }
    /// A container was granted on a node: one less is asked for there and in its rack.
    fn granted(&mut self, node: NodeId, nodes: &Nodes) {
        if let Some(count) = self.by_node.get_mut(node.0 as usize) {
            *count = count.saturating_sub(1);
        }
        if let Some(count) = self.by_rack.get_mut(&nodes.rack(node)) {
            *count = count.saturating_sub(1);
        }
    }
}

/// Containers of one priority that an AppMaster asks for (`ResourceRequest`).
#[derive(Debug, Clone)]
pub struct ContainerRequest {
    /// Lower numbers are served first. It names the request: an application has one of each priority.
    pub priority: u32,
    /// What each container holds.
    pub resources: Resources,
    /// How many.
    pub count: u32,
    /// Where they would be near their input; none if that does not matter.
    pub locations: Option<Locations>,
    /// On the named nodes or nowhere (`relaxLocality = false`).
    pub strict: bool,
    /// The first of them go before everything else, and anywhere (`PRIORITY_FAST_FAIL_MAP`).
    pub urgent: bool,
    /// Nodes on which the AppMaster would give the containers back.
    pub useless: Vec<NodeId>,
    /// Since when the oldest of them has been wanted.
    pub since: Time,
}

impl ContainerRequest {
    /// A container was granted on a node.
    pub(super) fn granted(&mut self, node: NodeId, nodes: &Nodes) {
        self.count = self.count.saturating_sub(1);
        if let Some(locations) = &mut self.locations {
            locations.granted(node, nodes);
        }
    }
    /// Whether both ask for as many containers at the same places.
    fn asks_as(&self, other: &Self) -> bool {
        (self.priority, self.count, &self.locations) == (other.priority, other.count, &other.locations)
    }
}

/// What the reply to an AppMaster's heartbeat brings.
#[derive(Debug, Clone, Default)]
pub struct Allocation {
    /// Containers granted since the last one.
    pub granted: Vec<ContainerId>,
    /// Containers, the AppMaster's aside, that have ended since the last one.
    pub completed: Vec<ContainerId>,
    /// Nodes lost since the last one.
    pub lost_nodes: Vec<NodeId>,
    /// Memory that no container holds.
    pub headroom: Bytes,
}

/// Where an application stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Not submitted yet, or wanting containers.
    Running,
    /// Its AppMaster wants no more containers.
    Finishing,
    /// Its AppMaster has unregistered, and may not have the reply yet.
    Unregistered,
    /// No process of it is left that YARN could hear of.
    Over,
}

#[derive(Debug)]
pub(super) struct Application {
    pub spec: ApplicationSpec,
    pub placement: MasterPlacement,
    pub state: State,
    pub submitted: Time,
    /// Since when it has wanted a container for its AppMaster.
    pub wants_master: Option<Time>,
    /// AppMasters that it has lost.
    pub lost_masters: u32,
    /// The container of its AppMaster while that is registered.
    pub master: Option<ContainerId>,
    /// What its last heartbeat asked for, less what was granted since.
    pub requests: Vec<ContainerRequest>,
    /// What the AppMaster last sent; at the ResourceManager when the heartbeat is served.
    pub sent: Vec<ContainerRequest>,
    /// Containers that the AppMaster gives back with its next heartbeat, or the one under way.
    pub releases: Vec<ContainerId>,
    /// Containers granted and ended since its last heartbeat, and nodes lost.
    pub granted: Vec<ContainerId>,
    pub completed: Vec<ContainerId>,
    pub lost_nodes: Vec<NodeId>,
    /// The reply to the heartbeat under way.
    pub reply: Allocation,
    /// Nodes where it wants no task.
    pub blacklist: Vec<NodeId>,
    /// Memory that its containers hold.
    pub used: Bytes,
    pub missed: MissedOffers,
}

impl Application {
    pub fn new(spec: ApplicationSpec) -> Self {
        Self {
            spec,
            placement: MasterPlacement::default(),
            state: State::Running,
            submitted: Time::ZERO,
            wants_master: None,
            lost_masters: 0,
            master: None,
            requests: Vec::new(),
            sent: Vec::new(),
            releases: Vec::new(),
            granted: Vec::new(),
            completed: Vec::new(),
            lost_nodes: Vec::new(),
            reply: Allocation::default(),
            blacklist: Vec::new(),
            used: Bytes::ZERO,
            missed: MissedOffers::default(),
        }
    }
    /// Sets what the next heartbeat asks for; returns how many nodes it names. A request that is as it was names none.
    pub fn send(&mut self, mut requests: Vec<ContainerRequest>) -> usize {
        requests.sort_by_key(|request| request.priority);
        let same = requests.len() == self.sent.len() && requests.iter().zip(&self.sent).all(|(a, b)| a.asks_as(b));
        self.sent = requests;
        let named = self.sent.iter().filter_map(|request| request.locations.as_ref()).map(Locations::nodes).sum();
        if same { 0 } else { named }
    }
    pub fn request_mut(&mut self, priority: u32) -> Option<&mut ContainerRequest> {
        self.requests.iter_mut().find(|request| request.priority == priority)
    }
    /// Whether it asks for anything.
    pub fn wants(&self) -> bool {
        self.state == State::Running
            && (self.wants_master.is_some() || self.requests.iter().any(|request| request.count > 0))
    }
    /// Since when it has waited for what it asks for.
    pub fn waits_since(&self) -> Time {
        let requests = self.requests.iter().filter(|request| request.count > 0).map(|request| request.since);
        requests.chain(self.wants_master).min().unwrap_or(self.submitted)
    }
    /// The AppMaster is gone, and what it said and was to be told with it.
    pub fn forget_master(&mut self) {
        self.master = None;
        self.releases.clear();
        self.completed.clear();
        self.reply = Allocation::default();
    }
}
