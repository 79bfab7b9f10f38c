//! What MapReduce asks of the world, of its masters, and of HDFS.

use crate::ids::{AttemptId, ContainerId, JobId, NodeId};

/// Work, a disk request or a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// The client submits a job, or goes on with bringing its files.
    SubmitDue(JobId),
    /// A NodeManager has S3A at work.
    NodeStartedS3a(NodeId),
    /// A job's attempts are looked at for timeouts.
    TimeoutDue(JobId),
    /// A job's slow tasks are looked for.
    SpeculateDue(JobId),
    /// The recorded attempt of a job with this number starts.
    ReplayDue(JobId, u32),
    /// This attempt ends as recorded.
    EndDue(AttemptId),
    /// The commit of a job with a recorded plan is over.
    PlanOver(JobId),
    /// The job is launched (Hadoop 1, by a recorded plan).
    LaunchDue(JobId),
    /// Of a JobTracker or TaskTracker.
    Tracker(TrackerRequest),
    /// Of the AppMaster of a job, in this container.
    Master(JobId, ContainerId, MasterRequest),
    /// The AppMaster has this container's launch ready.
    StartDue(ContainerId),
    /// Of an attempt.
    Task(AttemptId, TaskRequest),
}

/// A timer of Hadoop 1's daemons.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrackerRequest {
    /// A TaskTracker's heartbeat is due, in this one of its lives.
    HeartbeatDue { node: NodeId, life: u32 },
    /// The JobTracker looks for silent TaskTrackers.
    ExpiryDue,
}

/// Work or a timer of an AppMaster.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MasterRequest {
    /// The fixed latency of its container's launch has passed.
    Launched,
    /// It is up.
    Ready,
    /// Its heartbeat is due.
    HeartbeatDue,
    /// The job's files are fetched again.
    LocaliseDue,
}

/// Work, a disk request or a timer of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskRequest {
    /// The container's fixed latency has passed.
    Launched,
    /// The JVM is up.
    Jvm,
    /// The task's own set-up is done.
    SetUp,
    /// The work after the task's last byte is done.
    Closed,
    /// A sign of life is to be given, without progress.
    PingDue,
    /// Progress is to be reported.
    StatusDue,
    /// Map completion events are to be asked for.
    PollDue,
    /// A piece of the map function is done.
    Map,
    /// A spill is sorted.
    Sorted,
    /// A fetched map output is checked, or on disk; by the number of the copy.
    Copied(u32),
    /// A piece of a map output is read from the node's own disk (an uber job's reducer).
    LocalRead,
    /// A host that was left alone after a failure may be tried again.
    PenaltyOver(NodeId),
    /// A step of a stream.
    Stream(StreamSlot, Step),
    /// The recorded time of a phase has passed.
    Recorded,
}

/// Which of a task's streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamSlot {
    /// A map's spill.
    Spill,
    /// A map's merge of its spills.
    SpillMerge,
    /// A reduce's merge of outputs in memory.
    MemoryMerge,
    /// A reduce's merge of files while it still fetches.
    DiskMerge,
    /// A reduce's last merge passes and the reduce function.
    Final,
}

/// What a stream has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Read from disk.
    Read,
    /// Processed by a core.
    Compute,
    /// Written to disk, or taken by HDFS.
    Write,
}

/// A call to a master.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// To the JobTracker.
    Tracker(TrackerCall),
    /// From an attempt to its master.
    Umbilical(AttemptId, Umbilical),
}

/// A call to the JobTracker.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrackerCall {
    /// The client submits a job.
    Submit(JobId),
    /// A TaskTracker's heartbeat.
    Heartbeat(NodeId),
    /// A TaskTracker asks for map completion events on behalf of its reducers.
    Events { job: JobId, node: NodeId },
}

/// A call of an attempt to its master.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Umbilical {
    /// It asks for the task's description.
    Description,
    /// It says that it lives.
    Ping,
    /// It reports progress.
    Status,
    /// It reports that a phase has begun.
    Phase,
    /// It asks for map completion events.
    Poll,
    /// It reports that the task is done, or has failed.
    Done,
}

/// For what HDFS is read.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reader {
    /// A map's split.
    Split(AttemptId),
    /// The client's sample of a job's input.
    Sample(JobId),
    /// A job's files, for a node that runs a part of it.
    Localise { job: JobId, node: NodeId },
}

/// For what HDFS is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writer {
    /// What a map function writes.
    MapOutput(AttemptId),
    /// A reduce's output.
    ReduceOutput(AttemptId),
    /// A file that the client brings for a job.
    Upload(JobId),
    /// A file of a job's history.
    History(JobId),
    /// The folders of a job's output, which its AppMaster makes in the object store.
    SetUp(JobId),
}
