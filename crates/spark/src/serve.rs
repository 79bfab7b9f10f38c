//! How an executor serves blocks: requests of a connection one after the other, of each the blocks in their order, each
//! read from disk before it is sent (`ChunkFetchRequestHandler`, `FileSegmentManagedBuffer`).

use crate::fetch::{Block, FetchRequest};
use hadoop::ConnId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::Bytes;

/// The number of a fetch; none is used again, as answers to one that was given up may still come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FetchId(pub u64);

/// A fetch of one request's blocks.
#[derive(Debug)]
pub struct Fetch {
    /// The task that asked.
    pub task: usize,
    pub request: FetchRequest,
    /// The connection that it goes over; none while there is none.
    pub conn: Option<ConnId>,
    /// Blocks that have been sent, and of these the ones that have come.
    pub sent: usize,
    pub came: usize,
    /// How often it was tried in vain.
    pub failures: u32,
}

impl Fetch {
    /// Of one of its stage's parents, the bytes that are sent and have not come.
    pub fn in_flight(&self) -> impl Iterator<Item = &Block> {
        self.request.blocks[self.came..self.sent].iter()
    }
}

/// Fetches whose blocks have not all come.
#[derive(Debug, Default)]
pub struct UnderWay {
    fetches: BTreeMap<FetchId, Fetch>,
    next: u64,
}

impl UnderWay {
    pub fn insert(&mut self, fetch: Fetch) -> FetchId {
        self.next += 1;
        self.fetches.insert(FetchId(self.next), fetch);
        FetchId(self.next)
    }
    pub fn get(&self, fetch: FetchId) -> Option<&Fetch> {
        self.fetches.get(&fetch)
    }
    pub fn get_mut(&mut self, fetch: FetchId) -> Option<&mut Fetch> {
        self.fetches.get_mut(&fetch)
    }
    pub fn remove(&mut self, fetch: FetchId) -> Option<Fetch> {
        self.fetches.remove(&fetch)
    }
    /// Those of which this holds.
    pub fn of(&self, holds: impl Fn(&Fetch) -> bool) -> Vec<FetchId> {
        self.fetches.iter().filter(|(_, fetch)| holds(fetch)).map(|(id, _)| *id).collect()
    }
}

/// What connections have to send: by connection the fetches, and the block of the first that is next.
#[derive(Debug, Default)]
pub struct Serving {
    queues: BTreeMap<ConnId, VecDeque<(FetchId, usize)>>,
    /// Connections for which a block is being read.
    reading: BTreeSet<ConnId>,
}

impl Serving {
    /// All blocks of a fetch are asked for, from one on.
    pub fn add(&mut self, conn: ConnId, fetch: FetchId, from: usize) {
        self.queues.entry(conn).or_default().push_back((fetch, from));
    }

    /// The block that a connection reads next: the fetch, and the block's place in it. None while it reads another.
    /// Fetches that were given up are passed over.
    pub fn read(&mut self, conn: ConnId, under_way: &UnderWay) -> Option<(FetchId, usize)> {
        if self.reading.contains(&conn) {
            return None;
        }
        let queue = self.queues.get_mut(&conn)?;
        while let Some((fetch, block)) = queue.front().copied() {
            if under_way.get(fetch).is_some_and(|of| of.conn == Some(conn)) {
                self.reading.insert(conn);
                return Some((fetch, block));
            }
            queue.pop_front();
        }
        self.queues.remove(&conn);
        None
    }

    /// The block of a connection is read, of a fetch of so many.
    pub fn has_read(&mut self, conn: ConnId, blocks: usize) {
        self.reading.remove(&conn);
        let Some(queue) = self.queues.get_mut(&conn) else { return };
        if let Some((_, block)) = queue.front_mut() {
            *block += 1;
            if *block >= blocks {
                queue.pop_front();
            }
        }
    }

    /// Nothing more is served over a connection.
    pub fn end(&mut self, conn: ConnId) {
        self.queues.remove(&conn);
        self.reading.remove(&conn);
    }
}

/// Bytes of blocks.
pub fn bytes<'a>(blocks: impl Iterator<Item = &'a Block>) -> Bytes {
    blocks.map(|block| block.bytes).sum()
}
