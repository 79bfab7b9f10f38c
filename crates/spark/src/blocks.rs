//! Blocks that executors get from one another by name, pieces of broadcasts and partitions of data sets that are kept: who
//! has them, as the driver knows (`BlockManagerMasterEndpoint`, a thread of its own, whose time is not modelled), and how an
//! executor gets one: it asks the driver, and then those that have it, one after the other until one gives it
//! (`BlockManager.getRemoteBlock`, `fetchBlockSync`).

use crate::application::{Errand, Spark};
use crate::driver::{ADDRESS, MESSAGE};
use crate::executor::DRIVER;
use crate::loss::{MAX_RETRIES, RETRY_WAIT, SILENCE};
use crate::store::{Found, KeptPartition};
use crate::transfer::{BLOCK_NAME, CHUNK, HANDLE, REQUEST};
use des::RandomStream;
use hadoop::{ConnId, DiskOp, DiskTransfer, End, Platform};
use std::collections::BTreeMap;
use units::Bytes;

/// A piece of what a stage broadcasts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Piece {
    pub stage: usize,
    pub number: u32,
}

/// A block of which the driver knows who has it (`BlockId`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NamedBlock {
    Piece(Piece),
    Kept(KeptPartition),
}

/// What has been sent of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sent {
    /// All of it.
    pub all: Bytes,
    /// What is sent and has not come.
    pub in_flight: Bytes,
    /// What was sent in vain: its connection, its executor or its task was lost.
    pub wasted: Bytes,
}

impl Sent {
    fn leaves(&mut self, bytes: Bytes) {
        self.all += bytes;
        self.in_flight += bytes;
    }
    fn came(&mut self, bytes: Bytes) {
        self.in_flight = self.in_flight.saturating_sub(bytes);
    }
    fn never_comes(&mut self, bytes: Bytes) {
        self.came(bytes);
        self.wasted += bytes;
    }
}

/// The executors that have blocks, as the driver knows.
#[derive(Debug, Default)]
pub struct Held(BTreeMap<NamedBlock, Vec<usize>>);

impl Held {
    /// An executor has told of a block.
    pub fn add(&mut self, block: NamedBlock, executor: usize) {
        self.0.entry(block).or_default().push(executor);
    }

    /// An executor has a block no longer.
    pub fn drop(&mut self, block: NamedBlock, executor: usize) {
        if let Some(holders) = self.0.get_mut(&block) {
            holders.retain(|holder| *holder != executor);
        }
    }

    /// An executor is lost (`removeBlockManager`).
    pub fn forget(&mut self, executor: usize) {
        self.0.values_mut().for_each(|holders| holders.retain(|holder| *holder != executor));
    }

    /// Who has a block, beside the driver.
    pub fn of(&self, block: NamedBlock) -> &[usize] {
        self.0.get(&block).map_or(&[], Vec::as_slice)
    }
}

/// The number of a pull; none is used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PullId(u64);

/// How an executor gets a block.
#[derive(Clone, Copy, Debug)]
pub struct Pull {
    pub executor: usize,
    pub block: NamedBlock,
    pub bytes: Bytes,
    /// The task that it is for, if it is for one.
    pub task: Option<usize>,
    /// Who is asked, over which connection. The driver's block manager is behind all executors.
    from: usize,
    conn: Option<ConnId>,
    /// The block is on its way.
    sent: bool,
    /// The number of this try; what concerns an earlier one is old.
    attempt: u32,
    /// How often this holder was tried in vain.
    failures: u32,
}

/// What has happened of a pull.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PullStep {
    /// The driver is asked who has the block, and has answered.
    Locate,
    Located,
    /// The holder is asked to open it, has answered, and is asked for its data.
    Open,
    Opened,
    Ask,
    /// The holder has it no longer.
    Gone,
    /// The holder has read it from its disk.
    Read,
    /// The data are there.
    Data,
    /// The driver is told that the executor has it, too, and has answered.
    Report,
    Reported,
    /// Nothing has come for long, no connection could be made, the holder is tried again.
    Silent,
    Unanswered,
    Retry,
}

/// Pulls under way.
#[derive(Debug)]
pub struct Pulls {
    under_way: BTreeMap<PullId, Pull>,
    /// Who may have the block of each and has not been asked, the next last.
    holders: BTreeMap<PullId, Vec<usize>>,
    next: u64,
    /// For the order in which pieces are got, and of those that have one.
    pub random: RandomStream,
}

impl Pulls {
    pub fn new(seed: u64) -> Self {
        let random = RandomStream::new(seed, "spark-blocks", 0);
        Self { under_way: BTreeMap::new(), holders: BTreeMap::new(), next: 0, random }
    }

    fn remove(&mut self, id: PullId) -> Option<Pull> {
        self.holders.remove(&id);
        self.under_way.remove(&id)
    }

    fn of(&self, holds: impl Fn(&Pull) -> bool) -> Vec<PullId> {
        self.under_way.iter().filter(|(_, pull)| holds(pull)).map(|(id, _)| *id).collect()
    }
}

impl Spark {
    /// An executor gets a block that it has not.
    pub(crate) fn pull(
        &mut self,
        platform: &mut Platform,
        executor: usize,
        block: NamedBlock,
        (bytes, task): (Bytes, Option<usize>),
    ) {
        self.pulls.next += 1;
        let id = PullId(self.pulls.next);
        let (from, conn, sent) = (executor, None, false);
        let pull = Pull { executor, block, bytes, task, from, conn, sent, attempt: 0, failures: 0 };
        self.pulls.under_way.insert(id, pull);
        self.tell_driver(platform, id, PullStep::Locate);
    }

    /// Something has happened of a try to get a block.
    pub(crate) fn on_pull(&mut self, platform: &mut Platform, (id, attempt): (PullId, u32), step: PullStep) {
        let Some(pull) = self.pulls.under_way.get(&id).filter(|pull| pull.attempt == attempt).copied() else { return };
        match step {
            PullStep::Locate => self.on_locate(platform, id, &pull),
            PullStep::Located | PullStep::Gone => self.next_holder(platform, id),
            PullStep::Open if self.is_gone(&pull) => {
                self.tell_puller(platform, id, Bytes::new(MESSAGE), PullStep::Gone);
            }
            PullStep::Open => self.tell_puller(platform, id, Bytes::new(HANDLE), PullStep::Opened),
            PullStep::Opened => self.tell_holder(platform, id, Bytes::new(CHUNK), PullStep::Ask),
            PullStep::Ask => self.give_block(platform, id, &pull),
            PullStep::Read => self.send_block(platform, id, &pull),
            PullStep::Data => self.on_data(platform, id, &pull),
            PullStep::Report => {
                self.held.add(pull.block, pull.executor);
                self.tell(platform, pull.executor, Bytes::new(MESSAGE), Errand::Pull(id, attempt, PullStep::Reported));
            }
            PullStep::Reported => {
                self.pulls.remove(id);
                if let NamedBlock::Piece(piece) = pull.block {
                    self.next_piece(platform, pull.executor, piece.stage);
                }
            }
            PullStep::Silent => {
                if let Some(conn) = pull.conn {
                    self.disconnected(platform, conn);
                }
            }
            PullStep::Unanswered if self.executors[pull.from].is_lost => self.next_holder(platform, id),
            PullStep::Unanswered => self.try_holder_again(platform, id),
            PullStep::Retry => self.ask_holder(platform, id),
        }
    }

    /// The driver says who has a block; its executor asks those on its own node first, else in random order
    /// (`sortLocations`).
    fn on_locate(&mut self, platform: &mut Platform, id: PullId, pull: &Pull) {
        let mut holders: Vec<usize> = self.held.of(pull.block).to_vec();
        if let NamedBlock::Piece(_) = pull.block {
            holders.push(DRIVER);
        }
        let bytes = Bytes::new(MESSAGE + (ADDRESS * holders.len()) as u64);
        self.pulls.random.shuffle(&mut holders);
        let here = self.executors[pull.executor].node;
        let is_here = |holder: &usize| self.executors.get(*holder).is_some_and(|holder| holder.node == here);
        holders.sort_by_key(is_here);
        self.pulls.holders.insert(id, holders);
        self.tell(platform, pull.executor, bytes, Errand::Pull(id, pull.attempt, PullStep::Located));
    }

    /// The next of those that have a block is asked for it. Where none of them has given a partition, its task computes
    /// it. Of a piece the driver is asked anew: as by the next attempt at the task, which fails in Spark.
    fn next_holder(&mut self, platform: &mut Platform, id: PullId) {
        let Some(pull) = self.pulls.under_way.get_mut(&id) else { return };
        (pull.attempt, pull.failures, pull.conn) = (pull.attempt + 1, 0, None);
        match self.pulls.holders.get_mut(&id).and_then(Vec::pop) {
            Some(holder) => {
                pull.from = holder;
                self.ask_holder(platform, id);
            }
            None if pull.task.is_some() => {
                if let Some(pull) = self.pulls.remove(id) {
                    self.on_looked_up(platform, &pull, false);
                }
            }
            None => self.tell_driver(platform, id, PullStep::Locate),
        }
    }

    /// A holder is asked for a block.
    fn ask_holder(&mut self, platform: &mut Platform, id: PullId) {
        let Some(Pull { executor, from, attempt, .. }) = self.pulls.under_way.get(&id).copied() else { return };
        let is_dead = self.executors.get(from).is_some_and(|holder| holder.is_dead);
        if is_dead && !self.executors[executor].peers.contains_key(&from) {
            let errand = self.errands.send(Errand::Pull(id, attempt, PullStep::Unanswered));
            return platform.ctx.drive_timer(platform.ctx.now + self.connects_in_vain(platform, from), errand);
        }
        let conn = self.peer(platform, executor, from);
        if let Some(pull) = self.pulls.under_way.get_mut(&id) {
            pull.conn = Some(conn);
        }
        if is_dead {
            self.await_block(platform, id);
        }
        self.tell_holder(platform, id, Bytes::new(REQUEST + BLOCK_NAME), PullStep::Open);
    }

    /// Whether a holder has a block no longer, or its process is gone.
    fn is_gone(&self, pull: &Pull) -> bool {
        let is_dead = self.executors.get(pull.from).is_some_and(|holder| holder.is_dead);
        is_dead || matches!(pull.block, NamedBlock::Kept(partition) if self.cache.find(pull.from, partition).is_none())
    }

    /// A holder gives a block, from its memory or its disk.
    fn give_block(&mut self, platform: &mut Platform, id: PullId, pull: &Pull) {
        let NamedBlock::Kept(partition) = pull.block else { return self.send_block(platform, id, pull) };
        match self.cache.find(pull.from, partition) {
            Some(Found::Memory) => {
                self.cache.touch(pull.from, partition);
                self.send_block(platform, id, pull);
            }
            Some(Found::Disk(disk, file)) => {
                let errand = self.errands.send(Errand::Pull(id, pull.attempt, PullStep::Read));
                let transfer = DiskTransfer::new(disk, DiskOp::Read, file, Bytes::ZERO, pull.bytes);
                platform.ctx.drive_disk(self.executors[pull.from].node, transfer, errand);
            }
            None => self.tell_puller(platform, id, Bytes::new(MESSAGE), PullStep::Gone),
        }
    }

    /// The books of what is sent of a block's broadcast or data set.
    fn sent_of(&mut self, block: NamedBlock) -> &mut Sent {
        match block {
            NamedBlock::Piece(piece) => &mut self.broadcasts.books(piece.stage).sent,
            NamedBlock::Kept(partition) => &mut self.cache.books(partition.stage).sent,
        }
    }

    /// An executor has a block.
    fn on_data(&mut self, platform: &mut Platform, id: PullId, pull: &Pull) {
        self.sent_of(pull.block).came(pull.bytes);
        match pull.block {
            NamedBlock::Piece(piece) => {
                // Its connection no longer matters.
                if let Some(pull) = self.pulls.under_way.get_mut(&id) {
                    (pull.sent, pull.conn) = (false, None);
                }
                self.broadcasts.came(pull, piece.stage, pull.from == DRIVER);
                self.tell_driver(platform, id, PullStep::Report);
            }
            NamedBlock::Kept(partition) => {
                self.pulls.remove(id);
                self.cache.came(partition.stage, pull.bytes);
                self.on_looked_up(platform, pull, true);
            }
        }
    }

    /// A holder sends a block.
    fn send_block(&mut self, platform: &mut Platform, id: PullId, pull: &Pull) {
        if let Some(pull) = self.pulls.under_way.get_mut(&id) {
            pull.sent = true;
        }
        self.sent_of(pull.block).leaves(pull.bytes);
        self.tell_puller(platform, id, pull.bytes + Bytes::new(CHUNK), PullStep::Data);
    }

    fn tell_driver(&mut self, platform: &mut Platform, id: PullId, step: PullStep) {
        let Some(pull) = self.pulls.under_way.get(&id) else { return };
        let message = self.errands.send(Errand::Pull(id, pull.attempt, step));
        platform.ctx.drive_send(self.executors[pull.executor].driver, End::Client, Bytes::new(MESSAGE), message);
    }

    fn tell_holder(&mut self, platform: &mut Platform, id: PullId, bytes: Bytes, step: PullStep) {
        let Some(&Pull { conn: Some(conn), attempt, .. }) = self.pulls.under_way.get(&id) else { return };
        let message = self.errands.send(Errand::Pull(id, attempt, step));
        platform.ctx.drive_send(conn, End::Client, bytes, message);
    }

    fn tell_puller(&mut self, platform: &mut Platform, id: PullId, bytes: Bytes, step: PullStep) {
        let Some(&Pull { conn: Some(conn), attempt, .. }) = self.pulls.under_way.get(&id) else { return };
        let message = self.errands.send(Errand::Pull(id, attempt, step));
        platform.ctx.drive_send(conn, End::Server, bytes, message);
    }

    /// Something was asked of a holder that will not answer.
    fn await_block(&mut self, platform: &mut Platform, id: PullId) {
        let Some(pull) = self.pulls.under_way.get(&id) else { return };
        let errand = self.errands.send(Errand::Pull(id, pull.attempt, PullStep::Silent));
        platform.ctx.drive_timer(platform.ctx.now + SILENCE, errand);
    }

    /// A connection between block managers is gone.
    pub(crate) fn pulls_disconnected(&mut self, platform: &mut Platform, conn: ConnId) {
        for id in self.pulls.of(|pull| pull.conn == Some(conn)) {
            self.try_holder_again(platform, id);
        }
    }

    /// A holder has not given a block, and may be tried again.
    fn try_holder_again(&mut self, platform: &mut Platform, id: PullId) {
        let Some(pull) = self.pulls.under_way.get_mut(&id) else { return };
        let before = *pull;
        (pull.attempt, pull.failures, pull.conn, pull.sent) = (pull.attempt + 1, pull.failures + 1, None, false);
        let now = *pull;
        if before.sent {
            self.sent_of(before.block).never_comes(before.bytes);
        }
        if now.failures > MAX_RETRIES {
            return self.next_holder(platform, id);
        }
        let errand = self.errands.send(Errand::Pull(id, now.attempt, PullStep::Retry));
        platform.ctx.drive_timer(platform.ctx.now + RETRY_WAIT, errand);
    }

    /// Nobody waits any more for what these get.
    pub(crate) fn end_pulls(&mut self, of: impl Fn(&Pull) -> bool) {
        for id in self.pulls.of(of) {
            if let Some(pull) = self.pulls.remove(id).filter(|pull| pull.sent) {
                self.sent_of(pull.block).never_comes(pull.bytes);
            }
        }
    }

    /// An executor's process is gone: it gets nothing more, and gives nothing.
    pub(crate) fn drop_pulls(&mut self, platform: &mut Platform, executor: usize) {
        self.end_pulls(|pull| pull.executor == executor);
        for id in self.pulls.of(|pull| pull.from == executor && pull.conn.is_some()) {
            self.await_block(platform, id);
        }
    }
}
