//! The ring of packets of a link without a discipline: queue, transmitter and wire in one.

use super::{InFlight, Link};
use crate::packet::Transit;
use crate::queue::Limit;
use units::{Bytes, Time};

/// What became of a packet offered to a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// Queued behind other packets of the ring.
    Queued,
    /// Alone in the ring: its arrival needs an event at this time.
    Head(Time),
    /// The queue was full.
    Dropped,
    /// The link is down.
    Down,
}

impl Link {
    /// Offers a packet to a link without a discipline.
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

    /// Offers a packet to a link off the fast path: shaped, lossy, watched or down.
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
            // For no time at all if its transmission begins at once.
            occupancy.enter(now);
        }
        self.transmit(start, self.rate.transmission_time(Bytes::new(item.bytes.into())), item)
    }

    /// Whether a packet that cannot start before `start` may wait.
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

    /// Puts a packet on the ring; its transmission starts at `start` and takes `time`.
    #[inline]
    pub(super) fn transmit(&mut self, start: Time, time: Time, item: Transit) -> Fate {
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
    pub(super) fn see_begun(&mut self, now: Time) {
        while let Some(packet) = self.ring.get(self.begun as usize)
            && packet.start <= now
        {
            self.waiting_bytes -= u64::from(packet.item.bytes);
            self.begun += 1;
        }
    }

    /// Removes the ring's head, which has arrived. Returns it and the arrival time of the next.
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
            // Starts again at the front of the ring's memory, which is in cache.
            self.ring.clear();
        }
        Some((head.item, next))
    }
}
