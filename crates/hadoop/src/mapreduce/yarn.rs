//! YARN's message flow: NodeManagers and AppMasters call the ResourceManager at their heartbeats, the AppMaster starts containers at the NodeManagers.
//! Which container goes where is decided in [`super::allocate`].

mod app_master;

use super::allocate::{App, Container, RmNode, Role};
use super::config::MapReduceConfig;
use super::files::Waiter;
use super::job::MapRequests;
use super::{MapReduce, control, kind};
use crate::context::Context;
use crate::effect::{NodeId, Service, Tag};
use crate::hdfs::Hdfs;
use crate::record::{AttemptId, AttemptState, JobId, JobState};
use crate::rpc::{self, Call, CallId, Process, Server, ServerConfig};
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

#[derive(Debug)]
pub(crate) struct Yarn {
    pub apps: Vec<App>,
    pub nodes: Vec<RmNode>,
    pub containers: Vec<Container>,
    managers: Vec<NodeManager>,
    masters: Vec<Master>,
    random: RandomStream,
    /// How long each container takes to be launched.
    delays: RandomStream,
}

/// A NodeManager: what it has to tell at its next heartbeat.
#[derive(Debug, Default)]
struct NodeManager {
    ended: Vec<u32>,
    /// On their way in a heartbeat.
    telling: Vec<u32>,
    /// Counts the node's lives, so that a timer of an earlier one is known.
    life: u32,
}

impl Yarn {
    pub fn new(config: &MapReduceConfig, nodes: usize, jobs: usize, seed: u64) -> Self {
        let yarn = &config.yarn;
        let node = |number: usize| RmNode {
            memory: if number == 0 { Bytes::ZERO } else { yarn.node_memory },
            vcores: if number == 0 { 0 } else { yarn.node_vcores },
            heard: None,
            life: 0,
            containers: Vec::new(),
            clean_up: Vec::new(),
        };
        Self {
            apps: (0..jobs).map(|_| App::default()).collect(),
            nodes: (0..nodes).map(node).collect(),
            containers: Vec::new(),
            managers: (0..nodes).map(|_| NodeManager::default()).collect(),
            masters: (0..jobs).map(|_| Master::default()).collect(),
            random: RandomStream::new(seed, "yarn/heartbeat-phase", 0),
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
            let phase = self.config.yarn.node_heartbeat.mul_f64(self.yarn.random.uniform());
            self.beat_in(ctx, node, phase);
        }
        ctx.timer_in(self.config.yarn.node_expiry / LOOKS, control(kind::EXPIRY_DUE, 0));
    }
    fn beat_in(&mut self, ctx: &mut Context, node: NodeId, delay: Time) {
        let life = u64::from(self.yarn.managers[node.0 as usize].life & 0xffff);
        ctx.timer_in(delay, control(kind::WORKER_DUE, life << 32 | u64::from(node.0)));
    }

    /// The client submits a job whose files are in HDFS.
    pub(crate) fn submit(&mut self, ctx: &mut Context, job: JobId) {
        self.jobs[job.0 as usize].record.submit = ctx.now;
        let from = Process { node: ctx.nodes.master(), id: CLIENT_PROCESS };
        let port =
            if self.config.generation == super::Generation::Yarn { CLIENTS } else { super::hadoop1::JOB_TRACKER };
        let to = Server { node: ctx.nodes.master(), port };
        rpc::call(
            ctx,
            Call { from, to, request: LAUNCH_CONTEXT, reply: SMALL, tag: control(kind::SUBMIT, u64::from(job.0)) },
        );
    }

    pub(crate) fn on_yarn_timer(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, tag: Tag) {
        let value = tag.value();
        match tag.kind() {
            kind::WORKER_DUE => {
                let node = NodeId(value as u32);
                let manager = &mut self.yarn.managers[node.0 as usize];
                if !ctx.nodes.is_up(node) || u64::from(manager.life & 0xffff) != value >> 32 {
                    return;
                }
                let ended = std::mem::take(&mut manager.ended);
                let request = Bytes::new(BEAT + PER_CONTAINER * ended.len() as u64);
                manager.telling.extend(ended);
                let from = Process { node, id: NODE_PROCESS }.beating(ctx);
                let to = Server { node: ctx.nodes.master(), port: RESOURCE_TRACKER };
                rpc::call(ctx, Call { from, to, request, reply: SMALL, tag: control(kind::WORKER_BEAT, value) });
            }
            kind::EXPIRY_DUE => {
                let expiry = self.config.yarn.node_expiry;
                for node in ctx.nodes.workers() {
                    let heard = self.yarn.nodes[node.0 as usize].heard;
                    if heard.is_some_and(|heard| heard.saturating_add(expiry) <= ctx.now) {
                        self.rm_loses(ctx, hdfs, node);
                    }
                }
                if !self.finished {
                    ctx.timer_in(expiry / LOOKS, control(kind::EXPIRY_DUE, 0));
                }
            }
            kind::MASTER_LAUNCHED => {
                let container = &self.yarn.containers[value as usize];
                let (node, work) = (container.node, self.config.jvm_start_cpu + self.config.yarn.am_init_cpu);
                if !container.ended && ctx.nodes.is_up(node) {
                    ctx.compute(node, work, control(kind::MASTER_READY, value));
                }
            }
            kind::MASTER_READY => self.register(ctx, value as u32),
            kind::MASTER_DUE => self.master_beat(ctx, hdfs, value as u32),
            kind::START_DUE => {
                let id = AttemptId(value as u32);
                if self.is_placed(id) && !self.container_ended(id) {
                    self.start_task(ctx, id);
                }
            }
            kind::LOCALISE_DUE => {
                let Container { job, node, ended, .. } = self.yarn.containers[value as usize];
                if !ended && ctx.nodes.is_up(node) {
                    self.localise(ctx, hdfs, job, node, Waiter::Master(value as u32));
                }
            }
            _ => {}
        }
    }

    pub(crate) fn on_yarn_served(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, call: CallId, to: Server, tag: Tag) {
        let value = tag.value();
        match tag.kind() {
            kind::SUBMIT => self.yarn.apps[value as usize].wants_master = true,
            kind::WORKER_BEAT => self.rm_hears(ctx, hdfs, NodeId(value as u32), call),
            kind::START_MASTER => {
                let container = &mut self.yarn.containers[value as usize];
                if !container.ended && !std::mem::replace(&mut container.started, true) {
                    let (job, node) = (container.job, container.node);
                    self.jobs[job.0 as usize].record.master_start = Some(ctx.now);
                    self.localise(ctx, hdfs, job, node, Waiter::Master(value as u32));
                }
            }
            kind::MASTER_BEAT => self.rm_answers(ctx, value as u32, call),
            kind::START_TASK => {
                let id = AttemptId(value as u32);
                if ctx.nodes.is_up(to.node) && !self.container_ended(id) && self.is_placed(id) {
                    self.launch(ctx, hdfs, id);
                }
            }
            kind::STOP_TASK => {
                let id = AttemptId(value as u32);
                if !self.container_ended(id) {
                    self.exit(ctx, hdfs, id);
                }
            }
            kind::UNREGISTER => {
                let (job, container) = (self.yarn.containers[value as usize].job, value as u32);
                self.yarn.apps[job.0 as usize].left = true;
                self.free(container);
            }
            _ => {}
        }
    }
    pub(crate) fn on_yarn_replied(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, tag: Tag) {
        let value = tag.value();
        match tag.kind() {
            kind::WORKER_BEAT => {
                let node = NodeId(value as u32);
                self.yarn.managers[node.0 as usize].telling.clear();
                for id in std::mem::take(&mut self.yarn.nodes[node.0 as usize].clean_up) {
                    self.exit(ctx, hdfs, id);
                }
                self.beat_in(ctx, node, self.config.yarn.node_heartbeat);
            }
            kind::REGISTER => self.registered(ctx, hdfs, value as u32),
            kind::MASTER_BEAT => {
                self.master_receives(ctx, hdfs, value as u32);
                ctx.timer_in(self.config.yarn.am_heartbeat, control(kind::MASTER_DUE, value));
            }
            kind::START_TASK => {
                let id = AttemptId(value as u32);
                if self.attempts[id.0 as usize].record.start == Time::ZERO {
                    self.confirm_start(ctx, id);
                }
            }
            kind::UNREGISTER => {
                let job = self.yarn.containers[value as usize].job;
                if let Some(process) = self.master_process(job) {
                    rpc::exit(ctx, process);
                }
                self.yarn.masters[job.0 as usize] = Master::default();
                self.job_left(ctx);
            }
            _ => {}
        }
    }
    pub(crate) fn on_yarn_call_failed(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, tag: Tag) {
        let value = tag.value();
        match tag.kind() {
            kind::WORKER_BEAT => {
                let node = NodeId(value as u32);
                let manager = &mut self.yarn.managers[node.0 as usize];
                let telling = std::mem::take(&mut manager.telling);
                manager.ended.extend(telling);
                self.beat_in(ctx, node, self.config.yarn.node_heartbeat);
            }
            kind::MASTER_BEAT => ctx.timer_in(self.config.yarn.am_heartbeat, control(kind::MASTER_DUE, value)),
            kind::REGISTER => self.register(ctx, value as u32),
            // A NodeManager that has restarted resets connections to its former life: the client tries again for a while.
            kind::START_MASTER => {
                let container = self.yarn.containers[value as usize];
                if !container.ended {
                    self.start_master(ctx, value as u32);
                }
            }
            kind::START_TASK => {
                let id = AttemptId(value as u32);
                let waited = ctx.now.saturating_sub(self.attempts[id.0 as usize].record.allocated);
                if waited >= NODE_WAIT || self.container_ended(id) {
                    self.master_failed(ctx, hdfs, id, "its container could not be launched");
                } else if self.attempts[id.0 as usize].record.state == AttemptState::Running {
                    self.start_task(ctx, id);
                }
            }
            kind::UNREGISTER => {
                let job = self.yarn.containers[value as usize].job;
                self.unregister(ctx, job);
            }
            kind::SUBMIT => ctx.timer_in(Time::from_secs(1), control(kind::SUBMIT_DUE, value)),
            _ => {}
        }
    }

    /// A NodeManager's heartbeat is at the ResourceManager: containers that ended are freed, and the node is offered to the jobs.
    fn rm_hears(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, node: NodeId, call: CallId) {
        let life = self.yarn.managers[node.0 as usize].life;
        if std::mem::replace(&mut self.yarn.nodes[node.0 as usize].life, life) != life {
            // It has restarted and registers anew: what ran there is gone.
            self.rm_loses(ctx, hdfs, node);
        }
        self.yarn.nodes[node.0 as usize].heard = Some(ctx.now);
        self.charges.tell(node);
        for container in self.yarn.managers[node.0 as usize].telling.clone() {
            self.free(container);
        }
        let starts = self.allocate(ctx, node);
        let cleaned = self.yarn.nodes[node.0 as usize].clean_up.len() as u64;
        rpc::set_reply(ctx, call, Bytes::new(SMALL.get() + PER_CONTAINER * cleaned));
        for container in starts {
            self.start_master(ctx, container);
        }
    }
    fn start_master(&mut self, ctx: &mut Context, container: u32) {
        let node = self.yarn.containers[container as usize].node;
        let from = Process { node: ctx.nodes.master(), id: RM_PROCESS };
        let to = Server { node, port: NODE_MANAGER };
        rpc::call(
            ctx,
            Call {
                from,
                to,
                request: LAUNCH_CONTEXT,
                reply: SMALL,
                tag: control(kind::START_MASTER, u64::from(container)),
            },
        );
    }
    /// It is at the ResourceManager, which hands over what it has granted since.
    fn rm_answers(&mut self, ctx: &mut Context, container: u32, call: CallId) {
        let job = self.yarn.containers[container as usize].job;
        for released in std::mem::take(&mut self.yarn.masters[job.0 as usize].releases) {
            self.free(released);
        }
        let headroom = self.yarn.free_memory();
        let Yarn { apps, containers, masters, .. } = &mut self.yarn;
        let app = &mut apps[job.0 as usize];
        app.heard = ctx.now;
        app.asks = app.sent.clone();
        app.reduces = app.sent_reduces;
        app.again = app.sent_again;
        for &granted in &app.granted {
            match containers[granted as usize].role {
                Role::Map => app.asks.any = app.asks.any.saturating_sub(1),
                Role::Reduce => app.reduces = app.reduces.saturating_sub(1),
                Role::Master => {}
            }
        }
        // What has been granted is taken in order: nothing that came before this call is unknown to the master after its reply.
        let granted = std::mem::take(&mut app.granted);
        app.asks.forget(
            granted.iter().map(|&granted| &containers[granted as usize]).filter(|c| c.role == Role::Map),
            &ctx.nodes,
        );
        rpc::set_reply(ctx, call, Bytes::new(SMALL.get() + 2 * PER_CONTAINER * granted.len() as u64));
        masters[job.0 as usize].answer = Answer { granted, lost_nodes: std::mem::take(&mut app.lost_nodes), headroom };
    }
    /// The NodeManager sees that an attempt's process is gone; the next heartbeat tells.
    pub(crate) fn container_exited(&mut self, id: AttemptId) {
        let attempt = &mut self.attempts[id.0 as usize];
        match attempt.container {
            Some(container) => self.yarn.managers[attempt.record.node.0 as usize].ended.push(container),
            None => self.give_back(id),
        }
    }
    fn container_ended(&self, id: AttemptId) -> bool {
        let container = self.attempts[id.0 as usize].container;
        container.is_none_or(|container| self.yarn.containers[container as usize].ended)
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
        let state = &mut self.yarn.nodes[node.0 as usize];
        state.heard = None;
        for container in std::mem::take(&mut state.containers) {
            self.free(container);
            let Container { job, role, attempt, .. } = self.yarn.containers[container as usize];
            // If the node was only out of reach, it stops them when it is heard again.
            self.yarn.nodes[node.0 as usize].clean_up.extend(attempt);
            if role == Role::Master && !self.yarn.apps[job.0 as usize].left {
                self.master_lost(ctx, hdfs, job);
            }
        }
        for app in &mut self.yarn.apps {
            app.lost_nodes.push(node);
        }
    }
    /// The AppMaster is lost: its containers are stopped, and another attempt at it is asked for, which recovers the maps that were done.
    fn master_lost(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, job: JobId) {
        self.drop_history(ctx, hdfs, job);
        self.yarn.masters[job.0 as usize] = Master::default();
        let running: Vec<AttemptId> = self.running(job).collect();
        for id in running {
            let node = self.attempts[id.0 as usize].record.node;
            if ctx.nodes.is_up(node) {
                self.yarn.nodes[node.0 as usize].clean_up.push(id);
            }
            self.killed(ctx, id, "the AppMaster was lost");
        }
        let app = &mut self.yarn.apps[job.0 as usize];
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
        let life = self.yarn.managers[node.0 as usize].life + 1;
        self.yarn.managers[node.0 as usize] = NodeManager { life, ..NodeManager::default() };
        self.yarn.nodes[node.0 as usize].clean_up.clear();
        for master in self.yarn.masters.iter_mut().filter(|master| master.node == Some(node)) {
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
