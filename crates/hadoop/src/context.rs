//! What every part of the cluster is handed: the time, the nodes, and a way to ask the world for things.

use crate::connections::{Connection, Connections};
use crate::disks::Disks;
use crate::effect::{DiskOp, Effect, End, Purpose, Service};
use crate::event::Event;
use crate::ids::{ConnId, DiskStream, NodeId, Server, Tag};
use crate::pending::Pending;
use crate::request::{Message, Request, User};
use crate::rpc::{Rpc, ServerCounters};
use des::Index;
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, Time};

/// Where a node stands and what it has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeInfo {
    /// Its rack.
    pub rack: u32,
    /// The physical machine it runs on; nodes of one host share its cores, network card and disks.
    pub host: u32,
    /// The disks that hold its data.
    pub disks: Disks,
}

/// All nodes: 0 is the master, 1 and up are the workers.
#[derive(Debug, Clone)]
pub struct Nodes {
    infos: Vec<NodeInfo>,
    up: Vec<bool>,
    /// The workers of each rack, in order.
    racks: BTreeMap<u32, Vec<NodeId>>,
}

impl Nodes {
    /// All of them up.
    pub fn new(infos: Vec<NodeInfo>) -> Self {
        let up = vec![true; infos.len()];
        let mut racks = BTreeMap::<u32, Vec<NodeId>>::new();
        for (number, info) in infos.iter().enumerate().skip(1) {
            racks.entry(info.rack).or_default().push(NodeId::from_usize(number));
        }
        Self { infos, up, racks }
    }
    /// The node on which the masters run.
    pub const fn master(&self) -> NodeId {
        NodeId(0)
    }
    /// The workers in order.
    pub fn workers(&self) -> impl Iterator<Item = NodeId> + use<> {
        (1..self.infos.len()).map(NodeId::from_usize)
    }
    /// How many workers there are, up or down.
    pub fn worker_count(&self) -> usize {
        self.infos.len().saturating_sub(1)
    }
    /// How many nodes there are, the master among them.
    pub fn len(&self) -> usize {
        self.infos.len()
    }
    /// Whether there is no node at all.
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }
    /// Where a node stands and what it has.
    pub fn info(&self, node: NodeId) -> &NodeInfo {
        &self.infos[node.0 as usize]
    }
    /// In how many racks the workers are.
    pub fn rack_count(&self) -> usize {
        self.racks.len()
    }
    /// The workers of a rack, in order.
    pub fn in_rack(&self, rack: u32) -> &[NodeId] {
        self.racks.get(&rack).map_or(&[], Vec::as_slice)
    }
    /// The rack of all workers, if they are in one.
    pub fn only_rack(&self) -> Option<u32> {
        let first = self.infos.get(1)?;
        (self.racks.len() == 1).then_some(first.rack)
    }
    /// A node's rack.
    pub fn rack(&self, node: NodeId) -> u32 {
        self.info(node).rack
    }
    /// Whether it runs now. The truth, which masters do not know: they go by heartbeats.
    pub fn is_up(&self, node: NodeId) -> bool {
        self.up[node.0 as usize]
    }
    /// A disk of a node is gone.
    pub(crate) fn lose_disk(&mut self, node: NodeId, disk: u32) {
        self.infos[node.0 as usize].disks.lose(disk);
    }
    pub(crate) fn set_up(&mut self, node: NodeId, up: bool) {
        self.up[node.0 as usize] = up;
    }
    /// Hops in the network tree as Hadoop counts them: 0 the same node, 2 the same rack, 4 elsewhere
    /// (`NetworkTopology.getDistance`).
    pub fn distance(&self, a: NodeId, b: NodeId) -> u32 {
        if a == b {
            0
        } else if self.rack(a) == self.rack(b) {
            2
        } else {
            4
        }
    }
}

/// Bytes to move at a disk of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiskTransfer {
    /// Which of the node's disks.
    pub disk: u32,
    /// From or to it.
    pub op: DiskOp,
    /// The sequential stream (a replica, a spill file) that they are part of.
    pub stream: DiskStream,
    /// Where in the stream.
    pub offset: Bytes,
    /// How many.
    pub bytes: Bytes,
    /// In how many places they are, at least one: each is reached for itself.
    pub places: u32,
}

impl DiskTransfer {
    /// The whole of a file, or a part of it, in one place.
    pub const fn new(disk: u32, op: DiskOp, stream: DiskStream, offset: Bytes, bytes: Bytes) -> Self {
        Self { disk, op, stream, offset, bytes, places: 1 }
    }
}

/// The state that all parts share, and their way to the world.
#[derive(Debug)]
pub struct Context {
    /// The present.
    pub now: Time,
    /// The nodes of the cluster.
    pub nodes: Nodes,
    pub(crate) effects: Vec<Effect>,
    pub(crate) events: VecDeque<Event>,
    pub(crate) connections: Connections,
    pub(crate) pending: Pending,
    pub(crate) rpc: Rpc,
    /// Files on disks that have been named so far.
    pub(crate) files: u64,
}

impl Context {
    /// Opens a connection for `user`, who is told of everything on it.
    pub(crate) fn open(
        &mut self,
        user: impl Into<User>,
        from: NodeId,
        to: NodeId,
        service: Service,
        paced: bool,
    ) -> ConnId {
        let conn = self.connections.insert(Connection::new(user.into(), from, to, service));
        self.effects.push(Effect::Open { conn, from, to, service, paced_reader: paced });
        conn
    }
    /// The connection, as long as one of its ends lives.
    pub fn connection(&self, conn: ConnId) -> Option<&Connection> {
        self.connections.get(conn)
    }
    /// How many connections of a service have two living ends.
    pub fn connection_count(&self, service: Service) -> usize {
        self.connections.whole(service)
    }
    /// Work, disk requests and timers that have no answer yet.
    pub fn pending_requests(&self) -> usize {
        self.pending.len()
    }
    /// Messages that are kept because they are not acknowledged yet.
    pub fn pending_messages(&self) -> usize {
        self.connections.messages()
    }
    /// The servers that have been announced, in that order, and what each has done so far.
    pub fn servers(&self) -> impl Iterator<Item = (Server, ServerCounters)> {
        self.rpc.all().map(|server| (server, self.rpc.counters(server)))
    }
    /// What a server has done so far.
    pub fn server_counters(&self, server: Server) -> ServerCounters {
        self.rpc.counters(server)
    }
    /// Sends a message from `end`; nothing happens if that end is gone.
    pub(crate) fn send(&mut self, conn: ConnId, end: End, bytes: Bytes, message: impl Into<Message>, push: bool) {
        if let Some(tag) = self.connections.send(conn, end, message.into()) {
            self.effects.push(Effect::Send { conn, end, bytes, tag, push });
        }
    }
    /// Takes bytes out of a paced reader's receive buffer.
    pub fn consume(&mut self, conn: ConnId, end: End, bytes: Bytes) {
        if self.connections.lives(conn, end) && bytes > Bytes::ZERO {
            self.effects.push(Effect::Consume { conn, end, bytes });
        }
    }
    /// Asks when bytes last arrived at `end`.
    pub fn ask_last_received(&mut self, conn: ConnId, end: End) {
        if self.connections.lives(conn, end) {
            self.effects.push(Effect::AskLastReceived { conn, end });
        }
    }
    /// Ends the stream from `end` in good order.
    pub fn close(&mut self, conn: ConnId, end: End) {
        if self.connections.close(conn, end) {
            self.effects.push(Effect::Close { conn, end });
        }
    }
    /// Resets the connection; `end` hears no more of it.
    pub fn abort(&mut self, conn: ConnId, end: End) {
        if self.connections.lives(conn, end) {
            self.effects.push(Effect::Abort { conn, end });
            self.connections.leave(conn, end);
        }
    }
    /// Names a new file on a node's disk.
    pub(crate) fn new_file(&mut self) -> DiskStream {
        self.files += 1;
        DiskStream { file: self.files, part: 0 }
    }
    /// Moves bytes of a sequential stream at a disk of a node.
    pub(crate) fn disk(&mut self, node: NodeId, transfer: DiskTransfer, request: impl Into<Request>) {
        self.disk_for(node, transfer, Purpose::Own, request);
    }
    /// Moves bytes of a replica, for a purpose.
    pub(crate) fn disk_for(
        &mut self,
        node: NodeId,
        transfer: DiskTransfer,
        purpose: Purpose,
        request: impl Into<Request>,
    ) {
        let DiskTransfer { disk, op, stream, offset, bytes, places } = transfer;
        let tag = self.pending.insert(request.into(), Some(node));
        self.effects.push(Effect::Disk { node, disk, op, stream, offset, bytes, places, purpose, tag });
    }
    /// Runs `work` seconds of one core at speed 1; returns the name by which it can be cancelled.
    pub(crate) fn compute(&mut self, node: NodeId, work: Time, request: impl Into<Request>) -> Tag {
        let tag = self.pending.insert(request.into(), Some(node));
        self.effects.push(Effect::Compute { node, work, tag });
        tag
    }
    /// Forgets a piece of work, unless it is done.
    pub(crate) fn cancel_compute(&mut self, node: NodeId, tag: Tag) {
        if self.pending.remove(tag).is_some() {
            self.effects.push(Effect::CancelCompute { node, tag });
        }
    }
    /// Asks to be woken at a time; never, if that is [`Time::MAX`].
    pub(crate) fn timer(&mut self, at: Time, request: impl Into<Request>) {
        if at < Time::MAX {
            let tag = self.pending.insert(request.into(), None);
            self.effects.push(Effect::Timer { at, tag });
        }
    }
    /// Asks to be woken after a while.
    pub(crate) fn timer_in(&mut self, delay: Time, request: impl Into<Request>) {
        self.timer(self.now.saturating_add(delay), request);
    }
    /// Says that the job is over.
    pub fn finish(&mut self) {
        self.effects.push(Effect::Finished);
    }
    pub(crate) fn raise(&mut self, event: Event) {
        self.events.push_back(event);
    }
}
