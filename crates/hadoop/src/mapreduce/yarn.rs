//! YARN's message flow: NodeManagers and AppMasters call the ResourceManager at their heartbeats, the AppMaster starts containers at the NodeManagers.
//! Which container goes where is decided in [`super::allocate`].

mod app_master;

use super::allocate::{App, MAP, REDUCE};
use super::files::Waiter;
use super::job::MapRequests;
use super::{Call, MapReduce, Request, YarnCall, YarnRequest, call};
use crate::context::Context;
use crate::effect::Service;
use crate::hdfs::Hdfs;
use crate::ids::{AttemptId, CallId, ContainerId, JobId, NodeId, Process, Server};
use crate::record::{AttemptState, JobState};
use crate::rpc::{self, ServerConfig};
use crate::yarn::{Container, Role};
use app_master::{Answer, Master};
use des::RandomStream;
use units::{Bytes, Time};

/// Ports of the servers.
const RESOURCE_TRACKER: u32 = 8_031;
const SCHEDULER: u32 = 8_030;
const CLIENTS: u32 = 8_032;
const NODE_MANAGER: u32 = 8_041;
/// The first of the AppMasters' umbilical ports.
pub(crate) const UMBILICAL: u32 = 30_000;
/// Process numbers on their nodes.
pub(crate) const NODE_PROCESS: u32 = 1;
pub(crate) const CLIENT_PROCESS: u32 = 2;
const RM_PROCESS: u32 = 3;

/// Handlers (`yarn.resourcemanager.*.client.thread-count` 50, `yarn.nodemanager.container-manager.thread-count` 20) and the processor time of a call.
const RM_HANDLERS: u32 = 50;
const RM_CALL: Time = Time::from_us(150);
const NM_CALL: Time = Time::from_us(300);
/// Lengths of calls.
const BEAT: u64 = 300;
const PER_CONTAINER: u64 = 120;
const SMALL: Bytes = Bytes::new(250);
const LAUNCH_CONTEXT: Bytes = Bytes::new(3_000);
/// How long a client tries to reach a NodeManager (`yarn.client.nodemanager-connect.max-wait-ms`).
const NODE_WAIT: Time = Time::from_secs(180);
/// The ResourceManager looks for silent nodes this often, at a third of the expiry as `AbstractLivelinessMonitor` does.
const LOOKS: u64 = 3;

/// The jobs as applications of YARN.
#[derive(Debug)]
pub(crate) struct Applications {
    /// By job: what the ResourceManager knows, and the AppMaster.
    pub list: Vec<App>,
    masters: Vec<Master>,
    /// When NodeManagers first speak.
    phases: RandomStream,
    /// How long each container takes to be launched.
    delays: RandomStream,
}

impl Applications {
    pub fn new(jobs: usize, seed: u64) -> Self {
        Self {
            list: (0..jobs).map(|_| App::default()).collect(),
            masters: (0..jobs).map(|_| Master::default()).collect(),
            phases: RandomStream::new(seed, "yarn/heartbeat-phase", 0),
            delays: RandomStream::new(seed, "yarn/start-delay", 0),
        }
    }
}

impl MapReduce {
    pub(crate) fn start_yarn(&mut self, ctx: &mut Context) {
        let master = ctx.nodes.master();
        for port in [RESOURCE_TRACKER, SCHEDULER, CLIENTS] {
            rpc::serve(ctx, Server { node: master, port }, self.master_server(RM_HANDLERS, RM_CALL));
        }
        for node in ctx.nodes.workers() {
            rpc::serve(ctx, Server { node, port: NODE_MANAGER }, ServerConfig::new(20, NM_CALL, Service::Rpc));
            let phase = self.config.yarn.node_heartbeat.mul_f64(self.apps.phases.uniform());
            self.beat_in(ctx, node, phase);
        }
        ctx.timer_in(self.config.yarn.node_expiry / LOOKS, Request::Yarn(YarnRequest::ExpiryDue));
    }
    fn beat_in(&mut self, ctx: &mut Context, node: NodeId, delay: Time) {
        let life = self.yarn.life(node);
        ctx.timer_in(delay, Request::Yarn(YarnRequest::BeatDue { node, life }));
    }

    /// The client submits a job whose files are in HDFS.
    pub(crate) fn submit(&mut self, ctx: &mut Context, job: JobId) {
        self.jobs[job.0 as usize].record.submit = ctx.now;
        let from = Process { node: ctx.nodes.master(), id: CLIENT_PROCESS };
        let port =
            if self.config.generation == super::Generation::Yarn { CLIENTS } else { super::hadoop1::JOB_TRACKER };
        let to = Server { node: ctx.nodes.master(), port };
        call(ctx, from, to, (LAUNCH_CONTEXT, SMALL), Call::Submit(job));
    }
    pub(super) fn yarn_submitted(&mut self, job: JobId) {
        self.apps.list[job.0 as usize].wants_master = true;
    }

    pub(crate) fn on_yarn_answer(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, request: YarnRequest) {
        match request {
            YarnRequest::BeatDue { node, life } => {
                if !ctx.nodes.is_up(node) || self.yarn.life(node) != life {
                    return;
                }
                let request = Bytes::new(BEAT + PER_CONTAINER * self.yarn.beat(node) as u64);
                let from = rpc::beating(ctx, Process { node, id: NODE_PROCESS });
                let to = Server { node: ctx.nodes.master(), port: RESOURCE_TRACKER };
                call(ctx, from, to, (request, SMALL), Call::Yarn(YarnCall::Beat(node)));
            }
            YarnRequest::ExpiryDue => {
                let expiry = self.config.yarn.node_expiry;
                for node in ctx.nodes.workers() {
                    if self.yarn.is_overdue(ctx.now, node, expiry) {
                        self.rm_loses(ctx, hdfs, node);
                    }
                }
                if !self.finished {
                    ctx.timer_in(expiry / LOOKS, Request::Yarn(YarnRequest::ExpiryDue));
                }
            }
            YarnRequest::MasterLaunched(id) => {
                let container = self.yarn.container(id);
                let (node, work) = (container.node, self.config.jvm_start_cpu + self.config.yarn.am_init_cpu);
                if !container.ended && ctx.nodes.is_up(node) {
                    ctx.compute(node, work, Request::Yarn(YarnRequest::MasterReady(id)));
                }
            }
            YarnRequest::MasterReady(container) => self.register(ctx, container),
            YarnRequest::MasterDue(container) => self.master_beat(ctx, hdfs, container),
            YarnRequest::StartDue(id) => {
                if self.is_placed(id) && !self.container_ended(id) {
                    self.start_task(ctx, id);
                }
            }
            YarnRequest::LocaliseDue(id) => {
                let Container { job, node, ended, .. } = *self.yarn.container(id);
                if !ended && ctx.nodes.is_up(node) {
                    self.localise(ctx, hdfs, job, node, Waiter::Master(id));
                }
            }
        }
    }

    pub(crate) fn on_yarn_served(
        &mut self,
        ctx: &mut Context,
        hdfs: &mut Hdfs,
        id: CallId,
        to: Server,
        call: YarnCall,
    ) {
        match call {
            YarnCall::Beat(node) => self.rm_hears(ctx, hdfs, node, id),
            YarnCall::StartMaster(id) => {
                let container = self.yarn.container_mut(id);
                if !container.ended && !std::mem::replace(&mut container.started, true) {
                    let (job, node) = (container.job, container.node);
                    self.jobs[job.0 as usize].record.master_start = Some(ctx.now);
                    self.localise(ctx, hdfs, job, node, Waiter::Master(id));
                }
            }
            YarnCall::Register(_) => {}
            YarnCall::MasterBeat(container) => self.rm_answers(ctx, container, id),
            YarnCall::StartTask(id) => {
                if ctx.nodes.is_up(to.node) && !self.container_ended(id) && self.is_placed(id) {
                    self.launch(ctx, hdfs, id);
                }
            }
            YarnCall::StopTask(id) => {
                if !self.container_ended(id) {
                    self.exit(ctx, hdfs, id);
                }
            }
            YarnCall::Unregister(container) => {
                let job = self.yarn.container(container).job;
                self.apps.list[job.0 as usize].left = true;
                self.free(container);
            }
        }
    }
    pub(crate) fn on_yarn_replied(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, call: YarnCall) {
        match call {
            YarnCall::Beat(node) => {
                for id in self.yarn.beat_answered(node) {
                    self.exit(ctx, hdfs, id);
                }
                self.beat_in(ctx, node, self.config.yarn.node_heartbeat);
            }
            YarnCall::StartMaster(_) | YarnCall::StopTask(_) => {}
            YarnCall::Register(container) => self.registered(ctx, hdfs, container),
            YarnCall::MasterBeat(container) => {
                self.master_receives(ctx, hdfs, container);
                self.master_beat_in(ctx, container);
            }
            YarnCall::StartTask(id) => {
                if self.attempts[id.0 as usize].record.start == Time::ZERO {
                    self.confirm_start(ctx, id);
                }
            }
            YarnCall::Unregister(container) => {
                let job = self.yarn.container(container).job;
                if let Some(process) = self.master_process(job) {
                    rpc::exit(ctx, process);
                }
                self.apps.masters[job.0 as usize] = Master::default();
                self.job_left(ctx);
            }
        }
    }
    pub(crate) fn on_yarn_call_failed(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, call: YarnCall) {
        match call {
            YarnCall::Beat(node) => {
                self.yarn.beat_failed(node);
                self.beat_in(ctx, node, self.config.yarn.node_heartbeat);
            }
            YarnCall::MasterBeat(container) => self.master_beat_in(ctx, container),
            YarnCall::Register(container) => self.register(ctx, container),
            // A NodeManager that has restarted resets connections to its former life: the client tries again for a while.
            YarnCall::StartMaster(container) => {
                if !self.yarn.container(container).ended {
                    self.start_master(ctx, container);
                }
            }
            YarnCall::StopTask(_) => {}
            YarnCall::StartTask(id) => {
                let waited = ctx.now.saturating_sub(self.attempts[id.0 as usize].record.allocated);
                if waited >= NODE_WAIT || self.container_ended(id) {
                    self.master_failed(ctx, hdfs, id, "its container could not be launched");
                } else if self.attempts[id.0 as usize].record.state == AttemptState::Running {
                    self.start_task(ctx, id);
                }
            }
            YarnCall::Unregister(container) => {
                let job = self.yarn.container(container).job;
                self.unregister(ctx, job);
            }
        }
    }

    /// A NodeManager's heartbeat is at the ResourceManager: containers that ended are freed, and the node is offered to the jobs.
    fn rm_hears(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, node: NodeId, call: CallId) {
        if self.yarn.registers_anew(node) {
            // It has restarted and registers anew: what ran there is gone.
            self.rm_loses(ctx, hdfs, node);
        }
        self.yarn.hear(ctx.now, node);
        self.charges.tell(node);
        for container in self.yarn.told(node) {
            self.free(container);
        }
        let starts = self.allocate(ctx, node);
        let cleaned = self.yarn.to_clean_up(node) as u64;
        rpc::set_reply(ctx, call, Bytes::new(SMALL.get() + PER_CONTAINER * cleaned));
        for container in starts {
            self.start_master(ctx, container);
        }
    }
    fn start_master(&mut self, ctx: &mut Context, container: ContainerId) {
        let node = self.yarn.container(container).node;
        let from = Process { node: ctx.nodes.master(), id: RM_PROCESS };
        let to = Server { node, port: NODE_MANAGER };
        call(ctx, from, to, (LAUNCH_CONTEXT, SMALL), Call::Yarn(YarnCall::StartMaster(container)));
    }
    /// It is at the ResourceManager, which hands over what it has granted since.
    fn rm_answers(&mut self, ctx: &mut Context, container: ContainerId, call: CallId) {
        let job = self.yarn.container(container).job;
        for released in std::mem::take(&mut self.apps.masters[job.0 as usize].releases) {
            self.free(released);
        }
        let headroom = self.yarn.free_memory();
        let (Applications { list, masters, .. }, yarn) = (&mut self.apps, &self.yarn);
        let app = &mut list[job.0 as usize];
        app.heard = ctx.now;
        app.asks = app.sent.clone();
        app.reduces = app.sent_reduces;
        app.again = app.sent_again;
        for &granted in &app.granted {
            match yarn.container(granted).role {
                MAP => app.asks.any = app.asks.any.saturating_sub(1),
                REDUCE => app.reduces = app.reduces.saturating_sub(1),
                Role::Master | Role::Task(_) => {}
            }
        }
        // What has been granted is taken in order: nothing that came before this call is unknown to the master after its reply.
        let granted = std::mem::take(&mut app.granted);
        app.asks.forget(granted.iter().map(|&granted| yarn.container(granted)).filter(|c| c.role == MAP), &ctx.nodes);
        rpc::set_reply(ctx, call, Bytes::new(SMALL.get() + 2 * PER_CONTAINER * granted.len() as u64));
        masters[job.0 as usize].answer = Answer { granted, lost_nodes: std::mem::take(&mut app.lost_nodes), headroom };
    }
    /// The NodeManager sees that an attempt's process is gone; the next heartbeat tells.
    pub(crate) fn container_exited(&mut self, id: AttemptId) {
        let attempt = &mut self.attempts[id.0 as usize];
        match attempt.container {
            Some(container) => self.yarn.exited(attempt.record.node, container),
            None => self.give_back(id),
        }
    }
    fn container_ended(&self, id: AttemptId) -> bool {
        let container = self.attempts[id.0 as usize].container;
        container.is_none_or(|container| self.yarn.container(container).ended)
    }
    /// The slot or container of an attempt is free again.
    pub(crate) fn give_back(&mut self, id: AttemptId) {
        let attempt = &mut self.attempts[id.0 as usize];
        if std::mem::take(&mut attempt.holds_slot) {
            self.jobs[attempt.record.job.0 as usize].record.ledger.slots_returned += 1;
        }
    }

    /// The ResourceManager gives a node up, or finds that it has restarted.
    fn rm_loses(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, node: NodeId) {
        for container in self.yarn.lose(node) {
            self.free(container);
            let Container { job, role, attempt, .. } = *self.yarn.container(container);
            if let Some(attempt) = attempt {
                // If the node was only out of reach, it stops them when it is heard again.
                self.yarn.clean_up(node, attempt);
            }
            if role == Role::Master && !self.apps.list[job.0 as usize].left {
                self.master_lost(ctx, hdfs, job);
            }
        }
        for app in &mut self.apps.list {
            app.lost_nodes.push(node);
        }
    }
    /// The AppMaster is lost: its containers are stopped, and another attempt at it is asked for, which recovers the maps that were done.
    fn master_lost(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, job: JobId) {
        self.drop_history(ctx, hdfs, job);
        self.apps.masters[job.0 as usize] = Master::default();
        let running: Vec<AttemptId> = self.running(job).collect();
        for id in running {
            let node = self.attempts[id.0 as usize].record.node;
            if ctx.nodes.is_up(node) {
                self.yarn.clean_up(node, id);
            }
            self.killed(ctx, id, "the AppMaster was lost");
        }
        let app = &mut self.apps.list[job.0 as usize];
        app.asks = MapRequests::default();
        app.reduces = 0;
        app.masters += 1;
        if self.jobs[job.0 as usize].is_over() {
            return;
        }
        if app.masters >= self.config.yarn.am_max_attempts {
            let record = &mut self.jobs[job.0 as usize].record;
            record.state = JobState::Failed;
            record.reason = format!("its AppMaster was lost {} times", app.masters);
            record.finish = Some(ctx.now);
            self.job_left(ctx);
        } else {
            app.wants_master = true;
        }
    }

    /// A worker's processes are gone; the ResourceManager hears of it by silence.
    pub(crate) fn yarn_node_down(&mut self, node: NodeId) {
        self.yarn.node_down(node);
        for master in self.apps.masters.iter_mut().filter(|master| master.node == Some(node)) {
            *master = Master::default();
        }
    }
    /// A worker is back: its NodeManager registers anew.
    pub(crate) fn yarn_node_up(&mut self, ctx: &mut Context, node: NodeId) {
        if node == ctx.nodes.master() {
            return;
        }
        self.beat_in(ctx, node, Time::ZERO);
    }
}
