//! The pure parts of an application: delay scheduling, fetch limits, files of shuffles. `sim` tests the whole.

mod adaptive;
mod allocation;
mod exclusion;
mod fetch;
mod shuffle;
mod skew;
mod task_set;
