//! A map attempt from its set-up to its output file: the map function runs beside the arrival of the split and beside
//! the spills that it causes.
//!
//! The phases are those of MRPerf (Wang, Butt, Pandey and Gupta, MASCOTS 2009: read, compute, spill, merge) with what
//! it leaves out: the sort buffer's two thresholds, a spill thread of its own, and merges in several passes.

use super::buffer::SortBuffer;
use super::merge::MergePlan;
use super::request::{Step, StreamSlot, TaskRequest, Writer};
use super::stream::{LocalFile, Sink, Stream};
use super::task::Env;
use crate::ids::{NodeId, ReadId, Tag, WriteId};
use crate::numbers::whole;
use crate::record::{Phase, Waiting};
use crate::workload::{Data, Source};
use units::{Bytes, Time};

/// Where a task stands after a step of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskState {
    Running,
    /// Its output stands; the master is to be told.
    Done,
    Failed(&'static str),
}

#[derive(Debug)]
pub(crate) struct MapTask {
    input: Bytes,
    /// Of the split, with the reader.
    arrived: Bytes,
    reading: Option<ReadId>,
    /// What it reads of the next block.
    record_end: RecordEnd,
    next_piece: usize,
    /// What is being read is the index by which its bytes are found.
    in_index: bool,
    /// Where the last bytes came from.
    source: Option<NodeId>,
    /// Of the input, taken by the map function, the piece being computed included.
    taken: Bytes,
    computing: Bytes,
    /// The work on that piece.
    work: Option<Tag>,
    buffer: SortBuffer,
    spill: Option<Spill>,
    spills: Vec<LocalFile>,
    /// Records and bytes in the spills after combining.
    spilled: Data,
    merge: Option<Merge>,
    output: Option<Output>,
    stage: Stage,
    /// The final file.
    pub result: Option<LocalFile>,
}

/// The end of the split's last record, which may be in the next block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordEnd {
    /// With the reader, or none is needed.
    Here,
    /// To be read when the map function has taken the split, with the stream of its last piece when that is read.
    Due(Option<ReadId>),
    Reading(ReadId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Map,
    /// The recorded time of its sort phase passes.
    Sort,
    Merge,
    Close,
    Done,
}

#[derive(Debug)]
struct Spill {
    since: Time,
    data: Data,
    file: LocalFile,
    /// The work until the records are sorted.
    sorting: Option<Tag>,
    stream: Stream,
}

#[derive(Debug)]
struct Merge {
    plan: MergePlan,
    pass: usize,
    segments: Vec<LocalFile>,
    stream: Stream,
    target: LocalFile,
}

/// HDFS output of the map function.
#[derive(Debug)]
struct Output {
    write: WriteId,
    /// Plain bytes, bytes in HDFS and CPU seconds of compression, per byte of input.
    plain: f64,
    ratio: f64,
    compress: f64,
    appended: Bytes,
    /// Appended without room for more.
    full: bool,
}

impl MapTask {
    pub fn new(env: &mut Env) -> Self {
        let workload = &env.spec.workload;
        let direct = if env.spec.reducers == 0 { workload.map_ratio * workload.reduce_ratio } else { 0.0 };
        // What a map function writes by itself does not pass the job's output format.
        let codec = env.spec.compression.output;
        let modelled = workload.side_output_ratio + direct * codec.map_or(1.0, |codec| codec.ratio);
        // A record has what HDFS got; plain bytes and the codec's work are in the workload's proportion to it.
        let recorded = env.recorded.output.filter(|_| env.split.bytes > Bytes::ZERO);
        let ratio = recorded.map_or(modelled, |bytes| bytes.get() as f64 / env.split.bytes.get() as f64);
        let scale = if modelled > 0.0 { ratio / modelled } else { 0.0 };
        let output = (ratio > 0.0).then(|| Output {
            write: env.create_output(Writer::MapOutput(env.id)),
            plain: if modelled > 0.0 { (workload.side_output_ratio + direct) * scale } else { ratio },
            ratio,
            compress: direct * scale * codec.map_or(0.0, |codec| codec.compress),
            appended: Bytes::ZERO,
            full: false,
        });
        let mut buffer = SortBuffer::new(env.config, workload);
        if env.spec.reducers == 0 || workload.map_ratio <= 0.0 {
            buffer = SortBuffer::new(env.config, &crate::workload::Workload { map_ratio: 0.0, ..workload.clone() });
        }
        Self {
            input: env.split.bytes,
            arrived: if matches!(workload.source, Source::Generated { .. }) { env.split.bytes } else { Bytes::ZERO },
            reading: None,
            record_end: if env.split.next.is_some() { RecordEnd::Due(None) } else { RecordEnd::Here },
            next_piece: 0,
            in_index: false,
            source: None,
            taken: Bytes::ZERO,
            computing: Bytes::ZERO,
            work: None,
            buffer,
            spill: None,
            spills: Vec::new(),
            spilled: Data::default(),
            merge: None,
            output,
            stage: Stage::Map,
            result: None,
        }
    }

    pub fn start(&mut self, env: &mut Env) -> TaskState {
        env.phase(Phase::Read);
        self.read_next(env);
        self.proceed(env)
    }

    /// The part of its work that is done, as Hadoop reports it: two thirds for the map function, one for the merge.
    pub fn progress(&self) -> f64 {
        let mapped = if self.input == Bytes::ZERO {
            1.0
        } else {
            (self.taken - self.computing).get() as f64 / self.input.get() as f64
        };
        let merged = match (&self.merge, self.stage) {
            (Some(merge), _) => (merge.pass as f64 + merge.stream.progress()) / (merge.plan.passes.len() + 1) as f64,
            (None, Stage::Map | Stage::Sort) => 0.0,
            (None, _) => 1.0,
        };
        (2.0 * mapped + merged) / 3.0
    }

    pub fn on_read_progress(&mut self, env: &mut Env, source: NodeId, bytes: Bytes) -> TaskState {
        env.count_read(source, bytes);
        if matches!(self.record_end, RecordEnd::Reading(_)) {
            return TaskState::Running;
        }
        if self.in_index {
            if let Some(read) = self.reading {
                env.take(read, bytes);
            }
            return TaskState::Running;
        }
        self.arrived += bytes;
        self.source = Some(source);
        self.proceed(env)
    }
    pub fn on_read_done(&mut self, env: &mut Env) -> TaskState {
        if matches!(self.record_end, RecordEnd::Reading(_)) {
            self.record_end = RecordEnd::Here;
            return self.proceed(env);
        }
        let read = self.reading.take();
        self.read_next(env);
        if self.reading.is_none() && self.record_end == RecordEnd::Due(None) {
            self.record_end = RecordEnd::Due(read);
        }
        self.proceed(env)
    }
    pub fn on_write_room(&mut self, env: &mut Env) -> TaskState {
        if let Some(output) = &mut self.output {
            output.full = false;
        }
        self.proceed(env)
    }
    pub fn on_write_closed(&mut self, env: &mut Env) -> TaskState {
        self.output = None;
        self.stage = Stage::Done;
        self.proceed(env)
    }
    /// A piece of the map function is done.
    pub fn on_computed(&mut self, env: &mut Env) -> TaskState {
        self.computing = Bytes::ZERO;
        self.buffer.end = self.taken;
        env.record.bytes.input = self.taken;
        if let Some(output) = &mut self.output {
            let total = self.taken.mul_f64(output.ratio);
            let bytes = total.saturating_sub(output.appended);
            if bytes > Bytes::ZERO {
                output.appended = total;
                output.full = true;
                env.record.bytes.output = total;
                env.record.bytes.output_plain = self.taken.mul_f64(output.plain);
                env.append(output.write, bytes);
            }
        }
        self.proceed(env)
    }
    pub fn on_sorted(&mut self, env: &mut Env) -> TaskState {
        if let Some(spill) = &mut self.spill {
            spill.sorting = None;
            spill.stream.advance(env);
        }
        self.proceed(env)
    }
    pub fn on_stream(&mut self, env: &mut Env, slot: StreamSlot, step: Step) -> TaskState {
        if slot == StreamSlot::Spill {
            if let Some(spill) = &mut self.spill {
                spill.stream.on(step, env);
            }
        } else if let Some(merge) = &mut self.merge {
            merge.stream.on(step, env);
        }
        self.proceed(env)
    }

    /// Gives back what it holds: its node stays, the attempt ends.
    pub fn cancel(&mut self, env: &mut Env) {
        if let Some(read) = self.reading.take() {
            env.cancel_read(read);
        }
        if let RecordEnd::Due(Some(read)) | RecordEnd::Reading(read) = self.record_end {
            env.cancel_read(read);
        }
        if let Some(output) = self.output.take() {
            env.abort_write(output.write);
        }
        if let Some(work) = self.work.filter(|_| self.computing > Bytes::ZERO || self.stage == Stage::Sort) {
            env.ctx.cancel_compute(env.node, work);
        }
        if let Some(spill) = &self.spill {
            if let Some(work) = spill.sorting {
                env.ctx.cancel_compute(env.node, work);
            }
            spill.stream.cancel(env);
        }
        if let Some(merge) = &self.merge {
            merge.stream.cancel(env);
        }
    }

    fn read_next(&mut self, env: &mut Env) {
        self.in_index = self.next_piece < env.split.index.len();
        if let Some(read) = env.read_piece(self.next_piece) {
            self.next_piece += 1;
            self.reading = Some(read);
        }
    }

    /// Starts whatever can go on, and says what the main thread waits for.
    fn proceed(&mut self, env: &mut Env) -> TaskState {
        self.finish_spill(env);
        if self.stage == Stage::Map {
            self.map_on(env);
        }
        if self.stage == Stage::Merge {
            self.merge_on(env);
        }
        let waiting = self.waiting(env);
        env.record.wait(env.ctx.now, waiting);
        if self.stage == Stage::Done { TaskState::Done } else { TaskState::Running }
    }

    fn waiting(&self, env: &Env) -> Waiting {
        let spill = |spill: &Spill| if spill.sorting.is_some() { Waiting::Cpu } else { spill.stream.waiting() };
        match self.stage {
            Stage::Close | Stage::Done => Waiting::Network,
            Stage::Sort => Waiting::Cpu,
            Stage::Merge => self.merge.as_ref().map_or(Waiting::Disk, |merge| merge.stream.waiting()),
            Stage::Map if self.computing > Bytes::ZERO => Waiting::Cpu,
            Stage::Map if self.output.as_ref().is_some_and(|output| output.full) => Waiting::Network,
            Stage::Map if matches!(self.record_end, RecordEnd::Reading(_)) => Waiting::Network,
            Stage::Map if self.buffer.room() == Bytes::ZERO || self.taken == self.input => {
                self.spill.as_ref().map_or(Waiting::Disk, spill)
            }
            Stage::Map if self.source.is_some_and(|source| source != env.node) => Waiting::Network,
            Stage::Map if self.source.is_none() && !env.split.hosts.contains(&env.node) => Waiting::Network,
            Stage::Map => Waiting::Disk,
        }
    }

    fn map_on(&mut self, env: &mut Env) {
        if self.computing > Bytes::ZERO || self.output.as_ref().is_some_and(|output| output.full) {
            return;
        }
        if self.buffer.is_due() {
            self.begin_spill(env);
        }
        let rest = self.input - self.taken;
        if rest == Bytes::ZERO && self.awaits_record_end(env) {
            return;
        }
        let at_hand = self.arrived - self.taken;
        let room = self.buffer.room();
        if rest > Bytes::ZERO {
            let hdfs = env.hdfs.config();
            let remote = self.source.is_some_and(|source| source != env.node);
            // A quarter of a piece is worth processor time. Half a remote reader's window, or what follows would wait for
            // this piece.
            let window = if remote { hdfs.remote_window / 2 } else { hdfs.read_window };
            let least = (env.config.chunk / 4).min(window).min(rest).min(room);
            // The rest of a row is all that comes of a striped block until it is taken.
            let row = self.reading.and_then(|read| env.hdfs.untaken_row(read));
            let enough = at_hand >= least || (at_hand > Bytes::ZERO && row.is_some_and(|row| at_hand >= row));
            if least == Bytes::ZERO || !enough {
                return;
            }
            if self.taken == Bytes::ZERO {
                env.phase(Phase::Compute);
            }
            let piece = at_hand.min(env.config.chunk).min(room);
            self.computing = piece;
            self.taken += piece;
            if let Some(read) = self.reading {
                env.take(read, piece);
            }
            let compress = self.output.as_ref().map_or(0.0, |output| output.compress);
            let part = piece.get() as f64 / self.input.get() as f64;
            let work = Time::from_secs_f64((env.spec.workload.costs.map + compress) * piece.get() as f64);
            let work = work + env.recorded.map.mul_f64(part);
            self.work = Some(env.compute(work, TaskRequest::Map));
        } else if self.spill.is_none() {
            if self.buffer.is_empty() || env.spec.reducers == 0 {
                self.end_map(env);
            } else {
                self.begin_spill(env);
                Self::end_function(env);
            }
        } else {
            Self::end_function(env);
        }
    }

    /// Whether the end of the last record is to come. It is asked for when all before it is taken.
    fn awaits_record_end(&mut self, env: &mut Env) -> bool {
        if let RecordEnd::Due(Some(read)) = self.record_end {
            self.record_end = RecordEnd::Reading(read);
            env.read_on(read);
        }
        self.record_end != RecordEnd::Here
    }

    /// The map function has returned for the last time; what is left is Hadoop's sort phase, which only jobs with
    /// reducers have.
    fn end_function(env: &mut Env) {
        if env.record.first_phase_end.is_none() {
            env.record.first_phase_end = Some(env.ctx.now);
            if env.spec.reducers > 0 {
                env.phase(Phase::Merge);
            }
        }
    }

    fn begin_spill(&mut self, env: &mut Env) {
        let (from, to) = self.buffer.begin();
        let workload = &env.spec.workload;
        let raw = env.map_output(from, to);
        let (data, combine_cpu) = env.combine(raw);
        let plain = data.materialized(env.spec.reducers);
        let file = env.new_map_file(plain, env.spec.reducers);
        let cpu = workload.costs.spill * plain.get() as f64 + env.spec.compression.compress_map(plain);
        let stream = Stream::new(StreamSlot::Spill, plain, Vec::new(), file.bytes, Sink::Disk(file), cpu);
        let sort = Time::from_secs_f64(workload.sort_cpu(raw.records) + combine_cpu);
        env.record.spills += 1;
        env.record.spilled_records += data.records;
        let sorting = Some(env.compute(sort, TaskRequest::Sorted));
        self.spill = Some(Spill { since: env.ctx.now, data, file, sorting, stream });
    }

    fn finish_spill(&mut self, env: &mut Env) {
        let Some(spill) = self.spill.take_if(|spill| spill.sorting.is_none() && spill.stream.is_done()) else { return };
        env.beside(Phase::Spill, spill.since);
        self.spills.push(spill.file);
        self.spilled += spill.data;
        self.buffer.spilling = Bytes::ZERO;
    }

    fn end_map(&mut self, env: &mut Env) {
        Self::end_function(env);
        if env.recorded.sort > Time::ZERO {
            self.stage = Stage::Sort;
            self.work = Some(env.compute(env.recorded.sort, TaskRequest::Recorded));
        } else {
            self.merge_spills(env);
        }
    }
    /// The recorded time of the sort phase has passed.
    pub fn on_recorded(&mut self, env: &mut Env) -> TaskState {
        self.work = None;
        self.merge_spills(env);
        self.proceed(env)
    }

    fn merge_spills(&mut self, env: &mut Env) {
        if self.spills.len() > 1 {
            self.stage = Stage::Merge;
            let sizes: Vec<Bytes> = self.spills.iter().map(|file| file.bytes).collect();
            let plan = MergePlan::new(&sizes, env.config.sort_factor);
            let segments = self.spills.clone();
            self.begin_pass(env, plan, 0, segments);
            return;
        }
        self.result = self.spills.first().copied();
        self.set_output(env);
        self.close(env);
    }

    fn set_output(&self, env: &mut Env) {
        if let Some(result) = self.result {
            env.record.bytes.output = result.bytes;
            env.record.bytes.output_plain = result.plain;
        }
    }

    fn begin_pass(&mut self, env: &mut Env, plan: MergePlan, pass: usize, segments: Vec<LocalFile>) {
        let workload = &env.spec.workload;
        let last = pass == plan.passes.len();
        let inputs = if last { &plan.last } else { &plan.passes[pass].inputs };
        let files: Vec<LocalFile> = inputs.iter().map(|&segment| segments[segment]).collect();
        let compression = &env.spec.compression;
        let read: Bytes = files.iter().map(|file| file.plain).sum();
        let mut cpu = workload.costs.merge * read.get() as f64 + compression.decompress_map(read);
        let mut plain = read;
        if last {
            let mut data = self.spilled;
            if self.spills.len() >= env.config.combine_min_spills as usize {
                let whole =
                    Data { bytes: self.spilled.bytes, records: env.map_output(Bytes::ZERO, self.input).records };
                let (combined, seconds) = env.combine(whole);
                if workload.combiner.is_some() {
                    data = combined;
                    cpu += seconds;
                }
            }
            plain = data.materialized(env.spec.reducers);
            env.record.spilled_records += data.records;
        } else {
            let all: Bytes = self.spills.iter().map(|file| file.plain).sum();
            let share = plain.get() as f64 / all.get().max(1) as f64;
            env.record.spilled_records += whole((self.spilled.records as f64 * share).round());
        }
        cpu += compression.compress_map(plain);
        let target = env.new_map_file(plain, env.spec.reducers);
        let mut stream = Stream::new(StreamSlot::SpillMerge, Bytes::ZERO, files, target.bytes, Sink::Disk(target), cpu);
        stream.advance(env);
        self.merge = Some(Merge { plan, pass, segments, stream, target });
    }

    fn merge_on(&mut self, env: &mut Env) {
        let Some(mut merge) = self.merge.take_if(|merge| merge.stream.is_done()) else { return };
        if merge.pass == merge.plan.passes.len() {
            self.result = Some(merge.target);
            self.set_output(env);
            self.close(env);
        } else {
            merge.segments.push(merge.target);
            self.begin_pass(env, merge.plan, merge.pass + 1, merge.segments);
        }
    }

    fn close(&mut self, env: &mut Env) {
        match &self.output {
            Some(output) => {
                self.stage = Stage::Close;
                env.phase(Phase::Write);
                env.close(output.write);
            }
            None => match env.commit_nothing(Writer::MapOutput(env.id)) {
                Some(write) => {
                    self.stage = Stage::Close;
                    let appended = Bytes::ZERO;
                    self.output = Some(Output { write, plain: 0.0, ratio: 0.0, compress: 0.0, appended, full: false });
                }
                None => self.stage = Stage::Done,
            },
        }
    }
}
