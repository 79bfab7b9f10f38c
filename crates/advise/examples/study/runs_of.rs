//! Runs of scenarios over seeds.

use advise::Outcome;
use results::Estimate;
use runs::{Effort, Stop, run_all};
use scenario::Scenario;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A scenario of this study.
pub fn of_study(name: &str) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("study").join(format!("{name}.toml"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    sim::parse(name, &text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// A scenario with assignments.
pub fn with(base: &Scenario, assignments: &[String]) -> Scenario {
    sim::parse(&base.name, &base.to_toml(), assignments).unwrap_or_else(|error| panic!("{error}"))
}

/// A scenario at flow level, with all else as it is.
pub fn at_flow_level(base: &Scenario) -> Scenario {
    with(base, &["run.fidelity=flow".to_owned()])
}

/// The outcome of one run, with these figures.
pub fn outcome(scenario: &Scenario, metrics: &BTreeSet<String>) -> Outcome {
    let mut all = outcomes(std::slice::from_ref(scenario), metrics);
    all.remove(0)
}

fn outcomes(scenarios: &[Scenario], metrics: &BTreeSet<String>) -> Vec<Outcome> {
    let effort = Effort { threads: None, stop: &Stop::new(), progress: &|_, _| {} };
    run_all(scenarios, &effort, |result| Ok(Outcome::of(&result, metrics))).unwrap_or_else(|error| panic!("{error}"))
}

/// The objective's time of each scenario on each seed; a run in which a job fails takes for ever.
pub fn times(scenarios: &[Scenario], first: u64, seeds: u64) -> Vec<Vec<f64>> {
    let of = |scenario: &Scenario, seed| {
        let mut scenario = scenario.clone();
        scenario.run.seed = first + seed;
        scenario
    };
    let all: Vec<Scenario> =
        scenarios.iter().flat_map(|scenario| (0..seeds).map(move |seed| of(scenario, seed))).collect();
    let times: Vec<f64> =
        outcomes(&all, &BTreeSet::new()).iter().map(|run| run.time_s.unwrap_or(f64::INFINITY)).collect();
    times.chunks(seeds as usize).map(<[f64]>::to_vec).collect()
}

/// The mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean difference of two, seed by seed.
pub fn difference(a: &[f64], b: &[f64]) -> Estimate {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    Estimate::of(&differences).unwrap_or_else(|| panic!("there are seeds"))
}
