//! What is advised beside the best of all sets of one and of two remedies.
//!
//! Every setting of every remedy that applies and takes no hardware, and all pairs of them, run on a seed; the best of
//! these on others, the best of those on yet others beside what is advised. No seed is one of the search's.

use crate::runs_of::{difference, mean, of_study, outcome, times, with};
use advise::{Advice, Asked, Limits, Objective, Remedies, RemedySet, Search, advise};
use runs::{Effort, Stop, cpu_time};
use scenario::Scenario;
use std::path::PathBuf;

const SCENARIOS: [&str; 5] = ["slow-links", "small-files", "incast", "racks", "lossy-links"];
/// First seed, seeds, and how many of the best go on to the next round.
const ROUNDS: [(u64, u64, usize); 3] = [(1_000, 1, 32), (2_000, 4, 4), (3_000, 16, 1)];

/// Prints the table.
pub fn print(only: Option<&str>) {
    println!(
        "| scenario | as it is | advised | takes | best of all | takes | regret | sets | runs of the search | CPU |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for name in SCENARIOS.into_iter().filter(|name| only.is_none_or(|only| only == *name)) {
        row(name);
    }
}

fn row(name: &str) {
    let base = of_study(name);
    let before = cpu_time();
    let advice = advised(&base);
    let searched = cpu_time();
    let sets = sets(&base);
    let (count, best) = (sets.len(), best_of(sets));
    let tried = cpu_time();
    let chosen = advice.best.as_ref();
    let own = chosen.map_or_else(|| base.clone(), |best| with(&base, &best.set));
    let (first, seeds, _) = ROUNDS[2];
    let mut scenarios = vec![base, own];
    scenarios.extend(best.iter().map(|set| set.scenario.clone()));
    let times = times(&scenarios, first, seeds);
    let best_place = (2..times.len()).min_by(|a, b| mean(&times[*a]).total_cmp(&mean(&times[*b]))).unwrap_or(0);
    let level = mean(&times[best_place]);
    let regret = difference(&times[1], &times[best_place]);
    println!(
        "| {name} | {:.3} s | {} | {:.3} s | {} | {level:.3} s | {:+.1} ± {:.1} % | {count} | {} at flow level, {} others | \
         {:.0} s; all sets {:.0} s |",
        mean(&times[0]),
        chosen.map_or_else(|| "nothing".to_owned(), |best| in_words(&best.ids, &best.set)),
        mean(&times[1]),
        best.get(best_place.wrapping_sub(2)).map_or_else(String::new, |best| in_words(&best.ids, &best.set)),
        100.0 * regret.mean / level,
        100.0 * regret.half_width.unwrap_or(0.0) / level,
        advice.flow_runs,
        advice.runs - advice.flow_runs,
        searched.saturating_sub(before).as_secs_f64(),
        tried.saturating_sub(searched).as_secs_f64(),
    );
}

fn in_words(ids: &[String], set: &[String]) -> String {
    let value = |assignment: &String| assignment.split('=').nth(1).unwrap_or_default().to_owned();
    format!("{} ({})", ids.join(" + "), set.iter().map(value).collect::<Vec<_>>().join(", "))
}

fn remedies() -> Remedies {
    Remedies::embedded().unwrap_or_else(|error| panic!("{error}"))
}

/// What the program advises, whatever time it takes.
fn advised(base: &Scenario) -> Advice {
    let asked = Asked { objective: Objective::Time, seeds: 5, budget: None, limits: Limits::default() };
    let target: PathBuf = std::env::temp_dir().join(format!("trunkline-study-{}-{}", base.name, std::process::id()));
    let effort = Effort { threads: None, stop: &Stop::new(), progress: &|_, _| {} };
    let advice = advise(base, remedies(), &asked, &target, &effort, &mut |_, _, _| {});
    let _ = std::fs::remove_dir_all(&target);
    advice.unwrap_or_else(|error| panic!("{error}"))
}

/// All that can be tried.
fn sets(base: &Scenario) -> Vec<RemedySet> {
    let mut search = Search::of_time(base, remedies());
    let run = outcome(base, &search.metrics());
    let hardware: Vec<String> =
        remedies().all.into_iter().filter(|remedy| remedy.yardstick).map(|remedy| remedy.id).collect();
    let mut sets = search.every_single(&run);
    sets.retain(|set| !hardware.contains(&set.ids[0]));
    sets.extend(search.every_pair());
    sets
}

/// The best of all, as far as they are told apart before the last round.
fn best_of(mut sets: Vec<RemedySet>) -> Vec<RemedySet> {
    for (first, seeds, most) in &ROUNDS[..2] {
        let scenarios: Vec<Scenario> = sets.iter().map(|set| set.scenario.clone()).collect();
        let times = times(&scenarios, *first, *seeds);
        let mut places: Vec<(f64, RemedySet)> = times.iter().map(|times| mean(times)).zip(sets).collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        sets = places.into_iter().map(|(_, set)| set).take(*most).collect();
    }
    sets
}
