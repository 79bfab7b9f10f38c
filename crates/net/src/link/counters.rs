//! A link's counters, and what it holds.

use super::Link;
use super::managed::waited;
use crate::shaper::{TokenBucket, TokenBucketSpec};
use units::{BitRate, Time};

/// What a link has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counters {
    /// Packets that the transmitter accepted (packet-hops).
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Packets that the queue dropped because it was full or its discipline chose to.
    pub drops: u64,
    /// Packets that the queue marked (CE) and has let go.
    pub marks: u64,
    /// Packets lost at random on the wire.
    pub lost: u64,
    /// Packets lost because the link was or went down, was silent, or the end of a bond ignored them.
    pub lost_down: u64,
    /// Longest queue in packets.
    pub longest_queue: u64,
}

impl Link {
    /// Counters of the link.
    #[inline]
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
    #[inline]
    pub fn shaper(&self) -> Option<TokenBucketSpec> {
        self.shaper.as_ref().map(TokenBucket::spec)
    }
    /// Integral of the queue length from the start to `now`, in packet-picoseconds: exact to the event.
    pub fn queue_integral(&self, now: Time) -> u128 {
        if let Some(managed) = &self.managed {
            return self.waits + waited(managed.queue.len(), managed.changed, now);
        }
        // Waits are summed when packets are accepted. The part after `now` has not happened yet.
        let to_come: u128 =
            self.ring.iter().rev().map_while(|p| Some(u128::from(p.start.as_ps().checked_sub(now.as_ps())?))).sum();
        self.waits - to_come
    }
    /// How many packets wait for the transmitter at `now`, which must not precede the last packet's acceptance.
    #[inline]
    pub fn waiting(&self, now: Time) -> usize {
        match &self.managed {
            Some(managed) => managed.queue.len(),
            None if self.ring.is_empty() => 0,
            None => self.ring.iter().rev().take_while(|p| p.start > now).count(),
        }
    }
    /// When fewer than `level` packets wait if none arrives: now, or when one of them begins transmission. A managed
    /// link cannot predict it; see [`Network::take_released`](crate::Network::take_released).
    pub fn waiting_below(&self, now: Time, level: usize) -> Time {
        let at = self.ring.len().checked_sub(level.max(1)).and_then(|index| self.ring.get(index));
        at.map_or(now, |packet| packet.start.max(now))
    }
    /// The rate at which the queue drains: the token bucket's if it is slower than the transmitter.
    pub fn drain_rate(&self) -> BitRate {
        self.shaper().map_or(self.rate, |shaper| shaper.rate.min(self.rate))
    }
    /// Bytes on the wire of the packets that wait at `now`.
    #[inline]
    pub fn waiting_bytes(&self, now: Time) -> u64 {
        match &self.managed {
            Some(managed) => managed.queue.bytes(),
            None if self.ring.is_empty() => 0,
            None => self.ring.iter().rev().take_while(|p| p.start > now).map(|p| u64::from(p.item.bytes)).sum(),
        }
    }
    /// Bytes on the wire of the packets whose transmission has begun by `now`. A FIFO link accepts packets before.
    pub fn begun_bytes(&self, now: Time) -> u64 {
        let to_come: u64 = self.ring.iter().rev().take_while(|p| p.start > now).map(|p| u64::from(p.item.bytes)).sum();
        self.bytes - to_come
    }
    /// How long the transmitter has been busy until `now`.
    #[inline]
    pub fn busy(&self, now: Time) -> Time {
        // Most links are idle at most times.
        if self.ring.is_empty() {
            return Time::from_ps(self.busy);
        }
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
    /// How many packets wait, are in transmission, or are on the wire.
    pub fn holds(&self) -> u64 {
        (self.ring.len() + self.managed.as_ref().map_or(0, |managed| managed.queue.len())) as u64
    }
}
