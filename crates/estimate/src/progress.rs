//! How tasks go on from one event to the next.

use crate::count::{Attempt, Count, Reducer, Step};
use crate::links::{Flows, rates};
use crate::plan::Plan;

impl Count<'_> {
    /// Sets how fast each attempt goes on, and each read.
    pub(crate) fn set_speeds(&mut self) {
        let Plan { nodes, cores, disks, map, .. } = *self.plan;
        let (mut busy, mut at_work) = (vec![0.0_f64; nodes], vec![0.0_f64; nodes]);
        for attempt in &self.attempts {
            let works = attempt.step != Step::Launch && attempt.left > 0.0;
            busy[attempt.node] += f64::from(works);
            at_work[attempt.node] += f64::from(works && attempt.step == Step::Work);
        }
        for attempt in &mut self.attempts {
            let crowd = (busy[attempt.node] / cores).max(1.0);
            let beside = at_work[attempt.node];
            let seconds = match attempt.step {
                Step::Launch => map.delay,
                Step::Start => map.start * crowd,
                Step::Work => {
                    let own = (map.cpu - map.beside).max(map.cpu * busy[attempt.node] / cores);
                    let busiest = own.max(map.disk * (beside / disks).max(1.0)).max(map.link * beside);
                    busiest * self.plan.sizes[attempt.map]
                }
                Step::Tail => map.tail * crowd * self.plan.sizes[attempt.map],
            };
            attempt.speed = if attempt.left > 0.0 { 1.0 / seconds.max(1e-6) } else { 0.0 };
        }
        self.set_rates();
    }
    /// Sets how fast bytes come, when other reads and fetches go on than at the last look, and now and then.
    fn set_rates(&mut self) {
        let now = self.now;
        let reads = |attempt: &Attempt| attempt.step == Step::Work && attempt.bytes > 0.0;
        let fetches = |reducer: &Reducer| reducer.begins <= now && reducer.behind() > 0.0;
        let reading = self.attempts.iter().filter(|attempt| reads(attempt)).count();
        let fetching = self.reducers.iter().filter(|reducer| fetches(reducer)).count();
        let is_new = self.attempts.iter().any(|attempt| reads(attempt) && attempt.rate <= 0.0);
        if !is_new && self.flowing == (reading, fetching) && now < self.due {
            return;
        }
        (self.flowing, self.due) = ((reading, fetching), now + (now / 50.0).max(0.25));
        let of = |attempt: &Attempt| Flows { from: attempt.from, to: attempt.node, count: 1.0 };
        let mut flows: Vec<Flows> = self.attempts.iter().filter(|attempt| reads(attempt)).map(of).collect();
        let mut on_node = vec![0.0_f64; self.plan.nodes];
        for reducer in self.reducers.iter().filter(|reducer| fetches(reducer)) {
            on_node[reducer.node] += 1.0;
            let hosts = reducer.backlog.iter().filter(|bytes| **bytes > 0.0).count() as f64;
            let count = (self.plan.copies / hosts).min(1.0);
            let from = (0..self.plan.nodes).filter(|from| reducer.backlog[*from] > 0.0);
            flows.extend(from.map(|from| Flows { from, to: reducer.node, count }));
        }
        let rates = rates(self.plan, &flows);
        for attempt in &mut self.attempts {
            attempt.rate = 0.0;
        }
        for (attempt, rate) in self.attempts.iter_mut().filter(|attempt| reads(attempt)).zip(&rates) {
            attempt.rate = *rate;
        }
        let mut fetched = flows.iter().zip(rates).skip(reading);
        for reducer in &mut self.reducers {
            reducer.rates.fill(0.0);
            if !fetches(reducer) {
                continue;
            }
            let hosts = reducer.backlog.iter().filter(|bytes| **bytes > 0.0).count();
            for (flow, rate) in fetched.by_ref().take(hosts) {
                reducer.rates[flow.from] = flow.count * rate;
            }
            let sum: f64 = reducer.rates.iter().sum();
            let here = on_node[reducer.node];
            let intake = self.plan.intakes[(here as usize).clamp(1, self.plan.intakes.len()) - 1];
            let whole = self.plan.output * self.plan.maps as f64 / self.plan.reducers as f64;
            let crowd = (here / self.plan.cores).max(1.0) / whole.max(1.0);
            // Seconds per byte: the transfer and the merges that stop it, or what goes on beside it.
            let each = (1.0 / sum + intake.merged * crowd).max(intake.beside * crowd);
            for rate in &mut reducer.rates {
                *rate /= sum * each;
            }
        }
    }
    /// When the next step or read ends, or a reducer begins; and while reducers fetch not later than in a little while.
    pub(crate) fn next_end(&self) -> f64 {
        let mut next = f64::INFINITY;
        for attempt in &self.attempts {
            if attempt.speed > 0.0 {
                next = next.min(self.now + attempt.left / attempt.speed);
            }
            if attempt.rate > 0.0 && attempt.bytes > 0.0 {
                next = next.min(self.now + attempt.bytes / attempt.rate);
            }
        }
        for reducer in self.reducers.iter().filter(|reducer| reducer.begins > self.now) {
            next = next.min(reducer.begins);
        }
        if self.flowing.1 > 0 { next.min(self.due) } else { next }
    }
    pub(crate) fn advance(&mut self, seconds: f64) {
        for attempt in &mut self.attempts {
            attempt.left -= attempt.speed * seconds;
            attempt.bytes -= attempt.rate * seconds;
            if attempt.left < 1e-9 {
                attempt.left = 0.0;
            }
            if attempt.bytes < 1.0 {
                attempt.bytes = 0.0;
            }
        }
        for reducer in &mut self.reducers {
            for (backlog, rate) in reducer.backlog.iter_mut().zip(&reducer.rates) {
                let left = *backlog - rate * seconds;
                *backlog = if left < 1.0 { 0.0 } else { left };
            }
        }
    }
    pub(crate) fn end_steps(&mut self) {
        let mut ended = Vec::new();
        for (n, attempt) in self.attempts.iter_mut().enumerate() {
            if attempt.step == Step::Work && attempt.report <= self.now {
                let read = 1.0 - attempt.bytes / (self.plan.block * self.plan.sizes[attempt.map]).max(1.0);
                attempt.known = Some((1.0 - attempt.left).min(read) * 2.0 / 3.0);
                attempt.report += self.plan.report;
            }
            while attempt.left <= 0.0 && attempt.bytes * f64::from(attempt.step == Step::Work) <= 0.0 {
                attempt.left = 1.0;
                attempt.step = match attempt.step {
                    Step::Launch if self.plan.map.start > 0.0 => Step::Start,
                    Step::Launch | Step::Start => {
                        (attempt.known, attempt.report) = (Some(0.0), self.now + self.plan.report);
                        Step::Work
                    }
                    Step::Work if self.plan.map.tail > 0.0 => Step::Tail,
                    Step::Work | Step::Tail => {
                        ended.push(n);
                        break;
                    }
                };
            }
        }
        let maps: Vec<(usize, usize, f64)> =
            ended.iter().map(|&n| (self.attempts[n].map, self.attempts[n].node, self.attempts[n].granted)).collect();
        for (map, node, granted) in maps {
            if std::mem::replace(&mut self.done[map], true) {
                continue;
            }
            self.maps_done += 1;
            self.mapped = self.now;
            self.seconds += self.now - granted;
            let output = self.plan.output * self.plan.sizes[map];
            self.made[node] += output;
            for reducer in self.reducers.iter_mut().filter(|reducer| reducer.node != node) {
                reducer.backlog[node] += output * reducer.part;
            }
            self.offers.forget(map);
            for attempt in self.attempts.iter().filter(|attempt| attempt.map == map) {
                self.offers.ended[attempt.node][0] += 1.0;
            }
            self.attempts.retain(|attempt| attempt.map != map);
        }
    }
}
