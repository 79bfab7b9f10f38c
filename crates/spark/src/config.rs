//! Settings of an application and the work that it does. Defaults are those of Spark 4.1, by its documentation
//! (<https://spark.apache.org/docs/4.1.1/configuration.html>) unless said otherwise.

use crate::allocation::Allocation;
use crate::exclusion::Exclusion;
use crate::yarn::OnYarn;
use hadoop::NodeId;
use units::{Bytes, Time};

/// Settings of an application, its jobs and their stages.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Executors on each worker, standalone.
    pub executors: u32,
    /// Executors of a standalone cluster of which it is said when they come and go; these alone are there then.
    pub listed: Vec<Listed>,
    /// How it runs on YARN; none if it does not.
    pub yarn: Option<OnYarn>,
    /// Cores of an executor, which are tasks at once (`spark.executor.cores`).
    pub cores: u32,
    /// How long a stage waits for a core of an executor that keeps what it reads (`spark.locality.wait.process`, 3 s).
    pub locality_wait_process: Time,
    /// How long a stage waits for a place on the node of its data (`spark.locality.wait.node`, 3 s).
    pub locality_wait: Time,
    /// Whether tasks prefer nodes that have a fifth of what they read of shuffles
    /// (`spark.shuffle.reduceLocality.enabled` of `DAGScheduler`, which the documentation does not have).
    pub reduce_locality: bool,
    /// How much a task fetches at once (`spark.reducer.maxSizeInFlight`, 48 MiB).
    pub max_size_in_flight: Bytes,
    /// How many requests it has under way (`spark.reducer.maxReqsInFlight`, no bound).
    pub max_reqs_in_flight: u32,
    /// How many blocks it asks of one executor at once (`spark.reducer.maxBlocksInFlightPerAddress`, no bound).
    pub max_blocks_in_flight_per_address: u32,
    /// How often the driver offers all free cores, beside those that become free (`spark.scheduler.revive.interval` of
    /// `CoarseGrainedSchedulerBackend`, 1 s).
    pub revive_interval: Time,
    /// How large the pieces of a broadcast variable are (`spark.broadcast.blockSize`, 4 MiB).
    pub broadcast_block: Bytes,
    /// Memory of each executor for data sets that are kept.
    pub storage_memory: Bytes,
    /// A message that launches a task, in bytes.
    pub launch_bytes: Bytes,
    /// A message that tells a task's end, in bytes, without the task's result.
    pub status_bytes: Bytes,
    /// Work of the driver on each launch.
    pub launch_cost: Time,
    /// Work of the driver on each end of a task.
    pub status_cost: Time,
    /// When copies of slow tasks are launched (`spark.speculation`, never).
    pub speculation: Option<Speculation>,
    /// How much a task reads at most whose partitions are joined, and at least of a skewed one that is split
    /// (`spark.sql.adaptive.advisoryPartitionSizeInBytes`, 64 MiB).
    pub advisory_size: Bytes,
    /// Which partitions of joins are split for stages in adaptive execution (`spark.sql.adaptive.skewJoin.enabled`);
    /// none where they are not.
    pub skew: Option<Skew>,
    /// Attempts at a task that fail before its job does (`spark.task.maxFailures`, 4).
    pub max_task_failures: u32,
    /// Whether the program goes on with its next job when one has failed.
    pub catches_failures: bool,
    /// When executors are asked for and given back (`spark.dynamicAllocation.enabled`); none: all are asked for at the
    /// start, and stay.
    pub allocation: Option<Allocation>,
    /// Whether a service on each node has the shuffle files of executors that have ended (`spark.shuffle.service.enabled`).
    pub shuffle_service: bool,
    /// When executors get no tasks as some failed there (`spark.excludeOnFailure.enabled`); none: always.
    pub exclusion: Option<Exclusion>,
    /// How partitions of shuffles are joined for stages in adaptive execution
    /// (`spark.sql.adaptive.coalescePartitions.enabled`); none where they are not.
    pub coalesce: Option<Coalesce>,
    /// Further work, before all other, of tasks that an executor begins before any has ended on it.
    pub executor_start: Time,
    /// Work of a process of the application that is started in a container or by a Worker until it speaks.
    pub process_start: Time,
    /// Standalone: from then on no node comes back that is down.
    pub returns: Time,
    /// The jobs, one after the other.
    pub jobs: Vec<JobSpec>,
    /// Their stages. A stage's parents stand before it.
    pub stages: Vec<StageSpec>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            executors: 1,
            listed: Vec::new(),
            yarn: None,
            cores: 1,
            locality_wait_process: Time::from_secs(3),
            locality_wait: Time::from_secs(3),
            reduce_locality: true,
            max_size_in_flight: Bytes::from_mib(48),
            max_reqs_in_flight: u32::MAX,
            max_blocks_in_flight_per_address: u32::MAX,
            revive_interval: Time::from_secs(1),
            broadcast_block: Bytes::from_mib(4),
            storage_memory: Bytes::from_mib(434),
            launch_bytes: Bytes::new(10_000),
            status_bytes: Bytes::new(3_000),
            launch_cost: Time::from_us(500),
            status_cost: Time::from_us(500),
            speculation: None,
            max_task_failures: 4,
            catches_failures: false,
            allocation: None,
            shuffle_service: false,
            exclusion: None,
            advisory_size: Bytes::from_mib(64),
            skew: Some(Skew::default()),
            coalesce: Some(Coalesce::default()),
            executor_start: Time::ZERO,
            process_start: Time::from_ms(1_200),
            returns: Time::ZERO,
            jobs: Vec::new(),
            stages: Vec::new(),
        }
    }
}

/// A time from the submission of a job on, or from the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// The job.
    pub job: Option<usize>,
    /// How long after.
    pub after: Time,
}

/// An executor that comes and goes when it is said to, as a recorded one did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Listed {
    /// Its node.
    pub node: NodeId,
    /// Its cores, which are tasks at once.
    pub cores: u32,
    /// When its process is up.
    pub from: Moment,
    /// From when on it may go; none for one that stays.
    pub until: Option<Moment>,
    /// Whether it is lost then, with its files. Else it is given back when it is idle.
    pub lost: bool,
}

/// When a copy of a task is launched.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Speculation {
    /// How often the driver looks for slow tasks (`spark.speculation.interval`, 100 ms).
    pub interval: Time,
    /// How many times slower than the median of its stage a task is then (`spark.speculation.multiplier`, 3).
    pub multiplier: f64,
    /// The part of a stage's tasks that are done before (`spark.speculation.quantile`, 0.9).
    pub quantile: f64,
    /// For how long a task has then run at least (`spark.speculation.minTaskRuntime`, 100 ms).
    pub min_task_runtime: Time,
}

/// How partitions of shuffles are joined. Defaults are those of Spark 4.1's `SQLConf`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coalesce {
    /// How much a task reads at least (`spark.sql.adaptive.coalescePartitions.minPartitionSize`, 1 MiB).
    pub min_size: Bytes,
    /// Whether there are as many tasks as cores, rather than tasks that read as much as is advised
    /// (`spark.sql.adaptive.coalescePartitions.parallelismFirst`, on).
    pub parallelism_first: bool,
}

impl Default for Coalesce {
    fn default() -> Self {
        Self { min_size: Bytes::from_mib(1), parallelism_first: true }
    }
}

/// Which partitions of joins are skewed. Defaults are those of Spark 4.1's `SQLConf`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Skew {
    /// Larger than so many times the median (`spark.sql.adaptive.skewJoin.skewedPartitionFactor`, 5), ...
    pub factor: f64,
    /// ... and than this (`spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes`, 256 MiB).
    pub threshold: Bytes,
}

impl Default for Skew {
    fn default() -> Self {
        Self { factor: 5.0, threshold: Bytes::from_mib(256) }
    }
}

/// A job: what one action of the program runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobSpec {
    /// How long the program takes before it: from the start of the run, or from the end of the job before.
    pub pause: Time,
}

/// Where a stage's input stands, or its output goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Place {
    /// A disk of the task's node, which every node has alike.
    #[default]
    Local,
    /// HDFS: input prefers the nodes with its replicas.
    Hdfs,
}

/// Where a data set is kept (`StorageLevel`), by one executor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// In memory; what has no room there is not kept.
    MemoryOnly,
    /// In memory; what has no room there, on disk.
    MemoryAndDisk,
    /// On disk.
    DiskOnly,
}

/// A stage: tasks without a shuffle between them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StageSpec {
    /// Its name.
    pub name: String,
    /// The job that it is of.
    pub job: usize,
    /// The stages whose shuffle output it reads.
    pub parents: Vec<usize>,
    /// Its tasks, one for each partition.
    pub tasks: Vec<TaskSpec>,
    /// Of a join, the places of parents among `parents` whose skewed partitions may be read by several tasks.
    pub splittable: Vec<usize>,
    /// Whether it is of SQL's adaptive execution (`spark.sql.adaptive.enabled`).
    pub adaptive: bool,
    /// Of its parents' output, the part that each of its tasks reads, relative to the others; none for equal parts.
    pub shares: Vec<f64>,
    /// Whether its tasks prefer nodes for what they read of shuffles, where the application's do.
    pub reduce_locality: bool,
    /// Where its executors keep what its tasks compute, if they do.
    pub persist: Option<Level>,
    /// The stage, of an earlier job, that has kept the data set that it reads; each of its tasks a partition. It has no
    /// input of its own then.
    pub reads: Option<usize>,
    /// Where its input stands.
    pub input: Place,
    /// Whether a task whose input is whole blocks of HDFS reads on in the next task's first one, where its last line
    /// ends (`LineRecordReader`). What is no whole block is the end of a file.
    pub reads_on: bool,
    /// How many files of HDFS each task reads, equal parts of its input.
    pub files: u32,
    /// Where its output goes.
    pub output: Place,
    /// From when it could run until its first task is launched: the driver makes and packs its tasks.
    pub delay: Time,
    /// Further work, before all other, of tasks that an executor begins before one of the stage has ended on it.
    pub warm_up: Time,
    /// What its tasks need before they run, once for each executor, of the driver or of executors that have it: their
    /// code, and variables that are broadcast.
    pub broadcast: Bytes,
    /// The part of a task's work that is done while its bytes come in; the rest follows.
    pub streamed: f64,
    /// Attempts at its tasks that do not succeed, of each task or on each node the first ones.
    pub failing: Vec<Failing>,
}

/// An attempt at a task that does not succeed, as a recorded one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failing {
    /// Its task; none: whichever begins on one of its nodes.
    pub task: Option<usize>,
    /// The nodes on which it fails; none: wherever it runs.
    pub only_on: Vec<NodeId>,
    /// How it fails.
    pub failure: Failure,
}

/// How an attempt at a task does not succeed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// How long after its start on its executor it ends.
    pub after: Time,
    /// Whether it cannot fetch what it reads of a shuffle, rather than fail by itself; if so, on which node an executor
    /// has lost its shuffle files. None there: the driver does not know where the output is.
    pub fetch: Option<Option<NodeId>>,
}

/// A task of a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TaskSpec {
    /// Its work, in seconds of one core at speed 1.
    pub work: Time,
    /// What it reads of its stage's input.
    pub input: Bytes,
    /// How large what it has computed is where that is kept.
    pub kept: Bytes,
    /// What it writes for its stage's shuffle, as compressed.
    pub shuffle_write: Bytes,
    /// What it spills to disk, and reads again before it writes.
    pub spill: Bytes,
    /// What it writes of its stage's output.
    pub output: Bytes,
    /// Its result, which goes to the driver.
    pub result: Bytes,
}
