//! A flow-level connection: two ends, and what each sends.

use super::carried::Carried;
use super::fluid::FluidId;
use super::limits::{self, Terms};
use super::net::Way;
use crate::{End, FlowRecord, Handle, Open, Owner, Tag, Totals};
use net::VertexId;
use std::collections::VecDeque;
use tcp::{Config, IdleRestart};
use units::{Bytes, Time};

/// The window of one end's TCP, as rounds of slow start until the network, the receiver or losses set the pace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Bytes of payload that a round trip may have; infinite when acknowledgements set the pace.
    pub size: f64,
    /// The present round: when it began, what of it is left, in bytes of payload.
    pub began: Time,
    pub credit: f64,
    /// The end waits for acknowledgements to open the next round.
    pub waits: bool,
    /// When it last had something to send.
    pub active: Time,
    /// Until when small messages of it keep the slowest link.
    pub clear: Time,
    /// cwnd in bytes of payload, while acknowledgements set the pace.
    pub cwnd: f64,
    /// Above it cwnd hardly grows.
    pub ssthresh: f64,
    /// When the present message began.
    pub since: Time,
}

/// The stream from one end.
#[derive(Debug)]
pub(super) struct Stream {
    /// Where it goes; none where no path leads.
    pub way: Option<Way>,
    pub terms: Terms,
    pub window: Window,
    /// Messages that wait, or are on their way in part.
    pub waiting: VecDeque<(Bytes, Tag)>,
    /// What of the first one has been sent.
    pub sent_of_first: u64,
    /// What flows now: its name, its bytes of payload, its cap.
    pub flows: Option<(FluidId, u64, f64)>,
    /// Payload that has been sent.
    pub sent: u64,
    /// The first one stands in `unread`.
    pub first_counts: bool,
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

impl Stream {
    fn new(config: &Config, peer: &Config, framing: Bytes) -> Self {
        let terms = Terms::new(config, peer, framing);
        let size = f64::from(config.initial_window.max(1)) * terms.payload;
        let window = Window {
            size,
            began: Time::ZERO,
            credit: size,
            waits: false,
            active: Time::ZERO,
            clear: Time::ZERO,
            cwnd: size,
            ssthresh: f64::INFINITY,
            since: Time::ZERO,
        };
        Self {
            way: None,
            terms,
            window,
            waiting: VecDeque::new(),
            sent_of_first: 0,
            flows: None,
            sent: 0,
            first_counts: false,
            unread: Bytes::ZERO,
            flying: 0,
            last: Time::ZERO,
            closed: false,
            finished: false,
        }
    }
    /// The round trip of a full segment, without queues.
    pub fn rtt(&self) -> Time {
        self.way.as_ref().map_or(Time::ZERO, |way| way.rtt(&self.terms))
    }
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
    pub from_port: u16,
    pub port: u16,
    pub via: Option<VertexId>,
    pub opened: Time,
    pub connected: Option<Time>,
    pub reset: bool,
    pub client: Config,
    server: Config,
    streams: [Stream; 2],
    seen: [Seen; 2],
    /// Its name at the packets, if it has ever gone by them.
    pub twin: Option<Handle>,
    /// It goes by packets from now on: an event is pending.
    pub enters: bool,
    /// What packets carry now; none while it flows.
    pub carried: Option<Box<Carried>>,
}

pub(super) const fn other(end: End) -> End {
    match end {
        End::Client => End::Server,
        End::Server => End::Client,
    }
}

impl Connection {
    pub fn new(now: Time, open: &Open, from_port: u16, framing: Bytes) -> Self {
        let streams =
            [Stream::new(&open.client, &open.server, framing), Stream::new(&open.server, &open.client, framing)];
        Self {
            owner: open.owner,
            user: open.user,
            from: open.from,
            to: open.to,
            from_port,
            port: open.port,
            via: open.via,
            opened: now,
            connected: None,
            reset: false,
            client: open.client,
            server: open.server,
            streams,
            seen: <[Seen; 2]>::default(),
            twin: None,
            enters: false,
            carried: None,
        }
    }
    pub const fn config(&self, end: End) -> &Config {
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
    /// The ports of a stream from an end: its own, and the other's.
    pub const fn ports(&self, end: End) -> (u16, u16) {
        match end {
            End::Client => (self.from_port, self.port),
            End::Server => (self.port, self.from_port),
        }
    }
    /// The buffer that holds senders back, where the reader at an end is paced.
    pub fn buffer(&self, end: End) -> Option<Bytes> {
        let config = self.config(end);
        (!config.auto_consume).then_some(config.receive_buffer)
    }
    /// The stream from an end.
    pub const fn stream(&mut self, end: End) -> &mut Stream {
        &mut self.streams[end as usize]
    }
    /// The stream from an end, to look at.
    pub const fn look(&self, end: End) -> &Stream {
        &self.streams[end as usize]
    }
    /// The largest window of the stream from an end, in bytes of payload: what both sides' buffers allow.
    pub fn window_limit(&self, end: End) -> f64 {
        limits::window_limit(self.config(end), self.config(other(end)))
    }
    /// By how much a round multiplies the window of an end.
    pub fn growth(&self, end: End) -> f64 {
        limits::growth(self.config(end), self.config(other(end)))
    }
    /// Whether an end takes no further part.
    pub const fn is_gone(&self, end: End) -> bool {
        self.seen[end as usize].gone
    }
    /// Whether an end has closed its stream, all of it is acknowledged, and the other has closed, too.
    pub fn is_over(&self, end: End) -> bool {
        self.streams[end as usize].closed && !self.awaits(end) && self.seen[end as usize].peer_closed
    }
    /// Whether an end has sent what is not acknowledged, or has more to send.
    pub fn awaits(&self, end: End) -> bool {
        let stream = &self.streams[end as usize];
        stream.flying > 0 || !stream.waiting.is_empty()
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
    /// A part of a message has come to an end.
    pub const fn touch(&mut self, now: Time, end: End) {
        self.seen[end as usize].delivered_at = now;
    }
    /// When a message, or a part of one whose flow was stopped, last came to an end.
    pub const fn delivered_at(&self, end: End) -> Time {
        self.seen[end as usize].delivered_at
    }
    /// Bytes of whole messages delivered at an end.
    pub const fn received(&self, end: End) -> u64 {
        self.seen[end as usize].bytes
    }
    /// One end is done. A server that no message has reached has nothing to finish.
    pub fn leave(&mut self, end: End) {
        self.seen[end as usize].gone = true;
        self.streams[end as usize].waiting.clear();
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

impl Window {
    /// What may be sent without waiting for acknowledgements.
    pub const fn credit_or_all(&self) -> f64 {
        if self.size == f64::INFINITY { f64::INFINITY } else { self.credit }
    }

    /// The network, the receiver or losses set the pace.
    pub const fn let_go(&mut self) {
        if self.size < f64::INFINITY {
            (self.cwnd, self.size) = (self.size, f64::INFINITY);
        }
    }
    /// A message of so many bytes has been sent while acknowledgements set the pace. In slow start cwnd grows by what is
    /// acknowledged, as long as half of it is in flight (Linux's `tcp_is_cwnd_limited`).
    pub fn grow(&mut self, bytes: f64, limit: f64) {
        if self.size == f64::INFINITY && self.cwnd < self.ssthresh {
            self.cwnd = self.cwnd.max((self.cwnd + bytes).min(2.0 * bytes)).min(limit.max(self.cwnd));
        }
    }
    /// It has gone by packets until now, which have left cwnd and ssthresh. A path that holds less sets the pace.
    pub const fn go_on(&mut self, now: Time, (cwnd, ssthresh): (u64, u64), path: f64) {
        (self.cwnd, self.ssthresh) = (cwnd as f64, ssthresh as f64);
        self.size = if self.cwnd >= path { f64::INFINITY } else { self.cwnd };
        (self.credit, self.began, self.active) = (self.cwnd, now, now);
    }
    /// What cwnd is.
    pub fn cwnd(&self) -> f64 {
        if self.size == f64::INFINITY { self.cwnd } else { self.size }
    }

    /// A new round begins if the present one is acknowledged. The window grows if most of it was used (Linux's
    /// `tcp_is_cwnd_limited`: half of it). After an idle timeout it shrinks (RFC 5681, 4.1) by the endpoint's rule.
    pub fn begin_round(&mut self, now: Time, config: &Config, terms: &Terms, (rtt, growth): (Time, f64)) {
        let (idle, timeout) = (now.saturating_sub(self.active), limits::timeout(config, rtt));
        if config.idle_restart != IdleRestart::Off && idle > timeout {
            let segments = if config.idle_restart == IdleRestart::Ns2 { 1 } else { config.initial_window.max(1) };
            let first = f64::from(segments) * terms.payload;
            if config.idle_restart == IdleRestart::Linux && self.size < f64::INFINITY {
                let timeouts = ((idle.as_ps() - 1) / timeout.as_ps().max(1)).min(64);
                self.size = (self.size / (1_u64 << timeouts.min(63)) as f64).max(first.min(self.size));
            } else {
                self.size = self.size.min(first);
            }
            (self.began, self.credit, self.cwnd) = (now, self.size, self.size);
        }
        if self.credit >= self.size {
            // Nothing of it has been sent.
            self.began = now;
        } else if self.size < f64::INFINITY && now >= self.began + rtt {
            if self.size - self.credit >= self.size / 2.0 {
                self.size *= growth;
            }
            (self.began, self.credit) = (now, self.size);
        }
    }
}
