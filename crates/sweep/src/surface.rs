//! The response surface: the mean of each figure over seeds, at each point. `report/src/sweep-data.ts` mirrors it.

use crate::axis::Axis;
use crate::plan::Plan;
use crate::record::Record;
use results::page;
use runs::estimate_of_all;
use serde::Serialize;

/// The version of `sweep.json`; its number goes up when a field changes its meaning or goes away.
pub const SCHEMA: &str = "trunkline-sweep/1";

/// A sweep's outcome: `sweep.json`, and what the page shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Surface {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The sweep's name.
    pub name: String,
    /// What it asks.
    pub title: String,
    /// The scenario's file.
    pub scenario: String,
    /// The build that made the runs.
    pub build: String,
    /// Keys that all runs set.
    pub set: Vec<String>,
    /// The seeds of each point.
    pub seeds: Vec<u64>,
    /// How many runs there are.
    pub runs: usize,
    /// How many of them had a job that failed.
    pub failures: usize,
    /// The keys that are varied.
    pub axes: Vec<Axis>,
    /// The figures that are shown.
    pub metrics: Vec<MetricOf>,
    /// The points, the last axis going round first.
    pub points: Vec<Point>,
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricOf {
    /// Its path in `result.json`.
    pub path: String,
    /// Its unit.
    pub unit: String,
}

/// A point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Its place along each axis, from 0.
    pub at: Vec<usize>,
    /// What it sets, beside what all runs do.
    pub set: Vec<String>,
    /// The runs whose job failed.
    pub failures: usize,
    /// Why the first of them did.
    pub failure: Option<String>,
    /// Each figure.
    pub figures: Vec<Spread>,
}

/// A figure over seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Seed by seed; none where a run does not have it.
    pub values: Vec<Option<f64>>,
    /// Their mean.
    pub mean: Option<f64>,
    /// Half the width of the 95 % interval of the mean (Student's t); none for a single value, or where a run has none.
    pub half_width_95: Option<f64>,
}

impl Spread {
    fn of(values: Vec<Option<f64>>) -> Self {
        let estimate = estimate_of_all(values.iter().copied());
        let (mean, half_width_95) = (estimate.map(|one| one.mean), estimate.and_then(|one| one.half_width));
        Self { values, mean, half_width_95 }
    }

    /// How many runs have it.
    pub fn count(&self) -> usize {
        self.values.iter().flatten().count()
    }

    /// Whether all runs have it.
    pub fn is_whole(&self) -> bool {
        self.count() == self.values.len()
    }
}

impl Surface {
    /// From the records of all runs, in the order of the plan.
    pub fn of(plan: &Plan, records: &[Record]) -> Self {
        let unit = |path: &String| {
            let figure = records.iter().find_map(|record| record.figure(path));
            figure.map(|figure| figure.unit.clone()).unwrap_or_default()
        };
        let metrics: Vec<MetricOf> =
            plan.metrics.iter().map(|path| MetricOf { path: path.clone(), unit: unit(path) }).collect();
        let point = |(number, records): (usize, &[Record])| Point {
            at: plan.at(number),
            set: plan.values(number).iter().map(|(key, value)| format!("{}={}", key.key, value.toml)).collect(),
            failures: records.iter().filter(|record| record.failure.is_some()).count(),
            failure: records.iter().find_map(|record| record.failure.clone()),
            figures: plan
                .metrics
                .iter()
                .map(|path| Spread::of(records.iter().map(|record| record.number(path)).collect()))
                .collect(),
        };
        Self {
            schema: SCHEMA,
            name: plan.sweep.name.clone(),
            title: plan.sweep.title().to_owned(),
            scenario: plan.sweep.file.scenario.clone(),
            build: plan.build.clone(),
            set: plan.sweep.file.set.clone(),
            seeds: plan.seeds.clone(),
            runs: records.len(),
            failures: records.iter().filter(|record| record.failure.is_some()).count(),
            axes: plan.axes.clone(),
            metrics,
            points: records.chunks(plan.seeds.len().max(1)).enumerate().map(point).collect(),
        }
    }

    /// `sweep.json`.
    pub fn to_json(&self) -> String {
        // Serialisation cannot fail: there are no maps, and infinities become null.
        format!("{}\n", serde_json::to_string_pretty(self).unwrap_or_default())
    }

    /// The page.
    pub fn page(&self) -> String {
        page::embed(self)
    }

    /// The points with the least and the greatest mean of a figure, among those at which all runs have it: of a job
    /// that ends with some seeds only, these are the short ones.
    pub fn extremes(&self, metric: usize) -> Option<(&Point, &Point)> {
        let mean =
            |point: &Point| point.figures.get(metric).filter(|spread| spread.is_whole()).and_then(|spread| spread.mean);
        let known = || self.points.iter().filter_map(|point| Some((mean(point)?, point)));
        let least = known().min_by(|(a, _), (b, _)| a.total_cmp(b))?.1;
        let greatest = known().max_by(|(a, _), (b, _)| a.total_cmp(b))?.1;
        Some((least, greatest))
    }
}
