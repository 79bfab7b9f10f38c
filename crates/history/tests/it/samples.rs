//! Where the samples of other formats and the recorded runs of our own cluster are.

use history::import::{ImportError, Imported, Settings, Sources, import};
use history::{Format, JobHistory, read};
use std::fs;
use std::path::{Path, PathBuf};

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples")
}

pub fn load(file: &str) -> Vec<u8> {
    let path = folder().join(file);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub fn jobs(file: &str) -> (Format, Vec<JobHistory>) {
    read(&load(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// The only job of a file.
pub fn job(file: &str) -> JobHistory {
    let (_, mut jobs) = jobs(file);
    assert_eq!(jobs.len(), 1, "{file}");
    jobs.remove(0)
}

pub const FAILED: &str =
    "job_1700000000000_0007-1700000000000-dora-sort-1700000030000-1-0-FAILED-default-1700000004000.jhist";

/// The recorded runs of our own cluster, a folder each.
pub fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}

/// The runs on a quiet host.
pub const RUNS: [&str; 12] = [
    "dfsio-read-unshaped",
    "dfsio-write-unshaped",
    "grep-unshaped",
    "teragen-unshaped",
    "terasort-unshaped",
    "terasort-unshaped-2",
    "wordcount-combine-10mbit",
    "wordcount-combine-unshaped",
    "wordcount-nocombine-10mbit",
    "wordcount-nocombine-10mbit-2",
    "wordcount-nocombine-unshaped",
    "wordcount-nocombine-unshaped-2",
];

/// A job as it is imported with the cluster on which those runs ran.
pub fn with_cluster(job: &JobHistory, settings: Option<Settings>) -> Result<Imported, ImportError> {
    let cluster = fs::read_to_string(traces().join("cluster.toml")).unwrap();
    import(job, &Sources { cluster: Some(("cluster.toml", &cluster)), settings, ..Sources::default() })
}
