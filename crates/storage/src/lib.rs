//! The hardware of a node as pure state machines: disks, the page cache before them, and a processor shared fairly.
//!
//! Each machine is handed the time and one input, states its next `deadline()`, and reports completions from
//! `on_timer`. The processor is here because it, like disks, belongs to a physical host, which several nodes
//! (containers, virtual machines) may share.

mod array;
mod cache;
mod disk;
mod flash;
mod log;
mod mechanics;
mod offloading;
pub mod power;
mod powered;
mod presets;
mod processor;
mod reliability;
mod rotating;
mod store;
mod stripes;
mod volume;

pub use array::ArraySpec;
pub use cache::CacheSpec;
pub use disk::{Disk, DiskCounters, DiskSpec, DiskUse, Op, Request, Stream};
pub use flash::{Cells, FlashSpec};
pub use mechanics::{MediaRate, SeekCurve};
pub use offloading::OffloadCounters;
pub use powered::{Bounds, Lateness, StorePower};
pub use processor::Processor;
pub use reliability::Failing;
pub use rotating::{DiskScheduler, Layout, RotatingSpec};
pub use store::{Store, StoreCounters};
pub use stripes::RaidLevel;
pub use volume::VolumeSpec;
