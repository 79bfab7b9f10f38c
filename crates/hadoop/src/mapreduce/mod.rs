//! MapReduce: jobs, their masters in Hadoop's two generations, and the tasks on the workers.

mod allocate;
mod attempt;
mod buffer;
mod config;
pub mod critical;
mod files;
mod hadoop1;
mod job;
mod map;
mod master;
pub mod merge;
mod reduce;
pub(crate) mod request;
mod spare;
mod speculate;
mod stall;
mod stream;
mod task;
mod yarn;

pub use crate::yarn::scheduler::Policy;
pub use config::{Generation, Hadoop1Config, MapReduceConfig, Replay, ReplayAttempt, YarnConfig};
pub use job::{JobInput, JobSpec, NamedFile};
pub use spare::SpareConfig;
pub use stall::Wait;
pub(crate) use stall::silent;

pub use request::{
    Call, Reader, Request, Step, StreamSlot, TaskRequest, TrackerCall, TrackerRequest, Umbilical, Writer, YarnCall,
    YarnRequest,
};

use crate::context::Context;
use crate::effect::Service;
use crate::event::{ReadNews, WriteNews};
use crate::hdfs::Hdfs;
use crate::ids::{AttemptId, CallId, ContainerId, JobId, NodeId, Process, ReadId, Server, WriteId};
use crate::record::{AttemptRecord, AttemptState, Records};
use crate::rpc::{self, ServerConfig};
use crate::shuffle::Shuffle;
use crate::yarn::Yarn;
use attempt::Body;
use des::Index;
use files::JobFiles;
use hadoop1::JobTracker;
use job::Job;
use map::MapTask;
use spare::Charges;
use units::{Bytes, Time};
use yarn::Applications;

/// Masters, workers and tasks.
#[derive(Debug)]
pub struct MapReduce {
    config: MapReduceConfig,
    seed: u64,
    jobs: Vec<Job>,
    /// By job.
    files: Vec<JobFiles>,
    attempts: Vec<Attempt>,
    shuffle: Shuffle,
    next_disk: Vec<u32>,
    yarn: Yarn,
    /// Jobs as applications of YARN, and their AppMasters.
    apps: Applications,
    tracker: JobTracker,
    charges: Charges,
    finished: bool,
}

/// An attempt: its record, what its node does for it, and what its master knows of it.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub record: AttemptRecord,
    body: Body,
    /// Master: the last progress heard of.
    pub known_progress: f64,
    /// Master: how long it would run by its last report (YARN).
    pub estimate: Option<Time>,
    /// Whoever watches over its timeout: the last progress seen, and when it last moved.
    watched_progress: f64,
    heard: Time,
    /// Its container (YARN).
    container: Option<ContainerId>,
    /// The slot or container is still held.
    holds_slot: bool,
    /// Why it failed on its node, until its master knows.
    failure: Option<&'static str>,
    /// Recorded, not scheduled.
    replayed: bool,
    /// The processor time that its work takes, by what it takes on average.
    pace: f64,
}

impl Attempt {
    /// Whether its master has had its start confirmed.
    pub fn is_started(&self) -> bool {
        self.record.state == AttemptState::Running && self.record.start > Time::ZERO && self.heard > Time::ZERO
    }
}

/// Makes a call with a request and a reply of these lengths.
fn call(ctx: &mut Context, from: Process, to: Server, (request, reply): (Bytes, Bytes), what: Call) {
    rpc::call(ctx, rpc::Call { from, to, request, reply, caller: what.into() });
}

impl MapReduce {
    /// A server of the JobTracker or ResourceManager, with the settings' handlers and cost of a call where they say.
    fn master_server(&self, handlers: u32, service: Time) -> ServerConfig {
        let handlers = self.config.handlers.unwrap_or(handlers).max(1);
        ServerConfig::new(handlers, self.config.call_service.unwrap_or(service), Service::Rpc)
    }
    pub(crate) fn new(config: MapReduceConfig, ctx: &mut Context, hdfs: &mut Hdfs, seed: u64) -> Self {
        let jobs: Vec<Job> = config
            .jobs
            .iter()
            .enumerate()
            .map(|(number, spec)| {
                Job::new(JobId::from_usize(number), spec.clone(), ctx, hdfs, seed.wrapping_add(number as u64))
            })
            .collect();
        let nodes = ctx.nodes.len();
        Self {
            shuffle: Shuffle::new(config.shuffle(), nodes, jobs.len()),
            yarn: Yarn::new(config.yarn.worker(), nodes),
            apps: Applications::new(jobs.len(), seed),
            tracker: JobTracker::new(nodes, jobs.len(), seed),
            charges: Charges::new(nodes, jobs.len()),
            files: jobs.iter().map(|_| JobFiles::new(nodes)).collect(),
            config,
            seed,
            jobs,
            attempts: Vec::new(),
            next_disk: vec![0; nodes],
            finished: false,
        }
    }

    /// What the jobs leave behind so far.
    pub fn records(&self) -> Records {
        Records {
            jobs: self.jobs.iter().map(|job| self.job_record(job)).collect(),
            attempts: self.attempts.iter().map(|attempt| attempt.record.clone()).collect(),
        }
    }
    /// The settings.
    pub fn config(&self) -> &MapReduceConfig {
        &self.config
    }
    /// How much of all jobs is done, from 0 to 1, by tasks.
    pub fn progress(&self) -> f64 {
        let (done, all) = self.jobs.iter().fold((0.0, 0.0), |(done, all), job| {
            let tasks = (job.maps.len() + job.reduces.len()) as f64;
            let part = if job.is_over() { tasks } else { f64::from(job.maps_done + job.reduces_done) };
            (done + part, all + tasks)
        });
        if all > 0.0 { done / all } else { 1.0 }
    }

    fn job_record(&self, job: &Job) -> crate::record::JobRecord {
        let mut record = job.record.clone();
        let ledger = &mut record.ledger;
        let totals = self.shuffle.totals(job.id);
        ledger.served = totals.served;
        ledger.aborted = totals.aborted;
        ledger.in_flight = self.shuffle.in_flight(job.id);
        let mine = || self.attempts.iter().filter(|attempt| attempt.record.job == job.id);
        for attempt in mine() {
            let bytes = attempt.record.bytes.fetched_node + attempt.record.bytes.fetched_network;
            let won = attempt.record.state == AttemptState::Succeeded;
            *(if won { &mut ledger.fetched } else { &mut ledger.discarded }) += bytes;
        }
        ledger.slots_held = mine().filter(|attempt| attempt.holds_slot).count() as u64;
        // What the maps offered: to each reduce that succeeded, the outputs that it took; to the others, those that stand.
        for (reduce, task) in job.reduces.iter().enumerate() {
            let part = |map: AttemptId| job.partitions.part(self.shuffle.output(map).bytes, reduce);
            if let Some(id) = task.done {
                let bytes = &self.attempts[id.0 as usize].record.bytes;
                ledger.offered += bytes.fetched_node + bytes.fetched_network;
            } else {
                let offered: Bytes = job.maps.iter().filter_map(|map| map.done).map(part).sum();
                ledger.offered += offered;
                ledger.never_fetched += offered;
            }
        }
        record
    }

    /// Something happens to a fetch of map outputs: the reducers are told.
    pub(crate) fn on_shuffle(
        &mut self,
        ctx: &mut Context,
        hdfs: &mut Hdfs,
        happens: impl FnOnce(&mut Shuffle, &mut Context),
    ) {
        happens(&mut self.shuffle, ctx);
        let news = std::mem::take(&mut self.shuffle.news);
        self.tell_reducers(ctx, hdfs, news);
    }
    pub(crate) fn on_node_down(&mut self, ctx: &mut Context, node: NodeId) {
        self.shuffle.on_node_down(node);
        self.node_down(ctx, node);
    }
    pub(crate) fn on_node_up(&mut self, ctx: &mut Context, node: NodeId) {
        self.node_up(ctx, node);
    }
    /// A node's battery has come to a level.
    pub(crate) fn on_charge(&mut self, node: NodeId, level: u16) {
        self.charges.set(node, level);
    }

    /// Work or a disk request is done, or a timer fires.
    pub(crate) fn on_answer(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, request: Request) {
        match request {
            Request::SubmitDue(job) => self.bring(ctx, hdfs, job),
            Request::TimeoutDue(job) => self.check_timeouts(ctx, hdfs, job),
            Request::SpeculateDue(job) => self.speculate(ctx, job),
            Request::ReplayDue(number) => self.replay(ctx, hdfs, number),
            Request::Tracker(request) => self.on_tracker_answer(ctx, request),
            Request::Yarn(request) => self.on_yarn_answer(ctx, hdfs, request),
            Request::Task(id, request) => self.on_task_answer(ctx, hdfs, id, request),
        }
    }
    /// A call has been processed at its server.
    pub(crate) fn on_served(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, id: CallId, to: Server, call: Call) {
        match call {
            Call::Submit(job) => self.submitted(ctx, hdfs, job),
            Call::Tracker(call) => self.on_tracker_served(ctx, hdfs, id, call),
            Call::Yarn(call) => self.on_yarn_served(ctx, hdfs, id, to, call),
            Call::Umbilical(attempt, call) => self.on_umbilical(ctx, hdfs, (id, to), attempt, call),
        }
    }
    /// The reply to a call is there.
    pub(crate) fn on_replied(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, call: Call) {
        match call {
            Call::Submit(_) => {}
            Call::Tracker(call) => self.on_tracker_replied(ctx, hdfs, call),
            Call::Yarn(call) => self.on_yarn_replied(ctx, hdfs, call),
            Call::Umbilical(attempt, call) => self.on_umbilical_reply(ctx, hdfs, attempt, call),
        }
    }
    /// No reply to a call will come.
    pub(crate) fn on_call_failed(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, call: Call) {
        match call {
            Call::Submit(job) => Self::submit_failed(ctx, job),
            Call::Tracker(call) => self.on_tracker_call_failed(ctx, call),
            Call::Yarn(call) => self.on_yarn_call_failed(ctx, hdfs, call),
            Call::Umbilical(attempt, _) => self.master_is_gone(ctx, hdfs, attempt),
        }
    }
    /// News of a read.
    pub(crate) fn on_read(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, read: ReadId, news: ReadNews, reader: Reader) {
        match reader {
            Reader::Split(id) => match news {
                ReadNews::Progress { source, bytes } => {
                    self.on_map(ctx, hdfs, id, |map, env| map.on_read_progress(env, source, bytes));
                }
                ReadNews::Done => self.on_map(ctx, hdfs, id, MapTask::on_read_done),
                ReadNews::Failed => self.fail_on_node(ctx, hdfs, id, "its input could not be read"),
            },
            Reader::Sample(job) => self.on_sample(ctx, hdfs, read, news, job),
            Reader::Localise { job, node } => self.on_localise(ctx, hdfs, read, news, job, node),
        }
    }
    /// News of an output stream.
    pub(crate) fn on_write(
        &mut self,
        ctx: &mut Context,
        hdfs: &mut Hdfs,
        write: WriteId,
        news: WriteNews,
        writer: Writer,
    ) {
        match (writer, news) {
            (Writer::MapOutput(id), WriteNews::Room) => self.on_map(ctx, hdfs, id, MapTask::on_write_room),
            (Writer::ReduceOutput(id), WriteNews::Room) => {
                self.on_stream(ctx, hdfs, id, StreamSlot::Final, Step::Write);
            }
            (Writer::MapOutput(id) | Writer::ReduceOutput(id), WriteNews::Closed) => {
                self.on_output_closed(ctx, hdfs, id);
            }
            (Writer::MapOutput(id) | Writer::ReduceOutput(id), WriteNews::Failed) => {
                self.fail_on_node(ctx, hdfs, id, "its output could not be written");
            }
            (Writer::Upload(_) | Writer::History(_), WriteNews::Room) => hdfs.close(ctx, write),
            (Writer::Upload(job), WriteNews::Closed | WriteNews::Failed) => {
                self.uploaded(ctx, hdfs, job, news == WriteNews::Closed);
            }
            (Writer::History(job), WriteNews::Closed | WriteNews::Failed) => {
                self.history_written(ctx, hdfs, job, write);
            }
        }
    }

    /// The node of a job's AppMaster while it runs (YARN).
    pub fn master_node(&self, job: JobId) -> Option<NodeId> {
        self.apps.master_of(job)
    }
    /// Where the job's master listens to its tasks.
    fn umbilical(&self, job: JobId) -> Option<Server> {
        self.apps.master_of(job).map(|node| Server { node, port: yarn::UMBILICAL + job.0 })
    }
}
