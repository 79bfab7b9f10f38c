//! A flow-level connection: two ends, and what each sends.

use crate::{End, FlowRecord, Open, Owner, Tag, Totals};
use std::collections::VecDeque;
use tcp::Config;
use units::{Bytes, Time};

/// The stream from one end.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// Messages that wait for the connection, or for room in the receiver's buffer.
    pub waiting: VecDeque<(Bytes, Tag)>,
    /// Bytes sent that a paced reader has not consumed.
    pub unread: Bytes,
    /// Messages sent and not acknowledged.
    pub flying: u32,
    /// When the last message arrives.
    pub last: Time,
    /// Its owner has closed it.
    pub closed: bool,
    /// The end of the stream has been sent.
    pub finished: bool,
}

/// What an end has seen.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    gone: bool,
    /// The peer's stream is over.
    peer_closed: bool,
    delivered_at: Time,
    bytes: u64,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub owner: Owner,
    pub user: u32,
    pub from: u32,
    pub to: u32,
    pub port: u16,
    pub opened: Time,
    pub connected: Option<Time>,
    pub reset: bool,
    pub client: Config,
    server: Config,
    ways: [Way; 2],
    seen: [Seen; 2],
}

pub(super) const fn other(end: End) -> End {
    match end {
        End::Client => End::Server,
        End::Server => End::Client,
    }
}

impl Connection {
    pub fn new(now: Time, open: &Open) -> Self {
        Self {
            owner: open.owner,
            user: open.user,
            from: open.from,
            to: open.to,
            port: open.port,
            opened: now,
            connected: None,
            reset: false,
            client: open.client,
            server: open.server,
            ways: <[Way; 2]>::default(),
            seen: <[Seen; 2]>::default(),
        }
    }
    const fn config(&self, end: End) -> &Config {
        match end {
            End::Client => &self.client,
            End::Server => &self.server,
        }
    }
    /// The node at an end.
    pub const fn node(&self, end: End) -> u32 {
        match end {
            End::Client => self.from,
            End::Server => self.to,
        }
    }
    /// Payload of a full segment from an end.
    pub const fn mss(&self, end: End) -> u16 {
        self.config(end).mss
    }
    /// The buffer that holds senders back, where the reader at an end is paced.
    pub fn buffer(&self, end: End) -> Option<Bytes> {
        let config = self.config(end);
        (!config.auto_consume).then_some(config.receive_buffer)
    }
    /// The stream from an end.
    pub const fn way(&mut self, end: End) -> &mut Way {
        &mut self.ways[end as usize]
    }
    /// Whether an end takes no further part.
    pub const fn is_gone(&self, end: End) -> bool {
        self.seen[end as usize].gone
    }
    /// Whether an end has closed its stream and knows that the other has.
    pub const fn is_over(&self, end: End) -> bool {
        self.ways[end as usize].closed && self.seen[end as usize].peer_closed
    }
    /// Whether an end has sent what is not acknowledged, or has more to send.
    pub fn awaits(&self, end: End) -> bool {
        let way = &self.ways[end as usize];
        way.flying > 0 || !way.waiting.is_empty()
    }
    /// An end learns that its peer has closed its stream.
    pub const fn peer_closed(&mut self, end: End) {
        self.seen[end as usize].peer_closed = true;
    }
    /// A message is whole at an end.
    pub fn deliver(&mut self, now: Time, end: End, bytes: Bytes) {
        let seen = &mut self.seen[end as usize];
        seen.delivered_at = now;
        seen.bytes += bytes.get();
    }
    /// When a message was last delivered at an end.
    pub const fn delivered_at(&self, end: End) -> Time {
        self.seen[end as usize].delivered_at
    }
    /// Bytes of messages delivered at an end.
    pub const fn received(&self, end: End) -> u64 {
        self.seen[end as usize].bytes
    }
    /// One end is done. A server that no message has reached has nothing to finish.
    pub fn leave(&mut self, end: End) {
        self.seen[end as usize].gone = true;
        self.ways[end as usize].waiting.clear();
        if end == End::Client && self.connected.is_none() {
            self.seen[End::Server as usize].gone = true;
        }
    }
    /// The record that is kept when the connection ends.
    pub fn record(&self, ended: Option<Time>) -> FlowRecord {
        FlowRecord {
            owner: self.owner,
            user: self.user,
            from: self.from,
            to: self.to,
            port: self.port,
            reset: self.reset,
            opened: self.opened,
            connected: self.connected,
            ended,
            bytes: self.received(End::Server),
            bytes_back: self.received(End::Client),
            drops: 0,
            rtt: None,
            least_rtt: None,
            looks: crate::Looks::default(),
            // Retransmissions, timeouts and ECN exist only with packets.
            totals: Totals::default(),
        }
    }
}
