//! `SWEEP.toml`: the scenario, the keys to vary, the seeds, the figures to show.

use crate::varied::Varied;
use scenario::key::{Key, section, wrong_kind};
use scenario::problem::Problems;
use scenario::tree::{Tree, Value};
use scenario::{FileKind, ScenarioError, Source};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

section! {
    /// A sweep: a scenario over values of its keys, and seeds.
    pub struct SweepFile {
        /// What it asks, in one line; the file's name where left out.
        title: String = String::new();
        /// The scenario's file, beside this one.
        scenario: String = String::new();
        /// Keys that all runs set: "section.key=value".
        set: Vec<String> = Vec::new();
        /// Seeds of each point: how many, from the scenario's own on, or a list of them.
        seeds: Seeds = Seeds::Count(5);
        /// The figures that the page shows, by their paths in `result.json`; the first job's finish, or completion
        /// times and goodput of traffic, where left out.
        metrics: Vec<String> = Vec::new();
        /// Groups of swept keys that go through their values together: the first with the first, and so on.
        zip: Vec<Vec<String>> = Vec::new();
        /// The keys to vary, each with a list of values or a range.
        sweep: Varied = Varied::default();
    }
}

/// The seeds of each point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// So many, from the scenario's own on.
    Count(u32),
    /// The seeds, one by one.
    List(Vec<u64>),
}

/// The most seeds of a point.
const MOST_SEEDS: u32 = 10_000;

impl Key for Seeds {
    type Range = ();

    fn read(tree: &Tree, _: Option<&()>, problems: &mut Problems) -> Option<Self> {
        if let Value::Array(items) = &tree.value {
            let seeds: Option<Vec<u64>> =
                items.iter().map(|item| u64::read(item, Some(&(0..=i64::MAX as u64)), problems)).collect();
            let seeds = seeds?;
            let different: BTreeSet<u64> = seeds.iter().copied().collect();
            if seeds.is_empty() || different.len() < seeds.len() {
                problems.add(&tree.span, "a list of seeds has at least one, and each once");
                return None;
            }
            return Some(Self::List(seeds));
        }
        if !matches!(tree.value, Value::Integer(_)) {
            return wrong_kind(tree, "a number of seeds, or a list of seeds", problems);
        }
        u32::read(tree, Some(&(1..=MOST_SEEDS)), problems).map(Self::Count)
    }

    fn write(&self) -> Option<Value> {
        match self {
            Self::Count(count) => count.write(),
            Self::List(seeds) => seeds.write(),
        }
    }

    fn schema(_: Option<&()>) -> Json {
        json!({ "anyOf": [u32::schema(Some(&(1..=MOST_SEEDS))), { "type": "array", "items": { "type": "integer" } }] })
    }

    fn describe(_: Option<&()>) -> String {
        format!("whole number, 1 to {MOST_SEEDS}, or a list of seeds")
    }
}

/// A sweep as read.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Its name: that of its file.
    pub name: String,
    /// What the file says.
    pub file: SweepFile,
    /// The file's text, for messages.
    pub(crate) source: Source,
    /// The same with the place of every value.
    pub(crate) tree: Tree,
}

impl Sweep {
    /// Reads a sweep's text; `path` is its file, for messages.
    pub fn read(path: &str, text: &str) -> Result<Self, ScenarioError> {
        let source = Source { name: path.to_owned(), text: text.to_owned() };
        let mut problems = Problems::default();
        let tree = Tree::parse(text, 0, &mut problems);
        FileKind::Sweep.expect(&tree, &mut problems);
        let file = if problems.is_empty() { SweepFile::read(&tree, None, &mut problems) } else { None };
        if let (Some(file), true) = (file, problems.is_empty()) {
            let stem = std::path::Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or(path);
            let sweep = Self { name: stem.to_owned(), file, source, tree };
            crate::problems::of_file(&sweep, &mut problems);
            if problems.is_empty() {
                return Ok(sweep);
            }
            problems.sort();
            return Err(ScenarioError { sources: vec![sweep.source], problems: problems.0 });
        }
        problems.sort();
        Err(ScenarioError { sources: vec![source], problems: problems.0 })
    }

    /// The title, or the name.
    pub fn title(&self) -> &str {
        if self.file.title.is_empty() { &self.name } else { &self.file.title }
    }
}
