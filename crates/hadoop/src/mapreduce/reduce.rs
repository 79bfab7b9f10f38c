//! A reduce attempt: the shuffle with its fetchers and memory (Hadoop's `Fetcher`, `ShuffleSchedulerImpl` and
//! `MergeManagerImpl`), the merges, the reduce function and its output.

mod local;

use super::cohorts::Share;
use super::map::TaskState;
use super::merge::MergePlan;
use super::request::{Request, Step, StreamSlot, TaskRequest, Writer};
use super::stream::{LocalFile, Sink, Stream};
use super::task::Env;
use crate::context::DiskTransfer;
use crate::effect::DiskOp;
use crate::ids::{AttemptId, NodeId, Tag, WriteId};
use crate::numbers::{count, draw, whole};
use crate::record::{Phase, Waiting, reason};
use crate::request::Fetcher;
use crate::shuffle::{Batch, Wanted};
use des::RandomStream;
use local::LocalFetcher;
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Time};

/// A host that failed is left alone for this long ...
const PENALTY: Time = Time::from_secs(10);
/// ... times this per failure in a row (`ShuffleSchedulerImpl`).
const PENALTY_GROWTH: f64 = 1.3;
/// Failures of one host after which the reducer gives up: `maxFetchFailuresBeforeReporting` (10) reports, and
/// `abortFailureLimit` at least 30.
const ABORT_LIMIT: u32 = 30;

#[derive(Debug)]
pub(crate) struct ReduceTask {
    /// Map completion events that it has seen, and up to where the reply under way will bring it.
    pub seen: usize,
    pub polled: Option<usize>,
    /// Outputs known and not yet copied, by host.
    pending: BTreeMap<NodeId, Vec<AttemptId>>,
    /// Hosts with outputs that no fetcher is at and that are not left alone.
    ready: Vec<NodeId>,
    busy: BTreeSet<NodeId>,
    penalised: BTreeMap<NodeId, Time>,
    failures: BTreeMap<NodeId, u32>,
    fetchers: u32,
    /// By map: the attempt whose output is here or on its way into the merge.
    copied: BTreeMap<u32, AttemptId>,
    /// How many there are to be.
    expected: u32,
    /// In place of the fetchers, in an uber job.
    local: Option<LocalFetcher>,
    copying: BTreeMap<u32, Copying>,
    next_copy: u32,
    limit: Bytes,
    single_limit: Bytes,
    merge_at: Bytes,
    reserved: Bytes,
    /// Of that, what each host's output that begins to arrive will take.
    arriving: BTreeMap<NodeId, Bytes>,
    committed: Bytes,
    in_memory: Vec<Bytes>,
    outputs_in_memory: u32,
    on_disk: Vec<LocalFile>,
    memory_merge: Option<Merging>,
    disk_merge: Option<Merging>,
    stage: Stage,
    fin: Option<Final>,
    write: Option<WriteId>,
    /// Outputs that could not be fetched, for the next report to the master.
    pub reports: Vec<AttemptId>,
    random: RandomStream,
    input: Bytes,
    /// What of it are records, before compression: what the reduce function takes in.
    records: Bytes,
    /// How much of the same maps' records the reducers before have.
    before: Bytes,
    /// Phases whose recorded time has passed or passes, and the work that stands for it.
    spent: usize,
    pause: Option<Tag>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Shuffle,
    /// What is in memory goes to disk.
    Drain,
    /// Intermediate passes.
    Passes,
    Reduce,
    Close,
    Done,
}

#[derive(Debug)]
struct Copying {
    map: AttemptId,
    /// As fetched.
    bytes: Bytes,
    /// Decompressed: what it takes of memory.
    plain: Bytes,
    records: Bytes,
    before: Bytes,
    /// How many outputs it stands for.
    outputs: u32,
    /// To disk, because it is large: the file.
    file: Option<LocalFile>,
    /// The work of checking it, until that is done.
    checking: Option<Tag>,
}

#[derive(Debug)]
struct Merging {
    since: Time,
    stream: Stream,
    file: LocalFile,
    freed: Bytes,
}

#[derive(Debug)]
struct Final {
    plan: MergePlan,
    pass: usize,
    segments: Vec<LocalFile>,
    memory: Bytes,
    stream: Option<Stream>,
    target: Option<LocalFile>,
}

impl ReduceTask {
    pub fn new(env: &mut Env, seed: u64) -> Self {
        let config = env.config;
        let limit = env.heap().mul_f64(config.shuffle_buffer_percent);
        Self {
            seen: 0,
            polled: None,
            pending: BTreeMap::new(),
            ready: Vec::new(),
            busy: BTreeSet::new(),
            penalised: BTreeMap::new(),
            failures: BTreeMap::new(),
            fetchers: 0,
            copied: BTreeMap::new(),
            expected: env.cohorts.expected(env.partitions, env.record.task as usize),
            local: env.uber.then(|| LocalFetcher::new(env)),
            copying: BTreeMap::new(),
            next_copy: 0,
            limit,
            single_limit: limit.mul_f64(config.shuffle_memory_limit_percent),
            merge_at: limit.mul_f64(config.shuffle_merge_percent),
            reserved: Bytes::ZERO,
            arriving: BTreeMap::new(),
            committed: Bytes::ZERO,
            in_memory: Vec::new(),
            outputs_in_memory: 0,
            on_disk: Vec::new(),
            memory_merge: None,
            disk_merge: None,
            stage: Stage::Shuffle,
            fin: None,
            write: None,
            reports: Vec::new(),
            random: RandomStream::new(seed, "reduce/host", u64::from(env.id.0)),
            input: Bytes::ZERO,
            records: Bytes::ZERO,
            before: Bytes::ZERO,
            spent: 0,
            pause: None,
        }
    }
    pub fn start(&mut self, env: &mut Env) -> TaskState {
        env.phase(Phase::Fetch);
        self.proceed(env)
    }
    /// A third for each of shuffle, sort and reduce, as Hadoop reports it.
    pub fn progress(&self) -> f64 {
        let fetched = self.copied.len() as f64 / f64::from(self.expected.max(1));
        let part = |stage: Stage| {
            if self.stage != stage {
                return 0.0;
            }
            self.fin.as_ref().and_then(|fin| fin.stream.as_ref()).map_or(0.0, Stream::progress)
        };
        let sorted = if self.stage >= Stage::Reduce { 1.0 } else { part(Stage::Passes) };
        let reduced = if self.stage >= Stage::Close { 1.0 } else { part(Stage::Reduce) };
        (fetched + sorted + reduced) / 3.0
    }
    /// Whether all map outputs are here.
    pub fn is_shuffling(&self) -> bool {
        self.stage == Stage::Shuffle
    }

    /// A map's output is there to fetch.
    pub fn on_output(&mut self, env: &Env, id: AttemptId) {
        let map = env.task_of(id);
        let mine = env.cohorts.fetches_from(map, env.partitions, env.record.task as usize);
        if mine && !self.copied.contains_key(&map) {
            let node = env.shuffle.output(env.output_of(id)).node;
            self.pending.entry(node).or_default().push(id);
            self.offer(node);
        }
    }
    /// A map's output is gone; its map runs again.
    pub fn on_output_lost(&mut self, env: &Env, id: AttemptId) {
        let host = env.shuffle.output(env.output_of(id)).node;
        if let Some(maps) = self.pending.get_mut(&host) {
            maps.retain(|&map| map != id);
            if maps.is_empty() {
                self.pending.remove(&host);
                self.ready.retain(|&node| node != host);
            }
        }
    }
    /// Whether outputs that come together are too large for memory, each.
    fn is_large(&self, plain: Bytes, outputs: u32) -> bool {
        plain > self.single_limit.mul_f64(f64::from(outputs))
    }
    /// Whether there is room for what begins to arrive (`MergeManagerImpl.reserve`, by decompressed length); if so it
    /// is taken.
    pub fn accept(&mut self, host: NodeId, Share { plain, outputs, .. }: Share) -> bool {
        if self.is_large(plain, outputs) {
            return true;
        }
        if self.reserved > self.limit {
            return false;
        }
        self.reserved += plain;
        self.arriving.insert(host, plain);
        true
    }
    /// An output is here whole: it is checked, and kept in memory or written to disk.
    pub fn on_arrived(&mut self, env: &mut Env, host: NodeId, map: AttemptId, bytes: Bytes) {
        let counter =
            if host == env.node { &mut env.record.bytes.fetched_node } else { &mut env.record.bytes.fetched_network };
        *counter += bytes;
        self.arriving.remove(&host);
        env.record.last_map = Some(map);
        self.failures.remove(&host);
        if let Some(maps) = self.pending.get_mut(&host) {
            maps.retain(|&other| other != map);
        }
        let slot = self.next_copy;
        self.next_copy = self.next_copy.wrapping_add(1);
        let Share { plain, records, before, outputs, .. } = env.share(map);
        let file = self.is_large(plain, outputs).then(|| LocalFile { plain, ..env.new_file(bytes) });
        let decompress = if file.is_none() { env.spec.compression.decompress_map(plain) } else { 0.0 };
        let work = Time::from_secs_f64(env.spec.workload.costs.fetch * bytes.get() as f64 + decompress);
        let checking = Some(env.compute(work, TaskRequest::Copied(slot)));
        self.copying.insert(slot, Copying { map, bytes, plain, records, before, outputs, file, checking });
    }
    pub fn on_copied(&mut self, env: &mut Env, slot: u32) -> TaskState {
        let Some(copying) = self.copying.get_mut(&slot) else { return TaskState::Running };
        if let Some(file) = copying.file.filter(|_| copying.checking.is_some()) {
            copying.checking = None;
            let transfer = DiskTransfer::new(file.disk, DiskOp::Write, file.stream, Bytes::ZERO, file.bytes);
            env.disk(transfer, TaskRequest::Copied(slot));
            return self.proceed(env);
        }
        let Some(Copying { map, bytes, plain, records, before, outputs, file, .. }) = self.copying.remove(&slot) else {
            return TaskState::Running;
        };
        let task = env.task_of(map);
        if self.copied.contains_key(&task) {
            // The map ran again while its first output was on its way: one of the two is enough.
            self.reserved = self.reserved.saturating_sub(if file.is_none() { plain } else { Bytes::ZERO });
            return self.proceed(env);
        }
        self.copied.insert(task, map);
        self.input += bytes;
        self.records += records;
        self.before += before;
        if let Some(file) = file {
            env.record.bytes.disk_written += bytes;
            self.on_disk.push(file);
            self.merge_disk(env);
        } else {
            self.in_memory.push(plain);
            self.outputs_in_memory += outputs;
            self.committed += plain;
            let many = env.config.merge_in_memory_threshold;
            if self.committed >= self.merge_at || many > 0 && self.outputs_in_memory >= many {
                self.merge_memory(env);
            }
        }
        self.proceed(env)
    }
    /// A fetcher is done with a host. `maps` were not delivered; with `failed` because the host did not.
    pub fn on_fetch_end(&mut self, env: &mut Env, host: NodeId, failed: Option<(&[AttemptId], bool)>) -> TaskState {
        self.fetchers -= 1;
        self.busy.remove(&host);
        // What did not arrive whole takes no memory (`InMemoryMapOutput.abort`).
        let aborted = self.arriving.remove(&host).unwrap_or_default();
        self.reserved = self.reserved.saturating_sub(aborted);
        if self.pending.get(&host).is_some_and(Vec::is_empty) {
            self.pending.remove(&host);
        }
        if let Some((maps, missing)) = failed {
            let failures = self.failures.entry(host).or_default();
            *failures += 1;
            if *failures >= ABORT_LIMIT {
                return TaskState::Failed(reason::FETCHES_FAILED);
            }
            let reported = if missing { maps.get(..1).unwrap_or_default() } else { maps };
            self.reports.extend(reported);
            let growth = libm::pow(PENALTY_GROWTH, f64::from(*failures));
            let until = env.ctx.now.saturating_add(PENALTY.mul_f64(growth));
            self.penalised.insert(host, until);
            env.ctx.timer(until, Request::Task(env.id, TaskRequest::PenaltyOver(host)));
        }
        self.offer(host);
        self.proceed(env)
    }
    pub fn on_penalty_over(&mut self, env: &mut Env, host: NodeId) -> TaskState {
        if self.penalised.get(&host).is_some_and(|&until| until <= env.ctx.now) {
            self.penalised.remove(&host);
            self.offer(host);
        }
        self.proceed(env)
    }
    pub fn on_stream(&mut self, env: &mut Env, slot: StreamSlot, step: Step) -> TaskState {
        let stream = match slot {
            StreamSlot::MemoryMerge => self.memory_merge.as_mut().map(|merging| &mut merging.stream),
            StreamSlot::DiskMerge => self.disk_merge.as_mut().map(|merging| &mut merging.stream),
            StreamSlot::Final => self.fin.as_mut().and_then(|fin| fin.stream.as_mut()),
            StreamSlot::Spill | StreamSlot::SpillMerge => None,
        };
        if let Some(stream) = stream {
            stream.on(step, env);
        }
        self.proceed(env)
    }
    pub fn on_write_closed(&mut self, env: &mut Env) -> TaskState {
        self.write = None;
        self.stage = Stage::Done;
        self.proceed(env)
    }

    /// Gives back what it holds: its node stays, the attempt ends.
    pub fn cancel(&mut self, env: &mut Env) {
        env.shuffle.abandon(env.ctx, Fetcher::MapReduce(env.id));
        for work in self.copying.values().filter_map(|copying| copying.checking) {
            env.ctx.cancel_compute(env.node, work);
        }
        let merges = [&self.memory_merge, &self.disk_merge].into_iter().flatten().map(|merging| &merging.stream);
        for stream in merges.chain(self.fin.iter().filter_map(|fin| fin.stream.as_ref())) {
            stream.cancel(env);
        }
        if let Some(work) = self.pause.take() {
            env.ctx.cancel_compute(env.node, work);
        }
        if let Some(write) = self.write.take() {
            env.abort_write(write);
        }
    }
    /// The recorded time of a phase has passed.
    pub fn on_recorded(&mut self, env: &mut Env) -> TaskState {
        self.pause = None;
        self.proceed(env)
    }
    /// Whether the recorded time of a phase has passed: 0 is the end of the shuffle, 1 the sort, 2 the reduce function.
    /// If not, it passes from now on.
    fn has_spent(&mut self, env: &mut Env, phase: usize) -> bool {
        if self.pause.is_none() && self.spent <= phase {
            self.spent = phase + 1;
            let time = [env.recorded.copy, env.recorded.sort, env.recorded.reduce][phase];
            if time > Time::ZERO {
                self.pause = Some(env.compute(time, TaskRequest::Recorded));
            }
        }
        self.pause.is_none()
    }

    fn offer(&mut self, host: NodeId) {
        let free = !self.busy.contains(&host) && !self.penalised.contains_key(&host) && !self.ready.contains(&host);
        if free && self.pending.get(&host).is_some_and(|maps| !maps.is_empty()) {
            self.ready.push(host);
        }
    }

    /// Starts whatever can go on, and says what the main thread waits for.
    pub fn proceed(&mut self, env: &mut Env) -> TaskState {
        self.finish_merges(env);
        if self.stage == Stage::Shuffle {
            self.fetch_more(env);
            let copied = self.copied.len() == self.expected as usize && self.fetchers == 0 && self.copying.is_empty();
            if copied && self.has_spent(env, 0) {
                env.shuffle.drop_idle(env.ctx, Fetcher::MapReduce(env.id));
                env.record.first_phase_end = Some(env.ctx.now);
                env.phase(Phase::Merge);
                self.stage = Stage::Drain;
            }
        }
        if self.stage == Stage::Drain && self.memory_merge.is_none() && self.disk_merge.is_none() {
            self.drain(env);
        }
        if matches!(self.stage, Stage::Passes | Stage::Reduce) {
            self.final_on(env);
        }
        let waiting = self.waiting();
        env.record.wait(env.ctx.now, waiting);
        if self.stage == Stage::Done { TaskState::Done } else { TaskState::Running }
    }

    fn waiting(&self) -> Waiting {
        let merging = |merging: &Merging| merging.stream.waiting();
        match self.stage {
            _ if self.pause.is_some() => Waiting::Cpu,
            Stage::Shuffle if self.fetchers > 0 => Waiting::Network,
            Stage::Shuffle if self.local.as_ref().is_some_and(LocalFetcher::is_reading) => Waiting::Disk,
            Stage::Shuffle if self.copying.values().any(|copying| copying.checking.is_none()) => Waiting::Disk,
            Stage::Shuffle if !self.copying.is_empty() => Waiting::Cpu,
            Stage::Shuffle if !self.ready.is_empty() => self.memory_merge.as_ref().map_or(Waiting::Network, merging),
            Stage::Shuffle if !self.penalised.is_empty() && !self.pending.is_empty() => Waiting::Timeout,
            Stage::Shuffle => Waiting::Maps,
            Stage::Drain => self.memory_merge.as_ref().or(self.disk_merge.as_ref()).map_or(Waiting::Disk, merging),
            Stage::Passes | Stage::Reduce => {
                self.fin.as_ref().and_then(|fin| fin.stream.as_ref()).map_or(Waiting::Disk, Stream::waiting)
            }
            Stage::Close | Stage::Done => Waiting::Network,
        }
    }

    /// Fetched outputs that are being decompressed: in Hadoop each keeps its fetcher busy.
    fn decompressing(&self, env: &Env) -> u32 {
        if env.spec.compression.map.is_none() {
            return 0;
        }
        count(self.copying.values().filter(|copying| copying.file.is_none()).count())
    }

    /// Idle fetchers go to hosts drawn at random, unless memory is full or being merged
    /// (`MergeManagerImpl.waitForResource`).
    fn fetch_more(&mut self, env: &mut Env) {
        if self.local.is_some() {
            return self.copy_next(env);
        }
        while self.fetchers + self.decompressing(env) < env.config.parallel_copies
            && self.memory_merge.is_none()
            && self.reserved <= self.limit
            && !self.ready.is_empty()
        {
            let host = self.ready.swap_remove(draw(&mut self.random, self.ready.len()));
            let Some(maps) = self.pending.get(&host) else { continue };
            let batch = maps.iter().take(env.config.fetch_batch.max(1) as usize);
            let wanted = |map: &AttemptId| {
                let Share { start, bytes, outputs, .. } = env.share(*map);
                Wanted { output: env.output_of(*map), start, bytes, outputs }
            };
            let wanted: Vec<Wanted> = batch.map(wanted).collect();
            let outputs: u32 = wanted.iter().map(|wanted| wanted.outputs).sum();
            self.fetchers += 1;
            self.busy.insert(host);
            let batch = Batch {
                application: env.application,
                fetcher: Fetcher::MapReduce(env.id),
                // Two attempts at a reduce read the same partition, each for itself.
                part: env.id.0 + 1,
                client: env.node,
                host,
                wanted,
                requests: self.requests(env, outputs),
            };
            env.shuffle.start(env.ctx, batch);
        }
    }

    /// How many requests would fetch so many outputs: each takes what one host has that is not fetched yet, on average,
    /// up to what one may ask for.
    fn requests(&self, env: &Env, outputs: u32) -> u32 {
        if env.cohorts.are_single() {
            return 1;
        }
        let known: usize = self.pending.values().map(Vec::len).sum();
        let of_host = known * env.cohorts.size() as usize / env.ctx.nodes.worker_count().max(1);
        outputs.div_ceil(count(of_host).clamp(1, env.config.fetch_batch.max(1)))
    }

    fn records(env: &Env, bytes: Bytes) -> u64 {
        whole((bytes.get() as f64 / (env.spec.workload.map_record + crate::workload::RECORD_OVERHEAD)).round())
    }

    /// CPU seconds to merge `plain` bytes into a file, of which `restored` were compressed.
    fn merge_cpu(env: &Env, plain: Bytes, restored: Bytes) -> f64 {
        let compression = &env.spec.compression;
        env.spec.workload.costs.merge * plain.get() as f64
            + compression.decompress_map(restored)
            + compression.compress_map(plain)
    }

    /// Everything committed in memory becomes one file.
    fn merge_memory(&mut self, env: &mut Env) {
        if self.memory_merge.is_some() || self.in_memory.is_empty() {
            return;
        }
        let plain: Bytes = self.in_memory.drain(..).sum();
        self.outputs_in_memory = 0;
        self.committed = Bytes::ZERO;
        let file = env.new_map_file(plain, 1);
        let cpu = Self::merge_cpu(env, plain, Bytes::ZERO);
        let mut stream = Stream::new(StreamSlot::MemoryMerge, plain, Vec::new(), file.bytes, Sink::Disk(file), cpu);
        stream.advance(env);
        env.record.spills += 1;
        env.record.spilled_records += Self::records(env, plain);
        self.memory_merge = Some(Merging { since: env.ctx.now, stream, file, freed: plain });
    }
    /// With twice the factor less one files on disk, the smallest become one.
    fn merge_disk(&mut self, env: &mut Env) {
        let factor = env.config.sort_factor.max(2) as usize;
        if self.disk_merge.is_some() || self.on_disk.len() < 2 * factor - 1 {
            return;
        }
        self.on_disk.sort_by_key(|file| file.bytes);
        let files: Vec<LocalFile> = self.on_disk.drain(..factor).collect();
        let plain: Bytes = files.iter().map(|file| file.plain).sum();
        let file = env.new_map_file(plain, 1);
        let cpu = Self::merge_cpu(env, plain, plain);
        let mut stream = Stream::new(StreamSlot::DiskMerge, Bytes::ZERO, files, file.bytes, Sink::Disk(file), cpu);
        stream.advance(env);
        env.record.spilled_records += Self::records(env, plain);
        self.disk_merge = Some(Merging { since: env.ctx.now, stream, file, freed: Bytes::ZERO });
    }
    fn finish_merges(&mut self, env: &mut Env) {
        for in_memory in [true, false] {
            let place = if in_memory { &mut self.memory_merge } else { &mut self.disk_merge };
            let Some(merging) = place.take_if(|merging| merging.stream.is_done()) else { continue };
            env.beside(Phase::Merge, merging.since);
            self.reserved = self.reserved.saturating_sub(merging.freed);
            self.on_disk.push(merging.file);
            self.merge_disk(env);
            if self.committed >= self.merge_at {
                self.merge_memory(env);
            }
        }
    }

    /// All map outputs are here: what may not stay in memory goes to disk, and the passes are planned
    /// (`MergeManagerImpl.finalMerge`).
    fn drain(&mut self, env: &mut Env) {
        let keep = env.heap().mul_f64(env.config.reduce_buffer_percent);
        let memory: Bytes = self.in_memory.iter().copied().sum();
        if memory > keep && self.on_disk.len() < env.config.sort_factor as usize {
            return self.merge_memory(env);
        }
        let segments = std::mem::take(&mut self.on_disk);
        let sizes: Vec<Bytes> = segments.iter().map(|file| file.bytes).collect();
        let plan = MergePlan::new(&sizes, env.config.sort_factor);
        self.fin = Some(Final { plan, pass: 0, segments, memory, stream: None, target: None });
        self.stage = Stage::Passes;
    }

    fn final_on(&mut self, env: &mut Env) {
        let Some(mut fin) = self.fin.take() else { return };
        if let Some(stream) = &fin.stream {
            if !stream.is_done() {
                self.fin = Some(fin);
                return;
            }
            if self.stage == Stage::Reduce {
                env.record.bytes.input = self.input;
                match self.write {
                    Some(write) => {
                        env.phase(Phase::Write);
                        env.close(write);
                        self.stage = Stage::Close;
                    }
                    None => self.stage = Stage::Done,
                }
                return;
            }
            fin.segments.extend(fin.target.take());
            fin.pass += 1;
        }
        if fin.pass < fin.plan.passes.len() {
            let files: Vec<LocalFile> =
                fin.plan.passes[fin.pass].inputs.iter().map(|&segment| fin.segments[segment]).collect();
            let plain: Bytes = files.iter().map(|file| file.plain).sum();
            let target = env.new_map_file(plain, 1);
            env.record.spilled_records += Self::records(env, plain);
            let cpu = Self::merge_cpu(env, plain, plain);
            let mut stream = Stream::new(StreamSlot::Final, Bytes::ZERO, files, target.bytes, Sink::Disk(target), cpu);
            stream.advance(env);
            fin.target = Some(target);
            fin.stream = Some(stream);
        } else {
            fin.stream = None;
            if !self.has_spent(env, 1) {
                self.fin = Some(fin);
                return;
            }
            if env.record.sort_end.is_none() {
                env.record.sort_end = Some(env.ctx.now);
                env.phase(Phase::Reduce);
            }
            let files: Vec<LocalFile> = fin.plan.last.iter().map(|&segment| fin.segments[segment]).collect();
            let on_disk: Bytes = files.iter().map(|file| file.plain).sum();
            let total = fin.memory + on_disk;
            // Where nothing is read, no piece of input stands for the time.
            if total == Bytes::ZERO && !self.has_spent(env, 2) {
                self.fin = Some(fin);
                return;
            }
            self.stage = Stage::Reduce;
            let output_plain = if let Some(bytes) = env.recorded.output {
                // What HDFS got.
                bytes.mul_f64(1.0 / env.spec.compression.output.map_or(1.0, |codec| codec.ratio))
            } else {
                // Rounded where the reducers' outputs meet, these sum to what is made of all records.
                let upto = |records: Bytes| records.mul_f64(env.spec.workload.reduce_ratio);
                upto(self.before + self.records) - upto(self.before)
            };
            let (output, compress) = env.spec.compression.job_output(output_plain);
            let sink = if output > Bytes::ZERO { self.create(env) } else { Sink::Nowhere };
            env.record.bytes.output = output;
            env.record.bytes.output_plain = output_plain;
            let decompress = env.spec.compression.decompress_map(on_disk);
            let cpu = env.spec.workload.costs.reduce * total.get() as f64
                + decompress
                + compress
                + env.recorded.reduce.as_secs_f64();
            let mut stream = Stream::new(StreamSlot::Final, fin.memory, files, output, sink, cpu);
            stream.advance(env);
            fin.stream = Some(stream);
        }
        self.fin = Some(fin);
        if self.fin.as_ref().and_then(|fin| fin.stream.as_ref()).is_some_and(Stream::is_done) {
            self.final_on(env);
        }
    }

    fn create(&mut self, env: &mut Env) -> Sink {
        let write = env.create_output(Writer::ReduceOutput(env.id));
        self.write = Some(write);
        Sink::Hdfs(write)
    }
}
