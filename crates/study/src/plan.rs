//! The runs of a study: each scenario and seed once, however many figures read from it.

use super::catalog::Study;
use super::file::{Figure, Scalar, Series};
use super::template::fill;
use scenario::{Scenario, ScenarioError};
use std::collections::{BTreeMap, BTreeSet};

/// A run to make, and the metrics to measure.
#[derive(Clone, Debug)]
pub struct PlannedRun {
    /// The scenario with its seed.
    pub scenario: Scenario,
    /// Digest of the scenario, which does not depend on the seed.
    pub digest: String,
    /// The metrics that figures read from it.
    pub metrics: BTreeSet<String>,
}

/// A study's runs, and which points of which curves they are.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Whether it is the short form.
    pub quick: bool,
    /// The runs.
    pub runs: Vec<PlannedRun>,
    /// The figures that it has, by position in the file.
    pub(super) figures: Vec<PlannedFigure>,
}

#[derive(Clone, Debug)]
pub(super) struct PlannedFigure {
    pub figure: usize,
    /// The unknown's position in the file.
    pub unknown: Option<usize>,
    pub curves: Vec<PlannedCurve>,
}

#[derive(Clone, Debug)]
pub(super) struct PlannedCurve {
    pub series: usize,
    /// The assumption's position in its unknown.
    pub assumption: Option<usize>,
    pub points: Vec<PlannedPoint>,
}

#[derive(Clone, Debug)]
pub(super) struct PlannedPoint {
    pub x: f64,
    pub label: String,
    /// Positions in [`Plan::runs`], a seed each.
    pub runs: Vec<usize>,
}

/// Runs planned so far, to share equal ones.
#[derive(Default)]
struct Runs {
    all: Vec<PlannedRun>,
    by_key: BTreeMap<(String, u64), usize>,
}

impl Runs {
    fn add(&mut self, scenario: &Scenario, digest: &str, seed: u64, metrics: &[&str]) -> usize {
        let index = *self.by_key.entry((digest.to_owned(), seed)).or_insert_with(|| {
            let mut scenario = scenario.clone();
            scenario.run.seed = seed;
            self.all.push(PlannedRun { scenario, digest: digest.to_owned(), metrics: BTreeSet::new() });
            self.all.len() - 1
        });
        self.all[index].metrics.extend(metrics.iter().map(|metric| (*metric).to_owned()));
        index
    }
}

impl Plan {
    /// Plans a study, full or `quick`. `seeds` replaces its own number of seeds. Fails if the scenario refuses an
    /// assignment.
    pub fn new(study: &Study, quick: bool, seeds: Option<u32>) -> Result<Self, ScenarioError> {
        let mut runs = Runs::default();
        let mut figures = Vec::new();
        for (index, figure) in study.file.figure.iter().enumerate().filter(|(_, figure)| figure.quick || !quick) {
            let own = if quick {
                figure.quick_seeds.unwrap_or(study.file.quick.seeds)
            } else {
                figure.seeds.unwrap_or(study.file.seeds)
            };
            figures.push(figure_of(study, index, figure, quick, seeds.unwrap_or(own), &mut runs)?);
        }
        Ok(Self { quick, runs: runs.all, figures })
    }
}

fn figure_of(
    study: &Study,
    index: usize,
    figure: &Figure,
    quick: bool,
    seeds: u32,
    runs: &mut Runs,
) -> Result<PlannedFigure, ScenarioError> {
    let unknown = figure.unknown.as_ref().and_then(|name| study.file.unknown.iter().position(|one| one.name == *name));
    let assumptions: Vec<Option<usize>> = match unknown {
        Some(unknown) => (0..study.file.unknown[unknown].assumption.len()).map(Some).collect(),
        None => vec![None],
    };
    let file = figure.scenario.as_ref().unwrap_or(&study.file.scenario);
    let text = study.text(file).unwrap_or_default();
    let name = format!("{}/{file}", study.name);
    let quickly: &[String] = if quick { figure.quick_set.as_ref().unwrap_or(&study.file.quick.set) } else { &[] };
    let mut curves = Vec::new();
    for assumption in assumptions {
        let assumed: &[String] = match (unknown, assumption) {
            (Some(unknown), Some(assumption)) => &study.file.unknown[unknown].assumption[assumption].set,
            _ => &[],
        };
        for (position, series) in figure.series.iter().enumerate() {
            let mut points = Vec::new();
            for (x, label, set) in points_of(figure, quick) {
                let set = if series.constant { Vec::new() } else { set };
                let all = [&study.file.set, &figure.set, assumed, &series.set, &set[..], quickly].concat();
                let scenario = sim::parse(&name, text, &all)?;
                let digest = scenario.digest();
                let metrics = metrics(figure, series);
                let runs = (1..=u64::from(seeds)).map(|seed| runs.add(&scenario, &digest, seed, &metrics)).collect();
                points.push(PlannedPoint { x, label, runs });
            }
            curves.push(PlannedCurve { series: position, assumption, points });
        }
    }
    Ok(PlannedFigure { figure: index, unknown, curves })
}

/// The x, its label and what it sets, for each point of a curve.
fn points_of(figure: &Figure, quick: bool) -> Vec<(f64, String, Vec<String>)> {
    let Some(axis) = &figure.x else { return vec![(0.0, String::new(), Vec::new())] };
    let values = if quick && !axis.quick.is_empty() { &axis.quick } else { &axis.values };
    // Texts that do not begin with a number are categories. Their x is their position in the full list.
    let place = |value: &Scalar| axis.values.iter().position(|one| one == value).unwrap_or_default() as f64;
    let point = |value: &Scalar| {
        let set = axis.set.iter().filter_map(|template| fill(template, value)).collect();
        (value.number().unwrap_or_else(|| place(value)), value.0.clone(), set)
    };
    values.iter().map(point).collect()
}

/// The metrics that a series reads.
fn metrics<'a>(figure: &'a Figure, series: &'a Series) -> Vec<&'a str> {
    let (metric, per) = measured_by(figure, series);
    [Some(metric), per, figure.x_metric.as_deref()].into_iter().flatten().collect()
}

/// The metric of a series and what divides it.
pub(super) fn measured_by<'a>(figure: &'a Figure, series: &'a Series) -> (&'a str, Option<&'a str>) {
    let metric = series.metric.as_deref().unwrap_or(&figure.metric);
    (metric, series.per.as_deref().or(figure.per.as_deref()))
}
