//! Discrete events: queue, slabs, random streams, statistics, and CoDel's control law, which packet queues of all kinds
//! share.

mod controlled_delay;
mod index;
mod occupancy;
mod queue;
mod random;
mod statistics;

pub use controlled_delay::{ControlledDelay, ControlledDelaySpec, Ecn, Head};
pub use index::{Index, Slab};
pub use occupancy::Occupancy;
pub use queue::{Event, EventQueue};
pub use random::RandomStream;
pub use statistics::{Histogram, Interval, TimeWeighted};
