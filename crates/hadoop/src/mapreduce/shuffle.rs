//! Fetches of map outputs: HTTP over TCP from a reducer's fetcher to the node that holds the outputs (Hadoop's `ShuffleHandler`, before it the TaskTracker).
//!
//! A request names up to twenty map outputs of one node. The node answers with as many requests at once as it has threads, each output in turn: a header,
//! then the partition, read from disk a chunk at a time and no faster than the connection takes it. Only fetches under way have state.

use super::task::{MapOutput, local_file};
use crate::DiskTransfer;
use crate::context::{Context, Part};
use crate::effect::{ConnId, DiskOp, End, Input, NodeId, Service, Tag};
use crate::record::{AttemptId, JobId};
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, Time};

/// Kinds of the shuffle's tags; the value is the fetch (32 bits) and the place in its batch (16 bits).
pub(crate) const REQUEST: u8 = 64;
const HEADER: u8 = 65;
const CHUNK: u8 = 66;
const LAST: u8 = 67;
const MISSING: u8 = 68;
const DISK: u8 = 69;
const SILENCE: u8 = 70;

/// Bytes of a request: line and headers, then each map's name in the query.
const REQUEST_BYTES: u64 = 420;
const NAME_BYTES: u64 = 36;
/// Bytes of the response's headers, and of each output's own header.
const HEADER_BYTES: u64 = 60;

/// What a reducer is told of its fetches.
#[derive(Debug, Clone)]
pub(crate) enum News {
    /// An output begins to arrive: take it ([`Shuffle::accept`]) or give the fetch up.
    Begins { fetch: u32, reducer: AttemptId, bytes: Bytes },
    /// An output is there.
    Arrived { reducer: AttemptId, host: NodeId, map: AttemptId, bytes: Bytes },
    /// The batch is through.
    Finished { reducer: AttemptId, host: NodeId },
    /// The host did not deliver these. `missing`: it answered that it does not have the first.
    Failed { reducer: AttemptId, host: NodeId, maps: Vec<AttemptId>, missing: bool },
}

/// Bytes of one job's shuffle, as the serving nodes and the fetchers count them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Totals {
    pub served: Bytes,
    pub aborted: Bytes,
}

#[derive(Debug)]
struct Fetch {
    job: JobId,
    reducer: AttemptId,
    client: NodeId,
    host: NodeId,
    conn: ConnId,
    maps: Vec<(AttemptId, Bytes)>,
    /// Client: outputs received whole, and their bytes.
    done: usize,
    received: Bytes,
    heard: Time,
    client_gone: bool,
    /// Server: the output being served, how much of it has been asked of the disk, and what is unacknowledged.
    started: bool,
    serving: usize,
    offset: Bytes,
    reading: Bytes,
    unacknowledged: u32,
    sent: Bytes,
    server_gone: bool,
}

#[derive(Debug, Default)]
struct Handler {
    active: u32,
    waiting: VecDeque<u32>,
}

#[derive(Debug)]
pub(crate) struct Shuffle {
    fetches: BTreeMap<u32, Fetch>,
    next: u32,
    by_conn: Vec<Option<u32>>,
    handlers: Vec<Handler>,
    /// Kept connections by (reducer, host).
    idle: BTreeMap<(AttemptId, NodeId), ConnId>,
    threads: u32,
    keep_alive: bool,
    silence: Time,
    chunk: Bytes,
    totals: Vec<Totals>,
}

/// A fetch to begin.
pub(crate) struct Request {
    pub job: JobId,
    pub reducer: AttemptId,
    pub client: NodeId,
    pub host: NodeId,
    pub maps: Vec<(AttemptId, Bytes)>,
}

fn tag(kind: u8, fetch: u32, place: usize) -> Tag {
    Tag::new(Part::MapReduce, kind, u64::from(fetch) << 16 | place as u64)
}

impl Shuffle {
    pub fn new(config: &super::config::MapReduceConfig, nodes: usize, jobs: usize) -> Self {
        Self {
            fetches: BTreeMap::new(),
            next: 0,
            by_conn: Vec::new(),
            handlers: (0..nodes).map(|_| Handler::default()).collect(),
            idle: BTreeMap::new(),
            threads: if config.shuffle_threads == 0 { 40 } else { config.shuffle_threads },
            keep_alive: config.shuffle_keep_alive,
            silence: config.shuffle_timeout,
            chunk: config.chunk,
            totals: vec![Totals::default(); jobs],
        }
    }
    pub fn totals(&self, job: JobId) -> Totals {
        self.totals[job.0 as usize]
    }
    /// Bytes sent in fetches of a job that are still open, less the outputs received whole.
    pub fn in_flight(&self, job: JobId) -> Bytes {
        self.fetches.values().filter(|fetch| fetch.job == job).map(|fetch| fetch.sent - fetch.received).sum()
    }

    /// A fetcher asks a host for outputs.
    pub fn start(&mut self, ctx: &mut Context, request: Request) {
        let id = self.next;
        self.next += 1;
        let Request { job, reducer, client, host, maps } = request;
        let kept = self.idle.remove(&(reducer, host));
        let conn =
            kept.unwrap_or_else(|| ctx.open(Part::MapReduce, u64::from(id), client, host, Service::Shuffle, false));
        self.bind(conn, Some(id));
        self.fetches.insert(
            id,
            Fetch {
                job,
                reducer,
                client,
                host,
                conn,
                maps,
                done: 0,
                received: Bytes::ZERO,
                heard: ctx.now,
                client_gone: false,
                started: false,
                serving: 0,
                offset: Bytes::ZERO,
                reading: Bytes::ZERO,
                unacknowledged: 0,
                sent: Bytes::ZERO,
                server_gone: false,
            },
        );
        if kept.is_some() {
            self.send_request(ctx, id);
        }
        ctx.timer_in(self.silence, tag(SILENCE, id, 0));
    }
    /// The host of a fetch under way.
    pub fn host_of(&self, id: u32) -> Option<NodeId> {
        self.fetches.get(&id).map(|fetch| fetch.host)
    }
    /// The reducer has no room for what begins: the connection is reset, and what is not there yet goes back to the reducer.
    pub fn give_up(&mut self, ctx: &mut Context, id: u32) -> Vec<AttemptId> {
        let Some(fetch) = self.fetches.get_mut(&id) else { return Vec::new() };
        let rest = fetch.maps[fetch.done..].iter().map(|&(map, _)| map).collect();
        ctx.abort(fetch.conn, End::Client);
        self.client_leaves(id);
        rest
    }
    /// The reducer is gone: all its fetches are.
    pub fn abandon(&mut self, ctx: &mut Context, reducer: AttemptId) {
        let ids: Vec<u32> =
            self.fetches.iter().filter(|(_, f)| f.reducer == reducer && !f.client_gone).map(|(&id, _)| id).collect();
        for id in ids {
            self.give_up(ctx, id);
        }
        self.drop_idle(ctx, reducer);
    }
    /// The reducer has all it wants: its kept connections close.
    pub fn drop_idle(&mut self, ctx: &mut Context, reducer: AttemptId) {
        let keys: Vec<_> =
            self.idle.range((reducer, NodeId(0))..=(reducer, NodeId(u32::MAX))).map(|(&key, _)| key).collect();
        for key in keys {
            if let Some(conn) = self.idle.remove(&key) {
                ctx.close(conn, End::Client);
            }
        }
    }
    /// The node's processes are gone, at both ends of its fetches.
    pub fn on_node_down(&mut self, node: NodeId) {
        self.handlers[node.0 as usize] = Handler::default();
        let ids: Vec<u32> = self.fetches.keys().copied().collect();
        for id in ids {
            let Some(fetch) = self.fetches.get(&id) else { continue };
            if fetch.client == node {
                self.client_leaves(id);
            }
            if self.fetches.get(&id).is_some_and(|fetch| fetch.host == node) {
                self.server_leaves(id, None);
            }
        }
        self.idle.retain(|&(_, host), _| host != node);
    }

    /// News of a connection or a disk; what the reducers must hear is appended to `news`.
    pub fn on_input(&mut self, ctx: &mut Context, input: Input, outputs: &[MapOutput], news: &mut Vec<News>) {
        match input {
            Input::Connected { conn } => {
                if let Some(id) = self.fetch_of(conn) {
                    // Connecting may take as long as silence after it.
                    self.heard(id, ctx.now);
                    self.send_request(ctx, id);
                }
            }
            Input::Heard { conn, at, .. } => {
                if let Some(id) = self.fetch_of(conn) {
                    self.heard(id, at);
                    self.watch(ctx, id, news);
                }
            }
            Input::Delivered { conn, end, tag } => self.on_delivered(ctx, conn, end, tag, outputs, news),
            Input::Acknowledged { conn, end: End::Server, tag } if tag.kind() == CHUNK || tag.kind() == LAST => {
                let id = (tag.value() >> 16) as u32;
                if let Some(fetch) = self.fetches.get_mut(&id).filter(|fetch| fetch.conn == conn) {
                    fetch.unacknowledged -= 1;
                    self.serve(ctx, id, outputs);
                }
            }
            Input::DiskDone { tag, .. } if tag.kind() == DISK => self.on_read((tag.value() >> 16) as u32, ctx, outputs),
            Input::Timer { tag } if tag.kind() == SILENCE => self.on_silence(ctx, (tag.value() >> 16) as u32, news),
            Input::PeerClosed { conn, end } => {
                match (end, self.fetch_of(conn)) {
                    (End::Client, Some(id)) => self.fail(ctx, id, false, news),
                    // A client that closes in good order has received everything.
                    (End::Server, Some(id)) => self.server_leaves(id, Some((ctx, outputs))),
                    (_, None) => {}
                }
                if end == End::Client {
                    self.idle.retain(|_, kept| *kept != conn);
                }
                ctx.close(conn, end);
            }
            Input::Reset { conn, end: End::Client } => match self.fetch_of(conn) {
                Some(id) => self.fail(ctx, id, false, news),
                None => self.idle.retain(|_, kept| *kept != conn),
            },
            Input::Reset { conn, end: End::Server } => {
                let ids: Vec<u32> =
                    self.fetches.iter().filter(|(_, fetch)| fetch.conn == conn).map(|(&id, _)| id).collect();
                for id in ids {
                    self.server_leaves(id, Some((ctx, outputs)));
                }
            }
            _ => {}
        }
    }

    fn bind(&mut self, conn: ConnId, fetch: Option<u32>) {
        let place = conn.0 as usize;
        if self.by_conn.len() <= place {
            self.by_conn.resize(place + 1, None);
        }
        self.by_conn[place] = fetch;
    }
    fn fetch_of(&self, conn: ConnId) -> Option<u32> {
        let id = *self.by_conn.get(conn.0 as usize)?;
        id.filter(|id| self.fetches.get(id).is_some_and(|fetch| fetch.conn == conn))
    }

    fn send_request(&mut self, ctx: &mut Context, id: u32) {
        let Some(fetch) = self.fetches.get(&id) else { return };
        let bytes = Bytes::new(REQUEST_BYTES + NAME_BYTES * fetch.maps.len() as u64);
        ctx.send(fetch.conn, End::Client, bytes, tag(REQUEST, id, 0), true);
    }

    fn on_delivered(
        &mut self,
        ctx: &mut Context,
        conn: ConnId,
        end: End,
        message: Tag,
        outputs: &[MapOutput],
        news: &mut Vec<News>,
    ) {
        let (id, place) = ((message.value() >> 16) as u32, message.value() as usize & 0xffff);
        let Some(fetch) = self.fetches.get_mut(&id).filter(|fetch| fetch.conn == conn) else { return };
        if end == End::Server {
            let handler = &mut self.handlers[fetch.host.0 as usize];
            fetch.started = true;
            if handler.active < self.threads {
                handler.active += 1;
                self.begin_output(ctx, id, outputs);
            } else {
                handler.waiting.push_back(id);
            }
            return;
        }
        if fetch.client_gone {
            return;
        }
        fetch.heard = ctx.now;
        let (_, bytes) = fetch.maps[place];
        let reducer = fetch.reducer;
        match message.kind() {
            HEADER => {
                news.push(News::Begins { fetch: id, reducer, bytes });
                if bytes == Bytes::ZERO {
                    self.arrived(ctx, id, news);
                }
            }
            LAST => self.arrived(ctx, id, news),
            MISSING => self.fail(ctx, id, true, news),
            _ => {}
        }
    }

    fn arrived(&mut self, ctx: &mut Context, id: u32, news: &mut Vec<News>) {
        let Some(fetch) = self.fetches.get_mut(&id) else { return };
        let (map, bytes) = fetch.maps[fetch.done];
        let (reducer, host, conn) = (fetch.reducer, fetch.host, fetch.conn);
        fetch.done += 1;
        fetch.received += bytes;
        news.push(News::Arrived { reducer, host, map, bytes });
        if fetch.done == fetch.maps.len() {
            if self.keep_alive {
                self.idle.insert((reducer, host), conn);
            } else {
                ctx.close(conn, End::Client);
            }
            self.client_leaves(id);
            news.push(News::Finished { reducer, host });
        }
    }

    /// The fetch cannot go on.
    fn fail(&mut self, ctx: &mut Context, id: u32, missing: bool, news: &mut Vec<News>) {
        let Some(fetch) = self.fetches.get(&id).filter(|fetch| !fetch.client_gone) else { return };
        let (reducer, host) = (fetch.reducer, fetch.host);
        let maps = self.give_up(ctx, id);
        news.push(News::Failed { reducer, host, maps, missing });
    }

    fn on_silence(&mut self, ctx: &mut Context, id: u32, news: &mut Vec<News>) {
        let Some(fetch) = self.fetches.get(&id).filter(|fetch| !fetch.client_gone) else { return };
        if fetch.heard.saturating_add(self.silence) > ctx.now {
            self.watch(ctx, id, news);
        } else {
            // The timeout is a socket's: part of an output is not silence.
            ctx.ask_heard(fetch.conn, End::Client);
        }
    }
    /// Bytes have arrived at the fetcher, up to this time.
    fn heard(&mut self, id: u32, at: Time) {
        if let Some(fetch) = self.fetches.get_mut(&id) {
            fetch.heard = fetch.heard.max(at);
        }
    }
    /// Looks again when the host will have been silent for too long, or fails it if it has been.
    fn watch(&mut self, ctx: &mut Context, id: u32, news: &mut Vec<News>) {
        let Some(fetch) = self.fetches.get(&id).filter(|fetch| !fetch.client_gone) else { return };
        let due = fetch.heard.saturating_add(self.silence);
        if due > ctx.now {
            ctx.timer(due, tag(SILENCE, id, 0));
        } else {
            self.fail(ctx, id, false, news);
        }
    }

    /// The server turns to the next output of the batch.
    fn begin_output(&mut self, ctx: &mut Context, id: u32, outputs: &[MapOutput]) {
        let Some(fetch) = self.fetches.get_mut(&id) else { return };
        let Some(&(map, _)) = fetch.maps.get(fetch.serving) else {
            let conn = fetch.conn;
            if !self.keep_alive {
                ctx.close(conn, End::Server);
            }
            return self.server_leaves(id, Some((ctx, outputs)));
        };
        fetch.offset = Bytes::ZERO;
        let output = outputs[map.0 as usize];
        if output.available && output.node == fetch.host {
            ctx.send(fetch.conn, End::Server, Bytes::new(HEADER_BYTES), tag(HEADER, id, fetch.serving), true);
            self.serve(ctx, id, outputs);
        } else {
            ctx.send(fetch.conn, End::Server, Bytes::new(HEADER_BYTES), tag(MISSING, id, fetch.serving), true);
            fetch.serving = fetch.maps.len();
            self.begin_output(ctx, id, outputs);
        }
    }

    /// Reads the next chunk if the connection has taken enough of the last ones.
    fn serve(&mut self, ctx: &mut Context, id: u32, outputs: &[MapOutput]) {
        let Some(fetch) = self.fetches.get_mut(&id) else { return };
        let Some(&(map, bytes)) = fetch.maps.get(fetch.serving) else { return };
        if fetch.reading > Bytes::ZERO || fetch.unacknowledged >= 2 || fetch.server_gone {
            return;
        }
        if fetch.offset == bytes {
            fetch.serving += 1;
            return self.begin_output(ctx, id, outputs);
        }
        fetch.reading = self.chunk.min(bytes - fetch.offset);
        let output = outputs[map.0 as usize];
        // Partitions of one file lie one after another; a reducer reads only its own, so each is a sequential stream of its own to the disk.
        let transfer = DiskTransfer {
            disk: output.disk,
            op: DiskOp::Read,
            stream: Tag(local_file(map, output.file).0 ^ u64::from(fetch.reducer.0) << 8),
            offset: fetch.offset,
            bytes: fetch.reading,
        };
        ctx.disk(fetch.host, transfer, tag(DISK, id, 0));
    }

    fn on_read(&mut self, id: u32, ctx: &mut Context, outputs: &[MapOutput]) {
        let Some(fetch) = self.fetches.get_mut(&id) else { return };
        if fetch.server_gone {
            return;
        }
        let bytes = std::mem::take(&mut fetch.reading);
        fetch.offset += bytes;
        fetch.sent += bytes;
        fetch.unacknowledged += 1;
        self.totals[fetch.job.0 as usize].served += bytes;
        let last = fetch.offset == fetch.maps[fetch.serving].1;
        ctx.send(fetch.conn, End::Server, bytes, tag(if last { LAST } else { CHUNK }, id, fetch.serving), last);
        self.serve(ctx, id, outputs);
    }

    fn client_leaves(&mut self, id: u32) {
        let Some(fetch) = self.fetches.get_mut(&id) else { return };
        fetch.client_gone = true;
        // A request that never reached the host leaves nothing there.
        if fetch.server_gone || !fetch.started {
            self.forget(id);
        }
    }
    /// The host has done with a fetch; its thread takes the next.
    fn server_leaves(&mut self, id: u32, next: Option<(&mut Context, &[MapOutput])>) {
        let Some(fetch) = self.fetches.get_mut(&id) else { return };
        let host = fetch.host;
        let served = fetch.started && !fetch.server_gone;
        fetch.server_gone = true;
        if fetch.client_gone {
            self.forget(id);
        }
        let handler = &mut self.handlers[host.0 as usize];
        if let Some(place) = handler.waiting.iter().position(|&waiting| waiting == id) {
            handler.waiting.remove(place);
            return;
        }
        let Some((ctx, outputs)) = next.filter(|_| served) else { return };
        match handler.waiting.pop_front() {
            Some(waiting) => self.begin_output(ctx, waiting, outputs),
            None => handler.active -= 1,
        }
    }
    fn forget(&mut self, id: u32) {
        if let Some(fetch) = self.fetches.remove(&id) {
            self.totals[fetch.job.0 as usize].aborted += fetch.sent - fetch.received;
        }
    }
}
