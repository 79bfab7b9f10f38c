//! `jet`: gateways that carry unmodified programs' connections over long and lossy paths.
//!
//! A door ([`door`]) takes a program's connection and finds its destination ([`Destination`]). It hands both to the
//! near gateway through [`Doors`], of which every door has a clone ([`near::Near::doors`]). From then on the connection
//! is the gateway's: it reaches the destination by way of the far gateway, reports the outcome to the program
//! ([`Refusal`]) as far as the kind of door allows, and carries bytes, ends and resets. A door that finds the channel
//! closed stops: the gateway is going down. [`launch`] runs a program whose connections go through a door.
//!
//! Inside, a session ([`stripe::session`]) is a state machine without I/O. Tasks share it: one for each stream, one for
//! each connection, one for the timer. Each works on it for a moment and wakes the tasks concerned.

mod bond;
mod by_peer;
mod destination;
mod direct;
mod explain;
mod handshake;
mod hint;
mod keep_alive;
mod numbers;
mod paths;
mod places;
mod program;
mod race;
mod records;
mod refusal;
mod refusals;
mod route;
mod scratch;
mod shared_session;
mod socket;
mod splice;
mod startup;
mod stream_task;
mod timer;
mod tls;

pub mod allow;
pub mod door;
pub mod far;
pub mod handover;
pub mod host;
pub mod keys;
pub mod launch;
pub mod limits;
pub mod log;
pub mod monitor;
pub mod near;
pub mod options;
pub mod status;
pub mod tcp_info;
pub mod trust;
mod turns;
pub mod udp;

pub use destination::{Destination, DestinationError, destination, parse_destination};
pub use direct::DirectError;
pub use refusal::Refusal;
pub use socket::Via;

/// The channel from the doors into the near gateway. It is bounded: while the gateway takes no connections doors wait,
/// and programs wait in the listeners' backlogs.
pub type Doors = tokio::sync::mpsc::Sender<door::Accepted>;
