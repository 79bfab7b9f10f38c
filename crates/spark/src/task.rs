//! A task on its executor: bytes come in, work is done on them, and its output leaves.

use crate::cache::Source;
use crate::config::Failure;
use crate::fetch::Fetches;
use crate::record::TaskRecord;
use crate::shuffle::MapOutput;
use crate::store::KeptPartition;
use hadoop::hdfs::{BlockId, ReadId, WriteId};
use hadoop::{DiskStream, DiskTransfer, Tag};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// Bytes that have come and are not worked on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrived {
    /// Of a file on the node's disk.
    File(Bytes),
    /// Of a block of HDFS.
    Hdfs(Bytes),
    /// A shuffle block of the node's own executors.
    Local(Bytes),
    /// A partition of a data set that is kept.
    Kept(Bytes),
    /// A shuffle block of another executor; the last of its request or not.
    Remote { address: usize, bytes: Bytes, last: bool },
}

impl Arrived {
    pub const fn bytes(self) -> Bytes {
        match self {
            Self::File(bytes)
            | Self::Hdfs(bytes)
            | Self::Local(bytes)
            | Self::Kept(bytes)
            | Self::Remote { bytes, .. } => bytes,
        }
    }
}

/// The end of the last line of a task's input, which may be in the next block of HDFS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineEnd {
    /// With the task, or none is needed.
    Here,
    /// In this block, to be read when the task has worked on all before; by the read of this number, when that is done.
    Due(BlockId, Option<u64>),
    Reading,
}

/// What a task does when all of its bytes are in and worked on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Step {
    /// Bytes come in and are worked on.
    Stream,
    /// The rest of its work.
    Rest,
    /// Its executor keeps what it has computed.
    Keep,
    /// Writes what does not fit into memory.
    Spill,
    /// Reads it again.
    Merge,
    /// Writes its output for the shuffle.
    Shuffle,
    /// Writes its output.
    Output,
    /// Its result leaves.
    Done,
}

/// A task.
#[derive(Debug)]
pub struct Task {
    pub record: TaskRecord,
    pub step: Step,
    /// Its process is gone, or it has failed: nothing that was under way for it counts.
    pub is_over: bool,
    /// The driver wants its end: another attempt at it was first.
    pub is_killed: bool,
    /// It will not succeed, as was planned.
    pub failing: Option<Failure>,
    /// Something is under way on which the step waits.
    pub busy: bool,
    /// Since when its work or a disk's is under way.
    pub since: Time,
    /// Its process starts and warms up for it.
    pub warming: bool,
    /// All of its work.
    pub work: Time,
    /// Its work that is under way, and the errand of that.
    pub working: Option<(Tag, u64)>,
    pub arrived: VecDeque<Arrived>,
    /// Bytes that have not come yet.
    pub expected: Bytes,
    /// Bytes of its input that are not asked for yet.
    pub input_left: Bytes,
    /// All bytes that come in.
    pub incoming: Bytes,
    /// Its file of input, and how far that is read.
    pub file: Option<(u32, DiskStream, Bytes)>,
    /// A piece of the file is being read.
    pub reading: bool,
    /// Blocks of HDFS that follow, and the one that is read.
    pub blocks: VecDeque<BlockId>,
    pub read: Option<ReadId>,
    pub line_end: LineEnd,
    /// Shuffle blocks of its node: parent, map task, where they are.
    pub locals: VecDeque<(usize, usize, DiskTransfer)>,
    pub reading_local: bool,
    pub fetches: Option<Fetches>,
    /// Since when it has nothing to work on.
    pub idle: Option<Time>,
    /// Of how many ancestors of its stage nobody has the partition, so that it computes them.
    pub missing: usize,
    /// What it has of the partition of the next ancestor.
    pub kept: Option<Source>,
    /// Partitions that it has computed, and its executor has not tried to keep yet.
    pub to_keep: VecDeque<KeptPartition>,
    /// Its executor makes room for what it has computed, and writes to disk what belongs there.
    pub keeping: bool,
    pub writes: VecDeque<DiskTransfer>,
    /// A partition of which the driver has to hear.
    pub to_tell: Option<KeptPartition>,
    /// Every task that the shuffle's readers wait for has one when it is done, be it empty.
    pub output: Option<MapOutput>,
    pub write: Option<WriteId>,
    /// Bytes of its output that HDFS has not taken.
    pub output_left: Bytes,
    pub scratch: Option<(u32, DiskStream)>,
}

impl Task {
    pub const fn new(record: TaskRecord) -> Self {
        Self {
            record,
            step: Step::Stream,
            is_over: false,
            is_killed: false,
            failing: None,
            busy: false,
            since: Time::ZERO,
            warming: false,
            work: Time::ZERO,
            working: None,
            arrived: VecDeque::new(),
            expected: Bytes::ZERO,
            input_left: Bytes::ZERO,
            incoming: Bytes::ZERO,
            file: None,
            reading: false,
            blocks: VecDeque::new(),
            read: None,
            line_end: LineEnd::Here,
            locals: VecDeque::new(),
            reading_local: false,
            fetches: None,
            idle: None,
            missing: 0,
            kept: None,
            to_keep: VecDeque::new(),
            keeping: false,
            writes: VecDeque::new(),
            to_tell: None,
            output: None,
            write: None,
            output_left: Bytes::ZERO,
            scratch: None,
        }
    }

    /// It is over: only its record stays.
    pub fn forget(&mut self) {
        *self = Self { output: self.output, is_over: self.is_over, ..Self::new(self.record) };
        self.step = Step::Done;
    }

    /// What it waits for, if it does, has come from its own node's disks.
    pub fn disk_waited(&mut self, now: Time) {
        if let Some(since) = self.idle {
            self.record.disk_time += now.saturating_sub(since);
        }
    }

    /// Takes what has come: of input as much as there is, of shuffles a block.
    pub fn take(&mut self) -> Option<Arrived> {
        let mut first = self.arrived.pop_front()?;
        while let Some(next) = self.arrived.front() {
            match (&mut first, next) {
                (Arrived::Hdfs(bytes), Arrived::Hdfs(more)) => *bytes += *more,
                _ => break,
            }
            self.arrived.pop_front();
        }
        Some(first)
    }
}
