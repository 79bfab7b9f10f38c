//! How long a job takes, estimated without a simulation, in milliseconds of computation.
//!
//! A job is three stages: its maps, what of the shuffle is left after the last map, and the reduces. Each has a lower
//! and an upper bound after ARIA (Verma, Cherkasova and Campbell, HP Labs HPL-2011-58): `n` tasks of mean length on `k`
//! slots take at least `n mean / k`, at most `(n - 1) mean / k` and the longest. The length of a task is that of its
//! own work where it is alone, and that of the busiest resource of its node where it is not (asymptotic bounds: Denning
//! and Buzen, "The Operational Analysis of Queueing Network Models", 1978). Beside it stands what mean value analysis
//! says ([`mva`]).

mod blocks;
mod cache;
mod count;
mod job;
mod json;
mod links;
mod machine;
mod master;
pub mod mva;
mod offers;
mod plan;
mod progress;
mod work;

pub use json::to_json;

use job::Stages;
use machine::Cluster;
use scenario::{PlacementKind, Scenario, TopologyKind};
use thiserror::Error;

/// Seconds: at least, on average, at most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// A lower bound.
    pub least: f64,
    /// What is expected.
    pub mean: f64,
    /// An upper bound.
    pub most: f64,
}

impl Span {
    /// The same three times.
    pub const fn exactly(seconds: f64) -> Self {
        Self { least: seconds, mean: seconds, most: seconds }
    }
    /// Both, one after the other.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { least: self.least + other.least, mean: self.mean + other.mean, most: self.most + other.most }
    }
}

/// What is estimated of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobEstimate {
    /// Its name.
    pub name: String,
    /// Launch to the end of the last map.
    pub maps: Span,
    /// From there until the last reducer has all of its input; nothing without reducers.
    pub shuffle: Span,
    /// From there to the finish.
    pub reduces: Span,
    /// Launch to finish by mean value analysis.
    pub mva: f64,
}

impl JobEstimate {
    /// Launch to finish.
    pub fn total(&self) -> Span {
        self.maps.plus(self.shuffle).plus(self.reduces)
    }
}

/// Why there is no estimate of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no estimate of {what}: {why}")]
pub struct Unable {
    /// What of the scenario.
    pub what: String,
    /// What stands against it.
    pub why: String,
}

fn unable<T>(what: &str, why: &str) -> Result<T, Unable> {
    Err(Unable { what: what.to_owned(), why: why.to_owned() })
}

/// Estimates the jobs of a scenario, each as if it were alone.
pub fn estimate(scenario: &Scenario) -> Result<Vec<JobEstimate>, Unable> {
    if scenario.job.is_empty() {
        return unable("a scenario without jobs", "only jobs of MapReduce are estimated");
    }
    if scenario.job.len() > 1 {
        return unable("several jobs", "what they take from each other is not estimated; simulate them");
    }
    if scenario.network.topology == TopologyKind::Wifi {
        return unable("network.topology = \"wifi\"", "the air is not estimated; simulate it");
    }
    if !scenario.traffic.is_empty() {
        return unable("traffic beside a job", "what it leaves of the links is not estimated; simulate it");
    }
    if !scenario.faults.is_empty() {
        return unable("faults", "what is lost and done again is not estimated; simulate it");
    }
    if scenario.hdfs.erasure_coding.is_some() {
        return unable("hdfs.erasure-coding", "rows that come from many nodes are not estimated; simulate it");
    }
    if scenario.hdfs.placement.kind == PlacementKind::ByKey {
        let why = "what reducers that follow their data leave to the network is not estimated; simulate it";
        return unable("hdfs.placement.kind = \"by-key\"", why);
    }
    if scenario.object_store.is_some() {
        return unable("object-store", "requests and committers are not estimated; simulate it");
    }
    let config = sim::hadoop_config(scenario);
    let cluster = Cluster::new(scenario, &config);
    let mut estimates = Vec::new();
    for (job, spec) in scenario.job.iter().zip(&config.mapreduce.jobs) {
        if job.plan.is_some() {
            return unable("a job with a recorded plan", "its times are given; simulate it");
        }
        if spec.uber {
            return unable("an uber job", "its tasks run one after the other in its AppMaster; simulate it");
        }
        let stages = Stages::new(scenario, &config, &cluster, spec)?;
        estimates.push(stages.estimate(&spec.name));
    }
    Ok(estimates)
}
