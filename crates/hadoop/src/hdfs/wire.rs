//! What HDFS says over the network, and how long it is.
//!
//! Lengths of calls are those of Hadoop 3's protobuf messages with fields of usual length (RPC header of some 50 bytes,
//! block identifiers, host names, a storage report for each disk), rounded; they matter for the number of packets, not
//! for volume.

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
