//! Speculative execution: copies of tasks that take much longer than others of their stage, of which the first to end
//! counts (`TaskSetManager.checkSpeculatableTasks` and `handleSuccessfulTask` of Spark 4.1).
//!
//! Where tasks read records, Spark leaves one alone whose heartbeats tell of three quarters of the others' rate, until it
//! has run for twice as long (`spark.speculation.efficiency.enabled`). Heartbeats are not modelled, so none is left alone.

use crate::application::{Errand, Spark};
use crate::driver::Work;
use crate::record::TaskEnd;
use crate::task::Step;
use hadoop::{End, NodeId, Platform};
use std::collections::BTreeMap;
use units::Time;

/// Attempts at a stage's tasks since it was submitted last.
#[derive(Debug, Default)]
pub struct Attempts {
    /// How many tasks it was submitted with.
    submitted: usize,
    by_task: BTreeMap<usize, Vec<usize>>,
    /// Those that run, and some that have ended meanwhile.
    running: Vec<usize>,
    /// How long those took that ended well.
    took: Vec<Time>,
}

impl Attempts {
    pub fn new(submitted: usize) -> Self {
        Self { submitted, ..Self::default() }
    }

    /// An attempt at a task is launched.
    pub fn launched(&mut self, index: usize, task: usize) {
        self.by_task.entry(index).or_default().push(task);
        self.running.push(task);
    }

    /// The attempts at a task.
    pub fn of(&self, index: usize) -> impl Iterator<Item = usize> {
        self.by_task.get(&index).into_iter().flatten().copied()
    }

    /// The median of what attempts took, the longer of two (`PercentileHeap`), once so large a part of the tasks is done.
    fn median(&mut self, quantile: f64) -> Option<Time> {
        let enough = ((quantile * self.submitted as f64).floor()).max(1.0);
        if self.submitted == 1 || (self.took.len() as f64) < enough {
            return None;
        }
        let middle = self.took.len() / 2;
        Some(*self.took.select_nth_unstable(middle).1)
    }
}

impl Spark {
    /// The driver looks for slow tasks in a while.
    pub(crate) fn speculate_later(&mut self, platform: &mut Platform) {
        if let Some(speculation) = self.config.speculation {
            let errand = self.errands.send(Errand::Speculate);
            platform.ctx.drive_timer(platform.ctx.now + speculation.interval, errand);
        }
    }

    /// Slow tasks are looked for, in all stages whose tasks are with the scheduler.
    pub(crate) fn on_speculate(&mut self, platform: &mut Platform) {
        let mut found = false;
        for number in 0..self.stages.len() {
            for index in self.slow(number, platform.ctx.now) {
                let preferred = self.preferred(platform, number, index);
                if let Some(set) = &mut self.stages[number].set {
                    set.add_copy(index, preferred);
                    found = true;
                }
            }
        }
        if found {
            self.tasks_need_executors(platform.ctx.now);
            self.offer_all(platform);
        }
        self.speculate_later(platform);
    }

    /// Tasks of a stage of which a copy shall run.
    fn slow(&mut self, number: usize, now: Time) -> Vec<usize> {
        let Self { stages, tasks, config, .. } = self;
        let (Some(speculation), stage) = (config.speculation, &mut stages[number]) else { return Vec::new() };
        let Some(set) = &stage.set else { return Vec::new() };
        let runs = |task: &usize| tasks[*task].record.ended == TaskEnd::Running;
        stage.attempts.running.retain(runs);
        let Some(median) = stage.attempts.median(speculation.quantile) else { return Vec::new() };
        let threshold = median.mul_f64(speculation.multiplier).max(speculation.min_task_runtime);
        let is_slow = |task: &&usize| now.saturating_sub(tasks[**task].record.launch) > threshold;
        let slow = stage.attempts.running.iter().filter(is_slow).map(|task| tasks[*task].record.index);
        let alone = |index: &usize| stage.attempts.of(*index).filter(runs).count() == 1;
        slow.filter(|index| !stage.has(*index) && alone(index) && !set.has_copy(*index)).collect()
    }

    /// Whether a copy of a task may run on a node: one attempt runs, and none has run there (`dequeueTaskFromList`).
    pub(crate) fn may_copy(&self, number: usize, index: usize, node: NodeId) -> bool {
        let attempts = || self.stages[number].attempts.of(index).map(|task| &self.tasks[task].record);
        let running = attempts().filter(|record| record.ended == TaskEnd::Running).count();
        running == 1 && attempts().all(|record| record.node != node)
    }

    /// An attempt at a task has ended well: others at it are killed.
    pub(crate) fn kill_others(
        &mut self,
        platform: &mut Platform,
        number: usize,
        (index, first): (usize, usize),
        took: Time,
    ) {
        let attempts = &mut self.stages[number].attempts;
        let all: Vec<usize> = attempts.of(index).collect();
        if !all.contains(&first) {
            return;
        }
        attempts.took.push(took);
        for task in all {
            if self.tasks[task].record.ended == TaskEnd::Running {
                self.tasks[task].is_killed = true;
                self.do_next(platform, Work::Kill(task));
            }
        }
    }

    /// An executor is told to end a task.
    pub(crate) fn on_kill(&mut self, platform: &mut Platform, id: usize) {
        let task = &self.tasks[id];
        if task.is_over || task.step == Step::Done {
            return;
        }
        let executor = task.record.executor;
        self.end_work(platform, id);
        let message = self.errands.send(Errand::Killed(id));
        platform.ctx.drive_send(self.executors[executor].driver, End::Client, self.config.status_bytes, message);
    }

    /// A task ends where it runs, with what it has under way.
    pub(crate) fn end_work(&mut self, platform: &mut Platform, id: usize) {
        let task = &mut self.tasks[id];
        task.is_over = true;
        task.record.end = Some(platform.ctx.now);
        let node = task.record.node;
        let (working, read, write) = (task.working.take(), task.read.take(), task.write.take());
        if let Some((work, errand)) = working {
            self.errands.answered(errand);
            platform.ctx.drive_cancel(node, work);
        }
        if let Some(read) = read {
            platform.hdfs.cancel_read(platform.ctx, read);
        }
        if let Some(write) = write {
            platform.hdfs.abort_write(platform.ctx, write);
        }
        self.give_up(id);
    }

    /// The driver hears of the end of a task that it had killed.
    pub(crate) fn on_killed(&mut self, platform: &mut Platform, id: usize) {
        let record = &mut self.tasks[id].record;
        if record.ended != TaskEnd::Running {
            return;
        }
        (record.finish, record.ended) = (Some(platform.ctx.now), TaskEnd::Killed);
        let executor = record.executor;
        self.tasks[id].forget();
        self.freed(platform.ctx.now, executor);
        self.offer(platform, vec![executor], false);
    }
}
