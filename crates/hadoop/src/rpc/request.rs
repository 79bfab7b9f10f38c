//! What remote calls ask of the world, and what they say over it.

use crate::ids::{CallId, LinkId, Server};
use units::Bytes;

/// Work or a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// A server's reader takes in what has arrived first.
    Read(Server),
    /// A handler serves a call.
    Serve(CallId),
    /// A retry, a ping or a timeout of a client's link may be due.
    LinkDue(LinkId),
}

/// A message between a client and a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// A part of a long request before its end, or a ping: so many bytes.
    Fragment(Bytes),
    /// The end of a request.
    Request(CallId),
    /// The reply to a call.
    Reply(CallId),
}
