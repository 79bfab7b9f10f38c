//! The keys of a record: how they are found.

use crate::json::{self, Step};
use crate::pattern::{Pattern, Room};
use crate::words::words;
use memchr::{memchr, memchr_iter};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use thiserror::Error;

/// The keys of one record. Reused from record to record, so that finding keys allocates nothing. A key is a part of the
/// record, which is not copied, or text of its own.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    spans: Vec<Span>,
    own: Vec<u8>,
    room: String,
    matching: Room,
}

/// Where a key stands: 8 bytes, as a record of 16 MiB may have half as many keys.
#[derive(Clone, Copy, Debug)]
struct Span {
    begin: u32,
    /// Twice the end, and one more if the key is text of its own.
    end: u32,
}

impl Span {
    #[inline]
    const fn of_record(range: Range<usize>) -> Self {
        Self { begin: narrow(range.start), end: narrow(range.end) << 1 }
    }

    #[inline]
    const fn own(range: &Range<usize>) -> Self {
        Self { begin: narrow(range.start), end: narrow(range.end) << 1 | 1 }
    }
}

/// What stands behind the first 2 GiB of a record is no part of a key.
#[inline]
const fn narrow(at: usize) -> u32 {
    const MOST: u32 = u32::MAX >> 1;
    if at > MOST as usize { MOST } else { at as u32 }
}

impl Keys {
    /// No keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a key that does not stand in the record as it is.
    #[inline]
    pub fn push(&mut self, key: &[u8]) {
        let begin = self.own.len();
        self.own.extend_from_slice(key);
        self.spans.push(Span::own(&(begin..self.own.len())));
    }

    /// Adds a key whose text `write` appends.
    #[inline]
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let begin = self.own.len();
        write(&mut self.own);
        self.spans.push(Span::own(&(begin..self.own.len())));
    }

    /// Adds a part of the record.
    #[inline]
    pub fn push_part(&mut self, range: Range<usize>) {
        self.spans.push(Span::of_record(range));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The keys, in their order in the record, which is the one that they were found in.
    #[inline]
    pub fn iter<'a>(&'a self, record: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        (0..self.len()).map(move |number| self.get(number, record))
    }

    /// One of them, by its place among them from 0; nothing behind the last.
    #[inline]
    pub fn get<'a>(&'a self, number: usize, record: &'a [u8]) -> &'a [u8] {
        let (text, range) = self.part(number, record);
        text.get(range).unwrap_or_default()
    }

    /// One of them, as a range of the text that it stands in.
    #[inline]
    pub(crate) fn part<'a>(&'a self, number: usize, record: &'a [u8]) -> (&'a [u8], Range<usize>) {
        let Some(span) = self.spans.get(number) else { return (&[], 0..0) };
        let text = if span.end & 1 == 0 { record } else { &self.own };
        (text, span.begin as usize..(span.end >> 1) as usize)
    }

    /// Forgets them.
    #[inline]
    pub fn clear(&mut self) {
        self.spans.clear();
        self.own.clear();
    }

    /// Gives back what a record of very many keys has taken.
    #[inline]
    pub(crate) fn shrink(&mut self) {
        const KEPT: usize = 1 << 16;
        if self.spans.capacity() > KEPT || self.own.capacity() > KEPT {
            *self = Self::default();
        }
    }
}

/// An application's hint (Yang 2012, 6.1): from a record to the keys under which its map function will emit it. A
/// [`KeyRule`] is one; an application with a format of its own implements another.
pub trait Hint {
    /// Adds the record's keys to `keys`, which is empty.
    fn find(&self, record: &[u8], keys: &mut Keys);

    /// Whether the keys are the words between white space, as [`KeyRule::Tokens`] has them: those of many lines are
    /// then found at once.
    #[inline]
    fn is_words(&self) -> bool {
        false
    }

    /// The record's keys, in `keys` anew.
    #[inline]
    fn keys(&self, record: &[u8], keys: &mut Keys) {
        keys.clear();
        self.find(record, keys);
    }
}

/// How keys are found: in lines of text, or in files whose records have keys or columns.
#[derive(Clone, Debug)]
pub enum KeyRule {
    /// The text before the first tab: the key of `KeyValueTextInputFormat` and of Hadoop Streaming.
    FirstTab,
    /// A column, from 1, of those between a delimiter.
    Column {
        /// The column's number, from 0.
        index: usize,
        /// The byte between columns.
        delimiter: u8,
    },
    /// A column by its name, of files that name their columns (Avro, Parquet). A line of text has none.
    Field(String),
    /// The key that a record has in its file (SequenceFile). A line of text has none.
    Own,
    /// A regular expression's first group, or its whole match; every match in the record is a key.
    Regex(Pattern),
    /// A path into the JSON document that a line is.
    Json(JsonPath),
    /// The words between white space, as of WordCount's `StringTokenizer`.
    Tokens,
    /// The whole line.
    Line,
}

/// A path of `--key json:`.
#[derive(Clone, Debug)]
pub struct JsonPath(Vec<Step>);

/// A rule that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct KeyRuleError(String);

impl FromStr for KeyRule {
    type Err = KeyRuleError;

    fn from_str(text: &str) -> Result<Self, KeyRuleError> {
        let (kind, rest) = text.split_once(':').map_or((text, None), |(kind, rest)| (kind, Some(rest)));
        match (kind, rest) {
            ("first-tab", None) => Ok(Self::FirstTab),
            ("tokens", None) => Ok(Self::Tokens),
            ("line", None) => Ok(Self::Line),
            ("key", None) => Ok(Self::Own),
            ("column", Some(rest)) => column(rest),
            ("regex", Some(pattern)) => pattern
                .parse()
                .map(Self::Regex)
                .map_err(|error| KeyRuleError(format!("`{pattern}` is no regular expression: {error}"))),
            ("json", Some(path)) => json::parse(path).map(|steps| Self::Json(JsonPath(steps))).map_err(KeyRuleError),
            _ => Err(KeyRuleError(format!(
                "`{text}` names no key: column:2, column:2:; (columns between semicolons), column:user.id (by name), \
                 regex:user=(\\w+), json:$.user.id, tokens, first-tab, line and key (a SequenceFile's) do"
            ))),
        }
    }
}

/// `2` or `2:,`, with `\t` for a tab; or a name, which begins with no digit.
fn column(text: &str) -> Result<KeyRule, KeyRuleError> {
    if text.starts_with(|first: char| first.is_alphabetic() || first == '_') {
        return Ok(KeyRule::Field(text.to_owned()));
    }
    let (number, delimiter) = text.split_once(':').map_or((text, "\\t"), |(number, rest)| (number, rest));
    let delimiter = match delimiter {
        "\\t" => b'\t',
        one if one.len() == 1 => one.as_bytes()[0],
        other => return Err(KeyRuleError(format!("`{other}` is no delimiter: one character is, or \\t"))),
    };
    match number.parse::<usize>() {
        Ok(number @ 1..) => Ok(KeyRule::Column { index: number - 1, delimiter }),
        _ => Err(KeyRuleError(format!("`{number}` is no column: the first is 1"))),
    }
}

impl fmt::Display for KeyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstTab => f.write_str("first-tab"),
            Self::Column { index, delimiter: b'\t' } => write!(f, "column:{}", index + 1),
            Self::Column { index, delimiter } => write!(f, "column:{}:{}", index + 1, *delimiter as char),
            Self::Field(name) => write!(f, "column:{name}"),
            Self::Own => f.write_str("key"),
            Self::Regex(pattern) => write!(f, "regex:{pattern}"),
            Self::Json(JsonPath(steps)) => {
                f.write_str("json:$")?;
                steps.iter().try_for_each(|step| match step {
                    Step::Field(name) if name.is_empty() || name.contains(['.', '[']) => write!(f, "['{name}']"),
                    Step::Field(name) => write!(f, ".{name}"),
                    Step::Element(at) => write!(f, "[{at}]"),
                    Step::Elements => f.write_str("[*]"),
                })
            }
            Self::Tokens => f.write_str("tokens"),
            Self::Line => f.write_str("line"),
        }
    }
}

impl Hint for KeyRule {
    #[inline]
    fn is_words(&self) -> bool {
        matches!(self, Self::Tokens)
    }

    #[inline]
    fn find(&self, record: &[u8], keys: &mut Keys) {
        match self {
            Self::FirstTab => {
                if let Some(end) = memchr(b'\t', record) {
                    keys.push_part(0..end);
                }
            }
            Self::Column { index, delimiter } => {
                let mut begin = 0;
                let mut ends = memchr_iter(*delimiter, record).chain([record.len()]);
                if *index > 0 {
                    let Some(before) = ends.nth(*index - 1) else { return };
                    begin = before + 1;
                }
                let Some(end) = ends.next() else { return };
                if begin <= end {
                    keys.push_part(begin..end);
                }
            }
            Self::Field(_) | Self::Own => {}
            Self::Regex(pattern) => {
                let Keys { spans, matching, .. } = keys;
                pattern.find(record, matching, |key| spans.push(Span::of_record(key)));
            }
            Self::Json(JsonPath(steps)) => {
                let mut room = std::mem::take(&mut keys.room);
                // What stands before an error in the record does not count.
                if !json::find(record, steps, &mut room, |key| keys.push(key)) {
                    keys.clear();
                }
                keys.room = room;
            }
            Self::Tokens => words(record, &mut keys.spans, Span::of_record),
            Self::Line => keys.push_part(0..record.len()),
        }
    }
}
