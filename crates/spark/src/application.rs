//! The application: what happens on its cluster goes to the part that it is for.

use crate::allocation::Target;
use crate::blocks::{Held, NamedBlock, PullId, PullStep, Pulls};
use crate::broadcast::{Broadcasts, Spread};
use crate::cache::{Cache, Kept};
use crate::config::{Config, Place};
use crate::driver::{Thread, Work};
use crate::errand::Errands;
use crate::exclusion::Health;
use crate::executor::{Executor, Need};
use crate::reads::Adapted;
use crate::record::{Exchange, ExclusionRecord, ExecutorRecord, JobRecord, StageRecord, TaskRecord, WantedRecord};
use crate::registration;
use crate::serve::{FetchId, Serving, UnderWay};
use crate::shuffle;
use crate::stage::{Ancestor, Stage};
use crate::standalone::{self, Standalone};
use crate::store::KeptPartition;
use crate::task::Task;
use crate::yarn::{Step, Yarn};
use des::RandomStream;
use hadoop::{ConnId, Event, NodeId, Platform, Reader, Writer};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use units::{Bytes, Time};

/// What is under way outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Errand {
    JobDue(usize),
    StageDue(usize),
    Revive,
    /// The driver looks for slow tasks.
    Speculate,
    /// Stages that failed are submitted anew.
    Resubmit,
    /// An attempt at a stage has waited for an executor on which its tasks may run.
    Unschedulable(usize, u32),
    /// The driver looks how many executors it wants.
    Allocate,
    /// On YARN: the driver has not heard of an executor for long.
    Expired(usize),
    /// Standalone: what happens between Workers and the Master.
    Standalone(standalone::Step),
    /// An executor becomes one of the application.
    Registration(usize, registration::Step),
    DriverWorked,
    /// Messages between the driver and executors.
    Launch(usize),
    Status(usize),
    Failed(usize, Option<usize>),
    Threw(usize),
    Kill(usize),
    Killed(usize),
    /// On YARN: what leads to executors, and from them.
    Yarn(Step),
    /// An executor asks where the output is that a stage reads, and hears it.
    Ask(usize, usize),
    Answer(usize, usize),
    /// Messages between executors: of a fetch, or a block of it.
    Request(FetchId),
    Handle(FetchId),
    Chunks(FetchId),
    Block(FetchId, usize),
    /// A block is read to be sent on this connection.
    Served(ConnId, FetchId),
    /// A fetch: nothing has come for long, no connection could be made, it is tried again.
    Silent(FetchId),
    Unanswered(FetchId),
    Retry(FetchId),
    /// An executor has read the list of Spark's messages.
    KnowsMessages(usize),
    /// A step of how an executor gets a block, of this try.
    Pull(PullId, u32, PullStep),
    /// A task's executor keeps a partition, or an executor one no longer: the driver is told.
    Kept(usize, KeptPartition),
    Dropped(usize, KeptPartition),
    /// On YARN: a node copies the application's files.
    Localise(NodeId),
    /// Of a task.
    Worked(usize),
    FileRead(usize, Bytes),
    LocalRead(usize),
    KeptRead(usize),
    Written(usize),
    /// The driver knows that its executor keeps a partition.
    KeptKnown(usize),
    HdfsRead(usize),
    HdfsWrite(usize),
    /// A task will not succeed, and ends.
    Fails(usize),
}

/// An application.
#[derive(Debug)]
pub struct Spark {
    pub(crate) config: Config,
    pub(crate) jobs: Vec<JobRecord>,
    /// The job that runs, or waits for its pause.
    pub(crate) job: usize,
    pub(crate) stages: Vec<Stage>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) executors: Vec<Executor>,
    pub(crate) thread: Thread,
    pub(crate) reviving: bool,
    /// How many of SQL's stages were submitted in adaptive execution.
    pub(crate) turns: usize,
    pub(crate) fetches: UnderWay,
    pub(crate) serving: Serving,
    pub(crate) broadcasts: Broadcasts,
    pub(crate) held: Held,
    pub(crate) pulls: Pulls,
    pub(crate) cache: Cache,
    pub(crate) errands: Errands<Errand>,
    pub(crate) random: RandomStream,
    /// Stages that are submitted anew in a moment.
    pub(crate) failed: BTreeSet<usize>,
    pub(crate) standalone: Standalone,
    /// What is excluded from the application, how many nodes ever were, all exclusions so far, and attempts at stages with
    /// a task that can run nowhere, with how long they wait.
    pub(crate) health: Health,
    pub(crate) excluded_nodes: u32,
    pub(crate) exclusions: Vec<ExclusionRecord>,
    pub(crate) unschedulable: BTreeMap<(usize, u32), Time>,
    /// How many executors it wants, where these come and go, and wanted so far; and attempts at stages of which a task
    /// could run nowhere and for which more are wanted.
    pub(crate) target: Option<Target>,
    pub(crate) wanted: Vec<WantedRecord>,
    pub(crate) wanted_for: BTreeSet<(usize, u32)>,
    /// On YARN: its way there, and when executors' heartbeats come.
    pub(crate) yarn: Yarn,
    pub(crate) heartbeats: RandomStream,
    /// By node: its rack, of which Spark knows on YARN.
    pub(crate) racks: Arc<[u32]>,
    failure: Option<String>,
    finished: bool,
}

impl Spark {
    /// An application that begins with [`Self::on_start`]. Random draws depend on `seed` alone.
    pub fn new(config: Config, seed: u64) -> Self {
        let stages = Self::stages_of(&config);
        let target = Self::target_of(&config);
        Self {
            jobs: vec![JobRecord::default(); config.jobs.len()],
            job: 0,
            stages,
            tasks: Vec::new(),
            executors: Vec::new(),
            thread: Thread::default(),
            reviving: false,
            turns: 0,
            fetches: UnderWay::default(),
            serving: Serving::default(),
            broadcasts: Broadcasts::default(),
            held: Held::default(),
            pulls: Pulls::new(seed),
            cache: Cache::default(),
            errands: Errands::default(),
            random: RandomStream::new(seed, "spark", 0),
            config,
            failed: BTreeSet::new(),
            standalone: Standalone::new(seed),
            health: Health::default(),
            excluded_nodes: 0,
            exclusions: Vec::new(),
            unschedulable: BTreeMap::new(),
            target,
            wanted: Vec::new(),
            wanted_for: BTreeSet::new(),
            yarn: Yarn::default(),
            racks: Arc::default(),
            heartbeats: RandomStream::new(seed, "spark-heartbeats", 0),
            failure: None,
            finished: false,
        }
    }

    /// Its stages before they run.
    pub(crate) fn stages_of(config: &Config) -> Vec<Stage> {
        let tasks: Vec<usize> = config.stages.iter().map(|stage| stage.tasks.len()).collect();
        let stage = |(number, spec): (usize, &crate::StageSpec)| {
            let mut spec = spec.clone();
            let own = spec.parents.len();
            let (mut lineage, mut reads) = (Vec::new(), spec.reads);
            while let Some(number) = reads {
                let ancestor = &config.stages[number];
                spec.parents.extend(&ancestor.parents);
                let partition = shuffle::Partition::new(&ancestor.shares, ancestor.tasks.len());
                lineage.push(Ancestor { stage: number, parents_end: spec.parents.len(), partition });
                reads = ancestor.reads;
            }
            let parents: Vec<usize> = spec.parents.iter().map(|parent| tasks[*parent]).collect();
            Stage::new(number, spec, &parents, (own, lineage))
        };
        let mut stages: Vec<Stage> = config.stages.iter().enumerate().map(stage).collect();
        let parents: Vec<usize> = stages.iter().flat_map(|stage| stage.spec.parents.iter().copied()).collect();
        for parent in parents {
            stages[parent].has_readers = true;
        }
        stages
    }

    /// The run begins, and input is there. Standalone, executors connect to the driver, which runs on the master's
    /// node.
    pub fn on_start(&mut self, platform: &mut Platform) {
        match self.config.yarn {
            Some(on_yarn) => self.start_on_yarn(platform, &on_yarn),
            None => self.start_executors(platform),
        }
        let (block, replication) = (platform.hdfs.config().block_size, platform.hdfs.config().replication);
        for stage in self.stages.iter_mut().filter(|stage| stage.spec.input == Place::Hdfs) {
            for task in &stage.spec.tasks {
                let mut blocks = Vec::new();
                for part in equal_parts(task.input, stage.spec.files) {
                    let file = platform.hdfs.add_input(platform.ctx, part, block, replication, None);
                    blocks.extend(&platform.hdfs.namespace().file(file).blocks);
                }
                stage.blocks.push(blocks);
            }
        }
        self.speculate_later(platform);
        if self.config.yarn.is_none() {
            self.start_allocation(platform);
            self.next_job(platform);
        }
    }

    /// Something has happened that concerns the application.
    pub fn on_news(&mut self, platform: &mut Platform, event: &Event) {
        if self.finished {
            return self.on_closing(platform, event);
        }
        match *event {
            Event::Answered { request } => self.on_errand(platform, request),
            Event::Delivered { message, .. } => self.on_errand(platform, message),
            Event::Read { news, reader: Reader::Driver(number), read } => {
                if let Some(&Errand::Localise(node)) = self.errands.get(number) {
                    self.on_localise(platform, (number, read), node, news);
                } else if let Some(Errand::HdfsRead(task)) = self.errands.get(number).copied()
                    && !self.tasks[task].is_over
                {
                    self.on_hdfs_read(platform, (number, task), news);
                }
            }
            Event::Write { news, writer: Writer::Driver(number), .. } => {
                if let Some(Errand::HdfsWrite(task)) = self.errands.get(number).copied()
                    && !self.tasks[task].is_over
                {
                    self.on_hdfs_write(platform, (number, task), news);
                }
            }
            Event::DiskFailed { .. } => self.fail(platform, "a disk with shuffle files has failed".to_owned()),
            Event::Ended { conn, .. } => self.on_ended(platform, conn),
            Event::Yarn { news, .. } => self.on_yarn(platform, news),
            _ => {}
        }
    }

    /// Something happens after the last job, while containers are given back.
    fn on_closing(&mut self, platform: &mut Platform, event: &Event) {
        if self.config.yarn.is_none() || self.failure.is_some() {
            return;
        }
        match *event {
            Event::Answered { request: number } | Event::Delivered { message: number, .. } => {
                if let Some(Errand::Yarn(step)) = self.errands.answered(number) {
                    self.on_step(platform, step);
                }
            }
            Event::Ended { conn, .. } => self.on_ended_on_yarn(platform, conn),
            Event::Yarn { news, .. } => self.on_yarn(platform, news),
            _ => {}
        }
    }

    fn on_errand(&mut self, platform: &mut Platform, number: u64) {
        let Some(errand) = self.errands.answered(number) else { return };
        match errand {
            Errand::JobDue(job) => self.on_job_due(platform, job),
            Errand::StageDue(stage) => self.on_stage_due(platform, stage),
            Errand::Revive => self.on_revive(platform),
            Errand::Speculate => self.on_speculate(platform),
            Errand::Resubmit => self.on_resubmit(platform),
            Errand::Allocate => self.look_at_load(platform),
            Errand::Unschedulable(stage, attempt) => self.on_unschedulable(platform, stage, attempt),
            Errand::Expired(executor) => self.on_heartbeats_missed(platform, executor),
            Errand::Standalone(step) => self.on_standalone(platform, step),
            Errand::Registration(executor, step) => self.on_registration(platform, executor, step),
            Errand::Yarn(step) => self.on_step(platform, step),
            Errand::DriverWorked => self.on_driver_worked(platform),
            Errand::Status(task) => self.do_next(platform, Work::Status(task)),
            Errand::Failed(task, address) => self.do_next(platform, Work::Failed(task, address)),
            Errand::Fails(task) => self.on_fails(platform, task),
            Errand::Threw(task) => self.do_next(platform, Work::Threw(task)),
            Errand::Kill(task) => self.on_kill(platform, task),
            Errand::Killed(task) => self.do_next(platform, Work::Killed(task)),
            Errand::Ask(executor, stage) => self.do_next(platform, Work::Answer(executor, stage)),
            Errand::Answer(executor, stage) => self.on_got(platform, executor, Need::Statuses(stage)),
            Errand::Request(fetch) => self.on_request(platform, fetch),
            Errand::Handle(fetch) => self.on_handle(platform, fetch),
            Errand::Chunks(fetch) => self.on_chunks(platform, fetch),
            Errand::Block(fetch, block) => self.on_block(platform, fetch, block),
            Errand::Served(conn, fetch) => self.on_served(platform, conn, fetch),
            Errand::Silent(fetch) => self.on_silent(platform, fetch),
            Errand::Unanswered(fetch) => self.on_unanswered(platform, fetch),
            Errand::Retry(fetch) => self.ask(platform, fetch),
            Errand::KnowsMessages(executor) => self.on_knows_messages(platform, executor),
            Errand::Pull(pull, attempt, step) => self.on_pull(platform, (pull, attempt), step),
            Errand::Kept(task, partition) => self.on_kept(platform, task, partition),
            Errand::Dropped(executor, partition) => self.held.drop(NamedBlock::Kept(partition), executor),
            Errand::Worked(task)
            | Errand::FileRead(task, _)
            | Errand::LocalRead(task)
            | Errand::KeptRead(task)
            | Errand::Written(task)
            | Errand::KeptKnown(task)
                if self.tasks[task].is_over => {}
            Errand::Launch(task) => self.on_launched(platform, task),
            Errand::Worked(task) => {
                let of = &mut self.tasks[task];
                let worked = platform.ctx.now.saturating_sub(of.since);
                *(if of.warming { &mut of.record.warm_time } else { &mut of.record.cpu_time }) += worked;
                (of.busy, of.warming, of.working) = (false, false, None);
                self.advance(platform, task);
            }
            Errand::KeptKnown(task) => {
                self.tasks[task].busy = false;
                self.advance(platform, task);
            }
            Errand::FileRead(task, bytes) => self.on_file_read(platform, task, bytes),
            Errand::LocalRead(task) => self.on_local_read(platform, task),
            Errand::KeptRead(task) => self.on_kept_read(platform, task, true),
            Errand::Written(task) => self.on_written(platform, task),
            Errand::HdfsRead(_) | Errand::HdfsWrite(_) | Errand::Localise(_) => {}
        }
    }

    /// The application cannot go on.
    pub(crate) fn fail(&mut self, platform: &mut Platform, reason: String) {
        self.failure.get_or_insert(reason);
        self.finish(platform);
    }

    pub(crate) fn finish(&mut self, platform: &mut Platform) {
        if !self.finished {
            self.finished = true;
            if self.config.yarn.is_some() && self.failure.is_none() {
                return self.stop(platform);
            }
            platform.ctx.finish();
        }
    }

    /// Whether all jobs are over, or it has failed.
    pub const fn is_finished(&self) -> bool {
        self.finished
    }
    /// Why it has failed, if it has.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
    /// Its settings and stages.
    pub const fn config(&self) -> &Config {
        &self.config
    }
    /// How many executors it has lost without having asked for it.
    pub fn lost(&self) -> usize {
        self.executors.iter().filter(|executor| executor.is_lost && !executor.is_killed).count()
    }
    /// How often a node was excluded from it, as tasks failed there.
    pub const fn excluded_nodes(&self) -> u32 {
        self.excluded_nodes
    }
    /// Executors and nodes that got no more tasks, in the order in which that began.
    pub fn exclusions(&self) -> &[ExclusionRecord] {
        &self.exclusions
    }
    /// How many executors it wanted, where they come and go as tasks need them.
    pub fn wanted(&self) -> &[WantedRecord] {
        &self.wanted
    }
    /// Its executors in the order in which they came.
    pub fn executors(&self) -> impl Iterator<Item = ExecutorRecord> {
        self.executors.iter().map(|executor| ExecutorRecord {
            node: executor.node,
            granted: executor.granted,
            registered: executor.registered,
            lost: executor.lost,
            killed: executor.is_killed,
            excluded: executor.excluded,
        })
    }
    /// Its jobs.
    pub fn jobs(&self) -> &[JobRecord] {
        &self.jobs
    }
    /// Its stages, as its settings list them.
    pub fn stages(&self) -> impl Iterator<Item = StageRecord> {
        self.stages.iter().map(|stage| stage.record)
    }
    /// Its tasks in the order of their launch.
    pub fn tasks(&self) -> impl Iterator<Item = TaskRecord> {
        self.tasks.iter().map(|task| task.record)
    }
    /// The part of its tasks that is done.
    pub fn progress(&self) -> f64 {
        let done: u64 = self.stages.iter().map(|stage| u64::from(stage.record.done)).sum();
        let all: usize = self.stages.iter().map(|stage| stage.spec.tasks.len()).sum();
        if all == 0 { 1.0 } else { done as f64 / all as f64 }
    }

    /// What executors have got of what stages broadcast.
    pub fn broadcasts(&self) -> Vec<Spread> {
        self.broadcasts.spread(self)
    }

    /// What became of data sets that are kept.
    pub fn kept(&self) -> Vec<Kept> {
        self.cache.kept()
    }

    /// What stages have read of their parents' shuffles.
    pub fn exchanges(&self) -> Vec<Exchange> {
        let of = |(stage, place): (&Stage, usize)| {
            let books = stage.books[place];
            let parent = &self.stages[books.parent];
            let blocks = |holds: &dyn Fn(usize, usize) -> bool| {
                let mut bytes = Bytes::ZERO;
                for (map, output) in parent.outputs.0.iter().enumerate() {
                    let Some(output) = output else { continue };
                    for reduce in (0..stage.spec.tasks.len()).filter(|reduce| holds(map, *reduce)) {
                        bytes += stage.block(place, output.length, reduce).1;
                    }
                }
                bytes
            };
            let reads = |map: usize, reduce: usize| stage.reads(reduce, place, map);
            // Beside parts of a skewed partition several tasks read all of the other side's.
            let splits = stage.adapted.as_ref().is_some_and(Adapted::splits);
            let offered = if splits { blocks(&reads) } else { parent.outputs.bytes() };
            let never = blocks(&|map, reduce| !stage.got[place].has(map, reduce) && reads(map, reduce));
            Exchange { offered, never_fetched: never, ..books }
        };
        self.stages.iter().flat_map(|stage| (0..stage.books.len()).map(move |place| (stage, place))).map(of).collect()
    }
}

/// Bytes in so many parts that differ by one byte at most, those without any left out.
fn equal_parts(bytes: Bytes, count: u32) -> impl Iterator<Item = Bytes> {
    let (bytes, count) = (bytes.get(), u64::from(count));
    (0..count)
        .map(move |part| Bytes::new(bytes / count + u64::from(part < bytes % count)))
        .filter(|part| *part > Bytes::ZERO)
}
