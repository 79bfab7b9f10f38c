//! Recorded plans in place of the scheduler's decisions: attempts start where they did, at their recorded times or when
//! their node has room, take the processor time that was recorded of them, and end as they did.

use super::attempt::Placement;
use super::{Generation, MapReduce, Request};
use crate::context::Context;
use crate::ids::{AttemptId, JobId, NodeId};
use crate::platform::Platform;
use crate::record::{JobState, TaskKind};
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, Time};

/// By so much the work of an attempt that does not succeed exceeds its life.
const HELD: Time = Time::from_secs(1);

/// A recorded plan: attempts by where and when they started. What happens after the start is simulated.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Replay {
    /// Node and start time of the AppMaster's container, after submission.
    pub master: Option<(NodeId, Time)>,
    /// From submission to the job's launch, if recorded.
    pub launch: Option<Time>,
    /// Starts are the earliest ones: an attempt waits until its node has room for it.
    pub waits: bool,
    /// How the job ended. A job that did not succeed ends when all of its attempts have.
    pub end: ReplayEnd,
    /// Why it did not succeed.
    pub reason: String,
    /// From the end of its last attempt to that of the job: its commit and clean-up.
    pub commit: Time,
    /// The attempts, in any order.
    pub attempts: Vec<ReplayAttempt>,
}

/// How a recorded attempt or job ended.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ReplayEnd {
    /// It did its task.
    #[default]
    Succeeded,
    /// It failed.
    Failed,
    /// It was killed.
    Killed,
}

/// One recorded attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplayAttempt {
    /// Map or reduce.
    pub kind: TaskKind,
    /// Number of the task within its kind.
    pub task: u32,
    /// Where it ran.
    pub node: NodeId,
    /// When it started, after submission.
    pub start: Time,
    /// What is recorded of the rest of its life.
    pub recorded: Recorded,
}

/// What is recorded of an attempt beside its start. The default leaves all to the simulation.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Recorded {
    /// How it ended.
    pub end: ReplayEnd,
    /// After its start, if it did not succeed.
    pub after: Time,
    /// Processor time of the map function, beyond the workload's costs.
    pub map: Time,
    /// Of a reduce, between its last fetch and the end of its shuffle.
    pub copy: Time,
    /// Of the sort phase: of a map after its function, of a reduce after its shuffle.
    pub sort: Time,
    /// Of the reduce function.
    pub reduce: Time,
    /// What it writes to HDFS, in place of the workload's ratio.
    pub output: Option<Bytes>,
}

impl ReplayAttempt {
    /// An attempt of which nothing but its start is recorded.
    pub fn starting(kind: TaskKind, task: u32, node: NodeId, start: Time) -> Self {
        Self { kind, task, node, start, recorded: Recorded::default() }
    }
}

/// Where the plans of jobs stand.
#[derive(Debug, Default)]
pub(super) struct Plans {
    /// Attempts that are due and wait for room, by node and in the order of their times.
    waiting: BTreeMap<NodeId, VecDeque<(JobId, u32)>>,
    standing: BTreeMap<JobId, Standing>,
}

/// Where a plan stands.
#[derive(Debug, Default)]
struct Standing {
    /// Attempts at each map and at each reduce that have not started.
    left: [Vec<u32>; 2],
    /// Attempts that have not ended.
    open: usize,
    /// The job's end is due.
    ending: bool,
}

impl MapReduce {
    /// When a plan has the job launched; none without such a plan.
    pub(super) fn planned_launch(&self, job: JobId) -> Option<Time> {
        let launch = self.config.replays.get(&job)?.launch?;
        Some(self.jobs[job.0 as usize].record.submit.saturating_add(launch))
    }

    /// The job is launched: its attempts start at their times. An AppMaster that is up later than the recorded one was
    /// starts all of them as much later. False without a plan.
    pub(super) fn begin_plan(&mut self, ctx: &mut Context, id: JobId) -> bool {
        let late = self.planned_launch(id).map_or(Time::ZERO, |due| ctx.now.saturating_sub(due));
        let job = &mut self.jobs[id.0 as usize];
        let Some(replay) = self.config.replays.get(&id) else { return false };
        let mut standing = Standing {
            left: [vec![0; job.maps.len()], vec![0; job.reduces.len()]],
            open: replay.attempts.len(),
            ending: false,
        };
        for (number, attempt) in (0..).zip(&replay.attempts) {
            if let Some(left) = standing.left[attempt.kind as usize].get_mut(attempt.task as usize) {
                *left += 1;
            }
            let at = job.record.submit.saturating_add(attempt.start).saturating_add(late).max(ctx.now);
            ctx.timer(at, Request::ReplayDue(id, number));
        }
        self.plans.standing.insert(id, standing);
        job.reduces_released = true;
        if replay.attempts.is_empty() && replay.end != ReplayEnd::Succeeded {
            self.end_plan(ctx, id);
        }
        true
    }

    /// A recorded attempt is due: it starts, or waits for room.
    pub(super) fn replay(&mut self, platform: &mut Platform, job: JobId, number: u32) {
        let Some(replay) = self.config.replays.get(&job) else { return };
        let Some(plan) = replay.attempts.get(number as usize).copied() else { return };
        if replay.waits && platform.ctx.nodes.is_up(plan.node) && !self.has_room(platform, plan.node, plan.kind) {
            self.plans.waiting.entry(plan.node).or_default().push_back((job, number));
        } else {
            self.start_planned(platform, job, plan);
        }
    }
    /// Whether a node has a slot or memory for one attempt more of a plan.
    fn has_room(&self, platform: &Platform, node: NodeId, kind: TaskKind) -> bool {
        if self.config.generation == Generation::Hadoop1 {
            return self.has_free_slot(node, kind);
        }
        let yarn = platform.yarn.config();
        let memory = |kind| yarn.normalized(self.config.app_master.task(kind)).memory;
        let held = self.attempts.iter().filter(|attempt| attempt.record.node == node && attempt.holds_slot);
        held.map(|attempt| memory(attempt.record.kind)).sum::<Bytes>() + memory(kind) <= yarn.node_memory
    }
    /// A slot or memory of a node may be free: attempts that wait for it start.
    pub(super) fn fill_with_planned(&mut self, platform: &mut Platform, node: NodeId) {
        let Some(waiting) = self.plans.waiting.remove(&node) else { return };
        for (job, number) in waiting {
            self.replay(platform, job, number);
        }
    }
    /// A node has crashed: attempts that wait for it start elsewhere.
    pub(super) fn planned_node_down(&mut self, ctx: &mut Context, node: NodeId) {
        for (job, number) in self.plans.waiting.remove(&node).into_iter().flatten() {
            ctx.timer(ctx.now, Request::ReplayDue(job, number));
        }
    }

    fn start_planned(&mut self, platform: &mut Platform, job: JobId, plan: ReplayAttempt) {
        let standing = self.plans.standing.entry(job).or_default();
        if let Some(left) = standing.left[plan.kind as usize].get_mut(plan.task as usize) {
            *left = left.saturating_sub(1);
        }
        let owner = &self.jobs[job.0 as usize];
        let exists =
            (plan.task as usize) < owner.tasks(plan.kind).len() && (plan.node.0 as usize) < platform.ctx.nodes.len();
        if owner.is_over() || !exists || owner.task(plan.kind, plan.task).done.is_some() {
            return self.planned_ended(platform.ctx, job);
        }
        // Its node may have crashed since in this run: any other does.
        let mut nodes = std::iter::once(plan.node).chain(platform.ctx.nodes.workers());
        let Some(node) = nodes.find(|&node| platform.ctx.nodes.is_up(node)) else { return };
        let locality = (plan.kind == TaskKind::Map).then(|| owner.locality(plan.task, node, &platform.ctx.nodes));
        let state = self.jobs[job.0 as usize].task_mut(plan.kind, plan.task);
        state.speculate = !state.running.is_empty();
        state.requested = platform.ctx.now;
        let id = self.place(
            platform,
            Placement { job, kind: plan.kind, task: plan.task, node, locality, allocated: platform.ctx.now },
        );
        let mut recorded = plan.recorded;
        if recorded.end != ReplayEnd::Succeeded {
            // It must not be done before it ends.
            let longer = recorded.after.saturating_add(HELD);
            (recorded.map, recorded.copy) = (recorded.map.max(longer), recorded.copy.max(longer));
            platform.ctx.timer_in(recorded.after, Request::EndDue(id));
        }
        let attempt = &mut self.attempts[id.0 as usize];
        attempt.replayed = true;
        attempt.recorded = recorded;
        if self.config.generation == Generation::Hadoop1 {
            self.occupy_slot(id);
        }
        self.confirm_start(platform.ctx, id);
        self.launch(platform, id);
    }
    /// What is recorded of the attempt that did a task, for one that starts when the simulation has it start.
    pub(super) fn recorded_of(&self, job: JobId, kind: TaskKind, task: u32) -> Recorded {
        let replay = self.config.replays.get(&job);
        let mut attempts = replay.into_iter().flat_map(|replay| &replay.attempts);
        let done = attempts
            .find(|attempt| (attempt.kind, attempt.task, attempt.recorded.end) == (kind, task, ReplayEnd::Succeeded));
        done.map(|attempt| attempt.recorded).unwrap_or_default()
    }
    /// An attempt ends as it did.
    pub(super) fn end_as_recorded(&mut self, platform: &mut Platform, id: AttemptId) {
        let job = self.attempts[id.0 as usize].record.job;
        match self.attempts[id.0 as usize].recorded.end {
            ReplayEnd::Succeeded => {}
            ReplayEnd::Failed => self.fail_on_node(platform, id, "it failed, as recorded"),
            ReplayEnd::Killed => self.kill(platform, id, "it was killed, as recorded"),
        }
        self.planned_ended(platform.ctx, job);
    }
    /// A planned attempt's record is closed. One that does not succeed counts until its recorded end, also if another
    /// attempt was first before: a job that did not succeed ends with the last of these ends.
    pub(super) fn record_closed(&mut self, ctx: &mut Context, id: AttemptId) {
        let attempt = &self.attempts[id.0 as usize];
        if attempt.replayed && attempt.recorded.end == ReplayEnd::Succeeded {
            let job = attempt.record.job;
            self.planned_ended(ctx, job);
        }
    }
    /// Whether the record has an attempt fail, so that its failure counts against nobody.
    pub(super) fn fails_as_recorded(&self, id: AttemptId) -> bool {
        self.attempts[id.0 as usize].recorded.end == ReplayEnd::Failed
    }

    /// Asks for one attempt more at a task. A plan has it start where another was, unless one is still to come, or none
    /// at this task ever succeeded.
    pub(super) fn ask_again(&mut self, ctx: &mut Context, job: JobId, kind: TaskKind, task: u32, node: NodeId) {
        if self.jobs[job.0 as usize].record.uber {
            return;
        }
        let Some(replay) = self.config.replays.get_mut(&job) else {
            return self.jobs[job.0 as usize].want(kind, task, &ctx.nodes, ctx.now);
        };
        let standing = self.plans.standing.entry(job).or_default();
        let Some(left) = standing.left[kind as usize].get_mut(task as usize).filter(|left| **left == 0) else {
            return;
        };
        let succeeded = |attempt: &&ReplayAttempt| {
            (attempt.kind, attempt.task, attempt.recorded.end) == (kind, task, ReplayEnd::Succeeded)
        };
        let Some(model) = replay.attempts.iter().rev().find(succeeded).copied() else { return };
        let start = ctx.now.saturating_sub(self.jobs[job.0 as usize].record.submit);
        *left += 1;
        standing.open += 1;
        replay.attempts.push(ReplayAttempt { node, start, ..model });
        ctx.timer(ctx.now, Request::ReplayDue(job, units::count(replay.attempts.len() - 1)));
    }

    /// An attempt of the plan is over, or will not start. A job that did not succeed ends with the last of them.
    fn planned_ended(&mut self, ctx: &mut Context, job: JobId) {
        let standing = self.plans.standing.entry(job).or_default();
        standing.open = standing.open.saturating_sub(1);
        let fails = self.config.replays.get(&job).is_some_and(|replay| replay.end != ReplayEnd::Succeeded);
        if fails && standing.open == 0 {
            self.end_plan(ctx, job);
        }
    }
    /// All tasks of a job are done. Whether its end is still due: a plan says how long its commit takes, or that it
    /// fails.
    pub(super) fn commits_later(&mut self, ctx: &mut Context, job: JobId) -> bool {
        let Some(replay) = self.config.replays.get(&job) else { return false };
        if replay.end != ReplayEnd::Succeeded {
            return true;
        }
        if replay.commit == Time::ZERO {
            return false;
        }
        self.end_plan(ctx, job);
        true
    }
    fn end_plan(&mut self, ctx: &mut Context, job: JobId) {
        let commit = self.config.replays.get(&job).map_or(Time::ZERO, |replay| replay.commit);
        let standing = self.plans.standing.entry(job).or_default();
        if !std::mem::replace(&mut standing.ending, true) {
            ctx.timer_in(commit, Request::PlanOver(job));
        }
    }
    /// The job's commit is over.
    pub(super) fn plan_over(&mut self, platform: &mut Platform, job: JobId) {
        self.plans.standing.entry(job).or_default().ending = false;
        let Some(replay) = self.config.replays.get(&job) else { return };
        if replay.end == ReplayEnd::Succeeded {
            if self.jobs[job.0 as usize].is_complete() {
                self.finish_job(platform, job, JobState::Succeeded, String::new());
            }
        } else {
            let reason = replay.reason.clone();
            self.finish_job(platform, job, JobState::Failed, reason);
        }
    }
}
