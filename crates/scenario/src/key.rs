//! How one kind of value is read from a scenario, written back, and described.
//!
//! A section's keys are declared once, with [`section!`]; its reader, its JSON Schema, its reference page and its
//! resolved text all come from that one declaration.

use super::problem::{Problems, Span};
use super::tree::{Entry, Tree, Value};
use serde_json::{Map, Value as Json, json};
use std::ops::RangeInclusive;
use units::{BitRate, Bytes, Distance, Energy, Frequency, Power, Quantity, Speed, Time};

/// A type that a key's value may have.
pub trait Key: Sized {
    /// What narrows its values: an interval for numbers, nothing for words and tables.
    type Range;

    /// Reads a value; none when it is wrong, with the problem said.
    fn read(tree: &Tree, range: Option<&Self::Range>, problems: &mut Problems) -> Option<Self>;
    /// The value that reads back as this one; none where the key would be left out.
    fn write(&self) -> Option<Value>;
    /// JSON Schema.
    fn schema(range: Option<&Self::Range>) -> Json;
    /// In words, for the reference: "size, 1 B to 1 TB".
    fn describe(range: Option<&Self::Range>) -> String;
    /// The keys inside, where the value is a table.
    fn inner() -> Vec<KeyDoc> {
        Vec::new()
    }
    /// Brings a number into the interval.
    fn clamp_to(&mut self, _range: Option<&Self::Range>) {}
}

/// A key as the reference page shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyDoc {
    /// Its path from the section's table.
    pub path: String,
    /// Kind, unit and range.
    pub kind: String,
    /// Its default as written, empty where it has none.
    pub default: String,
    /// What it means.
    pub doc: String,
}

/// A table with known keys.
pub trait Section: Default {
    /// What it is.
    const DOC: &'static str;
    /// The names of its keys.
    fn key_names() -> Vec<String>;
    /// Reads the keys of a table over the values already here.
    fn overlay(&mut self, table: &[Entry], problems: &mut Problems);
    /// The values to start from: the defaults, or what a preset named in the table says.
    fn base(tree: &Tree, problems: &mut Problems) -> Option<Self>;
    /// All its keys with their values.
    fn entries(&self) -> Vec<Entry>;
    /// Brings all numbers into the intervals of their keys, as where they come from something else than a scenario.
    fn clamp(&mut self);
    /// JSON Schema of each key.
    fn properties() -> Map<String, Json>;
    /// Its keys for the reference, those of tables inside included.
    fn reference() -> Vec<KeyDoc>;
}

impl<S: Section> Key for S {
    type Range = ();

    fn read(tree: &Tree, _: Option<&()>, problems: &mut Problems) -> Option<Self> {
        let mut section = S::base(tree, problems)?;
        if let Value::Table(table) = &tree.value {
            section.overlay(table, problems);
        }
        Some(section)
    }

    fn write(&self) -> Option<Value> {
        Some(Value::Table(self.entries()))
    }

    fn schema(_: Option<&()>) -> Json {
        table_schema(S::DOC, &S::properties())
    }

    fn describe(_: Option<&()>) -> String {
        "table".to_owned()
    }

    fn inner() -> Vec<KeyDoc> {
        S::reference()
    }

    fn clamp_to(&mut self, _: Option<&()>) {
        self.clamp();
    }
}

/// The base of a section without presets.
pub fn plain_base<S: Section>(tree: &Tree, problems: &mut Problems) -> Option<S> {
    if matches!(tree.value, Value::Table(_)) {
        return Some(S::default());
    }
    wrong_kind(tree, "a table", problems)
}

/// The base of a section with presets: what the one says that its text, or `preset` in its table, names; else the
/// default.
pub fn preset_base<S: Section, P: Key<Range = ()>>(tree: &Tree, problems: &mut Problems, of: fn(P) -> S) -> Option<S> {
    match &tree.value {
        Value::String(_) => Some(of(P::read(tree, None, problems)?)),
        Value::Table(_) => match tree.get("preset") {
            // A wrong name is reported when the key itself is read.
            Some(preset) => Some(P::read(preset, None, &mut Problems::default()).map_or_else(S::default, of)),
            None => Some(S::default()),
        },
        _ => wrong_kind(tree, "a preset's name or a table", problems),
    }
}

/// Says that a value is of the wrong kind.
pub fn wrong_kind<T>(tree: &Tree, expected: &str, problems: &mut Problems) -> Option<T> {
    say_wrong_kind(tree, expected, problems);
    None
}

fn say_wrong_kind(tree: &Tree, expected: &str, problems: &mut Problems) {
    problems.add(&tree.span, format!("this must be {expected}, and is {}", tree.value.noun()));
}

// A thousand keys and words are declared below. What does not depend on their types is a function here, so that it is
// compiled once, and not for each.

fn table_schema(doc: &str, properties: &Map<String, Json>) -> Json {
    json!({
        "type": "object",
        "description": doc.trim(),
        "additionalProperties": false,
        "properties": properties,
    })
}

fn list_schema(one: &Json) -> Json {
    json!({ "anyOf": [{ "type": "array", "items": one }, one] })
}

/// JSON Schema of a choice among words, each with its meaning.
pub fn words_schema(words: &[(&str, &str)]) -> Json {
    let words = words.iter().map(|(word, doc)| json!({ "const": word, "description": doc.trim() }));
    json!({ "oneOf": words.collect::<Vec<_>>() })
}

/// Writes a key of a resolved table.
pub fn push_entry(entries: &mut Vec<Entry>, field: &str, value: Option<Value>) {
    let entry = |value: Value| Entry { key: key_name(field), key_span: Span::default(), tree: value.into() };
    entries.extend(value.map(entry));
}

/// `[hdfs]`-style names from Rust's.
pub(crate) fn key_name(field: &str) -> String {
    field.trim_start_matches("r#").replace('_', "-")
}

/// The names of several.
pub fn names_of_keys(fields: &[&str]) -> Vec<String> {
    fields.iter().copied().map(key_name).collect()
}

/// Whether this is the name of a key, without a copy of it.
pub fn is_key(name: &str, field: &str) -> bool {
    let field = field.trim_start_matches("r#");
    name.len() == field.len()
        && name.bytes().zip(field.bytes()).all(|(name, field)| name == if field == b'_' { b'-' } else { field })
}

/// Declares a table of a scenario: for each key its meaning, type, default, and range where the type has one.
///
/// `from` names the function that gives the values to start from, where that is not the defaults.
#[macro_export]
macro_rules! section {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident $(from $base:path)? {
            $( $(#[doc = $field_doc:literal])+ $field:ident : $type:ty = $default:expr $(, $range:expr)? ; )*
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $( $(#[doc = $field_doc])+ pub $field: $type, )* }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $crate::key::Section for $name {
            const DOC: &'static str = concat!($($doc),+);

            fn key_names() -> Vec<String> {
                $crate::key::names_of_keys(&[$( stringify!($field) ),*])
            }

            fn overlay(
                &mut self,
                table: &[$crate::tree::Entry],
                problems: &mut $crate::problem::Problems,
            ) {
                use $crate::key::{Key, is_key};
                for entry in table {
                    $( if is_key(&entry.key, stringify!($field)) {
                        let range: Option<<$type as Key>::Range> = None $( .or(Some($range)) )?;
                        if let Some(value) = <$type as Key>::read(&entry.tree, range.as_ref(), problems) {
                            self.$field = value;
                        }
                        continue;
                    } )*
                    problems.unknown_key(&entry.key_span, &entry.key, &Self::key_names());
                }
            }

            fn base(
                tree: &$crate::tree::Tree,
                problems: &mut $crate::problem::Problems,
            ) -> Option<Self> {
                #[allow(unused_mut, unused_assignments)]
                let mut base: fn(&_, &mut _) -> Option<Self> = $crate::key::plain_base;
                $( base = $base; )?
                base(tree, problems)
            }

            fn entries(&self) -> Vec<$crate::tree::Entry> {
                let mut entries = Vec::new();
                $( $crate::key::push_entry(&mut entries, stringify!($field), $crate::key::Key::write(&self.$field)); )*
                entries
            }

            fn clamp(&mut self) {
                $( {
                    let range: Option<<$type as $crate::key::Key>::Range> = None $( .or(Some($range)) )?;
                    <$type as $crate::key::Key>::clamp_to(&mut self.$field, range.as_ref());
                } )*
            }

            fn properties() -> serde_json::Map<String, serde_json::Value> {
                use $crate::key::{Key, describe_key};
                let default = Self::default();
                let mut properties = serde_json::Map::new();
                $( {
                    let range: Option<<$type as Key>::Range> = None $( .or(Some($range)) )?;
                    let schema = <$type as Key>::schema(range.as_ref());
                    let doc = concat!($($field_doc),+);
                    describe_key(&mut properties, stringify!($field), schema, doc, Key::write(&default.$field));
                } )*
                properties
            }

            fn reference() -> Vec<$crate::key::KeyDoc> {
                use $crate::key::{Key, reference_of};
                let default = Self::default();
                let mut rows = Vec::new();
                $( {
                    let range: Option<<$type as Key>::Range> = None $( .or(Some($range)) )?;
                    let doc = concat!($($field_doc),+);
                    reference_of(&mut rows, stringify!($field), &default.$field, range.as_ref(), doc);
                } )*
                rows
            }
        }
    };
}
pub use section;

/// Declares the words that a key may have as its value.
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident { $( $(#[doc = $word_doc:literal])+ $variant:ident = $word:literal ),+ $(,)? }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $( $(#[doc = $word_doc])+ $variant ),+ }

        impl $name {
            /// All of them, in the order of the reference.
            pub const ALL: &'static [Self] = &[$( Self::$variant ),+];

            /// As it is written in a scenario.
            pub const fn word(self) -> &'static str {
                match self { $( Self::$variant => $word ),+ }
            }
        }

        impl $crate::key::Key for $name {
            type Range = ();

            fn read(
                tree: &$crate::tree::Tree,
                _: Option<&()>,
                problems: &mut $crate::problem::Problems,
            ) -> Option<Self> {
                let $crate::tree::Value::String(word) = &tree.value else {
                    return $crate::key::wrong_kind(tree, "a text", problems);
                };
                match word.as_str() {
                    $( $word => Some(Self::$variant), )+
                    _ => {
                        problems.unknown(&tree.span, "a value here", word, [$( $word ),+].as_slice().iter().copied());
                        None
                    }
                }
            }

            fn write(&self) -> Option<$crate::tree::Value> {
                Some($crate::tree::Value::String(self.word().to_owned()))
            }

            fn schema(_: Option<&()>) -> serde_json::Value {
                $crate::key::words_schema(&[$( ($word, concat!($($word_doc),+)) ),+])
            }

            fn describe(_: Option<&()>) -> String {
                [$( concat!("`", $word, "` (", $($word_doc),+, ")") ),+].join(", ").replace("( ", "(").replace(".)", ")")
            }
        }
    };
}
pub use choice;

/// Adds a key's schema with its meaning and default.
pub fn describe_key(
    properties: &mut Map<String, Json>,
    field: &str,
    mut schema: Json,
    doc: &str,
    default: Option<Value>,
) {
    if let Json::Object(object) = &mut schema {
        object.insert("description".to_owned(), Json::String(doc.trim().to_owned()));
        if let Some(default) = default.filter(|default| !matches!(default, Value::Table(_))) {
            object.insert("default".to_owned(), to_json(&default));
        }
    }
    properties.insert(key_name(field), schema);
}

fn to_json(value: &Value) -> Json {
    match value {
        Value::Table(entries) => {
            entries.iter().map(|entry| (entry.key.clone(), to_json(&entry.tree.value))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(|item| to_json(&item.value)).collect(),
        Value::String(string) | Value::Datetime(string) => string.clone().into(),
        Value::Integer(integer) => json!(*integer as i64),
        Value::Float(float) => json!(float),
        Value::Boolean(boolean) => (*boolean).into(),
    }
}

/// Adds a key's row of the reference, and the rows of the table it may hold.
pub fn reference_of<K: Key>(rows: &mut Vec<KeyDoc>, field: &str, default: &K, range: Option<&K::Range>, doc: &str) {
    add_rows(rows, field, default.write(), K::describe(range), doc, K::inner());
}

fn add_rows(rows: &mut Vec<KeyDoc>, field: &str, default: Option<Value>, kind: String, doc: &str, inner: Vec<KeyDoc>) {
    let name = key_name(field);
    let default = match default {
        None | Some(Value::Table(_)) => String::new(),
        Some(value) => super::tree::Inline(&value).to_string(),
    };
    let inner = inner.into_iter().map(|row| KeyDoc { path: format!("{name}.{}", row.path), ..row }).collect::<Vec<_>>();
    rows.push(KeyDoc { path: name, kind, default, doc: doc.trim().to_owned() });
    rows.extend(inner);
}

fn clamp<T: PartialOrd + Copy>(value: &mut T, range: Option<&RangeInclusive<T>>) {
    if let Some(range) = range {
        if *value < *range.start() {
            *value = *range.start();
        } else if *value > *range.end() {
            *value = *range.end();
        }
    }
}

fn outside<T: PartialOrd>(value: &T, range: Option<&RangeInclusive<T>>) -> bool {
    range.is_some_and(|range| !range.contains(value))
}

macro_rules! whole_number {
    ($($type:ty),*) => {$(
        impl Key for $type {
            type Range = RangeInclusive<Self>;

            fn read(tree: &Tree, range: Option<&Self::Range>, problems: &mut Problems) -> Option<Self> {
                let Value::Integer(integer) = tree.value else {
                    return wrong_kind(tree, "a whole number", problems);
                };
                let value = Self::try_from(integer).ok();
                if value.is_none_or(|value| outside(&value, range)) {
                    let (low, high) = range.map_or((Self::MIN, Self::MAX), |range| (*range.start(), *range.end()));
                    problems.add(&tree.span, format!("{integer} is out of range: from {low} to {high}"));
                    return None;
                }
                value
            }

            fn write(&self) -> Option<Value> {
                Some(Value::Integer(i128::from(*self)))
            }

            fn schema(range: Option<&Self::Range>) -> Json {
                let (low, high) = range.map_or((Self::MIN, Self::MAX), |range| (*range.start(), *range.end()));
                json!({ "type": "integer", "minimum": low, "maximum": high })
            }

            fn describe(range: Option<&Self::Range>) -> String {
                range.map_or("whole number".to_owned(), |range| format!("whole number, {} to {}", range.start(), range.end()))
            }

            fn clamp_to(&mut self, range: Option<&Self::Range>) {
                clamp(self, range);
            }
        }
    )*};
}
whole_number!(u32, u64);

impl Key for f64 {
    type Range = RangeInclusive<Self>;

    fn read(tree: &Tree, range: Option<&Self::Range>, problems: &mut Problems) -> Option<Self> {
        let value = match tree.value {
            Value::Float(float) => float,
            Value::Integer(integer) => integer as Self,
            _ => return wrong_kind(tree, "a number", problems),
        };
        if !value.is_finite() || outside(&value, range) {
            let range = range.map_or(String::new(), |range| format!(": from {} to {}", range.start(), range.end()));
            // Of a number with hundreds of zeros nobody counts them.
            let shown = if value.abs() >= 1e16 { format!("{value:e}") } else { value.to_string() };
            problems.add(&tree.span, format!("{shown} is out of range{range}"));
            return None;
        }
        Some(value)
    }

    fn write(&self) -> Option<Value> {
        Some(Value::Float(*self))
    }

    fn schema(range: Option<&Self::Range>) -> Json {
        range.map_or(
            json!({ "type": "number" }),
            |range| json!({ "type": "number", "minimum": range.start(), "maximum": range.end() }),
        )
    }

    fn describe(range: Option<&Self::Range>) -> String {
        range.map_or("number".to_owned(), |range| format!("number, {} to {}", range.start(), range.end()))
    }

    fn clamp_to(&mut self, range: Option<&Self::Range>) {
        clamp(self, range);
    }
}

impl Key for bool {
    type Range = ();

    fn read(tree: &Tree, _: Option<&()>, problems: &mut Problems) -> Option<Self> {
        match tree.value {
            Value::Boolean(boolean) => Some(boolean),
            _ => wrong_kind(tree, "true or false", problems),
        }
    }

    fn write(&self) -> Option<Value> {
        Some(Value::Boolean(*self))
    }

    fn schema(_: Option<&()>) -> Json {
        json!({ "type": "boolean" })
    }

    fn describe(_: Option<&()>) -> String {
        "true or false".to_owned()
    }
}

impl Key for String {
    type Range = ();

    fn read(tree: &Tree, _: Option<&()>, problems: &mut Problems) -> Option<Self> {
        match &tree.value {
            Value::String(string) => Some(string.clone()),
            _ => wrong_kind(tree, "a text", problems),
        }
    }

    fn write(&self) -> Option<Value> {
        Some(Value::String(self.clone()))
    }

    fn schema(_: Option<&()>) -> Json {
        json!({ "type": "string" })
    }

    fn describe(_: Option<&()>) -> String {
        "text".to_owned()
    }
}

/// Reads a quantity out of a text.
pub fn read_quantity<Q: Quantity>(
    tree: &Tree,
    range: Option<&RangeInclusive<Q>>,
    problems: &mut Problems,
) -> Option<Q> {
    let text = match &tree.value {
        Value::String(text) => text,
        Value::Integer(_) | Value::Float(_) => {
            let (noun, example) = (Q::SCALE.noun, Q::SCALE.example);
            let message = format!("this number has no unit: a {noun} is written like \"{example}\"");
            let units: Vec<_> = Q::SCALE.units.iter().map(|(name, _)| *name).collect();
            problems.add_with_help(&tree.span, message, format!("units: {}", units.join(", ")));
            return None;
        }
        _ => return wrong_kind(tree, &format!("a {} like \"{}\"", Q::SCALE.noun, Q::SCALE.example), problems),
    };
    match text.parse::<Q>() {
        Ok(value) if outside(&value, range) => {
            let (low, high) = range.map_or((value, value), |range| (*range.start(), *range.end()));
            let message = format!("\"{text}\" is out of range: from {} to {}", low.exact(), high.exact());
            problems.add(&tree.span, message);
            None
        }
        Ok(value) => Some(value),
        Err(error) => {
            problems.add(&tree.span, error.to_string());
            None
        }
    }
}

/// The pattern of texts that may be a quantity.
pub fn quantity_pattern<Q: Quantity>() -> String {
    let units: Vec<_> = Q::SCALE.units.iter().map(|(name, _)| *name).collect();
    format!("^ *[0-9][0-9_]*(\\.[0-9]+)? *({}) *$", units.join("|"))
}

macro_rules! quantity_key {
    ($($type:ty),*) => {$(
        impl Key for $type {
            type Range = RangeInclusive<Self>;

            fn read(tree: &Tree, range: Option<&Self::Range>, problems: &mut Problems) -> Option<Self> {
                read_quantity(tree, range, problems)
            }

            fn write(&self) -> Option<Value> {
                Some(Value::String(self.exact()))
            }

            fn schema(_: Option<&Self::Range>) -> Json {
                json!({ "type": "string", "pattern": quantity_pattern::<Self>() })
            }

            fn describe(range: Option<&Self::Range>) -> String {
                let noun = Self::SCALE.noun;
                range.map_or(noun.to_owned(), |range| {
                    format!("{noun}, {} to {}", range.start().exact(), range.end().exact())
                })
            }

            fn clamp_to(&mut self, range: Option<&Self::Range>) {
                clamp(self, range);
            }
        }
    )*};
}
quantity_key!(Time, Bytes, BitRate, Distance, Speed, Frequency, Power, Energy);

impl<K: Key> Key for Option<K> {
    type Range = K::Range;

    fn read(tree: &Tree, range: Option<&Self::Range>, problems: &mut Problems) -> Option<Self> {
        K::read(tree, range, problems).map(Some)
    }

    fn write(&self) -> Option<Value> {
        self.as_ref().and_then(Key::write)
    }

    fn schema(range: Option<&Self::Range>) -> Json {
        K::schema(range)
    }

    fn describe(range: Option<&Self::Range>) -> String {
        K::describe(range)
    }

    fn inner() -> Vec<KeyDoc> {
        K::inner()
    }

    fn clamp_to(&mut self, range: Option<&Self::Range>) {
        if let Some(value) = self {
            value.clamp_to(range);
        }
    }
}

/// A list; one entry may stand without its brackets, so `[job]` is a list of one job.
impl<K: Key> Key for Vec<K> {
    type Range = K::Range;

    fn read(tree: &Tree, range: Option<&Self::Range>, problems: &mut Problems) -> Option<Self> {
        let Value::Array(items) = &tree.value else {
            return K::read(tree, range, problems).map(|one| vec![one]);
        };
        // Read every entry before giving up on any, so that the problems of all are said.
        let read: Vec<Option<K>> = items.iter().map(|item| K::read(item, range, problems)).collect();
        read.into_iter().collect()
    }

    fn write(&self) -> Option<Value> {
        let items: Vec<Tree> = self.iter().filter_map(Key::write).map(Tree::from).collect();
        (!items.is_empty()).then_some(Value::Array(items))
    }

    fn schema(range: Option<&Self::Range>) -> Json {
        list_schema(&K::schema(range))
    }

    fn describe(range: Option<&Self::Range>) -> String {
        match K::describe(range) {
            table if table == "table" => "list of tables".to_owned(),
            one => format!("list: {one}"),
        }
    }

    fn inner() -> Vec<KeyDoc> {
        K::inner()
    }

    fn clamp_to(&mut self, range: Option<&Self::Range>) {
        for value in self {
            value.clamp_to(range);
        }
    }
}
