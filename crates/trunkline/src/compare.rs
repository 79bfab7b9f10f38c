//! Figures over several runs: their mean with its 95 % interval, and `trunkline compare`.

use crate::args::Compare;
use crate::failure::Failure;
use crate::{emit, run, simulate};
use serde_json::{Map, Value, json};
use sim::results::{Estimate, RunResult};
use sim::scenario::Scenario;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use units::Time;

/// What one run measured, by name.
#[derive(Clone, Debug)]
pub struct Figures {
    seed: u64,
    /// Why a job of it failed, if one did.
    pub failure: Option<String>,
    values: Vec<Figure>,
}

#[derive(Clone, Debug)]
struct Figure {
    name: String,
    unit: &'static str,
    value: f64,
}

impl Figures {
    /// The figures of a run. Those that a run does not have (the time of a job that failed) are left out.
    pub fn of(result: &RunResult) -> Self {
        let mut values = Vec::new();
        let mut add = |name: String, unit, value: f64| values.push(Figure { name, unit, value });
        let length = |start: Option<Time>, finish: Option<Time>| {
            start.zip(finish).map(|(start, finish)| finish.saturating_sub(start).as_secs_f64())
        };
        for job in &result.jobs {
            if run::failure_of(job).is_some() {
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
        add("packets dropped".to_owned(), "", result.network.drops as f64);
        add("retransmissions".to_owned(), "", result.network.retransmissions as f64);
        add("TCP timeouts".to_owned(), "", f64::from(u32::try_from(result.network.timeouts).unwrap_or(u32::MAX)));
        let failure = result.jobs.iter().find_map(run::failure_of);
        Self { seed: result.seed, failure, values }
    }

    fn get(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    }
}

/// The runs of one scenario.
#[derive(Debug)]
pub struct Summary<'a> {
    name: &'a str,
    digest: &'a str,
    runs: &'a [Figures],
}

impl<'a> Summary<'a> {
    /// Of the runs of the scenario of that name and digest.
    pub const fn new(name: &'a str, digest: &'a str, runs: &'a [Figures]) -> Self {
        Self { name, digest, runs }
    }

    /// Names and units of all figures, in the order of their first appearance.
    fn names(&self) -> Vec<(&'a str, &'static str)> {
        let mut names: Vec<(&str, &'static str)> = Vec::new();
        for figure in self.runs.iter().flat_map(|run| &run.values) {
            if !names.iter().any(|(name, _)| *name == figure.name) {
                names.push((&figure.name, figure.unit));
            }
        }
        names
    }

    fn estimate(&self, name: &str) -> Option<Estimate> {
        let values: Vec<f64> = self.runs.iter().filter_map(|run| run.get(name)).collect();
        Estimate::of(&values)
    }

    /// As `runs.json`.
    pub fn to_json(&self) -> String {
        let figure = |(name, unit): (&str, &'static str)| {
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

    /// As a table for a person.
    pub fn to_text(&self) -> String {
        let failed = self.runs.iter().filter(|run| run.failure.is_some()).count();
        let mut text = format!("{}: {} runs", self.name, self.runs.len());
        if failed > 0 {
            let _ = write!(text, ", in {failed} of which a job failed");
        }
        let _ = writeln!(text, "\n\n{:<44} {:>24}  {:>12} {:>12}", "", "mean, 95 % interval", "90 % from", "to");
        for (name, unit) in self.names() {
            if let Some(estimate) = self.estimate(name) {
                let (least, greatest) = (number(estimate.nine_tenths.0), number(estimate.nine_tenths.1));
                let name = fit(&label(name, unit), 44);
                let _ = writeln!(text, "{name:<44} {:>24}  {least:>12} {greatest:>12}", interval(&estimate));
            }
        }
        text
    }
}

fn label(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name}, {unit}") }
}

fn interval(estimate: &Estimate) -> String {
    match estimate.half_width {
        Some(half_width) => format!("{} ± {}", number(estimate.mean), number(half_width)),
        None => number(estimate.mean),
    }
}

/// Four significant digits, no fewer than the whole part has.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 1000.0 || v == 0.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        v if v >= 0.1 => 3,
        _ => 5,
    };
    format!("{value:.decimals$}")
}

/// A text of at most so many characters.
pub fn fit(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Simulates scenarios over the same seeds and puts them side by side.
pub fn compare(args: &Compare) -> Result<(), Failure> {
    let loaded = args.scenarios.iter().map(|path| simulate::load(path, &args.change));
    let mut scenarios = loaded.collect::<Result<Vec<_>, _>>()?;
    let first_seed = scenarios[0].run.seed;
    for scenario in &mut scenarios {
        scenario.run.seed = first_seed;
    }
    let all: Vec<_> = scenarios.iter().flat_map(|scenario| simulate::seeds(scenario, args.runs)).collect();
    let figures = simulate::run_all(&all, &args.effort, |_, result| Ok(Figures::of(&result)))?;
    let digests: Vec<_> = scenarios.iter().map(Scenario::digest).collect();
    let names = distinct_names(&scenarios, &args.scenarios);
    let summaries: Vec<_> = (names.iter().zip(&digests))
        .zip(figures.chunks(args.runs as usize))
        .map(|((name, digest), runs)| Summary::new(name, digest, runs))
        .collect();
    emit(&if args.json { side_by_side_json(&summaries) } else { side_by_side(&summaries) })?;
    figures.iter().find_map(|run| run.failure.clone()).map_or(Ok(()), |reason| Err(Failure::Job(reason)))
}

/// The scenarios' names; the paths of their files where two have one name.
fn distinct_names(scenarios: &[Scenario], paths: &[PathBuf]) -> Vec<String> {
    let names: BTreeSet<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    if names.len() == scenarios.len() {
        return scenarios.iter().map(|scenario| scenario.name.clone()).collect();
    }
    paths.iter().map(|path| path.display().to_string()).collect()
}

/// The mean difference of a figure from the first scenario's, seed by seed: runs of one seed draw the same random numbers,
/// so their differences vary less than they do.
fn difference(base: &Summary<'_>, other: &Summary<'_>, name: &str) -> Option<Estimate> {
    let pairs = base.runs.iter().zip(other.runs);
    let differences: Vec<f64> = pairs.filter_map(|(base, other)| Some(other.get(name)? - base.get(name)?)).collect();
    Estimate::of(&differences)
}

fn all_names<'a>(summaries: &[Summary<'a>]) -> Vec<(&'a str, &'static str)> {
    let mut names: Vec<(&str, &'static str)> = Vec::new();
    for name in summaries.iter().flat_map(Summary::names) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn side_by_side(summaries: &[Summary<'_>]) -> String {
    let mut text =
        format!("{} runs each; differences are from {}, seed by seed\n", summaries[0].runs.len(), summaries[0].name);
    for (name, unit) in all_names(summaries) {
        let _ = writeln!(text, "\n{}", label(name, unit));
        for (i, summary) in summaries.iter().enumerate() {
            let mean = summary.estimate(name).as_ref().map_or_else(|| "-".to_owned(), interval);
            let _ = write!(text, "  {:<32} {mean:>24}", fit(summary.name, 32));
            if let Some(difference) = (i > 0).then(|| difference(&summaries[0], summary, name)).flatten() {
                let base = summaries[0].estimate(name).map_or(0.0, |estimate| estimate.mean);
                let percent =
                    if base == 0.0 { String::new() } else { format!("{:+.1} %", 100.0 * difference.mean / base) };
                let verdict = match (difference.half_width, difference.excludes_zero()) {
                    (None, _) => "one run",
                    (_, true) => "significant",
                    (_, false) => "not significant",
                };
                let _ = write!(text, "  {percent:>9}  {verdict}");
            }
            text.push('\n');
        }
    }
    text
}

fn side_by_side_json(summaries: &[Summary<'_>]) -> String {
    let figures = all_names(summaries).into_iter().map(|(name, unit)| {
        let of = |summary: &Summary<'_>| {
            let mut value = Map::new();
            value.insert("scenario".to_owned(), summary.name.into());
            if let Some(estimate) = summary.estimate(name) {
                value.insert("mean".to_owned(), json!(estimate.mean));
                value.insert("half_width_95".to_owned(), json!(estimate.half_width));
            }
            if let Some(difference) = difference(&summaries[0], summary, name) {
                value.insert("difference".to_owned(), json!(difference.mean));
                value.insert("difference_half_width_95".to_owned(), json!(difference.half_width));
                value.insert("significant".to_owned(), json!(difference.excludes_zero()));
            }
            Value::Object(value)
        };
        json!({ "name": name, "unit": unit, "scenarios": summaries.iter().map(of).collect::<Vec<_>>() })
    });
    let comparison = json!({ "schema": "trunkline-comparison/1", "runs": summaries[0].runs.len(), "figures": figures.collect::<Vec<_>>() });
    format!("{comparison:#}\n")
}
