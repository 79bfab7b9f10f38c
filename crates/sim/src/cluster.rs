//! The driver of the Hadoop cluster: carries out its effects on the transport and the hosts, and feeds their events
//! back as inputs.

use crate::chores::{self, Chores, ChoresSpec};
use crate::hosts::{Hosts, PROCESSOR, STORE, Transfer};
use crate::manager::{self, Manager, ManagerSpec};
use crate::world::DiskState;
use des::{Event, EventQueue};
use hadoop::{Cluster, ConnId, Effect, End, Input, NodeId, Service, Tag};
use spark::Spark;
use tcp::Config;
use transport::{Handle, Happened, Message, Open, Owner, Transport, Upcall};
use units::{Bytes, Time};

/// Event kind: a timer of the cluster; its tag is the event's index and argument.
pub(crate) const TIMER: u8 = 16;

/// The port at which a service accepts (the defaults of Hadoop 3; the umbilical takes one at random there, as do Spark's
/// driver and block managers, which have the ports of its master and its shuffle service here).
pub(crate) const fn port(service: Service) -> u16 {
    match service {
        Service::Rpc => 8020,
        Service::Umbilical => 8041,
        Service::DataTransfer => 9866,
        Service::Shuffle => 13562,
        Service::ObjectStore => 443,
        Service::SparkDriver => 7077,
        Service::SparkBlocks => 7337,
    }
}

/// The part of a shared receive buffer that each connection to the masters may use, however much the others hold.
pub(crate) const SURE_OF_SHARED: Bytes = Bytes::new(2_048);

/// Every service, in the order of their names in results.
pub(crate) const SERVICES: [Service; 7] = [
    Service::Rpc,
    Service::Umbilical,
    Service::DataTransfer,
    Service::Shuffle,
    Service::ObjectStore,
    Service::SparkDriver,
    Service::SparkBlocks,
];

/// The service of a port, as the results call it.
pub(crate) const fn service_name(port: u16) -> &'static str {
    match port {
        8020 => "rpc",
        8041 => "umbilical",
        9866 => "data",
        443 => "store",
        7077 => "spark",
        7337 => "blocks",
        _ => "shuffle",
    }
}

/// The node on which the masters run.
pub(crate) const MASTER: NodeId = NodeId(0);

/// The parts of the world that the cluster acts on.
pub(crate) struct Outside<'a> {
    pub transport: &'a mut Transport,
    pub events: &'a mut EventQueue,
}

/// The cluster and its machines.
#[derive(Debug)]
pub(crate) struct Driver {
    pub cluster: Cluster,
    /// The application of Spark that drives the cluster, where there is one.
    pub spark: Option<Spark>,
    pub hosts: Hosts,
    tcp: Config,
    /// Receive buffer of connections to the masters.
    master_buffer: Bytes,
    /// The buffer that connections to the masters share in place of their own, and these connections.
    shared_buffer: Option<Bytes>,
    sharers: Vec<ConnId>,
    /// Messages between the masters and other nodes, both ways. All of them are pushed (PSH).
    pushed: u64,
    /// Transport handles, by the cluster's connection number.
    handles: Vec<Option<Handle>>,
    finished: bool,
    effects: Vec<Effect>,
    /// Inputs to the cluster that are not delivered yet.
    answers: Vec<Input>,
    done: Vec<(NodeId, Tag)>,
    /// Tells the policies of disks' power what goes on, where there are any.
    manager: Option<Manager>,
    /// What disks do besides jobs, where they do anything.
    chores: Option<Chores>,
}

impl Driver {
    pub fn new(cluster: Cluster, hosts: Hosts, tcp: Config) -> Self {
        // Hadoop turns Nagle's algorithm off on all of its sockets (`ipc.client.tcpnodelay`,
        // `dfs.client.socket.tcpnodelay`).
        let tcp = Config { nagle: false, ..tcp };
        Self {
            cluster,
            spark: None,
            hosts,
            tcp,
            master_buffer: tcp.receive_buffer,
            shared_buffer: None,
            sharers: Vec::new(),
            pushed: 0,
            handles: Vec::new(),
            finished: false,
            effects: Vec::new(),
            answers: Vec::new(),
            done: Vec::new(),
            manager: None,
            chores: None,
        }
    }

    /// Sets the receive buffer of each connection to the masters, or one that all of them share.
    pub fn with_master_buffer(mut self, buffer: Option<Bytes>, shared: Option<Bytes>) -> Self {
        self.master_buffer = shared.or(buffer).unwrap_or(self.tcp.receive_buffer);
        self.shared_buffer = shared;
        self
    }

    /// Has an application of Spark drive the cluster.
    pub fn with_spark(mut self, spark: Option<Spark>) -> Self {
        self.spark = spark;
        self
    }

    /// Has the policies of disks' power told what goes on.
    pub fn with_manager(mut self, spec: Option<ManagerSpec>) -> Self {
        self.manager = spec.map(|spec| Manager::new(spec, &self.cluster, &self.hosts));
        self
    }

    /// Has disks do something besides jobs.
    pub fn with_chores(mut self, spec: Option<ChoresSpec>) -> Self {
        self.chores = spec.map(|spec| Chores::new(spec, &self.hosts));
        self
    }

    /// The cluster starts.
    pub fn start(&mut self, now: Time, outside: &mut Outside) {
        if let Some(manager) = &self.manager {
            manager.start(now, &mut self.hosts, outside.events);
            self.tell_rests(now, outside);
        }
        if let Some(chores) = &mut self.chores {
            chores.start(now, outside.events);
        }
        if let Some(spark) = &mut self.spark {
            let mut effects = std::mem::take(&mut self.effects);
            self.cluster.drive(now, &mut effects, |platform| spark.on_start(platform));
            self.perform_all(now, effects, outside);
        }
        self.feed(now, Input::Start, outside);
    }

    fn perform_all(&mut self, now: Time, mut effects: Vec<Effect>, outside: &mut Outside) {
        for effect in effects.drain(..) {
            self.perform(now, effect, outside);
        }
        self.effects = effects;
    }

    /// Tells the application what has happened that concerns it.
    fn tell_spark(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(spark) = &mut self.spark else { return };
        loop {
            let news = self.cluster.take_news();
            if news.is_empty() {
                return;
            }
            for event in news {
                self.cluster.drive(now, effects, |platform| spark.on_news(platform, &event));
            }
        }
    }

    /// Tells the cluster which disks have gone to rest or woken.
    fn tell_rests(&mut self, now: Time, outside: &mut Outside) {
        for (node, disk, depth) in self.hosts.take_rests() {
            self.feed(now, Input::DiskRests { node, disk, depth }, outside);
        }
    }

    /// Sets the receive buffer of each connection to the masters to the free part of the shared buffer.
    fn share_buffer(&mut self, now: Time, outside: &mut Outside) {
        let Outside { transport, events } = outside;
        let (Some(total), Some(transport)) = (self.shared_buffer, transport.packets_mut()) else { return };
        let handles = &self.handles;
        self.sharers.retain(|conn| handles[conn.0 as usize].is_some());
        let at = |conn: &ConnId| handles[conn.0 as usize];
        let unread = |handle| transport.endpoint(handle, transport::End::Server).map_or(0, tcp::Endpoint::unread);
        let held: u64 = self.sharers.iter().filter_map(at).map(unread).sum();
        let free = total.saturating_sub(Bytes::new(held)).max(SURE_OF_SHARED);
        for handle in self.sharers.iter().filter_map(at) {
            transport.set_receive_buffer(now, handle, transport::End::Server, free, events);
        }
    }

    /// Whether all jobs are over.
    pub const fn is_finished(&self) -> bool {
        self.finished
    }

    /// Hands the cluster one input and carries out its effects.
    pub fn feed(&mut self, now: Time, input: Input, outside: &mut Outside) {
        let mut effects = std::mem::take(&mut self.effects);
        self.cluster.handle(now, input, &mut effects);
        self.tell_spark(now, &mut effects);
        self.perform_all(now, effects, outside);
        let rests = self.hosts.take_rests().into_iter();
        self.answers.extend(rests.map(|(node, disk, depth)| Input::DiskRests { node, disk, depth }));
        while let Some(answer) = self.answers.pop() {
            self.feed(now, answer, outside);
        }
    }

    /// Handles an event of one of the cluster's kinds.
    pub fn on_event(&mut self, event: &Event, outside: &mut Outside) {
        let now = event.time();
        let mut done = std::mem::take(&mut self.done);
        match event.kind() {
            TIMER => {
                let tag = Tag(u64::from(event.index) << 32 | u64::from(event.arg));
                self.feed(now, Input::Timer { tag }, outside);
            }
            PROCESSOR => {
                self.hosts.on_processor(event, &mut done, outside.events);
                for (node, tag) in done.drain(..) {
                    self.feed(now, Input::ComputeDone { node, tag }, outside);
                }
            }
            STORE => {
                self.hosts.on_store(event, &mut done, outside.events);
                self.tell_rests(now, outside);
                for (node, tag) in done.drain(..) {
                    self.feed(now, Input::DiskDone { node, tag }, outside);
                }
            }
            manager::LOOK => {
                if let Some(manager) = &mut self.manager {
                    manager.look(now, &self.cluster, &mut self.hosts, outside.events);
                    self.tell_rests(now, outside);
                }
            }
            chores::CHORE => {
                if let Some(chores) = &mut self.chores {
                    chores.on_event(event, &mut self.hosts, outside.events);
                    self.tell_rests(now, outside);
                }
            }
            _ => {}
        }
        self.done = done;
    }

    /// Handles an upcall of one of the cluster's connections.
    pub fn on_upcall(&mut self, now: Time, upcall: &Upcall, outside: &mut Outside) {
        let conn = ConnId(upcall.user);
        // A stale upcall: the connection's number has been given to another one.
        if self.handle(conn) != Some(upcall.handle) {
            return;
        }
        let input = match upcall.what {
            Happened::Connected => Input::Connected { conn },
            Happened::Delivered(end, tag) => {
                if self.is_to_master(conn) {
                    self.share_buffer(now, outside);
                }
                Input::Delivered { conn, end: to_cluster(end), tag: Tag(tag.0) }
            }
            Happened::Acknowledged(end, tag) => Input::Acknowledged { conn, end: to_cluster(end), tag: Tag(tag.0) },
            Happened::PeerClosed(end) => Input::PeerClosed { conn, end: to_cluster(end) },
            Happened::Reset(end) => Input::Reset { conn, end: to_cluster(end) },
            Happened::Gone { .. } => {
                self.handles[upcall.user as usize] = None;
                return;
            }
        };
        self.feed(now, input, outside);
    }

    /// A node crashes or comes back.
    pub fn set_node(&mut self, now: Time, node: u32, up: bool, outside: &mut Outside) {
        let node = NodeId(node);
        if up {
            self.hosts.node_up(now, node, outside.events);
            self.feed(now, Input::NodeUp { node }, outside);
            if let Some(spark) = &mut self.spark {
                let mut effects = std::mem::take(&mut self.effects);
                self.cluster.drive(now, &mut effects, |platform| spark.on_up(platform, node));
                self.perform_all(now, effects, outside);
            }
        } else {
            // Before whatever else it hears of the node, what was under way there is over.
            if let Some(spark) = &mut self.spark {
                let mut effects = std::mem::take(&mut self.effects);
                self.cluster.drive(now, &mut effects, |platform| spark.on_down(platform, node));
                self.perform_all(now, effects, outside);
            }
            self.hosts.node_down(now, node, outside.events);
            self.feed(now, Input::NodeDown { node }, outside);
        }
    }

    /// What becomes of a disk.
    pub fn change_disk(&mut self, now: Time, node: u32, disk: (u32, u32), state: DiskState, outside: &mut Outside) {
        let node = NodeId(node);
        match state {
            DiskState::Speed(factor) => self.hosts.set_disk_speed(node, disk, factor),
            DiskState::Replaced => self.hosts.replace_disk(now, node, disk, outside.events),
            DiskState::Failed => {
                let Some(unanswered) = self.hosts.fail_disk(now, node, disk, outside.events) else { return };
                if self.manager.is_some() {
                    let of = |neighbour: &NodeId| self.cluster.hdfs().backups_of(*neighbour, disk.0);
                    let backups: Vec<NodeId> = self.hosts.neighbours(node).iter().flat_map(of).collect();
                    Manager::primary_failed(now, backups, &mut self.hosts, outside.events);
                }
                for neighbour in self.hosts.neighbours(node).to_vec() {
                    self.feed(now, Input::DiskLost { node: neighbour, disk: disk.0 }, outside);
                }
                for (node, tag) in unanswered {
                    self.feed(now, Input::DiskFailed { node, tag }, outside);
                }
            }
        }
    }

    fn perform(&mut self, now: Time, effect: Effect, outside: &mut Outside) {
        let Outside { transport, events } = outside;
        match effect {
            Effect::Open { conn, from, to, service, paced_reader } => {
                // A loopback's MTU is 65,536 bytes (Linux).
                let tcp = if from == to { Config { mss: 65_483, ..self.tcp } } else { self.tcp };
                let master = service == Service::Rpc && to == MASTER && from != to;
                let receive_buffer = if master { self.master_buffer } else { tcp.receive_buffer };
                let open = Open {
                    owner: Owner::Cluster,
                    user: conn.0,
                    from: from.0,
                    to: to.0,
                    port: port(service),
                    via: None,
                    client: tcp,
                    server: Config { auto_consume: !paced_reader, receive_buffer, ..tcp },
                };
                let handle = transport.open(now, &open, events);
                let place = conn.0 as usize;
                self.handles.resize(self.handles.len().max(place + 1), None);
                self.handles[place] = Some(handle);
                if master && self.shared_buffer.is_some() && !self.sharers.contains(&conn) {
                    self.sharers.push(conn);
                }
            }
            Effect::Send { conn, end, bytes, tag, push } => {
                self.pushed += u64::from(push && self.is_to_master(conn));
                let message = Message { bytes, tag: transport::Tag(tag.0), push };
                self.with(conn, |handle| transport.send(now, handle, of_cluster(end), message, events));
            }
            Effect::Consume { conn, end, bytes } => {
                self.with(conn, |handle| transport.consume(now, handle, of_cluster(end), bytes, events));
                self.share_buffer(now, outside);
            }
            Effect::AskLastReceived { conn, end } => {
                let at =
                    self.handle(conn).map_or(Time::ZERO, |handle| transport.last_received(handle, of_cluster(end)));
                self.answers.push(Input::LastReceived { conn, end, at });
            }
            Effect::Close { conn, end } => {
                self.with(conn, |handle| transport.close(now, handle, of_cluster(end), events));
            }
            Effect::Abort { conn, end } => {
                self.with(conn, |handle| transport.abort(now, handle, of_cluster(end), events));
            }
            Effect::Disk { node, disk, op, stream, offset, bytes, places, purpose, tag } => {
                let transfer = Transfer { disk, op, stream, offset, bytes, places, purpose, tag };
                if !self.hosts.transfer(now, node, transfer, events) {
                    self.answers.push(Input::DiskFailed { node, tag });
                }
            }
            Effect::Compute { node, work, tag } => self.hosts.compute(now, node, work, tag, events),
            Effect::CancelCompute { node, tag } => self.hosts.cancel(now, node, tag, events),
            Effect::Timer { at, tag } => {
                if at < Time::MAX {
                    let (high, low) = (tag.0 >> u32::BITS, tag.0 & u64::from(u32::MAX));
                    events.push(at.max(now), TIMER, units::word(high), units::word(low));
                }
            }
            Effect::Finished => self.finished = true,
        }
    }

    /// Messages between the masters and other nodes, both ways.
    pub const fn pushed(&self) -> u64 {
        self.pushed
    }

    fn is_to_master(&self, conn: ConnId) -> bool {
        let connection = self.cluster.context().connection(conn);
        connection.is_some_and(|to| to.service == Service::Rpc && to.to == MASTER && to.from != MASTER)
    }

    fn handle(&self, conn: ConnId) -> Option<Handle> {
        self.handles.get(conn.0 as usize).copied().flatten()
    }

    fn with(&self, conn: ConnId, act: impl FnOnce(Handle)) {
        if let Some(handle) = self.handle(conn) {
            act(handle);
        }
    }
}

const fn to_cluster(end: transport::End) -> End {
    match end {
        transport::End::Client => End::Client,
        transport::End::Server => End::Server,
    }
}

const fn of_cluster(end: End) -> transport::End {
    match end {
        End::Client => transport::End::Client,
        End::Server => transport::End::Server,
    }
}
