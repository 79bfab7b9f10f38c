//! What the file system asks of the world and of the NameNode, and what travels over its data connections.

use crate::ids::{BlockId, NodeId, PipelineId, ReadId, WriteId};

/// Work, a disk request or a timer.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// A DataNode's heartbeat is due, in this one of its lives.
    HeartbeatDue { node: NodeId, life: u32 },
    /// Its block report is due.
    ReportDue { node: NodeId, life: u32 },
    /// A block report that did not get through is due again.
    ReportAgain { node: NodeId, life: u32 },
    /// The NameNode looks for dead DataNodes.
    Recheck,
    /// The NameNode looks for blocks with too few replicas.
    Redundancy,
    /// The Balancer's next iteration is due.
    Balance,
    /// Moves of the Balancer are over.
    MovesOver,
    /// A move of the Balancer has bandwidth again.
    PieceDue(PipelineId),
    /// The pause before a read's next round over the replicas is over.
    ReadAgain(ReadId),
    /// A read may have stood still for too long.
    ReadDue(ReadId),
    /// A stream asks the NameNode again.
    WriteAgain(WriteId, WriteCall),
    /// The client of an erasure-coded stream has computed the parity of a row.
    RowCoded(WriteId),
    /// The reader of a block group has computed the cells of a row that it could not read.
    RowDecoded(ReadId),
    /// A DataNode has written a row of a part that it makes again.
    RowWritten(ReadId),
    /// A pipeline may have stood still for too long.
    PipelineDue(PipelineId),
    /// A DataNode receives and checks a piece of a block.
    PipelineWork { pipeline: PipelineId, hop: usize },
    /// A DataNode writes a piece of a block.
    PipelineDisk { pipeline: PipelineId, hop: usize },
    /// A DataNode reads a piece of a block that it copies to others.
    SourceDisk(PipelineId),
    /// A DataNode, or the reader's own node, reads a piece for this one of the read's sources.
    ReadDisk { read: ReadId, source: u32 },
}

/// A call to the NameNode.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// A DataNode's heartbeat, which says how many transfers it serves.
    Heartbeat { node: NodeId, transfers: u32 },
    /// A DataNode reports all of its replicas.
    BlockReport(NodeId),
    /// A DataNode reports a replica that is finished.
    Received { node: NodeId, block: BlockId },
    /// A reader asks where a block is.
    Locate(ReadId),
    /// A writer's call.
    Write(WriteId, WriteCall),
}

/// A writer's call to the NameNode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteCall {
    /// Creates the file.
    Create,
    /// Asks for the next block and its DataNodes.
    AddBlock,
    /// Goes on with the DataNodes that a broken pipeline has left.
    UpdatePipeline,
    /// Closes the file.
    Complete,
}

/// Whose data connection it is.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Channel {
    /// A read's.
    Read(ReadId),
    /// A pipeline's, into the DataNode with this number.
    Pipeline { pipeline: PipelineId, hop: usize },
}

/// A message on a data connection.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// On a read's.
    Read(ReadId, ReadMessage),
    /// On a pipeline's, into the DataNode with this number.
    Pipeline { pipeline: PipelineId, hop: usize, message: PipelineMessage },
}

/// What a reader and a DataNode say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadMessage {
    /// The reader's request for a block.
    Header,
    /// A packet of the block.
    Packet,
}

/// What a DataNode of a pipeline and its sender say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PipelineMessage {
    /// The sender's request to set the pipeline up.
    Header,
    /// Its answer.
    Ready,
    /// A packet of the block.
    Packet,
    /// The acknowledgement of a packet.
    Ack,
}
