//! CoDel (RFC 8289). ECN-capable packets are marked instead of dropped, as in RFC 8290.

use super::fifo::Fifo;
use super::{Item, Limit, Queue};
use crate::SpecError;
use des::{ControlledDelay, ControlledDelaySpec, Head};
use units::{Bytes, Time};

/// Parameters of [`Codel`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CodelSpec {
    /// Acceptable standing sojourn time.
    pub target: Time,
    /// How long the sojourn time may exceed the target: about the longest RTT of the connections.
    pub interval: Time,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// A full packet: a queue of at most this many bytes is left alone.
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

/// The next item to transmit. Items that CoDel drops on the way are appended to `dropped`.
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

/// A FIFO queue that drops or marks at its head once sojourn times have exceeded the target for an interval, and ever
/// more often while they do.
#[derive(Debug)]
pub struct Codel {
    spec: CodelSpec,
    limit: Limit,
    fifo: Fifo,
    control: ControlledDelay,
}

impl Codel {
    /// An empty queue of at most `limit`, which must not be a delay (see [`Limit::at_rate`]).
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
