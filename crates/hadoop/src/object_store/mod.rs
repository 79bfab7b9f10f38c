//! An object store under the jobs: the store itself, with its limits and latencies, and S3A, its client, in every
//! process.
//!
//! Requests are messages on TCP connections like all others, so that round trips, losses and shaped links act on them.
//! The store answers at one place in the network. It has no disks and no processor of its own: what these take is in
//! its latency and its rate per connection.

mod body;
mod client;
mod commit;
mod config;
mod limit;
mod read;
pub(crate) mod request;
mod retry;
mod server;
mod wire;
mod write;

pub use commit::Before;
pub use config::{InputPolicy, ObjectStoreConfig, OutputCommitter, Stride};
pub use request::{Channel, Message, Method, Request};

use crate::context::Context;
use crate::disks::Turns;
use crate::effect::End;
use crate::ids::{ConnId, HttpId, JobId, NodeId, ObjectId, Process, ReadId, WriteId};
use client::{Http, Pool};
use commit::Commit;
use des::{Index, RandomStream};
use limit::Limit;
use read::Read;
use std::collections::BTreeMap;
use units::{Bytes, Time};
use write::Write;

/// Marks the names of reads and writes that are the store's, not HDFS's.
const OWN: u32 = 1 << 31;

/// What the store and its clients have done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreCounters {
    /// Requests sent, by [`Method`], those sent again among them.
    pub requests: [u64; Method::ALL.len()],
    /// Requests with a whole answer.
    pub answered: u64,
    /// Answers that said 503 Slow Down.
    pub throttled: u64,
    /// Requests whose connection broke.
    pub broken: u64,
    /// Requests that nobody wanted any more, before their answer was whole.
    pub dropped: u64,
    /// Requests sent again after their connection broke.
    pub retries: u64,
    /// Requests that failed too often.
    pub given_up: u64,
    /// Answers that took jobs' commits on.
    pub committed: u64,
    /// Connections opened.
    pub connections: u64,
    /// Bytes of objects with their readers.
    pub read: Bytes,
    /// Bytes stored by PUT, parts of uploads that were never completed among them.
    pub stored: Bytes,
    /// Bytes copied within the store.
    pub copied: Bytes,
    /// Of bodies of answers: handed to connections by the store; with clients; of these nobody's; and lost with a
    /// connection that was given up.
    pub sent: Bytes,
    /// See `sent`.
    pub received: Bytes,
    /// See `sent`.
    pub discarded: Bytes,
    /// See `sent`.
    pub aborted: Bytes,
    /// GET requests whose body has begun, the time from their sending to that over all of them, and the longest.
    pub first_bytes: u64,
    /// See `first_bytes`.
    pub waited_for_first_byte: Time,
    /// See `first_bytes`.
    pub longest_first_byte: Time,
    /// Time for which requests waited for a connection that was ready.
    pub waited_for_connection: Time,
    /// Time for which requests were held back after 503 or a failure.
    pub backed_off: Time,
}

/// The store and its clients.
#[derive(Debug)]
pub struct ObjectStore {
    config: ObjectStoreConfig,
    counters: StoreCounters,
    /// The length of each object.
    objects: Vec<Bytes>,
    https: BTreeMap<HttpId, Http>,
    pools: BTreeMap<Process, Pool>,
    /// Clients' connections, each with the request that it is for.
    users: BTreeMap<ConnId, Option<HttpId>>,
    reads: BTreeMap<ReadId, Read>,
    writes: BTreeMap<WriteId, Write>,
    /// Of streams that were closed.
    lengths: BTreeMap<WriteId, Bytes>,
    commits: BTreeMap<JobId, Commit>,
    /// By prefix: reads, writes.
    limits: Vec<(Limit, Limit)>,
    turns: BTreeMap<NodeId, Turns>,
    seed: u64,
    latencies: RandomStream,
    jitter: RandomStream,
    next: u32,
}

impl ObjectStore {
    pub(crate) fn new(config: ObjectStoreConfig, seed: u64) -> Self {
        Self {
            limits: vec![<(Limit, Limit)>::default(); config.prefixes.max(1) as usize],
            config,
            counters: StoreCounters::default(),
            objects: Vec::new(),
            https: BTreeMap::new(),
            pools: BTreeMap::new(),
            users: BTreeMap::new(),
            reads: BTreeMap::new(),
            writes: BTreeMap::new(),
            lengths: BTreeMap::new(),
            commits: BTreeMap::new(),
            turns: BTreeMap::new(),
            seed,
            latencies: RandomStream::new(seed, "object-store/latency", 0),
            jitter: RandomStream::new(seed, "object-store/jitter", 0),
            next: 0,
        }
    }
    /// Its settings.
    pub fn config(&self) -> &ObjectStoreConfig {
        &self.config
    }
    /// What it has done.
    pub fn counters(&self) -> &StoreCounters {
        &self.counters
    }
    /// Bytes of answers on their way, and bytes with clients that wait for their turn.
    pub fn under_way(&self) -> (Bytes, Bytes) {
        let moving = self.https.values().map(Http::undelivered).sum();
        (moving, self.reads.values().map(Read::undelivered).sum())
    }
    /// What became of the requests that were sent.
    pub fn ends(&self) -> [(&'static str, u64); 5] {
        let done = &self.counters;
        [
            ("answered", done.answered),
            ("told to slow down", done.throttled),
            ("broken", done.broken),
            ("given up", done.dropped),
            ("open", self.https.values().filter(|http| http.is_sent()).count() as u64),
        ]
    }
    /// Whether a read is one of its own.
    pub const fn has_read(id: ReadId) -> bool {
        id.0 & OWN != 0
    }
    /// Whether an output stream is one of its own.
    pub const fn has_write(id: WriteId) -> bool {
        id.0 & OWN != 0
    }
    /// An object that is there when the run begins.
    pub fn add_object(&mut self, length: Bytes) -> ObjectId {
        self.objects.push(length);
        ObjectId::from_usize(self.objects.len() - 1)
    }
    fn length(&self, object: ObjectId) -> Bytes {
        self.objects.get(object.0 as usize).copied().unwrap_or_default()
    }
    /// The prefix that a key is under.
    fn prefix(&self, key: u64) -> usize {
        let prefixes = self.limits.len();
        if prefixes == 1 {
            return 0;
        }
        crate::numbers::draw(&mut RandomStream::new(self.seed, "object-store/key", key), prefixes)
    }
    /// Whether it answers now. One that is no node of the cluster always does.
    fn is_up(&self, ctx: &Context) -> bool {
        self.config.node.0 as usize >= ctx.nodes.len() || ctx.nodes.is_up(self.config.node)
    }

    pub(crate) fn on_answer(&mut self, ctx: &mut Context, request: Request) {
        match request {
            Request::Prepared(http) => self.connect(ctx, http),
            Request::Ready { http, attempt } => self.ready(ctx, http, attempt),
            Request::Paced { http, attempt } => self.pace_due(ctx, http, attempt),
            Request::Again(http) => self.again(ctx, http),
            Request::Silent(http) => self.silent(ctx, http),
            Request::Loaded { http, attempt } => self.loaded(ctx, http, attempt),
            Request::Created(write) => self.next_of_creation(ctx, write),
            Request::Buffered(write) => self.buffered(ctx, write),
        }
    }
    /// A disk with a buffer is gone.
    pub(crate) fn on_disk_failed(&mut self, ctx: &mut Context, request: Request) {
        match request {
            Request::Loaded { http, .. } => self.load_failed(ctx, http),
            Request::Buffered(write) => self.fail_write(ctx, write),
            _ => {}
        }
    }
    pub(crate) fn on_connected(&mut self, ctx: &mut Context, conn: ConnId) {
        self.connected(ctx, conn);
    }
    pub(crate) fn on_delivered(&mut self, ctx: &mut Context, conn: ConnId, end: End, message: Message) {
        match end {
            End::Client => self.delivered_to_client(ctx, conn, message),
            End::Server => self.delivered_to_store(ctx, conn, message),
        }
    }
    pub(crate) fn on_acknowledged(&mut self, ctx: &mut Context, conn: ConnId, message: Message) {
        self.acknowledged(ctx, conn, message);
    }
    pub(crate) fn on_last_received(&mut self, ctx: &mut Context, Channel(process): Channel, conn: ConnId, at: Time) {
        self.last_received(ctx, process, conn, at);
    }
    pub(crate) fn on_peer_closed(&mut self, ctx: &mut Context, Channel(process): Channel, conn: ConnId, end: End) {
        ctx.close(conn, end);
        if end == End::Client {
            self.broken(ctx, process, conn);
        }
    }
    pub(crate) fn on_reset(&mut self, ctx: &mut Context, Channel(process): Channel, conn: ConnId, end: End) {
        if end == End::Client {
            self.broken(ctx, process, conn);
        }
    }
    /// A node has crashed: its processes are gone, with what they had asked for.
    pub(crate) fn on_node_down(&mut self, ctx: &mut Context, node: NodeId) {
        let gone: Vec<_> = self.pools.keys().filter(|process| process.node == node).copied().collect();
        // What waits for a connection there gets none when another request is dropped.
        for pool in self.pools.iter_mut().filter(|(process, _)| process.node == node).map(|(_, pool)| pool) {
            pool.queue.clear();
        }
        let reads: Vec<_> =
            self.reads.iter().filter(|(_, read)| read.process.node == node).map(|(id, _)| *id).collect();
        let writes: Vec<_> =
            self.writes.iter().filter(|(_, write)| write.process.node == node).map(|(id, _)| *id).collect();
        let commits: Vec<_> =
            self.commits.iter().filter(|(_, commit)| commit.process.node == node).map(|(job, _)| *job).collect();
        for read in reads {
            self.cancel_read(ctx, read);
        }
        for write in writes {
            self.abort_write(ctx, write);
        }
        for job in commits {
            self.abort_commit(ctx, job);
        }
        for process in gone {
            self.exit(ctx, process);
        }
    }
}
