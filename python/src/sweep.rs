//! Sweeps: their plans, their folders, and runs that are handed out.

use crate::effort::{Asked, watched};
use crate::errors::{input, raised, warn};
use crate::table::Table;
use ::sweep::{Asked as AskedOf, Changes, HandedOut, Order, Sweep, make};
use pyo3::prelude::*;
use runs::{Error, Inputs, Stop};
use std::path::{Path, PathBuf};

/// A sweep's plan.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Plan(::sweep::Plan);

impl Plan {
    /// Looks at, or writes to, the sweep's folder.
    fn folder<T: Send>(
        &self,
        py: Python<'_>,
        target: &Path,
        work: impl FnOnce(&HandedOut<'_>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        py.detach(|| work(&HandedOut::open(&self.0, target)?)).map_err(|error| raised(py, &error))
    }
}

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
        Ok(Self(plan))
    }

    fn __len__(&self) -> usize {
        self.0.runs.len()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.sweep.name
    }

    #[getter]
    fn build(&self) -> &str {
        &self.0.build
    }

    /// The lines of `trunkline sweep --plan`, one for each run.
    fn lines(&self) -> Vec<String> {
        (0..self.0.runs.len()).filter_map(|position| self.0.line(position)).collect()
    }

    /// The name of the run at a position.
    fn run(&self, position: usize) -> Option<String> {
        Some(self.0.runs.get(position)?.name.clone())
    }

    /// The positions of runs that a folder lacks, in the order in which they are to be made.
    fn missing(&self, py: Python<'_>, target: PathBuf) -> PyResult<Vec<usize>> {
        self.folder(py, &target, |folder| folder.missing(&Stop::new()))
    }

    /// What runs at some positions need, as JSON each.
    fn orders(&self, py: Python<'_>, target: PathBuf, positions: Vec<usize>) -> PyResult<Vec<String>> {
        self.folder(py, &target, |folder| {
            let order = |position: &usize| {
                let order = folder.order(*position, &Stop::new())?;
                serde_json::to_string(&order).map_err(|error| Error::Internal(error.to_string()))
            };
            positions.iter().map(order).collect()
        })
    }

    /// Keeps records of runs by their positions.
    fn keep(&self, py: Python<'_>, target: PathBuf, records: Vec<(usize, String)>) -> PyResult<()> {
        self.folder(py, &target, |folder| records.iter().try_for_each(|(position, text)| folder.keep(*position, text)))
    }

    /// Keeps that a run gives no result.
    fn lose(&self, py: Python<'_>, target: PathBuf, position: usize, why: String) -> PyResult<()> {
        self.folder(py, &target, |folder| folder.lose(position, &why))
    }

    /// Makes what is missing on this machine's cores; where all is there, writes table, page and `sweep.json`, and
    /// returns that file's text.
    fn make(
        &self,
        py: Python<'_>,
        target: PathBuf,
        fresh: bool,
        threads: Option<u32>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<String>> {
        let asked = AskedOf { fresh, ..AskedOf::default() };
        let made = watched(py, &Asked { threads, progress }, |effort| make(&self.0, &asked, &target, effort))?;
        Ok(made.surface.map(|surface| surface.to_json()))
    }

    /// The page of a whole sweep.
    fn table(&self, py: Python<'_>, target: PathBuf) -> PyResult<Table> {
        let all: Vec<usize> = (0..self.0.runs.len()).collect();
        let records = self.folder(py, &target, |folder| folder.records(&all))?;
        if records.len() < all.len() {
            return Err(input(py, format!("{} of {} runs are there", records.len(), all.len())));
        }
        Table::new(::sweep::table(&self.0, &records))
    }
}

/// Makes a run that was handed out. Returns its record.
#[pyfunction]
pub fn make_run(py: Python<'_>, order: &str) -> PyResult<String> {
    let order: Order = serde_json::from_str(order).map_err(|error| input(py, format!("this is no order: {error}")))?;
    watched(py, &Asked { threads: Some(1), progress: None }, |effort| order.make(effort))
}
