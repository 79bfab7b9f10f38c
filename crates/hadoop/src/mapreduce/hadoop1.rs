//! Hadoop 1: TaskTrackers with slots call the JobTracker at their heartbeats, and find what to launch or to kill in its
//! replies.

use super::attempt::{Body, Placement};
use super::jvm::Jvms;
use super::{Attempt, Call, MapReduce, Request, TrackerCall, TrackerRequest, call};
use crate::context::Context;
use crate::ids::{AttemptId, CallId, JobId, NodeId, Process, Server};
use crate::platform::Platform;
use crate::record::{AttemptRecord, AttemptState, Locality, TaskKind};
use crate::rpc;
use crate::yarn::scheduler::{LocalityWait, Share, order};
use des::{Index, RandomStream};
use std::collections::BTreeMap;
use units::{Bytes, Time};

/// The JobTracker's port.
pub(crate) const JOB_TRACKER: u32 = 8_021;
const TRACKER_PROCESS: u32 = 1;
/// Handlers (`mapred.job.tracker.handler.count`) and the processor time of a heartbeat.
const HANDLERS: u32 = 10;
const HEARTBEAT_CALL: Time = Time::from_us(400);
/// Lengths: a heartbeat, a task's status in it without its counters (some seventeen with their names) and these, an
/// action in the reply, a question for events and an event (`TaskTrackerStatus`, `TaskStatus`, `Counters`, as Hadoop
/// 1.1 writes them).
const HEARTBEAT: u64 = 400;
const PER_STATUS: u64 = 150;
const COUNTERS: u64 = 950;
const PER_ACTION: u64 = 1_500;
const SMALL: Bytes = Bytes::new(250);
const SUBMISSION: Bytes = Bytes::new(3_000);
const PER_EVENT: u64 = 70;
/// Counters of running tasks go with one heartbeat in this time (`COUNTER_UPDATE_INTERVAL`), those of tasks that ended
/// with the next.
const COUNTER_UPDATE: Time = Time::from_secs(60);
/// The JobTracker looks for lost TaskTrackers this often within their expiry.
const LOOKS: u64 = 3;

#[derive(Debug)]
pub(crate) struct JobTracker {
    trackers: Vec<Tracker>,
    waits: Vec<LocalityWait>,
    submitted: Vec<bool>,
    random: RandomStream,
}

/// A TaskTracker, and what the JobTracker knows of it.
#[derive(Debug, Default)]
struct Tracker {
    /// Attempts in its slots.
    maps: Vec<AttemptId>,
    reduces: Vec<AttemptId>,
    /// JVMs of its maps, and of its reducers.
    jvms: [Jvms; 2],
    /// Attempts that ended since its last heartbeat.
    ended: Vec<AttemptId>,
    /// Attempts that ended, in the heartbeat under way.
    reported: Vec<AttemptId>,
    in_heartbeat: bool,
    /// When the next one is due: an interval after the last one was answered.
    due: Time,
    /// When counters of running tasks are due.
    counters_due: Time,
    /// A heartbeat out of band is due when the one under way is over.
    again_at_once: bool,
    /// In the reply under way.
    launches: Vec<AttemptId>,
    kills: Vec<AttemptId>,
    /// Map completion events that it has, by job.
    events: BTreeMap<JobId, Events>,
    /// When its last heartbeat came; none before the first, and after it was given up.
    last_heartbeat: Option<Time>,
    life: u32,
    /// The life that the JobTracker knows.
    known_life: u32,
}

#[derive(Debug, Default)]
struct Events {
    known: usize,
    /// What the reply under way will bring.
    answered: usize,
    asking: bool,
}

impl JobTracker {
    pub fn new(nodes: usize, jobs: usize, seed: u64) -> Self {
        Self {
            trackers: (0..nodes).map(|_| Tracker::default()).collect(),
            waits: vec![LocalityWait::default(); jobs],
            submitted: vec![false; jobs],
            random: RandomStream::new(seed, "hadoop1/heartbeat-phase", 0),
        }
    }
    /// Whether a TaskTracker's heartbeats come, as far as the JobTracker knows.
    pub fn is_active(&self, node: NodeId) -> bool {
        self.trackers[node.0 as usize].last_heartbeat.is_some()
    }
    /// Map completion events that a node's TaskTracker has.
    pub fn events_known(&self, node: NodeId, job: JobId) -> usize {
        self.trackers[node.0 as usize].events.get(&job).map_or(0, |events| events.known)
    }
}

impl MapReduce {
    fn job_tracker(ctx: &Context) -> Server {
        Server { node: ctx.nodes.master(), port: JOB_TRACKER }
    }
    pub(crate) fn start_hadoop1(&mut self, ctx: &mut Context) {
        rpc::serve(ctx, Self::job_tracker(ctx), self.scheduler.server(HANDLERS, HEARTBEAT_CALL));
        let interval = self.config.hadoop1.heartbeat_for(ctx.nodes.worker_count());
        for node in ctx.nodes.workers() {
            let phase = interval.mul_f64(self.tracker.random.uniform());
            self.tracker_heartbeat_in(ctx, node, phase);
        }
        ctx.timer_in(self.config.hadoop1.expiry / LOOKS, Request::Tracker(TrackerRequest::ExpiryDue));
    }
    fn tracker_heartbeat_in(&mut self, ctx: &mut Context, node: NodeId, delay: Time) {
        let life = self.tracker.trackers[node.0 as usize].life;
        ctx.timer_in(delay, Request::Tracker(TrackerRequest::HeartbeatDue { node, life }));
    }

    pub(crate) fn on_tracker_answer(&mut self, platform: &mut Platform, request: TrackerRequest) {
        match request {
            TrackerRequest::HeartbeatDue { node, life } => {
                let tracker = &self.tracker.trackers[node.0 as usize];
                let lives = platform.ctx.nodes.is_up(node) && tracker.life == life;
                if lives && tracker.due <= platform.ctx.now {
                    self.send_tracker_heartbeat(platform.ctx, node);
                    self.ask_for_events(platform.ctx, node);
                }
            }
            TrackerRequest::ExpiryDue => {
                let expiry = self.config.hadoop1.expiry;
                for node in platform.ctx.nodes.workers() {
                    let last = self.tracker.trackers[node.0 as usize].last_heartbeat;
                    if last.is_some_and(|last| last.saturating_add(expiry) <= platform.ctx.now) {
                        self.tracker_lost(platform, node);
                    }
                }
                if !self.finished {
                    platform.ctx.timer_in(expiry / LOOKS, Request::Tracker(TrackerRequest::ExpiryDue));
                }
            }
        }
    }

    /// A heartbeat leaves, unless one is under way.
    fn send_tracker_heartbeat(&mut self, ctx: &mut Context, node: NodeId) {
        let tracker = &mut self.tracker.trackers[node.0 as usize];
        if std::mem::replace(&mut tracker.in_heartbeat, true) {
            return;
        }
        let ended = std::mem::take(&mut tracker.ended);
        tracker.reported.extend(ended);
        let (running, ended) = ((tracker.maps.len() + tracker.reduces.len()) as u64, tracker.reported.len() as u64);
        let with_counters = tracker.counters_due <= ctx.now;
        if with_counters {
            tracker.counters_due = ctx.now + COUNTER_UPDATE;
        }
        let counters = ended + if with_counters { running } else { 0 };
        let from = rpc::heartbeat_process(ctx, Process { node, id: TRACKER_PROCESS });
        let request = Bytes::new(HEARTBEAT + PER_STATUS * (running + ended) + COUNTERS * counters);
        call(ctx, from, Self::job_tracker(ctx), (request, SMALL), Call::Tracker(TrackerCall::Heartbeat(node)));
    }
    /// The heartbeat was answered or has failed: the next one is due an interval later.
    fn tracker_heartbeat_over(&mut self, ctx: &mut Context, node: NodeId) {
        let interval = self.config.hadoop1.heartbeat_for(ctx.nodes.worker_count());
        let tracker = &mut self.tracker.trackers[node.0 as usize];
        tracker.in_heartbeat = false;
        tracker.due = ctx.now.saturating_add(interval);
        self.tracker_heartbeat_in(ctx, node, interval);
    }
    /// One question per job with reducers on the node that still fetch (`MapEventsFetcherThread`), as often as
    /// heartbeats.
    fn ask_for_events(&mut self, ctx: &mut Context, node: NodeId) {
        let mut jobs: Vec<JobId> = Vec::new();
        for &id in &self.tracker.trackers[node.0 as usize].reduces {
            let Attempt { record, body: Body::Reduce(reduce), .. } = &self.attempts[id.0 as usize] else { continue };
            if reduce.is_shuffling() && !jobs.contains(&record.job) {
                jobs.push(record.job);
            }
        }
        for job in jobs {
            let events = self.tracker.trackers[node.0 as usize].events.entry(job).or_default();
            if !std::mem::replace(&mut events.asking, true) {
                let from = Process { node, id: TRACKER_PROCESS };
                let what = Call::Tracker(TrackerCall::Events { job, node });
                call(ctx, from, Self::job_tracker(ctx), (SMALL, SMALL), what);
            }
        }
    }

    /// The client submits a job.
    pub(super) fn submit_to_tracker(ctx: &mut Context, client: Process, job: JobId) {
        let what = Call::Tracker(TrackerCall::Submit(job));
        call(ctx, client, Self::job_tracker(ctx), (SUBMISSION, SMALL), what);
    }
    fn tracker_submitted(&mut self, platform: &mut Platform, job: JobId) {
        self.tracker.submitted[job.0 as usize] = true;
        self.jobs[job.0 as usize].record.master_start = Some(platform.ctx.now);
        match self.planned_launch(job).filter(|due| *due > platform.ctx.now) {
            Some(due) => platform.ctx.timer(due, Request::LaunchDue(job)),
            None => self.launch_job(platform, job),
        }
    }
    pub(crate) fn on_tracker_served(&mut self, platform: &mut Platform, id: CallId, call: TrackerCall) {
        match call {
            TrackerCall::Submit(job) => self.tracker_submitted(platform, job),
            TrackerCall::Heartbeat(node) => {
                self.on_tracker_heartbeat(platform, node);
                let tracker = &self.tracker.trackers[node.0 as usize];
                let actions = (tracker.launches.len() + tracker.kills.len()) as u64;
                rpc::set_reply(platform.ctx, id, Bytes::new(SMALL.get() + PER_ACTION * actions));
            }
            TrackerCall::Events { job, node } => {
                let all = self.jobs[job.0 as usize].events.len();
                let events = self.tracker.trackers[node.0 as usize].events.entry(job).or_default();
                events.answered = all;
                rpc::set_reply(platform.ctx, id, Bytes::new(SMALL.get() + PER_EVENT * (all - events.known) as u64));
            }
        }
    }
    pub(crate) fn on_tracker_replied(&mut self, platform: &mut Platform, call: TrackerCall) {
        match call {
            TrackerCall::Submit(_) => {}
            TrackerCall::Heartbeat(node) => {
                self.tracker_heartbeat_over(platform.ctx, node);
                let tracker = &mut self.tracker.trackers[node.0 as usize];
                tracker.reported.clear();
                let (launches, kills) = (std::mem::take(&mut tracker.launches), std::mem::take(&mut tracker.kills));
                for id in kills {
                    self.exit(platform, id);
                }
                for id in launches {
                    if self.attempts[id.0 as usize].record.state == AttemptState::Running {
                        self.confirm_start(platform.ctx, id);
                        self.launch(platform, id);
                    } else {
                        self.exit(platform, id);
                    }
                }
                if std::mem::take(&mut self.tracker.trackers[node.0 as usize].again_at_once) {
                    self.send_tracker_heartbeat(platform.ctx, node);
                }
            }
            TrackerCall::Events { job, node } => {
                if let Some(events) = self.tracker.trackers[node.0 as usize].events.get_mut(&job) {
                    events.asking = false;
                    events.known = events.answered;
                }
            }
        }
    }
    pub(crate) fn on_tracker_call_failed(&mut self, ctx: &mut Context, call: TrackerCall) {
        match call {
            TrackerCall::Submit(job) => Self::submit_failed(ctx, job),
            TrackerCall::Heartbeat(node) => {
                self.tracker_heartbeat_over(ctx, node);
                let tracker = &mut self.tracker.trackers[node.0 as usize];
                let reported = std::mem::take(&mut tracker.reported);
                tracker.ended.extend(reported);
            }
            TrackerCall::Events { job, node } => {
                if let Some(events) = self.tracker.trackers[node.0 as usize].events.get_mut(&job) {
                    events.asking = false;
                }
            }
        }
    }

    /// A heartbeat is at the JobTracker: statuses are read, then free slots are filled.
    fn on_tracker_heartbeat(&mut self, platform: &mut Platform, node: NodeId) {
        self.charges.on_heartbeat(node);
        let tracker = &mut self.tracker.trackers[node.0 as usize];
        tracker.last_heartbeat = Some(platform.ctx.now);
        if std::mem::replace(&mut tracker.known_life, tracker.life) != tracker.life {
            self.tracker_lost(platform, node);
        }
        let tracker = &self.tracker.trackers[node.0 as usize];
        let running: Vec<AttemptId> = tracker.maps.iter().chain(&tracker.reduces).copied().collect();
        for id in running {
            self.on_status(platform, id);
        }
        for id in self.tracker.trackers[node.0 as usize].reported.clone() {
            self.give_back(id);
            match self.attempts[id.0 as usize].failure {
                Some(reason) => self.master_failed(platform, id, reason),
                None => self.master_done(platform, id),
            }
        }
        self.fill_slots(platform, node);
    }

    /// At most so many tasks of each kind per heartbeat, of the jobs in order.
    fn fill_slots(&mut self, platform: &mut Platform, node: NodeId) {
        for kind in [TaskKind::Map, TaskKind::Reduce] {
            for _ in 0..self.config.hadoop1.tasks_per_heartbeat {
                if !self.has_free_slot(node, kind) || !self.fill_slot(platform, node, kind) {
                    break;
                }
            }
        }
    }
    pub(super) fn has_free_slot(&self, node: NodeId, kind: TaskKind) -> bool {
        let tracker = &self.tracker.trackers[node.0 as usize];
        let (slots, used) = match kind {
            TaskKind::Map => (self.config.hadoop1.map_slots, tracker.maps.len()),
            TaskKind::Reduce => (self.config.hadoop1.reduce_slots, tracker.reduces.len()),
        };
        used < slots as usize
    }
    fn fill_slot(&mut self, platform: &mut Platform, node: NodeId, kind: TaskKind) -> bool {
        let shares = (0..self.jobs.len())
            .filter(|&job| self.tracker.submitted[job] && !self.jobs[job].is_over())
            .map(|job| Share {
                user: job,
                submit: self.jobs[job].spec.submit,
                used: self
                    .running(JobId::from_usize(job))
                    .filter(|id| self.attempts[id.0 as usize].record.kind == kind)
                    .count() as u64,
                weight: self.jobs[job].spec.weight,
            })
            .collect();
        for number in order(self.scheduler.policy, shares) {
            let job = JobId::from_usize(number);
            if self.jobs[number].wanted(kind) == 0 || self.spares(platform.ctx, job, node, kind) {
                continue;
            }
            let farthest = if kind == TaskKind::Map && self.delays() {
                self.tracker.waits[number].farthest(platform.ctx.now, self.config.hadoop1.locality_delay)
            } else {
                Locality::Remote
            };
            let Some((kind, task, locality)) =
                self.take_task(platform.ctx, job, node, kind == TaskKind::Reduce, farthest)
            else {
                continue;
            };
            if let Some(locality) = locality {
                self.tracker.waits[number].assigned(locality);
            }
            let has_room = |other| self.has_free_slot(other, kind);
            if !self.charges.is_spared(node, self.others(platform.ctx, job, node), has_room) {
                self.charges.served(platform.ctx.now, number);
            }
            let id = self.place(platform, Placement { job, kind, task, node, locality, allocated: platform.ctx.now });
            let tracker = &mut self.tracker.trackers[node.0 as usize];
            match kind {
                TaskKind::Map => tracker.maps.push(id),
                TaskKind::Reduce => tracker.reduces.push(id),
            }
            tracker.launches.push(id);
            return true;
        }
        false
    }

    /// Whether a job leaves a worker alone for its battery, while others have a slot for it.
    fn spares(&self, ctx: &Context, job: JobId, node: NodeId, kind: TaskKind) -> bool {
        let owner = &self.jobs[job.0 as usize];
        let since = || {
            let waiting = owner.maps.iter().chain(&owner.reduces).filter(|task| task.wanted > 0);
            waiting.map(|task| task.requested).min().unwrap_or(owner.record.submit)
        };
        let has_room = |other| self.has_free_slot(other, kind);
        self.charges.spares(ctx.now, job.0 as usize, since, node, self.others(ctx, job, node), has_room)
    }
    /// The workers beside this one whose heartbeats come and that a job does not avoid.
    fn others<'a>(&'a self, ctx: &'a Context, job: JobId, node: NodeId) -> impl Iterator<Item = NodeId> + use<'a> {
        let avoided = self.jobs[job.0 as usize].avoided(ctx.nodes.worker_count(), self.config.blacklist_ignore_percent);
        let takes = move |other: &NodeId| *other != node && self.tracker.is_active(*other) && !avoided.contains(other);
        ctx.nodes.workers().filter(takes)
    }

    /// A recorded attempt takes its slot without being asked for.
    pub(crate) fn occupy_slot(&mut self, id: AttemptId) {
        let record = &self.attempts[id.0 as usize].record;
        let tracker = &mut self.tracker.trackers[record.node.0 as usize];
        match record.kind {
            TaskKind::Map => tracker.maps.push(id),
            TaskKind::Reduce => tracker.reduces.push(id),
        }
    }
    /// The reply to the node's next heartbeat tells it to kill an attempt.
    pub(crate) fn tell_tracker_to_kill(&mut self, id: AttemptId) {
        let node = self.attempts[id.0 as usize].record.node;
        self.tracker.trackers[node.0 as usize].kills.push(id);
    }
    /// A launched attempt gets a JVM: the time at which one that has run others of its job asks for it, or none for a
    /// new one.
    pub(super) fn reused_jvm(&mut self, now: Time, id: AttemptId) -> Option<Time> {
        let AttemptRecord { job, kind, node, .. } = self.attempts[id.0 as usize].record;
        let hadoop1 = &self.config.hadoop1;
        let slots = if kind == TaskKind::Map { hadoop1.map_slots } else { hadoop1.reduce_slots };
        self.tracker.trackers[node.0 as usize].jvms[kind as usize].take(slots, now, job, id)
    }
    /// An attempt's task has ended, `done` or not: its slot is free, and the next heartbeat tells.
    pub(crate) fn task_exited(&mut self, ctx: &mut Context, id: AttemptId, done: bool) {
        let kind = self.attempts[id.0 as usize].record.kind;
        let node = self.attempts[id.0 as usize].record.node;
        // Recorded ends are those that the JobTracker knew of.
        let plan = self.config.replays.get(&self.attempts[id.0 as usize].record.job);
        let out_of_band = self.config.hadoop1.out_of_band || plan.is_some_and(|plan| plan.waits);
        if self.attempts[id.0 as usize].replayed {
            self.give_back(id);
        }
        let tracker = &mut self.tracker.trackers[node.0 as usize];
        tracker.jvms[kind as usize].leave(self.config.hadoop1.tasks_per_jvm, ctx.now, id, done);
        tracker.maps.retain(|&other| other != id);
        tracker.reduces.retain(|&other| other != id);
        tracker.ended.push(id);
        if out_of_band && tracker.in_heartbeat {
            tracker.again_at_once = true;
        } else if out_of_band {
            self.send_tracker_heartbeat(ctx, node);
        }
    }

    /// The JobTracker gives a TaskTracker up, or finds that it has restarted.
    fn tracker_lost(&mut self, platform: &mut Platform, node: NodeId) {
        if self.tracker.trackers[node.0 as usize].last_heartbeat.is_some_and(|last| last < platform.ctx.now) {
            self.tracker.trackers[node.0 as usize].last_heartbeat = None;
        }
        let held: Vec<AttemptId> = (0..self.attempts.len())
            .map(AttemptId::from_usize)
            .filter(|id| {
                let attempt = &self.attempts[id.0 as usize];
                attempt.record.node == node && attempt.holds_slot
            })
            .collect();
        for id in held {
            self.give_back(id);
        }
        for job in 0..self.jobs.len() {
            self.node_lost(platform, JobId::from_usize(job), node);
        }
    }
    /// A worker's processes are gone; the JobTracker hears of it by silence.
    pub(crate) fn tracker_down(&mut self, node: NodeId) {
        let tracker = &mut self.tracker.trackers[node.0 as usize];
        let (last_heartbeat, life, known_life) = (tracker.last_heartbeat, tracker.life + 1, tracker.known_life);
        *tracker = Tracker { last_heartbeat, life, known_life, ..Tracker::default() };
    }
    pub(crate) fn tracker_up(&mut self, ctx: &mut Context, node: NodeId) {
        if node != ctx.nodes.master() {
            self.tracker_heartbeat_in(ctx, node, Time::ZERO);
        }
    }
}
