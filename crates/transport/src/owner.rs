//! The interface between the transport and owners of connections: requests and upcalls.

use net::VertexId;
use tcp::Config;
use units::Bytes;

/// An owner's name for a message; opaque to the transport.
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

/// Names a connection. The handle of a removed connection is stale: calls with it do nothing, even if another
/// connection has taken its place.
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

/// A completion event, for the owner of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Upcall {
    /// The owner to be told.
    pub owner: Owner,
    /// The owner's own name for the connection, as given to [`crate::Transport::open`].
    pub user: u32,
    /// The connection.
    pub handle: Handle,
    /// The event.
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
    /// The switch that its packets must cross; `None` leaves the path to routing.
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
    /// Returned in the upcalls of its delivery and its acknowledgement.
    pub tag: Tag,
    /// TCP's PSH: sent without delay, and delivered without delay.
    pub push: bool,
}

impl Message {
    /// A pushed message.
    pub const fn new(bytes: Bytes, tag: Tag) -> Self {
        Self { bytes, tag, push: true }
    }
}
