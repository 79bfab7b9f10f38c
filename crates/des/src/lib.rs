//! Discrete events: queue, slabs, random streams, statistics.

mod index;
mod occupancy;
mod queue;
mod random;
mod statistics;

pub use index::{Index, Slab};
pub use occupancy::Occupancy;
pub use queue::{Event, EventQueue};
pub use random::RandomStream;
pub use statistics::{Histogram, Interval, TimeWeighted};
