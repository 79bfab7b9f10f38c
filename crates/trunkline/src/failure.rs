//! How a command can end badly, and the exit code that says so.

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use sim::RunError;
use sim::results::FolderError;
use sim::scenario::{Problem, ScenarioError};
use std::fmt::{self, Write};
use std::io::{self, IsTerminal};
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
    /// Output could not be written.
    Output(String),
    /// Whoever read the output has gone: nothing to say, and nobody to say it to.
    ReaderGone,
    /// The user stopped it.
    Interrupted,
}

impl Failure {
    /// The exit code of the table in `--help`.
    pub const fn code(&self) -> u8 {
        match self {
            Self::Internal(_) => 1,
            Self::Input(_) | Self::Scenario(_) => 2,
            Self::Job(_) => 3,
            Self::Output(_) => 5,
            Self::Interrupted => 130,
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

    /// Says it on standard error.
    pub fn report(&self) {
        match self {
            Self::Internal(message) => eprintln!("error: {message}\nthis is an error of trunkline, not of the input"),
            Self::Input(message) | Self::Output(message) => eprintln!("error: {message}"),
            Self::Job(reason) => eprintln!("the simulated job failed: {reason}"),
            Self::Scenario(error) => eprint!("{}", render(error, io::stderr().is_terminal())),
            Self::Interrupted => eprintln!("interrupted: nothing is left behind"),
            Self::ReaderGone => {}
        }
    }
}

/// The system's words without its number.
fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
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
    let theme = if plain { GraphicalTheme::none() } else { GraphicalTheme::unicode() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(100).with_context_lines(1).with_links(false);
    let mut text = String::new();
    for problem in error.problems.iter().take(SHOWN) {
        let source = &error.sources[problem.span.source];
        let named = NamedSource::new(&source.name, source.text.clone());
        let rendered = handler.render_report(&mut text, &Located { problem, source: &named });
        if rendered.is_err() {
            text.push_str(&error.to_string());
            break;
        }
    }
    if error.problems.len() > SHOWN {
        let _ = writeln!(text, "and {} more", error.problems.len() - SHOWN);
    }
    text
}

/// A problem with its source, as miette wants it.
struct Located<'a> {
    problem: &'a Problem,
    source: &'a NamedSource<String>,
}

impl fmt::Debug for Located<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.problem)
    }
}

impl fmt::Display for Located<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem.message)
    }
}

impl std::error::Error for Located<'_> {}

impl Diagnostic for Located<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.problem.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let range = self.problem.span.range.clone();
        Some(Box::new(std::iter::once(LabeledSpan::new(None, range.start, range.len()))))
    }
}
