//! A scenario's text as a tree in which every key and value knows where it stands; `--set` lays values over it.

use super::problem::{Problems, Source, Span};
use super::syntax;
use std::fmt::Write;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// A value and where it stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// Place in the text.
    pub span: Span,
    /// The value.
    pub value: Value,
}

/// What TOML can say.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A table: its entries in the order of the text.
    Table(Vec<Entry>),
    /// An array.
    Array(Vec<Tree>),
    /// A text, without quotes and with escapes resolved.
    String(String),
    /// A whole number; wider than any key, so that a range error can quote it.
    Integer(i128),
    /// A number with a decimal point or an exponent.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A date or time; no key takes one.
    Datetime(String),
}

impl Default for Value {
    fn default() -> Self {
        Self::Table(Vec::new())
    }
}

/// A key of a table with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key, unquoted.
    pub key: String,
    /// Where the key stands.
    pub key_span: Span,
    /// The value.
    pub tree: Tree,
}

impl Value {
    /// What kind of value this is, for a message.
    pub fn noun(&self) -> &'static str {
        match self {
            Self::Table(_) => "a table",
            Self::Array(_) => "a list",
            Self::String(_) => "a text",
            Self::Integer(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Boolean(_) => "true or false",
            Self::Datetime(_) => "a date",
        }
    }
}

impl From<Value> for Tree {
    fn from(value: Value) -> Self {
        Self { span: Span::default(), value }
    }
}

impl Tree {
    /// Reads a source's text.
    pub fn parse(text: &str, source: usize, problems: &mut Problems) -> Self {
        let (table, errors) = DeTable::parse_recoverable(text);
        let range = table.span();
        let tree = Self { span: within(source, range, text), value: convert_table(table.into_inner(), source, text) };
        let errors = errors.iter().map(|error| (within(source, error.span().unwrap_or(0..0), text), error.message()));
        syntax::say(&tree, text, errors, problems);
        tree
    }

    /// Lays `key.path=value` over this tree. The value is read as TOML, and as a plain text if it is not TOML.
    pub fn set(&mut self, assignment: &Source, source: usize, problems: &mut Problems) {
        let text = &assignment.text;
        let whole = Span { source, range: 0..text.len() };
        let Some(equals) = text.find('=') else {
            return problems.add_with_help(&whole, "no `=` in this assignment", "write `--set section.key=value`");
        };
        let value_start = equals + 1 + (text[equals + 1..].len() - text[equals + 1..].trim_start().len());
        let value_text = text[value_start..].trim_end();
        let value_span = Span { source, range: value_start..value_start + value_text.len() };
        let mut value = match DeValue::parse(value_text) {
            Ok(value) => convert(value, source, value_text),
            Err(_) => Value::String(value_text.to_owned()).into(),
        };
        value.all_spans(&value_span);
        let mut place = self;
        let mut start = 0;
        let path = &text[..equals];
        for part in path.split('.') {
            let lead = part.len() - part.trim_start().len();
            let name = part.trim();
            let key_span = Span { source, range: start + lead..start + lead + name.len() };
            start += part.len() + 1;
            if name.is_empty() {
                return problems.add(&whole, "an empty key");
            }
            place.suit(name, &key_span);
            place = match &mut place.value {
                Value::Array(items) => {
                    let count = items.len();
                    let Some(item) = name.parse().ok().and_then(|i: usize| items.get_mut(i)) else {
                        let help =
                            format!("the list has {count} entries, counted from 0: `{path}` needs such a number");
                        return problems.add_with_help(&key_span, format!("`{name}` is not an entry"), help);
                    };
                    item
                }
                other => {
                    if !matches!(other, Value::Table(_)) {
                        *other = Value::Table(Vec::new());
                        // What the file has there is replaced: it is not what may be wrong.
                        place.span = whole.clone();
                    }
                    let Value::Table(entries) = other else { return };
                    let position = entries.iter().position(|entry| entry.key == name).unwrap_or_else(|| {
                        let tree = Self { span: value_span.clone(), value: Value::default() };
                        entries.push(Entry { key: name.to_owned(), key_span: key_span.clone(), tree });
                        entries.len() - 1
                    });
                    entries[position].key_span = key_span;
                    &mut entries[position].tree
                }
            };
        }
        *place = value;
    }

    /// A list of one may stand without its brackets: takes the form in which an assignment's next name has a place,
    /// `job.0` in a `[job]` and `job.input` in the only `[[job]]`.
    fn suit(&mut self, name: &str, at: &Span) {
        let counted = name.parse::<usize>().is_ok();
        match &mut self.value {
            Value::Table(_) if name == "0" => {
                let one = Self { span: self.span.clone(), value: std::mem::take(&mut self.value) };
                *self = Self { span: at.clone(), value: Value::Array(vec![one]) };
            }
            Value::Array(items) if !counted && matches!(items[..], [Self { value: Value::Table(_), .. }]) => {
                *self = items.remove(0);
            }
            _ => {}
        }
    }

    fn all_spans(&mut self, span: &Span) {
        self.span = span.clone();
        match &mut self.value {
            Value::Table(entries) => entries.iter_mut().for_each(|entry| {
                entry.key_span = span.clone();
                entry.tree.all_spans(span);
            }),
            Value::Array(items) => items.iter_mut().for_each(|item| item.all_spans(span)),
            _ => {}
        }
    }

    /// The value at a dotted path, list entries by number; a list of one may stand without its brackets.
    pub fn get(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |tree, part| match (&tree.value, part.parse::<usize>()) {
            (Value::Array(items), Ok(index)) => items.get(index),
            (_, Ok(0)) => Some(tree),
            (Value::Table(entries), _) => entries.iter().find(|entry| entry.key == part).map(|entry| &entry.tree),
            _ => None,
        })
    }

    /// Where the value at a dotted path stands; where it is absent, the nearest table around it.
    pub fn span_of(&self, path: &str) -> &Span {
        let mut tree = self;
        for part in path.split('.') {
            match tree.get(part) {
                Some(inner) => tree = inner,
                None => break,
            }
        }
        &tree.span
    }
}

fn within(source: usize, range: std::ops::Range<usize>, text: &str) -> Span {
    Span { source, range: range.start.min(text.len())..range.end.min(text.len()) }
}

fn convert(spanned: Spanned<DeValue<'_>>, source: usize, text: &str) -> Tree {
    let span = within(source, spanned.span(), text);
    let value = match spanned.into_inner() {
        DeValue::String(string) => Value::String(string.into_owned()),
        DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
            .map_or_else(|_| Value::Float(f64::INFINITY), Value::Integer),
        DeValue::Float(float) => Value::Float(float.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(boolean) => Value::Boolean(boolean),
        DeValue::Datetime(datetime) => Value::Datetime(datetime.to_string()),
        DeValue::Array(items) => Value::Array(items.into_iter().map(|item| convert(item, source, text)).collect()),
        DeValue::Table(table) => convert_table(table, source, text),
    };
    Tree { span, value }
}

fn convert_table(table: DeTable<'_>, source: usize, text: &str) -> Value {
    let entry = |(key, value): (Spanned<DeString<'_>>, _)| Entry {
        key_span: within(source, key.span(), text),
        key: key.into_inner().into_owned(),
        tree: convert(value, source, text),
    };
    let mut entries: Vec<_> = table.into_iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.key_span.range.start);
    Value::Table(entries)
}

/// Lists of tables that are written with a table on a line: a plan has thousands of attempts.
const LINES: [&str; 2] = ["job.plan.attempt", "spark.stage.attempt"];

/// Writes a table as TOML text: plain values first, then sub-tables with their header.
pub fn print(entries: &[Entry], path: &str, out: &mut String) {
    let is_of = |lines: &str, key: &str| lines.strip_prefix(path).and_then(|rest| rest.strip_prefix('.')) == Some(key);
    let is_lines = |entry: &Entry| LINES.iter().any(|lines| is_of(lines, &entry.key));
    let is_block = |entry: &Entry| match &entry.tree.value {
        Value::Table(_) => true,
        Value::Array(items) => {
            !is_lines(entry) && matches!(items.first().map(|item| &item.value), Some(Value::Table(_)))
        }
        _ => false,
    };
    for entry in entries.iter().filter(|entry| !is_block(entry)) {
        match &entry.tree.value {
            Value::Array(items) if is_lines(entry) => {
                let _ = writeln!(out, "{} = [", entry.key);
                for item in items {
                    let _ = writeln!(out, "    {},", Inline(&item.value));
                }
                out.push_str("]\n");
            }
            value => {
                let _ = writeln!(out, "{} = {}", entry.key, Inline(value));
            }
        }
    }
    for entry in entries.iter().filter(|entry| is_block(entry)) {
        let inner = if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
        match &entry.tree.value {
            Value::Table(table) if table.is_empty() => {}
            Value::Table(table) => {
                // A table of tables alone needs no header of its own.
                if !table.iter().all(is_block) {
                    let _ = write!(out, "\n[{inner}]\n");
                }
                print(table, &inner, out);
            }
            Value::Array(items) => {
                for item in items {
                    let _ = write!(out, "\n[[{inner}]]\n");
                    if let Value::Table(table) = &item.value {
                        print(table, &inner, out);
                    }
                }
            }
            _ => {}
        }
    }
}

/// A value on one line.
pub struct Inline<'a>(pub &'a Value);

impl std::fmt::Display for Inline<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Value::Table(entries) => {
                f.write_str("{")?;
                for (i, entry) in entries.iter().enumerate() {
                    write!(f, "{} {} = {}", if i == 0 { "" } else { "," }, entry.key, Inline(&entry.tree.value))?;
                }
                f.write_str(" }")
            }
            Value::Array(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { "" } else { ", " }, Inline(&item.value))?;
                }
                f.write_str("]")
            }
            Value::String(string) => {
                f.write_char('"')?;
                for c in string.chars() {
                    match c {
                        '"' => f.write_str("\\\"")?,
                        '\\' => f.write_str("\\\\")?,
                        c if c.is_control() => write!(f, "\\u{:04X}", c as u32)?,
                        c => f.write_char(c)?,
                    }
                }
                f.write_char('"')
            }
            Value::Integer(integer) => write!(f, "{integer}"),
            Value::Float(float) => write!(f, "{float:?}"),
            Value::Boolean(boolean) => write!(f, "{boolean}"),
            Value::Datetime(datetime) => f.write_str(datetime),
        }
    }
}
