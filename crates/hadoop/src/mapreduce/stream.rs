//! Bytes through a task: read from local disk (or already in memory), processed, and written to local disk or HDFS,
//! each stage running ahead of the next by two chunks, so that disk, processor and network overlap as they do under a
//! buffered reader and writer.

use super::request::{Step, StreamSlot, TaskRequest};
use super::task::Env;
use crate::context::DiskTransfer;
use crate::effect::DiskOp;
use crate::ids::{DiskStream, Tag, WriteId};
use crate::numbers::scaled;
use crate::record::Waiting;
use units::{Bytes, Time};

/// A file on a local disk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalFile {
    pub stream: DiskStream,
    pub disk: u32,
    pub bytes: Bytes,
    /// Its length before compression.
    pub plain: Bytes,
}

/// Where the bytes go.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sink {
    Nowhere,
    Disk(LocalFile),
    Hdfs(WriteId),
}

#[derive(Debug)]
pub(crate) struct Stream {
    slot: StreamSlot,
    /// Files with how much of each has been asked for; read in turns.
    sources: Vec<(LocalFile, Bytes)>,
    turn: usize,
    total: Bytes,
    output: Bytes,
    sink: Sink,
    /// CPU seconds for all of it.
    cpu: f64,
    read: Bytes,
    reading: Bytes,
    processed: Bytes,
    processing: Bytes,
    /// The work on them.
    work: Option<Tag>,
    written: Bytes,
    /// Bytes of the writes under way (disk), or appended without room for more (HDFS).
    writing: Bytes,
}

const AHEAD: u64 = 2;

impl Stream {
    /// `memory` bytes that are there, then the files; `output` bytes come out.
    pub fn new(slot: StreamSlot, memory: Bytes, files: Vec<LocalFile>, output: Bytes, sink: Sink, cpu: f64) -> Self {
        let total = memory + files.iter().map(|file| file.bytes).sum();
        Self {
            slot,
            sources: files
                .into_iter()
                .filter(|file| file.bytes > Bytes::ZERO)
                .map(|file| (file, Bytes::ZERO))
                .collect(),
            turn: 0,
            total,
            output,
            sink,
            cpu,
            read: memory,
            reading: Bytes::ZERO,
            processed: Bytes::ZERO,
            processing: Bytes::ZERO,
            work: None,
            written: Bytes::ZERO,
            writing: Bytes::ZERO,
        }
    }
    pub fn is_done(&self) -> bool {
        self.processed == self.total && self.written == self.output && self.writing == Bytes::ZERO
    }
    /// The part of the input that is processed.
    pub fn progress(&self) -> f64 {
        if self.total == Bytes::ZERO { 1.0 } else { self.processed.get() as f64 / self.total.get() as f64 }
    }
    /// What it waits for now.
    pub fn waiting(&self) -> Waiting {
        if self.processing > Bytes::ZERO {
            return Waiting::Cpu;
        }
        match self.sink {
            Sink::Hdfs(_) if self.read > self.processed || self.processed == self.total => Waiting::Network,
            _ => Waiting::Disk,
        }
    }
    /// A request of it is done.
    pub fn on(&mut self, step: Step, env: &mut Env) {
        match step {
            Step::Read => {
                self.read += self.reading;
                env.record.bytes.disk_read += self.reading;
                self.reading = Bytes::ZERO;
            }
            Step::Compute => {
                self.processed += self.processing;
                self.processing = Bytes::ZERO;
            }
            Step::Write => {
                if matches!(self.sink, Sink::Disk(_)) {
                    env.record.bytes.disk_written += self.writing;
                }
                self.written += self.writing;
                self.writing = Bytes::ZERO;
            }
        }
        self.advance(env);
    }
    /// Starts what can start.
    pub fn advance(&mut self, env: &mut Env) {
        let chunk = env.config.chunk;
        if self.reading == Bytes::ZERO && self.read < self.processed + chunk * AHEAD {
            self.start_read(env, chunk);
        }
        let produced = self.produced();
        let backlog = produced - self.written - self.writing;
        if self.processing == Bytes::ZERO && self.processed < self.read && backlog < chunk * AHEAD {
            self.processing = chunk.min(self.read - self.processed);
            let work = Time::from_secs_f64(self.cpu * self.processing.get() as f64 / self.total.get() as f64);
            self.work = Some(env.compute(work, TaskRequest::Stream(self.slot, Step::Compute)));
        }
        if self.writing == Bytes::ZERO && backlog > Bytes::ZERO {
            let whole = self.processed == self.total;
            if backlog >= chunk || whole || self.processing == Bytes::ZERO {
                self.start_write(env, backlog.min(chunk));
            }
        }
    }
    fn produced(&self) -> Bytes {
        if self.processed == self.total {
            return self.output;
        }
        Bytes::new(scaled(self.output.get(), self.processed.get(), self.total.get()))
    }
    fn start_read(&mut self, env: &mut Env, chunk: Bytes) {
        if self.sources.is_empty() {
            return;
        }
        self.turn %= self.sources.len();
        let (file, offset) = &mut self.sources[self.turn];
        let bytes = chunk.min(file.bytes - *offset);
        let transfer = DiskTransfer::new(file.disk, DiskOp::Read, file.stream, *offset, bytes);
        *offset += bytes;
        if *offset == file.bytes {
            self.sources.remove(self.turn);
        } else {
            self.turn += 1;
        }
        self.reading = bytes;
        env.disk(transfer, TaskRequest::Stream(self.slot, Step::Read));
    }
    fn start_write(&mut self, env: &mut Env, bytes: Bytes) {
        self.writing = bytes;
        match self.sink {
            Sink::Nowhere => {
                self.written += bytes;
                self.writing = Bytes::ZERO;
            }
            Sink::Disk(file) => {
                let transfer = DiskTransfer::new(file.disk, DiskOp::Write, file.stream, self.written, bytes);
                env.disk(transfer, TaskRequest::Stream(self.slot, Step::Write));
            }
            Sink::Hdfs(write) => env.append(write, bytes),
        }
    }
    /// Forgets its processor work (its attempt is killed).
    pub fn cancel(&self, env: &mut Env) {
        if let Some(work) = self.work.filter(|_| self.processing > Bytes::ZERO) {
            env.ctx.cancel_compute(env.node, work);
        }
    }
}
