//! Which change helps a job, how much, and how sure that is.
//!
//! A [`Remedy`] is data (`remedies.toml`): when it may help, what it sets in a scenario, what it costs, what to type on
//! a real cluster. [`Search`] is a state machine without I/O: it asks for runs, takes their [`Outcome`]s, and ends with
//! an [`Advice`]. [`advise`] makes the runs, on all cores, and keeps finished ones.

mod advice;
mod candidate;
mod condition;
mod every;
mod file;
mod keys;
mod objective;
mod outcome;
mod race;
mod run;
mod screen;
mod search;
mod setting;
mod variation;

pub use advice::{Advice, Hurt, RateRow, RemedyAdvice, SCHEMA, ScreenedBy, SetAdvice, Spread, Verdict};
pub use every::RemedySet;
pub use file::{Remedies, Remedy};
pub use objective::Objective;
pub use outcome::Outcome;
pub use run::{Asked, advise};
pub use search::{Ask, Level, NEGLIGIBLE, Search};
pub use setting::Limits;
