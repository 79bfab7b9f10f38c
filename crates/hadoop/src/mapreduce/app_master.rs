//! The AppMaster of a job on YARN: its client submits it, it registers, asks for containers at its heartbeats, and has
//! tasks started and stopped in them. What it decides for its tasks is in [`super::allocate`] and [`super::master`].

use super::allocate::{MAP, REDUCE};
use super::localise::Waiter;
use super::{MapReduce, MasterRequest, Request};
use crate::context::Context;
use crate::effect::Service;
use crate::ids::{AttemptId, ContainerId, JobId, NodeId, Process, Server};
use crate::numbers::whole;
use crate::platform::Platform;
use crate::record::{AttemptState, JobState, Locality, TaskKind};
use crate::rpc::{self, ServerConfig};
use crate::yarn::{Container, ContainerRequest, MasterPlacement, News, Role};
use units::Time;

/// The first of the AppMasters' umbilical ports.
const UMBILICAL: u32 = 30_000;
/// Handlers (`yarn.app.mapreduce.am.job.task.listener.thread-count`) and the processor time of an umbilical call.
const LISTENERS: u32 = 30;
const AM_CALL: Time = Time::from_us(120);

/// What a job's AppMaster remembers between heartbeats.
#[derive(Debug, Default)]
pub(super) struct AppMaster {
    /// It has had containers before.
    served: bool,
    /// Reducers that its next heartbeat asks for.
    reduces: u32,
}

impl MapReduce {
    /// The client submits a job whose files are in HDFS.
    pub(super) fn submit_to_yarn(&mut self, platform: &mut Platform, client: Process, job: JobId) {
        let owner = &self.jobs[job.0 as usize];
        let recorded = self.config.replays.get(&job).and_then(|replay| replay.master);
        let placement = recorded.map_or_else(MasterPlacement::default, |(node, at)| MasterPlacement {
            node: Some(node),
            not_before: owner.record.submit.saturating_add(at),
        });
        platform.yarn.submit(platform.ctx, client, owner.application, placement);
    }

    /// YARN has news of a job's application or of one of its containers.
    pub(crate) fn on_yarn_news(&mut self, platform: &mut Platform, job: JobId, news: News) {
        match news {
            News::SubmitFailed => Self::submit_failed(platform.ctx, job),
            News::Start(container) => self.on_start_container(platform, job, container),
            News::Stop(container) => {
                if let Some(id) = self.attempt_in(container) {
                    self.exit(platform, id);
                }
            }
            News::Registered(master) => self.on_registered(platform, job, master),
            News::HeartbeatOver(master) => {
                if platform.yarn.is_registered(master) && !self.jobs[job.0 as usize].is_over() {
                    self.on_allocation(platform, job);
                }
                self.heartbeat_in(platform.ctx, job, master);
            }
            News::Started(container) => {
                let Some(id) = self.attempt_in(container) else { return };
                if self.attempts[id.0 as usize].record.start == Time::ZERO {
                    self.confirm_start(platform.ctx, id);
                }
            }
            News::StartFailed { container, last } => {
                let Some(id) = self.attempt_in(container) else { return };
                if last {
                    self.master_failed(platform, id, "its container could not be launched");
                } else if self.attempts[id.0 as usize].record.state == AttemptState::Running {
                    platform.yarn.start(platform.ctx, container);
                }
            }
            News::Finished => self.job_left(platform, job),
            News::Completed(container) => {
                if let Some(id) = self.attempt_in(container) {
                    self.give_back(id);
                }
            }
            News::MasterLost { lost, again } => self.on_master_lost(platform, job, lost, again),
        }
    }

    /// The attempt that runs in a container.
    fn attempt_in(&self, container: ContainerId) -> Option<AttemptId> {
        *self.in_container.get(container.0 as usize)?
    }
    /// A NodeManager is to start a container: the AppMaster's, or a task's.
    fn on_start_container(&mut self, platform: &mut Platform, job: JobId, container: ContainerId) {
        let waiter = match (platform.yarn.container(container).role, self.attempt_in(container)) {
            (Role::Master, _) => Waiter::Master(container),
            (Role::Task(_), Some(id)) if self.is_placed(id) => return self.launch(platform, id),
            (Role::Task(_), _) => return,
        };
        self.jobs[job.0 as usize].record.master_start = Some(platform.ctx.now);
        let node = platform.yarn.container(container).node;
        self.localise(platform, job, node, waiter);
    }

    /// Work or a timer of an AppMaster.
    pub(super) fn on_master_answer(
        &mut self,
        platform: &mut Platform,
        job: JobId,
        master: ContainerId,
        request: MasterRequest,
    ) {
        let Container { node, ended, .. } = *platform.yarn.container(master);
        let runs = !ended && platform.ctx.nodes.is_up(node);
        match request {
            MasterRequest::Launched => {
                if runs {
                    let writes = self.jobs[job.0 as usize].spec.writes_objects();
                    // It asks for the committer before it launches the job.
                    let store = if writes { platform.store.config().start_cpu } else { Time::ZERO };
                    let work = self.config.jvm_start_cpu + self.config.app_master.init_cpu + store;
                    platform.ctx.compute(node, work, Request::Master(job, master, MasterRequest::Ready));
                }
            }
            MasterRequest::Ready => {
                if runs {
                    let listener = ServerConfig::new(LISTENERS, AM_CALL, Service::Umbilical);
                    rpc::serve(platform.ctx, Self::listener(node, job), listener);
                    platform.yarn.register(platform.ctx, master);
                }
            }
            MasterRequest::HeartbeatDue => self.heartbeat(platform, job, master),
            MasterRequest::LocaliseDue => {
                if runs {
                    self.localise(platform, job, node, Waiter::Master(master));
                }
            }
        }
    }

    fn on_registered(&mut self, platform: &mut Platform, job: JobId, master: ContainerId) {
        self.masters[job.0 as usize] = AppMaster::default();
        self.open_history(platform, job);
        let now = platform.ctx.now;
        let submit = self.jobs[job.0 as usize].record.submit;
        let launch = self.config.replays.get(&job).and_then(|replay| replay.launch);
        let due = launch.map_or(now, |launch| submit.saturating_add(launch)).max(now);
        if due > now {
            return platform.ctx.timer(due, Request::Master(job, master, MasterRequest::HeartbeatDue));
        }
        // Its first heartbeat leaves before the job's tasks exist: they are in the second.
        if self.jobs[job.0 as usize].record.launch.is_some() {
            self.sets_up_objects(platform, job);
        }
        self.launch_job(platform, job);
        self.resume(platform, job);
        self.heartbeat_in(platform.ctx, job, master);
    }
    /// The AppMaster's next heartbeat is due an interval from now.
    fn heartbeat_in(&self, ctx: &mut Context, job: JobId, master: ContainerId) {
        let due = Request::Master(job, master, MasterRequest::HeartbeatDue);
        ctx.timer_in(self.config.app_master.heartbeat, due);
    }
    /// The AppMaster's heartbeat leaves with what the job wants now.
    fn heartbeat(&mut self, platform: &mut Platform, id: JobId, master: ContainerId) {
        if !platform.yarn.is_registered(master) || self.jobs[id.0 as usize].is_over() {
            return;
        }
        if self.jobs[id.0 as usize].record.launch.is_none() {
            self.launch_job(platform, id);
        }
        let job = &self.jobs[id.0 as usize];
        let since = |kind: TaskKind| {
            let waiting = job.tasks(kind).iter().filter(|task| task.wanted > 0);
            waiting.map(|task| task.requested).min().unwrap_or(platform.ctx.now)
        };
        let maps = ContainerRequest {
            priority: MAP,
            resources: self.config.app_master.task(TaskKind::Map),
            count: job.wanted(TaskKind::Map),
            locations: Some(job.locations(&platform.ctx.nodes)),
            strict: false,
            urgent: job.wants_again(),
            useless: self.useless_nodes(id, TaskKind::Map),
            since: since(TaskKind::Map),
        };
        let reduces = ContainerRequest {
            priority: REDUCE,
            resources: self.config.app_master.task(TaskKind::Reduce),
            count: self.masters[id.0 as usize].reduces.min(job.wanted(TaskKind::Reduce)),
            locations: job.homes(&platform.ctx.nodes),
            // Until the one that waits longest has lost patience, no reducer is wanted away from its keys.
            strict: job.insists(since(TaskKind::Reduce), platform.ctx.now),
            urgent: false,
            useless: self.useless_nodes(id, TaskKind::Reduce),
            since: since(TaskKind::Reduce),
        };
        platform.yarn.heartbeat(platform.ctx, master, vec![reduces, maps]);
    }
    /// The reply to the heartbeat is with the AppMaster: containers go to tasks.
    fn on_allocation(&mut self, platform: &mut Platform, job: JobId) {
        let application = self.application(job);
        let allocation = platform.yarn.take_allocation(application);
        for node in allocation.lost_nodes {
            self.node_lost(platform, job, node);
        }
        let mut granted = allocation.granted;
        let first = !granted.is_empty() && !std::mem::replace(&mut self.masters[job.0 as usize].served, true);
        // All of them look for a local task before any takes one that is farther
        // (`RMContainerAllocator.assignMapsWithLocality`).
        for farthest in [Locality::Node, Locality::Rack, Locality::Remote] {
            granted.retain(|&container| {
                let id = self.assign(platform, job, container, farthest);
                if id.is_some() {
                    let delay = self.start_delay(first);
                    if delay > Time::ZERO {
                        platform.ctx.timer_in(delay, Request::StartDue(container));
                    } else {
                        platform.yarn.start(platform.ctx, container);
                    }
                }
                id.is_none()
            });
        }
        platform.yarn.release(application, granted);
        // Reducers are scheduled when a heartbeat is over, and asked for in the next
        // (`RMContainerAllocator.heartbeat`).
        self.masters[job.0 as usize].reduces = self.reduces_to_ask(platform, job, allocation.headroom);
        self.after(platform, job);
    }
    /// The AppMaster has a container's launch ready.
    pub(super) fn on_start_due(&mut self, platform: &mut Platform, container: ContainerId) {
        let waits = self.attempt_in(container).is_some_and(|id| self.is_placed(id));
        if waits && !platform.yarn.container(container).ended {
            platform.yarn.start(platform.ctx, container);
        }
    }
    /// How long the AppMaster and the NodeManager take to launch a container: drawn among those that are given, those
    /// between two of them as likely.
    fn start_delay(&mut self, first: bool) -> Time {
        let config = &self.config.app_master;
        let delays = if first && !config.first_start_delays.is_empty() {
            &config.first_start_delays
        } else {
            &config.start_delays
        };
        let Some(last) = delays.len().checked_sub(1) else { return Time::ZERO };
        let place = self.start_delays.uniform() * last as f64;
        let step = usize::try_from(whole(place)).unwrap_or(last);
        let (below, above) = (delays[step], delays[(step + 1).min(last)]);
        below + above.saturating_sub(below).mul_f64(place - libm::floor(place))
    }

    /// The AppMaster is lost, and what it ran with it. Another recovers the maps that were done.
    fn on_master_lost(&mut self, platform: &mut Platform, job: JobId, lost: u32, again: bool) {
        self.drop_history(platform, job);
        platform.store.abort_commit(platform.ctx, job);
        self.drop_set_up(platform, job);
        let running: Vec<AttemptId> = self.running(job).collect();
        for id in running {
            let attempt = &self.attempts[id.0 as usize];
            if attempt.replayed || attempt.in_master {
                self.exit(platform, id);
            }
            self.killed(platform.ctx, id, "the AppMaster was lost");
        }
        self.uber_lost(platform, job);
        let owner = &mut self.jobs[job.0 as usize];
        if again {
            return;
        }
        if !owner.is_over() {
            owner.record.state = JobState::Failed;
            owner.record.reason = format!("its AppMaster was lost {lost} times");
            owner.record.finish = Some(platform.ctx.now);
        }
        self.job_left(platform, job);
    }

    /// The job is over and its history written: the AppMaster leaves.
    pub(super) fn finish_application(&mut self, platform: &mut Platform, job: JobId) {
        if !platform.yarn.finish(platform.ctx, self.application(job)) {
            self.job_left(platform, job);
        }
    }
    /// An attempt's process is gone from its node: its container is free when the NodeManager has said so.
    pub(super) fn container_exited(&mut self, platform: &mut Platform, id: AttemptId) {
        match self.attempts[id.0 as usize].container {
            Some(container) => platform.yarn.exited(platform.ctx, container),
            None => self.give_back(id),
        }
    }
    /// The AppMaster tells the NodeManager to stop an attempt.
    pub(super) fn stop_container(&self, platform: &mut Platform, id: AttemptId) {
        if let Some(container) = self.attempts[id.0 as usize].container {
            platform.yarn.stop(platform.ctx, container);
        }
    }
    /// Where the job's AppMaster listens to its tasks.
    pub(super) fn umbilical(&self, platform: &Platform, job: JobId) -> Option<Server> {
        Some(Self::listener(platform.yarn.master_node(self.application(job))?, job))
    }
    const fn listener(node: NodeId, job: JobId) -> Server {
        Server { node, port: UMBILICAL + job.0 }
    }
}
