//! A connection's parts that are not TCP: who it is between, what its owner calls it, the messages on its streams.

use super::{Open, Owner, Tag};
use crate::record::Totals;
use net::{RouteId, VertexId};
use std::collections::VecDeque;
use units::Time;

#[derive(Debug)]
pub(crate) struct Connection {
    pub owner: Owner,
    pub user: u32,
    pub from: u32,
    pub to: u32,
    pub from_port: u16,
    pub to_port: u16,
    pub opened: Time,
    /// When the handshake was done at the client; [`Time::MAX`] before.
    pub connected: Time,
    pub reset: bool,
    /// Its packets that queues have dropped, both ways.
    pub drops: u32,
    /// State that few connections need.
    pub rare: Option<Box<Rare>>,
}

/// State of the few connections that have a prescribed path, or lost an end when its node crashed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rare {
    /// The switch by way of which its packets go, if not just any.
    pub via: Option<VertexId>,
    /// Counters of ends whose node crashed.
    pub forgotten: Forgotten,
}

/// Counters of ends whose node crashed: the endpoints themselves are gone.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Forgotten {
    /// Counters of both ends.
    pub totals: Totals,
    /// Bytes received, at the client and at the server.
    pub bytes: [u64; 2],
}

const _: () = assert!(size_of::<Option<Connection>>() <= 48);

impl Connection {
    /// Which of its ends, client (0) and server (1), are at a node.
    pub fn ends_at(&self, node: u32) -> impl Iterator<Item = usize> + use<> {
        [self.from, self.to].into_iter().enumerate().filter(move |(_, at)| *at == node).map(|(end, _)| end)
    }
    /// Counters of its ends whose node crashed.
    pub fn forgotten(&self) -> Forgotten {
        self.rare.as_ref().map(|rare| rare.forgotten).unwrap_or_default()
    }
    /// The switch by way of which its packets go, if not just any.
    pub fn via(&self) -> Option<VertexId> {
        self.rare.as_ref()?.via
    }
    pub fn new(now: Time, open: &Open, from_port: u16) -> Self {
        Self {
            owner: open.owner,
            user: open.user,
            from: open.from,
            to: open.to,
            from_port,
            to_port: open.port,
            opened: now,
            connected: Time::MAX,
            reset: false,
            drops: 0,
            rare: open.via.is_some().then(|| Box::new(Rare { via: open.via, ..Rare::default() })),
        }
    }
}

/// The per-packet state of an endpoint outside of TCP, in one cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Port {
    /// Where its packets go, or [`NOWHERE`].
    route: RouteId,
    /// Generation of the connection: packets and handles of an earlier one are stale.
    pub generation: u32,
    /// Number of the pending timer event.
    pub timer: u32,
    /// It has closed both ways, or is dead.
    pub done: bool,
    /// Its node is down.
    pub deaf: bool,
    /// What it sends and receives is counted.
    pub counted: bool,
    /// Time of the pending timer event.
    pub armed: Time,
    /// Stream offset at which the next message from the peer is whole.
    pub next_delivery: u64,
    /// Its own messages that are not acknowledged yet.
    pub messages: Messages,
}

/// No route has this number: it would begin past the arena's end.
const NOWHERE: RouteId = RouteId(u32::MAX);

const _: () = assert!(size_of::<Port>() == 64);

impl Default for Port {
    fn default() -> Self {
        Self {
            route: NOWHERE,
            generation: 0,
            timer: 0,
            armed: Time::MAX,
            next_delivery: u64::MAX,
            messages: Messages::NONE,
            done: false,
            deaf: false,
            counted: false,
        }
    }
}

impl Port {
    /// Where its packets go; none where no path leads there.
    #[inline]
    pub fn route(&self) -> Option<RouteId> {
        (self.route != NOWHERE).then_some(self.route)
    }
    pub fn set_route(&mut self, route: Option<RouteId>) {
        self.route = route.unwrap_or(NOWHERE);
    }
    /// Begins to serve a new connection, at a node that is up or not.
    pub fn renew(&mut self, up: bool, counted: bool) {
        self.done = !up;
        self.deaf = !up;
        self.counted = counted;
    }
    /// Makes everything of the old connection stale.
    pub fn retire(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.timer = self.timer.wrapping_add(1);
        self.armed = Time::MAX;
        self.next_delivery = u64::MAX;
        self.messages = Messages::NONE;
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Boundary {
    /// Stream offset after its last byte.
    pub end: u64,
    pub tag: Tag,
}

/// The messages on one stream, in order. What is acknowledged has been delivered before. Most streams have one message
/// at a time: only where there are more do these take memory of their own.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Messages {
    /// The first; its end is `u64::MAX` where there is none.
    first: Boundary,
    #[expect(clippy::box_collection, reason = "a word in the port's cache line, not four")]
    more: Option<Box<VecDeque<Boundary>>>,
    /// How many at the front are delivered.
    delivered: u32,
}

impl Messages {
    const NONE: Self = Self { first: Boundary { end: u64::MAX, tag: Tag(0) }, more: None, delivered: 0 };

    pub fn push(&mut self, boundary: Boundary) {
        if self.first.end == u64::MAX {
            self.first = boundary;
        } else {
            self.more.get_or_insert_default().push_back(boundary);
        }
    }
    fn get(&self, index: u32) -> Option<&Boundary> {
        match index.checked_sub(1) {
            None => Some(&self.first).filter(|first| first.end < u64::MAX),
            Some(index) => self.more.as_ref()?.get(index as usize),
        }
    }
    /// The next message that is whole when `received` bytes are there.
    pub fn deliver(&mut self, received: u64) -> Option<Tag> {
        let message = *self.get(self.delivered).filter(|message| message.end <= received)?;
        self.delivered += 1;
        Some(message.tag)
    }
    /// The next message that is acknowledged by `acknowledged` bytes.
    pub fn acknowledge(&mut self, acknowledged: u64) -> Option<Tag> {
        if self.delivered == 0 || self.first.end > acknowledged {
            return None;
        }
        let next = self.more.as_mut().and_then(|more| more.pop_front()).unwrap_or(Self::NONE.first);
        self.delivered -= 1;
        Some(std::mem::replace(&mut self.first, next).tag)
    }
    /// The offset at which another one is whole.
    pub fn next_delivery(&self) -> u64 {
        self.get(self.delivered).map_or(u64::MAX, |message| message.end)
    }
    /// The offset at which another one is acknowledged.
    #[inline]
    pub fn next_acknowledgement(&self) -> u64 {
        self.first.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against plain lists: messages are delivered in order, and acknowledged in order after that.
    #[test]
    fn messages_are_delivered_and_then_acknowledged_in_order() {
        let mut messages = Messages::NONE;
        assert_eq!((messages.next_delivery(), messages.next_acknowledgement()), (u64::MAX, u64::MAX));
        for (end, tag) in [(10, 1), (30, 2), (60, 3)] {
            messages.push(Boundary { end, tag: Tag(tag) });
        }
        assert_eq!(messages.acknowledge(60), None, "nothing is delivered yet");
        assert_eq!((messages.deliver(9), messages.next_delivery()), (None, 10));
        assert_eq!(
            (messages.deliver(30), messages.deliver(30), messages.deliver(30)),
            (Some(Tag(1)), Some(Tag(2)), None)
        );
        assert_eq!((messages.next_delivery(), messages.next_acknowledgement()), (60, 10));
        assert_eq!((messages.acknowledge(29), messages.acknowledge(29)), (Some(Tag(1)), None));
        messages.push(Boundary { end: 100, tag: Tag(4) });
        assert_eq!((messages.acknowledge(100), messages.acknowledge(100)), (Some(Tag(2)), None));
        assert_eq!((messages.deliver(100), messages.deliver(100)), (Some(Tag(3)), Some(Tag(4))));
        assert_eq!((messages.acknowledge(100), messages.acknowledge(100)), (Some(Tag(3)), Some(Tag(4))));
        assert_eq!((messages.next_delivery(), messages.next_acknowledgement()), (u64::MAX, u64::MAX));
        messages.push(Boundary { end: 101, tag: Tag(5) });
        assert_eq!((messages.next_delivery(), messages.next_acknowledgement()), (101, 101));
    }
}
