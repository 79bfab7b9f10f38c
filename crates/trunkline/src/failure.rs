//! How a command can end badly, and the exit code that says so.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use sim::RunError;
use sim::results::FolderError;
use sim::scenario::ScenarioError;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::path::Path;

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// An error of the program, or a violated conservation law.
    Internal(String),
    /// What the user gave is wrong.
    Input(String),
    /// A scenario is wrong, at known places.
    Scenario(ScenarioError),
    /// The simulation went well, and the job in it failed.
    Job(String),
    /// This machine, or this user, lacks a capability.
    #[cfg(any(feature = "jet", feature = "testbed"))]
    Missing(String),
    /// A program that was run for the user ended with this code, and has said why itself.
    #[cfg(feature = "testbed")]
    Program(u8),
    /// Output could not be written.
    Output(String),
    /// Whoever read the output has gone: nothing to say, and nobody to say it to.
    ReaderGone,
    /// The user stopped it.
    Interrupted,
    /// The user stopped it, and the same command goes on from what is kept.
    Kept(String),
}

impl Failure {
    /// The exit code of the table in `--help`.
    pub const fn code(&self) -> u8 {
        match self {
            Self::Internal(_) => 1,
            Self::Input(_) | Self::Scenario(_) => 2,
            Self::Job(_) => 3,
            #[cfg(any(feature = "jet", feature = "testbed"))]
            Self::Missing(_) => 4,
            #[cfg(feature = "testbed")]
            Self::Program(code) => *code,
            Self::Output(_) => 5,
            Self::Interrupted | Self::Kept(_) => 130,
            Self::ReaderGone => 0,
        }
    }

    /// A file that cannot be read.
    pub fn reading(path: &Path, error: &io::Error) -> Self {
        Self::Input(format!("cannot read {}: {}", path.display(), cause(error)))
    }

    /// A file that cannot be written.
    pub fn writing(path: &Path, error: &io::Error) -> Self {
        Self::Output(format!("cannot write {}: {}", path.display(), cause(error)))
    }

    /// Says it on standard error. Where that cannot be written the exit code has to do.
    pub fn report(&self) {
        let text = match self {
            Self::Internal(message) => format!("error: {message}\nthis is an error of trunkline, not of the input\n"),
            Self::Input(message) | Self::Output(message) => format!("error: {message}\n"),
            #[cfg(any(feature = "jet", feature = "testbed"))]
            Self::Missing(message) => format!("error: {message}\n"),
            Self::Job(reason) => format!("the simulated job failed: {reason}\n"),
            Self::Scenario(error) => render(error, io::stderr().is_terminal()),
            Self::Interrupted => "interrupted: nothing is left behind\n".to_owned(),
            Self::Kept(message) => format!("interrupted: {message}\n"),
            #[cfg(feature = "testbed")]
            Self::Program(_) => return,
            Self::ReaderGone => return,
        };
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

/// The system's words without its number.
fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
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

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        Self::Output(error.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Interrupted => Self::Interrupted,
            RunError::Scenario(message) => Self::Input(message),
            RunError::Ledger(_) => Self::Internal(error.to_string()),
        }
    }
}

/// At most this many problems are shown.
const SHOWN: usize = 20;

/// Every problem with the line it stands on.
fn render(error: &ScenarioError, terminal: bool) -> String {
    let plain = !terminal || std::env::var_os("NO_COLOR").is_some();
    let renderer = if plain { Renderer::plain() } else { Renderer::styled() };
    let mut text = String::new();
    for problem in error.problems.iter().take(SHOWN) {
        let source = &error.sources[problem.span.source];
        let place = AnnotationKind::Primary.span(problem.span.range.clone());
        let snippet = Snippet::source(&source.text).path(&source.name).annotation(place);
        let mut report = Level::ERROR.primary_title(&problem.message).element(snippet);
        if let Some(help) = &problem.help {
            report = report.element(Level::HELP.message(help));
        }
        let _ = writeln!(text, "{}\n", renderer.render(&[report]));
    }
    if error.problems.len() > SHOWN {
        let _ = writeln!(text, "and {} more", error.problems.len() - SHOWN);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::scenario::Scenario;

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
                if let Err(error) = Scenario::parse("corpus.toml", &text[..at], &sets) {
                    let (plain, styled) = (render(&error, false), render(&error, true));
                    assert!(plain.contains(&error.problems[0].message) && styled.len() > plain.len(), "{plain}");
                    shown += 1;
                }
            }
        }
        assert!(shown > 50, "{shown}");
    }
}
