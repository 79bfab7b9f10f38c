//! The owner of all parts: hands each input to the part it is for, and the parts' news to one another.

use crate::connections::Connections;
use crate::context::{Context, NodeInfo, Nodes};
use crate::effect::{Effect, End, Input};
use crate::event::Event;
use crate::hdfs::{Hdfs, HdfsConfig};
use crate::ids::{ConnId, Tag};
use crate::mapreduce::{self, MapReduce, MapReduceConfig, Wait};
use crate::pending::Pending;
use crate::record::Records;
use crate::request::{Caller, Message, Reader, Request, User, Writer};
use crate::rpc::{self, Rpc, RpcConfig};
use std::collections::VecDeque;
use units::Time;

/// All settings of a cluster; the defaults are Hadoop's.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Calls.
    pub rpc: RpcConfig,
    /// The file system.
    pub hdfs: HdfsConfig,
    /// The jobs.
    pub mapreduce: MapReduceConfig,
}

/// A Hadoop cluster: a pure state machine over [`Input`] and [`Effect`].
#[derive(Debug)]
pub struct Cluster {
    context: Context,
    hdfs: Hdfs,
    mapreduce: MapReduce,
    /// News for whoever drives the cluster.
    news: Vec<Event>,
}

impl Cluster {
    /// A cluster on these nodes, of which the first is the master. Random draws depend on `seed` alone.
    pub fn new(config: Config, nodes: Vec<NodeInfo>, seed: u64) -> Self {
        let mut context = Context {
            now: Time::ZERO,
            nodes: Nodes::new(nodes),
            effects: Vec::new(),
            events: VecDeque::new(),
            connections: Connections::default(),
            pending: Pending::default(),
            rpc: Rpc::new(config.rpc),
            files: 0,
        };
        let mut hdfs = Hdfs::new(config.hdfs, &mut context, seed);
        let mapreduce = MapReduce::new(config.mapreduce, &mut context, &mut hdfs, seed);
        Self { context, hdfs, mapreduce, news: Vec::new() }
    }

    /// Takes one input and appends what it causes.
    pub fn handle(&mut self, now: Time, input: Input, out: &mut Vec<Effect>) {
        self.context.now = now;
        std::mem::swap(&mut self.context.effects, out);
        self.dispatch(input);
        self.settle();
        std::mem::swap(&mut self.context.effects, out);
    }

    /// Acts as a client from outside the jobs: makes calls, reads and writes as the driver ([`Caller::Driver`] and its like), whose outcome [`Cluster::take_news`] has.
    pub fn drive<R>(&mut self, now: Time, out: &mut Vec<Effect>, act: impl FnOnce(&mut Context, &mut Hdfs) -> R) -> R {
        self.context.now = now;
        std::mem::swap(&mut self.context.effects, out);
        let result = act(&mut self.context, &mut self.hdfs);
        self.settle();
        std::mem::swap(&mut self.context.effects, out);
        result
    }

    /// What has happened to the driver's calls, reads and writes since it last asked.
    pub fn take_news(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.news)
    }

    /// Who waits for what, longest first: jobs, their attempts, and processes without an answer.
    pub fn waits(&self, now: Time) -> Vec<Wait> {
        let mut waits = Vec::new();
        self.mapreduce.waits(now, &self.hdfs, &mut waits);
        mapreduce::silent(&self.context, &mut waits);
        waits.sort_by_key(|wait| wait.since);
        waits
    }
    /// The file system.
    pub fn hdfs(&self) -> &Hdfs {
        &self.hdfs
    }
    /// What the jobs leave behind so far.
    pub fn records(&self) -> Records {
        self.mapreduce.records()
    }
    /// The jobs.
    pub fn mapreduce(&self) -> &MapReduce {
        &self.mapreduce
    }
    /// Calls and nodes.
    pub fn context(&self) -> &Context {
        &self.context
    }

    fn settle(&mut self) {
        while let Some(event) = self.context.events.pop_front() {
            self.tell(event);
        }
    }

    fn dispatch(&mut self, input: Input) {
        let Self { context: ctx, hdfs, mapreduce, .. } = self;
        match input {
            Input::Start => {
                hdfs.on_start(ctx);
                mapreduce.on_start(ctx);
            }
            Input::Connected { conn } => self.on_connection(conn, End::Client, input),
            Input::Delivered { conn, end, .. }
            | Input::Acknowledged { conn, end, .. }
            | Input::Heard { conn, end, .. }
            | Input::PeerClosed { conn, end }
            | Input::Reset { conn, end } => self.on_connection(conn, end, input),
            Input::DiskDone { tag, .. } | Input::ComputeDone { tag, .. } | Input::Timer { tag } => self.on_answer(tag),
            Input::NodeDown { node } => {
                if !ctx.nodes.is_up(node) {
                    return;
                }
                ctx.nodes.set_up(node, false);
                ctx.connections.node_down(node);
                ctx.pending.node_down(node);
                rpc::on_node_down(ctx, node);
                hdfs.on_node_down(ctx, node);
                mapreduce.on_node_down(ctx, node);
            }
            Input::NodeUp { node } => {
                if ctx.nodes.is_up(node) {
                    return;
                }
                ctx.nodes.set_up(node, true);
                hdfs.on_node_up(ctx, node);
                mapreduce.on_node_up(ctx, node);
            }
            Input::Charge { node, level } => mapreduce.on_charge(node, level),
        }
    }

    /// A request of work, of a disk or of a timer has its answer.
    fn on_answer(&mut self, tag: Tag) {
        let Self { context: ctx, hdfs, mapreduce, .. } = self;
        let Some(request) = ctx.pending.remove(tag) else { return };
        match request {
            Request::Rpc(request) => rpc::on_answer(ctx, request),
            Request::Hdfs(request) => hdfs.on_answer(ctx, request),
            Request::Shuffle(request) => {
                mapreduce.on_shuffle(ctx, hdfs, |shuffle, ctx| shuffle.on_answer(ctx, request));
            }
            Request::MapReduce(request) => mapreduce.on_answer(ctx, hdfs, request),
        }
    }

    /// Something happened at a living end of a connection.
    fn on_connection(&mut self, conn: ConnId, end: End, input: Input) {
        let Self { context: ctx, hdfs, mapreduce, .. } = self;
        if !ctx.connections.lives(conn, end) {
            return;
        }
        let Some(user) = ctx.connections.get(conn).map(|connection| connection.user) else { return };
        match input {
            Input::Connected { .. } => {
                ctx.connections.established(conn);
                match user {
                    User::Rpc(_) => rpc::on_connected(ctx, conn),
                    User::Hdfs(channel) => hdfs.on_connected(ctx, channel, conn),
                    User::Shuffle => mapreduce.on_shuffle(ctx, hdfs, |shuffle, ctx| shuffle.on_connected(ctx, conn)),
                }
            }
            Input::Delivered { tag, .. } => {
                ctx.connections.established(conn);
                match ctx.connections.delivered(conn, end, tag) {
                    Some(Message::Rpc(message)) => rpc::on_delivered(ctx, conn, message),
                    Some(Message::Hdfs(message)) => hdfs.on_delivered(ctx, conn, end, message),
                    Some(Message::Shuffle(message)) => mapreduce.on_shuffle(ctx, hdfs, |shuffle, ctx| {
                        shuffle.on_delivered(ctx, conn, message);
                    }),
                    None => {}
                }
            }
            Input::Acknowledged { tag, .. } => {
                ctx.connections.established(conn);
                match ctx.connections.acknowledge(conn, end, tag) {
                    Some(Message::Hdfs(message)) => hdfs.on_acknowledged(ctx, conn, message),
                    Some(Message::Shuffle(message)) => mapreduce.on_shuffle(ctx, hdfs, |shuffle, ctx| {
                        shuffle.on_acknowledged(ctx, conn, message);
                    }),
                    Some(Message::Rpc(_)) | None => {}
                }
            }
            Input::Heard { at, .. } => match user {
                User::Hdfs(channel) => hdfs.on_heard(ctx, channel, conn, at),
                User::Shuffle => mapreduce.on_shuffle(ctx, hdfs, |shuffle, ctx| shuffle.on_heard(ctx, conn, at)),
                User::Rpc(_) => {}
            },
            Input::PeerClosed { .. } => {
                ctx.connections.mark_peer_closed(conn, end);
                match user {
                    User::Rpc(_) => rpc::on_peer_closed(ctx, conn, end),
                    User::Hdfs(channel) => hdfs.on_peer_closed(ctx, channel, conn, end),
                    User::Shuffle => mapreduce.on_shuffle(ctx, hdfs, |shuffle, ctx| {
                        shuffle.on_peer_closed(ctx, conn, end);
                    }),
                }
            }
            Input::Reset { .. } => {
                ctx.connections.mark_gone(conn, end);
                match user {
                    User::Rpc(_) => rpc::on_reset(ctx, conn, end),
                    User::Hdfs(channel) => hdfs.on_reset(ctx, channel, conn, end),
                    User::Shuffle => mapreduce.on_shuffle(ctx, hdfs, |shuffle, ctx| {
                        shuffle.on_reset(ctx, conn, end);
                    }),
                }
            }
            Input::Start
            | Input::DiskDone { .. }
            | Input::ComputeDone { .. }
            | Input::Timer { .. }
            | Input::NodeDown { .. }
            | Input::NodeUp { .. }
            | Input::Charge { .. } => {}
        }
        self.context.connections.settle(conn);
    }

    fn tell(&mut self, event: Event) {
        let Self { context: ctx, hdfs, mapreduce, news } = self;
        match event {
            Event::Served { call, to, caller, .. } => {
                match caller {
                    Caller::Hdfs(what) => hdfs.on_served(ctx, call, what),
                    Caller::MapReduce(what) => mapreduce.on_served(ctx, hdfs, call, to, what),
                    Caller::Driver(_) => news.push(event),
                }
                rpc::reply(ctx, call);
            }
            Event::Replied { caller } => match caller {
                Caller::Hdfs(what) => hdfs.on_replied(ctx, what),
                Caller::MapReduce(what) => mapreduce.on_replied(ctx, hdfs, what),
                Caller::Driver(_) => news.push(event),
            },
            Event::CallFailed { caller } => match caller {
                Caller::Hdfs(what) => hdfs.on_call_failed(ctx, what),
                Caller::MapReduce(what) => mapreduce.on_call_failed(ctx, hdfs, what),
                Caller::Driver(_) => news.push(event),
            },
            Event::Read { read, news: what, reader } => match reader {
                Reader::MapReduce(reader) => mapreduce.on_read(ctx, hdfs, read, what, reader),
                Reader::Driver(_) => news.push(event),
            },
            Event::Write { write, news: what, writer } => match writer {
                Writer::MapReduce(writer) => mapreduce.on_write(ctx, hdfs, write, what, writer),
                Writer::Driver(_) => news.push(event),
            },
        }
    }
}
