//! Fetches of map outputs: HTTP over TCP from a reducer's fetcher to the node that holds the outputs (Hadoop's
//! `ShuffleHandler`, before it the TaskTracker).
//!
//! A request names up to twenty map outputs of one node. The node answers with as many requests at once as it has
//! threads, each output in turn: a header, then the partition, read from disk a chunk at a time and no faster than the
//! connection takes it. Only fetches under way have state.

pub(crate) mod request;

pub use request::{Content, Message, Request};

use crate::context::{Context, DiskTransfer};
use crate::effect::{DiskOp, End, Service};
use crate::ids::{AttemptId, ConnId, DiskStream, FetchId, JobId, NodeId};
use crate::request::User;
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, Time};

/// Bytes of a request: line and headers, then each map's name in the query.
const REQUEST_BYTES: u64 = 420;
const NAME_BYTES: u64 = 36;
/// Bytes of the response's headers, and of each output's own header.
const HEADER_BYTES: u64 = 60;

/// Settings of the shuffle service and its fetchers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShuffleConfig {
    /// Requests that a node serves at once.
    pub threads: u32,
    /// Whether a fetcher keeps its connection to a host.
    pub keep_alive: bool,
    /// How long a fetcher waits for a silent host.
    pub silence: Time,
    /// What a host reads from disk at a time.
    pub chunk: Bytes,
}

/// What a reducer is told of its fetches.
#[derive(Debug, Clone)]
pub(crate) enum News {
    /// An output begins to arrive: take it ([`Shuffle::accept`]) or give the fetch up.
    Begins { fetch: FetchId, reducer: AttemptId, bytes: Bytes },
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

/// A finished map's output on its node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MapOutput {
    /// The number of its task.
    pub map: u32,
    pub node: NodeId,
    /// The length of all its partitions.
    pub bytes: Bytes,
    pub disk: u32,
    pub stream: DiskStream,
    /// It can still be served.
    pub available: bool,
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
    last_received: Time,
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
    waiting: VecDeque<FetchId>,
}

#[derive(Debug)]
pub(crate) struct Shuffle {
    /// By attempt.
    outputs: Vec<MapOutput>,
    /// What the reducers have not been told yet.
    news: Vec<News>,
    fetches: BTreeMap<FetchId, Fetch>,
    next: u32,
    by_conn: Vec<Option<FetchId>>,
    handlers: Vec<Handler>,
    /// Kept connections by (reducer, host).
    idle: BTreeMap<(AttemptId, NodeId), ConnId>,
    config: ShuffleConfig,
    totals: Vec<Totals>,
}

/// A fetch to begin.
pub(crate) struct Batch {
    pub job: JobId,
    pub reducer: AttemptId,
    pub client: NodeId,
    pub host: NodeId,
    pub maps: Vec<(AttemptId, Bytes)>,
}

fn message(fetch: FetchId, content: Content) -> Message {
    Message { fetch, content }
}

impl Shuffle {
    pub fn new(config: ShuffleConfig, nodes: usize, jobs: usize) -> Self {
        Self {
            outputs: Vec::new(),
            news: Vec::new(),
            fetches: BTreeMap::new(),
            next: 0,
            by_conn: Vec::new(),
            handlers: (0..nodes).map(|_| Handler::default()).collect(),
            idle: BTreeMap::new(),
            config,
            totals: vec![Totals::default(); jobs],
        }
    }
    /// What the reducers have not been told yet.
    pub fn take_news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
    }
    /// An attempt on a node, the next in order of creation. It has no output yet.
    pub fn add_attempt(&mut self, task: u32, node: NodeId) {
        let stream = DiskStream { file: 0, part: 0 };
        self.outputs.push(MapOutput { map: task, node, bytes: Bytes::ZERO, disk: 0, stream, available: false });
    }
    /// A map attempt's output is on a disk of its node, and can be fetched.
    pub fn publish(&mut self, map: AttemptId, disk: u32, stream: DiskStream, bytes: Bytes) {
        let output = &mut self.outputs[map.0 as usize];
        *output = MapOutput { bytes, disk, stream, available: true, ..*output };
    }
    /// A map attempt's output is not served any more.
    pub fn withdraw(&mut self, map: AttemptId) {
        self.outputs[map.0 as usize].available = false;
    }
    /// The output of a map attempt.
    pub fn output(&self, map: AttemptId) -> &MapOutput {
        &self.outputs[map.0 as usize]
    }
    pub fn totals(&self, job: JobId) -> Totals {
        self.totals[job.0 as usize]
    }
    /// Bytes sent in fetches of a job that are still open, less the outputs received whole.
    pub fn in_flight(&self, job: JobId) -> Bytes {
        self.fetches.values().filter(|fetch| fetch.job == job).map(|fetch| fetch.sent - fetch.received).sum()
    }

    /// A fetcher asks a host for outputs.
    pub fn start(&mut self, ctx: &mut Context, batch: Batch) {
        let id = FetchId(self.next);
        self.next += 1;
        let Batch { job, reducer, client, host, maps } = batch;
        let kept = self.idle.remove(&(reducer, host));
        let conn = kept.unwrap_or_else(|| ctx.open(User::Shuffle, client, host, Service::Shuffle, false));
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
                last_received: ctx.now,
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
        ctx.timer_in(self.config.silence, Request::SilenceDue(id));
    }
    /// The host of a fetch under way.
    pub fn host_of(&self, id: FetchId) -> Option<NodeId> {
        self.fetches.get(&id).map(|fetch| fetch.host)
    }
    /// The reducer has no room for what begins: the connection is reset, and what is not there yet goes back to the
    /// reducer.
    pub fn give_up(&mut self, ctx: &mut Context, id: FetchId) -> Vec<AttemptId> {
        let Some(fetch) = self.fetches.get_mut(&id) else { return Vec::new() };
        let rest = fetch.maps[fetch.done..].iter().map(|&(map, _)| map).collect();
        ctx.abort(fetch.conn, End::Client);
        self.client_leaves(id);
        rest
    }
    /// The reducer is gone: all its fetches are.
    pub fn abandon(&mut self, ctx: &mut Context, reducer: AttemptId) {
        let ids: Vec<FetchId> =
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
        let ids: Vec<FetchId> = self.fetches.keys().copied().collect();
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
        for output in self.outputs.iter_mut().filter(|output| output.node == node) {
            output.available = false;
        }
    }

    /// The handshake of a fetcher's connection is done.
    pub fn on_connected(&mut self, ctx: &mut Context, conn: ConnId) {
        if let Some(id) = self.fetch_of(conn) {
            // Connecting may take as long as silence after it.
            self.received_at(id, ctx.now);
            self.send_request(ctx, id);
        }
    }
    /// Bytes have arrived at a fetcher, up to this time.
    pub fn on_last_received(&mut self, ctx: &mut Context, conn: ConnId, at: Time) {
        if let Some(id) = self.fetch_of(conn) {
            self.received_at(id, at);
            self.watch(ctx, id);
        }
    }
    /// A message of a host has left its send buffer.
    pub fn on_acknowledged(&mut self, ctx: &mut Context, conn: ConnId, message: Message) {
        match message.content {
            Content::Chunk | Content::Last => {
                let id = message.fetch;
                if let Some(fetch) = self.fetches.get_mut(&id).filter(|fetch| fetch.conn == conn) {
                    fetch.unacknowledged -= 1;
                    self.serve(ctx, id);
                }
            }
            Content::Request | Content::Header(_) | Content::Missing => {}
        }
    }
    /// A disk request is done, or a timer fires.
    pub fn on_answer(&mut self, ctx: &mut Context, request: Request) {
        match request {
            Request::Disk(fetch) => self.on_read(fetch, ctx),
            Request::SilenceDue(fetch) => self.on_silence(ctx, fetch),
        }
    }
    /// The peer of an end has closed its stream.
    pub fn on_peer_closed(&mut self, ctx: &mut Context, conn: ConnId, end: End) {
        match (end, self.fetch_of(conn)) {
            (End::Client, Some(id)) => self.fail(ctx, id, false),
            // A client that closes in good order has received everything.
            (End::Server, Some(id)) => self.server_leaves(id, Some(ctx)),
            (_, None) => {}
        }
        if end == End::Client {
            self.idle.retain(|_, kept| *kept != conn);
        }
        ctx.close(conn, end);
    }
    /// The connection is dead as seen at an end.
    pub fn on_reset(&mut self, ctx: &mut Context, conn: ConnId, end: End) {
        match (end, self.fetch_of(conn)) {
            (End::Client, Some(id)) => self.fail(ctx, id, false),
            (End::Client, None) => self.idle.retain(|_, kept| *kept != conn),
            (End::Server, _) => {
                let ids: Vec<FetchId> =
                    self.fetches.iter().filter(|(_, fetch)| fetch.conn == conn).map(|(&id, _)| id).collect();
                for id in ids {
                    self.server_leaves(id, Some(ctx));
                }
            }
        }
    }

    fn bind(&mut self, conn: ConnId, fetch: Option<FetchId>) {
        let place = conn.0 as usize;
        if self.by_conn.len() <= place {
            self.by_conn.resize(place + 1, None);
        }
        self.by_conn[place] = fetch;
    }
    fn fetch_of(&self, conn: ConnId) -> Option<FetchId> {
        let id = *self.by_conn.get(conn.0 as usize)?;
        id.filter(|id| self.fetches.get(id).is_some_and(|fetch| fetch.conn == conn))
    }

    fn send_request(&mut self, ctx: &mut Context, id: FetchId) {
        let Some(fetch) = self.fetches.get(&id) else { return };
        let bytes = Bytes::new(REQUEST_BYTES + NAME_BYTES * fetch.maps.len() as u64);
        ctx.send(fetch.conn, End::Client, bytes, message(id, Content::Request), true);
    }

    /// A message is at the host, or at the fetcher.
    pub fn on_delivered(&mut self, ctx: &mut Context, conn: ConnId, message: Message) {
        let id = message.fetch;
        let Some(fetch) = self.fetches.get_mut(&id).filter(|fetch| fetch.conn == conn) else { return };
        if message.content == Content::Request {
            let handler = &mut self.handlers[fetch.host.0 as usize];
            fetch.started = true;
            if handler.active < self.config.threads {
                handler.active += 1;
                self.begin_output(ctx, id);
            } else {
                handler.waiting.push_back(id);
            }
            return;
        }
        if fetch.client_gone {
            return;
        }
        fetch.last_received = ctx.now;
        match message.content {
            Content::Header(place) => {
                let (_, bytes) = fetch.maps[place];
                let reducer = fetch.reducer;
                self.news.push(News::Begins { fetch: id, reducer, bytes });
                if bytes == Bytes::ZERO {
                    self.arrived(ctx, id);
                }
            }
            Content::Last => self.arrived(ctx, id),
            Content::Missing => self.fail(ctx, id, true),
            Content::Request | Content::Chunk => {}
        }
    }

    fn arrived(&mut self, ctx: &mut Context, id: FetchId) {
        let Some(fetch) = self.fetches.get_mut(&id) else { return };
        let (map, bytes) = fetch.maps[fetch.done];
        let (reducer, host, conn) = (fetch.reducer, fetch.host, fetch.conn);
        fetch.done += 1;
        fetch.received += bytes;
        self.news.push(News::Arrived { reducer, host, map, bytes });
        if fetch.done == fetch.maps.len() {
            if self.config.keep_alive {
                self.idle.insert((reducer, host), conn);
            } else {
                ctx.close(conn, End::Client);
            }
            self.client_leaves(id);
            self.news.push(News::Finished { reducer, host });
        }
    }

    /// The fetch cannot go on.
    fn fail(&mut self, ctx: &mut Context, id: FetchId, missing: bool) {
        let Some(fetch) = self.fetches.get(&id).filter(|fetch| !fetch.client_gone) else { return };
        let (reducer, host) = (fetch.reducer, fetch.host);
        let maps = self.give_up(ctx, id);
        self.news.push(News::Failed { reducer, host, maps, missing });
    }

    fn on_silence(&mut self, ctx: &mut Context, id: FetchId) {
        let Some(fetch) = self.fetches.get(&id).filter(|fetch| !fetch.client_gone) else { return };
        if fetch.last_received.saturating_add(self.config.silence) > ctx.now {
            self.watch(ctx, id);
        } else {
            // The timeout is a socket's: part of an output is not silence.
            ctx.ask_last_received(fetch.conn, End::Client);
        }
    }
    /// Bytes have arrived at the fetcher, up to this time.
    fn received_at(&mut self, id: FetchId, at: Time) {
        if let Some(fetch) = self.fetches.get_mut(&id) {
            fetch.last_received = fetch.last_received.max(at);
        }
    }
    /// Looks again when the host will have been silent for too long, or fails it if it has been.
    fn watch(&mut self, ctx: &mut Context, id: FetchId) {
        let Some(fetch) = self.fetches.get(&id).filter(|fetch| !fetch.client_gone) else { return };
        let due = fetch.last_received.saturating_add(self.config.silence);
        if due > ctx.now {
            ctx.timer(due, Request::SilenceDue(id));
        } else {
            self.fail(ctx, id, false);
        }
    }

    /// The server turns to the next output of the batch.
    fn begin_output(&mut self, ctx: &mut Context, id: FetchId) {
        let Some(fetch) = self.fetches.get_mut(&id) else { return };
        let Some(&(map, _)) = fetch.maps.get(fetch.serving) else {
            let conn = fetch.conn;
            if !self.config.keep_alive {
                ctx.close(conn, End::Server);
            }
            return self.server_leaves(id, Some(ctx));
        };
        fetch.offset = Bytes::ZERO;
        let output = self.outputs[map.0 as usize];
        if output.available && output.node == fetch.host {
            ctx.send(
                fetch.conn,
                End::Server,
                Bytes::new(HEADER_BYTES),
                message(id, Content::Header(fetch.serving)),
                true,
            );
            self.serve(ctx, id);
        } else {
            ctx.send(fetch.conn, End::Server, Bytes::new(HEADER_BYTES), message(id, Content::Missing), true);
            fetch.serving = fetch.maps.len();
            self.begin_output(ctx, id);
        }
    }

    /// Reads the next chunk if the connection has taken enough of the last ones.
    fn serve(&mut self, ctx: &mut Context, id: FetchId) {
        let Some(fetch) = self.fetches.get_mut(&id) else { return };
        let Some(&(map, bytes)) = fetch.maps.get(fetch.serving) else { return };
        if fetch.reading > Bytes::ZERO || fetch.unacknowledged >= 2 || fetch.server_gone {
            return;
        }
        if fetch.offset == bytes {
            fetch.serving += 1;
            return self.begin_output(ctx, id);
        }
        fetch.reading = self.config.chunk.min(bytes - fetch.offset);
        let output = self.outputs[map.0 as usize];
        // Partitions of one file lie one after another; a reducer reads only its own, so each is a sequential stream of
        // its own to the disk.
        let transfer = DiskTransfer {
            disk: output.disk,
            op: DiskOp::Read,
            stream: DiskStream { part: fetch.reducer.0 + 1, ..output.stream },
            offset: fetch.offset,
            bytes: fetch.reading,
        };
        ctx.disk(fetch.host, transfer, Request::Disk(id));
    }

    fn on_read(&mut self, id: FetchId, ctx: &mut Context) {
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
        let content = if last { Content::Last } else { Content::Chunk };
        ctx.send(fetch.conn, End::Server, bytes, message(id, content), last);
        self.serve(ctx, id);
    }

    fn client_leaves(&mut self, id: FetchId) {
        let Some(fetch) = self.fetches.get_mut(&id) else { return };
        fetch.client_gone = true;
        // A request that never reached the host leaves nothing there.
        if fetch.server_gone || !fetch.started {
            self.forget(id);
        }
    }
    /// The host has done with a fetch; its thread takes the next.
    fn server_leaves(&mut self, id: FetchId, next: Option<&mut Context>) {
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
        let Some(ctx) = next.filter(|_| served) else { return };
        match handler.waiting.pop_front() {
            Some(waiting) => self.begin_output(ctx, waiting),
            None => handler.active -= 1,
        }
    }
    fn forget(&mut self, id: FetchId) {
        if let Some(fetch) = self.fetches.remove(&id) {
            self.totals[fetch.job.0 as usize].aborted += fetch.sent - fetch.received;
        }
    }
}
