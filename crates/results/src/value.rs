//! Values of figures: numbers, texts, and lists and objects of these.

use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A value; an object keeps the order of its keys.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// A truth value.
    Flag(bool),
    /// A whole number.
    Count(u64),
    /// Any number; JSON has null for an infinite one.
    Number(f64),
    /// A text.
    Text(String),
    /// Values in order.
    List(Vec<Self>),
    /// Values by key.
    Object(Vec<(Cow<'static, str>, Self)>),
}

impl Value {
    /// The value of a key of an object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
    /// The number, with 1 for yes and 0 for no; none of what is not one or is infinite.
    pub fn number(&self) -> Option<f64> {
        match *self {
            Self::Flag(holds) => Some(f64::from(holds)),
            Self::Count(count) => Some(count as f64),
            Self::Number(number) => Some(number).filter(|number| number.is_finite()),
            _ => None,
        }
    }
    /// The text.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
    /// An object in the order of its keys; of equal keys the last one counts.
    pub(crate) fn sorted<V: Into<Self>>(entries: impl Iterator<Item = (Cow<'static, str>, V)>) -> Self {
        let entries: BTreeMap<_, _> = entries.collect();
        Self::Object(entries.into_iter().map(|(key, value)| (key, value.into())).collect())
    }
    /// Whether it is null or an empty list.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Self::Null) || matches!(self, Self::List(items) if items.is_empty())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Flag(holds) => serializer.serialize_bool(*holds),
            Self::Count(count) => serializer.serialize_u64(*count),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}
