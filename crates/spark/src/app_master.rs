//! The `ApplicationMaster` of an application on YARN: when it speaks to the ResourceManager, for how many containers it
//! asks, and what it does with those that it is given (`ApplicationMaster`, `YarnAllocator`).
//!
//! In client mode it is the `ExecutorLauncher`: the driver is elsewhere, and tells it which executors are of no use. In
//! cluster mode it tells so within its process, which takes a message of the loopback here.

use crate::application::{Errand, Spark};
use crate::driver::MESSAGE;
use crate::yarn::Step;
use hadoop::yarn::{Allocation, ContainerRequest};
use hadoop::{ConnId, ContainerId, End, NodeId, Platform, Service};
use std::collections::BTreeSet;
use units::{Bytes, Time, count};

/// The priority of its requests: that of the default resource profile (`getContainerPriority`).
const PRIORITY: u32 = 0;

/// What an `ApplicationMaster` knows.
#[derive(Debug)]
pub struct AppMaster {
    /// Its own container, and where that is.
    pub container: ContainerId,
    pub node: NodeId,
    /// To the driver; the `ApplicationMaster` is the client.
    pub driver: ConnId,
    /// Containers in which executors start or run.
    held: BTreeSet<ContainerId>,
    /// How many executors there shall be, and nodes on which there shall be none, as tasks failed there.
    wanted: u32,
    useless: Vec<NodeId>,
    /// Containers that it asks for, and since when.
    pending: u32,
    since: Time,
    /// Containers of whose end the driver has asked (`pendingLossReasonRequests`).
    asked: BTreeSet<ContainerId>,
    /// How long it waits next while it waits for containers (`nextAllocationInterval`).
    interval: Time,
    /// Since when it has waited, and until when; none while it speaks.
    sleeps: Option<(Time, Time)>,
    /// Allocations so far.
    allocations: u32,
}

impl AppMaster {
    pub const fn new((container, node): (ContainerId, NodeId), driver: ConnId, interval: Time, wanted: u32) -> Self {
        Self {
            container,
            node,
            driver,
            held: BTreeSet::new(),
            wanted,
            useless: Vec::new(),
            pending: 0,
            since: Time::ZERO,
            asked: BTreeSet::new(),
            interval,
            sleeps: None,
            allocations: 0,
        }
    }
}

impl Spark {
    /// The `ApplicationMaster` is registered. Before it asks for containers it asks the driver for the number of the
    /// last executor, and says where it is (`RetrieveLastAllocatedExecutorId`, `RegisterClusterManager`).
    pub(crate) fn on_registered(&mut self, platform: &mut Platform, container: ContainerId) {
        let Some(on_yarn) = self.config.yarn else { return };
        let node = platform.yarn.container(container).node;
        if on_yarn.in_cluster {
            self.driver_comes(platform, node);
        }
        let driver = platform.ctx.drive_open(node, self.driver_node(platform), Service::SparkDriver);
        self.yarn.is_running = true;
        let wanted = self.wanted_at_first();
        self.yarn.master = Some(AppMaster::new((container, node), driver, on_yarn.initial_allocation, wanted));
        self.tell_from_master(platform, Step::Hello(driver));
    }

    /// A message from the `ApplicationMaster` to the driver.
    fn tell_from_master(&mut self, platform: &mut Platform, step: Step) {
        let Some(master) = &self.yarn.master else { return };
        let message = self.errands.send(Errand::Yarn(step));
        platform.ctx.drive_send(master.driver, End::Client, Bytes::new(MESSAGE), message);
    }

    /// The `ApplicationMaster`'s next heartbeat leaves, with a request for what is missing (`allocateResources`,
    /// `updateResourceRequests`). Nodes that tasks prefer, of which dynamic allocation tells, are left out.
    pub(crate) fn allocate(&mut self, platform: &mut Platform) {
        let (Some(on_yarn), Some(master)) = (self.config.yarn, &mut self.yarn.master) else { return };
        let missing = master.wanted.saturating_sub(count(master.held.len()));
        if missing > master.pending {
            master.since = platform.ctx.now;
        }
        (master.pending, master.sleeps) = (missing, None);
        let request = ContainerRequest {
            priority: PRIORITY,
            resources: on_yarn.executor,
            count: missing,
            locations: None,
            strict: false,
            urgent: false,
            useless: master.useless.clone(),
            since: master.since,
        };
        platform.yarn.heartbeat(platform.ctx, master.container, vec![request]);
    }

    /// The reply to a heartbeat is there: executors start in containers that are granted, and the driver hears of those
    /// that have ended. The second heartbeat follows the first at once, as the thread that sends them begins with one
    /// (`launchReporterThread`).
    pub(crate) fn on_allocation(&mut self, platform: &mut Platform, container: ContainerId) {
        let Some(application) = self.yarn.application else { return };
        let Some(master) = self.yarn.master.as_mut().filter(|master| master.container == container) else { return };
        master.allocations += 1;
        let Allocation { granted, completed, .. } = platform.yarn.take_allocation(application);
        for container in granted {
            if master.pending == 0 {
                platform.yarn.release(application, [container]);
                continue;
            }
            master.pending -= 1;
            master.held.insert(container);
            platform.yarn.start(platform.ctx, container);
        }
        let ended: Vec<ContainerId> = completed.into_iter().filter(|container| master.held.remove(container)).collect();
        master.asked.retain(|container| !ended.contains(container));
        let is_first = master.allocations == 1;
        for container in ended {
            if let Some(executor) = self.executor_in(container) {
                self.tell_from_master(platform, Step::Remove(executor));
            }
        }
        if is_first { self.allocate(platform) } else { self.sleep(platform) }
    }

    /// How long it waits for its next heartbeat: while it waits for containers, or for why one has ended, twice as long
    /// as the time before, up to the interval of heartbeats (`allocationThreadImpl`).
    fn sleep(&mut self, platform: &mut Platform) {
        let (Some(on_yarn), Some(master)) = (self.config.yarn, &mut self.yarn.master) else { return };
        let waits = master.pending > 0 || !master.asked.is_empty();
        let interval = if waits {
            let interval = on_yarn.heartbeat.min(master.interval);
            master.interval = interval * 2;
            interval
        } else {
            master.interval = on_yarn.initial_allocation;
            on_yarn.heartbeat
        };
        self.sleep_until(platform, platform.ctx.now, platform.ctx.now + interval);
    }

    fn sleep_until(&mut self, platform: &mut Platform, since: Time, due: Time) {
        let Some(master) = &mut self.yarn.master else { return };
        master.sleeps = Some((since, due));
        let errand = self.errands.send(Errand::Yarn(Step::Heartbeat(master.container, due)));
        platform.ctx.drive_timer(due, errand);
    }

    /// The `ApplicationMaster` has waited until then, unless it was woken before.
    pub(crate) fn on_heartbeat_due(&mut self, platform: &mut Platform, container: ContainerId, due: Time) {
        let waits = |master: &AppMaster| master.container == container && master.sleeps.is_some_and(|of| of.1 == due);
        if self.yarn.master.as_ref().is_some_and(waits) {
            self.allocate(platform);
        }
    }

    /// The driver asks why an executor has ended, which the ResourceManager will say. The `ApplicationMaster` speaks
    /// to it soon (`enqueueGetLossReasonRequest`).
    pub(crate) fn on_asked_why(&mut self, platform: &mut Platform, executor: usize) {
        let Some(container) = self.executors[executor].container else { return };
        let Some(master) = &mut self.yarn.master else { return };
        if !master.held.contains(&container) {
            return self.tell_from_master(platform, Step::Remove(executor));
        }
        master.asked.insert(container);
        self.speak_soon(platform);
    }

    /// The driver wants another number of executors, and none on nodes that are excluded
    /// (`requestTotalExecutorsWithPreferredLocalities`). Which nodes its tasks prefer is left out.
    pub(crate) fn on_wanted(&mut self, platform: &mut Platform, wanted: u32) {
        let Some(master) = &mut self.yarn.master else { return };
        master.useless = self.health.nodes().collect();
        if std::mem::replace(&mut master.wanted, wanted) != wanted {
            self.speak_soon(platform);
        }
    }

    /// The `ApplicationMaster` waits no longer than the initial interval (`resetAllocatorInterval`).
    fn speak_soon(&mut self, platform: &mut Platform) {
        let (Some(on_yarn), Some(master)) = (self.config.yarn, &mut self.yarn.master) else { return };
        master.interval = on_yarn.initial_allocation;
        if let Some((since, due)) = master.sleeps {
            let sooner = (since + on_yarn.initial_allocation).max(platform.ctx.now);
            if sooner < due {
                self.sleep_until(platform, since, sooner);
            }
        }
    }

    /// The driver has no use for an executor any more: the next heartbeat gives its container back, and asks for
    /// another if as many are wanted (`killExecutor`).
    pub(crate) fn on_given_back(&mut self, platform: &mut Platform, executor: usize) {
        let (Some(application), Some(container)) = (self.yarn.application, self.executors[executor].container) else {
            return;
        };
        if let Some(master) = &mut self.yarn.master
            && master.held.remove(&container)
        {
            master.asked.remove(&container);
            platform.yarn.release(application, [container]);
        }
    }

    /// No NodeManager starts a container: it is given back, and another asked for.
    pub(crate) fn on_start_failed(&mut self, platform: &mut Platform, container: ContainerId, last: bool) {
        let (Some(application), Some(master)) = (self.yarn.application, &mut self.yarn.master) else { return };
        if !master.held.contains(&container) {
            return;
        }
        if last {
            master.held.remove(&container);
            platform.yarn.release(application, [container]);
        } else {
            platform.yarn.start(platform.ctx, container);
        }
    }
}
