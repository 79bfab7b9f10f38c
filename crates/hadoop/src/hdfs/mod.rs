//! The Hadoop distributed file system: NameNode, DataNodes and their clients.

mod config;
mod namespace;
pub mod placement;

pub use config::HdfsConfig;
pub use namespace::{Block, BlockId, File, FileId, Namespace};

use crate::context::Context;
use crate::effect::{Input, NodeId, Tag};
use crate::event::Event;
use crate::rpc::Process;
use des::RandomStream;
use units::Bytes;

/// Names a read under way; never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ReadId(pub u32);

/// Names an output stream; never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WriteId(pub u32);

/// What the file system has moved. Bytes read count when they are with the reader, bytes written once for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HdfsCounters {
    /// Read from a replica on the reader's node.
    pub read_local: Bytes,
    /// Read from a node of the same rack.
    pub read_rack: Bytes,
    /// Read from another rack.
    pub read_remote: Bytes,
    /// Acknowledged to writers.
    pub written: Bytes,
    /// Replicas finished, re-replications among them.
    pub replicas: u64,
    /// Bytes of finished replicas.
    pub replica_bytes: Bytes,
    /// Replicas that the NameNode had made again.
    pub rereplications: u64,
    /// Pipelines that went on with fewer nodes.
    pub pipeline_recoveries: u64,
    /// Reads that went on with another replica.
    pub read_failovers: u64,
}

/// The file system.
#[derive(Debug)]
pub struct Hdfs {
    config: HdfsConfig,
    namespace: Namespace,
    counters: HdfsCounters,
    random: RandomStream,
    next: u32,
}

impl Hdfs {
    pub(crate) fn new(config: HdfsConfig, _ctx: &mut Context, seed: u64) -> Self {
        Self {
            config,
            namespace: Namespace::default(),
            counters: HdfsCounters::default(),
            random: RandomStream::new(seed, "hdfs/placement", 0),
            next: 0,
        }
    }
    /// Its settings.
    pub fn config(&self) -> &HdfsConfig {
        &self.config
    }
    /// Files, blocks and replicas as the NameNode knows them.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }
    /// What it has moved.
    pub fn counters(&self) -> &HdfsCounters {
        &self.counters
    }

    /// A file that exists when the run begins, its blocks placed by the default policy as though written from `writer`, or from outside the cluster.
    pub fn add_file(
        &mut self,
        ctx: &Context,
        length: Bytes,
        block_size: Bytes,
        replication: u32,
        writer: Option<NodeId>,
    ) -> FileId {
        let file = self.namespace.create(replication);
        let mut rest = length;
        while rest > Bytes::ZERO {
            let length = rest.min(block_size);
            rest -= length;
            let targets = placement::choose(&ctx.nodes, writer, replication, &[], |_| true, &mut self.random);
            self.add_block(file, length, &targets);
        }
        self.namespace.file_mut(file).complete = true;
        file
    }
    /// A file that exists when the run begins, each block with its length and replicas given.
    pub fn place_file(&mut self, replication: u32, blocks: &[(Bytes, Vec<NodeId>)]) -> FileId {
        let file = self.namespace.create(replication);
        for (length, replicas) in blocks {
            self.add_block(file, *length, replicas);
        }
        self.namespace.file_mut(file).complete = true;
        file
    }
    fn add_block(&mut self, file: FileId, length: Bytes, replicas: &[NodeId]) {
        let block = self.namespace.add_block(file, length);
        let record = self.namespace.block_mut(block);
        record.replicas = replicas.to_vec();
        record.complete = true;
    }

    /// Reads a range of a block from the nearest replica. Progress is reported as it comes, up to the read window ahead of what has
    /// been taken with [`Hdfs::take`].
    pub fn read(
        &mut self,
        ctx: &mut Context,
        reader: Process,
        block: BlockId,
        offset: Bytes,
        length: Bytes,
        tag: Tag,
    ) -> ReadId {
        let _ = (ctx, reader, block, offset, length, tag);
        self.next += 1;
        ReadId(self.next)
    }
    /// The application has taken bytes out of its receive buffer; more may come.
    pub fn take(&mut self, ctx: &mut Context, read: ReadId, bytes: Bytes) {
        let _ = (ctx, read, bytes);
    }
    /// Stops a read; nothing more is heard of it.
    pub fn cancel_read(&mut self, ctx: &mut Context, read: ReadId) {
        let _ = (ctx, read);
    }

    /// Opens an output stream to a new file.
    pub fn create(
        &mut self,
        ctx: &mut Context,
        writer: Process,
        block_size: Bytes,
        replication: u32,
        tag: Tag,
    ) -> WriteId {
        let _ = (ctx, writer, block_size, replication, tag);
        self.next += 1;
        WriteId(self.next)
    }
    /// Appends bytes. [`Event::WriteRoom`] follows (at once, if there is room) when fewer than the stream's limit of packets wait:
    /// the writer appends no more before it.
    pub fn append(&mut self, ctx: &mut Context, write: WriteId, bytes: Bytes) {
        let _ = (ctx, write, bytes);
    }
    /// Ends the stream: [`Event::WriteClosed`] or [`Event::WriteFailed`] follows.
    pub fn close(&mut self, ctx: &mut Context, write: WriteId) {
        let _ = (ctx, write);
    }
    /// Drops the stream (its writer was killed); nothing more is heard of it, and its file is not completed.
    pub fn abort_write(&mut self, ctx: &mut Context, write: WriteId) {
        let _ = (ctx, write);
    }
    /// The file that an open stream writes.
    pub fn file_of(&self, write: WriteId) -> Option<FileId> {
        let _ = write;
        None
    }

    pub(crate) fn on_start(&mut self, ctx: &mut Context) {
        let _ = ctx;
    }
    pub(crate) fn on_input(&mut self, ctx: &mut Context, input: Input) {
        let _ = (ctx, input);
    }
    pub(crate) fn on_event(&mut self, ctx: &mut Context, event: Event) {
        let _ = (ctx, event);
    }
}
