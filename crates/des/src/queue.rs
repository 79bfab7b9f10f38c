//! The event queue: 4-ary heaps of plain records that keep a hole at their root.
//!
//! Chosen by measurement over a binary heap, a calendar queue and a ladder queue (`benches/queues.rs`; figures in
//! `docs/development/performance.md`).

use units::Time;

/// An event: when what happens to which thing. 24 bytes, by value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    time: Time,
    /// Insertion order in the upper 56 bits, kind in the lower 8: ties in time go by insertion order.
    order_kind: u64,
    /// The thing that the event is for: an index among the things of its kind.
    pub index: u32,
    /// A generation number where the event may be stale, else whatever its kind wants.
    pub arg: u32,
}

const _: () = assert!(size_of::<Event>() == 24);

impl Event {
    /// An event with a place in the total order; [`EventQueue::push`] makes these.
    pub const fn new(time: Time, order: u64, kind: u8, index: u32, arg: u32) -> Self {
        Self { time, order_kind: order << 8 | kind as u64, index, arg }
    }
    /// When it happens.
    pub const fn time(&self) -> Time {
        self.time
    }
    /// The kind of event, as the owner of the queue numbers them.
    pub const fn kind(&self) -> u8 {
        self.order_kind as u8
    }
    /// The event's place in the total order: time first, insertion order among equals.
    pub const fn key(&self) -> u128 {
        (self.time.as_ps() as u128) << 64 | self.order_kind as u128
    }
}

/// Pending events, earliest first, ties by insertion order.
///
/// Two heaps: what is far away, timers most of all, does not deepen the heap through which packets go.
#[derive(Debug, Clone, Default)]
pub struct EventQueue {
    near: Heap,
    far: Heap,
    /// Events before this are near when they are added.
    horizon: Time,
    pushed: u64,
}

/// Further away than this is far: longer than most links take, shorter than most timers.
const FAR: Time = Time::from_ms(5);

impl EventQueue {
    /// An empty queue.
    pub const fn new() -> Self {
        Self { near: Heap::new(), far: Heap::new(), horizon: FAR, pushed: 0 }
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, time: Time, kind: u8, index: u32, arg: u32) {
        let event = Event::new(time, self.pushed, kind, index, arg);
        self.pushed += 1;
        if time < self.horizon {
            self.near.push(event);
        } else {
            self.far.push(event);
        }
    }

    /// Takes out the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
        let event = match (self.near.first(), self.far.first()) {
            (Some(near), Some(far)) if near.key() < far.key() => self.near.take(near),
            (Some(near), None) => self.near.take(near),
            (_, Some(far)) => self.far.take(far),
            (None, None) => return None,
        };
        self.horizon = event.time.saturating_add(FAR);
        Some(event)
    }

    /// When the earliest event happens.
    #[inline]
    pub fn next_time(&mut self) -> Option<Time> {
        let firsts = self.near.first().into_iter().chain(self.far.first());
        firsts.map(|event| event.time).min()
    }

    /// The number of pending events.
    pub fn len(&self) -> usize {
        self.near.len() + self.far.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of events ever added.
    pub fn pushed(&self) -> u64 {
        self.pushed
    }
}

/// A 4-ary heap.
///
/// Most events cause exactly one successor: a link whose head packet has arrived waits for the next one. So taking the
/// first event leaves a hole at the root, and the next push fills it: one sift in place of two.
#[derive(Debug, Clone, Default)]
struct Heap {
    events: Vec<Event>,
    /// The root has been taken and not been replaced yet.
    hole: bool,
}

/// Children per node: a node's children share two cache lines, and the heap is half as deep as a binary one.
const ARITY: usize = 4;

impl Heap {
    const fn new() -> Self {
        Self { events: Vec::new(), hole: false }
    }

    fn len(&self) -> usize {
        self.events.len() - usize::from(self.hole)
    }

    #[inline]
    fn push(&mut self, event: Event) {
        if self.hole {
            self.hole = false;
            self.sift_down(event);
        } else {
            self.events.push(event);
            self.sift_up(event);
        }
    }

    /// The earliest event.
    #[inline]
    fn first(&mut self) -> Option<Event> {
        if self.hole {
            self.hole = false;
            if let Some(last) = self.events.pop()
                && !self.events.is_empty()
            {
                self.sift_down(last);
            }
        }
        self.events.first().copied()
    }

    /// Takes the event that `first` has just returned.
    #[inline]
    fn take(&mut self, first: Event) -> Event {
        self.hole = true;
        first
    }

    /// Places `event` from the root downwards; what is at the root is overwritten.
    #[inline]
    fn sift_down(&mut self, event: Event) {
        let heap = self.events.as_mut_slice();
        let key = event.key();
        let mut place = 0;
        loop {
            let first = place * ARITY + 1;
            let (least, least_key) = if let Some(children) = heap.get(first..first + ARITY) {
                // A tournament: the two first rounds do not wait for each other.
                let (a, b, c, d) = (children[0].key(), children[1].key(), children[2].key(), children[3].key());
                let (ab, ab_key) = if b < a { (1, b) } else { (0, a) };
                let (cd, cd_key) = if d < c { (3, d) } else { (2, c) };
                if cd_key < ab_key { (first + cd, cd_key) } else { (first + ab, ab_key) }
            } else {
                let Some(children) = heap.get(first..) else { break };
                let Some((offset, child)) = children.iter().enumerate().min_by_key(|(_, child)| child.key()) else {
                    break;
                };
                (first + offset, child.key())
            };
            if key <= least_key {
                break;
            }
            heap[place] = heap[least];
            place = least;
        }
        heap[place] = event;
    }

    /// Places `event` from the last leaf upwards.
    #[inline]
    fn sift_up(&mut self, event: Event) {
        let heap = self.events.as_mut_slice();
        let key = event.key();
        let mut place = heap.len() - 1;
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if heap[parent].key() <= key {
                break;
            }
            heap[place] = heap[parent];
            place = parent;
        }
        heap[place] = event;
    }
}
