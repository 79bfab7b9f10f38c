//! Runs, comparisons, studies, estimates, advice.

use crate::effort::{Asked, watched};
use crate::errors::{input, raised};
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use ::advise::{Limits, Objective, Remedies};
use pyo3::prelude::*;
use runs::study::{Form, find};
use runs::{Comparison, Error, Figures, Folder, Inputs, RunsPage, SideBySide, Stop, Summary, Told, change_words};
use std::path::PathBuf;
use std::time::Duration;
use units::Time;

/// A text of JSON and a page, as one call leaves them.
type Left = (String, String);

/// Makes one run; into a folder, if one is named.
#[pyfunction]
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    out: Option<PathBuf>,
    capture: Option<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let (recorded, application) = py.detach(|| (scenario.own_record(), scenario.own_application()));
    let changes = scenario.assignments.clone();
    let told = Told { recorded: recorded.as_ref(), application: application.as_ref(), changes: &changes };
    let read = &scenario.read;
    let result = watched(py, &Asked { threads: Some(1), progress }, |effort| match &out {
        Some(folder) => runs::single(read, told, capture.as_deref(), folder, effort).map(|single| single.result),
        None => runs::run_scenario(read, 0, effort),
    })?;
    Ok(Outcome { result, scenario: read.clone(), recorded, application, changes, folder: out })
}

/// Makes the runs of several seeds; into a folder, if one is named. Returns `runs.json` and the page.
#[pyfunction]
pub fn repeat(
    py: Python<'_>,
    scenario: &Scenario,
    runs: u32,
    out: Option<PathBuf>,
    fresh: bool,
    threads: Option<u32>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Left> {
    let (recorded, application) = py.detach(|| (scenario.own_record(), scenario.own_application()));
    let read = &scenario.read;
    let told = Told { recorded: recorded.as_ref(), application: application.as_ref(), changes: &scenario.assignments };
    watched(py, &Asked { threads, progress }, |effort| {
        let changes = words(&scenario.assignments);
        if let Some(folder) = &out {
            let many = runs::many(read, runs, told, folder, fresh, effort)?;
            let summary = many.summary();
            return Ok((summary.to_json(), RunsPage::of_seeds(&summary, changes).render()));
        }
        let figures = runs::run_all(&runs::seeds(read, runs), effort, |result| {
            Ok(recorded.as_ref().map_or_else(|| Figures::of(&result), |record| Figures::beside(&result, record)))
        })?;
        let digest = read.digest();
        let summary = Summary { name: &read.name, digest: &digest, runs: &figures };
        // The seeds have no pages that this one could lead to.
        let page = RunsPage::side_by_side(&Comparison { summaries: &[summary] }, changes);
        Ok((summary.to_json(), page.render()))
    })
}

/// Changes as a reader takes them.
fn words(assignments: &[String]) -> Vec<String> {
    assignments.iter().map(|assignment| change_words(assignment)).collect()
}

/// Runs scenarios over the same seeds; into a folder, if one is named. Returns `comparison.json` and the page.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    scenarios: Vec<Py<Scenario>>,
    names: Vec<String>,
    runs: u32,
    out: Option<PathBuf>,
    threads: Option<u32>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Left> {
    let read: Vec<_> = scenarios.iter().map(|scenario| scenario.get().read.clone()).collect();
    watched(py, &Asked { threads, progress }, |effort| {
        // Before the runs, so that a path that cannot be written is found at once.
        let folder = out.as_deref().map(Folder::create).transpose()?;
        let made = SideBySide::run(read, names, runs, effort)?;
        let summaries = made.summaries();
        let comparison = Comparison { summaries: &summaries };
        let (text, page) = (comparison.to_json(), RunsPage::side_by_side(&comparison, Vec::new()).render());
        if let Some(folder) = folder {
            folder.file("comparison.json", text.as_bytes())?;
            folder.file("report.html", page.as_bytes())?;
            folder.commit()?;
        }
        Ok((text, page))
    })
}

/// The names and titles of the studies that the package holds.
#[pyfunction]
pub fn studies(py: Python<'_>) -> PyResult<Vec<(String, String, String)>> {
    let stop = Stop::new();
    let inputs = Inputs::new(&stop);
    let found = ::study::names().into_iter().map(|name| find(name, &inputs)).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(|error| raised(py, &error))?;
    Ok(found.into_iter().map(|study| (study.name, study.file.title, study.file.source)).collect())
}

/// Makes the runs of a study that its folder has not, and judges all. Returns `study.json` and the page.
#[pyfunction]
pub fn study(
    py: Python<'_>,
    name: &str,
    figures: Vec<String>,
    quick: bool,
    seeds: Option<u32>,
    out: PathBuf,
    threads: Option<u32>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Left> {
    let stop = Stop::new();
    let mut found = find(name, &Inputs::new(&stop)).map_err(|error| raised(py, &error))?;
    if !figures.is_empty() {
        found.keep_figures(&figures).map_err(|message| input(py, message))?;
    }
    let form = Form { quick, seeds };
    let outcome = watched(py, &Asked { threads, progress }, |effort| runs::study::run(&found, form, &out, effort))?;
    Ok((outcome.to_json(), ::study::page(&outcome)))
}

/// How long a scenario's jobs take, by closed forms: what `trunkline estimate --json` prints.
#[pyfunction]
pub fn estimate(py: Python<'_>, scenario: &Scenario) -> PyResult<String> {
    let read = &scenario.read;
    let jobs = py.detach(|| ::estimate::estimate(read)).map_err(|unable| input(py, unable.to_string()))?;
    Ok(::estimate::to_json(&read.name, &jobs, &[]))
}

/// The remedies: identifier and name.
#[pyfunction]
pub fn remedies(py: Python<'_>) -> PyResult<Vec<(String, String)>> {
    let known = Remedies::embedded().map_err(|error| raised(py, &Error::Scenario(error)))?;
    Ok(known.all.into_iter().map(|remedy| (remedy.id, remedy.name)).collect())
}

/// Searches among remedies. Returns `advice.json`; the page stands in the folder.
#[pyfunction]
pub fn advise(
    py: Python<'_>,
    scenario: &Scenario,
    objective: &str,
    budget: Option<String>,
    runs: u32,
    keep: Vec<String>,
    only: Vec<String>,
    without: Vec<String>,
    out: PathBuf,
    threads: Option<u32>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let mut known = Remedies::embedded().map_err(|error| raised(py, &Error::Scenario(error)))?;
    if !only.is_empty() {
        known.keep(&only).map_err(|message| input(py, message))?;
    }
    known.leave_out(&without).map_err(|message| input(py, message))?;
    let objective: Objective = objective.parse().map_err(|message: String| input(py, message))?;
    let budget: Option<Time> =
        budget.map(|text| text.parse().map_err(|error| input(py, format!("budget: {error}")))).transpose()?;
    let budget = budget.map(|budget| Duration::from_secs_f64(budget.as_secs_f64()));
    let asked = ::advise::Asked { objective, seeds: runs, budget, limits: Limits { keep } };
    let read = &scenario.read;
    let advice = watched(py, &Asked { threads, progress }, |effort| {
        ::advise::advise(read, known, &asked, &out, effort, &mut |_, _, _| {})
    })?;
    Ok(advice.to_json())
}
