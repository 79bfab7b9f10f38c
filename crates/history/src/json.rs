//! JSON objects one after the other, or in a list, each with its place in the file.

use super::error::{HistoryError as Error, Problem};
use memchr::memchr2;
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// An object's text.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    text: &'a [u8],
    /// Where it begins in the file.
    pub offset: usize,
    /// Values in it, at most.
    pub values: usize,
}

impl<'a> Object<'a> {
    /// Where it ends in the file.
    pub fn end(&self) -> usize {
        self.offset + self.text.len()
    }

    /// Reads it as a type.
    pub fn read<T: Deserialize<'a>>(&self) -> Result<T, Error> {
        self.read_into(PhantomData)
    }

    /// Reads it into a seed.
    pub fn read_into<S: DeserializeSeed<'a>>(&self, seed: S) -> Result<S::Value, Error> {
        let mut deserializer = serde_json::Deserializer::from_slice(self.text);
        seed.deserialize(&mut deserializer).map_err(|error| Error::json(self.place(&error), &error))
    }

    /// The offset in the file at which the parser stopped.
    fn place(&self, error: &serde_json::Error) -> usize {
        let lines = self.text.split_inclusive(|b| *b == b'\n').take(error.line().saturating_sub(1));
        let line: usize = lines.map(<[u8]>::len).sum();
        self.offset + (line + error.column().saturating_sub(1)).min(self.text.len())
    }
}

/// The objects of a file from an offset on.
#[derive(Clone, Debug)]
pub struct Objects<'a> {
    bytes: &'a [u8],
    at: usize,
    in_list: bool,
}

impl<'a> Objects<'a> {
    /// Those of `bytes` from `at` on.
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, in_list: false }
    }

    /// Where it goes on.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The next object, or `None` at the end of the file. Before each, white space alone; in a list, commas too.
    pub fn next(&mut self) -> Result<Option<Object<'a>>, Error> {
        loop {
            let Some(byte) = self.bytes.get(self.at) else {
                return if self.in_list { Err(Error::truncated(self.at, "a list of JSON")) } else { Ok(None) };
            };
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => {}
                b'[' if !self.in_list => self.in_list = true,
                b']' if self.in_list => self.in_list = false,
                b',' if self.in_list => {}
                b'{' => return self.object().map(Some),
                _ => {
                    let found: String = String::from_utf8_lossy(&self.bytes[self.at..]).chars().take(24).collect();
                    let found = format!("`{}`", found.escape_debug());
                    return Err(Error::malformed(self.at, "a JSON value that is an object, as `{...}`", found));
                }
            }
            self.at += 1;
        }
    }

    fn object(&mut self) -> Result<Object<'a>, Error> {
        let start = self.at;
        let (mut depth, mut values, mut at) = (0usize, 0, start);
        while let Some(byte) = self.bytes.get(at) {
            at += 1;
            match byte {
                b'"' => at = self.after_text(at)?,
                b'{' | b'[' => (depth, values) = (depth + 1, values + 1),
                b',' => values += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at = at;
                        return Ok(Object { text: &self.bytes[start..at], offset: start, values });
                    }
                }
                _ => {}
            }
        }
        Err(Error::truncated(self.bytes.len(), "a JSON value"))
    }

    /// Where a text ends that began at `from`, behind its first quote: behind its last one.
    fn after_text(&self, from: usize) -> Result<usize, Error> {
        let mut at = from;
        while let Some(found) = memchr2(b'"', b'\\', self.bytes.get(at..).unwrap_or_default()) {
            at += found;
            if self.bytes[at] == b'\\' {
                at += 2;
                continue;
            }
            let length = at - from;
            if length > MOST_TEXT {
                let what = format!("a text of {length} bytes; up to {MOST_TEXT} are read");
                return Err(Error::new(from - 1, Problem::Limit(what)));
            }
            return Ok(at + 1);
        }
        Err(Error::truncated(self.bytes.len(), "a JSON value"))
    }
}

/// Longest text within JSON or Avro, in bytes. Stack traces have some thousand; messages about a wrong one hold it.
pub const MOST_TEXT: usize = 4 << 20;

/// A list whose length is bounded, so that a hostile one takes no memory; `null` is an empty one.
#[derive(Debug)]
pub struct Few<T>(pub Vec<T>);

/// Most entries of such a list. Rumen's longest have 12, replicas a few.
const FEW: usize = 1000;

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
            type Value = Few<T>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                write!(f, "a list of up to {FEW}")
            }
            fn visit_unit<E: de::Error>(self) -> Result<Few<T>, E> {
                Ok(Few::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Few<T>, A::Error> {
                let mut few = Vec::new();
                while let Some(entry) = list.next_element()? {
                    if few.len() == FEW {
                        return Err(de::Error::custom(format_args!("a list of more than {FEW}")));
                    }
                    few.push(entry);
                }
                Ok(Few(few))
            }
        }
        deserializer.deserialize_any(List(PhantomData))
    }
}

/// A problem that a seed met within JSON: serde carries text alone.
#[derive(Default, Debug)]
pub struct Refused(Option<Problem>);

impl Refused {
    /// Keeps the problem, and stops the parser.
    pub fn because<E: de::Error>(&mut self, problem: Problem) -> E {
        self.0 = Some(problem);
        E::custom("refused")
    }

    /// The parser's error, or the problem for which it was stopped at that place.
    pub fn or(self, error: Error) -> Error {
        match self.0 {
            Some(problem) => Error { problem, ..error },
            None => error,
        }
    }
}
