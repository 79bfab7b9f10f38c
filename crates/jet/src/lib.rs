//! `jet`: unmodified programs, faster over long and lossy paths.
//!
//! A door ([`door`]) takes a program's connection and says where it wants to go ([`Destination`]). It hands both to the near gateway
//! through [`Doors`]; how it went ([`Refusal`]) the gateway tells the program by way of [`door::Accepted`], as far as that kind of door can.
//! A door that finds the channel closed stops: the gateway is going down. [`launch`] runs a program whose connections go through a door.

mod destination;
pub mod door;
pub mod launch;
mod refusal;

pub use destination::{Destination, DestinationError, destination, parse_destination};
pub use refusal::Refusal;

/// The way from the doors into the near gateway. It is bounded: while the gateway is not taking connections, doors wait, and programs wait in their listeners' backlogs.
pub type Doors = tokio::sync::mpsc::Sender<door::Accepted>;
