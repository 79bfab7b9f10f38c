//! Energy-aware scheduling: workers whose battery runs low are spared.
//!
//! The rule is the conditional max-min battery capacity that Toh (IEEE Communications Magazine 39(6), 2001) has for routes, of which tasks take the place: while
//! a charge is above a reserve it does not matter. A worker below it gets no task while another is above, and when none is, the one with the most charge goes
//! first. Masters know the charge that a worker's last heartbeat told. A job that has waited in vain for a while takes spared workers too, until another gives it
//! something again: so nothing hangs on those with more charge, which may be taken for good, out of reach, or blacklisted.

use super::MapReduce;
use crate::context::Context;
use crate::ids::{JobId, NodeId};
use units::Time;

/// When workers are spared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpareConfig {
    /// The charge below which they are, in thousandths of what a battery holds.
    pub reserve: u16,
    /// How long a job puts up with it.
    pub patience: Time,
}

/// A node that is plugged in has more charge than any battery.
const PLUGGED_IN: u16 = u16::MAX;

/// What is known of batteries.
#[derive(Debug)]
pub(crate) struct Charges {
    /// Of each node: what its battery holds, and what its last heartbeat told of that.
    own: Vec<u16>,
    told: Vec<u16>,
    /// When each job last got a slot or container of a worker that is not spared.
    served: Vec<Time>,
}

impl Charges {
    pub fn new(nodes: usize, jobs: usize) -> Self {
        Self { own: vec![PLUGGED_IN; nodes], told: vec![PLUGGED_IN; nodes], served: vec![Time::ZERO; jobs] }
    }
    /// A node's battery has come to this level.
    pub fn set(&mut self, node: NodeId, level: u16) {
        self.own[node.0 as usize] = level;
    }
    /// A node's heartbeat is at the master.
    pub fn tell(&mut self, node: NodeId) {
        self.told[node.0 as usize] = self.own[node.0 as usize];
    }
}

impl MapReduce {
    /// Whether a job lets a worker's offer pass for its battery; `has_room` says of others whether they could take what it asks for.
    pub(crate) fn spares(&self, ctx: &Context, job: JobId, node: NodeId, has_room: impl Fn(NodeId) -> bool) -> bool {
        let Some(config) = self.config.spare else { return false };
        if !self.is_spared(ctx, job, node, has_room) {
            return false;
        }
        // It waits since its oldest request, or since a worker that is not spared last gave it something.
        let owner = &self.jobs[job.0 as usize];
        let tasks = owner.maps.iter().chain(&owner.reduces).filter(|task| task.wanted > 0);
        let asked = tasks.map(|task| task.requested).min().unwrap_or(owner.record.submit);
        let since = self.charges.served[job.0 as usize].max(asked);
        ctx.now.saturating_sub(since) < config.patience
    }
    /// Notes that a job takes a slot or container on a worker.
    pub(crate) fn note_served(
        &mut self,
        ctx: &Context,
        job: JobId,
        node: NodeId,
        has_room: impl Fn(&Self, NodeId) -> bool,
    ) {
        if !self.is_spared(ctx, job, node, |other| has_room(self, other)) {
            self.charges.served[job.0 as usize] = ctx.now;
        }
    }
    fn is_spared(&self, ctx: &Context, job: JobId, node: NodeId, has_room: impl Fn(NodeId) -> bool) -> bool {
        let Some(SpareConfig { reserve, .. }) = self.config.spare else { return false };
        let told = |node: NodeId| self.charges.told[node.0 as usize];
        let own = told(node);
        let owner = &self.jobs[job.0 as usize];
        let takes = |other: &NodeId| {
            let avoided = owner.avoids(*other, ctx.nodes.worker_count(), self.config.blacklist_ignore_percent);
            *other != node && self.is_heard(*other) && !avoided
        };
        let mut others = ctx.nodes.workers().filter(takes);
        own < reserve && others.any(|other| told(other) >= reserve || told(other) > own && has_room(other))
    }
    /// Whether the ResourceManager or JobTracker hears of a worker.
    fn is_heard(&self, node: NodeId) -> bool {
        match self.config.generation {
            super::Generation::Yarn => self.yarn.is_heard(node),
            super::Generation::Hadoop1 => self.tracker.is_heard(node),
        }
    }
}
