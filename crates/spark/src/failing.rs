//! Attempts at tasks that do not succeed, as a log has recorded them, and what the driver does of those that fail:
//! `TaskSetManager.handleFailedTask`, `DAGScheduler.abortStage` and `failJobAndIndependentStages` of Spark 4.1.

use crate::application::{Errand, Spark};
use crate::driver::Work;
use crate::record::TaskEnd;
use crate::task::Step;
use hadoop::{End, NodeId, Platform};

impl Spark {
    /// A task begins on its executor. If that was planned, it will not succeed.
    pub(crate) fn may_fail(&mut self, platform: &mut Platform, id: usize) {
        let record = self.tasks[id].record;
        let planned = &mut self.stages[record.stage].planned;
        let Some(failing) = planned.begins(record.index, record.node, record.speculative) else { return };
        self.tasks[id].failing = Some(failing);
        let errand = self.errands.send(Errand::Fails(id));
        platform.ctx.drive_timer(platform.ctx.now + failing.after, errand);
    }

    /// A task ends as was planned: its executor tells the driver.
    pub(crate) fn on_fails(&mut self, platform: &mut Platform, id: usize) {
        let task = &self.tasks[id];
        let Some(failing) = task.failing.filter(|_| !task.is_over && task.step != Step::Done) else { return };
        let record = task.record;
        self.end_work(platform, id);
        let executor = &mut self.executors[record.executor];
        // Its classes are loaded, whatever became of it.
        executor.warm.insert(record.stage);
        let conn = executor.driver;
        let errand = match failing.fetch {
            None => Errand::Threw(id),
            Some(node) => Errand::Failed(id, node.and_then(|node| self.with_output(record.stage, node))),
        };
        let message = self.errands.send(errand);
        platform.ctx.drive_send(conn, End::Client, self.config.status_bytes, message);
    }

    /// An executor on a node that has output which a stage reads.
    fn with_output(&self, stage: usize, node: NodeId) -> Option<usize> {
        let parents = self.stages[stage].spec.parents.iter();
        let outputs = parents.flat_map(|parent| self.stages[*parent].outputs.0.iter().flatten());
        outputs.filter(|output| output.node == node).map(|output| output.executor).min()
    }

    /// The driver hears of a task that threw an exception. Its core is offered at once, before the task waits again
    /// (`statusUpdate`, `TaskResultGetter.enqueueFailedTask`).
    pub(crate) fn on_threw(&mut self, platform: &mut Platform, id: usize) {
        if self.tasks[id].record.ended != TaskEnd::Running {
            return;
        }
        if self.tasks[id].is_killed {
            return self.on_killed(platform, id);
        }
        let record = &mut self.tasks[id].record;
        (record.finish, record.ended) = (Some(platform.ctx.now), TaskEnd::Failed);
        let executor = record.executor;
        self.tasks[id].forget();
        self.freed(platform.ctx.now, executor);
        self.offer(platform, vec![executor], false);
        self.try_again_task(platform, id, true);
        if !self.is_finished() {
            self.offer_all(platform);
        }
    }

    /// An attempt at a task has ended in vain: the task waits again. If it `counts` and too many have, its job fails.
    pub(crate) fn try_again_task(&mut self, platform: &mut Platform, id: usize, counts: bool) {
        let record = self.tasks[id].record;
        let (number, index) = (record.stage, record.index);
        let stage = &self.stages[number];
        if record.attempt != stage.record.attempts || !stage.is_active {
            return;
        }
        if counts {
            self.exclude_after(platform.ctx.now, id);
        }
        let stage = &mut self.stages[number];
        if stage.has(index) {
            return;
        }
        let failures = stage.failures.entry(index).or_insert(0);
        *failures += u32::from(counts);
        if *failures >= self.config.max_task_failures {
            let reason = format!("stage {}: task {index} has failed {failures} times", stage.spec.name);
            return self.abort(platform, reason);
        }
        if !stage.attempts.of(index).any(|id| self.tasks[id].record.ended == TaskEnd::Running) {
            self.wait_again(platform, number, index);
            self.tasks_need_executors(platform.ctx.now);
        }
    }

    /// The job that runs has failed. Its stages launch no more tasks, and those that run are killed. The program goes
    /// on, if it does.
    pub(crate) fn abort(&mut self, platform: &mut Platform, reason: String) {
        if !self.config.catches_failures {
            return self.fail(platform, reason);
        }
        for number in 0..self.stages.len() {
            let stage = &mut self.stages[number];
            if stage.is_done() || !(stage.spec.job == self.job || stage.is_needed) {
                continue;
            }
            (stage.is_active, stage.is_needed, stage.set) = (false, false, None);
            self.failed.remove(&number);
            self.end_exclusions_of(platform.ctx.now, number);
        }
        for id in 0..self.tasks.len() {
            let record = self.tasks[id].record;
            let goes_on = self.stages[record.stage].is_active || self.tasks[id].is_killed;
            if record.ended == TaskEnd::Running && !goes_on && !self.executors[record.executor].is_lost {
                self.tasks[id].is_killed = true;
                self.do_next(platform, Work::Kill(id));
            }
        }
        let job = &mut self.jobs[self.job];
        (job.finish, job.failed) = (Some(platform.ctx.now), true);
        self.shuffles_in_use(None);
        self.look_for_waiting();
        self.job += 1;
        self.next_job(platform);
    }
}
