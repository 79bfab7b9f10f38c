//! Broadcast variables: the driver cuts one into pieces; an executor gets them one after the other in random order, each
//! of whoever has it, and then has it for others (`TorrentBroadcast.readBlocks`).

use crate::application::Spark;
use crate::blocks::{Block, Piece, Pull};
use crate::executor::Need;
use hadoop::Platform;
use std::collections::BTreeMap;
use units::{Bytes, word};

/// What executors have got of what a stage broadcasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spread {
    /// The stage.
    pub stage: usize,
    /// All of it, once for each executor that has begun to get it.
    pub wanted: Bytes,
    /// What has come from the driver.
    pub from_driver: Bytes,
    /// What has come from other executors.
    pub from_executors: Bytes,
    /// What has not come.
    pub not_got: Bytes,
    /// What the driver and executors have sent.
    pub sent: Bytes,
    /// What is sent and has not come.
    pub in_flight: Bytes,
    /// What was sent in vain: its connection or its executor was lost.
    pub wasted: Bytes,
}

/// What executors get of what stages broadcast.
#[derive(Debug, Default)]
pub struct Broadcasts {
    /// By executor and stage: the pieces that it has not, the next last.
    left: BTreeMap<(usize, usize), Vec<u32>>,
    books: BTreeMap<usize, Spread>,
}

impl Broadcasts {
    fn books(&mut self, stage: usize) -> &mut Spread {
        self.books.entry(stage).or_default()
    }

    /// A piece leaves.
    pub fn sent(&mut self, stage: usize, bytes: Bytes) {
        let books = self.books(stage);
        books.sent += bytes;
        books.in_flight += bytes;
    }

    /// A piece is there.
    pub fn came(&mut self, pull: &Pull, stage: usize, from_driver: bool) {
        let books = self.books(stage);
        books.in_flight = books.in_flight.saturating_sub(pull.bytes);
        *(if from_driver { &mut books.from_driver } else { &mut books.from_executors }) += pull.bytes;
        if let Some(left) = self.left.get_mut(&(pull.executor, stage)) {
            left.pop();
        }
    }

    /// A piece on its way will not come.
    pub fn lost(&mut self, stage: usize, bytes: Bytes) {
        let books = self.books(stage);
        books.in_flight = books.in_flight.saturating_sub(bytes);
        books.wasted += bytes;
    }

    /// The books, stage by stage.
    pub fn spread(&self, spark: &Spark) -> Vec<Spread> {
        let of = |(stage, books): (&usize, &Spread)| {
            let left = self.left.iter().filter(|((_, of), _)| of == stage).flat_map(|(_, left)| left);
            let not_got = left.map(|number| spark.piece(Piece { stage: *stage, number: *number })).sum();
            Spread { stage: *stage, not_got, ..*books }
        };
        self.books.iter().map(of).collect()
    }
}

impl Spark {
    /// How large a piece is: all but the last are alike.
    fn piece(&self, piece: Piece) -> Bytes {
        let block = self.config.broadcast_block;
        let before = block * u64::from(piece.number);
        self.stages[piece.stage].spec.broadcast.saturating_sub(before).min(block)
    }

    /// The first of an executor's tasks of a stage needs what the stage broadcasts.
    pub(crate) fn read_broadcast(&mut self, platform: &mut Platform, executor: usize, stage: usize) {
        let bytes = self.stages[stage].spec.broadcast;
        let mut left: Vec<u32> = (0..word(bytes.get().div_ceil(self.config.broadcast_block.get().max(1)))).collect();
        self.pulls.random.shuffle(&mut left);
        self.broadcasts.books.entry(stage).or_default().wanted += bytes;
        self.broadcasts.left.insert((executor, stage), left);
        self.next_piece(platform, executor, stage);
    }

    /// An executor gets the next piece, or has all.
    pub(crate) fn next_piece(&mut self, platform: &mut Platform, executor: usize, stage: usize) {
        match self.broadcasts.left.get(&(executor, stage)).and_then(|left| left.last()) {
            Some(&number) => {
                let piece = Piece { stage, number };
                self.pull(platform, executor, Block::Piece(piece), (self.piece(piece), None));
            }
            None => self.on_got(platform, executor, Need::Broadcast(stage)),
        }
    }
}
