//! Where a key belongs that does not exist where it was written: in another table, or under another name.

use crate::Scenario;
use crate::key::Section;
use std::sync::LazyLock;

/// Names that other programs and people have for keys.
const ALSO_CALLED: [(&str, &[&str]); 24] = [
    ("bandwidth", &["network.rate"]),
    ("blocksize", &["hdfs.block"]),
    ("block-size", &["hdfs.block"]),
    ("congestion", &["tcp.control"]),
    ("congestion-control", &["tcp.control"]),
    ("cpus", &["node.cores"]),
    ("energy", &["node.idle-power", "node.core-power", "power", "cost.energy"]),
    ("hadoop", &["cluster.generation", "mapreduce", "hdfs"]),
    ("hosts", &["cluster.workers", "cluster.group"]),
    ("input-size", &["job.input"]),
    ("latency", &["network.delay"]),
    ("maps", &["hdfs.block", "job.splits"]),
    ("mappers", &["hdfs.block", "job.splits"]),
    ("nodes", &["cluster.workers", "cluster.group"]),
    ("ram", &["node.memory"]),
    ("reduces", &["mapreduce.reducers", "job.reducers"]),
    ("scheduling", &["mapreduce.scheduler"]),
    ("simulation", &["run"]),
    ("size", &["job.input"]),
    ("slaves", &["cluster.workers", "cluster.group"]),
    ("slots", &["mapreduce.map-slots", "mapreduce.reduce-slots"]),
    ("type", &["job.workload"]),
    ("wireless", &["network.wifi"]),
    ("yarn", &["cluster.generation", "mapreduce"]),
];

/// The most places of one name that help: `rate` and `model` are keys of many tables.
const MOST: usize = 4;

/// All keys: the reference takes milliseconds to make, and a text may have many unknown words.
static KEYS: LazyLock<Vec<String>> = LazyLock::new(|| Scenario::reference().into_iter().map(|row| row.path).collect());

/// The keys that `word` may stand for, in words.
pub(crate) fn elsewhere(word: &str) -> Option<String> {
    let word = word.to_lowercase().replace('_', "-");
    let mut paths: Vec<&str> =
        ALSO_CALLED.iter().filter(|(name, _)| *name == word).flat_map(|(_, keys)| *keys).copied().collect();
    if paths.is_empty() {
        let depth = |path: &&str| path.matches('.').count();
        paths = KEYS.iter().map(String::as_str).collect();
        paths.retain(|path| path.rsplit('.').next() == Some(word.as_str()));
        let least = paths.iter().map(depth).min()?;
        paths.retain(|path| depth(path) == least);
    }
    let named: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    match named.as_slice() {
        [one] => Some(format!("did you mean {one}?")),
        [first @ .., last] if (2..=MOST).contains(&named.len()) => {
            Some(format!("did you mean {} or {last}?", first.join(", ")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_exists() {
        for (name, keys) in ALSO_CALLED {
            for key in keys {
                assert!(KEYS.iter().any(|path| path == key), "{name}: {key}");
            }
        }
    }
}
