//! A job's tasks, counted through for places that are drawn.

use crate::blocks::drawn;
use crate::offers::Offers;
use crate::plan::{Gives, Plan};
use des::RandomStream;

/// When a job's stages end, from its launch, and how its reducers came to share nodes and racks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    /// The last map's end, and that of the last fetch.
    pub mapped: f64,
    pub fetched: f64,
    pub on_node: f64,
    pub in_rack: f64,
    /// A reducer waited for the last map.
    pub polls: bool,
}

/// From one look for slow maps to the next, and to that after one with a copy (`retry-after-no-speculate`,
/// `retry-after-speculate`).
const LOOK: f64 = 1.0;
const LOOK_AFTER: f64 = 15.0;
/// Containers that end at once are told of one by one, so many seconds apart; nodes that are alike are apart by so many
/// at most. Both are guesses: equal maps end tens of milliseconds apart, and who tells first has the next reducer.
const APART: f64 = 0.02;
const NODES_APART: f64 = 0.06;
/// A count ends after so many events; what is left goes on as it has gone.
const MOST_STEPS: u32 = 2_000_000;

/// What an attempt is at: its container's launch, its JVM's start, the map function, and what follows the last byte read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    Launch,
    Start,
    Work,
    Tail,
}

/// An attempt at a map.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub map: usize,
    pub node: usize,
    /// When the ResourceManager gave it its place.
    pub granted: f64,
    pub step: Step,
    /// What is left of the step, of 1, and of bytes to read from another node, and which.
    pub left: f64,
    pub bytes: f64,
    pub from: usize,
    /// How much of both goes by a second.
    pub speed: f64,
    pub rate: f64,
    /// When it next reports to the AppMaster, and its progress, of 1, at its last report.
    pub report: f64,
    pub known: Option<f64>,
}

#[derive(Debug)]
pub(crate) struct Reducer {
    pub node: usize,
    /// From when on it fetches.
    pub begins: f64,
    /// Of the mean reducer's input.
    pub part: f64,
    /// Bytes that it has to fetch from each node, and how many of them a second.
    pub backlog: Vec<f64>,
    pub rates: Vec<f64>,
}

impl Reducer {
    pub fn behind(&self) -> f64 {
        self.backlog.iter().sum()
    }
}

pub(crate) struct Count<'a> {
    pub plan: &'a Plan,
    pub offers: Offers<'a>,
    pub now: f64,
    pub attempts: Vec<Attempt>,
    pub reducers: Vec<Reducer>,
    /// Bytes of output on each node.
    pub made: Vec<f64>,
    pub done: Vec<bool>,
    pub maps_done: usize,
    pub seconds: f64,
    /// Reducers that the AppMaster asks for with its next heartbeat.
    pub asks: usize,
    /// It has not asked for all copies yet.
    pub copies: bool,
    pub mapped: f64,
    pub looks: f64,
    /// How many read and fetch as of the last look at the links, and when the next is due.
    pub flowing: (usize, usize),
    pub due: f64,
}

/// Counts a job through, for the `draw`th places of its input, phases of heartbeats and place of its AppMaster.
pub(crate) fn counted(plan: &Plan, draw: u64) -> Counted {
    let mut random = RandomStream::new(draw, "estimate", 0);
    let blocks = drawn(plan, &mut random);
    let mut phases: Vec<f64> = (0..plan.nodes).map(|_| random.uniform() * plan.pace).collect();
    let master = random.below(plan.nodes as u64) as usize;
    // The AppMaster's node gave it its place at a heartbeat, so its others stand fixed to the AppMaster's.
    phases[master] = (-plan.master_start).rem_euclid(plan.pace);
    let count = Count {
        plan,
        offers: Offers::new(plan, blocks, master),
        now: 0.0,
        attempts: Vec::new(),
        reducers: Vec::new(),
        made: vec![0.0; plan.nodes],
        done: vec![false; plan.maps],
        maps_done: 0,
        seconds: 0.0,
        asks: 0,
        copies: false,
        mapped: 0.0,
        looks: LOOK,
        flowing: (0, 0),
        due: 0.0,
    };
    count.run(phases, &mut random)
}

/// The first of regular times after this one.
fn after(time: f64, phase: f64, period: f64) -> f64 {
    let next = phase + (libm::floor((time - phase) / period) + 1.0) * period;
    if next > time + 1e-9 { next } else { next + period }
}

impl Count<'_> {
    fn run(mut self, mut beats: Vec<f64>, random: &mut RandomStream) -> Counted {
        let beat = self.plan.beat;
        let mut master = beat.unwrap_or(0.0);
        if beat.is_none() {
            self.offers.ask();
        }
        let mut first = true;
        let late: Vec<f64> = beats.iter().map(|_| random.uniform() * NODES_APART).collect();
        let mut lags = late.clone();
        let mut steps = 0_u32;
        while steps < MOST_STEPS {
            steps += 1;
            if self.maps_done == self.plan.maps
                && self.reducers.len() >= self.plan.at_once
                && self.reducers.iter().all(|reducer| reducer.begins <= self.now && reducer.behind() <= 1.0)
            {
                break;
            }
            self.set_speeds();
            let mut next = self.next_end();
            let mut node = None;
            for (n, beat) in beats.iter_mut().enumerate() {
                if self.plan.beat.is_some() && self.offers.has_ended(n) {
                    // YARN's NodeManagers do not wait to tell it.
                    *beat = beat.min(self.now + lags[n]);
                } else if *beat < self.now {
                    *beat = after(self.now, *beat, self.plan.pace);
                }
                if *beat < next && self.offers.is_due(n) {
                    (next, node) = (*beat, Some(n));
                }
            }
            if let Some(beat) = beat {
                if master < self.now {
                    master = after(self.now, 0.0, beat);
                }
                if master <= next && (first || self.has_news()) {
                    (next, node) = (master, None);
                }
            }
            if self.looks < self.now {
                self.looks = after(self.now, 0.0, LOOK);
            }
            let looks = self.plan.speculative && self.looks < next && self.offers.waiting == 0 && self.maps_done > 0;
            if looks && self.maps_done < self.plan.maps {
                (next, node) = (self.looks, None);
            }
            if !next.is_finite() {
                break;
            }
            self.advance(next - self.now);
            self.now = next;
            self.end_steps();
            if beat.is_none() {
                self.offers.reducers = self.wanted();
            }
            if let Some(n) = node {
                self.offers.heartbeat(n, self.now);
                beats[n] = self.now + self.plan.pace;
                lags[n] = if self.offers.has_ended(n) { APART } else { late[n] };
                if beat.is_none() {
                    self.take_grants(random);
                    self.offers.free_released();
                    self.offers.reducers = self.wanted();
                }
            } else if beat.is_some() && self.now == master {
                (first, self.copies) = (false, false);
                self.offers.free_released();
                // What it asks for leaves before it has what was given since it last did.
                let given = self.offers.granted.iter().filter(|grant| grant.reducer).count();
                self.take_grants(random);
                self.offers.ask();
                self.offers.reducers = self.asks.saturating_sub(given).min(self.wanted());
                self.asks = self.to_ask();
                if matches!(self.plan.gives, Gives::Thread) {
                    self.offers.pass(self.now);
                }
                master = after(self.now, 0.0, beat.unwrap_or(1.0));
            } else if looks && self.now == self.looks {
                self.looks += if self.look() { LOOK_AFTER } else { LOOK };
            }
        }
        let most = |of: &dyn Fn(&Reducer) -> usize, count: usize| {
            let mut counts = vec![0_u32; count];
            for reducer in &self.reducers {
                counts[of(reducer)] += 1;
            }
            f64::from(counts.into_iter().max().unwrap_or(0))
        };
        // All of it, where the last event has not been counted.
        let whole = (self.plan.maps as f64 / self.maps_done.max(1) as f64).max(1.0);
        let mapped = self.mapped * whole;
        Counted {
            mapped,
            fetched: mapped.max(self.now),
            on_node: most(&|reducer| reducer.node, self.plan.nodes),
            polls: self.reducers.iter().any(|reducer| reducer.begins < self.mapped),
            in_rack: most(&|reducer| reducer.node % self.plan.racks, self.plan.racks),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::small;

    /// Four nodes have a map each, all local, with what each takes alone: asked for at 1 s, given in the second after,
    /// launched at 2 s, 1.5 s long.
    #[test]
    fn maps_end_as_by_hand() {
        let plan = small(4, 1, f64::INFINITY, 4, 4);
        let ends: Vec<f64> = (1..5).map(|draw| counted(&plan, draw).mapped).collect();
        assert!(ends.iter().all(|end| (end - 3.5).abs() < 1e-9), "{ends:?}");
    }

    /// 24 maps on one node of eight cores, six places beside its AppMaster, 1.5 s each and 1 s of a core. Asked for at 1
    /// s and given at 1.1 s, at one heartbeat, six are launched at 2 s and end at 3.5 s; their places are given at once,
    /// and the next ones launched at 4 s, 6 s and 8 s.
    #[test]
    fn places_of_maps_that_end_are_given_at_once() {
        let plan = small(1, 1, f64::INFINITY, 24, 1);
        let end = counted(&plan, 1).mapped;
        assert!((end - 9.5).abs() < 1e-9, "{end}");
    }
}
