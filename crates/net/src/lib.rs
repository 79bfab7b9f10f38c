//! Packets, links, queues, shaping, topologies, routing.
//!
//! The network does not look into what it carries: `P` is any `Copy` packet.

mod link;
mod network;
mod packet;
mod queue;
mod routing;
mod shaper;
mod topology;

pub use link::{Counters, Link, LinkSpec, SpecError};
pub use network::{ARRIVAL, Ledger, LedgerError, Network, TRANSMISSION_DONE};
pub use packet::PacketId;
pub use queue::{DropTail, Item, Limit, Queue};
pub use routing::{FlowKey, RouteId};
pub use shaper::TokenBucketSpec;
pub use topology::{Cable, LinkId, Topology, VertexId, VertexKind};
