//! A connection's parts that are not TCP: who it is between, what its owner calls it, the messages on its streams.

use super::record::Totals;
use super::{Open, Owner};
use hadoop::Tag;
use net::RouteId;
use std::collections::VecDeque;
use units::Time;

#[derive(Debug)]
pub(super) struct Connection {
    pub owner: Owner,
    pub user: u32,
    pub from: u32,
    pub to: u32,
    pub from_port: u16,
    pub to_port: u16,
    pub opened: Time,
    pub connected: Option<Time>,
    pub reset: bool,
    /// Its packets that queues have dropped, both ways.
    pub drops: u32,
    /// Counters of ends that went down with their nodes.
    pub forgotten: Totals,
    /// What those had received, at the client and at the server.
    pub forgotten_bytes: [u64; 2],
}

impl Connection {
    pub fn new(now: Time, open: &Open, from_port: u16) -> Self {
        Self {
            owner: open.owner,
            user: open.user,
            from: open.from,
            to: open.to,
            from_port,
            to_port: open.port,
            opened: now,
            connected: None,
            reset: false,
            drops: 0,
            forgotten: Totals::default(),
            forgotten_bytes: [0; 2],
        }
    }
}

/// What of an endpoint is looked at for every packet, apart from the endpoint itself.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Port {
    /// Where its packets go.
    pub route: Option<RouteId>,
    /// Of the connection.
    pub generation: u32,
    /// Of its pending timer event.
    pub timer: u32,
    /// When that event fires.
    pub armed: Time,
    /// Stream offset at which the next message from the peer is whole.
    pub next_delivery: u64,
    /// Stream offset at which the next message of its own is acknowledged.
    pub next_acknowledgement: u64,
    pub node: u32,
    /// It has closed both ways, or is dead.
    pub done: bool,
    /// Its node is down.
    pub deaf: bool,
    /// Its own messages that are not acknowledged yet.
    pub messages: Messages,
}

impl Default for Port {
    fn default() -> Self {
        Self {
            route: None,
            generation: 0,
            timer: 0,
            armed: Time::MAX,
            next_delivery: u64::MAX,
            next_acknowledgement: u64::MAX,
            node: 0,
            done: false,
            deaf: false,
            messages: Messages::default(),
        }
    }
}

impl Port {
    /// Begins to serve a new connection.
    pub fn renew(&mut self, node: u32, deaf: bool) {
        self.node = node;
        self.done = false;
        self.deaf = deaf;
    }
    /// Makes everything of the old connection stale.
    pub fn retire(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.timer = self.timer.wrapping_add(1);
        self.armed = Time::MAX;
        self.next_delivery = u64::MAX;
        self.next_acknowledgement = u64::MAX;
        self.messages.clear();
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Boundary {
    /// Stream offset after its last byte.
    pub end: u64,
    pub tag: Tag,
}

/// The messages on one stream, in order. What is acknowledged has been delivered before.
#[derive(Debug, Default)]
pub(super) struct Messages {
    ring: VecDeque<Boundary>,
    /// How many at the front are delivered.
    delivered: usize,
}

impl Messages {
    pub fn push(&mut self, boundary: Boundary) {
        self.ring.push_back(boundary);
    }
    /// The next message that is whole when `received` bytes are there.
    pub fn deliver(&mut self, received: u64) -> Option<Tag> {
        let message = self.ring.get(self.delivered).filter(|message| message.end <= received)?;
        self.delivered += 1;
        Some(message.tag)
    }
    /// The next message that is acknowledged by `acknowledged` bytes.
    pub fn acknowledge(&mut self, acknowledged: u64) -> Option<Tag> {
        let message = *self.ring.front().filter(|message| self.delivered > 0 && message.end <= acknowledged)?;
        self.ring.pop_front();
        self.delivered -= 1;
        Some(message.tag)
    }
    /// The offset at which another one is whole.
    pub fn next_delivery(&self) -> u64 {
        self.ring.get(self.delivered).map_or(u64::MAX, |message| message.end)
    }
    /// The offset at which another one is acknowledged.
    pub fn next_acknowledgement(&self) -> u64 {
        self.ring.front().map_or(u64::MAX, |message| message.end)
    }
    fn clear(&mut self) {
        self.ring.clear();
        self.delivered = 0;
    }
}
