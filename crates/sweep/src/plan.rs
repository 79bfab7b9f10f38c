//! The plan of a sweep: every point, and a run for each of its seeds.

use crate::axis::Axis;
use crate::file::{Seeds, Sweep};
use crate::varied::{SweptValue, VariedKey};
use runs::{Change, Error, Inputs, Stop, build_id};
use scenario::problem::{Problem, Span};
use scenario::{Scenario, ScenarioError, ScenarioWarnings, Source};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The most runs of a sweep.
pub const MOST_RUNS: u64 = 100_000;
/// The most problems that are gathered before the rest of the points is left alone.
const MOST_PROBLEMS: usize = 20;

/// A run of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRun {
    /// Its name: the first 128 bits of a BLAKE3 hash of the build, the resolved scenario and the seed, in hexadecimal.
    pub name: String,
    /// The point that it is of.
    pub point: usize,
    /// Its seed.
    pub seed: u64,
    /// Names the scenario, seed aside.
    pub digest: String,
}

/// What a sweep will run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The sweep.
    pub sweep: Sweep,
    /// The scenario's file.
    pub scenario: PathBuf,
    /// The keys that go together, in the order of the file; each once.
    groups: Vec<Vec<usize>>,
    /// The axes.
    pub axes: Vec<Axis>,
    /// The seeds of each point.
    pub seeds: Vec<u64>,
    /// The runs, point by point.
    pub runs: Vec<PlannedRun>,
    /// The build that makes them.
    pub build: String,
    /// The figures that the page shows.
    pub metrics: Vec<String>,
}

/// What a plan may be asked besides its file.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Keys that all runs set, after those of the file.
    pub set: Vec<String>,
    /// The number of seeds, in place of the file's.
    pub seeds: Option<u32>,
}

impl Plan {
    /// Lays out all runs and checks every scenario. Returns the plan with what its scenarios will do against
    /// expectation. `folder` is the one of the sweep's file.
    pub fn new(
        mut sweep: Sweep,
        folder: &Path,
        changes: &Changes,
        stop: &Stop,
    ) -> Result<(Self, ScenarioWarnings), Error> {
        if let Some(seeds) = changes.seeds {
            sweep.file.seeds = Seeds::Count(seeds);
        }
        let groups = groups(&sweep);
        let keys = &sweep.file.sweep.0;
        let axis = |group: &Vec<usize>| Axis::of(&group.iter().map(|key| &keys[*key]).collect::<Vec<_>>());
        let axes: Vec<Axis> = groups.iter().filter_map(axis).collect();
        let scenario = folder.join(&sweep.file.scenario);
        let mut plan = Self {
            scenario,
            groups,
            axes,
            seeds: Vec::new(),
            runs: Vec::new(),
            build: build_id().to_owned(),
            metrics: sweep.file.metrics.clone(),
            sweep,
        };
        plan.count()?;
        let warnings = plan.lay_out(changes, stop)?;
        Ok((plan, warnings))
    }

    /// How many points there are.
    pub fn points(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// Refuses a plan that is too large, before anything of it is made.
    fn count(&self) -> Result<(), Error> {
        let seeds = match &self.sweep.file.seeds {
            Seeds::Count(count) => u64::from(*count),
            Seeds::List(list) => list.len() as u64,
        };
        let lengths: Vec<u64> = self.axes.iter().map(|axis| axis.values.len() as u64).collect();
        let runs = lengths.iter().fold(u128::from(seeds), |runs, length| runs.saturating_mul(u128::from(*length)));
        if runs <= u128::from(MOST_RUNS) {
            return Ok(());
        }
        let factors: Vec<String> =
            self.axes.iter().map(|axis| format!("{} of {}", axis.values.len(), axis.key)).collect();
        let message = format!(
            "this plan has {runs} runs ({} values, {seeds} seeds), and the most is {MOST_RUNS}",
            factors.join(" x ")
        );
        let help = "fewer values, fewer seeds, or keys that go together (`zip`)".to_owned();
        Err(self.wrong("sweep", message, Some(help)))
    }

    /// What is wrong with a key of the sweep's file.
    fn wrong(&self, key: &str, message: String, help: Option<String>) -> Error {
        let span = self.sweep.tree.span_of(key).clone();
        let problems = vec![Problem { span, message, help }];
        Error::Scenario(ScenarioError { sources: vec![self.sweep.source.clone()], problems })
    }

    /// The place of a point along each axis.
    pub fn at(&self, point: usize) -> Vec<usize> {
        let mut rest = point;
        let mut at: Vec<usize> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            at.push(rest % axis.values.len());
            rest /= axis.values.len();
        }
        at.reverse();
        at
    }

    /// The keys and their values at a point, in the order of the axes.
    pub fn values(&self, point: usize) -> Vec<(&VariedKey, &SweptValue)> {
        let keys = &self.sweep.file.sweep.0;
        let of = |(group, at): (&Vec<usize>, usize)| {
            group.iter().map(move |key| (&keys[*key], &keys[*key].values[at])).collect::<Vec<_>>()
        };
        self.groups.iter().zip(self.at(point)).flat_map(of).collect()
    }

    /// The assignments of a point: what all runs set, then its own.
    pub fn assignments(&self, point: usize) -> Vec<String> {
        let own = self.values(point).into_iter().map(|(key, value)| format!("{}={}", key.key, value.toml));
        self.sweep.file.set.iter().cloned().chain(own).collect()
    }

    /// A point in words: `network.rate = 10 Mbit/s, mapreduce.reducers = 4`.
    pub fn words(&self, point: usize) -> String {
        let each: Vec<String> =
            self.values(point).iter().map(|(key, value)| format!("{} = {}", key.key, value.text)).collect();
        each.join(", ")
    }

    /// The scenario of a run. Fails if its files are no longer those that were planned.
    pub fn scenario_of(&self, run: &PlannedRun, stop: &Stop) -> Result<Scenario, Error> {
        let inputs = Inputs::new(stop);
        let change = Change { assignments: self.assignments(run.point), seed: Some(run.seed) };
        let (scenario, _) = inputs.scenario(&self.scenario, &change)?;
        if name(&self.build, &scenario) == run.name {
            return Ok(scenario);
        }
        let file = self.scenario.display();
        Err(Error::Input(format!("{file}, or a file that it names, has changed since this sweep began")))
    }

    /// A run as a line of JSON, for whoever shares runs out.
    pub fn line(&self, position: usize) -> Option<String> {
        let run = self.runs.get(position)?;
        let values: Map<String, Value> = self
            .values(run.point)
            .into_iter()
            .map(|(key, value)| (key.key.clone(), value.text.clone().into()))
            .collect();
        let line = json!({
            "run": run.name,
            "position": position + 1,
            "of": self.runs.len(),
            "values": values,
            "seed": run.seed,
            "scenario": self.sweep.file.scenario,
            "set": self.assignments(run.point),
            "scenario_digest": run.digest,
            "build": self.build,
        });
        Some(format!("{line}\n"))
    }

    /// Reads the scenario of every point.
    fn lay_out(&mut self, changes: &Changes, stop: &Stop) -> Result<ScenarioWarnings, Error> {
        self.sweep.file.set.extend(changes.set.iter().cloned());
        let inputs = Inputs::new(stop);
        // What is wrong with the scenario itself is not said once for each point.
        let set = Change { assignments: self.sweep.file.set.clone(), seed: None };
        let (base, _) = match inputs.scenario(&self.scenario, &set) {
            Ok(base) => base,
            Err(Error::Scenario(error)) => {
                let told = Told::new(self).with(&error, None);
                return Err(Error::Scenario(told.error()));
            }
            // The file itself, not one that it names.
            Err(Error::Input(message)) if self.scenario.is_dir() || File::open(&self.scenario).is_err() => {
                return Err(self.wrong("scenario", message, None));
            }
            Err(other) => return Err(other),
        };
        self.seeds = match &self.sweep.file.seeds {
            Seeds::Count(count) => runs::seeds(&base, *count).iter().map(|scenario| scenario.run.seed).collect(),
            Seeds::List(list) => list.clone(),
        };
        if self.metrics.is_empty() {
            self.metrics = usual_metrics(&base);
        }
        let (mut told, mut warned) = (Told::new(self), Told::new(self));
        let mut runs = Vec::new();
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for point in 0..self.points() {
            let change = Change { assignments: self.assignments(point), seed: None };
            let (mut scenario, warnings) = match inputs.scenario(&self.scenario, &change) {
                Ok(read) => read,
                Err(Error::Scenario(error)) => {
                    told = told.with(&error, Some(point));
                    if told.found.len() >= MOST_PROBLEMS {
                        break;
                    }
                    continue;
                }
                Err(other) => return Err(other),
            };
            warned =
                warned.with(&ScenarioError { sources: warnings.sources, problems: warnings.problems }, Some(point));
            let digest = scenario.digest();
            if let Some(same) = seen.get(&digest) {
                told.defeated(*same, point);
                continue;
            }
            seen.insert(digest.clone(), point);
            for seed in &self.seeds {
                scenario.run.seed = *seed;
                let name = name(&self.build, &scenario);
                runs.push(PlannedRun { name, point, seed: *seed, digest: digest.clone() });
            }
        }
        if !told.found.is_empty() {
            return Err(Error::Scenario(told.error()));
        }
        let ScenarioError { sources, problems } = warned.error();
        self.runs = runs;
        Ok(ScenarioWarnings { sources, problems })
    }
}

/// The keys by axis: those that go together in one, in the order of the file.
fn groups(sweep: &Sweep) -> Vec<Vec<usize>> {
    let keys = &sweep.file.sweep.0;
    let place = |name: &String| keys.iter().position(|key| key.key == *name);
    let mut groups: Vec<Vec<usize>> =
        sweep.file.zip.iter().map(|group| group.iter().filter_map(place).collect()).collect();
    let alone = (0..keys.len()).filter(|key| !groups.iter().any(|group| group.contains(key))).map(|key| vec![key]);
    let alone: Vec<Vec<usize>> = alone.collect();
    groups.extend(alone);
    groups.retain(|group| !group.is_empty());
    groups.sort_by_key(|group| group.iter().copied().min());
    groups
}

/// Names a run.
pub(crate) fn name(build: &str, scenario: &Scenario) -> String {
    let mut hasher = blake3::Hasher::new();
    // The resolved text has the seed.
    for part in [build, &scenario.to_toml()] {
        // The length keeps two neighbours apart.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let mut hex = hasher.finalize().to_hex().to_string();
    hex.truncate(32);
    hex
}

/// What is looked at where nobody says it: how long it takes.
fn usual_metrics(scenario: &Scenario) -> Vec<String> {
    let jobs = (0..scenario.job.len())
        .map(|job| if job == 0 { "job.finish_s".to_owned() } else { format!("jobs.{job}.finish_s") });
    let traffic = (0..scenario.traffic.len())
        .flat_map(|traffic| ["completion_mean_s", "goodput_bps"].map(|figure| format!("traffic.{traffic}.{figure}")));
    if scenario.job.is_empty() { traffic.take(4).collect() } else { jobs.take(4).collect() }
}

/// Problems of points, told by the places of the sweep's file.
struct Told<'a> {
    plan: &'a Plan,
    sources: Vec<Source>,
    found: Vec<Found>,
}

/// A problem, and the points that have it.
struct Found {
    problem: Problem,
    points: usize,
    /// The first of them.
    first: Option<usize>,
    /// How many would have it if it were that of one value alone.
    expected: usize,
}

impl<'a> Told<'a> {
    fn new(plan: &'a Plan) -> Self {
        Self { plan, sources: vec![plan.sweep.source.clone()], found: Vec::new() }
    }

    /// The place of a source of a scenario's error: the sweep's own, or that of another file.
    fn place(&mut self, error: &ScenarioError, span: &Span, point: Option<usize>) -> (Span, usize) {
        let plan = self.plan;
        let set = plan.sweep.file.set.len();
        let values = point.map(|point| plan.values(point)).unwrap_or_default();
        let of_assignments = error.sources.len() == 1 + set + values.len();
        match span.source.checked_sub(1).filter(|_| of_assignments) {
            Some(number) if number < set => {
                let path = format!("set.{number}");
                // An assignment of the command line has no place in the file.
                if plan.sweep.tree.get(&path).is_some() {
                    return (plan.sweep.tree.span_of(&path).clone(), plan.points());
                }
            }
            Some(number) => {
                if let Some((key, value)) = values.get(number - set) {
                    return (value.span.clone(), plan.points() / key.values.len().max(1));
                }
            }
            None => {}
        }
        let source = &error.sources[span.source];
        let place = self.sources.iter().position(|known| known == source).unwrap_or_else(|| {
            self.sources.push(source.clone());
            self.sources.len() - 1
        });
        (Span { source: place, range: span.range.clone() }, plan.points())
    }

    fn with(mut self, error: &ScenarioError, point: Option<usize>) -> Self {
        for problem in &error.problems {
            let (span, expected) = self.place(error, &problem.span, point);
            let problem = Problem { span, ..problem.clone() };
            match self.found.iter_mut().find(|found| found.problem == problem) {
                Some(found) => found.points += 1,
                None => self.found.push(Found { problem, points: 1, first: point, expected }),
            }
        }
        self
    }

    /// Two points make one scenario: what differs between them changes nothing.
    fn defeated(&mut self, one: usize, other: usize) {
        let pairs = self.plan.values(one).into_iter().zip(self.plan.values(other));
        let differ: Vec<_> = pairs.filter(|((_, a), (_, b))| a.toml != b.toml).collect();
        let Some(((key, _), _)) = differ.first() else { return };
        let names: Vec<String> = differ.iter().map(|((key, _), _)| format!("`{}`", key.key)).collect();
        let words = |of: &dyn Fn(usize) -> String| (0..differ.len()).map(of).collect::<Vec<_>>().join(", ");
        let (a, b) =
            (words(&|number| differ[number].0.1.text.clone()), words(&|number| differ[number].1.1.text.clone()));
        let what = if names.len() == 1 { "changes nothing" } else { "defeat each other" };
        let message = format!("{} {what}: {a} and {b} make the same scenario", names.join(" and "));
        let help = "another key, of the sweep, of `set` or of the scenario, takes its place".to_owned();
        let span = key.span.clone();
        if !self.found.iter().any(|found| found.problem.span == span) {
            let problem = Problem { span, message, help: Some(help) };
            self.found.push(Found { problem, points: 1, first: None, expected: 1 });
        }
    }

    /// All of it; a problem that only some points have says at which.
    fn error(self) -> ScenarioError {
        let plan = self.plan;
        let mut problems: Vec<Problem> = Vec::new();
        for found in self.found {
            let mut problem = found.problem;
            if let (Some(point), true) = (found.first, found.points < found.expected) {
                let at = format!("at {}", plan.words(point));
                problem.help = Some(problem.help.map_or(at.clone(), |help| format!("{help}; {at}")));
            }
            problems.push(problem);
        }
        problems.sort_by_key(|problem| (problem.span.source, problem.span.range.start));
        ScenarioError { sources: self.sources, problems }
    }
}
