//! Figures of runs by name, and their means over several runs.

use crate::Recorded;
use results::{Estimate, Job, JobState, RunResult, page};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::cmp::Reverse;
use units::Time;

/// The figures of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The seed of the run.
    pub seed: u64,
    /// Why a job of it failed, if one did.
    pub failure: Option<String>,
    /// The figures that it has.
    pub values: Vec<Figure>,
    /// What it predicts beside what was recorded, where it re-does a recorded job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<Compared>,
}

/// A prediction beside the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// What is predicted.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// What the run says.
    pub predicted: f64,
    /// What was recorded.
    pub actual: f64,
}

impl Compared {
    /// The rows of a comparison.
    pub(crate) fn rows(comparison: &page::Comparison) -> Vec<Self> {
        let row = |row: &page::ComparisonRow| Self {
            name: row.name.clone(),
            unit: row.unit.to_owned(),
            predicted: row.predicted,
            actual: row.actual,
        };
        comparison.rows.iter().map(row).collect()
    }
}

/// A figure of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Name of the figure.
    pub name: String,
    /// Its unit; empty for a count.
    pub unit: String,
    /// Its value, in that unit.
    pub value: f64,
}

impl Figures {
    /// The figures of a run. Those that a run does not have (the time of a job that failed) are left out.
    pub fn of(result: &RunResult) -> Self {
        let mut values = Vec::new();
        let mut add = |name: String, unit: &str, value: f64| values.push(Figure { name, unit: unit.to_owned(), value });
        let length = |start: Option<Time>, finish: Option<Time>| {
            start.zip(finish).map(|(start, finish)| finish.saturating_sub(start).as_secs_f64())
        };
        for job in &result.jobs {
            if failure_of(job).is_some() {
                continue;
            }
            if let Some(seconds) = length(job.launch, job.finish) {
                add(format!("{}: launch to finish", job.name), "s", seconds);
            }
            if let Some(seconds) = length(Some(job.submit), job.finish) {
                add(format!("{}: submission to finish", job.name), "s", seconds);
            }
            for phase in &job.phases {
                let seconds = phase.finish.saturating_sub(phase.start).as_secs_f64();
                add(format!("{}: {}", job.name, phase.phase.name()), "s", seconds);
            }
            add(format!("{}: shuffled over the network", job.name), "MB", job.bytes.shuffle_remote.get() as f64 / 1e6);
        }
        if let Some(spark) = result.spark.as_ref().filter(|spark| spark.failure().is_none()) {
            if let Some(took) = spark.took() {
                add("application: first submission to last end".to_owned(), "s", took.as_secs_f64());
            }
            for stage in &spark.stages {
                if let Some(seconds) = length(stage.submit, stage.finish) {
                    add(format!("stage {}", stage.name), "s", seconds);
                }
            }
            add("shuffled over the network".to_owned(), "MB", spark.shuffle_remote().get() as f64 / 1e6);
        }
        for traffic in &result.traffic {
            if let Some(seconds) = length(Some(traffic.start), traffic.finish) {
                add(format!("{}: start to finish", traffic.name), "s", seconds);
            }
            add(format!("{}: goodput", traffic.name), "Mbit/s", traffic.goodput.as_bps() as f64 / 1e6);
            if traffic.completed > 0 {
                add(format!("{}: mean completion", traffic.name), "ms", traffic.completion_mean.as_secs_f64() * 1e3);
                add(format!("{}: 99 % completion", traffic.name), "ms", traffic.completion_p99.as_secs_f64() * 1e3);
            }
        }
        if let Some(network) = &result.network {
            add("packets dropped".to_owned(), "", network.drops as f64);
            let lost = if result.field.is_some() { "packets given up on the air" } else { "packets lost on links" };
            add(lost.to_owned(), "", network.lost as f64);
            add("retransmissions".to_owned(), "", network.retransmissions as f64);
            add("TCP timeouts".to_owned(), "", network.timeouts as f64);
        }
        if let Some(energy) = &result.energy {
            // One unit for a tablet's joules and a rack's day, so that any two scenarios can be compared.
            let wh = |energy: units::Energy| energy.as_joules() / 3.6e3;
            for (job, drawn) in result.jobs.iter().zip(&energy.jobs).filter(|(job, _)| failure_of(job).is_none()) {
                if let Some(drawn) = drawn {
                    add(format!("{}: energy of nodes", job.name), "Wh", wh(*drawn));
                }
            }
            if let Some(disks) = &energy.disks {
                add("energy of disks".to_owned(), "Wh", wh(disks.drawn));
                add("saved by rest of disks".to_owned(), "%", disks.saved() * 100.0);
                add("ceiling of what rest could save".to_owned(), "%", disks.ceiling() * 100.0);
                add("starts of disks".to_owned(), "", disks.starts.into());
            }
        }
        let failure = failure_in(result);
        if let Some(cost) = result.cost.as_ref().filter(|_| failure.is_none()) {
            add("cost".to_owned(), &cost.currency, cost.total());
        }
        Self { seed: result.seed, failure, values, compared: Vec::new() }
    }

    /// The figures of a run that re-does a recorded job, with those of the record.
    pub fn beside(result: &RunResult, recorded: &Recorded) -> Self {
        let comparison = page::Comparison::with_actual(result, &recorded.job, &recorded.counted, "");
        Self { compared: Compared::rows(&comparison), ..Self::of(result) }
    }

    /// The value of the figure of that name, if the run has it.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    }
}

/// Why a job or an application of a run did not succeed.
pub fn failure_in(result: &RunResult) -> Option<String> {
    let spark = || result.spark.as_ref().and_then(results::SparkApplication::failure);
    result.jobs.iter().find_map(failure_of).or_else(spark)
}

/// Why a job did not succeed.
pub fn failure_of(job: &Job) -> Option<String> {
    match job.state {
        JobState::Succeeded => None,
        JobState::Failed => Some(format!("{}: {}", job.name, job.reason)),
        JobState::Unfinished => Some(format!("{}: it had not finished when the run ended (run.until)", job.name)),
    }
}

/// The mean over the runs that have a figure. Where some have none, because their job failed or the run ended before
/// it, there is no interval: that of the others would be one of the runs that went well.
pub fn estimate_of_all(values: impl ExactSizeIterator<Item = Option<f64>>) -> Option<Estimate> {
    let runs = values.len();
    let values: Vec<f64> = values.flatten().collect();
    let estimate = Estimate::of(&values)?;
    Some(Estimate { half_width: estimate.half_width.filter(|_| estimate.count == runs), ..estimate })
}

/// The runs of one scenario.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    /// The scenario's name.
    pub name: &'a str,
    /// The scenario's digest, which does not depend on the seed.
    pub digest: &'a str,
    /// Its runs.
    pub runs: &'a [Figures],
}

impl<'a> Summary<'a> {
    /// Names and units of all figures, in the order of a run that has most of them: one that was cut lacks the first.
    pub fn names(&self) -> Vec<(&'a str, &'a str)> {
        let mut names: Vec<(&str, &str)> = Vec::new();
        let mut runs: Vec<&Figures> = self.runs.iter().collect();
        runs.sort_by_key(|run| Reverse(run.values.len()));
        for figure in runs.into_iter().flat_map(|run| &run.values) {
            if !names.iter().any(|(name, _)| *name == figure.name) {
                names.push((&figure.name, &figure.unit));
            }
        }
        names
    }

    /// The mean of a figure over the runs that have it; an interval only where all have.
    pub fn estimate(&self, name: &str) -> Option<Estimate> {
        estimate_of_all(self.runs.iter().map(|run| run.get(name)))
    }

    /// Why a job of one of the runs failed, if one did.
    pub fn failure(&self) -> Option<&'a str> {
        self.runs.iter().find_map(|run| run.failure.as_deref())
    }

    /// As `runs.json`.
    pub fn to_json(&self) -> String {
        let figure = |(name, unit): (&str, &str)| {
            let estimate = self.estimate(name)?;
            let values: Vec<_> = self.runs.iter().map(|run| run.get(name)).collect();
            Some(json!({ "name": name, "unit": unit, "mean": estimate.mean, "half_width_95": estimate.half_width,
                "least": estimate.least, "greatest": estimate.greatest,
                "quantile_5": estimate.nine_tenths.0, "quantile_95": estimate.nine_tenths.1, "values": values }))
        };
        let summary = json!({
            "schema": "trunkline-runs/1",
            "name": self.name,
            "scenario_digest": self.digest,
            "seeds": self.runs.iter().map(|run| run.seed).collect::<Vec<_>>(),
            "failures": self.runs.iter().filter_map(|run| run.failure.as_ref()).collect::<Vec<_>>(),
            "figures": self.names().into_iter().filter_map(figure).collect::<Vec<_>>(),
        });
        format!("{summary:#}\n")
    }
}
