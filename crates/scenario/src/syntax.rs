//! What is wrong with a text that is not TOML, in the words of who writes scenarios: the parser guesses a word without
//! quotes by its first letter, and `four` is a false that went wrong to it.

use super::problem::{Problems, Span};
use super::tree::{Tree, Value};

/// The parser's errors, each with its place. Of a line the first is said: the next ones mostly follow from it.
pub fn say<'a>(tree: &Tree, text: &str, errors: impl Iterator<Item = (Span, &'a str)>, problems: &mut Problems) {
    let mut errors = errors.peekable();
    if errors.peek().is_none() || is_another_language(text, problems) {
        return;
    }
    let mut words = Vec::new();
    unquoted(tree, text, &mut words);
    words.sort_unstable_by_key(|word| word.range.start);
    let mut last: Option<usize> = None;
    for (span, message) in errors {
        let at = span.range.start;
        let same_line = last.is_some_and(|last| text.get(last..at).is_some_and(|between| !between.contains('\n')));
        if same_line {
            continue;
        }
        last = Some(at);
        let before = words.partition_point(|word| word.range.start <= at);
        let word = before.checked_sub(1).map(|place| &words[place]);
        // A value that is missing stands behind its `=`; where none was expected the parser has made one up.
        let is_missed = |word: &Span| word.range == (at..at) && text[..at].trim_end().ends_with('=');
        let word = word.filter(|word| at < word.range.end || is_missed(word));
        if let Some(word) = word {
            say_unquoted(word, &text[word.range.clone()], problems);
        } else if text.get(at..).is_some_and(|rest| rest.starts_with(':')) {
            problems.add_with_help(&span, "a `:` after a key", "between a key and its value stands `=`");
        } else {
            problems.add(&span, message.lines().collect::<Vec<_>>().join("; "));
        }
    }
}

/// What starts like another language is not TOML from its first byte on, and each of its lines would be a problem.
fn is_another_language(text: &str, problems: &mut Problems) -> bool {
    let start = text.len() - text.trim_start().len();
    let starts = |with: &[&str]| with.iter().any(|word| text[start..].starts_with(word));
    let (what, help) = if starts(&["Avro-Json", "Avro-Binary", "Meta VERSION="]) {
        ("this is the history of a job, not TOML", "`trunkline import` makes a scenario of it")
    } else if starts(&["{"]) {
        (
            "this is JSON, not TOML",
            "in TOML: [cluster], and below it workers = 4; a history of jobs: `trunkline import`",
        )
    } else if starts(&["<"]) {
        (
            "this is XML, not TOML",
            "in TOML: [cluster], and below it workers = 4; a cluster's: `trunkline import cluster`",
        )
    } else {
        return false;
    };
    let first_line = text[start..].lines().next().unwrap_or_default().len();
    problems.add_with_help(&Span { source: 0, range: start..start + first_line }, what, help);
    true
}

/// The places of values without quotes that are no numbers, as far as the parser takes them for one value.
fn unquoted(tree: &Tree, text: &str, words: &mut Vec<Span>) {
    match &tree.value {
        Value::Table(entries) => entries.iter().for_each(|entry| unquoted(&entry.tree, text, words)),
        Value::Array(items) => items.iter().for_each(|item| unquoted(item, text, words)),
        _ => {
            let word = text.get(tree.span.range.clone()).unwrap_or("\"");
            if !word.starts_with(['"', '\'']) && (word.is_empty() || word.contains(char::is_alphabetic)) {
                words.push(tree.span.clone());
            }
        }
    }
}

fn say_unquoted(span: &Span, word: &str, problems: &mut Problems) {
    let bare = word.trim_matches(['\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}', '`']);
    let small = word.to_lowercase();
    if word.is_empty() {
        problems.add_with_help(span, "there is no value", "a text stands in quotes, a number without");
    } else if matches!(small.as_str(), "true" | "false") {
        problems.add_with_help(span, format!("`{word}` is not a value"), format!("in small letters: {small}"));
    } else if bare.len() < word.len() {
        let help = format!("these are not straight quotes: \"{bare}\"");
        problems.add_with_help(span, format!("`{word}` has no quotes that TOML knows"), help);
    } else {
        let message = format!("`{word}` has no quotes, and is neither a number nor true or false");
        let help = format!("a text, and a number with its unit, stands in quotes: \"{word}\"; a number without, as 4");
        problems.add_with_help(span, message, help);
    }
}
