//! How far predictions are off: each cell of runs left out in turn, repetitions against each other.

use crate::model::{Predicted, Profile, Question, Rates, size};
use crate::observation::Observation;
use serde::Serialize;

/// Sizes, and rates, within this factor of each other are the same.
const SAME: f64 = 1.02;

fn same(a: f64, b: f64) -> bool {
    (a / b).max(b / a) <= SAME
}

/// Whether two runs are repetitions: the same job, size, rate and cluster.
pub fn repeats(a: &Observation, b: &Observation) -> bool {
    a.job == b.job
        && same(size(a).max(1.0), size(b).max(1.0))
        && same(a.site.rate, b.site.rate)
        && a.site.workers == b.site.workers
        && a.volumes.reduces == b.volumes.reduces
}

/// How a prediction stands to the runs that it is made from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Reach {
    /// Size, rate and workers lie between those of the job's own runs.
    Interpolated,
    /// One of them lies beyond, by so large a factor.
    Extrapolated {
        /// The largest of the three factors.
        factor: f64,
    },
}

/// A run that was predicted from others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// The run.
    pub name: String,
    /// Its job.
    pub job: String,
    /// Seconds from launch to finish, as recorded and as predicted.
    pub recorded_s: f64,
    /// As predicted.
    pub predicted_s: f64,
    /// The least and the most that it was predicted to take, by where tasks come to lie.
    pub range_s: (f64, f64),
    /// As predicted by whoever knows where its tasks ran.
    pub placed_s: f64,
    /// How far from the runs that it was predicted from.
    pub reach: Reach,
}

impl Checked {
    /// The prediction's error as a part of the record.
    pub fn error(&self) -> f64 {
        self.predicted_s / self.recorded_s.max(1e-3) - 1.0
    }

    /// The error of whoever knows where tasks ran: what is left is the model's and the noise's.
    pub fn placed_error(&self) -> f64 {
        self.placed_s / self.recorded_s.max(1e-3) - 1.0
    }
}

/// How a question stands to the runs of its job. Beyond the fastest link that a job has run over, the network matters
/// less and less: there it counts by how much faster the job becomes.
pub fn reach(predicted: &Predicted, profile: &Profile<'_>, rates: &Rates) -> Reach {
    let run = &predicted.run;
    let beyond = |of: &dyn Fn(&Observation) -> f64| {
        let values = || profile.runs().iter().map(|run| of(run).max(1e-9));
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        let value = of(run).max(1e-9);
        (value / most, least / value)
    };
    let larger = |(above, below): (f64, f64)| above.max(below);
    let (faster, slower) = beyond(&|run| run.site.rate);
    let faster = if faster > SAME {
        let fastest = profile.runs().iter().map(|run| run.site.rate).fold(0.0, f64::max);
        let there = Question {
            size: Some(size(run)),
            rate: Some(fastest),
            workers: Some(run.site.workers),
            reduces: Some(run.volumes.reduces),
        };
        profile.predict(rates, &there).stages.total() / predicted.stages.total().max(1e-3)
    } else {
        1.0
    };
    let factor = larger(beyond(&size)).max(larger(beyond(&|run| run.site.workers))).max(slower).max(faster);
    if factor <= SAME { Reach::Interpolated } else { Reach::Extrapolated { factor } }
}

/// Predicts runs from others, with rates and volumes of those alone. Runs of jobs that the others do not have are
/// left out.
pub fn check(runs: &[&Observation], known: &[&Observation]) -> Vec<Checked> {
    if known.is_empty() {
        return Vec::new();
    }
    let rates = Rates::of(known);
    let one = |run: &&Observation| {
        let profile = Profile::of(&run.job, known)?;
        let question = Question {
            size: Some(size(run)),
            rate: Some(run.site.rate),
            workers: Some(run.site.workers),
            reduces: Some(run.volumes.reduces),
        };
        let predicted = profile.predict(&rates, &question);
        let placed = Observation { links: run.links, lead: run.lead, ..predicted.run.clone() };
        Some(Checked {
            name: run.name.clone(),
            job: run.job.clone(),
            recorded_s: run.stages.total(),
            predicted_s: predicted.stages.total(),
            range_s: (predicted.least, predicted.most),
            placed_s: profile.extra(&rates).beside(rates.stages(&placed)).total(),
            reach: reach(&predicted, &profile, &rates),
        })
    };
    runs.iter().filter_map(one).collect()
}

/// Leaves out each cell in turn, all repetitions of it, and predicts it from the rest.
pub fn leave_out(all: &[&Observation]) -> Vec<Checked> {
    let mut checked = Vec::new();
    for (place, run) in all.iter().enumerate() {
        if all[..place].iter().any(|other| repeats(run, other)) {
            continue;
        }
        let (cell, rest): (Vec<&Observation>, Vec<&Observation>) = all.iter().partition(|other| repeats(run, other));
        checked.extend(check(&cell, &rest));
    }
    checked
}

/// The noise of repetitions: their standard deviation as a part of their mean, pooled over all cells with several,
/// and how many runs stand behind it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Noise {
    /// The standard deviation as a part of the mean.
    pub part: f64,
    /// Degrees of freedom.
    pub degrees: usize,
}

/// Of runs; none without repetitions.
pub fn noise(all: &[&Observation]) -> Option<Noise> {
    let (mut squares, mut degrees) = (0.0, 0);
    for (place, run) in all.iter().enumerate() {
        if all[..place].iter().any(|other| repeats(run, other)) {
            continue;
        }
        let times: Vec<f64> = all.iter().filter(|other| repeats(run, other)).map(|run| run.stages.total()).collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        squares += times.iter().map(|time| (time / mean - 1.0) * (time / mean - 1.0)).sum::<f64>();
        degrees += times.len() - 1;
    }
    (degrees > 0).then(|| Noise { part: libm::sqrt(squares / degrees as f64), degrees })
}

/// Errors of predictions together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Errors {
    /// How many.
    pub count: usize,
    /// The mean of their sizes, as parts.
    pub mean: f64,
    /// The median of their sizes.
    pub median: f64,
    /// The largest.
    pub most: f64,
}

impl Errors {
    /// Of some predictions, by one of their errors; none of none.
    pub fn of<'a>(checked: impl Iterator<Item = &'a Checked>, error: fn(&Checked) -> f64) -> Option<Self> {
        let mut sizes: Vec<f64> = checked.map(|one| libm::fabs(error(one))).collect();
        sizes.sort_by(f64::total_cmp);
        let count = sizes.len();
        let most = *sizes.last()?;
        let median = f64::midpoint(sizes[(count - 1) / 2], sizes[count / 2]);
        Some(Self { count, mean: sizes.iter().sum::<f64>() / count as f64, median, most })
    }
}
