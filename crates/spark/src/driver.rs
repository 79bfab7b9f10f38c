//! The driver: jobs and stages (`DAGScheduler`), and which task gets which core (`TaskSchedulerImpl`,
//! `CoarseGrainedSchedulerBackend`).

use crate::adaptive::FEW_PARTITIONS;
use crate::application::{Errand, Spark};
use crate::config::Place;
use crate::exclusion::StageExclusion;
use crate::executor::Executor;
use crate::record::{TaskEnd, TaskRecord};
use crate::shuffle::Outputs;
use crate::speculation::Attempts;
use crate::stage::Stage;
use crate::task::Task;
use crate::task_set::{Locality, Offered, TaskSet};
use hadoop::hdfs::BlockId;
use hadoop::{End, NodeId, Platform};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, Time};

/// What the driver's one thread does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Packs a task and sends it.
    Launch(usize),
    /// Takes a task's end, and offers its core.
    Status(usize),
    /// Tells an executor to end a task.
    Kill(usize),
    /// Takes the end of a task that was killed.
    Killed(usize),
    /// Takes the end of a task that could not fetch from an executor.
    Failed(usize, Option<usize>),
    /// Takes the end of a task that threw an exception.
    Threw(usize),
    /// Tells an executor where the output is that a stage reads.
    Answer(usize, usize),
}

/// The driver's thread: one message after the other (`DriverEndpoint`).
#[derive(Debug, Default)]
pub struct Thread {
    pub queue: VecDeque<Work>,
    pub busy: bool,
}

impl Spark {
    /// A job's action runs now.
    pub(crate) fn on_job_due(&mut self, platform: &mut Platform, job: usize) {
        self.jobs[job].submit.get_or_insert(platform.ctx.now);
        self.listed_after(platform, Some(job));
        self.shuffles_in_use(Some(job));
        self.ready_stages(platform);
        // A job without stages is over at once.
        self.end_job(platform);
    }

    /// Stages of the running job whose parents are done are submitted, after their delay; before them parents, of this
    /// job or another, whose output was lost in part (`submitStage`, `getMissingParentStages`).
    pub(crate) fn ready_stages(&mut self, platform: &mut Platform) {
        let now = platform.ctx.now;
        for number in (0..self.stages.len()).rev().filter(|number| self.is_wanted(*number)).collect::<Vec<_>>() {
            self.want_parents(number);
        }
        for number in 0..self.stages.len() {
            let stage = &self.stages[number];
            let parents = || self.parents_wanted(number).iter().all(|parent| self.stages[*parent].is_available());
            if self.is_wanted(number) && parents() {
                let delay = stage.spec.delay;
                if stage.record.ready.is_none() {
                    self.adapt(platform, number);
                }
                let stage = &mut self.stages[number];
                stage.is_active = true;
                stage.record.ready.get_or_insert(now);
                self.stage_needs_executors(now);
                let errand = self.errands.send(Errand::StageDue(number));
                platform.ctx.drive_timer(now + delay, errand);
            }
        }
    }

    /// Whether a stage has to run, and is not with the scheduler or about to be submitted anew.
    fn is_wanted(&self, number: usize) -> bool {
        let stage = &self.stages[number];
        let is_submitted = || self.jobs[stage.spec.job].submit.is_some();
        let of_job = stage.spec.job == self.job && is_submitted() || stage.is_needed;
        of_job && !stage.is_done() && !stage.is_active && !self.failed.contains(&number)
    }

    /// Parents of a stage that were done and lack output are no longer done, nor are theirs if these lack some.
    fn want_parents(&mut self, number: usize) {
        for parent in self.parents_wanted(number).to_vec() {
            let stage = &mut self.stages[parent];
            // Or they never were, as their job failed.
            let never = !stage.is_done() && stage.spec.job < self.job && !stage.is_needed;
            if never || stage.is_done() && !stage.lost.is_empty() {
                (stage.record.finish, stage.is_needed) = (None, true);
                self.want_parents(parent);
            }
        }
    }

    /// The tasks of a stage are handed to the scheduler.
    pub(crate) fn on_stage_due(&mut self, platform: &mut Platform, number: usize) {
        // Its job may have failed meanwhile.
        if !self.stages[number].is_active || self.stages[number].set.is_some() {
            return;
        }
        let preferred: Vec<Vec<NodeId>> =
            (0..self.stages[number].spec.tasks.len()).map(|task| self.preferred(platform, number, task)).collect();
        let mut set = TaskSet::new(platform.ctx.now, &preferred, self.config.locality_wait);
        if let Some(on_yarn) = &self.config.yarn {
            set = set.with_racks(self.racks.clone(), on_yarn.locality_wait_rack);
        }
        for task in 0..preferred.len() {
            set.prefer(task, self.keepers(number, task), self.config.locality_wait_process);
        }
        let changes = self.config.yarn.is_some()
            || self.config.allocation.is_some()
            || !self.config.listed.is_empty()
            || self.executors.iter().any(Executor::is_gone);
        let alive = changes.then(|| self.nodes_of_executors());
        let stage = &mut self.stages[number];
        stage.record.submit.get_or_insert(platform.ctx.now);
        stage.record.attempts += 1;
        stage.failures.clear();
        stage.excluded = StageExclusion::default();
        for done in (0..stage.spec.tasks.len()).filter(|index| stage.has(*index)) {
            set.drop(done);
        }
        if let Some(alive) = alive {
            let lost = |executor: usize| self.executors[executor].is_gone();
            set.recompute(self.config.locality_wait, |node| alive.contains(&node), lost);
        }
        let is_done = set.waiting() == 0;
        stage.attempts = Attempts::new(set.waiting());
        stage.set = Some(set);
        if is_done {
            return self.end_stage(platform, number);
        }
        self.offer_all(platform);
        if !self.reviving {
            self.reviving = true;
            self.revive_later(platform);
        }
    }

    fn revive_later(&mut self, platform: &mut Platform) {
        let errand = self.errands.send(Errand::Revive);
        platform.ctx.drive_timer(platform.ctx.now + self.config.revive_interval, errand);
    }

    /// All free cores are offered.
    pub(crate) fn offer_all(&mut self, platform: &mut Platform) {
        let all: Vec<usize> =
            (0..self.executors.len()).filter(|executor| !self.executors[*executor].is_gone()).collect();
        self.offer(platform, all, true);
    }

    /// All free cores are offered again.
    pub(crate) fn on_revive(&mut self, platform: &mut Platform) {
        self.reviving = self.stages.iter().any(Stage::waits);
        if self.reviving {
            self.offer_all(platform);
            self.revive_later(platform);
        }
    }

    /// The nodes that a task prefers: those of executors that keep what it reads, those with its input, else those with
    /// much of what it reads of shuffles (`getPreferredLocs`).
    pub(crate) fn preferred(&self, platform: &Platform, number: usize, task: usize) -> Vec<NodeId> {
        let stage = &self.stages[number];
        if let Some(keeper) = stage.spec.reads {
            let mut nodes: Vec<NodeId> =
                self.keepers(number, task).iter().map(|executor| self.executors[*executor].node).collect();
            nodes.sort_unstable();
            nodes.dedup();
            return if nodes.is_empty() { self.preferred(platform, keeper, task) } else { nodes };
        }
        if stage.spec.input == Place::Hdfs
            && let Some(blocks) = stage.blocks.get(task).filter(|blocks| !blocks.is_empty())
        {
            return holders(platform, blocks, stage.spec.files);
        }
        if !self.config.reduce_locality || !stage.spec.reduce_locality {
            return Vec::new();
        }
        let of = |(place, parent): (usize, &usize)| stage.preferred(&self.stages[*parent].outputs, place, task);
        let mut sides = stage.spec.parents.iter().enumerate().map(of);
        let Some(first) = sides.next() else { return Vec::new() };
        let (mut both, mut either) = (first.clone(), first);
        for side in sides {
            both.retain(|node| side.contains(node));
            either.extend(side);
        }
        // Of several sides the nodes that all prefer, else those of any (`ZippedPartitionsPartition`).
        either.sort_unstable();
        either.dedup();
        if both.is_empty() { either } else { both }
    }

    /// Free cores of executors are offered to the stages, the oldest job and stage first (`resourceOffers`, FIFO).
    pub(crate) fn offer(&mut self, platform: &mut Platform, mut offers: Vec<usize>, all_free: bool) {
        self.expire_exclusion(platform.ctx.now);
        offers.retain(|executor| !self.is_excluded(*executor));
        self.random.shuffle(&mut offers);
        let mut order: Vec<usize> = (0..self.stages.len()).filter(|number| self.stages[*number].waits()).collect();
        order.sort_by_key(|number| (self.stages[*number].spec.job, self.stages[*number].turn, *number));
        for number in order {
            let Some(mut set) = self.stages[number].set.take() else { continue };
            let (mut launched, mut rejects) = (false, false);
            let mut best = Locality::Any;
            for most in set.levels() {
                loop {
                    let mut again = false;
                    for executor in &offers {
                        let of = &self.executors[*executor];
                        let here = (*executor, of.node);
                        if !of.takes_tasks() || self.stages[number].excluded.excludes(here) {
                            continue;
                        }
                        let may_run = |task| self.may_run(number, task, here);
                        let may_copy = |task| may_run(task) && self.may_copy(number, task, here.1);
                        let offered = set.offer(platform.ctx.now, here, most, (may_run, may_copy));
                        match offered {
                            Offered::Task(task, locality) | Offered::Copy(task, locality) => {
                                (again, launched) = (true, true);
                                best = best.min(locality);
                                let is_copy = matches!(offered, Offered::Copy(..));
                                self.launch(platform, (number, task), *executor, (locality, is_copy));
                            }
                            Offered::Held => rejects = true,
                            Offered::Nothing => {}
                        }
                    }
                    if !again {
                        break;
                    }
                }
            }
            let stage = &mut self.stages[number];
            if rejects {
                stage.no_rejects = false;
            } else if launched && (all_free || stage.no_rejects) {
                set.reset(platform.ctx.now, best);
                stage.no_rejects = true;
            }
            stage.set = Some(set);
            self.after_offers(platform, number, launched);
        }
    }

    fn launch(
        &mut self,
        platform: &mut Platform,
        task: (usize, usize),
        executor: usize,
        (locality, is_copy): (Locality, bool),
    ) {
        let node = self.executors[executor].node;
        let of = &mut self.executors[executor];
        (of.free, of.running, of.idle.since) = (of.free - 1, of.running + 1, None);
        let id = self.tasks.len();
        let attempt = self.stages[task.0].record.attempts;
        let record = TaskRecord::new((task.0, task.1, attempt), executor, node, locality, platform.ctx.now);
        self.tasks.push(Task::new(TaskRecord { speculative: is_copy, ..record }));
        if self.config.speculation.is_some() {
            self.stages[task.0].attempts.launched(task.1, id);
        }
        self.do_next(platform, Work::Launch(id));
    }

    /// The driver's thread has another message.
    pub(crate) fn do_next(&mut self, platform: &mut Platform, work: Work) {
        self.thread.queue.push_back(work);
        if !self.thread.busy {
            self.turn(platform);
        }
    }

    fn turn(&mut self, platform: &mut Platform) {
        let Some(work) = self.thread.queue.front() else { return };
        let cost = match work {
            Work::Launch(_) | Work::Answer(..) => self.config.launch_cost,
            Work::Status(_) | Work::Failed(..) | Work::Threw(_) | Work::Killed(_) => self.config.status_cost,
            Work::Kill(_) => Time::ZERO,
        };
        self.thread.busy = true;
        let errand = self.errands.send(Errand::DriverWorked);
        let node = self.driver_node(platform);
        platform.ctx.drive_compute(node, cost.max(Time::from_ps(1)), errand);
    }

    /// The driver's thread is done with a message.
    pub(crate) fn on_driver_worked(&mut self, platform: &mut Platform) {
        self.thread.busy = false;
        match self.thread.queue.pop_front() {
            Some(Work::Launch(task)) => {
                let to = self.tasks[task].record.executor;
                self.tell(platform, to, self.config.launch_bytes, Errand::Launch(task));
            }
            Some(Work::Status(task)) => self.on_status(platform, task),
            Some(Work::Kill(task)) => {
                let to = self.tasks[task].record.executor;
                self.tell(platform, to, Bytes::new(MESSAGE), Errand::Kill(task));
            }
            Some(Work::Killed(task)) => self.on_killed(platform, task),
            Some(Work::Threw(task)) => self.on_threw(platform, task),
            Some(Work::Failed(task, address)) => self.on_fetch_failed(platform, task, address),
            Some(Work::Answer(executor, stage)) => {
                self.tell(platform, executor, self.statuses(stage), Errand::Answer(executor, stage));
            }
            None => {}
        }
        self.turn_again(platform);
    }

    fn turn_again(&mut self, platform: &mut Platform) {
        if !self.thread.busy {
            self.turn(platform);
        }
    }

    /// A message from the driver to an executor.
    pub(crate) fn tell(&mut self, platform: &mut Platform, executor: usize, bytes: Bytes, errand: Errand) {
        let conn = self.executors[executor].driver;
        let message = self.errands.send(errand);
        platform.ctx.drive_send(conn, End::Server, bytes, message);
    }

    /// Where the outputs are that a stage reads: an address for each map task, and a byte for each block's size
    /// (`CompressedMapStatus`).
    fn statuses(&self, stage: usize) -> Bytes {
        let stage = &self.stages[stage];
        let maps: usize = stage.spec.parents.iter().map(|parent| self.stages[*parent].spec.tasks.len()).sum();
        Bytes::new((maps * (ADDRESS + stage.partitions().min(FEW_PARTITIONS))) as u64 + MESSAGE)
    }

    /// A task is done, as the driver now knows.
    fn on_status(&mut self, platform: &mut Platform, task: usize) {
        let now = platform.ctx.now;
        let Task { record, is_killed, .. } = &mut self.tasks[task];
        if record.ended != TaskEnd::Running {
            // Its executor was lost meanwhile.
            return;
        }
        if *is_killed {
            // It was done before its executor heard: another attempt counts (`killedByOtherAttempt`).
            return self.on_killed(platform, task);
        }
        (record.finish, record.ended) = (Some(now), TaskEnd::Success);
        let (number, index, executor) = (record.stage, record.index, record.executor);
        let took = now.saturating_sub(record.launch);
        self.freed(platform.ctx.now, executor);
        let output = self.tasks[task].output;
        if self.stages[number].has_readers {
            self.executors[executor].idle.has_shuffle(number);
        }
        self.tasks[task].forget();
        let stage = &mut self.stages[number];
        // Two attempts at a stage may have run it: what came first counts.
        if !stage.has(index) {
            stage.outputs.0[index] = output;
            stage.lost.remove(&index);
            stage.record.done += 1;
            if let Some(set) = &mut stage.set {
                set.drop(index);
            }
            self.kill_others(platform, number, (index, task), took);
        }
        let stage = &self.stages[number];
        let done = stage.record.done as usize == stage.spec.tasks.len() && !stage.is_done();
        self.offer(platform, vec![executor], false);
        if done {
            self.end_stage(platform, number);
        }
    }

    fn end_stage(&mut self, platform: &mut Platform, number: usize) {
        let stage = &mut self.stages[number];
        stage.record.finish = Some(platform.ctx.now);
        stage.set = None;
        (stage.is_active, stage.is_needed, stage.failed_in_a_row) = (false, false, 0);
        self.failed.remove(&number);
        self.end_exclusions_of(platform.ctx.now, number);
        self.stage_succeeded(platform, number);
        self.look_for_waiting();
        self.ready_stages(platform);
        self.end_job(platform);
    }

    /// The job is over when its stages are; the next follows, or the application ends.
    fn end_job(&mut self, platform: &mut Platform) {
        let mut own = self.stages.iter().filter(|stage| stage.spec.job == self.job);
        if self.job >= self.jobs.len() || !own.all(Stage::is_done) {
            return;
        }
        self.jobs[self.job].finish = Some(platform.ctx.now);
        self.shuffles_in_use(None);
        self.job += 1;
        self.next_job(platform);
    }

    /// The next job, after the pause before it.
    pub(crate) fn next_job(&mut self, platform: &mut Platform) {
        match self.config.jobs.get(self.job) {
            Some(job) => {
                let at = platform.ctx.now + job.pause;
                let errand = self.errands.send(Errand::JobDue(self.job));
                platform.ctx.drive_timer(at, errand);
            }
            None => self.finish(platform),
        }
    }

    /// Outputs of a stage.
    pub(crate) fn outputs(&self, stage: usize) -> &Outputs {
        &self.stages[stage].outputs
    }
}

/// Bytes of a map status beside the sizes of its blocks: the block manager's name, and the map task's number. Ours, of
/// the order of `BlockManagerId`: statuses are packed and compressed as one
/// (`MapOutputTracker.serializeOutputStatuses`).
pub const ADDRESS: usize = 40;
/// Bytes of a message without its content: addresses and names of its endpoints (`RequestMessage`). Ours.
pub const MESSAGE: u64 = 100;

/// Of a task's several files so many nodes are preferred.
const MOST_PREFERRED: usize = 3;

/// Nodes that a task prefers for its input: of the part of one file those that have its first block, of several files
/// those with most of all, three at most (`FilePartition.preferredLocations`).
fn holders(platform: &Platform, blocks: &[BlockId], files: u32) -> Vec<NodeId> {
    let names = platform.hdfs.namespace();
    if files == 1 {
        return blocks.first().map_or_else(Vec::new, |block| names.holders(*block));
    }
    let mut held: BTreeMap<NodeId, Bytes> = BTreeMap::new();
    for block in blocks {
        for node in names.holders(*block) {
            *held.entry(node).or_default() += names.block(*block).length;
        }
    }
    let mut nodes: Vec<NodeId> = held.keys().copied().collect();
    nodes.sort_by_key(|node| Reverse(held[node]));
    nodes.truncate(MOST_PREFERRED);
    nodes
}
