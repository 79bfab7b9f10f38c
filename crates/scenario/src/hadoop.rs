//! HDFS, MapReduce and jobs. Keys stand for Hadoop's own properties, named with each.

use super::job_keys::JobKeys;
use super::key::{choice, section};
use super::network::Nodes;
use super::object_store::FileSystem;
use super::plan::Plan;
use units::{Bytes, Time};

const SIZES: std::ops::RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::from_mib(1 << 40);
const MEMORY: std::ops::RangeInclusive<Bytes> = Bytes::from_mib(1)..=Bytes::from_mib(1 << 30);
const FILES: std::ops::RangeInclusive<Bytes> = Bytes::ZERO..=Bytes::from_mib(1 << 20);
const INPUTS: std::ops::RangeInclusive<Bytes> = Bytes::ZERO..=Bytes::from_mib(1 << 40);
const INTERVALS: std::ops::RangeInclusive<Time> = Time::from_ms(1)..=Time::from_secs(86_400 * 7);
const WORK: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_secs(3600);

choice! {
    /// An erasure coding policy of HDFS: Reed-Solomon codes with cells of 1 MiB.
    pub enum ErasureCoding {
        /// Three data parts and two parity parts.
        Rs32 = "rs-3-2",
        /// Six data parts and three parity parts: HDFS's default policy.
        Rs63 = "rs-6-3",
        /// Ten data parts and four parity parts.
        Rs104 = "rs-10-4",
    }
}

impl ErasureCoding {
    /// Data parts, parity parts.
    pub const fn parts(self) -> (u32, u32) {
        match self {
            Self::Rs32 => (3, 2),
            Self::Rs63 => (6, 3),
            Self::Rs104 => (10, 4),
        }
    }
    /// The policy's name in HDFS.
    pub const fn policy(self) -> &'static str {
        match self {
            Self::Rs32 => "RS-3-2-1024k",
            Self::Rs63 => "RS-6-3-1024k",
            Self::Rs104 => "RS-10-4-1024k",
        }
    }
}

section! {
    /// Settings of HDFS.
    pub struct Hdfs {
        /// Block size (`dfs.blocksize`).
        block: Bytes = Bytes::from_mib(128), Bytes::new(512)..=Bytes::from_mib(1 << 20);
        /// Replicas of each block (`dfs.replication`).
        replication: u32 = 3, 1..=512;
        /// The jobs' input and output are erasure-coded (`hdfs ec -setPolicy` on their folders); files of jobs
        /// themselves keep replicas. Left out: replicas.
        erasure_coding: Option<ErasureCoding> = None;
        /// CPU time that coding takes for a MB of a cell that is made and of one of the k cells that it is made of, on
        /// a core of speed 1. Default: that of Hadoop 3.5's coder in Java (docs/models/hadoop.md).
        coding_cost: Time = Time::from_us(940), WORK;
        /// Payload of a packet of the replication pipeline (`dfs.client-write-packet-size`).
        packet: Bytes = Bytes::from_mib(1) / 16, Bytes::new(512)..=Bytes::from_mib(16);
        /// Interval of a DataNode's heartbeats (`dfs.heartbeat.interval`).
        heartbeat: Time = Time::from_secs(3), INTERVALS;
        /// Interval of a DataNode's block reports (`dfs.blockreport.intervalMsec`).
        block_report: Time = Time::from_secs(6 * 3600), INTERVALS;
        /// Interval of the NameNode's check for silent DataNodes (`dfs.namenode.heartbeat.recheck-interval`). A
        /// DataNode is dead after twice this and ten heartbeats.
        recheck: Time = Time::from_secs(300), INTERVALS;
        /// A client or DataNode gives up a pipeline or read after this time without data (`dfs.client.socket-timeout`).
        socket_timeout: Time = Time::from_secs(60), INTERVALS;
        /// Handler threads of the NameNode: calls served in parallel (`dfs.namenode.handler.count`).
        handlers: u32 = 10, 1..=10_000;
        /// CPU time of a call at the NameNode, on a core of speed 1.
        call_cost: Time = Time::from_us(100), WORK;
        /// Which replica of a block is read. Left out: `awake` where `[power]` has a policy under which disks rest,
        /// else `nearest`.
        read_order: Option<ReadOrder> = None;
        /// From the failure of a disk until HDFS has made its replicas again. Matters to the losses that results expect
        /// (`node.disk.failure-rate`). Left out: as long as the NameNode takes to order the copies, or the other nodes'
        /// links to carry them, whatever is longer.
        repair: Option<Time> = None, Time::from_secs(1)..=Time::from_secs(86_400 * 180);
        /// Where the jobs' input stands when the run begins.
        placement: Placement = Placement::default();
        /// The Balancer, which moves replicas from full DataNodes to emptier ones. Left out: none is started.
        balancer: Option<Balancer> = None;
    }
}

section! {
    /// HDFS's Balancer (`hdfs balancer`).
    pub struct Balancer {
        /// When it is started.
        start: Time = Time::ZERO, Time::ZERO..=Time::from_secs(86_400 * 30);
        /// By which part of its capacity a DataNode may be fuller or emptier than all together (`-threshold 10`). The
        /// Balancer refuses less than a hundredth.
        threshold: f64 = 0.1, 0.01..=1.0;
        /// Bytes a second that a DataNode gives all moves together (`dfs.datanode.balance.bandwidthPerSec`): 100 MiB in
        /// today's Hadoop, 1 MiB in Hadoop 0.20 to 2.
        bandwidth: Bytes = Bytes::from_mib(100), Bytes::new(1024)..=Bytes::from_mib(1 << 20);
        /// Moves in which a DataNode takes part at a time (`dfs.datanode.balance.max.concurrent.moves`): 100 in today's
        /// Hadoop, 50 and 5 in earlier ones.
        moves: u32 = 100, 1..=10_000;
        /// What a DataNode can store. Left out: what its disks for HDFS hold. A virtual disk has no capacity of its
        /// own.
        capacity: Option<Bytes> = None, Bytes::from_mib(1)..=Bytes::from_mib(1 << 40);
    }
}

choice! {
    /// Which of a block's replicas is read.
    pub enum ReadOrder {
        /// The nearest, whether its disk rests or not; a map is local on each node with a replica. HDFS as it is.
        Nearest = "nearest",
        /// The nearest of those whose disks are awake, as far as DataNodes' heartbeats have told; if all rest, one that
        /// rests least deep. A map is local on the node with the first replica (Yang 2012, 4.3.2).
        Awake = "awake",
    }
}

choice! {
    /// Who decides where input stands.
    pub enum PlacementKind {
        /// HDFS's default policy.
        Native = "native",
        /// HDFS's default policy, as though the nodes had written the blocks in turn: each has as many first replicas.
        Even = "even",
        /// The keys of the map output: each block holds records whose keys belong to one node, and stands there.
        ByKey = "by-key",
    }
}

section! {
    /// Placement of the jobs' input by key (Yang 2012, chapter 3). Reducers then run where their keys stand.
    pub struct Placement {
        /// Who decides.
        kind: PlacementKind = PlacementKind::Native;
        /// How long a reducer waits for a slot or container on the node of its keys before it takes any (by-key).
        patience: Time = Time::from_secs(30), Time::ZERO..=Time::from_secs(86_400);
    }
}

section! {
    /// The RPC servers of the master node.
    pub struct Master {
        /// CPU time of a server's reader thread, on a core of speed 1: for each call, and for each 8 KB of a longer one
        /// before its end. The bytes stay in the receive buffer meanwhile. 0 reads at once.
        read_cost: Time = Time::ZERO, WORK;
        /// Capacity of the call queue, per handler (`ipc.server.handler.queue.size`). While it is full, arriving calls
        /// stay in the receive buffers.
        queue: u32 = 100, 1..=1_000_000;
        /// Handler threads of the JobTracker, or of each server of the ResourceManager
        /// (`mapred.job.tracker.handler.count`, `yarn.resourcemanager.resource-tracker.client.thread-count`). Left out:
        /// 10 for hadoop1, 50 for yarn. The NameNode has `hdfs.handlers`.
        handlers: Option<u32> = None, 1..=10_000;
        /// CPU time of a call at these servers, on a core of speed 1. Left out: 400 us for hadoop1, 150 us for yarn.
        /// The NameNode has `hdfs.call-cost`.
        call_cost: Option<Time> = None, WORK;
        /// Receive buffer of each connection to the masters. Left out: `tcp.receive-buffer`.
        receive_buffer: Option<Bytes> = None, Bytes::new(256)..=Bytes::from_mib(1 << 10);
        /// A receive buffer that all connections to the masters share, in place of `receive-buffer`. Each may use as
        /// much as is free (dynamic thresholds, Choudhury and Hahne 1998), and 2 KB in any case.
        shared_buffer: Option<Bytes> = None, Bytes::new(256)..=Bytes::from_mib(1 << 10);
        /// Whether workers send heartbeats over a connection of their own.
        heartbeat_connections: bool = false;
    }
}

choice! {
    /// Order of jobs.
    pub enum Scheduler {
        /// Jobs in the order of submission.
        Fifo = "fifo",
        /// The job furthest below its fair share first.
        Fair = "fair",
    }
}

section! {
    /// Uber jobs: the tasks of a small job run in its AppMaster's container, one after the other (yarn).
    pub struct Uber {
        /// Whether small jobs do so, unless a job says otherwise (`mapreduce.job.ubertask.enable`). A container of
        /// `am-memory` must hold what a task's container does.
        enable: bool = false;
        /// The most maps of such a job (`mapreduce.job.ubertask.maxmaps`).
        max_maps: u32 = 9, 0..=1_000_000;
        /// The most reducers (`mapreduce.job.ubertask.maxreduces`).
        max_reduces: u32 = 1, 0..=100_000;
        /// The most input (`mapreduce.job.ubertask.maxbytes`). Left out: `hdfs.block`.
        max_bytes: Option<Bytes> = None, INPUTS;
    }
}

section! {
    /// MapReduce. Keys of one generation only say so.
    pub struct MapReduce {
        /// Reducers of each job without a number of its own (`mapreduce.job.reduces`). With 0 maps write to HDFS.
        reducers: u32 = 1, 0..=100_000;
        /// A job without a number of reducers of its own gets one for so much shuffle and output together, rounded, at
        /// least one and at most one per worker: the rule of SWIM's replays. Left out: `reducers`.
        bytes_per_reducer: Option<Bytes> = None, SIZES;
        /// Factor on the bytes of all jobs: on `input` and `splits`, and so on what follows from them by ratios.
        data_scale: f64 = 1.0, 1e-6..=1e6;
        /// Map slots per node (hadoop1: `mapred.tasktracker.map.tasks.maximum`).
        map_slots: u32 = 2, 1..=1000;
        /// Reduce slots per node (hadoop1: `mapred.tasktracker.reduce.tasks.maximum`).
        reduce_slots: u32 = 2, 1..=1000;
        /// Tasks of a job that a JVM runs one after the other; 0 for no limit, which Hadoop writes as -1 (hadoop1:
        /// `mapred.job.reuse.jvm.num.tasks`).
        jvm_tasks: u32 = 1, 0..=1_000_000;
        /// Memory per node for containers (yarn: `yarn.nodemanager.resource.memory-mb`). Left out: 8 GiB, or the node's
        /// memory if that is less.
        node_memory: Option<Bytes> = None, MEMORY;
        /// Virtual cores per node for containers (yarn: `yarn.nodemanager.resource.cpu-vcores`).
        node_vcores: u32 = 8, 1..=10_000;
        /// Memory of a map's container (yarn: `mapreduce.map.memory.mb`).
        map_memory: Bytes = Bytes::from_mib(1024), MEMORY;
        /// Memory of a reducer's container (yarn: `mapreduce.reduce.memory.mb`).
        reduce_memory: Bytes = Bytes::from_mib(1024), MEMORY;
        /// Memory of the AppMaster's container (yarn: `yarn.app.mapreduce.am.resource.mb`).
        am_memory: Bytes = Bytes::from_mib(1536), MEMORY;
        /// Heap of the AppMaster (yarn: -Xmx in `yarn.app.mapreduce.am.command-opts`), which an uber job's reducer
        /// uses. Left out: two thirds of `am-memory`.
        am_heap: Option<Bytes> = None, MEMORY;
        /// Uber jobs.
        uber: Uber = Uber::default();
        /// Memory of containers is rounded up to a multiple of this (yarn: `yarn.scheduler.minimum-allocation-mb`).
        minimum_allocation: Bytes = Bytes::from_mib(1024), MEMORY;
        /// Part of the maps that must be done before reducers start (`mapreduce.job.reduce.slowstart.completedmaps`).
        slowstart: f64 = 0.05, 0.0..=1.0;
        /// Fetcher threads of a reducer (`mapreduce.reduce.shuffle.parallelcopies`).
        parallel_copies: u32 = 5, 1..=1000;
        /// Sort buffer of a map (`mapreduce.task.io.sort.mb`).
        io_sort: Bytes = Bytes::from_mib(100), Bytes::from_mib(1)..=Bytes::from_mib(1 << 20);
        /// Part of the sort buffer at which a spill begins (`mapreduce.map.sort.spill.percent`).
        spill_percent: f64 = 0.8, 0.01..=1.0;
        /// Streams merged at once (`mapreduce.task.io.sort.factor`).
        sort_factor: u32 = 10, 2..=10_000;
        /// Heap of a reducer (-Xmx in `mapreduce.reduce.java.opts`). Left out: 0.8 of `reduce-memory` for yarn, 200 MiB
        /// for hadoop1.
        reduce_heap: Option<Bytes> = None, MEMORY;
        /// Part of the heap for fetched map outputs (`mapreduce.reduce.shuffle.input.buffer.percent`).
        shuffle_buffer_percent: f64 = 0.7, 0.01..=1.0;
        /// Part of that buffer at which an in-memory merge begins (`mapreduce.reduce.shuffle.merge.percent`).
        shuffle_merge_percent: f64 = 0.66, 0.01..=1.0;
        /// Number of map outputs in memory at which a merge begins; 0 for no such limit
        /// (`mapreduce.reduce.merge.inmem.threshold`).
        merge_in_memory_threshold: u32 = 1000, 0..=1_000_000;
        /// Part of the heap in which map outputs may stay during the reduce (`mapreduce.reduce.input.buffer.percent`).
        reduce_buffer_percent: f64 = 0.0, 0.0..=1.0;
        /// Speculative execution: second attempts of slow tasks (`mapreduce.map.speculative`,
        /// `mapreduce.reduce.speculative`).
        speculative: bool = true;
        /// An attempt without progress for this long is killed; 0 for never (`mapreduce.task.timeout`).
        task_timeout: Time = Time::from_secs(600), Time::ZERO..=Time::from_secs(86_400 * 7);
        /// Attempts of a task before its job fails (`mapreduce.map.maxattempts`, `mapreduce.reduce.maxattempts`).
        max_attempts: u32 = 4, 1..=1000;
        /// Failed attempts on a node after which a job blacklists it (`mapreduce.job.maxtaskfailures.per.tracker`).
        node_failures: u32 = 3, 1..=1000;
        /// Order of jobs.
        scheduler: Scheduler = Scheduler::Fifo;
        /// Energy-aware scheduling: workers with a lower state of charge get no task while others have more. Left out:
        /// the charge does not matter.
        spare_batteries: Option<f64> = None, 0.001..=1.0;
        /// A job that gets no container for this long takes spared workers too.
        spare_patience: Time = Time::from_secs(60), Time::ZERO..=Time::from_secs(86_400);
        /// Containers are handed out by a thread of the ResourceManager, and not at NodeManagers' heartbeats (yarn:
        /// `yarn.scheduler.capacity.schedule-asynchronously.enable`, by default since Hadoop 3.5).
        asynchronous: bool = false;
        /// Containers that a NodeManager's heartbeat may be given; 0 for no limit (yarn:
        /// `yarn.scheduler.capacity.per-node-heartbeat.maximum-container-assignments`,
        /// `yarn.scheduler.fair.max.assign` with `assignmultiple`). Left out: 100, and 1 for the fair scheduler.
        containers_per_heartbeat: Option<u32> = None, 0..=1_000_000;
        /// Instead, the container by which a heartbeat has been given more than half of what the node had free is its
        /// last one (yarn, fair: `yarn.scheduler.fair.dynamic.max.assign` with `assignmultiple`).
        half_per_heartbeat: bool = false;
        /// How many of these may be anywhere, as reducers may; the last one of them ends the heartbeat (yarn, fifo:
        /// `yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments`).
        off_switch_per_heartbeat: u32 = 1, 1..=1_000_000;
        /// Offers that a job declines while it waits for a local container (yarn, fifo:
        /// `yarn.scheduler.capacity.node-locality-delay`).
        locality_delay: u32 = 40, 0..=1_000_000;
        /// Time for which a job waits for a local slot (hadoop1: `mapred.fairscheduler.locality.delay`).
        locality_wait: Time = Time::from_ms(4500), Time::ZERO..=Time::from_secs(3600);
        /// Interval of a NodeManager's or TaskTracker's heartbeats
        /// (`yarn.resourcemanager.nodemanagers.heartbeat-interval-ms`, `mapreduce.jobtracker.heartbeat.interval.min`).
        /// Left out: 1 s for yarn, 300 ms for hadoop1 (Hadoop 1.1; 3 s before).
        heartbeat: Option<Time> = None, INTERVALS;
        /// Interval of an AppMaster's heartbeats (yarn: `yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms`).
        am_heartbeat: Time = Time::from_secs(1), INTERVALS;
        /// A node without heartbeat for this long is lost (`yarn.nm.liveness-monitor.expiry-interval-ms`,
        /// `mapred.tasktracker.expiry.interval`).
        node_expiry: Time = Time::from_secs(600), INTERVALS;
        /// Size of the job's program (`mapreduce.job.jar`); 0 for none. The client writes it to HDFS, and each node of
        /// the job fetches it once. Default: that of Hadoop's examples.
        job_jar: Bytes = Bytes::new(281_000), FILES;
        /// Size of the job's configuration (`job.xml`); 0 for none. It is fetched with the program, and the AppMaster
        /// writes it beside the job's history. Default: that of Hadoop 3.5.
        job_conf: Bytes = Bytes::new(304_000), FILES;
        /// Replicas of both, at most one per worker (`mapreduce.client.submit.file.replication`).
        submit_replication: u32 = 10, 1..=512;
        /// Time from an AppMaster's heartbeat to the launch of its first containers (yarn). A list of quantiles,
        /// ascending and in equal steps, between which the time is drawn. Left out: as `start-delays`.
        first_start_delays: Vec<Time> = Vec::new(), WORK;
        /// As `first-start-delays`, of later containers (yarn). Left out: no time.
        start_delays: Vec<Time> = Vec::new(), WORK;
        /// Time from the start of the client's JVM to its first step for a job, with what its exit takes.
        client_start: Time = Time::from_ms(1500), WORK;
        /// How often the client asks whether its job is over (`mapreduce.client.progressmonitor.pollinterval`). A
        /// program that waits in silence asks every 5 s (`mapreduce.client.completion.pollinterval`).
        client_poll: Time = Time::from_secs(1), INTERVALS;
        /// CPU time to start a task's JVM, on a core of speed 1.
        jvm_start: Time = Time::from_ms(1200), WORK;
        /// Part of a container's start that does not depend on the processor.
        launch_latency: Time = Time::from_ms(200), WORK;
        /// CPU time of a task's set-up, commit and clean-up, on a core of speed 1.
        task_overhead: Time = Time::from_ms(240), WORK;
        /// Variation of CPU time between attempts of equal tasks: the relative standard deviation.
        task_variation: f64 = 0.0, 0.0..=0.5;
        /// CPU time from the AppMaster's JVM to the launch of the job, beyond that of a task's JVM (yarn).
        am_start: Time = Time::from_ms(1500), WORK;
    }
}

choice! {
    /// What a job does to its data.
    pub enum WorkloadKind {
        /// Hadoop's TeraSort: 100-byte records, sampled ranges, output written once.
        Terasort = "terasort",
        /// Hadoop's TeraGen: maps write the input, nothing is read.
        Teragen = "teragen",
        /// Hadoop's Sort of random records of about 10 KB.
        Sort = "sort",
        /// WordCount over text.
        Wordcount = "wordcount",
        /// WordCount without its combiner.
        WordcountNocombine = "wordcount-nocombine",
        /// Hadoop's Grep, the search job.
        Grep = "grep",
        /// TestDFSIO's write.
        DfsioWrite = "dfsio-write",
        /// TestDFSIO's read.
        DfsioRead = "dfsio-read",
        /// Given by its ratios and costs.
        Generic = "generic",
    }
}

choice! {
    /// How records lie across the blocks of a job's files. A map whose split is not the end of a file reads on in the next
    /// block, to the end of its last record.
    pub enum InputFormat {
        /// Lines of text (`TextInputFormat`): there, or where the next line ends.
        Text = "text",
        /// Sequence files: to the next mark.
        SequenceFile = "sequence-file",
        /// Records end with splits, as in Parquet and ORC: no map reads on.
        Binary = "binary",
    }
}

choice! {
    /// What stands between a job and many small files of its input.
    pub enum PackingKind {
        /// Nothing: a map for each block of each file.
        None = "none",
        /// `CombineFileInputFormat`: a map has several files of its node, else of its rack.
        Combine = "combine",
        /// A Hadoop archive: few files at the NameNode, a map for each packed file, which reads the archive's index.
        Archive = "archive",
        /// One sequence file: a map for each block.
        SequenceFile = "sequence-file",
    }
}

section! {
    /// Many small files (`input` and `files`) and how the job reads them. Packing them is a job of its own, which the
    /// scenario may have before this one.
    pub struct Packing {
        /// What stands between.
        kind: PackingKind = PackingKind::None;
        /// A split with so many bytes is full (combine: `mapreduce.input.fileinputformat.split.maxsize`).
        split: Bytes = Bytes::from_mib(128), Bytes::new(1)..=Bytes::from_mib(1 << 20);
        /// Size of an archive's part files (archive: `har.partfile.size`).
        part: Bytes = Bytes::from_mib(2_048), Bytes::from_mib(1)..=Bytes::from_mib(1 << 40);
        /// Block size of an archive (archive: `har.block.size`).
        block: Bytes = Bytes::from_mib(512), Bytes::from_mib(1)..=Bytes::from_mib(1 << 20);
        /// Part of the files that have changed since the archive was made, and stand in a part file of their own: an
        /// archive that need not be made anew, which Hadoop has not (archive; Yang 2012, 3.3.2).
        changed: f64 = 0.0, 0.0..=1.0;
    }
}

choice! {
    /// A compression codec of Hadoop.
    pub enum JobCodec {
        /// No compression.
        None = "none",
        /// zlib at level 6 (`DefaultCodec`).
        Deflate = "deflate",
        /// gzip at level 6.
        Gzip = "gzip",
        /// Snappy.
        Snappy = "snappy",
        /// LZ4.
        Lz4 = "lz4",
        /// LZO1X-1.
        Lzo = "lzo",
        /// bzip2 in blocks of 900 kB.
        Bzip2 = "bzip2",
        /// Zstandard at level 3.
        Zstd = "zstd",
    }
}

impl MapReduce {
    /// Memory of a container as YARN's scheduler grants it: a multiple of the minimum allocation.
    pub fn granted(&self, memory: Bytes) -> Bytes {
        let unit = self.minimum_allocation.get();
        Bytes::new(memory.get().div_ceil(unit).max(1).saturating_mul(unit))
    }
}

impl WorkloadKind {
    /// Whether its maps make their input: its splits have no length.
    pub const fn makes_its_input(self) -> bool {
        matches!(self, Self::Teragen | Self::DfsioWrite)
    }
    /// Whether its splits are small files that name the ones to read.
    pub const fn reads_named_files(self) -> bool {
        matches!(self, Self::DfsioRead)
    }
    /// Whether its output format knows no codec: `TeraOutputFormat`, and what TestDFSIO's maps write by themselves.
    pub const fn writes_as_it_is(self) -> bool {
        matches!(self, Self::Terasort | Self::Teragen | Self::DfsioRead | Self::DfsioWrite)
    }
}

const RATIOS: std::ops::RangeInclusive<f64> = 0.0..=1000.0;
/// Reducers of recorded jobs have written more than 10 million times what they had read (SWIM's FB-2010).
const REDUCE_RATIOS: std::ops::RangeInclusive<f64> = 0.0..=1e9;
const RECORDS: std::ops::RangeInclusive<f64> = 1.0..=1e9;
/// CPU nanoseconds per byte.
const COSTS: std::ops::RangeInclusive<f64> = 0.0..=1e9;
/// Compressed by plain size; data that do not compress grow a little.
const COMPRESSED: std::ops::RangeInclusive<f64> = 0.0001..=2.0;

section! {
    /// A MapReduce job. Ratios, record sizes and costs left out are those of the workload.
    pub struct Job {
        /// The job's name. Left out: that of its workload.
        name: String = String::new();
        /// What the job does with its data.
        workload: WorkloadKind = WorkloadKind::Terasort;
        /// Size of the input: a file in HDFS, or what the maps write (teragen, dfsio-write).
        input: Bytes = Bytes::from_mb(1_000), SIZES;
        /// Whether the maps make the input themselves, a map for each block (generic). Nothing is read.
        generated: bool = false;
        /// Number of files of the input.
        files: u32 = 1, 1..=1_000_000;
        /// How many small files are read.
        packing: Packing = Packing::default();
        /// Sizes of the maps' splits one by one, in place of `input`.
        splits: Vec<Bytes> = Vec::new(), SIZES;
        /// Workers with the replicas of each split (dfsio-read: of each file's control file), one list per split. Left
        /// out: HDFS places them.
        split_hosts: Vec<Nodes> = Vec::new();
        /// The worker that wrote each file (dfsio-read); it holds a replica of each block. Left out: the files came
        /// from outside.
        file_writers: Vec<u32> = Vec::new(), 1..=100_000;
        /// Where the input is.
        input_store: FileSystem = FileSystem::Hdfs;
        /// How its records lie across the blocks of HDFS. Left out: text; of Hadoop's own jobs as these have it: terasort has
        /// records of 100 bytes, of which one lies across two blocks or not, sort has sequence files. Splits that are given
        /// one by one follow each other in one file while they are whole blocks (`hdfs.block`); any other is the end of a
        /// file.
        input_format: Option<InputFormat> = None;
        /// Bytes in a row that maps read of input in an object store, where they do not read all: some columns of files
        /// that are stored by columns, by vectored reads. Ratios and costs are of what is read.
        read_range: Option<Bytes> = None, Bytes::new(1_024)..=Bytes::from_mib(1 << 10);
        /// Bytes between these.
        read_gap: Bytes = Bytes::ZERO, Bytes::ZERO..=Bytes::from_mib(1 << 20);
        /// Where the output goes. Intermediate data stays on local disks.
        output_store: FileSystem = FileSystem::Hdfs;
        /// Number of reducers. Left out: by `mapreduce.bytes-per-reducer`, else `mapreduce.reducers`.
        reducers: Option<u32> = None, 0..=100_000;
        /// Time of submission.
        submit: Time = Time::ZERO, Time::ZERO..=Time::from_secs(86_400 * 30);
        /// Bytes of the input that the client reads before submission, in equal parts from up to ten splits. TeraSort's
        /// partitioner reads 100,000 records, 10 MB. Left out: nothing. The client is on the master node.
        sample: Option<Bytes> = None, SIZES;
        /// Whether a combiner runs. Left out: as in the workload.
        combiner: Option<bool> = None;
        /// Bytes of an input record.
        input_record: Option<f64> = None, RECORDS;
        /// Which keys the map output has. Left out: nobody knows; the reducers' shares are `skew` or `shares`.
        keys: Option<JobKeys> = None;
        /// Keys of an input record. A record that is placed by key stands with one of them; the others belong to any
        /// node. Matters with `hdfs.placement.kind = "by-key"` alone.
        keys_per_record: f64 = 1.0, 1.0..=1e6;
        /// Bytes of map output per byte of input, before the combiner.
        map_ratio: Option<f64> = None, RATIOS;
        /// Bytes of a map output record.
        map_record: Option<f64> = None, RECORDS;
        /// Number of distinct keys that the combiner folds, where `keys` does not say it of all.
        combine_keys: Option<u64> = None, 1..=1_000_000_000_000;
        /// Zipf exponent of these keys' frequencies; 0 for equal ones.
        combine_exponent: Option<f64> = None, 0.0..=10.0;
        /// Bytes of a combined record.
        combine_record: Option<f64> = None, RECORDS;
        /// Bytes of output per byte of the reducers' records, each with the 2 bytes of the intermediate format.
        reduce_ratio: Option<f64> = None, REDUCE_RATIOS;
        /// Bytes that a map itself writes to HDFS per byte of its input.
        side_ratio: Option<f64> = None, RATIOS;
        /// Replicas of the output. Left out: as in the workload, or `hdfs.replication`.
        output_replication: Option<u32> = None, 1..=512;
        /// Zipf exponent of the reducers' shares; 0 for equal ones.
        skew: f64 = 0.0, 0.0..=10.0;
        /// The reducers' shares one by one, in any unit; replaces `skew`.
        shares: Vec<f64> = Vec::new(), 0.0..=1e18;
        /// CPU time of the map function with reading and collecting, in ns per byte of input at speed 1.
        map_cpu: Option<f64> = None, COSTS;
        /// CPU time of sorting, in ns per record and binary logarithm of the spill's number of records.
        sort_cpu: Option<f64> = None, COSTS;
        /// CPU time of serialising a spill, in ns per byte written.
        spill_cpu: Option<f64> = None, COSTS;
        /// CPU time of merging, in ns per byte read.
        merge_cpu: Option<f64> = None, COSTS;
        /// CPU time of receiving map output, in ns per byte.
        fetch_cpu: Option<f64> = None, COSTS;
        /// CPU time of the combiner, in ns per byte read.
        combine_cpu: Option<f64> = None, COSTS;
        /// CPU time of the reduce function and its output, in ns per byte of reduce input.
        reduce_cpu: Option<f64> = None, COSTS;
        /// Codec of map outputs: on disk, in merges and in the shuffle (`mapreduce.map.output.compress` and
        /// `.compress.codec`). Left out: none.
        map_compression: Option<JobCodec> = None;
        /// Compressed by plain size of map outputs. Left out: what the codec makes of the Silesia corpus.
        map_compression_ratio: Option<f64> = None, COMPRESSED;
        /// CPU time to compress map output, in ns per plain byte at speed 1. Left out: the codec's published rate.
        map_compress_cpu: Option<f64> = None, COSTS;
        /// CPU time to decompress map output, in ns per plain byte at speed 1. Left out: the codec's published rate.
        map_decompress_cpu: Option<f64> = None, COSTS;
        /// Codec of the job's output in HDFS (`mapreduce.output.fileoutputformat.compress` and `.compress.codec`).
        /// Left out: none. TeraSort and TeraGen write without one whatever it says.
        output_compression: Option<JobCodec> = None;
        /// Compressed by plain size of the output. Left out: what the codec makes of the Silesia corpus.
        output_compression_ratio: Option<f64> = None, COMPRESSED;
        /// CPU time to compress output, in ns per plain byte at speed 1. Left out: the codec's published rate.
        output_compress_cpu: Option<f64> = None, COSTS;
        /// Whether the job's tasks run in its AppMaster if they are few and small (yarn). Left out:
        /// `mapreduce.uber.enable`.
        uber: Option<bool> = None;
        /// The history that an import made the job of, relative to the scenario's file. A run's page shows the recorded
        /// attempts above the simulated ones; nothing else is taken from it. Where it is not found, the page does
        /// without.
        history: Option<String> = None;
        /// A recorded plan, which replaces decisions of the scheduler.
        plan: Option<Plan> = None;
    }
}
