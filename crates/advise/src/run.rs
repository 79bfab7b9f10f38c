//! The runs of a search: on all cores, within a time, and kept.

use crate::advice::{Advice, SCHEMA};
use crate::file::Remedies;
use crate::objective::Objective;
use crate::outcome::Outcome;
use crate::search::{Ask, Search};
use crate::setting::Limits;
use runs::{
    Clock, Comparison, Effort, Error, Figures, Holds, Journal, RunsPage, Stop, Summary, TradeOff, build_id, run_all,
};
use scenario::Scenario;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What is to become less.
    pub objective: Objective,
    /// Seeds of what is confirmed.
    pub seeds: u32,
    /// The time after which runs are given up that are not over, and none begins, but those of the scenario as it is;
    /// `None` for as long as it takes.
    pub budget: Option<Duration>,
    /// Keys that must stay.
    pub limits: Limits,
}

/// What the folder of an advice holds.
const FOLDER: Holds = Holds { file: "advice.json", schema: SCHEMA, what: "an advice's folder" };
/// Runs that are begun together on each thread: between such lots the clock is looked at.
const LOT: usize = 2;

/// A finished run.
#[derive(Serialize, Deserialize)]
struct Record {
    /// The build that made it: another may give other numbers.
    build: String,
    /// The figures that were looked for.
    metrics: Vec<String>,
    outcome: Outcome,
}

/// Searches among remedies for a scenario, and leaves `advice.json` and a page in `target`. Runs that an earlier call of
/// this build has finished there are not made again. `tell` hears what the next runs are for, how many have been made,
/// and how many are known to be needed.
pub fn advise(
    scenario: &Scenario,
    remedies: Remedies,
    asked: &Asked,
    target: &Path,
    effort: &Effort<'_>,
    tell: &mut dyn FnMut(&str, usize, usize),
) -> Result<Advice, Error> {
    let clock = Clock::start();
    let build = build_id();
    let journal = Journal::open(target, FOLDER, &scenario.name)?;
    let limits = asked.limits.clone();
    let mut search = Search::new(scenario.clone(), remedies, asked.objective, asked.seeds, limits);
    if asked.objective == Objective::Cost && search.lacks_prices() {
        return Err(Error::Input(
            "the objective needs prices, and the scenario says none: set node.price (of an hour of each node), \
             cost.energy, or cost.store-writes and cost.store-reads"
                .to_owned(),
        ));
    }
    let metrics = search.metrics();
    let known: Vec<String> = metrics.iter().cloned().collect();
    let lot = LOT * effort.threads.map_or_else(cores, |threads| threads as usize).max(1);
    let mut made = 0;
    let is_over = || asked.budget.is_some_and(|budget| clock.elapsed() > budget);
    let made_before = |name: &str| {
        let record = serde_json::from_str::<Record>(&journal.record(name)?).ok()?;
        (record.build == build && record.metrics == known).then_some(record.outcome)
    };
    loop {
        let asks = search.asks();
        // What it is compared with is made in any case.
        let lacks_energy = asked.objective.needs_energy() && search.lacks_energy();
        if asks.is_empty() || lacks_energy || (is_over() && made > asked.seeds as usize) {
            break;
        }
        let mut missing: Vec<(Ask, Scenario, String)> = Vec::new();
        let needed = made + asks.len();
        for ask in &asks {
            if missing.len() == lot {
                break;
            }
            let scenario = search.scenario(*ask).map_err(Error::Internal)?;
            let name = format!("{}-{}.json", scenario.digest(), scenario.run.seed);
            match made_before(&name) {
                Some(outcome) => {
                    made += 1;
                    search.take(*ask, outcome);
                }
                None => missing.push((*ask, scenario, name)),
            }
        }
        tell(search.words(), made, needed);
        let scenarios: Vec<Scenario> = missing.iter().map(|(_, scenario, _)| scenario.clone()).collect();
        // What it is compared with is made to its end; of the others the time may run out on one.
        let may_be_cut = made > asked.seeds as usize;
        let cut = Stop::new();
        let progress = |run: usize, progress: &sim::Progress| {
            (effort.progress)(run, progress);
            if effort.stop.requested() || (may_be_cut && is_over()) {
                cut.request();
            }
        };
        let cut_short = Effort { stop: &cut, progress: &progress, ..*effort };
        let outcomes = run_all(&scenarios, &cut_short, |result| {
            let outcome = Outcome::of(&result, &metrics);
            let name = format!("{}-{}.json", result.scenario_digest, result.seed);
            let record = Record { build: build.to_owned(), metrics: known.clone(), outcome };
            let text = serde_json::to_string(&record).map_err(|error| Error::Internal(error.to_string()))?;
            journal.keep(&name, &text)?;
            // Parsed back, so that a call that reuses it has the same numbers.
            let back = serde_json::from_str::<Record>(&text).map_err(|error| Error::Internal(error.to_string()))?;
            Ok(back.outcome)
        });
        let outcomes: Vec<Option<Outcome>> = match outcomes {
            Ok(outcomes) => outcomes.into_iter().map(Some).collect(),
            Err(Error::Interrupted) if !effort.stop.requested() => {
                missing.iter().map(|(_, _, name)| made_before(name)).collect()
            }
            Err(error) => return Err(kept(error, target)),
        };
        for ((ask, _, _), outcome) in missing.into_iter().zip(outcomes) {
            if let Some(outcome) = outcome {
                made += 1;
                search.take(ask, outcome);
            }
        }
    }
    if asked.objective.needs_energy() && search.lacks_energy() {
        return Err(Error::Input(
            "the objective needs energy, and the scenario does not say what its nodes draw: set node.idle-power and \
             node.core-power, or a preset that has them"
                .to_owned(),
        ));
    }
    if search.lacks_time() {
        return Err(Error::Input(
            "nothing in the scenario ends: a job, or traffic that completes, is what remedies are judged by".to_owned(),
        ));
    }
    let advice = search.advice(made);
    effort.stop.look().map_err(|error| kept(error, target))?;
    journal.file("report.html", page(&search, &advice).render().as_bytes())?;
    journal.file("advice.json", advice.to_json().as_bytes())?;
    Ok(advice)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn kept(error: Error, target: &Path) -> Error {
    match error {
        Error::Interrupted => {
            let note = format!("finished runs are kept in {}; the same command goes on from there", target.display());
            Error::Kept(note)
        }
        other => other,
    }
}

/// The scenario as it is beside it with each remedy that is confirmed, and with the best set.
fn page(search: &Search, advice: &Advice) -> RunsPage {
    let shown = search.shown();
    let known = shown.iter().filter_map(|(name, candidate)| time_and_energy(search, name, *candidate));
    let known: Vec<_> = known.collect();
    let trade_off = if known.len() > 1 { TradeOff::of(&known) } else { Vec::new() };
    let runs: Vec<(String, String, Vec<Figures>)> = shown
        .into_iter()
        .map(|(name, candidate)| {
            // Up to the first seed that is missing: the page pairs them by their places.
            let outcomes = search.outcomes(candidate, 0).into_iter().map_while(|run| run);
            (name, search.digest(candidate), outcomes.filter_map(|run| run.figures.clone()).collect())
        })
        .collect();
    let summaries: Vec<Summary<'_>> = runs.iter().map(|(name, digest, runs)| Summary { name, digest, runs }).collect();
    let changes = advice.best.iter().flat_map(|best| &best.set);
    let words = changes.map(|assignment| format!("best set: {}", runs::change_words(assignment))).collect();
    let page = RunsPage::side_by_side(&Comparison { summaries: &summaries }, words);
    page.titled(format!("{}: as it is, and what would help", advice.scenario)).with_trade_off(trade_off)
}

/// Mean time and energy of what is shown; none where a run lacks one of them.
fn time_and_energy(search: &Search, name: &str, candidate: usize) -> Option<(String, f64, f64)> {
    let runs: Vec<&Outcome> = search.outcomes(candidate, 0).into_iter().flatten().collect();
    let mean = |of: fn(&Outcome) -> Option<f64>| {
        let values: Option<Vec<f64>> = runs.iter().map(|run| of(run)).collect();
        values.filter(|values| !values.is_empty()).map(|values| values.iter().sum::<f64>() / values.len() as f64)
    };
    Some((name.to_owned(), mean(|run| run.time_s)?, mean(|run| run.energy_j)?))
}
