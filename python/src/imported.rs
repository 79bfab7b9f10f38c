//! Histories of real jobs as scenarios.

use crate::effort::{Asked, watched};
use history::import::{self, ImportError, Sources};
use pyo3::prelude::*;
use runs::{BUDGET, Error, Inputs, check, pick_job, reproduce};
use std::path::PathBuf;

/// What is assumed: key, value, why.
type Assumed = Vec<(String, String, String)>;
/// Recorded beside predicted: figure, unit, recorded, predicted.
type Lines = Vec<(String, String, f64, f64)>;

/// Makes a scenario of one recorded job. Returns its text, the history's file, what is assumed, and what a run of it
/// predicts beside what was recorded.
#[pyfunction]
pub fn import_history(
    py: Python<'_>,
    files: Vec<PathBuf>,
    cluster: Option<(String, String)>,
    job: Option<String>,
    described: Option<PathBuf>,
    written_by: Option<PathBuf>,
    checked: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, PathBuf, Assumed, Lines)> {
    watched(py, &Asked { threads: Some(1), progress }, |effort| {
        let inputs = Inputs::new(effort.stop);
        let writer = match &written_by {
            None => None,
            Some(path) => Some(pick_job(path, inputs.history(path)?.1, None)?),
        };
        let found = inputs.job(&files, job.as_deref())?;
        let settings = inputs.settings_of(&found, described.as_deref())?;
        let cluster = cluster.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        let sources = Sources { cluster, settings, writer: writer.as_ref() };
        let mut imported = import::import(&found.job, &sources).map_err(|error| match error {
            ImportError::Scenario(error) => Error::Scenario(error),
            other => Error::Input(format!("{}: {other}", found.file.display())),
        })?;
        // The text may go anywhere: only the whole path leads from there to the history.
        if let Some(path) = found.file.canonicalize().ok().and_then(|path| path.to_str().map(str::to_owned)) {
            imported.refer_to(path);
        }
        sim::parse(&found.job.id, &imported.to_toml(), &[]).map_err(Error::Scenario)?;
        let mut lines = Lines::new();
        if checked || imported.record.is_some() {
            let fitted = reproduce(&mut imported, BUDGET, effort)?;
            if let Some(result) = fitted.result.as_ref().filter(|_| checked) {
                let line =
                    |line: runs::Line| (line.name.to_owned(), line.unit.to_owned(), line.recorded, line.predicted);
                lines = check(&imported, result).lines.into_iter().map(line).collect();
            }
        }
        let assumed = imported.assumed.iter().map(|a| (a.key.clone(), a.value.clone(), a.why.clone())).collect();
        Ok((imported.to_toml(), found.file.clone(), assumed, lines))
    })
}
