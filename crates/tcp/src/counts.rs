//! Segments by kind: what a capture at a node's interface shows.

use crate::{Flags, Segment};

/// Segments that one node has sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentCounts {
    /// Segments that arrived, of every kind.
    pub received: u64,
    /// Segments that arrived with PSH.
    pub received_pushed: u64,
    /// Segments that it sent, of every kind.
    pub sent: u64,
    /// Segments sent with PSH.
    pub sent_pushed: u64,
    /// Segments sent with a window of zero, except SYN, FIN and RST: they do not ask for more data.
    pub zero_windows: u64,
}

impl SegmentCounts {
    /// Counts a segment that has arrived.
    pub fn receive(&mut self, segment: &Segment) {
        self.received += 1;
        self.received_pushed += u64::from(segment.flags.contains(Flags::PSH));
    }
    /// Counts a segment that is sent.
    pub fn send(&mut self, segment: &Segment) {
        self.sent += 1;
        self.sent_pushed += u64::from(segment.flags.contains(Flags::PSH));
        let asks = !segment.flags.intersects(Flags::SYN.with(Flags::FIN).with(Flags::RST));
        self.zero_windows += u64::from(segment.window == 0 && asks);
    }
}
