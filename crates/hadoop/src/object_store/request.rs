//! What the object store and its clients ask of the world, and what they say to one another.

use crate::ids::{HttpId, Process, WriteId};

/// Work, a disk request or a timer.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// The client has a request's header ready.
    Prepared(HttpId),
    /// The store has an answer ready, to this one of a request's attempts.
    Ready { http: HttpId, attempt: u32 },
    /// The next piece of a body may leave, by the rate of the connection.
    Paced { http: HttpId, attempt: u32 },
    /// The pause before a request is sent again is over.
    Again(HttpId),
    /// A request may have stood still for too long.
    Silent(HttpId),
    /// A piece of a part's buffer is read from the client's disk.
    Loaded { http: HttpId, attempt: u32 },
    /// The client is ready for a new output stream.
    Created(WriteId),
    /// What an application has appended is in the buffer on its disk.
    Buffered(WriteId),
}

/// Whose connection to the store it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channel(pub Process);

/// A message on a connection to the store.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// The client's first message of TLS.
    ClientHello,
    /// The store's certificate and the end of its handshake.
    ServerHello,
    /// A request's header, with the client's end of the handshake where it is the first on a connection.
    Head(HttpId),
    /// The store is ready for a body (`100 Continue`).
    Continue(HttpId),
    /// A piece of a body to the store.
    Upload(HttpId),
    /// The header of the answer.
    Answer { http: HttpId, throttled: bool },
    /// A piece of the answer's body.
    Download(HttpId),
}

/// What a request does. S3 counts the first three against its limit for reads, the others against that for writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Method {
    /// Reads a range of an object.
    Get,
    /// Asks for an object's length.
    Head,
    /// Lists the names under a prefix.
    List,
    /// Stores an object, or a part of one.
    Put,
    /// Begins or completes a multipart upload, or deletes several objects.
    Post,
    /// Copies an object, or a part of one, within the store.
    Copy,
    /// Deletes an object.
    Delete,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 7] = [Self::Get, Self::Head, Self::List, Self::Put, Self::Post, Self::Copy, Self::Delete];

    /// Whether the limit on reads counts it.
    pub const fn reads(self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::List)
    }
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Head => "head",
            Self::List => "list",
            Self::Put => "put",
            Self::Post => "post",
            Self::Copy => "copy",
            Self::Delete => "delete",
        }
    }
}
