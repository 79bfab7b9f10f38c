//! What a call to an endpoint produces.

use crate::Segment;

/// The effects of one call, in order. The caller owns the buffer, empties it and reuses it.
#[derive(Debug, Default, Clone)]
pub struct Output {
    /// Segments to send, in order.
    pub segments: Vec<Segment>,
    /// Notices for the application.
    pub notices: Vec<Notice>,
    /// Retransmitted segments so far, of all endpoints that have used this buffer.
    pub retransmissions: u64,
    /// Retransmission timeouts so far, of the same endpoints.
    pub timeouts: u64,
}

impl Output {
    /// Clears segments and notices. Keeps the memory and the sums.
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
