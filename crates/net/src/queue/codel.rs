//! Controlled delay: RFC 8289, sections 5.4 to 5.6 (its pseudocode), with marks in place of drops for ECN-capable packets as in RFC 8290.

use super::fifo::Fifo;
use super::{Item, Limit, Queue};
use crate::SpecError;
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

/// The control law and its state, of one queue.
#[derive(Debug, Default)]
pub(super) struct Control {
    /// When the waiting time will have been above the target for an interval; none while it is below.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    /// Drops since the dropping state was entered, and how many there were when it was entered last.
    count: u32,
    last_count: u32,
}

impl Control {
    /// RFC 8289's `dodequeue`: an item, and whether it may be dropped.
    fn next(&mut self, now: Time, spec: &CodelSpec, fifo: &mut Fifo) -> Option<(Item, bool)> {
        let Some((since, item)) = fifo.pop() else {
            self.first_above = None;
            return None;
        };
        if now.saturating_sub(since) < spec.target || fifo.bytes() <= spec.packet.get() {
            self.first_above = None;
            return Some((item, false));
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + spec.interval);
                Some((item, false))
            }
            Some(at) => Some((item, now >= at)),
        }
    }

    fn law(&self, from: Time, spec: &CodelSpec) -> Time {
        from + Time::from_ps((spec.interval.as_ps() as f64 / libm::sqrt(f64::from(self.count))) as u64)
    }

    /// RFC 8289's `dequeue`.
    pub fn dequeue(&mut self, now: Time, spec: &CodelSpec, fifo: &mut Fifo, dropped: &mut Vec<Item>) -> Option<Item> {
        let mut next = self.next(now, spec, fifo);
        if self.dropping {
            loop {
                let Some((mut item, true)) = next else {
                    self.dropping = false;
                    break;
                };
                if now < self.drop_next {
                    break;
                }
                let marked = spec.ecn && item.mark();
                if marked {
                    next = Some((item, true));
                } else {
                    dropped.push(item);
                    next = self.next(now, spec, fifo);
                }
                if matches!(next, Some((_, true))) {
                    self.count += 1;
                    self.drop_next = self.law(self.drop_next, spec);
                }
                if marked {
                    break;
                }
            }
        } else if let Some((mut item, true)) = next {
            if spec.ecn && item.mark() {
                next = Some((item, true));
            } else {
                dropped.push(item);
                next = self.next(now, spec, fifo);
            }
            self.dropping = true;
            // Goes on about where it was if it left the state not long ago.
            let delta = self.count.saturating_sub(self.last_count);
            let recent = now.saturating_sub(self.drop_next) < spec.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = self.law(now, spec);
            self.last_count = self.count;
        }
        next.map(|(item, _)| item)
    }
}

/// A FIFO queue that drops or marks at its head, ever more often, while packets have waited longer than a target for an interval.
#[derive(Debug)]
pub struct Codel {
    spec: CodelSpec,
    limit: Limit,
    fifo: Fifo,
    control: Control,
}

impl Codel {
    /// An empty queue of at most `limit`, no delay (see [`Limit::at_rate`]).
    pub fn new(spec: &CodelSpec, limit: Limit) -> Self {
        Self { spec: *spec, limit, fifo: Fifo::default(), control: Control::default() }
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
        self.control.dequeue(now, &self.spec, &mut self.fifo, dropped)
    }
    fn len(&self) -> usize {
        self.fifo.len()
    }
    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }
}
