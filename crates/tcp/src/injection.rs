//! How much TCP puts into its host's transmit queue, by that queue's level.
//!
//! TCP's half of transmit queueing level control (Lee, "Adaptive TCP flow control for improving performance of mobile
//! cloud clusters", 2014, section 5.1.2, Algorithm 1): TCP stops injecting when the queue has reached a threshold and
//! starts again when it is below. As printed, the line that restarts stands inside `tx_qlen > 0`, so that a queue which
//! drains in one batch never restarts, and the scheduling of receive and transmit asks for `tx_qlen = 0` inside the
//! same condition, where `rx_qlen` is meant; here the restart does not depend on what is left in the queue.
//!
//! Beyond the printed constant: a threshold in time at the rate at which the queue drains (the dissertation's future
//! work, and what airtime queue limits do), one in bytes (as byte queue limits), and a limit for each flow by its own
//! pace (TCP small queues). Held flows are restarted in turn, a segment each, so that the room that has come free is
//! not one flow's burst.

use std::collections::{BTreeMap, VecDeque};
use units::{BitRate, Bytes, Time};

/// When TCP stops; without any of these it never does. Where there are more, each of them holds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct InjectionLimits {
    /// `fc_threshold` of Algorithm 1: packets in the queue at which injection stops.
    pub packets: Option<u32>,
    /// Once stopped by `packets`, injection starts again below this; at the threshold itself where left out.
    pub restart: Option<u32>,
    /// As much as the queue drains in this time, at its rate of the moment.
    pub delay: Option<Time>,
    /// Bytes in the queue.
    pub bytes: Option<Bytes>,
    /// Of each flow as much as it sends in this time at its own pace, and two segments in any case (Linux,
    /// `tcp_small_queue_check`; a millisecond, on Wi-Fi eight).
    pub per_flow: Option<Time>,
}

/// What is in the queue, and how fast it drains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// Packets that wait.
    pub packets: u32,
    /// Bytes that wait.
    pub bytes: Bytes,
    /// Drain rate.
    pub rate: BitRate,
}

/// What a flow would inject.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Demand {
    /// The owner's name for it.
    pub flow: u64,
    /// Bytes of a full segment on the wire.
    pub segment: u32,
    /// Its pace; `None` while that is unknown.
    pub pace: Option<BitRate>,
}

/// The control of one transmit queue. Its owner asks for room before a flow sends, says what was injected, released and
/// held back, and restarts whom it is told to.
#[derive(Clone, Debug, Default)]
pub struct Injection {
    limits: InjectionLimits,
    /// `tx_queueing` is false.
    stopped: bool,
    /// Flows that are held back, in the order in which they are restarted.
    held: VecDeque<u64>,
    /// Bytes in the queue by flow, where the limit per flow needs it.
    queued: BTreeMap<u64, u64>,
}

impl Injection {
    /// Admission control of a queue that is empty, with these limits.
    pub fn new(limits: InjectionLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// How many segments a flow may inject now.
    pub fn room(&mut self, level: &Level, demand: &Demand) -> u16 {
        let segment = u64::from(demand.segment.max(1));
        let mut room = u64::from(self.packets_below_threshold(level.packets));
        let in_bytes = |limit: Bytes| limit.get().saturating_sub(level.bytes.get()).div_ceil(segment);
        if let Some(delay) = self.limits.delay {
            // A link slower than a segment in that time still gets one.
            room = room.min(in_bytes(level.rate.bytes_in(delay).max(Bytes::new(1))));
        }
        if let Some(bytes) = self.limits.bytes {
            room = room.min(in_bytes(bytes));
        }
        if let Some(time) = self.limits.per_flow {
            let share = demand.pace.map_or(0, |pace| pace.bytes_in(time).get()).max(2 * segment);
            let queued = self.queued.get(&demand.flow).copied().unwrap_or(0);
            // Linux looks before it sends: the segment that passes the limit still goes.
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

    /// Of the limits in packets the level below which there is room again; the others may give some with every packet
    /// that leaves.
    pub fn restart_level(&self) -> u32 {
        let Some(threshold) = self.limits.packets else { return u32::MAX };
        let restart = self.limits.restart.filter(|_| self.stopped).unwrap_or(threshold);
        restart.clamp(1, threshold.max(1))
    }

    /// Whether flows have a limit of their own, so that [`injected`](Self::injected) and [`released`](Self::released)
    /// matter.
    pub fn is_per_flow(&self) -> bool {
        self.limits.per_flow.is_some()
    }
    /// A packet of a flow has gone into the queue.
    pub fn injected(&mut self, flow: u64, bytes: u32) {
        if self.is_per_flow() {
            *self.queued.entry(flow).or_default() += u64::from(bytes);
        }
    }
    /// The device has sent a packet of a flow, or the queue has dropped it.
    pub fn released(&mut self, flow: u64, bytes: u32) {
        if let Some(queued) = self.queued.get_mut(&flow) {
            *queued = queued.saturating_sub(u64::from(bytes));
            if *queued == 0 {
                self.queued.remove(&flow);
            }
        }
    }

    /// A flow had something to send and no room.
    pub fn hold(&mut self, flow: u64) {
        if !self.held.contains(&flow) {
            self.held.push_back(flow);
        }
    }
    /// How many flows are held back.
    pub fn held(&self) -> usize {
        self.held.len()
    }
    /// Whose turn it is of those for whom there is room: it may inject one segment, and is held again if it has more.
    /// `demand` knows the flows; one that it does not know is no longer held.
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
