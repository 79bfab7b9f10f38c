//! Sweeps: their plans, their folders, and runs that are handed out.

use crate::effort::{Asked, watched};
use crate::errors::{input, raised, warn};
use crate::table::Table;
use ::sweep::{Asked as AskedOf, Changes, HandedOut, Order, Sweep, make, table};
use pyo3::prelude::*;
use runs::{Error, Inputs, Stop};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A sweep's plan.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Plan(Arc<::sweep::Plan>);

#[pymethods]
impl Plan {
    /// Reads a sweep's file and checks all of its runs.
    #[new]
    fn new(py: Python<'_>, file: PathBuf, set: Vec<String>, seeds: Option<u32>) -> PyResult<Self> {
        let (plan, warnings) = watched(py, &Asked { threads: None, progress: None }, |effort| {
            let text = Inputs::new(effort.stop).text(&file)?;
            let sweep = Sweep::read(&file.display().to_string(), &text).map_err(Error::Scenario)?;
            let folder = file.parent().unwrap_or(Path::new(""));
            ::sweep::Plan::new(sweep, folder, &Changes { set, seeds }, effort.stop)
        })?;
        warn(py, &warnings)?;
        Ok(Self(Arc::new(plan)))
    }

    fn __len__(&self) -> usize {
        self.0.runs.len()
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.sweep.name
    }

    /// The build that must make its runs.
    #[getter]
    fn build(&self) -> &str {
        &self.0.build
    }

    /// The line of `trunkline sweep --plan` of the run at a position.
    fn line(&self, position: usize) -> Option<String> {
        self.0.line(position)
    }

    /// The run at a position in words.
    fn words(&self, position: usize) -> Option<String> {
        let run = self.0.runs.get(position)?;
        Some(format!("{}, seed {}", self.0.words(run.point), run.seed))
    }

    /// Makes what is missing on this machine's cores; where all is there, writes table, page and `sweep.json`, and
    /// returns that file's text and the table.
    fn make(
        &self,
        py: Python<'_>,
        target: PathBuf,
        fresh: bool,
        threads: Option<u32>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<(String, Table)>> {
        let asked = AskedOf { fresh, ..AskedOf::default() };
        let made = watched(py, &Asked { threads, progress }, |effort| make(&self.0, &asked, &target, effort))?;
        let Some(surface) = made.surface else { return Ok(None) };
        py.detach(|| Ok(Some((surface.to_json(), Table::new(table(&self.0, &made.records))?))))
    }
}

/// A sweep's folder, for whoever hands its runs out.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Folder(HandedOut);

#[pymethods]
impl Folder {
    /// Opens or makes it.
    #[new]
    fn new(py: Python<'_>, plan: &Plan, target: PathBuf) -> PyResult<Self> {
        let plan = plan.0.clone();
        py.detach(|| HandedOut::open(plan, &target)).map(Self).map_err(|error| raised(py, &error))
    }

    /// The positions of runs that it lacks, in the order in which they are to be made.
    fn missing(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        watched(py, &Asked { threads: None, progress: None }, |effort| self.0.missing(effort.stop))
    }

    /// What the run at a position needs, as JSON.
    fn order(&self, py: Python<'_>, position: usize) -> PyResult<String> {
        let text = || {
            let order = self.0.order(position, &Stop::new())?;
            serde_json::to_string(&order).map_err(|error| Error::Internal(error.to_string()))
        };
        py.detach(text).map_err(|error| raised(py, &error))
    }

    /// Keeps the record of the run at a position.
    fn keep(&self, py: Python<'_>, position: usize, record: &str) -> PyResult<()> {
        py.detach(|| self.0.keep(position, record)).map_err(|error| raised(py, &error))
    }

    /// Keeps that the run at a position gives no result, because of `why`.
    fn lose(&self, py: Python<'_>, position: usize, why: &str) -> PyResult<()> {
        py.detach(|| self.0.lose(position, why)).map_err(|error| raised(py, &error))
    }

    /// A row for each run of those at some positions that is there.
    fn table(&self, py: Python<'_>, positions: Vec<usize>) -> PyResult<Table> {
        let table = py.detach(|| self.0.table(&positions)).map_err(|error| raised(py, &error))?;
        Table::new(table)
    }
}

/// Makes a run that was handed out. Returns its record.
#[pyfunction]
pub fn make_run(py: Python<'_>, order: &str) -> PyResult<String> {
    let order: Order = serde_json::from_str(order).map_err(|error| input(py, format!("this is no order: {error}")))?;
    watched(py, &Asked { threads: Some(1), progress: None }, |effort| order.make(effort))
}
