//! Energy-aware scheduling: workers whose battery runs low are spared.
//!
//! The rule is the conditional max-min battery capacity that Toh (IEEE Communications Magazine 39(6), 2001) has for
//! routes. Tasks take their place: while a charge is above a reserve it does not matter. A worker below it gets no task
//! while another is above. When none is, the one with the most charge goes first. Masters know the charge that a
//! worker's last heartbeat told. An application (or job) that has waited in vain for a while takes spared workers too,
//! until another worker gives it something again. So nothing hangs on those with more charge, which may be taken for
//! good, out of reach, or blacklisted.

use crate::ids::NodeId;
use units::Time;

/// When workers are spared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpareConfig {
    /// The charge below which they are, in thousandths of what a battery holds.
    pub reserve: u16,
    /// How long an application puts up with it.
    pub patience: Time,
}

/// A node that is plugged in has more charge than any battery.
const PLUGGED_IN: u16 = u16::MAX;

/// What a master knows of batteries. Its users are applications or jobs, by number.
#[derive(Debug)]
pub(crate) struct Charges {
    config: Option<SpareConfig>,
    /// Of each node: what its battery holds, and what its last heartbeat told of that.
    own: Vec<u16>,
    told: Vec<u16>,
    /// When each user last got a slot or container of a worker that is not spared.
    served: Vec<Time>,
}

impl Charges {
    pub fn new(config: Option<SpareConfig>, nodes: usize) -> Self {
        Self { config, own: vec![PLUGGED_IN; nodes], told: vec![PLUGGED_IN; nodes], served: Vec::new() }
    }
    /// The next user.
    pub fn add_user(&mut self) {
        self.served.push(Time::ZERO);
    }
    /// A node's battery has come to this level.
    pub fn set(&mut self, node: NodeId, level: u16) {
        self.own[node.0 as usize] = level;
    }
    /// A node's heartbeat is at the master.
    pub fn on_heartbeat(&mut self, node: NodeId) {
        self.told[node.0 as usize] = self.own[node.0 as usize];
    }
    /// A user gets a slot or container of a worker that is not spared.
    pub fn served(&mut self, now: Time, user: usize) {
        self.served[user] = now;
    }
    /// Whether a user that has wanted something since a time lets a worker's offer pass for its battery. `others` are
    /// the workers that it could get it from instead, if they have room.
    pub fn spares(
        &self,
        now: Time,
        user: usize,
        since: impl FnOnce() -> Time,
        node: NodeId,
        others: impl Iterator<Item = NodeId>,
        has_room: impl Fn(NodeId) -> bool,
    ) -> bool {
        let Some(config) = self.config else { return false };
        // It waits since then, or since a worker that is not spared last gave it something.
        let waited = |since: Time| now.saturating_sub(self.served[user].max(since));
        self.is_spared(node, others, has_room) && waited(since()) < config.patience
    }
    /// Whether a worker's charge is low and another's is not, or is higher and it has room.
    pub fn is_spared(
        &self,
        node: NodeId,
        mut others: impl Iterator<Item = NodeId>,
        has_room: impl Fn(NodeId) -> bool,
    ) -> bool {
        let Some(SpareConfig { reserve, .. }) = self.config else { return false };
        let told = |node: NodeId| self.told[node.0 as usize];
        let own = told(node);
        own < reserve && others.any(|other| told(other) >= reserve || told(other) > own && has_room(other))
    }
}
