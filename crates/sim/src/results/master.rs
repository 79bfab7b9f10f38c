//! The master node's side of calls.

use crate::transport::SegmentCounts;
use units::Time;

/// What the masters' servers have taken in and answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Master {
    /// Messages that other nodes pushed to it, and it to them: calls and replies.
    pub pushed: u64,
    /// Times that it closed the window of a connection.
    pub zero_windows: u64,
    /// Segments sent again on the connections to it, both ways.
    pub retransmissions: u64,
    /// Segments that it received and sent, over connections of every kind.
    pub segments: SegmentCounts,
    /// Of these, in each step, those with PSH, both ways ...
    pub pushed_series: Vec<u32>,
    /// ... and those that told of a window of zero.
    pub zero_window_series: Vec<u32>,
    /// Its servers.
    pub servers: Vec<RpcServer>,
}

/// A server on the master node.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcServer {
    /// `namenode`, `jobtracker`, or one of the ResourceManager's: `resource-tracker`, `scheduler`, `clients`.
    pub name: &'static str,
    /// Calls processed.
    pub calls: u64,
    /// From the call to its processing, on average ...
    pub latency_mean: Time,
    /// ... and at most.
    pub latency_max: Time,
    /// The most calls that waited for a handler.
    pub queue_max: u32,
    /// Calls and parts of calls that had to wait in a receive buffer.
    pub unread: u64,
}
