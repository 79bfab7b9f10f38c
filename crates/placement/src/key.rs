//! The keys of a record: how they are found.

use crate::json::{self, Step};
use memchr::{memchr, memchr_iter};
use regex::bytes::Regex;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use thiserror::Error;

/// The keys of one record. Reused from record to record, so that finding keys allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    room: String,
}

impl Keys {
    /// No keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    #[inline]
    pub fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The keys, in their order in the record.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|place| &self.bytes[self.range(place)])
    }

    fn range(&self, place: usize) -> Range<usize> {
        let begin = if place == 0 { 0 } else { self.ends[place - 1] };
        begin..self.ends[place]
    }

    #[inline]
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// An application's hint (Yang 2012, 6.1): from a record to the keys under which its map function will emit it. A
/// [`KeyRule`] is one; an application with a format of its own implements another.
pub trait Hint {
    /// Adds the record's keys to `keys`, which is empty.
    fn find(&self, record: &[u8], keys: &mut Keys);

    /// The record's keys, in `keys` anew.
    #[inline]
    fn keys(&self, record: &[u8], keys: &mut Keys) {
        keys.clear();
        self.find(record, keys);
    }
}

/// How keys are found in lines of text.
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
    /// A regular expression's first group, or its whole match; every match in the record is a key.
    Regex(Regex),
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
            ("column", Some(rest)) => column(rest),
            ("regex", Some(pattern)) => Regex::new(pattern)
                .map(Self::Regex)
                .map_err(|error| KeyRuleError(format!("`{pattern}` is no regular expression: {error}"))),
            ("json", Some(path)) => json::parse(path).map(|steps| Self::Json(JsonPath(steps))).map_err(KeyRuleError),
            _ => Err(KeyRuleError(format!(
                "`{text}` names no key: column:2, column:2:; (columns between semicolons), regex:user=(\\w+), \
                 json:$.user.id, tokens, first-tab and line do"
            ))),
        }
    }
}

/// `2` or `2:,`, with `\t` for a tab.
fn column(text: &str) -> Result<KeyRule, KeyRuleError> {
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
            Self::Regex(pattern) => write!(f, "regex:{pattern}"),
            Self::Json(JsonPath(steps)) => {
                f.write_str("json:$")?;
                steps.iter().try_for_each(|step| match step {
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
    fn find(&self, record: &[u8], keys: &mut Keys) {
        match self {
            Self::FirstTab => {
                if let Some(end) = memchr(b'\t', record) {
                    keys.push(&record[..end]);
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
                    keys.push(&record[begin..end]);
                }
            }
            Self::Regex(pattern) if pattern.captures_len() > 1 => {
                for found in pattern.captures_iter(record) {
                    if let Some(group) = found.get(1) {
                        keys.push(group.as_bytes());
                    }
                }
            }
            Self::Regex(pattern) => {
                pattern
                    .find_iter(record)
                    .filter(|found| !found.is_empty())
                    .for_each(|found| keys.push(found.as_bytes()));
            }
            Self::Json(JsonPath(steps)) => {
                let mut room = std::mem::take(&mut keys.room);
                // What stands before an error in the record does not count.
                if !json::find(record, steps, &mut room, |key| keys.push(key)) {
                    keys.clear();
                }
                keys.room = room;
            }
            Self::Tokens => {
                // The white space of Java's StringTokenizer: blank, tab, LF, CR, form feed.
                let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c);
                record.split(is_space).filter(|token| !token.is_empty()).for_each(|token| keys.push(token));
            }
            Self::Line => keys.push(record),
        }
    }
}
