//! CoDel's control law (RFC 8289, sections 5.3 to 5.6), with marks in place of drops where a packet can be marked (RFC
//! 8290, section 5.2).
//!
//! It knows no queue. The caller says how to take the head, and how to mark or drop a packet, so wired queues and radio
//! queues share it.

use units::{Bytes, Time};

/// The ECN field of an IP header (RFC 3168, section 5). ECT(0) and ECT(1) mean the same here.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Ecn {
    /// Not-ECT: the transport does not understand marks, so the packet can only be dropped.
    #[default]
    NotEct,
    /// ECT: the transport understands marks.
    Ect,
    /// CE: the packet has met congestion.
    Ce,
}

/// When it interferes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ControlledDelaySpec {
    /// The standing waiting time that is acceptable.
    pub target: Time,
    /// How long the waiting time may be above the target.
    pub interval: Time,
    /// A full packet: a queue with no more bytes than this is left alone.
    pub packet: Bytes,
}

/// A packet taken from the head of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Head<T> {
    /// The packet.
    pub item: T,
    /// Since when it has waited.
    pub since: Time,
    /// Bytes that are left behind it.
    pub behind: u64,
}

/// The state of one queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ControlledDelay {
    /// When the waiting time will have been above the target for an interval; none while it is below.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    /// Interferences since the dropping state was entered, and how many there were when it was entered last.
    count: u32,
    last_count: u32,
}

impl ControlledDelay {
    /// The next packet to transmit (RFC 8289's `dequeue`). `take` takes the head of the queue. `interfere` gets a
    /// packet that has waited too long, and returns it marked, or `None` if it has dropped it.
    pub fn dequeue<T>(
        &mut self,
        now: Time,
        spec: &ControlledDelaySpec,
        mut take: impl FnMut() -> Option<Head<T>>,
        mut interfere: impl FnMut(T) -> Option<T>,
    ) -> Option<T> {
        let mut next = self.look(now, spec, take());
        if self.dropping {
            while now >= self.drop_next
                && let Some((item, true)) = next
            {
                self.count += 1;
                if let Some(marked) = interfere(item) {
                    self.drop_next = self.law(self.drop_next, spec);
                    return Some(marked);
                }
                next = self.look(now, spec, take());
                if matches!(next, Some((_, true))) {
                    self.drop_next = self.law(self.drop_next, spec);
                }
            }
            self.dropping = matches!(next, Some((_, true)));
        } else if let Some((item, true)) = next {
            next = match interfere(item) {
                Some(marked) => Some((marked, true)),
                None => self.look(now, spec, take()),
            };
            self.enter(now, spec);
        }
        next.map(|(item, _)| item)
    }

    /// A head, and whether it may be interfered with (RFC 8289's `dodequeue`).
    fn look<T>(&mut self, now: Time, spec: &ControlledDelaySpec, head: Option<Head<T>>) -> Option<(T, bool)> {
        let Some(Head { item, since, behind }) = head else {
            self.first_above = None;
            return None;
        };
        if now.saturating_sub(since) < spec.target || behind <= spec.packet.get() {
            self.first_above = None;
            return Some((item, false));
        }
        let late = self.first_above.is_some_and(|at| now >= at);
        self.first_above.get_or_insert(now + spec.interval);
        Some((item, late))
    }
    fn enter(&mut self, now: Time, spec: &ControlledDelaySpec) {
        self.dropping = true;
        // Continues about where it was if it left the dropping state not long ago.
        let delta = self.count.saturating_sub(self.last_count);
        let recent = now.saturating_sub(self.drop_next) < spec.interval * 16;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = self.law(now, spec);
        self.last_count = self.count;
    }
    fn law(&self, from: Time, spec: &ControlledDelaySpec) -> Time {
        from + Time::from_ps((spec.interval.as_ps() as f64 / libm::sqrt(f64::from(self.count))) as u64)
    }
}
