//! What the shuffle service asks of the world, and what it says to fetchers.

use crate::ids::FetchId;

/// A disk request or a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// The host reads a chunk of the output that it serves.
    Disk(FetchId),
    /// The host may have been silent for too long.
    SilenceDue(FetchId),
    /// The requests that the fetch stands for beside its own have come and gone.
    OthersDone(FetchId),
}

/// A message between a fetcher and a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// The fetch that it is part of.
    pub fetch: FetchId,
    /// What it says.
    pub content: Content,
}

/// What a message of the shuffle says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// The fetcher's request.
    Request,
    /// The header of the output with this place in the batch.
    Header(usize),
    /// A chunk of an output, not its last.
    Chunk,
    /// The last chunk of an output.
    Last,
    /// The host does not have the output.
    Missing,
}
