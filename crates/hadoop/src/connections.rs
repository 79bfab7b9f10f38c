//! Which connections exist, who owns them, and which of their ends live.

use crate::context::Part;
use crate::effect::{ConnId, End, NodeId, Service};
use des::Slab;

/// A connection between two nodes.
#[derive(Debug, Clone, Copy)]
pub struct Connection {
    /// Who opened it and is told of everything on it.
    pub owner: Part,
    /// What its owner knows it by.
    pub key: u64,
    /// The node of the client end.
    pub from: NodeId,
    /// The node of the server end.
    pub to: NodeId,
    /// What it is for.
    pub service: Service,
    ends: [EndState; 2],
    /// The handshake is done, as seen by either end.
    established: bool,
    /// A crash took one of its ends. Its owner, who was told nothing, may hold the handle for long, so it is not used again.
    crashed: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct EndState {
    /// It has asked to end its stream.
    closed: bool,
    /// It has heard the end of the peer's stream.
    peer_closed: bool,
    /// It was aborted or reset, its node crashed, or both streams ended.
    gone: bool,
}

impl Connection {
    pub(crate) fn new(owner: Part, key: u64, from: NodeId, to: NodeId, service: Service) -> Self {
        Self { owner, key, from, to, service, ends: [EndState::default(); 2], established: false, crashed: false }
    }
    /// The node at an end.
    pub fn node(&self, end: End) -> NodeId {
        match end {
            End::Client => self.from,
            End::Server => self.to,
        }
    }
}

/// The table of connections. A handle is used again only when both ends are gone.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    table: Slab<ConnId, Connection>,
}

impl Connections {
    pub fn insert(&mut self, connection: Connection) -> ConnId {
        self.table.insert(connection)
    }
    pub fn get(&self, conn: ConnId) -> Option<&Connection> {
        self.table.get(conn)
    }
    /// How many connections of `owner` have two living ends.
    pub fn whole(&self, owner: Part) -> usize {
        let whole = |connection: &Connection| connection.owner == owner && connection.ends.iter().all(|end| !end.gone);
        self.table.iter().filter(|(_, connection)| whole(connection)).count()
    }
    fn end(&mut self, conn: ConnId, end: End) -> Option<&mut EndState> {
        Some(&mut self.table.get_mut(conn)?.ends[end as usize])
    }
    /// Whether the end still takes part in the connection.
    pub fn lives(&self, conn: ConnId, end: End) -> bool {
        self.table.get(conn).is_some_and(|connection| !connection.ends[end as usize].gone)
    }
    /// Whether the end may still send.
    pub fn is_open(&self, conn: ConnId, end: End) -> bool {
        self.lives(conn, end) && self.table.get(conn).is_some_and(|connection| !connection.ends[end as usize].closed)
    }
    /// An end has heard something of its peer.
    pub fn established(&mut self, conn: ConnId) {
        if let Some(connection) = self.table.get_mut(conn) {
            connection.established = true;
        }
    }
    /// The end closes its stream; false if it had already, or is gone.
    pub fn close(&mut self, conn: ConnId, end: End) -> bool {
        if !self.is_open(conn, end) {
            return false;
        }
        if let Some(state) = self.end(conn, end) {
            state.closed = true;
        }
        self.settle(conn);
        true
    }
    /// The end has heard that its peer closed. Its owner is told before the connection is [settled](Self::settle).
    pub fn mark_peer_closed(&mut self, conn: ConnId, end: End) {
        if let Some(state) = self.end(conn, end) {
            state.peer_closed = true;
        }
    }
    /// The end is gone. A connection that its client gives up before the handshake is done never was one for the server.
    /// Its owner is told before the connection is [settled](Self::settle).
    pub fn mark_gone(&mut self, conn: ConnId, end: End) {
        if let Some(connection) = self.table.get_mut(conn) {
            connection.ends[end as usize].gone = true;
            if end == End::Client && !connection.established {
                connection.ends[End::Server as usize].gone = true;
            }
        }
    }
    pub fn leave(&mut self, conn: ConnId, end: End) {
        self.mark_gone(conn, end);
        self.settle(conn);
    }
    /// The node has crashed: the ends on it are gone.
    pub fn node_down(&mut self, node: NodeId) {
        let touched = |connection: &Connection| connection.from == node || connection.to == node;
        let conns: Vec<_> = self.table.iter().filter(|(_, c)| touched(c)).map(|(conn, _)| conn).collect();
        for conn in conns {
            for end in [End::Client, End::Server] {
                if self.table.get(conn).is_some_and(|connection| connection.node(end) == node) {
                    self.mark_gone(conn, end);
                }
            }
            if let Some(connection) = self.table.get_mut(conn) {
                connection.crashed = true;
            }
        }
    }
    /// An end with both streams over is gone; a connection with both ends gone is forgotten, and its handle free.
    pub fn settle(&mut self, conn: ConnId) {
        let Some(connection) = self.table.get_mut(conn) else { return };
        for end in &mut connection.ends {
            end.gone |= end.closed && end.peer_closed;
        }
        if !connection.crashed && connection.ends.iter().all(|end| end.gone) {
            self.table.remove(conn);
        }
    }
}
