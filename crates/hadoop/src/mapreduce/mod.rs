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
mod scheduler;
mod shuffle;
mod spare;
mod speculate;
mod stall;
mod stream;
mod task;
mod yarn;

pub use config::{Generation, Hadoop1Config, MapReduceConfig, Policy, Replay, ReplayAttempt, YarnConfig};
pub use job::{JobInput, JobSpec, NamedFile};
pub use spare::SpareConfig;
pub use stall::Wait;
pub(crate) use stall::silent;

use crate::context::{Context, Part};
use crate::effect::{Input, NodeId, Service, Tag};
use crate::event::Event;
use crate::hdfs::Hdfs;
use crate::record::{AttemptId, AttemptRecord, AttemptState, JobId, Records};
use crate::rpc::{Server, ServerConfig};
use attempt::Body;
use files::JobFiles;
use hadoop1::JobTracker;
use job::Job;
use shuffle::Shuffle;
use spare::Charges;
use task::{MapOutput, TASK, op, read_task_tag};
use units::{Bytes, Time};
use yarn::Yarn;

/// Kinds of the control plane's tags.
mod kind {
    /// The client's call to submit a job; value: job.
    pub const SUBMIT: u8 = 16;
    /// Time to submit a job; value: job.
    pub const SUBMIT_DUE: u8 = 17;
    /// Time to look for attempts without progress; value: job.
    pub const TIMEOUT_DUE: u8 = 18;
    /// Time to look for slow attempts; value: job.
    pub const SPECULATE_DUE: u8 = 19;
    /// Time to start a recorded attempt; value: its number.
    pub const REPLAY_DUE: u8 = 20;
    /// A worker's heartbeat is due, or its call; value: node (and the number of its life).
    pub const WORKER_DUE: u8 = 21;
    pub const WORKER_BEAT: u8 = 22;
    /// Time to look for silent workers.
    pub const EXPIRY_DUE: u8 = 23;
    /// The ResourceManager starts an AppMaster's container: the call to the NodeManager; value: container.
    pub const START_MASTER: u8 = 24;
    /// Stages of the AppMaster's start; value: container.
    pub const MASTER_LAUNCHED: u8 = 25;
    pub const MASTER_READY: u8 = 26;
    pub const REGISTER: u8 = 27;
    /// The AppMaster's heartbeat is due, or its call; value: container.
    pub const MASTER_DUE: u8 = 28;
    pub const MASTER_BEAT: u8 = 29;
    /// The AppMaster starts or stops a task's container; value: attempt.
    pub const START_TASK: u8 = 30;
    pub const STOP_TASK: u8 = 31;
    /// The AppMaster leaves; value: container.
    pub const UNREGISTER: u8 = 32;
    /// A TaskTracker asks for map completion events on behalf of its reducers; value: job (24 bits), node (24 bits).
    pub const EVENTS: u8 = 33;
    /// The client reads a sample of a job's input; value: job.
    pub const SAMPLE: u8 = 39;
    /// The client writes a file of a job; value: job.
    pub const STAGE: u8 = 34;
    /// A node fetches the files of a job; value: job (24 bits), node (24 bits).
    pub const LOCALISE: u8 = 35;
    /// Time to try that again for an AppMaster; value: container.
    pub const LOCALISE_DUE: u8 = 36;
    /// The AppMaster writes a file of the job's history; value: job.
    pub const HISTORY: u8 = 37;
    /// The AppMaster has a container's launch ready; value: attempt.
    pub const START_DUE: u8 = 38;
}

/// Masters, workers and tasks.
#[derive(Debug)]
pub struct MapReduce {
    config: MapReduceConfig,
    seed: u64,
    jobs: Vec<Job>,
    /// By job.
    files: Vec<JobFiles>,
    attempts: Vec<Attempt>,
    /// By attempt: the output of a map that is done.
    outputs: Vec<MapOutput>,
    shuffle: Shuffle,
    next_disk: Vec<u32>,
    yarn: Yarn,
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
    container: Option<u32>,
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

fn control(kind: u8, value: u64) -> Tag {
    Tag::new(Part::MapReduce, kind, value)
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
                Job::new(JobId(number as u32), spec.clone(), ctx, hdfs, seed.wrapping_add(number as u64))
            })
            .collect();
        let nodes = ctx.nodes.len();
        Self {
            shuffle: Shuffle::new(&config, nodes, jobs.len()),
            yarn: Yarn::new(&config, nodes, jobs.len(), seed),
            tracker: JobTracker::new(nodes, jobs.len(), seed),
            charges: Charges::new(nodes, jobs.len()),
            files: jobs.iter().map(|_| JobFiles::new(nodes)).collect(),
            config,
            seed,
            jobs,
            attempts: Vec::new(),
            outputs: Vec::new(),
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
            let part = |map: AttemptId| job.partitions.part(self.outputs[map.0 as usize].bytes, reduce);
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

    pub(crate) fn on_input(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, input: Input) {
        match input {
            Input::Start => self.on_start(ctx),
            Input::DiskDone { tag, .. } | Input::ComputeDone { tag, .. } | Input::Timer { tag }
                if tag.kind() == TASK =>
            {
                self.on_task_tag(ctx, hdfs, tag);
            }
            Input::DiskDone { tag, .. } | Input::ComputeDone { tag, .. } | Input::Timer { tag }
                if tag.kind() < shuffle::REQUEST =>
            {
                self.on_control(ctx, hdfs, tag);
            }
            Input::NodeDown { node } => {
                self.shuffle.on_node_down(node);
                self.node_down(ctx, node);
            }
            Input::NodeUp { node } => self.node_up(ctx, node),
            Input::Charge { node, level } => self.charges.set(node, level),
            _ => {
                let mut news = Vec::new();
                self.shuffle.on_input(ctx, input, &self.outputs, &mut news);
                self.tell_reducers(ctx, hdfs, news);
            }
        }
    }

    pub(crate) fn on_event(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, event: Event) {
        let tag = event.tag();
        if tag.kind() != TASK {
            return match event {
                Event::Served { call, to, .. } => self.on_served(ctx, hdfs, call, to, tag),
                Event::Replied { .. } => self.on_replied(ctx, hdfs, tag),
                Event::CallFailed { .. } => self.on_call_failed(ctx, hdfs, tag),
                _ => self.on_files(ctx, hdfs, event),
            };
        }
        let (id, op, argument) = read_task_tag(tag);
        match event {
            Event::Served { call, to, .. } => self.on_umbilical(ctx, hdfs, call, to, id, op),
            Event::Replied { .. } => self.on_umbilical_reply(ctx, hdfs, id, op),
            Event::CallFailed { .. } => self.master_is_gone(ctx, hdfs, id),
            Event::ReadProgress { source, bytes, .. } => {
                self.on_map(ctx, hdfs, id, |map, env| map.on_read_progress(env, source, bytes));
            }
            Event::ReadDone { .. } => self.on_map(ctx, hdfs, id, map::MapTask::on_read_done),
            Event::ReadFailed { .. } => self.fail_on_node(ctx, hdfs, id, "its input could not be read"),
            Event::WriteRoom { .. } if op == op::OUTPUT => self.on_map(ctx, hdfs, id, map::MapTask::on_write_room),
            Event::WriteRoom { .. } => self.on_stream(ctx, hdfs, id, argument, stream::Step::Write),
            Event::WriteClosed { .. } => self.on_output_closed(ctx, hdfs, id),
            Event::WriteFailed { .. } => self.fail_on_node(ctx, hdfs, id, "its output could not be written"),
        }
    }

    /// The node of a job's AppMaster while it runs (YARN).
    pub fn master_node(&self, job: JobId) -> Option<NodeId> {
        self.yarn.master_of(job)
    }
    /// Where the job's master listens to its tasks.
    fn umbilical(&self, job: JobId) -> Option<Server> {
        self.yarn.master_of(job).map(|node| Server { node, port: yarn::UMBILICAL + job.0 })
    }
}
