//! What is wrong with a sweep before any of its scenarios is read.

use crate::file::Sweep;
use scenario::problem::{Problems, Span};

/// A path with the first entry of a list as its only one: `job.0.input` is `job.input` where there is one job.
fn plain(path: &str) -> Vec<&str> {
    path.split('.').map(str::trim).filter(|part| *part != "0").collect()
}

/// Whether the first of two keys is the other, or holds it.
fn holds(outer: &str, inner: &str) -> bool {
    plain(inner).starts_with(&plain(outer))
}

/// Checks the whole.
pub fn of_file(sweep: &Sweep, problems: &mut Problems) {
    let (file, tree) = (&sweep.file, &sweep.tree);
    let at = |path: &str| tree.span_of(path).clone();
    let keys = &file.sweep.0;
    if file.scenario.is_empty() {
        problems.add_with_help(&at("scenario"), "a sweep names its scenario", "scenario = \"cluster.toml\"");
    }
    if keys.is_empty() && tree.get("sweep").is_none() {
        let help = "[sweep]\nnetwork.rate = [\"10 Mbit/s\", \"100 Mbit/s\"]";
        problems.add_with_help(&at(""), "a sweep has a table [sweep] of keys to vary", help);
    } else if keys.is_empty() {
        problems.add(&at("sweep"), "a sweep varies at least one key");
    }
    for (number, key) in keys.iter().enumerate() {
        let clash = keys[..number].iter().find(|other| holds(&other.key, &key.key) || holds(&key.key, &other.key));
        if let Some(other) = clash {
            let how = if plain(&other.key) == plain(&key.key) { "they are one key" } else { "one holds the other" };
            problems.add(&key.span, format!("`{}` and `{}` defeat each other: {how}", other.key, key.key));
        }
    }
    for (number, assignment) in file.set.iter().enumerate() {
        let span = at(&format!("set.{number}"));
        let key = assignment.split('=').next().unwrap_or_default().trim();
        if let Some(swept) = keys.iter().find(|swept| holds(&swept.key, key) || holds(key, &swept.key)) {
            problems.add(&span, format!("`{key}` and `{}`, which the sweep varies, defeat each other", swept.key));
        }
        if key == "run.seed" {
            problems.add_with_help(&span, "a sweep has seeds by its own key", "write `seeds = [7]`");
        }
    }
    groups(sweep, &at, problems);
    for (number, metric) in file.metrics.iter().enumerate() {
        if let Err(reason) = study::check_metric(metric) {
            problems.add(&at(&format!("metrics.{number}")), reason);
        }
    }
}

/// Checks the groups of keys that go together.
fn groups(sweep: &Sweep, at: &dyn Fn(&str) -> Span, problems: &mut Problems) {
    let keys = &sweep.file.sweep.0;
    let mut seen: Vec<&str> = Vec::new();
    for (number, group) in sweep.file.zip.iter().enumerate() {
        let whole = at(&format!("zip.{number}"));
        if group.len() < 2 {
            let help = "zip = [[\"cluster.workers\", \"job.input\"]]";
            problems.add_with_help(&whole, "a group has at least two keys of [sweep]", help);
        }
        let mut lengths = Vec::new();
        for (place, key) in group.iter().enumerate() {
            let span = at(&format!("zip.{number}.{place}"));
            if seen.contains(&key.as_str()) {
                problems.add(&span, format!("`{key}` is in a group already"));
            }
            seen.push(key);
            match keys.iter().find(|varied| varied.key == *key) {
                Some(varied) => lengths.push((key, varied.values.len())),
                None => {
                    problems.unknown(&span, "a key of [sweep]", key, keys.iter().map(|varied| varied.key.as_str()));
                }
            }
        }
        if lengths.iter().any(|(_, length)| Some(*length) != lengths.first().map(|(_, first)| *first)) {
            let each: Vec<String> = lengths.iter().map(|(key, length)| format!("`{key}` has {length}")).collect();
            problems.add(&whole, format!("keys that go together have as many values each: {}", each.join(", ")));
        }
    }
}
