//! What an endpoint gives back.

use crate::Segment;

/// The effects of one call, in order. The caller owns it, empties it and uses it again.
#[derive(Debug, Default, Clone)]
pub struct Output {
    /// Segments to put on the wire, first one first.
    pub segments: Vec<Segment>,
    /// What the application should know.
    pub notices: Vec<Notice>,
    /// Segments sent again so far, by all endpoints that have used this buffer.
    pub retransmissions: u64,
    /// Retransmission timeouts so far, of all of them.
    pub timeouts: u64,
}

impl Output {
    /// Forgets the effects, keeps the memory and the sums.
    pub fn clear(&mut self) {
        self.segments.clear();
        self.notices.clear();
    }
}

/// A change that the application should know of. Progress of the byte streams is read from
/// [`received`](crate::Endpoint::received) and [`acknowledged`](crate::Endpoint::acknowledged) instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The handshake is complete.
    Connected,
    /// The peer has closed its direction, and all it sent has been received.
    PeerFinished,
    /// The connection is gone: the peer reset it, or did not answer.
    Reset,
    /// Both directions are closed and acknowledged.
    Closed,
}
