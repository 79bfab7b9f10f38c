//! HDFS, MapReduce and jobs. Keys stand for Hadoop's own properties, named with each.

use super::key::{choice, section};
use super::network::Nodes;
use super::plan::Plan;
use units::{Bytes, Time};

const SIZES: std::ops::RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::from_mib(1 << 40);
const MEMORY: std::ops::RangeInclusive<Bytes> = Bytes::from_mib(1)..=Bytes::from_mib(1 << 30);
const FILES: std::ops::RangeInclusive<Bytes> = Bytes::ZERO..=Bytes::from_mib(1 << 20);
const INTERVALS: std::ops::RangeInclusive<Time> = Time::from_ms(1)..=Time::from_secs(86_400 * 7);
const WORK: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_secs(3600);

section! {
    /// HDFS.
    pub struct Hdfs {
        /// Block size (`dfs.blocksize`).
        block: Bytes = Bytes::from_mib(128), Bytes::new(512)..=Bytes::from_mib(1 << 20);
        /// Replicas of each block (`dfs.replication`).
        replication: u32 = 3, 1..=512;
        /// Payload of a packet of the replication pipeline (`dfs.client-write-packet-size`).
        packet: Bytes = Bytes::from_mib(1) / 16, Bytes::new(512)..=Bytes::from_mib(16);
        /// Between two heartbeats of a DataNode (`dfs.heartbeat.interval`).
        heartbeat: Time = Time::from_secs(3), INTERVALS;
        /// Between two block reports of a DataNode (`dfs.blockreport.intervalMsec`).
        block_report: Time = Time::from_secs(6 * 3600), INTERVALS;
        /// Between two checks for silent DataNodes (`dfs.namenode.heartbeat.recheck-interval`): one is dead after twice
        /// this and ten heartbeats.
        recheck: Time = Time::from_secs(300), INTERVALS;
        /// Silence after which a client or DataNode gives up a pipeline or read (`dfs.client.socket-timeout`).
        socket_timeout: Time = Time::from_secs(60), INTERVALS;
        /// Calls that the NameNode serves at a time (`dfs.namenode.handler.count`).
        handlers: u32 = 10, 1..=10_000;
        /// CPU time of a call at the NameNode, of one core at speed 1.
        call_cost: Time = Time::from_us(100), WORK;
    }
}

section! {
    /// The master node's side of calls: its one reader and one receive buffer per connection, for NameNode,
    /// ResourceManager and JobTracker. What does not leave a buffer in time closes its window.
    pub struct Master {
        /// CPU time that a server's reader spends on each call, and on each 8 KB of a long one before its end, before
        /// it has left the receive buffer, of one core at speed 1; 0 reads at once.
        read_cost: Time = Time::ZERO, WORK;
        /// Calls that may wait for each handler (`ipc.server.handler.queue.size`); while they do, what arrives stays in
        /// the receive buffers.
        queue: u32 = 100, 1..=1_000_000;
        /// Calls that the JobTracker, or each server of the ResourceManager, serves at a time
        /// (`mapred.job.tracker.handler.count`, `yarn.resourcemanager.resource-tracker.client.thread-count`); left out,
        /// 10 for hadoop1 and 50 for yarn. The NameNode's are `hdfs.handlers`.
        handlers: Option<u32> = None, 1..=10_000;
        /// CPU time of each of these calls, of one core at speed 1; left out, 400 us for hadoop1 and 150 us for yarn.
        /// The NameNode's is `hdfs.call-cost`.
        call_cost: Option<Time> = None, WORK;
        /// Receive buffer of each connection to the masters; left out, `tcp.receive-buffer`.
        receive_buffer: Option<Bytes> = None, Bytes::new(256)..=Bytes::from_mib(1 << 10);
        /// All connections to the masters share so much receive buffer, in place of `receive-buffer`: each may hold as
        /// much as nobody holds (dynamic thresholds, Choudhury and Hahne 1998), and 2 KB in any case.
        shared_buffer: Option<Bytes> = None, Bytes::new(256)..=Bytes::from_mib(1 << 10);
        /// Whether workers send their heartbeats over connections of their own.
        heartbeat_connections: bool = false;
    }
}

choice! {
    /// How jobs share the cluster.
    pub enum Scheduler {
        /// Jobs in order of submission.
        Fifo = "fifo",
        /// The job furthest below its fair share first.
        Fair = "fair",
    }
}

section! {
    /// MapReduce. Keys of one generation only say so.
    pub struct MapReduce {
        /// Reducers of each job that does not say otherwise (`mapreduce.job.reduces`); 0 writes map output to HDFS.
        reducers: u32 = 1, 0..=100_000;
        /// Map slots of a node (hadoop1: `mapred.tasktracker.map.tasks.maximum`).
        map_slots: u32 = 2, 1..=1000;
        /// Reduce slots of a node (hadoop1: `mapred.tasktracker.reduce.tasks.maximum`).
        reduce_slots: u32 = 2, 1..=1000;
        /// Memory that a node offers to containers (yarn: `yarn.nodemanager.resource.memory-mb`); left out, 8 GiB or
        /// what the node has, if that is less.
        node_memory: Option<Bytes> = None, MEMORY;
        /// Virtual cores that a node offers (yarn: `yarn.nodemanager.resource.cpu-vcores`).
        node_vcores: u32 = 8, 1..=10_000;
        /// Memory of a map's container (yarn: `mapreduce.map.memory.mb`).
        map_memory: Bytes = Bytes::from_mib(1024), MEMORY;
        /// Memory of a reducer's container (yarn: `mapreduce.reduce.memory.mb`).
        reduce_memory: Bytes = Bytes::from_mib(1024), MEMORY;
        /// Memory of the AppMaster's container (yarn: `yarn.app.mapreduce.am.resource.mb`).
        am_memory: Bytes = Bytes::from_mib(1536), MEMORY;
        /// Requests are rounded up to a multiple of it (yarn: `yarn.scheduler.minimum-allocation-mb`).
        minimum_allocation: Bytes = Bytes::from_mib(1024), MEMORY;
        /// Part of the maps that is done when the first reducer starts
        /// (`mapreduce.job.reduce.slowstart.completedmaps`).
        slowstart: f64 = 0.05, 0.0..=1.0;
        /// Fetchers of a reducer (`mapreduce.reduce.shuffle.parallelcopies`).
        parallel_copies: u32 = 5, 1..=1000;
        /// A map's sort buffer (`mapreduce.task.io.sort.mb`).
        io_sort: Bytes = Bytes::from_mib(100), Bytes::from_mib(1)..=Bytes::from_mib(1 << 20);
        /// How full it is when a spill begins (`mapreduce.map.sort.spill.percent`).
        spill_percent: f64 = 0.8, 0.01..=1.0;
        /// Streams merged at once (`mapreduce.task.io.sort.factor`).
        sort_factor: u32 = 10, 2..=10_000;
        /// A reducer's heap (`mapreduce.reduce.java.opts`, -Xmx); left out, four fifths of `reduce-memory` for yarn and
        /// 200 MiB for hadoop1.
        reduce_heap: Option<Bytes> = None, MEMORY;
        /// Part of that heap for fetched map outputs (`mapreduce.reduce.shuffle.input.buffer.percent`).
        shuffle_buffer_percent: f64 = 0.7, 0.01..=1.0;
        /// How full that part is when an in-memory merge begins (`mapreduce.reduce.shuffle.merge.percent`).
        shuffle_merge_percent: f64 = 0.66, 0.01..=1.0;
        /// Map outputs in memory at which a merge begins, 0 for no such limit
        /// (`mapreduce.reduce.merge.inmem.threshold`).
        merge_in_memory_threshold: u32 = 1000, 0..=1_000_000;
        /// Part of the heap in which map outputs may stay during the reduce (`mapreduce.reduce.input.buffer.percent`).
        reduce_buffer_percent: f64 = 0.0, 0.0..=1.0;
        /// Second attempts at slow tasks (`mapreduce.map.speculative`, `mapreduce.reduce.speculative`).
        speculative: bool = true;
        /// Silence after which an attempt is killed, 0 for never (`mapreduce.task.timeout`).
        task_timeout: Time = Time::from_secs(600), Time::ZERO..=Time::from_secs(86_400 * 7);
        /// Attempts at a task before its job fails (`mapreduce.map.maxattempts`, `mapreduce.reduce.maxattempts`).
        max_attempts: u32 = 4, 1..=1000;
        /// Failures on one node that blacklist it for a job (`mapreduce.job.maxtaskfailures.per.tracker`).
        node_failures: u32 = 3, 1..=1000;
        /// How jobs share the cluster.
        scheduler: Scheduler = Scheduler::Fifo;
        /// Energy-aware: workers whose battery holds less than this part of its charge get no task while others hold
        /// more; left out, batteries do not matter.
        spare_batteries: Option<f64> = None, 0.001..=1.0;
        /// How long a job puts up with that before it takes spared workers too.
        spare_patience: Time = Time::from_secs(60), Time::ZERO..=Time::from_secs(86_400);
        /// Offers that a job lets pass while it waits for a local container (yarn:
        /// `yarn.scheduler.capacity.node-locality-delay`).
        locality_delay: u32 = 40, 0..=1_000_000;
        /// How long a job waits for a local slot (hadoop1: `mapred.fairscheduler.locality.delay`).
        locality_wait: Time = Time::from_ms(4500), Time::ZERO..=Time::from_secs(3600);
        /// Between two heartbeats of a NodeManager or TaskTracker
        /// (`yarn.resourcemanager.nodemanagers.heartbeat-interval-ms`, `mapreduce.jobtracker.heartbeat.interval.min`);
        /// left out, 1 s for yarn and 300 ms for hadoop1, which is Hadoop 1.1's (3 s before).
        heartbeat: Option<Time> = None, INTERVALS;
        /// Between two heartbeats of an AppMaster (yarn: `yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms`).
        am_heartbeat: Time = Time::from_secs(1), INTERVALS;
        /// Silence after which a node is lost (`yarn.nm.liveness-monitor.expiry-interval-ms`,
        /// `mapred.tasktracker.expiry.interval`).
        node_expiry: Time = Time::from_secs(600), INTERVALS;
        /// Size of the job's program (`mapreduce.job.jar`), which the client puts into HDFS and every node of the job
        /// fetches once; 0 for none. The default is that of Hadoop's examples.
        job_jar: Bytes = Bytes::new(281_000), FILES;
        /// Size of the job's configuration (`job.xml`), which is fetched with it and which the AppMaster writes beside
        /// the job's history; 0 for neither. The default is that of Hadoop 3.5.
        job_conf: Bytes = Bytes::new(304_000), FILES;
        /// Replicas of both, as many as there are workers at most (`mapreduce.client.submit.file.replication`).
        submit_replication: u32 = 10, 1..=512;
        /// How long an AppMaster's first containers take from its heartbeat to their launch (yarn): quantiles in equal
        /// steps, ascending, between which it is drawn; left out, as `start-delays`.
        first_start_delays: Vec<Time> = Vec::new(), WORK;
        /// The same for later containers (yarn); left out, no time.
        start_delays: Vec<Time> = Vec::new(), WORK;
        /// CPU time to start a task's JVM, of one core at speed 1.
        jvm_start: Time = Time::from_ms(1200), WORK;
        /// Part of a container's start that no faster processor shortens.
        launch_latency: Time = Time::from_ms(200), WORK;
        /// CPU time of a task's own set-up, commit and clean-up, of one core at speed 1.
        task_overhead: Time = Time::from_ms(240), WORK;
        /// How much attempts at equal tasks differ in the CPU time that they take: the standard deviation, relative.
        task_variation: f64 = 0.0, 0.0..=0.5;
        /// CPU time from the AppMaster's JVM to the job's launch, beyond a task's JVM (yarn).
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

const RATIOS: std::ops::RangeInclusive<f64> = 0.0..=1000.0;
const RECORDS: std::ops::RangeInclusive<f64> = 1.0..=1e9;
/// CPU nanoseconds per byte.
const COSTS: std::ops::RangeInclusive<f64> = 0.0..=1e9;

section! {
    /// A MapReduce job. Ratios, record sizes and costs left out are those of the workload.
    pub struct Job {
        /// Its name; the workload's where left out.
        name: String = String::new();
        /// What it does to its data.
        workload: WorkloadKind = WorkloadKind::Terasort;
        /// Its input: a file of this size in HDFS, or what its maps write (teragen, dfsio-write).
        input: Bytes = Bytes::from_mb(1_000), SIZES;
        /// Files that the input is divided into.
        files: u32 = 1, 1..=1_000_000;
        /// The size of each map's split, one by one, in place of `input` cut into blocks.
        splits: Vec<Bytes> = Vec::new(), SIZES;
        /// The workers that hold the replicas of each of these splits (dfsio-read: of the control file of each file),
        /// one list for each; left out, HDFS places them.
        split_hosts: Vec<Nodes> = Vec::new();
        /// dfsio-read: the worker on which each file was written, which holds a replica of all its blocks; left out,
        /// the files came from outside.
        file_writers: Vec<u32> = Vec::new(), 1..=1_000_000;
        /// Reducers; left out, `mapreduce.reducers`.
        reducers: Option<u32> = None, 0..=100_000;
        /// When it is submitted.
        submit: Time = Time::ZERO, Time::ZERO..=Time::from_secs(86_400 * 30);
        /// What its client, on the master node, reads of the input before it submits the job, in equal parts from up to
        /// ten splits: for TeraSort's partitions 100,000 records, 10 MB. Left out, nothing.
        sample: Option<Bytes> = None, SIZES;
        /// Whether a combiner runs; left out, as the workload has it.
        combiner: Option<bool> = None;
        /// Bytes of an input record.
        input_record: Option<f64> = None, RECORDS;
        /// Map output per byte of input, before combining.
        map_ratio: Option<f64> = None, RATIOS;
        /// Bytes of a map output record.
        map_record: Option<f64> = None, RECORDS;
        /// Different keys that the combiner folds.
        combine_keys: Option<u64> = None, 1..=1_000_000_000_000;
        /// Zipf exponent of their frequencies, 0 for equal ones.
        combine_exponent: Option<f64> = None, 0.0..=10.0;
        /// Bytes of a combined record.
        combine_record: Option<f64> = None, RECORDS;
        /// Output per byte of reduce input.
        reduce_ratio: Option<f64> = None, RATIOS;
        /// Bytes that a map writes to HDFS itself per byte of its input.
        side_ratio: Option<f64> = None, RATIOS;
        /// Replicas of the output; left out, as the workload or HDFS has it.
        output_replication: Option<u32> = None, 1..=512;
        /// Zipf exponent of the reducers' shares, 0 for equal ones.
        skew: f64 = 0.0, 0.0..=10.0;
        /// The reducers' shares one by one, in any unit, in place of `skew`.
        shares: Vec<f64> = Vec::new(), 0.0..=1e18;
        /// CPU of the map function, reading and collecting included: nanoseconds at speed 1 per byte of input.
        map_cpu: Option<f64> = None, COSTS;
        /// CPU of a comparison in the sort: nanoseconds per record and binary logarithm of the spill's records.
        sort_cpu: Option<f64> = None, COSTS;
        /// CPU of serialising a spill: nanoseconds per byte written.
        spill_cpu: Option<f64> = None, COSTS;
        /// CPU of merging: nanoseconds per byte read.
        merge_cpu: Option<f64> = None, COSTS;
        /// CPU of receiving a fetched map output: nanoseconds per byte.
        fetch_cpu: Option<f64> = None, COSTS;
        /// CPU of the combiner: nanoseconds per byte that it reads.
        combine_cpu: Option<f64> = None, COSTS;
        /// CPU of the reduce function and its output: nanoseconds per byte of reduce input.
        reduce_cpu: Option<f64> = None, COSTS;
        /// A recorded plan that the run follows.
        plan: Option<Plan> = None;
    }
}
