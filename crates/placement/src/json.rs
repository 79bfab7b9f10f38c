//! A path into a JSON document: `$.user.id`, `$.items[0].sku`, `$.tags[*]`.
//!
//! The record is read by `serde_json`'s parser, which skips what the path does not name without keeping it.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt::{self, Write as _};

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The field of an object.
    Field(String),
    /// An element of an array, from 0.
    Element(usize),
    /// Every element of an array.
    Elements,
}

/// Reads a path; the error says what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Step>, String> {
    let mut rest = text.strip_prefix('$').unwrap_or(text);
    let mut steps = Vec::new();
    // `user.id` is `$.user.id`.
    let mut bare = rest.len() == text.len();
    while !rest.is_empty() {
        if let Some(within) = rest.strip_prefix('[') {
            let Some((index, after)) = within.split_once(']') else {
                return Err(format!("`[` without `]` in `{text}`"));
            };
            let name = index.strip_prefix(['\'', '"']).and_then(|name| name.strip_suffix(['\'', '"']));
            steps.push(match (index, name) {
                ("*", _) => Step::Elements,
                (_, Some(name)) => Step::Field(name.to_owned()),
                _ => Step::Element(
                    index.parse().map_err(|_| format!("`[{index}]` in `{text}` is neither a number nor *"))?,
                ),
            });
            rest = after;
        } else if let Some(after) = if bare { Some(rest) } else { rest.strip_prefix('.') } {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            if end == 0 {
                return Err(format!("an empty name in `{text}`"));
            }
            steps.push(Step::Field(after[..end].to_owned()));
            rest = &after[end..];
        } else {
            return Err(format!("`{rest}` in `{text}` is no step: .name, [number] or [*] is"));
        }
        bare = false;
    }
    if steps.is_empty() { Err("a path has at least one step, as $.user".to_owned()) } else { Ok(steps) }
}

/// What the path leads to in a record, as text: `found` is called with each string, number or truth value. `false` if
/// the record is not JSON.
pub fn find(record: &[u8], path: &[Step], room: &mut String, mut found: impl FnMut(&[u8])) -> bool {
    let mut parser = serde_json::Deserializer::from_slice(record);
    let walk = Walk { path, room, found: &mut found };
    walk.deserialize(&mut parser).is_ok() && parser.end().is_ok()
}

struct Walk<'a, F> {
    path: &'a [Step],
    room: &'a mut String,
    found: &'a mut F,
}

impl<F: FnMut(&[u8])> Walk<'_, F> {
    fn print(self, value: impl fmt::Display) {
        if self.path.is_empty() {
            self.room.clear();
            let _ = write!(self.room, "{value}");
            (self.found)(self.room.as_bytes());
        }
    }
}

impl<'de, F: FnMut(&[u8])> DeserializeSeed<'de> for Walk<'_, F> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(&[u8])> Visitor<'de> for Walk<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (wanted, rest) = match self.path.split_first() {
            Some((Step::Field(name), rest)) => (Some(name.as_str()), rest),
            _ => (None, self.path),
        };
        while let Some(hit) = map.next_key_seed(Named(wanted))? {
            if hit {
                map.next_value_seed(Walk { path: rest, room: self.room, found: self.found })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let mut at = 0;
        loop {
            let inside = match self.path.split_first() {
                Some((Step::Elements, rest)) => Some(rest),
                Some((Step::Element(wanted), rest)) if *wanted == at => Some(rest),
                _ => None,
            };
            let more = match inside {
                Some(path) => elements.next_element_seed(Walk { path, room: self.room, found: self.found })?.is_some(),
                None => elements.next_element::<IgnoredAny>()?.is_some(),
            };
            if !more {
                return Ok(());
            }
            at += 1;
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if self.path.is_empty() {
            (self.found)(text.as_bytes());
        }
        Ok(())
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.print(value);
        Ok(())
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.print(value);
        Ok(())
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.print(value);
        Ok(())
    }
    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.print(value);
        Ok(())
    }
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Whether a field has this name.
struct Named<'a>(Option<&'a str>);

impl<'de> DeserializeSeed<'de> for Named<'_> {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Named<'_> {
    type Value = bool;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }
    fn visit_str<E: Error>(self, name: &str) -> Result<bool, E> {
        Ok(self.0 == Some(name))
    }
}
