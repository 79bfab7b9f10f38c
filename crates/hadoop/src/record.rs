//! What the jobs leave behind: one record per job and per attempt, in the terms of Hadoop's job history, and what each
//! moment was spent waiting for.

use crate::ids::NodeId;
pub use crate::ids::{AttemptId, JobId};
use units::{Bytes, Time};

/// The two kinds of task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TaskKind {
    /// Reads a split.
    Map,
    /// Reads a partition of every map's output.
    Reduce,
}

/// How far a map was from its input.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Locality {
    /// On a node with a replica.
    Node,
    /// In a rack with a replica.
    Rack,
    /// In another rack.
    Remote,
}

/// Where a job stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JobState {
    /// Not done when the run ended.
    Running,
    /// All its tasks are done.
    Succeeded,
    /// A task failed too often, or its master did.
    Failed,
}

/// Where an attempt stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttemptState {
    /// Not done when the run ended.
    Running,
    /// It did its task.
    Succeeded,
    /// An error, a timeout, or output that could not be fetched; counts against its task.
    Failed,
    /// Another attempt won, its node was lost, it was preempted, or the job ended.
    Killed,
}

/// Why attempts end that do not succeed, in the words of [`AttemptRecord::reason`]; those on which others draw
/// conclusions.
pub mod reason {
    /// Its progress did not change for `mapreduce.task.timeout`.
    pub const TASK_TIMEOUT: &str = "no progress for as long as the task timeout";
    /// Its node sent no heartbeat for as long as the expiry interval.
    pub const NODE_LOST: &str = "its node was lost";
    /// The node of a map that was done was lost, and with it the output.
    pub const OUTPUT_NODE_LOST: &str = "its node was lost with its output";
    /// Reducers could not fetch the output of a map that was done.
    pub const OUTPUT_UNFETCHABLE: &str = "too many fetches of its output failed";
    /// A reducer could not fetch too many outputs.
    pub const FETCHES_FAILED: &str = "too many fetches failed";
    /// A reducer made room for a map.
    pub const PREEMPTED: &str = "preempted for a map";
    /// No replica of its input answered.
    pub const INPUT_UNREADABLE: &str = "its input could not be read";
    /// No pipeline took its output.
    pub const OUTPUT_UNWRITABLE: &str = "its output could not be written";
    /// The disk of a file that it wrote or read was gone.
    pub const DISK_LOST: &str = "a disk with its files was lost";
    /// Another attempt at the same task was done before it.
    pub const OTHER_FIRST: &str = "another attempt was first";
}

/// What an attempt does in a stretch of time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Phase {
    /// Localisation and start of the JVM.
    Start,
    /// Waiting for input.
    Read,
    /// The map function.
    Compute,
    /// Sorting and writing a full buffer, beside the map function.
    Spill,
    /// Fetching map output.
    Fetch,
    /// Merging sorted runs.
    Merge,
    /// The reduce function.
    Reduce,
    /// Writing output to HDFS beyond the last computation.
    Write,
}

impl Phase {
    /// Its name in tables and on the page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Read => "read",
            Self::Compute => "compute",
            Self::Spill => "spill",
            Self::Fetch => "fetch",
            Self::Merge => "merge",
            Self::Reduce => "reduce",
            Self::Write => "write",
        }
    }
}

/// What a moment was spent waiting for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Waiting {
    /// Processor work, sharing of cores included.
    Cpu,
    /// Disk requests, queueing included.
    Disk,
    /// Bytes under way over the network, whatever delayed them.
    Network,
    /// A free slot or container.
    Slot,
    /// Heartbeat and polling intervals, timeouts, calls to masters.
    Timeout,
    /// Critical paths only: a further attempt at a task, until it was asked for. Meanwhile the one before was slow, or
    /// its output was gone and its master did not know.
    SecondAttempt,
    /// Localisation, JVM and AppMaster start.
    StartUp,
    /// Reducers only: map outputs that did not exist yet. The critical path goes on through the map, so a job's own
    /// split has none.
    Maps,
}

impl Waiting {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Cpu,
        Self::Disk,
        Self::Network,
        Self::Slot,
        Self::Timeout,
        Self::SecondAttempt,
        Self::StartUp,
        Self::Maps,
    ];
}

/// Time by what it was spent waiting for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Split([Time; Waiting::ALL.len()]);

impl Split {
    /// Adds a stretch.
    pub fn add(&mut self, waiting: Waiting, length: Time) {
        self.0[waiting as usize] += length;
    }
    /// The time spent waiting for one thing.
    pub fn of(&self, waiting: Waiting) -> Time {
        self.0[waiting as usize]
    }
    /// All of it.
    pub fn total(&self) -> Time {
        self.0.iter().copied().sum()
    }
}

/// A phase from a start to an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    /// What was done.
    pub phase: Phase,
    /// From when.
    pub start: Time,
    /// To when.
    pub finish: Time,
}

/// Volumes of one attempt.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AttemptBytes {
    /// Input read from a replica on the own node.
    pub read_node: Bytes,
    /// Maps: input from an object store.
    pub read_store: Bytes,
    /// Input read from the own rack.
    pub read_rack: Bytes,
    /// Input read from elsewhere.
    pub read_remote: Bytes,
    /// Input processed.
    pub input: Bytes,
    /// Map output in the final file, or the attempt's HDFS output; as compressed.
    pub output: Bytes,
    /// Map output or HDFS output before compression.
    pub output_plain: Bytes,
    /// Map outputs fetched whole from the own node; as compressed, as `REDUCE_SHUFFLE_BYTES` counts.
    pub fetched_node: Bytes,
    /// Map outputs fetched whole over the network.
    pub fetched_network: Bytes,
    /// Bytes of map outputs received and thrown away because the fetch was given up.
    pub fetch_aborted: Bytes,
    /// Written to local disk by spills and merges.
    pub disk_written: Bytes,
    /// Read from local disk by merges.
    pub disk_read: Bytes,
}

/// One attempt at one task.
#[derive(Clone, PartialEq, Debug)]
pub struct AttemptRecord {
    /// The job it is part of.
    pub job: JobId,
    /// Map or reduce.
    pub kind: TaskKind,
    /// The task's number within its kind.
    pub task: u32,
    /// The attempt's number at the task.
    pub attempt: u32,
    /// Where it ran.
    pub node: NodeId,
    /// Started beside another that still ran.
    pub speculative: bool,
    /// How far its input was (maps).
    pub locality: Option<Locality>,
    /// How it ended.
    pub state: AttemptState,
    /// Why, if it did not succeed.
    pub reason: &'static str,
    /// When the task began to ask for a slot or container.
    pub requested: Time,
    /// When the scheduler gave it one.
    pub allocated: Time,
    /// When the start of its JVM was confirmed to the master: the start in Hadoop's history.
    pub start: Time,
    /// When its master knew its end.
    pub finish: Time,
    /// Maps: when the map function ended (`mapFinishTime`). Reduces: when the last map output was there
    /// (`shuffleFinishTime`).
    pub first_phase_end: Option<Time>,
    /// Reduces: when the reduce function could begin (`sortFinishTime`).
    pub sort_end: Option<Time>,
    /// What it did when, in order of start; spills and fetches overlap other phases.
    pub intervals: Vec<Interval>,
    /// What its main thread waited for, from each time on; the last entry holds until `finish`.
    pub timeline: Vec<(Time, Waiting)>,
    /// The phase that the main thread is in.
    pub(crate) open: Option<(Phase, Time)>,
    /// Spills (maps) or merges to disk (reduces).
    pub spills: u32,
    /// Records written to disk by spills and merges, as Hadoop's `SPILLED_RECORDS` counts them.
    pub spilled_records: u64,
    /// Bytes that it read, wrote and fetched.
    pub bytes: AttemptBytes,
    /// Reduces: the attempt whose output was the last to arrive.
    pub last_map: Option<AttemptId>,
    /// Maps: when the master gave up an output that was done, because it could not be fetched or its node was lost.
    pub output_lost: Option<Time>,
}

impl AttemptRecord {
    /// The time from its first container to its end, by what it waited for.
    pub fn split(&self) -> Split {
        let mut split = Split::default();
        for (from, to, waiting) in self.stretches() {
            split.add(waiting, to - from);
        }
        split
    }
    /// The timeline as (from, to, waiting), without empty stretches.
    pub fn stretches(&self) -> impl Iterator<Item = (Time, Time, Waiting)> + '_ {
        let ends = self.timeline.iter().skip(1).map(|&(time, _)| time).chain([self.finish]);
        self.timeline
            .iter()
            .zip(ends)
            .map(|(&(from, waiting), to)| (from.min(self.finish), to.min(self.finish), waiting))
            .filter(|(from, to, _)| from < to)
    }
    /// The main thread enters a phase.
    pub(crate) fn begin(&mut self, now: Time, phase: Phase) {
        self.end(now);
        self.open = Some((phase, now));
    }
    /// The main thread's phase ends.
    pub(crate) fn end(&mut self, now: Time) {
        if let Some((phase, start)) = self.open.take()
            && start < now
        {
            match self.intervals.iter_mut().rev().find(|interval| interval.phase != Phase::Spill) {
                Some(last) if last.phase == phase && last.finish == start => last.finish = now,
                _ => self.intervals.push(Interval { phase, start, finish: now }),
            }
        }
    }
    /// From now on the main thread waits for something else.
    pub(crate) fn wait(&mut self, now: Time, waiting: Waiting) {
        match self.timeline.last_mut() {
            Some((_, last)) if *last == waiting => {}
            Some((since, last)) if *since == now => *last = waiting,
            _ => self.timeline.push((now, waiting)),
        }
    }
}

/// One job.
#[derive(Clone, PartialEq, Debug)]
pub struct JobRecord {
    /// Its name.
    pub name: String,
    /// Its workload's name.
    pub workload: String,
    /// How it ended.
    pub state: JobState,
    /// Why, if it failed.
    pub reason: String,
    /// When the client submitted it.
    pub submit: Time,
    /// When its master's container started (YARN).
    pub master_start: Option<Time>,
    /// When it was launched: initialised, and about to ask for its first container or slot.
    pub launch: Option<Time>,
    /// When all its tasks were done and its AppMaster began to commit its output in the object store.
    pub commit: Option<Time>,
    /// When it ended.
    pub finish: Option<Time>,
    /// The client's wall time: from the start of its JVM to its exit, once the job has left the cluster.
    pub client_wall: Option<Time>,
    /// Whether its tasks ran in its AppMaster's JVM.
    pub uber: bool,
    /// Number of map tasks.
    pub maps: u32,
    /// Number of reduce tasks.
    pub reduces: u32,
    /// How many map outputs one fetch of its reducers stands for; usually one.
    pub outputs_per_fetch: u32,
    /// Its ledger.
    pub ledger: JobLedger,
}

/// Shuffle bytes of a job, counted apart at both ends. At the end of a run `served = fetched + discarded + aborted +
/// in_flight`, and per winning reduce `offered = fetched + never_fetched`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct JobLedger {
    /// Bytes in all partitions of the map outputs that stood at the end (of the attempt that each successful reduce
    /// took).
    pub offered: Bytes,
    /// Fetched whole by reduce attempts that succeeded.
    pub fetched: Bytes,
    /// Of `offered`, what no successful reduce fetched.
    pub never_fetched: Bytes,
    /// Fetched whole by reduce attempts that did not succeed (so far).
    pub discarded: Bytes,
    /// Sent, but thrown away or never received, because the fetch was given up.
    pub aborted: Bytes,
    /// Sent by the nodes that served them.
    pub served: Bytes,
    /// Sent in fetches that are still open.
    pub in_flight: Bytes,
    /// Slots or containers given to attempts.
    pub slots_given: u64,
    /// Slots or containers given back.
    pub slots_returned: u64,
    /// Attempts that hold one.
    pub slots_held: u64,
}

impl JobLedger {
    /// The first conservation law that does not hold, in words.
    pub fn violation(&self) -> Option<String> {
        let received = self.fetched + self.discarded + self.aborted + self.in_flight;
        if self.served != received {
            return Some(format!("shuffle: served {:?}, received or aborted {received:?}", self.served));
        }
        if self.offered != self.fetched + self.never_fetched {
            return Some(format!(
                "map outputs: offered {:?}, fetched {:?}, never fetched {:?}",
                self.offered, self.fetched, self.never_fetched
            ));
        }
        if self.slots_given != self.slots_returned + self.slots_held {
            return Some(format!(
                "slots: given {}, returned {}, held {}",
                self.slots_given, self.slots_returned, self.slots_held
            ));
        }
        None
    }
}

/// Everything that the jobs leave.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Records {
    /// The jobs in order of submission.
    pub jobs: Vec<JobRecord>,
    /// The attempts in order of creation.
    pub attempts: Vec<AttemptRecord>,
}
