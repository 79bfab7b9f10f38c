//! Executors that are lost, with their shuffle files where no external shuffle service keeps those: what other executors
//! and the driver see of it and when, and what is run anew.
//!
//! A node that crashes says nothing. Standalone, the Master drops a Worker that it has not heard of
//! ([`crate::standalone`]), and the driver hears of it; a connection that is reset tells it at once. Tasks that fetch
//! from it find out by themselves (`RetryingBlockTransferor`, `NettyBlockTransferService`).

use crate::allocation::Idle;
use crate::application::{Errand, Spark};
use crate::executor::{Messages, Need};
use crate::record::TaskEnd;
use crate::serve::{FetchId, bytes};
use crate::task::Step;
use hadoop::{ConnId, End, NodeId, Platform};
use std::collections::BTreeSet;
use units::Time;

/// After how long a connection on which something is awaited is closed (`spark.network.timeout`).
pub const SILENCE: Time = Time::from_secs(120);
/// How often a fetch is tried again, and after how long (`spark.shuffle.io.maxRetries`, `spark.shuffle.io.retryWait`).
pub const MAX_RETRIES: u32 = 3;
pub const RETRY_WAIT: Time = Time::from_secs(5);
/// How long a connection to a node takes to fail that does not answer (`spark.shuffle.io.connectionCreationTimeout`).
pub const UNANSWERED: Time = Time::from_secs(120);
/// What a process takes to read the list of Spark's messages, once (`SparkThrowableHelper.errorReader`: 571 KB of JSON):
/// 0.48 to 0.52 s of a core of an AMD EPYC with the first compiler alone, Spark 4.1.1 and Java 17.
const MESSAGES: Time = Time::from_ms(500);
/// How long the driver waits for further failures of stages before it submits them again (`RESUBMIT_TIMEOUT`).
const RESUBMIT: Time = Time::from_ms(200);
/// Failures of a stage in a row that its job stands (`spark.stage.maxConsecutiveAttempts`).
const MAX_STAGE_FAILURES: u32 = 4;

impl Spark {
    /// A node crashes.
    pub fn on_down(&mut self, platform: &mut Platform, node: NodeId) {
        self.processes_go_down(platform, node);
        if self.is_finished() {
            return;
        }
        let has_driver = self.has_driver_on(node);
        if !has_driver && node == self.driver_node(platform) || node == platform.ctx.nodes.master() {
            return self.fail(platform, "the driver's node has gone down".to_owned());
        }
        let now = platform.ctx.now;
        for executor in 0..self.executors.len() {
            let of = &mut self.executors[executor];
            if of.node != node || std::mem::replace(&mut of.is_without_files, true) {
                continue;
            }
            let was_dead = of.is_dead;
            if !was_dead {
                self.dies(platform, executor);
            }
            for fetch in self.fetches.of(|fetch| fetch.request.address == executor && fetch.conn.is_some()) {
                self.await_silence(platform, fetch);
            }
            if self.config.yarn.is_some() && !was_dead {
                let errand = self.errands.send(Errand::Expired(executor));
                platform.ctx.drive_timer(self.misses_heartbeats(now, executor), errand);
            }
        }
        self.workers_go_down(platform, node);
        if has_driver {
            self.driver_goes_down();
        }
    }

    /// An executor's process is gone.
    pub(crate) fn dies(&mut self, platform: &mut Platform, executor: usize) {
        self.executors[executor].is_dead = true;
        self.executors[executor].is_without_files |= !self.config.shuffle_service;
        self.executors[executor].waits.clear();
        self.drop_pulls(platform, executor);
        self.cache.lose(executor);
        for id in 0..self.tasks.len() {
            let task = &self.tasks[id];
            if task.record.executor == executor && task.step != Step::Done {
                self.tasks[id].is_over = true;
                self.give_up(id);
            }
        }
    }

    /// A task fetches no more.
    pub(crate) fn give_up(&mut self, task: usize) {
        for fetch in self.fetches.of(|fetch| fetch.task == task) {
            self.in_vain(fetch);
            self.fetches.remove(fetch);
        }
        self.end_pulls(|pull| pull.task == Some(task));
    }

    /// What of a fetch is under way will not come.
    fn in_vain(&mut self, fetch: FetchId) {
        let Some(fetch) = self.fetches.get_mut(fetch) else { return };
        let stage = &mut self.stages[self.tasks[fetch.task].record.stage];
        for (parent, books) in stage.books.iter_mut().enumerate() {
            let lost = bytes(fetch.in_flight().filter(|block| block.parent == parent));
            books.in_flight = books.in_flight.saturating_sub(lost);
            books.wasted += lost;
        }
        (fetch.sent, fetch.conn) = (fetch.came, None);
    }

    /// Something was asked of an executor that will not answer.
    pub(crate) fn await_silence(&mut self, platform: &mut Platform, fetch: FetchId) {
        let errand = self.errands.send(Errand::Silent(fetch));
        platform.ctx.drive_timer(platform.ctx.now + SILENCE, errand);
    }

    /// Nothing has come over a fetch's connection for long: it is closed, for all fetches on it.
    pub(crate) fn on_silent(&mut self, platform: &mut Platform, fetch: FetchId) {
        if let Some(conn) = self.fetches.get(fetch).and_then(|fetch| fetch.conn) {
            self.disconnected(platform, conn);
        }
    }

    /// A fetch needs a connection that cannot be made.
    pub(crate) fn cannot_connect(&mut self, platform: &mut Platform, fetch: FetchId) {
        let Some(address) = self.fetches.get(fetch).map(|fetch| fetch.request.address) else { return };
        let errand = self.errands.send(Errand::Unanswered(fetch));
        platform.ctx.drive_timer(platform.ctx.now + self.connects_in_vain(platform, address), errand);
    }

    /// How long a connection to a dead executor takes to fail: no time where its node lives, or lives again, and
    /// refuses it.
    pub(crate) fn connects_in_vain(&self, platform: &Platform, executor: usize) -> Time {
        if platform.ctx.nodes.is_up(self.executors[executor].node) { Time::ZERO } else { UNANSWERED }
    }

    /// A connection could not be made. Where the driver knows that the executor is lost, or has no connection with it
    /// either, that is all (`IsExecutorAlive`); the question's way there and back is left out.
    pub(crate) fn on_unanswered(&mut self, platform: &mut Platform, fetch: FetchId) {
        let Some(of) = self.fetches.get(fetch) else { return };
        let (task, address) = (of.task, of.request.address);
        if self.executors[address].is_active() {
            self.try_again(platform, fetch);
        } else {
            self.finds_dead(platform, task, address);
        }
    }

    /// A task cannot fetch from an executor that the driver says is dead: it fails with the first exception of its
    /// executor that has a message of Spark's list, which the process reads before; until then it does nothing else.
    fn finds_dead(&mut self, platform: &mut Platform, task: usize, address: usize) {
        let (record, is_over) = (self.tasks[task].record, self.tasks[task].is_over);
        if is_over {
            return;
        }
        match &mut self.executors[record.executor].messages {
            Messages::Known => return self.fetch_failed(platform, task, Some(address)),
            Messages::Reading(waits) => waits.push((task, address)),
            unknown @ Messages::Unknown => {
                *unknown = Messages::Reading(vec![(task, address)]);
                let errand = self.errands.send(Errand::KnowsMessages(record.executor));
                platform.ctx.drive_compute(record.node, MESSAGES, errand);
            }
        }
        self.end_work(platform, task);
    }

    /// An executor has read Spark's messages: what tasks wait to say with one is said.
    pub(crate) fn on_knows_messages(&mut self, platform: &mut Platform, executor: usize) {
        let before = std::mem::replace(&mut self.executors[executor].messages, Messages::Known);
        let Messages::Reading(waits) = before else { return };
        if !self.executors[executor].is_dead {
            for (task, address) in waits {
                self.tell_failed_fetch(platform, task, Some(address));
            }
        }
    }

    /// A connection between executors is gone.
    pub(crate) fn disconnected(&mut self, platform: &mut Platform, conn: ConnId) {
        self.serving.end(conn);
        for executor in &mut self.executors {
            executor.peers.retain(|_, peer| *peer != conn);
            executor.services.retain(|_, service| *service != conn);
        }
        for fetch in self.fetches.of(|fetch| fetch.conn == Some(conn)) {
            self.in_vain(fetch);
            self.try_again(platform, fetch);
        }
        self.pulls_disconnected(platform, conn);
    }

    /// A fetch has failed, and may be tried again.
    fn try_again(&mut self, platform: &mut Platform, id: FetchId) {
        let Some(fetch) = self.fetches.get_mut(id) else { return };
        fetch.failures += 1;
        if fetch.failures > MAX_RETRIES {
            let (task, address) = (fetch.task, fetch.request.address);
            return self.fetch_failed(platform, task, Some(address));
        }
        let errand = self.errands.send(Errand::Retry(id));
        platform.ctx.drive_timer(platform.ctx.now + RETRY_WAIT, errand);
    }

    /// A task cannot get what it reads: its executor tells the driver which executor did not give it. None where the
    /// driver had not said who has it.
    pub(crate) fn fetch_failed(&mut self, platform: &mut Platform, id: usize, address: Option<usize>) {
        let task = &mut self.tasks[id];
        if task.is_over {
            return;
        }
        task.is_over = true;
        self.give_up(id);
        self.tell_failed_fetch(platform, id, address);
    }

    fn tell_failed_fetch(&mut self, platform: &mut Platform, id: usize, address: Option<usize>) {
        let record = &mut self.tasks[id].record;
        record.end = Some(platform.ctx.now);
        let conn = self.executors[record.executor].driver;
        let message = self.errands.send(Errand::Failed(id, address));
        platform.ctx.drive_send(conn, End::Client, self.config.status_bytes, message);
    }

    /// The driver hears of a fetch that failed: the attempt at the stage launches no more tasks, and after a moment the
    /// stage is submitted anew, behind those whose output it lacks (`handleTaskCompletion`).
    pub(crate) fn on_fetch_failed(&mut self, platform: &mut Platform, id: usize, address: Option<usize>) {
        let record = &mut self.tasks[id].record;
        if record.ended != TaskEnd::Running {
            return;
        }
        (record.finish, record.ended) = (Some(platform.ctx.now), TaskEnd::FetchFailed);
        let (number, attempt, executor) = (record.stage, record.attempt, record.executor);
        self.tasks[id].forget();
        self.freed(platform.ctx.now, executor);
        if let Some(address) = address {
            self.exclude_after_fetch(platform, address);
            self.unregister(platform, address);
        }
        let stage = &mut self.stages[number];
        if attempt == stage.record.attempts && stage.is_active {
            (stage.is_active, stage.set) = (false, None);
            stage.failed_in_a_row += 1;
            if stage.failed_in_a_row >= MAX_STAGE_FAILURES {
                let reason = format!("stage {}: shuffle output could not be fetched 4 times in a row", stage.spec.name);
                return self.abort(platform, reason);
            }
            if self.failed.is_empty() {
                let errand = self.errands.send(Errand::Resubmit);
                platform.ctx.drive_timer(platform.ctx.now + RESUBMIT, errand);
            }
            self.failed.insert(number);
            self.end_exclusions_of(platform.ctx.now, number);
        }
        self.offer(platform, vec![executor], false);
    }

    /// Stages that failed are submitted anew.
    pub(crate) fn on_resubmit(&mut self, platform: &mut Platform) {
        self.failed.clear();
        self.ready_stages(platform);
    }

    /// Outputs of an executor are there no more.
    pub(crate) fn unregister(&mut self, platform: &Platform, executor: usize) {
        for number in 0..self.stages.len() {
            let stage = &self.stages[number];
            if !stage.has_readers {
                continue;
            }
            let of = |index: &usize| stage.outputs.0[*index].is_some_and(|output| output.executor == executor);
            let lost: Vec<usize> = (0..stage.spec.tasks.len()).filter(|index| stage.has(*index)).filter(of).collect();
            for index in &lost {
                let stage = &mut self.stages[number];
                stage.lost.insert(*index);
                stage.record.done -= 1;
                self.wait_again(platform, number, *index);
            }
            if !lost.is_empty() {
                // What executors know of the outputs is old (`MapOutputTracker.updateEpoch`).
                let readers = |stage: &usize| self.stages[*stage].spec.parents.contains(&number);
                let readers: Vec<usize> = (0..self.stages.len()).filter(readers).collect();
                for executor in &mut self.executors {
                    executor.has.retain(|need| !matches!(need, Need::Statuses(stage) if readers.contains(stage)));
                }
            }
        }
    }

    /// A task of a stage has to run anew, if the stage's tasks are with the scheduler.
    pub(crate) fn wait_again(&mut self, platform: &Platform, number: usize, index: usize) {
        let preferred = self.preferred(platform, number, index);
        if let Some(set) = &mut self.stages[number].set {
            set.add(index, &preferred);
        }
    }

    /// The driver learns that an executor is lost. `counts`: from a connection or missing heartbeats, and not from the
    /// Master or the ApplicationMaster; its tasks then count as failed (`ExecutorProcessLost`, `causedByApp`).
    pub(crate) fn lose(&mut self, platform: &mut Platform, executor: usize, counts: bool) {
        if self.executors[executor].is_lost || self.is_without_driver() {
            return;
        }
        let of = &mut self.executors[executor];
        (of.is_lost, of.free, of.lost) = (true, 0, Some(platform.ctx.now));
        (of.running, of.idle) = (0, Idle::default());
        if !self.executors[executor].is_dead {
            // One that has lost its driver ends (`CoarseGrainedExecutorBackend.onDisconnected`).
            self.dies(platform, executor);
        }
        self.held.forget(executor);
        self.health.removed(executor);
        if self.config.yarn.is_none() {
            self.look_for_workers(platform);
            if self.is_finished() {
                return;
            }
        }
        if !self.config.shuffle_service {
            self.unregister(platform, executor);
        }
        for id in 0..self.tasks.len() {
            let record = &mut self.tasks[id].record;
            if record.executor != executor || record.ended != TaskEnd::Running {
                continue;
            }
            (record.finish, record.ended) = (Some(platform.ctx.now), TaskEnd::ExecutorLost);
            self.tasks[id].is_over = true;
            // What was to fail has, if its executor is lost a moment before, and not killed by the driver.
            let counts = counts || self.tasks[id].failing.is_some() && !self.executors[executor].is_killed;
            self.try_again_task(platform, id, counts);
            if self.is_finished() {
                return;
            }
        }
        self.recompute_levels();
        self.offer_all(platform);
    }

    /// Nodes on which executors are, as far as the driver knows.
    pub(crate) fn nodes_of_executors(&self) -> BTreeSet<NodeId> {
        self.executors.iter().filter(|executor| executor.is_up()).map(|executor| executor.node).collect()
    }

    /// Executors have come or gone: the levels of the stages' tasks that wait.
    pub(crate) fn recompute_levels(&mut self) {
        if self.stages.iter().all(|stage| stage.set.is_none()) {
            return;
        }
        let alive = self.nodes_of_executors();
        for set in self.stages.iter_mut().filter_map(|stage| stage.set.as_mut()) {
            let lost = |executor: usize| self.executors[executor].is_gone();
            set.recompute(self.config.locality_wait, |node| alive.contains(&node), lost);
        }
    }

    /// A connection has ended.
    pub(crate) fn on_ended(&mut self, platform: &mut Platform, conn: ConnId) {
        if self.config.yarn.is_some() {
            return self.on_ended_on_yarn(platform, conn);
        }
        match self.executors.iter().position(|executor| executor.driver == conn) {
            Some(executor) => self.on_executor_left(platform, executor),
            None => self.disconnected(platform, conn),
        }
    }
}
