//! Which connections exist, who uses them, which of their ends live, and which messages are under way.
//!
//! A connection delivers and acknowledges the messages of an end in the order in which they were sent, so each end
//! keeps a queue of its messages: a message leaves it when it is acknowledged, and all leave it when no end is left
//! that could hear of them. What a crashed node had sent and never arrives stays as long as the other end takes the
//! connection for a living one, as it does in TCP.

use crate::effect::{End, Service};
use crate::ids::{ConnId, NodeId, Tag};
use crate::request::{Message, User};
use des::Slab;
use std::collections::VecDeque;

/// A connection between two nodes.
#[derive(Debug)]
pub struct Connection {
    /// Who opened it and is told of everything on it.
    pub(crate) user: User,
    /// The node of the client end.
    pub from: NodeId,
    /// The node of the server end.
    pub to: NodeId,
    /// What it is for.
    pub service: Service,
    ends: [EndState; 2],
    /// The handshake is done, as seen by either end.
    established: bool,
    /// A crash took one of its ends. Its user, who was told nothing, may hold the handle for long, so it is not used
    /// again.
    crashed: bool,
}

#[derive(Debug, Default)]
struct EndState {
    /// It has asked to end its stream.
    closed: bool,
    /// All of the peer's stream has come, and its end.
    peer_closed: bool,
    /// It was aborted or reset, its node crashed, or both streams ended.
    gone: bool,
    /// Messages that it has sent and that are not acknowledged, and how many were acknowledged before.
    under_way: VecDeque<Message>,
    acknowledged: u64,
    /// How many were delivered.
    delivered: u64,
}

impl EndState {
    /// It is gone: no acknowledgement follows of what was delivered.
    fn leave(&mut self) {
        self.gone = true;
        let delivered = usize::try_from(self.delivered.saturating_sub(self.acknowledged)).unwrap_or(usize::MAX);
        self.under_way.drain(..delivered.min(self.under_way.len()));
        self.acknowledged = self.acknowledged.max(self.delivered);
    }
}

impl Connection {
    pub(crate) fn new(user: User, from: NodeId, to: NodeId, service: Service) -> Self {
        let ends = [EndState::default(), EndState::default()];
        Self { user, from, to, service, ends, established: false, crashed: false }
    }
    fn forget_messages(&mut self) {
        for end in &mut self.ends {
            end.under_way = VecDeque::new();
        }
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
    /// How many connections of a service have two living ends.
    pub fn whole(&self, service: Service) -> usize {
        let whole =
            |connection: &Connection| connection.service == service && connection.ends.iter().all(|end| !end.gone);
        self.table.iter().filter(|(_, connection)| whole(connection)).count()
    }
    /// Messages that are kept because they are not acknowledged.
    pub fn messages(&self) -> usize {
        let kept = |connection: &Connection| connection.ends.iter().map(|end| end.under_way.len()).sum::<usize>();
        self.table.iter().map(|(_, connection)| kept(connection)).sum()
    }
    /// An end that may send does; returns the message's name.
    pub fn send(&mut self, conn: ConnId, end: End, message: Message) -> Option<Tag> {
        let state = self.end(conn, end).filter(|state| !state.gone && !state.closed)?;
        let tag = Tag(state.acknowledged + state.under_way.len() as u64);
        state.under_way.push_back(message);
        Some(tag)
    }
    /// The message that is delivered at an end. Where its sender is gone no acknowledgement follows, so it leaves the
    /// queue now.
    pub fn delivered(&mut self, conn: ConnId, end: End, tag: Tag) -> Option<Message> {
        let sender = match end {
            End::Client => End::Server,
            End::Server => End::Client,
        };
        let state = self.end(conn, sender)?;
        let place = usize::try_from(tag.0.checked_sub(state.acknowledged)?).ok()?;
        let message = state.under_way.get(place).copied()?;
        state.delivered = tag.0 + 1;
        if state.gone {
            state.leave();
        }
        Some(message)
    }
    /// The oldest message of an end is acknowledged.
    pub fn acknowledge(&mut self, conn: ConnId, end: End, tag: Tag) -> Option<Message> {
        let state = self.end(conn, end).filter(|state| state.acknowledged == tag.0)?;
        state.acknowledged += 1;
        state.under_way.pop_front()
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
    /// Something has come from the peer of an end.
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
        self.forget_if_gone(conn);
        true
    }
    /// The end knows that its peer closed. Its owner is told before the connection is
    /// [forgotten](Self::forget_if_gone).
    pub fn mark_peer_closed(&mut self, conn: ConnId, end: End) {
        if let Some(state) = self.end(conn, end) {
            state.peer_closed = true;
        }
    }
    /// The end is gone. A connection that its client gives up before the handshake is done never was one for the
    /// server. Its owner is told before the connection is [forgotten](Self::forget_if_gone).
    pub fn mark_gone(&mut self, conn: ConnId, end: End) {
        if let Some(connection) = self.table.get_mut(conn) {
            connection.ends[end as usize].leave();
            if end == End::Client && !connection.established {
                connection.ends[End::Server as usize].gone = true;
            }
        }
    }
    pub fn leave(&mut self, conn: ConnId, end: End) {
        self.mark_gone(conn, end);
        self.forget_if_gone(conn);
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
            self.forget_if_gone(conn);
        }
    }
    /// An end with both streams over is gone; a connection with both ends gone is forgotten, and its handle free.
    pub fn forget_if_gone(&mut self, conn: ConnId) {
        let Some(connection) = self.table.get_mut(conn) else { return };
        for end in &mut connection.ends {
            end.gone |= end.closed && end.peer_closed;
        }
        if connection.ends.iter().any(|end| !end.gone) {
            return;
        }
        if connection.crashed {
            connection.forget_messages();
        } else {
            self.table.remove(conn);
        }
    }
}
