//! What keeps a sender from sending more, at a moment.

use crate::Endpoint;
use crate::send::Phase;

/// What keeps a sender from sending more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The application: all that it has written is sent.
    Application,
    /// cwnd is full.
    Window,
    /// The peer's window is full, or [`Config::max_window`](crate::Config::max_window).
    Peer,
    /// Fast recovery, or what goes on in its place.
    Recovery,
    /// The repair after a retransmission timeout.
    Timeout,
    /// Its own pace, its transmit queue, or a segment that is not full yet.
    Pace,
}

impl Limit {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] = [Self::Application, Self::Window, Self::Peer, Self::Recovery, Self::Timeout, Self::Pace];
}

impl Endpoint {
    /// What keeps this end from sending more. It only looks: nothing is counted while data flows.
    pub fn limit(&self) -> Limit {
        let tx = &self.tx;
        match tx.phase {
            Phase::Recovery | Phase::Restart => return Limit::Recovery,
            Phase::Loss => return Limit::Timeout,
            Phase::Open => {}
        }
        if tx.nxt >= tx.stream_end() {
            return Limit::Application;
        }
        let mss = self.full_segment();
        if tx.send_edge(&self.config) < tx.nxt + mss {
            Limit::Peer
        } else if tx.pipe() + mss > self.allowance() {
            Limit::Window
        } else {
            Limit::Pace
        }
    }

    /// cwnd in bytes, and whether data is in flight.
    pub fn window_in_use(&self) -> (u64, bool) {
        (self.tx.window.cwnd, self.tx.nxt > self.tx.una)
    }
}
