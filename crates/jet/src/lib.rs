//! `jet`: unmodified programs, faster over long and lossy paths.
//!
//! A door ([`door`]) takes a program's connection and says where it wants to go ([`Destination`]).

mod destination;
pub mod door;

pub use destination::Destination;
