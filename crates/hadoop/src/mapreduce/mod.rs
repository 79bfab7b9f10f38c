//! MapReduce: jobs, their masters in Hadoop's two generations, and the tasks on the workers.

mod allocate;
mod app_master;
mod attempt;
mod buffer;
mod client;
mod cohorts;
mod combine;
mod compression;
mod config;
pub mod critical;
mod file_system;
mod files;
mod hadoop1;
mod job;
mod jvm;
mod localise;
mod map;
mod master;
pub mod merge;
mod packing;
mod primaries;
mod progress;
mod reduce;
mod replay;
pub(crate) mod request;
mod speculate;
mod split;
mod stall;
mod stream;
mod task;
mod uber;

pub use buffer::records_at_once;
pub use compression::{Codec, Compression, JobCompression};
pub use config::{AppMasterConfig, FetchLimit, Generation, Hadoop1Config, MapReduceConfig, SET_UP_SHARE};
pub use file_system::FileSystem;
pub use job::JobSpec;
pub use packing::{Archive, Packing};
pub use primaries::Primaries;
pub use replay::{Recorded, Replay, ReplayAttempt, ReplayEnd};
pub use split::{JobInput, KeyFile, KeyHome, KeyLayout, Keyed, NamedFile, joined_splits};
pub use stall::Wait;
pub(crate) use stall::silent;
pub use uber::UberConfig;

pub use request::{
    Call, MasterRequest, Reader, Request, Step, StreamSlot, TaskRequest, TrackerCall, TrackerRequest, Umbilical, Writer,
};

use crate::batteries::Charges;
use crate::context::Context;
use crate::disks::Turns;
use crate::event::{ReadNews, WriteNews};
use crate::ids::{ApplicationId, AttemptId, CallId, ContainerId, JobId, NodeId, Process, ReadId, Server, WriteId};
use crate::platform::Platform;
use crate::record::{AttemptRecord, AttemptState, JobRecord, Records, reason};
use crate::request::Framework;
use crate::rpc;
use crate::shuffle::Shuffle;
use crate::workload::Source;
use crate::yarn::{ApplicationSpec, SchedulerConfig};
use app_master::AppMaster;
use attempt::Body;
use des::{Index, RandomStream};
use files::JobFiles;
use hadoop1::JobTracker;
use job::Job;
use localise::NodeS3a;
use map::MapTask;
use task::AttemptOutput;
use units::{Bytes, Time};

/// Masters, workers and tasks.
#[derive(Debug)]
pub struct MapReduce {
    config: MapReduceConfig,
    /// How the JobTracker schedules (Hadoop 1).
    scheduler: SchedulerConfig,
    seed: u64,
    jobs: Vec<Job>,
    /// By job.
    files: Vec<JobFiles>,
    /// By node: S3A in its NodeManager.
    s3a: Vec<NodeS3a>,
    attempts: Vec<Attempt>,
    /// By attempt.
    outputs: Vec<AttemptOutput>,
    /// By node: which disk takes the next local file.
    turns: Vec<Turns>,
    /// By job (YARN).
    masters: Vec<AppMaster>,
    /// The attempts in YARN's containers.
    in_container: Vec<Option<AttemptId>>,
    /// How long each container takes to be launched (YARN).
    start_delays: RandomStream,
    /// Where recorded plans stand.
    plans: replay::Plans,
    tracker: JobTracker,
    /// What the JobTracker knows of batteries (Hadoop 1).
    charges: Charges,
    finished: bool,
}

/// An attempt: its record, what its node does for it, and what its master knows of it.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub record: AttemptRecord,
    body: Body,
    /// Master: the progress by the last report.
    pub known_progress: f64,
    /// Master: how long it would run by its last report (YARN).
    pub estimate: Option<Time>,
    /// Whoever watches over its timeout (AppMaster or TaskTracker): the progress seen last, and when it last grew; zero
    /// before the start is known.
    watched_progress: f64,
    last_progress: Time,
    /// Its container (YARN).
    container: Option<ContainerId>,
    /// The slot or container is still held.
    holds_slot: bool,
    /// Why it failed on its node, until its master knows.
    failure: Option<&'static str>,
    /// Recorded, not scheduled.
    replayed: bool,
    /// It runs in its AppMaster's JVM (an uber job).
    in_master: bool,
    /// What is recorded of it.
    recorded: Recorded,
    /// The processor time that its work takes, by what it takes on average.
    pace: f64,
    /// The length of the object that it has written, once its stream is closed.
    object: Option<Bytes>,
}

impl Attempt {
    /// Whether its master has had its start confirmed.
    pub fn is_started(&self) -> bool {
        self.record.state == AttemptState::Running && self.record.start > Time::ZERO && self.last_progress > Time::ZERO
    }
}

/// Makes a call with a request and a reply of these lengths.
fn call(ctx: &mut Context, from: Process, to: Server, (request, reply): (Bytes, Bytes), what: Call) {
    rpc::call(ctx, rpc::Call { from, to, request, reply, caller: what.into() });
}

impl MapReduce {
    pub(crate) fn new(config: MapReduceConfig, scheduler: SchedulerConfig, platform: &mut Platform, seed: u64) -> Self {
        let mut jobs = Vec::new();
        for (number, spec) in config.jobs.iter().enumerate() {
            let id = JobId::from_usize(number);
            let application = platform.yarn.add_application(ApplicationSpec {
                framework: Framework::MapReduce(id),
                submit: spec.submit,
                weight: spec.weight,
                master: config.app_master.own(),
                max_attempts: config.app_master.max_attempts,
            });
            jobs.push(Job::new(
                id,
                application,
                spec.clone(),
                platform,
                (seed.wrapping_add(number as u64), config.fetches),
            ));
        }
        let nodes = platform.ctx.nodes.len();
        let mut charges = Charges::new(scheduler.spare, nodes);
        for _ in &jobs {
            charges.add_user();
        }
        Self {
            masters: jobs.iter().map(|_| AppMaster::default()).collect(),
            in_container: Vec::new(),
            start_delays: RandomStream::new(seed, "yarn/start-delay", 0),
            plans: replay::Plans::default(),
            tracker: JobTracker::new(nodes, jobs.len(), seed),
            charges,
            files: jobs.iter().map(|_| JobFiles::new(nodes)).collect(),
            s3a: vec![NodeS3a::No; nodes],
            config,
            scheduler,
            seed,
            jobs,
            attempts: Vec::new(),
            outputs: Vec::new(),
            turns: vec![Turns::default(); nodes],
            finished: false,
        }
    }

    /// What the jobs leave behind so far.
    pub(crate) fn records(&self, shuffle: &Shuffle) -> Records {
        Records {
            jobs: self.jobs.iter().map(|job| self.job_record(job, shuffle)).collect(),
            attempts: self.attempts.iter().map(|attempt| attempt.record.clone()).collect(),
        }
    }
    /// The settings.
    pub fn config(&self) -> &MapReduceConfig {
        &self.config
    }
    /// What a job is to YARN.
    pub(crate) fn application(&self, job: JobId) -> ApplicationId {
        self.jobs[job.0 as usize].application
    }
    /// Whether a job runs that puts data into the file system and reads none.
    pub fn imports(&self) -> bool {
        let makes = |job: &&Job| matches!(job.spec.workload.source, Source::Generated { .. });
        self.jobs.iter().filter(makes).any(Job::is_launched)
    }
    /// Whether a job runs.
    pub fn runs(&self) -> bool {
        self.jobs.iter().any(Job::is_launched)
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

    fn job_record(&self, job: &Job, shuffle: &Shuffle) -> JobRecord {
        let mut record = job.record.clone();
        let ledger = &mut record.ledger;
        let totals = shuffle.totals(job.application);
        ledger.served = totals.served;
        ledger.aborted = totals.aborted;
        ledger.in_flight = shuffle.in_flight(job.application);
        let mine = || self.attempts.iter().filter(|attempt| attempt.record.job == job.id);
        for attempt in mine() {
            let bytes = attempt.record.bytes.fetched_node + attempt.record.bytes.fetched_network;
            let won = attempt.record.state == AttemptState::Succeeded;
            *(if won { &mut ledger.fetched } else { &mut ledger.discarded }) += bytes;
        }
        ledger.slots_held = mine().filter(|attempt| attempt.holds_slot).count() as u64;
        // What the maps offered: to each reduce that succeeded, the outputs that it took; to the others, those that
        // stand.
        for (reduce, task) in job.reduces.iter().enumerate() {
            let part = |map: AttemptId| {
                let output = &self.outputs[map.0 as usize];
                job.partitions_of(output.task).part(shuffle.output(output.output).bytes, reduce)
            };
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

    /// A node's battery has come to a level.
    pub(crate) fn on_charge(&mut self, node: NodeId, level: u16) {
        self.charges.set(node, level);
    }

    /// Work or a disk request is done, or a timer fires.
    pub(crate) fn on_answer(&mut self, platform: &mut Platform, request: Request) {
        match request {
            Request::SubmitDue(job) => self.bring(platform, job),
            Request::NodeStartedS3a(node) => self.node_started_s3a(platform, node),
            Request::TimeoutDue(job) => self.check_timeouts(platform, job),
            Request::SpeculateDue(job) => self.speculate(platform, job),
            Request::ReplayDue(job, number) => self.replay(platform, job, number),
            Request::EndDue(id) => self.end_as_recorded(platform, id),
            Request::PlanOver(job) => self.plan_over(platform, job),
            Request::LaunchDue(job) => self.launch_job(platform, job),
            Request::Tracker(request) => self.on_tracker_answer(platform, request),
            Request::Master(job, container, request) => self.on_master_answer(platform, job, container, request),
            Request::StartDue(container) => self.on_start_due(platform, container),
            Request::Task(id, request) => self.on_task_answer(platform, id, request),
        }
    }
    /// A disk request of a task has failed: so does the attempt.
    pub(crate) fn on_disk_failed(&mut self, platform: &mut Platform, request: Request) {
        if let Request::Task(id, _) = request {
            self.fail_on_node(platform, id, reason::DISK_LOST);
        }
    }
    /// A call has been processed at its server.
    pub(crate) fn on_served(&mut self, platform: &mut Platform, id: CallId, to: Server, call: Call) {
        match call {
            Call::Tracker(call) => self.on_tracker_served(platform, id, call),
            Call::Umbilical(attempt, call) => self.on_umbilical(platform, (id, to), attempt, call),
        }
    }
    /// The reply to a call is there.
    pub(crate) fn on_replied(&mut self, platform: &mut Platform, call: Call) {
        match call {
            Call::Tracker(call) => self.on_tracker_replied(platform, call),
            Call::Umbilical(attempt, call) => self.on_umbilical_reply(platform, attempt, call),
        }
    }
    /// No reply to a call will come.
    pub(crate) fn on_call_failed(&mut self, platform: &mut Platform, call: Call) {
        match call {
            Call::Tracker(call) => self.on_tracker_call_failed(platform.ctx, call),
            Call::Umbilical(attempt, _) => self.master_is_gone(platform, attempt),
        }
    }
    /// News of a read.
    pub(crate) fn on_read(&mut self, platform: &mut Platform, read: ReadId, news: ReadNews, reader: Reader) {
        match reader {
            Reader::Split(id) => match news {
                ReadNews::Progress { source, bytes } => {
                    self.on_map(platform, id, |map, env| map.on_read_progress(env, source, bytes));
                }
                ReadNews::Done => self.on_map(platform, id, MapTask::on_read_done),
                ReadNews::Failed => self.fail_on_node(platform, id, reason::INPUT_UNREADABLE),
            },
            Reader::Sample(job) => self.on_sample(platform, read, news, job),
            Reader::Localise { job, node } => self.on_localise(platform, read, news, job, node),
        }
    }
    /// News of an output stream.
    pub(crate) fn on_write(&mut self, platform: &mut Platform, write: WriteId, news: WriteNews, writer: Writer) {
        match (writer, news) {
            (Writer::MapOutput(id), WriteNews::Room) => self.on_map(platform, id, MapTask::on_write_room),
            (Writer::ReduceOutput(id), WriteNews::Room) => {
                self.on_stream(platform, id, StreamSlot::Final, Step::Write);
            }
            (Writer::MapOutput(id) | Writer::ReduceOutput(id), WriteNews::Closed) => {
                self.note_object(platform, id, write);
                self.on_output_closed(platform, id);
            }
            (Writer::MapOutput(id) | Writer::ReduceOutput(id), WriteNews::Failed) => {
                self.fail_on_node(platform, id, reason::OUTPUT_UNWRITABLE);
            }
            (Writer::Upload(_) | Writer::History(_), WriteNews::Room) => platform.hdfs.close(platform.ctx, write),
            (Writer::Upload(job), WriteNews::Closed | WriteNews::Failed) => {
                self.uploaded(platform, job, news == WriteNews::Closed);
            }
            (Writer::History(job), WriteNews::Closed | WriteNews::Failed) => {
                self.history_written(platform, job, write);
            }
            (Writer::SetUp(_), WriteNews::Room) => {}
            (Writer::SetUp(job), WriteNews::Closed | WriteNews::Failed) => {
                self.on_set_up(platform, job, news == WriteNews::Closed);
            }
        }
    }
}
