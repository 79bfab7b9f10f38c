//! Jobs, their task attempts, and where the time went.

pub use hadoop::TaskKind;
pub use hadoop::record::{AttemptState, Interval, Locality, Phase};

use super::metrics::{Metrics, figure, widened};
use super::value::Value;
use std::borrow::Cow;
use units::{Bytes, Time};

/// How a job ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JobState {
    /// All its tasks succeeded.
    Succeeded,
    /// A task failed too often, or its input or output was lost.
    Failed,
    /// The run ended before the job.
    #[default]
    Unfinished,
}

/// One MapReduce job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// Its name in the scenario, else its workload.
    pub name: String,
    /// Its workload.
    pub workload: String,
    /// How it ended.
    pub state: JobState,
    /// Why, if it did not succeed.
    pub reason: String,
    /// When the client submitted it.
    pub submit: Time,
    /// When its first container or JobTracker set-up ran, as Hadoop's history counts it.
    pub launch: Option<Time>,
    /// When its tasks were done and the commit of its output in an object store began.
    pub commit: Option<Time>,
    /// When its last output was committed, or it failed.
    pub finish: Option<Time>,
    /// The client's wall time, from the start of its JVM to its exit, if the job ended.
    pub client_wall: Option<Time>,
    /// Whether its tasks ran in its AppMaster's JVM, one after the other.
    pub uber: bool,
    /// Map tasks.
    pub maps: u32,
    /// Reduce tasks.
    pub reduces: u32,
    /// Each phase, from its first start to its last end over all successful attempts.
    pub phases: Vec<Interval>,
    /// Its volumes.
    pub bytes: JobBytes,
    /// The length of the critical path from submission to finish, by cause of waiting.
    pub breakdown: Breakdown,
    /// The critical path itself, in order of time.
    pub critical_path: Vec<CriticalSegment>,
    /// Mean progress of its maps at the end of each step, 0 to 1; empty where that is not kept.
    pub map_progress: Vec<f32>,
    /// The same of its reduces.
    pub reduce_progress: Vec<f32>,
}

impl Job {
    /// A phase from its first start to its last end.
    pub fn phase(&self, phase: Phase) -> Option<&Interval> {
        self.phases.iter().find(|interval| interval.phase == phase)
    }
}

/// Volumes of a job, over successful attempts unless named otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobBytes {
    /// Read by maps.
    pub map_input: Bytes,
    /// Written by maps after combining; as compressed.
    pub map_output: Bytes,
    /// Written by maps after combining, before compression.
    pub map_output_plain: Bytes,
    /// Map output fetched from the reducer's own node.
    pub shuffle_local: Bytes,
    /// Map output fetched over the network.
    pub shuffle_remote: Bytes,
    /// HDFS input read from the reader's own node.
    pub hdfs_read_local: Bytes,
    /// HDFS input read over the network.
    pub hdfs_read_remote: Bytes,
    /// Input read from an object store; none for a job whose input is in HDFS.
    pub store_read: Option<Bytes>,
    /// Output written to HDFS, one replica counted, or to the object store; as compressed.
    pub written: Bytes,
    /// Output written, before compression.
    pub written_plain: Bytes,
    /// Written to local disks by spills and merges.
    pub spilled: Bytes,
    /// Moved by attempts that failed or were killed.
    pub wasted: Bytes,
}

/// One attempt at one task.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The job it is part of.
    pub job: u32,
    /// Map or reduce.
    pub kind: TaskKind,
    /// The task's number among the job's maps or reduces, from 0.
    pub task: u32,
    /// The attempt's number at the task, from 0.
    pub attempt: u32,
    /// The node on which it ran.
    pub node: u32,
    /// Whether it was started beside another that still ran.
    pub speculative: bool,
    /// How far its input was (maps).
    pub locality: Option<Locality>,
    /// How it ended.
    pub state: AttemptState,
    /// Why, if it did not succeed.
    pub reason: String,
    /// When its container or slot was given to it.
    pub start: Time,
    /// When it ended, or the run did.
    pub finish: Time,
    /// Maps: when the output of one that was done was given up, because its node was lost or nobody could fetch it.
    pub output_lost: Option<Time>,
    /// Its phases in the order of their start. They may overlap (fetch and merge).
    pub intervals: Vec<Interval>,
    /// Bytes into it: the split, or the partitions fetched.
    pub input: Bytes,
    /// Bytes out of it: map output or HDFS output.
    pub output: Bytes,
    /// Bytes of its input that crossed the network.
    pub remote: Bytes,
    /// Bytes it wrote to local disk in spills and merges.
    pub spilled: Bytes,
}

impl Attempt {
    /// When its container was launched, which is the start that a history states. Before it the attempt has a container
    /// and waits for its master's heartbeat.
    pub fn launched(&self) -> Time {
        let starts = self.intervals.iter().filter(|interval| interval.phase == Phase::Start);
        starts.map(|interval| interval.start).min().unwrap_or(self.start)
    }
    /// As Hadoop names it: `m_000003_0`.
    pub fn title(&self) -> String {
        let kind = if self.kind == TaskKind::Map { 'm' } else { 'r' };
        format!("{kind}_{:06}_{}", self.task, self.attempt)
    }
}

/// The cause of waiting in a stretch of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Waiting {
    /// Processor work, sharing of cores included.
    Cpu,
    /// Disk requests, queueing at the disk included.
    Disk,
    /// What the bytes need at the rate of the node's own link.
    Transfer,
    /// The rest of the network's time: queues elsewhere, slow start, connection set-up, propagation.
    Queueing,
    /// Retransmission after a loss that duplicate ACKs showed.
    Recovery,
    /// Retransmission timeouts of TCP.
    TcpTimeout,
    /// Timeouts and heartbeat intervals of Hadoop.
    Timeout,
    /// A second attempt at a task, until it was asked for: the one before was slow, or its output was gone.
    SecondAttempt,
    /// A free slot or container.
    Slot,
    /// Localisation, JVM and AppMaster start; of Spark executors' start and warming up.
    StartUp,
    /// Tasks of Spark that wait for a core near to what they read.
    Locality,
    /// Spark's driver: its program between jobs, launches of tasks and their ends.
    Driver,
}

impl Waiting {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 12] = [
        Self::Cpu,
        Self::Disk,
        Self::Transfer,
        Self::Queueing,
        Self::Recovery,
        Self::TcpTimeout,
        Self::Timeout,
        Self::SecondAttempt,
        Self::Slot,
        Self::StartUp,
        Self::Locality,
        Self::Driver,
    ];

    /// Whether it is the network that is waited for.
    pub const fn is_network(self) -> bool {
        matches!(self, Self::Transfer | Self::Queueing | Self::Recovery | Self::TcpTimeout)
    }
    /// Its name in tables and on the page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Disk => "disk",
            Self::Transfer => "network transfer",
            Self::Queueing => "waiting in queues",
            Self::Recovery => "loss recovery",
            Self::TcpTimeout => "TCP timeouts",
            Self::Timeout => "heartbeats and timeouts",
            Self::SecondAttempt => "waiting for second attempts",
            Self::Slot => "waiting for slots",
            Self::StartUp => "start-up",
            Self::Locality => "waiting for locality",
            Self::Driver => "driver",
        }
    }
}

/// A stretch of the critical path.
#[derive(Clone, Debug, PartialEq)]
pub struct CriticalSegment {
    /// Start of the stretch.
    pub start: Time,
    /// End of the stretch.
    pub finish: Time,
    /// Cause of waiting.
    pub waiting: Waiting,
    /// The attempt it belongs to (a row of `attempts`).
    pub attempt: Option<u32>,
    /// The node that bytes came from, where a transfer was waited for.
    pub source: Option<u32>,
    /// A text for the reader: "fetch of map 3 from worker-2".
    pub detail: String,
}

/// The length of a critical path by cause of waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breakdown([Time; Waiting::ALL.len()]);

impl Breakdown {
    /// Adds a stretch.
    pub fn add(&mut self, waiting: Waiting, length: Time) {
        self.0[waiting as usize] += length;
    }
    /// Time with this cause.
    pub fn of(&self, waiting: Waiting) -> Time {
        self.0[waiting as usize]
    }
    /// Seconds by cause, for `result.json`.
    pub(crate) fn entries(&self) -> Value {
        let of = |waiting: &Waiting| (Cow::Borrowed(waiting.name()), self.of(*waiting).as_secs_f64());
        Value::sorted(Waiting::ALL.iter().map(of))
    }
    /// Length of the whole path.
    pub fn total(&self) -> Time {
        self.0.iter().copied().sum()
    }
}

impl JobState {
    /// Its name in Hadoop's job history.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Unfinished => "UNFINISHED",
        }
    }
}

/// Figures of a job: its state, times, task counts, and critical path.
pub static JOBS: Metrics<Job> = Metrics {
    name: "jobs",
    what: "A MapReduce job.",
    file: None,
    metrics: &[
        figure("name", "Its name in the scenario, else its workload.").text(|job| job.name.clone()),
        figure("workload", "Its workload.").text(|job| job.workload.clone()),
        figure("state", "`SUCCEEDED`, `FAILED`, or `UNFINISHED` where the run's time limit came first.")
            .text(|job| job.state.name().to_owned()),
        figure("reason", "Why it did not succeed.").text(|job| job.reason.clone()),
        figure("submit_s", "When the client submitted it.").time(|job| job.submit),
        figure("launch_s", "When its first container or JobTracker set-up ran, as Hadoop's history counts it.")
            .optional_time(|job| job.launch),
        figure("commit_s", "When its tasks were done and the commit of its output in an object store began.")
            .may_be_absent()
            .optional_time(|job| job.commit),
        figure("finish_s", "When its last output was committed, or it failed.").optional_time(|job| job.finish),
        figure(
            "client_wall_s",
            "The client's wall time: its JVM's start, sample and upload, the job, and the wait until it asks again and \
             exits.",
        )
        .optional_time(|job| job.client_wall),
        figure("uber", "Whether its tasks ran in its AppMaster's JVM, one after the other.").flag(|job| job.uber),
        figure("maps", "Map tasks.").count("tasks", |job| job.maps.into()),
        figure("reduces", "Reduce tasks.").count("tasks", |job| job.reduces.into()),
        figure("phases", "Each phase from its first start to its last end over all successful attempts.")
            .inner(&PHASES, |job| PHASES.list(job.run, &job.phases)),
        figure("bytes", "Its volumes.").inner(&JOB_BYTES, |job| JOB_BYTES.maybe(job.run, Some(&job.bytes))),
        figure(
            "shuffle_s",
            "From the start of the first reducer's fetches to the last output's arrival, over the attempts that \
             succeeded.",
        )
        .optional_time(|job| job.phase(Phase::Fetch).map(|fetch| fetch.finish - fetch.start)),
        figure(
            "maps_at_shuffle",
            "Mean progress of its maps when the first reducer's fetches began, by the samples; null where \
             `map_progress` is not kept.",
        )
        .optional_number("share", |job| {
            let (begun, step) = (job.phase(Phase::Fetch)?.start, job.run.sample_interval);
            let whole_steps = begun.as_ps() / step.as_ps().max(1);
            // The step that ends at or before that time; before the first end no map has come far.
            let step = usize::try_from(whole_steps).ok()?.saturating_sub(1);
            job.map_progress.get(step).copied().map(f64::from)
        }),
        figure(
            "map_progress",
            "Mean progress of its maps at the end of each step; of the first 16 jobs, if of at most 10,000.",
        )
        .series("share", |job| widened(&job.map_progress)),
        figure("reduce_progress", "The same of its reduces: a third each for copying, sorting and reducing.")
            .series("share", |job| widened(&job.reduce_progress)),
        figure("critical_path_s", "The time from submission to finish, split by what was waited for.")
            .entries("s", |job| job.breakdown.entries()),
    ],
};

/// Volumes of jobs.
pub static JOB_BYTES: Metrics<JobBytes> = Metrics {
    name: "volumes of a job",
    what: "Volumes of a job, over successful attempts unless named otherwise.",
    file: None,
    metrics: &[
        figure("map_input", "Read by maps.").label_if_any("map input").bytes(|job| job.map_input),
        figure(
            "map_output",
            "Map output in its final files, after combining; as compressed (`MAP_OUTPUT_MATERIALIZED_BYTES`).",
        )
        .label_if_any("map output")
        .bytes(|job| job.map_output),
        figure("map_output_plain", "The same before compression.").bytes(|job| job.map_output_plain),
        figure(
            "shuffle_local",
            "Map output fetched from the reducer's own node; as compressed, with `shuffle_remote` \
             `REDUCE_SHUFFLE_BYTES`.",
        )
        .label_if_any("shuffle, same node")
        .bytes(|job| job.shuffle_local),
        figure("shuffle_remote", "Map output fetched over the network; as compressed.")
            .label_if_any("shuffle, network")
            .bytes(|job| job.shuffle_remote),
        figure("hdfs_read_local", "HDFS input read from the reader's own node.")
            .label_if_any("HDFS read, same node")
            .bytes(|job| job.hdfs_read_local),
        figure("hdfs_read_remote", "HDFS input read over the network.")
            .label_if_any("HDFS read, network")
            .bytes(|job| job.hdfs_read_remote),
        figure("store_read", "Input read from the object store, where the job's is there.")
            .may_be_absent()
            .label_if_any("read from the object store")
            .optional_bytes(|job| job.store_read),
        figure("written_plain", "Output written, before compression.").rank(2).bytes(|job| job.written_plain),
        figure("written", "Output written to HDFS, one replica counted, or to the object store; as compressed.")
            .label_if_any("output written")
            .rank(1)
            .bytes(|job| job.written),
        figure("spilled", "Written to local disks by spills and merges; as compressed.")
            .label_if_any("spilled to local disks")
            .bytes(|job| job.spilled),
        figure("wasted", "Moved by attempts that failed or were killed.")
            .label_if_any("moved in vain")
            .rank(1)
            .bytes(|job| job.wasted),
    ],
};

/// Phases of jobs and of attempts; of the latter the row's owner is the attempt.
pub static PHASES: Metrics<Interval> = Metrics {
    name: "phases",
    what: "A phase of a job (`result.json`) or of an attempt (`phases.parquet`).",
    file: Some("phases"),
    metrics: &[
        figure("task_row", "The attempt's row in `tasks`, from 0.")
            .no_key()
            .count("number", |phase| phase.owner as u64),
        figure(
            "name",
            "`start` (of its process), `read` (a map waits for input: what is read ahead while it computes is no \
             phase), `compute`, `spill`, `fetch`, `merge`, `reduce` or `write` (what is left after the computation).",
        )
        .column("phase")
        .text(|phase| phase.phase.name().to_owned()),
        figure("start_s", "When it began.").time(|phase| phase.start),
        figure("finish_s", "When it ended.").time(|phase| phase.finish),
    ],
};

/// Task attempts.
pub static ATTEMPTS: Metrics<Attempt> = Metrics {
    name: "tasks",
    what: "An attempt at a task.",
    file: Some("tasks"),
    metrics: &[
        figure("job", "The job it is part of, from 0.").count("number", |attempt| attempt.job.into()),
        figure("kind", "`map` or `reduce`.").text(|attempt| match attempt.kind {
            TaskKind::Map => "map".to_owned(),
            TaskKind::Reduce => "reduce".to_owned(),
        }),
        figure("task", "The task's number among the job's maps or reduces, from 0.")
            .count("number", |attempt| attempt.task.into()),
        figure("attempt", "The attempt's number at the task, from 0.")
            .count("number", |attempt| attempt.attempt.into()),
        figure("node", "Where it ran.").text(|attempt| attempt.node(attempt.node)),
        figure("speculative", "Whether it was started beside another that still ran.")
            .flag(|attempt| attempt.speculative),
        figure("locality", "How near a map's input was: `node`, `rack` or `remote`.").text(|attempt| {
            match attempt.locality {
                None => String::new(),
                Some(Locality::Node) => "node".to_owned(),
                Some(Locality::Rack) => "rack".to_owned(),
                Some(Locality::Remote) => "remote".to_owned(),
            }
        }),
        figure("state", "`succeeded`, `failed`, `killed` or `running`.").text(|attempt| match attempt.state {
            AttemptState::Succeeded => "succeeded".to_owned(),
            AttemptState::Failed => "failed".to_owned(),
            AttemptState::Killed => "killed".to_owned(),
            AttemptState::Running => "running".to_owned(),
        }),
        figure("reason", "Why it did not succeed.").text(|attempt| attempt.reason.clone()),
        figure("start_s", "When its container or slot was given to it.").time(|attempt| attempt.start),
        figure("finish_s", "When it ended, or the run did.").time(|attempt| attempt.finish),
        figure("output_lost_s", "When the output of a map that was done was given up, if it was.")
            .rank(1)
            .optional_time(|attempt| attempt.output_lost),
        figure("input_bytes", "Bytes into it: the split, or the partitions fetched.").bytes(|attempt| attempt.input),
        figure("output_bytes", "Bytes out of it: map output or HDFS output.").bytes(|attempt| attempt.output),
        figure("remote_bytes", "Of its input, bytes that came over the network.").bytes(|attempt| attempt.remote),
        figure("spilled_bytes", "Bytes it wrote to local disk in spills and merges.").bytes(|attempt| attempt.spilled),
    ],
};
