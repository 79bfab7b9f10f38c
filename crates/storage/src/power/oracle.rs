//! What a disk would draw at least, had it known every request in advance: the yardstick of the policies.
//!
//! The requests of a disk and their service times make busy periods and gaps between them. In each gap the disk stays
//! idle or rests at one depth, and the wear budget bounds how often it has stood by until then. A dynamic programme
//! over the gaps, backwards, finds the cheapest choice (states: gap, rests in standby so far).
//!
//! No policy can beat it, because each choice is counted at less than any policy pays for it:
//!
//! - A request for a disk at rest waits for the drive's two moves and for other motors at most. The oracle's requests
//!   wait that long for nothing: what is served late shortens the gaps behind it, which is a gain.
//! - A rest costs its two moves, and the power of its depth for what the longest such wait leaves of the gap.
//! - Loads of the heads have no limit here, and a bucket that overflows loses nothing.

use super::budget::Budget;
use super::profile::{Depth, Profile};
use units::{Energy, Time};

/// A request of a disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Visit {
    /// When it arrives.
    pub at: Time,
    /// How long the ready disk works for it.
    pub service: Time,
    /// What the disk draws for it.
    pub energy: Energy,
}

/// The limits that the policies have, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The deepest that the disk may rest; `None` is not at all.
    pub deepest: Option<Depth>,
    /// Rests in standby.
    pub spin_ups: Option<Budget>,
    /// Longest that a start was put off for other motors.
    pub stagger: Time,
    /// Whether requests may wait for a disk at rest, as they do under the policies. If not, the disk is ready when they
    /// come: the problem of the literature on competitive spin-down.
    pub patient: bool,
}

/// A time between two busy periods of a disk that never rests.
#[derive(Clone, Copy, Debug)]
struct Gap {
    start: f64,
    /// Infinite behind the last request.
    end: f64,
    /// The first request behind it.
    next: usize,
}

/// A depth's costs, in joules beyond what the same time in the drive's deepest state would draw.
struct Choice {
    depth: Depth,
    moves: f64,
    length: f64,
    rest: f64,
    down: f64,
    down_time: f64,
    /// Longest that a request behind such a rest waits.
    late: f64,
    /// Shortest gap for such a rest.
    least: f64,
}

/// The least energy until `end`, by which all visits must have been served. `visits` are in order of arrival.
pub fn least(profile: &Profile, visits: &[Visit], limits: &Limits, end: Time) -> Energy {
    Energy::from_joules(Oracle::new(profile, visits, limits, end).least())
}

/// Collects visits of a disk with many: a visit that follows the one before within a second is joined to it.
///
/// Its service is then counted before the gap instead of behind it. Any schedule of the disk can be re-ordered so, at
/// the same cost, so the least over the joined visits is not above that over the single ones.
#[derive(Clone, Debug, Default)]
pub struct Visits {
    all: Vec<Visit>,
    /// The end of the last one.
    until: Time,
}

impl Visits {
    /// Gaps that are closed.
    const JOINED: Time = Time::from_secs(1);

    /// A busy period from the arrival of its first request to the end of its last, with what the disk worked in it.
    pub fn add(&mut self, visit: Visit, until: Time) {
        match self.all.last_mut() {
            Some(last) if visit.at.saturating_sub(self.until) < Self::JOINED => {
                last.service += visit.service;
                last.energy += visit.energy;
            }
            _ => self.all.push(visit),
        }
        self.until = until.max(self.until);
    }
    /// All of them, in order of arrival.
    pub fn all(&self) -> &[Visit] {
        &self.all
    }
}

/// What the disk draws if it never rests.
pub fn always_on(profile: &Profile, visits: &[Visit], end: Time) -> Energy {
    let (service, energy) =
        visits.iter().fold((Time::ZERO, Energy::default()), |(t, e), v| (t + v.service, e + v.energy));
    energy + profile.idle.over(end.saturating_sub(service))
}

struct Oracle<'a> {
    visits: &'a [Visit],
    gaps: Vec<Gap>,
    choices: Vec<Choice>,
    budget: Option<Budget>,
    end: f64,
    /// Idle power beyond the deepest state's.
    idle: f64,
    /// What cannot be saved: service, and the deepest state's power for the rest of the time.
    base: f64,
}

impl<'a> Oracle<'a> {
    fn new(profile: &Profile, visits: &'a [Visit], limits: &Limits, end: Time) -> Self {
        let depths = Depth::ALL.into_iter().filter(|depth| limits.deepest.is_some_and(|deepest| *depth <= deepest));
        let rests: Vec<_> = depths.filter_map(|depth| Some((depth, profile.rest(depth)?))).collect();
        let floor = rests.last().map_or(profile.idle, |(_, rest)| rest.power).as_watts();
        let choice = |(depth, rest): (Depth, &super::profile::Rest)| {
            let length = (rest.down.time + rest.up.time).as_secs_f64();
            Choice {
                depth,
                moves: (rest.down.energy + rest.up.energy).as_joules() - floor * length,
                length,
                rest: rest.power.as_watts() - floor,
                down: rest.down.energy.as_joules() - rest.down.time.as_secs_f64() * floor,
                down_time: rest.down.time.as_secs_f64(),
                late: if limits.patient { length + limits.stagger.as_secs_f64() } else { 0.0 },
                least: if limits.patient { 0.0 } else { length },
            }
        };
        let (service, energy) =
            visits.iter().fold((0.0, 0.0), |(t, e), v| (t + v.service.as_secs_f64(), e + v.energy.as_joules()));
        let end = end.as_secs_f64();
        Self {
            gaps: gaps(visits),
            choices: rests.into_iter().map(choice).collect(),
            budget: limits.spin_ups,
            idle: profile.idle.as_watts() - floor,
            base: energy + floor * (end - service),
            visits,
            end,
        }
    }

    fn least(&self) -> f64 {
        let allowed = self.budget.map_or(0, |budget| budget.until(Time::from_secs_f64(self.end))) as usize;
        let most = allowed.min(self.gaps.len());
        let rests = most + 1;
        // From each gap on with so many rests so far: if the disk was ready in the gap before, and behind each choice.
        let mut ready = vec![vec![0.0; rests]; self.gaps.len() + 1];
        let mut behind = vec![vec![vec![0.0; rests]; self.choices.len()]; self.gaps.len()];
        for gap in (0..self.gaps.len()).rev() {
            for (number, choice) in self.choices.iter().enumerate() {
                let (next, start) = self.resume(gap, choice.late);
                for taken in 0..rests {
                    behind[gap][number][taken] = self.best(next, start, taken, &ready, &behind);
                }
            }
            for taken in 0..rests {
                ready[gap][taken] = self.best(gap, self.gaps[gap].start, taken, &ready, &behind);
            }
        }
        self.base + ready[0][0]
    }

    /// The cheapest from a gap on that begins at `start`, with so many rests in standby so far.
    fn best(&self, at: usize, start: f64, taken: usize, ready: &[Vec<f64>], behind: &[Vec<Vec<f64>>]) -> f64 {
        let Some(gap) = self.gaps.get(at) else { return 0.0 };
        let last = gap.end == f64::INFINITY;
        let length = (gap.end.min(self.end) - start).max(0.0);
        let mut best = self.idle * length + ready[at + 1][taken];
        for (number, choice) in self.choices.iter().enumerate() {
            let standby = choice.depth == Depth::Standby;
            let latest = Time::from_secs_f64(gap.end.min(self.end));
            let allowed = !standby || self.budget.is_some_and(|budget| budget.until(latest) as usize > taken);
            if !allowed || (!last && length < choice.least) {
                continue;
            }
            let cost = if last {
                // It need not come back, and the end may cut it off on its way.
                let part = if length < choice.down_time { length / choice.down_time } else { 1.0 };
                choice.down * part + choice.rest * (length - choice.down_time).max(0.0)
            } else {
                choice.moves + choice.rest * (length - choice.length).max(0.0)
            };
            let then = behind[at][number].get(taken + usize::from(standby));
            // More rests than gaps there cannot be.
            let Some(then) = then else { continue };
            best = best.min(cost + then);
        }
        best
    }

    /// The gap that is left when the requests behind a gap are served so late, and where it then begins.
    fn resume(&self, gap: usize, late: f64) -> (usize, f64) {
        let mut next = gap + 1;
        let Some(first) = self.visits.get(self.gaps[gap].next) else { return (self.gaps.len(), self.end) };
        let mut free = first.at.as_secs_f64() + late;
        let mut visit = self.gaps[gap].next;
        while let Some(following) = self.gaps.get(next) {
            while visit < following.next {
                free += self.visits[visit].service.as_secs_f64();
                visit += 1;
            }
            if free < following.end {
                return (next, free);
            }
            next += 1;
        }
        (self.gaps.len(), self.end)
    }
}

/// The gaps of a disk that is always ready: one before the first request, one behind the last.
fn gaps(visits: &[Visit]) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut free = 0.0;
    for (number, visit) in visits.iter().enumerate() {
        let at = visit.at.as_secs_f64();
        if at > free {
            gaps.push(Gap { start: free, end: at, next: number });
            free = at;
        }
        free += visit.service.as_secs_f64();
    }
    gaps.push(Gap { start: free, end: f64::INFINITY, next: visits.len() });
    gaps
}
