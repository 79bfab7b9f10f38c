//! One direction of a link: a transmitter with its queue, then a wire.
//!
//! A plain FIFO link costs one event per packet. Its departure is known when it is queued: transmission starts when the packets before it
//! are out (and the token bucket allows). So queue, transmitter and wire are one ring of packets in order, and only the ring's head has
//! a pending event. (Csg-htsim's pipes keep such a ring for the wire; here it includes the queue.)

use crate::bond::BondError;
use crate::occupancy::Occupancy;
use crate::packet::{PacketId, Transit};
use crate::queue::{Discipline, Ecn, Item, Limit, Queue};
use crate::shaper::{TokenBucket, TokenBucketSpec};
use des::RandomStream;
use std::collections::VecDeque;
use thiserror::Error;
use units::{BitRate, Bytes, Time};

/// One direction of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkSpec {
    /// Rate of the transmitter.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Time,
    /// How much may wait for the transmitter.
    pub limit: Limit,
    /// Probability that a transmitted packet is lost on the wire.
    pub loss: f64,
    /// A token bucket in front of the transmitter.
    pub shaper: Option<TokenBucketSpec>,
    /// What its queue does beside holding no more than `limit`.
    pub discipline: Discipline,
}

impl LinkSpec {
    /// A loss-free link without shaping, whose queue holds 128 packets.
    pub const fn new(rate: BitRate, delay: Time) -> Self {
        Self { rate, delay, limit: Limit::Packets(128), loss: 0.0, shaper: None, discipline: Discipline::DropTail }
    }
    /// The same with another queue limit.
    pub const fn with_limit(mut self, limit: Limit) -> Self {
        self.limit = limit;
        self
    }
    /// The same with another discipline.
    pub const fn with_discipline(mut self, discipline: Discipline) -> Self {
        self.discipline = discipline;
        self
    }
    /// The same with random loss.
    pub const fn with_loss(mut self, loss: f64) -> Self {
        self.loss = loss;
        self
    }
    /// The same behind a token bucket, whose own limit replaces the queue's.
    pub const fn with_shaper(mut self, shaper: TokenBucketSpec, limit: Limit) -> Self {
        self.shaper = Some(shaper);
        self.limit = limit;
        self
    }

    /// Whether such a link can exist and carry a packet.
    pub fn check(&self) -> Result<(), SpecError> {
        const LONGEST: Bytes = Bytes::new(1_538);
        if self.rate == BitRate::default() {
            return Err(SpecError::Rate);
        }
        if !(0.0..=1.0).contains(&self.loss) {
            return Err(SpecError::Loss(self.loss));
        }
        match self.limit {
            Limit::Packets(0) => return Err(SpecError::Queue),
            Limit::Bytes(bytes) if bytes < LONGEST => return Err(SpecError::Queue),
            _ => {}
        }
        match self.shaper {
            Some(shaper) if shaper.rate == BitRate::default() => return Err(SpecError::Rate),
            Some(shaper) if shaper.burst < LONGEST => return Err(SpecError::Burst(shaper.burst)),
            _ => {}
        }
        self.discipline.check(self.limit, self.drain_rate())
    }

    /// Its queue as an object.
    pub(crate) fn queue(&self, seed: u64, index: u64) -> Box<dyn Queue> {
        self.discipline.build(self.limit, self.drain_rate(), RandomStream::new(seed, "net/queue", index))
    }

    /// The rate at which its queue empties: the token bucket's where that is slower.
    fn drain_rate(&self) -> BitRate {
        self.shaper.map_or(self.rate, |shaper| shaper.rate.min(self.rate))
    }
}

/// Why a [`LinkSpec`] cannot be.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum SpecError {
    /// A rate of zero.
    #[error("a link's rate must be above zero")]
    Rate,
    /// No probability.
    #[error("a loss of {0} is not a probability: it must lie between 0 and 1")]
    Loss(f64),
    /// A queue that can never hold a packet.
    #[error("the queue must hold at least one packet (1538 B with framing)")]
    Queue,
    /// A bucket that can never hold a packet's tokens.
    #[error("a burst of {0} is too small: the token bucket must hold at least one packet (1538 B with framing)")]
    Burst(Bytes),
    /// A discipline whose parameters contradict each other or the queue's limit.
    #[error("{0}")]
    Discipline(String),
    /// A bond that cannot be.
    #[error(transparent)]
    Bond(#[from] BondError),
}

/// What a link has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counters {
    /// Packets that the transmitter accepted (packet-hops).
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Packets that the queue dropped: it was full, or its discipline chose to.
    pub drops: u64,
    /// Packets that the queue marked with congestion experienced, of those that it has let go.
    pub marks: u64,
    /// Packets lost on the wire by chance.
    pub lost: u64,
    /// Packets lost because the link was or went down, carried nothing without a sign of it, or was not listened to by the end of a bond.
    pub lost_down: u64,
    /// The most packets that ever waited.
    pub longest_queue: u64,
}

/// A packet between its acceptance and its arrival: two to a cache line.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    start: Time,
    arrival: Time,
    item: Transit,
}

const _: () = assert!(size_of::<InFlight>() == 32);

/// What became of a packet that was offered to a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// It will arrive after what is ahead of it.
    Queued,
    /// It is the ring's only one: an event is needed at this time.
    Head(Time),
    /// The queue was full.
    Dropped,
    /// The link is down.
    Down,
}

#[derive(Debug)]
struct Loss {
    probability: f64,
    random: RandomStream,
}

/// The slow path: a discipline and what the link has to remember about it.
#[derive(Debug)]
struct Managed {
    queue: Box<dyn Queue>,
    /// When the number of waiting packets last changed.
    changed: Time,
    marks: u64,
    /// Reused for what the discipline drops.
    dropped: Vec<Item>,
}

impl Managed {
    fn new(queue: Box<dyn Queue>) -> Self {
        Self { queue, changed: Time::ZERO, marks: 0, dropped: Vec::new() }
    }
    /// Moves out what the discipline has dropped; returns how many they are.
    fn take_dropped(&mut self, gone: &mut Vec<PacketId>) -> u64 {
        let count = self.dropped.len() as u64;
        gone.extend(self.dropped.drain(..).map(|item| item.packet));
        count
    }
}

/// A transmission that a managed link has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    pub fate: Fate,
    /// When it is done.
    pub done: Time,
    pub packet: PacketId,
    /// What the queue has made of the packet's ECN field.
    pub ecn: Ecn,
}

/// One direction of a link at run time. The first two cache lines are all that a packet of a plain link touches.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Link {
    ring: VecDeque<InFlight>,
    /// When the transmitter is done with all that it has accepted.
    free_at: Time,
    delay: Time,
    /// Picoseconds per byte of a plain link. Zero sends packets the long way: the link is shaped, managed, lossy, captured or down, or its rate
    /// makes no whole number.
    plain_ps_per_byte: u32,
    generation: u32,
    /// How many packets at the front of the ring are known to have begun transmission; brought up to date when it matters.
    begun: u32,
    longest_queue: u32,
    /// Integral of the waiting packets over time, in packet-picoseconds, of all that are accepted: by Little's law the sum of their waits.
    waits: u128,
    limit: Limit,
    /// Bytes of those that are not known to have begun transmission.
    waiting_bytes: u64,
    packets: u64,
    bytes: u64,
    /// Transmission times of all that are accepted, in picoseconds.
    busy: u64,
    rate: BitRate,
    up: bool,
    captured: bool,
    /// Nothing arrives, and no carrier is missing.
    silent: bool,
    /// The end of a bond does not take in what arrives.
    ignored: bool,
    drops: u64,
    lost: u64,
    lost_down: u64,
    loss: Option<Loss>,
    shaper: Option<TokenBucket>,
    managed: Option<Box<Managed>>,
    /// How long its queue had each length, where that is watched.
    occupancy: Option<Box<Occupancy>>,
}

impl Link {
    pub(crate) fn new(spec: &LinkSpec, seed: u64, index: u64) -> Self {
        let loss = (spec.loss > 0.0)
            .then(|| Loss { probability: spec.loss, random: RandomStream::new(seed, "net/loss", index) });
        let mut link = Self {
            ring: VecDeque::new(),
            free_at: Time::ZERO,
            delay: spec.delay,
            plain_ps_per_byte: 0,
            generation: 0,
            begun: 0,
            longest_queue: 0,
            waits: 0,
            limit: spec.limit,
            waiting_bytes: 0,
            packets: 0,
            bytes: 0,
            busy: 0,
            rate: spec.rate,
            up: true,
            captured: false,
            silent: false,
            ignored: false,
            drops: 0,
            lost: 0,
            lost_down: 0,
            loss,
            shaper: spec.shaper.map(TokenBucket::new),
            managed: None,
            occupancy: None,
        };
        if spec.discipline != Discipline::DropTail {
            link.managed = Some(Box::new(Managed::new(spec.queue(seed, index))));
        }
        link.choose_path();
        link
    }

    /// Whether packets can go the short way; called whenever something changes on which it depends.
    fn choose_path(&mut self) {
        const PS: u64 = 8_000_000_000_000;
        let odd = self.captured || self.silent || self.ignored || self.occupancy.is_some();
        let special = !self.up || odd || self.loss.is_some() || self.shaper.is_some() || self.managed.is_some();
        let ps_per_byte =
            if self.rate.as_bps() > 0 && PS.is_multiple_of(self.rate.as_bps()) { PS / self.rate.as_bps() } else { 0 };
        self.plain_ps_per_byte = if special { 0 } else { u32::try_from(ps_per_byte).unwrap_or(0) };
    }

    /// What it has done so far.
    pub fn counters(&self) -> Counters {
        Counters {
            packets: self.packets,
            bytes: self.bytes,
            drops: self.drops,
            marks: self.managed.as_ref().map_or(0, |managed| managed.marks),
            lost: self.lost,
            lost_down: self.lost_down,
            longest_queue: self.longest_queue.into(),
        }
    }
    /// Rate of its transmitter.
    pub fn rate(&self) -> BitRate {
        self.rate
    }
    /// Propagation delay.
    pub fn delay(&self) -> Time {
        self.delay
    }
    /// Whether it carries packets.
    pub fn is_up(&self) -> bool {
        self.up
    }
    /// The token bucket in front of it.
    pub fn shaper(&self) -> Option<TokenBucketSpec> {
        self.shaper.as_ref().map(TokenBucket::spec)
    }
    /// Integral over time of the waiting packets, from the start to `now`, in packet-picoseconds: exact to the event.
    pub fn queue_integral(&self, now: Time) -> u128 {
        if let Some(managed) = &self.managed {
            return self.waits + waited(managed.queue.len(), managed.changed, now);
        }
        // Waits are added up when packets are accepted; what of them lies after `now` has not happened yet.
        let to_come: u128 =
            self.ring.iter().rev().map_while(|p| Some(u128::from(p.start.as_ps().checked_sub(now.as_ps())?))).sum();
        self.waits - to_come
    }
    /// How many packets wait for the transmitter at `now`, which must not lie before the last packet's acceptance.
    pub fn waiting(&self, now: Time) -> usize {
        match &self.managed {
            Some(managed) => managed.queue.len(),
            None => self.ring.iter().rev().take_while(|p| p.start > now).count(),
        }
    }
    /// How many bytes on the wire they are.
    pub fn waiting_bytes(&self, now: Time) -> u64 {
        match &self.managed {
            Some(managed) => managed.queue.bytes(),
            None => self.ring.iter().rev().take_while(|p| p.start > now).map(|p| u64::from(p.item.bytes)).sum(),
        }
    }
    /// Time for which the transmitter has been busy until `now`.
    pub fn busy(&self, now: Time) -> Time {
        let to_come: u64 = self
            .ring
            .iter()
            .rev()
            .take_while(|p| p.arrival - self.delay > now)
            .map(|p| {
                let end = p.arrival - self.delay;
                (end - p.start.max(now)).as_ps()
            })
            .sum();
        Time::from_ps(self.busy - to_come)
    }
    /// How many packets it holds: waiting, in transmission, or on the wire.
    pub fn holds(&self) -> u64 {
        (self.ring.len() + self.managed.as_ref().map_or(0, |managed| managed.queue.len())) as u64
    }

    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    /// Replaces drop-tail by a discipline; the link must be idle.
    pub(crate) fn manage(&mut self, queue: Box<dyn Queue>) {
        self.managed = Some(Box::new(Managed::new(queue)));
        self.choose_path();
    }

    /// From now on packets that are transmitted are to be kept for whoever watches.
    pub(crate) fn capture(&mut self) {
        self.captured = true;
        self.choose_path();
    }

    /// From `now` on keeps for how long the queue has each length, which costs a plain link its short way.
    pub(crate) fn watch(&mut self, now: Time) {
        self.see_begun(now);
        self.occupancy = Some(Box::new(Occupancy::new(now, self.waiting(now))));
        self.choose_path();
    }
    /// Picoseconds for which 0, 1, 2 packets and so on waited, from when it was watched to `now`, which must not lie before the last packet's
    /// acceptance; above 65,535 they count as so many.
    pub fn occupancy(&self, now: Time) -> Option<Vec<u64>> {
        let mut occupancy = self.occupancy.as_deref()?.clone();
        if self.managed.is_none() {
            for packet in self.ring.iter().skip(self.begun as usize).take_while(|packet| packet.start <= now) {
                occupancy.leave(packet.start);
            }
        }
        occupancy.set(now, 0);
        Some(occupancy.into_times())
    }
    /// Brings a watched plain queue up to date: packets have begun transmission since.
    fn see_begun_watched(&mut self, now: Time) {
        if let Some(occupancy) = self.occupancy.as_deref_mut().filter(|_| self.managed.is_none()) {
            for packet in self.ring.iter().skip(self.begun as usize).take_while(|packet| packet.start <= now) {
                occupancy.leave(packet.start);
            }
            self.see_begun(now);
        }
    }
    /// A managed queue's length may have changed.
    fn note_changed(&mut self, now: Time) {
        if let (Some(managed), Some(occupancy)) = (&self.managed, &mut self.occupancy) {
            occupancy.set(now, managed.queue.len());
        }
    }

    /// Offers a packet to a link that no discipline manages.
    #[inline]
    pub(crate) fn offer(&mut self, now: Time, item: Transit) -> Fate {
        if self.plain_ps_per_byte == 0 {
            return self.offer_special(now, item);
        }
        let start = self.free_at.max(now);
        if start > now && !self.wait(now, start, item.bytes) {
            return Fate::Dropped;
        }
        let time = Time::from_ps(u64::from(item.bytes) * u64::from(self.plain_ps_per_byte));
        self.transmit(start, time, item)
    }

    /// The same over a shaped or lossy link, or one that is down.
    #[cold]
    fn offer_special(&mut self, now: Time, item: Transit) -> Fate {
        if !self.up {
            self.lost_down += 1;
            return Fate::Down;
        }
        self.see_begun_watched(now);
        let mut start = self.free_at.max(now);
        if let Some(shaper) = &self.shaper {
            start = shaper.earliest(start, item.bytes);
        }
        if start > now && !self.wait(now, start, item.bytes) {
            return Fate::Dropped;
        }
        if let Some(shaper) = &mut self.shaper {
            shaper.take(start, item.bytes);
        }
        if let Some(occupancy) = &mut self.occupancy {
            // For no time at all, where its transmission begins at once.
            occupancy.enter(now);
        }
        self.transmit(start, self.rate.transmission_time(Bytes::new(item.bytes.into())), item)
    }

    /// Whether a packet that cannot begin before `start` finds room to wait.
    #[inline]
    fn wait(&mut self, now: Time, start: Time, bytes: u32) -> bool {
        self.see_begun(now);
        let waiting = self.ring.len() as u32 - self.begun;
        let fits = match self.limit {
            Limit::Packets(limit) => waiting < limit,
            Limit::Bytes(limit) => self.waiting_bytes + u64::from(bytes) <= limit.get(),
            Limit::Delay(limit) => start - now <= limit,
            Limit::Unlimited => true,
        };
        if !fits {
            self.drops += 1;
            return false;
        }
        self.longest_queue = self.longest_queue.max(waiting + 1);
        self.waits += u128::from((start - now).as_ps());
        true
    }

    /// Puts a packet on the ring whose transmission begins at `start` and takes `time`.
    #[inline]
    fn transmit(&mut self, start: Time, time: Time, item: Transit) -> Fate {
        self.free_at = start + time;
        let arrival = self.free_at + self.delay;
        self.waiting_bytes += u64::from(item.bytes);
        self.packets += 1;
        self.bytes += u64::from(item.bytes);
        self.busy += time.as_ps();
        let alone = self.ring.is_empty();
        self.ring.push_back(InFlight { start, arrival, item });
        if alone { Fate::Head(arrival) } else { Fate::Queued }
    }

    /// Counts the packets that have begun transmission by now.
    #[inline]
    fn see_begun(&mut self, now: Time) {
        while let Some(packet) = self.ring.get(self.begun as usize)
            && packet.start <= now
        {
            self.waiting_bytes -= u64::from(packet.item.bytes);
            self.begun += 1;
        }
    }

    /// The head of the ring arrives: what it is, and when the next one comes.
    #[inline]
    pub(crate) fn arrive(&mut self) -> Option<(Transit, Option<Time>)> {
        let head = self.ring.pop_front()?;
        if self.begun > 0 {
            self.begun -= 1;
        } else {
            self.waiting_bytes -= u64::from(head.item.bytes);
        }
        let next = self.ring.front().map(|next| next.arrival);
        if next.is_none() {
            // Begins again at the front of its memory, which is in cache.
            self.ring.clear();
        }
        Some((head.item, next))
    }

    /// From now on nothing that is sent arrives, or it does again.
    pub(crate) fn set_silent(&mut self, silent: bool) {
        self.silent = silent;
        self.choose_path();
    }
    /// From now on what arrives is not taken in, or it is again.
    pub(crate) fn set_ignored(&mut self, ignored: bool) {
        self.ignored = ignored;
        self.choose_path();
    }
    /// Whether nothing arrives although the link is up.
    pub fn is_silent(&self) -> bool {
        self.silent
    }
    /// Probability that a packet is lost on the wire.
    pub(crate) fn loss(&self) -> f64 {
        self.loss.as_ref().map_or(0.0, |loss| loss.probability)
    }

    /// Whether packets may be lost on the wire or are watched: [`Link::inspect`] says.
    #[inline]
    pub(crate) fn is_special(&self) -> bool {
        self.plain_ps_per_byte == 0
    }

    /// Of the packet that arrives next: whether the wire has lost it, and when its transmission began if packets are captured.
    pub(crate) fn inspect(&mut self) -> (bool, Option<Time>) {
        if self.occupancy.is_some()
            && let Some(head) = self.ring.front()
        {
            self.see_begun_watched(head.arrival);
        }
        let lost = self.loss.as_mut().is_some_and(|loss| loss.random.chance(loss.probability));
        self.lost += u64::from(lost);
        let unheard = !lost && (self.silent || self.ignored);
        self.lost_down += u64::from(unheard);
        let lost = lost || unheard;
        (lost, self.ring.front().filter(|_| self.captured).map(|head| head.start))
    }

    // === managed links ===

    /// Whether a discipline stands in place of its drop-tail queue.
    pub fn is_managed(&self) -> bool {
        self.managed.is_some()
    }

    /// Hands a packet to the discipline; what that drops is appended to `gone`.
    pub(crate) fn enqueue(&mut self, now: Time, item: Item, gone: &mut Vec<PacketId>) {
        let Some(managed) = &mut self.managed else { return };
        self.waits += waited(managed.queue.len(), managed.changed, now);
        managed.changed = now;
        managed.queue.enqueue(now, item, &mut managed.dropped);
        self.drops += managed.take_dropped(gone);
        self.note_changed(now);
    }

    /// Begins the next transmission if the transmitter is free and something waits; what the discipline drops is appended to `gone`.
    pub(crate) fn begin_next(&mut self, now: Time, gone: &mut Vec<PacketId>) -> Option<Begun> {
        if self.free_at > now {
            return None;
        }
        let managed = self.managed.as_mut()?;
        self.waits += waited(managed.queue.len(), managed.changed, now);
        managed.changed = now;
        let item = managed.queue.dequeue(now, &mut managed.dropped);
        self.drops += managed.take_dropped(gone);
        self.note_changed(now);
        let item = item?;
        let mut start = now;
        if let Some(shaper) = &mut self.shaper {
            // A packet that waits for tokens is outside the queue, like one in transmission.
            start = shaper.earliest(start, item.bytes);
            shaper.take(start, item.bytes);
        }
        let time = self.rate.transmission_time(Bytes::new(item.bytes.into()));
        let fate = self.transmit(start, time, item.transit());
        Some(Begun { fate, done: self.free_at, packet: item.packet, ecn: item.ecn })
    }

    /// The discipline has marked a packet that was not marked before.
    pub(crate) fn count_mark(&mut self) {
        if let Some(managed) = &mut self.managed {
            managed.marks += 1;
        }
    }

    /// Keeps the longest queue; called when an arriving packet has either begun transmission or waits.
    pub(crate) fn note_queue(&mut self) {
        if let Some(managed) = &self.managed {
            self.longest_queue = self.longest_queue.max(managed.queue.len() as u32);
        }
    }

    /// When the transmitter is done with all that it has accepted.
    pub(crate) fn free_at(&self) -> Time {
        self.free_at
    }

    // === changes while running ===

    /// The rate changes: of a packet in transmission the remaining bits are sent at the new rate, and what waits is timed anew. Returns when the
    /// ring's head now arrives; older events are stale. (A shaped packet does not start before the time for which it took its tokens.)
    pub(crate) fn change_rate(&mut self, now: Time, rate: BitRate) -> Option<Time> {
        self.see_begun_watched(now);
        self.see_begun(now);
        let old = u128::from(self.rate.as_bps());
        self.rate = rate;
        self.choose_path();
        self.generation = self.generation.wrapping_add(1);
        let mut free_at = Time::ZERO;
        for packet in &mut self.ring {
            let end = packet.arrival - self.delay;
            if end <= now {
                free_at = end;
                continue;
            }
            let start = if packet.start <= now {
                let left = u128::from((end - now).as_ps()) * old;
                free_at = now + Time::from_ps(left.div_ceil(u128::from(rate.as_bps())) as u64);
                packet.start
            } else {
                let start = if self.shaper.is_some() { packet.start } else { Time::ZERO }.max(free_at).max(now);
                free_at = start + rate.transmission_time(Bytes::new(u64::from(packet.item.bytes)));
                start
            };
            self.waits = self.waits + u128::from(start.as_ps()) - u128::from(packet.start.as_ps());
            self.busy = self.busy + (free_at - start).as_ps() - (end - packet.start).as_ps();
            packet.start = start;
            packet.arrival = free_at + self.delay;
        }
        self.free_at = free_at;
        self.ring.front().map(|head| head.arrival)
    }

    /// The link goes down: everything on it is lost and appended to `lost`; older events are stale.
    pub(crate) fn go_down(&mut self, now: Time, lost: &mut Vec<PacketId>) {
        let before = lost.len();
        self.see_begun_watched(now);
        if let Some(occupancy) = &mut self.occupancy {
            occupancy.set(now, 0);
        }
        self.waits = self.queue_integral(now);
        self.busy = self.busy(now).as_ps();
        for packet in self.ring.drain(..) {
            if packet.start > now {
                self.packets -= 1;
                self.bytes -= u64::from(packet.item.bytes);
            }
            lost.push(packet.item.packet);
        }
        if let Some(managed) = &mut self.managed {
            managed.changed = now;
            while let Some(item) = managed.queue.dequeue(now, &mut managed.dropped) {
                lost.push(item.packet);
            }
            managed.take_dropped(lost);
        }
        self.lost_down += (lost.len() - before) as u64;
        self.generation = self.generation.wrapping_add(1);
        self.begun = 0;
        self.waiting_bytes = 0;
        self.free_at = now;
        self.up = false;
        self.choose_path();
    }

    pub(crate) fn go_up(&mut self) {
        self.up = true;
        self.choose_path();
    }
}

fn waited(packets: usize, since: Time, now: Time) -> u128 {
    packets as u128 * u128::from(now.saturating_sub(since).as_ps())
}
