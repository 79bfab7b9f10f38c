//! What the cluster asks of the world, and what the world tells it: the message transport seam, disks, processors,
//! timers.

use crate::ids::{ConnId, DiskStream, NodeId, Tag};
use units::{Bytes, Time};

/// One end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum End {
    /// The end that opened it.
    Client,
    /// The end that accepted it.
    Server,
}

/// What a connection is for; decides its port (and so its 5-tuple) and its place in the report.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Service {
    /// Heartbeats and calls to the NameNode, ResourceManager or JobTracker.
    Rpc,
    /// Task to AppMaster/TaskTracker status (umbilical).
    Umbilical,
    /// HDFS block reads and replication pipelines.
    DataTransfer,
    /// Map output fetches over HTTP.
    Shuffle,
    /// Requests to the object store.
    ObjectStore,
    /// Between Spark's driver and its executors.
    SparkDriver,
    /// Shuffle blocks and pieces of broadcasts between Spark's executors.
    SparkBlocks,
}

/// Which way a disk request moves data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DiskOp {
    /// From the disk.
    Read,
    /// To the disk.
    Write,
}

/// What a disk request is for, beside reading or writing: who wakes a disk says so.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Purpose {
    /// A local file, or a replica of its node's own.
    #[default]
    Own,
    /// A replica that is written.
    Replica,
    /// A replica that its node reads for another whose block it is (Yang 2012, 4.3.2).
    Helping,
    /// A replica that is made again after a loss.
    Recovery,
}

/// What the cluster asks for.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Effect {
    /// Open a TCP connection. With `paced_reader` the server end's received bytes stay in the receive buffer until
    /// [`Effect::Consume`].
    Open { conn: ConnId, from: NodeId, to: NodeId, service: Service, paced_reader: bool },
    /// Append a message of `bytes` to the stream from `end`; `tag` comes back when it is delivered or acknowledged.
    Send { conn: ConnId, end: End, bytes: Bytes, tag: Tag, push: bool },
    /// Take bytes out of the receive buffer of `end` (paced readers only).
    Consume { conn: ConnId, end: End, bytes: Bytes },
    /// Say when bytes last arrived at `end`, with [`Input::LastReceived`]: of a long message that is under way nothing
    /// else is known.
    AskLastReceived { conn: ConnId, end: End },
    /// Orderly end of the stream from `end`; the connection is gone when both ends have closed.
    Close { conn: ConnId, end: End },
    /// Reset the connection; no notice of it follows at the end that asks. If the client does so before it is told
    /// [`Input::Connected`], or is told [`Input::Reset`] before that, no notice follows at the server either: the
    /// handle may be used again at once.
    Abort { conn: ConnId, end: End },
    /// Move `bytes` of the sequential stream `stream` (a block replica, a spill file) at a disk of a node. They are in
    /// `places` places, of which each is reached for itself; usually one.
    Disk {
        node: NodeId,
        disk: u32,
        op: DiskOp,
        stream: DiskStream,
        offset: Bytes,
        bytes: Bytes,
        places: u32,
        purpose: Purpose,
        tag: Tag,
    },
    /// Run `work` seconds of one core at speed 1 on the node's processor, shared fairly with its other work.
    Compute { node: NodeId, work: Time, tag: Tag },
    /// Forget a piece of work (its attempt was killed); it is not reported done.
    CancelCompute { node: NodeId, tag: Tag },
    /// Wake the cluster at a time.
    Timer { at: Time, tag: Tag },
    /// The job is over; the run may end.
    Finished,
}

/// What the world tells the cluster.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Input {
    /// The run begins.
    Start,
    /// The handshake of `conn` is done, seen at the client.
    Connected { conn: ConnId },
    /// All of a message is in order at `end` (the receiving end).
    Delivered { conn: ConnId, end: End, tag: Tag },
    /// All of a message sent from `end` is acknowledged: it has left that end's send buffer.
    Acknowledged { conn: ConnId, end: End, tag: Tag },
    /// The answer to [`Effect::AskLastReceived`]: when bytes last arrived in order at `end`; zero for never.
    LastReceived { conn: ConnId, end: End, at: Time },
    /// The peer of `end` has closed its stream, and all of it is delivered.
    PeerClosed { conn: ConnId, end: End },
    /// The connection is dead as seen at `end`: refused, reset, or given up after too many retransmissions.
    Reset { conn: ConnId, end: End },
    /// A disk request is done.
    DiskDone { node: NodeId, tag: Tag },
    /// A disk request has failed: the disk is gone.
    DiskFailed { node: NodeId, tag: Tag },
    /// A disk of a node is gone with its data. What was asked of it fails with [`Input::DiskFailed`].
    DiskLost { node: NodeId, disk: u32 },
    /// A piece of work is done.
    ComputeDone { node: NodeId, tag: Tag },
    /// A timer fires.
    Timer { tag: Tag },
    /// A node crashes: its processes, connections, queued work and disk requests are gone; its disks keep their blocks.
    NodeDown { node: NodeId },
    /// A node is back with empty memory.
    NodeUp { node: NodeId },
    /// How deep a disk of a node rests: 0 where it is ready or starts. The DataNode's heartbeats tell it.
    DiskRests { node: NodeId, disk: u32, depth: u8 },
    /// What a node's battery still holds, in thousandths; its heartbeats tell it.
    Charge { node: NodeId, level: u16 },
}
