//! What a search has found: each remedy with what it saves and how sure that is, and the best set.

use crate::candidate::Candidate;
use crate::objective::Objective;
use crate::outcome::Outcome;
use crate::search::{BASELINE, Level, NEGLIGIBLE, Search};
use crate::setting::line;
use results::Estimate;
use runs::estimate_of_all;
use scenario::Scenario;
use serde::Serialize;
use std::cmp::Ordering;

/// The version of the JSON of an advice; its number goes up when a key changes its meaning or goes away.
pub const SCHEMA: &str = "trunkline-advice/1";

/// A mean over seeds and half the width of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// Half the width of its interval; none for a single value, and where not all seeds ended: that of the others would
    /// say nothing of all.
    pub half_width: Option<f64>,
}

impl From<Estimate> for Spread {
    fn from(estimate: Estimate) -> Self {
        Self { mean: estimate.mean, half_width: estimate.half_width }
    }
}

impl Spread {
    fn of(values: &[f64]) -> Option<Self> {
        Estimate::of(values).map(Self::from)
    }
}

/// What is known of a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It saves at least a hundredth, and the interval over seeds leaves zero out; or it is shown that fewer runs fail.
    Helps,
    /// It costs at least a hundredth, likewise; or it is shown that more runs fail.
    Hurts,
    /// Neither is shown.
    NotShown,
    /// What screened it found no gain; it was not looked at further.
    NoGain,
    /// The time was up before it was tried, or confirmed.
    Untried,
    /// It does not apply.
    Unfit,
}

impl Verdict {
    /// Whether it is shown to help.
    pub fn helps(self) -> bool {
        self == Self::Helps
    }
}

/// What screened a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScreenedBy {
    /// The estimate: it was not run.
    Estimate,
    /// Runs at flow level.
    Flow,
    /// A run at the scenario's own level.
    Run,
}

/// A job that is slower with a set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hurt {
    /// Where it hurts, in words: a job's name, another day.
    pub at: String,
    /// How much more the objective is there, in its unit; none where runs fail.
    pub more: Option<Spread>,
}

/// A remedy on its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RemedyAdvice {
    /// Its name.
    pub id: String,
    /// What it is.
    pub name: String,
    /// What is known of it.
    pub verdict: Verdict,
    /// The value of x, of its settings the best; empty for a remedy without.
    pub x: String,
    /// What it sets in the scenario.
    pub set: Vec<String>,
    /// What it saves, in the objective's unit, over the seeds on which all jobs end with it and without; without an
    /// interval where it was only screened, or where more jobs end with it or without.
    pub saving: Option<Spread>,
    /// The same as a part of what it is without.
    pub part: Option<f64>,
    /// What chose its setting, and whether to confirm it.
    pub screened_by: Option<ScreenedBy>,
    /// Mean time with it.
    pub time_s: Option<f64>,
    /// Mean energy with it.
    pub energy_j: Option<f64>,
    /// Mean cost with it, where the scenario says prices.
    pub cost: Option<f64>,
    /// How many flows of traffic are complete with it, in the mean; none with jobs.
    pub completed: Option<f64>,
    /// Seeds that both it and the scenario as it is ran with; none where it was only screened.
    pub seeds: usize,
    /// Those of them on which all jobs end with it.
    pub ended: usize,
    /// Those of them on which all jobs end without it.
    pub base_ended: usize,
    /// Whether it takes hardware.
    pub yardstick: bool,
    /// Jobs that are slower.
    pub hurts: Vec<Hurt>,
    /// Why it does not apply, or how many runs fail.
    pub reason: String,
    /// What it costs or risks.
    pub costs: String,
    /// What to type.
    pub apply: Vec<String>,
    /// Who says so.
    pub source: String,
}

/// A set of remedies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetAdvice {
    /// The remedies' names.
    pub ids: Vec<String>,
    /// All that it sets in the scenario.
    pub set: Vec<String>,
    /// What it saves, as for a remedy; none where on no seed all jobs end both with it and without.
    pub saving: Option<Spread>,
    /// The same as a part.
    pub part: Option<f64>,
    /// Mean time with it.
    pub time_s: Option<f64>,
    /// Mean energy with it.
    pub energy_j: Option<f64>,
    /// Mean cost with it, where the scenario says prices.
    pub cost: Option<f64>,
    /// How many flows of traffic are complete with it, in the mean; none with jobs.
    pub completed: Option<f64>,
    /// Seeds that both it and the scenario as it is ran with.
    pub seeds: usize,
    /// Those of them on which all jobs end with it.
    pub ended: usize,
    /// Those of them on which all jobs end without it.
    pub base_ended: usize,
    /// Where it hurts.
    pub hurts: Vec<Hurt>,
    /// Other days on which it was tried, in words.
    pub tried: Vec<String>,
    /// What it saves at other rates of the network.
    pub rates: Vec<RateRow>,
}

/// A saving at another rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RateRow {
    /// The factor on all rates.
    pub factor: f64,
    /// The objective as it is; none where runs fail.
    pub base: Option<f64>,
    /// The objective with the set.
    pub with: Option<f64>,
    /// What the set saves.
    pub saving: Option<Spread>,
}

/// How many runs come to an end.
#[derive(Clone, Copy, Default)]
struct Ends {
    /// Seeds that both ran with.
    seeds: usize,
    /// Those of them on which all jobs end in the scenario as it is.
    base: usize,
    /// Those of them on which all jobs end with the set.
    with: usize,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The scenario's name.
    pub scenario: String,
    /// The scenario's digest.
    pub scenario_digest: String,
    /// The objective, as it is asked for.
    pub objective: String,
    /// Its unit.
    pub unit: String,
    /// Seeds that the scenario ran with as it is.
    pub seeds: usize,
    /// Those of them on which all jobs end: on these `base` stands.
    pub ended: usize,
    /// Runs that the advice stands on.
    pub runs: usize,
    /// Those of them at flow level, where the scenario's own level is another.
    pub flow_runs: usize,
    /// Whether the search came to its end; else time was up.
    pub complete: bool,
    /// What the scenario keeps remedies from showing.
    pub notes: Vec<&'static str>,
    /// The objective as it is; without an interval where not all seeds end.
    pub base: Option<Spread>,
    /// Mean time as it is.
    pub base_time_s: Option<f64>,
    /// Mean energy as it is.
    pub base_energy_j: Option<f64>,
    /// Mean cost as it is, where the scenario says prices.
    pub base_cost: Option<f64>,
    /// How many flows of traffic are complete as it is, in the mean; none with jobs.
    pub base_completed: Option<f64>,
    /// The part by which flow level's time is off as it is; none where it was not asked, or a job fails.
    pub flow_off: Option<f64>,
    /// Whether flow level is close enough to screen remedies.
    pub flow_believed: bool,
    /// Why a job fails as it is, if one does.
    pub base_failure: Option<String>,
    /// The remedies: those that help first, by what they save.
    pub remedies: Vec<RemedyAdvice>,
    /// The best set of those that take no hardware; none where nothing is shown to help.
    pub best: Option<SetAdvice>,
}

impl Advice {
    /// As `advice.json`.
    pub fn to_json(&self) -> String {
        // Serialisation cannot fail: all map keys are texts, and infinities become null.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

impl Search {
    /// What is known so far.
    pub fn advice(&self, runs: usize) -> Advice {
        let base: Vec<&Outcome> = self.outcomes(BASELINE, 0).into_iter().flatten().collect();
        let estimate = estimate_of_all(base.iter().map(|run| self.objective.value(run)));
        let mut remedies: Vec<RemedyAdvice> = (0..self.remedies.len()).map(|remedy| self.of_remedy(remedy)).collect();
        let order = |verdict: Verdict| match verdict {
            Verdict::Helps => 0,
            Verdict::NotShown => 1,
            Verdict::Hurts => 2,
            Verdict::NoGain => 3,
            Verdict::Untried => 4,
            Verdict::Unfit => 5,
        };
        // A job that does not fail any more is worth more than any time.
        let rescued =
            |remedy: &RemedyAdvice| (remedy.ended as f64 - remedy.base_ended as f64) / (remedy.seeds.max(1) as f64);
        let worth = |remedy: &RemedyAdvice| remedy.part.unwrap_or(f64::INFINITY);
        remedies.sort_by(|a, b| {
            let verdicts = order(a.verdict).cmp(&order(b.verdict));
            verdicts.then(rescued(b).total_cmp(&rescued(a))).then(worth(b).total_cmp(&worth(a)))
        });
        Advice {
            schema: SCHEMA,
            scenario: self.base.name.clone(),
            scenario_digest: self.base.digest(),
            objective: self.objective.to_string(),
            unit: self.objective.unit(&self.base),
            seeds: base.len(),
            ended: estimate.map_or(0, |estimate| estimate.count),
            runs,
            flow_runs: self.outcomes.keys().filter(|ask| ask.level == Level::Flow).count(),
            complete: self.is_done(),
            notes: notes(&self.base, self.objective),
            base: estimate.map(Spread::from),
            base_time_s: mean_of(&base, |run| run.time_s),
            base_energy_j: mean_of(&base, |run| run.energy_j),
            base_cost: mean_of(&base, |run| run.cost),
            base_completed: mean_of(&base, completed),
            flow_off: self.flow_off(),
            flow_believed: self.is_believed(),
            base_failure: base.iter().find_map(|run| run.failure().map(str::to_owned)),
            remedies,
            best: self.best.map(|best| self.of_set(best)),
        }
    }

    /// What a set saves on a day, over the seeds that both have.
    pub(crate) fn saving(&self, candidate: usize, variation: usize) -> Option<Spread> {
        self.saving_beside(BASELINE, candidate, variation)
    }

    pub(crate) fn saving_beside(&self, other: usize, candidate: usize, variation: usize) -> Option<Spread> {
        let pairs = self.outcomes(other, variation).into_iter().zip(self.outcomes(candidate, variation));
        let savings: Vec<f64> = pairs.filter_map(|(other, own)| self.objective.saving(other?, own?)).collect();
        Spread::of(&savings)
    }

    /// The mean of the objective as it is, over the seeds of a day.
    pub(crate) fn level(&self, candidate: usize, variation: usize) -> Option<f64> {
        let runs: Vec<&Outcome> = self.outcomes(candidate, variation).into_iter().flatten().collect();
        mean_of(&runs, |run| self.objective.value(run))
    }

    /// The saving as it is shown: where more jobs end with it or without, the verdict does not stand on it, and an
    /// interval of what both ended would say nothing of all seeds.
    fn saving_shown(&self, candidate: usize, variation: usize) -> Option<Spread> {
        let ends = self.ends(candidate, variation);
        let saving = self.saving(candidate, variation)?;
        let alike = ends.base == ends.with && self.rescued_on(candidate, variation) == 0.0;
        Some(Spread { half_width: saving.half_width.filter(|_| alike), ..saving })
    }

    /// On how many of the seeds that both the scenario as it is and a set ran with all jobs end.
    fn ends(&self, candidate: usize, variation: usize) -> Ends {
        let pairs = self.outcomes(BASELINE, variation).into_iter().zip(self.outcomes(candidate, variation));
        let mut ends = Ends::default();
        for (base, own) in pairs.filter_map(|(base, own)| base.zip(own)) {
            ends.seeds += 1;
            ends.base += usize::from(self.objective.value(base).is_some());
            ends.with += usize::from(self.objective.value(own).is_some());
        }
        ends
    }

    /// The part of the seeds that a set rescues: on which all jobs end with it and not without, or more of the same
    /// flows are complete.
    pub(crate) fn rescued(&self, candidate: usize) -> f64 {
        self.rescued_on(candidate, 0)
    }

    fn rescued_on(&self, candidate: usize, day: usize) -> f64 {
        let pairs = self.outcomes(BASELINE, day).into_iter().zip(self.outcomes(candidate, day));
        let (mut seeds, mut rescued) = (0.0_f64, 0.0);
        for (base, own) in pairs.filter_map(|(base, own)| base.zip(own)) {
            seeds += 1.0;
            rescued += f64::from(self.objective.ends(base, own) as i8);
        }
        rescued / seeds.max(1.0)
    }

    /// What all seeds say of a set beside the scenario as it is.
    pub(crate) fn verdict(&self, candidate: usize) -> Verdict {
        self.verdict_beside(BASELINE, candidate)
    }

    /// What all seeds say of a set beside another.
    pub(crate) fn verdict_beside(&self, other: usize, candidate: usize) -> Verdict {
        let pairs = self.outcomes(other, 0).into_iter().zip(self.outcomes(candidate, 0));
        let pairs: Vec<(&Outcome, &Outcome)> = pairs.filter_map(|(other, own)| other.zip(own)).collect();
        if pairs.len() < self.seeds as usize {
            return Verdict::Untried;
        }
        let only = |ends| pairs.iter().filter(|(other, own)| self.objective.ends(other, own) == ends).count();
        let (rescued, lost) = (only(Ordering::Greater), only(Ordering::Less));
        if rescued != lost {
            return match (rescued > lost, is_shown(rescued, lost, pairs.len())) {
                (_, false) => Verdict::NotShown,
                (true, true) => Verdict::Helps,
                (false, true) => Verdict::Hurts,
            };
        }
        let saving = self.saving_beside(other, candidate, 0);
        let (Some(saving), Some(level)) = (saving, self.level(BASELINE, 0).or(self.level(other, 0))) else {
            return Verdict::NotShown;
        };
        let sure = saving.half_width.is_some_and(|half_width| saving.mean.abs() > half_width);
        if !sure || saving.mean.abs() < NEGLIGIBLE * level {
            Verdict::NotShown
        } else if saving.mean > 0.0 {
            Verdict::Helps
        } else {
            Verdict::Hurts
        }
    }

    fn of_remedy(&self, remedy: usize) -> RemedyAdvice {
        let of = &self.remedies[remedy];
        let confirmed = self.confirmed.iter().find(|single| single.remedy == remedy);
        let own = || self.singles.iter().filter(|single| single.remedy == remedy);
        let seen = own().filter(|single| self.screened_by(single.candidate).is_some());
        let best = seen.max_by(|a, b| self.gain(a.candidate).total_cmp(&self.gain(b.candidate)));
        let chosen = confirmed.or(best).or_else(|| own().next()).map(|single| single.candidate);
        let level = self.level(BASELINE, 0);
        let (verdict, saving) = match (confirmed, best) {
            (Some(single), _) => {
                let verdict = self.verdict(single.candidate);
                (verdict, self.saving_shown(single.candidate, 0))
            }
            (None, Some(single)) => {
                let gain = Some(self.gain(single.candidate)).filter(|gain| gain.is_finite());
                let saving = gain.zip(level).map(|(gain, level)| Spread { mean: gain * level, half_width: None });
                let all = own().all(|single| self.screened_by(single.candidate).is_some());
                let verdict = match (all, self.is_without_gain(single.candidate)) {
                    (true, true) => Verdict::NoGain,
                    (true, false) if self.has_ranked() => Verdict::NotShown,
                    _ => Verdict::Untried,
                };
                (verdict, saving)
            }
            (None, None) if self.unfit.contains_key(&remedy) => (Verdict::Unfit, None),
            (None, None) => (Verdict::Untried, None),
        };
        let setting = chosen.and_then(|chosen| self.candidates[chosen].parts.first()).map(|(_, setting)| setting);
        let runs = chosen.map_or_else(Vec::new, |chosen| self.beside_base(chosen));
        let ends = chosen.map_or_else(Ends::default, |chosen| self.ends(chosen, 0));
        RemedyAdvice {
            id: of.id.clone(),
            name: of.name.clone(),
            verdict,
            x: setting.map(|setting| setting.x.clone()).unwrap_or_default(),
            set: setting.map(|setting| setting.assignments.clone()).unwrap_or_default(),
            part: saving.zip(level).map(|(saving, level)| saving.mean / level),
            saving,
            screened_by: chosen.and_then(|chosen| self.screened_by(chosen)),
            time_s: mean_of(&runs, |run| run.time_s),
            energy_j: mean_of(&runs, |run| run.energy_j),
            cost: mean_of(&runs, |run| run.cost),
            completed: mean_of(&runs, completed),
            yardstick: of.yardstick,
            seeds: ends.seeds,
            ended: ends.with,
            base_ended: ends.base,
            hurts: chosen.map_or_else(Vec::new, |chosen| self.slower_jobs(chosen)),
            reason: self
                .unfit
                .get(&remedy)
                .cloned()
                .unwrap_or_else(|| chosen.map_or_else(String::new, |chosen| self.failures_in_words(chosen))),
            costs: of.costs.clone(),
            apply: of.apply.iter().map(|text| line(text, setting.map_or("", |setting| &setting.x))).collect(),
            source: of.source.clone(),
        }
    }

    /// A set's runs on seeds on which the scenario ran as it is, too: on these its saving stands. A search that is cut
    /// may have others.
    fn beside_base(&self, candidate: usize) -> Vec<&Outcome> {
        let pairs = self.outcomes(BASELINE, 0).into_iter().zip(self.outcomes(candidate, 0));
        pairs.filter_map(|(base, own)| base.and(own)).collect()
    }

    fn failures_in_words(&self, candidate: usize) -> String {
        let Ends { seeds, base, with } = self.ends(candidate, 0);
        if base == seeds && with == seeds {
            return String::new();
        }
        format!("a job fails in {} of {seeds} runs with it, and in {} without", seeds - with, seeds - base)
    }

    fn of_set(&self, best: usize) -> SetAdvice {
        let Candidate { parts } = &self.candidates[best];
        let runs = self.beside_base(best);
        let (saving, ends) = (self.saving_shown(best, 0), self.ends(best, 0));
        let mut hurts = self.slower_jobs(best);
        let days = || self.variations.iter().enumerate().skip(1);
        let complete = |day: usize| {
            let count = |set| self.outcomes(set, day).into_iter().flatten().count();
            count(BASELINE) > 1 && count(best) > 1
        };
        for (day, variation) in days().filter(|(day, _)| complete(*day)) {
            let saving = self.saving(best, day);
            let worse = saving.filter(|saving| {
                let level = self.level(BASELINE, day).unwrap_or(0.0);
                saving.mean < -NEGLIGIBLE * level && saving.half_width.is_some_and(|half| -saving.mean > half)
            });
            if self.rescued_on(best, day) < 0.0 {
                hurts.push(Hurt { at: variation.name.clone(), more: None });
            } else if let Some(worse) = worse {
                hurts.push(Hurt { at: variation.name.clone(), more: Some(Spread { mean: -worse.mean, ..worse }) });
            }
        }
        let row = |(day, variation): (usize, &crate::variation::Variation)| {
            let (base, with) = (self.level(BASELINE, day), self.level(best, day));
            Some(RateRow { factor: variation.rate?, base, with, saving: self.saving_shown(best, day) })
        };
        SetAdvice {
            ids: parts.iter().map(|(remedy, _)| self.remedies[*remedy].id.clone()).collect(),
            set: self.candidates[best].assignments(),
            part: saving.zip(self.level(BASELINE, 0)).map(|(saving, level)| saving.mean / level),
            saving,
            time_s: mean_of(&runs, |run| run.time_s),
            energy_j: mean_of(&runs, |run| run.energy_j),
            cost: mean_of(&runs, |run| run.cost),
            completed: mean_of(&runs, completed),
            seeds: ends.seeds,
            ended: ends.with,
            base_ended: ends.base,
            hurts,
            tried: days().filter(|(day, _)| complete(*day)).map(|(_, day)| day.name.clone()).collect(),
            rates: days().filter(|(day, _)| complete(*day)).filter_map(row).collect(),
        }
    }

    /// Of several jobs those that a set makes slower, over all seeds.
    fn slower_jobs(&self, candidate: usize) -> Vec<Hurt> {
        let (base, own) = (self.outcomes(BASELINE, 0), self.outcomes(candidate, 0));
        let pairs: Vec<(&Outcome, &Outcome)> = base.into_iter().zip(own).filter_map(|(a, b)| a.zip(b)).collect();
        let Some((first, _)) = pairs.first().filter(|(first, _)| first.jobs.len() > 1) else { return Vec::new() };
        let hurt = |(i, (name, _)): (usize, &(String, Option<f64>))| {
            let time = |run: &Outcome| run.jobs.get(i).and_then(|(_, time)| *time);
            let more: Vec<f64> = pairs.iter().filter_map(|(base, own)| Some(time(own)? - time(base)?)).collect();
            let estimate = Estimate::of(&more).filter(|more| more.mean > 0.0 && more.excludes_zero())?;
            let level = time(first).unwrap_or(0.0);
            (estimate.mean > NEGLIGIBLE * level).then(|| Hurt { at: format!("job {name}"), more: Spread::of(&more) })
        };
        first.jobs.iter().enumerate().filter_map(hurt).collect()
    }
}

/// What of a scenario is as recorded, whatever a remedy sets.
fn notes(scenario: &Scenario, objective: Objective) -> Vec<&'static str> {
    let planned = scenario.job.iter().any(|job| job.plan.is_some());
    let split = scenario.job.iter().any(|job| !job.splits.is_empty());
    let mut notes = Vec::new();
    if planned {
        notes.push(
            "a job has a recorded plan: attempts start where and when they did, so what would change that cannot show; \
             import it with --cluster for a scenario that schedules",
        );
    }
    if objective == Objective::Cost {
        notes.push(
            "hardware is priced by its nodes' hours alone: what a faster disk or network saves is what it may cost for a \
             run",
        );
    }
    if split {
        notes.push("a job has recorded splits: another block size would make other maps, and is not tried");
    }
    notes
}

/// Whether it is shown that jobs end on more seeds with a set than without, or on fewer: on so many they end with the
/// one alone, on so many with the other alone. By a one-sided sign test (Conover, *Practical Nonparametric Statistics*,
/// 3rd edition, 3.4) at 10 %, which takes four seeds that agree; or because they end on all seeds with the one and on
/// none with the other.
fn is_shown(one: usize, other: usize, seeds: usize) -> bool {
    let (more, less) = (one.max(other), one.min(other));
    let differ = more + less;
    // The sum of the binomial coefficients up to `less`, of 2^differ.
    let (mut coefficient, mut sum) = (1.0, 1.0);
    for k in 1..=less {
        coefficient *= (differ + 1 - k) as f64 / k as f64;
        sum += coefficient;
    }
    more == seeds || sum <= 0.1 * (0..differ).fold(1.0, |all, _| 2.0 * all)
}

/// What of a run's traffic is complete.
fn completed(run: &Outcome) -> Option<f64> {
    (run.begun > 0).then_some(run.completed as f64)
}

fn mean_of(runs: &[&Outcome], of: impl Fn(&Outcome) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = runs.iter().filter_map(|run| of(run)).collect();
    Estimate::of(&values).map(|estimate| estimate.mean)
}

#[cfg(test)]
mod tests {
    use super::is_shown;

    /// Tails of the binomial distribution for 1/2 by hand: 1/8 for 3 of 3, 1/16 for 4 of 4, 6/32 for 4 of 5, 7/64 for
    /// 5 of 6, 8/128 for 6 of 7.
    #[test]
    fn one_seed_that_ends_shows_nothing() {
        for (more, less, shown) in
            [(1, 0, false), (3, 0, false), (4, 0, true), (4, 1, false), (5, 1, false), (6, 1, true)]
        {
            assert_eq!((is_shown(more, less, 20), is_shown(less, more, 20)), (shown, shown), "{more} against {less}");
        }
        assert!(is_shown(2, 0, 2), "on both seeds with the one, on neither with the other");
    }
}
