//! One byte stream over many: the state machines, without I/O, clock or buffers.
//!
//! A [`Connection`] is one end of an application's connection. It cuts what the application writes into segments with
//! offsets, gives each segment to one of the session's [`Streams`], and reassembles what arrives on them. Only an
//! acknowledgement by the peer frees the sender's buffer: delivery by a stream's transport is no proof that the peer
//! has read a byte. The receiver grants credit and never holds more. When a stream dies, what only it carried goes on
//! others.
//!
//! Connections hold positions and no bytes. The sender's owner keeps what was written until it is acknowledged. The
//! receiver's owner keeps the [`Piece`]s that it is told of until they are readable. So the same machines carry real
//! bytes behind sockets and counted bytes in the simulator.
//!
//! After every call: call [`Connection::transmit`], append its frames to their streams, and call it again at its
//! deadline. [`Streams::update`] takes in new measurements of the streams.

mod config;
mod connection;
pub mod optimizer;
mod ranges;
mod receiver;
mod sender;
pub mod session;
mod share;
mod streams;
mod transmit;
mod window;
pub mod wire;

pub use config::{Config, Scheduler, Segmentation};
pub use connection::{Connection, Counters, Notice, Output, Piece, Violation};
pub use ranges::Span;
pub use streams::{Health, Measured, Stream, StreamId, Streams};
