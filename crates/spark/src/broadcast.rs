//! Broadcast variables: the driver cuts one into pieces; an executor gets them one after the other in random order, each
//! of whoever has it, and then has it for others (`TorrentBroadcast.readBlocks`).

use crate::application::Spark;
use crate::blocks::{NamedBlock, Piece, Pull, Sent};
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
    pub sent: Sent,
}

/// What executors get of what stages broadcast.
#[derive(Debug, Default)]
pub struct Broadcasts {
    /// By executor and stage: the pieces that it has not, the next last.
    left: BTreeMap<(usize, usize), Vec<u32>>,
    books: BTreeMap<usize, Spread>,
}

impl Broadcasts {
    /// The books of what a stage broadcasts.
    pub fn books(&mut self, stage: usize) -> &mut Spread {
        self.books.entry(stage).or_default()
    }

    /// A piece is there.
    pub fn came(&mut self, pull: &Pull, stage: usize, from_driver: bool) {
        let books = self.books(stage);
        *(if from_driver { &mut books.from_driver } else { &mut books.from_executors }) += pull.bytes;
        if let Some(left) = self.left.get_mut(&(pull.executor, stage)) {
            left.pop();
        }
    }

    /// The books, stage by stage.
    pub fn spread(&self, spark: &Spark) -> Vec<Spread> {
        let mut books = self.books.clone();
        for (&(_, stage), left) in &self.left {
            let not_got: Bytes = left.iter().map(|number| spark.piece(Piece { stage, number: *number })).sum();
            books.entry(stage).or_default().not_got += not_got;
        }
        books.into_iter().map(|(stage, books)| Spread { stage, ..books }).collect()
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
        self.broadcasts.books(stage).wanted += bytes;
        self.broadcasts.left.insert((executor, stage), left);
        self.next_piece(platform, executor, stage);
    }

    /// An executor gets the next piece, or has all.
    pub(crate) fn next_piece(&mut self, platform: &mut Platform, executor: usize, stage: usize) {
        match self.broadcasts.left.get(&(executor, stage)).and_then(|left| left.last()) {
            Some(&number) => {
                let piece = Piece { stage, number };
                self.pull(platform, executor, NamedBlock::Piece(piece), (self.piece(piece), None));
            }
            None => self.on_got(platform, executor, Need::Broadcast(stage)),
        }
    }
}
