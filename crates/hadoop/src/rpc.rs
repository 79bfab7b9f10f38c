//! Remote procedure calls over TCP, to servers whose processing rate is limited.
//!
//! The model is Hadoop's IPC server: reader threads take calls out of the sockets into one bounded call queue
//! (`ipc.server.handler.queue.size` = 100 for each handler), a fixed number of handlers serve it in order of arrival
//! (`dfs.namenode.handler.count` = 10), and each call costs processor time on the server's node. While the queue is full the readers
//! stop, so received bytes stay in the receive buffers and the clients see shrinking and at last zero windows.
//! A client process keeps one connection to each server and sends all its calls over it, each pushed (PSH).

use crate::context::{Context, Part};
use crate::effect::{ConnId, End, NodeId, Service, Tag};
use crate::event::Event;
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, Time};

/// A process that makes calls: a daemon or a task's JVM.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Process {
    /// Where it runs.
    pub node: NodeId,
    /// Which one on that node: 0 is the DataNode, others are given by their owner.
    pub id: u32,
}

impl Process {
    /// The DataNode of a node.
    pub const fn datanode(node: NodeId) -> Self {
        Self { node, id: 0 }
    }
}

/// A server process: a node and a port that is unique on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Server {
    /// Where it runs.
    pub node: NodeId,
    /// Its port.
    pub port: u32,
}

impl Server {
    /// The NameNode, on its usual port.
    pub const fn namenode(master: NodeId) -> Self {
        Self { node: master, port: 8020 }
    }
}

/// How fast a server works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServerConfig {
    /// Calls in work at the same time.
    pub handlers: u32,
    /// Processor time that each call costs on the server's node.
    pub service: Time,
    /// Calls that may wait between the readers and the handlers; beyond it bytes stay in the receive buffers.
    pub queue: u32,
    /// What its connections are for in the report.
    pub kind: Service,
}

impl ServerConfig {
    /// With Hadoop's queue of 100 calls for each handler.
    pub const fn new(handlers: u32, service: Time, kind: Service) -> Self {
        Self { handlers, service, queue: handlers * 100, kind }
    }
}

/// When a client gives up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RpcConfig {
    /// A call without a reply for this long fails, and its connection with it (`ipc.client.rpc-timeout.ms`).
    pub call_timeout: Time,
    /// A handshake that takes longer is a failed attempt (`ipc.client.connect.timeout`).
    pub connect_timeout: Time,
    /// Further attempts to connect before the waiting calls fail (`ipc.client.connect.max.retries`).
    pub connect_retries: u32,
    /// Pause between attempts (`ipc.client.connect.retry.interval`).
    pub retry_interval: Time,
}

impl Default for RpcConfig {
    fn default() -> Self {
        Self {
            call_timeout: Time::from_secs(120),
            connect_timeout: Time::from_secs(20),
            connect_retries: 10,
            retry_interval: Time::from_secs(1),
        }
    }
}

/// A call to make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// Who calls.
    pub from: Process,
    /// Who is called; it must have been announced with [`serve`].
    pub to: Server,
    /// Length of the request.
    pub request: Bytes,
    /// Length of the reply, unless the server says otherwise.
    pub reply: Bytes,
    /// Comes back in [`Event::Served`] at the server, and in [`Event::Replied`] or [`Event::CallFailed`] at the caller.
    pub tag: Tag,
}

/// Names a call; never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallId(u64);

/// One client process's way to one server; never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct LinkId(u64);

/// A call as its caller knows it, until the reply or a failure.
#[derive(Debug)]
struct Pending {
    call: Call,
    link: LinkId,
    since: Time,
}

/// A call as its server knows it, from when it is sent until the reply leaves. The caller may be gone meanwhile.
#[derive(Debug)]
struct Job {
    call: Call,
    since: Time,
    conn: ConnId,
    arrived: bool,
}

#[derive(Debug)]
struct Link {
    from: Process,
    to: Server,
    conn: Option<ConnId>,
    connected: bool,
    attempts: u32,
    since: Time,
    /// Calls without a reply, oldest first.
    calls: VecDeque<CallId>,
    /// The earliest timer under way.
    timer: Time,
}

#[derive(Debug)]
struct ServerState {
    config: ServerConfig,
    busy: u32,
    queue: VecDeque<CallId>,
    /// What is in the receive buffers because the queue is full: the connection, its bytes, and the call that they complete.
    unread: VecDeque<(ConnId, Bytes, Option<CallId>)>,
    counters: ServerCounters,
}

/// What a server has done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ServerCounters {
    /// Calls processed.
    pub served: u64,
    /// Sum over calls of the time from the first byte sent to processed.
    pub latency_sum: Time,
    /// The longest such time.
    pub latency_max: Time,
    /// The most calls that waited for a handler.
    pub queue_max: u32,
    /// Calls and fragments that had to wait in a receive buffer because the queue was full.
    pub unread: u64,
}

/// The RPC layer of all nodes.
#[derive(Debug)]
pub(crate) struct Rpc {
    config: RpcConfig,
    servers: BTreeMap<Server, ServerState>,
    links: BTreeMap<LinkId, Link>,
    by_ends: BTreeMap<(Process, Server), LinkId>,
    pending: BTreeMap<CallId, Pending>,
    jobs: BTreeMap<CallId, Job>,
    next: u64,
}

/// Long requests travel in fragments, so that a reader can take them out of a receive buffer smaller than they are.
const FRAGMENT: u64 = 8 * 1024;

const REQUEST: u8 = 0;
const MORE: u8 = 1;
const REPLY: u8 = 2;
const SERVICE: u8 = 3;
const TIMER: u8 = 4;

impl Rpc {
    pub(crate) fn new(config: RpcConfig) -> Self {
        Self {
            config,
            servers: BTreeMap::new(),
            links: BTreeMap::new(),
            by_ends: BTreeMap::new(),
            pending: BTreeMap::new(),
            jobs: BTreeMap::new(),
            next: 0,
        }
    }
    /// What a server has done so far.
    pub(crate) fn counters(&self, server: Server) -> ServerCounters {
        self.servers.get(&server).map_or_else(ServerCounters::default, |state| state.counters)
    }
}

/// Announces a server. Its node may crash and come back; the server then starts with an empty queue.
pub fn serve(ctx: &mut Context, server: Server, config: ServerConfig) {
    ctx.rpc.servers.entry(server).or_insert_with(|| ServerState {
        config,
        busy: 0,
        queue: VecDeque::new(),
        unread: VecDeque::new(),
        counters: ServerCounters::default(),
    });
}

/// Makes a call. A connection is opened if the process has none to that server.
pub fn call(ctx: &mut Context, call: Call) -> CallId {
    let id = CallId(ctx.rpc.next);
    ctx.rpc.next += 1;
    let link = *ctx.rpc.by_ends.entry((call.from, call.to)).or_insert(LinkId(id.0));
    ctx.rpc.links.entry(link).or_insert_with(|| Link {
        from: call.from,
        to: call.to,
        conn: None,
        connected: false,
        attempts: 0,
        since: Time::ZERO,
        calls: VecDeque::new(),
        timer: Time::MAX,
    });
    ctx.rpc.pending.insert(id, Pending { call, link, since: ctx.now });
    let Some(state) = ctx.rpc.links.get_mut(&link) else { return id };
    state.calls.push_back(id);
    let idle = state.conn.is_none() && state.attempts == 0;
    if state.connected {
        send_request(ctx, id);
    } else if idle {
        connect(ctx, link);
    }
    arm(ctx, link);
    id
}

/// Changes the length of the reply to a call that is being handled.
pub fn set_reply(ctx: &mut Context, call: CallId, reply: Bytes) {
    if let Some(job) = ctx.rpc.jobs.get_mut(&call) {
        job.call.reply = reply;
    }
}

/// A client process ends: its connections close and its calls are forgotten.
pub fn exit(ctx: &mut Context, process: Process) {
    let first = (process, Server { node: NodeId(0), port: 0 });
    let last = (process, Server { node: NodeId(u32::MAX), port: u32::MAX });
    let links: Vec<_> = ctx.rpc.by_ends.range(first..=last).map(|(_, link)| *link).collect();
    for link in links {
        if let Some(conn) = forget_link(ctx, link) {
            ctx.close(conn, End::Client);
        }
    }
}

/// The reply leaves; called when the owner has handled [`Event::Served`].
pub(crate) fn reply(ctx: &mut Context, id: CallId) {
    if let Some(job) = ctx.rpc.jobs.remove(&id) {
        ctx.send(job.conn, End::Server, job.call.reply, Tag::new(Part::Rpc, REPLY, id.0), true);
    }
}

pub(crate) fn on_connected(ctx: &mut Context, conn: ConnId) {
    let Some(link) = link_of(ctx, conn) else { return };
    let Some(state) = ctx.rpc.links.get_mut(&link) else { return };
    state.connected = true;
    state.attempts = 0;
    for id in state.calls.clone() {
        send_request(ctx, id);
    }
}

pub(crate) fn on_delivered(ctx: &mut Context, conn: ConnId, end: End, tag: Tag) {
    let id = CallId(tag.value());
    match (end, tag.kind()) {
        (End::Server, MORE) => arrive(ctx, conn, Bytes::new(tag.value()), None),
        (End::Server, _) => {
            let Some(job) = ctx.rpc.jobs.get_mut(&id) else { return };
            job.arrived = true;
            let bytes = last_fragment(job.call.request);
            arrive(ctx, conn, bytes, Some(id));
        }
        (End::Client, _) => {
            if let Some(pending) = ctx.rpc.pending.remove(&id) {
                if let Some(link) = ctx.rpc.links.get_mut(&pending.link) {
                    link.calls.retain(|call| *call != id);
                }
                ctx.raise(Event::Replied { tag: pending.call.tag });
            }
        }
    }
}

/// A handler is done with a call.
pub(crate) fn on_compute_done(ctx: &mut Context, tag: Tag) {
    let id = CallId(tag.value());
    let Some(job) = ctx.rpc.jobs.get(&id) else { return };
    let (from, to, tag) = (job.call.from, job.call.to, job.call.tag);
    let latency = ctx.now.saturating_sub(job.since);
    if let Some(state) = ctx.rpc.servers.get_mut(&to) {
        state.busy -= 1;
        state.counters.served += 1;
        state.counters.latency_sum += latency;
        state.counters.latency_max = state.counters.latency_max.max(latency);
    }
    ctx.raise(Event::Served { call: id, from, to, tag });
    work(ctx, to);
}

/// A retry or a timeout may be due.
pub(crate) fn on_timer(ctx: &mut Context, tag: Tag) {
    let link = LinkId(tag.value());
    let Some(state) = ctx.rpc.links.get_mut(&link) else { return };
    if state.timer > ctx.now {
        return;
    }
    state.timer = Time::MAX;
    let due = due(ctx, link);
    if due > ctx.now {
        return arm(ctx, link);
    }
    let Some(state) = ctx.rpc.links.get(&link) else { return };
    match state.conn {
        None => connect(ctx, link),
        Some(conn) => {
            ctx.abort(conn, End::Client);
            lost(ctx, link);
        }
    }
}

pub(crate) fn on_reset(ctx: &mut Context, conn: ConnId, end: End) {
    if end == End::Server {
        return forget_unarrived(ctx, conn);
    }
    if let Some(link) = link_of(ctx, conn) {
        lost(ctx, link);
    }
}

/// The server end closes when its client has; a client that sees its server close has lost it.
pub(crate) fn on_peer_closed(ctx: &mut Context, conn: ConnId, end: End) {
    ctx.close(conn, end);
    if end == End::Client
        && let Some(link) = link_of(ctx, conn)
    {
        lost(ctx, link);
    }
}

/// The processes of a node are gone: its calls, and the queues of its servers.
pub(crate) fn on_node_down(ctx: &mut Context, node: NodeId) {
    let links: Vec<_> = ctx.rpc.links.iter().filter(|(_, link)| link.from.node == node).map(|(id, _)| *id).collect();
    for link in links {
        forget_link(ctx, link);
    }
    for (_, state) in ctx.rpc.servers.iter_mut().filter(|(server, _)| server.node == node) {
        state.busy = 0;
        state.queue.clear();
        state.unread.clear();
    }
    ctx.rpc.jobs.retain(|_, job| job.call.to.node != node);
}

fn link_of(ctx: &Context, conn: ConnId) -> Option<LinkId> {
    let link = LinkId(ctx.connections.get(conn)?.key);
    (ctx.rpc.links.get(&link)?.conn == Some(conn)).then_some(link)
}

fn connect(ctx: &mut Context, link: LinkId) {
    let Some(state) = ctx.rpc.links.get(&link) else { return };
    let (from, to) = (state.from.node, state.to);
    let kind = ctx.rpc.servers.get(&to).map_or(Service::Rpc, |server| server.config.kind);
    let conn = ctx.open(Part::Rpc, link.0, from, to.node, kind, true);
    let now = ctx.now;
    if let Some(state) = ctx.rpc.links.get_mut(&link) {
        state.conn = Some(conn);
        state.connected = false;
        state.since = now;
    }
    arm(ctx, link);
}

fn last_fragment(request: Bytes) -> Bytes {
    Bytes::new(request.get() - (request.get().saturating_sub(1) / FRAGMENT) * FRAGMENT)
}

fn send_request(ctx: &mut Context, id: CallId) {
    let Some(pending) = ctx.rpc.pending.get(&id) else { return };
    let (call, since) = (pending.call, pending.since);
    let Some(conn) = ctx.rpc.links.get(&pending.link).and_then(|link| link.conn) else { return };
    ctx.rpc.jobs.insert(id, Job { call, since, conn, arrived: false });
    for _ in 0..call.request.get().saturating_sub(1) / FRAGMENT {
        ctx.send(conn, End::Client, Bytes::new(FRAGMENT), Tag::new(Part::Rpc, MORE, FRAGMENT), false);
    }
    ctx.send(conn, End::Client, last_fragment(call.request), Tag::new(Part::Rpc, REQUEST, id.0), true);
}

/// When the link next has something to do without being told: give up on a connection or a call, or try to connect again.
fn due(ctx: &Context, link: LinkId) -> Time {
    let config = &ctx.rpc.config;
    let Some(state) = ctx.rpc.links.get(&link) else { return Time::MAX };
    if state.conn.is_none() {
        return if state.attempts > 0 { state.since.saturating_add(config.retry_interval) } else { Time::MAX };
    }
    if !state.connected {
        return state.since.saturating_add(config.connect_timeout);
    }
    let oldest = state.calls.front().and_then(|id| ctx.rpc.pending.get(id));
    oldest.map_or(Time::MAX, |pending| pending.since.max(state.since).saturating_add(config.call_timeout))
}

fn arm(ctx: &mut Context, link: LinkId) {
    let due = due(ctx, link);
    let Some(state) = ctx.rpc.links.get_mut(&link) else { return };
    if due < state.timer {
        state.timer = due;
        ctx.timer(due, Tag::new(Part::Rpc, TIMER, link.0));
    }
}

/// The connection is lost. Before the handshake that is one failed attempt; after it, every call fails.
fn lost(ctx: &mut Context, link: LinkId) {
    let (now, retries) = (ctx.now, ctx.rpc.config.connect_retries);
    let Some(state) = ctx.rpc.links.get_mut(&link) else { return };
    let established = state.connected;
    let conn = state.conn.take();
    state.connected = false;
    state.since = now;
    state.attempts += 1;
    if !established && state.attempts <= retries {
        return arm(ctx, link);
    }
    state.attempts = 0;
    let calls = std::mem::take(&mut state.calls);
    if let Some(conn) = conn {
        forget_unarrived(ctx, conn);
    }
    for id in calls {
        if let Some(pending) = ctx.rpc.pending.remove(&id) {
            ctx.raise(Event::CallFailed { tag: pending.call.tag });
        }
    }
}

/// Requests that were on their way over a connection that is gone will not arrive.
fn forget_unarrived(ctx: &mut Context, conn: ConnId) {
    ctx.rpc.jobs.retain(|_, job| job.arrived || job.conn != conn);
}

fn forget_link(ctx: &mut Context, link: LinkId) -> Option<ConnId> {
    let state = ctx.rpc.links.remove(&link)?;
    ctx.rpc.by_ends.remove(&(state.from, state.to));
    for id in state.calls {
        ctx.rpc.pending.remove(&id);
    }
    if let Some(conn) = state.conn {
        forget_unarrived(ctx, conn);
    }
    state.conn
}

/// Bytes of a call are in the receive buffer: a reader takes them if the queue has room.
fn arrive(ctx: &mut Context, conn: ConnId, bytes: Bytes, call: Option<CallId>) {
    let called = call.and_then(|id| ctx.rpc.jobs.get(&id)).map(|job| job.call.to);
    let by_link = || ctx.rpc.links.get(&LinkId(ctx.connections.get(conn)?.key)).map(|link| link.to);
    let Some(server) = called.or_else(by_link) else { return };
    let Some(state) = ctx.rpc.servers.get_mut(&server) else { return };
    if !state.unread.is_empty() || state.queue.len() >= state.config.queue as usize {
        state.counters.unread += 1;
    }
    state.unread.push_back((conn, bytes, call));
    work(ctx, server);
}

/// Readers fill the queue, handlers empty it.
fn work(ctx: &mut Context, server: Server) {
    loop {
        let Some(state) = ctx.rpc.servers.get_mut(&server) else { return };
        if state.busy < state.config.handlers
            && let Some(id) = state.queue.pop_front()
        {
            state.busy += 1;
            let service = state.config.service;
            ctx.compute(server.node, service, Tag::new(Part::Rpc, SERVICE, id.0));
        } else if state.queue.len() < state.config.queue as usize
            && let Some((conn, bytes, call)) = state.unread.pop_front()
        {
            state.queue.extend(call);
            state.counters.queue_max = state.counters.queue_max.max(state.queue.len() as u32);
            ctx.consume(conn, End::Server, bytes);
        } else {
            return;
        }
    }
}
