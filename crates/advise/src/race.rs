//! More seeds, where those of the confirmation do not tell the best sets apart.
//!
//! The sets run on further seeds, all on the same, each round on as many as all before. A set leaves when the leader is
//! shown to be better, or not to be better by what is worth a change (a race with blocking: Moore and Lee 1994,
//! "Efficient algorithms for minimizing cross validation error"). The scenario as it is runs along, so that the savings
//! are over the same seeds. A race makes at most as many runs as were made before it.

use crate::screen::SCREEN;
use crate::search::{Ask, BASELINE, Level, NEGLIGIBLE, Search};

/// A difference decides at so many half widths of its 95 % interval, since it is looked at after each round.
const SURE: f64 = 1.5;

/// A race between sets.
#[derive(Debug, Default)]
pub(crate) struct Race {
    /// The sets that are still in it.
    contenders: Vec<usize>,
    /// Seeds beside those of the confirmation, so far.
    seeds: u32,
    /// Runs that it may still make.
    left: usize,
}

impl Search {
    /// Begins it among sets that all seeds have confirmed. A set in whose runs a job fails is not raced for time.
    pub(crate) fn begin_race(&mut self, sets: impl IntoIterator<Item = usize>) {
        let ends = |set: &usize| {
            self.outcomes(*set, 0).into_iter().all(|run| run.is_some_and(|run| self.objective.value(run).is_some()))
        };
        let mut contenders: Vec<usize> = [BASELINE].into_iter().chain(sets).filter(ends).collect();
        contenders.sort_unstable();
        contenders.dedup();
        let left = self.outcomes.keys().filter(|ask| ask.level == Level::Own).count();
        self.race = Race { contenders, seeds: 0, left };
    }

    /// The next round; whether there is one.
    pub(crate) fn race_on(&mut self) -> bool {
        let racing = self.racing();
        // The scenario as it is runs in any case; two more are needed for a question.
        let runs_of_a_seed = racing.len() + usize::from(!racing.contains(&BASELINE));
        let most = u32::try_from(self.race.left / runs_of_a_seed).unwrap_or(u32::MAX);
        let more = (self.seeds + self.race.seeds).min(most);
        if racing.len() < 2 || more == 0 {
            self.race.contenders.clear();
            return false;
        }
        self.race.left -= runs_of_a_seed * more as usize;
        self.race.contenders = racing;
        self.race.seeds += more;
        true
    }

    /// The runs of the race so far.
    pub(crate) fn runs_of_race(&self) -> Vec<Ask> {
        let mut sets = self.race.contenders.clone();
        if !sets.is_empty() && !sets.contains(&BASELINE) {
            sets.push(BASELINE);
        }
        sets.into_iter().flat_map(|set| self.on_seeds_of_race(set)).collect()
    }

    /// A set on all seeds of the race so far.
    pub(crate) fn on_seeds_of_race(&self, candidate: usize) -> impl Iterator<Item = Ask> + use<> {
        self.seeds_of_race().map(move |seed| Ask { candidate, variation: 0, seed, level: Level::Own })
    }

    /// The seeds that only a race has: those of the screen are between these and the others.
    pub(crate) fn seeds_of_race(&self) -> std::ops::Range<u32> {
        let first = self.seeds + SCREEN;
        first..first + self.race.seeds
    }

    /// The leader, and the contenders that may be better, or worse, by what is worth a change.
    fn racing(&self) -> Vec<usize> {
        let contenders = &self.race.contenders;
        let beside = |other, set| self.saving_beside(other, set, 0);
        let mean = |set| beside(BASELINE, set).map_or(f64::NEG_INFINITY, |saving| saving.mean);
        let Some(leader) = contenders.iter().copied().max_by(|a, b| mean(*a).total_cmp(&mean(*b))) else {
            return Vec::new();
        };
        let worth = NEGLIGIBLE * self.level(BASELINE, 0).unwrap_or(0.0);
        let is_open = |other: &usize| {
            *other == leader
                || beside(*other, leader).is_some_and(|lead| {
                    let half_width = SURE * lead.half_width.unwrap_or(f64::INFINITY);
                    lead.mean <= half_width && lead.mean + half_width >= worth
                })
        };
        contenders.iter().copied().filter(is_open).collect()
    }
}
