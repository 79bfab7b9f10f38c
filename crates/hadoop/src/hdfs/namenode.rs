//! The NameNode: who lives, where replicas go, and which are made again.
//!
//! What a call asks for takes effect when the NameNode has processed it, not when it was sent. A DataNode is dead when
//! no heartbeat of it has been processed for `HdfsConfig::dead_after`; this is looked at every recheck interval. Blocks
//! with too few replicas are copied by a DataNode that has one, told so in the reply to its heartbeat (HDFS
//! Architecture Guide, "Data Disk Failure, Heartbeats and Re-Replication").

use super::namespace::Block;
use super::write::Allocation;
use super::{Call, Hdfs, Request, WriteCall, placement, wire};
use crate::context::Context;
use crate::ids::{BlockId, CallId, NodeId, WriteId};
use crate::numbers::draw;
use crate::rpc;
use std::collections::{BTreeMap, BTreeSet};
use units::Time;

/// Threads of a DataNode that serves nobody, as far as its load counts them.
const ACCEPTOR: u32 = 1;

/// A copy that has not been reported for this long is scheduled again
/// (`dfs.namenode.reconstruction.pending.timeout-sec`).
const PENDING_TIMEOUT: Time = Time::from_secs(300);

/// A DataNode as the NameNode sees it.
#[derive(Debug, Clone)]
struct Known {
    alive: bool,
    last_heartbeat: Time,
    /// Transfers under way, as its last heartbeat said.
    transfers: u32,
    /// Disks at rest, how deep: as its last heartbeat said, and as the one under way does.
    resting: BTreeMap<u32, u8>,
    resting_next: BTreeMap<u32, u8>,
    copies: Vec<Copy>,
    deletions: Vec<BlockId>,
}

/// A command to copy a block to other DataNodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Copy {
    pub block: BlockId,
    pub targets: Vec<NodeId>,
}

#[derive(Debug, Clone)]
struct Pending {
    source: NodeId,
    targets: Vec<NodeId>,
    since: Time,
}

/// The NameNode's view of the DataNodes, and its work queues.
#[derive(Debug, Default)]
pub(super) struct NameNode {
    known: Vec<Known>,
    /// Blocks that may have too few replicas.
    lacking: BTreeSet<BlockId>,
    /// Copies ordered and not reported yet.
    pending: BTreeMap<BlockId, Pending>,
    /// Commands on their way to a DataNode in a heartbeat's reply.
    orders: Vec<Vec<Copy>>,
}

impl NameNode {
    pub fn new(nodes: usize) -> Self {
        let known = Known {
            alive: true,
            last_heartbeat: Time::ZERO,
            transfers: 0,
            resting: BTreeMap::new(),
            resting_next: BTreeMap::new(),
            copies: Vec::new(),
            deletions: Vec::new(),
        };
        Self { known: vec![known; nodes], orders: vec![Vec::new(); nodes], ..Self::default() }
    }
    pub fn is_alive(&self, node: NodeId) -> bool {
        self.known[node.0 as usize].alive
    }
    /// A DataNode is to delete its replica of a block.
    pub fn delete(&mut self, node: NodeId, block: BlockId) {
        self.known(node).deletions.push(block);
    }
    fn known(&mut self, node: NodeId) -> &mut Known {
        &mut self.known[node.0 as usize]
    }
    /// The highest load at which a DataNode is still given more: twice the average
    /// (`dfs.namenode.redundancy.considerLoad.factor`).
    fn load_limit(&self) -> f64 {
        let (mut count, mut sum) = (0_u32, 0_u32);
        for known in self.known.iter().skip(1).filter(|known| known.alive) {
            count += 1;
            sum += ACCEPTOR + known.transfers;
        }
        2.0 * f64::from(sum) / f64::from(count.max(1))
    }
    /// What a DataNode says of its load: its threads (`DataNode.getXceiverCount`), of which one accepts connections and
    /// the others serve one each.
    fn load(&self, node: NodeId) -> f64 {
        f64::from(ACCEPTOR + self.known[node.0 as usize].transfers)
    }
    fn copying_from(&self, node: NodeId) -> usize {
        self.pending.values().filter(|pending| pending.source == node).count()
    }
}

impl Hdfs {
    /// Whether the NameNode believes that the DataNode lives.
    pub fn is_alive(&self, node: NodeId) -> bool {
        self.namenode.is_alive(node)
    }
    /// Blocks that have, as far as the NameNode knows, fewer replicas than they should.
    pub fn lacking(&self) -> Vec<BlockId> {
        self.namenode.lacking.iter().copied().collect()
    }

    pub(super) fn start_namenode(&mut self, ctx: &mut Context) {
        ctx.timer_in(self.config.recheck_interval, Request::Recheck);
        ctx.timer_in(self.config.redundancy_interval, Request::Redundancy);
    }

    /// The NameNode has processed a call.
    pub(crate) fn on_served(&mut self, ctx: &mut Context, id: CallId, call: Call) {
        match call {
            Call::Heartbeat { node, transfers } => self.on_heartbeat(ctx, id, node, transfers),
            Call::BlockReport(node) => {
                self.block_report(ctx, node);
                self.note_moves(ctx);
            }
            Call::Received { node, block } => {
                self.replica_reported(ctx, block, node);
                self.note_moves(ctx);
            }
            Call::Write(write, WriteCall::AddBlock) => self.allocate(ctx, write),
            Call::Write(write, WriteCall::Complete) => self.complete(write),
            Call::Locate(_) | Call::Write(_, WriteCall::Create | WriteCall::UpdatePipeline) => {}
        }
    }

    fn on_heartbeat(&mut self, ctx: &mut Context, call: CallId, node: NodeId, transfers: u32) {
        let streams = self.config.replication_max_streams as usize;
        let known = self.namenode.known(node);
        let was_dead = !known.alive;
        known.alive = true;
        known.last_heartbeat = ctx.now;
        known.transfers = transfers;
        known.resting = std::mem::take(&mut known.resting_next);
        let copies: Vec<_> = known.copies.drain(..streams.min(known.copies.len())).collect();
        let deletions = std::mem::take(&mut known.deletions);
        let commands = copies.len() + deletions.len() + usize::from(was_dead);
        rpc::set_reply(ctx, call, wire::HEARTBEAT_REPLY + wire::COMMAND * commands as u64);
        self.namenode.orders[node.0 as usize].extend(copies);
        for block in deletions {
            // Deleting takes no time that anyone waits for.
            self.datanode(node).replicas.remove(&block);
        }
        if was_dead {
            self.report_blocks(ctx, node);
        }
    }

    /// A heartbeat leaves that tells which disks rest.
    pub(super) fn rests_on_the_way(&mut self, node: NodeId, resting: BTreeMap<u32, u8>) {
        self.namenode.known(node).resting_next = resting;
    }
    /// How deep the disk of a replica rests, as far as the NameNode knows; 0 where it is awake.
    pub(super) fn depth_of(&self, block: BlockId, node: NodeId) -> u8 {
        let known = &self.namenode.known[node.0 as usize];
        if known.resting.is_empty() {
            return 0;
        }
        let replica = self.datanodes[node.0 as usize].replicas.get(&block);
        replica.and_then(|replica| known.resting.get(&replica.place.disk)).copied().unwrap_or(0)
    }
    /// The DataNodes register: the NameNode knows which disks rest from the beginning on.
    pub(super) fn register_rests(&mut self) {
        for (known, datanode) in self.namenode.known.iter_mut().zip(&self.datanodes) {
            known.resting.clone_from(datanode.resting());
        }
    }
    /// Whether blocks are being made again, or wait for it.
    pub fn is_recovering(&self) -> bool {
        !self.namenode.lacking.is_empty() || self.namenode.pending.values().any(|pending| !pending.targets.is_empty())
    }

    /// The DataNode has its reply: it does what it was told.
    pub(super) fn heartbeat_replied(&mut self, ctx: &mut Context, node: NodeId) {
        self.heartbeat_over(ctx, node);
        for copy in std::mem::take(&mut self.namenode.orders[node.0 as usize]) {
            self.copy_block(ctx, node, copy);
        }
    }

    fn block_report(&mut self, ctx: &mut Context, node: NodeId) {
        if self.has_lost_a_volume(node) {
            self.strike_missing(node);
        }
        let blocks: Vec<_> = self.datanode(node).replicas.keys().copied().collect();
        for block in blocks {
            self.replica_reported(ctx, block, node);
        }
    }

    fn replica_reported(&mut self, ctx: &Context, block: BlockId, node: NodeId) {
        if !self.namenode.is_alive(node) {
            return;
        }
        let wanted = self.namespace.wanted(block);
        let Some(length) = self.datanode(node).replicas.get(&block).map(|replica| replica.length) else { return };
        let record = self.namespace.block_mut(block);
        if record.replicas.contains(&node) {
            return;
        }
        record.replicas.push(node);
        record.length = record.length.max(length);
        self.replica_moved(ctx.now, block, node);
        if let Some(pending) = self.namenode.pending.get_mut(&block)
            && pending.targets.contains(&node)
        {
            pending.targets.retain(|target| *target != node);
            self.counters.rereplications += 1;
            if pending.targets.is_empty() {
                self.namenode.pending.remove(&block);
            }
        }
        if self.namespace.block(block).replicas.len() > wanted {
            self.drop_excess(ctx, block);
        }
    }

    /// One replica too many: of those on the rack that holds most, the last reported goes.
    fn drop_excess(&mut self, ctx: &Context, block: BlockId) {
        let replicas = &self.namespace.block(block).replicas;
        let crowd =
            |node: NodeId| replicas.iter().filter(|other| ctx.nodes.rack(**other) == ctx.nodes.rack(node)).count();
        let excess = (0..replicas.len()).max_by_key(|i| (crowd(replicas[*i]), *i));
        if let Some(excess) = excess {
            let node = self.namespace.block_mut(block).replicas.remove(excess);
            self.namenode.delete(node, block);
        }
    }

    /// A new block for an output stream.
    fn allocate(&mut self, ctx: &mut Context, id: WriteId) {
        if self.striped_writes.contains_key(&id) {
            return self.allocate_group(ctx, id);
        }
        let Some(write) = self.writes.get(&id) else { return };
        let file = self.namespace.file(write.file);
        // The block before the last must be complete (`FSNamesystem.checkFileProgress`).
        let behind = file.blocks.len().checked_sub(2).map(|i| file.blocks[i]);
        let allocation = if behind.is_some_and(|block| self.namespace.block(block).replicas.is_empty()) {
            Allocation::NotYet
        } else {
            let (writer, replication, file) = (write.writer.node, write.replication, write.file);
            let limit = if self.config.consider_load { self.namenode.load_limit() } else { f64::INFINITY };
            let usable = |node: NodeId| {
                self.namenode.is_alive(node) && !write.excluded.contains(&node) && self.namenode.load(node) <= limit
            };
            let local = (writer != ctx.nodes.master()).then_some(writer);
            let mut targets = placement::choose(&ctx.nodes, local, replication, &[], usable, &mut self.random);
            if targets.len() < replication as usize {
                // As the default policy does, try again without regard to load.
                let usable = |node: NodeId| self.namenode.is_alive(node) && !write.excluded.contains(&node);
                targets = placement::choose(&ctx.nodes, local, replication, &[], usable, &mut self.random);
            }
            if targets.is_empty() {
                Allocation::NotYet
            } else {
                let block = self.namespace.add_block(file, units::Bytes::ZERO, ctx.new_file());
                Allocation::Block(block, targets)
            }
        };
        if let Some(write) = self.writes.get_mut(&id) {
            write.allocation = Some(allocation);
        }
    }

    /// A block group for an output stream.
    fn allocate_group(&mut self, ctx: &mut Context, id: WriteId) {
        let Some(write) = self.striped_writes.get(&id) else { return };
        let (file, code, writer) = (write.file, write.code, write.writer.node);
        let behind = self.namespace.file(file).blocks.iter().rev().nth(1);
        if behind.is_some_and(|block| !self.namespace.is_reported(*block)) {
            return;
        }
        let usable = |node: NodeId| self.namenode.is_alive(node) && !write.excluded.contains(&node);
        let local = (writer != ctx.nodes.master()).then_some(writer);
        let nodes = placement::choose_spread(&ctx.nodes, local, code.parts(), &[], usable, &mut self.random);
        // Parity that finds no place is left out (`FSNamesystem`: "Cannot allocate parity block").
        if nodes.len() < code.data {
            return;
        }
        let group = self.namespace.add_group(file, code, || ctx.new_file());
        if let Some(write) = self.striped_writes.get_mut(&id) {
            write.allocation = Some((group, nodes));
        }
    }

    /// A client asks whether its file may be closed: enough of every block must be reported.
    fn complete(&mut self, id: WriteId) {
        let file = self.writes.get(&id).map(|write| write.file);
        let Some(file) = file.or_else(|| self.striped_writes.get(&id).map(|write| write.file)) else { return };
        let completed = self.namespace.file(file).blocks.iter().all(|block| self.namespace.is_reported(*block));
        if let Some(write) = self.writes.get_mut(&id) {
            write.completed = completed;
        }
        if let Some(write) = self.striped_writes.get_mut(&id) {
            write.completed = completed;
        }
        if completed {
            self.namespace.file_mut(file).complete = true;
        }
    }

    /// A block was written by fewer DataNodes than it should be.
    pub(super) fn written_short(&mut self, block: BlockId) {
        self.namenode.lacking.insert(block);
    }

    /// The NameNode starts again. It has its files and waits for the DataNodes' heartbeats.
    pub(super) fn namenode_up(&mut self, now: Time) {
        for known in &mut self.namenode.known {
            known.last_heartbeat = now;
        }
    }

    /// Looks for dead DataNodes.
    pub(super) fn recheck(&mut self, ctx: &mut Context) {
        ctx.timer_in(self.config.recheck_interval, Request::Recheck);
        if !ctx.nodes.is_up(ctx.nodes.master()) {
            return;
        }
        let dead_after = self.config.dead_after();
        for node in ctx.nodes.workers() {
            let known = self.namenode.known(node);
            if known.alive && known.last_heartbeat.saturating_add(dead_after) < ctx.now {
                known.alive = false;
                known.copies.clear();
                known.deletions.clear();
                self.bury(node);
            }
        }
    }

    /// Replicas that a DataNode's report lacks are no more.
    fn strike_missing(&mut self, node: NodeId) {
        let held = &self.datanodes[node.0 as usize].replicas;
        let is_gone = |(id, block): &(BlockId, &Block)| block.replicas.contains(&node) && !held.contains_key(id);
        let gone: Vec<_> = self.namespace.blocks().filter(is_gone).map(|(id, _)| id).collect();
        for block in gone {
            self.namespace.block_mut(block).replicas.retain(|replica| *replica != node);
            self.namenode.lacking.insert(block);
        }
    }

    fn bury(&mut self, node: NodeId) {
        let blocks: Vec<_> =
            self.namespace.blocks().filter(|(_, block)| block.replicas.contains(&node)).map(|(id, _)| id).collect();
        for block in blocks {
            self.namespace.block_mut(block).replicas.retain(|replica| *replica != node);
            self.namenode.lacking.insert(block);
        }
        self.namenode.pending.retain(|_, pending| pending.source != node);
        for pending in self.namenode.pending.values_mut() {
            pending.targets.retain(|target| *target != node);
        }
    }

    /// Orders copies of blocks that lack replicas, those with the fewest left first, as many as the work limit and the
    /// sources' streams allow.
    pub(super) fn restore_redundancy(&mut self, ctx: &mut Context) {
        ctx.timer_in(self.config.redundancy_interval, Request::Redundancy);
        if !ctx.nodes.is_up(ctx.nodes.master()) || self.namenode.lacking.is_empty() {
            return;
        }
        let now = ctx.now;
        self.namenode
            .pending
            .retain(|_, pending| !pending.targets.is_empty() && pending.since.saturating_add(PENDING_TIMEOUT) > now);
        let alive = ctx.nodes.workers().filter(|node| self.namenode.is_alive(*node)).count();
        let mut budget = alive * self.config.replication_work_multiplier as usize;
        let mut blocks: Vec<_> = self.namenode.lacking.iter().copied().collect();
        blocks.sort_by_key(|block| self.namespace.block(*block).replicas.len());
        for block in blocks {
            if budget == 0 {
                break;
            }
            let record = self.namespace.block(block);
            let wanted = units::count(self.namespace.wanted(block));
            if record.replicas.len() >= wanted as usize {
                self.namenode.lacking.remove(&block);
                continue;
            }
            if self.namespace.group_of(block).is_some() {
                budget -= usize::from(self.order_rebuild(ctx, block));
                continue;
            }
            if self.namenode.pending.contains_key(&block)
                || record.replicas.is_empty()
                || record.replicas.len() >= alive
            {
                continue;
            }
            let held = record.replicas.clone();
            let streams = self.config.replication_max_streams as usize;
            let free: Vec<_> =
                held.iter().copied().filter(|node| self.namenode.copying_from(*node) < streams).collect();
            if free.is_empty() {
                continue;
            }
            let source = free[draw(&mut self.random, free.len())];
            let usable = |node: NodeId| self.namenode.is_alive(node);
            let targets = placement::choose(&ctx.nodes, Some(source), wanted, &held, usable, &mut self.random);
            if targets.is_empty() {
                continue;
            }
            budget -= 1;
            self.namenode.pending.insert(block, Pending { source, targets: targets.clone(), since: now });
            self.namenode.known(source).copies.push(Copy { block, targets });
        }
    }

    /// Orders a part of a group to be made again, by a DataNode that has none of the group; whether one was found.
    fn order_rebuild(&mut self, ctx: &Context, part: BlockId) -> bool {
        let Some((group, _)) = self.namespace.group_of(part) else { return false };
        let Some(code) = self.namespace.code(group) else { return false };
        let held = self.namespace.holders(group);
        let length = self.namespace.block(group).length;
        // Data parts that a short group leaves empty are known without being read.
        let empty = (0..code.data).filter(|part| code.in_part(length, *part) == units::Bytes::ZERO).count();
        if self.namenode.pending.contains_key(&part) || held.len() + empty < code.data {
            return false;
        }
        let streams = self.config.replication_max_streams as usize;
        let has_time = |node: NodeId| self.namenode.is_alive(node) && self.namenode.copying_from(node) < streams;
        // Parts that are being made will stand somewhere, too.
        let parts = self.namespace.parts(group);
        let pending = parts.iter().filter_map(|part| self.namenode.pending.get(part));
        let taken: Vec<NodeId> = held.iter().copied().chain(pending.map(|pending| pending.source)).collect();
        let targets = placement::choose_spread(&ctx.nodes, None, taken.len() + 1, &taken, has_time, &mut self.random);
        let Some(&target) = targets.first() else { return false };
        let pending = Pending { source: target, targets: vec![target], since: ctx.now };
        self.namenode.pending.insert(part, pending);
        self.namenode.known(target).copies.push(Copy { block: part, targets: vec![target] });
        true
    }
}
