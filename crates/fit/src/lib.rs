//! A cluster's and a job's rates from a handful of histories.
//!
//! A run is three stages: its maps, what of the shuffle is left after them, and the rest. Each is a sum of terms
//! ([`TERMS`]): starts, rounds of tasks, CPU seconds, bytes over disks by role, bytes over the busiest link. Their
//! [`Rates`] come from all runs of a cluster together by non-negative least squares. A job's volumes per task and per
//! byte ([`Profile`]) come from its own runs. Both together predict the job at another size, rate, or number of
//! workers. [`leave_out`] says how far such predictions are off, and [`gains`] which run would teach most.

mod design;
mod errors;
mod linear;
mod model;
mod nnls;
mod observation;
mod sharing;
mod terms;

pub use design::gains;
pub use errors::{Checked, Errors, Noise, Reach, check, leave_out, noise, reach, repeats};
pub use linear::Matrix;
pub use model::{Extra, Predicted, Profile, Question, Rates, size};
pub use nnls::nnls;
pub use observation::{Hardware, Links, Observation, Site, Stages, Unfit, Volumes};
pub use terms::{STAGES, Stage, TERMS, Term, row};
