//! How an executor serves blocks: requests of a connection one after the other, of each the blocks in their order, each
//! read from disk before it is sent (`ChunkFetchRequestHandler`, `FileSegmentManagedBuffer`).

use crate::fetch::FetchRequest;
use des::define_index;
use hadoop::ConnId;
use std::collections::{BTreeMap, VecDeque};

define_index! {
    /// A fetch whose blocks have not all come.
    pub FetchId
}

/// A fetch of one request's blocks.
#[derive(Debug)]
pub struct Fetch {
    /// The task that asked.
    pub task: usize,
    pub request: FetchRequest,
    pub conn: ConnId,
    /// Blocks that have come.
    pub came: usize,
}

/// What connections have to send: by connection the fetches, and the block of the first that is next.
#[derive(Debug, Default)]
pub struct Serving {
    queues: BTreeMap<ConnId, VecDeque<(FetchId, usize)>>,
}

impl Serving {
    /// All blocks of a fetch are asked for; true if the connection was idle.
    pub fn add(&mut self, conn: ConnId, fetch: FetchId) -> bool {
        let queue = self.queues.entry(conn).or_default();
        queue.push_back((fetch, 0));
        queue.len() == 1
    }

    /// The block that a connection reads or sends: the fetch, and the block's place in it.
    pub fn front(&self, conn: ConnId) -> Option<(FetchId, usize)> {
        self.queues.get(&conn)?.front().copied()
    }

    /// A block of a fetch of so many was sent; true if there is another.
    pub fn sent(&mut self, conn: ConnId, blocks: usize) -> bool {
        let Some(queue) = self.queues.get_mut(&conn) else { return false };
        if let Some((_, block)) = queue.front_mut() {
            *block += 1;
            if *block == blocks {
                queue.pop_front();
            }
        }
        if queue.is_empty() {
            self.queues.remove(&conn);
            return false;
        }
        true
    }
}
