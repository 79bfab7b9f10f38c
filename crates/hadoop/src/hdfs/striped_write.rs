//! Output streams of erasure-coded files (`DFSStripedOutputStream`).
//!
//! The client cuts what the application appends into cells, sends each to the DataNode of its part, and when a row is
//! whole computes its parity cells and sends them to theirs. So k + m connections leave the client side by side, each a
//! pipeline of one DataNode with a queue of its own. The application's thread computes the parity: it appends nothing
//! meanwhile. A part whose DataNode fails is left out, up to as many as there is parity for; the NameNode has it made
//! again later. (The pause in which HDFS gives the other parts a new generation stamp is left out.)

use super::datanode::call_namenode;
use super::erasure::ErasureCode;
use super::pipeline::{Pipeline, Source};
use super::{Call, Hdfs, Request, WriteCall, wire};
use crate::context::Context;
use crate::event::{Event, WriteNews};
use crate::ids::{BlockId, FileId, NodeId, PipelineId, Process, WriteId};
use crate::request::Writer;
use units::Bytes;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No group is open.
    BetweenGroups,
    /// The NameNode has been asked for something.
    Asking,
    /// A group is being written.
    Writing,
}

/// An output stream.
#[derive(Debug)]
pub(super) struct StripedWrite {
    pub writer: Process,
    pub file: FileId,
    pub code: ErasureCode,
    owner: Writer,
    /// Length of a part at most.
    block_size: Bytes,
    state: State,
    /// Appended by the application so far.
    appended: Bytes,
    /// Where the current group begins in the file.
    group_start: Bytes,
    /// Appends whose room has not been reported.
    owed: u32,
    closing: bool,
    group: Option<BlockId>,
    parts: Vec<Part>,
    /// Rows of the group whose parity is computed.
    encoded: u64,
    encoding: bool,
    /// DataNodes that have failed this stream.
    pub excluded: Vec<NodeId>,
    /// The NameNode's answer: the group, and the DataNodes of its parts. None: ask again.
    pub allocation: Option<(BlockId, Vec<NodeId>)>,
    pub completed: bool,
    /// How often the NameNode has been asked in vain.
    vain: u32,
}

/// What becomes of a part.
#[derive(Debug, Default)]
struct Part {
    /// Its DataNode; none if there were too few.
    node: Option<NodeId>,
    pipeline: Option<PipelineId>,
    fed: Bytes,
    acknowledged: Bytes,
    done: bool,
    failed: bool,
}

impl StripedWrite {
    /// Bytes of the current group that the application has appended.
    fn in_group(&self) -> Bytes {
        (self.appended - self.group_start).min(self.block_size * self.code.data as u64)
    }
    /// Whether all of the current group is appended.
    fn is_whole(&self) -> bool {
        let full = self.appended - self.group_start >= self.block_size * self.code.data as u64;
        full || self.closing
    }
    /// What may have gone to the data parts: the application's thread stops at the end of a row to compute parity.
    fn reached(&self) -> Bytes {
        self.in_group().min(self.code.row() * (self.encoded + 1))
    }
    /// The row whose cells are there and whose parity is not, with the length of its parity cells.
    fn row_to_encode(&self) -> Option<Bytes> {
        let (reached, done) = (self.reached(), self.code.row() * self.encoded);
        let row = reached.saturating_sub(done);
        let ends = row == self.code.row() || (self.is_whole() && reached == self.in_group());
        (row > Bytes::ZERO && ends).then(|| row.min(self.code.cell))
    }
    /// Whether all parity of the group is computed.
    fn is_encoded(&self) -> bool {
        self.is_whole() && self.encoded == self.code.rows(self.in_group())
    }
}

impl Hdfs {
    /// Opens an output stream to a new erasure-coded file.
    pub fn create_striped(
        &mut self,
        ctx: &mut Context,
        writer: Process,
        block_size: Bytes,
        code: ErasureCode,
        owner: impl Into<Writer>,
    ) -> WriteId {
        self.next += 1;
        let id = WriteId(self.next);
        let file = self.namespace.create(1, true);
        let write = StripedWrite {
            writer,
            file,
            code,
            owner: owner.into(),
            // Parts hold whole cells.
            block_size: code.cell * (block_size.get() / code.cell.get()).max(1),
            state: State::Asking,
            appended: Bytes::ZERO,
            group_start: Bytes::ZERO,
            owed: 0,
            closing: false,
            group: None,
            parts: Vec::new(),
            encoded: 0,
            encoding: false,
            excluded: Vec::new(),
            allocation: None,
            completed: false,
            vain: 0,
        };
        self.striped_writes.insert(id, write);
        let reply = (wire::CLIENT_CALL, WriteCall::Create.reply());
        call_namenode(ctx, writer, reply, Call::Write(id, WriteCall::Create));
        id
    }

    pub(super) fn append_striped(&mut self, ctx: &mut Context, id: WriteId, bytes: Bytes) {
        let Some(write) = self.striped_writes.get_mut(&id) else { return };
        write.appended += bytes;
        write.owed += 1;
        self.advance_striped_write(ctx, id);
    }

    pub(super) fn close_striped(&mut self, ctx: &mut Context, id: WriteId) {
        if let Some(write) = self.striped_writes.get_mut(&id) {
            write.closing = true;
            self.advance_striped_write(ctx, id);
        }
    }

    pub(super) fn abort_striped(&mut self, ctx: &mut Context, id: WriteId) {
        let Some(write) = self.striped_writes.remove(&id) else { return };
        for pipeline in write.parts.iter().filter_map(|part| part.pipeline) {
            self.discard_pipeline(ctx, pipeline);
        }
    }

    pub(super) fn fail_striped(&mut self, ctx: &mut Context, id: WriteId) {
        let Some(owner) = self.striped_writes.get(&id).map(|write| write.owner) else { return };
        self.abort_striped(ctx, id);
        ctx.raise(Event::Write { write: id, news: WriteNews::Failed, writer: owner });
    }

    /// The writers of a crashed node are gone.
    pub(super) fn striped_writes_node_down(&mut self, ctx: &mut Context, node: NodeId) {
        let of_node = |(_, write): &(&WriteId, &StripedWrite)| write.writer.node == node;
        let gone: Vec<WriteId> = self.striped_writes.iter().filter(of_node).map(|(id, _)| *id).collect();
        for id in gone {
            self.abort_striped(ctx, id);
        }
    }

    pub(super) fn ask_striped(&mut self, ctx: &mut Context, id: WriteId, what: WriteCall) {
        let Some(write) = self.striped_writes.get_mut(&id) else { return };
        write.state = State::Asking;
        let writer = write.writer;
        call_namenode(ctx, writer, (wire::CLIENT_CALL, what.reply()), Call::Write(id, what));
    }

    /// The NameNode has answered.
    pub(super) fn striped_write_replied(&mut self, ctx: &mut Context, what: WriteCall, id: WriteId) {
        let Some(write) = self.striped_writes.get_mut(&id) else { return };
        match what {
            WriteCall::Create => {
                write.state = State::BetweenGroups;
                self.advance_striped_write(ctx, id);
            }
            WriteCall::AddBlock => match write.allocation.take() {
                Some((group, nodes)) => {
                    write.vain = 0;
                    let part = |number| Part {
                        node: nodes.get(number).copied(),
                        failed: number >= nodes.len(),
                        ..Part::default()
                    };
                    write.parts = (0..write.code.parts()).map(part).collect();
                    (write.group, write.encoded, write.state) = (Some(group), 0, State::Writing);
                    self.advance_striped_write(ctx, id);
                }
                None => self.ask_striped_later(ctx, id, what),
            },
            WriteCall::Complete if write.completed => {
                let writer = write.owner;
                self.striped_writes.remove(&id);
                ctx.raise(Event::Write { write: id, news: WriteNews::Closed, writer });
            }
            WriteCall::Complete => self.ask_striped_later(ctx, id, what),
            WriteCall::UpdatePipeline => {}
        }
    }

    fn ask_striped_later(&mut self, ctx: &mut Context, id: WriteId, what: WriteCall) {
        let (retries, delay) = (self.config.complete_retries, self.config.retry_delay);
        let Some(write) = self.striped_writes.get_mut(&id) else { return };
        if write.vain >= retries {
            return self.fail_striped(ctx, id);
        }
        let pause = delay * (1 << write.vain.min(16));
        write.vain += 1;
        ctx.timer_in(pause, Request::WriteAgain(id, what));
    }

    /// Feeds the parts, computes parity, asks for the next group, reports room, closes the file.
    fn advance_striped_write(&mut self, ctx: &mut Context, id: WriteId) {
        let limit = self.config.packet_size * u64::from(self.config.max_packets);
        let cost = self.config.coding_cost;
        let Some(write) = self.striped_writes.get_mut(&id) else { return };
        match write.state {
            State::BetweenGroups if write.appended > write.group_start => {
                return self.ask_striped(ctx, id, WriteCall::AddBlock);
            }
            State::BetweenGroups if write.closing => return self.ask_striped(ctx, id, WriteCall::Complete),
            State::BetweenGroups | State::Asking => {}
            State::Writing => {
                if !write.encoding
                    && let Some(length) = write.row_to_encode()
                {
                    let work = write.code.work(write.code.parity, length, cost);
                    write.encoding = true;
                    ctx.compute(write.writer.node, work, Request::RowCoded(id));
                }
                self.feed_parts(ctx, id);
            }
        }
        let Some(write) = self.striped_writes.get_mut(&id) else { return };
        let waits = |part: &Part| !part.failed && part.fed - part.acknowledged > limit;
        let is_held = write.state == State::Writing
            && (write.encoding
                || write.group_start + write.reached() < write.appended
                || write.parts.iter().any(waits));
        // Before the first group is there, an application may be as far ahead as a queue.
        let is_early = write.state != State::Writing && write.appended - write.group_start > limit;
        if !is_held && !is_early {
            for _ in 0..std::mem::take(&mut write.owed) {
                ctx.raise(Event::Write { write: id, news: WriteNews::Room, writer: write.owner });
            }
        }
    }

    /// Tells the pipelines of the parts what may be sent.
    fn feed_parts(&mut self, ctx: &mut Context, id: WriteId) {
        let Some(write) = self.striped_writes.get(&id) else { return };
        let Some(group) = write.group else { return };
        let (code, reached) = (write.code, write.reached());
        let (whole, encoded) = (write.is_whole() && reached == write.in_group(), write.is_encoded());
        let parity = reached.min(code.row() * write.encoded);
        for number in 0..code.parts() {
            let is_data = number < code.data;
            let (available, ends) =
                if is_data { (code.in_part(reached, number), whole) } else { (code.in_part(parity, number), encoded) };
            let Some(write) = self.striped_writes.get_mut(&id) else { return };
            let part = &mut write.parts[number];
            part.fed = part.fed.max(available);
            if part.failed || part.done {
                continue;
            }
            match (part.pipeline, part.node) {
                (Some(pipeline), _) => self.feed(ctx, pipeline, available, ends),
                (None, Some(node)) if available > Bytes::ZERO => {
                    let block = self.namespace.parts(group)[number];
                    let (source, client) = (Source::Part { write: id, part: number }, write.writer.node);
                    let pipeline = Pipeline::new(source, client, block, vec![node], Bytes::ZERO, ctx.now);
                    let pipeline = self.start_pipeline(ctx, pipeline);
                    if let Some(write) = self.striped_writes.get_mut(&id) {
                        write.parts[number].pipeline = Some(pipeline);
                    }
                    self.feed(ctx, pipeline, available, ends);
                }
                // A short group leaves its last data parts empty.
                (None, _) => part.done = ends,
            }
        }
        self.end_group_if_done(ctx, id);
    }

    /// The parity of a row is computed.
    pub(super) fn row_coded(&mut self, ctx: &mut Context, id: WriteId) {
        if let Some(write) = self.striped_writes.get_mut(&id) {
            write.encoding = false;
            write.encoded += 1;
            self.advance_striped_write(ctx, id);
        }
    }

    /// A part's DataNode has acknowledged it up to here.
    pub(super) fn part_acknowledged(
        &mut self,
        ctx: &mut Context,
        id: WriteId,
        number: usize,
        up_to: Bytes,
        done: bool,
    ) {
        let Some(write) = self.striped_writes.get_mut(&id) else { return };
        let part = &mut write.parts[number];
        if number < write.code.data {
            self.counters.written += up_to - part.acknowledged;
        }
        part.acknowledged = up_to;
        if done {
            (part.done, part.pipeline) = (true, None);
            self.end_group_if_done(ctx, id);
        }
        self.advance_striped_write(ctx, id);
    }

    /// A part's DataNode has failed: the stream goes on without the part, if there is parity for it.
    pub(super) fn part_broken(&mut self, ctx: &mut Context, id: WriteId, number: usize, node: NodeId) {
        let Some(write) = self.striped_writes.get_mut(&id) else { return };
        write.excluded.push(node);
        let part = &mut write.parts[number];
        (part.failed, part.pipeline) = (true, None);
        self.counters.pipeline_recoveries += 1;
        if let Some(group) = write.group {
            let block = self.namespace.parts(group)[number];
            self.datanodes[node.0 as usize].begun.remove(&block);
        }
        if write.parts.iter().filter(|part| part.failed).count() > write.code.parity {
            return self.fail_striped(ctx, id);
        }
        self.end_group_if_done(ctx, id);
        self.advance_striped_write(ctx, id);
    }

    /// All parts that can be are whole on their DataNodes: the group is.
    fn end_group_if_done(&mut self, ctx: &mut Context, id: WriteId) {
        let Some(write) = self.striped_writes.get_mut(&id) else { return };
        let Some(group) = write.group.filter(|_| write.parts.iter().all(|part| part.done || part.failed)) else {
            return;
        };
        if !write.is_encoded() || write.encoding {
            return;
        }
        let length = write.in_group();
        let failed: Vec<usize> = (0..write.parts.len()).filter(|number| write.parts[*number].failed).collect();
        write.group_start += length;
        (write.group, write.state) = (None, State::BetweenGroups);
        let code = write.code;
        // What a failed part does not hold, parity does.
        let unheld = |number: &&usize| **number < code.data;
        let held = failed
            .iter()
            .filter(unheld)
            .map(|number| code.in_part(length, *number).saturating_sub(write.parts[*number].acknowledged));
        self.counters.written += held.sum();
        self.namespace.close_group(group, length, code);
        for number in failed.into_iter().filter(|number| code.in_part(length, *number) > Bytes::ZERO) {
            let block = self.namespace.parts(group)[number];
            self.written_short(block);
        }
        self.advance_striped_write(ctx, id);
    }
}
