//! What owners of connections say, and what they are told.

use net::VertexId;
use tcp::Config;
use units::Bytes;

/// Names a message to its owner; opaque to whatever carries it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tag(pub u64);

/// One end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum End {
    /// The end that opened it.
    Client,
    /// The end that accepted it.
    Server,
}

/// A connection. A handle of a connection that is gone is stale: nothing happens to what has taken its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Handle {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// Who is told what happens to a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Owner {
    /// Plain traffic.
    Traffic,
    /// The Hadoop cluster.
    Cluster,
}

/// What happened to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happened {
    /// The handshake is done, seen at the client.
    Connected,
    /// A message is whole at this (receiving) end.
    Delivered(End, Tag),
    /// A message sent from this end is acknowledged.
    Acknowledged(End, Tag),
    /// The peer of this end has closed its stream, and all of it has been delivered.
    PeerClosed(End),
    /// The connection is dead as seen at this end.
    Reset(End),
    /// Both ends are done; the handle is stale from now on.
    Gone {
        /// Payload delivered in order at the accepting end.
        bytes: u64,
        /// Payload delivered in order at the opening end.
        bytes_back: u64,
    },
}

/// Tells an owner what happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Upcall {
    /// Whom.
    pub owner: Owner,
    /// The owner's own name for the connection, as given to [`crate::Transport::open`].
    pub user: u32,
    /// The connection.
    pub handle: Handle,
    /// What.
    pub what: Happened,
}

/// How to open a connection.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    /// Whom to tell.
    pub owner: Owner,
    /// The owner's own name for the connection.
    pub user: u32,
    /// The node that opens: a position in the topology's hosts.
    pub from: u32,
    /// The node that accepts.
    pub to: u32,
    /// The port at which it accepts.
    pub port: u16,
    /// The switch by way of which its packets go, where that is not left to routing.
    pub via: Option<VertexId>,
    /// TCP at the opening end.
    pub client: Config,
    /// TCP at the accepting end. Without `auto_consume` what it receives stays in the buffer until
    /// [`crate::Transport::consume`].
    pub server: Config,
}

/// A message to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Its length; not zero.
    pub bytes: Bytes,
    /// Comes back when it is delivered and when it is acknowledged.
    pub tag: Tag,
    /// Sent at once, and handed over at once: TCP's push.
    pub push: bool,
}

impl Message {
    /// A pushed message.
    pub const fn new(bytes: Bytes, tag: Tag) -> Self {
        Self { bytes, tag, push: true }
    }
}
