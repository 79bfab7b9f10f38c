//! Sweeps: a scenario over any of its keys and seeds.
//!
//! [`Sweep`] is a `SWEEP.toml` as read; [`Plan`] lays out its runs and checks all of them before any starts. A run's
//! name is a digest of the build, the resolved scenario and the seed, so that whoever makes it, and however often, has
//! made the same run: [`make`] keeps a [`Record`] of each by that name and makes only what is missing. Records become
//! [`table`], a row for each run, and [`Surface`], the mean of each figure over seeds at each point.

mod axis;
mod file;
mod handed_out;
mod key;
mod make;
mod plan;
mod problems;
mod range;
mod record;
mod surface;
mod table;
mod varied;

pub use axis::{Axis, Quantity};
pub use file::{Seeds, Sweep, SweepFile};
pub use handed_out::{HandedOut, Order};
pub use make::{Asked, Made, Share, make};
pub use plan::{Changes, MOST_RUNS, Plan, PlannedRun};
pub use record::{Figure, Measured, Record};
pub use surface::{MetricOf, Point, SCHEMA, Spread, Surface};
pub use table::table;
pub use varied::{SweptValue, Varied, VariedKey};
