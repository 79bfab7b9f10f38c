//! Controlled delay of a FIFO queue (RFC 8289), with marks in place of drops for ECN-capable packets as in RFC 8290.

use super::fifo::Fifo;
use super::{Item, Limit, Queue};
use crate::SpecError;
use des::{ControlledDelay, ControlledDelaySpec, Head};
use units::{Bytes, Time};

/// Parameters of [`Codel`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CodelSpec {
    /// The standing waiting time that is acceptable.
    pub target: Time,
    /// For how long the waiting time may be above the target: about the longest round-trip time of the connections.
    pub interval: Time,
    /// Whether ECN-capable packets are marked where others are dropped.
    pub ecn: bool,
    /// A full packet: a queue with no more bytes than this is left alone.
    pub packet: Bytes,
}

impl Default for CodelSpec {
    fn default() -> Self {
        Self { target: Time::from_ms(5), interval: Time::from_ms(100), ecn: true, packet: Bytes::new(1_538) }
    }
}

impl CodelSpec {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        if self.target == Time::ZERO || self.target > self.interval {
            let message = "CoDel's target must lie above zero and not exceed its interval";
            return Err(SpecError::Discipline(message.to_owned()));
        }
        Ok(())
    }
}

/// The oldest item that may be transmitted now; those that CoDel drops on the way are appended to `dropped`.
pub(super) fn dequeue(
    control: &mut ControlledDelay,
    now: Time,
    spec: &CodelSpec,
    fifo: &mut Fifo,
    dropped: &mut Vec<Item>,
) -> Option<Item> {
    let CodelSpec { target, interval, ecn, packet } = *spec;
    let take = || fifo.pop().map(|(since, item)| Head { item, since, behind: fifo.bytes() });
    let interfere = |mut item: Item| {
        if ecn && item.mark() {
            return Some(item);
        }
        dropped.push(item);
        None
    };
    control.dequeue(now, &ControlledDelaySpec { target, interval, packet }, take, interfere)
}

/// A FIFO queue that drops or marks at its head, ever more often, while packets have waited longer than a target for an
/// interval.
#[derive(Debug)]
pub struct Codel {
    spec: CodelSpec,
    limit: Limit,
    fifo: Fifo,
    control: ControlledDelay,
}

impl Codel {
    /// An empty queue of at most `limit`, no delay (see [`Limit::at_rate`]).
    pub fn new(spec: &CodelSpec, limit: Limit) -> Self {
        Self { spec: *spec, limit, fifo: Fifo::default(), control: ControlledDelay::default() }
    }
}

impl Queue for Codel {
    fn enqueue(&mut self, now: Time, item: Item, dropped: &mut Vec<Item>) {
        if self.limit.holds(self.fifo.len() + 1, self.fifo.bytes() + u64::from(item.bytes)) {
            self.fifo.push(now, item);
        } else {
            dropped.push(item);
        }
    }
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Item>) -> Option<Item> {
        dequeue(&mut self.control, now, &self.spec, &mut self.fifo, dropped)
    }
    fn len(&self) -> usize {
        self.fifo.len()
    }
    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }
}
