//! The table `[sweep]`: keys as a scenario nests them, each with a list of values or a range.

use crate::key;
use crate::range;
use scenario::key::Key;
use scenario::problem::{Problems, Span};
use scenario::tree::{Entry, Inline, Tree, Value};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// The keys of a sweep, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Varied(pub Vec<VariedKey>);

/// A key that is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct VariedKey {
    /// Its path: `network.rate`.
    pub key: String,
    /// Where the file names it.
    pub(crate) span: Span,
    /// Its values, each once.
    pub values: Vec<SweptValue>,
    /// Whether its range is one of equal ratios.
    pub log: bool,
}

/// A value of a key that is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct SweptValue {
    /// As an assignment has it: TOML.
    pub toml: String,
    /// As a reader takes it: a text without quotes.
    pub text: String,
    /// Where it stands; of a range, where that does.
    pub(crate) span: Span,
}

impl SweptValue {
    /// Of a value of the file.
    pub(crate) fn of(value: &Value, span: &Span) -> Self {
        let toml = Inline(value).to_string();
        let text = if let Value::String(text) = value { text.clone() } else { toml.clone() };
        Self { toml, text, span: span.clone() }
    }
}

impl Key for Varied {
    type Range = ();

    fn read(tree: &Tree, _: Option<&()>, problems: &mut Problems) -> Option<Self> {
        let Value::Table(entries) = &tree.value else {
            return scenario::key::wrong_kind(tree, "a table of keys, each with a list or a range", problems);
        };
        let mut keys = Vec::new();
        for entry in entries {
            walk(entry, "", &mut keys, problems);
        }
        Some(Self(keys))
    }

    /// Not written back: a plan resolves it.
    fn write(&self) -> Option<Value> {
        None
    }

    fn schema(_: Option<&()>) -> Json {
        json!({ "type": "object" })
    }

    fn describe(_: Option<&()>) -> String {
        "table".to_owned()
    }
}

/// Reads an entry: a key with its values, or a table of such.
fn walk(entry: &Entry, outer: &str, keys: &mut Vec<VariedKey>, problems: &mut Problems) {
    let path = if outer.is_empty() { entry.key.clone() } else { format!("{outer}.{}", entry.key) };
    match &entry.tree.value {
        Value::Table(inner) if !range::is_range(inner) => {
            if inner.is_empty() {
                problems.add(&entry.tree.span, "this table has no keys to vary");
            }
            for entry in inner {
                walk(entry, &path, keys, problems);
            }
        }
        Value::Table(_) | Value::Array(_) => keys.extend(of_key(path, entry, problems)),
        _ => {
            let help = format!("write `{} = [{}]`, or put it into `set`", entry.key, Inline(&entry.tree.value));
            problems.add_with_help(&entry.tree.span, "a key to vary has a list of values or a range", help);
        }
    }
}

fn of_key(path: String, entry: &Entry, problems: &mut Problems) -> Option<VariedKey> {
    let span = &entry.key_span;
    match path.as_str() {
        "run.seed" => {
            problems.add_with_help(
                span,
                "a sweep varies seeds by its own key",
                "write `seeds = 5` or `seeds = [1, 7]`",
            );
            return None;
        }
        "name" => {
            problems.add(span, "a scenario's name changes nothing in a run");
            return None;
        }
        _ => {}
    }
    let Some(doc) = key::find(&path) else {
        key::unknown(&path, span, problems);
        return None;
    };
    let (values, log) = match &entry.tree.value {
        Value::Array(items) => (items.iter().map(|item| SweptValue::of(&item.value, &item.span)).collect(), false),
        _ => range::values(&entry.tree, doc.kind.starts_with("whole number"), problems)?,
    };
    let values: Vec<SweptValue> = values;
    if values.is_empty() {
        problems.add(&entry.tree.span, "a key to vary has at least one value");
        return None;
    }
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for value in &values {
        if !seen.insert(&value.toml) {
            problems.add(&value.span, format!("{} is there twice", value.text));
        }
    }
    Some(VariedKey { key: path, span: span.clone(), values, log })
}
