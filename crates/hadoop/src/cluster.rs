//! The owner of all parts: hands each input to the part it is for, and the parts' news to one another.

use crate::connections::Connections;
use crate::context::{Context, NodeInfo, Nodes};
use crate::effect::{Effect, End, Input};
use crate::event::Event;
use crate::hdfs::{Hdfs, HdfsConfig};
use crate::ids::{ConnId, JobId, NodeId, Tag};
use crate::mapreduce::{self, Generation, MapReduce, MapReduceConfig, Wait};
use crate::object_store::{ObjectStore, ObjectStoreConfig};
use crate::pending::Pending;
use crate::platform::Platform;
use crate::record::{Records, TaskKind};
use crate::request::{Caller, Fetcher, Framework, Message, Reader, Request, User, Writer};
use crate::rpc::{self, Rpc, RpcConfig};
use crate::shuffle::Shuffle;
use crate::yarn::{SchedulerConfig, Yarn, YarnConfig};
use std::collections::VecDeque;
use units::{Time, word};

/// All settings of a cluster; the defaults are Hadoop's.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Remote procedure calls: handlers, retries, timeouts.
    pub rpc: RpcConfig,
    /// The file system.
    pub hdfs: HdfsConfig,
    /// The object store and its clients; idle where no job uses it.
    pub object_store: ObjectStoreConfig,
    /// Whoever hands out the workers: ResourceManager or JobTracker.
    pub scheduler: SchedulerConfig,
    /// YARN: heartbeats, allocation, liveness.
    pub yarn: YarnConfig,
    /// The jobs.
    pub mapreduce: MapReduceConfig,
    /// Whether YARN's daemons are left out, as where whoever drives the cluster needs HDFS alone.
    pub without_yarn: bool,
}

impl Config {
    /// Maps, or reduces, that a worker has room for where nothing else runs.
    pub fn places(&self, kind: TaskKind) -> u32 {
        if self.mapreduce.generation == Generation::Hadoop1 {
            return match kind {
                TaskKind::Map => self.mapreduce.hadoop1.map_slots,
                TaskKind::Reduce => self.mapreduce.hadoop1.reduce_slots,
            };
        }
        let task = self.yarn.normalized(self.mapreduce.app_master.task(kind));
        let by_memory = word(self.yarn.node_memory.get() / task.memory.get().max(1));
        by_memory.min(self.yarn.node_vcores / task.vcores.max(1))
    }
}

/// A Hadoop cluster: a pure state machine over [`Input`] and [`Effect`].
#[derive(Debug)]
pub struct Cluster {
    context: Context,
    hdfs: Hdfs,
    store: ObjectStore,
    yarn: Yarn,
    shuffle: Shuffle,
    mapreduce: MapReduce,
    /// News for whoever drives the cluster.
    news: Vec<Event>,
    without_yarn: bool,
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
        let nodes = context.nodes.len();
        let without_yarn = config.without_yarn;
        let mut hdfs = Hdfs::new(config.hdfs, &mut context, seed);
        let mut store = ObjectStore::new(config.object_store, seed);
        let mut yarn = Yarn::new(config.yarn, config.scheduler, nodes, seed);
        let mut shuffle = Shuffle::new(config.mapreduce.shuffle(), nodes);
        let mut platform =
            Platform { ctx: &mut context, hdfs: &mut hdfs, store: &mut store, yarn: &mut yarn, shuffle: &mut shuffle };
        let mapreduce = MapReduce::new(config.mapreduce, config.scheduler, &mut platform, seed);
        Self { context, hdfs, store, yarn, shuffle, mapreduce, news: Vec::new(), without_yarn }
    }

    /// Takes one input and appends what it causes.
    pub fn handle(&mut self, now: Time, input: Input, out: &mut Vec<Effect>) {
        self.context.now = now;
        std::mem::swap(&mut self.context.effects, out);
        self.dispatch(input);
        self.deliver_events();
        std::mem::swap(&mut self.context.effects, out);
    }

    /// Acts as a client or framework from outside: makes calls, reads, writes and runs applications as the driver
    /// ([`Caller::Driver`] and its like). [`Cluster::take_news`] has what becomes of them.
    pub fn drive<R>(&mut self, now: Time, out: &mut Vec<Effect>, act: impl FnOnce(&mut Platform) -> R) -> R {
        self.context.now = now;
        std::mem::swap(&mut self.context.effects, out);
        let result = act(&mut self.parts().0);
        self.deliver_events();
        std::mem::swap(&mut self.context.effects, out);
        result
    }

    /// What has happened to the driver's calls, reads, writes and applications since it last asked.
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
    /// The object store.
    pub fn object_store(&self) -> &ObjectStore {
        &self.store
    }
    /// The shuffle service of all nodes.
    pub fn shuffle(&self) -> &Shuffle {
        &self.shuffle
    }
    /// YARN: nodes with their containers, and applications.
    pub fn yarn(&self) -> &Yarn {
        &self.yarn
    }
    /// What the jobs leave behind so far.
    pub fn records(&self) -> Records {
        self.mapreduce.records(&self.shuffle)
    }
    /// The jobs.
    pub fn mapreduce(&self) -> &MapReduce {
        &self.mapreduce
    }
    /// The node of a job's AppMaster while that is registered (YARN).
    pub fn master_node(&self, job: JobId) -> Option<NodeId> {
        self.yarn.master_node(self.mapreduce.application(job))
    }
    /// Calls and nodes.
    pub fn context(&self) -> &Context {
        &self.context
    }

    fn parts(&mut self) -> (Platform<'_>, &mut MapReduce) {
        let Self { context: ctx, hdfs, store, yarn, shuffle, mapreduce, .. } = self;
        (Platform { ctx, hdfs, store, yarn, shuffle }, mapreduce)
    }

    fn dispatch(&mut self, input: Input) {
        match input {
            Input::Start => {
                self.hdfs.on_start(&mut self.context);
                if self.mapreduce.config().generation == Generation::Yarn && !self.without_yarn {
                    self.yarn.on_start(&mut self.context);
                }
                self.mapreduce.on_start(&mut self.context);
            }
            Input::Connected { conn } => self.on_connection(conn, End::Client, input),
            Input::Delivered { conn, end, .. }
            | Input::Acknowledged { conn, end, .. }
            | Input::LastReceived { conn, end, .. }
            | Input::PeerClosed { conn, end }
            | Input::Reset { conn, end } => self.on_connection(conn, end, input),
            Input::DiskDone { tag, .. } | Input::ComputeDone { tag, .. } | Input::Timer { tag } => self.on_answer(tag),
            Input::DiskFailed { tag, .. } => self.on_disk_failed(tag),
            Input::DiskLost { node, disk } => {
                self.context.nodes.lose_disk(node, disk);
                self.hdfs.on_disk_lost(&mut self.context, node, disk);
            }
            Input::NodeDown { node } => self.on_node_down(node),
            Input::NodeUp { node } => self.on_node_up(node),
            Input::DiskRests { node, disk, depth } => self.hdfs.on_disk_rests(node, disk, depth),
            Input::Charge { node, level } => {
                self.yarn.on_charge(node, level);
                self.mapreduce.on_charge(node, level);
            }
        }
    }

    fn on_node_down(&mut self, node: NodeId) {
        let Self { context: ctx, hdfs, store, shuffle, mapreduce, .. } = self;
        if !ctx.nodes.is_up(node) {
            return;
        }
        ctx.nodes.set_up(node, false);
        ctx.connections.node_down(node);
        ctx.pending.node_down(node);
        rpc::on_node_down(ctx, node);
        hdfs.on_node_down(ctx, node);
        store.on_node_down(ctx, node);
        shuffle.on_node_down(node);
        mapreduce.on_node_down(ctx, node);
        self.on_yarn(|yarn, _| yarn.on_node_down(node));
    }

    fn on_node_up(&mut self, node: NodeId) {
        let Self { context: ctx, hdfs, yarn, mapreduce, .. } = self;
        if ctx.nodes.is_up(node) {
            return;
        }
        ctx.nodes.set_up(node, true);
        hdfs.on_node_up(ctx, node);
        yarn.on_node_up(ctx, node);
        mapreduce.on_node_up(ctx, node);
    }

    /// A request of work, of a disk or of a timer has its answer.
    fn on_answer(&mut self, tag: Tag) {
        let Some(request) = self.context.pending.remove(tag) else { return };
        match request {
            Request::Rpc(request) => rpc::on_answer(&mut self.context, request),
            Request::Hdfs(request) => self.hdfs.on_answer(&mut self.context, request),
            Request::ObjectStore(request) => self.store.on_answer(&mut self.context, request),
            Request::Shuffle(request) => self.on_shuffle(|shuffle, ctx| shuffle.on_answer(ctx, request)),
            Request::Yarn(request) => self.on_yarn(|yarn, ctx| yarn.on_answer(ctx, request)),
            Request::MapReduce(request) => {
                let (mut platform, mapreduce) = self.parts();
                mapreduce.on_answer(&mut platform, request);
            }
            Request::Driver(request) => self.news.push(Event::Answered { request }),
        }
    }

    /// A request of a disk gets no answer, as the disk is gone.
    fn on_disk_failed(&mut self, tag: Tag) {
        let Some(request) = self.context.pending.remove(tag) else { return };
        match request {
            Request::Hdfs(request) => self.hdfs.on_disk_failed(&mut self.context, request),
            Request::ObjectStore(request) => self.store.on_disk_failed(&mut self.context, request),
            Request::Shuffle(request) => self.on_shuffle(|shuffle, ctx| shuffle.on_disk_failed(ctx, request)),
            Request::MapReduce(request) => {
                let (mut platform, mapreduce) = self.parts();
                mapreduce.on_disk_failed(&mut platform, request);
            }
            Request::Driver(request) => self.news.push(Event::DiskFailed { request }),
            Request::Rpc(_) | Request::Yarn(_) => {}
        }
    }

    /// Something happens to YARN: the frameworks are told what becomes of their applications.
    fn on_yarn(&mut self, happens: impl FnOnce(&mut Yarn, &mut Context)) {
        happens(&mut self.yarn, &mut self.context);
        for (application, news) in self.yarn.take_news() {
            match self.yarn.framework(application) {
                Framework::MapReduce(job) => {
                    let (mut platform, mapreduce) = self.parts();
                    mapreduce.on_yarn_news(&mut platform, job, news);
                }
                Framework::Driver(_) => self.news.push(Event::Yarn { application, news }),
            }
        }
    }

    /// Something happens to a fetch of map outputs: the fetchers are told.
    fn on_shuffle(&mut self, happens: impl FnOnce(&mut Shuffle, &mut Context)) {
        happens(&mut self.shuffle, &mut self.context);
        for (fetcher, news) in self.shuffle.take_news() {
            match fetcher {
                Fetcher::MapReduce(reducer) => {
                    let (mut platform, mapreduce) = self.parts();
                    mapreduce.on_shuffle_news(&mut platform, reducer, news);
                }
                Fetcher::Driver(fetcher) => self.news.push(Event::Shuffle { fetcher, news }),
            }
        }
    }

    /// Something happened at a living end of a connection.
    fn on_connection(&mut self, conn: ConnId, end: End, input: Input) {
        let Self { context: ctx, hdfs, store, .. } = self;
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
                    User::ObjectStore(_) => store.on_connected(ctx, conn),
                    User::Shuffle => self.on_shuffle(|shuffle, ctx| shuffle.on_connected(ctx, conn)),
                    User::Driver => {}
                }
            }
            Input::Delivered { tag, .. } => {
                ctx.connections.established(conn);
                match ctx.connections.delivered(conn, end, tag) {
                    Some(Message::Rpc(message)) => rpc::on_delivered(ctx, conn, message),
                    Some(Message::Hdfs(message)) => hdfs.on_delivered(ctx, conn, end, message),
                    Some(Message::ObjectStore(message)) => store.on_delivered(ctx, conn, end, message),
                    Some(Message::Shuffle(message)) => {
                        self.on_shuffle(|shuffle, ctx| shuffle.on_delivered(ctx, conn, message));
                    }
                    Some(Message::Driver(message)) => self.news.push(Event::Delivered { conn, end, message }),
                    None => {}
                }
            }
            Input::Acknowledged { tag, .. } => {
                ctx.connections.established(conn);
                match ctx.connections.acknowledge(conn, end, tag) {
                    Some(Message::Hdfs(message)) => hdfs.on_acknowledged(ctx, conn, message),
                    Some(Message::ObjectStore(message)) => store.on_acknowledged(ctx, conn, message),
                    Some(Message::Shuffle(message)) => {
                        self.on_shuffle(|shuffle, ctx| shuffle.on_acknowledged(ctx, conn, message));
                    }
                    Some(Message::Rpc(_) | Message::Driver(_)) | None => {}
                }
            }
            Input::LastReceived { at, .. } => match user {
                User::Hdfs(channel) => hdfs.on_last_received(ctx, channel, conn, at),
                User::ObjectStore(channel) => store.on_last_received(ctx, channel, conn, at),
                User::Shuffle => self.on_shuffle(|shuffle, ctx| shuffle.on_last_received(ctx, conn, at)),
                User::Rpc(_) | User::Driver => {}
            },
            Input::PeerClosed { .. } => {
                ctx.connections.mark_peer_closed(conn, end);
                match user {
                    User::Rpc(_) => rpc::on_peer_closed(ctx, conn, end),
                    User::Hdfs(channel) => hdfs.on_peer_closed(ctx, channel, conn, end),
                    User::ObjectStore(channel) => store.on_peer_closed(ctx, channel, conn, end),
                    User::Shuffle => self.on_shuffle(|shuffle, ctx| shuffle.on_peer_closed(ctx, conn, end)),
                    User::Driver => self.news.push(Event::Ended { conn, end }),
                }
            }
            Input::Reset { .. } => {
                ctx.connections.mark_gone(conn, end);
                match user {
                    User::Rpc(_) => rpc::on_reset(ctx, conn, end),
                    User::Hdfs(channel) => hdfs.on_reset(ctx, channel, conn, end),
                    User::ObjectStore(channel) => store.on_reset(ctx, channel, conn, end),
                    User::Shuffle => self.on_shuffle(|shuffle, ctx| shuffle.on_reset(ctx, conn, end)),
                    User::Driver => self.news.push(Event::Ended { conn, end }),
                }
            }
            Input::Start
            | Input::DiskDone { .. }
            | Input::DiskFailed { .. }
            | Input::DiskLost { .. }
            | Input::ComputeDone { .. }
            | Input::Timer { .. }
            | Input::NodeDown { .. }
            | Input::NodeUp { .. }
            | Input::DiskRests { .. }
            | Input::Charge { .. } => {}
        }
        self.context.connections.forget_if_gone(conn);
    }

    fn deliver_events(&mut self) {
        while let Some(event) = self.context.events.pop_front() {
            self.deliver(event);
        }
    }

    fn deliver(&mut self, event: Event) {
        let Self { context: ctx, hdfs, store, yarn, shuffle, mapreduce, news, .. } = self;
        let platform = &mut Platform { ctx, hdfs, store, yarn, shuffle };
        match event {
            Event::Served { call, to, caller, .. } => {
                match caller {
                    Caller::Hdfs(what) => platform.hdfs.on_served(platform.ctx, call, what),
                    Caller::Yarn(what) => self.on_yarn(|yarn, ctx| yarn.on_served(ctx, call, what)),
                    Caller::MapReduce(what) => mapreduce.on_served(platform, call, to, what),
                    Caller::Driver(_) => news.push(event),
                }
                rpc::reply(&mut self.context, call);
            }
            Event::Replied { caller } => match caller {
                Caller::Hdfs(what) => platform.hdfs.on_replied(platform.ctx, what),
                Caller::Yarn(what) => self.on_yarn(|yarn, ctx| yarn.on_replied(ctx, what)),
                Caller::MapReduce(what) => mapreduce.on_replied(platform, what),
                Caller::Driver(_) => news.push(event),
            },
            Event::CallFailed { caller } => match caller {
                Caller::Hdfs(what) => platform.hdfs.on_call_failed(platform.ctx, what),
                Caller::Yarn(what) => self.on_yarn(|yarn, ctx| yarn.on_call_failed(ctx, what)),
                Caller::MapReduce(what) => mapreduce.on_call_failed(platform, what),
                Caller::Driver(_) => news.push(event),
            },
            Event::Read { read, news: what, reader } => match reader {
                Reader::Hdfs(gather) => platform.hdfs.on_part(platform.ctx, gather, read, what),
                Reader::MapReduce(reader) => mapreduce.on_read(platform, read, what, reader),
                Reader::Driver(_) => news.push(event),
            },
            Event::Write { write, news: what, writer } => match writer {
                Writer::MapReduce(writer) => mapreduce.on_write(platform, write, what, writer),
                Writer::Driver(_) => news.push(event),
            },
            Event::JobCommitted { job, done } => mapreduce.on_job_committed(platform, job, done),
            Event::Answered { .. }
            | Event::DiskFailed { .. }
            | Event::Delivered { .. }
            | Event::Ended { .. }
            | Event::Yarn { .. }
            | Event::Shuffle { .. } => news.push(event),
        }
    }
}
