//! Limits how much TCP puts into its host's transmit queue.
//!
//! This is TCP's half of transmit queueing level control (Lee, "Adaptive TCP flow control for improving performance of
//! mobile cloud clusters", 2014, section 5.1.2, Algorithm 1): TCP stops sending when the queue reaches a threshold, and
//! starts again below it. The printed algorithm has two errors. The line that restarts stands inside `tx_qlen > 0`, so
//! a queue that drains in one batch never restarts TCP. The scheduling of receive and transmit asks for `tx_qlen = 0`
//! inside the same condition, where `rx_qlen` is meant. Here the restart does not depend on what is left in the queue.
//!
//! Three limits go beyond the printed threshold in packets: time at the rate at which the queue drains (the
//! dissertation's future work; airtime queue limits, AQL), bytes (byte queue limits, BQL), and a limit per flow at its
//! own pace (TCP small queues, TSQ). Held flows restart in turn, one segment each, so that freed room is not one flow's
//! burst.

use std::collections::{BTreeMap, VecDeque};
use units::{BitRate, Bytes, Time};

/// When TCP stops. Every limit that is set holds; with none TCP never stops.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TransmitQueueLimits {
    /// `fc_threshold` of Algorithm 1: packets in the queue at which TCP stops.
    pub packets: Option<u32>,
    /// Once stopped by `packets`, TCP starts again below this; `None`: below `packets`.
    pub restart: Option<u32>,
    /// Time that the queue takes to drain at its present rate.
    pub delay: Option<Time>,
    /// Bytes in the queue.
    pub bytes: Option<Bytes>,
    /// Per flow: time at its own pace, but at least two segments (Linux, `tcp_small_queue_check`: 1 ms, on Wi-Fi 8 ms).
    pub per_flow: Option<Time>,
}

/// Level and drain rate of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// Packets in the queue.
    pub packets: u32,
    /// Bytes in the queue.
    pub bytes: Bytes,
    /// Drain rate.
    pub rate: BitRate,
}

/// What a flow wants to send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Demand {
    /// The owner's number of the flow.
    pub flow: u64,
    /// Bytes of a full segment on the wire.
    pub segment: u32,
    /// Its pacing rate; `None` while unknown.
    pub pace: Option<BitRate>,
}

/// The limits of one transmit queue, and the flows that they hold. The owner asks for room before a flow sends. It
/// reports packets that enter and leave the queue, and flows that are held. It restarts the flow that
/// [`next`](Self::next) names.
#[derive(Clone, Debug, Default)]
pub struct TransmitQueueLimiter {
    limits: TransmitQueueLimits,
    /// `tx_queueing` of Algorithm 1 is false.
    stopped: bool,
    /// Held flows, in the order in which they restart.
    held: VecDeque<u64>,
    /// Bytes in the queue by flow, for the limit per flow.
    queued: BTreeMap<u64, u64>,
}

impl TransmitQueueLimiter {
    /// For an empty queue.
    pub fn new(limits: TransmitQueueLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// How many segments a flow may send now.
    pub fn room(&mut self, level: &Level, demand: &Demand) -> u16 {
        let segment = u64::from(demand.segment.max(1));
        let mut room = u64::from(self.packets_below_threshold(level.packets));
        let in_bytes = |limit: Bytes| limit.get().saturating_sub(level.bytes.get()).div_ceil(segment);
        if let Some(delay) = self.limits.delay {
            // A link slower than one segment in that time still gets one.
            room = room.min(in_bytes(level.rate.bytes_in(delay).max(Bytes::new(1))));
        }
        if let Some(bytes) = self.limits.bytes {
            room = room.min(in_bytes(bytes));
        }
        if let Some(time) = self.limits.per_flow {
            let share = demand.pace.map_or(0, |pace| pace.bytes_in(time).get()).max(2 * segment);
            let queued = self.queued.get(&demand.flow).copied().unwrap_or(0);
            // Linux checks before it sends: the segment that crosses the limit still goes.
            room = room.min(share.saturating_sub(queued).div_ceil(segment));
        }
        room.min(u64::from(u16::MAX - 1)) as u16
    }

    /// Algorithm 1, lines 2 to 10.
    fn packets_below_threshold(&mut self, level: u32) -> u32 {
        let Some(threshold) = self.limits.packets else { return u32::MAX };
        if !self.stopped && level >= threshold {
            self.stopped = true;
        } else if self.stopped && level < self.limits.restart.unwrap_or(threshold).clamp(1, threshold.max(1)) {
            self.stopped = false;
        }
        if self.stopped { 0 } else { threshold.saturating_sub(level) }
    }

    /// The level in packets below which there is room again; `u32::MAX` without a limit in packets. The other limits
    /// may give room with every packet that leaves.
    pub fn restart_level(&self) -> u32 {
        let Some(threshold) = self.limits.packets else { return u32::MAX };
        let restart = self.limits.restart.filter(|_| self.stopped).unwrap_or(threshold);
        restart.clamp(1, threshold.max(1))
    }

    /// Whether there is a limit per flow. Only then [`enqueued`](Self::enqueued) and [`dequeued`](Self::dequeued)
    /// matter.
    pub fn is_per_flow(&self) -> bool {
        self.limits.per_flow.is_some()
    }
    /// A packet of a flow has entered the queue.
    pub fn enqueued(&mut self, flow: u64, bytes: u32) {
        if self.is_per_flow() {
            *self.queued.entry(flow).or_default() += u64::from(bytes);
        }
    }
    /// The device has sent a packet of a flow, or the queue has dropped it.
    pub fn dequeued(&mut self, flow: u64, bytes: u32) {
        if let Some(queued) = self.queued.get_mut(&flow) {
            *queued = queued.saturating_sub(u64::from(bytes));
            if *queued == 0 {
                self.queued.remove(&flow);
            }
        }
    }

    /// A flow has something to send and no room.
    pub fn hold(&mut self, flow: u64) {
        if !self.held.contains(&flow) {
            self.held.push_back(flow);
        }
    }
    /// How many flows are held.
    pub fn held(&self) -> usize {
        self.held.len()
    }
    /// The first held flow for which there is room. It may send one segment, and is held again if it has more. `demand`
    /// describes a flow. A flow for which it returns `None` is no longer held.
    pub fn next(&mut self, level: &Level, mut demand: impl FnMut(u64) -> Option<Demand>) -> Option<u64> {
        let mut at = 0;
        while let Some(flow) = self.held.get(at).copied() {
            match demand(flow) {
                None => drop(self.held.remove(at)),
                Some(demand) if self.room(level, &demand) > 0 => return self.held.remove(at),
                Some(_) if !self.is_per_flow() => return None,
                Some(_) => at += 1,
            }
        }
        None
    }
    /// A flow is gone.
    pub fn forget(&mut self, flow: u64) {
        self.held.retain(|held| *held != flow);
        self.queued.remove(&flow);
    }
}
