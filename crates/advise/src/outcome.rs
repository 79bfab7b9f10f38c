//! What a search takes of a run.

use crate::search::NEGLIGIBLE;
use results::{RunResult, Waiting};
use runs::{Figures, failure_of};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use study::Measured;

/// A run, as far as a search looks at it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The objective's time, see [`crate::Objective::Time`]; none where a job failed.
    pub time_s: Option<f64>,
    /// The objective's energy; none where a node's power is not known.
    pub energy_j: Option<f64>,
    /// The objective's cost, in the scenario's currency; none where it says no prices.
    pub cost: Option<f64>,
    /// The time of each job from submission to finish, by its name.
    pub jobs: Vec<(String, Option<f64>)>,
    /// Without jobs: flows, requests and the like of traffic that were begun.
    #[serde(default)]
    pub begun: u64,
    /// Those of them that were completed.
    #[serde(default)]
    pub completed: u64,
    /// The parts of the jobs' critical paths, all jobs together, in the order of [`Waiting::ALL`]; 0 without jobs.
    pub shares: Vec<f64>,
    /// The figures that conditions name, as far as the run has them.
    pub metrics: BTreeMap<String, f64>,
    /// All that tables and pages show.
    pub figures: Option<Figures>,
}

impl Outcome {
    /// Of a run; `metrics` are the figures that conditions name.
    pub fn of(result: &RunResult, metrics: &BTreeSet<String>) -> Self {
        let job = |job: &results::Job| {
            let time = job.finish.filter(|_| failure_of(job).is_none());
            (job.name.clone(), time.map(|finish| finish.saturating_sub(job.submit).as_secs_f64()))
        };
        let jobs: Vec<(String, Option<f64>)> = result.jobs.iter().map(job).collect();
        let times: Option<Vec<f64>> = jobs.iter().map(|(_, time)| *time).collect();
        let time_s = if jobs.is_empty() { of_traffic(result) } else { times.as_deref().and_then(mean) };
        let counted = |of: fn(&results::TrafficOutcome) -> u64| {
            if jobs.is_empty() { result.traffic.iter().map(of).sum() } else { 0 }
        };
        let (begun, completed) = (counted(|traffic| traffic.begun), counted(|traffic| traffic.completed));
        let energy = result.energy.as_ref().map(|energy| match energy.jobs.as_slice() {
            [Some(job)] => job.as_joules(),
            _ => energy.nodes.iter().map(|node| node.total().as_joules()).sum(),
        });
        let metrics = metrics.iter().filter_map(|path| Some((path.clone(), figure(result, path)?))).collect();
        Self {
            time_s,
            energy_j: energy,
            cost: result.cost.as_ref().map(results::Cost::total),
            jobs,
            begun,
            completed,
            shares: shares(result),
            metrics,
            figures: Some(Figures::of(result)),
        }
    }

    /// The part of the jobs' time that waited for this.
    pub fn share(&self, part: Waiting) -> f64 {
        Waiting::ALL.iter().zip(&self.shares).find(|(name, _)| **name == part).map_or(0.0, |(_, share)| *share)
    }

    /// Whether so many more of the same flows are complete in a run than in this that their mean times are those of
    /// unlike flows: a run that completes the slow ones, too, has a longer mean. Traffic that begins a flow when another
    /// is complete has other ones in each run, and is judged by its means.
    pub fn completions(&self, other: &Self) -> Ordering {
        let differ = self.completed.abs_diff(other.completed) as f64;
        let alike = differ < NEGLIGIBLE * self.completed.max(other.completed) as f64;
        if self.begun != other.begun || alike { Ordering::Equal } else { other.completed.cmp(&self.completed) }
    }

    /// Why a job failed.
    pub fn failure(&self) -> Option<&str> {
        self.figures.as_ref()?.failure.as_deref()
    }
}

/// A figure of a run, if it has it.
fn figure(result: &RunResult, path: &str) -> Option<f64> {
    match study::measure(result, &BTreeSet::from([path.to_owned()])).ok()?.get(path)? {
        Measured::Number(value) => Some(*value),
        Measured::List(_) | Measured::Missing(()) => None,
    }
}

fn shares(result: &RunResult) -> Vec<f64> {
    let of = |part: &Waiting| result.jobs.iter().map(|job| job.breakdown.of(*part).as_secs_f64()).sum::<f64>();
    let parts: Vec<f64> = Waiting::ALL.iter().map(of).collect();
    let whole: f64 = parts.iter().sum();
    parts.into_iter().map(|part| if whole > 0.0 { part / whole } else { 0.0 }).collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The mean completion time over all that was completed.
fn of_traffic(result: &RunResult) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0);
    for traffic in &result.traffic {
        sum += traffic.completion_mean.as_secs_f64() * traffic.completed as f64;
        count += traffic.completed;
    }
    (count > 0).then(|| sum / count as f64)
}
