//! The owner of all parts: hands each input to the part it is for, and the parts' news to one another.

use crate::connections::Connections;
use crate::context::{Context, NodeInfo, Nodes, Part};
use crate::effect::{ConnId, Effect, End, Input};
use crate::event::Event;
use crate::hdfs::{Hdfs, HdfsConfig};
use crate::mapreduce::{self, MapReduce, MapReduceConfig, Wait};
use crate::record::Records;
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
            rpc: Rpc::new(config.rpc),
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

    /// Acts as a client from outside the jobs: makes calls, reads and writes with tags of [`Part::Driver`], whose outcome [`Cluster::take_news`] has.
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
                mapreduce.on_input(ctx, hdfs, input);
            }
            Input::Connected { conn } => self.on_connection(conn, End::Client, input),
            Input::Delivered { conn, end, .. }
            | Input::Acknowledged { conn, end, .. }
            | Input::Heard { conn, end, .. }
            | Input::PeerClosed { conn, end }
            | Input::Reset { conn, end } => self.on_connection(conn, end, input),
            Input::DiskDone { tag, .. } | Input::ComputeDone { tag, .. } | Input::Timer { tag } => match tag.part() {
                Some(Part::Rpc) if matches!(input, Input::Timer { .. }) => rpc::on_timer(ctx, tag),
                Some(Part::Rpc) => rpc::on_compute_done(ctx, tag),
                Some(Part::Hdfs) => hdfs.on_input(ctx, input),
                Some(Part::MapReduce) => mapreduce.on_input(ctx, hdfs, input),
                Some(Part::Driver) | None => {}
            },
            Input::NodeDown { node } => {
                if !ctx.nodes.is_up(node) {
                    return;
                }
                ctx.nodes.set_up(node, false);
                ctx.connections.node_down(node);
                rpc::on_node_down(ctx, node);
                hdfs.on_input(ctx, input);
                mapreduce.on_input(ctx, hdfs, input);
            }
            Input::NodeUp { node } => {
                if ctx.nodes.is_up(node) {
                    return;
                }
                ctx.nodes.set_up(node, true);
                hdfs.on_input(ctx, input);
                mapreduce.on_input(ctx, hdfs, input);
            }
            Input::Charge { .. } => mapreduce.on_input(ctx, hdfs, input),
        }
    }

    /// Something happened at a living end of a connection.
    fn on_connection(&mut self, conn: ConnId, end: End, input: Input) {
        let Self { context: ctx, hdfs, mapreduce, .. } = self;
        if !ctx.connections.lives(conn, end) {
            return;
        }
        let owner = ctx.connections.get(conn).map(|connection| connection.owner);
        match input {
            Input::Reset { .. } => ctx.connections.mark_gone(conn, end),
            Input::PeerClosed { .. } => ctx.connections.mark_peer_closed(conn, end),
            Input::Heard { .. } => {}
            _ => ctx.connections.established(conn),
        }
        match owner {
            Some(Part::Rpc) => match input {
                Input::Connected { .. } => rpc::on_connected(ctx, conn),
                Input::Delivered { tag, .. } => rpc::on_delivered(ctx, conn, end, tag),
                Input::PeerClosed { .. } => rpc::on_peer_closed(ctx, conn, end),
                Input::Reset { .. } => rpc::on_reset(ctx, conn, end),
                _ => {}
            },
            Some(Part::Hdfs) => hdfs.on_input(ctx, input),
            Some(Part::MapReduce) => mapreduce.on_input(ctx, hdfs, input),
            Some(Part::Driver) | None => {}
        }
        self.context.connections.settle(conn);
    }

    fn tell(&mut self, event: Event) {
        let Self { context: ctx, hdfs, mapreduce, news } = self;
        match event.tag().part() {
            Some(Part::Hdfs) => hdfs.on_event(ctx, event),
            Some(Part::MapReduce) => mapreduce.on_event(ctx, hdfs, event),
            Some(Part::Driver) => news.push(event),
            Some(Part::Rpc) | None => {}
        }
        if let Event::Served { call, .. } = event {
            rpc::reply(ctx, call);
        }
    }
}
