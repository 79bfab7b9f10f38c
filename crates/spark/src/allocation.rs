//! How many executors an application wants, and which of them it gives back: `ExecutorAllocationManager` and
//! `ExecutorMonitor` of Spark 4.1, with its defaults.

use std::collections::BTreeSet;
use units::Time;

/// When executors are asked for and given back (`spark.dynamicAllocation.*`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Allocation {
    /// No fewer than this are wanted (`minExecutors`, 0).
    pub least: u32,
    /// No more than this (`maxExecutors`, no bound).
    pub most: u32,
    /// So many at first: the most of `initialExecutors`, `minExecutors` and `spark.executor.instances`.
    pub initial: u32,
    /// Executors for each that all tasks at once would need (`executorAllocationRatio`, 1).
    pub ratio: f64,
    /// For how long tasks wait before executors are asked for (`schedulerBacklogTimeout`, 1 s), ...
    pub backlog: Time,
    /// ... and before more are (`sustainedSchedulerBacklogTimeout`, as long).
    pub sustained_backlog: Time,
    /// For how long an executor has no task before it is given back (`executorIdleTimeout`, 60 s).
    pub idle: Time,
    /// For how long one without a task that keeps data sets is kept (`cachedExecutorIdleTimeout`); none: for ever.
    pub cached_idle: Option<Time>,
    /// Whether one with shuffle files of a job that runs is kept (`shuffleTracking.enabled`, on, without an external
    /// shuffle service).
    pub tracks_shuffles: bool,
    /// For how long one without a task that has other shuffle files is kept then (`shuffleTracking.timeout`); none: for
    /// ever.
    pub shuffle_idle: Option<Time>,
}

impl Default for Allocation {
    fn default() -> Self {
        Self {
            least: 0,
            most: u32::MAX,
            initial: 0,
            ratio: 1.0,
            backlog: Time::from_secs(1),
            sustained_backlog: Time::from_secs(1),
            idle: Time::from_secs(60),
            cached_idle: None,
            tracks_shuffles: true,
            shuffle_idle: None,
        }
    }
}

/// Tasks of the stages that run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Load {
    /// That wait for a core, copies of others aside.
    pub waiting: usize,
    /// Copies that wait.
    pub copies: usize,
    /// That run, of all attempts at stages.
    pub running: usize,
    /// Stages with a task that can run nowhere, as executors are excluded.
    pub unschedulable: usize,
}

impl Allocation {
    /// How many executors that many tasks need, where there are so many of so many cores
    /// (`maxNumExecutorsNeededPerResourceProfile`).
    pub fn needed(&self, load: Load, executors: u32, cores: u32) -> u32 {
        let for_tasks = |tasks: usize| (tasks as f64 * self.ratio / f64::from(cores)).ceil() as u32;
        let needed = for_tasks(load.waiting + load.copies + load.running);
        // A copy runs on another node.
        let needed = needed + u32::from(cores > 1 && needed == 1 && load.copies > 0);
        if load.unschedulable == 0 {
            return needed;
        }
        needed.max(executors.saturating_add(for_tasks(load.unschedulable)))
    }
}

/// How many executors an application wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// So many now.
    pub executors: u32,
    /// How many more next.
    to_add: u32,
    /// When; none while no task waits.
    add_at: Option<Time>,
    /// No stage was submitted so far, and no executor was without a task for long.
    is_initial: bool,
}

impl Target {
    /// As an application starts.
    pub fn new(rules: &Allocation) -> Self {
        Self { executors: rules.initial, to_add: 1, add_at: None, is_initial: true }
    }

    /// A stage is submitted (`onStageSubmitted`).
    pub fn stage_submitted(&mut self, rules: &Allocation, now: Time) {
        self.is_initial = false;
        self.backlogged(rules, now);
    }

    /// Tasks wait (`onSchedulerBacklogged`).
    pub fn backlogged(&mut self, rules: &Allocation, now: Time) {
        self.add_at.get_or_insert(now.saturating_add(rules.backlog));
    }

    /// No task waits (`onSchedulerQueueEmpty`).
    pub fn drained(&mut self) {
        (self.add_at, self.to_add) = (None, 1);
    }

    /// Executors were without a task for long.
    pub fn some_idle(&mut self) {
        self.is_initial = false;
    }

    /// The cluster's manager knows of no executor any more (`reset`).
    pub fn reset(&mut self, rules: &Allocation) {
        (self.executors, self.to_add, self.add_at) = (rules.initial, 1, Some(Time::ZERO));
    }

    /// How many are wanted where so many are needed and there are (`updateAndSyncNumExecutorsTarget`); whether that is
    /// another number than before. More are asked for one, two, four at a time and so on, as long as tasks wait.
    pub fn update(&mut self, rules: &Allocation, now: Time, needed: u32, executors: u32) -> bool {
        if self.is_initial {
            return false;
        }
        let before = self.executors;
        if needed < before {
            (self.executors, self.to_add) = (needed.max(rules.least), 1);
            return self.executors != before;
        }
        if self.add_at.is_none_or(|at| now < at) {
            return false;
        }
        if before >= rules.most {
            self.to_add = 1;
            return false;
        }
        let more = before.max(executors).saturating_add(self.to_add).min(needed);
        self.executors = more.min(rules.most).max(rules.least);
        match self.executors.checked_sub(before) {
            Some(0) => {
                self.to_add = 1;
                return false;
            }
            Some(added) => {
                self.to_add = if added == self.to_add { self.to_add.saturating_mul(2) } else { 1 };
                self.add_at = Some(now.saturating_add(rules.sustained_backlog));
            }
            None => {}
        }
        true
    }

    /// Of executors that were without a task for long those that are given back, where there are so many that are not
    /// (`removeExecutors`).
    pub fn given_back(&self, rules: &Allocation, idle: &[usize], executors: u32) -> Vec<usize> {
        let least = rules.least.max(self.executors);
        let spare = executors.saturating_sub(least) as usize;
        idle.iter().copied().take(spare).collect()
    }
}

/// What of an executor says how long it is kept without a task.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Idle {
    /// Since when it has no task; none while it has.
    pub since: Option<Time>,
    /// Stages of whose shuffles it has files.
    pub shuffles: BTreeSet<usize>,
    /// Whether one of these is of a job that runs.
    pub is_in_use: bool,
}

impl Idle {
    /// A task of a stage has ended there that others read.
    pub fn has_shuffle(&mut self, stage: usize) {
        if self.shuffles.insert(stage) {
            self.is_in_use = true;
        }
    }

    /// Jobs that run use these shuffles.
    pub fn in_use(&mut self, shuffles: &BTreeSet<usize>) {
        self.is_in_use = !self.shuffles.is_disjoint(shuffles);
    }

    /// When it has been without a task for long, if it keeps data sets or not; none: never, as far as is known.
    pub fn until(&self, rules: &Allocation, keeps: bool) -> Option<Time> {
        let since = self.since?;
        let has_shuffles = rules.tracks_shuffles && !self.shuffles.is_empty();
        if rules.tracks_shuffles && self.is_in_use {
            return None;
        }
        // The longest of those that hold (SPARK-43398; before Spark 3.4.1 the shorter of the latter two).
        let mut patience = Some(rules.idle);
        for (holds, timeout) in [(keeps, rules.cached_idle), (has_shuffles, rules.shuffle_idle)] {
            if holds {
                patience = patience.zip(timeout).map(|(longest, timeout)| longest.max(timeout));
            }
        }
        patience.map(|patience| since.saturating_add(patience))
    }
}
