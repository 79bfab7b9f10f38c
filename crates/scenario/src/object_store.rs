//! An object store under the jobs, and S3A, Hadoop's client of it. Keys of S3A stand for Hadoop's own properties.

use super::check::Check;
use super::key::{choice, section};
use super::network::{TopologyKind, node_number};
use super::{Generation, Job, Scenario};
use units::{BitRate, Bytes, Quantity, Time};

const RATES: std::ops::RangeInclusive<BitRate> = BitRate::from_bps(8_000)..=BitRate::from_gbps(10_000);
const DELAYS: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_secs(100);
const LATENCIES: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_secs(60);
const INTERVALS: std::ops::RangeInclusive<Time> = Time::from_ms(1)..=Time::from_secs(86_400);
const START: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_secs(3_600);
const PARTS: std::ops::RangeInclusive<Bytes> = Bytes::from_mib(5)..=Bytes::from_mib(5 << 10);

choice! {
    /// The file system of a job's input or output.
    pub enum FileSystem {
        /// HDFS.
        Hdfs = "hdfs",
        /// The store of `[object-store]`, through S3A.
        ObjectStore = "object-store",
    }
}

choice! {
    /// How S3A reads (`fs.s3a.experimental.input.fadvise`, `fs.s3a.prefetch.enabled`).
    pub enum InputPolicy {
        /// One request to the end of the object, which the reader of a split gives up.
        Sequential = "sequential",
        /// A request for each read of an application. Good for columns, bad for a scan.
        Random = "random",
        /// Blocks, several ahead of the reader at once.
        Prefetch = "prefetch",
    }
}

choice! {
    /// How output in the store becomes visible.
    pub enum Committer {
        /// `FileOutputCommitter`, algorithm 1: files are copied when a task is done, and again when the job is.
        FileV1 = "file-v1",
        /// `FileOutputCommitter`, algorithm 2, Hadoop 3's default: files are copied when a task is done.
        FileV2 = "file-v2",
        /// S3A's staging committer: tasks upload from local disks when they are done.
        Directory = "directory",
        /// S3A's magic committer: tasks upload while they write.
        Magic = "magic",
    }
}

impl Committer {
    /// Whether output is copied within the store.
    pub const fn copies(self) -> bool {
        matches!(self, Self::FileV1 | Self::FileV2)
    }
}

section! {
    /// An object store under the jobs. [The model](../models/object-store.md) has the sources.
    pub struct ObjectStore {
        /// Where it is: a switch, on which it hangs by a link of its own, or a node, which then is the store. Left out:
        /// the uppermost switch of the topology.
        at: Option<String> = None;
        /// Rate of the link between it and its switch.
        rate: BitRate = BitRate::from_gbps(100), RATES;
        /// Propagation delay of that link, one way.
        delay: Time = Time::from_us(250), DELAYS;
        /// Probability that a packet is lost on that link, in each direction.
        loss: f64 = 0.0, 0.0..=1.0;
        /// From the end of a request to the first byte of its answer: the median of a log-normal distribution.
        latency: Time = Time::from_ms(30), LATENCIES;
        /// What 99 of 100 requests stay below. At or below `latency`: every request takes that.
        latency_p99: Time = Time::from_ms(200), LATENCIES;
        /// What one connection carries at most, either way. Default: 87.5 MB/s, S3's guideline of 85 to 90.
        connection_rate: BitRate = BitRate::from_mbps(700), RATES;
        /// Rate at which the store copies one object, or one part of it.
        copy_rate: BitRate = BitRate::from_mbps(80), RATES;
        /// GET, HEAD and LIST requests a second that a prefix takes; more are told 503 Slow Down.
        read_limit: u32 = 5_500, 1..=1_000_000_000;
        /// PUT, COPY, POST and DELETE requests a second that a prefix takes.
        write_limit: u32 = 3_500, 1..=1_000_000_000;
        /// A prefix that was idle takes at once what the limit allows in this time.
        limit_window: Time = Time::from_secs(1), Time::ZERO..=Time::from_secs(3_600);
        /// Prefixes with limits of their own, over which keys spread.
        prefixes: u32 = 1, 1..=10_000;
        /// The client in every process.
        s3a: S3a = S3a::default();
    }
}

section! {
    /// S3A. Defaults are those of Hadoop 3.4.
    pub struct S3a {
        /// CPU time to load and start it in a process, on a core of speed 1: its classes, Amazon's library, a connection
        /// pool. A task that reads or writes objects has it before its own work, an AppMaster before it launches the job.
        start: Time = Time::from_ms(1300), START;
        /// CPU time before the first request of a task's output stream, and of the output's folders in the AppMaster, on
        /// a core of speed 1: the classes that write, rename and delete.
        write_start: Time = Time::from_ms(350), START;
        /// CPU time of a request in a process that has made few, on a core of speed 1. It falls with the cube root of
        /// their number from the 34th on, to a third at the 1,200th.
        request_cpu: Time = Time::from_ms(8), START;
        /// Length of a split (`fs.s3a.block.size`).
        block: Bytes = Bytes::from_mib(32), Bytes::new(512)..=Bytes::from_mib(1 << 20);
        /// How it reads.
        input_policy: InputPolicy = InputPolicy::Sequential;
        /// What a random read asks for at least, and the most that is read to its end to keep a connection
        /// (`fs.s3a.readahead.range`).
        readahead: Bytes = Bytes::from_mib(1) / 16, Bytes::new(1_024)..=Bytes::from_mib(1 << 10);
        /// Block of the prefetching stream (`fs.s3a.prefetch.block.size`).
        prefetch_block: Bytes = Bytes::from_mib(8), Bytes::new(65_536)..=Bytes::from_mib(1 << 10);
        /// Blocks that it holds and asks for (`fs.s3a.prefetch.block.count`).
        prefetch_count: u32 = 8, 1..=1_000;
        /// Ranges of a vectored read (`job.read-range`) are merged across gaps below this
        /// (`fs.s3a.vectored.read.min.seek.size`) ...
        vectored_min_seek: Bytes = Bytes::from_mib(1) / 8, Bytes::ZERO..=Bytes::from_mib(1 << 10);
        /// ... up to this length (`fs.s3a.vectored.read.max.merged.size`).
        vectored_max_merged: Bytes = Bytes::from_mib(2), Bytes::ZERO..=Bytes::from_mib(1 << 10);
        /// Ranges of one stream under way at once (`fs.s3a.vectored.active.ranged.reads`).
        vectored_active: u32 = 4, 1..=1_000;
        /// Connections of a process (`fs.s3a.connection.maximum`).
        connections: u32 = 500, 1..=100_000;
        /// Whether connections begin with TLS (`fs.s3a.connection.ssl.enabled`).
        tls: bool = true;
        /// An idle connection is not used again after this (`fs.s3a.connection.idle.time`).
        idle_time: Time = Time::from_secs(60), INTERVALS;
        /// A request is given up after this time without a byte (`fs.s3a.connection.timeout`).
        timeout: Time = Time::from_secs(200), INTERVALS;
        /// Part of an upload or a copy (`fs.s3a.multipart.size`); S3 takes no smaller ones than 5 MiB.
        multipart_size: Bytes = Bytes::from_mib(64), PARTS;
        /// Objects from this length on are copied in parts (`fs.s3a.multipart.threshold`).
        multipart_threshold: Bytes = Bytes::from_mib(128), PARTS;
        /// Whether blocks wait for their upload on local disks, as `fs.s3a.fast.upload.buffer = disk` has it; else in
        /// memory.
        disk_buffer: bool = true;
        /// Parts of one stream under way at once (`fs.s3a.fast.upload.active.blocks`).
        active_blocks: u32 = 4, 1..=1_000;
        /// Attempts of the AWS library, after which S3A's own pauses follow (`fs.s3a.attempts.maximum`).
        attempts: u32 = 5, 1..=1_000;
        /// Further attempts after failures other than 503 (`fs.s3a.retry.limit`).
        retry_limit: u32 = 7, 0..=1_000;
        /// First pause before one, doubled each time (`fs.s3a.retry.interval`).
        retry_interval: Time = Time::from_ms(500), INTERVALS;
        /// Further attempts after 503 (`fs.s3a.retry.throttle.limit`).
        throttle_limit: u32 = 20, 0..=1_000;
        /// First pause before one, doubled each time (`fs.s3a.retry.throttle.interval`).
        throttle_interval: Time = Time::from_ms(100), INTERVALS;
        /// How output is committed.
        committer: Committer = Committer::FileV2;
        /// Uploads that a job's commit completes at once (`fs.s3a.committer.threads`).
        committer_threads: u32 = 8, 1..=10_000;
    }
}

/// Parts that S3 takes of one object.
const MOST_PARTS: u64 = 10_000;

impl Job {
    /// Whether it reads from the object store.
    pub fn reads_objects(&self) -> bool {
        self.input_store == FileSystem::ObjectStore && !self.workload.makes_its_input() && !self.generated
    }
    /// Whether it writes to the object store.
    pub fn writes_objects(&self) -> bool {
        self.output_store == FileSystem::ObjectStore
    }
}

impl Scenario {
    /// Whether any job writes to the object store.
    fn writes_objects(&self) -> bool {
        self.job.iter().any(Job::writes_objects)
    }
}

/// What is wrong with the store and the jobs that use it.
pub(super) fn check(check: &mut Check<'_>) {
    let scenario = check.scenario;
    for (i, job) in scenario.job.iter().enumerate() {
        of_job(check, &format!("job.{i}"), job);
    }
    let Some(store) = &scenario.object_store else { return };
    if scenario.job.is_empty() {
        check.says("object-store", "there is no job that could use it", "add a [job], or leave it out");
    }
    if scenario.cluster.generation == Generation::Hadoop1 {
        let message = "S3A and its committers are of Hadoop 3";
        check.says("object-store", message, "`cluster.generation = \"yarn\"`");
    }
    let node = store.at.as_deref().and_then(node_number);
    if node.is_some_and(|node| node > scenario.cluster.workers) {
        let last = scenario.cluster.workers;
        let message = format!("there is no `{}`", store.at.as_deref().unwrap_or_default());
        check.says("object-store.at", message, format!("the last worker is worker-{last}"));
    }
    for key in ["rate", "delay", "loss"].iter().filter(|_| node.is_some()) {
        let path = format!("object-store.{key}");
        if check.states(&path) {
            check.says(&path, "the store is a node, whose link is the network's", "leave it out, or `at` a switch");
        }
    }
    if scenario.network.topology == TopologyKind::Wifi && node.is_none() {
        let help = "`object-store.at = \"master\"`, say";
        check.says("object-store.at", "the air has no switch on which the store could hang", help);
    }
    if store.s3a.multipart_threshold < store.s3a.multipart_size {
        let message = format!("it is below a part, {}", store.s3a.multipart_size.exact());
        check.says("object-store.s3a.multipart-threshold", message, "at least `multipart-size`");
    }
}

fn of_job(check: &mut Check<'_>, path: &str, job: &Job) {
    let scenario = check.scenario;
    if job.read_range.is_some() && !job.reads_objects() {
        let message = "only input in an object store is read in ranges";
        check.says(&format!("{path}.read-range"), message, "`input-store = \"object-store\"`, or leave it out");
    }
    if job.read_range.is_none() && job.read_gap > Bytes::ZERO {
        let message = "it does not say what is read between the gaps";
        check.says(&format!("{path}.read-gap"), message, "`read-range`");
    }
    let Some(store) = &scenario.object_store else {
        let places = [("input-store", job.input_store), ("output-store", job.output_store)];
        for (key, _) in places.into_iter().filter(|(_, store)| *store == FileSystem::ObjectStore) {
            let help = "add [object-store], or `hdfs`";
            check.says(&format!("{path}.{key}"), "the scenario has no object store", help);
        }
        return;
    };
    if job.writes_objects() && job.output_replication.is_some() {
        let message = "an object store keeps its copies to itself";
        check.says(&format!("{path}.output-replication"), message, "leave it out, or `output-store = \"hdfs\"`");
    }
    if job.reads_objects() {
        let hosts = [("split-hosts", job.split_hosts.is_empty()), ("file-writers", job.file_writers.is_empty())];
        for (key, _) in hosts.into_iter().filter(|(_, none)| !none) {
            let message = "objects are near no node";
            check.says(&format!("{path}.{key}"), message, "leave it out, or `input-store = \"hdfs\"`");
        }
        let block = store.s3a.block;
        let blocks = (job.input.get() as f64 * scenario.mapreduce.data_scale / block.get() as f64) as u64;
        if job.splits.is_empty() && blocks > super::check::MOST {
            let message = format!("{} in blocks of {} are {blocks} splits", job.input.exact(), block.exact());
            check.says(&format!("{path}.input"), message, "a larger `object-store.s3a.block`");
        }
    }
}

/// What can run, but will not do what its writer may expect.
pub(super) fn warn(check: &mut Check<'_>) {
    let scenario = check.scenario;
    let Some(store) = &scenario.object_store else { return };
    let s3a = &store.s3a;
    let (reads, writes) = (scenario.job.iter().any(Job::reads_objects), scenario.writes_objects());
    if !reads && !writes {
        let help = "`job.input-store = \"object-store\"`, or `output-store`";
        check.says("object-store", "no job reads from it or writes to it", help);
        return;
    }
    for key in ["committer", "committer-threads", "multipart-size", "active-blocks", "disk-buffer"] {
        let path = format!("object-store.s3a.{key}");
        if !writes && check.states(&path) {
            check.says(&path, "no job writes to the store", "`job.output-store = \"object-store\"`");
        }
    }
    for key in ["block", "input-policy", "prefetch-block", "prefetch-count"] {
        let path = format!("object-store.s3a.{key}");
        if !reads && check.states(&path) {
            check.says(&path, "no job reads from the store", "`job.input-store = \"object-store\"`");
        }
    }
    let prefetches = reads && s3a.input_policy == InputPolicy::Prefetch;
    for (key, needed, used) in [
        ("active-blocks", s3a.active_blocks, writes && s3a.committer != Committer::Directory),
        ("prefetch-count", s3a.prefetch_count, prefetches),
        ("committer-threads", s3a.committer_threads, writes && s3a.committer != Committer::FileV2),
    ] {
        if used && needed > s3a.connections && check.states("object-store.s3a.connections") {
            let message = format!("{} connections hold `{key}`, {needed}, back", s3a.connections);
            check.says("object-store.s3a.connections", message, format!("at least {needed}"));
        }
    }
    if reads && s3a.input_policy == InputPolicy::Random {
        let message = "MapReduce reads a split from its beginning to its end: each read-ahead waits for a first byte";
        check.says("object-store.s3a.input-policy", message, "`sequential`, or `prefetch`");
    }
    if writes && s3a.committer == Committer::Directory && check.states("object-store.s3a.active-blocks") {
        let message = "the directory committer uploads the parts of a file one after the other";
        check.says("object-store.s3a.active-blocks", message, "`committer = \"magic\"`");
    }
    for (i, job) in scenario.job.iter().enumerate().filter(|(_, job)| job.writes_objects()) {
        let written = job.input.get() as f64 * scenario.mapreduce.data_scale;
        let reducers = f64::from(job.reducers.unwrap_or(scenario.mapreduce.reducers).max(1));
        let parts = (written / reducers / s3a.multipart_size.get() as f64) as u64;
        if parts > MOST_PARTS && job.reduce_ratio.is_none_or(|ratio| ratio >= 1.0) {
            let message = format!("a reducer may write {parts} parts, and S3 takes {MOST_PARTS} of an object");
            check.says(&format!("job.{i}.output-store"), message, "a larger `object-store.s3a.multipart-size`");
        }
    }
}
