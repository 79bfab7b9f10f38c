//! Histories of jobs: which of their files, laid out by key, would save which of their shuffles.

use history::{JobHistory, Properties};
use runs::{Error, Found, Inputs, Which};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What histories of jobs say of placement.
#[derive(Clone, Debug)]
pub struct Jobs {
    /// How many nodes there are.
    pub nodes: usize,
    /// The jobs.
    pub jobs: Vec<Job>,
}

/// What a job's counters and configuration say of placement.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its identifier.
    pub id: String,
    /// What it reads.
    pub files: String,
    /// Bytes that its reduces fetched.
    pub shuffle: f64,
    /// Pairs for each record.
    pub pairs: f64,
    /// Its reduces, which are the layout's buckets.
    pub reduces: usize,
    /// Bytes between nodes that a layout by the map output's key saves.
    pub saved: f64,
    /// The key, or why there is none.
    pub key: Result<Key, String>,
}

/// How the key that a job's map emits is found in its records.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// In words: a rule of `--key`, or what the map does.
    pub words: String,
    /// Whether the words are such a rule.
    pub is_rule: bool,
}

impl Jobs {
    /// Asks the histories of jobs, or folders of them, on some nodes (as `nodes`).
    pub fn of(histories: &[PathBuf], nodes: &str, inputs: &Inputs<'_>) -> Result<Self, Error> {
        let nodes = crate::nodes(inputs, nodes)?.len();
        let found = inputs.jobs(histories, Which::All)?;
        let of = |found: &Found| {
            let properties = found.configuration.as_ref().map_or(&found.job.properties, |(_, properties)| properties);
            advise(&found.job, properties, nodes as f64)
        };
        Ok(Self { nodes, jobs: found.iter().map(of).collect() })
    }

    /// For each set of files and each key by which jobs reduce it: how many jobs, what they shuffle, and what they
    /// would save, in bytes.
    pub fn by_files(&self) -> BTreeMap<(&str, &Key), (usize, f64, f64)> {
        let mut sums = BTreeMap::new();
        for job in &self.jobs {
            if let Ok(key) = &job.key {
                let sum: &mut (usize, f64, f64) = sums.entry((job.files.as_str(), key)).or_default();
                *sum = (sum.0 + 1, sum.1 + job.shuffle, sum.2 + job.saved);
            }
        }
        sums
    }

    /// What `trunkline kat plan --history --json` prints.
    pub fn json(&self) -> String {
        let jobs: Vec<_> = self
            .jobs
            .iter()
            .map(|job| {
                let key = job.key.as_ref().ok();
                json!({ "job": job.id, "files": job.files, "shuffle_bytes": job.shuffle as u64, "reduces": job.reduces,
                    "pairs_per_record": job.pairs, "saved_bytes": job.saved as u64,
                    "key": key.map(|key| &key.words), "key_is_rule": key.map(|key| key.is_rule),
                    "why_not": job.key.as_ref().err() })
            })
            .collect();
        let files: Vec<_> = self
            .by_files()
            .into_iter()
            .map(|((files, key), (jobs, shuffle, saved))| {
                json!({ "files": files, "key": key.words, "jobs": jobs, "shuffle_bytes": shuffle as u64,
                    "saved_bytes": saved as u64 })
            })
            .collect();
        format!("{:#}\n", json!({ "schema": 1, "nodes": self.nodes, "jobs": jobs, "files": files }))
    }
}

fn advise(job: &JobHistory, properties: &Properties, nodes: f64) -> Job {
    let counter = |name: &str| job.counters.count(name) as f64;
    let shuffle = counter("REDUCE_SHUFFLE_BYTES");
    let records = counter("MAP_INPUT_RECORDS");
    let pairs = if records > 0.0 { counter("MAP_OUTPUT_RECORDS") / records } else { 0.0 };
    let files = properties.get("mapreduce.input.fileinputformat.inputdir");
    let key = key_of(job, properties, shuffle, records, pairs);
    let saved = if key.is_ok() { shuffle * (nodes - 1.0) / nodes } else { 0.0 };
    let files = files.unwrap_or_else(|| "not recorded".to_owned());
    Job { id: job.id.clone(), files, shuffle, pairs, reduces: job.reduces.len(), saved, key }
}

fn key_of(job: &JobHistory, properties: &Properties, shuffle: f64, records: f64, pairs: f64) -> Result<Key, String> {
    /// More pairs than this for each record, and whole records cannot stand with their keys.
    const ONE: f64 = 1.01;
    if job.reduces.is_empty() || shuffle == 0.0 {
        return Err("nothing is shuffled".to_owned());
    }
    if records == 0.0 {
        return Err("records are not counted".to_owned());
    }
    let partitioner = properties.get("mapreduce.job.partitioner.class").unwrap_or_default();
    if !partitioner.is_empty() && short(&partitioner) != "HashPartitioner" {
        return Err(format!("it partitions by {}, not by a hash of the key", short(&partitioner)));
    }
    if pairs > ONE {
        return Err(format!("{pairs:.1} keys a record, which can stand with one"));
    }
    // Hadoop writes down what a job has set, so a configuration without a partitioner means the usual one.
    if properties.property("mapreduce.job.reduces").is_none() && partitioner.is_empty() {
        let words = "the key that its map emits, if it partitions by a hash (not recorded)".to_owned();
        return Ok(Key { words, is_rule: false });
    }
    emitted(properties)
}

/// A class's name without its package.
fn short(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or_default()
}

/// The key that the map function emits: known of Hadoop's own ones.
fn emitted(properties: &Properties) -> Result<Key, String> {
    let class = |name: &str, usual: &str| properties.get(name).unwrap_or_else(|| usual.to_owned());
    let map = class("mapreduce.job.map.class", "Mapper");
    let format = class("mapreduce.job.inputformat.class", "TextInputFormat");
    let rule = |words: &str| Ok(Key { words: words.to_owned(), is_rule: true });
    match (short(&map), short(&format)) {
        ("Mapper" | "IdentityMapper", "KeyValueTextInputFormat") => rule("first-tab"),
        ("Mapper" | "IdentityMapper", "SequenceFileInputFormat") => rule("key"),
        ("Mapper" | "IdentityMapper", "TextInputFormat") => {
            Err("its keys are the places of lines in their files, of which no two are alike".to_owned())
        }
        ("TokenCounterMapper" | "TokenCountMapper" | "WordCount$TokenizerMapper", _) => rule("tokens"),
        ("RegexMapper", _) => {
            let pattern = properties.get("mapreduce.mapper.regex").unwrap_or_default();
            rule(&format!("regex:{pattern}"))
        }
        (other, "KeyValueTextInputFormat") => {
            let words = format!("first-tab, if {other} keeps its key; else the key that it emits");
            Ok(Key { words, is_rule: false })
        }
        (other, _) => Ok(Key { words: format!("the key that {other} emits"), is_rule: false }),
    }
}
