//! `jet`: unmodified programs, faster over long and lossy paths.
//!
//! A door ([`door`]) takes a program's connection and says where it wants to go ([`Destination`]). It hands both to the near gateway through [`Doors`], which [`near::Near::doors`] gives
//! out; every door has its own clone. From then on the connection is the gateway's: it reaches the destination by way of the far gateway, tells the program how that went ([`Refusal`]) as
//! far as its kind of door can, carries bytes, ends and resets, and closes. A door that finds the channel closed stops: the gateway is going down. [`launch`] runs a program whose
//! connections go through a door.
//!
//! Inside, a session ([`stripe::session`]) is a state machine without I/O. Tasks share it: one for each stream, one for each connection, one for its timer. Each works on it for a moment and
//! wakes whom that concerns.

mod bond;
mod by_peer;
mod carrier;
mod destination;
mod explain;
mod handshake;
mod hub;
mod numbers;
mod paths;
mod places;
mod program;
mod protection;
mod race;
mod records;
mod refusal;
mod route;
mod scratch;
mod socket;
mod startup;
mod timer;
mod tls;

pub mod allow;
pub mod door;
pub mod far;
pub mod handover;
pub mod host;
pub mod keys;
pub mod launch;
pub mod log;
pub mod monitor;
pub mod near;
pub mod options;
pub mod status;
pub mod tcp_info;
pub mod udp;

pub use destination::{Destination, DestinationError, destination, parse_destination};
pub use refusal::Refusal;
pub use socket::Via;

/// The way from the doors into the near gateway. It is bounded: while the gateway is not taking connections, doors wait, and programs wait in their listeners' backlogs.
pub type Doors = tokio::sync::mpsc::Sender<door::Accepted>;
