//! Packets, links, queues, shaping, topologies, routing.
//!
//! The network looks at nothing of a packet but its ECN field: see [`Packet`].

pub mod bond;
mod link;
mod network;
mod packet;
mod paths;
mod queue;
mod routing;
mod shaper;
mod topology;

pub use link::{Counters, GilbertElliott, Link, LinkSpec, Loss, Losses, SpecError};
pub use network::{ARRIVAL, BOND, Ledger, LedgerError, Network, TRANSMISSION_DONE};
pub use packet::{Packet, PacketId};
pub use paths::Paths;
pub use queue::{
    Codel, CodelSpec, DelayEstimate, Discipline, DropTail, Ecn, FqCodel, FqCodelSpec, Item, Limit, Pie, PieSpec,
    Priority, Queue, Red, RedSpec, SharedBuffer, SharedBufferSpec, SharedPort, Threshold,
};
pub use routing::{FlowKey, RouteId};
pub use shaper::TokenBucketSpec;
pub use topology::{Cable, Dcell, LinkId, Topology, TopologyError, VertexId, VertexKind, parking_lot_pair};
