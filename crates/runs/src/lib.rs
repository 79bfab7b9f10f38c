//! Runs of scenarios: files, seeds, threads, resume, interruption, and what several runs say together.
//!
//! The crate prints nothing and parses no arguments: the command line, and whatever else runs many scenarios, stand on
//! it.
//!
//! - [`Inputs`] reads a scenario with the files that it names, and recorded jobs; `-` is standard input.
//! - [`single`] makes one run into a folder, [`many`] the runs of several seeds; finished seeds are kept and not run
//!   again.
//! - [`Summary`] is the mean of each figure over seeds, [`Comparison`] the paired differences between scenarios.
//! - [`reproduce`] fits a recorded job's plan so that its scenario takes as long as the job did, and [`check`] says how
//!   near it comes.
//! - [`study`] makes the runs of a published experiment and judges them; finished runs are kept.
//! - [`Journal`] is a folder that fills while runs are made, and from which an interrupted call goes on.
//! - [`Stop`] is the wish to stop. Runs look at it while they build, simulate, collect results and write, and leave
//!   nothing partial.
//! - Progress goes to the closure in [`Effort`]; errors say by [`Error::exit_code`] what kind they are.

mod around;
mod clock;
mod error;
mod event_logs;
mod figures;
mod folder;
mod histories;
mod imported;
mod input;
mod journal;
mod kept;
mod load;
mod many;
mod page;
mod paired;
mod partial;
mod pool;
mod reproduce;
mod side_by_side;
mod single;
mod spark;
mod stop;
pub mod study;
mod trade_off;

pub use around::Effort;
pub use clock::{Clock, cpu_time, peak_bytes};
pub use error::{Error, exit};
pub use figures::{Compared, Figure, Figures, Summary, estimate_of_all, failure_in, failure_of};
pub use folder::{FlowFile, Folder, FolderError};
pub use histories::{Found, Which, pick_job};
pub use imported::KnownBeside;
pub use input::{Inputs, MOST_BYTES, STANDARD_INPUT};
pub use journal::{Holds, Journal};
pub use kept::build_id;
pub use load::{Change, path_beside, seeds};
pub use many::{Many, many};
pub use page::{RUNS_PAGE, RunsPage};
pub use paired::Comparison;
pub use partial::{Partial, remove_partial, resolve, write_whole};
pub use pool::{make_all, run_all, run_scenario};
pub use reproduce::{BUDGET, Check, Checked, FAR, JobLine, Line, check, check_all, reproduce, reproduce_all, try_once};
pub use side_by_side::SideBySide;
pub use single::{Likeness, Recorded, Single, Told, change_words, file_name, page_of, single};
pub use spark::{SparkLine, check_spark, import_spark, into_workers, spark_toml};
pub use stop::Stop;
pub use trade_off::TradeOff;
