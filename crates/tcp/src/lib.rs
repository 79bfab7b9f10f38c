//! TCP as pure state machines.
//!
//! An [`Endpoint`] is one side of a connection. It is handed the time and one input. It appends the segments it sends
//! and the notices for its application to an [`Output`] that the caller owns. It has no clock, no queue and no socket,
//! so the same code runs in a simulator, behind a real socket and under a fuzzer.
//!
//! Bytes are counted, not held: the application says how many it writes, and learns how many have arrived. Sequence
//! numbers are stream positions of 64 bits: the SYN is 0, the first byte is 1. They never wrap, so every old duplicate
//! is recognized. Neither PAWS nor the long wait of TIME-WAIT is needed.

mod cold;
mod config;
mod counters;
mod counts;
mod ecn;
mod endpoint;
mod fall_floyd;
mod flight;
mod handshake;
mod limit;
mod output;
mod push;
mod rack;
mod ranges;
mod receive;
mod recovery;
mod retransmit;
mod rtt;
mod scoreboard;
mod segment;
mod send;
mod slow_start;
mod special;
mod tail;
mod transmit_queue;
mod undo;

pub mod control;

pub use config::{Config, IdleRestart, Recovery, ReductionBase, StartRule};
pub use counters::Counters;
pub use counts::SegmentCounts;
pub use ecn::EcnCounters;
pub use endpoint::{Endpoint, State, WriteError};
pub use limit::Limit;
pub use output::{Notice, Output};
pub use rtt::{RtoEstimator, RttEstimator};
pub use segment::{BASE_HEADER, Flags, MAX_SACK_BLOCKS, NO_WINDOW_SCALE, Segment};
pub use transmit_queue::{Demand, Level, TransmitQueueLimiter, TransmitQueueLimits};
