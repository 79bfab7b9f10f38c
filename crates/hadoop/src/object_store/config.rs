//! The store's service, and the settings of its client, S3A, under the meaning and the defaults of Hadoop 3.4.

use crate::ids::NodeId;
use units::{BitRate, Bytes, Time};

/// How a client reads (`fs.s3a.experimental.input.fadvise`, `fs.s3a.prefetch.enabled`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputPolicy {
    /// One request from where it begins to the end of the object, given up when the reader has what it wants.
    Sequential,
    /// A request for each read of the application, of the read-ahead range at least.
    Random,
    /// Blocks, several ahead of the reader at once.
    Prefetch,
}

/// How output becomes visible (`mapreduce.outputcommitter.factory.scheme.s3a`, `fs.s3a.committer.name`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputCommitter {
    /// `FileOutputCommitter`, algorithm 1: renamed when a task is done, and again when the job is.
    FileV1,
    /// `FileOutputCommitter`, algorithm 2: renamed when a task is done.
    FileV2,
    /// Staging: tasks write to local disks, upload when they are done, and the job completes the uploads.
    Directory,
    /// Tasks upload while they write, and the job completes the uploads.
    Magic,
}

/// Which bytes a reader wants of what it reads: so many, then none of so many, and so on (some columns of a file that
/// is stored by columns).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stride {
    /// Bytes that are wanted in a row; at least one.
    pub wanted: Bytes,
    /// Bytes between these.
    pub gap: Bytes,
}

impl Stride {
    /// How many of the first `bytes` are wanted.
    pub fn of(self, bytes: Bytes) -> Bytes {
        let period = (self.wanted + self.gap).get().max(1);
        self.wanted * (bytes.get() / period) + Bytes::new(bytes.get() % period).min(self.wanted)
    }
    /// How far a request must go for so many of them.
    pub(super) fn length(self, wanted: Bytes) -> Bytes {
        wanted + self.gap * wanted.get().div_ceil(self.wanted.get().max(1)).saturating_sub(1)
    }
}

/// The store and its clients.
#[derive(Clone, PartialEq, Debug)]
pub struct ObjectStoreConfig {
    /// Where it answers: a node of the cluster, or one beyond them that has nothing but a place in the network.
    pub node: NodeId,
    /// From the last byte of a request to the first of its answer: the median. For requests that write, after the last
    /// byte of the body.
    pub latency: Time,
    /// The latency that 99 of 100 requests stay below: the distribution is log-normal.
    pub latency_p99: Time,
    /// What a connection carries at most, either way.
    pub connection_rate: BitRate,
    /// Rate at which the store copies an object, or a part of one.
    pub copy_rate: BitRate,
    /// GET, HEAD and LIST requests a second that a prefix takes.
    pub read_limit: u32,
    /// PUT, COPY, POST and DELETE requests a second that a prefix takes.
    pub write_limit: u32,
    /// For how long a prefix that was idle takes more than that: what it has saved up.
    pub limit_window: Time,
    /// Prefixes that have limits of their own, over which keys spread evenly.
    pub prefixes: u32,

    /// CPU time in which a process loads and starts the client, before its first request.
    pub start_cpu: Time,
    /// CPU time in which a task or an AppMaster loads what writes, renames and deletes, before the first request of its
    /// output stream, or of the output's folders.
    pub write_start_cpu: Time,
    /// CPU time of a request in a client that has made few; see [`Self::cpu_of`].
    pub request_cpu: Time,
    /// `fs.s3a.block.size` (32 MB): the length of a split.
    pub block_size: Bytes,
    /// How clients read.
    pub input_policy: InputPolicy,
    /// `fs.s3a.readahead.range` (64 KB): the least that a random read asks for, and the most that is read to its end in
    /// order to keep a connection.
    pub readahead: Bytes,
    /// `fs.s3a.prefetch.block.size` (8 MB).
    pub prefetch_block: Bytes,
    /// `fs.s3a.prefetch.block.count` (8).
    pub prefetch_count: u32,
    /// `fs.s3a.vectored.read.min.seek.size` (128 KB): ranges of a vectored read are merged across gaps below this ...
    pub least_seek: Bytes,
    /// `fs.s3a.vectored.read.max.merged.size` (2 MB): ... up to this length.
    pub most_merged: Bytes,
    /// `fs.s3a.vectored.active.ranged.reads` (4): ranges of one stream under way at once.
    pub active_ranges: u32,
    /// `fs.s3a.connection.maximum` (500): connections of a process.
    pub connections: u32,
    /// `fs.s3a.connection.ssl.enabled` (true).
    pub tls: bool,
    /// `fs.s3a.connection.idle.time` (60 s): an idle connection is not used after this.
    pub idle_time: Time,
    /// `fs.s3a.connection.timeout` (200 s): a request is given up after this time without a byte.
    pub timeout: Time,
    /// `fs.s3a.multipart.size` (64 MB): a part of an upload or a copy.
    pub multipart_size: Bytes,
    /// `fs.s3a.multipart.threshold` (128 MB): objects from this length on are copied in parts.
    pub multipart_threshold: Bytes,
    /// `fs.s3a.fast.upload.buffer` (disk): blocks wait on the node's local disks; else in memory.
    pub disk_buffer: bool,
    /// `fs.s3a.fast.upload.active.blocks` (4): parts of one stream under way at once.
    pub active_blocks: u32,
    /// `fs.s3a.attempts.maximum` (5): attempts of the AWS library before S3A's own policy takes over.
    pub sdk_attempts: u32,
    /// `fs.s3a.retry.limit` (7): further attempts of S3A after failures other than throttling.
    pub retry_limit: u32,
    /// `fs.s3a.retry.interval` (500 ms), doubled each time.
    pub retry_interval: Time,
    /// `fs.s3a.retry.throttle.limit` (20): further attempts of S3A after throttling.
    pub throttle_limit: u32,
    /// `fs.s3a.retry.throttle.interval` (500 ms; 100 ms in Hadoop 3.3), doubled each time.
    pub throttle_interval: Time,
    /// How output is committed.
    pub committer: OutputCommitter,
    /// `fs.s3a.committer.threads` (32): uploads that a job's commit completes at once.
    pub committer_threads: u32,
}

impl ObjectStoreConfig {
    /// CPU time of a request in a client that has made so many. A JVM gets faster at what it has done often. Measured
    /// are requests 26 to 43 of one, and 1,178 to 1,195, which took a third of that: by the cube root of their number.
    pub fn cpu_of(&self, made: u32) -> Time {
        const FEW: f64 = 34.0;
        const MANY: f64 = 1_186.0;
        self.request_cpu.mul_f64(libm::cbrt(FEW / f64::from(made).clamp(FEW, MANY)))
    }
}

impl Default for ObjectStoreConfig {
    fn default() -> Self {
        Self {
            node: NodeId(0),
            latency: Time::from_ms(30),
            latency_p99: Time::from_ms(150),
            connection_rate: BitRate::from_mbps(700),
            copy_rate: BitRate::from_mbps(80),
            read_limit: 5_500,
            write_limit: 3_500,
            limit_window: Time::from_secs(1),
            prefixes: 1,
            start_cpu: Time::from_ms(1_300),
            write_start_cpu: Time::from_ms(350),
            request_cpu: Time::from_ms(8),
            block_size: Bytes::from_mib(32),
            input_policy: InputPolicy::Sequential,
            readahead: Bytes::from_mib(1) / 16,
            prefetch_block: Bytes::from_mib(8),
            prefetch_count: 8,
            least_seek: Bytes::from_mib(1) / 8,
            most_merged: Bytes::from_mib(2),
            active_ranges: 4,
            connections: 500,
            tls: true,
            idle_time: Time::from_secs(60),
            timeout: Time::from_secs(200),
            multipart_size: Bytes::from_mib(64),
            multipart_threshold: Bytes::from_mib(128),
            disk_buffer: true,
            active_blocks: 4,
            sdk_attempts: 5,
            retry_limit: 7,
            retry_interval: Time::from_ms(500),
            throttle_limit: 20,
            throttle_interval: Time::from_ms(100),
            committer: OutputCommitter::FileV2,
            committer_threads: 8,
        }
    }
}
