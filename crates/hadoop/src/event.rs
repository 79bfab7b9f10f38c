//! What the parts tell each other: what became of remote calls, reads, writes and containers. An event goes to whoever
//! asked.

use crate::effect::End;
use crate::ids::{ApplicationId, CallId, ConnId, JobId, NodeId, Process, ReadId, Server, WriteId};
use crate::request::{Caller, Reader, Writer};
use crate::{shuffle, yarn};
use units::Bytes;

/// News for whoever asked for something.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// At the server: a call has been processed. What it asks for takes effect now; the reply leaves when this has been
    /// handled (its size may be changed until then with [`crate::rpc::set_reply`]).
    Served { call: CallId, from: Process, to: Server, caller: Caller },
    /// At the caller: the reply is there.
    Replied { caller: Caller },
    /// At the caller: no reply will come (connection lost, refused or timed out). The server may have processed the
    /// call.
    CallFailed { caller: Caller },

    /// News of a read.
    Read { read: ReadId, news: ReadNews, reader: Reader },
    /// News of an output stream.
    Write { write: WriteId, news: WriteNews, writer: Writer },

    /// A job's output in the object store is committed, or could not be.
    JobCommitted { job: JobId, done: bool },

    /// Work or a disk request of the driver's is done, or its timer fires.
    Answered { request: u64 },
    /// A disk request of the driver's gets no answer: the disk is gone.
    DiskFailed { request: u64 },
    /// All of a message of the driver's is in order at `end`.
    Delivered { conn: ConnId, end: End, message: u64 },
    /// A connection of the driver's has ended: the peer of `end` has closed its stream, or it is reset.
    Ended { conn: ConnId, end: End },

    /// News of an application of YARN that the driver has added. It is told with the rest of the driver's news.
    Yarn { application: ApplicationId, news: yarn::News },
    /// News of a fetch of map outputs that the driver has begun under this number. Told as the one before.
    Shuffle { fetcher: u64, news: shuffle::News },
}

/// What becomes of a read.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReadNews {
    /// `bytes` more are with the reader, from `source`. They count as untaken until [`crate::hdfs::Hdfs::take`].
    Progress { source: NodeId, bytes: Bytes },
    /// All bytes are with the reader; the read is forgotten.
    Done,
    /// No replica could be read; the read is forgotten.
    Failed,
}

/// What becomes of an output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteNews {
    /// It has room for more (raised once for each append).
    Room,
    /// The file is closed: every block has its least number of replicas; the stream is forgotten.
    Closed,
    /// The stream could not go on; it is forgotten.
    Failed,
}
