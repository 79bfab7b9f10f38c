//! An application of Spark. Keys stand for Spark's own properties, with its defaults as its documentation has them
//! (<https://spark.apache.org/docs/4.1.1/configuration.html>).

use super::key::{choice, section};
use super::network::Nodes;
use super::spark_allocation::SparkAllocation;
use super::spark_exclusion::SparkExclusion;
use super::spark_yarn::SparkYarn;
use std::collections::BTreeMap;
use units::{Bytes, Time};

const TIMES: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_secs(604_800);
const SIZES: std::ops::RangeInclusive<Bytes> = Bytes::ZERO..=Bytes::from_mib(1 << 30);
const PARTITIONS: std::ops::RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::from_mib(1 << 30);
const MESSAGES: std::ops::RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::from_mib(128);

choice! {
    /// Where a stage's input stands, or its output goes.
    pub enum SparkPlace {
        /// A disk of each task's own node: a file that all nodes have alike, or one that each writes for itself.
        Local = "local",
        /// HDFS: tasks prefer the nodes with replicas of their input.
        Hdfs = "hdfs",
    }
}

choice! {
    /// How records lie in the files of HDFS that tasks read.
    pub enum SparkFormat {
        /// Lines of text: a task whose input is whole blocks reads on in the next block, where its last line ends.
        Text = "text",
        /// A task's records end with its input, as in Parquet and ORC.
        Binary = "binary",
    }
}

choice! {
    /// Where the tasks of a stage keep what they have computed.
    pub enum SparkLevel {
        /// They do not keep it.
        None = "none",
        /// In the memory of their executors; what has no room there is not kept.
        MemoryOnly = "memory-only",
        /// In the memory of their executors; what has no room there, on their disks.
        MemoryAndDisk = "memory-and-disk",
        /// On the disks of their executors.
        DiskOnly = "disk-only",
    }
}

choice! {
    /// How an attempt at a task does not succeed.
    pub enum SparkEnd {
        /// It throws an exception. The task is tried again, up to `spark.task-max-failures`.
        Failed = "failed",
        /// It cannot fetch what it reads of a shuffle. Its stage is tried again, behind its parents, of whose output
        /// some is lost.
        FetchFailed = "fetch-failed",
    }
}

section! {
    /// An attempt at a task that does not succeed, as an import has those of a log. The first of a task here is its
    /// first attempt, and so on; later ones do what the task does. Until it ends, it reads and works as the task does.
    pub struct SparkAttempt {
        /// The task's number among those of its stage, from 0. Left out: 0, or with `only-on` whichever task begins
        /// there.
        task: Option<u32> = None, 0..=999_999;
        /// The workers on which it fails, as on one whose disk is full: it is the next attempt that begins there, a
        /// copy of a slow task too. Attempts elsewhere do what the task does. Left out: it fails wherever it runs.
        only_on: Option<Nodes> = None;
        /// How it ends.
        end: SparkEnd = SparkEnd::Failed;
        /// After its start on its executor it ends so.
        after: Time = Time::ZERO, TIMES;
        /// Of one that cannot fetch, the worker whose executor has lost its shuffle files. Left out: none has; the
        /// driver does not know where the output is.
        node: Option<String> = None;
    }
}

section! {
    /// An executor of a standalone cluster of which it is said when it comes and goes, as an import has it of a cluster
    /// that grew or shrank, or whose hosts differed.
    pub struct SparkExecutor {
        /// The worker that it runs on: "worker-1" is the first.
        node: String = "worker-1".to_owned();
        /// Its cores, which are tasks at once. Left out: `spark.executor-cores`.
        cores: Option<u32> = None, 1..=4_096;
        /// When its process is up, from the submission of `job`, or else from the start of the run. What is there at 0
        /// of the run is registered before the first job.
        from: Time = Time::ZERO, TIMES;
        /// The job from whose submission `from` counts, from 0. Left out: `from` counts from the start of the run.
        job: Option<u32> = None, 0..=100_000;
        /// From when on it goes, from the submission of `until-job`, or else from the start of the run. Left out: it
        /// stays.
        until: Option<Time> = None, Time::from_ms(1)..=Time::from_secs(604_800);
        /// The job from whose submission `until` counts. Left out: `until` counts from the start of the run.
        until_job: Option<u32> = None, 0..=100_000;
        /// Whether it is lost at `until`: its process ends, with its tasks, its shuffle files and what it keeps. Else
        /// it is given back once it is idle and no task waits for a core, and what it has written stays, as with an
        /// external shuffle service.
        lost: bool = false;
    }
}

section! {
    /// An application of Spark, on a standalone cluster or on YARN (`[spark.yarn]`): its driver on the master, its
    /// executors on the workers. [The model](../models/spark.md) has the sources.
    pub struct Spark {
        /// The event log that an import made the application of, relative to the scenario's file. A run's summary and
        /// page show recorded figures beside the predicted ones; nothing else is taken from it. Where it is not found,
        /// they do without.
        history: Option<String> = None;
        /// Executors on each worker, standalone.
        executors: u32 = 1, 1..=1_000;
        /// The executors, where they come and go or differ; without `[spark.yarn]`. Left out: `executors` on each
        /// worker, from the start on.
        executor: Vec<SparkExecutor> = Vec::new();
        /// Cores of each, which are tasks at once (`spark.executor.cores`).
        executor_cores: u32 = 1, 1..=4_096;
        /// How long a stage waits for a core on the node of its data before it takes one elsewhere
        /// (`spark.locality.wait`). A standalone cluster knows no racks; on YARN it waits as long for a core in the
        /// rack.
        locality_wait: Time = Time::from_secs(3), TIMES;
        /// How long a stage waits for a core on the node of its data. Left out: `locality-wait`
        /// (`spark.locality.wait.node`).
        locality_wait_node: Option<Time> = None, TIMES;
        /// How long a stage waits for a core of an executor that keeps what it `reads`. Left out: `locality-wait`
        /// (`spark.locality.wait.process`).
        locality_wait_process: Option<Time> = None, TIMES;
        /// Whether tasks prefer nodes of executors that have a fifth or more of what they read of a shuffle
        /// (`spark.shuffle.reduceLocality.enabled`).
        reduce_locality: bool = true;
        /// Bytes of shuffle blocks that a task has under way (`spark.reducer.maxSizeInFlight`).
        reducer_max_size_in_flight: Bytes = Bytes::from_mib(48), Bytes::new(1)..=Bytes::from_mib(1 << 20);
        /// Requests that it has under way (`spark.reducer.maxReqsInFlight`).
        reducer_max_reqs_in_flight: u32 = 2_147_483_647, 1..=2_147_483_647;
        /// Blocks that it has under way from one executor (`spark.reducer.maxBlocksInFlightPerAddress`).
        reducer_max_blocks_in_flight_per_address: u32 = 2_147_483_647, 1..=2_147_483_647;
        /// How often the driver offers all free cores, beside those that become free
        /// (`spark.scheduler.revive.interval`).
        revive_interval: Time = Time::from_secs(1), Time::from_ms(1)..=Time::from_secs(3_600);
        /// Speculative execution: a copy of a slow task, on another node; the first to end counts
        /// (`spark.speculation`).
        speculation: bool = false;
        /// How often the driver looks for slow tasks (`spark.speculation.interval`).
        speculation_interval: Time = Time::from_ms(100), Time::from_ms(1)..=Time::from_secs(3_600);
        /// How many times longer than the median of its stage a task has run when a copy is launched
        /// (`spark.speculation.multiplier`).
        speculation_multiplier: f64 = 3.0, 1.0..=1e6;
        /// The part of a stage's tasks that are done before copies are launched (`spark.speculation.quantile`).
        speculation_quantile: f64 = 0.9, 0.0..=1.0;
        /// For how long a task has run at least when a copy is launched (`spark.speculation.minTaskRuntime`).
        speculation_min_task_runtime: Time = Time::from_ms(100), TIMES;
        /// Attempts at a task that fail before its job does (`spark.task.maxFailures`). Those that are lost with their
        /// executor count where Spark has them count.
        task_max_failures: u32 = 4, 1..=1_000;
        /// Whether the program goes on with its next job when one has failed, as it may catch the exception that the
        /// action throws. Else the application fails with the job.
        catches_failures: bool = false;
        /// Executors that come and go as tasks need them.
        dynamic_allocation: Option<SparkAllocation> = None;
        /// Whether a service on each node keeps and serves the shuffle files of executors that have ended; they are lost
        /// with their node alone (`spark.shuffle.service.enabled`).
        shuffle_service: bool = false;
        /// Executors and nodes that get no tasks as some failed there.
        exclude_on_failure: Option<SparkExclusion> = None;
        /// Memory of each executor, of which a part is for what stages `persist`; on YARN its container has an overhead
        /// besides (`spark.executor.memory`).
        executor_memory: Bytes = Bytes::from_mib(1_024), Bytes::from_mib(450)..=Bytes::from_mib(1 << 30);
        /// That part, 300 MiB aside (`spark.memory.fraction`). Sorting and hashing take none of it here.
        memory_fraction: f64 = 0.6, 0.0..=1.0;
        /// Memory of each executor for what stages `persist`. Left out: (`executor-memory` - 300 MiB) x
        /// `memory-fraction`.
        storage_memory: Option<Bytes> = None, SIZES;
        /// Size of the pieces in which executors get broadcast variables, of the driver or of each other
        /// (`spark.broadcast.blockSize`).
        broadcast_block_size: Bytes = Bytes::from_mib(4), Bytes::new(1_024)..=Bytes::from_mib(2_047);
        /// Adaptive execution of the stages of SQL, those with `sql` (`spark.sql.adaptive.enabled`).
        adaptive: bool = true;
        /// Whether adaptive execution joins neighbouring partitions of the shuffles that a stage reads, when all of
        /// these are there: then it has fewer tasks than partitions (`spark.sql.adaptive.coalescePartitions.enabled`).
        adaptive_coalesce_partitions: bool = true;
        /// What a task of joined partitions reads at most, and one of a part of a skewed one at least, as far as map
        /// tasks' blocks come to that (`spark.sql.adaptive.advisoryPartitionSizeInBytes`).
        adaptive_advisory_partition_size: Bytes = Bytes::from_mib(64), PARTITIONS;
        /// What it reads at least, beyond the most that is advised, too
        /// (`spark.sql.adaptive.coalescePartitions.minPartitionSize`).
        adaptive_min_partition_size: Bytes = Bytes::from_mib(1), PARTITIONS;
        /// Whether a task reads no more than a core's part of all bytes that its stage reads, but for the least, so
        /// that all cores have something to do (`spark.sql.adaptive.coalescePartitions.parallelismFirst`).
        adaptive_parallelism_first: bool = true;
        /// Whether adaptive execution splits skewed partitions of joins, those of parents in a stage's `skew-join`
        /// (`spark.sql.adaptive.skewJoin.enabled`).
        adaptive_skew_join: bool = true;
        /// How many times larger than the median of its shuffle a skewed partition is
        /// (`spark.sql.adaptive.skewJoin.skewedPartitionFactor`).
        adaptive_skewed_partition_factor: f64 = 5.0, 0.0..=1e6;
        /// What it is larger than besides (`spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes`).
        adaptive_skewed_partition_threshold: Bytes = Bytes::from_mib(256), PARTITIONS;
        /// Size of the message that launches a task.
        launch_size: Bytes = Bytes::new(10_000), MESSAGES;
        /// Size of the message that tells a task's end, without its result.
        status_size: Bytes = Bytes::new(3_000), MESSAGES;
        /// Work of the driver for each launch, one after the other.
        launch_cost: Time = Time::from_us(500), Time::ZERO..=Time::from_secs(60);
        /// Work of the driver for each end of a task.
        status_cost: Time = Time::from_us(500), Time::ZERO..=Time::from_secs(60);
        /// Further work, before all other, of the tasks that an executor begins before any has ended on it: its process
        /// loads and compiles Spark itself.
        executor_start: Time = Time::ZERO, TIMES;
        /// How long the program takes before each job, from the end of the one before; the first from the start of the
        /// run, on YARN from when enough executors are there. Jobs that are not listed follow at once.
        pause: Vec<Time> = Vec::new(), TIMES;
        /// How it runs on YARN. Left out: on a standalone cluster.
        yarn: Option<SparkYarn> = None;
        /// The stages of all jobs.
        stage: Vec<SparkStage> = Vec::new();
    }
}

section! {
    /// A stage: tasks without a shuffle between them.
    pub struct SparkStage {
        /// Its name, by which others name it as their parent.
        name: String = String::new();
        /// The job (action) that it is of, from 0. A job begins when the one before is done; one without stages is over
        /// at once.
        job: u32 = 0, 0..=100_000;
        /// The stages whose shuffle output it reads; they stand before it. It begins when they are done.
        parents: Vec<String> = Vec::new();
        /// How many tasks it has, one a partition.
        tasks: u32 = 1, 1..=1_000_000;
        /// Whether it is of a query of SQL or of data frames, which `spark.adaptive` may execute. If it reads shuffles and no
        /// files, `tasks`, and what is said of each, are those of the partitions that these have
        /// (`spark.sql.shuffle.partitions`, `coalescePartitions.initialPartitionNum`), and a task that reads several does
        /// what all of them ask for, with one result. False for RDDs, and for what must keep its number of partitions, as
        /// `repartition(200)` does.
        sql: bool = false;
        /// Of a join of two parents, those whose skewed partitions adaptive execution may split: each part, of some map
        /// tasks, has a task, which reads all of the other parent's partition. Both of an inner join, the left one of
        /// an outer join to the left, of a semi join and of an anti join.
        skew_join: Vec<String> = Vec::new();
        /// What its tasks read of files, all together.
        input: Bytes = Bytes::ZERO, SIZES;
        /// What each task reads of files, one value for each. Left out: equal parts of `input`.
        inputs: Vec<Bytes> = Vec::new(), SIZES;
        /// Where the files stand that its tasks read.
        input_from: SparkPlace = SparkPlace::Local;
        /// How records lie in the files, if these stand in HDFS. Input that is no whole number of blocks (`hdfs.block`)
        /// is the end of a file, and no task reads on behind it.
        input_format: SparkFormat = SparkFormat::Text;
        /// How many files of HDFS each task reads, equal parts of its input, one after the other: scans of SQL have
        /// several small files in a partition. The task prefers the nodes with most of them, three at most.
        input_files: u32 = 1, 1..=100_000;
        /// Its name that of a stage, of an earlier job, that has kept what it computed (`persist`): each task reads a
        /// partition of that in place of files, and computes it anew where no executor has it.
        reads: String = String::new();
        /// Whether its executors keep what its tasks compute, and where (`RDD.persist`, `StorageLevel`, one replica).
        persist: SparkLevel = SparkLevel::None;
        /// How large what they keep is, all together.
        kept_size: Bytes = Bytes::ZERO, SIZES;
        /// How large what each task keeps is, one value for each. Left out: equal parts of `kept-size`.
        kept_sizes: Vec<Bytes> = Vec::new(), SIZES;
        /// Work of each task, in seconds of one core at speed 1.
        work: Time = Time::ZERO, TIMES;
        /// Work of each task, one value for each, in seconds of one core at speed 1. Left out: `work` for all.
        works: Vec<Time> = Vec::new(), TIMES;
        /// Further work for each MB (1,000,000 B) that a task reads of files or shuffles.
        work_per_mb: Time = Time::ZERO, TIMES;
        /// Further work, before all other, of the tasks that an executor begins before one of the stage has ended on
        /// it: its process loads and compiles classes.
        warm_up: Time = Time::ZERO, TIMES;
        /// The part of a task's work that is done while its bytes come in; the rest follows when all are there, as
        /// after a sort.
        streamed: f64 = 1.0, 0.0..=1.0;
        /// What its tasks write for the stages that read its shuffle, as compressed, all together.
        shuffle_write: Bytes = Bytes::ZERO, SIZES;
        /// What each task writes for its stage's shuffle, as compressed, one value for each. Left out: equal parts of
        /// `shuffle-write`.
        shuffle_writes: Vec<Bytes> = Vec::new(), SIZES;
        /// Of the output of each task of its parents, the part that each of its own tasks reads, relative to the
        /// others. Left out: equal parts.
        shares: Vec<f64> = Vec::new(), 0.0..=1e18;
        /// Whether its tasks prefer nodes for what they read of shuffles, where `spark.reduce-locality` has it so.
        /// Those of a join of SQL prefer nodes that both sides do, else those of either; those of `RDD.join`
        /// (`CoGroupedRDD`) prefer none: false.
        reduce_locality: bool = true;
        /// What its tasks spill to disk and read again, all together (`Disk Bytes Spilled`).
        spill: Bytes = Bytes::ZERO, SIZES;
        /// What its tasks write to files, all together.
        output: Bytes = Bytes::ZERO, SIZES;
        /// What each task writes to files, one value for each. Left out: equal parts of `output`.
        outputs: Vec<Bytes> = Vec::new(), SIZES;
        /// Where the files go that its tasks write.
        output_to: SparkPlace = SparkPlace::Local;
        /// Result of each task, which goes to the driver.
        result: Bytes = Bytes::new(2_048), Bytes::ZERO..=Bytes::from_mib(1 << 11);
        /// How long the driver takes, when it could begin, until its first task is launched.
        delay: Time = Time::ZERO, TIMES;
        /// What each executor gets before it runs the first of its tasks: their code, and broadcast variables. It gets
        /// them in pieces of `spark.broadcast-block-size`, each of the driver or of an executor that has it.
        broadcast: Bytes = Bytes::ZERO, SIZES;
        /// Attempts at its tasks that do not succeed.
        attempt: Vec<SparkAttempt> = Vec::new();
    }
}

impl SparkAttempt {
    /// The task that it is of; none: whichever begins on one of its nodes.
    pub fn of_task(&self) -> Option<u32> {
        if self.only_on.is_some() { self.task } else { Some(self.task.unwrap_or(0)) }
    }
}

impl Spark {
    /// The most tasks of an application, all stages together.
    pub const MOST_TASKS: u64 = 1_000_000;
    /// Memory of an executor that is neither for data sets nor for work (`RESERVED_SYSTEM_MEMORY_BYTES`).
    const RESERVED_MEMORY: Bytes = Bytes::from_mib(300);

    /// How many jobs its stages are of.
    pub fn jobs(&self) -> u32 {
        self.stage.iter().map(|stage| stage.job + 1).max().unwrap_or(0)
    }

    /// Whether a stage reads from HDFS or writes to it, or its containers do before they start.
    pub fn uses_hdfs(&self) -> bool {
        let has_archive = self.yarn.as_ref().is_some_and(|yarn| yarn.archive > Bytes::ZERO);
        has_archive
            || self
                .stage
                .iter()
                .any(|stage| SparkPlace::Hdfs == stage.input_from || SparkPlace::Hdfs == stage.output_to)
    }

    /// Memory of each executor for data sets that are kept (`UnifiedMemoryManager.getMaxMemory`).
    pub fn storage(&self) -> Bytes {
        let rest = self.executor_memory.saturating_sub(Self::RESERVED_MEMORY);
        self.storage_memory.unwrap_or_else(|| Bytes::new(units::whole(rest.get() as f64 * self.memory_fraction)))
    }

    /// The stage whose data set each stage reads, by its place among the stages.
    pub fn reads(&self) -> Vec<Option<usize>> {
        let place = |name: &str| self.stage.iter().position(|stage| stage.name == name);
        self.stage.iter().map(|stage| if stage.reads.is_empty() { None } else { place(&stage.reads) }).collect()
    }

    /// The parents of each stage by their places among the stages.
    pub fn parents(&self) -> Vec<Vec<usize>> {
        let names: BTreeMap<&str, usize> = self.stage.iter().zip(0..).map(|(stage, at)| (&*stage.name, at)).collect();
        let of = |stage: &SparkStage| stage.parents.iter().filter_map(|parent| names.get(&**parent).copied()).collect();
        self.stage.iter().map(of).collect()
    }
}
