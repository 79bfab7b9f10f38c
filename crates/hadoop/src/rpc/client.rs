//! The client's side of calls: connections, what waits for a reply, and when to give up.

use super::server::Job;
use super::{Call, Message, Request, fragments_before_last, last_fragment};
use crate::context::Context;
use crate::effect::{End, Service};
use crate::event::Event;
use crate::ids::{CallId, ConnId, LinkId, NodeId, Process, Server};
use crate::request::User;
use std::collections::VecDeque;
use units::{Bytes, Time};

/// When a client gives up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RpcConfig {
    /// A call without a reply for this long fails, and its connection with it (`ipc.client.rpc-timeout.ms`); none: it
    /// waits as long as the connection lives, as in Hadoop 1.
    pub call_timeout: Option<Time>,
    /// Without such a timeout, after so long without a reply four bytes go to the server, so that TCP finds out if it
    /// is gone (`ipc.ping.interval`).
    pub ping_interval: Time,
    /// A handshake that takes longer is a failed attempt (`ipc.client.connect.timeout`).
    pub connect_timeout: Time,
    /// Further attempts to connect to a server that refuses, before the waiting calls fail
    /// (`ipc.client.connect.max.retries`).
    pub connect_retries: u32,
    /// And to one that does not answer (`ipc.client.connect.max.retries.on.timeouts`).
    pub timeout_retries: u32,
    /// Pause between attempts that are refused (`ipc.client.connect.retry.interval`).
    pub retry_interval: Time,
    /// Long requests travel in fragments of so much, no more than half of a receive buffer, so that a reader can take
    /// them out of one that is smaller than they are.
    pub fragment: Bytes,
    /// How the masters take calls in.
    pub master: MasterConfig,
}

/// The servers on the master node: NameNode, ResourceManager or JobTracker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MasterConfig {
    /// Processor time that a server's reader spends on each call, and on each 8 KB of a long one before its end
    /// ([`ServerConfig::read`](super::ServerConfig::read)).
    pub read: Time,
    /// Calls that may wait for each handler (`ipc.server.handler.queue.size`).
    pub calls_per_handler: u32,
    /// Workers send their heartbeats over a connection of their own, so that these do not stand behind other calls in
    /// one receive buffer.
    pub heartbeat_connections: bool,
}

impl Default for MasterConfig {
    fn default() -> Self {
        Self { read: Time::ZERO, calls_per_handler: 100, heartbeat_connections: false }
    }
}

impl Default for RpcConfig {
    fn default() -> Self {
        Self {
            call_timeout: Some(Time::from_secs(120)),
            ping_interval: Time::from_secs(60),
            connect_timeout: Time::from_secs(20),
            connect_retries: 10,
            timeout_retries: 45,
            retry_interval: Time::from_secs(1),
            fragment: Bytes::from_mib(1) / 128,
            master: MasterConfig::default(),
        }
    }
}

/// What tells whether a server is there.
const PING: Bytes = Bytes::new(4);

/// A call as its caller knows it, until the reply or a failure.
#[derive(Debug)]
pub(super) struct Pending {
    pub call: Call,
    pub link: LinkId,
    pub since: Time,
}

#[derive(Debug)]
pub(super) struct Link {
    pub from: Process,
    pub to: Server,
    pub conn: Option<ConnId>,
    pub connected: bool,
    /// Attempts to connect in a row that were refused, and that nobody answered.
    pub refused: u32,
    pub unanswered: u32,
    /// When it last began to connect, was lost, or was pinged.
    pub since: Time,
    /// Calls without a reply, oldest first.
    pub calls: VecDeque<CallId>,
    /// The earliest timer under way.
    pub timer: Time,
}

impl Link {
    /// It tries to connect again.
    const fn retries(&self) -> bool {
        self.refused + self.unanswered > 0
    }
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
        refused: 0,
        unanswered: 0,
        since: Time::ZERO,
        calls: VecDeque::new(),
        timer: Time::MAX,
    });
    ctx.rpc.pending.insert(id, Pending { call, link, since: ctx.now });
    let Some(state) = ctx.rpc.links.get_mut(&link) else { return id };
    state.calls.push_back(id);
    let idle = state.conn.is_none() && !state.retries();
    if state.connected {
        send_request(ctx, id);
    } else if idle {
        connect(ctx, link);
    }
    arm(ctx, link);
    id
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

pub(crate) fn on_connected(ctx: &mut Context, conn: ConnId) {
    let Some(link) = link_of(ctx, conn) else { return };
    let Some(state) = ctx.rpc.links.get_mut(&link) else { return };
    state.connected = true;
    (state.refused, state.unanswered) = (0, 0);
    for id in state.calls.clone() {
        send_request(ctx, id);
    }
}

/// A retry or a timeout may be due.
pub(super) fn on_due(ctx: &mut Context, link: LinkId) {
    let Some(state) = ctx.rpc.links.get_mut(&link) else { return };
    if state.timer > ctx.now {
        return;
    }
    state.timer = Time::MAX;
    let due = due(ctx, link);
    if due > ctx.now {
        return arm(ctx, link);
    }
    let patient = ctx.rpc.config.call_timeout.is_none();
    let Some(state) = ctx.rpc.links.get_mut(&link) else { return };
    match state.conn {
        None => connect(ctx, link),
        Some(conn) if state.connected && patient => {
            state.since = ctx.now;
            ctx.send(conn, End::Client, PING, Message::Fragment(PING), true);
            arm(ctx, link);
        }
        Some(conn) => {
            ctx.abort(conn, End::Client);
            lost(ctx, link, true);
        }
    }
}

pub(crate) fn on_reset(ctx: &mut Context, conn: ConnId, end: End) {
    if end == End::Server {
        return forget_unarrived(ctx, conn);
    }
    if let Some(link) = link_of(ctx, conn) {
        lost(ctx, link, false);
    }
}

/// The server end closes when its client has; a client that sees its server close has lost it.
pub(crate) fn on_peer_closed(ctx: &mut Context, conn: ConnId, end: End) {
    ctx.close(conn, end);
    if end == End::Client
        && let Some(link) = link_of(ctx, conn)
    {
        lost(ctx, link, false);
    }
}

/// The link that has opened a connection, and may have given it up since.
pub(super) fn opener(ctx: &Context, conn: ConnId) -> Option<LinkId> {
    let User::Rpc(link) = ctx.connections.get(conn)?.user else { return None };
    Some(link)
}

/// The link whose connection it is.
pub(super) fn link_of(ctx: &Context, conn: ConnId) -> Option<LinkId> {
    let link = opener(ctx, conn)?;
    (ctx.rpc.links.get(&link)?.conn == Some(conn)).then_some(link)
}

pub(super) fn connect(ctx: &mut Context, link: LinkId) {
    let Some(state) = ctx.rpc.links.get(&link) else { return };
    let (from, to) = (state.from.node, state.to);
    let kind = ctx.rpc.servers.get(&to).map_or(Service::Rpc, |server| server.config.kind);
    let conn = ctx.open(link, from, to.node, kind, true);
    let now = ctx.now;
    if let Some(state) = ctx.rpc.links.get_mut(&link) {
        state.conn = Some(conn);
        state.connected = false;
        state.since = now;
    }
    arm(ctx, link);
}

pub(super) fn send_request(ctx: &mut Context, id: CallId) {
    let Some(pending) = ctx.rpc.pending.get(&id) else { return };
    let (call, since) = (pending.call, pending.since);
    let Some(conn) = ctx.rpc.links.get(&pending.link).and_then(|link| link.conn) else { return };
    ctx.rpc.jobs.insert(id, Job { call, since, conn, arrived: false });
    let fragment = ctx.rpc.config.fragment;
    for _ in 0..fragments_before_last(call.request, fragment) {
        ctx.send(conn, End::Client, fragment, Message::Fragment(fragment), false);
    }
    ctx.send(conn, End::Client, last_fragment(call.request, fragment), Message::Request(id), true);
}

/// When the link next has something to do without being told: give up on a connection or a call, ping, or try to
/// connect again.
pub(super) fn due(ctx: &Context, link: LinkId) -> Time {
    let config = &ctx.rpc.config;
    let Some(state) = ctx.rpc.links.get(&link) else { return Time::MAX };
    if state.conn.is_none() {
        // An attempt that nobody answered has taken long enough.
        let pause = if state.unanswered > 0 { Time::ZERO } else { config.retry_interval };
        return if state.retries() { state.since.saturating_add(pause) } else { Time::MAX };
    }
    if !state.connected {
        return state.since.saturating_add(config.connect_timeout);
    }
    let oldest = state.calls.front().and_then(|id| ctx.rpc.pending.get(id));
    let wait = config.call_timeout.unwrap_or(config.ping_interval);
    oldest.map_or(Time::MAX, |pending| pending.since.max(state.since).saturating_add(wait))
}

pub(super) fn arm(ctx: &mut Context, link: LinkId) {
    let due = due(ctx, link);
    let Some(state) = ctx.rpc.links.get_mut(&link) else { return };
    if due < state.timer {
        state.timer = due;
        ctx.timer(due, Request::LinkDue(link));
    }
}

/// The connection is lost, after `silence` or at once. Before the handshake that is one failed attempt; after it, every
/// call fails.
pub(super) fn lost(ctx: &mut Context, link: LinkId, silence: bool) {
    let (now, config) = (ctx.now, ctx.rpc.config);
    let Some(state) = ctx.rpc.links.get_mut(&link) else { return };
    let established = state.connected;
    let conn = state.conn.take();
    state.connected = false;
    state.since = now;
    *(if silence { &mut state.unanswered } else { &mut state.refused }) += 1;
    if !established && state.refused <= config.connect_retries && state.unanswered <= config.timeout_retries {
        return arm(ctx, link);
    }
    (state.refused, state.unanswered) = (0, 0);
    let calls = std::mem::take(&mut state.calls);
    if let Some(conn) = conn {
        forget_unarrived(ctx, conn);
    }
    for id in calls {
        if let Some(pending) = ctx.rpc.pending.remove(&id) {
            ctx.raise(Event::CallFailed { caller: pending.call.caller });
        }
    }
}

/// Requests that were on their way over a connection that is gone will not arrive.
pub(super) fn forget_unarrived(ctx: &mut Context, conn: ConnId) {
    ctx.rpc.jobs.retain(|_, job| job.arrived || job.conn != conn);
}

pub(super) fn forget_link(ctx: &mut Context, link: LinkId) -> Option<ConnId> {
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
