//! What the state machines of tasks share: what they are handed, and how their requests are named.

use super::config::MapReduceConfig;
use super::job::{JobSpec, Split};
use super::stream::{LocalFile, Step};
use crate::context::{Context, Part};
use crate::effect::{NodeId, Tag};
use crate::hdfs::Hdfs;
use crate::record::{AttemptId, AttemptRecord, Interval, Phase};
use crate::rpc::Process;
use crate::workload::Partitions;
use units::{Bytes, Time};

/// Kind of the tags of a task's own requests; the value is the attempt (24 bits), the operation (8 bits) and its argument (16 bits).
pub(crate) const TASK: u8 = 0;
/// Kind of the names of local files; the value is the attempt (24 bits) and the file's number (24 bits).
const LOCAL_FILE: u8 = 1;

/// Operations in the tags of a task.
pub(crate) mod op {
    pub const STREAM_READ: u8 = 0;
    pub const STREAM_COMPUTE: u8 = 1;
    pub const STREAM_WRITE: u8 = 2;
    /// The container's fixed latency has passed.
    pub const LAUNCH: u8 = 3;
    /// The JVM is up.
    pub const JVM: u8 = 4;
    /// The task's description is there (a call to the master).
    pub const DESCRIPTION: u8 = 5;
    /// The task's own set-up is done.
    pub const SET_UP: u8 = 6;
    /// Time to report progress.
    pub const STATUS_DUE: u8 = 7;
    /// A report of progress (a call to the master).
    pub const STATUS: u8 = 8;
    /// The report that a phase has begun (a call to the master).
    pub const PHASE: u8 = 10;
    /// The report that the task is done (a call to the master).
    pub const DONE: u8 = 9;
    /// A piece of the map function.
    pub const MAP: u8 = 16;
    /// The split.
    pub const INPUT: u8 = 17;
    /// HDFS output other than a stream's.
    pub const OUTPUT: u8 = 18;
    /// The sort of a spill.
    pub const SORT: u8 = 19;
    /// Time to ask for map completion events.
    pub const POLL_DUE: u8 = 20;
    /// Map completion events (a call to the master).
    pub const POLL: u8 = 21;
    /// A host that was left alone after a failure may be tried again.
    pub const PENALTY: u8 = 22;
    /// Checking and placing a fetched map output.
    pub const COPY: u8 = 23;
}

/// The tag of a task's request.
pub(crate) const fn task_tag(id: AttemptId, op: u8, argument: u16) -> Tag {
    Tag::new(Part::MapReduce, TASK, (id.0 as u64) << 24 | (op as u64) << 16 | argument as u64)
}

/// (attempt, operation, argument) of a task's tag.
pub(crate) const fn read_task_tag(tag: Tag) -> (AttemptId, u8, u16) {
    let value = tag.value();
    (AttemptId((value >> 24) as u32), (value >> 16) as u8, value as u16)
}

/// The name of an attempt's local file.
pub(crate) const fn local_file(id: AttemptId, number: u32) -> Tag {
    Tag::new(Part::MapReduce, LOCAL_FILE, (id.0 as u64) << 24 | number as u64 & 0xff_ffff)
}

/// A finished map's output on its node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MapOutput {
    pub map: u32,
    pub node: NodeId,
    pub bytes: Bytes,
    pub disk: u32,
    /// Number of the local file.
    pub file: u32,
    /// It can still be served.
    pub available: bool,
}

/// What a task's state machine is handed beside the news.
pub(crate) struct Env<'a> {
    pub ctx: &'a mut Context,
    pub hdfs: &'a mut Hdfs,
    pub config: &'a MapReduceConfig,
    pub spec: &'a JobSpec,
    pub split: &'a Split,
    pub partitions: &'a Partitions,
    pub maps: u32,
    pub id: AttemptId,
    pub node: NodeId,
    pub process: Process,
    pub record: &'a mut AttemptRecord,
    /// The processor time that its work takes, by what it takes on average.
    pub pace: f64,
    /// The next of the node's disks for a new local file.
    pub next_disk: &'a mut u32,
}

impl Env<'_> {
    pub fn tag(&self, op: u8, argument: u16) -> Tag {
        task_tag(self.id, op, argument)
    }
    pub fn stream_tag(&self, slot: u16, step: Step) -> Tag {
        let op = match step {
            Step::Read => op::STREAM_READ,
            Step::Compute => op::STREAM_COMPUTE,
            Step::Write => op::STREAM_WRITE,
        };
        self.tag(op, slot)
    }
    /// Runs `work` of the task, as long as this attempt takes for it.
    pub fn compute(&mut self, work: Time, tag: Tag) {
        self.ctx.compute(self.node, work.mul_f64(self.pace), tag);
    }
    /// A new local file; the node's disks take turns (`mapreduce.cluster.local.dir`).
    pub fn new_file(&mut self, number: u32, bytes: Bytes) -> LocalFile {
        let disks = self.ctx.nodes.info(self.node).disks.max(1);
        let disk = *self.next_disk % disks;
        *self.next_disk = (disk + 1) % disks;
        LocalFile { stream: local_file(self.id, number), disk, bytes }
    }
    /// A phase begins now, and the one before it that is still open ends.
    pub fn phase(&mut self, phase: Phase) {
        let now = self.ctx.now;
        self.record.begin(now, phase);
    }
    /// A phase that ran beside the others since `start` ends now.
    pub fn beside(&mut self, phase: Phase, start: Time) {
        let finish = self.ctx.now;
        self.record.intervals.push(Interval { phase, start, finish });
    }
}
