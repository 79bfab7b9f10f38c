//! What an application leaves: its jobs, stages and tasks, and what its shuffles moved.

use crate::task_set::Locality;
use hadoop::NodeId;
use units::{Bytes, Time};

/// A job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct JobRecord {
    /// When the action submitted it.
    pub submit: Option<Time>,
    /// When its last stage was done, or it failed.
    pub finish: Option<Time>,
    /// Whether it failed: the program went on with the next one.
    pub failed: bool,
}

/// An executor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExecutorRecord {
    /// Its node.
    pub node: NodeId,
    /// When the ResourceManager granted its container, on YARN.
    pub granted: Option<Time>,
    /// When the driver knew of it.
    pub registered: Option<Time>,
    /// When the driver knew that it was gone.
    pub lost: Option<Time>,
    /// Whether the driver had asked for its end.
    pub killed: bool,
    /// When it was first excluded from the application, as tasks failed there.
    pub excluded: Option<Time>,
}

/// An executor or a node that got no more tasks, as some failed there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExclusionRecord {
    /// The executor; none: the node, with all of its executors.
    pub executor: Option<usize>,
    /// Its node.
    pub node: NodeId,
    /// The stage from an attempt at which it was excluded; none: from the application.
    pub stage: Option<usize>,
    /// From when on.
    pub at: Time,
    /// Until when: the attempt at the stage was over, or the time of exclusion was. None while it lasts.
    pub until: Option<Time>,
}

/// How many executors the driver wanted from a time on, as tasks needed them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WantedRecord {
    /// From when on.
    pub at: Time,
    /// How many.
    pub executors: u32,
}

/// A stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StageRecord {
    /// Its tasks.
    pub tasks: u32,
    /// Its partitions, which adaptive execution may have joined or split for its tasks.
    pub partitions: u32,
    /// When its parents were done and its job ran.
    pub ready: Option<Time>,
    /// When its tasks were handed to the scheduler.
    pub submit: Option<Time>,
    /// When the driver knew that the last of them was done.
    pub finish: Option<Time>,
    /// Tasks that are done, and whose output was not lost.
    pub done: u32,
    /// How often it was handed to the scheduler.
    pub attempts: u32,
    /// Executors that got no more of its tasks as some failed there, over all attempts.
    pub excluded_executors: u32,
    /// Nodes that got none.
    pub excluded_nodes: u32,
}

/// How an attempt at a task ended (`TaskEndReason`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TaskEnd {
    /// It runs, or nobody knows that it does not.
    #[default]
    Running,
    /// It is done.
    Success,
    /// It threw an exception.
    Failed,
    /// It could not fetch what it reads of a shuffle.
    FetchFailed,
    /// Its executor was lost.
    ExecutorLost,
    /// Another attempt at it was first.
    Killed,
}

impl TaskEnd {
    /// Spark's name; none while it runs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "",
            Self::Success => "Success",
            Self::Failed => "ExceptionFailure",
            Self::FetchFailed => "FetchFailed",
            Self::ExecutorLost => "ExecutorLostFailure",
            Self::Killed => "TaskKilled",
        }
    }
}

/// A task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskRecord {
    /// Its stage.
    pub stage: usize,
    /// Its place among the stage's tasks.
    pub index: usize,
    /// Its stage's attempt, from 1.
    pub attempt: u32,
    /// Whether it is a speculative copy, launched beside an attempt that ran.
    pub speculative: bool,
    /// How it ended.
    pub ended: TaskEnd,
    /// The executor that ran it.
    pub executor: usize,
    /// Where that ran.
    pub node: NodeId,
    /// How far it was from what it read.
    pub locality: Locality,
    /// When the driver launched it.
    pub launch: Time,
    /// When its executor heard of it.
    pub told: Option<Time>,
    /// When its executor had it and what it needs to run.
    pub start: Option<Time>,
    /// When it was over on its executor.
    pub end: Option<Time>,
    /// When the driver knew of its end.
    pub finish: Option<Time>,
    /// Time without a block to work on (`Fetch Wait Time`).
    pub fetch_wait: Time,
    /// Time without input to work on.
    pub input_wait: Time,
    /// Time of its process's start and warming up, which it was the first to need.
    pub warm_time: Time,
    /// Time of its work on the processor, which others may have shared.
    pub cpu_time: Time,
    /// Time for which it waited for its own node's disks alone.
    pub disk_time: Time,
    /// Input read from its own node's disks.
    pub input_local: Bytes,
    /// Input read over the network.
    pub input_remote: Bytes,
    /// What it read of a data set that is kept from its own executor.
    pub cached_local: Bytes,
    /// What it read of one from another executor.
    pub cached_remote: Bytes,
    /// Shuffle bytes of its own executor, or of another on its node.
    pub shuffle_local: Bytes,
    /// Shuffle bytes over the network.
    pub shuffle_remote: Bytes,
    /// Written for its stage's shuffle.
    pub shuffle_write: Bytes,
    /// Spilled to disk.
    pub spill: Bytes,
    /// Written of its stage's output.
    pub output: Bytes,
}

impl TaskRecord {
    /// A task that the driver launches on an executor of a node.
    pub const fn new(
        (stage, index, attempt): (usize, usize, u32),
        executor: usize,
        node: NodeId,
        locality: Locality,
        launch: Time,
    ) -> Self {
        Self {
            stage,
            index,
            attempt,
            speculative: false,
            ended: TaskEnd::Running,
            executor,
            node,
            locality,
            launch,
            told: None,
            start: None,
            end: None,
            finish: None,
            fetch_wait: Time::ZERO,
            input_wait: Time::ZERO,
            warm_time: Time::ZERO,
            cpu_time: Time::ZERO,
            disk_time: Time::ZERO,
            input_local: Bytes::ZERO,
            input_remote: Bytes::ZERO,
            cached_local: Bytes::ZERO,
            cached_remote: Bytes::ZERO,
            shuffle_local: Bytes::ZERO,
            shuffle_remote: Bytes::ZERO,
            shuffle_write: Bytes::ZERO,
            spill: Bytes::ZERO,
            output: Bytes::ZERO,
        }
    }
}

/// What a stage has read of one of its parents' shuffle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Exchange {
    /// The stage that reads.
    pub stage: usize,
    /// The stage that has written.
    pub parent: usize,
    /// What the parent's tasks have written for it so far.
    pub offered: Bytes,
    /// What has come from executors on the reader's node.
    pub local: Bytes,
    /// What has come over the network.
    pub remote: Bytes,
    /// What has come over the network a second time, for another attempt at its task.
    pub again: Bytes,
    /// What no task has got, map task by map task and reduce task by reduce task.
    pub never_fetched: Bytes,
    /// What executors have sent to others.
    pub served: Bytes,
    /// What is sent and has not come.
    pub in_flight: Bytes,
    /// What was sent in vain: its connection was lost, or nobody waited for it any more.
    pub wasted: Bytes,
}
