//! `trunkline fit`.

use crate::emit;
use crate::failure::Failure;
use crate::fit_args::Fit;
use crate::fit_load::{Seen, load};
use crate::fit_text;
use crate::interrupt::STOP;
use crate::screen::Screen;
use ::fit::{
    Checked, Errors, Matrix, Noise, Observation, Predicted, Profile, Question, Rates, Reach, STAGES, TERMS, check,
    gains, leave_out, noise, row, size,
};
use runs::{Change, Inputs};
use scenario::Scenario;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;
use units::{BitRate, Bytes};

/// Proposals that are shown.
const PROPOSED: usize = 5;

/// All that a fit says.
#[derive(Debug, Serialize)]
pub struct Report {
    pub schema: &'static str,
    pub runs: usize,
    pub left_out: Vec<(String, String)>,
    pub jobs: Vec<Job>,
    pub rates: Vec<Fitted>,
    pub noise: Option<Noise>,
    pub errors: [ErrorsOf; 3],
    pub checked: Vec<Checked>,
    pub predictions: Vec<Prediction>,
    pub grid: Grid,
    pub proposals: Vec<Proposal>,
    pub against: Vec<Checked>,
    pub against_left_out: Vec<(String, String)>,
}

/// A job of the histories.
#[derive(Debug, Serialize)]
pub struct Job {
    pub name: String,
    pub runs: usize,
    pub sizes_bytes: (f64, f64),
    pub rates_bps: (f64, f64),
    /// CPU seconds of its maps for each GB; none where they are not counted, or nothing is read.
    pub cpu_s_per_gb: Option<f64>,
}

/// Errors of predictions of one kind, each run predicted without its own and its repetitions'.
#[derive(Debug, Serialize)]
pub struct ErrorsOf {
    pub of: &'static str,
    /// Of who knows what is known before a job runs.
    pub before: Option<Errors>,
    /// Of who knows where its tasks ran.
    pub placed: Option<Errors>,
}

/// A fitted rate.
#[derive(Debug, Serialize)]
pub struct Fitted {
    pub stage: ::fit::Stage,
    pub term: &'static str,
    pub rate: f64,
    pub unit: &'static str,
    pub what: &'static str,
    /// What physics says that it is, where it says so.
    pub expected: Option<f64>,
    /// Its part of the seconds of all runs.
    pub share: f64,
}

/// A job that was asked for.
#[derive(Debug, Serialize)]
pub struct Prediction {
    pub job: String,
    pub size_bytes: f64,
    pub rate_bps: f64,
    pub workers: f64,
    pub reduces: f64,
    pub maps_s: f64,
    pub shuffle_s: f64,
    pub rest_s: f64,
    pub total_s: f64,
    /// The least and the most, by where tasks come to lie.
    pub range_s: (f64, f64),
    pub reach: Reach,
    /// What predictions of that reach were off by.
    pub usual_error: Option<f64>,
}

/// Among which runs the next is proposed.
#[derive(Debug, Default, Serialize)]
pub struct Grid {
    /// The same for all jobs; empty where each has its own, and twice and four times its largest.
    pub sizes_bytes: Vec<f64>,
    pub rates_bps: Vec<f64>,
    pub workers: Vec<f64>,
}

/// A run that would teach much.
#[derive(Debug, Serialize)]
pub struct Proposal {
    pub job: String,
    pub size_bytes: f64,
    pub rate_bps: f64,
    pub workers: f64,
    pub predicted_s: f64,
    /// By how much it enlarges the logarithm of the determinant.
    pub gain: f64,
}

/// Fits rates to histories, checks them, predicts, proposes.
pub fn fit(words: &Fit) -> Result<(), Failure> {
    let mut seen = Seen::default();
    let loaded = load(&words.histories, words.cluster.as_deref(), None, &mut seen)?;
    let all: Vec<&Observation> = loaded.runs.iter().collect();
    let rates = Rates::of(&all);
    let names = jobs(&all);
    if let Some(job) = words.job.as_ref().filter(|job| !names.contains(job)) {
        let near = units::nearest(job, names.iter().map(String::as_str));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        return Err(Failure::Input(format!("no history is of a job `{job}`; {near}there are: {}", names.join(", "))));
    }
    let chosen: Vec<&String> = names.iter().filter(|name| words.job.as_ref().is_none_or(|job| job == *name)).collect();
    STOP.look()?;
    let checked = leave_out(&all);
    let of = |of: &'static str, from: f64, to: f64| {
        let those = || checked.iter().filter(|one| (from..to).contains(&beyond(one.reach)));
        ErrorsOf { of, before: Errors::of(those(), Checked::error), placed: Errors::of(those(), Checked::placed_error) }
    };
    let errors = [
        of("within the runs", 0.0, 1.001),
        of("up to 4 times beyond", 1.001, FAR),
        of("further beyond", FAR, f64::MAX),
    ];
    let mut predictions = Vec::new();
    for asked in &words.predict {
        let question = question(asked, &loaded.cluster)?;
        for job in &chosen {
            let Some(profile) = Profile::of(job, &all) else { continue };
            let predicted = profile.predict(&rates, &question);
            let reach = ::fit::reach(&predicted, &profile, &rates);
            let usual = match beyond(reach) {
                factor if factor < 1.001 => errors[0].before,
                factor if factor < FAR => errors[1].before,
                _ => errors[2].before,
            };
            predictions.push(prediction(&predicted, reach, usual.map(|errors| errors.median)));
        }
    }
    let grid = grid(words, &all, &loaded.cluster);
    let (mut against, mut against_left_out) = (Vec::new(), Vec::new());
    if !words.against.is_empty() {
        let mut unseen = load(&words.against, words.cluster.as_deref(), all.first().map(|run| &run.site), &mut seen)?;
        named_alike(&mut unseen.runs, &names);
        let (known, unknown): (Vec<&Observation>, Vec<&Observation>) =
            unseen.runs.iter().partition(|run| names.contains(&run.job));
        against_left_out.clone_from(&unseen.left_out);
        let of_no_job =
            |run: &Observation| (run.name.clone(), format!("no history of the fit is of its job, {}", run.job));
        against_left_out.extend(unknown.into_iter().map(of_no_job));
        against = check(&known, &all);
    }
    let report = Report {
        schema: "trunkline-fit/1",
        runs: all.len(),
        left_out: loaded.left_out,
        jobs: names.iter().map(|name| job(name, &all)).collect(),
        rates: shares(&rates, &all),
        noise: noise(&all),
        errors,
        checked,
        predictions,
        proposals: proposals(&chosen, &all, &rates, &grid),
        grid,
        against,
        against_left_out,
    };
    if words.json {
        let text = serde_json::to_string_pretty(&report).map_err(|error| Failure::Internal(error.to_string()))?;
        return emit(&format!("{text}\n"));
    }
    emit(&fit_text::of(&report, &Screen::of_output()))
}

/// Further than this beyond the runs a prediction is a guess.
const FAR: f64 = 4.1;

/// How many times beyond the runs a prediction is.
pub fn beyond(reach: Reach) -> f64 {
    match reach {
        Reach::Interpolated => 1.0,
        Reach::Extrapolated { factor } => factor,
    }
}

/// The jobs' names, each once.
fn jobs(all: &[&Observation]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for run in all {
        if !names.contains(&run.job) {
            names.push(run.job.clone());
        }
    }
    names.sort();
    names
}

/// Names may be shorter in the one set of histories than in the other.
fn named_alike(runs: &mut [Observation], names: &[String]) {
    for run in runs.iter_mut().filter(|run| !names.contains(&run.job)) {
        let first = run.job.split(": ").next().unwrap_or_default().to_owned();
        let same = |name: &&String| **name == first || name.starts_with(&format!("{}: ", run.job));
        if let Some(name) = names.iter().find(same) {
            run.job.clone_from(name);
        }
    }
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(least, most), value| (least.min(value), most.max(value)))
}

fn job(name: &str, all: &[&Observation]) -> Job {
    let runs = || all.iter().filter(|run| run.job == name);
    let bytes: f64 = runs().map(|run| size(run)).sum();
    let cpu: f64 = runs().map(|run| run.volumes.map_cpu).sum();
    Job {
        name: name.to_owned(),
        runs: runs().count(),
        sizes_bytes: ends(runs().map(|run| size(run))),
        rates_bps: ends(runs().map(|run| run.site.rate * 8.0)),
        cpu_s_per_gb: (cpu > 0.0 && bytes > 0.0).then(|| cpu / (bytes / 1e9)),
    }
}

fn shares(rates: &Rates, all: &[&Observation]) -> Vec<Fitted> {
    let whole: f64 = all.iter().map(|run| run.stages.total()).sum();
    let of = |(column, (term, rate)): (usize, (&::fit::Term, &f64))| {
        let seconds: f64 = all.iter().map(|run| row(run, term.stage)[column] * rate).sum();
        Fitted {
            stage: term.stage,
            term: term.name,
            rate: *rate,
            unit: term.unit,
            what: term.what,
            expected: term.expected,
            share: seconds / whole.max(1e-9),
        }
    };
    TERMS.iter().zip(rates.values()).enumerate().map(of).collect()
}

fn prediction(predicted: &Predicted, reach: Reach, usual_error: Option<f64>) -> Prediction {
    let Predicted { run, stages, least, most } = predicted;
    Prediction {
        job: run.job.clone(),
        size_bytes: size(run),
        rate_bps: run.site.rate * 8.0,
        workers: run.site.workers,
        reduces: run.volumes.reduces,
        maps_s: stages.maps,
        shuffle_s: stages.shuffle,
        rest_s: stages.rest,
        total_s: stages.total(),
        range_s: (*least, *most),
        reach,
        usual_error,
    }
}

/// Bytes of payload per second that a link of that rate carries on this cluster.
fn payload(rate: BitRate, cluster: &Scenario) -> f64 {
    let mut cluster = cluster.clone();
    cluster.network.shape.clear();
    cluster.network.rate = rate;
    sim::reach(&cluster).node
}

/// `size=4GB,rate=100Mbit/s`, or a scenario.
fn question(asked: &str, cluster: &Scenario) -> Result<Question, Failure> {
    let wrong = |message: String| Failure::Input(format!("--predict {asked}: {message}"));
    if !asked.contains('=') {
        let (scenario, _) = Inputs::new(&STOP).scenario(Path::new(asked), &Change::default())?;
        let [job] = scenario.job.as_slice() else { return Err(wrong("it has not one job".to_owned())) };
        return Ok(Question {
            size: Some(job.input.get() as f64),
            rate: Some(sim::reach(&scenario).node),
            workers: Some(f64::from(scenario.cluster.workers)),
            reduces: Some(f64::from(job.reducers.unwrap_or(scenario.mapreduce.reducers))),
        });
    }
    let mut question = Question::default();
    let mut seen = BTreeSet::new();
    for part in asked.split(',') {
        let (key, value) = part.split_once('=').ok_or_else(|| wrong(format!("`{part}` has no `=`")))?;
        let (key, value) = (key.trim(), value.trim());
        if !seen.insert(key) {
            return Err(wrong(format!("`{key}` is there twice")));
        }
        let count = || {
            let count = value.parse::<u32>().ok().filter(|count| *count > 0).map(f64::from);
            count.ok_or_else(|| wrong(format!("`{value}` is not a number of {key}: a whole number from 1 on")))
        };
        match key {
            "size" => {
                let size: Bytes = value.parse().map_err(|error: units::ParseError| wrong(error.to_string()))?;
                if size == Bytes::ZERO {
                    return Err(wrong("a size of nothing".to_owned()));
                }
                question.size = Some(size.get() as f64);
            }
            "rate" => {
                let rate: BitRate = value.parse().map_err(|error: units::ParseError| wrong(error.to_string()))?;
                if rate.as_bps() == 0 {
                    return Err(wrong("a rate of nothing".to_owned()));
                }
                question.rate = Some(payload(rate, cluster));
            }
            "workers" => question.workers = Some(count()?),
            "reducers" => question.reduces = Some(count()?),
            _ => {
                let near = units::nearest(key, ["size", "rate", "workers", "reducers"]);
                let near = near.map_or_else(
                    || "there are size, rate, workers, reducers".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                return Err(wrong(format!("`{key}` cannot be asked; {near}")));
            }
        }
    }
    Ok(question)
}

/// Different values, in order; those within a fiftieth are one.
fn different(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<f64> = values.filter(|value| *value > 0.0).collect();
    all.sort_by(f64::total_cmp);
    let mut kept: Vec<f64> = Vec::new();
    for value in all {
        if kept.last().is_none_or(|last| value > last * 1.02) {
            kept.push(value);
        }
    }
    kept
}

fn grid(words: &Fit, all: &[&Observation], cluster: &Scenario) -> Grid {
    let sizes = different(words.sizes.iter().map(|size| size.get() as f64));
    let rates = if words.rates.is_empty() {
        let mut rates = different(all.iter().map(|run| run.site.rate * 8.0));
        let least = rates.first().copied().unwrap_or(0.0);
        rates.insert(0, least / 4.0);
        rates
    } else {
        different(words.rates.iter().map(|rate| payload(*rate, cluster) * 8.0))
    };
    let workers = if words.workers.is_empty() {
        different(all.iter().map(|run| run.site.workers))
    } else {
        different(words.workers.iter().map(|workers| f64::from(*workers)))
    };
    Grid { sizes_bytes: sizes, rates_bps: rates, workers }
}

/// The runs of the grid that would teach most.
fn proposals(jobs: &[&String], all: &[&Observation], rates: &Rates, grid: &Grid) -> Vec<Proposal> {
    let scaled = |run: &Observation, stage| -> Vec<f64> {
        let whole = run.stages.total().max(1e-3);
        row(run, stage).into_iter().map(|value| value / whole).collect()
    };
    let mut candidates: Vec<Predicted> = Vec::new();
    for job in jobs {
        let Some(profile) = Profile::of(job, all) else { continue };
        let mut sizes = grid.sizes_bytes.clone();
        if sizes.is_empty() {
            sizes = different(profile.runs().iter().map(|run| size(run)));
            let most = sizes.last().copied().unwrap_or(0.0);
            sizes.extend([2.0 * most, 4.0 * most]);
            // A job without input and output is as large at any size.
            sizes = different(sizes.into_iter());
        }
        for size in &sizes {
            for rate in &grid.rates_bps {
                for workers in &grid.workers {
                    let question =
                        Question { size: Some(*size), rate: Some(rate / 8.0), workers: Some(*workers), reduces: None };
                    candidates.push(profile.predict(rates, &question));
                }
            }
        }
    }
    // Stages share no term: the logarithm of the determinant is the sum of theirs.
    let mut gained = vec![0.0; candidates.len()];
    for stage in STAGES {
        let mut known = Matrix::new(TERMS.len());
        for run in all {
            known.push(scaled(run, stage));
        }
        let rows: Vec<Vec<f64>> = candidates.iter().map(|one| scaled(&one.run, stage)).collect();
        gained.iter_mut().zip(gains(&known, &rows)).for_each(|(sum, gain)| *sum += gain);
    }
    let mut proposals: Vec<Proposal> = candidates
        .iter()
        .zip(gained)
        .map(|(one, gain)| Proposal {
            job: one.run.job.clone(),
            size_bytes: size(&one.run),
            rate_bps: one.run.site.rate * 8.0,
            workers: one.run.site.workers,
            predicted_s: one.stages.total(),
            gain,
        })
        .collect();
    proposals.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    if jobs.len() > 1 {
        // The best of each job: its other runs would teach much the same.
        let mut seen: Vec<String> = Vec::new();
        proposals.retain(|one| {
            let new = !seen.contains(&one.job);
            seen.push(one.job.clone());
            new
        });
    }
    proposals.truncate(PROPOSED);
    proposals
}
