//! Rates, for what a change touches.
//!
//! A full link holds flows back to a rate, its *level*: what the flows that are held elsewhere leave, shared by those
//! that it holds. Rates are max-min fair when no flow passes a link whose level is below its rate. So a link whose
//! level comes to be below the rate of a flow takes the flow over: it holds it now. Levels are computed, the lowest
//! first, of links of which something has changed, until nothing changes by more than the precision asked for. A link
//! is touched by another through the flows that the other holds, so what a change touches has higher levels than it,
//! and most links are computed once. (Charny, "An Algorithm for Rate Allocation in a Packet-Switching Network With
//! Feedback", MIT/LCS/TR-601, 1994, proves for switches that compute so, each by itself, that they come to the fair
//! rates: those of the lowest level are right first, then the next.)

use super::{ClassIndex, Fluid, Hot, LEAST, MANY, Mark, Member, Passage};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// So often are flows told at one time what others take that are ahead of them. Each time what is wrong becomes less, by
/// about the weight that those have there.
const ROUNDS: u32 = 64;

/// What is to be done until rates are right again.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// Links whose levels are to be computed, by what their levels were, or are likely to be.
    dirty: BinaryHeap<Reverse<(Mark, u32)>>,
    /// Links where flows that are ahead may take more or less than the others there have been told.
    ahead: Vec<u32>,
    /// Links whose levels have changed, and classes that may have come to other groups.
    changed: Vec<u32>,
    moving: Vec<u32>,
    /// Groups whose first mark, clock or rate has changed.
    groups: Vec<u32>,
    /// Passages of classes that a link takes over, and the rates that they had.
    arrivals: Vec<(Member, f64)>,
}

impl Fluid {
    /// Computes the rates anew that changes have touched, from a time on.
    pub fn settle(&mut self, now: f64) {
        // What flows take that are ahead is told when it is settled: on the way there it goes up and down.
        for round in 1..=ROUNDS {
            while let Some(Reverse((_, link))) = self.work.dirty.pop() {
                self.renew_level(link);
            }
            if round < ROUNDS {
                self.make_room();
            }
            if self.work.dirty.is_empty() {
                break;
            }
        }
        let mut moving = std::mem::take(&mut self.work.moving);
        for class in moving.drain(..) {
            self.follow(class, now);
        }
        self.work.moving = moving;
        let mut changed = std::mem::take(&mut self.work.changed);
        for link in changed.drain(..) {
            self.links[link as usize].changed = false;
            let level = self.levels[link as usize];
            self.set_rate(2 * link, if level < f64::INFINITY { level } else { 0.0 }, now);
        }
        self.work.changed = changed;
        let mut groups = std::mem::take(&mut self.work.groups);
        for group in groups.drain(..) {
            self.renew_group(group);
        }
        self.work.groups = groups;
    }

    /// The rate to which a class is held back; infinite if nothing does.
    pub(super) fn held_to(&self, class: u32) -> f64 {
        let Hot { holder, cap, .. } = self.hot[class as usize];
        if holder % 2 == 0 { self.levels[holder as usize / 2] } else { cap }
    }

    /// The passages of a class on other links.
    fn elsewhere(&self, member: Member) -> impl Iterator<Item = usize> + use<> {
        self.hot[member.class as usize].places().filter(move |place| *place != member.place as usize)
    }

    /// Flows of a weight that a link does not hold get a rate; with a negative weight, had one.
    pub(super) fn give(&mut self, link: u32, rate: f64, weight: f64) {
        let sum = &mut self.sums[link as usize];
        if rate < f64::INFINITY {
            sum.taken += rate * weight;
        } else {
            self.links[link as usize].unbounded += weight;
        }
        sum.highest = if rate > sum.highest { rate } else { sum.highest };
    }

    /// Whether a link holds nobody back and has no reason to.
    fn is_idle(&self, link: u32) -> bool {
        let (taken, link) = (self.sums[link as usize].taken, &self.links[link as usize]);
        link.open <= 0.0 && link.unbounded <= 0.0 && taken <= link.room * (1.0 + self.precision)
    }

    /// A link's level if it holds whom it holds, and those that nothing holds: at most what it comes to be.
    fn level(&self, link: u32) -> f64 {
        let (taken, link) = (self.sums[link as usize].taken, &self.links[link as usize]);
        let weight = link.open + link.unbounded;
        if weight > 0.0 { (link.room - taken).max(0.0) / weight } else { 0.0 }
    }

    /// Whether a link's level need not be computed: it holds nobody back and has no reason to, or holds who it should at
    /// a level that is near enough.
    fn is_as_it_was(&self, number: u32) -> bool {
        let old = self.levels[number as usize];
        if old == f64::INFINITY {
            return self.is_idle(number);
        }
        let (level, link) = (self.level(number), &self.links[number as usize]);
        link.open > 0.0
            && link.unbounded <= 0.0
            && level >= old * (1.0 - self.precision)
            && level <= old * (1.0 + self.precision)
            && level <= link.lowest_cap * (1.0 + self.precision)
            && self.sums[number as usize].highest <= level.min(old) * (1.0 + self.precision)
    }

    /// Notes within which sums [`Self::is_as_it_was`] would say so, as long as nothing else of a link changes.
    fn note_bounds(&mut self, number: u32) {
        let (old, part) = (self.levels[number as usize], self.precision);
        let (link, sum) = (&self.links[number as usize], &mut self.sums[number as usize]);
        // A link that holds nobody is full at its room.
        let bounds = if old < f64::INFINITY {
            let highest_level = old.min(link.lowest_cap) * (1.0 + part);
            let lowest_level = old * (1.0 - part);
            (link.room - link.open * highest_level, link.room - link.open * lowest_level, lowest_level * (1.0 + part))
        } else {
            (f64::NEG_INFINITY, link.room * (1.0 + part), f64::INFINITY)
        };
        (sum.least_taken, sum.most_taken, sum.most_highest) = bounds;
    }

    /// Something of a link has changed: its level is computed anew if need be.
    pub(super) fn touch(&mut self, number: u32) {
        self.note_ahead(number);
        let level = self.levels[number as usize];
        if self.sums[number as usize].dirty {
            return;
        }
        if self.is_as_it_was(number) {
            self.note_bounds(number);
            return;
        }
        let likely = if level < f64::INFINITY {
            level
        } else {
            let (taken, link) = (self.sums[number as usize].taken, &self.links[number as usize]);
            (link.room - taken) / link.unbounded.max(f64::MIN_POSITIVE)
        };
        self.sums[number as usize].dirty = true;
        self.work.dirty.push(Reverse((Mark::new(likely), number)));
    }

    /// Flows that are ahead may take more or less of a link: the others there share what is left.
    fn note_ahead(&mut self, number: u32) {
        if self.is_ahead(number) && !std::mem::replace(&mut self.sums[number as usize].told_later, true) {
            self.work.ahead.push(number);
        }
    }

    /// Tells flows what those that are ahead of them leave.
    fn make_room(&mut self) {
        let mut links = std::mem::take(&mut self.work.ahead);
        for ahead in links.drain(..) {
            self.sums[ahead as usize].told_later = false;
            let (taken, number) = (self.share(ahead), self.behind(ahead));
            let link = &mut self.links[number as usize];
            let room = (link.capacity - taken).max(LEAST * link.capacity);
            if (room - link.room).abs() > self.precision * link.capacity {
                link.room = room;
                self.touch(number);
            }
        }
        self.work.ahead = links;
    }

    /// A class may have to follow its holder.
    pub(super) fn move_later(&mut self, class: u32) {
        let hot = &mut self.hot[class as usize];
        if !std::mem::replace(&mut hot.moving, true) {
            self.work.moving.push(class);
        }
    }

    /// Computes a link's level, and tells the links that share the flows it holds what these get by it. Whom it holds
    /// have the old level until they are told: others that have more are measured by the lesser of the two.
    fn renew_level(&mut self, number: u32) {
        let old = self.levels[number as usize];
        self.sums[number as usize].dirty = false;
        self.release(number, old);
        let mut level = f64::INFINITY;
        let mut arrivals = std::mem::take(&mut self.work.arrivals);
        if !self.is_idle(number) {
            level = self.level(number);
            if self.sums[number as usize].highest > level.min(old) * (1.0 + self.precision) {
                level = self.find_arrivals(number, &mut arrivals);
            }
        }
        let above = old * (1.0 + self.precision);
        let is_told = level < old * (1.0 - self.precision) || level.max(self.sums[number as usize].highest) > above;
        if !arrivals.is_empty() || is_told {
            self.levels[number as usize] = level;
            self.note_change(number);
            self.pass_on(number, level - old);
            for (member, rate) in arrivals.drain(..) {
                self.take_over(member, rate, level);
            }
            if level > self.links[number as usize].lowest_cap * (1.0 + self.precision) {
                self.touch(number);
            }
        }
        self.work.arrivals = arrivals;
        self.note_bounds(number);
        self.note_ahead(number);
    }

    fn note_change(&mut self, link: u32) {
        if !std::mem::replace(&mut self.links[link as usize].changed, true) {
            self.work.changed.push(link);
        }
    }

    /// A link lets classes go whose caps are below what it would hold them to. They had the rate `old`.
    fn release(&mut self, number: u32, old: f64) {
        loop {
            let level = self.level(number);
            let link = &self.links[number as usize];
            if link.held.is_empty() || level <= link.lowest_cap * (1.0 + self.precision) {
                return;
            }
            let (mut lowest, mut position) = (f64::INFINITY, 0);
            while let Some(member) = self.links[number as usize].held.get(position).copied() {
                let Member { class, weight, .. } = member;
                let cap = self.hot[class as usize].cap;
                if cap >= level {
                    lowest = lowest.min(cap);
                    position += 1;
                    continue;
                }
                self.take_off(member.place, true);
                self.put_on(member, false);
                self.links[number as usize].open -= weight;
                self.give(number, cap, weight);
                self.hot[class as usize].holder = 2 * class + 1;
                self.move_later(class);
                for other in self.elsewhere(member) {
                    let Passage { link, weight, .. } = self.passages[other];
                    self.give(link, old, -weight);
                    self.give(link, cap, weight);
                    self.touch(link);
                }
            }
            self.links[number as usize].lowest_cap = lowest;
        }
    }

    /// Finds the classes that a link takes over from others since they have more than its level, and what they have.
    /// Returns the level that it comes to by that; infinite if it holds nobody.
    ///
    /// What flows take together as a function of the level is concave and made of straight pieces. Newton's method from
    /// below finds where it reaches the capacity: it does not go too far, and each step leaves a piece behind.
    fn find_arrivals(&mut self, number: u32, arrivals: &mut Vec<(Member, f64)>) -> f64 {
        let link = &self.links[number as usize];
        let rates = |member: &Member| (self.held_to(member.class), member.weight);
        let mut level = self.level(number);
        loop {
            let above = level * (1.0 + self.precision);
            let (mut taken, mut highest) = (0.0, 0.0_f64);
            let (mut open, mut lowest) = (link.open, f64::INFINITY);
            for member in &link.others {
                let (rate, weight) = rates(member);
                if rate > above {
                    open += weight;
                    lowest = lowest.min(rate);
                } else {
                    taken += rate * weight;
                    highest = highest.max(rate);
                }
            }
            let next = if open > 0.0 { (link.room - taken).max(0.0) / open } else { f64::INFINITY };
            if next <= lowest * (1.0 + self.precision) || lowest == f64::INFINITY {
                let members = link.others.iter().map(|member| (*member, rates(member).0));
                arrivals.extend(members.filter(|(_, rate)| *rate > above));
                let sum = &mut self.sums[number as usize];
                (sum.taken, sum.highest) = (taken, highest);
                self.links[number as usize].unbounded = 0.0;
                return next;
            }
            level = next;
        }
    }

    /// A link holds a class back from now on, which had another rate. Its own sums have been made.
    fn take_over(&mut self, member: Member, rate: f64, level: f64) {
        let Member { class, weight, .. } = member;
        let number = self.passages[member.place as usize].link;
        let Hot { holder, cap, .. } = self.hot[class as usize];
        self.take_off(member.place, false);
        self.put_on(member, true);
        let link = &mut self.links[number as usize];
        link.open += weight;
        link.lowest_cap = link.lowest_cap.min(cap);
        for other in self.elsewhere(member) {
            let Passage { link, weight, .. } = self.passages[other];
            if holder == 2 * link {
                let member = self.take_off(other as u32, true);
                self.put_on(member, false);
                self.links[link as usize].open -= weight;
            } else {
                self.give(link, rate, -weight);
            }
            self.give(link, level, weight);
            self.touch(link);
        }
        self.hot[class as usize].holder = 2 * number;
        self.move_later(class);
    }

    /// The level of a link has changed: so have the rates of all flows that it holds.
    fn pass_on(&mut self, number: u32, change: f64) {
        let held = std::mem::take(&mut self.links[number as usize].held);
        let level = self.levels[number as usize];
        for member in &held {
            if member.other != MANY {
                self.pass_to(member.other, level, change * member.elsewhere);
                continue;
            }
            for other in self.elsewhere(*member) {
                let Passage { link, weight, .. } = self.passages[other];
                self.pass_to(link, level, change * weight);
            }
        }
        self.links[number as usize].held = held;
    }

    /// Flows that another link holds have its level as their rate, and take more here by `change`.
    fn pass_to(&mut self, link: u32, level: f64, change: f64) {
        let sum = &mut self.sums[link as usize];
        sum.taken += change;
        sum.highest = if level > sum.highest { level } else { sum.highest };
        if sum.dirty {
            return;
        }
        let within = sum.taken >= sum.least_taken && sum.taken <= sum.most_taken && sum.highest <= sum.most_highest;
        if within {
            self.note_ahead(link);
        } else {
            self.touch(link);
        }
    }

    /// A class follows its holder: its group is that of the link that holds it, or its own with its cap.
    fn follow(&mut self, class: u32, now: f64) {
        let hot = &mut self.hot[class as usize];
        hot.moving = false;
        if hot.count == 0 {
            return;
        }
        let Hot { holder, group, cap, .. } = *hot;
        if holder != group {
            self.join(class, holder, now);
        }
        let own = 2 * class + 1;
        if holder == own && cap < f64::INFINITY && self.groups[own as usize].rate < cap {
            self.set_rate(own, cap, now);
        }
    }

    fn set_rate(&mut self, group: u32, rate: f64, now: f64) {
        let at = &mut self.groups[group as usize];
        at.advance(now);
        at.rate = rate;
        self.work.groups.push(group);
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
        self.work.groups.push(left);
        self.work.groups.push(group);
    }
}
