//! What the Python package `trunkline` calls: scenarios, runs and what stands on them, results as Arrow tables.
//!
//! The layer is thin: names, defaults, documentation and data frames are the package's (`python/trunkline`). Everything
//! that takes time goes through `effort::watched`, which lets other threads of Python run and hears Ctrl-C.

#![allow(
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    reason = "functions of Python own what they are handed, and have an argument for each keyword"
)]

mod calls;
mod effort;
mod errors;
mod imported;
mod kat;
mod outcome;
mod scenario;
mod sweep;
mod table;

use pyo3::prelude::*;

/// The module that the package imports.
#[pymodule]
mod _trunkline {
    #[pymodule_export]
    use crate::calls::{advise, compare, estimate, remedies, repeat, run, studies, study};
    #[pymodule_export]
    use crate::imported::import_history;
    #[pymodule_export]
    use crate::kat::{Placement, place, place_jobs};
    #[pymodule_export]
    use crate::outcome::Outcome;
    #[pymodule_export]
    use crate::scenario::{Scenario, file_name, keys, schema};
    #[pymodule_export]
    use crate::sweep::{Folder, Plan, make_run};
    #[pymodule_export]
    use crate::table::Table;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("BUILD", runs::build_id())
    }
}
