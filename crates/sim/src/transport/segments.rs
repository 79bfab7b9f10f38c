//! The segments that one node sends and receives, by what they are: what a capture at its interface shows.

use super::Transport;
use tcp::{Flags, Segment};

/// Counted at one node; what its own processes say to each other is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentCounts {
    /// Segments that arrived, of every kind.
    pub received: u64,
    /// Those of them with PSH.
    pub received_pushed: u64,
    /// Segments that it sent, of every kind.
    pub sent: u64,
    /// Those of them with PSH.
    pub sent_pushed: u64,
    /// Segments that it sent with a window of zero, SYN, FIN and RST aside, which do not ask for more.
    pub zero_windows: u64,
}

/// Where segments are counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    node: Option<u32>,
    counts: SegmentCounts,
}

impl Counted {
    /// Whether an end at `node` of a connection to `peer` is counted.
    pub fn covers(&self, node: u32, peer: u32) -> bool {
        self.node == Some(node) && node != peer
    }
    pub fn receive(&mut self, segment: &Segment) {
        self.counts.received += 1;
        self.counts.received_pushed += u64::from(segment.flags.contains(Flags::PSH));
    }
    pub fn send(&mut self, segments: &[Segment]) {
        for segment in segments {
            self.counts.sent += 1;
            self.counts.sent_pushed += u64::from(segment.flags.contains(Flags::PSH));
            let asks = !segment.flags.intersects(Flags::SYN.with(Flags::FIN).with(Flags::RST));
            self.counts.zero_windows += u64::from(segment.window == 0 && asks);
        }
    }
}

impl Transport {
    /// From now on counts what this node sends and receives over connections that are opened later.
    pub fn count_segments(&mut self, node: u32) {
        self.counted = Counted { node: Some(node), ..Counted::default() };
    }
    /// What it has counted so far.
    pub fn segment_counts(&self) -> SegmentCounts {
        self.counted.counts
    }
}
