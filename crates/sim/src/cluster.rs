//! The Hadoop cluster in its world: what it asks for is done by the transport and the hosts, and what happens there is told to it.

use crate::hosts::{Hosts, PROCESSOR, STORE, Transfer};
use crate::transport::{Handle, Happened, Message, Open, Owner, Transport, Upcall};
use des::{Event, EventQueue};
use hadoop::{Cluster, ConnId, Effect, Input, NodeId, Service, Tag};
use tcp::Config;
use units::Time;

/// Event kind: a timer of the cluster; its tag is the event's index and argument.
pub(crate) const TIMER: u8 = 16;

/// The port at which a service accepts (the defaults of Hadoop 3; the umbilical takes one at random there).
pub(crate) const fn port(service: Service) -> u16 {
    match service {
        Service::Rpc => 8020,
        Service::Umbilical => 8041,
        Service::DataTransfer => 9866,
        Service::Shuffle => 13562,
    }
}

/// The service of a port, as the results call it.
pub(crate) const fn service_name(port: u16) -> &'static str {
    match port {
        8020 => "rpc",
        8041 => "umbilical",
        9866 => "data",
        _ => "shuffle",
    }
}

/// What the cluster acts through.
pub(crate) struct Outside<'a> {
    pub transport: &'a mut Transport,
    pub events: &'a mut EventQueue,
}

/// The cluster and its machines.
#[derive(Debug)]
pub(crate) struct Driver {
    pub cluster: Cluster,
    pub hosts: Hosts,
    tcp: Config,
    /// By the cluster's name for a connection.
    handles: Vec<Option<Handle>>,
    finished: bool,
    effects: Vec<Effect>,
    done: Vec<(NodeId, Tag)>,
}

impl Driver {
    pub fn new(cluster: Cluster, hosts: Hosts, tcp: Config) -> Self {
        // Hadoop turns Nagle's algorithm off on all of its sockets (`ipc.client.tcpnodelay`, `dfs.client.socket.tcpnodelay`).
        let tcp = Config { nagle: false, ..tcp };
        Self { cluster, hosts, tcp, handles: Vec::new(), finished: false, effects: Vec::new(), done: Vec::new() }
    }

    /// Whether all jobs are over.
    pub const fn is_finished(&self) -> bool {
        self.finished
    }

    /// Hands the cluster one input and does what it asks for.
    pub fn feed(&mut self, now: Time, input: Input, outside: &mut Outside) {
        let mut effects = std::mem::take(&mut self.effects);
        self.cluster.handle(now, input, &mut effects);
        for effect in effects.drain(..) {
            self.perform(now, effect, outside);
        }
        self.effects = effects;
    }

    /// Handles an event of a kind that is the cluster's.
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
                for (node, tag) in done.drain(..) {
                    self.feed(now, Input::DiskDone { node, tag }, outside);
                }
            }
            _ => {}
        }
        self.done = done;
    }

    /// Something happened to one of the cluster's connections.
    pub fn on_upcall(&mut self, now: Time, upcall: &Upcall, outside: &mut Outside) {
        let conn = ConnId(upcall.user);
        // News of a connection whose name has been given to another one by now.
        if self.handle(conn) != Some(upcall.handle) {
            return;
        }
        let input = match upcall.what {
            Happened::Connected => Input::Connected { conn },
            Happened::Delivered(end, tag) => Input::Delivered { conn, end, tag },
            Happened::Acknowledged(end, tag) => Input::Acknowledged { conn, end, tag },
            Happened::PeerClosed(end) => Input::PeerClosed { conn, end },
            Happened::Reset(end) => Input::Reset { conn, end },
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
            self.feed(now, Input::NodeUp { node }, outside);
        } else {
            self.hosts.node_down(now, node, outside.events);
            self.feed(now, Input::NodeDown { node }, outside);
        }
    }

    fn perform(&mut self, now: Time, effect: Effect, outside: &mut Outside) {
        let Outside { transport, events } = outside;
        match effect {
            Effect::Open { conn, from, to, service, paced_reader } => {
                // A loopback's MTU is 65,536 bytes (Linux).
                let tcp = if from == to { Config { mss: 65_483, ..self.tcp } } else { self.tcp };
                let open = Open {
                    owner: Owner::Cluster,
                    user: conn.0,
                    from: from.0,
                    to: to.0,
                    port: port(service),
                    client: tcp,
                    server: Config { auto_consume: !paced_reader, ..tcp },
                };
                let handle = transport.open(now, &open, events);
                let place = conn.0 as usize;
                self.handles.resize(self.handles.len().max(place + 1), None);
                self.handles[place] = Some(handle);
            }
            Effect::Send { conn, end, bytes, tag, push } => {
                self.with(conn, |handle| transport.send(now, handle, end, Message { bytes, tag, push }, events));
            }
            Effect::Consume { conn, end, bytes } => {
                self.with(conn, |handle| transport.consume(now, handle, end, bytes, events));
            }
            Effect::Close { conn, end } => self.with(conn, |handle| transport.close(now, handle, end, events)),
            Effect::Abort { conn, end } => self.with(conn, |handle| transport.abort(now, handle, end, events)),
            Effect::Disk { node, disk, op, stream, offset, bytes, tag } => {
                self.hosts.transfer(now, node, Transfer { disk, op, stream, offset, bytes, tag }, events);
            }
            Effect::Compute { node, work, tag } => self.hosts.compute(now, node, work, tag, events),
            Effect::CancelCompute { node, tag } => self.hosts.cancel(now, node, tag, events),
            Effect::Timer { at, tag } => {
                if at < Time::MAX {
                    events.push(at.max(now), TIMER, (tag.0 >> 32) as u32, tag.0 as u32);
                }
            }
            Effect::Finished => self.finished = true,
        }
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
