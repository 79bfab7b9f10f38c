//! Records of a study's runs: their metrics by scenario and seed. An interrupted study continues from them.

use super::metric::{MetricError, measure};
use super::plan::PlannedRun;
use results::RunResult;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of a record; its number goes up when a field changes its meaning or goes away.
const SCHEMA: &str = "trunkline-study-run/1";

/// A metric's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Measured {
    /// A number.
    Number(f64),
    /// A sampled series, or an entry for each flow.
    List(Vec<f64>),
    /// The run has no such value: a job that failed has no time.
    Missing(()),
}

/// The metrics of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    schema: String,
    /// The build that made the run: another may give other numbers.
    program: String,
    digest: String,
    seed: u64,
    /// The step of sampled series, in seconds.
    pub(super) step_s: f64,
    pub(super) values: BTreeMap<String, Measured>,
}

impl Record {
    /// The record of a run by this build, as text and as parsed back from that text. So a study that reuses records has
    /// the same numbers as one that was not interrupted.
    pub fn of(run: &PlannedRun, result: &RunResult, program: &str) -> Result<(String, Self), MetricError> {
        let record = Self {
            schema: SCHEMA.to_owned(),
            program: program.to_owned(),
            digest: run.digest.clone(),
            seed: run.scenario.run.seed,
            step_s: result.sample_interval.as_secs_f64(),
            values: measure(result, &run.metrics)?,
        };
        // Serialisation cannot fail: all map keys are texts, and infinities become null.
        let text = serde_json::to_string(&record).unwrap_or_default();
        let record = serde_json::from_str(&text).unwrap_or(record);
        Ok((text, record))
    }

    /// The name of the file that holds the record of a run.
    pub fn file_name(run: &PlannedRun) -> String {
        format!("{}-{}.json", run.digest, run.scenario.run.seed)
    }

    /// Reads a record back, if it is that of this run by this build and has all that is measured of it.
    pub fn read(text: &str, run: &PlannedRun, program: &str) -> Option<Self> {
        let record: Self = serde_json::from_str(text).ok()?;
        let same = record.schema == SCHEMA
            && record.program == program
            && record.digest == run.digest
            && record.seed == run.scenario.run.seed;
        (same && run.metrics.iter().all(|metric| record.values.contains_key(metric))).then_some(record)
    }
}
