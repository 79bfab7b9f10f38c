//! All sets of one remedy and of two, to try them without a search: what the search is measured against.

use crate::file::Remedies;
use crate::objective::Objective;
use crate::outcome::Outcome;
use crate::search::{BASELINE, Search};
use crate::setting::Limits;
use scenario::Scenario;

/// A set of remedies, each with one of its settings.
#[derive(Clone, Debug)]
pub struct RemedySet {
    /// The remedies' names.
    pub ids: Vec<String>,
    /// What it sets.
    pub set: Vec<String>,
    /// The scenario with it.
    pub scenario: Scenario,
    /// The part of the time that it saves by the estimate; none for pairs, and where there is no estimate.
    pub estimate: Option<f64>,
    /// Whether the estimate speaks against it so clearly that a search does not try it.
    pub dropped: bool,
    /// Whether flow level models what it changes.
    pub modelled: bool,
}

impl Search {
    /// Every remedy that applies, by its conditions on a run of the scenario as it is, with each of its settings.
    pub fn every_single(&mut self, run: &Outcome) -> Vec<RemedySet> {
        self.take(self.on_screen(BASELINE), run.clone());
        self.choose();
        self.foresee();
        self.singles.iter().filter_map(|single| self.remedy_set(single.candidate)).collect()
    }

    /// All pairs of those that take no hardware and can be combined.
    pub fn every_pair(&mut self) -> Vec<RemedySet> {
        let free = self.singles.iter().filter(|single| !self.remedies[single.remedy].yardstick);
        let free: Vec<usize> = free.map(|single| single.candidate).collect();
        let mut pairs = Vec::new();
        for (i, a) in free.iter().enumerate() {
            for b in &free[i + 1..] {
                pairs.extend(self.joined(*a, *b));
            }
        }
        pairs.into_iter().filter_map(|pair| self.remedy_set(pair)).collect()
    }

    fn remedy_set(&self, candidate: usize) -> Option<RemedySet> {
        let of = &self.candidates[candidate];
        Some(RemedySet {
            ids: of.parts.iter().map(|(remedy, _)| self.remedies[*remedy].id.clone()).collect(),
            set: of.assignments(),
            scenario: self.scenario(self.on_screen(candidate)).ok()?,
            estimate: self.foreknown.estimates.get(&candidate).copied(),
            dropped: self.is_dropped(candidate),
            modelled: self.is_modelled(candidate),
        })
    }

    /// A search for what saves time, to enumerate remedies with.
    pub fn of_time(base: &Scenario, remedies: Remedies) -> Self {
        Self::new(base.clone(), remedies, Objective::Time, 2, Limits::default())
    }
}
