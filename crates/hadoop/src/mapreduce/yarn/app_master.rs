//! The AppMaster's calls: it registers, asks for containers at its heartbeats, and starts tasks in them. What it decides is in [`super::super::master`].

use super::super::{Call, MapReduce, Request, YarnCall, YarnRequest, call};
use super::{Applications, BEAT, LAUNCH_CONTEXT, NODE_MANAGER, PER_CONTAINER, SCHEDULER, SMALL, UMBILICAL};
use crate::context::Context;
use crate::effect::Service;
use crate::hdfs::Hdfs;
use crate::ids::{AttemptId, ContainerId, JobId, NodeId, Process, Server};
use crate::numbers::whole;
use crate::record::{Locality, TaskKind};
use crate::rpc::{self, ServerConfig};
use crate::yarn::Container;
use units::{Bytes, Time};

/// Its process number on its node, less the job's.
const MASTER_PROCESS: u32 = 500;
/// The processor time of a call (`yarn.app.mapreduce.am.job.task.listener.thread-count` is 30).
const AM_CALL: Time = Time::from_us(120);

/// A job's AppMaster.
#[derive(Debug, Default)]
pub(super) struct Master {
    /// Its container while it is registered, and where.
    pub(super) container: Option<ContainerId>,
    pub(super) node: Option<NodeId>,
    /// In the call under way: what the ResourceManager will have answered.
    pub(super) answer: Answer,
    /// Free memory that the job could get, as last heard.
    headroom: Bytes,
    /// Containers that it could not use.
    pub(super) releases: Vec<ContainerId>,
    /// It has had containers before.
    served: bool,
    /// Reducers that its next heartbeat asks for.
    reduces: u32,
}

#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) granted: Vec<ContainerId>,
    pub(super) lost_nodes: Vec<NodeId>,
    pub(super) headroom: Bytes,
}

impl Applications {
    /// Where a job's AppMaster is registered.
    pub fn master_of(&self, job: JobId) -> Option<NodeId> {
        self.masters.get(job.0 as usize)?.node
    }
}

impl MapReduce {
    fn scheduler(ctx: &Context) -> Server {
        Server { node: ctx.nodes.master(), port: SCHEDULER }
    }
    pub(crate) fn master_process(&self, job: JobId) -> Option<Process> {
        Some(Process { node: self.apps.masters[job.0 as usize].node?, id: MASTER_PROCESS + job.0 })
    }

    /// The AppMaster is up and registers.
    pub(super) fn register(&mut self, ctx: &mut Context, container: ContainerId) {
        let Container { job, node, ended, .. } = *self.yarn.container(container);
        if ended || !ctx.nodes.is_up(node) {
            return;
        }
        let port = UMBILICAL + job.0;
        rpc::serve(ctx, Server { node, port }, ServerConfig::new(30, AM_CALL, Service::Umbilical));
        let from = Process { node, id: MASTER_PROCESS + job.0 };
        call(ctx, from, Self::scheduler(ctx), (SMALL, SMALL), Call::Yarn(YarnCall::Register(container)));
    }
    pub(super) fn registered(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, container: ContainerId) {
        let Container { job, node, ended, .. } = *self.yarn.container(container);
        if ended || self.jobs[job.0 as usize].is_over() {
            return;
        }
        let master = &mut self.apps.masters[job.0 as usize];
        *master = Master { container: Some(container), node: Some(node), ..Master::default() };
        self.open_history(ctx, hdfs, job);
        let launch = self.config.replay.as_ref().and_then(|replay| replay.launch);
        let due = launch
            .map_or(ctx.now, |launch| self.jobs[job.0 as usize].record.submit.saturating_add(launch))
            .max(ctx.now);
        if due > ctx.now {
            return ctx.timer(due, Request::Yarn(YarnRequest::MasterDue(container)));
        }
        // Its first heartbeat leaves before the job's tasks exist: they are in the second.
        self.launch_job(ctx, hdfs, job);
        self.resume(ctx, hdfs, job);
        self.master_beat_in(ctx, container);
    }
    /// The AppMaster's next heartbeat is due an interval from now.
    pub(super) fn master_beat_in(&self, ctx: &mut Context, container: ContainerId) {
        ctx.timer_in(self.config.yarn.am_heartbeat, Request::Yarn(YarnRequest::MasterDue(container)));
    }

    /// The AppMaster's heartbeat leaves with what the job wants now.
    pub(super) fn master_beat(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, container: ContainerId) {
        let job = self.yarn.container(container).job;
        if self.apps.masters[job.0 as usize].container != Some(container) || self.jobs[job.0 as usize].is_over() {
            return;
        }
        if self.jobs[job.0 as usize].record.launch.is_none() {
            self.launch_job(ctx, hdfs, job);
        }
        let requests = self.jobs[job.0 as usize].map_requests(&ctx.nodes);
        let reduces = self.apps.masters[job.0 as usize].reduces.min(self.jobs[job.0 as usize].wanted(TaskKind::Reduce));
        let again = self.jobs[job.0 as usize].wants_again();
        let useless = [TaskKind::Map, TaskKind::Reduce].map(|kind| self.useless_nodes(job, kind));
        let app = &mut self.apps.list[job.0 as usize];
        let changed = app.sent != requests || app.sent_reduces != reduces;
        let named = if changed { requests.by_node.iter().filter(|&&count| count > 0).count() as u64 } else { 0 };
        app.sent = requests;
        app.sent_reduces = reduces;
        app.sent_again = again;
        app.useless = useless;
        let releases = self.apps.masters[job.0 as usize].releases.len() as u64;
        let request = Bytes::new(BEAT + 60 * named + PER_CONTAINER * releases);
        let Some(from) = self.master_process(job) else { return };
        call(ctx, from, Self::scheduler(ctx), (request, SMALL), Call::Yarn(YarnCall::MasterBeat(container)));
    }
    /// The reply is with the AppMaster: containers go to tasks.
    pub(super) fn master_receives(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, container: ContainerId) {
        let job = self.yarn.container(container).job;
        if self.apps.masters[job.0 as usize].container != Some(container) || self.jobs[job.0 as usize].is_over() {
            return;
        }
        let answer = std::mem::take(&mut self.apps.masters[job.0 as usize].answer);
        self.apps.masters[job.0 as usize].headroom = answer.headroom;
        for node in answer.lost_nodes {
            self.node_lost(ctx, job, node);
        }
        let mut granted = answer.granted;
        granted.retain(|&granted| !self.yarn.container(granted).ended);
        let first = !granted.is_empty() && !std::mem::replace(&mut self.apps.masters[job.0 as usize].served, true);
        // All of them look for a local task before any takes one that is farther (`RMContainerAllocator.assignMapsWithLocality`).
        for farthest in [Locality::Node, Locality::Rack, Locality::Remote] {
            granted.retain(|&granted| {
                let id = self.assign(ctx, job, granted, farthest);
                if let Some(id) = id {
                    let delay = self.start_delay(first);
                    if delay > Time::ZERO {
                        ctx.timer_in(delay, Request::Yarn(YarnRequest::StartDue(id)));
                    } else {
                        self.start_task(ctx, id);
                    }
                }
                id.is_none()
            });
        }
        self.apps.masters[job.0 as usize].releases.extend(granted);
        // Reducers are scheduled when a heartbeat is over, and asked for in the next (`RMContainerAllocator.heartbeat`).
        let requests = self.jobs[job.0 as usize].map_requests(&ctx.nodes);
        self.apps.masters[job.0 as usize].reduces = self.reduces_to_ask(ctx, hdfs, job, &requests);
        self.after(ctx, hdfs, job);
    }
    /// How long the AppMaster and the NodeManager take to launch a container: drawn among those that are given, those between two of them as likely.
    fn start_delay(&mut self, first: bool) -> Time {
        let yarn = &self.config.yarn;
        let delays =
            if first && !yarn.first_start_delays.is_empty() { &yarn.first_start_delays } else { &yarn.start_delays };
        let Some(last) = delays.len().checked_sub(1) else { return Time::ZERO };
        let place = self.apps.delays.uniform() * last as f64;
        let step = usize::try_from(whole(place)).unwrap_or(last);
        let (below, above) = (delays[step], delays[(step + 1).min(last)]);
        below + above.saturating_sub(below).mul_f64(place - libm::floor(place))
    }
    pub(super) fn start_task(&mut self, ctx: &mut Context, id: AttemptId) {
        let record = &self.attempts[id.0 as usize].record;
        let Some(from) = self.master_process(record.job) else { return };
        let to = Server { node: record.node, port: NODE_MANAGER };
        call(ctx, from, to, (LAUNCH_CONTEXT, SMALL), Call::Yarn(YarnCall::StartTask(id)));
    }
    pub(crate) fn headroom(&self, job: JobId) -> Bytes {
        self.apps.masters[job.0 as usize].headroom
    }

    /// The AppMaster tells the NodeManager to stop a task.
    pub(crate) fn stop_container(&mut self, ctx: &mut Context, id: AttemptId) {
        let record = &self.attempts[id.0 as usize].record;
        let Some(from) = self.master_process(record.job) else { return };
        let to = Server { node: record.node, port: NODE_MANAGER };
        call(ctx, from, to, (SMALL, SMALL), Call::Yarn(YarnCall::StopTask(id)));
    }

    /// The job is over: its AppMaster leaves.
    pub(crate) fn unregister(&mut self, ctx: &mut Context, job: JobId) {
        let master = &self.apps.masters[job.0 as usize];
        let (Some(container), Some(from)) = (master.container, self.master_process(job)) else {
            return self.job_left(ctx);
        };
        call(ctx, from, Self::scheduler(ctx), (SMALL, SMALL), Call::Yarn(YarnCall::Unregister(container)));
    }
}
