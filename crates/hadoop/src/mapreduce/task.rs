//! What the state machines of tasks are handed, and what they ask of their node.

use super::cohorts::{Cohorts, Share};
use super::config::MapReduceConfig;
use super::job::{JobSpec, Task, partitions_of};
use super::replay::Recorded;
use super::request::{Request, TaskRequest};
use super::split::Split;
use super::stream::LocalFile;
use crate::context::{Context, DiskTransfer};
use crate::disks::{Data as DiskData, Turns};
use crate::hdfs::Hdfs;
use crate::ids::{ApplicationId, AttemptId, NodeId, OutputId, Process, Tag};
use crate::numbers::count;
use crate::object_store::ObjectStore;
use crate::record::{AttemptRecord, Interval, Phase};
use crate::shuffle::Shuffle;
use crate::workload::{Data, Partitions, Parts, records_of};
use units::{Bytes, Time};

/// What a task's state machine is handed beside the news.
pub(crate) struct Env<'a> {
    pub ctx: &'a mut Context,
    pub hdfs: &'a mut Hdfs,
    pub store: &'a mut ObjectStore,
    pub shuffle: &'a mut Shuffle,
    /// By attempt.
    pub outputs: &'a [AttemptOutput],
    pub config: &'a MapReduceConfig,
    pub spec: &'a JobSpec,
    pub split: &'a Split,
    pub partitions: &'a Partitions,
    /// How the output of a map divides whose split is placed by key, by the split's home.
    pub by_home: &'a [Partitions],
    pub splits: &'a [Split],
    pub cohorts: &'a Cohorts,
    pub map_tasks: &'a [Task],
    pub application: ApplicationId,
    pub id: AttemptId,
    pub node: NodeId,
    /// Its JVM: its own, or its AppMaster's.
    pub process: Process,
    /// It runs in its AppMaster's JVM.
    pub uber: bool,
    pub record: &'a mut AttemptRecord,
    /// The processor time that its work takes, by what it takes on average.
    pub pace: f64,
    /// What is recorded of the attempt.
    pub recorded: Recorded,
    /// Which of the node's disks takes the next local file.
    pub turns: &'a mut Turns,
}

/// What the shuffle service calls the output of an attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttemptOutput {
    /// The attempt's task.
    pub task: u32,
    pub output: OutputId,
    /// Its length before compression, once it is there.
    pub plain: Bytes,
}

impl Env<'_> {
    /// The task of a map attempt.
    pub fn task_of(&self, map: AttemptId) -> u32 {
        self.outputs[map.0 as usize].task
    }
    /// What the shuffle service calls a map attempt's output.
    pub fn output_of(&self, map: AttemptId) -> OutputId {
        self.outputs[map.0 as usize].output
    }
    /// The map attempt that an output is of.
    pub fn map_of(&self, output: OutputId) -> AttemptId {
        AttemptId(self.shuffle.output(output).name)
    }
    /// The heap of its JVM, if it is a reducer.
    pub fn heap(&self) -> Bytes {
        if self.uber { self.config.app_master.heap } else { self.config.reduce_heap }
    }
    /// Runs `work` of the task, as long as this attempt takes for it.
    pub fn compute(&mut self, work: Time, request: TaskRequest) -> Tag {
        self.ctx.compute(self.node, work.mul_f64(self.pace), Request::Task(self.id, request))
    }
    /// Moves bytes at one of the node's disks.
    pub fn disk(&mut self, transfer: DiskTransfer, request: TaskRequest) {
        self.ctx.disk(self.node, transfer, Request::Task(self.id, request));
    }
    /// A new local file; the node's disks take turns (`mapreduce.cluster.local.dir`).
    pub fn new_file(&mut self, bytes: Bytes) -> LocalFile {
        let disk = self.turns.take(&self.ctx.nodes.info(self.node).disks, DiskData::Intermediate);
        LocalFile { stream: self.ctx.new_file(), disk, bytes, plain: bytes }
    }
    /// A new local file of map output with so many plain bytes.
    pub fn new_map_file(&mut self, plain: Bytes, partitions: u32) -> LocalFile {
        let bytes = self.spec.compression.map_file(plain, partitions);
        LocalFile { plain, ..self.new_file(bytes) }
    }
    /// What this reducer fetches from a map: its own part of that map's output, or that and what stands with it.
    pub fn share(&self, map: AttemptId) -> Share {
        let whole = self.shuffle.output(self.output_of(map)).bytes;
        let (partitions, part) = (self.partitions_of(map), self.record.task as usize);
        self.cohorts.share(self.task_of(map), whole, partitions, part).unwrap_or_else(|| {
            let plain = self.outputs[map.0 as usize].plain;
            let all = records_of(plain, 1, partitions.len());
            Share {
                start: partitions.start(whole, part),
                bytes: partitions.part(whole, part),
                plain: partitions.part(plain, part),
                records: partitions.part(all, part),
                before: partitions.start(all, part),
                outputs: 1,
            }
        })
    }
    /// How a map attempt's output divides over the reducers.
    pub fn partitions_of(&self, map: AttemptId) -> &Partitions {
        partitions_of(self.partitions, self.by_home, &self.splits[self.task_of(map) as usize])
    }
    /// What a map makes of its input from one place in it to another. Maps' outputs sum to that of the whole input.
    pub fn map_output(&self, from: Bytes, to: Bytes) -> Data {
        let [before, after] = [from, to].map(|at| self.spec.workload.map_output(self.split.before + at));
        Data { bytes: after.bytes - before.bytes, records: after.records - before.records }
    }
    /// What the combiner leaves of a map's data, and the CPU seconds that it takes. Where records stand by their keys a
    /// map sees fewer different ones.
    pub fn combine(&self, data: Data) -> (Data, f64) {
        let workload = &self.spec.workload;
        let (Some(keyed), Some(home)) = (&self.spec.keyed, self.split.home) else { return workload.combine(data) };
        let Some(layout) = &keyed.layout else {
            let parts = Parts { of_one: keyed.at_home, parts: count(self.by_home.len().max(1)) };
            return workload.combine_part(data, parts);
        };
        let keys = layout.homes.get(home.0 as usize - 1).map(|home| &home.keys);
        keys.map_or_else(|| workload.combine(data), |keys| workload.combine_some(data, keyed.at_home, keys))
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
