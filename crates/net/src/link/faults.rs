//! Loss, silence, and changes while packets are in flight.

use super::{Link, Losses};
use crate::packet::PacketId;
use units::{BitRate, Bytes, Time};

impl Link {
    /// With `silent`, nothing that is sent arrives; without, it does again.
    pub(crate) fn set_silent(&mut self, silent: bool) {
        self.silent = silent;
        self.choose_path();
    }
    /// With `ignored`, nothing that arrives is taken in; without, it is again.
    pub(crate) fn set_ignored(&mut self, ignored: bool) {
        self.ignored = ignored;
        self.choose_path();
    }
    /// Whether nothing arrives although the link is up.
    pub fn is_silent(&self) -> bool {
        self.silent
    }
    /// Fraction of packets lost on the wire in the long run.
    pub(crate) fn loss(&self) -> f64 {
        self.losses.as_ref().map_or(0.0, Losses::mean)
    }

    /// Whether packets may be lost on the wire or are watched; then [`Link::inspect`] decides.
    #[inline]
    pub(crate) fn is_special(&self) -> bool {
        self.plain_ps_per_byte == 0
    }

    /// Of the packet that arrives next: whether the wire loses it, and, if packets are captured, when its transmission
    /// started.
    pub(crate) fn inspect(&mut self) -> (bool, Option<Time>) {
        if self.occupancy.is_some()
            && let Some(head) = self.ring.front()
        {
            self.see_begun_watched(head.arrival);
        }
        let lost = self.losses.as_mut().is_some_and(Losses::next_is_lost);
        self.lost += u64::from(lost);
        let unheard = !lost && (self.silent || self.ignored);
        self.lost_down += u64::from(unheard);
        let lost = lost || unheard;
        (lost, self.ring.front().filter(|_| self.captured).map(|head| head.start))
    }

    /// Changes the rate. The remaining bits of a packet in transmission are sent at the new rate, and waiting packets
    /// are timed anew. Returns the new arrival time of the ring's head; older events are stale. (A shaped packet does
    /// not start before the time for which it took its tokens.)
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

    /// Takes the link down. Everything on it is lost and appended to `lost`; older events are stale.
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
