//! Fetches of map outputs: HTTP over TCP from a reducer's fetcher to the node that holds the outputs (Hadoop's
//! `ShuffleHandler`, before it the TaskTracker).
//!
//! A request names up to twenty map outputs of one node. The node answers with as many requests at once as it has
//! threads, each output in turn: a header, then the partition, read from disk a chunk at a time and no faster than the
//! connection takes it. Only fetches under way have state.

pub(crate) mod request;
mod serve;

pub use request::{Content, Message, Request};

use crate::context::Context;
use crate::effect::{End, Service};
use crate::ids::{ApplicationId, ConnId, DiskStream, FetchId, NodeId, OutputId};
use crate::request::{Fetcher, User};
use des::Index;
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

/// What a fetcher is told of its fetches.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// An output begins to arrive: nothing is to be done to take it; who has no room gives the fetch up
    /// ([`Shuffle::give_up`]).
    Begins { fetch: FetchId, output: OutputId, bytes: Bytes },
    /// An output is there.
    Arrived { host: NodeId, output: OutputId, bytes: Bytes },
    /// The batch is through.
    Finished { host: NodeId },
    /// The host did not deliver these. `missing`: it answered that it does not have the first.
    Failed { host: NodeId, outputs: Vec<OutputId>, missing: bool },
}

/// Bytes of one application's shuffle, as the serving nodes and the fetchers count them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Totals {
    /// Sent by hosts.
    pub served: Bytes,
    /// Sent in fetches that were given up, less the outputs that had arrived whole.
    pub aborted: Bytes,
}

/// Bytes of map outputs that a node's reducers have received whole over the network, and that others have from it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exchanged {
    /// Received by its reducers.
    pub received: Bytes,
    /// Sent to reducers of other nodes.
    pub sent: Bytes,
}

/// A map's output on its node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MapOutput {
    /// What its framework calls it.
    pub name: u32,
    pub node: NodeId,
    /// The length of all its partitions.
    pub bytes: Bytes,
    disk: u32,
    stream: DiskStream,
    /// It can be served.
    available: bool,
}

#[derive(Debug)]
struct Fetch {
    batch: Batch,
    conn: ConnId,
    /// When the fetcher asked for the connection.
    opened: Time,
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

/// The shuffle service of all nodes, and the fetchers.
#[derive(Debug)]
pub struct Shuffle {
    outputs: Vec<MapOutput>,
    /// What the fetchers have not been told yet.
    news: Vec<(Fetcher, News)>,
    fetches: BTreeMap<FetchId, Fetch>,
    next: u32,
    by_conn: Vec<Option<FetchId>>,
    handlers: Vec<Handler>,
    /// Kept connections to hosts.
    idle: BTreeMap<(Fetcher, NodeId), ConnId>,
    /// Handshakes of fetchers' connections: how many, and their mean in seconds.
    handshakes: (f64, f64),
    config: ShuffleConfig,
    totals: BTreeMap<ApplicationId, Totals>,
    /// By node.
    exchanged: Vec<Exchanged>,
}

/// An output to fetch a partition of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// The map output.
    pub output: OutputId,
    /// Where the partition begins in it.
    pub start: Bytes,
    /// The length of the partition.
    pub bytes: Bytes,
    /// How many outputs it stands for: as many places to read, on as many maps' disks.
    pub outputs: u32,
}

/// A fetch to begin.
#[derive(Debug, Clone)]
pub struct Batch {
    /// On whose account its bytes are.
    pub application: ApplicationId,
    /// Who is told what becomes of it.
    pub fetcher: Fetcher,
    /// The partition, as a stream of its own to the host's disk; not zero.
    pub part: u32,
    /// Where the fetcher is.
    pub client: NodeId,
    /// Where the outputs are.
    pub host: NodeId,
    /// What it asks for, at least one.
    pub wanted: Vec<Wanted>,
    /// For how many requests, each on a connection of its own, it stands; usually one.
    pub requests: u32,
}

fn message(fetch: FetchId, content: Content) -> Message {
    Message { fetch, content }
}

impl Shuffle {
    pub(crate) fn new(config: ShuffleConfig, nodes: usize) -> Self {
        Self {
            outputs: Vec::new(),
            news: Vec::new(),
            fetches: BTreeMap::new(),
            next: 0,
            by_conn: Vec::new(),
            handlers: (0..nodes).map(|_| Handler::default()).collect(),
            idle: BTreeMap::new(),
            handshakes: (0.0, 0.0),
            config,
            totals: BTreeMap::new(),
            exchanged: vec![Exchanged::default(); nodes],
        }
    }
    /// What a node has exchanged with others, all applications together.
    pub fn exchanged(&self, node: NodeId) -> Exchanged {
        self.exchanged[node.0 as usize]
    }
    /// What the fetchers have not been told yet.
    pub(crate) fn take_news(&mut self) -> Vec<(Fetcher, News)> {
        std::mem::take(&mut self.news)
    }
    /// Names an output that a map will have on a node.
    pub fn add_output(&mut self, name: u32, node: NodeId) -> OutputId {
        let id = OutputId::from_usize(self.outputs.len());
        let stream = DiskStream { file: 0, part: 0 };
        self.outputs.push(MapOutput { name, node, bytes: Bytes::ZERO, disk: 0, stream, available: false });
        id
    }
    /// An output is on a disk of its node, and can be fetched.
    pub fn publish(&mut self, id: OutputId, disk: u32, stream: DiskStream, bytes: Bytes) {
        let output = &mut self.outputs[id.0 as usize];
        *output = MapOutput { bytes, disk, stream, available: true, ..*output };
    }
    /// An output is not served any more.
    pub fn withdraw(&mut self, id: OutputId) {
        self.outputs[id.0 as usize].available = false;
    }
    pub(crate) fn output(&self, id: OutputId) -> &MapOutput {
        &self.outputs[id.0 as usize]
    }
    /// Where an output is on its node.
    pub(crate) fn place_of(&self, id: OutputId) -> (u32, DiskStream) {
        let output = &self.outputs[id.0 as usize];
        (output.disk, output.stream)
    }
    /// A reducer has read so much of an output from its own disk.
    pub(crate) fn copied(&mut self, application: ApplicationId, bytes: Bytes) {
        self.totals.entry(application).or_default().served += bytes;
    }
    /// Bytes of an application's shuffle.
    pub fn totals(&self, application: ApplicationId) -> Totals {
        self.totals.get(&application).copied().unwrap_or_default()
    }
    /// Bytes sent in fetches of an application that are still open, less the outputs received whole.
    pub fn in_flight(&self, application: ApplicationId) -> Bytes {
        let mine = self.fetches.values().filter(|fetch| fetch.batch.application == application);
        mine.map(|fetch| fetch.sent - fetch.received).sum()
    }

    /// A fetcher asks a host for outputs.
    pub fn start(&mut self, ctx: &mut Context, batch: Batch) {
        let id = FetchId(self.next);
        self.next += 1;
        let Batch { fetcher, client, host, .. } = batch;
        let kept = self.idle.remove(&(fetcher, host));
        let conn = kept.unwrap_or_else(|| ctx.open(User::Shuffle, client, host, Service::Shuffle, false));
        self.bind(conn, Some(id));
        self.fetches.insert(
            id,
            Fetch {
                batch,
                conn,
                opened: ctx.now,
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
    pub(crate) fn host_of(&self, id: FetchId) -> Option<NodeId> {
        self.fetches.get(&id).map(|fetch| fetch.batch.host)
    }
    /// The fetcher has no room for what begins: the connection is reset. Returns what is not there yet.
    pub fn give_up(&mut self, ctx: &mut Context, id: FetchId) -> Vec<OutputId> {
        let Some(fetch) = self.fetches.get_mut(&id) else { return Vec::new() };
        let rest = fetch.batch.wanted[fetch.done..].iter().map(|wanted| wanted.output).collect();
        ctx.abort(fetch.conn, End::Client);
        self.client_leaves(id);
        rest
    }
    /// The fetcher is gone: all its fetches are.
    pub fn abandon(&mut self, ctx: &mut Context, fetcher: Fetcher) {
        let ids: Vec<FetchId> = self
            .fetches
            .iter()
            .filter(|(_, f)| f.batch.fetcher == fetcher && !f.client_gone)
            .map(|(&id, _)| id)
            .collect();
        for id in ids {
            self.give_up(ctx, id);
        }
        self.drop_idle(ctx, fetcher);
    }
    /// The fetcher has all it wants: its kept connections close.
    pub fn drop_idle(&mut self, ctx: &mut Context, fetcher: Fetcher) {
        let keys: Vec<_> =
            self.idle.range((fetcher, NodeId(0))..=(fetcher, NodeId(u32::MAX))).map(|(&key, _)| key).collect();
        for key in keys {
            if let Some(conn) = self.idle.remove(&key) {
                ctx.close(conn, End::Client);
            }
        }
    }
    /// The node's processes are gone, at both ends of its fetches.
    pub(crate) fn on_node_down(&mut self, node: NodeId) {
        self.handlers[node.0 as usize] = Handler::default();
        let ids: Vec<FetchId> = self.fetches.keys().copied().collect();
        for id in ids {
            let Some(fetch) = self.fetches.get(&id) else { continue };
            if fetch.batch.client == node {
                self.client_leaves(id);
            }
            if self.fetches.get(&id).is_some_and(|fetch| fetch.batch.host == node) {
                self.server_leaves(id, None);
            }
        }
        self.idle.retain(|&(_, host), _| host != node);
        for output in self.outputs.iter_mut().filter(|output| output.node == node) {
            output.available = false;
        }
    }

    /// The handshake of a fetcher's connection is done.
    pub(crate) fn on_connected(&mut self, ctx: &mut Context, conn: ConnId) {
        if let Some(id) = self.fetch_of(conn) {
            let Some(fetch) = self.fetches.get(&id) else { return };
            let others = fetch.batch.requests.saturating_sub(1);
            let handshake = ctx.now.saturating_sub(fetch.opened).as_secs_f64();
            let (count, mean) = &mut self.handshakes;
            *count += 1.0;
            *mean += (handshake - *mean) / *count;
            // Each of the others takes a handshake, on average (one may have lost its SYN), and as long again from its
            // request to the first byte.
            let wait = Time::from_secs_f64(2.0 * f64::from(others) * *mean);
            // Connecting may take as long as silence after it, and nobody is silent in the course of the others.
            self.received_at(id, ctx.now.saturating_add(wait));
            if others == 0 {
                self.send_request(ctx, id);
            } else {
                ctx.timer_in(wait, Request::OthersDone(id));
            }
        }
    }
    /// Bytes have arrived at a fetcher, up to this time.
    pub(crate) fn on_last_received(&mut self, ctx: &mut Context, conn: ConnId, at: Time) {
        if let Some(id) = self.fetch_of(conn) {
            self.received_at(id, at);
            self.watch(ctx, id);
        }
    }
    /// A message of a host has left its send buffer.
    pub(crate) fn on_acknowledged(&mut self, ctx: &mut Context, conn: ConnId, message: Message) {
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
    pub(crate) fn on_answer(&mut self, ctx: &mut Context, request: Request) {
        match request {
            Request::Disk(fetch) => self.on_read(fetch, ctx),
            Request::SilenceDue(fetch) => self.on_silence(ctx, fetch),
            Request::OthersDone(fetch) => self.send_request(ctx, fetch),
        }
    }
    /// The disk of an output is gone: the host closes the connection, and the fetcher has its failure.
    pub(crate) fn on_disk_failed(&mut self, ctx: &mut Context, request: Request) {
        let Request::Disk(id) = request else { return };
        let Some(fetch) = self.fetches.get(&id).filter(|fetch| !fetch.server_gone) else { return };
        ctx.close(fetch.conn, End::Server);
        self.server_leaves(id, Some(ctx));
    }
    /// The peer of an end has closed its stream.
    pub(crate) fn on_peer_closed(&mut self, ctx: &mut Context, conn: ConnId, end: End) {
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
    pub(crate) fn on_reset(&mut self, ctx: &mut Context, conn: ConnId, end: End) {
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
        let names: u64 = fetch.batch.wanted.iter().map(|wanted| u64::from(wanted.outputs)).sum();
        let bytes = Bytes::new(REQUEST_BYTES * u64::from(fetch.batch.requests) + NAME_BYTES * names);
        ctx.send(fetch.conn, End::Client, bytes, message(id, Content::Request), true);
    }

    /// A message is at the host, or at the fetcher.
    pub(crate) fn on_delivered(&mut self, ctx: &mut Context, conn: ConnId, message: Message) {
        let id = message.fetch;
        let Some(fetch) = self.fetches.get_mut(&id).filter(|fetch| fetch.conn == conn) else { return };
        if message.content == Content::Request {
            let handler = &mut self.handlers[fetch.batch.host.0 as usize];
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
                let Wanted { output, bytes, .. } = fetch.batch.wanted[place];
                self.news.push((fetch.batch.fetcher, News::Begins { fetch: id, output, bytes }));
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
        let Wanted { output, bytes, .. } = fetch.batch.wanted[fetch.done];
        let Batch { fetcher, host, client, .. } = fetch.batch;
        let conn = fetch.conn;
        if host != client {
            self.exchanged[client.0 as usize].received += bytes;
            self.exchanged[host.0 as usize].sent += bytes;
        }
        fetch.done += 1;
        fetch.received += bytes;
        self.news.push((fetcher, News::Arrived { host, output, bytes }));
        if fetch.done == fetch.batch.wanted.len() {
            if self.config.keep_alive {
                self.idle.insert((fetcher, host), conn);
            } else {
                ctx.close(conn, End::Client);
            }
            self.client_leaves(id);
            self.news.push((fetcher, News::Finished { host }));
        }
    }

    /// The fetch cannot go on.
    fn fail(&mut self, ctx: &mut Context, id: FetchId, missing: bool) {
        let Some(fetch) = self.fetches.get(&id).filter(|fetch| !fetch.client_gone) else { return };
        let Batch { fetcher, host, .. } = fetch.batch;
        let outputs = self.give_up(ctx, id);
        self.news.push((fetcher, News::Failed { host, outputs, missing }));
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

    fn client_leaves(&mut self, id: FetchId) {
        let Some(fetch) = self.fetches.get_mut(&id) else { return };
        fetch.client_gone = true;
        // A request that never reached the host leaves nothing there.
        if fetch.server_gone || !fetch.started {
            self.forget(id);
        }
    }
    fn forget(&mut self, id: FetchId) {
        if let Some(fetch) = self.fetches.remove(&id) {
            self.totals.entry(fetch.batch.application).or_default().aborted += fetch.sent - fetch.received;
        }
    }
}
