//! The hardware of a node as pure state machines: disks that serve requests, the page cache before them, and a processor shared fairly.
//!
//! Each machine is handed the time and one input, states its next `deadline()`, and reports what is done from `on_timer`. The processor
//! stands beside the disks because both belong to a physical host, which several nodes (containers, virtual machines) may share, and
//! because whatever carries a cluster needs both and nothing else from here.

mod cache;
mod disk;
mod flash;
mod presets;
mod processor;
mod rotating;
mod store;

pub use cache::CacheSpec;
pub use disk::{Disk, DiskCounters, DiskSpec, Op, Request, Stream};
pub use flash::FlashSpec;
pub use processor::Processor;
pub use rotating::RotatingSpec;
pub use store::{Store, StoreCounters};
