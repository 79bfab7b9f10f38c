//! What every part of the cluster is handed: the time, the nodes, and a way to ask the world for things.

use crate::connections::{Connection, Connections};
use crate::effect::{ConnId, DiskOp, Effect, End, NodeId, Service, Tag};
use crate::event::Event;
use crate::rpc::{Rpc, Server, ServerCounters};
use std::collections::{BTreeSet, VecDeque};
use units::{Bytes, Time};

/// A part of the cluster that asks for things and is told of their outcome; the top byte of each of its tags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Calls and replies.
    Rpc = 1,
    /// NameNode, DataNodes and their clients.
    Hdfs = 2,
    /// Masters, workers and tasks.
    MapReduce = 3,
    /// Whoever drives the cluster from outside: a client that is no part of a job.
    Driver = 4,
}

impl Tag {
    /// A tag of `part`: a kind of its own choice, and a value of up to 48 bits.
    pub const fn new(part: Part, kind: u8, value: u64) -> Self {
        debug_assert!(value >> 48 == 0, "a tag's value has 48 bits");
        Self((part as u64) << 56 | (kind as u64) << 48 | value)
    }
    /// Whose tag it is.
    pub const fn part(self) -> Option<Part> {
        match (self.0 >> 56) as u8 {
            1 => Some(Part::Rpc),
            2 => Some(Part::Hdfs),
            3 => Some(Part::MapReduce),
            4 => Some(Part::Driver),
            _ => None,
        }
    }
    /// What its owner said of it.
    pub const fn kind(self) -> u8 {
        (self.0 >> 48) as u8
    }
    /// The value its owner put in.
    pub const fn value(self) -> u64 {
        self.0 & ((1 << 48) - 1)
    }
}

/// Where a node stands and what it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeInfo {
    /// Its rack.
    pub rack: u32,
    /// The physical machine it runs on; nodes of one host share its cores, network card and disks.
    pub host: u32,
    /// How many disks hold its data.
    pub disks: u32,
}

/// All nodes: 0 is the master, 1 and up are the workers.
#[derive(Debug, Clone)]
pub struct Nodes {
    infos: Vec<NodeInfo>,
    up: Vec<bool>,
    racks: usize,
}

impl Nodes {
    /// All of them up.
    pub fn new(infos: Vec<NodeInfo>) -> Self {
        let up = vec![true; infos.len()];
        let racks: BTreeSet<_> = infos.iter().skip(1).map(|info| info.rack).collect();
        Self { infos, up, racks: racks.len() }
    }
    /// The node on which the masters run.
    pub const fn master(&self) -> NodeId {
        NodeId(0)
    }
    /// The workers in order.
    pub fn workers(&self) -> impl Iterator<Item = NodeId> + use<> {
        (1..self.infos.len() as u32).map(NodeId)
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
    pub fn info(&self, node: NodeId) -> NodeInfo {
        self.infos[node.0 as usize]
    }
    /// In how many racks the workers are.
    pub const fn rack_count(&self) -> usize {
        self.racks
    }
    /// A node's rack.
    pub fn rack(&self, node: NodeId) -> u32 {
        self.info(node).rack
    }
    /// Whether it runs now. The truth, which masters do not know: they go by heartbeats.
    pub fn is_up(&self, node: NodeId) -> bool {
        self.up[node.0 as usize]
    }
    pub(crate) fn set_up(&mut self, node: NodeId, up: bool) {
        self.up[node.0 as usize] = up;
    }
    /// Hops in the network tree as Hadoop counts them: 0 the same node, 2 the same rack, 4 elsewhere (`NetworkTopology.getDistance`).
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
    /// The sequential stream (a replica, a spill file) that they are part of. Its top byte is its owner's [`Part`], so that no two parts share one.
    pub stream: Tag,
    /// Where in the stream.
    pub offset: Bytes,
    /// How many.
    pub bytes: Bytes,
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
    pub(crate) rpc: Rpc,
}

impl Context {
    /// Opens a connection for `owner`, who finds it again by `key`.
    pub fn open(&mut self, owner: Part, key: u64, from: NodeId, to: NodeId, service: Service, paced: bool) -> ConnId {
        let conn = self.connections.insert(Connection::new(owner, key, from, to, service));
        self.effects.push(Effect::Open { conn, from, to, service, paced_reader: paced });
        conn
    }
    /// The connection, as long as one of its ends lives.
    pub fn connection(&self, conn: ConnId) -> Option<&Connection> {
        self.connections.get(conn)
    }
    /// How many connections of `owner` have two living ends.
    pub fn connection_count(&self, owner: Part) -> usize {
        self.connections.whole(owner)
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
    pub fn send(&mut self, conn: ConnId, end: End, bytes: Bytes, tag: Tag, push: bool) {
        if self.connections.is_open(conn, end) {
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
    pub fn ask_heard(&mut self, conn: ConnId, end: End) {
        if self.connections.lives(conn, end) {
            self.effects.push(Effect::AskHeard { conn, end });
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
    /// Moves bytes of a sequential stream at a disk of a node.
    pub fn disk(&mut self, node: NodeId, transfer: DiskTransfer, tag: Tag) {
        let DiskTransfer { disk, op, stream, offset, bytes } = transfer;
        self.effects.push(Effect::Disk { node, disk, op, stream: stream.0, offset, bytes, tag });
    }
    /// Runs `work` seconds of one core at speed 1.
    pub fn compute(&mut self, node: NodeId, work: Time, tag: Tag) {
        self.effects.push(Effect::Compute { node, work, tag });
    }
    /// Forgets a piece of work.
    pub fn cancel_compute(&mut self, node: NodeId, tag: Tag) {
        self.effects.push(Effect::CancelCompute { node, tag });
    }
    /// Asks to be woken at a time.
    pub fn timer(&mut self, at: Time, tag: Tag) {
        self.effects.push(Effect::Timer { at, tag });
    }
    /// Asks to be woken after a while.
    pub fn timer_in(&mut self, delay: Time, tag: Tag) {
        self.timer(self.now.saturating_add(delay), tag);
    }
    /// Says that the job is over.
    pub fn finish(&mut self) {
        self.effects.push(Effect::Finished);
    }
    pub(crate) fn raise(&mut self, event: Event) {
        self.events.push_back(event);
    }
}
