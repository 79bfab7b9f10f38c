//! Blocks that executors get from one another by name: who has them, as the driver knows (`BlockManagerMasterEndpoint`,
//! a thread of its own, whose time is not modelled), and how an executor gets one: it asks the driver, and then those
//! that have it, one after the other until one gives it (`BlockManager.getRemoteBlock`, `fetchBlockSync`).

use crate::application::{Errand, Spark};
use crate::driver::{ADDRESS, MESSAGE};
use crate::loss::{MAX_RETRIES, RETRY_WAIT, SILENCE, UNANSWERED};
use crate::transfer::{BLOCK_NAME, CHUNK, HANDLE, REQUEST};
use des::RandomStream;
use hadoop::{ConnId, End, Platform};
use std::collections::BTreeMap;
use units::Bytes;

/// A block: a piece of what a stage broadcasts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Piece {
    pub stage: usize,
    pub number: u32,
}

/// The executors that have blocks, as the driver knows.
#[derive(Debug, Default)]
pub struct Held(BTreeMap<Piece, Vec<usize>>);

impl Held {
    /// An executor has told of a block.
    pub fn add(&mut self, block: Piece, executor: usize) {
        self.0.entry(block).or_default().push(executor);
    }

    /// An executor is lost (`removeBlockManager`).
    pub fn forget(&mut self, executor: usize) {
        self.0.values_mut().for_each(|holders| holders.retain(|holder| *holder != executor));
    }

    fn of(&self, block: Piece) -> &[usize] {
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
    pub block: Piece,
    pub bytes: Bytes,
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
pub enum Step {
    /// The driver is asked who has the block, and has answered.
    Locate,
    Located,
    /// The holder is asked to open it, has answered, and is asked for its data.
    Open,
    Opened,
    Ask,
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
    pub(crate) fn pull(&mut self, platform: &mut Platform, executor: usize, block: Piece, bytes: Bytes) {
        self.pulls.next += 1;
        let id = PullId(self.pulls.next);
        let (from, conn, sent) = (executor, None, false);
        let pull = Pull { executor, block, bytes, from, conn, sent, attempt: 0, failures: 0 };
        self.pulls.under_way.insert(id, pull);
        self.tell_driver(platform, id, Step::Locate);
    }

    /// Something has happened of a try to get a block.
    pub(crate) fn on_pull(&mut self, platform: &mut Platform, (id, attempt): (PullId, u32), step: Step) {
        let Some(pull) = self.pulls.under_way.get(&id).filter(|pull| pull.attempt == attempt).copied() else { return };
        match step {
            Step::Locate => self.on_locate(platform, id, &pull),
            Step::Located => self.next_holder(platform, id),
            Step::Open => self.tell_puller(platform, id, Bytes::new(HANDLE), Step::Opened),
            Step::Opened => self.tell_holder(platform, id, Bytes::new(CHUNK), Step::Ask),
            Step::Ask => self.send_block(platform, id, &pull),
            Step::Data => {
                if let Some(pull) = self.pulls.under_way.get_mut(&id) {
                    pull.sent = false;
                }
                self.broadcasts.came(&pull, pull.from == self.executors.len());
                self.tell_driver(platform, id, Step::Report);
            }
            Step::Report => {
                self.held.add(pull.block, pull.executor);
                self.tell(platform, pull.executor, Bytes::new(MESSAGE), Errand::Pull(id, attempt, Step::Reported));
            }
            Step::Reported => {
                self.pulls.remove(id);
                self.next_piece(platform, pull.executor, pull.block.stage);
            }
            Step::Silent => {
                if let Some(conn) = pull.conn {
                    self.disconnected(platform, conn);
                }
            }
            Step::Unanswered if self.executors[pull.from].is_lost => self.next_holder(platform, id),
            Step::Unanswered => self.try_holder_again(platform, id),
            Step::Retry => self.ask_holder(platform, id),
        }
    }

    /// The driver says who has a block; its executor asks those on its own node first, else in random order
    /// (`sortLocations`).
    fn on_locate(&mut self, platform: &mut Platform, id: PullId, pull: &Pull) {
        let mut holders: Vec<usize> = self.held.of(pull.block).to_vec();
        holders.push(self.executors.len());
        let bytes = Bytes::new(MESSAGE + (ADDRESS * holders.len()) as u64);
        self.pulls.random.shuffle(&mut holders);
        let here = self.executors[pull.executor].node;
        let is_here = |holder: &usize| self.executors.get(*holder).is_some_and(|holder| holder.node == here);
        holders.sort_by_key(is_here);
        self.pulls.holders.insert(id, holders);
        self.tell(platform, pull.executor, bytes, Errand::Pull(id, pull.attempt, Step::Located));
    }

    /// The next of those that have a block is asked for it. Where none of them has given it, the driver is asked anew: as
    /// by the next attempt at the task, which fails in Spark.
    fn next_holder(&mut self, platform: &mut Platform, id: PullId) {
        let Some(pull) = self.pulls.under_way.get_mut(&id) else { return };
        (pull.attempt, pull.failures) = (pull.attempt + 1, 0);
        match self.pulls.holders.get_mut(&id).and_then(Vec::pop) {
            Some(holder) => {
                pull.from = holder;
                self.ask_holder(platform, id);
            }
            None => self.tell_driver(platform, id, Step::Locate),
        }
    }

    /// A holder is asked for a block.
    fn ask_holder(&mut self, platform: &mut Platform, id: PullId) {
        let Some(Pull { executor, from, attempt, .. }) = self.pulls.under_way.get(&id).copied() else { return };
        let is_dead = self.executors.get(from).is_some_and(|holder| holder.is_dead);
        if is_dead && !self.executors[executor].peers.contains_key(&from) {
            let errand = self.errands.send(Errand::Pull(id, attempt, Step::Unanswered));
            return platform.ctx.drive_timer(platform.ctx.now + UNANSWERED, errand);
        }
        let conn = self.peer(platform, executor, from);
        if let Some(pull) = self.pulls.under_way.get_mut(&id) {
            pull.conn = Some(conn);
        }
        if is_dead {
            self.await_block(platform, id);
        }
        self.tell_holder(platform, id, Bytes::new(REQUEST + BLOCK_NAME), Step::Open);
    }

    /// A holder sends a block, from its memory.
    fn send_block(&mut self, platform: &mut Platform, id: PullId, pull: &Pull) {
        if let Some(pull) = self.pulls.under_way.get_mut(&id) {
            pull.sent = true;
        }
        self.broadcasts.sent(pull);
        self.tell_puller(platform, id, pull.bytes + Bytes::new(CHUNK), Step::Data);
    }

    fn tell_driver(&mut self, platform: &mut Platform, id: PullId, step: Step) {
        let Some(pull) = self.pulls.under_way.get(&id) else { return };
        let message = self.errands.send(Errand::Pull(id, pull.attempt, step));
        platform.ctx.drive_send(self.executors[pull.executor].driver, End::Client, Bytes::new(MESSAGE), message);
    }

    fn tell_holder(&mut self, platform: &mut Platform, id: PullId, bytes: Bytes, step: Step) {
        let Some(&Pull { conn: Some(conn), attempt, .. }) = self.pulls.under_way.get(&id) else { return };
        let message = self.errands.send(Errand::Pull(id, attempt, step));
        platform.ctx.drive_send(conn, End::Client, bytes, message);
    }

    fn tell_puller(&mut self, platform: &mut Platform, id: PullId, bytes: Bytes, step: Step) {
        let Some(&Pull { conn: Some(conn), attempt, .. }) = self.pulls.under_way.get(&id) else { return };
        let message = self.errands.send(Errand::Pull(id, attempt, step));
        platform.ctx.drive_send(conn, End::Server, bytes, message);
    }

    /// Something was asked of a holder that will not answer.
    fn await_block(&mut self, platform: &mut Platform, id: PullId) {
        let Some(pull) = self.pulls.under_way.get(&id) else { return };
        let errand = self.errands.send(Errand::Pull(id, pull.attempt, Step::Silent));
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
        if std::mem::take(&mut pull.sent) {
            self.broadcasts.lost(pull);
        }
        (pull.attempt, pull.failures, pull.conn) = (pull.attempt + 1, pull.failures + 1, None);
        if pull.failures > MAX_RETRIES {
            return self.next_holder(platform, id);
        }
        let errand = self.errands.send(Errand::Pull(id, pull.attempt, Step::Retry));
        platform.ctx.drive_timer(platform.ctx.now + RETRY_WAIT, errand);
    }

    /// An executor's process is gone: it gets nothing more, and gives nothing.
    pub(crate) fn drop_pulls(&mut self, platform: &mut Platform, executor: usize) {
        for id in self.pulls.of(|pull| pull.executor == executor) {
            if let Some(pull) = self.pulls.remove(id).filter(|pull| pull.sent) {
                self.broadcasts.lost(&pull);
            }
        }
        for id in self.pulls.of(|pull| pull.from == executor && pull.conn.is_some()) {
            self.await_block(platform, id);
        }
    }
}
