//! The keys of the scenario language, by which those of a sweep are checked before any value is tried.

use scenario::Scenario;
use scenario::key::{KeyDoc, Section};
use scenario::problem::{Problem, Problems, Span};
use std::collections::BTreeSet;
use std::sync::LazyLock;

static KEYS: LazyLock<Vec<KeyDoc>> = LazyLock::new(Scenario::reference);

/// At most this many places are named where a key of that name would be right.
const NAMED: usize = 6;

/// A path without the numbers of entries of lists, as the reference has it.
fn plain(path: &str) -> String {
    let parts: Vec<&str> = path.split('.').filter(|part| part.parse::<u32>().is_err()).collect();
    parts.join(".")
}

/// What the language says of a key; entries of lists have numbers.
pub fn find(path: &str) -> Option<&'static KeyDoc> {
    let path = plain(path);
    KEYS.iter().find(|doc| doc.path == path)
}

/// Says that the language has no such key, and what is near.
pub fn unknown(path: &str, span: &Span, problems: &mut Problems) {
    let path = plain(path);
    let parts: Vec<&str> = path.split('.').collect();
    let known = (0..parts.len()).rev().map(|count| parts[..count].join("."));
    let known = known.into_iter().find(|path| path.is_empty() || KEYS.iter().any(|doc| doc.path == *path));
    let known = known.unwrap_or_default();
    let depth = if known.is_empty() { 0 } else { known.split('.').count() };
    let (wrong, last) = (parts[depth], parts[parts.len() - 1]);
    let prefix = if known.is_empty() { String::new() } else { format!("{known}.") };
    let inside = |doc: &'static KeyDoc| doc.path.strip_prefix(&prefix)?.split('.').next();
    let siblings: BTreeSet<&'static str> = KEYS.iter().filter_map(inside).collect();
    let elsewhere: Vec<&str> =
        KEYS.iter().map(|doc| doc.path.as_str()).filter(|doc| doc.rsplit('.').next() == Some(last)).collect();
    let message = match known.as_str() {
        "" => format!("`{path}` is not a key of a scenario: it has no `{wrong}`"),
        _ => format!("`{path}` is not a key of a scenario: `{known}` has no `{wrong}`"),
    };
    let help = match units::nearest(wrong, siblings.iter().copied()) {
        Some(near) => format!("did you mean `{prefix}{near}`?"),
        None if !elsewhere.is_empty() => {
            let places: Vec<String> = elsewhere.iter().take(NAMED).map(|path| format!("`{path}`")).collect();
            format!("did you mean {}?", places.join(" or "))
        }
        None => format!("one of: {}", siblings.into_iter().collect::<Vec<_>>().join(", ")),
    };
    problems.0.push(Problem { span: span.clone(), message, help: Some(help) });
}
