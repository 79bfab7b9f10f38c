//! Where the samples of other formats are.

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
