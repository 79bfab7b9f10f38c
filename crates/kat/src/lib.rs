//! Placement by key over files of records: what a plan saves a job's shuffle, what it costs, and when it does not pay.
//!
//! [`plan`] reads files into a profile and places their buckets; [`Planned`] is what it has found: figures
//! ([`Planned::json`]), and the plan that others load by ([`Planned::file`], read back by [`open_plan`]). [`Jobs`] asks
//! the histories of jobs which of their files are worth it. The rules are `placement`'s; the crate prints nothing.

mod asked;
mod import_cost;
mod jobs;
mod json;
mod plan;
mod plan_file;
mod scan;
mod second;
mod verdict;

pub use asked::{Asked, Modified, Tell, block, nodes, one_of, part, rate};
pub use import_cost::{MOST_NODES, costs, import};
pub use jobs::{Job, Jobs, Key};
pub use plan::{Pending, Planned, names, plan};
pub use plan_file::{Kept, open as open_plan};
pub use scan::Scanned;
pub use second::SecondFile;
pub use verdict::{Uneven, Verdict};
