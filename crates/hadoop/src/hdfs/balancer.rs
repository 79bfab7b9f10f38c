//! HDFS's Balancer: it moves replicas from DataNodes that are fuller than the whole to emptier ones, until each is
//! within a threshold of the whole.
//!
//! The rules are those of Hadoop's `Balancer` and `Dispatcher` (package `org.apache.hadoop.hdfs.server.balancer`). In
//! each iteration:
//!
//! - A DataNode's utilisation is its used part of its capacity, and the average that of all together. Above the
//!   average a node is a source, else a target; beyond the threshold it is over- or under-utilised (`Balancer.init`).
//! - Each gives or takes at most the lesser of the threshold, its distance from the average, and 10 GB
//!   (`computeMaxSize2Move`, `dfs.balancer.max-size-to-move`).
//! - Over-utilised are matched with under-utilised, then with those below the average, then under-utilised with those
//!   above it; first within racks, then anywhere (`chooseStorageGroups`).
//! - A source's moves are chosen block by block: not one moved in the last 90 minutes, none smaller than 10 MB, none
//!   with a replica on the target, none whose replicas would be in fewer racks (`isGoodBlockCandidate`). A holder in
//!   the target's rack sends it, else any (`chooseProxySource`).
//! - A DataNode takes part in so many moves at a time, and gives them so much bandwidth together
//!   (`dfs.datanode.balance.max.concurrent.moves`, `.bandwidthPerSec`).
//! - The iteration ends with its moves, or after 20 minutes; the next begins 9 s later (two heartbeats and
//!   `dfs.namenode.redundancy.interval.seconds`). The Balancer exits when no node is beyond the threshold, when nothing
//!   can be matched, or after five iterations without a move.
//!
//! Simplified: the Balancer's own calls take no time, the sender opens the data connection instead of the target, and a
//! source without a candidate is done at once instead of after a minute.

use super::namenode::Copy;
use super::pipeline::Pipeline;
use super::{Hdfs, Request};
use crate::context::{Context, Nodes};
use crate::ids::{BlockId, NodeId, PipelineId};
use des::RandomStream;
use std::collections::BTreeMap;
use units::{Bytes, Time};

/// The most that a DataNode gives or takes in an iteration (`dfs.balancer.max-size-to-move`).
const MOST_MOVED: Bytes = Bytes::from_mib(10 << 10);
/// Smaller blocks stay (`dfs.balancer.getBlocks.min-block-size`).
const LEAST_BLOCK: Bytes = Bytes::from_mib(10);
/// A block that has been moved stays for so long (`dfs.balancer.movedWinWidth`).
const MOVED_WINDOW: Time = Time::from_secs(5400);
/// An iteration chooses no further moves after this (`Dispatcher.Source.MAX_ITERATION_TIME`).
const LONGEST_ITERATION: Time = Time::from_secs(1200);
/// Iterations without a move after which the Balancer exits (`-idleiterations`).
const IDLE_ITERATIONS: u32 = 5;

/// Settings of the Balancer.
#[derive(Debug, Clone, PartialEq)]
pub struct BalancerConfig {
    /// When it is started.
    pub start: Time,
    /// By which part of its capacity a DataNode may be off the average (`-threshold`, 10 %).
    pub threshold: f64,
    /// Bytes a second that a DataNode gives all moves together (`dfs.datanode.balance.bandwidthPerSec`).
    pub bandwidth: Bytes,
    /// Moves in which a DataNode takes part at a time (`dfs.datanode.balance.max.concurrent.moves`).
    pub moves: u32,
    /// What each node can store, by node.
    pub capacity: Vec<Bytes>,
}

/// How the Balancer has left the cluster, or has it now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Balanced {
    /// Iterations that moved or tried to.
    pub iterations: u32,
    /// Replicas that it has moved.
    pub replicas: u32,
    /// Their bytes.
    pub bytes: Bytes,
    /// When it exited; none while it runs.
    pub exit: Option<(Time, Exit)>,
}

/// Why the Balancer exited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// No DataNode is beyond the threshold.
    Balanced,
    /// Nothing can be matched, or five iterations moved nothing.
    NoMove,
}

/// How full a DataNode is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fill {
    /// The DataNode.
    pub node: NodeId,
    /// Bytes of its replicas.
    pub used: Bytes,
    /// Bytes that it can store; not zero.
    pub capacity: Bytes,
}

/// So many bytes that are to go from a DataNode to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// From here.
    pub source: NodeId,
    /// To there.
    pub target: NodeId,
    /// So many.
    pub bytes: Bytes,
}

/// A DataNode in an iteration's plan.
struct Group {
    node: NodeId,
    beyond: bool,
    room: Bytes,
}

/// What an iteration is to move, in the order of the reports; and the bytes by which the worse side is beyond the
/// threshold, zero where the cluster is balanced.
pub fn plan(reports: &[Fill], threshold: f64, nodes: &Nodes) -> (Bytes, Vec<Task>) {
    let used: Bytes = reports.iter().map(|report| report.used).sum();
    let capacity: Bytes = reports.iter().map(|report| report.capacity).sum();
    let average = used.get() as f64 / capacity.get().max(1) as f64;
    let (mut sources, mut targets) = (Vec::new(), Vec::new());
    let (mut over, mut under) = (0.0, 0.0);
    for report in reports {
        let whole = report.capacity.get() as f64;
        let off = report.used.get() as f64 / whole - average;
        let beyond = off.abs() - threshold;
        let mut room = Bytes::new(units::whole(whole * off.abs().min(threshold))).min(MOST_MOVED);
        if off <= 0.0 {
            room = room.min(report.capacity.saturating_sub(report.used));
        }
        let (side, left) = if off > 0.0 { (&mut sources, &mut over) } else { (&mut targets, &mut under) };
        side.push(Group { node: report.node, beyond: beyond > 0.0, room });
        *left += beyond.max(0.0) * whole;
    }
    let mut tasks = Vec::new();
    for same_rack in [true, false] {
        for (beyond_source, beyond_target) in [(true, true), (true, false), (false, true)] {
            for source in sources.iter_mut().filter(|source| source.beyond == beyond_source) {
                for target in targets.iter_mut().filter(|target| target.beyond == beyond_target) {
                    let near = nodes.rack(source.node) == nodes.rack(target.node);
                    let bytes = source.room.min(target.room);
                    if bytes > Bytes::ZERO && (near || !same_rack) {
                        source.room -= bytes;
                        target.room -= bytes;
                        tasks.push(Task { source: source.node, target: target.node, bytes });
                    }
                }
            }
        }
    }
    (Bytes::new(units::whole(over.max(under))), tasks)
}

/// A replica on its way.
#[derive(Debug, Clone, Copy)]
struct Move {
    source: NodeId,
    target: NodeId,
    proxy: NodeId,
}

/// The Balancer, and what the DataNodes know of its moves.
#[derive(Debug, Default)]
pub(super) struct Balancer {
    tasks: Vec<Task>,
    /// Blocks under way.
    moving: BTreeMap<BlockId, Move>,
    /// Blocks whose moves are over, which it has not been told.
    over: Vec<BlockId>,
    /// When blocks were moved.
    moved: BTreeMap<BlockId, Time>,
    /// By node: moves in which it takes part, and when its bandwidth is free again.
    busy: Vec<u32>,
    free_at: Vec<Time>,
    random: Option<RandomStream>,
    since: Time,
    /// Replicas moved when this iteration began.
    before: u32,
    idle: u32,
    runs: bool,
    pub outcome: Balanced,
}

impl Hdfs {
    /// What the Balancer has done; none where there is none.
    pub fn balanced(&self) -> Option<Balanced> {
        self.config.balancer.as_ref().map(|_| self.balancer.outcome)
    }

    pub(super) fn start_balancer(&mut self, ctx: &mut Context, seed: u64) {
        let Some(config) = &self.config.balancer else { return };
        self.balancer = Balancer {
            busy: vec![0; ctx.nodes.len()],
            free_at: vec![Time::ZERO; ctx.nodes.len()],
            random: Some(RandomStream::new(seed, "hdfs/balancer", 0)),
            ..Balancer::default()
        };
        ctx.timer(config.start, Request::Balance);
    }

    /// An iteration begins.
    pub(super) fn balance(&mut self, ctx: &mut Context) {
        let Some(config) = &self.config.balancer else { return };
        let alive = |node: &NodeId| self.namenode.is_alive(*node) && config.capacity[node.0 as usize] > Bytes::ZERO;
        let fill = |node: NodeId| Fill { node, used: self.stored(node), capacity: config.capacity[node.0 as usize] };
        let mut reports: Vec<Fill> = ctx.nodes.workers().filter(alive).map(fill).collect();
        if let Some(random) = &mut self.balancer.random {
            random.shuffle(&mut reports);
        }
        let (left, tasks) = plan(&reports, config.threshold, &ctx.nodes);
        let exit = if left == Bytes::ZERO {
            Some(Exit::Balanced)
        } else {
            (tasks.is_empty() || self.balancer.idle == IDLE_ITERATIONS).then_some(Exit::NoMove)
        };
        let balancer = &mut self.balancer;
        if let Some(exit) = exit {
            balancer.outcome.exit = Some((ctx.now, exit));
            return;
        }
        balancer.moved.retain(|_, at| at.saturating_add(MOVED_WINDOW) > ctx.now);
        (balancer.tasks, balancer.since, balancer.before, balancer.runs) =
            (tasks, ctx.now, balancer.outcome.replicas, true);
        balancer.outcome.iterations += 1;
        self.dispatch_moves(ctx);
    }

    /// Starts the moves that the DataNodes have room for; where none is left and none under way, the iteration is over.
    fn dispatch_moves(&mut self, ctx: &mut Context) {
        let in_time = self.balancer.since + LONGEST_ITERATION > ctx.now;
        while in_time && let Some((block, next)) = self.next_move(&ctx.nodes) {
            let balancer = &mut self.balancer;
            balancer.moving.insert(block, next);
            for node in [next.proxy, next.target] {
                balancer.busy[node.0 as usize] += 1;
            }
            let copy = Copy { block, targets: vec![next.target] };
            if !self.move_block(ctx, next.proxy, copy) {
                self.move_over(block);
            }
        }
        let balancer = &mut self.balancer;
        if balancer.runs && balancer.moving.is_empty() {
            balancer.runs = false;
            let moved = balancer.outcome.replicas > balancer.before;
            balancer.idle = if moved { 0 } else { balancer.idle + 1 };
            let pause = self.config.heartbeat_interval * 2 + self.config.redundancy_interval;
            ctx.timer_in(pause, Request::Balance);
        }
    }

    /// The next move that a task has a block and DataNodes with room for.
    fn next_move(&mut self, nodes: &Nodes) -> Option<(BlockId, Move)> {
        let most = self.config.balancer.as_ref()?.moves;
        let Balancer { tasks, busy, .. } = &self.balancer;
        let has_room = |node: NodeId| busy[node.0 as usize] < most;
        let found = tasks.iter().enumerate().filter(|(_, task)| has_room(task.target)).find_map(|(at, task)| {
            let blocks = self.datanodes[task.source.0 as usize].replicas.iter();
            blocks.filter(|(_, replica)| replica.length >= LEAST_BLOCK).find_map(|(block, replica)| {
                let holders = &self.namespace.block(*block).replicas;
                if !self.may_move(*block, *task, nodes) {
                    return None;
                }
                let free =
                    || holders.iter().copied().filter(|holder| has_room(*holder) && self.namenode.is_alive(*holder));
                let near = free().find(|holder| nodes.rack(*holder) == nodes.rack(task.target));
                let proxy = near.or_else(|| free().next())?;
                let next = Move { source: task.source, target: task.target, proxy };
                Some((at, *block, replica.length, next))
            })
        });
        let (at, block, length, next) = found?;
        let task = &mut self.balancer.tasks[at];
        task.bytes = task.bytes.saturating_sub(length);
        if task.bytes == Bytes::ZERO {
            self.balancer.tasks.remove(at);
        }
        Some((block, next))
    }

    /// Whether a block may go from a task's source to its target.
    fn may_move(&self, block: BlockId, task: Task, nodes: &Nodes) -> bool {
        let holders = &self.namespace.block(block).replicas;
        let Task { source, target, .. } = task;
        let rack = |node: NodeId| nodes.rack(node);
        let others = || holders.iter().copied().filter(|holder| *holder != source);
        // The source's rack would lose the block, and the target's has it already.
        let loses_rack = rack(source) != rack(target)
            && !others().any(|holder| rack(holder) == rack(source))
            && others().any(|holder| rack(holder) == rack(target));
        holders.contains(&source)
            && !holders.contains(&target)
            && !loses_rack
            && !self.balancer.moving.contains_key(&block)
            && !self.balancer.moved.contains_key(&block)
    }

    /// When a move may ask its sender's disk for the next piece: now, or when both DataNodes have bandwidth to give. If
    /// now, the piece takes its part of it.
    pub(super) fn piece_may_leave(
        &mut self,
        now: Time,
        (from, to): (NodeId, NodeId),
        piece: Bytes,
    ) -> Result<(), Time> {
        let Some(config) = &self.config.balancer else { return Ok(()) };
        let free_at = &mut self.balancer.free_at;
        let free = free_at[from.0 as usize].max(free_at[to.0 as usize]);
        if free > now {
            return Err(free);
        }
        let taken = Time::from_secs_f64(piece.get() as f64 / config.bandwidth.get().max(1) as f64);
        for node in [from, to] {
            free_at[node.0 as usize] = now + taken;
        }
        Ok(())
    }
    /// A move that had no bandwidth has some.
    pub(super) fn piece_due(&mut self, ctx: &mut Context, id: PipelineId) {
        if let Some(pipeline) = self.pipelines.get_mut(&id) {
            Pipeline::resume(pipeline);
            self.pump(ctx, id);
        }
    }

    /// A replica has been reported: if it is a moved one, the source's goes (`delHint`).
    pub(super) fn replica_moved(&mut self, now: Time, block: BlockId, node: NodeId) {
        let Some(source) = self.balancer.moving.get(&block).filter(|one| one.target == node).map(|one| one.source)
        else {
            return;
        };
        self.namespace.block_mut(block).replicas.retain(|holder| *holder != source);
        self.namenode.delete(source, block);
        let outcome = &mut self.balancer.outcome;
        outcome.replicas += 1;
        outcome.bytes += self.namespace.block(block).length;
        self.balancer.moved.insert(block, now);
        self.balancer.over.push(block);
    }
    /// The transfer of a block has failed.
    pub(super) fn move_failed(&mut self, ctx: &mut Context, block: BlockId) {
        self.balancer.over.push(block);
        self.note_moves(ctx);
    }
    /// A node has crashed: its moves are over.
    pub(super) fn moves_node_down(&mut self, ctx: &mut Context, node: NodeId) {
        let Balancer { moving, over, .. } = &mut self.balancer;
        over.extend(moving.iter().filter(|(_, one)| one.target == node || one.proxy == node).map(|(block, _)| *block));
        self.note_moves(ctx);
    }
    /// If moves are over, the Balancer is told.
    pub(super) fn note_moves(&self, ctx: &mut Context) {
        if !self.balancer.over.is_empty() {
            ctx.timer_in(Time::ZERO, Request::MovesOver);
        }
    }
    /// The Balancer knows the ends of moves.
    pub(super) fn moves_over(&mut self, ctx: &mut Context) {
        for block in std::mem::take(&mut self.balancer.over) {
            self.move_over(block);
        }
        self.dispatch_moves(ctx);
    }
    fn move_over(&mut self, block: BlockId) {
        let Some(over) = self.balancer.moving.remove(&block) else { return };
        for node in [over.proxy, over.target] {
            let busy = &mut self.balancer.busy[node.0 as usize];
            *busy = busy.saturating_sub(1);
        }
    }
}
