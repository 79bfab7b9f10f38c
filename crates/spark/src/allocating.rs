//! Executors that come and go as tasks need them: the driver looks every 100 ms how many it wants, asks the Master or the
//! `ApplicationMaster` for them, and gives back those that were without a task for long (`ExecutorAllocationManager`).

use crate::allocation::{Load, Target};
use crate::application::{Errand, Spark};
use crate::record::WantedRecord;
use crate::stage::Stage;
use crate::task_set::TaskSet;
use hadoop::Platform;
use std::collections::BTreeSet;
use units::Time;

/// How often the driver looks (`intervalMillis`).
const LOOK: Time = Time::from_ms(100);

impl Spark {
    /// The program has its `SparkContext`: executors are asked for, and from now on it is looked how many are wanted.
    pub(crate) fn start_allocation(&mut self, platform: &mut Platform) {
        if self.target.is_some() {
            self.note_wanted(platform.ctx.now);
            self.ask_for_executors(platform);
            self.look_at_load(platform);
        }
    }

    /// How many are wanted is noted where it has changed.
    fn note_wanted(&mut self, at: Time) {
        let Some(executors) = self.target.as_ref().map(|target| target.executors) else { return };
        if self.wanted.last().is_none_or(|last| last.executors != executors) {
            self.wanted.push(WantedRecord { at, executors });
        }
    }

    /// Whoever starts executors hears how many are wanted.
    fn ask_for_executors(&mut self, platform: &mut Platform) {
        let Some(wanted) = self.target.as_ref().map(|target| target.executors) else { return };
        if self.config.yarn.is_some() {
            self.want_of_master(platform, wanted);
        } else {
            self.standalone.limit = Some(wanted);
            self.launch_executors(platform);
        }
    }

    /// It is looked how many executors are wanted, and which are given back.
    pub(crate) fn look_at_load(&mut self, platform: &mut Platform) {
        let Some(rules) = self.config.allocation else { return };
        let now = platform.ctx.now;
        let is_past = |executor: &usize| {
            let of = &self.executors[*executor];
            let until = of.idle.until(&rules, self.cache.keeps(*executor));
            of.is_up() && !of.is_killed && until.is_some_and(|until| until <= now)
        };
        let idle: Vec<usize> = (0..self.executors.len()).filter(is_past).collect();
        let there = self.executors.iter().filter(|executor| executor.is_up());
        let (all, killed) = there.fold((0, 0), |(all, killed), of| (all + 1, killed + u32::from(of.is_killed)));
        let needed = rules.needed(self.load(), all, self.config.cores);
        let can_ask = self.can_ask();
        let Some(target) = &mut self.target else { return };
        if !idle.is_empty() {
            target.some_idle();
        }
        let is_changed = can_ask && target.update(&rules, now, needed, all);
        let given_back = target.given_back(&rules, &idle, all - killed);
        self.note_wanted(now);
        if is_changed {
            self.ask_for_executors(platform);
        }
        for executor in given_back {
            self.kill_executor(platform, executor);
        }
        let errand = self.errands.send(Errand::Allocate);
        platform.ctx.drive_timer(now + LOOK, errand);
    }

    /// Tasks of the stages that run. Those of a stage whose tasks are being packed wait, too.
    fn load(&self) -> Load {
        let missing = |stage: &Stage| (0..stage.spec.tasks.len()).filter(|index| !stage.has(*index)).count();
        let active = || self.stages.iter().filter(|stage| stage.is_active);
        let waiting = active().map(|stage| stage.set.as_ref().map_or_else(|| missing(stage), TaskSet::waiting));
        let copies = active().filter_map(|stage| stage.set.as_ref()).map(TaskSet::copies);
        let is_active = |(number, attempt): &&(usize, u32)| {
            self.stages[*number].is_active && self.stages[*number].record.attempts == *attempt
        };
        Load {
            waiting: waiting.sum(),
            copies: copies.sum(),
            running: self.executors.iter().map(|executor| executor.running as usize).sum(),
            unschedulable: self.wanted_for.iter().filter(is_active).count(),
        }
    }

    /// A stage is submitted.
    pub(crate) fn stage_needs_executors(&mut self, now: Time) {
        if let (Some(rules), Some(target)) = (&self.config.allocation, &mut self.target) {
            target.stage_submitted(rules, now);
        }
    }

    /// Tasks wait that did not before.
    pub(crate) fn tasks_need_executors(&mut self, now: Time) {
        if let (Some(rules), Some(target)) = (&self.config.allocation, &mut self.target) {
            target.backlogged(rules, now);
        }
    }

    /// Tasks were launched, or a stage is over: if no task waits, no more executors are asked for.
    pub(crate) fn look_for_waiting(&mut self) {
        if self.target.is_some() {
            let Load { waiting, copies, .. } = self.load();
            if waiting + copies == 0
                && let Some(target) = &mut self.target
            {
                target.drained();
            }
        }
    }

    /// The `ApplicationMaster` is another, and no executor is left (`reset`).
    pub(crate) fn allocation_begins_anew(&mut self) {
        if let (Some(rules), Some(target)) = (&self.config.allocation, &mut self.target) {
            target.reset(rules);
        }
    }

    /// A job is submitted, or over: whether executors have shuffle files of it, be it those of stages that need not run.
    pub(crate) fn shuffles_in_use(&mut self, job: Option<usize>) {
        if self.config.allocation.is_none() {
            return;
        }
        let (mut used, mut stages) = (BTreeSet::new(), Vec::new());
        stages.extend((0..self.stages.len()).filter(|stage| Some(self.stages[*stage].spec.job) == job));
        while let Some(stage) = stages.pop() {
            if used.insert(stage) {
                stages.extend(&self.stages[stage].spec.parents);
            }
        }
        for executor in &mut self.executors {
            executor.idle.in_use(&used);
        }
    }

    /// A core of an executor is free again.
    pub(crate) fn freed(&mut self, now: Time, executor: usize) {
        let of = &mut self.executors[executor];
        (of.free, of.running) = (of.free + 1, of.running.saturating_sub(1));
        if of.running == 0 {
            of.idle.since = Some(now);
        }
    }

    /// How many executors there are to be at first.
    pub(crate) fn wanted_at_first(&self) -> u32 {
        let on_yarn = self.config.yarn.map_or(0, |on_yarn| on_yarn.instances);
        self.config.allocation.map_or(on_yarn, |rules| rules.initial)
    }

    /// How many it wants, if that changes.
    pub(crate) fn target_of(config: &crate::Config) -> Option<Target> {
        config.allocation.as_ref().map(Target::new)
    }
}
