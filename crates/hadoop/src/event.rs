//! What the parts tell each other. An event goes to the part that owns its tag.

use crate::effect::{NodeId, Tag};
use crate::hdfs::{ReadId, WriteId};
use crate::rpc::{CallId, Process, Server};
use units::Bytes;

/// News for the owner of a tag.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event {
    /// At the server: a call has been processed. What it asks for takes effect now; the reply leaves when this has been handled
    /// (its size may be changed until then with [`crate::rpc::set_reply`]).
    Served { call: CallId, from: Process, to: Server, tag: Tag },
    /// At the caller: the reply is there.
    Replied { tag: Tag },
    /// At the caller: no reply will come (connection lost, refused or timed out). The server may have processed the call.
    CallFailed { tag: Tag },

    /// `bytes` more of a read are with the reader, from `source`. They count as untaken until [`crate::hdfs::Hdfs::take`].
    ReadProgress { read: ReadId, source: NodeId, bytes: Bytes, tag: Tag },
    /// All bytes of a read are with the reader; the read is forgotten.
    ReadDone { read: ReadId, tag: Tag },
    /// No replica could be read; the read is forgotten.
    ReadFailed { read: ReadId, tag: Tag },

    /// The output stream has room for more (raised once for each append).
    WriteRoom { write: WriteId, tag: Tag },
    /// The file is closed: every block has its least number of replicas; the stream is forgotten.
    WriteClosed { write: WriteId, tag: Tag },
    /// The stream could not go on; it is forgotten.
    WriteFailed { write: WriteId, tag: Tag },
}

impl Event {
    /// The tag whose owner it is for.
    pub const fn tag(&self) -> Tag {
        match *self {
            Self::Served { tag, .. }
            | Self::Replied { tag }
            | Self::CallFailed { tag }
            | Self::ReadProgress { tag, .. }
            | Self::ReadDone { tag, .. }
            | Self::ReadFailed { tag, .. }
            | Self::WriteRoom { tag, .. }
            | Self::WriteClosed { tag, .. }
            | Self::WriteFailed { tag, .. } => tag,
        }
    }
}
