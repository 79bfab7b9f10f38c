//! How a command can end badly, and the exit code that says so.

use crate::screen::has_colour;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use runs::{Error, exit};
use scenario::{Problem, ScenarioError, ScenarioWarnings, Source};
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
#[cfg(any(feature = "jet", feature = "testbed"))]
use std::path::Path;

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// Of simulated runs and their files.
    Runs(Error),
    /// An error of the program.
    Internal(String),
    /// What the user gave is wrong.
    Input(String),
    /// The simulation went well, and the job in it failed.
    Job(String),
    /// A real job, or the real cluster under it, failed.
    RealJob(String),
    /// This machine, or this user, lacks a capability.
    Missing(String),
    /// A program that was run for the user ended with this code, and has said why itself.
    Program(u8),
    /// Output could not be written.
    Output(String),
    /// Whoever read the output has gone: nothing to say, and nobody to say it to.
    ReaderGone,
    /// The user stopped it.
    #[cfg(feature = "testbed")]
    Interrupted,
    /// The user stopped it, and the same command goes on from what is kept.
    #[cfg(feature = "testbed")]
    Kept(String),
}

impl Failure {
    /// The exit code of the table in `--help`.
    pub const fn code(&self) -> u8 {
        match self {
            Self::Runs(error) => error.exit_code(),
            Self::Internal(_) => exit::INTERNAL,
            Self::Input(_) => exit::INPUT,
            Self::Job(_) => exit::JOB,
            Self::RealJob(_) => exit::JOB,
            Self::Missing(_) => exit::MISSING,
            Self::Program(code) => *code,
            Self::Output(_) => exit::OUTPUT,
            #[cfg(feature = "testbed")]
            Self::Interrupted | Self::Kept(_) => exit::INTERRUPTED,
            Self::ReaderGone => 0,
        }
    }

    /// A file that cannot be read.
    #[cfg(feature = "jet")]
    pub fn reading(path: &Path, error: &io::Error) -> Self {
        Self::Runs(Error::reading(path, error))
    }

    /// A file that cannot be written.
    #[cfg(feature = "testbed")]
    pub fn writing(path: &Path, error: &io::Error) -> Self {
        Self::Runs(Error::writing(path, error))
    }

    /// Says it on standard error. Where that cannot be written the exit code has to do.
    pub fn report(&self) {
        let internal = |message: &str| format!("error: {message}\nthis is an error of trunkline, not of the input\n");
        let text = match self {
            Self::Runs(Error::Scenario(error)) => render(error, has_colour(io::stderr().is_terminal())),
            Self::Runs(Error::Internal(message)) | Self::Internal(message) => internal(message),
            Self::Runs(error @ (Error::Interrupted | Error::Kept(_))) => format!("{error}\n"),
            Self::Runs(error) => format!("error: {error}\n"),
            Self::Input(message) | Self::Output(message) => format!("error: {message}\n"),
            Self::Missing(message) => format!("error: {message}\n"),
            Self::RealJob(reason) => format!("failed: {reason}\n"),
            Self::Job(reason) => format!("the simulated job failed: {reason}\n"),
            #[cfg(feature = "testbed")]
            Self::Interrupted => "interrupted: nothing is left behind\n".to_owned(),
            #[cfg(feature = "testbed")]
            Self::Kept(message) => format!("interrupted: {message}\n"),
            Self::Program(_) => return,
            Self::ReaderGone => return,
        };
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Runs(error)
    }
}

#[cfg(feature = "testbed")]
impl From<testbed::link::LinkError> for Failure {
    fn from(error: testbed::link::LinkError) -> Self {
        use testbed::link::LinkError;
        match error {
            LinkError::Input(message) => Self::Input(message),
            LinkError::Missing { .. } | LinkError::System { .. } => Self::Missing(error.to_string()),
        }
    }
}

/// At most this many problems are shown.
const SHOWN: usize = 20;

/// Says on standard error what a scenario will do against expectation.
pub fn warn(warnings: &ScenarioWarnings) {
    let colour = has_colour(io::stderr().is_terminal());
    let text = render_all(&warnings.sources, &warnings.problems, &Level::WARNING, colour);
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

fn render(error: &ScenarioError, colour: bool) -> String {
    render_all(&error.sources, &error.problems, &Level::ERROR, colour)
}

/// Every problem with the line it stands on.
fn render_all(sources: &[Source], problems: &[Problem], level: &Level<'_>, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for problem in problems.iter().take(SHOWN) {
        let source = &sources[problem.span.source];
        let place = AnnotationKind::Primary.span(problem.span.range.clone());
        let snippet = Snippet::source(&source.text).path(&source.name).annotation(place);
        let mut report = level.clone().primary_title(&problem.message).element(snippet);
        if let Some(help) = &problem.help {
            report = report.element(Level::HELP.message(help));
        }
        let _ = writeln!(text, "{}\n", renderer.render(&[report]));
    }
    if problems.len() > SHOWN {
        let _ = writeln!(text, "and {} more", problems.len() - SHOWN);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Wherever a text goes wrong, its problems can be shown: each file of the corpus, and each of its beginnings.
    #[test]
    fn every_problem_of_the_corpus_can_be_shown() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sim/tests/corpus");
        let mut shown = 0;
        for file in std::fs::read_dir(folder).expect("the corpus is part of the tree") {
            let bytes = std::fs::read(file.expect("readable").path()).expect("readable");
            let text = String::from_utf8_lossy(&bytes);
            for (at, _) in text.char_indices().step_by(11) {
                let sets = [format!("hdfs.block={at}\t\u{0431}")];
                if let Err(error) = sim::parse("corpus.toml", &text[..at], &sets) {
                    let (plain, styled) = (render(&error, false), render(&error, true));
                    assert!(plain.contains(&error.problems[0].message) && styled.len() > plain.len(), "{plain}");
                    shown += 1;
                }
            }
        }
        assert!(shown > 50, "{shown}");
    }
}
