//! Amounts that flow through links at max-min fair rates (Bertsekas and Gallager, Data Networks, 6.5.2), each flow below
//! a cap of its own.
//!
//! Flows with the same links and the same cap are one class: they have one rate. Classes that the same link holds back
//! have one rate, too: they are that link's *group*. A group has a clock that counts what one flow of it has got, so a
//! change of its rate touches no flow: a flow ends when the clock reaches a mark. A class that is held back by its cap
//! is a group of its own.

mod agenda;
mod levels;

use agenda::Agenda;
use des::{Slab, define_index};
use levels::Work;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
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
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hop {
    /// The link's number.
    pub link: u32,
    /// What the flow takes of it as a part of its rate, in units of 1 / [`WHOLE`]; not zero.
    pub weight: u32,
    /// It takes this before those that are not ahead here, which share what is left. A link holds back flows that are
    /// ahead only where these alone would take more than all of it. A flow is to take less where it is ahead than where it
    /// is not: otherwise several answers are fair, for with more it takes more from those that make room for it.
    pub ahead: bool,
}

/// The precision of rates at flow level. Changes below it are not passed on from link to link: in a large network each
/// flow that ends would change all.
pub const PRECISION: f64 = 1e-4;

/// The part of a link that is left to flows however much others take that are ahead of them.
const LEAST: f64 = 1.0 / 16.0;

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
    /// What flows that are ahead leave of it.
    room: f64,
    /// Classes that it holds back, and the weight of their flows.
    held: Vec<Member>,
    open: f64,
    /// Its other classes; what their flows take together is in its [`Sum`], the weight of those that nothing holds back
    /// here.
    others: Vec<Member>,
    unbounded: f64,
    /// No cap of a class that it holds is below this.
    lowest_cap: f64,
    /// Its level has changed since rates were given.
    changed: bool,
}

/// What a link is told when another one changes: apart from the rest, so that it stays in the processor's cache.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    /// What flows take together that other links, or caps, hold back.
    taken: f64,
    /// No rate of these is above this.
    highest: f64,
    /// As long as these are within what stands here, the link's level need not be computed: looked at for each flow
    /// that another link holds.
    least_taken: f64,
    most_taken: f64,
    most_highest: f64,
    /// The link's level is to be computed.
    dirty: bool,
    /// Its flows are ahead of others, who are to be told what they take.
    told_later: bool,
}

/// A class on a link: which passage it is, and its weight. Of a class with one other passage also that one's link and
/// weight: then nothing need be looked up elsewhere.
#[derive(Clone, Copy, Debug)]
struct Member {
    place: u32,
    class: u32,
    /// The link of its only other passage; [`MANY`] where there are none or several.
    other: u32,
    weight: f64,
    elsewhere: f64,
}

/// No link's number.
const MANY: u32 = u32::MAX;

#[derive(Debug)]
struct Class {
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
    cap: f64,
    /// How many flows.
    count: u32,
    first_hop: u32,
    hops: u32,
    /// What holds it back, as its group is numbered: a link, or its cap.
    holder: u32,
    /// Its group, which follows its holder when rates are given.
    group: u32,
    /// It may have to follow.
    moving: bool,
}

impl Hot {
    /// Where its hops stand.
    fn places(&self) -> Range<usize> {
        self.first_hop as usize..(self.first_hop + self.hops) as usize
    }
}

/// A class on a link.
#[derive(Clone, Copy, Debug)]
struct Passage {
    link: u32,
    /// Where it stands among the classes that the link holds back, or among the others.
    position: u32,
    /// The weight of all its flows.
    weight: f64,
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
    /// All links, and then all once more for those flows that are ahead there.
    links: Vec<Link>,
    sums: Vec<Sum>,
    /// The rate to which each link holds flows back; infinite if it holds nobody back.
    levels: Vec<f64>,
    classes: Slab<ClassIndex, Class>,
    hot: Vec<Hot>,
    /// Classes by their paths, and by the bits of their caps. Only looked up, so that their order says nothing.
    known: HashMap<Box<[Hop]>, Vec<(u64, ClassIndex)>>,
    /// Of all classes the links on their ways, and the weights of a flow there.
    passages: Vec<Passage>,
    weights: Vec<u32>,
    /// Groups of links at even places (2 l), of classes at odd ones (2 c + 1).
    groups: Vec<Group>,
    flows: Slab<FluidId, Flow>,
    agenda: Agenda,
    work: Work,
    precision: f64,
}

impl Fluid {
    /// Links of these capacities, in units per second. Rates are to a part `precision`: what a link does for flows
    /// changes only when it should by more than that, so no link carries more or less by more than that part of it.
    pub fn new(capacities: impl IntoIterator<Item = f64>, precision: f64) -> Self {
        let capacities: Vec<f64> = capacities.into_iter().collect();
        let link = |capacity: &f64| Link { capacity: *capacity, room: *capacity, ..Link::default() };
        let links: Vec<Link> = capacities.iter().chain(&capacities).map(link).collect();
        let mut groups = Vec::new();
        groups.resize_with(2 * links.len(), Group::default);
        Self {
            sums: vec![Sum::default(); links.len()],
            levels: vec![f64::INFINITY; links.len()],
            links,
            classes: Slab::new(),
            hot: Vec::new(),
            known: HashMap::new(),
            passages: Vec::new(),
            weights: Vec::new(),
            groups,
            flows: Slab::new(),
            agenda: Agenda::default(),
            work: Work::default(),
            precision: precision.max(1e-12),
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
        Some(self.groups[self.hot[class as usize].group as usize].rate)
    }

    /// What flows through a link, in units per second.
    pub fn load(&self, link: u32) -> f64 {
        self.share(link) + self.share(self.ahead(link))
    }

    /// The place of those that are ahead on a link.
    fn ahead(&self, link: u32) -> u32 {
        link + units::count(self.links.len() / 2)
    }
    fn is_ahead(&self, link: u32) -> bool {
        link as usize >= self.links.len() / 2
    }
    /// The link as those have it that are not ahead on it.
    fn behind(&self, ahead: u32) -> u32 {
        ahead - units::count(self.links.len() / 2)
    }
    fn share(&self, link: u32) -> f64 {
        let (open, taken) = (self.links[link as usize].open, self.sums[link as usize].taken);
        if open > 0.0 { taken + open * self.levels[link as usize] } else { taken }
    }

    /// Flows that take something of a link and are not ahead there, the way that classes came there.
    pub fn on(&self, link: u32) -> impl Iterator<Item = FluidId> {
        let link = &self.links[link as usize];
        link.held.iter().chain(&link.others).map(|member| member.class).flat_map(move |class| {
            let flows = self.classes.get(ClassIndex(class)).into_iter().flat_map(|class| class.flows.iter());
            // Those that were taken out are among them.
            flows.filter_map(move |Reverse((end, id))| {
                let current = |flow: &&Flow| flow.class == class && flow.end == *end;
                self.flows.get(FluidId(*id)).filter(current).map(|_| FluidId(*id))
            })
        })
    }

    /// Changes a link's capacity. Rates are as before until [`Fluid::settle`].
    pub fn set_capacity(&mut self, link: u32, capacity: f64) {
        let ahead = self.ahead(link);
        self.links[link as usize].capacity = capacity;
        (self.links[ahead as usize].capacity, self.links[ahead as usize].room) = (capacity, capacity);
        self.touch(ahead);
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
        let known = self.known.get(path).and_then(|known| known.iter().find(|(bits, _)| *bits == cap.to_bits()));
        if let Some((_, known)) = known {
            return *known;
        }
        let (first_hop, hops) = (units::count(self.passages.len()), units::count(path.len()));
        let index = self.classes.insert(Class { offset: 0.0, head: None, flows: BinaryHeap::new() });
        for hop in path {
            let link = if hop.ahead { self.ahead(hop.link) } else { hop.link };
            self.passages.push(Passage { link, position: 0, weight: 0.0 });
        }
        self.weights.extend(path.iter().map(|hop| hop.weight));
        // Classes are never taken out, so their numbers follow each other.
        let own = 2 * index.0 + 1;
        self.hot.push(Hot { cap, count: 0, first_hop, hops, holder: own, group: own, moving: false });
        if self.groups.len() <= own as usize {
            self.groups.resize_with(own as usize + 1, Group::default);
        }
        self.known.entry(path.into()).or_default().push((cap.to_bits(), index));
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
        hot.count = if more { hot.count + 1 } else { hot.count - 1 };
        let hot = *hot;
        let (rate, begins) = (self.held_to(index), more && hot.count == 1);
        for place in hot.places() {
            let Passage { link, weight: before, .. } = self.passages[place];
            let weight = f64::from(self.weights[place]) * f64::from(hot.count) / f64::from(WHOLE);
            self.passages[place].weight = weight;
            if hot.holder == 2 * link {
                self.links[link as usize].open += weight - before;
            } else {
                self.give(link, rate, weight - before);
            }
            if begins {
                let member = Member { place: place as u32, class: index, other: MANY, weight, elsewhere: 0.0 };
                self.put_on(member, false);
            }
        }
        for place in hot.places() {
            let Passage { link, position, weight, .. } = self.passages[place];
            let is_holder = hot.holder == 2 * link;
            if hot.count == 0 {
                self.take_off(place as u32, is_holder);
            } else {
                let other = (hot.hops == 2).then(|| self.passages[2 * hot.first_hop as usize + 1 - place]);
                let link = &mut self.links[link as usize];
                let list = if is_holder { &mut link.held } else { &mut link.others };
                let member = &mut list[position as usize];
                member.weight = weight;
                (member.other, member.elsewhere) = other.map_or((MANY, 0.0), |other| (other.link, other.weight));
            }
            self.touch(link);
        }
        if hot.count == 0 {
            self.rest(now, index);
        } else if begins {
            self.move_later(index);
        }
    }

    /// Puts a class among those that a link holds back, or among the others.
    fn put_on(&mut self, member: Member, held: bool) {
        let passage = &mut self.passages[member.place as usize];
        let link = &mut self.links[passage.link as usize];
        let list = if held { &mut link.held } else { &mut link.others };
        passage.position = units::count(list.len());
        list.push(member);
    }
    /// Takes a class from those that a link holds back, or from the others.
    fn take_off(&mut self, place: u32, held: bool) -> Member {
        let Passage { link: number, position, .. } = self.passages[place as usize];
        let link = &mut self.links[number as usize];
        let list = if held { &mut link.held } else { &mut link.others };
        let member = list.swap_remove(position as usize);
        if let Some(moved) = list.get(position as usize) {
            self.passages[moved.place as usize].position = position;
        } else if link.others.is_empty() {
            // What rounding has left of many sums is not kept.
            self.sums[number as usize] = Sum { taken: 0.0, highest: 0.0, ..self.sums[number as usize] };
        }
        member
    }

    /// A class without flows has no rate, and a group of its own that stands still.
    fn rest(&mut self, now: f64, index: u32) {
        let own = 2 * index + 1;
        let group = &mut self.groups[own as usize];
        group.advance(now);
        group.rate = 0.0;
        let Some(class) = self.classes.get_mut(ClassIndex(index)) else { return };
        let hot = &mut self.hot[index as usize];
        hot.holder = own;
        let left = std::mem::replace(&mut hot.group, own);
        class.offset = 0.0;
        class.head = None;
        class.flows.clear();
        self.renew_group(left);
        self.renew_group(own);
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
        let next = group.heads.peek().filter(|_| group.rate > 0.0).map_or(f64::INFINITY, |Reverse((head, _))| {
            group.at + ((head.value() - group.clock) / group.rate).max(0.0)
        });
        self.agenda.set(index, next);
    }
}
