//! The cluster's connections by their names there, and what it may ask of them.

use hadoop::{ConnId, End, Input, NodeId, Tag};
use std::collections::{BTreeMap, VecDeque};
use transport::{Handle, Happened, Upcall};
use units::Bytes;

/// An end of a connection, and the stream that it sends.
#[derive(Debug, Default)]
struct Sender {
    /// Messages that are not delivered yet.
    undelivered: VecDeque<Bytes>,
    /// Messages that are not acknowledged yet.
    unacknowledged: usize,
    /// Sent, and not taken by a paced reader.
    unread: Bytes,
    /// Delivered, and not taken by a paced reader.
    readable: Bytes,
    closed: bool,
    /// It knows that its peer's stream is over.
    peer_closed: bool,
    gone: bool,
}

#[derive(Debug)]
struct Connection {
    handle: Handle,
    nodes: [NodeId; 2],
    /// The buffer of a paced reader at the server.
    buffer: Option<Bytes>,
    established: bool,
    ends: [Sender; 2],
}

impl Connection {
    fn leave(&mut self, end: End) {
        self.ends[end as usize].gone = true;
        // A server that knows nothing of the connection has nothing to end.
        if end == End::Client && !self.established {
            self.ends[End::Server as usize].gone = true;
        }
    }
    fn leave_if_over(&mut self, end: End) {
        let sender = &mut self.ends[end as usize];
        sender.gone |= sender.closed && sender.peer_closed;
    }
    fn is_gone(&self) -> bool {
        self.ends.iter().all(|end| end.gone)
    }
}

/// All connections that have been open under the names that they have now.
#[derive(Debug, Default)]
pub struct Connections {
    by_name: BTreeMap<u32, Connection>,
    /// Messages that had to wait for room in a paced reader's buffer.
    pub blocked: u64,
    /// Bytes of messages that were delivered to each node from others.
    pub received: BTreeMap<NodeId, Bytes>,
}

impl Connections {
    fn get(&mut self, conn: ConnId) -> &mut Connection {
        self.by_name.get_mut(&conn.0).expect("a connection that was opened")
    }
    pub fn handle(&self, conn: ConnId) -> Handle {
        self.by_name[&conn.0].handle
    }
    pub fn open(&mut self, conn: ConnId, handle: Handle, nodes: [NodeId; 2], buffer: Option<Bytes>) {
        let ends = <[Sender; 2]>::default();
        let former = self.by_name.insert(conn.0, Connection { handle, nodes, buffer, established: false, ends });
        assert!(former.is_none_or(|former| former.is_gone()), "{conn:?} is still in use");
    }
    pub fn send(&mut self, conn: ConnId, end: End, bytes: Bytes) -> Handle {
        assert!(bytes > Bytes::ZERO, "an empty message");
        let connection = self.get(conn);
        let buffer = connection.buffer.filter(|_| end == End::Client);
        let sender = &mut connection.ends[end as usize];
        assert!(!sender.gone, "a message from an end that is gone: {conn:?} {end:?}");
        let blocked = buffer.is_some_and(|buffer| sender.unread > Bytes::ZERO && sender.unread + bytes > buffer);
        sender.undelivered.push_back(bytes);
        sender.unacknowledged += 1;
        if buffer.is_some() {
            sender.unread += bytes;
        }
        let handle = connection.handle;
        self.blocked += u64::from(blocked);
        handle
    }
    pub fn consume(&mut self, conn: ConnId, end: End, bytes: Bytes) -> Handle {
        let connection = self.get(conn);
        let sender = &mut connection.ends[other(end) as usize];
        assert!(sender.readable >= bytes, "more consumed than was delivered");
        sender.readable -= bytes;
        sender.unread -= bytes;
        connection.handle
    }
    pub fn close(&mut self, conn: ConnId, end: End) -> Handle {
        let connection = self.get(conn);
        connection.ends[end as usize].closed = true;
        connection.leave_if_over(end);
        connection.handle
    }
    pub fn abort(&mut self, conn: ConnId, end: End) -> Handle {
        let connection = self.get(conn);
        connection.leave(end);
        connection.handle
    }
    pub fn node_down(&mut self, node: NodeId) {
        for connection in self.by_name.values_mut() {
            for end in [End::Client, End::Server] {
                if connection.nodes[end as usize] == node {
                    connection.leave(end);
                }
            }
        }
    }
    /// What the cluster is told of something that happened to a connection; nothing, if that has lost its name.
    pub fn on_upcall(&mut self, upcall: &Upcall) -> Option<Input> {
        let conn = ConnId(upcall.user);
        let connection = self.by_name.get_mut(&upcall.user).filter(|connection| connection.handle == upcall.handle)?;
        connection.established |= !matches!(upcall.what, Happened::Reset(_) | Happened::Gone { .. });
        match upcall.what {
            Happened::Connected => Some(Input::Connected { conn }),
            Happened::Delivered(end, tag) => {
                let end = to_cluster(end);
                let sender = &mut connection.ends[other(end) as usize];
                let bytes = sender.undelivered.pop_front().expect("what is delivered was sent");
                sender.readable += bytes;
                if connection.nodes[0] != connection.nodes[1] {
                    *self.received.entry(connection.nodes[end as usize]).or_default() += bytes;
                }
                Some(Input::Delivered { conn, end, tag: Tag(tag.0) })
            }
            Happened::Acknowledged(end, tag) => {
                let end = to_cluster(end);
                connection.ends[end as usize].unacknowledged -= 1;
                Some(Input::Acknowledged { conn, end, tag: Tag(tag.0) })
            }
            Happened::PeerClosed(end) => {
                let end = to_cluster(end);
                connection.ends[end as usize].peer_closed = true;
                connection.leave_if_over(end);
                Some(Input::PeerClosed { conn, end })
            }
            Happened::Reset(end) => {
                let end = to_cluster(end);
                connection.leave(end);
                Some(Input::Reset { conn, end })
            }
            Happened::Gone { .. } => None,
        }
    }
    /// Messages that are not acknowledged, of ends that live; and those that are not delivered, of ends that are gone
    /// while their peers do not know it.
    pub fn under_way(&self) -> (usize, usize) {
        let (mut under_way, mut orphaned) = (0, 0);
        for connection in self.by_name.values().filter(|connection| !connection.is_gone()) {
            for sender in &connection.ends {
                if sender.gone {
                    orphaned += sender.undelivered.len();
                } else {
                    under_way += sender.unacknowledged;
                }
            }
        }
        (under_way, orphaned)
    }
}

const fn other(end: End) -> End {
    match end {
        End::Client => End::Server,
        End::Server => End::Client,
    }
}

pub const fn to_cluster(end: transport::End) -> End {
    match end {
        transport::End::Client => End::Client,
        transport::End::Server => End::Server,
    }
}

pub const fn of_cluster(end: End) -> transport::End {
    match end {
        End::Client => transport::End::Client,
        End::Server => transport::End::Server,
    }
}
