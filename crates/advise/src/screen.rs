//! What is known of remedies without runs at the scenario's own level: estimates screen, flow level ranks.
//!
//! A remedy whose estimate is longer by more than [`OVERRUN`] is dropped. Flow level judges what it models, and where it
//! is to be believed: its mean time of the scenario as it is is within [`BELIEVED`] of that at the scenario's own
//! level. Remedies of TCP it does not judge, and of the network only rates and hashes. Where it is not to be believed,
//! its ranking only says which remedies are tried first.

use crate::advice::ScreenedBy;
use crate::candidate::keys;
use crate::objective::Objective;
use crate::search::{Ask, BASELINE, FINALISTS, Level, NEGLIGIBLE, Search};
use results::Estimate;
use scenario::Fidelity;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The part by which an estimate may be longer than that of the scenario as it is: as much as three of four estimates are
/// off at most (docs/models/estimate.md). The study of ranking (docs/models/advise.md) counts what this drops, and what
/// of that helps.
const OVERRUN: f64 = 0.2;
/// The part by which flow level's mean time may be off where it is believed, beyond the 95 % interval of the
/// differences: where a scheduler's chance moves times by a fifth, six seeds cannot show more. But never more than this.
const BELIEVED: f64 = 0.05;
const FAR_OFF: f64 = 0.25;
/// Seeds at flow level of what is not clearly worse on the first, and at first of pairs.
const FLOWS: u32 = 4;
/// Seeds of the screen, which nothing else has. The best pairs run on all of them at flow level.
pub(crate) const SCREEN: u32 = 32;
/// A loss on the first seed after which there is no second, beyond twice what the scenario varies from seed to seed:
/// the difference of two draws varies by the root of two times that.
const CLEARLY_WORSE: f64 = 0.03;
/// So many remedies are paired at flow level with each other; the best also with all others.
const PAIRED_BY_FLOW: usize = 8;

/// What is known of remedies without runs at the scenario's own level.
#[derive(Debug, Default)]
pub(crate) struct Foreknown {
    /// The part of the time that a single saves by the estimate; nothing where there is none.
    pub estimates: BTreeMap<usize, f64>,
    /// Sets that have a scenario at flow level and set what it models.
    judgeable: BTreeSet<usize>,
    /// Pairs that run at flow level, and on how many seeds.
    pub pairs: Vec<usize>,
    pair_seeds: u32,
}

/// Whether flow level models what a key says: of TCP it has laws for long streams only, and no queues.
fn is_modelled(key: &str) -> bool {
    match key.split('.').next() {
        Some("tcp") => false,
        Some("network") => [".rate", ".hash"].iter().any(|end| key.ends_with(end)),
        _ => true,
    }
}

fn flow(candidate: usize, seed: u32) -> Ask {
    Ask { candidate, variation: 0, seed, level: Level::Flow }
}

impl Search {
    /// Whether flow level can be asked: it is another level than the scenario's own, and has it.
    fn has_flows(&self) -> bool {
        self.base.run.fidelity == Fidelity::Packet
            && self.candidates[BASELINE].scenario(&self.base, &self.variations[0], Level::Flow).is_ok()
    }

    /// Of the scenario as it is, on each seed on which it runs at its own level, and on those of the ranking.
    pub(crate) fn flows_as_it_is(&self) -> Vec<Ask> {
        if !self.has_flows() {
            return Vec::new();
        }
        (0..self.seeds + FLOWS).map(|seed| flow(BASELINE, seed)).collect()
    }

    /// Estimates singles, and finds those that flow level may judge.
    pub(crate) fn foresee(&mut self) {
        let has_flows = self.has_flows();
        let estimated = |search: &Self, candidate: usize, level| {
            let scenario = search.candidates[candidate].scenario(&search.base, &search.variations[0], level).ok()?;
            let jobs = estimate::estimate(&scenario).ok()?;
            Some(jobs.iter().map(|job| job.total().mean).sum::<f64>())
        };
        let base =
            estimated(self, BASELINE, Level::Own).filter(|time| self.objective == Objective::Time && *time > 0.0);
        for single in self.singles.clone() {
            if let Some((base, own)) =
                base.and_then(|base| Some((base, estimated(self, single.candidate, Level::Own)?)))
            {
                self.foreknown.estimates.insert(single.candidate, 1.0 - own / base);
            }
            if has_flows && self.is_modelled(single.candidate) {
                self.foreknown.judgeable.insert(single.candidate);
            }
        }
    }

    /// Whether flow level models what a set changes.
    pub(crate) fn is_modelled(&self, candidate: usize) -> bool {
        let set = &self.candidates[candidate];
        keys(&set.assignments()).all(is_modelled) && set.scenario(&self.base, &self.variations[0], Level::Flow).is_ok()
    }

    /// Whether the estimate speaks against a single so clearly that it is not tried.
    pub(crate) fn is_dropped(&self, candidate: usize) -> bool {
        self.foreknown.estimates.get(&candidate).is_some_and(|saving| *saving < -OVERRUN)
    }

    /// The part by which flow level's mean time of the scenario as it is is off, with its interval over seeds; none
    /// where it was not asked, or a job fails on one of the levels.
    fn flow_differs(&self) -> Option<Estimate> {
        let ask = |seed, level| self.outcomes.get(&Ask { candidate: BASELINE, variation: 0, seed, level });
        let pair = |seed| Some((ask(seed, Level::Own)?.time_s?, ask(seed, Level::Flow)?.time_s?));
        let pairs: Vec<(f64, f64)> = (0..=self.seeds).map(pair).collect::<Option<_>>()?;
        let own = pairs.iter().map(|(own, _)| own).sum::<f64>() / pairs.len() as f64;
        let parts: Vec<f64> = pairs.iter().map(|(own_time, flow)| (flow - own_time) / own).collect();
        Estimate::of(&parts)
    }

    /// That part alone.
    pub(crate) fn flow_off(&self) -> Option<f64> {
        self.flow_differs().map(|differs| differs.mean)
    }

    /// Whether flow level is to be believed of this scenario.
    pub(crate) fn is_believed(&self) -> bool {
        self.flow_differs().is_some_and(|differs| {
            let noise = differs.half_width.unwrap_or(0.0);
            differs.mean.abs() <= BELIEVED + noise && differs.mean.abs() <= FAR_OFF
        })
    }

    /// Whether flow level's word on a set stands: whether it gains, and how much beside others.
    pub(crate) fn is_judged(&self, candidate: usize) -> bool {
        self.is_believed()
            && self.foreknown.judgeable.contains(&candidate)
            && self.outcomes.contains_key(&flow(candidate, self.seeds))
    }

    /// Each single that flow level may judge, once; those of the best estimates first.
    pub(crate) fn flows_of_singles(&self) -> Vec<Ask> {
        let mut singles = self.judgeable_singles();
        let estimated = |candidate: &usize| self.foreknown.estimates.get(candidate).copied().unwrap_or(0.0);
        singles.sort_by(|a, b| estimated(b).total_cmp(&estimated(a)));
        singles.into_iter().map(|candidate| flow(candidate, self.seeds)).collect()
    }

    /// Further seeds of those that are not clearly worse.
    pub(crate) fn flows_of_promising(&self) -> Vec<Ask> {
        let first = |candidate: usize, level| self.outcomes.get(&Ask { level, ..flow(candidate, self.seeds) });
        let worse = CLEARLY_WORSE + 2.0 * self.flow_noise();
        let promising = |candidate: &usize| {
            let pair = first(BASELINE, Level::Flow).zip(first(*candidate, Level::Flow));
            let part =
                pair.and_then(|(base, own)| Some(self.objective.saving(base, own)? / self.objective.value(base)?));
            part.is_none_or(|part| part > -worse)
        };
        let promising = self.judgeable_singles().into_iter().filter(promising);
        promising.flat_map(|candidate| self.on_flow_seeds(candidate, FLOWS)).collect()
    }

    fn judgeable_singles(&self) -> Vec<usize> {
        let all = self.singles.iter().map(|single| single.candidate);
        all.filter(|one| self.foreknown.judgeable.contains(one) && !self.is_dropped(*one)).collect()
    }

    /// How much the scenario's time as it is varies from seed to seed: its coefficient of variation.
    fn flow_noise(&self) -> f64 {
        let times = (0..self.seeds + FLOWS).filter_map(|seed| self.outcomes.get(&flow(BASELINE, seed))?.time_s);
        let times: Vec<f64> = times.collect();
        study::variation(&times).unwrap_or(0.0)
    }

    fn on_flow_seeds(&self, candidate: usize, seeds: u32) -> impl Iterator<Item = Ask> + use<> {
        let first = self.seeds;
        (0..seeds).map(move |seed| Ask { candidate, variation: 0, seed: first + seed, level: Level::Flow })
    }

    /// Singles that neither the estimate nor flow level judges; those that gain most by flow level first.
    pub(crate) fn unjudged(&self) -> Vec<usize> {
        let all = self.singles.iter().map(|single| single.candidate);
        let unjudged = all.filter(|candidate| !self.is_dropped(*candidate) && !self.is_judged(*candidate));
        let mut unjudged: Vec<(usize, f64)> =
            unjudged.map(|one| (one, self.gain_at(one, Level::Flow).unwrap_or(0.0))).collect();
        unjudged.sort_by(|a, b| b.1.total_cmp(&a.1));
        unjudged.into_iter().map(|(candidate, _)| candidate).collect()
    }

    /// Pairs of the remedies that flow level ranks best, also of those that do not gain alone; and of the best with all
    /// others, since what is lost in the noise of the scenario as it is may show where the best has made it short.
    pub(crate) fn pair_by_flow(&mut self) {
        let worse = CLEARLY_WORSE + 2.0 * self.flow_noise();
        let judged = self.best_settings().into_iter().filter(|single| {
            !self.remedies[single.remedy].yardstick
                && self.is_judged(single.candidate)
                && self.gain(single.candidate) > -worse
        });
        let best: Vec<usize> = judged.map(|single| single.candidate).collect();
        let mut pairs = Vec::new();
        for (i, a) in best.iter().enumerate().take(PAIRED_BY_FLOW) {
            let others = if i == 0 { best.len() } else { best.len().min(PAIRED_BY_FLOW) };
            for b in &best[i + 1..others] {
                if let Some(pair) = self.joined(*a, *b).filter(|pair| self.is_modelled(*pair)) {
                    self.foreknown.judgeable.insert(pair);
                    pairs.push(pair);
                }
            }
        }
        self.foreknown.pairs = pairs;
        self.foreknown.pair_seeds = FLOWS;
    }

    /// Where seeds differ, the better half of the pairs runs on twice as many (sequential halving: Karnin et al. 2013,
    /// "Almost optimal exploration in multi-armed bandits"); whether there is such a round.
    pub(crate) fn halve_pairs(&mut self) -> bool {
        let count = self.foreknown.pairs.len();
        let is_over = count <= FINALISTS || self.foreknown.pair_seeds >= SCREEN;
        if is_over || !self.is_believed() || self.flow_noise() < NEGLIGIBLE / 2.0 {
            return false;
        }
        self.foreknown.pairs = self.sorted(self.foreknown.pairs.clone());
        self.foreknown.pairs.truncate(count.div_ceil(2).max(FINALISTS));
        self.foreknown.pair_seeds *= 2;
        true
    }

    /// The best pairs at flow level, where it is believed, among those that gain more there than their best part.
    pub(crate) fn finalists_by_flow(&self) -> Vec<usize> {
        if !self.is_believed() {
            return Vec::new();
        }
        let gain = |set: usize| self.gain_at(set, Level::Flow).unwrap_or(f64::NEG_INFINITY);
        let single = self.singles.iter().filter(|single| !self.remedies[single.remedy].yardstick);
        let single = single.map(|single| gain(single.candidate)).fold(0.0, f64::max);
        let mut pairs: Vec<usize> = self.foreknown.pairs.iter().copied().filter(|pair| gain(*pair) > single).collect();
        pairs.sort_by(|a, b| gain(*b).total_cmp(&gain(*a)));
        pairs.truncate(FINALISTS);
        pairs
    }

    /// The runs of those pairs.
    pub(crate) fn flows_of_pairs(&self) -> Vec<Ask> {
        let sets = [BASELINE].into_iter().chain(self.foreknown.pairs.iter().copied());
        sets.flat_map(|set| self.on_flow_seeds(set, self.foreknown.pair_seeds)).collect()
    }

    /// The part of the objective that a set saves on the screen's seeds: at the scenario's own level, else at flow
    /// level, else by its estimate. A job that does not fail any more is worth more than any time.
    pub(crate) fn gain(&self, candidate: usize) -> f64 {
        let runs = self.gain_at(candidate, Level::Own).or_else(|| self.gain_at(candidate, Level::Flow));
        runs.or_else(|| self.foreknown.estimates.get(&candidate).copied()).unwrap_or(0.0)
    }

    /// The part of the objective that a set saves at one level, over the seeds on which it and the scenario as it is ran
    /// there; none where it did not.
    pub(crate) fn gain_at(&self, candidate: usize, level: Level) -> Option<f64> {
        let of = |candidate, seed| self.outcomes.get(&Ask { candidate, variation: 0, seed, level });
        let seeds = self.seeds..self.seeds + SCREEN;
        let pairs = seeds.filter_map(|seed| Some((of(BASELINE, seed)?, of(candidate, seed)?)));
        let (mut parts, mut runs, mut rescued) = (Vec::new(), 0, 0);
        for (base, own) in pairs {
            runs += 1;
            match self.objective.ends(base, own) {
                Ordering::Greater => rescued += 1,
                Ordering::Less => rescued -= 1,
                Ordering::Equal => {
                    let saving = self.objective.saving(base, own).zip(self.objective.value(base));
                    parts.extend(saving.map(|(saving, value)| saving / value));
                }
            }
        }
        match rescued {
            _ if runs == 0 => None,
            0 if parts.is_empty() => Some(0.0),
            0 => Some(parts.iter().sum::<f64>() / parts.len() as f64),
            1.. => Some(f64::INFINITY),
            _ => Some(f64::NEG_INFINITY),
        }
    }

    /// What a single's gain stands on; none where nothing has looked at it.
    pub(crate) fn screened_by(&self, candidate: usize) -> Option<ScreenedBy> {
        if self.gain_at(candidate, Level::Own).is_some() {
            Some(ScreenedBy::Run)
        } else if self.is_dropped(candidate) {
            Some(ScreenedBy::Estimate)
        } else {
            self.is_judged(candidate).then_some(ScreenedBy::Flow)
        }
    }

    /// Whether a single does not gain by what has looked at it.
    pub(crate) fn is_without_gain(&self, candidate: usize) -> bool {
        self.gain(candidate) <= NEGLIGIBLE / 2.0
    }
}
