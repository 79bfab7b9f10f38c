//! Reading a range of an object, as S3A's input streams do.
//!
//! The stream first asks for the object's length. With the policy `sequential` one request follows from where the
//! reader begins to the end of the *object* (`S3AInputStream.calculateRequestLimit`): a map that has its split gives it
//! up, and with it the connection, unless next to nothing is left. With `random` each read of the application is a
//! request of its own, one after the other. The prefetching stream asks for blocks, several at
//! once. A vectored read (`readVectored`) asks for several ranges at once, those with small gaps between them merged,
//! whatever the policy. The reader is handed bytes in their order.

use super::client::{Ask, Owner};
use super::config::{InputPolicy, Stride};
use super::request::Method;
use super::{ObjectStore, wire};
use crate::context::Context;
use crate::event::{Event, ReadNews};
use crate::ids::{HttpId, ObjectId, Process, ReadId};
use crate::request::Reader;
use std::collections::VecDeque;
use units::Bytes;

/// A read under way.
#[derive(Debug)]
pub(super) struct Read {
    pub process: Process,
    owner: Reader,
    object: ObjectId,
    /// By which of the bytes are wanted, if not all are: all that follows counts these alone.
    stride: Option<Stride>,
    /// What the reader wants, up to here.
    end: Bytes,
    /// With the reader in order up to here.
    at: Bytes,
    /// Taken by the application up to here.
    taken: Bytes,
    /// Asked for up to here.
    asked: Bytes,
    /// Requests for the length that still come before the first range; with none it is known.
    looks: u32,
    /// Ranges asked for, in order.
    ranges: VecDeque<Range>,
}

#[derive(Debug)]
struct Range {
    http: HttpId,
    from: Bytes,
    to: Bytes,
    got: Bytes,
    /// Bytes of the answer, gaps included.
    came: Bytes,
}

impl Read {
    fn of(
        process: Process,
        owner: Reader,
        object: ObjectId,
        (offset, end): (Bytes, Bytes),
        stride: Option<Stride>,
    ) -> Self {
        let [at, taken, asked] = [offset; 3];
        Self { process, owner, object, stride, end, at, taken, asked, looks: 1, ranges: VecDeque::new() }
    }
    /// What is with the client and not with the reader: it came before its turn, or is beyond what is wanted.
    pub fn undelivered(&self) -> Bytes {
        self.ranges.iter().map(|range| range.got.saturating_sub(range.from.max(self.at))).sum()
    }
    fn drop_delivered(&mut self) {
        let at = self.at;
        self.ranges.retain(|range| range.got < range.to || range.to > at);
    }
}

impl ObjectStore {
    /// Reads a range of an object, or with a stride some of its bytes. Progress is reported as it comes, up to a window
    /// ahead of what has been taken with [`ObjectStore::take`].
    pub fn read(
        &mut self,
        ctx: &mut Context,
        process: Process,
        object: ObjectId,
        (offset, length): (Bytes, Bytes),
        stride: Option<Stride>,
        owner: impl Into<Reader>,
    ) -> ReadId {
        let end = (offset + length).min(self.length(object)).max(offset);
        let (offset, end) = stride.map_or((offset, end), |stride| (Bytes::ZERO, stride.of(end - offset)));
        self.open_read(ctx, Read::of(process, owner.into(), object, (offset, end), stride))
    }
    /// Reads an object as a NodeManager does that fetches a file of a job: it asks whether the file is still the one
    /// that was submitted (`FSDownload`), then opens it.
    pub fn download(
        &mut self,
        ctx: &mut Context,
        process: Process,
        object: ObjectId,
        owner: impl Into<Reader>,
    ) -> ReadId {
        let all = (Bytes::ZERO, self.length(object));
        self.open_read(ctx, Read { looks: 2, ..Read::of(process, owner.into(), object, all, None) })
    }
    fn open_read(&mut self, ctx: &mut Context, read: Read) -> ReadId {
        self.next += 1;
        let id = ReadId(super::OWN | self.next);
        self.reads.insert(id, read);
        self.ask_length(ctx, id);
        id
    }
    fn ask_length(&mut self, ctx: &mut Context, id: ReadId) {
        let Some(Read { process, object, .. }) = self.reads.get(&id) else { return };
        self.send(ctx, *process, Ask::plain(Method::Head), u64::from(object.0), Owner::Read(id));
    }
    /// The application has taken bytes; more may come.
    pub fn take(&mut self, ctx: &mut Context, id: ReadId, bytes: Bytes) {
        let Some(read) = self.reads.get_mut(&id) else { return };
        read.taken = (read.taken + bytes).min(read.at);
        self.advance(ctx, id);
        self.finish_read(ctx, id);
    }
    /// Stops a read; nothing more is told of it.
    pub fn cancel_read(&mut self, ctx: &mut Context, id: ReadId) {
        let Some(read) = self.reads.remove(&id) else { return };
        let readahead = self.config.readahead;
        self.counters.discarded += read.undelivered();
        for range in read.ranges {
            self.release(ctx, range.http, readahead);
        }
    }

    /// Asks for what may be asked for now, and tells the store how far it may send.
    fn advance(&mut self, ctx: &mut Context, id: ReadId) {
        if let Some(stride) = self.reads.get(&id).and_then(|read| read.stride) {
            return self.advance_vectored(ctx, id, stride);
        }
        let (policy, readahead) = (self.config.input_policy, self.config.readahead.max(Bytes::new(1)));
        let (block, most) =
            (self.config.prefetch_block.max(Bytes::new(1)), u64::from(self.config.prefetch_count.max(1)));
        loop {
            let Some(read) = self.reads.get(&id) else { return };
            let length = self.length(read.object);
            let (at_once, to) = match policy {
                InputPolicy::Sequential => (1, length),
                InputPolicy::Random => (1, (read.asked + readahead).min(length)),
                // Blocks begin at multiples of their length.
                InputPolicy::Prefetch => (most, (block * (read.asked.get() / block.get() + 1)).min(length)),
            };
            // A block's buffer is free when the reader is through it; a random read follows what was taken before it.
            let held = match policy {
                InputPolicy::Prefetch => read.asked.saturating_sub(read.taken).get().div_ceil(block.get()),
                InputPolicy::Random if read.asked >= read.taken + wire::WINDOW => 1,
                InputPolicy::Random | InputPolicy::Sequential => 0,
            };
            if read.looks > 0 || read.asked >= read.end || held.max(read.ranges.len() as u64) >= at_once {
                break;
            }
            let down = to - read.asked;
            let limit = if policy == InputPolicy::Sequential { wire::WINDOW } else { down };
            self.request(ctx, id, to, Ask { down, limit, ..Ask::plain(Method::Get) });
        }
        if policy == InputPolicy::Sequential
            && let Some(read) = self.reads.get(&id)
            && let Some(range) = read.ranges.front()
            && let Some(http) = self.https.get_mut(&range.http)
        {
            // The attempt under way began where the one before it had come to.
            let begun = range.to - http.ask.down;
            http.ask.limit = (read.taken + wire::WINDOW).min(range.to).saturating_sub(begun);
            let id = range.http;
            self.pump(ctx, id);
        }
    }

    /// Ranges of a vectored read, as many at once as may be.
    fn advance_vectored(&mut self, ctx: &mut Context, id: ReadId, stride: Stride) {
        let (most, merged) = (u64::from(self.config.active_ranges.max(1)), self.config.most_merged);
        let together = if stride.gap < self.config.least_seek {
            ((merged + stride.gap).get() / (stride.wanted + stride.gap).get().max(1)).max(1)
        } else {
            1
        };
        let step = stride.wanted * together;
        loop {
            let Some(read) = self.reads.get(&id) else { return };
            let held = read.asked.saturating_sub(read.taken).get().div_ceil(step.get().max(1));
            if read.looks > 0 || read.asked >= read.end || held.max(read.ranges.len() as u64) >= most {
                return;
            }
            let to = (read.asked + step).min(read.end);
            let down = stride.length(to - read.asked);
            self.request(ctx, id, to, Ask::plain(Method::Get).with_down(down));
        }
    }
    /// Asks for what is wanted up to there.
    fn request(&mut self, ctx: &mut Context, id: ReadId, to: Bytes, ask: Ask) {
        let Some(Read { process, object, asked, .. }) = self.reads.get(&id) else { return };
        let (process, object, from) = (*process, *object, *asked);
        let http = self.send(ctx, process, ask, u64::from(object.0), Owner::Read(id));
        if let Some(read) = self.reads.get_mut(&id) {
            read.asked = to;
            read.ranges.push_back(Range { http, from, to, got: from, came: Bytes::ZERO });
        }
    }

    /// A piece of an answer is there.
    pub(super) fn got(&mut self, ctx: &mut Context, id: ReadId, http: HttpId, bytes: Bytes) {
        let Some(read) = self.reads.get_mut(&id) else { return };
        let Some(range) = read.ranges.iter_mut().find(|range| range.http == http) else { return };
        range.came += bytes;
        let wanted = read.stride.map_or(range.came, |stride| stride.of(range.came));
        self.counters.discarded += bytes - (range.from + wanted - range.got);
        range.got = range.from + wanted;
        let mut at = read.at;
        for range in &read.ranges {
            if range.from <= at {
                at = at.max(range.got);
            }
        }
        let at = at.min(read.end);
        let bytes = at - read.at;
        read.at = at;
        read.drop_delivered();
        let owner = read.owner;
        self.counters.read += bytes;
        if bytes > Bytes::ZERO {
            let news = ReadNews::Progress { source: self.config.node, bytes };
            ctx.raise(Event::Read { read: id, news, reader: owner });
        }
        self.finish_read(ctx, id);
    }
    /// The reader closes the stream when it has taken what it wants; until then the store goes on sending.
    fn finish_read(&mut self, ctx: &mut Context, id: ReadId) {
        let Some(read) = self.reads.get(&id).filter(|read| read.looks == 0 && read.taken == read.end) else { return };
        let owner = read.owner;
        self.cancel_read(ctx, id);
        ctx.raise(Event::Read { read: id, news: ReadNews::Done, reader: owner });
    }
    /// A request of a read has its whole answer.
    pub(super) fn read_answered(&mut self, ctx: &mut Context, id: ReadId) {
        let Some(read) = self.reads.get_mut(&id) else { return };
        read.looks = read.looks.saturating_sub(1);
        if read.looks > 0 {
            return self.ask_length(ctx, id);
        }
        self.advance(ctx, id);
        self.finish_read(ctx, id);
    }
    /// A request of a read has failed too often.
    pub(super) fn read_failed(&mut self, ctx: &mut Context, id: ReadId) {
        let Some(owner) = self.reads.get(&id).map(|read| read.owner) else { return };
        self.cancel_read(ctx, id);
        ctx.raise(Event::Read { read: id, news: ReadNews::Failed, reader: owner });
    }
}
