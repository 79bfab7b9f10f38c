//! Why a history cannot be read: where in the file, what was expected there, what was found.

use std::fmt;

/// Most characters of what is expected or found in a message.
const MOST_WORDS: usize = 300;

/// A history that cannot be read. The message names the byte offset, what was expected there and what was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HistoryError {
    /// Offset in bytes from the start of the file, uncompressed.
    pub offset: u64,
    /// The same place as its format counts.
    pub place: Option<Place>,
    /// What is wrong there.
    pub problem: Problem,
}

/// A place as a format counts it, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A line of a text.
    Line(u64),
    /// An event of a `.jhist`.
    Event(u64),
    /// A job of a trace of several.
    Job(u64),
}

/// What is wrong with a history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// The file has none of the known formats.
    UnknownFormat {
        /// Its first bytes, printable.
        start: String,
        /// What it is instead, if that is known.
        what: Option<String>,
    },
    /// The file ends inside a value.
    Truncated {
        /// The value that is cut off.
        within: &'static str,
    },
    /// A value differs from what was expected.
    Malformed {
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// The file exceeds a limit that protects the machine from hostile input.
    Limit(String),
    /// Each part can be read, but together they make no job.
    Inconsistent(String),
}

impl HistoryError {
    pub(super) fn new(offset: usize, problem: Problem) -> Self {
        Self { offset: offset as u64, place: None, problem }
    }
    /// Adds the place as the format counts it.
    pub(super) fn at(self, place: Place) -> Self {
        Self { place: Some(place), ..self }
    }
    pub(super) fn truncated(offset: usize, within: &'static str) -> Self {
        Self::new(offset, Problem::Truncated { within })
    }
    pub(super) fn malformed(offset: usize, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(offset, Problem::malformed(expected, found))
    }
    pub(super) fn inconsistent(offset: usize, what: impl Into<String>) -> Self {
        Self::new(offset, Problem::Inconsistent(what.into()))
    }

    /// An error of the JSON parser at `offset`.
    pub(super) fn json(offset: usize, error: &serde_json::Error) -> Self {
        if error.is_eof() {
            return Self::truncated(offset, "a JSON value");
        }
        // Its own place counts from the value on.
        let words = error.to_string();
        let words = words.rsplit_once(" at line ").map_or(words.as_str(), |(words, _)| words);
        Self::malformed(offset, "a JSON value of a job history", words)
    }
}

impl Problem {
    pub(super) fn malformed(expected: impl Into<String>, found: impl Into<String>) -> Self {
        // What is found may be long, and stand in the words of a parser.
        let shortened = |text: String| match text.char_indices().nth(MOST_WORDS) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text,
        };
        Self::Malformed { expected: shortened(expected.into()), found: shortened(found.into()) }
    }
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}", self.offset)?;
        match self.place {
            Some(Place::Line(number)) => write!(f, " (line {number}): ")?,
            Some(Place::Event(number)) => write!(f, " (event {number}): ")?,
            Some(Place::Job(number)) => write!(f, " (job {number} of the file): ")?,
            None => f.write_str(": ")?,
        }
        match &self.problem {
            Problem::UnknownFormat { what: Some(what), .. } => write!(f, "not a job history, but {what}"),
            Problem::UnknownFormat { start, what: None } => write!(
                f,
                "not a job history: expected `Avro-Binary`, `Avro-Json`, `Meta VERSION=`, or the JSON of Rumen, of SLS or \
                 of Spark's event logs, found `{start}`"
            ),
            Problem::Truncated { within } => {
                write!(f, "the file ends within {within}: fetch it again, it is truncated")
            }
            Problem::Malformed { expected, found } => write!(f, "expected {expected}, found {found}"),
            Problem::Limit(what) | Problem::Inconsistent(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for HistoryError {}
