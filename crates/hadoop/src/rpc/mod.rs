//! Remote procedure calls over TCP, to servers whose processing rate is limited.
//!
//! The model is Hadoop's IPC server: a reader thread (`ipc.server.read.threadpool.size` = 1) takes calls out of the
//! sockets into one bounded call queue (`ipc.server.handler.queue.size` = 100 for each handler), a fixed number of
//! handlers serve it in order of arrival (`dfs.namenode.handler.count` = 10), and each call costs processor time on the
//! server's node. While the queue is full the reader stops, and on a weak master it is behind: received bytes stay in
//! the receive buffers and the clients see shrinking and at last zero windows. A client process keeps one connection to
//! each server and sends all its calls over it, each pushed (PSH).

mod client;
pub(crate) mod request;
mod server;

pub use client::{MasterConfig, RpcConfig, call, exit};
pub(crate) use client::{on_connected, on_peer_closed, on_reset};
pub use request::{Message, Request};
pub(crate) use server::reply;
pub use server::{ServerConfig, ServerCounters, serve, set_reply};

use crate::context::Context;
use crate::event::Event;
pub use crate::ids::{CallId, Process, Server};
use crate::ids::{ConnId, LinkId, NodeId};
use crate::request::Caller;
use client::{Link, Pending};
use server::{Job, ServerState, arrive};
use std::collections::BTreeMap;
use units::{Bytes, Time};

/// A process on its connection for heartbeats alone has this bit in its number.
const FOR_HEARTBEATS: u32 = 1 << 31;

/// A worker's process as it is known by the connection that is for its heartbeats alone, where these have one.
pub(crate) fn heartbeat_process(ctx: &Context, process: Process) -> Process {
    let own = ctx.rpc.config.master.heartbeat_connections;
    Process { id: if own { process.id | FOR_HEARTBEATS } else { process.id }, ..process }
}

impl Process {
    /// What kind of process it is.
    pub(crate) const fn name(self) -> &'static str {
        match self.id & !FOR_HEARTBEATS {
            0 => "datanode",
            1 => "worker daemon",
            2 => "client",
            3 => "resourcemanager",
            500..1_000 => "appmaster",
            _ => "task",
        }
    }
}

impl Server {
    /// What listens at its port.
    pub const fn name(self) -> &'static str {
        match self.port {
            8_020 => "namenode",
            8_021 => "jobtracker",
            8_030 => "scheduler",
            8_031 => "resource-tracker",
            8_032 => "clients",
            8_041 => "nodemanager",
            _ => "appmaster",
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
    /// Who asks for what: comes back in [`Event::Served`] at the server, and in [`Event::Replied`] or
    /// [`Event::CallFailed`] at the caller.
    pub caller: Caller,
}

/// A process whose calls to a server have no answer yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silent {
    pub from: Process,
    pub to: Server,
    pub calls: usize,
    /// Their connection is open.
    pub connected: bool,
    /// When the oldest was made.
    pub since: Time,
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
    by_number: Vec<Server>,
    next: u64,
}

impl Rpc {
    pub(crate) fn new(config: RpcConfig) -> Self {
        Self {
            config,
            servers: BTreeMap::new(),
            links: BTreeMap::new(),
            by_ends: BTreeMap::new(),
            pending: BTreeMap::new(),
            jobs: BTreeMap::new(),
            by_number: Vec::new(),
            next: 0,
        }
    }
    /// Who has called without an answer so far, over which connection, by process.
    pub(crate) fn silent(&self) -> impl Iterator<Item = Silent> {
        self.links.values().filter_map(|link| {
            let oldest = self.pending.get(link.calls.front()?)?;
            let (calls, connected) = (link.calls.len(), link.connected);
            Some(Silent { from: link.from, to: link.to, calls, connected, since: oldest.since })
        })
    }
    /// All servers in the order in which they were announced.
    pub(crate) fn all(&self) -> impl Iterator<Item = Server> {
        self.by_number.iter().copied()
    }
    /// What a server has done so far.
    pub(crate) fn counters(&self, server: Server) -> ServerCounters {
        self.servers.get(&server).map_or_else(ServerCounters::default, |state| state.counters)
    }
}

pub(crate) fn on_delivered(ctx: &mut Context, conn: ConnId, message: Message) {
    match message {
        Message::Fragment(bytes) => arrive(ctx, conn, bytes, None),
        Message::Request(id) => {
            let Some(job) = ctx.rpc.jobs.get_mut(&id) else { return };
            job.arrived = true;
            let bytes = last_fragment(job.call.request, ctx.rpc.config.fragment);
            arrive(ctx, conn, bytes, Some(id));
        }
        Message::Reply(id) => {
            if let Some(pending) = ctx.rpc.pending.remove(&id) {
                if let Some(link) = ctx.rpc.links.get_mut(&pending.link) {
                    link.calls.retain(|call| *call != id);
                }
                ctx.raise(Event::Replied { caller: pending.call.caller });
            }
        }
    }
}

/// Work is done or a timer fires.
pub(crate) fn on_answer(ctx: &mut Context, request: Request) {
    match request {
        Request::Read(server) => server::on_read(ctx, server),
        Request::Serve(call) => server::on_served(ctx, call),
        Request::LinkDue(link) => client::on_due(ctx, link),
    }
}

/// The processes of a node are gone: its calls, and the queues of its servers.
pub(crate) fn on_node_down(ctx: &mut Context, node: NodeId) {
    let links: Vec<_> = ctx.rpc.links.iter().filter(|(_, link)| link.from.node == node).map(|(id, _)| *id).collect();
    for link in links {
        client::forget_link(ctx, link);
    }
    for (_, state) in ctx.rpc.servers.iter_mut().filter(|(server, _)| server.node == node) {
        state.busy = 0;
        state.reading = false;
        state.queue.clear();
        state.unread.clear();
    }
    ctx.rpc.jobs.retain(|_, job| job.call.to.node != node);
}

/// Fragments of a request before its last one.
fn fragments_before_last(request: Bytes, fragment: Bytes) -> u64 {
    request.get().saturating_sub(1) / fragment.get().max(1)
}

fn last_fragment(request: Bytes, fragment: Bytes) -> Bytes {
    request - fragment * fragments_before_last(request, fragment)
}
