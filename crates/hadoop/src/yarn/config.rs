//! Settings of YARN, and of whoever schedules a cluster.

use super::Resources;
use super::scheduler::Policy;
use crate::batteries::SpareConfig;
use crate::effect::Service;
use crate::rpc::ServerConfig;
use units::{Bytes, Time};

/// Settings of whoever hands out the cluster: YARN's ResourceManager, or the JobTracker.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SchedulerConfig {
    /// `yarn.resourcemanager.scheduler.class`, `mapred.jobtracker.taskScheduler`.
    pub policy: Policy,
    /// Whether workers with little charge are spared, and how.
    pub spare: Option<SpareConfig>,
    /// Calls that the JobTracker, or each server of the ResourceManager, serves at a time
    /// (`mapred.job.tracker.handler.count` (10), `yarn.resourcemanager.resource-tracker.client.thread-count` and its
    /// like (50)); `None` for these.
    pub handlers: Option<u32>,
    /// CPU time of each of these calls; `None` for 400 us at a JobTracker, whose heartbeats schedule, and 150 us at a
    /// ResourceManager.
    pub call_service: Option<Time>,
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        Self { policy: Policy::Fifo, spare: None, handlers: None, call_service: None }
    }
}

impl SchedulerConfig {
    /// A server of the JobTracker or ResourceManager. Its handlers and the cost of a call are these where the settings
    /// do not say.
    pub(crate) fn server(&self, handlers: u32, service: Time) -> ServerConfig {
        let handlers = self.handlers.unwrap_or(handlers).max(1);
        ServerConfig::new(handlers, self.call_service.unwrap_or(service), Service::Rpc)
    }
}

/// Settings of YARN. Each field names the property that it stands for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct YarnConfig {
    /// `yarn.nodemanager.resource.memory-mb` (8192).
    pub node_memory: Bytes,
    /// `yarn.nodemanager.resource.cpu-vcores` (8).
    pub node_vcores: u32,
    /// `yarn.scheduler.minimum-allocation-mb` (1024): requests are rounded up to a multiple of it.
    pub minimum_allocation: Bytes,
    /// Containers are handed out by a thread of the ResourceManager, and not at NodeManagers' heartbeats
    /// (`yarn.scheduler.capacity.schedule-asynchronously.enable`: false, and true since Hadoop 3.5, YARN-7327).
    pub asynchronous: bool,
    /// `yarn.resourcemanager.nodemanagers.heartbeat-interval-ms` (1 s).
    pub node_heartbeat: Time,
    /// `yarn.nm.liveness-monitor.expiry-interval-ms` (600 s): after this silence a node is lost.
    pub node_expiry: Time,
    /// `yarn.scheduler.capacity.node-locality-delay` (40): nodes whose offers an application lets pass before it takes
    /// a rack-local container.
    pub locality_delay: u32,
    /// Containers that a node's heartbeat may be given in all
    /// (`yarn.scheduler.capacity.per-node-heartbeat.maximum-container-assignments`, 100). The fair scheduler's is one
    /// (`yarn.scheduler.fair.assignmultiple`: false), or `yarn.scheduler.fair.max.assign`.
    pub containers_per_heartbeat: u32,
    /// Those of them that may be anywhere, of which the last one ends the heartbeat
    /// (`yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments`, 1).
    pub off_switch_per_heartbeat: u32,
    /// The container by which a heartbeat has been given more than half of what the node had free is its last one
    /// (`yarn.scheduler.fair.dynamic.max.assign`: true, where `assignmultiple` is).
    pub half_per_heartbeat: bool,
}

impl Default for YarnConfig {
    fn default() -> Self {
        Self {
            node_memory: Bytes::from_mib(8_192),
            node_vcores: 8,
            minimum_allocation: Bytes::from_mib(1_024),
            asynchronous: false,
            node_heartbeat: Time::from_secs(1),
            node_expiry: Time::from_secs(600),
            locality_delay: 40,
            containers_per_heartbeat: 100,
            off_switch_per_heartbeat: 1,
            half_per_heartbeat: false,
        }
    }
}

impl YarnConfig {
    /// What a worker has for containers.
    pub(super) const fn worker(&self) -> Resources {
        Resources { memory: self.node_memory, vcores: self.node_vcores }
    }
    /// A request as the scheduler grants it: its memory rounded up to a multiple of the minimum allocation.
    pub fn normalized(&self, resources: Resources) -> Resources {
        let unit = self.minimum_allocation.get().max(1);
        let memory = Bytes::new(resources.memory.get().div_ceil(unit).max(1) * unit);
        Resources { memory, ..resources }
    }
}
