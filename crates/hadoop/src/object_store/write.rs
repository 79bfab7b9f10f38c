//! Output streams to the store (`S3ABlockOutputStream`), and the commit of a task.
//!
//! What the application writes fills blocks, in memory or on the node's disks. A block that is full becomes a part of a
//! multipart upload; a stream that ends before its first block is full is one PUT. The application waits where a block
//! more is full than may be under way. When the stream is closed its task is committed at once, by steps that follow
//! one another.

use super::client::{Ask, Owner};
use super::commit::{Before, Step, create_steps, nothing_steps, setup_steps, submit_steps, task_steps};
use super::config::OutputCommitter;
use super::request::{Method, Request};
use super::{ObjectStore, wire};
use crate::context::{Context, DiskTransfer};
use crate::disks::Data;
use crate::effect::DiskOp;
use crate::event::{Event, WriteNews};
use crate::ids::{DiskStream, HttpId, NodeId, Process, WriteId};
use crate::request::Writer;
use std::collections::VecDeque;
use units::Bytes;

/// Where a stream stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It asks whether it may write, or makes its folder.
    Creating,
    /// Blocks are filled and uploaded.
    Open,
    /// The upload is completed, and the task committed.
    Committing,
}

/// A multipart upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Upload {
    None,
    Begun,
    Ready,
}

/// An output stream.
#[derive(Debug)]
pub(super) struct Write {
    pub process: Process,
    /// Who hears of it; nobody of an errand.
    owner: Option<Writer>,
    /// Whether it is an object, not only requests.
    has_data: bool,
    key: u64,
    stage: Stage,
    upload: Upload,
    /// Appended, and in the buffer.
    appended: Bytes,
    buffered: Bytes,
    /// In blocks that are full, or the last one.
    blocked: Bytes,
    /// Blocks that wait for their turn, and where they begin.
    waiting: VecDeque<(Bytes, Bytes)>,
    /// Parts under way.
    parts: Vec<HttpId>,
    /// Appends whose room has not been reported.
    owed: u32,
    closing: bool,
    buffer: Option<(u32, DiskStream)>,
    steps: VecDeque<Step>,
}

impl ObjectStore {
    /// Opens an output stream to an object in a job's output.
    pub fn create(&mut self, ctx: &mut Context, process: Process, before: Before, owner: impl Into<Writer>) -> WriteId {
        let committer = self.config.committer;
        let buffer = (self.config.disk_buffer || committer == OutputCommitter::Directory)
            .then(|| (self.next_disk(ctx, process.node), ctx.new_file()));
        let steps = create_steps(&self.config, before);
        let id = self.open_write(process, Some(owner.into()), Stage::Creating, steps);
        if let Some(write) = self.writes.get_mut(&id) {
            (write.has_data, write.buffer) = (true, buffer);
        }
        ctx.compute(process.node, self.config.write_start_cpu, Request::Created(id));
        id
    }
    fn open_write(&mut self, process: Process, owner: Option<Writer>, stage: Stage, steps: VecDeque<Step>) -> WriteId {
        self.next += 1;
        let id = WriteId(super::OWN | self.next);
        let write = Write {
            process,
            owner,
            has_data: false,
            key: u64::from(self.next),
            stage,
            upload: Upload::None,
            appended: Bytes::ZERO,
            buffered: Bytes::ZERO,
            blocked: Bytes::ZERO,
            waiting: VecDeque::new(),
            parts: Vec::new(),
            owed: 0,
            closing: false,
            buffer: None,
            steps,
        };
        self.writes.insert(id, write);
        id
    }
    /// The next request before the first byte, or the stream is open; or the first one of a set-up.
    pub(super) fn next_of_creation(&mut self, ctx: &mut Context, id: WriteId) {
        let Some(write) = self.writes.get_mut(&id) else { return };
        if !write.steps.is_empty() {
            return self.next_step(ctx, id, Bytes::ZERO);
        }
        write.stage = Stage::Open;
        if self.config.committer == OutputCommitter::Magic {
            self.begin_upload(ctx, id);
        }
        self.advance_write(ctx, id);
    }

    /// Commits a task that has no output; none if its committer asks for nothing. [`WriteNews::Closed`] or
    /// [`WriteNews::Failed`] follows.
    pub fn commit_nothing(&mut self, ctx: &mut Context, process: Process, owner: impl Into<Writer>) -> Option<WriteId> {
        let steps = nothing_steps(&self.config);
        if steps.is_empty() {
            return None;
        }
        let id = self.open_write(process, Some(owner.into()), Stage::Committing, steps);
        self.next_step(ctx, id, Bytes::ZERO);
        Some(id)
    }
    /// A client looks at the output and the input of a job, where these are here, before it submits it.
    pub fn look_before_submission(&mut self, ctx: &mut Context, process: Process, input: bool, output: Option<Before>) {
        self.errand(ctx, process, submit_steps(input, output));
    }
    /// An AppMaster makes the folders of a job's output. [`WriteNews::Closed`] or [`WriteNews::Failed`] follows.
    pub fn set_up(&mut self, ctx: &mut Context, process: Process, before: Before, owner: impl Into<Writer>) -> WriteId {
        let steps = setup_steps(&self.config, before);
        let id = self.open_write(process, Some(owner.into()), Stage::Committing, steps);
        ctx.compute(process.node, self.config.write_start_cpu, Request::Created(id));
        id
    }
    /// Requests for which nobody waits.
    fn errand(&mut self, ctx: &mut Context, process: Process, steps: VecDeque<Step>) {
        if !steps.is_empty() {
            let id = self.open_write(process, None, Stage::Committing, steps);
            self.next_step(ctx, id, Bytes::ZERO);
        }
    }
    /// The errands of a process that ends.
    pub(super) fn drop_errands(&mut self, ctx: &mut Context, process: Process) {
        let own = self.writes.iter().filter(|(_, write)| write.owner.is_none() && write.process == process);
        for id in own.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.abort_write(ctx, id);
        }
    }
    fn next_disk(&mut self, ctx: &Context, node: NodeId) -> u32 {
        self.turns.entry(node).or_default().take(&ctx.nodes.info(node).disks, Data::Intermediate)
    }

    /// Appends bytes. [`WriteNews::Room`] follows when a block less waits than would hold the application up.
    pub fn append(&mut self, ctx: &mut Context, id: WriteId, bytes: Bytes) {
        let Some(write) = self.writes.get_mut(&id) else { return };
        let offset = write.appended;
        write.appended += bytes;
        write.owed += 1;
        match write.buffer {
            Some((disk, stream)) => {
                let transfer = DiskTransfer::new(disk, DiskOp::Write, stream, offset, bytes);
                ctx.disk(write.process.node, transfer, Request::Buffered(id));
            }
            None => self.buffered(ctx, id),
        }
    }
    /// What was appended is in the buffer.
    pub(super) fn buffered(&mut self, ctx: &mut Context, id: WriteId) {
        let Some(write) = self.writes.get_mut(&id) else { return };
        write.buffered = write.appended;
        self.advance_write(ctx, id);
    }
    /// Ends the stream and commits it: [`WriteNews::Closed`] or [`WriteNews::Failed`] follows.
    pub fn close(&mut self, ctx: &mut Context, id: WriteId) {
        if let Some(write) = self.writes.get_mut(&id) {
            write.closing = true;
            self.advance_write(ctx, id);
        }
    }
    /// Drops the stream; nothing more is told of it. What it has uploaded is never seen.
    pub fn abort_write(&mut self, ctx: &mut Context, id: WriteId) {
        if self.writes.remove(&id).is_none() {
            return;
        }
        let own: Vec<_> = self.https.iter().filter(|(_, http)| http.owner == Owner::Write(id)).collect();
        for id in own.into_iter().map(|(id, _)| *id).collect::<Vec<_>>() {
            self.drop_http(ctx, id);
        }
    }
    pub(super) fn fail_write(&mut self, ctx: &mut Context, id: WriteId) {
        let Some(owner) = self.writes.get(&id).map(|write| write.owner) else { return };
        self.abort_write(ctx, id);
        if let Some(writer) = owner {
            ctx.raise(Event::Write { write: id, news: WriteNews::Failed, writer });
        }
    }
    /// The length of a stream that was closed; it is forgotten.
    pub fn take_length(&mut self, id: WriteId) -> Option<Bytes> {
        self.lengths.remove(&id)
    }

    /// Fills blocks, starts parts, reports room, and commits what is closed.
    fn advance_write(&mut self, ctx: &mut Context, id: WriteId) {
        let size = self.config.multipart_size.max(Bytes::new(1));
        let staged = self.config.committer == OutputCommitter::Directory;
        // Parts of one staged file are uploaded one after the other (`uploadFileToPendingCommit`).
        let most = if staged { 1 } else { self.config.active_blocks.max(1) as usize };
        let Some(write) = self.writes.get_mut(&id) else { return };
        if write.stage == Stage::Committing {
            return;
        }
        while write.buffered - write.blocked >= size {
            write.waiting.push_back((write.blocked, size));
            write.blocked += size;
        }
        let flushed = write.closing && write.buffered == write.appended;
        let rest = write.buffered - write.blocked;
        let multipart = write.upload != Upload::None || !write.waiting.is_empty() || staged;
        if flushed && rest > Bytes::ZERO && multipart {
            write.waiting.push_back((write.blocked, rest));
            write.blocked = write.buffered;
        }
        if write.stage == Stage::Open {
            if !write.waiting.is_empty() && write.upload == Upload::None && (!staged || flushed) {
                return self.begin_upload_and_go_on(ctx, id);
            }
            let may = write.upload == Upload::Ready && write.parts.len() < most;
            if let Some((offset, bytes)) = write.waiting.pop_front_if(|_| may) {
                let (process, key) = (write.process, write.key);
                let buffer = write.buffer.map(|(disk, stream)| (disk, stream, offset));
                let ask = Ask { buffer, ..Ask::plain(Method::Put).with_up(bytes) };
                let http = self.send(ctx, process, ask, key, Owner::Write(id));
                let Some(again) = self.writes.get_mut(&id) else { return };
                again.parts.push(http);
                return self.advance_write(ctx, id);
            }
        }
        let Some(write) = self.writes.get_mut(&id) else { return };
        // `write` blocks while a block that is full has no permit, `create` while it looks for what is there.
        let held_up = !staged && (!write.waiting.is_empty() || write.stage == Stage::Creating);
        if write.buffered == write.appended && !held_up {
            for _ in 0..std::mem::take(&mut write.owed) {
                if let Some(writer) = write.owner {
                    ctx.raise(Event::Write { write: id, news: WriteNews::Room, writer });
                }
            }
        }
        let uploaded = write.waiting.is_empty() && write.parts.is_empty() && write.upload != Upload::Begun;
        if flushed && uploaded && write.stage == Stage::Open {
            self.finish_upload(ctx, id);
        }
    }
    fn begin_upload_and_go_on(&mut self, ctx: &mut Context, id: WriteId) {
        self.begin_upload(ctx, id);
        self.advance_write(ctx, id);
    }
    fn begin_upload(&mut self, ctx: &mut Context, id: WriteId) {
        let Some(write) = self.writes.get_mut(&id) else { return };
        write.upload = Upload::Begun;
        let (process, key) = (write.process, write.key);
        self.send(ctx, process, Ask::plain(Method::Post).with_down(wire::XML), key, Owner::Write(id));
    }

    /// All parts are there: the upload is completed, or noted for the job's commit, and the task is committed.
    fn finish_upload(&mut self, ctx: &mut Context, id: WriteId) {
        let config = self.config.clone();
        let Some(write) = self.writes.get_mut(&id) else { return };
        write.stage = Stage::Committing;
        let rest = write.buffered - write.blocked;
        let single = (write.upload == Upload::None).then_some(rest);
        write.steps = task_steps(&config, write.appended, single);
        let at = write.blocked;
        write.blocked = write.buffered;
        self.next_step(ctx, id, at);
    }
    fn next_step(&mut self, ctx: &mut Context, id: WriteId, at: Bytes) {
        let Some(write) = self.writes.get_mut(&id) else { return };
        let Some(step) = write.steps.pop_front() else {
            let (length, owner, has_data) = (write.appended, write.owner, write.has_data);
            self.writes.remove(&id);
            if has_data {
                self.lengths.insert(id, length);
            }
            if let Some(writer) = owner {
                ctx.raise(Event::Write { write: id, news: WriteNews::Closed, writer });
            }
            return;
        };
        let (process, key) = (write.process, write.key);
        let buffer = write.buffer.filter(|_| step.whole).map(|(disk, stream)| (disk, stream, at));
        for ask in step.asks {
            let ask = Ask { buffer, ..ask };
            let http = self.send(ctx, process, ask, key, Owner::Write(id));
            let Some(write) = self.writes.get_mut(&id) else { return };
            write.parts.push(http);
        }
    }

    /// A request of a stream has its answer, or has failed too often.
    pub(super) fn write_answered(&mut self, ctx: &mut Context, id: WriteId, http: HttpId, answered: bool) {
        if !answered {
            return self.fail_write(ctx, id);
        }
        let Some(write) = self.writes.get_mut(&id) else { return };
        let of_part = write.parts.iter().position(|part| *part == http);
        if let Some(place) = of_part {
            write.parts.remove(place);
        }
        match write.stage {
            Stage::Committing => {
                if write.parts.is_empty() {
                    self.next_step(ctx, id, Bytes::ZERO);
                }
                return;
            }
            Stage::Creating => {
                if write.parts.is_empty() {
                    self.next_of_creation(ctx, id);
                }
                return;
            }
            Stage::Open if of_part.is_none() => write.upload = Upload::Ready,
            Stage::Open => {}
        }
        self.advance_write(ctx, id);
    }
}
