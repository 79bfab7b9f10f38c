//! FQ-CoDel (RFC 8290, section 4). Flows are hashed into queues. Deficit round robin serves the queues, new ones first,
//! and CoDel keeps each one short.

use super::codel::{self, CodelSpec};
use super::fifo::Fifo;
use super::{Item, Limit, Queue};
use crate::SpecError;
use des::ControlledDelay;
use std::collections::VecDeque;
use units::{Bytes, Time};

/// Parameters of [`FqCodel`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FqCodelSpec {
    /// CoDel's parameters for each queue.
    pub codel: CodelSpec,
    /// Number of queues.
    pub flows: u32,
    /// Bytes that a queue may send per turn.
    pub quantum: Bytes,
    /// Most packets dropped at once from the fattest queue when all queues together exceed the limit.
    pub batch: u32,
}

impl Default for FqCodelSpec {
    fn default() -> Self {
        let codel = CodelSpec::default();
        Self { codel, flows: 1_024, quantum: codel.packet, batch: 64 }
    }
}

impl FqCodelSpec {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        if self.flows == 0 || self.quantum == Bytes::ZERO || self.batch == 0 {
            let message = "FQ-CoDel's queues, quantum and batch must lie above zero";
            return Err(SpecError::Discipline(message.to_owned()));
        }
        self.codel.check()
    }
}

#[derive(Debug, Default)]
struct Flow {
    fifo: Fifo,
    control: ControlledDelay,
    /// Bytes that it may still send in this turn (deficit).
    credits: i64,
    /// Whether it is in the list of new or old queues.
    listed: bool,
}

/// Many CoDel queues behind one transmitter.
#[derive(Debug)]
pub struct FqCodel {
    spec: FqCodelSpec,
    limit: Limit,
    /// Salt of the flow hash.
    perturbation: u64,
    /// A queue is allocated on first use.
    flows: Vec<Option<Box<Flow>>>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    len: usize,
    bytes: u64,
}

impl FqCodel {
    /// Empty queues that together hold at most `limit`, which must not be a delay (see [`Limit::at_rate`]).
    pub fn new(spec: &FqCodelSpec, limit: Limit, perturbation: u64) -> Self {
        let mut flows = Vec::new();
        flows.resize_with(spec.flows as usize, || None);
        Self { spec: *spec, limit, perturbation, flows, new: VecDeque::new(), old: VecDeque::new(), len: 0, bytes: 0 }
    }

    /// Which queue a flow is hashed to.
    pub fn queue_of(&self, flow: u32) -> usize {
        let hash = crate::routing::mix(u64::from(flow) ^ self.perturbation);
        ((u128::from(hash) * self.flows.len() as u128) >> 64) as usize
    }

    /// Section 4.1: drops half of the fattest queue's packets from its head, but at most a batch.
    fn drop_from_fattest(&mut self, dropped: &mut Vec<Item>) {
        // Of equally fat queues the first; `max_by_key` would take the last.
        let fattest = self.flows.iter_mut().flatten().rev().max_by_key(|flow| flow.fifo.bytes());
        let Some(flow) = fattest else { return };
        let count = flow.fifo.len().div_ceil(2).min(self.spec.batch as usize);
        for _ in 0..count {
            let Some((_, item)) = flow.fifo.pop() else { break };
            self.len -= 1;
            self.bytes -= u64::from(item.bytes);
            dropped.push(item);
        }
    }
}

impl Queue for FqCodel {
    fn enqueue(&mut self, now: Time, item: Item, dropped: &mut Vec<Item>) {
        let at = self.queue_of(item.flow);
        let flow = self.flows[at].get_or_insert_default();
        flow.fifo.push(now, item);
        self.len += 1;
        self.bytes += u64::from(item.bytes);
        if !flow.listed {
            flow.listed = true;
            flow.credits = self.spec.quantum.get() as i64;
            self.new.push_back(at);
        }
        while !self.limit.holds(self.len, self.bytes) {
            self.drop_from_fattest(dropped);
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Item>) -> Option<Item> {
        loop {
            let is_new = !self.new.is_empty();
            let at = *self.new.front().or_else(|| self.old.front())?;
            let list = if is_new { &mut self.new } else { &mut self.old };
            let flow = self.flows[at].get_or_insert_default();
            if flow.credits <= 0 {
                flow.credits += self.spec.quantum.get() as i64;
                list.pop_front();
                self.old.push_back(at);
                continue;
            }
            let (before, bytes) = (flow.fifo.len(), flow.fifo.bytes());
            let item = codel::dequeue(&mut flow.control, now, &self.spec.codel, &mut flow.fifo, dropped);
            self.len -= before - flow.fifo.len();
            self.bytes -= bytes - flow.fifo.bytes();
            if let Some(item) = item {
                flow.credits -= i64::from(item.bytes);
                return Some(item);
            }
            list.pop_front();
            if is_new {
                // A new queue that runs empty goes through the old ones first. Otherwise its next packet would precede
                // them all.
                self.old.push_back(at);
            } else {
                flow.listed = false;
            }
        }
    }
    fn len(&self) -> usize {
        self.len
    }
    fn bytes(&self) -> u64 {
        self.bytes
    }
}
