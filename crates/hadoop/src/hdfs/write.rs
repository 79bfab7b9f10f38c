//! Output streams: the client side of writing a file.
//!
//! The application appends bytes; the stream cuts them into packets and sends each block down a pipeline of DataNodes
//! (see `pipeline`). At most `HdfsConfig::max_packets` wait to be sent or acknowledged; beyond that the writer waits
//! (`DFSOutputStream.waitAndQueuePacket`).

use super::datanode::call_namenode;
use super::pipeline::{Pipeline, Source};
use super::{Call, Hdfs, Request, WriteCall, wire};
use crate::context::Context;
use crate::event::{Event, WriteNews};
use crate::ids::{BlockId, FileId, NodeId, PipelineId, Process, WriteId};
use crate::request::Writer;
use units::{Bytes, Time};

/// The NameNode's answer to a request for a block.
#[derive(Debug, Clone)]
pub(super) enum Allocation {
    /// A block, and the DataNodes of its pipeline.
    Block(BlockId, Vec<NodeId>),
    /// Ask again later: the block before is not reported yet, or no DataNode can take it.
    NotYet,
}

impl WriteCall {
    /// Length of the reply.
    pub(super) const fn reply(self) -> Bytes {
        match self {
            Self::AddBlock | Self::UpdatePipeline => wire::LOCATED_BLOCK,
            Self::Create | Self::Complete => wire::SHORT_REPLY,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No block is open.
    BetweenBlocks,
    /// The NameNode has been asked for something.
    Asking,
    /// A block is being written.
    Writing,
}

/// An output stream.
#[derive(Debug)]
pub(super) struct Write {
    pub writer: Process,
    pub file: FileId,
    pub replication: u32,
    owner: Writer,
    block_size: Bytes,
    state: State,
    /// Appended by the application so far.
    appended: Bytes,
    /// Where the current block begins in the file.
    block_start: Bytes,
    /// Acknowledged by the pipelines so far.
    acknowledged: Bytes,
    /// Appends whose room has not been reported.
    owed: u32,
    closing: bool,
    pub pipeline: Option<PipelineId>,
    /// DataNodes that have failed this stream; no later block of it goes to them
    /// (`dfs.client.write.exclude.nodes.cache.expiry.interval.millis` is 10 minutes, longer than most streams live).
    pub excluded: Vec<NodeId>,
    pub allocation: Option<Allocation>,
    pub completed: bool,
    /// Pipelines that could not be set up, for this block.
    setup_failures: u32,
    /// Pipelines that broke, for this block.
    recoveries: u32,
    /// How often the NameNode has been asked in vain.
    vain: u32,
}

/// Pipelines of one block that may break before the stream fails (`dfs.client.pipeline.recovery.max-retries`).
const RECOVERIES: u32 = 5;

impl Hdfs {
    /// Opens an output stream to a new file of a job's output: erasure-coded, if the cluster's policy has it so.
    pub fn create_output(
        &mut self,
        ctx: &mut Context,
        writer: Process,
        block_size: Bytes,
        replication: u32,
        owner: impl Into<Writer>,
    ) -> WriteId {
        match self.config.erasure {
            Some(code) => self.create_striped(ctx, writer, block_size, code, owner),
            None => self.create(ctx, writer, block_size, replication, owner),
        }
    }

    /// Opens an output stream to a new file.
    pub fn create(
        &mut self,
        ctx: &mut Context,
        writer: Process,
        block_size: Bytes,
        replication: u32,
        owner: impl Into<Writer>,
    ) -> WriteId {
        self.next += 1;
        let id = WriteId(self.next);
        let file = self.namespace.create(replication, true);
        let write = Write {
            writer,
            file,
            replication,
            owner: owner.into(),
            block_size: block_size.max(Bytes::new(1)),
            state: State::Asking,
            appended: Bytes::ZERO,
            block_start: Bytes::ZERO,
            acknowledged: Bytes::ZERO,
            owed: 0,
            closing: false,
            pipeline: None,
            excluded: Vec::new(),
            allocation: None,
            completed: false,
            setup_failures: 0,
            recoveries: 0,
            vain: 0,
        };
        self.writes.insert(id, write);
        let call = Call::Write(id, WriteCall::Create);
        call_namenode(ctx, writer, (wire::CLIENT_CALL, WriteCall::Create.reply()), call);
        id
    }

    /// Appends bytes. [`WriteNews::Room`] follows (at once, if there is room) when fewer than the stream's limit of
    /// packets wait: the writer appends no more before it.
    pub fn append(&mut self, ctx: &mut Context, id: WriteId, bytes: Bytes) {
        if self.striped_writes.contains_key(&id) {
            return self.append_striped(ctx, id, bytes);
        }
        let Some(write) = self.writes.get_mut(&id) else { return };
        write.appended += bytes;
        write.owed += 1;
        self.advance_write(ctx, id);
    }

    /// Ends the stream: [`WriteNews::Closed`] or [`WriteNews::Failed`] follows.
    pub fn close(&mut self, ctx: &mut Context, id: WriteId) {
        self.close_striped(ctx, id);
        if let Some(write) = self.writes.get_mut(&id) {
            write.closing = true;
            self.advance_write(ctx, id);
        }
    }

    /// Drops the stream (its writer was killed); nothing more is told of it, and its file is not completed.
    pub fn abort_write(&mut self, ctx: &mut Context, id: WriteId) {
        self.abort_striped(ctx, id);
        if let Some(pipeline) = self.writes.remove(&id).and_then(|write| write.pipeline) {
            self.discard_pipeline(ctx, pipeline);
        }
    }

    /// The file that an open stream writes.
    pub fn file_of(&self, id: WriteId) -> Option<FileId> {
        let striped = || self.striped_writes.get(&id).map(|write| write.file);
        self.writes.get(&id).map(|write| write.file).or_else(striped)
    }

    /// Tells the pipeline what may be sent, asks for the next block, reports room, closes the file.
    fn advance_write(&mut self, ctx: &mut Context, id: WriteId) {
        let limit = self.config.packet_size * u64::from(self.config.max_packets);
        let Some(write) = self.writes.get_mut(&id) else { return };
        if write.appended - write.acknowledged <= limit {
            for _ in 0..std::mem::take(&mut write.owed) {
                ctx.raise(Event::Write { write: id, news: WriteNews::Room, writer: write.owner });
            }
        }
        let rest = write.appended - write.block_start;
        match (write.state, write.pipeline) {
            (State::BetweenBlocks, _) if rest > Bytes::ZERO => {
                self.ask(ctx, id, WriteCall::AddBlock);
            }
            (State::BetweenBlocks, _) if write.closing => self.ask(ctx, id, WriteCall::Complete),
            (State::Writing, Some(pipeline)) => {
                let full = rest >= write.block_size;
                let (available, whole) = (rest.min(write.block_size), full || write.closing);
                self.feed(ctx, pipeline, available, whole);
            }
            _ => {}
        }
    }

    /// Asks the NameNode for something.
    pub(super) fn ask(&mut self, ctx: &mut Context, id: WriteId, what: WriteCall) {
        if self.striped_writes.contains_key(&id) {
            return self.ask_striped(ctx, id, what);
        }
        let Some(write) = self.writes.get_mut(&id) else { return };
        write.state = State::Asking;
        let writer = write.writer;
        call_namenode(ctx, writer, (wire::CLIENT_CALL, what.reply()), Call::Write(id, what));
    }

    /// The NameNode has answered.
    pub(super) fn write_replied(&mut self, ctx: &mut Context, what: WriteCall, id: WriteId) {
        if self.striped_writes.contains_key(&id) {
            return self.striped_write_replied(ctx, what, id);
        }
        let Some(write) = self.writes.get_mut(&id) else { return };
        match what {
            WriteCall::AddBlock => match write.allocation.take() {
                Some(Allocation::Block(block, targets)) => {
                    write.vain = 0;
                    self.open_pipeline(ctx, id, block, targets, Bytes::ZERO);
                }
                Some(Allocation::NotYet) | None => self.ask_later(ctx, id, what),
            },
            WriteCall::UpdatePipeline => {
                if let Some(Allocation::Block(block, targets)) = write.allocation.take() {
                    let base = write.acknowledged - write.block_start;
                    self.open_pipeline(ctx, id, block, targets, base);
                }
            }
            WriteCall::Complete if write.completed => {
                let writer = write.owner;
                self.writes.remove(&id);
                ctx.raise(Event::Write { write: id, news: WriteNews::Closed, writer });
            }
            WriteCall::Complete => self.ask_later(ctx, id, what),
            WriteCall::Create => {
                write.state = State::BetweenBlocks;
                self.advance_write(ctx, id);
            }
        }
    }

    /// Asks the NameNode again after a pause that doubles, until the retries are used up.
    fn ask_later(&mut self, ctx: &mut Context, id: WriteId, what: WriteCall) {
        let Some(write) = self.writes.get_mut(&id) else { return };
        if write.vain >= self.config.complete_retries {
            return self.fail_write(ctx, id);
        }
        let pause = self.config.retry_delay * (1 << write.vain.min(16));
        write.vain += 1;
        ctx.timer_in(pause, Request::WriteAgain(id, what));
    }

    pub(super) fn fail_write(&mut self, ctx: &mut Context, id: WriteId) {
        self.fail_striped(ctx, id);
        let Some(write) = self.writes.remove(&id) else { return };
        if let Some(pipeline) = write.pipeline {
            self.discard_pipeline(ctx, pipeline);
        }
        ctx.raise(Event::Write { write: id, news: WriteNews::Failed, writer: write.owner });
    }

    fn open_pipeline(&mut self, ctx: &mut Context, id: WriteId, block: BlockId, targets: Vec<NodeId>, base: Bytes) {
        let Some(write) = self.writes.get_mut(&id) else { return };
        let pipeline = Pipeline::new(Source::Stream(id), write.writer.node, block, targets, base, ctx.now);
        write.state = State::Writing;
        let pipeline = self.start_pipeline(ctx, pipeline);
        if let Some(write) = self.writes.get_mut(&id) {
            write.pipeline = Some(pipeline);
        }
        self.advance_write(ctx, id);
    }

    /// The pipeline has acknowledged the block up to here.
    pub(super) fn block_acknowledged(&mut self, ctx: &mut Context, id: WriteId, up_to: Bytes) {
        let Some(write) = self.writes.get_mut(&id) else { return };
        let acknowledged = write.block_start + up_to;
        self.counters.written += acknowledged - write.acknowledged;
        write.acknowledged = acknowledged;
        self.advance_write(ctx, id);
    }

    /// The block is whole on all nodes of its pipeline.
    pub(super) fn block_written(&mut self, ctx: &mut Context, id: WriteId, block: BlockId, nodes: usize) {
        let Some(write) = self.writes.get_mut(&id) else { return };
        self.namespace.block_mut(block).length = write.acknowledged - write.block_start;
        self.namespace.block_mut(block).complete = true;
        write.block_start = write.acknowledged;
        write.pipeline = None;
        write.state = State::BetweenBlocks;
        write.setup_failures = 0;
        write.recoveries = 0;
        let wanted = write.replication as usize;
        if nodes < wanted {
            self.written_short(block);
        }
        self.advance_write(ctx, id);
    }

    /// The pipeline broke at one of its nodes. Before its set-up was complete the block is abandoned and another asked
    /// for without that node; after it the survivors go on from what is acknowledged.
    pub(super) fn pipeline_broken(&mut self, ctx: &mut Context, id: WriteId, broken: &Pipeline, bad: usize) {
        let Some(write) = self.writes.get_mut(&id) else { return };
        write.pipeline = None;
        let mut nodes = broken.nodes().to_vec();
        let bad = nodes.remove(bad);
        write.excluded.push(bad);
        let begun = broken.was_ready() || broken.base() > Bytes::ZERO;
        if !begun {
            write.setup_failures += 1;
            self.namespace.abandon(broken.block());
            for node in broken.nodes() {
                self.datanodes[node.0 as usize].begun.remove(&broken.block());
            }
            if write.setup_failures > self.config.block_write_retries {
                return self.fail_write(ctx, id);
            }
            return self.ask(ctx, id, WriteCall::AddBlock);
        }
        write.recoveries += 1;
        if nodes.is_empty() || write.recoveries > RECOVERIES {
            return self.fail_write(ctx, id);
        }
        self.counters.pipeline_recoveries += 1;
        write.allocation = Some(Allocation::Block(broken.block(), nodes));
        self.ask(ctx, id, WriteCall::UpdatePipeline);
    }

    /// The writers of a crashed node are gone.
    pub(super) fn writes_node_down(&mut self, ctx: &mut Context, node: NodeId) {
        let gone: Vec<_> =
            self.writes.iter().filter(|(_, write)| write.writer.node == node).map(|(id, _)| *id).collect();
        for id in gone {
            self.abort_write(ctx, id);
        }
        self.striped_writes_node_down(ctx, node);
    }
}

/// How long a pipeline of so many nodes may stand still.
pub(super) fn patience(timeout: Time, extension: Time, nodes: usize) -> Time {
    timeout + extension * nodes as u64
}
