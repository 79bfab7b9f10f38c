//! What a job's master decides, in either generation: AppMaster or JobTracker.

use super::attempt::Body;
use super::cohorts::Member;
use super::files::CLIENT_PROCESS;
use super::job::MapEvent;
use super::task::AttemptOutput;
use super::{Attempt, Generation, MapReduce, Recorded, Request, speculate};
use crate::context::Context;
use crate::ids::{AttemptId, JobId, NodeId, Process};
use crate::numbers::count;
use crate::platform::Platform;
use crate::record::{AttemptState, JobState, TaskKind, Waiting, reason};
use units::Time;

/// Between two looks for slow tasks, and after one that started a copy
/// (`mapreduce.job.speculative.retry-after-no-speculate`, `-after-speculate`).
const SPECULATE: Time = Time::from_secs(1);
const SPECULATED: Time = Time::from_secs(15);
/// Before a client submits again.
const SUBMIT_AGAIN: Time = Time::from_secs(1);
/// Reports of failed fetches of one output, and the part of the running reducers that they come from, after which its
/// map runs again (`MAX_FETCH_FAILURES_NOTIFICATIONS`, `MAX_ALLOWED_FETCH_FAILURES_FRACTION`).
const FETCH_REPORTS: u32 = 3;
const FETCH_REPORTERS: f64 = 0.5;

impl MapReduce {
    pub(crate) fn on_start(&mut self, ctx: &mut Context) {
        if self.config.generation == Generation::Hadoop1 {
            self.start_hadoop1(ctx);
        }
        for job in &self.jobs {
            ctx.timer(job.spec.submit.max(ctx.now), Request::SubmitDue(job.id));
        }
        if self.jobs.is_empty() {
            self.finished = true;
        }
    }

    /// The client submits a job whose files are in HDFS.
    pub(super) fn submit(&mut self, platform: &mut Platform, job: JobId) {
        self.jobs[job.0 as usize].record.submit = platform.ctx.now;
        let client = Process { node: platform.ctx.nodes.master(), id: CLIENT_PROCESS };
        match self.config.generation {
            Generation::Yarn => self.submit_to_yarn(platform, client, job),
            Generation::Hadoop1 => Self::submit_to_tracker(platform.ctx, client, job),
        }
    }
    /// The client's submission had no answer: it tries again.
    pub(super) fn submit_failed(ctx: &mut Context, job: JobId) {
        ctx.timer_in(SUBMIT_AGAIN, Request::SubmitDue(job));
    }

    /// The job is initialised: from here on its tasks ask for slots or containers.
    pub(crate) fn launch_job(&mut self, platform: &mut Platform, id: JobId) {
        let job = &mut self.jobs[id.0 as usize];
        if job.record.launch.is_some() || job.is_over() {
            return;
        }
        job.record.launch = Some(platform.ctx.now);
        job.locate(platform.hdfs);
        if !self.sets_up_objects(platform, id) {
            self.begin_tasks(platform, id);
        }
    }
    /// The job's tasks may begin.
    pub(super) fn begin_tasks(&mut self, platform: &mut Platform, id: JobId) {
        if std::mem::replace(&mut self.jobs[id.0 as usize].begun, true) {
            return;
        }
        // What runs in the AppMaster follows from its launch, recorded or not.
        if !self.goes_uber(platform, id) && !self.begin_plan(platform.ctx, id) {
            let job = &mut self.jobs[id.0 as usize];
            for task in 0..count(job.maps.len()) {
                job.want(TaskKind::Map, task, &platform.ctx.nodes, platform.ctx.now);
            }
            platform.ctx.timer_in(SPECULATE, Request::SpeculateDue(id));
        }
        self.after(platform, id);
    }
    /// A new AppMaster asks again for what its predecessor had running.
    pub(crate) fn resume(&mut self, platform: &mut Platform, id: JobId) {
        self.after(platform, id);
        self.arm_timeout(platform.ctx, id);
    }
    /// The start of an attempt is known: the clock of its timeout runs.
    pub(crate) fn confirm_start(&mut self, ctx: &mut Context, id: AttemptId) {
        let attempt = &mut self.attempts[id.0 as usize];
        attempt.record.start = ctx.now;
        attempt.last_progress = ctx.now;
        let job = attempt.record.job;
        // Those that run already have come less far since, so their look is due earlier.
        self.look_after(ctx, job, ctx.now);
    }
    /// Has the job's attempts looked at when the first of them may have been silent for too long.
    fn arm_timeout(&mut self, ctx: &mut Context, job: JobId) {
        let progress = self.watched(job).map(|id| self.attempts[id.0 as usize].last_progress);
        let oldest = progress.min().unwrap_or(Time::MAX);
        self.look_after(ctx, job, oldest);
    }
    /// Has the job's attempts looked at a timeout after a time, or earlier.
    fn look_after(&mut self, ctx: &mut Context, job: JobId, since: Time) {
        let timeout = self.config.task_timeout;
        if timeout == Time::ZERO {
            return;
        }
        let due = since.saturating_add(timeout);
        let armed = &mut self.jobs[job.0 as usize].timeout_at;
        if due < *armed {
            *armed = due;
            ctx.timer(due, Request::TimeoutDue(job));
        }
    }
    pub(super) fn check_timeouts(&mut self, platform: &mut Platform, job: JobId) {
        if self.jobs[job.0 as usize].timeout_at > platform.ctx.now || self.jobs[job.0 as usize].is_over() {
            return;
        }
        self.jobs[job.0 as usize].timeout_at = Time::MAX;
        if self.config.generation == Generation::Yarn && !self.has_master(platform, job) {
            return;
        }
        let timeout = self.config.task_timeout;
        let silent =
            |id: &AttemptId| self.attempts[id.0 as usize].last_progress.saturating_add(timeout) <= platform.ctx.now;
        let silent: Vec<AttemptId> = self.watched(job).filter(silent).collect();
        for id in silent {
            let reason = reason::TASK_TIMEOUT;
            match self.config.generation {
                Generation::Yarn => {
                    self.stop_on_node(platform, id);
                    self.master_failed(platform, id, reason);
                }
                Generation::Hadoop1 => self.fail_on_node(platform, id, reason),
            }
        }
        if !self.jobs[job.0 as usize].is_over() {
            self.arm_timeout(platform.ctx, job);
        }
    }
    /// The attempts whose timeouts run. On YARN the AppMaster watches all whose start it knows. In Hadoop 1 each
    /// TaskTracker watches those on its node (`TaskTracker.markUnresponsiveTasks`), which needs no network.
    fn watched(&self, job: JobId) -> impl Iterator<Item = AttemptId> + '_ {
        let on_node = |attempt: &Attempt| !matches!(attempt.body, Body::Reporting | Body::Exited);
        self.running(job).filter(move |id| {
            let attempt = &self.attempts[id.0 as usize];
            attempt.last_progress > Time::ZERO && (self.config.generation == Generation::Yarn || on_node(attempt))
        })
    }
    /// Whether the job's master runs.
    fn has_master(&self, platform: &Platform, job: JobId) -> bool {
        match self.config.generation {
            Generation::Yarn => platform.yarn.master_node(self.application(job)).is_some(),
            Generation::Hadoop1 => platform.ctx.nodes.is_up(platform.ctx.nodes.master()),
        }
    }
    /// Whoever watches over an attempt's timeout (AppMaster or TaskTracker) looks at its progress.
    pub(crate) fn note_progress(&mut self, now: Time, id: AttemptId) {
        let Some(progress) = self.progress_on_node(id) else { return };
        let attempt = &mut self.attempts[id.0 as usize];
        // A reducer says that it lives while it waits for map outputs.
        let fetches = matches!(&attempt.body, Body::Reduce(reduce) if reduce.is_shuffling());
        // What took long and succeeded in the record has said so too.
        let works = attempt.recorded != Recorded::default()
            && attempt.record.timeline.last().is_some_and(|(_, waiting)| *waiting == Waiting::Cpu);
        if progress > attempt.watched_progress || fetches || works {
            attempt.last_progress = now;
        }
        attempt.watched_progress = progress;
    }
    /// The attempts of a job that run as far as its master knows.
    pub(crate) fn running(&self, job: JobId) -> impl Iterator<Item = AttemptId> + '_ {
        let job = &self.jobs[job.0 as usize];
        job.maps.iter().chain(&job.reduces).flat_map(|task| task.running.iter().copied())
    }

    /// An attempt's report of progress has come to its master.
    pub(crate) fn on_status(&mut self, platform: &mut Platform, id: AttemptId) {
        let Some(progress) = self.progress_on_node(id) else { return };
        if self.config.generation == Generation::Yarn {
            self.note_progress(platform.ctx.now, id);
        }
        let attempt = &mut self.attempts[id.0 as usize];
        let job = attempt.record.job;
        let mut reports = Vec::new();
        if let Body::Reduce(reduce) = &mut attempt.body {
            reports = std::mem::take(&mut reduce.reports);
        }
        attempt.known_progress = progress;
        self.estimate(platform.ctx, id);
        let attempt = &self.attempts[id.0 as usize];
        if attempt.record.state != AttemptState::Running {
            return;
        }
        for map in reports {
            self.fetch_failed(platform, job, map);
        }
    }
    /// Estimates from a report how long the attempt will run in all (`LegacyTaskRuntimeEstimator`). A report that a
    /// phase has begun carries the progress of the report before it; before the first, that is none.
    pub(crate) fn estimate(&mut self, ctx: &Context, id: AttemptId) {
        let attempt = &mut self.attempts[id.0 as usize];
        let elapsed = ctx.now.saturating_sub(attempt.record.start);
        attempt.estimate = Some(elapsed.mul_f64(1.0 / attempt.known_progress.max(1e-4)));
    }
    fn fetch_failed(&mut self, platform: &mut Platform, job: JobId, map: AttemptId) {
        let running =
            self.running(job).filter(|id| self.attempts[id.0 as usize].record.kind == TaskKind::Reduce).count();
        let owner = &mut self.jobs[job.0 as usize];
        let task = self.attempts[map.0 as usize].record.task;
        if owner.is_over() || owner.maps[task as usize].done != Some(map) {
            return;
        }
        let failures = owner.fetch_failures.entry(map).or_default();
        *failures += 1;
        if *failures >= FETCH_REPORTS && f64::from(*failures) >= FETCH_REPORTERS * running as f64 {
            let node = self.attempts[map.0 as usize].record.node;
            owner.maps[task as usize].failures += 1;
            let failures = owner.maps[task as usize].failures;
            self.count_failure(platform, job, node);
            self.output_lost(platform, map, AttemptState::Failed, reason::OUTPUT_UNFETCHABLE);
            if failures >= self.config.max_attempts {
                self.finish_job(platform, job, JobState::Failed, format!("map {task} failed {failures} times"));
            }
        }
    }

    /// The output of a map that was done is gone: the map runs again.
    fn output_lost(&mut self, platform: &mut Platform, map: AttemptId, state: AttemptState, reason: &'static str) {
        platform.shuffle.withdraw(self.outputs[map.0 as usize].output);
        let record = &mut self.attempts[map.0 as usize].record;
        record.state = state;
        record.reason = reason;
        record.output_lost = Some(platform.ctx.now);
        let (job, task, node) = (record.job, record.task, record.node);
        let owner = &mut self.jobs[job.0 as usize];
        owner.maps[task as usize].done = None;
        owner.maps_done -= 1;
        owner.events.push(MapEvent { map, lost: true });
        self.ask_again(platform.ctx, job, TaskKind::Map, task, node);
    }

    /// An attempt says that it is done.
    pub(crate) fn master_done(&mut self, platform: &mut Platform, id: AttemptId) {
        let record = &mut self.attempts[id.0 as usize].record;
        if record.state != AttemptState::Running {
            return;
        }
        record.state = AttemptState::Succeeded;
        record.finish = platform.ctx.now;
        let (job, kind, task) = (record.job, record.kind, record.task);
        self.record_closed(platform.ctx, id);
        let record = &self.attempts[id.0 as usize].record;
        let seconds = platform.ctx.now.saturating_sub(record.start).as_secs_f64();
        let owner = &mut self.jobs[job.0 as usize];
        owner.durations[kind as usize].add(seconds);
        let state = owner.task_mut(kind, task);
        state.running.retain(|&running| running != id);
        let others = std::mem::take(&mut state.running);
        state.done = Some(id);
        state.speculate = false;
        owner.want_no_more(kind, task);
        match kind {
            TaskKind::Map => {
                owner.maps_done += 1;
                let AttemptOutput { output, plain, .. } = self.outputs[id.0 as usize];
                let bytes = platform.shuffle.output(output).bytes;
                let last = owner.maps_done as usize == owner.maps.len();
                for map in owner.cohorts.add(Member { map: task, attempt: id, bytes, plain }, last) {
                    owner.events.push(MapEvent { map, lost: false });
                }
            }
            TaskKind::Reduce => owner.reduces_done += 1,
        }
        for other in others {
            self.kill(platform, other, reason::OTHER_FIRST);
        }
        self.after(platform, job);
    }

    /// An attempt has failed: it counts against its task and its node.
    pub(crate) fn master_failed(&mut self, platform: &mut Platform, id: AttemptId, reason: &'static str) {
        let Some((job, kind, task, node)) = self.end_record(platform.ctx, id, AttemptState::Failed, reason) else {
            return;
        };
        let counts = !self.fails_as_recorded(id);
        if counts {
            self.count_failure(platform, job, node);
        }
        let owner = &mut self.jobs[job.0 as usize];
        let most = if owner.record.uber { 1 } else { self.config.max_attempts };
        let state = owner.task_mut(kind, task);
        state.failures += u32::from(counts);
        let failures = state.failures;
        if failures >= most && state.done.is_none() {
            let name = if kind == TaskKind::Map { "map" } else { "reduce" };
            let reason = format!("{name} {task} failed {failures} times, the last because: {reason}");
            return self.finish_job(platform, job, JobState::Failed, reason);
        }
        if state.done.is_none() && state.running.is_empty() && state.wanted == 0 {
            self.ask_again(platform.ctx, job, kind, task, node);
        }
    }
    /// An attempt failed on a node, which the job may avoid from now on.
    fn count_failure(&mut self, platform: &mut Platform, job: JobId, node: NodeId) {
        let owner = &mut self.jobs[job.0 as usize];
        if owner.count_failure(node, self.config.node_failures) {
            let workers = platform.ctx.nodes.worker_count();
            let avoided = owner.avoided(workers, self.config.blacklist_ignore_percent).to_vec();
            platform.yarn.set_blacklist(owner.application, avoided);
        }
    }
    /// The master ends an attempt; its task may need another, but it is nobody's failure.
    pub(crate) fn kill(&mut self, platform: &mut Platform, id: AttemptId, reason: &'static str) {
        self.stop_on_node(platform, id);
        self.killed(platform.ctx, id, reason);
    }
    /// An attempt has ended through no fault of its own.
    pub(crate) fn killed(&mut self, ctx: &mut Context, id: AttemptId, reason: &'static str) {
        let Some((job, kind, task, node)) = self.end_record(ctx, id, AttemptState::Killed, reason) else { return };
        let owner = &self.jobs[job.0 as usize];
        let state = owner.task(kind, task);
        if !owner.is_over() && state.done.is_none() && state.running.is_empty() && state.wanted == 0 {
            self.ask_again(ctx, job, kind, task, node);
        }
    }
    fn end_record(
        &mut self,
        ctx: &mut Context,
        id: AttemptId,
        state: AttemptState,
        reason: &'static str,
    ) -> Option<(JobId, TaskKind, u32, NodeId)> {
        let record = &mut self.attempts[id.0 as usize].record;
        if record.state != AttemptState::Running {
            return None;
        }
        record.state = state;
        record.reason = reason;
        record.finish = ctx.now;
        let (job, kind, task, node) = (record.job, record.kind, record.task, record.node);
        self.record_closed(ctx, id);
        self.jobs[job.0 as usize].task_mut(kind, task).running.retain(|&running| running != id);
        Some((job, kind, task, node))
    }
    fn stop_on_node(&mut self, platform: &mut Platform, id: AttemptId) {
        let attempt = &self.attempts[id.0 as usize];
        if attempt.replayed || attempt.in_master {
            return self.exit(platform, id);
        }
        match self.config.generation {
            Generation::Yarn => self.stop_container(platform, id),
            Generation::Hadoop1 => self.tell_tracker_to_kill(id),
        }
    }

    /// After a change in a job: its reducers are asked for when slow start allows, and it ends when all tasks are done.
    pub(crate) fn after(&mut self, platform: &mut Platform, id: JobId) {
        let job = &mut self.jobs[id.0 as usize];
        if job.is_over() {
            return;
        }
        if !job.reduces_released && job.passed_slow_start(self.config.slow_start) {
            job.reduces_released = true;
            for task in 0..count(job.reduces.len()) {
                job.want(TaskKind::Reduce, task, &platform.ctx.nodes, platform.ctx.now);
            }
        }
        if job.is_complete() {
            if !self.commits_objects(platform, id) && !self.commits_later(platform.ctx, id) {
                self.finish_job(platform, id, JobState::Succeeded, String::new());
            }
            return;
        }
        self.uber_next(platform, id);
    }
    pub(crate) fn finish_job(&mut self, platform: &mut Platform, id: JobId, state: JobState, reason: String) {
        let job = &mut self.jobs[id.0 as usize];
        if job.is_over() {
            return;
        }
        job.record.state = state;
        job.record.reason = reason;
        job.record.finish = Some(platform.ctx.now);
        job.want_nothing();
        platform.yarn.want_nothing(job.application);
        let running: Vec<AttemptId> = self.running(id).collect();
        for attempt in running {
            self.kill(platform, attempt, "the job is over");
        }
        match self.config.generation {
            Generation::Yarn => self.close_history(platform, id),
            Generation::Hadoop1 => self.job_left(platform, id),
        }
    }
    /// A job has left the cluster. The run is over with the last one.
    pub(crate) fn job_left(&mut self, platform: &mut Platform, job: JobId) {
        self.client_leaves(platform, job);
        if !self.finished && self.jobs.iter().all(super::job::Job::is_over) {
            self.finished = true;
            platform.ctx.finish();
        }
    }

    /// The slot or container of an attempt is free again.
    pub(crate) fn give_back(&mut self, id: AttemptId) {
        let attempt = &mut self.attempts[id.0 as usize];
        if std::mem::take(&mut attempt.holds_slot) {
            self.jobs[attempt.record.job.0 as usize].record.ledger.slots_returned += 1;
        }
    }

    /// A node is lost, or has come back empty: what ran there is gone, and so are the outputs of the maps that were
    /// done there.
    pub(crate) fn node_lost(&mut self, platform: &mut Platform, id: JobId, node: NodeId) {
        if !self.jobs[id.0 as usize].is_launched() {
            return;
        }
        let here: Vec<AttemptId> =
            self.running(id).filter(|attempt| self.attempts[attempt.0 as usize].record.node == node).collect();
        for attempt in here {
            self.killed(platform.ctx, attempt, reason::NODE_LOST);
        }
        let job = &self.jobs[id.0 as usize];
        if job.reduces_done as usize == job.reduces.len() {
            return;
        }
        let on_node = |map: &AttemptId| self.attempts[map.0 as usize].record.node == node;
        let done: Vec<AttemptId> = job.maps.iter().filter_map(|map| map.done).filter(on_node).collect();
        for map in done {
            self.output_lost(platform, map, AttemptState::Killed, reason::OUTPUT_NODE_LOST);
        }
    }

    pub(super) fn speculate(&mut self, platform: &mut Platform, id: JobId) {
        if self.jobs[id.0 as usize].is_over() {
            return;
        }
        let wanted =
            [(TaskKind::Map, self.config.speculative_maps), (TaskKind::Reduce, self.config.speculative_reduces)];
        let mut started = false;
        for (kind, _) in wanted.into_iter().filter(|(_, enabled)| *enabled) {
            let job = &self.jobs[id.0 as usize];
            let (generation, cap) = (self.config.generation, self.config.speculative_cap);
            if !self.has_master(platform, id) {
                continue;
            }
            if let Some(task) = speculate::candidate(job, &self.attempts, kind, generation, cap, platform.ctx.now) {
                let job = &mut self.jobs[id.0 as usize];
                job.task_mut(kind, task).speculate = true;
                job.want(kind, task, &platform.ctx.nodes, platform.ctx.now);
                started = true;
            }
        }
        platform.ctx.timer_in(if started { SPECULATED } else { SPECULATE }, Request::SpeculateDue(id));
    }

    /// The processes and the memory of a node are gone. The master does not know yet.
    pub(crate) fn on_node_down(&mut self, ctx: &mut Context, node: NodeId) {
        for id in self.on_node(node) {
            self.vanish(id, ctx.now);
        }
        self.files_node_down(node);
        self.tracker_down(node);
        self.planned_node_down(ctx, node);
    }
    /// A node is back with empty memory.
    pub(crate) fn on_node_up(&mut self, ctx: &mut Context, node: NodeId) {
        if node == ctx.nodes.master() {
            self.bring_again(ctx);
        }
        if self.config.generation == Generation::Hadoop1 {
            self.tracker_up(ctx, node);
        }
    }
}
