//! Fair queueing as in Linux since 4.11, in place of a driver's FIFO. For each receiver flows are hashed into queues,
//! which are served in turn and kept short by CoDel.
//!
//! Source: T. Høiland-Jørgensen et al., Ending the anomaly: achieving low latency and airtime fairness in WiFi, USENIX
//! ATC 2017; RFC 8290 (deficit round robin with precedence for new flows), RFC 8289 (CoDel); the constants are
//! mac80211's, and as there packets that can be marked are marked where others are dropped (`sta_info.c`:
//! `cparams.ecn`). Left out: the longer target for receivers slower than 12 Mbit/s.

use super::frame::PacketId;
use super::tid_queue::Msdu;
use des::{ControlledDelay, ControlledDelaySpec, Head};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// Parameters of fair queueing with airtime fairness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FairSpec {
    /// The waiting time that CoDel accepts.
    pub target: Time,
    /// CoDel's interval: how long the waiting time may exceed the target.
    pub interval: Time,
    /// Bytes that a flow may send in its turn.
    pub quantum: u32,
    /// Time on the air that a receiver gets in its turn.
    pub airtime: Time,
}

impl Default for FairSpec {
    /// mac80211: 20 ms and 100 ms, 300 bytes, 256 us.
    fn default() -> Self {
        Self { target: Time::from_ms(20), interval: Time::from_ms(100), quantum: 300, airtime: Time::from_us(256) }
    }
}

/// Queues that flows of one receiver are hashed into.
const QUEUES: u32 = 256;
/// A queue with no more bytes than this is left alone by CoDel: one packet.
const PACKET: Bytes = Bytes::new(1_538);

/// Packets that have waited too long.
#[derive(Debug, Default)]
pub(super) struct Late {
    /// Dropped by CoDel.
    pub dropped: Vec<PacketId>,
    /// Marked by CoDel, and still sent.
    pub marked: Vec<PacketId>,
}

/// The flows of one receiver and category.
#[derive(Debug)]
pub(super) struct FairQueue {
    spec: FairSpec,
    flows: Vec<Flow>,
    /// Flows with packets, by index in `flows`: `new` have not had a turn yet, `old` have.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    len: usize,
}

#[derive(Debug)]
struct Flow {
    bucket: u32,
    packets: VecDeque<Msdu>,
    bytes: u64,
    deficit: i64,
    listed: bool,
    codel: ControlledDelay,
}

impl FairQueue {
    pub const fn new(spec: FairSpec) -> Self {
        Self { spec, flows: Vec::new(), new: VecDeque::new(), old: VecDeque::new(), len: 0 }
    }
    pub const fn len(&self) -> usize {
        self.len
    }
    pub fn push(&mut self, msdu: Msdu) {
        // A finalizer of MurmurHash3 mixes what may be consecutive numbers.
        let mut hash = msdu.flow ^ msdu.flow >> 16;
        hash = hash.wrapping_mul(0x85eb_ca6b);
        let bucket = (hash ^ hash >> 13) % QUEUES;
        let at = self.flows.iter().position(|flow| flow.bucket == bucket).unwrap_or_else(|| {
            self.flows.push(Flow::new(bucket));
            self.flows.len() - 1
        });
        let flow = &mut self.flows[at];
        flow.bytes += u64::from(msdu.bytes);
        flow.packets.push_back(msdu);
        self.len += 1;
        if !flow.listed {
            flow.listed = true;
            flow.deficit = i64::from(self.spec.quantum);
            self.new.push_back(at);
        }
    }
    /// The next packet; those that CoDel finds late are appended to `late`.
    pub fn pop(&mut self, now: Time, late: &mut Late) -> Option<Msdu> {
        loop {
            let is_new = !self.new.is_empty();
            let at = *self.new.front().or_else(|| self.old.front())?;
            let list = if is_new { &mut self.new } else { &mut self.old };
            let flow = &mut self.flows[at];
            if flow.deficit <= 0 {
                flow.deficit += i64::from(self.spec.quantum);
                list.pop_front();
                self.old.push_back(at);
                continue;
            }
            let before = flow.packets.len();
            let msdu = flow.dequeue(now, &self.spec, late);
            self.len -= before - flow.packets.len();
            if let Some(msdu) = msdu {
                flow.deficit -= i64::from(msdu.bytes);
                return Some(msdu);
            }
            list.pop_front();
            if is_new && !self.old.is_empty() {
                // It joins the old flows, or its next packet would have precedence again.
                self.old.push_back(at);
            } else {
                flow.listed = false;
            }
        }
    }
    /// The oldest packet of the fattest flow goes.
    pub fn drop_from_fattest(&mut self) -> Option<PacketId> {
        let flow = self.flows.iter_mut().rev().max_by_key(|flow| flow.bytes)?;
        let msdu = flow.take()?;
        self.len -= 1;
        Some(msdu.packet)
    }
    /// How many bytes its fattest flow has.
    pub fn fattest(&self) -> u64 {
        self.flows.iter().map(|flow| flow.bytes).max().unwrap_or(0)
    }
    /// The oldest packet of the queue.
    pub fn oldest(&self) -> Option<&Msdu> {
        self.flows.iter().filter_map(|flow| flow.packets.front()).min_by_key(|msdu| msdu.order)
    }
    /// Takes everything, flow by flow.
    pub fn clear(&mut self) -> impl Iterator<Item = Msdu> {
        let flows = std::mem::take(&mut self.flows);
        (self.len, self.new, self.old) = (0, VecDeque::new(), VecDeque::new());
        flows.into_iter().flat_map(|flow| flow.packets)
    }
}

impl Flow {
    fn new(bucket: u32) -> Self {
        Self {
            bucket,
            packets: VecDeque::new(),
            bytes: 0,
            deficit: 0,
            listed: false,
            codel: ControlledDelay::default(),
        }
    }
    fn take(&mut self) -> Option<Msdu> {
        let msdu = self.packets.pop_front()?;
        self.bytes -= u64::from(msdu.bytes);
        Some(msdu)
    }
    /// The oldest that CoDel lets through.
    fn dequeue(&mut self, now: Time, spec: &FairSpec, found: &mut Late) -> Option<Msdu> {
        let Self { packets, bytes, codel, .. } = self;
        let take = || {
            let item = packets.pop_front()?;
            *bytes -= u64::from(item.bytes);
            Some(Head { item, since: item.arrived, behind: *bytes })
        };
        let interfere = |late: Msdu| {
            let list = if late.markable { &mut found.marked } else { &mut found.dropped };
            list.push(late.packet);
            late.markable.then_some(late)
        };
        let spec = ControlledDelaySpec { target: spec.target, interval: spec.interval, packet: PACKET };
        codel.dequeue(now, &spec, take, interfere)
    }
}
