//! Records of finished runs, by the runs' names.

use crate::plan::{Plan, PlannedRun};
use results::{RunResult, Value};
use runs::{Error, failure_in};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The version of a record; its number goes up when a field changes its meaning or goes away.
const SCHEMA: &str = "trunkline-sweep-run/1";

/// A figure's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Measured {
    /// Yes or no.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// The run has no such value: a job that failed has no finish.
    Missing(()),
}

/// A figure of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Its path in `result.json`.
    pub path: String,
    /// Its unit.
    pub unit: String,
    /// Its value.
    pub value: Measured,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    schema: String,
    /// The run's name.
    pub run: String,
    /// The build that made it.
    pub build: String,
    /// Names the scenario, seed aside.
    pub scenario_digest: String,
    /// The seed.
    pub seed: u64,
    /// Why a job of it failed, if one did.
    pub failure: Option<String>,
    /// All figures that are one value, and those that the sweep asks for.
    pub figures: Vec<Figure>,
}

impl Record {
    /// Of a run, as text and as parsed back from that text: a call that reuses records has the same numbers as one that
    /// was not interrupted.
    pub(crate) fn of(plan: &Plan, run: &PlannedRun, result: &RunResult) -> Result<(String, Self), Error> {
        Self::of_run(&run.name, &plan.build, &plan.metrics, result)
    }

    /// Of a run of that name, by whoever made it.
    pub(crate) fn of_run(
        name: &str,
        build: &str,
        metrics: &[String],
        result: &RunResult,
    ) -> Result<(String, Self), Error> {
        let measured = |value: Value| match value {
            Value::Flag(flag) => Measured::Flag(flag),
            Value::Text(text) => Measured::Text(text),
            value => value.number().map_or(Measured::Missing(()), Measured::Number),
        };
        let flat = results::flat(result);
        let mut figures: Vec<Figure> = flat
            .into_iter()
            .map(|figure| Figure { path: figure.path, unit: figure.unit.to_owned(), value: measured(figure.value) })
            .collect();
        let asked: BTreeSet<String> =
            metrics.iter().filter(|path| !figures.iter().any(|figure| figure.path == **path)).cloned().collect();
        let asked = study::measure(result, &asked).map_err(|error| Error::Input(error.to_string()))?;
        figures.extend(asked.into_iter().map(|(path, value)| {
            let value = match value {
                study::Measured::Number(number) => Measured::Number(number),
                study::Measured::List(list) if !list.is_empty() => {
                    Measured::Number(list.iter().sum::<f64>() / list.len() as f64)
                }
                study::Measured::List(_) | study::Measured::Missing(()) => Measured::Missing(()),
            };
            Figure { unit: results::unit_of(&path).unwrap_or_default().to_owned(), path, value }
        }));
        let record = Self {
            schema: SCHEMA.to_owned(),
            run: name.to_owned(),
            build: build.to_owned(),
            scenario_digest: result.scenario_digest.clone(),
            seed: result.seed,
            failure: failure_in(result),
            figures,
        };
        record.kept()
    }

    /// Of a run that gave no result, because of `why`: it has no figures, and is not made again.
    pub(crate) fn lost(plan: &Plan, run: &PlannedRun, why: &str) -> Result<(String, Self), Error> {
        let missing = |path: &String| Figure {
            path: path.clone(),
            unit: results::unit_of(path).unwrap_or_default().to_owned(),
            value: Measured::Missing(()),
        };
        let record = Self {
            schema: SCHEMA.to_owned(),
            run: run.name.clone(),
            build: plan.build.clone(),
            scenario_digest: run.digest.clone(),
            seed: run.seed,
            failure: Some(why.to_owned()),
            figures: plan.metrics.iter().map(missing).collect(),
        };
        record.kept()
    }

    /// As text, and as parsed back from it.
    fn kept(self) -> Result<(String, Self), Error> {
        let internal = |error: serde_json::Error| Error::Internal(error.to_string());
        let text = serde_json::to_string(&self).map_err(internal)?;
        let back = serde_json::from_str(&text).map_err(internal)?;
        Ok((text + "\n", back))
    }

    /// The file that holds the record of a run.
    pub(crate) fn file_name(run: &PlannedRun) -> String {
        format!("{}.json", run.name)
    }

    /// Reads a record back, if it is that of this run and has all that the plan asks for.
    pub(crate) fn read(text: &str, plan: &Plan, run: &PlannedRun) -> Option<Self> {
        let record: Self = serde_json::from_str(text).ok()?;
        let same = record.schema == SCHEMA && record.run == run.name && record.build == plan.build;
        (same && plan.metrics.iter().all(|path| record.figure(path).is_some())).then_some(record)
    }

    /// The figure of a path.
    pub fn figure(&self, path: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.path == path)
    }

    /// The number at a path.
    pub fn number(&self, path: &str) -> Option<f64> {
        match self.figure(path)?.value {
            Measured::Number(number) => Some(number),
            Measured::Flag(flag) => Some(f64::from(u8::from(flag))),
            Measured::Text(_) | Measured::Missing(()) => None,
        }
    }
}
