//! YARN: a ResourceManager, NodeManagers, and containers for whatever applications ask for them.
//!
//! It knows an application's containers by role and resources, and nothing of what runs in them. A framework adds its
//! applications ([`Yarn::add_application`]) and is told what becomes of them and their containers ([`News`]). The
//! client and the AppMaster of an application call what is in `app_master.rs`; the calls travel over RPC. Which node's
//! offer goes to which application is decided in `allocate.rs`.

mod allocate;
mod app_master;
mod application;
mod config;
mod nodes;
mod passes;
pub(crate) mod request;
mod resource_manager;
pub(crate) mod scheduler;

pub use crate::batteries::SpareConfig;
pub use application::{Allocation, ApplicationSpec, ContainerRequest, Locations, MasterPlacement};
pub use config::{SchedulerConfig, YarnConfig};
pub use request::{Call, News, Request};
pub use scheduler::Policy;

use crate::batteries::Charges;
use crate::context::Context;
use crate::ids::{ApplicationId, ContainerId, NodeId, Process, Server};
use crate::request::Framework;
use crate::rpc;
use application::Application;
use des::{Index, RandomStream};
use nodes::NodeTracker;
use passes::Passes;
use units::{Bytes, Time};

/// Ports of the ResourceManager's servers, and of each NodeManager's.
const RESOURCE_TRACKER: u32 = 8_031;
const SCHEDULER: u32 = 8_030;
const CLIENTS: u32 = 8_032;
const NODE_MANAGER: u32 = 8_041;
/// Process numbers on their nodes: a NodeManager, the ResourceManager, and an AppMaster less its application's number.
pub(crate) const NODE_PROCESS: u32 = 1;
const RM_PROCESS: u32 = 3;
const MASTER_PROCESS: u32 = 500;
/// Lengths of calls: a heartbeat, a container in it, a node or rack that an AppMaster names; a short call or reply; a
/// container's launch context.
const HEARTBEAT: u64 = 300;
const PER_CONTAINER: u64 = 120;
const PER_LOCATION: u64 = 60;
const SMALL: Bytes = Bytes::new(250);
const LAUNCH_CONTEXT: Bytes = Bytes::new(3_000);

/// What a container is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The application's master.
    Master,
    /// A task, by the priority with which the AppMaster asked for it.
    Task(u32),
}

/// What a container holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resources {
    /// Memory granted to it, a multiple of the smallest allocation.
    pub memory: Bytes,
    /// Virtual cores.
    pub vcores: u32,
}

impl Resources {
    /// Whether less than half of one of them is left of what there was.
    fn is_below_half_of(self, whole: Self) -> bool {
        self.memory * 2 < whole.memory || self.vcores * 2 < whole.vcores
    }
}

/// A container that was granted.
#[derive(Debug, Clone, Copy)]
pub struct Container {
    /// Its application.
    pub application: ApplicationId,
    /// Where it is.
    pub node: NodeId,
    /// What it is for.
    pub role: Role,
    /// What it holds.
    pub resources: Resources,
    /// When it was granted.
    pub granted: Time,
    /// Its AppMaster has told the NodeManager to start it.
    launched: bool,
    /// Its NodeManager has begun to start it (AppMasters).
    started: bool,
    /// The ResourceManager knows that it has ended.
    pub ended: bool,
}

/// The ResourceManager and the NodeManagers.
#[derive(Debug)]
pub struct Yarn {
    config: YarnConfig,
    scheduler: SchedulerConfig,
    tracker: NodeTracker,
    applications: Vec<Application>,
    charges: Charges,
    /// When NodeManagers first speak.
    phases: RandomStream,
    /// The scheduling thread, where there is one.
    passes: Passes,
    /// Its daemons run.
    runs: bool,
    /// What the frameworks have not been told yet.
    news: Vec<(ApplicationId, News)>,
}

impl Yarn {
    pub(crate) fn new(config: YarnConfig, scheduler: SchedulerConfig, nodes: usize, seed: u64) -> Self {
        Self {
            tracker: NodeTracker::new(config.worker(), nodes),
            config,
            scheduler,
            applications: Vec::new(),
            charges: Charges::new(scheduler.spare, nodes),
            phases: RandomStream::new(seed, "yarn/heartbeat-phase", 0),
            passes: Passes::new(seed),
            runs: false,
            news: Vec::new(),
        }
    }
    /// The settings.
    pub fn config(&self) -> &YarnConfig {
        &self.config
    }
    /// A container that was granted.
    pub fn container(&self, id: ContainerId) -> &Container {
        self.tracker.container(id)
    }
    /// Whose an application is.
    pub fn framework(&self, application: ApplicationId) -> Framework {
        self.application(application).spec.framework
    }
    /// The node of an application's AppMaster while that is registered.
    pub fn master_node(&self, application: ApplicationId) -> Option<NodeId> {
        Some(self.container(self.application(application).master?).node)
    }
    /// The process of an application's AppMaster while that is registered.
    pub fn master_process(&self, application: ApplicationId) -> Option<Process> {
        Some(Self::master_on(self.master_node(application)?, application))
    }
    /// Whether the AppMaster in this container is registered.
    pub fn is_registered(&self, master: ContainerId) -> bool {
        self.application(self.container(master).application).master == Some(master)
    }
    /// What the frameworks have not been told yet.
    pub(crate) fn take_news(&mut self) -> Vec<(ApplicationId, News)> {
        std::mem::take(&mut self.news)
    }

    fn application(&self, id: ApplicationId) -> &Application {
        &self.applications[id.0 as usize]
    }
    fn application_mut(&mut self, id: ApplicationId) -> &mut Application {
        &mut self.applications[id.0 as usize]
    }
    fn tell(&mut self, application: ApplicationId, news: News) {
        self.news.push((application, news));
    }
    fn master_on(node: NodeId, application: ApplicationId) -> Process {
        Process { node, id: MASTER_PROCESS + application.0 }
    }
    /// Makes a call with a request and a reply of these lengths.
    fn call(ctx: &mut Context, from: Process, to: Server, (request, reply): (Bytes, Bytes), call: Call) {
        rpc::call(ctx, rpc::Call { from, to, request, reply, caller: call.into() });
    }
    /// Every application that was added.
    fn application_ids(&self) -> impl Iterator<Item = ApplicationId> + use<> {
        (0..self.applications.len()).map(ApplicationId::from_usize)
    }
}
