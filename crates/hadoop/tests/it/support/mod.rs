//! A world for tests: it carries a cluster's messages at flow level, serves its disks and processors, and kills and
//! revives its nodes.
//!
//! Messages leave each node through one first-in-first-out interface of a given rate, cross the network in a given
//! latency and enter through another such interface, cut through. That is simple enough to check by hand, and it is no
//! part of the product: packets are.

use hadoop::hdfs::{Hdfs, HdfsConfig};
use hadoop::yarn::Yarn;
use hadoop::{Cluster, Config, ConnId, Context, DiskOp, Effect, End, Event, Input, NodeId, NodeInfo, Tag};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use storage::{CacheSpec, DiskSpec, Op, Processor, Request, RotatingSpec, Store, Stream};
use units::{BitRate, Bytes, Time};

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
    /// How long TCP goes on sending to a dead node.
    pub give_up: Time,
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
        let nodes = (0..=workers).map(|n| NodeInfo { rack: n.saturating_sub(1) % racks, host: n, disks: 1 }).collect();
        let rate = BitRate::from_gbps(8); // 1 GB/s
        let mut disk = RotatingSpec::new(Time::ZERO, 1, rate, rate);
        disk.revolution = Time::ZERO;
        Self {
            nodes,
            rate: BitRate::from_gbps(1),
            latency: Time::from_us(50),
            receive_buffer: Bytes::new(65_536),
            give_up: Time::from_secs(15),
            disk: DiskSpec::Rotating(disk),
            cache: CacheSpec::none(),
            cores: 4,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Message {
    bytes: Bytes,
    tag: Tag,
}

#[derive(Debug, Default)]
struct Direction {
    /// Messages that wait for room in the receiver's buffer.
    blocked: VecDeque<Message>,
    /// Sent, and not consumed if the reader is paced.
    unread: Bytes,
    /// Messages sent and not acknowledged.
    flying: u32,
    /// Messages that its node's crash left unsent.
    unsent: usize,
    closed: bool,
}

#[derive(Debug)]
struct Flow {
    from: NodeId,
    to: NodeId,
    paced: bool,
    /// By sending end.
    ways: [Direction; 2],
    gone: [bool; 2],
    /// The end has heard that its peer's stream is over.
    heard: [bool; 2],
    /// When a message was last delivered at the end.
    delivered: [Time; 2],
    established: bool,
    serial: u64,
}

impl Flow {
    fn node(&self, end: End) -> NodeId {
        if end == End::Client { self.from } else { self.to }
    }
}

#[derive(Debug, Clone, Copy)]
enum Due {
    Input(Input),
    /// An input for one life of a connection.
    OnFlow(Input, ConnId, u64),
    Down(NodeId),
    Up(NodeId),
}

const fn other(end: End) -> End {
    match end {
        End::Client => End::Server,
        End::Server => End::Client,
    }
}

/// The world and the cluster in it.
#[derive(Debug)]
pub struct World {
    pub cluster: Cluster,
    pub now: Time,
    pub finished: bool,
    /// News for the driver that no one has taken.
    pub news: Vec<(Time, Event)>,
    /// Bytes that left each node through its interface, and that came in.
    pub sent: Vec<Bytes>,
    pub received: Vec<Bytes>,
    /// Messages that had to wait for room in a paced reader's buffer.
    pub blocked: u64,
    pub inputs: u64,
    /// A hash of all inputs and their times.
    pub digest: u64,
    spec: Spec,
    up: Vec<bool>,
    due: BTreeMap<(Time, u64), Due>,
    next: u64,
    flows: BTreeMap<u32, Flow>,
    out_free: Vec<Time>,
    in_free: Vec<Time>,
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
        let disks_of = |host: usize| spec.nodes.iter().filter(|n| n.host as usize == host).map(|n| n.disks).max();
        let stores = (0..hosts)
            .map(|host| Store::new(&vec![spec.disk; disks_of(host).unwrap_or(1).max(1) as usize], spec.cache))
            .collect();
        let mut world = Self {
            cluster: Cluster::new(config, spec.nodes.clone(), seed),
            now: Time::ZERO,
            finished: false,
            news: Vec::new(),
            sent: vec![Bytes::ZERO; count],
            received: vec![Bytes::ZERO; count],
            blocked: 0,
            inputs: 0,
            digest: 0,
            up: vec![true; count],
            due: BTreeMap::new(),
            next: 0,
            flows: BTreeMap::new(),
            out_free: vec![Time::ZERO; count],
            in_free: vec![Time::ZERO; count],
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
        let mut effects = std::mem::take(&mut self.effects);
        let result = self.cluster.drive(self.now, &mut effects, |platform| act(platform.ctx, platform.hdfs));
        self.effects = effects;
        self.carry_out();
        result
    }

    /// Acts as the client and the AppMasters of applications from outside.
    pub fn drive_yarn<R>(&mut self, act: impl FnOnce(&mut Context, &mut Yarn) -> R) -> R {
        let mut effects = std::mem::take(&mut self.effects);
        let result = self.cluster.drive(self.now, &mut effects, |platform| act(platform.ctx, platform.yarn));
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

    /// Checks that the cluster keeps a message as long as it is under way, and no longer; but what a crashed node had
    /// sent may stay as long as the other end of its connection does not know of the crash.
    pub fn check_messages(&self) {
        let (mut under_way, mut orphaned) = (0, 0);
        for flow in self.flows.values().filter(|flow| flow.gone != [true; 2]) {
            for end in [End::Client, End::Server] {
                let way = &flow.ways[end as usize];
                if flow.gone[end as usize] {
                    orphaned += way.flying as usize + way.unsent;
                } else {
                    under_way += way.flying as usize + way.blocked.len();
                }
            }
        }
        let kept = self.cluster.context().pending_messages();
        assert!((under_way..=under_way + orphaned).contains(&kept), "{kept} kept, {under_way} and {orphaned} sent");
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Input(input) => self.input(input),
            Due::OnFlow(input, conn, serial) => self.on_flow(input, conn, serial),
            Due::Down(node) => {
                self.up[node.0 as usize] = false;
                let host = self.host(node);
                self.stores[host].drop_node(node.0);
                self.processors[host].clear(self.now, self.slots[node.0 as usize]);
                let touched: Vec<_> =
                    self.flows.iter().filter(|(_, f)| f.from == node || f.to == node).map(|(c, _)| *c).collect();
                for conn in touched {
                    let conn = ConnId(conn);
                    for end in [End::Client, End::Server] {
                        if self.flows[&conn.0].node(end) == node {
                            self.leave(conn, end);
                        } else {
                            self.reset_if_waiting(conn, end);
                        }
                    }
                }
                self.input(Input::NodeDown { node });
            }
            Due::Up(node) => {
                self.up[node.0 as usize] = true;
                self.input(Input::NodeUp { node });
                // What others still have open to it is answered with a reset at their next retransmission.
                let touched: Vec<_> = self.flows.keys().copied().map(ConnId).collect();
                for conn in touched {
                    for end in [End::Client, End::Server] {
                        let flow = &self.flows[&conn.0];
                        if flow.node(other(end)) == node
                            && flow.gone[other(end) as usize]
                            && flow.ways[end as usize].flying > 0
                        {
                            let serial = flow.serial;
                            self.at(
                                self.now + Time::from_secs(1),
                                Due::OnFlow(Input::Reset { conn, end }, conn, serial),
                            );
                        }
                    }
                }
            }
        }
    }

    /// An end with data on its way to a dead peer gives up after a while.
    fn reset_if_waiting(&mut self, conn: ConnId, end: End) {
        if let Some(flow) = self.flows.get(&conn.0)
            && flow.gone[other(end) as usize]
            && !flow.gone[end as usize]
            && (flow.ways[end as usize].flying > 0 || !flow.ways[end as usize].blocked.is_empty())
        {
            let serial = flow.serial;
            self.at(self.now + self.spec.give_up, Due::OnFlow(Input::Reset { conn, end }, conn, serial));
        }
    }

    fn on_flow(&mut self, input: Input, conn: ConnId, serial: u64) {
        let Some(flow) = self.flows.get_mut(&conn.0).filter(|flow| flow.serial == serial) else { return };
        let end = match input {
            Input::Connected { .. } => End::Client,
            Input::Delivered { end, .. }
            | Input::Acknowledged { end, .. }
            | Input::LastReceived { end, .. }
            | Input::PeerClosed { end, .. }
            | Input::Reset { end, .. } => end,
            _ => return,
        };
        if let Input::Delivered { .. } = input {
            flow.delivered[end as usize] = self.now;
        }
        if let Input::Acknowledged { .. } = input {
            if flow.gone[other(end) as usize] && !self.up[flow.node(other(end)).0 as usize] {
                return;
            }
            flow.ways[end as usize].flying -= 1;
        }
        if flow.gone[end as usize] {
            return;
        }
        if let Input::Reset { .. } = input {
            self.leave(conn, end);
        } else if let Input::LastReceived { .. } = input {
            // It says nothing of the handshake.
        } else if let Some(flow) = self.flows.get_mut(&conn.0) {
            flow.established = true;
        }
        if let Input::PeerClosed { .. } = input
            && let Some(flow) = self.flows.get_mut(&conn.0)
        {
            flow.heard[end as usize] = true;
        }
        self.settle(conn, end);
        self.input(input);
    }

    fn leave(&mut self, conn: ConnId, end: End) {
        if let Some(flow) = self.flows.get_mut(&conn.0) {
            flow.gone[end as usize] = true;
            if end == End::Client && !flow.established {
                flow.gone[End::Server as usize] = true;
            }
            flow.ways[end as usize].unsent = flow.ways[end as usize].blocked.drain(..).count();
        }
    }

    /// An end whose stream and whose peer's stream are over takes no further part.
    fn settle(&mut self, conn: ConnId, end: End) {
        if let Some(flow) = self.flows.get_mut(&conn.0)
            && flow.ways[end as usize].closed
            && flow.heard[end as usize]
        {
            flow.gone[end as usize] = true;
        }
    }

    fn carry_out(&mut self) {
        let now = self.now;
        let news = self.cluster.take_news();
        self.news.extend(news.into_iter().map(|event| (now, event)));
        for effect in std::mem::take(&mut self.effects) {
            self.effect(effect);
        }
    }

    fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::Open { conn, from, to, paced_reader, .. } => {
                assert!(self.is_up(from), "{from:?} is down and opens a connection");
                self.next += 1;
                let serial = self.next;
                let ways = [Direction::default(), Direction::default()];
                let flow = Flow {
                    from,
                    to,
                    paced: paced_reader,
                    ways,
                    gone: [false; 2],
                    heard: [false; 2],
                    delivered: [Time::ZERO; 2],
                    established: false,
                    serial,
                };
                let former = self.flows.insert(conn.0, flow);
                assert!(former.is_none_or(|flow| flow.gone == [true; 2]), "{conn:?} is still in use");
                let (delay, input) = if self.is_up(to) {
                    (self.spec.latency * 2, Input::Connected { conn })
                } else {
                    (Time::from_secs(3), Input::Reset { conn, end: End::Client })
                };
                let delay = if from == to { Time::from_us(10) } else { delay };
                self.at(self.now + delay, Due::OnFlow(input, conn, serial));
            }
            Effect::Send { conn, end, bytes, tag, .. } => {
                assert!(bytes > Bytes::ZERO, "an empty message");
                let flow = self.flows.get_mut(&conn.0).expect("a message on a connection that was opened");
                assert!(!flow.gone[end as usize], "a message from an end that is gone: {conn:?} {end:?}");
                flow.ways[end as usize].blocked.push_back(Message { bytes, tag });
                self.send_what_fits(conn, end);
                self.reset_if_waiting(conn, end);
            }
            Effect::Consume { conn, end, bytes } => {
                let flow = self.flows.get_mut(&conn.0).expect("a connection that was opened");
                let way = &mut flow.ways[other(end) as usize];
                assert!(way.unread >= bytes, "more consumed than was delivered");
                way.unread -= bytes;
                self.send_what_fits(conn, other(end));
            }
            Effect::AskLastReceived { conn, end } => {
                let flow = &self.flows[&conn.0];
                let (at, serial) = (flow.delivered[end as usize], flow.serial);
                self.at(self.now, Due::OnFlow(Input::LastReceived { conn, end, at }, conn, serial));
            }
            Effect::Close { conn, end } => {
                let flow = self.flows.get_mut(&conn.0).expect("a connection that was opened");
                flow.ways[end as usize].closed = true;
                self.settle(conn, end);
                self.close_if_sent(conn, end);
            }
            Effect::Abort { conn, end } => {
                self.leave(conn, end);
                let flow = &self.flows[&conn.0];
                if self.is_up(flow.node(other(end))) {
                    let serial = flow.serial;
                    let input = Input::Reset { conn, end: other(end) };
                    self.at(self.now + self.spec.latency, Due::OnFlow(input, conn, serial));
                }
            }
            Effect::Disk { node, disk, op, stream, offset, bytes, tag } => {
                assert!(self.is_up(node), "{node:?} is down and uses its disk");
                assert!(bytes > Bytes::ZERO, "an empty disk request");
                let op = if op == DiskOp::Read { Op::Read } else { Op::Write };
                self.unanswered.insert(tag.0, Some(node));
                let stream = Stream { node: node.0, id: stream.file, part: stream.part };
                let host = self.host(node);
                self.stores[host].submit(self.now, disk, Request { op, stream, offset, bytes, tag: (node, tag) });
            }
            Effect::Compute { node, work, tag } => {
                assert!(self.is_up(node), "{node:?} is down and computes");
                self.unanswered.insert(tag.0, Some(node));
                let host = self.host(node);
                self.processors[host].submit(self.now, self.slots[node.0 as usize], work, tag.0);
            }
            Effect::CancelCompute { node, tag } => {
                self.unanswered.remove(&tag.0);
                let host = self.host(node);
                self.processors[host].cancel(self.now, self.slots[node.0 as usize], tag.0);
            }
            Effect::Timer { at, tag } => {
                self.unanswered.insert(tag.0, None);
                self.at(at.max(self.now), Due::Input(Input::Timer { tag }));
            }
            Effect::Finished => self.finished = true,
        }
    }

    /// Sends the messages that the receiver's buffer has room for; one that is larger goes alone.
    fn send_what_fits(&mut self, conn: ConnId, end: End) {
        loop {
            let (now, latency, rate) = (self.now, self.spec.latency, self.spec.rate);
            let buffer = self.spec.receive_buffer;
            let Some(flow) = self.flows.get_mut(&conn.0) else { return };
            let (from, to) = (flow.node(end).0 as usize, flow.node(other(end)).0 as usize);
            let paced = flow.paced && end == End::Client;
            let serial = flow.serial;
            let peer_lives = !flow.gone[other(end) as usize];
            let way = &mut flow.ways[end as usize];
            let Some(message) = way.blocked.front().copied() else { return self.close_if_sent(conn, end) };
            if paced && way.unread > Bytes::ZERO && way.unread + message.bytes > buffer {
                self.blocked += 1;
                return;
            }
            way.blocked.pop_front();
            way.flying += 1;
            if paced {
                way.unread += message.bytes;
            }
            if !peer_lives || !self.up[to] {
                continue;
            }
            let tag = message.tag;
            let arrival = if from == to {
                now
            } else {
                let time = rate.transmission_time(message.bytes);
                let left = self.out_free[from].max(now) + time;
                self.out_free[from] = left;
                let arrival = (left + latency).max(self.in_free[to] + time);
                self.in_free[to] = arrival;
                self.sent[from] += message.bytes;
                self.received[to] += message.bytes;
                arrival
            };
            self.at(arrival, Due::OnFlow(Input::Delivered { conn, end: other(end), tag }, conn, serial));
            self.at(arrival + latency, Due::OnFlow(Input::Acknowledged { conn, end, tag }, conn, serial));
        }
    }

    /// The end of the stream follows the last message.
    fn close_if_sent(&mut self, conn: ConnId, end: End) {
        let Some(flow) = self.flows.get(&conn.0) else { return };
        let way = &flow.ways[end as usize];
        if !way.closed || !way.blocked.is_empty() {
            return;
        }
        let (from, to) = (flow.node(end).0 as usize, flow.node(other(end)).0 as usize);
        let serial = flow.serial;
        let at = if from == to {
            self.now
        } else {
            (self.out_free[from] + self.spec.latency).max(self.in_free[to]).max(self.now + self.spec.latency)
        };
        self.at(at, Due::OnFlow(Input::PeerClosed { conn, end: other(end) }, conn, serial));
    }
}
