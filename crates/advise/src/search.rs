//! The search for remedies that help, as a state machine: it asks for runs and takes their outcomes.
//!
//! 1. The scenario as it is runs with all seeds, and with one more, the first of the screen's; at flow level as well.
//! 2. The estimates of `estimate`, then runs at flow level, screen every setting of every remedy whose conditions
//!    hold ([`crate::screen`]). What flow level cannot judge runs at the scenario's own level with the screen's seed.
//! 3. The best setting of each remedy that gained there is confirmed with all seeds. Those were not looked at before, so
//!    choosing the best on the screen does not flatter it.
//! 4. On the screen's seeds again: pairs, at flow level first, then the best pair or single grows by one remedy at a
//!    time, as long as that gains.
//! 5. The best pairs, and the sets that it grew through, are confirmed with all seeds. Where these do not tell the best
//!    apart, further seeds do ([`crate::race`]). A larger set is the answer only where it is shown to save more than the
//!    smaller. The answer is tried on other days ([`Variation`]).
//!
//! Seeds are common random numbers: a saving is the mean of differences seed by seed.

use crate::advice::Verdict;
use crate::candidate::{Candidate, clash};
use crate::condition::Condition;
use crate::file::{Remedies, Remedy};
use crate::keys::Keys;
use crate::objective::Objective;
use crate::outcome::Outcome;
use crate::race::Race;
use crate::screen::Foreknown;
use crate::setting::{Limits, settings};
use crate::variation::{Variation, variations};
use scenario::Scenario;
use std::collections::{BTreeMap, BTreeSet};

/// A run that the search asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ask {
    /// Which set of remedies.
    pub candidate: usize,
    /// On which day.
    pub variation: usize,
    /// Which seed, counted from the scenario's own.
    pub seed: u32,
    /// At which level.
    pub level: Level,
}

/// How close a run looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// As the scenario says.
    Own,
    /// At flow level, which is cheap.
    Flow,
}

/// What is being looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Baseline,
    Flow,
    FlowAgain,
    Screen,
    Confirm,
    FlowPairs,
    Pairs,
    Grow,
    ConfirmSet,
    Race,
    Elsewhere,
    Done,
}

/// The scenario as it is.
pub(crate) const BASELINE: usize = 0;
/// A part of the objective, or of the flows that are complete, that is not worth a change.
pub const NEGLIGIBLE: f64 = 0.01;
/// So many remedies are confirmed, so many of them paired, and a set has at most so many.
const CONFIRMED: usize = 10;
const PAIRED: usize = 5;
/// So many of the best pairs are confirmed, and so many of the best at flow level.
pub(crate) const FINALISTS: usize = 3;
/// Seeds on which sets are compared while they grow.
const JOINT: u32 = 2;
const MOST: usize = 5;
/// Seeds on other days.
const ELSEWHERE: u32 = 2;

/// A remedy on its own, with one of its settings.
#[derive(Clone, Debug)]
pub(crate) struct Single {
    pub remedy: usize,
    pub candidate: usize,
}

/// The search.
#[derive(Debug)]
pub struct Search {
    pub(crate) base: Scenario,
    pub(crate) remedies: Vec<Remedy>,
    pub(crate) objective: Objective,
    pub(crate) seeds: u32,
    limits: Limits,
    stage: Stage,
    pub(crate) candidates: Vec<Candidate>,
    digests: BTreeMap<String, usize>,
    pub(crate) variations: Vec<Variation>,
    pub(crate) outcomes: BTreeMap<Ask, Outcome>,
    /// What is known without runs at the scenario's own level.
    pub(crate) foreknown: Foreknown,
    /// Remedies that do not apply: why not.
    pub(crate) unfit: BTreeMap<usize, String>,
    pub(crate) singles: Vec<Single>,
    /// The best single of each remedy that is confirmed, best first.
    pub(crate) confirmed: Vec<Single>,
    pairs: Vec<usize>,
    /// The sets that it has grown through, the last one as far as it is; and what that may grow into.
    grown: Vec<usize>,
    growing: Vec<usize>,
    /// The best pairs.
    finalists: Vec<usize>,
    pub(crate) race: Race,
    pub(crate) best: Option<usize>,
}

impl Search {
    /// A search among remedies, with so many seeds for what is confirmed (at least two).
    pub fn new(base: Scenario, remedies: Remedies, objective: Objective, seeds: u32, limits: Limits) -> Self {
        let digests = [(base.digest(), BASELINE)].into();
        Self {
            base,
            remedies: remedies.all,
            objective,
            seeds: seeds.max(2),
            limits,
            stage: Stage::Baseline,
            candidates: vec![Candidate::default()],
            digests,
            variations: vec![Variation::default()],
            outcomes: BTreeMap::new(),
            foreknown: Foreknown::default(),
            unfit: BTreeMap::new(),
            singles: Vec::new(),
            confirmed: Vec::new(),
            pairs: Vec::new(),
            grown: Vec::new(),
            growing: Vec::new(),
            finalists: Vec::new(),
            race: Race::default(),
            best: None,
        }
    }

    /// The figures of a run that conditions name.
    pub fn metrics(&self) -> BTreeSet<String> {
        let conditions = self.remedies.iter().flat_map(|remedy| &remedy.when);
        conditions.filter_map(|text| Some(Condition::parse(text).ok()?.metric()?.to_owned())).collect()
    }

    /// The runs that it needs next; none when it is done.
    pub fn asks(&mut self) -> Vec<Ask> {
        loop {
            let wanted = self.of_stage();
            let missing: Vec<Ask> = wanted.into_iter().filter(|ask| !self.outcomes.contains_key(ask)).collect();
            if !missing.is_empty() || self.stage == Stage::Done {
                return missing;
            }
            self.advance();
        }
    }

    /// Takes the outcome of a run.
    pub fn take(&mut self, ask: Ask, outcome: Outcome) {
        self.outcomes.insert(ask, outcome);
    }

    /// Whether all singles were screened.
    pub(crate) fn has_ranked(&self) -> bool {
        self.stage > Stage::Screen
    }

    /// Whether nothing was left out for lack of time.
    pub fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// The scenario of a run; the error is in words.
    pub fn scenario(&self, ask: Ask) -> Result<Scenario, String> {
        let mut scenario =
            self.candidates[ask.candidate].scenario(&self.base, &self.variations[ask.variation], ask.level)?;
        scenario.run.seed = self.base.run.seed.wrapping_add(u64::from(ask.seed)) & i64::MAX as u64;
        Ok(scenario)
    }

    /// What a run was for, for progress.
    pub fn words(&self) -> &'static str {
        match self.stage {
            Stage::Baseline => "as it is",
            Stage::Flow | Stage::FlowAgain => "ranking remedies at flow level",
            Stage::Screen => "screening remedies",
            Stage::Confirm => "confirming remedies",
            Stage::FlowPairs | Stage::Pairs | Stage::Grow => "combining remedies",
            Stage::ConfirmSet => "confirming the best set",
            Stage::Race => "telling the best sets apart",
            Stage::Elsewhere => "trying it on other days",
            Stage::Done => "done",
        }
    }

    /// The outcomes of a candidate over the seeds of what is confirmed and of the race, as far as they are known.
    pub(crate) fn outcomes(&self, candidate: usize, variation: usize) -> Vec<Option<&Outcome>> {
        let ask = |seed| Ask { candidate, variation, seed, level: Level::Own };
        (0..self.seeds).chain(self.seeds_of_race()).map(|seed| self.outcomes.get(&ask(seed))).collect()
    }

    /// The outcome on the screen's first seed.
    pub(crate) fn screened(&self, candidate: usize) -> Option<&Outcome> {
        self.outcomes.get(&self.on_screen(candidate))
    }

    /// Whether the runs say no energy although they ended well.
    pub fn lacks_energy(&self) -> bool {
        self.outcomes.values().any(|run| run.time_s.is_some() && run.energy_j.is_none())
    }

    /// Whether the scenario says no prices.
    pub fn lacks_prices(&self) -> bool {
        !self.base.has_prices()
    }

    /// Whether nothing in the scenario can end, let alone fail.
    pub fn lacks_time(&self) -> bool {
        self.base.job.is_empty() && self.outcomes.values().all(|run| run.time_s.is_none())
    }

    /// What pages show beside each other: the scenario as it is, with each remedy that is confirmed, with the best set.
    pub(crate) fn shown(&self) -> Vec<(String, usize)> {
        let mut shown = vec![("as it is".to_owned(), BASELINE)];
        for single in self.confirmed.iter().filter(|single| self.verdict(single.candidate) != Verdict::Untried) {
            shown.push((self.remedies[single.remedy].id.clone(), single.candidate));
        }
        if let Some(best) = self.best.filter(|best| shown.iter().all(|(_, other)| other != best)) {
            shown.push(("best set".to_owned(), best));
        }
        shown
    }

    /// The digest of a set's scenario.
    pub(crate) fn digest(&self, candidate: usize) -> String {
        let found = self.digests.iter().find(|(_, other)| **other == candidate);
        found.map(|(digest, _)| digest.clone()).unwrap_or_default()
    }

    pub(crate) fn on_screen(&self, candidate: usize) -> Ask {
        Ask { candidate, variation: 0, seed: self.seeds, level: Level::Own }
    }

    fn with_all_seeds(&self, candidate: usize) -> impl Iterator<Item = Ask> + use<> {
        (0..self.seeds).map(move |seed| Ask { candidate, variation: 0, seed, level: Level::Own })
    }

    /// On all seeds of the screen.
    fn jointly(&self, candidate: usize) -> impl Iterator<Item = Ask> + use<> {
        let first = self.seeds;
        (0..JOINT).map(move |seed| Ask { candidate, variation: 0, seed: first + seed, level: Level::Own })
    }

    /// The confirmed singles that may be part of a set.
    fn free(&self) -> impl Iterator<Item = usize> {
        let free = self.confirmed.iter().filter(|single| !self.remedies[single.remedy].yardstick);
        free.map(|single| single.candidate)
    }

    fn of_stage(&self) -> Vec<Ask> {
        match self.stage {
            Stage::Baseline => {
                // The first run decides what applies, and says how long one takes.
                let own = self.with_all_seeds(BASELINE).chain([self.on_screen(BASELINE)]);
                own.chain(self.flows_as_it_is()).collect()
            }
            Stage::Flow => self.flows_of_singles(),
            Stage::FlowAgain => self.flows_of_promising(),
            Stage::Screen => self.unjudged().into_iter().map(|candidate| self.on_screen(candidate)).collect(),
            Stage::Confirm => self.confirmed.iter().flat_map(|single| self.with_all_seeds(single.candidate)).collect(),
            Stage::FlowPairs => self.flows_of_pairs(),
            Stage::Pairs => {
                let sets = [BASELINE].into_iter().chain(self.free()).chain(self.pairs.iter().copied());
                sets.flat_map(|set| self.jointly(set)).collect()
            }
            Stage::Grow => self.growing.iter().flat_map(|set| self.jointly(*set)).collect(),
            Stage::ConfirmSet => {
                let sets = self.grown.iter().chain(&self.finalists);
                sets.flat_map(|set| self.with_all_seeds(*set)).collect()
            }
            Stage::Race => self.runs_of_race(),
            Stage::Elsewhere => {
                let sets = [Some(BASELINE), self.best];
                let days = 1..self.variations.len();
                let seeds = |candidate, variation| {
                    (0..ELSEWHERE).map(move |seed| Ask { candidate, variation, seed, level: Level::Own })
                };
                let ask = |variation| sets.into_iter().flatten().flat_map(move |set| seeds(set, variation));
                // The answer may have left the race before its end.
                let rest = self.best.into_iter().flat_map(|best| self.on_seeds_of_race(best));
                rest.chain(days.flat_map(ask)).collect()
            }
            Stage::Done => Vec::new(),
        }
    }

    fn advance(&mut self) {
        self.stage = match self.stage {
            Stage::Baseline => {
                self.choose();
                self.foresee();
                Stage::Flow
            }
            Stage::Flow => Stage::FlowAgain,
            Stage::FlowAgain => Stage::Screen,
            Stage::Screen => {
                self.rank();
                Stage::Confirm
            }
            Stage::Confirm => {
                self.pair_by_flow();
                Stage::FlowPairs
            }
            Stage::FlowPairs => {
                if self.halve_pairs() {
                    Stage::FlowPairs
                } else {
                    self.pair();
                    Stage::Pairs
                }
            }
            Stage::Pairs => {
                let start = self.free().chain(self.pairs.iter().copied());
                self.grown = self.best_on_screen(start).into_iter().collect();
                self.finalists = self.best_pairs();
                for pair in self.finalists_by_flow() {
                    if !self.finalists.contains(&pair) {
                        self.finalists.push(pair);
                    }
                }
                self.grow();
                Stage::Grow
            }
            Stage::Grow => {
                let before = self.grown.last().map_or(0.0, |set| self.gain(*set));
                let larger = self.best_on_screen(self.growing.iter().copied());
                match larger.filter(|larger| self.gain(*larger) - before > NEGLIGIBLE) {
                    None => Stage::ConfirmSet,
                    Some(larger) => {
                        self.grown.push(larger);
                        self.grow();
                        Stage::Grow
                    }
                }
            }
            Stage::ConfirmSet => {
                self.best = self.choose_best();
                let singles: Vec<usize> = self.free().collect();
                let sets = [singles, self.finalists.clone(), self.grown.clone()].concat();
                self.begin_race(sets);
                self.race()
            }
            Stage::Race => {
                self.best = self.choose_best();
                self.race()
            }
            Stage::Elsewhere | Stage::Done => Stage::Done,
        };
    }

    /// The next round of the race, if there is one.
    fn race(&mut self) -> Stage {
        if self.race_on() {
            return Stage::Race;
        }
        self.plan_elsewhere();
        Stage::Elsewhere
    }

    /// Decides which remedies apply.
    pub(crate) fn choose(&mut self) {
        let keys = Keys::of(&self.base);
        let Some(run) = self.screened(BASELINE).cloned() else { return };
        for remedy in 0..self.remedies.len() {
            let of = &self.remedies[remedy];
            // Conditions were checked when the file was read.
            let conditions = of.when.iter().filter_map(|text| Some((text, Condition::parse(text).ok()?)));
            if let Some((text, _)) = conditions.into_iter().find(|(_, condition)| !condition.holds(&keys, &run)) {
                self.unfit.insert(remedy, format!("it is for {text}"));
                continue;
            }
            let objective = self.objective.name();
            if !of.objectives.is_empty() && of.objectives.iter().all(|name| name != objective) {
                self.unfit.insert(remedy, format!("it is for objective {}", of.objectives.join(", ")));
                continue;
            }
            match settings(of, &keys, &self.limits) {
                Err(reason) => {
                    self.unfit.insert(remedy, reason);
                }
                Ok(settings) => {
                    let mut reason = "it is so already".to_owned();
                    for setting in settings {
                        match self.add(Candidate::default().with(&(remedy, setting))) {
                            Ok(candidate) => self.singles.push(Single { remedy, candidate }),
                            Err(Some(error)) => reason = error,
                            Err(None) => {}
                        }
                    }
                    if self.singles.iter().all(|single| single.remedy != remedy) {
                        self.unfit.insert(remedy, reason);
                    }
                }
            }
        }
    }

    /// Adds a set, unless its scenario is there already (`None`) or is not valid.
    fn add(&mut self, candidate: Candidate) -> Result<usize, Option<String>> {
        let digest = candidate.scenario(&self.base, &self.variations[0], Level::Own).map_err(Some)?.digest();
        if self.digests.contains_key(&digest) {
            return Err(None);
        }
        self.candidates.push(candidate);
        self.digests.insert(digest, self.candidates.len() - 1);
        Ok(self.candidates.len() - 1)
    }

    fn best_on_screen(&self, candidates: impl Iterator<Item = usize>) -> Option<usize> {
        // Of equal ones the first.
        candidates.fold(None, |best: Option<usize>, candidate| match best {
            Some(best) if self.gain(best) >= self.gain(candidate) => Some(best),
            _ => Some(candidate),
        })
    }

    /// Candidates by what they gain, the most first.
    pub(crate) fn sorted(&self, mut candidates: Vec<usize>) -> Vec<usize> {
        candidates.sort_by(|a, b| self.gain(*b).total_cmp(&self.gain(*a)));
        candidates
    }

    /// The setting of each remedy that gains most, the best remedy first.
    pub(crate) fn best_settings(&self) -> Vec<Single> {
        let mut best: Vec<Single> = Vec::new();
        for remedy in 0..self.remedies.len() {
            let own = self.singles.iter().filter(|single| single.remedy == remedy).map(|single| single.candidate);
            best.extend(self.best_on_screen(own).map(|candidate| Single { remedy, candidate }));
        }
        best.sort_by(|a, b| self.gain(b.candidate).total_cmp(&self.gain(a.candidate)));
        best
    }

    /// The best setting of each remedy that gained, best first.
    fn rank(&mut self) {
        let mut best = self.best_settings();
        best.retain(|single| self.gain(single.candidate) > NEGLIGIBLE / 2.0);
        best.truncate(CONFIRMED);
        self.confirmed = best;
    }

    /// All pairs of the best that can be combined and that flow level did not judge, and the best of those that it did.
    fn pair(&mut self) {
        let best: Vec<usize> = self.free().take(PAIRED).collect();
        let mut pairs = Vec::new();
        for (i, a) in best.iter().enumerate() {
            for b in &best[i + 1..] {
                pairs.extend(self.joined(*a, *b).filter(|pair| !self.is_judged(*pair)));
            }
        }
        let judged = self.sorted(self.foreknown.pairs.clone());
        pairs.extend(judged.into_iter().take(PAIRED));
        self.pairs = pairs;
    }

    /// The best pairs on the screen's seeds, among those that gain more than their best part.
    fn best_pairs(&self) -> Vec<usize> {
        let single = self.free().map(|single| self.gain(single)).fold(0.0, f64::max);
        let better = self.pairs.iter().copied().filter(|pair| self.gain(*pair) > single);
        self.sorted(better.collect()).into_iter().take(FINALISTS).collect()
    }

    /// What may be added to the set so far.
    fn grow(&mut self) {
        self.growing.clear();
        let Some(set) = self.grown.last().copied().filter(|set| self.candidates[*set].parts.len() < MOST) else {
            return;
        };
        let others: Vec<usize> = self.free().collect();
        for other in others {
            let larger = self.joined(set, other);
            self.growing.extend(larger);
        }
    }

    /// A set with a single, if they can be combined and that is new or known.
    pub(crate) fn joined(&mut self, set: usize, single: usize) -> Option<usize> {
        let part = self.candidates[single].parts.first()?.clone();
        let fits = self.candidates[set].parts.iter().all(|(remedy, setting)| {
            let (own, other) = (&self.remedies[*remedy], &self.remedies[part.0]);
            *remedy != part.0
                && !own.excludes.contains(&other.id)
                && !other.excludes.contains(&own.id)
                && !clash(&setting.assignments, &part.1.assignments)
        });
        if !fits {
            return None;
        }
        let joined = self.candidates[set].with(&part);
        let known = self.candidates.iter().position(|candidate| candidate.parts == joined.parts);
        known.or_else(|| self.add(joined).ok())
    }

    /// The best single that is shown to help, or a set that it grew through where that is shown to save more; none where
    /// nothing helps.
    fn choose_best(&self) -> Option<usize> {
        let helping = self.free().filter(|candidate| self.verdict(*candidate).helps());
        let worth = |candidate: usize| {
            let saving = self.saving(candidate, 0).map_or(f64::INFINITY, |saving| saving.mean);
            (self.rescued(candidate), saving)
        };
        let single = helping.fold(None, |best: Option<usize>, candidate| match best {
            Some(best) if worth(best) >= worth(candidate) => Some(best),
            _ => Some(candidate),
        });
        let sets = self.finalists.iter().rev().chain(&self.grown);
        sets.fold(single, |best, set| match self.verdict_beside(best.unwrap_or(BASELINE), *set) {
            Verdict::Helps => Some(*set),
            _ => best,
        })
    }

    fn plan_elsewhere(&mut self) {
        let Some(best) = self.best else { return };
        let length = self.outcomes(BASELINE, 0).into_iter().flatten().find_map(|run| run.time_s).unwrap_or(0.0);
        for day in variations(&Keys::of(&self.base), length).into_iter().skip(1) {
            // A day that the scenario, with or without the set, cannot have is none.
            let fits =
                [BASELINE, best].iter().all(|set| self.candidates[*set].scenario(&self.base, &day, Level::Own).is_ok());
            if fits {
                self.variations.push(day);
            }
        }
    }
}
