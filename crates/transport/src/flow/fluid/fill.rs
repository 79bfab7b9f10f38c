//! Rates by progressive filling, for what a change touches.
//!
//! All flows rise together; when a link is full its flows have their rate, and the others go on. Up to the level at
//! which a changed flow was held back, or can be at the earliest, nothing is different from before. Above it only those
//! flows can be that are connected with the change by links that hold back.

use super::{ClassIndex, Fluid, Link, Mark, WHOLE};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const NO_LINK: u32 = u32::MAX;

/// What has changed since rates were computed, and buffers for the computation.
#[derive(Debug, Default)]
pub(super) struct Fill {
    /// Up to this rate everything is as before.
    level: f64,
    /// Links and classes that have changed.
    links: Vec<u32>,
    classes: Vec<u32>,
    stamp: u32,
    /// Links in this computation.
    seen: Vec<u32>,
    /// Links whose classes are to be looked at.
    expand: Vec<u32>,
    /// The rates at which links are full, or lower.
    full: BinaryHeap<Reverse<(Mark, u32)>>,
    /// Caps of classes.
    caps: BinaryHeap<Reverse<(Mark, u32)>>,
    /// Classes that have a cap.
    pub capped: u32,
    /// Groups whose first mark, clock or rate has changed.
    groups: Vec<u32>,
}

impl Fill {
    fn lower(&mut self, level: f64) {
        self.level = if self.links.is_empty() && self.classes.is_empty() { level } else { self.level.min(level) };
    }
    /// A class that had `rate` has lost a flow.
    pub fn lost(&mut self, rate: f64, links: impl Iterator<Item = u32>) {
        self.lower(rate);
        self.links.extend(links);
    }
    /// A class has got a flow, whose rate is at least `level`.
    pub fn gained(&mut self, class: u32, level: f64) {
        self.lower(level);
        self.classes.push(class);
    }
    /// A link has changed, without effect on rates below `level`.
    pub fn changed(&mut self, link: u32, level: f64) {
        self.lower(level);
        self.links.push(link);
    }
}

impl Link {
    /// The rate at which it is full, if all its flows without a rate get the same.
    fn full_at(&self) -> f64 {
        self.rest.max(0.0) * f64::from(WHOLE) / self.open as f64
    }
}

impl Fluid {
    /// Computes the rates anew that changes have touched, from a time on.
    pub fn settle(&mut self, now: f64) {
        if self.fill.links.is_empty() && self.fill.classes.is_empty() {
            return;
        }
        if self.fill.stamp > u32::MAX - 4 {
            self.hot.iter_mut().for_each(|hot| hot.seen = 0);
            self.links.iter_mut().for_each(|link| link.seen = 0);
            self.fill.stamp = 0;
        }
        self.fill.stamp += 2;
        // A little lower: rates that are equal but for rounding rise together again.
        let level = self.fill.level * (1.0 - 1e-9);
        for class in std::mem::take(&mut self.fill.classes) {
            self.gather(class);
        }
        for link in std::mem::take(&mut self.fill.links) {
            self.see(link);
            if self.links[link as usize].saturated {
                self.fill.expand.push(link);
            }
        }
        self.expand(level);
        let mut full = std::mem::take(&mut self.fill.full).into_vec();
        for link in &self.fill.seen {
            let at = &mut self.links[*link as usize];
            at.saturated = false;
            if at.open > 0 {
                full.push(Reverse((Mark::new(at.full_at()), *link)));
            }
        }
        self.fill.full = BinaryHeap::from(full);
        self.rise(now);
        for link in std::mem::take(&mut self.fill.seen) {
            let at = &mut self.links[link as usize];
            at.load = if at.weight == 0 { 0.0 } else { at.capacity - at.rest };
        }
        for group in std::mem::take(&mut self.fill.groups) {
            self.renew_group(group);
        }
    }

    /// Takes a link into the computation.
    fn see(&mut self, link: u32) {
        let at = &mut self.links[link as usize];
        if at.seen != self.fill.stamp {
            at.seen = self.fill.stamp;
            at.rest = at.capacity - at.load;
            at.open = 0;
            at.expanded = false;
            self.fill.seen.push(link);
        }
    }

    /// Takes a class's rate away.
    fn gather(&mut self, index: u32) {
        let hot = &mut self.hot[index as usize];
        if hot.seen >= self.fill.stamp || hot.count == 0 {
            return;
        }
        hot.seen = self.fill.stamp;
        let (rate, count, places) = (hot.rate, u64::from(hot.count), hot.places());
        if self.fill.capped > 0
            && let Some(class) = self.classes.get(ClassIndex(index)).filter(|class| class.cap < f64::INFINITY)
        {
            self.fill.caps.push(Reverse((Mark::new(class.cap), index)));
        }
        for place in places {
            let hop = self.hops[place].0;
            self.see(hop.link);
            let at = &mut self.links[hop.link as usize];
            let weight = u64::from(hop.weight) * count;
            at.rest += rate * (weight as f64 / f64::from(WHOLE));
            at.open += weight;
            if at.saturated && !at.expanded {
                self.fill.expand.push(hop.link);
            }
        }
    }

    /// Takes in all classes at or above a rate that are connected by links that hold back.
    fn expand(&mut self, level: f64) {
        while let Some(link) = self.fill.expand.pop() {
            let at = &mut self.links[link as usize];
            if std::mem::replace(&mut at.expanded, true) {
                continue;
            }
            let members = std::mem::take(&mut at.members);
            for index in &members {
                let hot = &self.hot[*index as usize];
                if hot.seen < self.fill.stamp && (hot.rate >= level || hot.rate <= 0.0) {
                    self.gather(*index);
                }
            }
            self.links[link as usize].members = members;
        }
    }

    fn await_full(&mut self, link: u32) {
        let at = &self.links[link as usize];
        if at.open > 0 {
            self.fill.full.push(Reverse((Mark::new(at.full_at()), link)));
        }
    }

    /// Rates rise until every class has one.
    fn rise(&mut self, now: f64) {
        loop {
            let full = self.fill.full.peek().map(|Reverse(first)| *first);
            if let Some(Reverse((cap, index))) = self.fill.caps.peek().copied()
                && full.is_none_or(|(level, _)| cap <= level)
            {
                self.fill.caps.pop();
                if self.hot[index as usize].seen == self.fill.stamp {
                    self.give(index, cap.value(), (2 * index + 1, NO_LINK), now);
                    self.set_rate(2 * index + 1, cap.value(), now);
                }
                continue;
            }
            let Some((mark, link)) = full else { break };
            let at = &self.links[link as usize];
            if at.open == 0 {
                self.fill.full.pop();
                continue;
            }
            let level = at.full_at();
            if level > mark.value() * (1.0 + 1e-12) {
                // It was awaited too early: since then other flows of it have got less than their part.
                if let Some(mut first) = self.fill.full.peek_mut() {
                    *first = Reverse((Mark::new(level), link));
                }
                continue;
            }
            self.fill.full.pop();
            if at.expanded {
                self.fill_up(link, level, now);
            } else {
                // It has held nobody back before: the others that go through it may go faster than this.
                let known = self.fill.seen.len();
                self.fill.expand.push(link);
                self.expand(level);
                for place in known..self.fill.seen.len() {
                    self.links[self.fill.seen[place] as usize].saturated = false;
                }
                // What has been taken in may fill links that were known as well, earlier than they are awaited.
                for place in 0..self.fill.seen.len() {
                    self.await_full(self.fill.seen[place]);
                }
            }
        }
        self.fill.caps.clear();
    }

    /// A link is full: its flows without a rate have theirs.
    fn fill_up(&mut self, link: u32, level: f64, now: f64) {
        self.links[link as usize].saturated = true;
        self.set_rate(2 * link, level, now);
        let members = std::mem::take(&mut self.links[link as usize].members);
        for index in &members {
            if self.hot[*index as usize].seen == self.fill.stamp {
                self.give(*index, level, (2 * link, link), now);
            }
        }
        let at = &mut self.links[link as usize];
        at.members = members;
        at.rest -= level * (at.open as f64 / f64::from(WHOLE));
        at.open = 0;
    }

    fn set_rate(&mut self, group: u32, rate: f64, now: f64) {
        let at = &mut self.groups[group as usize];
        at.advance(now);
        at.rate = rate;
        self.fill.groups.push(group);
    }

    /// Gives a class its rate as part of a group. The link `full` is done with all its classes together.
    fn give(&mut self, index: u32, rate: f64, (group, full): (u32, u32), now: f64) {
        let hot = &mut self.hot[index as usize];
        hot.seen = self.fill.stamp + 1;
        hot.rate = rate;
        let changes = hot.group != group;
        let (places, count) = (hot.places(), u64::from(hot.count));
        for (hop, _) in &self.hops[places] {
            if hop.link == full {
                continue;
            }
            let at = &mut self.links[hop.link as usize];
            let weight = u64::from(hop.weight) * count;
            at.rest -= rate * (weight as f64 / f64::from(WHOLE));
            at.open -= weight;
        }
        if changes {
            self.join(index, group, now);
        }
    }

    /// A class joins another group.
    fn join(&mut self, index: u32, group: u32, now: f64) {
        let left = std::mem::replace(&mut self.hot[index as usize].group, group);
        let Some(class) = self.classes.get_mut(ClassIndex(index)) else { return };
        self.groups[left as usize].advance(now);
        self.groups[group as usize].advance(now);
        let served = self.groups[left as usize].clock + class.offset;
        class.offset = served - self.groups[group as usize].clock;
        class.head = class.flows.peek().map(|Reverse((end, _))| Mark::new(end.value() - class.offset));
        if let Some(head) = class.head {
            self.groups[group as usize].heads.push(Reverse((head, index)));
        }
        self.fill.groups.push(left);
    }
}
