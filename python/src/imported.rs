//! Histories of real jobs as scenarios.

use crate::effort::{Asked, watched};
use history::spark::Application;
use pyo3::prelude::*;
use runs::{BUDGET, Effort, Error, Inputs, KnownBeside, check, check_spark, import_spark, reproduce, try_once};
use std::path::{Path, PathBuf};

/// What is assumed: key, value, why.
type Assumed = Vec<(String, String, String)>;
/// Recorded beside predicted: figure, unit, recorded, predicted.
type Lines = Vec<(String, String, f64, Option<f64>)>;
/// The scenario's text, its name, the history's file, what is assumed, what a reader should know, and a run beside the
/// record.
type Made = (String, String, PathBuf, Assumed, Vec<String>, Lines);

/// Makes a scenario of one recorded job, or of an application of Spark.
#[pyfunction]
pub fn import_history(
    py: Python<'_>,
    files: Vec<PathBuf>,
    cluster: Option<PathBuf>,
    job: Option<String>,
    described: Option<PathBuf>,
    written_by: Option<PathBuf>,
    checked: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Made> {
    watched(py, &Asked { threads: Some(1), progress }, |effort| {
        let inputs = Inputs::new(effort.stop);
        let cluster = match &cluster {
            None => None,
            Some(path) => Some((path.display().to_string(), inputs.text(path)?)),
        };
        let cluster = cluster.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        if let [file] = files.as_slice()
            && let Some(application) = inputs.event_log(file)?
        {
            if job.is_some() || described.is_some() || written_by.is_some() {
                let message = "an event log of Spark takes neither `job` nor `described` nor `written_by`";
                return Err(Error::Input(message.to_owned()));
            }
            return of_spark(file, &application, cluster, checked, effort);
        }
        let writer = written_by.as_ref().map(|path| inputs.writer(path)).transpose()?;
        let found = inputs.job(&files, job.as_deref())?;
        let beside = KnownBeside { cluster, described: described.as_deref(), writer: writer.as_ref() };
        let mut imported = inputs.imported(&found, beside)?;
        // The text may go anywhere: only the whole path leads from there to the history.
        if let Some(path) = whole_path(&found.file) {
            imported.refer_to(path);
        }
        let name = sim::parse(&found.job.id, &imported.to_toml(), &[]).map_err(Error::Scenario)?.name;
        let mut lines = Lines::new();
        if checked || imported.record.is_some() {
            let fitted = reproduce(&mut imported, BUDGET, effort)?;
            if let Some(result) = fitted.result.as_ref().filter(|_| checked) {
                let line = |line: runs::Line| {
                    (line.name.to_owned(), line.unit.to_owned(), line.recorded, Some(line.predicted))
                };
                lines = check(&imported, result).lines.into_iter().map(line).collect();
            }
        }
        let assumed = imported.assumed.iter().map(|a| (a.key.clone(), a.value.clone(), a.why.clone())).collect();
        Ok((imported.to_toml(), name, found.file.clone(), assumed, Vec::new(), lines))
    })
}

fn whole_path(file: &Path) -> Option<String> {
    Some(file.canonicalize().ok()?.to_str()?.to_owned())
}

fn of_spark(
    file: &Path,
    application: &Application,
    cluster: Option<(&str, &str)>,
    checked: bool,
    effort: &Effort<'_>,
) -> Result<Made, Error> {
    let mut imported = import_spark(application, cluster)?;
    if let Some(path) = whole_path(file) {
        imported.refer_to(path);
    }
    let text = runs::spark_toml(&imported);
    let scenario = sim::parse(&application.id, &text, &[]).map_err(Error::Scenario)?;
    let mut lines = Lines::new();
    if checked {
        let line = |line: runs::SparkLine| (line.name, line.unit.to_owned(), line.recorded, line.predicted);
        let result = try_once(&scenario, BUDGET, effort)?.result;
        let found = result.and_then(|result| check_spark(&imported, &result));
        lines = found.unwrap_or_default().into_iter().map(line).collect();
    }
    Ok((text, scenario.name, file.to_owned(), Assumed::new(), imported.notes, lines))
}
