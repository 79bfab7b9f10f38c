//! Tasks on their executors: what they need first, their bytes, their work, their output.

use crate::application::{Errand, Spark};
use crate::cache::Source;
use crate::config::Place;
use crate::driver::MESSAGE;
use crate::executor::Need;
use crate::fetch::{Block, Fetches, Limits};
use crate::shuffle::MapOutput;
use crate::stage::Ancestor;
use crate::store::KeptPartition;
use crate::task::{LineEnd, Step};
use hadoop::rpc::Process;
use hadoop::{Data, DiskOp, DiskStream, DiskTransfer, End, Platform, WriteNews, Writer};
use std::collections::BTreeMap;
use units::{Bytes, Time};

/// Bytes of a local file that are read at once, as the kernel reads that far ahead; and of a file of HDFS that are
/// written at once.
pub const PIECE: Bytes = Bytes::from_mib(1);
/// Processes of executors among those of their nodes: the first has this number.
const FIRST_PROCESS: u32 = 1_000;

impl Spark {
    /// An executor has a task, or what a task of it had to wait for.
    pub(crate) fn on_launched(&mut self, platform: &mut Platform, task: usize) {
        if self.tasks[task].is_over {
            return;
        }
        self.tasks[task].record.told.get_or_insert(platform.ctx.now);
        let record = self.tasks[task].record;
        let stage = &self.stages[record.stage];
        let (kept, missing) = (self.tasks[task].kept, self.tasks[task].missing);
        let broadcast = (stage.spec.broadcast > Bytes::ZERO).then_some(Need::Broadcast(record.stage));
        let statuses = (!stage.parents_behind(missing).is_empty()).then_some(Need::Statuses(record.stage));
        let executor = &mut self.executors[record.executor];
        let lacks = |need: &Need| !executor.has.contains(need);
        let need = match (broadcast.filter(lacks), stage.lineage.get(missing), kept) {
            (None, Some(ancestor), None) => {
                return self.look_up(platform, task, KeptPartition { stage: ancestor.stage, number: record.index });
            }
            (None, Some(_), Some(Source::Asked)) => return,
            (broadcast, ..) => broadcast.or(statuses.filter(lacks)),
        };
        let Some(need) = need else { return self.begin(platform, task) };
        let waits = executor.waits.entry(need).or_default();
        waits.push(task);
        if waits.len() > 1 {
            return;
        }
        match need {
            Need::Broadcast(stage) => self.read_broadcast(platform, record.executor, stage),
            Need::Statuses(stage) => {
                let message = self.errands.send(Errand::Ask(record.executor, stage));
                platform.ctx.drive_send(executor.driver, End::Client, Bytes::new(MESSAGE), message);
            }
        }
    }

    /// An executor has what its tasks waited for.
    pub(crate) fn on_got(&mut self, platform: &mut Platform, executor: usize, need: Need) {
        self.executors[executor].has.insert(need);
        for task in self.executors[executor].waits.remove(&need).unwrap_or_default() {
            self.on_launched(platform, task);
        }
    }

    /// A task begins to run.
    fn begin(&mut self, platform: &mut Platform, id: usize) {
        let (record, missing) = (self.tasks[id].record, self.tasks[id].missing);
        let parents = self.stages[record.stage].parents_behind(missing);
        if parents.iter().any(|parent| !self.stages[*parent].is_available()) {
            // The driver has unregistered what its executor asks for (`MetadataFetchFailedException`).
            return self.fetch_failed(platform, id, None);
        }
        self.may_fail(platform, id);
        let stage = &self.stages[record.stage];
        // Partitions that nobody has are computed as the stages did that should have kept them.
        let (computed, kept) = stage.lineage.split_at(missing);
        let parents = stage.parents_behind(missing);
        let files = computed.last().filter(|_| kept.is_empty()).map_or(stage, |root| &self.stages[root.stage]);
        let input = files.spec.tasks[record.index].input;
        let of = |ancestor: &Ancestor| self.stages[ancestor.stage].spec.tasks[record.index];
        let work = stage.spec.tasks[record.index].work;
        let work = computed.iter().fold(work, |work, ancestor| work.saturating_add(of(ancestor).work));
        let whole = kept.first().map_or(Bytes::ZERO, |ancestor| of(ancestor).kept);
        let executor = &mut self.executors[record.executor];
        let mut remote: BTreeMap<usize, Vec<Block>> = BTreeMap::new();
        let mut expected = input + whole;
        let task = &mut self.tasks[id];
        task.work = work;
        for (parent, of) in parents.iter().enumerate() {
            for (map, output) in self.stages[*of].outputs.0.iter().enumerate() {
                let Some(output) = output else { continue };
                let (offset, bytes) = stage.block(parent, output.length, record.index);
                if bytes == Bytes::ZERO || !stage.reads(record.index, parent, map) {
                    continue;
                }
                expected += bytes;
                if output.node == record.node {
                    // Those of another executor on the node are read from its disk, too
                    // (`spark.shuffle.readHostLocalDisk`).
                    let part = units::count(record.index).saturating_add(1);
                    let stream = DiskStream { part, ..output.file };
                    let transfer = DiskTransfer::new(output.disk, DiskOp::Read, stream, offset, bytes);
                    task.locals.push_back((parent, map, transfer));
                } else {
                    remote.entry(output.executor).or_default().push(Block { parent, map, bytes });
                }
            }
        }
        task.record.start.get_or_insert(platform.ctx.now);
        if let Some(failing) = task.failing {
            task.work = work.max(failing.after);
        }
        (task.expected, task.incoming) = (expected, expected);
        let start = if executor.warm.is_empty() { self.config.executor_start } else { Time::ZERO };
        let warm_up = if executor.warm.contains(&record.stage) { Time::ZERO } else { stage.spec.warm_up };
        if input > Bytes::ZERO {
            match files.spec.input {
                Place::Local => {
                    let disk = executor.disk(&platform.ctx.nodes, Data::InputPrimary);
                    task.file = Some((disk, platform.ctx.drive_file(), Bytes::ZERO));
                    task.input_left = input;
                }
                Place::Hdfs => {
                    task.blocks = files.blocks[record.index].iter().copied().collect();
                    let next = files.next_block(record.index, platform.hdfs.config().block_size);
                    task.line_end = next.map_or(LineEnd::Here, |next| LineEnd::Due(next, None));
                }
            }
        }
        if !remote.is_empty() {
            let limits = Limits {
                size: self.config.max_size_in_flight,
                requests: self.config.max_reqs_in_flight,
                blocks_per_address: self.config.max_blocks_in_flight_per_address,
            };
            task.fetches = Some(Fetches::new(remote, limits, &mut self.random));
        }
        let first = start.saturating_add(warm_up);
        self.tasks[id].warming = first > Time::ZERO;
        self.work(platform, id, first);
        self.fetch_more(platform, id);
        self.read_local(platform, id);
        self.read_file(platform, id);
        self.read_hdfs(platform, id);
        self.read_kept(platform, id);
        self.advance(platform, id);
    }

    /// The task goes on as far as it can.
    pub(crate) fn advance(&mut self, platform: &mut Platform, id: usize) {
        loop {
            let task = &mut self.tasks[id];
            if task.busy || task.step == Step::Done {
                return;
            }
            let record = task.record;
            let stage = &self.stages[record.stage].spec;
            let (spec, streamed) = (stage.tasks[record.index], stage.streamed);
            let node = record.node;
            if task.failing.is_some() && task.step == Step::Rest {
                // It ends before it has a result.
                return;
            }
            if task.step > Step::Stream {
                task.step = match task.step {
                    Step::Stream | Step::Rest => Step::Keep,
                    Step::Keep if task.keeping => Step::Keep,
                    Step::Keep if spec.spill > Bytes::ZERO => Step::Spill,
                    Step::Spill => Step::Merge,
                    Step::Keep | Step::Merge => Step::Shuffle,
                    Step::Shuffle => Step::Output,
                    Step::Output | Step::Done => Step::Done,
                };
            }
            match task.step {
                Step::Stream => {
                    let Some(arrived) = task.take() else {
                        if task.expected > Bytes::ZERO {
                            task.idle.get_or_insert(platform.ctx.now);
                            return;
                        }
                        if self.awaits_line_end(platform, id) {
                            return;
                        }
                        let task = &mut self.tasks[id];
                        task.step = Step::Rest;
                        // Without bytes all of its work is left.
                        let part = if task.incoming > Bytes::ZERO { 1.0 - streamed } else { 1.0 };
                        let work = task.work.mul_f64(part);
                        self.work(platform, id, work);
                        continue;
                    };
                    let bytes = arrived.bytes();
                    let part = streamed * bytes.get() as f64 / task.incoming.get().max(1) as f64;
                    let work = task.work.mul_f64(part);
                    self.taken(platform, id, arrived);
                    self.work(platform, id, work);
                }
                Step::Keep => self.keep(platform, id),
                Step::Spill | Step::Merge => {
                    let (disk, file) = if let Some(scratch) = task.scratch {
                        scratch
                    } else {
                        let executor = &mut self.executors[record.executor];
                        let disk = executor.disk(&platform.ctx.nodes, Data::Intermediate);
                        *task.scratch.insert((disk, platform.ctx.drive_file()))
                    };
                    let op = if task.step == Step::Spill { DiskOp::Write } else { DiskOp::Read };
                    task.record.spill = spec.spill;
                    (task.busy, task.since) = (true, platform.ctx.now);
                    let transfer = DiskTransfer::new(disk, op, file, Bytes::ZERO, spec.spill);
                    let errand = self.errands.send(Errand::Written(id));
                    platform.ctx.drive_disk(node, transfer, errand);
                }
                Step::Shuffle => {
                    let executor = &mut self.executors[record.executor];
                    let disk = executor.disk(&platform.ctx.nodes, Data::Intermediate);
                    let file = platform.ctx.drive_file();
                    let length = spec.shuffle_write;
                    task.record.shuffle_write = length;
                    task.output = Some(MapOutput { executor: record.executor, node, disk, file, length });
                    if length > Bytes::ZERO {
                        (task.busy, task.since) = (true, platform.ctx.now);
                        let transfer = DiskTransfer::new(disk, DiskOp::Write, file, Bytes::ZERO, length);
                        let errand = self.errands.send(Errand::Written(id));
                        platform.ctx.drive_disk(node, transfer, errand);
                    }
                }
                Step::Output => {
                    task.record.output = spec.output;
                    if spec.output > Bytes::ZERO {
                        (task.busy, task.since) = (true, platform.ctx.now);
                        self.put_out(platform, id, spec.output);
                    }
                }
                Step::Rest => {}
                Step::Done => return self.report(platform, id, spec.result),
            }
        }
    }

    /// Some of a task's work.
    fn work(&mut self, platform: &mut Platform, id: usize, work: Time) {
        if work > Time::ZERO {
            (self.tasks[id].busy, self.tasks[id].since) = (true, platform.ctx.now);
            let errand = self.errands.send(Errand::Worked(id));
            let tag = platform.ctx.drive_compute(self.tasks[id].record.node, work, errand);
            self.tasks[id].working = Some((tag, errand));
        }
    }

    /// A task begins to write its output.
    fn put_out(&mut self, platform: &mut Platform, id: usize, bytes: Bytes) {
        let record = self.tasks[id].record;
        let executor = &mut self.executors[record.executor];
        match self.stages[record.stage].spec.output {
            Place::Local => {
                let disk = executor.disk(&platform.ctx.nodes, Data::OutputPrimary);
                let file = platform.ctx.drive_file();
                let transfer = DiskTransfer::new(disk, DiskOp::Write, file, Bytes::ZERO, bytes);
                let errand = self.errands.send(Errand::Written(id));
                platform.ctx.drive_disk(record.node, transfer, errand);
            }
            Place::Hdfs => {
                let process = process(record.executor, record.node);
                let (block, replication) = (platform.hdfs.config().block_size, platform.hdfs.config().replication);
                let number = self.errands.send(Errand::HdfsWrite(id));
                let owner = Writer::Driver(number);
                let write = platform.hdfs.create_output(platform.ctx, process, block, replication, owner);
                let first = bytes.min(PIECE);
                let task = &mut self.tasks[id];
                (task.write, task.output_left) = (Some(write), bytes - first);
                platform.hdfs.append(platform.ctx, write, first);
            }
        }
    }

    pub(crate) fn on_hdfs_write(&mut self, platform: &mut Platform, (number, id): (u64, usize), news: WriteNews) {
        let task = &mut self.tasks[id];
        let Some(write) = task.write else { return };
        match news {
            WriteNews::Room if task.output_left > Bytes::ZERO => {
                let piece = task.output_left.min(PIECE);
                task.output_left -= piece;
                platform.hdfs.append(platform.ctx, write, piece);
            }
            WriteNews::Room => platform.hdfs.close(platform.ctx, write),
            WriteNews::Closed => {
                (task.write, task.busy) = (None, false);
                self.errands.answered(number);
                self.advance(platform, id);
            }
            WriteNews::Failed => self.fail(platform, "a task's output could not be written to HDFS".to_owned()),
        }
    }

    /// A disk has what a task has written, or the task has read it again.
    pub(crate) fn on_written(&mut self, platform: &mut Platform, task: usize) {
        let of = &mut self.tasks[task];
        of.record.disk_time += platform.ctx.now.saturating_sub(of.since);
        of.busy = false;
        self.advance(platform, task);
    }

    /// A task is over on its executor: its result goes to the driver.
    fn report(&mut self, platform: &mut Platform, id: usize, result: Bytes) {
        let task = &mut self.tasks[id];
        task.record.end = Some(platform.ctx.now);
        let executor = &mut self.executors[task.record.executor];
        executor.warm.insert(task.record.stage);
        let conn = executor.driver;
        let message = self.errands.send(Errand::Status(id));
        platform.ctx.drive_send(conn, End::Client, self.config.status_bytes + result, message);
    }
}

/// The process of an executor, as HDFS's client.
pub const fn process(executor: usize, node: hadoop::NodeId) -> Process {
    Process { node, id: FIRST_PROCESS + executor as u32 }
}
