//! The result of a run.

use crate::table::Table;
use history::spark::SparkImported;
use pyo3::prelude::*;
use results::{RunResult, tables, to_json};
use runs::{Recorded, Told, failure_in, page_of};
use std::path::PathBuf;

/// The result of one run, and what its page needs besides.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Outcome {
    pub(crate) result: RunResult,
    pub(crate) scenario: scenario::Scenario,
    pub(crate) recorded: Option<Recorded>,
    pub(crate) application: Option<SparkImported>,
    pub(crate) changes: Vec<String>,
    /// Where its folder is, if it has one.
    pub(crate) folder: Option<PathBuf>,
}

#[pymethods]
impl Outcome {
    /// `result.json`.
    fn json(&self, py: Python<'_>) -> String {
        py.detach(|| to_json(&self.result))
    }

    /// The page, one file of HTML.
    fn page(&self, py: Python<'_>) -> String {
        let told =
            Told { recorded: self.recorded.as_ref(), application: self.application.as_ref(), changes: &self.changes };
        py.detach(|| page_of(&self.scenario, &self.result, &told))
    }

    /// The tables with their names.
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<(String, Table)>> {
        py.detach(|| {
            tables(&self.result).into_iter().map(|table| Ok((table.name.to_owned(), Table::new(table)?))).collect()
        })
    }

    /// Why a job of it failed, or why the run was given up; none if neither.
    fn failure(&self) -> Option<String> {
        let stalled = self.result.stall.as_ref().map(ToString::to_string);
        stalled.or_else(|| failure_in(&self.result))
    }

    /// Where its files are.
    #[getter]
    fn folder(&self) -> Option<PathBuf> {
        self.folder.clone()
    }
}
