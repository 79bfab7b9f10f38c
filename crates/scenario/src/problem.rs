//! What is wrong with a scenario, and where.

use std::fmt;
use std::ops::Range;
use units::nearest;

/// A text that a scenario is made of: the file, or one `--set`.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The file's name, or `--set`.
    pub name: String,
    /// All of it.
    pub text: String,
}

impl Source {
    /// Line and column of a byte, both from 1; a column counts characters.
    pub fn line_and_column(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// A stretch of a source, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Which source.
    pub source: usize,
    /// The bytes.
    pub range: Range<usize>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Place in the text.
    pub span: Span,
    /// The problem, for the reader.
    pub message: String,
    /// What would be right, if that is known.
    pub help: Option<String>,
}

/// Collects problems, so that one reading finds them all.
#[derive(Debug, Default)]
pub struct Problems(pub Vec<Problem>, Option<Elsewhere>);

/// Says where in the file a key belongs that is unknown where it stands.
pub type Elsewhere = fn(&str) -> Option<String>;

impl Problems {
    /// Those of a file whose keys may be taken for each other's.
    pub const fn of_keys(elsewhere: Elsewhere) -> Self {
        Self(Vec::new(), Some(elsewhere))
    }

    /// Whether nothing is wrong so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts them in the order of the text.
    pub fn sort(&mut self) {
        self.0.sort_by_key(|problem| (problem.span.source, problem.span.range.start));
    }

    /// Something is wrong at `span`.
    pub fn add(&mut self, span: &Span, message: impl Into<String>) {
        self.0.push(Problem { span: span.clone(), message: message.into(), help: None });
    }

    /// Something is wrong at `span`, and what would be right is known.
    pub fn add_with_help(&mut self, span: &Span, message: impl Into<String>, help: impl Into<String>) {
        self.0.push(Problem { span: span.clone(), message: message.into(), help: Some(help.into()) });
    }

    /// `word` is not among the words that may stand at `span`.
    pub fn unknown<'a>(&mut self, span: &Span, what: &str, word: &str, known: impl IntoIterator<Item = &'a str>) {
        self.not_among(span, what, word, &known.into_iter().collect::<Vec<_>>());
    }
    /// `word` is not among the keys that may stand at `span`; it may belong elsewhere.
    pub fn unknown_key(&mut self, span: &Span, word: &str, known: &[String]) {
        const WHAT: &str = "a key here";
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        match self.1.and_then(|elsewhere| elsewhere(word)) {
            Some(help) if nearest(word, known.iter().copied()).is_none() => {
                self.add_with_help(span, format!("`{word}` is not {WHAT}"), help);
            }
            _ => self.not_among(span, WHAT, word, &known),
        }
    }
    fn not_among(&mut self, span: &Span, what: &str, word: &str, known: &[&str]) {
        let help = match nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("one of: {}", known.join(", ")),
        };
        self.add_with_help(span, format!("`{word}` is not {what}"), help);
    }
}

/// A scenario that cannot be run: everything that is wrong with it, in the order of its text.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioError {
    /// The texts that spans refer to.
    pub sources: Vec<Source>,
    /// At least one.
    pub problems: Vec<Problem>,
}

/// What a scenario that can be run will do against expectation, in the order of its text.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioWarnings {
    /// The texts that spans refer to.
    pub sources: Vec<Source>,
    /// None, if there is nothing to warn of.
    pub problems: Vec<Problem>,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, &self.sources, &self.problems)
    }
}

impl fmt::Display for ScenarioWarnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, &self.sources, &self.problems)
    }
}

/// One line for each problem, with its place.
fn list(f: &mut fmt::Formatter<'_>, sources: &[Source], problems: &[Problem]) -> fmt::Result {
    for (i, problem) in problems.iter().enumerate() {
        let source = &sources[problem.span.source];
        let (line, column) = source.line_and_column(problem.span.range.start);
        let separator = if i == 0 { "" } else { "\n" };
        write!(f, "{separator}{}:{line}:{column}: {}", source.name, problem.message)?;
        if let Some(help) = &problem.help {
            write!(f, "; {help}")?;
        }
    }
    Ok(())
}

impl std::error::Error for ScenarioError {}
