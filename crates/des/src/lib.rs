//! Discrete events: queue, slabs, random streams, statistics.

mod index;
mod random;

pub use index::{Index, Slab};
pub use random::RandomStream;
