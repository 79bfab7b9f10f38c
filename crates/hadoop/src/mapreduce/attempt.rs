//! An attempt on its node: from its container's launch, through its task, to its exit.

use super::localise::Waiter;
use super::map::{MapTask, TaskState};
use super::reduce::ReduceTask;
use super::task::{AttemptOutput, Env};
use super::{
    Attempt, Call, Generation, MapReduce, Recorded, Request, SET_UP_SHARE, Step, StreamSlot, TaskRequest, Umbilical,
    call,
};
use crate::ids::{AttemptId, CallId, JobId, NodeId, Process, Server, Tag};
use crate::platform::Platform;
use crate::record::{AttemptBytes, AttemptRecord, AttemptState, Locality, Phase, TaskKind, Waiting};
use crate::rpc;
use crate::shuffle::News;
use crate::yarn::Policy;
use des::{Index, RandomStream};
use units::{Bytes, Time};

/// What runs for an attempt on its node.
#[derive(Debug)]
pub(crate) enum Body {
    /// Nothing yet.
    Placed,
    /// Its container, its JVM or its set-up: the work under way.
    Starting(Option<Tag>),
    Map(Box<MapTask>),
    Reduce(Box<ReduceTask>),
    /// Its task is done: the work of committing and counting.
    Closing(Tag),
    /// Done or failed. The call that says so to its master is under way.
    Reporting,
    /// Nothing any more.
    Exited,
}

/// Lengths of the umbilical's calls: a short call or reply, a task's description, a status with its counters, a map
/// completion event.
const SMALL: Bytes = Bytes::new(250);
const DESCRIPTION: Bytes = Bytes::new(2_000);
const STATUS: Bytes = Bytes::new(3_500);
const EVENT: u64 = 70;
/// The most events in one reply (`MAX_EVENTS_TO_FETCH`).
const MOST_EVENTS: usize = 10_000;

/// The process of an attempt's JVM.
pub(crate) fn process(id: AttemptId, node: NodeId) -> Process {
    Process { node, id: 1_000 + id.0 }
}

/// Where and why an attempt is placed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement {
    pub job: JobId,
    pub kind: TaskKind,
    pub task: u32,
    pub node: NodeId,
    pub locality: Option<Locality>,
    pub allocated: Time,
}

impl MapReduce {
    /// A new attempt, not launched yet.
    pub(crate) fn place(&mut self, platform: &mut Platform, placement: Placement) -> AttemptId {
        let Placement { job, kind, task, node, locality, allocated } = placement;
        let id = AttemptId::from_usize(self.attempts.len());
        let owner = &mut self.jobs[job.0 as usize];
        owner.record.ledger.slots_given += 1;
        let state = owner.task_mut(kind, task);
        let speculative = std::mem::take(&mut state.speculate) && !state.running.is_empty();
        let record = AttemptRecord {
            job,
            kind,
            task,
            attempt: state.attempts,
            node,
            speculative,
            locality,
            state: AttemptState::Running,
            reason: "",
            requested: state.requested,
            allocated,
            start: Time::ZERO,
            finish: Time::ZERO,
            first_phase_end: None,
            sort_end: None,
            intervals: Vec::new(),
            timeline: vec![(allocated, Waiting::Timeout)],
            open: None,
            spills: 0,
            spilled_records: 0,
            bytes: AttemptBytes::default(),
            last_map: None,
            output_lost: None,
        };
        state.attempts += 1;
        state.running.push(id);
        self.attempts.push(Attempt {
            record,
            body: Body::Placed,
            known_progress: 0.0,
            estimate: None,
            watched_progress: 0.0,
            last_progress: Time::ZERO,
            container: None,
            holds_slot: true,
            failure: None,
            replayed: false,
            in_master: false,
            recorded: Recorded::default(),
            pace: self.pace(id),
            object: None,
        });
        self.outputs.push(AttemptOutput { task, output: platform.shuffle.add_output(id.0, node), plain: Bytes::ZERO });
        id
    }

    /// Attempts at equal tasks differ: in how the JVM compiles and collects, in what else the machine does.
    fn pace(&self, id: AttemptId) -> f64 {
        let variation = self.config.task_variation;
        if variation == 0.0 {
            return 1.0;
        }
        (1.0 + variation * RandomStream::new(self.seed, "task/pace", u64::from(id.0)).normal()).max(0.1)
    }

    /// The node starts the attempt's container.
    pub(crate) fn launch(&mut self, platform: &mut Platform, id: AttemptId) {
        let attempt = &mut self.attempts[id.0 as usize];
        attempt.body = Body::Starting(None);
        attempt.record.wait(platform.ctx.now, Waiting::StartUp);
        attempt.record.begin(platform.ctx.now, Phase::Start);
        let (job, node, in_master) = (attempt.record.job, attempt.record.node, attempt.in_master);
        if self.config.generation == Generation::Hadoop1
            && !in_master
            && let Some(asks) = self.reused_jvm(platform.ctx.now, id)
        {
            return platform.ctx.timer(asks, Request::Task(id, TaskRequest::Jvm));
        }
        self.localise(platform, job, node, Waiter::Task(id));
    }

    pub(crate) fn on_task_answer(&mut self, platform: &mut Platform, id: AttemptId, request: TaskRequest) {
        let Some(attempt) = self.attempts.get_mut(id.0 as usize) else { return };
        let starting = matches!(attempt.body, Body::Starting(_));
        match request {
            TaskRequest::Launched if starting => {
                let work = self.config.jvm_start_cpu.mul_f64(attempt.pace);
                let work = platform.ctx.compute(attempt.record.node, work, Request::Task(id, TaskRequest::Jvm));
                attempt.body = Body::Starting(Some(work));
            }
            TaskRequest::Jvm if starting => {
                let asked = self.tell_master(platform, id, Umbilical::Description, SMALL, DESCRIPTION);
                if !asked {
                    self.set_up(platform, id);
                }
            }
            TaskRequest::SetUp if starting => self.begin(platform, id),
            TaskRequest::Closed if matches!(attempt.body, Body::Closing(_)) => self.end_on_node(platform, id),
            // It was killed meanwhile.
            TaskRequest::Launched | TaskRequest::Jvm | TaskRequest::SetUp | TaskRequest::Closed => {}
            TaskRequest::PingDue => self.ping_due(platform, id),
            TaskRequest::StatusDue => self.status_due(platform, id),
            TaskRequest::PollDue => self.poll(platform, id),
            TaskRequest::Map => self.on_map(platform, id, MapTask::on_computed),
            TaskRequest::Sorted => self.on_map(platform, id, MapTask::on_sorted),
            TaskRequest::Copied(copy) => self.on_reduce(platform, id, |reduce, env| reduce.on_copied(env, copy)),
            TaskRequest::PenaltyOver(host) => {
                self.on_reduce(platform, id, |reduce, env| reduce.on_penalty_over(env, host));
            }
            TaskRequest::LocalRead => self.on_reduce(platform, id, ReduceTask::on_local_read),
            TaskRequest::Stream(slot, step) => self.on_stream(platform, id, slot, step),
            TaskRequest::Recorded => self.with_env(platform, id, |body, env| match body {
                Body::Map(map) => map.on_recorded(env),
                Body::Reduce(reduce) => reduce.on_recorded(env),
                _ => TaskState::Running,
            }),
        }
    }

    /// The task's set-up, with the start of S3A where it is the first in its process to touch objects.
    pub(super) fn set_up(&mut self, platform: &mut Platform, id: AttemptId) {
        let Attempt { record, pace, body, in_master, .. } = &mut self.attempts[id.0 as usize];
        let spec = &self.jobs[record.job.0 as usize].spec;
        let started = *in_master && (spec.writes_objects() || record.task > 0);
        let touches = spec.writes_objects() || record.kind == TaskKind::Map && spec.reads_objects();
        let client = if touches && !started { platform.store.config().start_cpu } else { Time::ZERO };
        let work = (self.config.task_overhead_cpu.mul_f64(SET_UP_SHARE) + client).mul_f64(*pace);
        *body = Body::Starting(Some(platform.ctx.compute(record.node, work, Request::Task(id, TaskRequest::SetUp))));
    }

    /// The task itself begins.
    fn begin(&mut self, platform: &mut Platform, id: AttemptId) {
        platform.ctx.timer_in(self.config.progress_interval(), Request::Task(id, TaskRequest::PingDue));
        let seed = self.seed;
        let kind = self.attempts[id.0 as usize].record.kind;
        self.with_env(platform, id, |body, env| match kind {
            TaskKind::Map => {
                let mut map = Box::new(MapTask::new(env));
                let state = map.start(env);
                *body = Body::Map(map);
                state
            }
            TaskKind::Reduce => {
                let mut reduce = Box::new(ReduceTask::new(env, seed));
                let state = reduce.start(env);
                *body = Body::Reduce(reduce);
                state
            }
        });
        if kind == TaskKind::Reduce && !self.attempts[id.0 as usize].in_master {
            self.poll(platform, id);
        }
    }

    fn with_env(
        &mut self,
        platform: &mut Platform,
        id: AttemptId,
        step: impl FnOnce(&mut Body, &mut Env) -> TaskState,
    ) {
        let Self { config, jobs, attempts, outputs, turns, .. } = self;
        let Some(attempt) = attempts.get_mut(id.0 as usize) else { return };
        let Attempt { record, body, pace, in_master, recorded, .. } = attempt;
        let before = (record.first_phase_end, record.sort_end);
        let job = &jobs[record.job.0 as usize];
        let nowhere = super::split::Split::default();
        let split = if record.kind == TaskKind::Map { &job.splits[record.task as usize] } else { &nowhere };
        let node = record.node;
        let own = process(id, node);
        let uber = *in_master;
        let mut env = Env {
            ctx: platform.ctx,
            hdfs: platform.hdfs,
            store: platform.store,
            shuffle: platform.shuffle,
            outputs,
            config,
            spec: &job.spec,
            split,
            partitions: &job.partitions,
            by_home: &job.by_home,
            splits: &job.splits,
            cohorts: &job.cohorts,
            map_tasks: &job.maps,
            application: job.application,
            id,
            node,
            process: if uber { platform.yarn.master_process(job.application).unwrap_or(own) } else { own },
            uber,
            record,
            pace: *pace,
            recorded: *recorded,
            turns: &mut turns[node.0 as usize],
        };
        let state = step(body, &mut env);
        let turned = match record.kind {
            TaskKind::Map => before.0.is_none() && record.first_phase_end.is_some(),
            TaskKind::Reduce => before.1.is_none() && record.sort_end.is_some(),
        };
        if turned {
            // A map that begins to merge and a reduce that begins to reduce say so at once.
            self.tell_master(platform, id, Umbilical::Phase, STATUS, SMALL);
        }
        match state {
            TaskState::Running => {}
            TaskState::Done => self.close(platform, id),
            TaskState::Failed(reason) => self.fail_on_node(platform, id, reason),
        }
    }
    pub(crate) fn on_map(
        &mut self,
        platform: &mut Platform,
        id: AttemptId,
        step: impl FnOnce(&mut MapTask, &mut Env) -> TaskState,
    ) {
        self.with_env(platform, id, |body, env| match body {
            Body::Map(map) => step(map, env),
            _ => TaskState::Running,
        });
    }
    pub(crate) fn on_reduce(
        &mut self,
        platform: &mut Platform,
        id: AttemptId,
        step: impl FnOnce(&mut ReduceTask, &mut Env) -> TaskState,
    ) {
        self.with_env(platform, id, |body, env| match body {
            Body::Reduce(reduce) => step(reduce, env),
            _ => TaskState::Running,
        });
    }
    pub(crate) fn on_stream(&mut self, platform: &mut Platform, id: AttemptId, slot: StreamSlot, step: Step) {
        self.with_env(platform, id, |body, env| match body {
            Body::Map(map) => map.on_stream(env, slot, step),
            Body::Reduce(reduce) => reduce.on_stream(env, slot, step),
            _ => TaskState::Running,
        });
    }
    pub(crate) fn on_output_closed(&mut self, platform: &mut Platform, id: AttemptId) {
        self.with_env(platform, id, |body, env| match body {
            Body::Map(map) => map.on_write_closed(env),
            Body::Reduce(reduce) => reduce.on_write_closed(env),
            _ => TaskState::Running,
        });
    }

    /// The shuffle service has news for a reducer.
    pub(crate) fn on_shuffle_news(&mut self, platform: &mut Platform, reducer: AttemptId, news: News) {
        self.on_reduce(platform, reducer, |reduce, env| match news {
            News::Begins { fetch, output, .. } => {
                let Some(host) = env.shuffle.host_of(fetch) else { return TaskState::Running };
                if reduce.accept(host, env.share(env.map_of(output))) {
                    return TaskState::Running;
                }
                env.shuffle.give_up(env.ctx, fetch);
                reduce.on_fetch_end(env, host, None)
            }
            News::Arrived { host, output, bytes } => {
                reduce.on_arrived(env, host, env.map_of(output), bytes);
                TaskState::Running
            }
            News::Finished { host } => reduce.on_fetch_end(env, host, None),
            News::Failed { host, outputs, missing } => {
                let maps: Vec<AttemptId> = outputs.into_iter().map(|output| env.map_of(output)).collect();
                reduce.on_fetch_end(env, host, Some((&maps, missing)))
            }
        });
    }

    /// Asks for map completion events, or looks at those that the node's TaskTracker has.
    fn poll(&mut self, platform: &mut Platform, id: AttemptId) {
        let Some(Attempt { record, body: Body::Reduce(reduce), .. }) = self.attempts.get(id.0 as usize) else { return };
        if !reduce.is_shuffling() {
            return;
        }
        let (job, node, seen) = (record.job, record.node, reduce.seen);
        match self.config.generation {
            Generation::Yarn => {
                self.tell_master(platform, id, Umbilical::Poll, SMALL, SMALL);
            }
            Generation::Hadoop1 => {
                let known = self.tracker.events_known(node, job);
                if known > seen {
                    self.take_events(platform, id, known);
                }
                platform.ctx.timer_in(self.config.event_poll, Request::Task(id, TaskRequest::PollDue));
            }
        }
    }
    /// Map completion events up to a number have come to the reducer.
    fn take_events(&mut self, platform: &mut Platform, id: AttemptId, until: usize) {
        let job = self.attempts[id.0 as usize].record.job;
        let Body::Reduce(reduce) = &self.attempts[id.0 as usize].body else { return };
        let events = &self.jobs[job.0 as usize].events;
        let fresh = events[reduce.seen.min(until)..until.min(events.len())].to_vec();
        self.on_reduce(platform, id, |reduce, env| {
            reduce.seen = until;
            for event in fresh {
                if event.lost {
                    reduce.on_output_lost(env, event.map);
                } else {
                    reduce.on_output(env, event.map);
                }
            }
            reduce.proceed(env)
        });
    }

    /// Whether a report has progress to tell is decided an interval before it leaves (`Task.TaskReporter.run` takes the
    /// flag, waits, then reports): the first one is a ping.
    fn ping_due(&mut self, platform: &mut Platform, id: AttemptId) {
        if !matches!(self.attempts[id.0 as usize].body, Body::Map(_) | Body::Reduce(_)) {
            return;
        }
        self.tell_master(platform, id, Umbilical::Ping, SMALL, SMALL);
        platform.ctx.timer_in(self.config.progress_interval(), Request::Task(id, TaskRequest::StatusDue));
    }
    fn status_due(&mut self, platform: &mut Platform, id: AttemptId) {
        let attempt = &self.attempts[id.0 as usize];
        if !matches!(attempt.body, Body::Map(_) | Body::Reduce(_)) {
            return;
        }
        if attempt.in_master {
            self.on_status(platform, id);
        } else if !self.tell_master(platform, id, Umbilical::Status, STATUS, SMALL) {
            self.note_progress(platform.ctx.now, id);
        }
        platform.ctx.timer_in(self.config.progress_interval(), Request::Task(id, TaskRequest::StatusDue));
    }

    /// A call to the AppMaster; false where whoever is to be told is on the same node and hears of it without one: the
    /// TaskTracker in Hadoop 1, the AppMaster of an uber job.
    fn tell_master(
        &mut self,
        platform: &mut Platform,
        id: AttemptId,
        what: Umbilical,
        request: Bytes,
        reply: Bytes,
    ) -> bool {
        if self.config.generation == Generation::Hadoop1 || self.attempts[id.0 as usize].in_master {
            return false;
        }
        let record = &self.attempts[id.0 as usize].record;
        if let Some(to) = self.umbilical(platform, record.job) {
            call(platform.ctx, process(id, record.node), to, (request, reply), Call::Umbilical(id, what));
        }
        true
    }

    pub(crate) fn on_umbilical(
        &mut self,
        platform: &mut Platform,
        (call, to): (CallId, Server),
        id: AttemptId,
        what: Umbilical,
    ) {
        let Some(attempt) = self.attempts.get(id.0 as usize) else { return };
        let job = attempt.record.job;
        if self.umbilical(platform, job) != Some(to) {
            return;
        }
        match what {
            Umbilical::Description | Umbilical::Ping => {}
            Umbilical::Status => self.on_status(platform, id),
            Umbilical::Phase => self.estimate(platform.ctx, id),
            Umbilical::Poll => {
                let known = self.jobs[job.0 as usize].events.len();
                if let Body::Reduce(reduce) = &mut self.attempts[id.0 as usize].body {
                    let until = known.min(reduce.seen + MOST_EVENTS);
                    reduce.polled = Some(until);
                    rpc::set_reply(platform.ctx, call, Bytes::new(SMALL.get() + EVENT * (until - reduce.seen) as u64));
                }
            }
            Umbilical::Done => {
                let failure = self.attempts[id.0 as usize].failure;
                match failure {
                    None => self.master_done(platform, id),
                    Some(reason) => self.master_failed(platform, id, reason),
                }
            }
        }
    }
    pub(crate) fn on_umbilical_reply(&mut self, platform: &mut Platform, id: AttemptId, what: Umbilical) {
        let Some(attempt) = self.attempts.get_mut(id.0 as usize) else { return };
        match what {
            Umbilical::Description if matches!(attempt.body, Body::Starting(_)) => self.set_up(platform, id),
            Umbilical::Poll => {
                let Body::Reduce(reduce) = &mut attempt.body else { return };
                if let Some(until) = reduce.polled.take() {
                    self.take_events(platform, id, until);
                }
                platform.ctx.timer_in(self.config.event_poll, Request::Task(id, TaskRequest::PollDue));
            }
            Umbilical::Done => self.exit(platform, id),
            Umbilical::Description | Umbilical::Ping | Umbilical::Status | Umbilical::Phase => {}
        }
    }

    /// The task has written its last byte. What is left of its overhead is to commit and to count.
    fn close(&mut self, platform: &mut Platform, id: AttemptId) {
        let attempt = &mut self.attempts[id.0 as usize];
        if let Body::Map(map) = &attempt.body
            && let Some(file) = map.result
        {
            let output = &mut self.outputs[id.0 as usize];
            output.plain = file.plain;
            platform.shuffle.publish(output.output, file.disk, file.stream, file.bytes);
        }
        let work = self.config.task_overhead_cpu.mul_f64(attempt.pace * (1.0 - SET_UP_SHARE));
        if work == Time::ZERO {
            return self.end_on_node(platform, id);
        }
        let work = platform.ctx.compute(attempt.record.node, work, Request::Task(id, TaskRequest::Closed));
        attempt.body = Body::Closing(work);
        attempt.record.wait(platform.ctx.now, Waiting::Cpu);
    }
    /// The task is done on its node.
    fn end_on_node(&mut self, platform: &mut Platform, id: AttemptId) {
        let attempt = &mut self.attempts[id.0 as usize];
        attempt.body = Body::Reporting;
        attempt.record.wait(platform.ctx.now, Waiting::Timeout);
        attempt.record.end(platform.ctx.now);
        self.report(platform, id, None);
    }
    /// The master hears that the attempt is done, or why it is not.
    fn report(&mut self, platform: &mut Platform, id: AttemptId, failure: Option<&'static str>) {
        if self.tell_master(platform, id, Umbilical::Done, STATUS, SMALL) {
            return;
        }
        self.exit(platform, id);
        if self.attempts[id.0 as usize].in_master {
            match failure {
                None => self.master_done(platform, id),
                Some(reason) => self.master_failed(platform, id, reason),
            }
        }
    }
    /// The attempt has failed on its node.
    pub(crate) fn fail_on_node(&mut self, platform: &mut Platform, id: AttemptId, reason: &'static str) {
        if matches!(self.attempts[id.0 as usize].body, Body::Exited | Body::Reporting | Body::Placed) {
            return;
        }
        self.cancel(platform, id);
        let attempt = &mut self.attempts[id.0 as usize];
        attempt.failure = Some(reason);
        attempt.record.wait(platform.ctx.now, Waiting::Timeout);
        attempt.record.end(platform.ctx.now);
        attempt.body = Body::Reporting;
        self.report(platform, id, Some(reason));
    }
    /// The task cannot reach its master: it ends itself.
    pub(crate) fn master_is_gone(&mut self, platform: &mut Platform, id: AttemptId) {
        if !matches!(self.attempts[id.0 as usize].body, Body::Exited) {
            self.exit(platform, id);
        }
    }

    /// Cancels the work, reads, writes and fetches that the attempt has under way.
    fn cancel(&mut self, platform: &mut Platform, id: AttemptId) {
        let node = self.attempts[id.0 as usize].record.node;
        self.with_env(platform, id, |body, env| {
            match body {
                Body::Starting(work) => {
                    if let Some(work) = work.take() {
                        env.ctx.cancel_compute(node, work);
                    }
                }
                Body::Map(map) => map.cancel(env),
                Body::Reduce(reduce) => reduce.cancel(env),
                Body::Closing(work) => env.ctx.cancel_compute(node, *work),
                Body::Placed | Body::Reporting | Body::Exited => {}
            }
            TaskState::Running
        });
    }
    /// The attempt's processes are gone from its node, which stays.
    pub(crate) fn exit(&mut self, platform: &mut Platform, id: AttemptId) {
        if matches!(self.attempts[id.0 as usize].body, Body::Exited) {
            return;
        }
        self.cancel(platform, id);
        let attempt = &mut self.attempts[id.0 as usize];
        let done = matches!(attempt.body, Body::Reporting) && attempt.failure.is_none();
        attempt.body = Body::Exited;
        attempt.record.end(platform.ctx.now);
        let node = attempt.record.node;
        if !attempt.in_master {
            rpc::exit(platform.ctx, process(id, node));
            platform.store.exit(platform.ctx, process(id, node));
        }
        match self.config.generation {
            Generation::Yarn => self.container_exited(platform, id),
            Generation::Hadoop1 => self.task_exited(platform.ctx, id, done),
        }
        self.fill_with_planned(platform, node);
    }
    /// The attempt's node has crashed.
    pub(crate) fn vanish(&mut self, id: AttemptId, now: Time) {
        let attempt = &mut self.attempts[id.0 as usize];
        attempt.body = Body::Exited;
        attempt.record.end(now);
        attempt.record.wait(now, Waiting::Timeout);
    }
    /// The attempts that have not exited from a node.
    pub(crate) fn on_node(&self, node: NodeId) -> Vec<AttemptId> {
        let here = |attempt: &Attempt| attempt.record.node == node && !matches!(attempt.body, Body::Exited);
        (0..).map(AttemptId).zip(&self.attempts).filter(|(_, attempt)| here(attempt)).map(|(id, _)| id).collect()
    }
    /// Whether its node has not begun to start it.
    pub(crate) fn is_placed(&self, id: AttemptId) -> bool {
        matches!(self.attempts[id.0 as usize].body, Body::Placed)
    }
    /// The progress that an attempt would report now, if it has a task.
    pub(crate) fn progress_on_node(&self, id: AttemptId) -> Option<f64> {
        match &self.attempts[id.0 as usize].body {
            Body::Map(map) => Some(map.progress()),
            Body::Reduce(reduce) => Some(reduce.progress()),
            _ => None,
        }
    }
    /// How far an attempt is, from 0 to 1; one that is done counts as one before its master knows.
    pub(crate) fn progress_now(&self, id: AttemptId) -> f64 {
        let attempt = &self.attempts[id.0 as usize];
        match &attempt.body {
            Body::Placed | Body::Starting(_) => 0.0,
            Body::Map(map) => map.progress(),
            Body::Reduce(reduce) => reduce.progress(),
            Body::Closing(_) | Body::Reporting | Body::Exited => f64::from(u8::from(attempt.failure.is_none())),
        }
    }
    /// Whether jobs wait for locality at all in Hadoop 1: its FIFO scheduler does not.
    pub(crate) fn delays(&self) -> bool {
        self.scheduler.policy == Policy::Fair
    }
}
