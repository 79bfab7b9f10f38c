//! The Hadoop distributed file system: NameNode, DataNodes and their clients.

mod balancer;
mod config;
mod datanode;
mod erasure;
mod namenode;
mod namespace;
mod pipeline;
pub mod placement;
mod read;
pub(crate) mod request;
mod striped_read;
mod striped_write;
mod wire;
mod write;

pub use crate::ids::{BlockId, FileId, ReadId, WriteId};
pub use balancer::{Balanced, BalancerConfig, Exit, Fill, Task as BalancerTask, plan as plan_balancing};
pub use config::{HdfsConfig, ReadOrder};
pub use erasure::ErasureCode;
pub use namespace::{Block, File, Namespace, Objects};
pub use request::{Call, Channel, Message, PipelineMessage, ReadMessage, Request, WriteCall};

use crate::context::Context;
use crate::effect::{End, Service};
use crate::ids::{ConnId, NodeId, PipelineId, Server};
use crate::numbers::count;
use crate::rpc::{self, ServerConfig};
use balancer::Balancer;
use datanode::{DataNode, Replica};
use des::RandomStream;
use namenode::NameNode;
use pipeline::Pipeline;
pub use pipeline::PipelineState;
use read::Read;
use std::collections::BTreeMap;
use striped_read::Gather;
use striped_write::StripedWrite;
use units::{Bytes, Time};
use write::Write;

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
    /// By node, the bytes of its replicas when the run began.
    stored_at_start: Vec<Bytes>,
    reads: BTreeMap<ReadId, Read>,
    writes: BTreeMap<WriteId, Write>,
    gathers: BTreeMap<ReadId, Gather>,
    striped_writes: BTreeMap<WriteId, StripedWrite>,
    pipelines: BTreeMap<PipelineId, Pipeline>,
    balancer: Balancer,
    seed: u64,
    /// Placement, and the choice among equal replicas.
    random: RandomStream,
    /// When DataNodes first speak.
    phases: RandomStream,
    next: u32,
    /// Blocks of input that were dealt to the nodes in turn.
    dealt: usize,
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
            stored_at_start: vec![Bytes::ZERO; nodes],
            reads: BTreeMap::new(),
            writes: BTreeMap::new(),
            gathers: BTreeMap::new(),
            striped_writes: BTreeMap::new(),
            pipelines: BTreeMap::new(),
            balancer: Balancer::default(),
            seed,
            random: RandomStream::new(seed, "hdfs/placement", 0),
            phases: RandomStream::new(seed, "hdfs/phases", 0),
            next: 0,
            dealt: 0,
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
    /// Bytes of the finished replicas on a node.
    pub fn stored(&self, node: NodeId) -> Bytes {
        self.datanodes[node.0 as usize].replicas.values().map(|replica| replica.length).sum()
    }
    /// The same when the run began.
    pub fn stored_at_start(&self, node: NodeId) -> Bytes {
        self.stored_at_start[node.0 as usize]
    }
    /// What it has moved.
    pub fn counters(&self) -> &HdfsCounters {
        &self.counters
    }

    /// The nodes with a further replica of a block whose first replica a disk of a node has.
    pub fn backups_of(&self, node: NodeId, disk: u32) -> Vec<NodeId> {
        let mut nodes = std::collections::BTreeSet::new();
        for (block, replica) in &self.datanodes[node.0 as usize].replicas {
            if replica.place.disk == disk && replica.place.is_first() {
                nodes.extend(self.namespace.block(*block).replicas.iter().filter(|other| **other != node));
            }
        }
        nodes.into_iter().collect()
    }

    /// The disks that hold a finished block, or the parts of a group, and how many of them have to be lost together
    /// before it is; none of a part by itself, and of a block that nobody holds.
    pub fn exposure(&self, block: BlockId) -> Option<(Vec<(NodeId, u32)>, usize)> {
        if !self.namespace.block(block).complete || self.namespace.group_of(block).is_some() {
            return None;
        }
        let on_disk = |piece: BlockId, node: &NodeId| {
            Some((*node, self.datanodes[node.0 as usize].replicas.get(&piece)?.place.disk))
        };
        let holders = |piece: BlockId| self.namespace.block(piece).replicas.iter();
        let Some(code) = self.namespace.code(block) else {
            let disks: Vec<_> = holders(block).filter_map(|node| on_disk(block, node)).collect();
            let fatal = disks.len();
            return (fatal > 0).then_some((disks, fatal));
        };
        let parts = self.namespace.parts(block);
        // A part may stand twice while it is being moved.
        let disks: Vec<_> =
            parts.iter().filter_map(|part| holders(*part).find_map(|node| on_disk(*part, node))).collect();
        // Data parts that a short group leaves empty are known without being read.
        let length = self.namespace.block(block).length;
        let needed = (0..code.data).filter(|part| code.in_part(length, *part) > Bytes::ZERO).count();
        let fatal = (disks.len() + 1).checked_sub(needed.max(1)).filter(|fatal| *fatal > 0)?;
        Some((disks, fatal))
    }

    /// A file that exists when the run begins, its blocks placed by the default policy as though written from `writer`,
    /// or from outside the cluster.
    pub fn add_file(
        &mut self,
        ctx: &mut Context,
        length: Bytes,
        block_size: Bytes,
        replication: u32,
        writer: Option<NodeId>,
    ) -> FileId {
        let file = self.namespace.create(replication, false);
        let mut rest = length;
        while rest > Bytes::ZERO {
            let length = rest.min(block_size);
            rest -= length;
            let writer = writer.or_else(|| self.next_writer(ctx));
            let targets = placement::choose(&ctx.nodes, writer, replication, &[], |_| true, &mut self.random);
            self.add_block(ctx, file, length, &targets);
        }
        self.namespace.file_mut(file).complete = true;
        file
    }
    /// A file of a job's input, as [`Hdfs::add_file`], but erasure-coded if the cluster's policy has it so.
    pub fn add_input(
        &mut self,
        ctx: &mut Context,
        length: Bytes,
        block_size: Bytes,
        replication: u32,
        writer: Option<NodeId>,
    ) -> FileId {
        let Some(code) = self.config.erasure else {
            return self.add_file(ctx, length, block_size, replication, writer);
        };
        let file = self.namespace.create(1, false);
        let block_size = code.cell * (block_size.get() / code.cell.get()).max(1);
        let mut rest = length;
        while rest > Bytes::ZERO {
            let length = rest.min(block_size * code.data as u64);
            rest -= length;
            let nodes = placement::choose_spread(&ctx.nodes, writer, code.parts(), &[], |_| true, &mut self.random);
            self.add_group(ctx, file, code, length, &nodes);
        }
        self.namespace.file_mut(file).complete = true;
        file
    }
    /// An erasure-coded file of one group that exists when the run begins, its parts on these nodes in order; what is
    /// missing of them is chosen.
    pub fn place_group(&mut self, ctx: &mut Context, code: ErasureCode, length: Bytes, nodes: &[NodeId]) -> FileId {
        let file = self.namespace.create(1, false);
        let mut nodes = nodes[..nodes.len().min(code.parts())].to_vec();
        nodes.extend(placement::choose_spread(&ctx.nodes, None, code.parts(), &nodes, |_| true, &mut self.random));
        self.add_group(ctx, file, code, length, &nodes);
        self.namespace.file_mut(file).complete = true;
        file
    }
    fn add_group(&mut self, ctx: &mut Context, file: FileId, code: ErasureCode, length: Bytes, nodes: &[NodeId]) {
        let group = self.namespace.add_group(file, code, || ctx.new_file());
        self.namespace.close_group(group, length, code);
        for (part, node) in self.namespace.parts(group).into_iter().zip(nodes) {
            let length = self.namespace.block(part).length;
            if length > Bytes::ZERO {
                self.namespace.block_mut(part).replicas.push(*node);
                let datanode = self.datanode(*node);
                let place = datanode.choose(&ctx.nodes.info(*node).disks, false, 0);
                datanode.replicas.insert(part, Replica { place, length });
            }
        }
    }
    /// A file that exists when the run begins, each block with its length and replicas given.
    pub fn place_file(&mut self, ctx: &mut Context, replication: u32, blocks: &[(Bytes, Vec<NodeId>)]) -> FileId {
        let file = self.namespace.create(replication, false);
        for (length, replicas) in blocks {
            self.add_block(ctx, file, *length, replicas);
        }
        self.namespace.file_mut(file).complete = true;
        file
    }
    /// The nodes that keep the copies of what belongs to a node: itself first, the others by the placement policy.
    pub fn group_of(&mut self, ctx: &Context, home: NodeId, replication: u32) -> Vec<NodeId> {
        placement::choose(&ctx.nodes, Some(home), replication, &[], |_| true, &mut self.random)
    }
    /// Who wrote the next block of input, where the nodes are dealt it in turn.
    fn next_writer(&mut self, ctx: &Context) -> Option<NodeId> {
        if !self.config.even_input {
            return None;
        }
        let turn = self.dealt % ctx.nodes.worker_count();
        self.dealt += 1;
        ctx.nodes.workers().nth(turn)
    }
    fn add_block(&mut self, ctx: &mut Context, file: FileId, length: Bytes, replicas: &[NodeId]) {
        let block = self.namespace.add_block(file, length, ctx.new_file());
        let record = self.namespace.block_mut(block);
        record.replicas = replicas.to_vec();
        record.complete = true;
        for (number, node) in (0..).zip(replicas) {
            let datanode = self.datanode(*node);
            let place = datanode.choose(&ctx.nodes.info(*node).disks, false, number);
            datanode.replicas.insert(block, Replica { place, length });
        }
    }

    pub(crate) fn on_start(&mut self, ctx: &mut Context) {
        self.stored_at_start = (0..count(self.datanodes.len())).map(|node| self.stored(NodeId(node))).collect();
        self.register_rests();
        self.start_namenode(ctx);
        self.start_balancer(ctx, self.seed);
        self.start_datanodes(ctx);
    }

    /// Work or a disk request is done, or a timer fires.
    pub(crate) fn on_answer(&mut self, ctx: &mut Context, request: Request) {
        match request {
            Request::HeartbeatDue { node, life } => self.heartbeat_due(ctx, node, life),
            Request::ReportDue { node, life } => self.report_due(ctx, node, life),
            Request::ReportAgain { node, life } => self.report_again_due(ctx, node, life),
            Request::Recheck => self.recheck(ctx),
            Request::Redundancy => self.restore_redundancy(ctx),
            Request::Balance => self.balance(ctx),
            Request::MovesOver => self.moves_over(ctx),
            Request::PieceDue(pipeline) => self.piece_due(ctx, pipeline),
            Request::ReadAgain(read) => self.locate(ctx, read),
            Request::ReadDue(read) => self.read_due(ctx, read),
            Request::WriteAgain(write, what) => self.ask(ctx, write, what),
            Request::RowCoded(write) => self.row_coded(ctx, write),
            Request::RowDecoded(read) => self.row_decoded(ctx, read),
            Request::RowWritten(read) => self.row_written(ctx, read),
            Request::PipelineDue(pipeline) => self.pipeline_due(ctx, pipeline),
            Request::PipelineWork { pipeline, hop } => self.pipeline_work_done(ctx, pipeline, hop),
            Request::PipelineDisk { pipeline, hop } => self.pipeline_disk_done(ctx, pipeline, hop),
            Request::SourceDisk(pipeline) => self.source_disk_done(ctx, pipeline),
            Request::ReadDisk { read, source } => self.read_disk_done(ctx, read, source),
        }
    }
    /// A disk request has failed: a reader turns to another replica, a pipeline goes on without the node, a copy is
    /// ordered again.
    pub(crate) fn on_disk_failed(&mut self, ctx: &mut Context, request: Request) {
        match request {
            Request::ReadDisk { read, source } => self.read_disk_failed(ctx, read, source),
            Request::PipelineDisk { pipeline, hop } => self.break_pipeline(ctx, pipeline, hop),
            Request::SourceDisk(pipeline) => self.discard_pipeline(ctx, pipeline),
            Request::RowWritten(read) => self.drop_gather(ctx, read),
            _ => {}
        }
    }
    pub(crate) fn on_node_down(&mut self, ctx: &mut Context, node: NodeId) {
        self.reads_node_down(ctx, node);
        self.writes_node_down(ctx, node);
        self.pipelines_node_down(ctx, node);
        self.moves_node_down(ctx, node);
    }
    pub(crate) fn on_node_up(&mut self, ctx: &mut Context, node: NodeId) {
        if node == ctx.nodes.master() { self.namenode_up(ctx.now) } else { self.datanode_up(ctx, node) }
    }

    pub(crate) fn on_connected(&mut self, ctx: &mut Context, channel: Channel, conn: ConnId) {
        match channel {
            Channel::Read(read) => self.read_connected(ctx, read, conn),
            Channel::Pipeline { pipeline, hop } => self.pipeline_connected(ctx, pipeline, hop, conn),
        }
    }
    pub(crate) fn on_delivered(&mut self, ctx: &mut Context, conn: ConnId, end: End, message: Message) {
        match message {
            Message::Read(read, message) => self.read_delivered(ctx, read, (conn, end), message),
            Message::Pipeline { pipeline, hop, message } => {
                self.pipeline_delivered(ctx, pipeline, hop, (conn, end), message);
            }
        }
    }
    pub(crate) fn on_acknowledged(&mut self, ctx: &mut Context, conn: ConnId, message: Message) {
        match message {
            Message::Read(read, ReadMessage::Packet) => self.read_acknowledged(ctx, read, conn),
            Message::Pipeline { pipeline, hop, message: PipelineMessage::Packet } => {
                self.packet_acknowledged(ctx, pipeline, hop);
            }
            Message::Read(_, ReadMessage::Header)
            | Message::Pipeline {
                message: PipelineMessage::Header | PipelineMessage::Ready | PipelineMessage::Ack,
                ..
            } => {}
        }
    }
    pub(crate) fn on_last_received(&mut self, ctx: &mut Context, channel: Channel, conn: ConnId, at: Time) {
        match channel {
            Channel::Read(read) => self.read_last_received(ctx, read, conn, at),
            Channel::Pipeline { .. } => {}
        }
    }
    pub(crate) fn on_peer_closed(&mut self, ctx: &mut Context, channel: Channel, conn: ConnId, end: End) {
        match channel {
            Channel::Read(read) => self.read_lost(ctx, read, conn, end),
            Channel::Pipeline { .. } => ctx.close(conn, end),
        }
    }
    pub(crate) fn on_reset(&mut self, ctx: &mut Context, channel: Channel, conn: ConnId, end: End) {
        match channel {
            Channel::Read(read) => self.read_lost(ctx, read, conn, end),
            Channel::Pipeline { pipeline, hop } => self.pipeline_lost(ctx, pipeline, hop, end),
        }
    }

    /// The reply to a call is there.
    pub(crate) fn on_replied(&mut self, ctx: &mut Context, call: Call) {
        match call {
            Call::Heartbeat { node, .. } => self.heartbeat_replied(ctx, node),
            Call::Locate(read) if self.gathers.contains_key(&read) => self.open_gather(ctx, read),
            Call::Locate(read) => self.located(ctx, read),
            Call::Write(write, what) => self.write_replied(ctx, what, write),
            Call::BlockReport(_) | Call::Received { .. } => {}
        }
    }
    /// No reply to a call will come.
    pub(crate) fn on_call_failed(&mut self, ctx: &mut Context, call: Call) {
        match call {
            Call::Heartbeat { node, .. } => self.heartbeat_over(ctx, node),
            Call::BlockReport(node) | Call::Received { node, .. } => self.report_again(ctx, node),
            Call::Locate(read) if self.gathers.contains_key(&read) => self.fail_gather(ctx, read),
            Call::Locate(read) => self.next_round(ctx, read),
            Call::Write(write, _) => self.fail_write(ctx, write),
        }
    }
}
