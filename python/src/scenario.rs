//! A scenario with where it comes from.

use crate::errors::{raised, warn};
use history::spark::SparkImported;
use pyo3::prelude::*;
use runs::{Change, Inputs, Recorded, Stop};
use scenario::key::Section;
use std::path::{Path, PathBuf};

/// A scenario: its text, what is laid over it, and what both come to.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Scenario {
    /// The file; none of a text.
    path: Option<PathBuf>,
    /// The file's name in messages.
    name: String,
    text: String,
    /// Assignments `section.key=value`.
    pub(crate) assignments: Vec<String>,
    /// As read.
    pub(crate) read: scenario::Scenario,
}

impl Scenario {
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        name: String,
        text: String,
        assignments: Vec<String>,
    ) -> PyResult<Self> {
        let folder = path.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
        let change = Change { assignments, seed: None };
        let stop = Stop::new();
        let read = py.detach(|| Inputs::new(&stop).scenario_of(&name, &text, folder, &change));
        let (read, warnings) = read.map_err(|error| raised(py, &error))?;
        warn(py, &warnings)?;
        Ok(Self { path, name, text, assignments: change.assignments, read })
    }

    /// The recorded job that it was made of, for its page. Without the history's file there is none: the page shows
    /// less.
    pub fn own_record(&self) -> Option<Recorded> {
        let path = self.path.as_ref()?;
        Inputs::new(&Stop::new()).own_record(&self.read, path, !self.assignments.is_empty()).ok().flatten()
    }

    /// The recorded application of Spark that it was made of, for its page; none without the event log's file.
    pub fn own_application(&self) -> Option<SparkImported> {
        let path = self.path.as_ref()?;
        Inputs::new(&Stop::new()).own_application(&self.read, path, !self.assignments.is_empty()).ok().flatten()
    }
}

#[pymethods]
impl Scenario {
    /// Of a text.
    #[staticmethod]
    fn of_text(py: Python<'_>, text: String, name: String, assignments: Vec<String>) -> PyResult<Self> {
        Self::new(py, None, name, text, assignments)
    }

    /// Of a file.
    #[staticmethod]
    fn of_file(py: Python<'_>, path: PathBuf, assignments: Vec<String>) -> PyResult<Self> {
        let stop = Stop::new();
        let text = py.detach(|| Inputs::new(&stop).text(&path)).map_err(|error| raised(py, &error))?;
        let name = path.display().to_string();
        Self::new(py, Some(path), name, text, assignments)
    }

    /// The same text with these assignments over it.
    fn with_assignments(&self, py: Python<'_>, assignments: Vec<String>) -> PyResult<Self> {
        Self::new(py, self.path.clone(), self.name.clone(), self.text.clone(), assignments)
    }

    /// Its name in results.
    #[getter]
    fn name(&self) -> &str {
        &self.read.name
    }

    /// Its text.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The assignments that are laid over its text.
    #[getter]
    fn assignments(&self) -> Vec<String> {
        self.assignments.clone()
    }

    /// Names it, seed aside.
    fn digest(&self) -> String {
        self.read.digest()
    }

    /// Every key with its value.
    fn resolved(&self) -> String {
        self.read.to_toml()
    }

    /// The keys that differ from the defaults.
    fn short(&self) -> String {
        self.read.to_short_toml()
    }

    /// The file that it was read from.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.path.clone()
    }
}

/// A name as one part of a path.
#[pyfunction]
pub fn file_name(name: &str) -> String {
    runs::file_name(name)
}

/// The JSON Schema of scenarios.
#[pyfunction]
pub fn schema() -> String {
    scenario::schema().to_string()
}

/// Every key of the language: path, kind and range, default, meaning.
#[pyfunction]
pub fn keys() -> Vec<(String, String, String, String)> {
    let rows = scenario::Scenario::reference().into_iter();
    rows.map(|key| (key.path, key.kind, key.default, key.doc)).collect()
}
