//! DataNodes: which replicas they hold, their heartbeats and reports.

use super::{Call, Hdfs, Request, wire};
use crate::context::Context;
use crate::disks::{Disks, Turns};
use crate::ids::{BlockId, NodeId, Process, Server};
use crate::rpc;
use std::collections::BTreeMap;
use units::{Bytes, Time};

/// A DataNode's own state. Its replicas outlive a crash.
#[derive(Debug, Default)]
pub(super) struct DataNode {
    /// Finished replicas.
    pub replicas: BTreeMap<BlockId, Replica>,
    /// Replicas that are being written, and where.
    pub begun: BTreeMap<BlockId, Place>,
    volumes: Turns,
    /// Reads and writes under way.
    pub transfers: u32,
    /// A heartbeat has no answer yet; the next one waits for it (`BPServiceActor.offerService` calls one at a time).
    in_heartbeat: bool,
    /// One was due meanwhile.
    overdue: bool,
    /// A volume is gone since its last report.
    volume_lost: bool,
    /// Disks at rest: how deep, from 1.
    resting: BTreeMap<u32, u8>,
    /// How often it has started; tells timers of an earlier life.
    life: u32,
}

/// Where a replica is on its DataNode.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    pub disk: u32,
    /// Its number among the replicas of its block. Storage policies treat the first, 0, apart.
    pub replica: u32,
}

impl Place {
    /// Whether it is the first of its block.
    pub const fn is_first(self) -> bool {
        self.replica == 0
    }
}

/// A finished replica.
#[derive(Debug, Clone, Copy)]
pub(super) struct Replica {
    pub place: Place,
    pub length: Bytes,
}

impl DataNode {
    /// Disks at rest: how deep, from 1.
    pub const fn resting(&self) -> &BTreeMap<u32, u8> {
        &self.resting
    }
    /// The disk for a new replica of a block, by its number, of a file that the run writes or not.
    pub fn choose(&mut self, disks: &Disks, written: bool, replica: u32) -> Place {
        Place { disk: self.volumes.take_replica(disks, written, replica), replica }
    }
}

impl Hdfs {
    pub(super) fn datanode(&mut self, node: NodeId) -> &mut DataNode {
        &mut self.datanodes[node.0 as usize]
    }

    /// First heartbeats and reports come at random phases, as of daemons that were started some time ago.
    pub(super) fn start_datanodes(&mut self, ctx: &mut Context) {
        for node in ctx.nodes.workers() {
            let phase =
                |interval: Time, random: &mut des::RandomStream| Time::from_ps(random.below(interval.as_ps().max(1)));
            let heartbeat = phase(self.config.heartbeat_interval, &mut self.phases);
            let report = phase(self.config.block_report_interval, &mut self.phases);
            ctx.timer_in(heartbeat, Request::HeartbeatDue { node, life: 0 });
            ctx.timer_in(report, Request::ReportDue { node, life: 0 });
        }
    }

    /// A DataNode starts again: it registers with its first heartbeat and reports its blocks.
    pub(super) fn datanode_up(&mut self, ctx: &mut Context, node: NodeId) {
        let datanode = self.datanode(node);
        datanode.life = datanode.life.wrapping_add(1);
        datanode.transfers = 0;
        datanode.in_heartbeat = false;
        let life = datanode.life;
        self.heartbeat_due(ctx, node, life);
        self.report_due(ctx, node, life);
    }

    pub(super) fn heartbeat_due(&mut self, ctx: &mut Context, node: NodeId, life: u32) {
        if !ctx.nodes.is_up(node) || self.datanode(node).life != life {
            return;
        }
        ctx.timer_in(self.config.heartbeat_interval, Request::HeartbeatDue { node, life });
        self.datanode(node).overdue = self.datanode(node).in_heartbeat;
        if !self.datanode(node).in_heartbeat {
            self.beat(ctx, node);
        }
    }

    fn beat(&mut self, ctx: &mut Context, node: NodeId) {
        let datanode = self.datanode(node);
        datanode.in_heartbeat = true;
        datanode.overdue = false;
        let call = Call::Heartbeat { node, transfers: datanode.transfers };
        let resting = datanode.resting.clone();
        self.rests_on_the_way(node, resting);
        let process = rpc::heartbeat_process(ctx, Process::datanode(node));
        call_namenode(ctx, process, (wire::HEARTBEAT, wire::HEARTBEAT_REPLY), call);
    }

    /// A disk goes to rest or wakes.
    pub(crate) fn on_disk_rests(&mut self, node: NodeId, disk: u32, depth: u8) {
        let resting = &mut self.datanode(node).resting;
        if depth == 0 {
            resting.remove(&disk);
        } else {
            resting.insert(disk, depth);
        }
    }

    /// A heartbeat was answered or has failed.
    pub(super) fn heartbeat_over(&mut self, ctx: &mut Context, node: NodeId) {
        self.datanode(node).in_heartbeat = false;
        if self.datanode(node).overdue {
            self.beat(ctx, node);
        }
    }

    pub(super) fn report_due(&mut self, ctx: &mut Context, node: NodeId, life: u32) {
        if !ctx.nodes.is_up(node) || self.datanode(node).life != life {
            return;
        }
        self.report_blocks(ctx, node);
        ctx.timer_in(self.config.block_report_interval, Request::ReportDue { node, life });
    }

    /// A volume is gone: the DataNode goes on with the others (`dfs.datanode.failed.volumes.tolerated`) and reports what
    /// it still has (`DataNode.handleVolumeFailures`).
    pub(crate) fn on_disk_lost(&mut self, ctx: &mut Context, node: NodeId, disk: u32) {
        let datanode = self.datanode(node);
        datanode.replicas.retain(|_, replica| replica.place.disk != disk);
        datanode.begun.retain(|_, place| place.disk != disk);
        datanode.volume_lost = true;
        if node != ctx.nodes.master() && ctx.nodes.is_up(node) {
            self.report_blocks(ctx, node);
        }
    }

    /// Whether a volume has been lost since this was last asked: the NameNode compares the report with what it knows.
    pub(super) fn has_lost_a_volume(&mut self, node: NodeId) -> bool {
        std::mem::take(&mut self.datanode(node).volume_lost)
    }

    pub(super) fn report_blocks(&mut self, ctx: &mut Context, node: NodeId) {
        let replicas = self.datanode(node).replicas.len() as u64;
        let request = wire::BLOCK_REPORT + wire::BLOCK_REPORT_ENTRY * replicas;
        call_namenode(ctx, Process::datanode(node), (request, wire::SHORT_REPLY), Call::BlockReport(node));
    }

    /// A report did not get through: a full one follows with the next heartbeat's delay.
    pub(super) fn report_again(&mut self, ctx: &mut Context, node: NodeId) {
        let life = self.datanode(node).life;
        ctx.timer_in(self.config.heartbeat_interval, Request::ReportAgain { node, life });
    }

    pub(super) fn report_again_due(&mut self, ctx: &mut Context, node: NodeId, life: u32) {
        if ctx.nodes.is_up(node) && self.datanode(node).life == life {
            self.report_blocks(ctx, node);
        }
    }

    /// A replica is whole on a DataNode: it says so at once.
    pub(super) fn replica_finished(&mut self, ctx: &mut Context, node: NodeId, block: BlockId, replica: Replica) {
        self.datanode(node).replicas.insert(block, replica);
        self.counters.replicas += 1;
        self.counters.replica_bytes += replica.length;
        let call = Call::Received { node, block };
        call_namenode(ctx, Process::datanode(node), (wire::RECEIVED, wire::SHORT_REPLY), call);
    }
}

pub(super) fn call_namenode(ctx: &mut Context, from: Process, (request, reply): (Bytes, Bytes), call: Call) {
    let to = Server::namenode(ctx.nodes.master());
    rpc::call(ctx, rpc::Call { from, to, request, reply, caller: call.into() });
}
