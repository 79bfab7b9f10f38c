//! What the driver does of executors and nodes that are excluded: which cores it does not offer, which executors it
//! kills, and what becomes of a stage with a task that can run nowhere (`TaskSchedulerImpl.resourceOffers`).

use crate::application::{Errand, Spark};
use crate::exclusion::{Excluded, Exclusion, StageExclusion};
use crate::executor::Executor;
use crate::record::ExclusionRecord;
use crate::stage::Stage;
use hadoop::{NodeId, Platform};
use units::{Time, count};

impl Spark {
    /// What was excluded from the application for long enough no longer is.
    pub(crate) fn expire_exclusion(&mut self, now: Time) {
        if self.config.exclusion.is_some() {
            self.health.expire(now);
        }
    }

    /// Whether an executor is excluded from the application.
    pub(crate) fn is_excluded(&self, executor: usize) -> bool {
        self.health.excludes((executor, self.executors[executor].node))
    }

    /// Whether a task may run on an executor of a node, as no attempts at it have failed there.
    pub(crate) fn may_run(&self, number: usize, task: usize, here: (usize, NodeId)) -> bool {
        self.config
            .exclusion
            .as_ref()
            .is_none_or(|rules| !self.stages[number].excluded.excludes_task(rules, here, task))
    }

    /// An attempt at a task has failed on its executor.
    pub(crate) fn exclude_after(&mut self, now: Time, id: usize) {
        let Some(rules) = self.config.exclusion else { return };
        let record = self.tasks[id].record;
        let Stage { excluded, record: of_stage, .. } = &mut self.stages[record.stage];
        let before = (excluded.executors(), excluded.nodes());
        excluded.failed(&rules, now, (record.executor, record.node), record.index);
        let new = (count(excluded.executors() - before.0), count(excluded.nodes() - before.1));
        of_stage.excluded_executors += new.0;
        of_stage.excluded_nodes += new.1;
        let of = |executor| {
            let stage = Some(record.stage);
            ExclusionRecord { executor, node: record.node, stage, at: now, until: None }
        };
        self.exclusions.extend((new.0 > 0).then(|| of(Some(record.executor))));
        self.exclusions.extend((new.1 > 0).then(|| of(None)));
    }

    /// An attempt at a stage is over, and with it what is excluded from it.
    pub(crate) fn end_exclusions_of(&mut self, now: Time, number: usize) {
        for exclusion in self.exclusions.iter_mut().filter(|exclusion| exclusion.stage == Some(number)) {
            exclusion.until.get_or_insert(now);
        }
    }

    /// The driver is another, which knows of no exclusion.
    pub(crate) fn end_all_exclusions(&mut self, now: Time) {
        for exclusion in &mut self.exclusions {
            exclusion.until = Some(exclusion.until.map_or(now, |until| until.min(now)));
        }
    }

    /// All tasks of a stage have succeeded: what failed meanwhile counts for the application.
    pub(crate) fn stage_succeeded(&mut self, platform: &mut Platform, number: usize) {
        let Some(rules) = self.config.exclusion.filter(|rules| rules.application) else { return };
        let of_stage: StageExclusion = std::mem::take(&mut self.stages[number].excluded);
        let excluded = self.health.succeeded(&rules, platform.ctx.now, &of_stage);
        self.became_excluded(platform, &excluded, &rules);
    }

    /// An executor did not give its blocks.
    pub(crate) fn exclude_after_fetch(&mut self, platform: &mut Platform, address: usize) {
        let Some(rules) = self.config.exclusion.filter(|rules| rules.application && rules.fetch_failure) else {
            return;
        };
        let here = (address, self.executors[address].node);
        let service = self.config.shuffle_service;
        let excluded = self.health.fetch_failed(&rules, platform.ctx.now, here, service);
        self.became_excluded(platform, excluded.as_slice(), &rules);
    }

    fn became_excluded(&mut self, platform: &mut Platform, all: &[Excluded], rules: &Exclusion) {
        let now = platform.ctx.now;
        for excluded in all {
            let (executor, node, executors) = match *excluded {
                Excluded::Executor(executor) => {
                    self.executors[executor].excluded.get_or_insert(now);
                    (Some(executor), self.executors[executor].node, vec![executor])
                }
                Excluded::Node(node) => {
                    self.excluded_nodes += 1;
                    let there = |executor: &usize| self.executors[*executor].node == node;
                    (None, node, (0..self.executors.len()).filter(there).collect())
                }
            };
            let until = Some(now.saturating_add(rules.timeout));
            self.exclusions.push(ExclusionRecord { executor, node, stage: None, at: now, until });
            for executor in executors.into_iter().filter(|_| rules.kill) {
                self.kill_executor(platform, executor);
            }
        }
    }

    /// All levels of a stage were offered. Where a task was launched, no stage is given up so far. Where none was, it
    /// may be that the first that waits can run nowhere (`getCompletelyExcludedTaskIfAny`): then an executor without
    /// tasks is killed, so that another takes its place, for which the stage waits for some time; without such an
    /// executor another is asked for, or, where executors do not come and go, its job fails at once.
    pub(crate) fn after_offers(&mut self, platform: &mut Platform, number: usize, launched: bool) {
        let attempt = (number, self.stages[number].record.attempts);
        if launched {
            self.look_for_waiting();
            if !self.unschedulable.is_empty() {
                self.wanted_for.remove(&attempt);
                self.unschedulable.clear();
            }
            return;
        }
        let Some(rules) = self.config.exclusion else { return };
        if self.unschedulable.contains_key(&attempt) || !self.can_run_nowhere(number) {
            return;
        }
        let is_idle = |executor: &&Executor| executor.is_known() && executor.free == executor.cores;
        let idle = self.executors.iter().position(|executor| is_idle(&executor));
        let wait = if let Some(executor) = idle {
            if rules.application {
                self.kill_executor(platform, executor);
            }
            rules.unschedulable_timeout
        } else if self.target.is_some() {
            self.wanted_for.insert(attempt);
            self.tasks_need_executors(platform.ctx.now);
            rules.unschedulable_timeout
        } else {
            Time::ZERO
        };
        let until = platform.ctx.now.saturating_add(wait);
        self.unschedulable.insert(attempt, until);
        let errand = self.errands.send(Errand::Unschedulable(number, attempt.1));
        platform.ctx.drive_timer(until, errand);
    }

    /// Whether the first task of a stage that waits is excluded wherever there are executors. Without any nothing is
    /// said.
    fn can_run_nowhere(&self, number: usize) -> bool {
        let stage = &self.stages[number];
        let Some(task) = stage.set.as_ref().and_then(crate::task_set::TaskSet::first) else { return false };
        let mut known = self.executors.iter().enumerate().filter(|(_, executor)| executor.is_known()).peekable();
        known.peek().is_some()
            && known.all(|(executor, of)| {
                let here = (executor, of.node);
                self.is_excluded(executor) || stage.excluded.excludes(here) || !self.may_run(number, task, here)
            })
    }

    /// A stage had a task that could run nowhere, and nothing was launched since: its job fails.
    pub(crate) fn on_unschedulable(&mut self, platform: &mut Platform, number: usize, attempt: u32) {
        let is_due = self.unschedulable.get(&(number, attempt)).is_some_and(|until| *until <= platform.ctx.now);
        let stage = &self.stages[number];
        if !is_due || !stage.is_active || stage.record.attempts != attempt {
            return;
        }
        self.unschedulable.remove(&(number, attempt));
        let task = stage.set.as_ref().and_then(crate::task_set::TaskSet::first).unwrap_or(0);
        let reason = format!(
            "stage {}: task {task} can run nowhere, as executors and nodes are excluded where tasks failed",
            stage.spec.name
        );
        self.abort(platform, reason);
    }
}
