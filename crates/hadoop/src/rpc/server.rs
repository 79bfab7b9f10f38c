//! The server's side of calls: receive buffers, the call queue, handlers.

use super::client::opener;
use super::{Call, Message, Request};
use crate::context::Context;
use crate::effect::{End, Service};
use crate::event::Event;
use crate::ids::{CallId, ConnId, Server};
use crate::numbers::count;
use std::collections::VecDeque;
use units::{Bytes, Time};

/// How fast a server works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServerConfig {
    /// Calls in work at the same time.
    pub handlers: u32,
    /// Processor time that each call costs on the server's node.
    pub service: Time,
    /// Calls that may wait between the reader and the handlers; beyond it bytes stay in the receive buffers.
    pub queue: u32,
    /// Processor time that its one reader spends on each call, and on each 8 KB of a long one before its end, before it
    /// has left the receive buffer; zero reads at once.
    pub read: Time,
    /// What its connections are for in the report.
    pub kind: Service,
}

impl ServerConfig {
    /// With Hadoop's queue of 100 calls for each handler, and a reader that is never busy.
    pub const fn new(handlers: u32, service: Time, kind: Service) -> Self {
        Self { handlers, service, queue: handlers * 100, read: Time::ZERO, kind }
    }
}

/// What a reader takes in at the cost of a call.
const READ_UNIT: f64 = 8.0 * 1024.0;

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
    /// Calls and fragments that had to wait in a receive buffer because the queue was full or the reader busy.
    pub unread: u64,
}

/// A call as its server knows it, from when it is sent until the reply leaves. The caller may be gone meanwhile.
#[derive(Debug)]
pub(super) struct Job {
    pub call: Call,
    pub since: Time,
    pub conn: ConnId,
    pub arrived: bool,
}

#[derive(Debug)]
pub(super) struct ServerState {
    pub config: ServerConfig,
    pub busy: u32,
    /// The reader is at the first of `unread`.
    pub reading: bool,
    pub queue: VecDeque<CallId>,
    /// What is in the receive buffers because the queue is full or the reader busy: the connection, its bytes, and the
    /// call that they complete.
    pub unread: VecDeque<(ConnId, Bytes, Option<CallId>)>,
    pub counters: ServerCounters,
}

impl ServerState {
    fn is_full(&self) -> bool {
        self.queue.len() >= self.config.queue as usize
    }
}

/// Announces a server. Its node may crash and come back; the server then starts with an empty queue. On the master node
/// it is one of the masters, and has their reader and queue.
pub fn serve(ctx: &mut Context, server: Server, mut config: ServerConfig) {
    if server.node == ctx.nodes.master() {
        let master = &ctx.rpc.config.master;
        config.read = config.read.max(master.read);
        config.queue = config.queue.min(config.handlers.saturating_mul(master.calls_per_handler)).max(1);
    }
    if ctx.rpc.servers.contains_key(&server) {
        return;
    }
    ctx.rpc.by_number.push(server);
    ctx.rpc.servers.entry(server).or_insert_with(|| ServerState {
        config,
        busy: 0,
        reading: false,
        queue: VecDeque::new(),
        unread: VecDeque::new(),
        counters: ServerCounters::default(),
    });
}

/// Changes the length of the reply to a call that is being handled.
pub fn set_reply(ctx: &mut Context, call: CallId, reply: Bytes) {
    if let Some(job) = ctx.rpc.jobs.get_mut(&call) {
        job.call.reply = reply;
    }
}

/// The reply leaves; called when the owner has handled [`Event::Served`].
pub(crate) fn reply(ctx: &mut Context, id: CallId) {
    if let Some(job) = ctx.rpc.jobs.remove(&id) {
        ctx.send(job.conn, End::Server, job.call.reply, Message::Reply(id), true);
    }
}

/// A handler is done with a call.
pub(super) fn on_served(ctx: &mut Context, id: CallId) {
    let Some(job) = ctx.rpc.jobs.get(&id) else { return };
    let (from, to, caller) = (job.call.from, job.call.to, job.call.caller);
    let latency = ctx.now.saturating_sub(job.since);
    if let Some(state) = ctx.rpc.servers.get_mut(&to) {
        state.busy -= 1;
        state.counters.served += 1;
        state.counters.latency_sum += latency;
        state.counters.latency_max = state.counters.latency_max.max(latency);
    }
    ctx.raise(Event::Served { call: id, from, to, caller });
    work(ctx, to);
}

/// Bytes of a call are in the receive buffer: a reader takes them if the queue has room.
pub(super) fn arrive(ctx: &mut Context, conn: ConnId, bytes: Bytes, call: Option<CallId>) {
    let called = call.and_then(|id| ctx.rpc.jobs.get(&id)).map(|job| job.call.to);
    let by_link = || ctx.rpc.links.get(&opener(ctx, conn)?).map(|link| link.to);
    let Some(server) = called.or_else(by_link) else { return };
    let Some(state) = ctx.rpc.servers.get_mut(&server) else { return };
    if !state.unread.is_empty() || state.is_full() {
        state.counters.unread += 1;
    }
    state.unread.push_back((conn, bytes, call));
    work(ctx, server);
}

/// Readers fill the queue, handlers empty it.
pub(super) fn work(ctx: &mut Context, server: Server) {
    loop {
        let Some(state) = ctx.rpc.servers.get_mut(&server) else { return };
        if state.busy < state.config.handlers
            && let Some(id) = state.queue.pop_front()
        {
            state.busy += 1;
            let service = state.config.service;
            ctx.compute(server.node, service, Request::Serve(id));
        } else if !state.reading
            && !state.is_full()
            && let Some((_, bytes, call)) = state.unread.front()
        {
            if state.config.read > Time::ZERO {
                state.reading = true;
                let part = if call.is_some() { 1.0 } else { bytes.get() as f64 / READ_UNIT };
                let read = state.config.read.mul_f64(part);
                ctx.compute(server.node, read, Request::Read(server));
                return;
            }
            take(ctx, server);
        } else {
            return;
        }
    }
}

/// What has arrived first leaves its receive buffer, and the call that it completes waits for a handler.
fn take(ctx: &mut Context, server: Server) {
    let Some(state) = ctx.rpc.servers.get_mut(&server) else { return };
    let Some((conn, bytes, call)) = state.unread.pop_front() else { return };
    state.queue.extend(call);
    state.counters.queue_max = state.counters.queue_max.max(count(state.queue.len()));
    ctx.consume(conn, End::Server, bytes);
}

/// A reader is done with what it has taken in.
pub(super) fn on_read(ctx: &mut Context, server: Server) {
    let Some(state) = ctx.rpc.servers.get_mut(&server) else { return };
    state.reading = false;
    take(ctx, server);
    work(ctx, server);
}
