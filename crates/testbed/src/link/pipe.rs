//! One direction of a path as a state machine: frames in, and frames out at the times that a queue, a transmitter and a
//! wire determine.
//!
//! Disciplines and losses are those of `net`, with the same random streams. So a pipe drops and loses the same frames
//! as link number `index` of a simulated network with the same seed (`tests/it/model.rs`). A frame is an opaque
//! [`Item`]; the owner of the pipe holds its bytes.

use super::path::{Direction, Jitter, Reorder};
use super::trace::{Change, Trace};
use super::transmitter::Transmitter;
use des::RandomStream;
use net::{Item, Loss, Losses, Queue};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use units::{BitRate, Time};

/// One direction of a path at run time.
#[derive(Debug)]
pub struct Pipe {
    queue: Box<dyn Queue>,
    transmitter: Transmitter,
    wire: Wire,
    changes: Arc<[Change]>,
    changed: usize,
    /// The time up to which everything has happened.
    now: Time,
    dropped: Vec<Item>,
    counters: Counters,
}

/// Counters of frames in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counters {
    /// Frames offered to the queue.
    pub offered: u64,
    /// Frames dropped by the queue.
    pub dropped: u64,
    /// Frames lost on the wire.
    pub lost: u64,
    /// Frames held back for others to overtake.
    pub held_back: u64,
    /// Frames handed out at the far end.
    pub arrived: u64,
    /// Bytes of the frames that arrived.
    pub arrived_bytes: u64,
    /// Longest queue in frames.
    pub longest_queue: u64,
}

/// Frames in flight, ordered by arrival, then by departure.
#[derive(Debug)]
struct Wire {
    delay: Time,
    jitter: Jitter,
    reorder: Reorder,
    losses: Losses,
    random: RandomStream,
    held_back: RandomStream,
    flying: BinaryHeap<Reverse<Flight>>,
    departed: u64,
    /// The latest arrival among frames that keep their order.
    latest: Time,
}

#[derive(Debug)]
struct Flight {
    arrival: Time,
    departure: u64,
    item: Item,
}

impl Ord for Flight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.arrival, self.departure).cmp(&(other.arrival, other.departure))
    }
}

impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Flight {}

impl Pipe {
    /// An idle pipe that stands for link number `index` of a run with `seed`, on a path with this RTT.
    pub fn new(direction: &Direction, round_trip: Time, seed: u64, index: u64) -> Self {
        let (opportunities, changes) = match &direction.trace {
            Some(Trace::Opportunities(opportunities)) => (Some(opportunities.clone()), None),
            Some(Trace::Changes(changes)) => (None, Some(changes.clone())),
            None => (None, None),
        };
        let (limit, rate) = (direction.limit(round_trip), direction.queue_rate());
        Self {
            queue: direction.discipline.build(limit, rate, RandomStream::new(seed, "net/queue", index)),
            transmitter: Transmitter::new(direction.rate, opportunities),
            wire: Wire {
                delay: direction.delay,
                jitter: direction.jitter,
                reorder: direction.reorder,
                losses: Losses::new(direction.loss, seed, index),
                random: RandomStream::new(seed, "testbed/jitter", index),
                held_back: RandomStream::new(seed, "testbed/reorder", index),
                flying: BinaryHeap::new(),
                departed: 0,
                latest: Time::ZERO,
            },
            changes: changes.unwrap_or_default(),
            changed: 0,
            now: Time::ZERO,
            dropped: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// Offers a frame. Frames dropped or lost by then are appended to `gone`.
    pub fn offer(&mut self, now: Time, item: Item, gone: &mut Vec<Item>) {
        self.advance(now, gone);
        self.counters.offered += 1;
        self.queue.enqueue(self.now, item, &mut self.dropped);
        self.begin(self.now, gone);
        self.counters.longest_queue = self.counters.longest_queue.max(self.queue.len() as u64);
        self.account_dropped(gone);
    }

    /// Runs everything up to `now`, each event at its own time.
    pub fn advance(&mut self, now: Time, gone: &mut Vec<Item>) {
        loop {
            let sent = self.transmitter.next(!self.queue.is_empty());
            let changes = self.changes.get(self.changed).map_or(Time::MAX, |change| change.at);
            let next = sent.min(changes);
            if next > now {
                break;
            }
            if changes <= sent {
                self.change(next);
            } else {
                self.transmit(next, gone);
            }
        }
        self.transmitter.pass(now);
        self.now = self.now.max(now);
        self.account_dropped(gone);
    }

    /// Changes the rate; `None` is unlimited. The rest of the current frame is sent at the new rate. Recorded
    /// opportunities stay as they are.
    pub fn set_rate(&mut self, now: Time, rate: Option<BitRate>, gone: &mut Vec<Item>) {
        self.advance(now, gone);
        match rate {
            Some(rate) => self.transmitter.change_rate(self.now, rate),
            None => {
                if let Some(item) = self.transmitter.free() {
                    self.depart(self.now, item, gone);
                }
            }
        }
        self.begin(self.now, gone);
        self.account_dropped(gone);
    }

    /// The next frame that has arrived by `now`, and its arrival time. Called after [`Pipe::advance`].
    pub fn take_arrived(&mut self, now: Time) -> Option<(Time, Item)> {
        if self.wire.flying.peek()?.0.arrival > now {
            return None;
        }
        let Reverse(flight) = self.wire.flying.pop()?;
        self.counters.arrived += 1;
        self.counters.arrived_bytes += u64::from(flight.item.bytes);
        Some((flight.arrival, flight.item))
    }

    /// A time before which nothing arrives, if nothing is offered.
    pub fn deadline(&self) -> Time {
        let arrival = self.wire.flying.peek().map_or(Time::MAX, |flight| flight.0.arrival);
        let waiting = !self.queue.is_empty();
        if !waiting && self.transmitter.is_free() {
            return arrival;
        }
        let least = self.wire.delay.saturating_sub(self.wire.jitter.by);
        let sent = self.transmitter.next(waiting).saturating_add(least);
        let changes = self.changes.get(self.changed).map_or(Time::MAX, |change| change.at);
        arrival.min(sent).min(changes)
    }

    /// The counters so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The number of frames in the queue, in transmission and in flight.
    pub fn holds(&self) -> usize {
        self.queue.len() + usize::from(!self.transmitter.is_free()) + self.wire.flying.len()
    }

    /// The current frame is out, or an opportunity has come.
    fn transmit(&mut self, at: Time, gone: &mut Vec<Item>) {
        if let Some(mut bytes) = self.transmitter.take_opportunity(at) {
            loop {
                if self.transmitter.is_free() {
                    let Some(item) = self.queue.dequeue(at, &mut self.dropped) else { break };
                    self.transmitter.begin(at, item);
                }
                match self.transmitter.spend(&mut bytes) {
                    Some(item) => self.depart(at, item, gone),
                    None => break,
                }
            }
        } else if let Some(item) = self.transmitter.finish(at) {
            self.depart(at, item, gone);
            self.begin(at, gone);
        }
    }

    /// Starts waiting frames while the transmitter is free, unless it sends at opportunities.
    fn begin(&mut self, now: Time, gone: &mut Vec<Item>) {
        while self.transmitter.is_free() && !self.transmitter.has_opportunities() {
            let Some(item) = self.queue.dequeue(now, &mut self.dropped) else { break };
            if let Some(item) = self.transmitter.begin(now, item) {
                self.depart(now, item, gone);
            }
        }
    }

    fn depart(&mut self, now: Time, item: Item, gone: &mut Vec<Item>) {
        if self.wire.losses.next_is_lost() {
            self.counters.lost += 1;
            gone.push(item);
        } else {
            self.counters.held_back += u64::from(self.wire.carry(now, item));
        }
    }

    fn change(&mut self, at: Time) {
        let change = self.changes[self.changed];
        self.changed += 1;
        if let Some(rate) = change.rate {
            self.transmitter.change_rate(at, rate);
        }
        if let Some(loss) = change.loss {
            self.wire.losses.change(Loss::Random(loss));
        }
        self.wire.delay = change.delay.unwrap_or(self.wire.delay);
    }

    fn account_dropped(&mut self, gone: &mut Vec<Item>) {
        self.counters.dropped += self.dropped.len() as u64;
        gone.append(&mut self.dropped);
    }
}

impl Wire {
    /// Takes a frame that departs at `now`. True if it is held back.
    fn carry(&mut self, now: Time, item: Item) -> bool {
        let mut arrival = now + self.delay;
        if self.jitter.by > Time::ZERO {
            let by = self.jitter.by.as_secs_f64();
            arrival = (arrival + Time::from_secs_f64(self.random.range(0.0, 2.0 * by))).saturating_sub(self.jitter.by);
            arrival = arrival.max(now);
        }
        let held_back = self.reorder.share > 0.0 && self.held_back.chance(self.reorder.share);
        if held_back {
            arrival += self.reorder.by;
        } else if !self.jitter.reorders {
            arrival = arrival.max(self.latest);
            self.latest = arrival;
        }
        self.departed += 1;
        self.flying.push(Reverse(Flight { arrival, departure: self.departed, item }));
        held_back
    }
}
