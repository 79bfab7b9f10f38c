//! Event logs of Spark: what an application's driver wrote down of its executors, jobs, stages and tasks.
//!
//! A log has a JSON object a line (`JsonProtocol` and `EventLoggingListener` of Spark 1.3 to 4.1). It may be one file
//! or a folder of files that follow one another (`spark.eventLog.rolling.enabled`), plain or compressed
//! (`spark.eventLog.compression.codec`). [`LogReader`] takes it line by line, so that memory follows the number of
//! tasks and not the log's length: a task takes some 6 KB of a log and less than 400 bytes here.

mod allocated;
mod broadcasts;
mod codec;
mod event;
mod excluded;
mod executors;
mod failed;
mod import;
mod kept;
mod log;
mod network;
mod plan;
mod read;
mod scans;
mod settings;
mod speculative;
mod stages;
mod started;
mod work;
mod yarn;

pub use codec::{Codec, open};
pub use excluded::Exclusions;
pub use import::{SparkImportError, SparkImported, SparkRecorded, import};
pub use log::{LogPart, looks_like_log};
pub use read::LogReader;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One application, as its event log describes it. Times are milliseconds since 1970 by the driver's clock, unless said
/// otherwise.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Application {
    /// Identifier, such as `app-20261126165157-0000` or `application_1536831636016_59384`.
    pub id: String,
    /// The name that the user gave it.
    pub name: String,
    /// Version of Spark; empty if not recorded.
    pub version: String,
    /// When its driver started.
    pub start_ms: i64,
    /// When it ended; none where the log breaks off before.
    pub finish_ms: Option<i64>,
    /// Spark's properties (`spark.*`), as set.
    pub properties: BTreeMap<String, String>,
    /// The file system of paths that name none (`fs.defaultFS`), if recorded.
    pub default_fs: Option<String>,
    /// Whether a query was planned anew as it ran, by adaptive execution.
    pub adaptive: bool,
    /// Host of the driver; empty if not recorded.
    pub driver: String,
    /// When its first `ApplicationMaster` was there, on YARN; none where that is not recorded.
    pub master_ms: Option<i64>,
    /// Executors in the order in which they came.
    pub executors: Vec<Executor>,
    /// Executors that got no tasks as some failed there.
    pub excluded: BTreeSet<Excluded>,
    /// Jobs (actions) by number.
    pub jobs: Vec<Job>,
    /// Attempts at stages by number and attempt. Stages that were skipped have no submission.
    pub stages: Vec<Stage>,
    /// Scans of files in the plans of its queries of SQL.
    pub scans: Vec<Scan>,
    /// Broadcasts in them.
    pub broadcasts: Vec<Broadcast>,
    /// Attempts at tasks in the order of their end; those without an end last.
    pub tasks: Vec<Task>,
    /// The last line is cut off: the application was running when the log was copied, or the copy is cut.
    pub cut_off: bool,
}

/// An executor that got no tasks as some failed there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Excluded {
    /// Its identifier.
    pub executor: Arc<str>,
    /// The attempt at a stage of which it got none; none where it got none of the application.
    pub stage: Option<(u32, u32)>,
}

/// A process that ran tasks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Executor {
    /// Its identifier: a number, or `driver` in local mode.
    pub id: Arc<str>,
    /// Where it ran.
    pub host: String,
    /// Cores, which are tasks at once where `spark.task.cpus` is 1.
    pub cores: u32,
    /// Memory for execution and storage, in bytes; none where that is not recorded.
    pub memory: Option<u64>,
    /// When it was known to the driver.
    pub added_ms: i64,
    /// When it was lost or given back; none if it lived as long as the application.
    pub removed_ms: Option<i64>,
    /// Why it went, in Spark's words; empty if it did not.
    pub reason: String,
}

/// Files that a query of SQL reads, at one place of its plan.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scan {
    /// The query: its number among executions of SQL.
    pub query: u64,
    /// Its name, such as `Scan parquet spark_catalog.default.visits`.
    pub name: String,
    /// The format of its files, in Spark's word: `Parquet`, `CSV`.
    pub format: String,
    /// Where they are: the kind of their list, and paths, the last of which may be left out:
    /// `InMemoryFileIndex(3 paths)[hdfs://m/a, ...]`.
    pub location: String,
    /// How many files they are, as far as the query's filters leave them; 0 where that is not recorded.
    pub files: u64,
}

/// Rows of a query of SQL that the driver collects and broadcasts, at one place of its plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Broadcast {
    /// How many rows they are; 0 where that is not recorded.
    pub rows: u64,
    /// Whether they are broadcast by their keys, for a join by equal ones.
    pub keyed: bool,
}

/// A job: what one action of the program ran.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Job {
    /// Its number.
    pub id: u32,
    /// When the action submitted it.
    pub submit_ms: i64,
    /// When it ended.
    pub finish_ms: Option<i64>,
    /// Whether it succeeded; none while it has no end.
    pub succeeded: Option<bool>,
    /// Why it failed, in Spark's words; empty if it did not.
    pub failure: String,
    /// The stages that it needs, those among them that an earlier job has computed.
    pub stages: Vec<u32>,
    /// The query of SQL that it is of, by its number.
    pub query: Option<u64>,
}

/// An attempt at a stage: tasks without a shuffle between them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stage {
    /// The stage's number.
    pub id: u32,
    /// The attempt's number, from 0.
    pub attempt: u32,
    /// What the program calls it: `reduceByKey at jobs.py:13`.
    pub name: String,
    /// Tasks of the stage, one a partition.
    pub tasks: u32,
    /// The stages whose shuffle output it reads.
    pub parents: Vec<u32>,
    /// When its tasks were handed to the scheduler; none if it was skipped.
    pub submit_ms: Option<i64>,
    /// When it ended.
    pub finish_ms: Option<i64>,
    /// Why it failed, in Spark's words; empty if it did not.
    pub failure: String,
    /// The data sets that its tasks compute one from the other.
    pub rdds: Vec<Rdd>,
    /// The scans of files whose rows its tasks counted, by their places in the application's list.
    pub scans: Vec<usize>,
    /// The broadcasts whose rows the driver collects of its tasks, by their places in the application's list.
    pub collected: Vec<usize>,
    /// The broadcasts that its tasks read.
    pub read: Vec<usize>,
}

/// A resilient distributed dataset of a stage.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rdd {
    /// Its number.
    pub id: u32,
    /// Its class or file.
    pub name: String,
    /// Numbers of those that it is computed from, in this stage or another.
    pub parents: Vec<u32>,
    /// Whether the program asked to keep it in memory (`persist`).
    pub memory: bool,
    /// Whether it asked to keep it on disk: beside memory, what has no room there.
    pub disk: bool,
}

/// How far a task was from what it read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Locality {
    /// The data were in the executor's memory.
    ProcessLocal,
    /// On its node.
    NodeLocal,
    /// The task prefers no place.
    NoPreference,
    /// In its rack.
    RackLocal,
    /// Elsewhere, or not recorded.
    #[default]
    Any,
}

impl Locality {
    /// By Spark's name.
    fn named(name: &str) -> Self {
        match name {
            "PROCESS_LOCAL" => Self::ProcessLocal,
            "NODE_LOCAL" => Self::NodeLocal,
            "NO_PREF" => Self::NoPreference,
            "RACK_LOCAL" => Self::RackLocal,
            _ => Self::Any,
        }
    }

    /// Spark's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProcessLocal => "PROCESS_LOCAL",
            Self::NodeLocal => "NODE_LOCAL",
            Self::NoPreference => "NO_PREF",
            Self::RackLocal => "RACK_LOCAL",
            Self::Any => "ANY",
        }
    }
}

/// Whether a task's input stood on another node.
const fn is_far(task: &Task) -> bool {
    matches!(task.locality, Locality::Any | Locality::RackLocal)
}

/// How an attempt at a task ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TaskEnd {
    /// Not recorded: it was running when the log ended.
    #[default]
    Unfinished,
    /// It completed its partition.
    Succeeded,
    /// It threw an exception, or its result was too large or lost.
    Failed,
    /// A shuffle block that it needed could not be fetched: its parents' stage is run again.
    FetchFailed,
    /// Another attempt was faster, or its stage was cancelled.
    Killed,
    /// Its executor was lost.
    ExecutorLost,
}

/// An attempt at a task.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Task {
    /// Its number in the application.
    pub id: u64,
    /// The stage that it is of, and the stage's attempt.
    pub stage: (u32, u32),
    /// Its place among the tasks of that attempt.
    pub index: u32,
    /// Its number among the attempts at that place, from 0.
    pub attempt: u32,
    /// Its partition: an attempt at a stage after the first has tasks for those that were lost. None before Spark 3.3.
    pub partition: Option<u32>,
    /// The executor that ran it.
    pub executor: Arc<str>,
    /// Where that ran.
    pub host: Arc<str>,
    /// How far it was from what it read.
    pub locality: Locality,
    /// Whether it was started beside another attempt that was slow.
    pub speculative: bool,
    /// When the driver launched it.
    pub launch_ms: i64,
    /// When the driver began to fetch its result; none where that came with its status.
    pub result_ms: Option<i64>,
    /// When the driver knew of its end.
    pub finish_ms: Option<i64>,
    /// How it ended.
    pub end: TaskEnd,
    /// The executor from which it could not fetch; none where that is not recorded.
    pub keeper: Option<Arc<str>>,
    /// Why, in Spark's words, shortened; empty if it succeeded.
    pub error: String,
    /// What it used; zero where that is not recorded, as for attempts that were lost.
    pub metrics: Metrics,
}

/// What an attempt at a task used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Metrics {
    /// Unpacking the task on its executor, in milliseconds.
    pub deserialize_ms: u64,
    /// Processor time of that, in nanoseconds; zero before Spark 2.1.
    pub deserialize_cpu_ns: u64,
    /// From then until it had its result, in milliseconds: waiting for blocks included.
    pub run_ms: u64,
    /// Processor time of the executor's thread, in nanoseconds; zero before Spark 2.1. A Python worker's is not in it.
    pub cpu_ns: u64,
    /// Garbage collection of its JVM meanwhile, in milliseconds.
    pub gc_ms: u64,
    /// Packing its result, in milliseconds.
    pub serialize_ms: u64,
    /// Its result, in bytes.
    pub result_bytes: u64,
    /// What was spilled, as it was in memory, in bytes.
    pub memory_spilled: u64,
    /// What was spilled, as it was on disk, in bytes.
    pub disk_spilled: u64,
    /// Read from files or stored partitions, in bytes.
    pub input_bytes: u64,
    /// Records of these.
    pub input_records: u64,
    /// Written to files, in bytes.
    pub output_bytes: u64,
    /// Records of these.
    pub output_records: u64,
    /// What it read of its parents' shuffles.
    pub read: ShuffleRead,
    /// What it wrote of its own.
    pub write: ShuffleWrite,
}

/// What a task read of shuffles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ShuffleRead {
    /// Blocks from other executors.
    pub remote_blocks: u64,
    /// Blocks of its own executor's, or of its host's.
    pub local_blocks: u64,
    /// Bytes from other executors.
    pub remote_bytes: u64,
    /// Of these, the bytes that went through a file as they were large.
    pub remote_bytes_to_disk: u64,
    /// Bytes of its own executor's, or of its host's.
    pub local_bytes: u64,
    /// Time without a block to work on, in milliseconds.
    pub wait_ms: u64,
    /// Records read.
    pub records: u64,
}

/// What a task wrote of its shuffle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ShuffleWrite {
    /// Bytes, as compressed.
    pub bytes: u64,
    /// Time that writing took, in nanoseconds.
    pub time_ns: u64,
    /// Records written.
    pub records: u64,
}

impl Application {
    /// A property of Spark's, if it was set.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }

    /// When the last thing in it happened.
    pub fn last_ms(&self) -> i64 {
        let tasks = self.tasks.iter().map(|task| task.finish_ms.unwrap_or(task.launch_ms));
        let jobs = self.jobs.iter().map(|job| job.finish_ms.unwrap_or(job.submit_ms));
        tasks.chain(jobs).chain(self.finish_ms).fold(self.start_ms, i64::max)
    }
}
