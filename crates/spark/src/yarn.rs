//! An application on YARN: its driver on the master or, in cluster mode, in the container of its `ApplicationMaster`; that
//! and its executors in containers, which come and go. Here is what the driver sees of them, and their processes on their nodes; what the
//! `ApplicationMaster` does is in [`crate::app_master`].

use crate::app_master::AppMaster;
use crate::application::{Errand, Spark};
use crate::driver::MESSAGE;
use crate::executor::Executor;
use crate::localise::Localised;
use crate::loss::SILENCE;
use hadoop::rpc::Process;
use hadoop::yarn::{ApplicationSpec, MasterPlacement, News, Resources, Role};
use hadoop::{ApplicationId, ConnId, ContainerId, End, Framework, NodeId, Platform, Tag};
use std::collections::BTreeMap;
use units::{Bytes, Time, count};

/// The process of whoever submits the application, on the master.
const CLIENT: u32 = 2_000;
/// How often the client asks whether the application runs (`YarnClientSchedulerBackend.waitForApplication`).
const REPORT: Time = Time::from_secs(1);
/// How often the driver looks whether there are enough executors (`TaskSchedulerImpl.waitBackendReady`).
const LOOK: Time = Time::from_ms(100);
/// Before a submission that had no answer is tried again.
const SUBMIT_AGAIN: Time = Time::from_secs(1);
/// How often an executor says that it lives (`spark.executor.heartbeatInterval`).
const HEARTBEAT: Time = Time::from_secs(10);
/// How often the driver looks for executors that have not for 120 s (`HeartbeatReceiver`,
/// `spark.network.timeoutInterval`).
const EXPIRY_LOOK: Time = Time::from_secs(60);

/// How an application runs on YARN. Defaults are those of Spark's "Running on YARN".
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OnYarn {
    /// How many executors it asks for (`spark.executor.instances`, 2).
    pub instances: u32,
    /// What the container of each holds: `spark.executor.memory` and `spark.executor.memoryOverhead`,
    /// `spark.executor.cores`.
    pub executor: Resources,
    /// What the container of its `ApplicationMaster` holds: `spark.yarn.am.memory` and `spark.yarn.am.memoryOverhead`,
    /// `spark.yarn.am.cores`.
    pub master: Resources,
    /// What each node copies from HDFS before its first container of the application: Spark's own files
    /// (`spark.yarn.archive`) and the application's settings.
    pub files: Bytes,
    /// Whether the driver runs in that container (`spark.submit.deployMode`).
    pub in_cluster: bool,
    /// Work of the `ApplicationMaster` from the start of its process until it registers, beyond that of any process.
    pub master_start: Time,
    /// `ApplicationMaster`s that it may lose before it fails, the last included
    /// (`yarn.resourcemanager.am.max-attempts`, 2).
    pub max_attempts: u32,
    /// How often the `ApplicationMaster` speaks to the ResourceManager (`spark.yarn.scheduler.heartbeat.interval-ms`,
    /// 3 s).
    pub heartbeat: Time,
    /// How long it waits at first while containers are missing (`spark.yarn.scheduler.initial-allocation.interval`,
    /// 200 ms).
    pub initial_allocation: Time,
    /// The part of its executors that are registered before the program goes on
    /// (`spark.scheduler.minRegisteredResourcesRatio`, 0.8 on YARN).
    pub min_registered: f64,
    /// After how long it goes on without them (`spark.scheduler.maxRegisteredResourcesWaitingTime`, 30 s).
    pub max_registered_wait: Time,
    /// From a NodeManager's start of a container to that of its process.
    pub launch_latency: Time,
    /// How long a stage waits for a core in the rack of its data (`spark.locality.wait.rack`, 3 s).
    pub locality_wait_rack: Time,
}

impl Default for OnYarn {
    fn default() -> Self {
        let container = |memory: u64| Resources { memory: Bytes::from_mib(memory), vcores: 1 };
        Self {
            instances: 2,
            executor: container(1_024 + 384),
            master: container(512 + 384),
            files: Bytes::ZERO,
            in_cluster: false,
            master_start: Time::ZERO,
            max_attempts: 2,
            heartbeat: Time::from_secs(3),
            initial_allocation: Time::from_ms(200),
            min_registered: 0.8,
            max_registered_wait: Time::from_secs(30),
            launch_latency: Time::from_ms(200),
            locality_wait_rack: Time::from_secs(3),
        }
    }
}

/// What happens on the way of an application through YARN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The client submits it.
    Submit,
    /// The client looks whether it runs; then the driver, whether there are enough executors.
    Look,
    /// A container's process starts, and is up.
    Launched(ContainerId),
    Up(ContainerId),
    /// The `ApplicationMaster`, on this connection, says to the driver that it is there, and is answered.
    Hello(ConnId),
    Welcome(ContainerId),
    /// It has waited until this time.
    Heartbeat(ContainerId, Time),
    /// The driver asks the `ApplicationMaster` why an executor has ended, and had no answer for long; has its container
    /// given back.
    Why(usize),
    NoAnswer(usize),
    GiveBack(usize),
    /// The `ApplicationMaster` tells the driver that an executor is gone.
    Remove(usize),
    /// The driver tells the `ApplicationMaster` how many executors it wants.
    Wanted(u32),
    /// The application is over: the driver says so to its `ApplicationMaster` and to its executors.
    Stop,
    StopExecutor(usize),
}

/// A container's process on its node.
#[derive(Debug, Default)]
struct Running {
    /// The executor that it is.
    executor: Option<usize>,
    /// Its start, as long as that takes.
    starts: Option<Tag>,
}

/// An application's way through YARN.
#[derive(Debug, Default)]
pub struct Yarn {
    pub application: Option<ApplicationId>,
    pub master: Option<AppMaster>,
    /// The ResourceManager says that it runs.
    pub is_running: bool,
    /// In cluster mode: where the driver runs.
    pub driver: Option<NodeId>,
    /// The driver looks how many executors it wants, where these come and go.
    allocates: bool,
    /// When the driver asked for it, or, in cluster mode, was there itself.
    submitted: Time,
    /// When the first `ApplicationMaster` spoke to the driver, and when the program could go on.
    came: Option<Time>,
    ready: Option<Time>,
    /// The `ApplicationMaster`'s connection as the driver knows it.
    known_master: Option<ConnId>,
    processes: BTreeMap<ContainerId, Running>,
    pub(crate) files: Localised,
}

impl Yarn {
    /// In cluster mode: the driver is gone with its node, and has to be found anew.
    pub fn driver_is_gone(&mut self) {
        (self.driver, self.known_master, self.is_running, self.allocates, self.ready) =
            (None, None, false, false, None);
    }
}

impl Spark {
    /// The run begins: the application is submitted.
    pub(crate) fn start_on_yarn(&mut self, platform: &mut Platform, on_yarn: &OnYarn) {
        self.yarn.application = Some(platform.yarn.add_application(ApplicationSpec {
            framework: Framework::Driver(0),
            submit: platform.ctx.now,
            weight: 1.0,
            master: on_yarn.master,
            max_attempts: on_yarn.max_attempts,
        }));
        self.put_files(platform, on_yarn.files);
        self.yarn.submitted = platform.ctx.now;
        let racks = 0..count(platform.ctx.nodes.len());
        self.racks = racks.map(|node| platform.ctx.nodes.rack(NodeId(node))).collect();
        self.step_at(platform, platform.ctx.now, Step::Submit);
        if !on_yarn.in_cluster {
            self.step_at(platform, platform.ctx.now + REPORT, Step::Look);
        }
    }

    /// In cluster mode: the driver is there, with its `ApplicationMaster` on a node.
    pub(crate) fn driver_comes(&mut self, platform: &mut Platform, node: NodeId) {
        if self.yarn.driver.replace(node).is_none() {
            self.yarn.submitted = platform.ctx.now;
            self.step_at(platform, platform.ctx.now + LOOK, Step::Look);
        }
    }

    pub(crate) fn step_at(&mut self, platform: &mut Platform, at: Time, step: Step) {
        let errand = self.errands.send(Errand::Yarn(step));
        platform.ctx.drive_timer(at, errand);
    }

    /// YARN has news of the application or of one of its containers.
    pub(crate) fn on_yarn(&mut self, platform: &mut Platform, news: News) {
        match news {
            News::SubmitFailed => self.step_at(platform, platform.ctx.now + SUBMIT_AGAIN, Step::Submit),
            News::Start(container) => {
                self.yarn.processes.insert(container, Running::default());
                self.localise(platform, container);
            }
            News::Stop(container) => self.end_process(platform, container),
            News::Registered(container) => self.on_registered(platform, container),
            News::HeartbeatOver(container) => self.on_allocation(platform, container),
            News::StartFailed { container, last } => self.on_start_failed(platform, container, last),
            News::MasterLost { lost, again: false } => {
                self.fail(platform, format!("its ApplicationMaster was lost; attempts: {lost}"));
            }
            News::MasterLost { again: true, .. } if self.config.yarn.is_some_and(|on_yarn| on_yarn.in_cluster) => {
                self.begins_anew(platform);
            }
            News::Finished => platform.ctx.finish(),
            News::Started(_) | News::Completed(_) | News::MasterLost { again: true, .. } => {}
        }
    }

    /// A step that was due, or of which a message has come.
    pub(crate) fn on_step(&mut self, platform: &mut Platform, step: Step) {
        match step {
            Step::Submit => {
                let client = Process { node: platform.ctx.nodes.master(), id: CLIENT };
                if let Some(application) = self.yarn.application {
                    platform.yarn.submit(platform.ctx, client, application, MasterPlacement::default());
                }
            }
            Step::Look => self.look(platform),
            Step::Launched(container) => self.on_container_launched(platform, container),
            Step::Up(container) => self.on_process_up(platform, container),
            Step::Hello(conn) => self.on_hello(platform, conn),
            Step::Welcome(container) => {
                if self.yarn.master.as_ref().is_some_and(|master| master.container == container) {
                    self.allocate(platform);
                }
            }
            Step::Heartbeat(container, due) => self.on_heartbeat_due(platform, container, due),
            Step::Why(executor) => self.on_asked_why(platform, executor),
            Step::NoAnswer(executor) => self.lose(platform, executor, true),
            Step::Wanted(wanted) => self.on_wanted(platform, wanted),
            Step::GiveBack(executor) => self.on_given_back(platform, executor),
            Step::Remove(executor) => self.lose(platform, executor, false),
            Step::Stop => {
                let Some(application) = self.yarn.application else { return };
                platform.yarn.want_nothing(application);
                if !platform.yarn.finish(platform.ctx, application) {
                    platform.ctx.finish();
                }
            }
            Step::StopExecutor(executor) => {
                if let Some(container) = self.executors[executor].container {
                    self.end_process(platform, container);
                }
            }
        }
    }

    // === The driver ===

    /// Where it runs.
    pub(crate) fn driver_node(&self, platform: &Platform) -> NodeId {
        self.yarn.driver.unwrap_or_else(|| platform.ctx.nodes.master())
    }

    /// The program goes on when the application runs and enough of its executors are registered, or after a time
    /// without these (`waitForApplication`, `isReady`).
    fn look(&mut self, platform: &mut Platform) {
        let (Some(on_yarn), now) = (self.config.yarn, platform.ctx.now) else { return };
        if !self.yarn.is_running {
            return self.step_at(platform, now + REPORT, Step::Look);
        }
        if !std::mem::replace(&mut self.yarn.allocates, true) {
            self.start_allocation(platform);
        }
        let registered = self.executors.iter().filter(|executor| executor.is_up()).count();
        let enough = registered as f64 >= f64::from(self.wanted_at_first()) * on_yarn.min_registered;
        if enough || now.saturating_sub(self.yarn.submitted) >= on_yarn.max_registered_wait {
            self.yarn.ready = Some(now);
            return self.next_job(platform);
        }
        self.step_at(platform, now + LOOK, Step::Look);
    }

    /// An `ApplicationMaster` says that it is there. If it is not the first, what the driver knows is of an attempt
    /// whose containers are gone (`YarnSchedulerBackend.reset`).
    fn on_hello(&mut self, platform: &mut Platform, conn: ConnId) {
        self.yarn.came.get_or_insert(platform.ctx.now);
        if self.yarn.known_master.replace(conn).is_some() || self.executors.iter().any(Executor::is_up) {
            for executor in 0..self.executors.len() {
                self.lose(platform, executor, true);
            }
            self.allocation_begins_anew();
        }
        if let Some(master) = &self.yarn.master {
            let message = self.errands.send(Errand::Yarn(Step::Welcome(master.container)));
            platform.ctx.drive_send(conn, End::Server, Bytes::new(MESSAGE), message);
        }
    }

    /// The connection to an executor has ended. It gets no more tasks; that it is lost, and whether its tasks count as
    /// failed, the `ApplicationMaster` has to say (`YarnDriverEndpoint.onDisconnected`).
    fn disable(&mut self, platform: &mut Platform, executor: usize) {
        if self.is_without_driver() {
            return;
        }
        let of = &mut self.executors[executor];
        if of.is_lost || std::mem::replace(&mut of.is_disabled, true) {
            return;
        }
        match self.yarn.known_master {
            Some(master) => {
                self.tell_master(platform, master, Step::Why(executor));
                self.step_at(platform, platform.ctx.now + SILENCE, Step::NoAnswer(executor));
            }
            None => self.lose(platform, executor, true),
        }
    }

    /// A message from the driver to the `ApplicationMaster`.
    fn tell_master(&mut self, platform: &mut Platform, master: ConnId, step: Step) {
        let message = self.errands.send(Errand::Yarn(step));
        platform.ctx.drive_send(master, End::Server, Bytes::new(MESSAGE), message);
    }

    /// The driver has not heard of an executor for long: it is lost, and the `ApplicationMaster` shall have another
    /// (`HeartbeatReceiver.expireDeadHosts`, `killAndReplaceExecutor`).
    pub(crate) fn on_heartbeats_missed(&mut self, platform: &mut Platform, executor: usize) {
        if self.executors[executor].is_lost {
            return;
        }
        self.lose(platform, executor, true);
        self.give_back(platform, executor);
    }

    /// The driver tells the `ApplicationMaster` how many executors it wants (`RequestExecutors`).
    pub(crate) fn want_of_master(&mut self, platform: &mut Platform, wanted: u32) {
        if let Some(master) = self.yarn.known_master {
            self.tell_master(platform, master, Step::Wanted(wanted));
        }
    }

    /// Whether the driver can ask for executors.
    pub(crate) fn can_ask(&self) -> bool {
        self.config.yarn.is_none() || self.yarn.known_master.is_some()
    }

    /// The driver has the `ApplicationMaster` give an executor's container back (`KillExecutors`).
    pub(crate) fn give_back(&mut self, platform: &mut Platform, executor: usize) {
        if let Some(master) = self.yarn.known_master {
            self.tell_master(platform, master, Step::GiveBack(executor));
        }
    }

    /// When the driver finds that an executor is silent which dies now. The driver has looked since the application
    /// began.
    pub(crate) fn misses_heartbeats(&self, now: Time, executor: usize) -> Time {
        let Executor { registered, heartbeat, .. } = &self.executors[executor];
        let registered = registered.unwrap_or(now);
        // The first comes after one to two intervals.
        let first = registered + HEARTBEAT + HEARTBEAT.mul_f64(*heartbeat);
        let heard = if now < first {
            registered
        } else {
            first + HEARTBEAT * (now.saturating_sub(first).as_ps() / HEARTBEAT.as_ps())
        };
        let silent = (heard + SILENCE).saturating_sub(self.yarn.submitted);
        self.yarn.submitted + EXPIRY_LOOK * (silent.as_ps() / EXPIRY_LOOK.as_ps() + 1)
    }

    /// All jobs are over (`SparkContext.stop`).
    pub(crate) fn stop(&mut self, platform: &mut Platform) {
        let Some(master) = self.yarn.known_master else { return platform.ctx.finish() };
        self.tell_master(platform, master, Step::Stop);
        for executor in
            (0..self.executors.len()).filter(|executor| self.executors[*executor].is_up()).collect::<Vec<_>>()
        {
            self.tell(platform, executor, Bytes::new(MESSAGE), Errand::Yarn(Step::StopExecutor(executor)));
        }
    }

    // === Containers' processes on their nodes ===

    fn on_container_launched(&mut self, platform: &mut Platform, container: ContainerId) {
        let Some(process) = self.yarn.processes.get_mut(&container) else { return };
        let errand = self.errands.send(Errand::Yarn(Step::Up(container)));
        let (node, role) = (platform.yarn.container(container).node, platform.yarn.container(container).role);
        let more = self.config.yarn.filter(|_| role == Role::Master).map_or(Time::ZERO, |of| of.master_start);
        let work = self.config.process_start.saturating_add(more).max(Time::from_ps(1));
        process.starts = Some(platform.ctx.drive_compute(node, work, errand));
    }

    /// A process is up: the `ApplicationMaster` registers with the ResourceManager, an executor with the driver.
    fn on_process_up(&mut self, platform: &mut Platform, container: ContainerId) {
        let Some(process) = self.yarn.processes.get_mut(&container) else { return };
        process.starts = None;
        let (node, role) = (platform.yarn.container(container).node, platform.yarn.container(container).role);
        if role == Role::Master {
            return platform.yarn.register(platform.ctx, container);
        }
        process.executor = Some(self.executors.len());
        let number = self.add_executor(platform, node);
        let executor = &mut self.executors[number];
        executor.container = Some(container);
        executor.granted = Some(platform.yarn.container(container).granted);
        executor.heartbeat = self.heartbeats.uniform();
        self.register(platform, number);
    }

    /// The executor in a container, if it has come so far.
    pub(crate) fn executor_in(&self, container: ContainerId) -> Option<usize> {
        self.executors.iter().position(|executor| executor.container == Some(container))
    }

    /// A container's process ends on a node that lives: its NodeManager sees so, and its connections end.
    pub(crate) fn end_process(&mut self, platform: &mut Platform, container: ContainerId) {
        let Some(Running { executor, starts }) = self.yarn.processes.remove(&container) else { return };
        platform.yarn.exited(platform.ctx, container);
        if let Some(work) = starts {
            platform.ctx.drive_cancel(platform.yarn.container(container).node, work);
        }
        if let Some(executor) = executor {
            self.end_executor(platform, executor);
        } else if self.yarn.master.as_ref().is_some_and(|master| master.container == container) {
            self.yarn.master = None;
        }
    }

    /// A node crashes: its processes are gone, and say nothing.
    pub(crate) fn processes_go_down(&mut self, platform: &mut Platform, node: NodeId) {
        self.yarn.files.node_goes_down(node);
        self.yarn.processes.retain(|container, _| platform.yarn.container(*container).node != node);
        if self.yarn.master.as_ref().is_some_and(|master| master.node == node) {
            self.yarn.master = None;
            if self.is_finished() {
                platform.ctx.finish();
            }
        }
    }

    /// A connection has ended, of an executor or of the `ApplicationMaster` with the driver, or of two executors.
    pub(crate) fn on_ended_on_yarn(&mut self, platform: &mut Platform, conn: ConnId) {
        if self.yarn.known_master == Some(conn) {
            self.yarn.known_master = None;
            if self.is_finished() {
                platform.ctx.finish();
            }
            return;
        }
        let Some(executor) = self.executors.iter().position(|executor| executor.driver == conn) else {
            return self.disconnected(platform, conn);
        };
        // One that has lost its driver ends (`CoarseGrainedExecutorBackend.onDisconnected`).
        if let Some(container) = self.executors[executor].container {
            self.end_process(platform, container);
        }
        if !self.is_finished() {
            self.disable(platform, executor);
        }
    }

    /// When its first `ApplicationMaster` spoke to the driver, on YARN.
    pub const fn master(&self) -> Option<Time> {
        self.yarn.came
    }
    /// When the program could go on, on YARN.
    pub const fn ready(&self) -> Option<Time> {
        self.yarn.ready
    }
}
