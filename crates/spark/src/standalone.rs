//! The Master and the Workers of a standalone cluster: Workers that come back with their node, and the executors that
//! the Master launches on them in place of those that it has lost (`Master`, `Worker`).
//!
//! The application has all cores of the cluster, and no more (`spark.cores.max`). So the Master launches an executor
//! when it knows that one is lost and has a Worker with room for another, whichever comes last.

use crate::application::{Errand, Spark};
use crate::driver::MESSAGE;
use crate::listed::Progress;
use des::RandomStream;
use hadoop::{ConnId, End, NodeId, Platform, Service};
use std::cmp::Reverse;
use units::{Bytes, Time};

/// How often a Worker is heard of: a quarter of `spark.worker.timeout`.
const WORKER_HEARTBEAT: Time = Time::from_secs(15);
/// After how long without that it is dropped, and how often the Master looks (`spark.worker.timeout`).
const WORKER_TIMEOUT: Time = Time::from_secs(60);
/// For how long the driver waits for the Master to say why a connection with an executor has ended
/// (`spark.standalone.executorRemoveDelayOnDisconnection`, since Spark 3.4).
const REMOVE_DELAY: Time = Time::from_secs(5);

/// What happens between Workers and the Master, by Worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A Worker that came back registers.
    Register(usize),
    /// The Master has it launch an executor, whose process is up.
    Launch(usize),
    Up(usize),
    /// The Master has a Worker end an executor; a Worker tells the Master that one has exited.
    Kill(usize),
    Exited(usize),
    /// The Master drops a Worker that was silent for too long.
    Drop(usize),
    /// Nobody has told the driver why its connection with an executor has ended.
    Unexplained(usize),
    /// Of executors that are listed: one is up, and one may go, by their places in the list.
    Come(usize),
    Go(usize),
}

/// A Worker.
#[derive(Debug)]
struct Worker {
    node: NodeId,
    /// To the Master; none of those from before the application where nothing is asked of them.
    master: Option<ConnId>,
    /// Since when the Master hears of it; none before it does, and when it has dropped it.
    known: Option<Time>,
    /// Its node has crashed since it started.
    is_gone: bool,
    /// Further executors for which it has cores.
    room: u32,
    /// Executors that the Master has launched on it, and those that have come so far.
    launched: u32,
    executors: Vec<usize>,
}

/// A standalone cluster.
#[derive(Debug)]
pub struct Standalone {
    /// When the Master first looks for Workers that it has not heard of; it began before the application.
    phase: Time,
    workers: Vec<Worker>,
    /// How many executors the application wants, where these come and go.
    pub(crate) limit: Option<u32>,
    /// Of executors that are listed.
    pub(crate) listed: Vec<Progress>,
}

impl Standalone {
    pub fn new(seed: u64) -> Self {
        let phase = RandomStream::new(seed, "spark-master", 0).below(WORKER_TIMEOUT.as_ps());
        Self { phase: Time::from_ps(phase), workers: Vec::new(), limit: None, listed: Vec::new() }
    }

    /// When the Master drops a Worker whose node crashes now: at the first of its looks that finds it silent for longer
    /// than it may be (`timeOutDeadWorkers`).
    fn drops(&self, now: Time, since: Time) -> Time {
        let heartbeats = now.saturating_sub(since).as_ps() / WORKER_HEARTBEAT.as_ps();
        let silent = since + WORKER_HEARTBEAT * heartbeats + WORKER_TIMEOUT;
        let looks = silent.saturating_sub(self.phase).as_ps() / WORKER_TIMEOUT.as_ps() + 1;
        self.phase + WORKER_TIMEOUT * looks
    }
}

impl Spark {
    /// The run begins: as many executors on each worker, or those that are listed, which connect to the driver.
    pub(crate) fn start_executors(&mut self, platform: &mut Platform) {
        let comes_and_goes = self.config.allocation.is_some();
        let room = if comes_and_goes { self.config.executors } else { 0 };
        let each = if self.config.listed.is_empty() && !comes_and_goes { self.config.executors } else { 0 };
        let speaks = comes_and_goes || self.config.exclusion.is_some();
        let master = platform.ctx.nodes.master();
        for node in platform.ctx.nodes.workers() {
            let first = self.executors.len();
            for _ in 0..each {
                self.add_registered(platform, node);
            }
            self.standalone.workers.push(Worker {
                node,
                master: speaks.then(|| platform.ctx.drive_open(node, master, Service::SparkDriver)),
                known: Some(platform.ctx.now),
                is_gone: false,
                room,
                launched: each,
                executors: (first..self.executors.len()).collect(),
            });
        }
        self.start_listed(platform);
    }

    /// An executor that was there before the application's first job.
    pub(crate) fn add_registered(&mut self, platform: &mut Platform, node: NodeId) -> usize {
        let executor = self.add_executor(platform, node);
        let of = &mut self.executors[executor];
        (of.registered, of.free) = (Some(platform.ctx.now), of.cores);
        executor
    }

    /// The Worker of a node that has not crashed has an executor; false where the node has.
    pub(crate) fn is_on_worker(&mut self, node: NodeId, executor: Option<usize>) -> bool {
        let worker = self.standalone.workers.iter_mut().find(|worker| worker.node == node && !worker.is_gone);
        worker.map(|worker| worker.executors.extend(executor)).is_some()
    }

    /// A node is back. Standalone, its Worker starts as another than before, and registers; by when it does, the node
    /// counts as back.
    pub fn on_up(&mut self, platform: &mut Platform, node: NodeId) {
        let master = platform.ctx.nodes.master();
        if self.config.yarn.is_some() || self.is_finished() || node == master || !self.config.listed.is_empty() {
            return;
        }
        let conn = platform.ctx.drive_open(node, master, Service::SparkDriver);
        let number = self.standalone.workers.len();
        self.standalone.workers.push(Worker {
            node,
            master: Some(conn),
            known: None,
            is_gone: false,
            room: self.config.executors,
            launched: 0,
            executors: Vec::new(),
        });
        let message = self.errands.send(Errand::Standalone(Step::Register(number)));
        platform.ctx.drive_send(conn, End::Client, Bytes::new(MESSAGE), message);
    }

    /// A node crashes, and its Worker with it.
    pub(crate) fn workers_go_down(&mut self, platform: &mut Platform, node: NodeId) {
        for number in 0..self.standalone.workers.len() {
            let worker = &mut self.standalone.workers[number];
            if worker.node == node && !std::mem::replace(&mut worker.is_gone, true) {
                self.drop_later(platform, number);
            }
        }
    }

    /// The Master will find a Worker silent, if it knows it.
    fn drop_later(&mut self, platform: &mut Platform, worker: usize) {
        if let Some(since) = self.standalone.workers[worker].known {
            let errand = self.errands.send(Errand::Standalone(Step::Drop(worker)));
            platform.ctx.drive_timer(self.standalone.drops(platform.ctx.now, since), errand);
        }
    }

    /// A step that was due, or of which a message has come.
    pub(crate) fn on_standalone(&mut self, platform: &mut Platform, step: Step) {
        match step {
            Step::Register(worker) => {
                let of = &mut self.standalone.workers[worker];
                of.known = Some(platform.ctx.now);
                if of.is_gone {
                    self.drop_later(platform, worker);
                }
                self.launch_executors(platform);
            }
            Step::Launch(worker) => {
                let of = &self.standalone.workers[worker];
                if !of.is_gone {
                    let errand = self.errands.send(Errand::Standalone(Step::Up(worker)));
                    let work = self.config.process_start.max(Time::from_ps(1));
                    platform.ctx.drive_compute(of.node, work, errand);
                }
            }
            Step::Up(worker) => {
                let of = &self.standalone.workers[worker];
                if !of.is_gone {
                    let executor = self.add_executor(platform, of.node);
                    self.standalone.workers[worker].executors.push(executor);
                    self.register(platform, executor);
                }
            }
            Step::Kill(executor) => {
                if !self.executors[executor].is_dead {
                    self.end_executor(platform, executor);
                }
            }
            Step::Exited(executor) => self.on_room(platform, executor),
            Step::Unexplained(executor) => {
                if !self.is_finished() {
                    self.lose(platform, executor, !self.executors[executor].is_killed);
                }
            }
            Step::Come(place) => self.on_come(platform, place),
            Step::Go(place) => self.on_go(platform, place),
            Step::Drop(worker) => {
                let of = &mut self.standalone.workers[worker];
                (of.known, of.launched) = (None, 0);
                let node = of.node;
                for executor in std::mem::take(&mut of.executors) {
                    self.lose(platform, executor, false);
                }
                if self.config.shuffle_service {
                    // Those that ended before have files there, too (`handleWorkerRemoved`).
                    for executor in 0..self.executors.len() {
                        if self.executors[executor].node == node && self.executors[executor].is_without_files {
                            self.unregister(platform, executor);
                        }
                    }
                }
                if !self.is_finished() {
                    self.look_for_workers(platform);
                    self.launch_executors(platform);
                }
            }
        }
    }

    /// The Master launches the executors that the application lacks: one on each Worker in turn
    /// (`spark.deploy.spreadOut`), on those with most free cores first, of which the youngest
    /// (`spark.worker.selectionPolicy`, `CORES_FREE_DESC`).
    pub(crate) fn launch_executors(&mut self, platform: &mut Platform) {
        if !self.config.listed.is_empty() {
            return;
        }
        let workers = &self.standalone.workers;
        let all = platform.ctx.nodes.workers().count() as u64 * u64::from(self.config.executors);
        let all = self.standalone.limit.map_or(all, u64::from);
        let known = |worker: &&Worker| worker.known.is_some();
        let launched: u64 = workers.iter().filter(known).map(|worker| u64::from(worker.launched)).sum();
        let mut lacking = all.saturating_sub(launched);
        let usable = |number: &usize| workers[*number].known.is_some() && workers[*number].room > 0;
        let mut usable: Vec<usize> = (0..workers.len()).filter(usable).collect();
        usable.sort_by_key(|number| Reverse((workers[*number].room, *number)));
        while lacking > 0 && !usable.is_empty() {
            for number in &usable {
                if lacking == 0 {
                    break;
                }
                lacking -= 1;
                let worker = &mut self.standalone.workers[*number];
                (worker.room, worker.launched) = (worker.room - 1, worker.launched + 1);
                if let Some(conn) = worker.master.filter(|_| !worker.is_gone) {
                    let message = self.errands.send(Errand::Standalone(Step::Launch(*number)));
                    platform.ctx.drive_send(conn, End::Server, Bytes::new(MESSAGE), message);
                }
            }
            usable.retain(|number| self.standalone.workers[*number].room > 0);
        }
    }

    /// The driver has asked the Master, which is on its node, to end an executor. The Worker has room for another at once
    /// (`handleKillExecutors`).
    pub(crate) fn kill_on_worker(&mut self, platform: &mut Platform, executor: usize) {
        if let Some(worker) = self.worker_of(executor)
            && let Some(conn) = worker.master.filter(|_| !worker.is_gone)
        {
            let message = self.errands.send(Errand::Standalone(Step::Kill(executor)));
            platform.ctx.drive_send(conn, End::Server, Bytes::new(MESSAGE), message);
        }
        self.on_room(platform, executor);
    }

    /// An executor has exited by itself: its Worker tells the Master.
    pub(crate) fn exited_on_worker(&mut self, platform: &mut Platform, executor: usize) {
        if let Some(conn) = self.worker_of(executor).and_then(|worker| worker.master) {
            let message = self.errands.send(Errand::Standalone(Step::Exited(executor)));
            platform.ctx.drive_send(conn, End::Client, Bytes::new(MESSAGE), message);
        }
    }

    /// The driver's connection with an executor has ended, which gets no more tasks. It is lost when the Master says so,
    /// or after a while (`StandaloneDriverEndpoint.onDisconnected`); of one that the driver had killed the Master says
    /// nothing.
    pub(crate) fn on_executor_left(&mut self, platform: &mut Platform, executor: usize) {
        let of = &self.executors[executor];
        if of.is_lost || of.is_disabled || self.is_finished() {
            return;
        }
        if of.registered.is_none() {
            return self.lose(platform, executor, false);
        }
        self.executors[executor].is_disabled = true;
        if !self.executors[executor].is_dead {
            // One that has lost its driver ends (`CoarseGrainedExecutorBackend.onDisconnected`).
            self.dies(platform, executor);
        }
        let errand = self.errands.send(Errand::Standalone(Step::Unexplained(executor)));
        platform.ctx.drive_timer(platform.ctx.now + REMOVE_DELAY, errand);
    }

    /// The Master counts an executor no more, and launches what is lacking.
    fn on_room(&mut self, platform: &mut Platform, executor: usize) {
        let is_listed = !self.config.listed.is_empty();
        if let Some(worker) = self.worker_of(executor).filter(|_| !is_listed) {
            (worker.launched, worker.room) = (worker.launched - 1, worker.room + 1);
        }
        self.launch_executors(platform);
    }

    fn worker_of(&mut self, executor: usize) -> Option<&mut Worker> {
        self.standalone.workers.iter_mut().find(|worker| worker.executors.contains(&executor))
    }

    /// Without an executor, a Worker that will have one, and a node that comes back the application fails. Spark's
    /// would wait for ever.
    pub(crate) fn look_for_workers(&mut self, platform: &mut Platform) {
        let is_killed = |executor: &&usize| self.executors[**executor].is_killed;
        let started =
            |worker: &Worker| (worker.executors.len() - worker.executors.iter().filter(is_killed).count()) as u64;
        let will_have =
            |worker: &Worker| !worker.is_gone && (worker.room > 0 || u64::from(worker.launched) > started(worker));
        if self.executors.iter().all(|executor| executor.is_lost)
            && !self.standalone.workers.iter().any(will_have)
            && platform.ctx.now >= self.config.returns
            && !self.come_later()
        {
            self.fail(platform, "all executors are lost, and none takes their place".to_owned());
        }
    }
}
