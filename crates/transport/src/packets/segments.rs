//! Counts of the segments that one node sends and receives, by kind, as a capture at its interface shows them.

use super::PacketTransport;
use tcp::{Segment, SegmentCounts};

/// The node whose segments are counted, and the counts.
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
        self.counts.receive(segment);
    }
    pub fn send(&mut self, segments: &[Segment]) {
        for segment in segments {
            self.counts.send(segment);
        }
    }
}

impl PacketTransport {
    /// From now on counts what this node sends and receives over connections that are opened later.
    pub fn count_segments(&mut self, node: u32) {
        self.counted = Counted { node: Some(node), ..Counted::default() };
    }
    /// The counts so far.
    pub fn segment_counts(&self) -> SegmentCounts {
        self.counted.counts
    }
}
