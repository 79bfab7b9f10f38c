//! Emulated links between network namespaces, on any kernel with TAP devices: rate, delay, jitter, queue, loss,
//! reordering, and changes of these over time.
//!
//! A frame that leaves a namespace by a path's interface is read from its TAP device. It passes a [`Pipe`] and is
//! written to the interface at the other end when it is due. [`Pair::up`] makes two namespaces and the paths between
//! them. `docs/reference/testbed.md` has shapes, units and measured accuracy.

mod clock;
mod engine;
mod error;
mod fault;
mod file;
mod forwarder;
mod frame;
mod host;
mod lateness;
mod namespace;
mod pair;
mod path;
mod pipe;
mod processor;
mod registry;
mod report;
mod setup;
mod shape;
mod share;
mod spoke;
mod star;
mod trace;
mod transmitter;
mod waking;

pub(crate) use clock::Clock;
pub use error::LinkError;
pub use file::Paths;
pub use host::{Host, INTERFACE, Traffic};
pub use lateness::{Lateness, TOLERANCE};
pub use namespace::Namespace;
pub use pair::{Addresses, Pair, check};
pub(crate) use path::is_name;
pub use path::{Direction, Jitter, Path, Reorder};
pub use pipe::{Counters, Pipe};
pub(crate) use registry::started as start_of;
pub use registry::{Link, PathRecord, Record, Registry};
pub use report::{PathReport, PipeReport, Report};
pub(crate) use setup::{ip_batch, program};
pub use shape::{DISCIPLINES, QueueLimit, QueueShape, Shape, Share};
pub use spoke::{Bucket, Links, Spoke};
pub use star::{MOST_MTU, Star, StarSettings, lacking};
pub use trace::{Change, Opportunities, Trace};
