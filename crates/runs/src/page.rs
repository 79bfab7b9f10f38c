//! The page of several runs: how long, and how sure. `report/src/runs-data.ts` mirrors the data.

use crate::{Comparison, Figures, Summary, TradeOff};
use results::{Estimate, page};
use serde::Serialize;
use std::collections::BTreeSet;

/// The version that the page and its data must share.
pub const RUNS_PAGE: &str = "trunkline-runs-page/1";

/// What the page of several runs shows: of one scenario, or of several side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunsPage {
    schema: &'static str,
    title: String,
    /// What was laid over the files.
    changes: Vec<String>,
    scenarios: Vec<Of>,
    figures: Vec<Row>,
    errors: Vec<ErrorRow>,
    /// Scenarios by time and energy, where both are known of several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trade_off: Vec<TradeOff>,
}

/// A scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Of {
    name: String,
    digest: String,
    seeds: Vec<u64>,
    /// Why a job failed, run by run.
    failures: Vec<Option<String>>,
    /// The page of each run, relative to this one; empty where there are none.
    pages: Vec<String>,
}

/// A figure: the values of each scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Row {
    name: String,
    unit: String,
    /// What was recorded, where the runs re-do a recorded job.
    recorded: Option<f64>,
    of: Vec<Option<Spread>>,
}

/// A figure of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Spread {
    /// Run by run.
    values: Vec<Option<f64>>,
    mean: f64,
    /// Half the width of the 95 % interval of the mean.
    half_width: Option<f64>,
    median: f64,
    /// Between these lie 90 % of the runs.
    low: f64,
    high: f64,
    /// The mean difference from the first scenario, seed by seed; none for that one.
    difference: Option<Difference>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Difference {
    mean: f64,
    half_width: Option<f64>,
    significant: bool,
}

/// A prediction beside the record, over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct ErrorRow {
    name: String,
    unit: String,
    actual: f64,
    /// Run by run.
    predicted: Vec<f64>,
    median: f64,
    low: f64,
    high: f64,
}

/// The figure of a job of which a comparison with its record says the time.
const JOB: (&str, &str) = (": launch to finish", "job, launch to finish");

impl RunsPage {
    /// Of the seeds of one scenario, whose folders stand beside the page.
    pub fn of_seeds(summary: &Summary<'_>, changes: Vec<String>) -> Self {
        let mut page = Self::side_by_side(&Comparison { summaries: &[*summary] }, changes);
        for of in &mut page.scenarios {
            of.pages = of.seeds.iter().map(|seed| format!("seed-{seed}/report.html")).collect();
        }
        page
    }

    /// Of several scenarios over the same seeds.
    pub fn side_by_side(comparison: &Comparison<'_>, changes: Vec<String>) -> Self {
        let errors = comparison.summaries.first().map(|summary| errors(summary.runs)).unwrap_or_default();
        // The comparison is of the first job; with more of them its name would be a guess.
        let is_job = |name: &str| name.ends_with(JOB.0);
        let jobs = comparison.names().into_iter().filter(|(name, _)| is_job(name)).count();
        let recorded = errors.iter().find(|row| row.name == JOB.1).map(|row| row.actual);
        let figure = |(name, unit): (&str, &str)| Row {
            name: name.to_owned(),
            unit: unit.to_owned(),
            recorded: recorded.filter(|_| jobs == 1 && is_job(name)),
            of: comparison
                .summaries
                .iter()
                .enumerate()
                .map(|(number, summary)| values(comparison, summary, name, number > 0))
                .collect(),
        };
        let of = |summary: &Summary<'_>| Of {
            name: summary.name.to_owned(),
            digest: summary.digest.to_owned(),
            seeds: summary.runs.iter().map(|run| run.seed).collect(),
            failures: summary.runs.iter().map(|run| run.failure.clone()).collect(),
            pages: Vec::new(),
        };
        let names: Vec<&str> = comparison.summaries.iter().map(|summary| summary.name).collect();
        Self {
            schema: RUNS_PAGE,
            title: names.join(" beside "),
            changes,
            figures: comparison.names().into_iter().map(figure).collect(),
            scenarios: comparison.summaries.iter().map(of).collect(),
            errors,
            trade_off: Vec::new(),
        }
    }

    /// With another title than the scenarios' names.
    #[must_use]
    pub fn titled(self, title: String) -> Self {
        Self { title, ..self }
    }

    /// With scenarios by time and energy.
    #[must_use]
    pub fn with_trade_off(self, trade_off: Vec<TradeOff>) -> Self {
        Self { trade_off, ..self }
    }

    /// The page.
    pub fn render(&self) -> String {
        page::embed(self)
    }
}

fn values(comparison: &Comparison<'_>, summary: &Summary<'_>, name: &str, differs: bool) -> Option<Spread> {
    let estimate = summary.estimate(name)?;
    let difference = differs.then(|| comparison.difference(summary, name)).flatten();
    Some(Spread {
        values: summary.runs.iter().map(|run| run.get(name)).collect(),
        mean: estimate.mean,
        half_width: estimate.half_width,
        median: estimate.median,
        low: estimate.nine_tenths.0,
        high: estimate.nine_tenths.1,
        difference: difference.map(|difference| Difference {
            mean: difference.mean,
            half_width: difference.half_width,
            significant: difference.excludes_zero(),
        }),
    })
}

/// Predictions beside the record: what every run predicts.
fn errors(runs: &[Figures]) -> Vec<ErrorRow> {
    let mut seen = BTreeSet::new();
    let rows = runs.iter().flat_map(|run| &run.compared).filter(|row| seen.insert(row.name.as_str()));
    let of = |row: &crate::Compared| {
        let same = runs.iter().filter_map(|run| run.compared.iter().find(|other| other.name == row.name));
        let predicted: Vec<f64> = same.map(|row| row.predicted).collect();
        let estimate = Estimate::of(&predicted)?;
        let ((low, high), median) = (estimate.nine_tenths, estimate.median);
        let (name, unit, actual) = (row.name.clone(), row.unit.clone(), row.actual);
        Some(ErrorRow { name, unit, actual, predicted, median, low, high })
    };
    rows.collect::<Vec<_>>().into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compared, Figure};

    /// Five runs of a job recorded at 100 s: 90, 95, 100, 105, 110 have the median 100 and, by interpolation between
    /// ranks, the quantiles 91 and 109.
    #[test]
    fn a_recorded_job_stands_in_the_distribution() {
        let run = |seed: u64| {
            let value = 85.0 + 5.0 * seed as f64;
            let figure = Figure { name: "sort: launch to finish".to_owned(), unit: "s".to_owned(), value };
            let compared = Compared { name: JOB.1.to_owned(), unit: "s".to_owned(), predicted: value, actual: 100.0 };
            Figures { seed, failure: None, values: vec![figure], compared: vec![compared] }
        };
        let runs: Vec<Figures> = (1..=5).map(run).collect();
        let summary = Summary { name: "sort", digest: "", runs: &runs };
        let page = RunsPage::of_seeds(&summary, vec!["network.rate = 10 Mbit/s".to_owned()]);
        let row = &page.figures[0];
        assert_eq!(row.recorded, Some(100.0));
        let values = row.of[0].as_ref().expect("five values");
        assert_eq!((values.median, values.low, values.high, values.difference.is_none()), (100.0, 91.0, 109.0, true));
        assert_eq!((page.errors[0].median, page.errors[0].low, page.errors[0].high), (100.0, 91.0, 109.0));
        assert_eq!(page.scenarios[0].pages[4], "seed-5/report.html");
        assert!(page.render().contains("\"schema\":\"trunkline-runs-page/1\""));
    }
}
