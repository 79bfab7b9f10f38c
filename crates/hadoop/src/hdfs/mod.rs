//! The Hadoop distributed file system: NameNode, DataNodes and their clients.

mod config;
mod datanode;
mod namenode;
mod namespace;
mod pipeline;
pub mod placement;
mod read;
mod wire;
mod write;

pub use config::HdfsConfig;
pub use namespace::{Block, BlockId, File, FileId, Namespace};

use crate::context::Context;
use crate::effect::{ConnId, End, Input, NodeId, Service, Tag};
use crate::event::Event;
use crate::rpc::{self, Server, ServerConfig};
use datanode::{DataNode, Replica};
use des::RandomStream;
use namenode::NameNode;
pub use pipeline::PipelineState;
use pipeline::{Pipeline, PipelineId};
use read::Read;
use std::collections::BTreeMap;
use units::Bytes;
use wire::Kind;
use write::Write;

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
    namenode: NameNode,
    datanodes: Vec<DataNode>,
    reads: BTreeMap<ReadId, Read>,
    writes: BTreeMap<WriteId, Write>,
    pipelines: BTreeMap<PipelineId, Pipeline>,
    /// Placement, and the choice among equal replicas.
    random: RandomStream,
    /// When DataNodes first speak.
    phases: RandomStream,
    next: u32,
}

impl Hdfs {
    pub(crate) fn new(config: HdfsConfig, ctx: &mut Context, seed: u64) -> Self {
        let namenode = ServerConfig::new(config.handlers, config.call_service, Service::Rpc);
        rpc::serve(ctx, Server::namenode(ctx.nodes.master()), namenode);
        let nodes = ctx.nodes.len();
        Self {
            config,
            namespace: Namespace::default(),
            counters: HdfsCounters::default(),
            namenode: NameNode::new(nodes),
            datanodes: (0..nodes).map(|_| DataNode::default()).collect(),
            reads: BTreeMap::new(),
            writes: BTreeMap::new(),
            pipelines: BTreeMap::new(),
            random: RandomStream::new(seed, "hdfs/placement", 0),
            phases: RandomStream::new(seed, "hdfs/phases", 0),
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
            self.add_block(ctx, file, length, &targets);
        }
        self.namespace.file_mut(file).complete = true;
        file
    }
    /// A file that exists when the run begins, each block with its length and replicas given.
    pub fn place_file(&mut self, ctx: &Context, replication: u32, blocks: &[(Bytes, Vec<NodeId>)]) -> FileId {
        let file = self.namespace.create(replication);
        for (length, replicas) in blocks {
            self.add_block(ctx, file, *length, replicas);
        }
        self.namespace.file_mut(file).complete = true;
        file
    }
    fn add_block(&mut self, ctx: &Context, file: FileId, length: Bytes, replicas: &[NodeId]) {
        let block = self.namespace.add_block(file, length);
        let record = self.namespace.block_mut(block);
        record.replicas = replicas.to_vec();
        record.complete = true;
        for node in replicas {
            let disks = ctx.nodes.info(*node).disks;
            let datanode = self.datanode(*node);
            let disk = datanode.volumes.next(disks);
            datanode.replicas.insert(block, Replica { disk, length });
        }
    }

    pub(crate) fn on_start(&mut self, ctx: &mut Context) {
        self.start_namenode(ctx);
        self.start_datanodes(ctx);
    }

    pub(crate) fn on_input(&mut self, ctx: &mut Context, input: Input) {
        match input {
            Input::Timer { tag } => match Kind::of(tag) {
                Some(Kind::HeartbeatDue) => self.heartbeat_due(ctx, tag),
                Some(Kind::ReportDue) => self.report_due(ctx, tag),
                Some(Kind::ReportAgain) => self.report_again_due(ctx, tag),
                Some(Kind::Recheck) => self.recheck(ctx),
                Some(Kind::Redundancy) => self.restore_redundancy(ctx),
                Some(Kind::ReadDue) => self.read_due(ctx, tag),
                Some(Kind::WriteDue) => self.write_due(ctx, tag),
                Some(Kind::PipelineDue) => self.pipeline_due(ctx, tag),
                _ => {}
            },
            Input::DiskDone { tag, .. } => match Kind::of(tag) {
                Some(Kind::ReadDisk) => self.read_disk_done(ctx, tag),
                Some(Kind::PipelineDisk) => self.pipeline_disk_done(ctx, tag),
                Some(Kind::SourceDisk) => self.source_disk_done(ctx, tag),
                _ => {}
            },
            Input::Connected { conn } => self.on_connection(ctx, conn, End::Client, input),
            Input::Delivered { conn, end, .. }
            | Input::Acknowledged { conn, end, .. }
            | Input::Heard { conn, end, .. }
            | Input::PeerClosed { conn, end }
            | Input::Reset { conn, end } => self.on_connection(ctx, conn, end, input),
            Input::NodeDown { node } => {
                self.reads_node_down(ctx, node);
                self.writes_node_down(ctx, node);
                self.pipelines_node_down(ctx, node);
            }
            Input::NodeUp { node } if node == ctx.nodes.master() => self.namenode_up(ctx.now),
            Input::NodeUp { node } => self.datanode_up(ctx, node),
            Input::ComputeDone { tag, .. } => self.pipeline_cpu_done(ctx, tag),
            Input::Start | Input::Charge { .. } => {}
        }
    }

    /// A connection's key says whether a read or a pipeline uses it.
    fn on_connection(&mut self, ctx: &mut Context, conn: ConnId, end: End, input: Input) {
        let Some(key) = ctx.connection(conn).map(|connection| Tag(connection.key)) else { return };
        if Kind::of(key) == Some(Kind::ReadHeader) {
            let id = wire::read(key);
            match input {
                Input::Connected { .. } => self.read_connected(ctx, id, conn),
                Input::Delivered { .. } => self.read_delivered(ctx, id, conn, end),
                Input::Acknowledged { .. } => self.read_acknowledged(ctx, id, conn, end),
                Input::Heard { at, .. } => self.read_heard(ctx, id, conn, at),
                _ => self.read_lost(ctx, id, conn, end),
            }
        } else {
            match input {
                Input::Connected { .. } => self.pipeline_connected(ctx, key, conn),
                Input::Delivered { tag, .. } => self.pipeline_delivered(ctx, key, conn, end, tag),
                Input::Acknowledged { tag, .. } => self.pipeline_acknowledged(ctx, key, end, tag),
                Input::PeerClosed { .. } => ctx.close(conn, end),
                Input::Heard { .. } => {}
                _ => self.pipeline_lost(ctx, key, end),
            }
        }
    }

    pub(crate) fn on_event(&mut self, ctx: &mut Context, event: Event) {
        match event {
            Event::Served { call, tag, .. } => self.served(ctx, call, tag),
            Event::Replied { tag } => match Kind::of(tag) {
                Some(Kind::Heartbeat) => self.heartbeat_replied(ctx, wire::node(tag)),
                Some(Kind::Locate) => self.located(ctx, wire::read(tag)),
                Some(what @ (Kind::Create | Kind::AddBlock | Kind::UpdatePipeline | Kind::Complete)) => {
                    self.write_replied(ctx, what, wire::write(tag));
                }
                _ => {}
            },
            Event::CallFailed { tag } => match Kind::of(tag) {
                Some(Kind::Heartbeat) => self.heartbeat_over(ctx, wire::node(tag)),
                Some(Kind::Received | Kind::BlockReport) => self.report_again(ctx, tag),
                Some(Kind::Locate) => self.next_round(ctx, wire::read(tag)),
                Some(Kind::Create | Kind::AddBlock | Kind::UpdatePipeline | Kind::Complete) => {
                    self.fail_write(ctx, wire::write(tag));
                }
                _ => {}
            },
            _ => {}
        }
    }
}
