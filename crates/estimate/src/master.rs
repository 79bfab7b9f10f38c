//! What an AppMaster does with the places that it is given, and what it asks for.

use crate::count::{Attempt, Count, Reducer, Step};
use crate::offers::Grant;
use des::RandomStream;

impl Count<'_> {
    /// Reducers that wait.
    pub(crate) fn wanted(&self) -> usize {
        let may = self.maps_done >= self.plan.slow_start;
        let granted = self.offers.granted.iter().filter(|grant| grant.reducer).count();
        if may { self.plan.reducers.saturating_sub(self.reducers.len() + granted) } else { 0 }
    }
    /// Whether the AppMaster's next heartbeat changes anything.
    pub(crate) fn has_news(&self) -> bool {
        let wanted = self.wanted();
        let asks = || self.to_ask() != self.asks || self.offers.reducers != self.asks.min(wanted);
        !self.offers.granted.is_empty() || !self.offers.released.is_empty() || self.copies || (wanted > 0 && asks())
    }
    /// How many reducers to ask for (`RMContainerAllocator.scheduleReduces`).
    pub(crate) fn to_ask(&self) -> usize {
        let wanted = self.wanted();
        if self.offers.waiting == 0 {
            return wanted;
        }
        let (maps, held) = (self.attempts.len() as f64, self.reducers.len() as f64 * self.plan.reducer_room);
        let limit = self.offers.headroom() + maps + held;
        let ideal = limit * (self.maps_done as f64 / self.plan.maps as f64).min(self.plan.ramp_up);
        let unused = (limit - ideal - maps - self.offers.waiting as f64).max(0.0);
        let allowed = libm::floor((ideal + unused) / self.plan.reducer_room) - self.reducers.len() as f64;
        wanted.min(allowed.max(0.0) as usize)
    }
    /// The AppMaster has the containers that were given since its last heartbeat.
    pub(crate) fn take_grants(&mut self, random: &mut RandomStream) {
        let mut granted = std::mem::take(&mut self.offers.granted);
        for local in [true, false] {
            granted.retain(|grant| {
                if grant.reducer {
                    self.reducers.push(self.reducer(grant.node));
                    return false;
                }
                let Some(map) = self.offers.take(grant.node, local) else { return true };
                self.launch(*grant, map, random);
                false
            });
        }
        self.offers.released.extend(granted.into_iter().map(|grant| grant.node));
    }
    fn launch(&mut self, grant: Grant, map: usize, random: &mut RandomStream) {
        let node = grant.node;
        let nodes = &self.offers.blocks[map];
        let racks = self.plan.racks;
        let near: Vec<usize> = nodes.iter().copied().filter(|other| other % racks == node % racks).collect();
        let sources = if near.is_empty() { nodes.clone() } else { near };
        let far = !nodes.is_empty() && !nodes.contains(&node);
        let from = if far { sources[random.below(sources.len() as u64) as usize] } else { node };
        self.attempts.push(Attempt {
            map,
            node,
            granted: grant.at,
            step: Step::Launch,
            left: 1.0,
            bytes: if far { self.plan.block * self.plan.sizes[map] } else { 0.0 },
            from,
            speed: 0.0,
            rate: 0.0,
            report: 0.0,
            known: None,
        });
    }
    pub(crate) fn reducer(&self, node: usize) -> Reducer {
        let part = match (self.reducers.len(), self.plan.reducers) {
            (0, _) | (_, 1) => self.plan.largest,
            (_, reducers) => (reducers as f64 - self.plan.largest) / (reducers as f64 - 1.0),
        };
        let begins = self.now + self.plan.reducer_delay + self.plan.reducer_start;
        let share = part / self.plan.reducers as f64;
        let backlog =
            (0..self.plan.nodes).map(|from| if from == node { 0.0 } else { self.made[from] * share }).collect();
        Reducer { node, begins, part: share, backlog, rates: vec![0.0; self.plan.nodes] }
    }
    /// Looks for a map that a copy would overtake (`DefaultSpeculator`, `LegacyTaskRuntimeEstimator`): of those whose
    /// estimated end is later than that of a copy as long as the mean of those that are done, the one that ends last.
    pub(crate) fn look(&mut self) -> bool {
        if (self.maps_done as f64) < 0.05 * self.plan.maps as f64 {
            return false;
        }
        let copy = self.now + self.seconds / self.maps_done as f64;
        let single = |attempt: &&Attempt| self.attempts.iter().filter(|other| other.map == attempt.map).count() == 1;
        let end = |attempt: &Attempt| {
            let known = attempt.known?;
            let elapsed = attempt.report - self.plan.report - attempt.granted;
            let end = attempt.granted + elapsed / known.max(1e-4);
            (end > copy).then_some((end, attempt.map))
        };
        let slowest = self.attempts.iter().filter(single).filter_map(end).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, map)) = slowest {
            self.offers.again(map);
            self.copies = true;
            if self.plan.beat.is_none() {
                self.offers.ask();
            }
        }
        slowest.is_some()
    }
}
