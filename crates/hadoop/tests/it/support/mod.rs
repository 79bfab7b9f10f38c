//! A world for tests: it has a cluster's messages carried as flows ([`transport::FlowTransport`]), serves its disks and
//! processors, and kills and revives its nodes.
//!
//! Every node hangs on one switch by a link of a given rate, and messages cross the switch in a given latency: simple
//! enough to check by hand. On the wire each [`SEGMENT`] of a message has 40 bytes of headers; a message's last segment
//! (all of a short message) takes its time on the sender's link, and again on the receiver's. A SYN has 60 bytes.
//! Windows hold nobody back, and no queue overflows.

mod connections;

use connections::{Connections, of_cluster};
use des::EventQueue;
use hadoop::hdfs::{Hdfs, HdfsConfig};
use hadoop::yarn::Yarn;
use hadoop::{Cluster, Config, Context, DiskOp, Disks, Effect, Event, Input, NodeId, NodeInfo, Platform, Tag};
use net::{Limit, LinkSpec, Topology};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use storage::{CacheSpec, DiskSpec, Op, Processor, Request, RotatingSpec, Store, Stream};
use transport::{FlowTransport, Message, Open, Owner, Upcall};
use units::{BitRate, Bytes, Time};

/// Payload of a segment: that of a loopback's MTU, so that headers are next to nothing.
const SEGMENT: u16 = 1_460;
/// The first timeout of a handshake and of data, doubled by each that follows.
const TIMEOUT: Time = Time::from_secs(1);

/// A cluster whose MapReduce daemons are silent.
pub fn hdfs_only(hdfs: HdfsConfig) -> Config {
    let mut config = Config { hdfs, ..Config::default() };
    config.yarn.node_heartbeat = Time::from_secs(10_000_000);
    config
}

/// What the world is made of.
#[derive(Debug, Clone)]
pub struct Spec {
    pub nodes: Vec<NodeInfo>,
    /// Each node's interface, both ways.
    pub rate: BitRate,
    /// One way through the network.
    pub latency: Time,
    /// Receive buffer of a paced reader.
    pub receive_buffer: Bytes,
    /// How often TCP sends again to a dead node: three times, it gives up after 1 + 2 + 4 + 8 = 15 s.
    pub retries: u8,
    /// Each host's disks.
    pub disk: DiskSpec,
    pub cache: CacheSpec,
    /// Each host's cores.
    pub cores: u32,
}

impl Spec {
    /// A master and so many workers in so many racks (round robin), each on a host of its own with one fast disk and no
    /// cache.
    pub fn new(workers: u32, racks: u32) -> Self {
        let nodes = (0..=workers)
            .map(|n| NodeInfo { rack: n.saturating_sub(1) % racks, host: n, disks: Disks::alike(1) })
            .collect();
        let rate = BitRate::from_gbps(8); // 1 GB/s
        let disk = RotatingSpec::flat(Time::ZERO, rate, rate);
        Self {
            nodes,
            rate: BitRate::from_gbps(1),
            latency: Time::from_us(50),
            receive_buffer: Bytes::new(65_536),
            retries: 3,
            disk: DiskSpec::Rotating(disk),
            cache: CacheSpec::none(),
            cores: 4,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Due {
    Input(Input),
    /// Something that the transport waits for.
    Transport(des::Event),
    Down(NodeId),
    Up(NodeId),
}

/// The world and the cluster in it.
#[derive(Debug)]
pub struct World {
    pub cluster: Cluster,
    pub now: Time,
    pub finished: bool,
    /// News for the driver that no one has taken.
    pub news: Vec<(Time, Event)>,
    pub inputs: u64,
    /// A hash of all inputs and their times.
    pub digest: u64,
    spec: Spec,
    up: Vec<bool>,
    due: BTreeMap<(Time, u64), Due>,
    next: u64,
    transport: FlowTransport,
    events: EventQueue,
    connections: Connections,
    upcalls: Vec<Upcall>,
    stores: Vec<Store<(NodeId, Tag)>>,
    processors: Vec<Processor<u64>>,
    /// Each node's number on its host's processor, and the other way.
    slots: Vec<usize>,
    residents: Vec<Vec<NodeId>>,
    effects: Vec<Effect>,
    /// Work, disk requests and timers without an answer, with the node that they are asked of; none for timers.
    unanswered: BTreeMap<u64, Option<NodeId>>,
}

impl World {
    pub fn new(config: Config, spec: Spec, seed: u64) -> Self {
        let count = spec.nodes.len();
        let hosts = spec.nodes.iter().map(|node| node.host as usize + 1).max().unwrap_or(0);
        let mut processors: Vec<_> = (0..hosts).map(|_| Processor::new(spec.cores)).collect();
        let mut residents = vec![Vec::new(); hosts];
        let mut slots = Vec::new();
        for (n, node) in spec.nodes.iter().enumerate() {
            slots.push(processors[node.host as usize].add_node(f64::from(spec.cores), 1.0));
            residents[node.host as usize].push(NodeId(n as u32));
        }
        let disks_of =
            |host: usize| spec.nodes.iter().filter(|n| n.host as usize == host).map(|n| n.disks.count()).max();
        let stores = (0..hosts)
            .map(|host| Store::new(&vec![spec.disk; disks_of(host).unwrap_or(1).max(1) as usize], spec.cache))
            .collect();
        let link = LinkSpec::new(spec.rate, spec.latency / 2).with_limit(Limit::Unlimited);
        let mut world = Self {
            cluster: Cluster::new(config, spec.nodes.clone(), seed),
            now: Time::ZERO,
            finished: false,
            news: Vec::new(),
            inputs: 0,
            digest: 0,
            up: vec![true; count],
            due: BTreeMap::new(),
            next: 0,
            transport: FlowTransport::new(Topology::star(count, &link), Bytes::ZERO, 1),
            events: EventQueue::new(),
            connections: Connections::default(),
            upcalls: Vec::new(),
            stores,
            processors,
            slots,
            residents,
            effects: Vec::new(),
            unanswered: BTreeMap::new(),
            spec,
        };
        world.at(Time::ZERO, Due::Input(Input::Start));
        world
    }

    /// Acts as a client from outside.
    pub fn drive<R>(&mut self, act: impl FnOnce(&mut Context, &mut Hdfs) -> R) -> R {
        self.drive_platform(|platform| act(platform.ctx, platform.hdfs))
    }
    /// Acts as the client and the AppMasters of applications from outside.
    pub fn drive_yarn<R>(&mut self, act: impl FnOnce(&mut Context, &mut Yarn) -> R) -> R {
        self.drive_platform(|platform| act(platform.ctx, platform.yarn))
    }
    /// Acts as a framework from outside.
    pub fn drive_platform<R>(&mut self, act: impl FnOnce(&mut Platform) -> R) -> R {
        let mut effects = std::mem::take(&mut self.effects);
        let result = self.cluster.drive(self.now, &mut effects, act);
        self.effects = effects;
        self.carry_out();
        result
    }

    pub fn kill(&mut self, node: NodeId, at: Time) {
        self.at(at, Due::Down(node));
    }
    /// A node's battery comes to a level, in thousandths.
    pub fn charge(&mut self, node: NodeId, level: u16, at: Time) {
        self.at(at, Due::Input(Input::Charge { node, level }));
    }
    pub fn revive(&mut self, node: NodeId, at: Time) {
        self.at(at, Due::Up(node));
    }
    /// Changes a node's processor speed from now on.
    pub fn set_speed(&mut self, node: NodeId, speed: f64) {
        let host = self.host(node);
        self.processors[host].set_speed(self.now, self.slots[node.0 as usize], speed);
    }
    pub fn is_up(&self, node: NodeId) -> bool {
        self.up[node.0 as usize]
    }
    /// Bytes of messages that were delivered to a node from others.
    pub fn received(&self, node: NodeId) -> Bytes {
        self.connections.received.get(&node).copied().unwrap_or_default()
    }
    /// Messages that had to wait for room in a paced reader's buffer.
    pub fn blocked(&self) -> u64 {
        self.connections.blocked
    }
    /// Checks that the cluster keeps a message as long as it is under way, and no longer; but what a crashed node had
    /// sent may stay as long as the other end of its connection does not know of the crash.
    pub fn check_messages(&self) {
        let (under_way, orphaned) = self.connections.under_way();
        let kept = self.cluster.context().pending_messages();
        assert!((under_way..=under_way + orphaned).contains(&kept), "{kept} kept, {under_way} and {orphaned} sent");
    }

    /// Runs until the condition holds after some input; false if `limit` came first.
    pub fn run_until(&mut self, limit: Time, mut done: impl FnMut(&Self) -> bool) -> bool {
        while !done(self) {
            if !self.step(limit) {
                return false;
            }
        }
        true
    }
    /// Runs to a time.
    pub fn run_to(&mut self, limit: Time) {
        while self.step(limit) {}
        self.now = self.now.max(limit);
    }
    /// Runs until the cluster says that its job is over; false if `limit` came first.
    pub fn run_to_finish(&mut self, limit: Time) -> bool {
        self.run_until(limit, |world| world.finished)
    }

    /// The next thing that happens, unless it is later than `limit`.
    pub fn step(&mut self, limit: Time) -> bool {
        let queued = self.due.first_key_value().map_or(Time::MAX, |((at, _), _)| *at);
        let stores = self.stores.iter().map(Store::deadline).min().unwrap_or(Time::MAX);
        let processors = self.processors.iter().map(Processor::deadline).min().unwrap_or(Time::MAX);
        let now = queued.min(stores).min(processors);
        if now > limit || now == Time::MAX {
            return false;
        }
        self.now = now;
        if queued == now {
            if let Some((_, due)) = self.due.pop_first() {
                self.happen(due);
            }
        } else if stores == now {
            let mut done = Vec::new();
            self.stores.iter_mut().for_each(|store| store.on_timer(now, &mut done));
            for (node, tag) in done {
                self.input(Input::DiskDone { node, tag });
            }
        } else {
            let mut all = Vec::new();
            for (host, processor) in self.processors.iter_mut().enumerate() {
                let mut done = Vec::new();
                processor.on_timer(now, &mut done);
                all.extend(done.into_iter().map(|(slot, tag)| (self.residents[host][slot], Tag(tag))));
            }
            for (node, tag) in all {
                self.input(Input::ComputeDone { node, tag });
            }
        }
        true
    }

    fn host(&self, node: NodeId) -> usize {
        self.spec.nodes[node.0 as usize].host as usize
    }
    fn at(&mut self, at: Time, due: Due) {
        self.next += 1;
        self.due.insert((at, self.next), due);
    }

    fn input(&mut self, input: Input) {
        self.inputs += 1;
        let mut hasher = DefaultHasher::new();
        (self.digest, self.now, input).hash(&mut hasher);
        self.digest = hasher.finish();
        match input {
            Input::DiskDone { tag, .. } | Input::ComputeDone { tag, .. } | Input::Timer { tag } => {
                self.unanswered.remove(&tag.0);
            }
            Input::NodeDown { node } => self.unanswered.retain(|_, of| *of != Some(node)),
            _ => {}
        }
        let mut effects = std::mem::take(&mut self.effects);
        self.cluster.handle(self.now, input, &mut effects);
        self.effects = effects;
        self.carry_out();
        let kept = self.cluster.context().pending_requests();
        assert_eq!(
            kept,
            self.unanswered.len(),
            "the cluster keeps what nobody will answer, or has forgotten what it asked"
        );
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Input(input) => self.input(input),
            Due::Transport(event) => {
                self.transport.on_event(&event, &mut self.events);
                self.take_upcalls();
            }
            Due::Down(node) => {
                self.up[node.0 as usize] = false;
                let host = self.host(node);
                self.stores[host].drop_node(self.now, node.0);
                self.processors[host].clear(self.now, self.slots[node.0 as usize]);
                self.connections.node_down(node);
                self.transport.set_node(self.now, node.0, false, &mut self.events);
                self.take_upcalls();
                self.input(Input::NodeDown { node });
            }
            Due::Up(node) => {
                self.up[node.0 as usize] = true;
                self.transport.set_node(self.now, node.0, true, &mut self.events);
                self.take_upcalls();
                self.input(Input::NodeUp { node });
            }
        }
    }

    /// The transport has something to wait for, or to tell.
    fn take_upcalls(&mut self) {
        while let Some(event) = self.events.pop() {
            self.at(event.time(), Due::Transport(event));
        }
        let mut upcalls = std::mem::take(&mut self.upcalls);
        self.transport.take_upcalls(&mut upcalls);
        for upcall in upcalls.drain(..) {
            if let Some(input) = self.connections.on_upcall(&upcall) {
                self.input(input);
            }
        }
        self.upcalls = upcalls;
    }

    fn carry_out(&mut self) {
        let now = self.now;
        let news = self.cluster.take_news();
        self.news.extend(news.into_iter().map(|event| (now, event)));
        let mut answers = Vec::new();
        for effect in std::mem::take(&mut self.effects) {
            self.effect(effect, &mut answers);
        }
        self.take_upcalls();
        for answer in answers {
            self.input(answer);
        }
    }

    fn effect(&mut self, effect: Effect, answers: &mut Vec<Input>) {
        let now = self.now;
        match effect {
            Effect::Open { conn, from, to, paced_reader, .. } => {
                assert!(self.is_up(from), "{from:?} is down and opens a connection");
                let client = tcp::Config {
                    mss: SEGMENT,
                    timestamps: false,
                    initial_window: 1_000,
                    initial_rto: TIMEOUT,
                    min_rto: TIMEOUT,
                    // A handshake fails after 1 + 2 = 3 s.
                    syn_retries: 1,
                    max_retries: self.spec.retries,
                    ..tcp::Config::default()
                };
                let receive_buffer = self.spec.receive_buffer;
                let server = tcp::Config { auto_consume: !paced_reader, receive_buffer, ..client };
                let (owner, user) = (Owner::Cluster, conn.0);
                let open = Open { owner, user, from: from.0, to: to.0, port: 0, via: None, client, server };
                let handle = self.transport.open(now, &open, &mut self.events);
                let buffer = paced_reader.then_some(receive_buffer);
                self.connections.open(conn, handle, [from, to], buffer);
            }
            Effect::Send { conn, end, bytes, tag, push } => {
                let handle = self.connections.send(conn, end, bytes);
                let message = Message { bytes, tag: transport::Tag(tag.0), push };
                self.transport.send(now, handle, of_cluster(end), message, &mut self.events);
            }
            Effect::Consume { conn, end, bytes } => {
                let handle = self.connections.consume(conn, end, bytes);
                self.transport.consume(now, handle, of_cluster(end), bytes, &mut self.events);
            }
            Effect::AskLastReceived { conn, end } => {
                let at = self.transport.last_received(self.connections.handle(conn), of_cluster(end));
                answers.push(Input::LastReceived { conn, end, at });
            }
            Effect::Close { conn, end } => {
                let handle = self.connections.close(conn, end);
                self.transport.close(now, handle, of_cluster(end), &mut self.events);
            }
            Effect::Abort { conn, end } => {
                let handle = self.connections.abort(conn, end);
                self.transport.abort(now, handle, of_cluster(end), &mut self.events);
            }
            Effect::Disk { node, disk, op, stream, offset, bytes, places, tag, .. } => {
                assert!(self.is_up(node), "{node:?} is down and uses its disk");
                assert!(bytes > Bytes::ZERO, "an empty disk request");
                let op = if op == DiskOp::Read { Op::Read } else { Op::Write };
                self.unanswered.insert(tag.0, Some(node));
                let stream = Stream { node: node.0, id: stream.file, part: stream.part };
                let host = self.host(node);
                self.stores[host].submit(now, disk, Request { op, stream, offset, bytes, places, tag: (node, tag) });
            }
            Effect::Compute { node, work, tag } => {
                assert!(self.is_up(node), "{node:?} is down and computes");
                self.unanswered.insert(tag.0, Some(node));
                let host = self.host(node);
                self.processors[host].submit(now, self.slots[node.0 as usize], work, tag.0);
            }
            Effect::CancelCompute { node, tag } => {
                self.unanswered.remove(&tag.0);
                let host = self.host(node);
                self.processors[host].cancel(now, self.slots[node.0 as usize], tag.0);
            }
            Effect::Timer { at, tag } => {
                self.unanswered.insert(tag.0, None);
                self.at(at.max(now), Due::Input(Input::Timer { tag }));
            }
            Effect::Finished => self.finished = true,
        }
    }
}
