//! One byte stream over many: the state machines, without I/O, clock or buffers.
//!
//! A [`Connection`] is one end of an application's connection. It cuts what the application writes into segments with
//! offsets, gives each to one of the session's [`Streams`], and puts what arrives on them back in order. An
//! acknowledgement between the ends frees the sender's buffer: that a stream's transport has delivered a byte is no
//! proof that the peer has read it. The receiver grants credit and never holds more. When a stream dies, what only it
//! carried goes on others.
//!
//! Bytes are named by their position, never held: the sender's owner keeps what was written until it is acknowledged,
//! the receiver's keeps the [`Piece`]s it is told until they are readable. So the same machines carry real bytes behind
//! sockets and counted ones in the simulator.
//!
//! After every call, call [`Connection::transmit`]; append its frames to their streams; call it again at its deadline.
//! The streams' figures are brought up to date with [`Streams::update`].

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
