//! How a pipeline ends: in good order, with a connection, a node or its patience lost.
//!
//! Patience is that of a read from a socket, as everywhere in HDFS, but what writers and DataNodes read while a block
//! is written are the acknowledgements of those behind them (`DataStreamer.ResponseProcessor`,
//! `BlockReceiver.PacketResponder`), and these come packet by packet: a packet that takes longer breaks the pipeline
//! however steadily its bytes move. A DataNode's read of the data itself also ends after `dfs.client.socket-timeout`
//! without a byte; whoever sent it has lost patience by then, for want of acknowledgements.

use super::super::write::patience;
use super::super::{Hdfs, Request};
use super::{Pipeline, Source};
use crate::context::Context;
use crate::effect::End;
use crate::ids::{FileId, NodeId, PipelineId};
use units::Time;

impl Pipeline {
    /// The DataNode to blame when nothing moves. During set-up it is the last that was connected to. Later it is the
    /// first that does not get what was sent to it, else the last that does not write, else the one whose
    /// acknowledgements are missing.
    fn stuck(&self) -> usize {
        if !self.was_ready() {
            return self.hops.iter().rposition(|hop| hop.conn.is_some()).unwrap_or(0);
        }
        let deaf = self.hops.iter().position(|hop| !hop.under_way.is_empty());
        let full = || self.hops.iter().rposition(|hop| !hop.inbox.is_empty());
        let mute = || self.hops.iter().rposition(|hop| hop.acks_in < hop.taken).map(|hop| hop + 1);
        deaf.or_else(full).or_else(mute).unwrap_or(0)
    }
}

/// A pipeline that a file is being written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineState {
    /// Its DataNodes in order.
    pub nodes: Vec<NodeId>,
    /// All of them have answered.
    pub ready: bool,
    /// The one to blame if nothing moves.
    pub stuck: NodeId,
    /// When something last came back.
    pub since: Time,
}

impl Hdfs {
    /// The pipeline of a file, if one is open.
    pub fn pipeline_of(&self, file: FileId) -> Option<PipelineState> {
        let write = self.writes.values().find(|write| write.file == file)?;
        let pipeline = self.pipelines.get(&write.pipeline?)?;
        Some(PipelineState {
            nodes: pipeline.nodes.clone(),
            ready: pipeline.was_ready(),
            stuck: pipeline.nodes[pipeline.stuck()],
            since: pipeline.progress,
        })
    }
    /// All is acknowledged: the connections end in good order.
    pub(super) fn close_pipeline(&mut self, ctx: &mut Context, id: PipelineId) {
        let Some(pipeline) = self.pipelines.remove(&id) else { return };
        for hop in &pipeline.hops {
            if let Some(conn) = hop.conn {
                ctx.close(conn, End::Client);
                ctx.close(conn, End::Server);
            }
        }
        for node in pipeline.nodes {
            self.transfer_over(node);
        }
    }

    /// Breaks all connections, and the DataNodes delete what they had begun.
    pub(in crate::hdfs) fn discard_pipeline(&mut self, ctx: &mut Context, id: PipelineId) {
        let Some(pipeline) = self.drop_pipeline(ctx, id) else { return };
        for node in pipeline.nodes {
            self.datanode(node).begun.remove(&pipeline.block);
        }
        if matches!(pipeline.source, Source::Replica { moved: true, .. }) {
            self.move_failed(ctx, pipeline.block);
        }
    }

    /// Breaks all connections. Another pipeline may go on with the replicas that were begun.
    fn drop_pipeline(&mut self, ctx: &mut Context, id: PipelineId) -> Option<Pipeline> {
        let pipeline = self.pipelines.remove(&id)?;
        for hop in &pipeline.hops {
            if let Some(conn) = hop.conn {
                ctx.abort(conn, End::Client);
                ctx.abort(conn, End::Server);
            }
        }
        for node in &pipeline.nodes {
            self.transfer_over(*node);
        }
        Some(pipeline)
    }

    pub(in crate::hdfs) fn break_pipeline(&mut self, ctx: &mut Context, id: PipelineId, bad: usize) {
        // A copy that fails is ordered again when the NameNode misses its report.
        match self.pipelines.get(&id).map(|pipeline| pipeline.source) {
            Some(Source::Stream(write)) => {
                if let Some(pipeline) = self.drop_pipeline(ctx, id) {
                    self.pipeline_broken(ctx, write, &pipeline, bad);
                }
            }
            Some(Source::Part { write, part }) => {
                if let Some(pipeline) = self.drop_pipeline(ctx, id) {
                    self.part_broken(ctx, write, part, pipeline.nodes[bad]);
                }
            }
            Some(Source::Replica { .. }) | None => self.discard_pipeline(ctx, id),
        }
    }

    /// A connection of the pipeline is lost. The node behind it is to blame as its sender sees it; what its receiver
    /// sees follows from that.
    pub(in crate::hdfs) fn pipeline_lost(&mut self, ctx: &mut Context, id: PipelineId, hop: usize, end: End) {
        if end == End::Client {
            self.break_pipeline(ctx, id, hop);
        }
    }

    pub(super) fn watch_pipeline(&mut self, ctx: &mut Context, id: PipelineId) {
        let (timeout, extension) = (self.config.socket_timeout, self.config.timeout_extension);
        if let Some(pipeline) = self.pipelines.get_mut(&id)
            && !pipeline.watched
        {
            pipeline.watched = true;
            let due = pipeline.progress + patience(timeout, extension, pipeline.nodes.len() - pipeline.stuck());
            ctx.timer(due, Request::PipelineDue(id));
        }
    }

    pub(in crate::hdfs) fn pipeline_due(&mut self, ctx: &mut Context, id: PipelineId) {
        let (timeout, extension) = (self.config.socket_timeout, self.config.timeout_extension);
        let Some(pipeline) = self.pipelines.get_mut(&id) else { return };
        pipeline.watched = false;
        if pipeline.was_ready() && pipeline.unacknowledged.is_empty() {
            pipeline.progress = ctx.now; // nothing to wait for
        }
        let stuck = pipeline.stuck();
        if pipeline.progress + patience(timeout, extension, pipeline.nodes.len() - stuck) <= ctx.now {
            self.break_pipeline(ctx, id, stuck);
        } else {
            self.watch_pipeline(ctx, id);
        }
    }

    /// A node has crashed: copies that it was sending are over, and so is what it had begun.
    pub(in crate::hdfs) fn pipelines_node_down(&mut self, ctx: &mut Context, node: NodeId) {
        let gone: Vec<_> =
            self.pipelines.iter().filter(|(_, pipeline)| pipeline.client == node).map(|(id, _)| *id).collect();
        for id in gone {
            self.discard_pipeline(ctx, id);
        }
        for pipeline in self.pipelines.values_mut() {
            for (hop, _) in pipeline.nodes.iter().enumerate().filter(|(_, other)| **other == node) {
                pipeline.hops[hop].dead = true;
            }
        }
        self.datanode(node).begun.clear();
    }
}
