//! Errors as the package's exceptions (`trunkline.errors`).

use pyo3::prelude::*;
use pyo3::types::PyModule;
use runs::Error;
use scenario::{Problem, ScenarioError, ScenarioWarnings, Source};

/// A problem as Python gets it: file, line, column, message, help, and the text of the line.
type Place = (String, usize, usize, String, Option<String>, String);

fn place(sources: &[Source], problem: &Problem) -> Place {
    let source = &sources[problem.span.source];
    let (line, column) = source.line_and_column(problem.span.range.start);
    let text = source.text.lines().nth(line - 1).unwrap_or_default().to_owned();
    (source.name.clone(), line, column, problem.message.clone(), problem.help.clone(), text)
}

fn places(sources: &[Source], problems: &[Problem]) -> Vec<Place> {
    problems.iter().map(|problem| place(sources, problem)).collect()
}

fn classes(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("trunkline.errors")
}

/// The exception of an error.
pub fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let made = || -> PyResult<Bound<'_, PyAny>> {
        let classes = classes(py)?;
        match error {
            Error::Scenario(ScenarioError { sources, problems }) => {
                classes.getattr("ScenarioError")?.call1((error.to_string(), places(sources, problems)))
            }
            Error::Internal(message) => classes.getattr("InternalError")?.call1((message,)),
            Error::Input(message) => classes.getattr("InputError")?.call1((message,)),
            Error::Output(message) => classes.getattr("OutputError")?.call1((message,)),
            // Only Python asks runs to stop.
            Error::Interrupted | Error::Kept(_) => classes.getattr("Interrupted")?.call1((error.to_string(),)),
        }
    };
    made().map_or_else(|error| error, PyErr::from_value)
}

/// Input that is wrong.
pub fn input(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raised(py, &Error::Input(message.into()))
}

/// Tells by Python's warnings what a scenario will do against expectation.
pub fn warn(py: Python<'_>, warnings: &ScenarioWarnings) -> PyResult<()> {
    if warnings.problems.is_empty() {
        return Ok(());
    }
    classes(py)?.getattr("warn")?.call1((places(&warnings.sources, &warnings.problems),)).map(|_| ())
}
