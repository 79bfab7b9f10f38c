//! Amounts that flow through links at max-min fair rates (Bertsekas and Gallager, Data Networks, 6.5.2), each flow below
//! a cap of its own.
//!
//! Flows with the same links and the same cap are one class: they have one rate. Classes that the same link holds back
//! have one rate, too: they are that link's *group*. A group has a clock that counts what one flow of it has got, so a
//! change of its rate touches no flow: a flow ends when the clock reaches a mark. A class that is held back by its cap
//! is a group of its own.

mod agenda;
mod fill;

use agenda::Agenda;
use des::{Slab, define_index};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

define_index! {
    /// An amount that flows.
    pub FluidId;
    /// Flows of the same links and cap.
    ClassIndex
}

/// The weight of a flow that takes as much of a link as its rate.
pub const WHOLE: u32 = 1 << 16;

/// A link on a flow's way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Hop {
    /// The link's number.
    pub link: u32,
    /// What the flow takes of it as a part of its rate, in units of 1 / [`WHOLE`]; not zero.
    pub weight: u32,
}

/// A positive number with a total order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Mark(u64);

impl Mark {
    fn new(value: f64) -> Self {
        // The bits of positive numbers are in the order of the numbers.
        Self(value.max(0.0).to_bits())
    }
    const fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

#[derive(Debug, Default)]
struct Link {
    capacity: f64,
    /// What its flows take together.
    load: f64,
    /// Its classes.
    members: Vec<u32>,
    /// It holds flows back.
    saturated: bool,
    /// Weights of all its flows.
    weight: u64,
    // Of the computation in progress:
    seen: u32,
    /// What is left for the flows that have no rate yet, and their weights.
    rest: f64,
    open: u64,
    /// Classes beyond it have been looked at.
    expanded: bool,
}

#[derive(Debug)]
struct Class {
    cap: f64,
    /// What a flow of it has got is its group's clock and this.
    offset: f64,
    /// The mark of its next flow to end, as it stands in its group.
    head: Option<Mark>,
    /// Its flows by the marks at which they end, those that were taken out among them.
    flows: BinaryHeap<Reverse<(Mark, u32)>>,
}

/// What of a class is looked at again and again: few bytes, so that many classes stay in the processor's cache.
#[derive(Clone, Copy, Debug)]
struct Hot {
    rate: f64,
    /// How many flows.
    count: u32,
    /// The computation that has taken it in, and the next number when that has given it its rate.
    seen: u32,
    first_hop: u32,
    hops: u32,
    group: u32,
}

impl Hot {
    /// Where its hops stand.
    fn places(&self) -> Range<usize> {
        self.first_hop as usize..(self.first_hop + self.hops) as usize
    }
}

impl Link {
    /// A rate that no flow on it is held below.
    fn least_share(&self) -> f64 {
        self.capacity * f64::from(WHOLE) / self.weight.max(1) as f64
    }
}

/// Classes of one rate.
#[derive(Debug, Default)]
struct Group {
    rate: f64,
    /// What a flow has got that was always in it.
    clock: f64,
    /// The time at which the clock was right, in seconds.
    at: f64,
    /// Its classes by their heads; a class that has left, or whose head has changed, may still stand here.
    heads: BinaryHeap<Reverse<(Mark, u32)>>,
}

impl Group {
    fn advance(&mut self, now: f64) {
        self.clock += self.rate * (now - self.at);
        self.at = now;
    }
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    class: u32,
    end: Mark,
}

/// Links, and what flows through them.
#[derive(Debug)]
pub struct Fluid {
    links: Vec<Link>,
    classes: Slab<ClassIndex, Class>,
    hot: Vec<Hot>,
    known: BTreeMap<(Box<[Hop]>, u64), ClassIndex>,
    /// The hops of all classes, and where a class stands among the members of the link.
    hops: Vec<(Hop, u32)>,
    /// Groups of links at even places (2 l), of classes at odd ones (2 c + 1).
    groups: Vec<Group>,
    flows: Slab<FluidId, Flow>,
    agenda: Agenda,
    fill: fill::Fill,
}

impl Fluid {
    /// Links of these capacities, in units per second.
    pub fn new(capacities: impl IntoIterator<Item = f64>) -> Self {
        let links: Vec<Link> = capacities.into_iter().map(|capacity| Link { capacity, ..Link::default() }).collect();
        let mut groups = Vec::new();
        groups.resize_with(2 * links.len(), Group::default);
        Self {
            links,
            classes: Slab::new(),
            hot: Vec::new(),
            known: BTreeMap::new(),
            hops: Vec::new(),
            groups,
            flows: Slab::new(),
            agenda: Agenda::default(),
            fill: fill::Fill::default(),
        }
    }

    /// A flow of `amount` begins along `path` at `cap` at most. Rates are as before until [`Fluid::settle`]. A path
    /// has each link once.
    pub fn start(&mut self, now: f64, path: &[Hop], cap: f64, amount: f64) -> FluidId {
        let index = self.class(path, cap);
        let end = Mark::new(self.served(now, index.0) + amount);
        let id = self.flows.insert(Flow { class: index.0, end });
        self.change_count(now, index.0, true);
        if let Some(class) = self.classes.get_mut(index) {
            class.flows.push(Reverse((end, id.0)));
        }
        self.renew_head(index.0);
        id
    }

    /// Takes a flow out. Returns what is left of its amount at a time; none if it has ended.
    pub fn stop(&mut self, now: f64, id: FluidId) -> Option<f64> {
        let left = self.left(now, id)?;
        let flow = self.flows.remove(id)?;
        self.change_count(now, flow.class, false);
        self.renew_head(flow.class);
        Some(left)
    }

    /// What is left of a flow at a time.
    pub fn left(&self, now: f64, id: FluidId) -> Option<f64> {
        let flow = self.flows.get(id)?;
        Some((flow.end.value() - self.served(now, flow.class)).max(0.0))
    }

    /// The rate of a flow.
    pub fn rate(&self, id: FluidId) -> Option<f64> {
        let class = self.flows.get(id)?.class;
        Some(self.hot[class as usize].rate)
    }

    /// What flows through a link, in units per second.
    pub fn load(&self, link: u32) -> f64 {
        self.links[link as usize].load
    }

    /// Changes a link's capacity. Rates are as before until [`Fluid::settle`].
    pub fn set_capacity(&mut self, link: u32, capacity: f64) {
        let at = &mut self.links[link as usize];
        if at.capacity.to_bits() == capacity.to_bits() {
            return;
        }
        at.capacity = capacity;
        let held = if at.saturated { self.groups[2 * link as usize].rate } else { f64::INFINITY };
        let level = held.min(at.least_share());
        // It may hold back now: its classes are looked at in any case.
        at.saturated = true;
        self.fill.changed(link, level);
    }
    /// A link's capacity.
    pub fn capacity(&self, link: u32) -> f64 {
        self.links[link as usize].capacity
    }

    /// When the next flow ends if nothing changes, in seconds.
    pub fn next_end(&self) -> Option<f64> {
        self.agenda.first().map(|(time, _)| time)
    }

    /// The next flow that has got its amount by now, or will within a nanosecond. It is there until it is stopped or
    /// extended.
    pub fn ended(&self, now: f64) -> Option<FluidId> {
        let (_, group) = self.agenda.first().filter(|(time, _)| *time <= now + 1e-9)?;
        let Reverse((_, class)) = *self.groups[group as usize].heads.peek()?;
        let Reverse((_, flow)) = *self.classes.get(ClassIndex(class))?.flows.peek()?;
        Some(FluidId(flow))
    }

    /// Adds to a flow's amount. No rate changes.
    pub fn extend(&mut self, id: FluidId, amount: f64) {
        let Some(flow) = self.flows.get_mut(id) else { return };
        flow.end = Mark::new(flow.end.value() + amount);
        let Flow { class, end } = *flow;
        if let Some(class) = self.classes.get_mut(ClassIndex(class)) {
            class.flows.push(Reverse((end, id.0)));
        }
        self.renew_head(class);
    }

    // === Classes and groups ===

    fn class(&mut self, path: &[Hop], cap: f64) -> ClassIndex {
        if let Some(known) = self.known.get(&(path.into(), cap.to_bits())) {
            return *known;
        }
        let (first_hop, hops) = (units::count(self.hops.len()), units::count(path.len()));
        let class = Class { cap, offset: 0.0, head: None, flows: BinaryHeap::new() };
        self.hops.extend(path.iter().map(|hop| (*hop, 0)));
        let index = self.classes.insert(class);
        // Classes are never taken out, so their numbers follow each other.
        self.hot.push(Hot { rate: 0.0, count: 0, seen: 0, first_hop, hops, group: 2 * index.0 + 1 });
        self.fill.capped += u32::from(cap < f64::INFINITY);
        let least = 2 * index.0 as usize + 2;
        if self.groups.len() < least {
            self.groups.resize_with(least, Group::default);
        }
        self.known.insert((path.into(), cap.to_bits()), index);
        index
    }

    /// What a flow has got by now that was always in a class.
    fn served(&self, now: f64, class: u32) -> f64 {
        let offset = self.classes.get(ClassIndex(class)).map_or(0.0, |class| class.offset);
        let group = &self.groups[self.hot[class as usize].group as usize];
        group.clock + group.rate * (now - group.at) + offset
    }

    /// A class has one flow more or less.
    fn change_count(&mut self, now: f64, index: u32, more: bool) {
        let hot = &mut self.hot[index as usize];
        let (before, rate) = (hot.count, hot.rate);
        hot.count = if more { before + 1 } else { before - 1 };
        let places = hot.places();
        let mut least = self.classes.get(ClassIndex(index)).map_or(f64::INFINITY, |class| class.cap);
        for place in places.clone() {
            let (hop, position) = self.hops[place];
            let link = &mut self.links[hop.link as usize];
            let share = rate * (f64::from(hop.weight) / f64::from(WHOLE));
            if more {
                link.weight += u64::from(hop.weight);
                link.load += share;
            } else {
                link.weight -= u64::from(hop.weight);
                link.load -= share;
            }
            least = least.min(link.least_share());
            if before == 0 {
                self.hops[place].1 = units::count(link.members.len());
                link.members.push(index);
            } else if !more && before == 1 {
                link.members.swap_remove(position as usize);
                if let Some(moved) = link.members.get(position as usize).copied() {
                    self.reposition(moved, hop.link, position);
                }
            }
        }
        if more {
            self.fill.gained(index, least);
        } else {
            self.fill.lost(rate, self.hops[places].iter().map(|(hop, _)| hop.link));
            if before == 1 {
                self.rest(now, index);
            }
        }
    }

    /// A class without flows has no rate, and a group of its own that stands still.
    fn rest(&mut self, now: f64, index: u32) {
        let own = 2 * index + 1;
        let group = &mut self.groups[own as usize];
        group.advance(now);
        group.rate = 0.0;
        let Some(class) = self.classes.get_mut(ClassIndex(index)) else { return };
        let hot = &mut self.hot[index as usize];
        hot.rate = 0.0;
        let left = std::mem::replace(&mut hot.group, own);
        class.offset = 0.0;
        class.head = None;
        class.flows.clear();
        self.renew_group(left);
        self.renew_group(own);
    }

    fn reposition(&mut self, class: u32, link: u32, position: u32) {
        let places = self.hot[class as usize].places();
        if let Some(hop) = self.hops[places].iter_mut().find(|(hop, _)| hop.link == link) {
            hop.1 = position;
        }
    }

    /// The next flow of a class to end may be another one, or the class has come to its group.
    fn renew_head(&mut self, index: u32) {
        let Some(class) = self.classes.get_mut(ClassIndex(index)) else { return };
        while let Some(Reverse((end, flow))) = class.flows.peek() {
            // A place in the slab may have been given away again.
            if self.flows.get(FluidId(*flow)).is_some_and(|known| known.class == index && known.end == *end) {
                break;
            }
            class.flows.pop();
        }
        let head = class.flows.peek().map(|Reverse((end, _))| Mark::new(end.value() - class.offset));
        let group = self.hot[index as usize].group;
        if head != class.head {
            class.head = head;
            if let Some(head) = head {
                self.groups[group as usize].heads.push(Reverse((head, index)));
            }
        }
        self.renew_group(group);
    }

    /// The next flow of a group to end may be another one, or comes at another time.
    fn renew_group(&mut self, index: u32) {
        let group = &mut self.groups[index as usize];
        while let Some(Reverse((head, class))) = group.heads.peek() {
            let here = self.hot[*class as usize].group == index;
            if here && self.classes.get(ClassIndex(*class)).is_some_and(|class| class.head == Some(*head)) {
                break;
            }
            group.heads.pop();
        }
        let next = group
            .heads
            .peek()
            .filter(|_| group.rate > 0.0)
            .map(|Reverse((head, _))| group.at + ((head.value() - group.clock) / group.rate).max(0.0));
        self.agenda.set(index, next);
    }
}
