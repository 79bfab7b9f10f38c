//! The settings of MapReduce, under the meaning and the defaults of Hadoop's own properties.

use super::UberConfig;
use super::replay::Replay;
use crate::ids::JobId;
use crate::record::TaskKind;
use crate::shuffle::ShuffleConfig;
use crate::yarn::Resources;
use std::collections::BTreeMap;
use units::{Bytes, Time};

/// The part of a task's overhead that comes before its first byte; the rest follows its last. Recorded reducers without
/// work take 0.17 s on an idle core from the end of their sort to their own (TestDFSIO), some 0.12 s of CPU beside the
/// calls of a commit.
pub const SET_UP_SHARE: f64 = 0.5;

/// Which of Hadoop's two MapReduce run-times schedules the job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Generation {
    /// JobTracker and TaskTrackers with a fixed number of slots (Hadoop 0.20 to 1.2).
    Hadoop1,
    /// ResourceManager, NodeManagers and one AppMaster per job (Hadoop 2 and 3).
    Yarn,
}

/// Where a job has more map outputs to fetch than are followed one by one, a fetch stands for several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchLimit {
    /// Outputs that are still fetched one by one.
    pub above: u64,
    /// About how many fetches there are if there are more.
    pub about: u64,
}

/// Settings of MapReduce. Each field names the property that it stands for (the older name after the newer where both
/// exist).
#[derive(Clone, PartialEq, Debug)]
pub struct MapReduceConfig {
    /// The jobs to run.
    pub jobs: Vec<super::JobSpec>,
    /// The run-time; every field below holds in both unless its group says otherwise.
    pub generation: Generation,

    /// `mapreduce.task.io.sort.mb`, `io.sort.mb` (100 MB): the map's sort buffer.
    pub sort_buffer: Bytes,
    /// `mapreduce.map.sort.spill.percent` (0.80): how full it is when a spill begins.
    pub spill_percent: f64,
    /// `io.sort.record.percent` (0.05): the part of the buffer kept for record metadata. Hadoop 1 only; later the two
    /// share the buffer.
    pub record_percent: f64,
    /// `mapreduce.task.io.sort.factor`, `io.sort.factor` (10): streams merged at once.
    pub sort_factor: u32,
    /// `mapreduce.map.combine.minspills` (3): spills from which the combiner runs again in the merge.
    pub combine_min_spills: u32,

    /// `mapreduce.reduce.shuffle.parallelcopies` (5): fetchers of a reducer.
    pub parallel_copies: u32,
    /// `mapreduce.reduce.shuffle.input.buffer.percent` (0.70): the part of the reducer's heap that holds fetched map
    /// outputs.
    pub shuffle_buffer_percent: f64,
    /// `mapreduce.reduce.shuffle.merge.percent` (0.66): how full that part is when an in-memory merge begins.
    pub shuffle_merge_percent: f64,
    /// `mapreduce.reduce.shuffle.memory.limit.percent` (0.25): a map output above this part of it goes to disk.
    pub shuffle_memory_limit_percent: f64,
    /// `mapreduce.reduce.merge.inmem.threshold` (1000): map outputs in memory at which a merge begins; 0 is no such
    /// limit.
    pub merge_in_memory_threshold: u32,
    /// `mapreduce.reduce.input.buffer.percent` (0.0): the part of the heap in which map outputs may stay during the
    /// reduce.
    pub reduce_buffer_percent: f64,
    /// `mapreduce.reduce.java.opts` (-Xmx): the reducer's heap.
    pub reduce_heap: Bytes,
    /// `mapreduce.shuffle.connection-keep-alive.enable` (false): whether a fetcher keeps its connection to a host.
    pub shuffle_keep_alive: bool,
    /// `mapreduce.shuffle.max.threads` (0: twice the cores), `tasktracker.http.threads` (40): requests that a node
    /// serves at once.
    pub shuffle_threads: u32,
    /// `mapreduce.reduce.shuffle.connect.timeout` and `.read.timeout` (180 s): how long a fetcher waits for a silent
    /// host.
    pub shuffle_timeout: Time,
    /// Map outputs asked for in one request (20, a constant of the fetcher).
    pub fetch_batch: u32,
    /// When a fetch stands for several map outputs. None: every output is fetched for itself.
    pub fetches: Option<FetchLimit>,
    /// How often a reducer asks which maps have finished (1 s, a constant of the event fetcher).
    pub event_poll: Time,

    /// `mapreduce.job.reduce.slowstart.completedmaps` (0.05): the part of the maps that is done when the first reducer
    /// starts.
    pub slow_start: f64,
    /// `mapreduce.map.speculative` (true).
    pub speculative_maps: bool,
    /// `mapreduce.reduce.speculative` (true).
    pub speculative_reduces: bool,
    /// `mapreduce.job.speculative.speculative-cap-running-tasks`, `mapreduce.job.speculative.speculativecap` (0.1):
    /// copies per running task.
    pub speculative_cap: f64,
    /// `mapreduce.task.timeout`, `mapred.task.timeout` (600 s) without progress; zero is never.
    pub task_timeout: Time,
    /// `mapreduce.map.maxattempts`, `mapreduce.reduce.maxattempts` (4).
    pub max_attempts: u32,
    /// `mapreduce.job.maxtaskfailures.per.tracker` (3): failures of a job's attempts on one node that blacklist it for
    /// the job.
    pub node_failures: u32,
    /// `yarn.app.mapreduce.am.job.node-blacklisting.ignore-threshold-node-percent` (33): above this part of the nodes
    /// no node is blacklisted.
    pub blacklist_ignore_percent: u32,
    /// Size of a unit of reading, computing and writing inside a task: the grain at which processor and disk are
    /// shared.
    pub chunk: Bytes,

    /// Size of the job's program (`mapreduce.job.jar`), which the client puts into HDFS and each node fetches once;
    /// zero, the default here, for none.
    pub job_jar: Bytes,
    /// Size of the job's configuration (`job.xml`), fetched with it, and written twice by the AppMaster beside the
    /// history; zero for neither.
    pub job_conf: Bytes,
    /// `mapreduce.client.submit.file.replication` (10): replicas of both, as many as there are workers at most.
    pub submit_replication: u32,

    /// From the start of the client's JVM to its first step for the job, and what its exit takes.
    pub client_start: Time,
    /// `mapreduce.client.progressmonitor.pollinterval` (1 s): how often the client asks whether its job is over; a
    /// silent one goes by `mapreduce.client.completion.pollinterval` (5 s).
    pub client_poll: Time,

    /// CPU time to start a task's JVM and load its classes, seconds of one core at speed 1.
    pub jvm_start_cpu: Time,
    /// Fixed part of a container's start that no faster processor shortens (fork, script, localisation from the cache).
    pub launch_latency: Time,
    /// CPU time of a task's own set-up, commit and clean-up.
    pub task_overhead_cpu: Time,
    /// How much attempts at equal tasks differ in the CPU time that they take: the standard deviation, relative.
    pub task_variation: f64,

    /// Which jobs are small enough to run in their AppMaster, if they ask for it.
    pub uber: UberConfig,
    /// Settings of Hadoop 1.
    pub hadoop1: Hadoop1Config,
    /// Settings of the AppMasters.
    pub app_master: AppMasterConfig,
    /// Where and when each attempt of a job starts, if that is given (a recorded history) instead of decided.
    pub replays: BTreeMap<JobId, Replay>,
}

/// Settings that exist in Hadoop 1 only.
#[derive(Clone, PartialEq, Debug)]
pub struct Hadoop1Config {
    /// `mapred.tasktracker.map.tasks.maximum` (2).
    pub map_slots: u32,
    /// `mapred.tasktracker.reduce.tasks.maximum` (2).
    pub reduce_slots: u32,
    /// `mapreduce.jobtracker.heartbeat.interval.min`: from the answer to a TaskTracker's heartbeat to its next. 300 ms
    /// since Hadoop 1.1 (MAPREDUCE-1906), a constant of 3 s before ...
    pub heartbeat: Time,
    /// `mapreduce.jobtracker.heartbeats.in.second` (100): ... or longer, so that the JobTracker receives no more than
    /// this.
    pub heartbeats_in_second: u32,
    /// `mapreduce.tasktracker.outofband.heartbeat` (false): a heartbeat at once when a task ends.
    pub out_of_band: bool,
    /// `mapred.job.reuse.jvm.num.tasks` (1): tasks of a job that a JVM runs one after the other; 0 for no limit, which
    /// is -1 there.
    pub tasks_per_jvm: u32,
    /// Tasks of each kind given out per heartbeat (1).
    pub tasks_per_heartbeat: u32,
    /// `mapred.tasktracker.expiry.interval` (600 s): after this silence a TaskTracker is lost.
    pub expiry: Time,
    /// `mapred.fairscheduler.locality.delay` (4.5 s: one and a half heartbeats of 3 s): how long a job waits for a
    /// local slot, per level of locality.
    pub locality_delay: Time,
}

/// Settings of a job's AppMaster on YARN.
#[derive(Clone, PartialEq, Debug)]
pub struct AppMasterConfig {
    /// `yarn.app.mapreduce.am.resource.mb` (1536): its own container.
    pub memory: Bytes,
    /// `yarn.app.mapreduce.am.command-opts` (-Xmx1024m): its heap, which the tasks of an uber job share.
    pub heap: Bytes,
    /// `mapreduce.map.memory.mb` (1024).
    pub map_memory: Bytes,
    /// `mapreduce.reduce.memory.mb` (1024).
    pub reduce_memory: Bytes,
    /// `mapreduce.map.cpu.vcores` and `mapreduce.reduce.cpu.vcores` (1).
    pub task_vcores: u32,
    /// `yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms` (1 s).
    pub heartbeat: Time,
    /// `mapreduce.am.max-attempts` (2).
    pub max_attempts: u32,
    /// `yarn.app.mapreduce.am.job.reduce.rampup.limit` (0.5): the part of the job's resources for reducers while maps
    /// wait.
    pub reduce_rampup_limit: f64,
    /// How long it takes from the heartbeat that brings a container to that container's launch, as the quantiles in
    /// equal steps of a distribution, ascending. These are for the containers that come first, for which the AppMaster
    /// has all to prepare. None is no time at all.
    pub first_start_delays: Vec<Time>,
    /// As `first_start_delays`, for later containers.
    pub start_delays: Vec<Time>,
    /// CPU time from its JVM to its registration and the job's launch, beyond a task's JVM.
    pub init_cpu: Time,
}

impl Default for MapReduceConfig {
    fn default() -> Self {
        Self {
            jobs: Vec::new(),
            generation: Generation::Yarn,
            sort_buffer: Bytes::from_mib(100),
            spill_percent: 0.80,
            record_percent: 0.05,
            sort_factor: 10,
            combine_min_spills: 3,
            parallel_copies: 5,
            shuffle_buffer_percent: 0.70,
            shuffle_merge_percent: 0.66,
            shuffle_memory_limit_percent: 0.25,
            merge_in_memory_threshold: 1000,
            reduce_buffer_percent: 0.0,
            reduce_heap: Bytes::from_mib(820),
            shuffle_keep_alive: false,
            shuffle_threads: 0,
            shuffle_timeout: Time::from_secs(180),
            fetch_batch: 20,
            fetches: None,
            event_poll: Time::from_secs(1),
            slow_start: 0.05,
            speculative_maps: true,
            speculative_reduces: true,
            speculative_cap: 0.1,
            task_timeout: Time::from_secs(600),
            max_attempts: 4,
            node_failures: 3,
            blacklist_ignore_percent: 33,
            chunk: Bytes::from_mib(4),
            job_jar: Bytes::ZERO,
            job_conf: Bytes::ZERO,
            submit_replication: 10,
            client_start: Time::from_ms(1_500),
            client_poll: Time::from_secs(1),
            jvm_start_cpu: Time::from_ms(1_200),
            launch_latency: Time::from_ms(200),
            task_overhead_cpu: Time::from_ms(240),
            task_variation: 0.0,
            uber: UberConfig::default(),
            hadoop1: Hadoop1Config::default(),
            app_master: AppMasterConfig::default(),
            replays: BTreeMap::new(),
        }
    }
}

impl Default for Hadoop1Config {
    fn default() -> Self {
        Self {
            map_slots: 2,
            reduce_slots: 2,
            heartbeat: Time::from_ms(300),
            heartbeats_in_second: 100,
            out_of_band: false,
            tasks_per_jvm: 1,
            tasks_per_heartbeat: 1,
            expiry: Time::from_secs(600),
            locality_delay: Time::from_ms(4_500),
        }
    }
}

impl Default for AppMasterConfig {
    fn default() -> Self {
        Self {
            memory: Bytes::from_mib(1_536),
            heap: Bytes::from_mib(1_024),
            map_memory: Bytes::from_mib(1_024),
            reduce_memory: Bytes::from_mib(1_024),
            task_vcores: 1,
            heartbeat: Time::from_secs(1),
            max_attempts: 2,
            reduce_rampup_limit: 0.5,
            first_start_delays: Vec::new(),
            start_delays: Vec::new(),
            init_cpu: Time::from_ms(1_000),
        }
    }
}

impl MapReduceConfig {
    /// How often a task reports its progress: every 3 s in Hadoop 1 (`Task.PROGRESS_INTERVAL`), at a hundredth of its
    /// timeout in YARN (`mapreduce.task.progress-report.interval`, MAPREDUCE-6242), 6 s by default.
    pub fn progress_interval(&self) -> Time {
        match self.generation {
            Generation::Yarn if self.task_timeout > Time::ZERO => self.task_timeout / 100,
            _ => Time::from_secs(3),
        }
    }
}

impl MapReduceConfig {
    /// What the shuffle service goes by. Twice the cores of a node (`mapreduce.shuffle.max.threads` = 0) are taken for
    /// 40.
    pub(crate) fn shuffle(&self) -> ShuffleConfig {
        ShuffleConfig {
            threads: if self.shuffle_threads == 0 { 40 } else { self.shuffle_threads },
            keep_alive: self.shuffle_keep_alive,
            silence: self.shuffle_timeout,
            chunk: self.chunk,
        }
    }
}

impl AppMasterConfig {
    /// What its own container holds.
    pub(super) const fn own(&self) -> Resources {
        Resources { memory: self.memory, vcores: 1 }
    }
    /// What a task's container holds.
    pub(crate) const fn task(&self, kind: TaskKind) -> Resources {
        let memory = match kind {
            TaskKind::Map => self.map_memory,
            TaskKind::Reduce => self.reduce_memory,
        };
        Resources { memory, vcores: self.task_vcores }
    }
}

impl Hadoop1Config {
    /// The heartbeat interval that a JobTracker sets for a cluster of `nodes`.
    pub fn heartbeat_for(&self, nodes: usize) -> Time {
        let spread = Time::from_secs(1) * (nodes as u64) / u64::from(self.heartbeats_in_second.max(1));
        self.heartbeat.max(spread)
    }
}
