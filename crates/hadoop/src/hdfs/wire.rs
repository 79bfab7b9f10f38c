//! What HDFS says over the network, and how long it is.
//!
//! Lengths of calls are those of Hadoop 3's protobuf messages with fields of usual length (RPC header of some 50 bytes, block identifiers,
//! host names, a storage report for each disk), rounded; they matter for the number of packets, not for volume.

use super::{BlockId, ReadId, WriteId};
use crate::context::Part;
use crate::effect::{NodeId, Tag};
use units::Bytes;

/// A DataNode's heartbeat: capacity and use of each disk, cache, transfers under way.
pub(super) const HEARTBEAT: Bytes = Bytes::new(260);
/// The reply without commands.
pub(super) const HEARTBEAT_REPLY: Bytes = Bytes::new(80);
/// A command to copy or delete a block, in a heartbeat's reply.
pub(super) const COMMAND: Bytes = Bytes::new(150);
/// `blockReceivedAndDeleted`: one finished replica.
pub(super) const RECEIVED: Bytes = Bytes::new(250);
/// A block report without its blocks, and each replica in it (three variable-length integers).
pub(super) const BLOCK_REPORT: Bytes = Bytes::new(200);
pub(super) const BLOCK_REPORT_ENTRY: Bytes = Bytes::new(12);
/// A client's call by path (create, addBlock, complete, getBlockLocations, updatePipeline).
pub(super) const CLIENT_CALL: Bytes = Bytes::new(220);
/// A reply that names a block and its DataNodes.
pub(super) const LOCATED_BLOCK: Bytes = Bytes::new(650);
/// A reply that says little more than yes.
pub(super) const SHORT_REPLY: Bytes = Bytes::new(40);
/// The header that opens a block read or write on a data connection.
pub(super) const TRANSFER_HEADER: Bytes = Bytes::new(300);
/// Its answer (`BlockOpResponse`).
pub(super) const TRANSFER_REPLY: Bytes = Bytes::new(40);
/// The acknowledgement of a packet (`PipelineAck`).
pub(super) const PACKET_ACK: Bytes = Bytes::new(24);

/// A packet on the wire: header, and a CRC of 4 bytes for each 512 (`dfs.bytes-per-checksum`).
pub(super) const fn packet(data: Bytes) -> Bytes {
    Bytes::new(33 + data.get() + 4 * data.get().div_ceil(512))
}

/// What a tag of the file system is about; its value names the reader, writer, node or pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Kind {
    // Calls to the NameNode.
    Heartbeat,
    BlockReport,
    Received,
    Locate,
    Create,
    AddBlock,
    UpdatePipeline,
    Complete,
    // Timers.
    HeartbeatDue,
    ReportDue,
    ReportAgain,
    Recheck,
    Redundancy,
    ReadDue,
    WriteDue,
    PipelineDue,
    // Work and disk requests.
    PipelineCpu,
    ReadDisk,
    PipelineDisk,
    SourceDisk,
    // Messages on data connections.
    ReadHeader,
    ReadPacket,
    PipelineHeader,
    PipelineReady,
    PipelinePacket,
    PipelineAck,
    // Streams on disks.
    Replica,
}

impl Kind {
    const ALL: [Self; 27] = [
        Self::Heartbeat,
        Self::BlockReport,
        Self::Received,
        Self::Locate,
        Self::Create,
        Self::AddBlock,
        Self::UpdatePipeline,
        Self::Complete,
        Self::HeartbeatDue,
        Self::ReportDue,
        Self::ReportAgain,
        Self::Recheck,
        Self::Redundancy,
        Self::ReadDue,
        Self::WriteDue,
        Self::PipelineDue,
        Self::PipelineCpu,
        Self::ReadDisk,
        Self::PipelineDisk,
        Self::SourceDisk,
        Self::ReadHeader,
        Self::ReadPacket,
        Self::PipelineHeader,
        Self::PipelineReady,
        Self::PipelinePacket,
        Self::PipelineAck,
        Self::Replica,
    ];

    pub fn of(tag: Tag) -> Option<Self> {
        Self::ALL.get(tag.kind() as usize).copied()
    }
    pub const fn tag(self, value: u64) -> Tag {
        Tag::new(Part::Hdfs, self as u8, value)
    }
    /// A tag with a 32-bit name and 16 bits more.
    pub const fn tag2(self, name: u32, more: u16) -> Tag {
        self.tag((more as u64) << 32 | name as u64)
    }
}

/// The 32-bit name in a tag's value.
pub(super) const fn name(tag: Tag) -> u32 {
    tag.value() as u32
}
/// The 16 bits beside it.
pub(super) const fn more(tag: Tag) -> u16 {
    (tag.value() >> 32) as u16
}

pub(super) const fn node(tag: Tag) -> NodeId {
    NodeId(name(tag))
}
pub(super) const fn read(tag: Tag) -> ReadId {
    ReadId(name(tag))
}
pub(super) const fn write(tag: Tag) -> WriteId {
    WriteId(name(tag))
}
/// The disk stream of a block's replica.
pub(super) const fn replica(block: BlockId) -> Tag {
    Kind::Replica.tag(block.0 as u64)
}
