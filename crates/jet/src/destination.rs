//! Where a program wants to go: what OPEN says (docs/protocol.md).

pub use stripe::wire::Destination;
