//! A link whose queue is a discipline: each transmission starts when the previous one is done.

use super::{Fate, Link};
use crate::packet::PacketId;
use crate::queue::{Ecn, Item, Queue};
use units::{Bytes, Time};

/// The slow path: a discipline and what the link tracks of it.
#[derive(Debug)]
pub(super) struct Managed {
    pub queue: Box<dyn Queue>,
    /// When the number of waiting packets last changed.
    pub changed: Time,
    pub marks: u64,
    /// Whether packets that leave the queue are recorded.
    pub tells: bool,
    /// Buffer for packets that the discipline drops.
    pub dropped: Vec<Item>,
}

impl Managed {
    pub fn new(queue: Box<dyn Queue>) -> Self {
        Self { queue, changed: Time::ZERO, marks: 0, tells: false, dropped: Vec::new() }
    }
    /// Moves the dropped packets to `gone`; returns their number.
    pub fn take_dropped(&mut self, gone: &mut Vec<PacketId>) -> u64 {
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
    /// The packet's ECN field as the queue left it.
    pub ecn: Ecn,
}

impl Link {
    /// Replaces drop-tail by a discipline; the link must be idle.
    pub(crate) fn manage(&mut self, queue: Box<dyn Queue>) {
        self.managed = Some(Box::new(Managed::new(queue)));
        self.choose_path();
    }

    /// Whether a discipline replaces its drop-tail queue.
    pub fn is_managed(&self) -> bool {
        self.managed.is_some()
    }

    /// From now on packets that leave the queue are recorded, if the link is managed.
    pub(crate) fn tell(&mut self) {
        if let Some(managed) = &mut self.managed {
            managed.tells = true;
        }
    }
    /// Whether packets that leave the queue are recorded.
    pub(crate) fn tells(&self) -> bool {
        self.managed.as_ref().is_some_and(|managed| managed.tells)
    }

    /// Hands a packet to the discipline. What the discipline drops is appended to `gone`.
    pub(crate) fn enqueue(&mut self, now: Time, item: Item, gone: &mut Vec<PacketId>) {
        let Some(managed) = &mut self.managed else { return };
        self.waits += waited(managed.queue.len(), managed.changed, now);
        managed.changed = now;
        managed.queue.enqueue(now, item, &mut managed.dropped);
        self.drops += managed.take_dropped(gone);
        self.note_changed(now);
    }

    /// Starts the next transmission if the transmitter is free and a packet waits. What the discipline drops is
    /// appended to `gone`.
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

    /// Counts a packet that the discipline has newly marked.
    pub(crate) fn count_mark(&mut self) {
        if let Some(managed) = &mut self.managed {
            managed.marks += 1;
        }
    }

    /// Updates the longest queue. Called once an arriving packet has either started transmission or waits.
    pub(crate) fn note_queue(&mut self) {
        if let Some(managed) = &self.managed {
            self.longest_queue = self.longest_queue.max(managed.queue.len() as u32);
        }
    }

    /// When the transmitter has finished all accepted packets.
    pub fn free_at(&self) -> Time {
        self.free_at
    }
}

pub(super) fn waited(packets: usize, since: Time, now: Time) -> u128 {
    packets as u128 * u128::from(now.saturating_sub(since).as_ps())
}
