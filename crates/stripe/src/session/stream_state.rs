//! What waits to go on a stream, and what its transport says of it.

use super::tuning::{Census, Seen};
use crate::optimizer::Law;
use crate::wire::{Data, Frame, HEADER};
use std::collections::VecDeque;
use units::{BitRate, Bytes, Time};

/// What a stream's transport knows of it; of a TCP socket, from `TCP_INFO`. Counters run since the socket was opened.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Gauge {
    /// Smoothed round-trip time.
    pub rtt: Time,
    /// The retransmission timeout, without backing off.
    pub rto: Time,
    /// The larger of delivery rate and window over round-trip time.
    pub rate: BitRate,
    /// Bytes taken from the session and not acknowledged by the far end's kernel, wherever they are.
    pub unacknowledged: u64,
    /// Payload of a full TCP segment.
    pub mss: u64,
    /// Congestion window in bytes.
    pub window: u64,
    /// The least round-trip time that was measured.
    pub rtt_min: Time,
    /// The socket is in slow start.
    pub starting: bool,
    /// Its congestion control would have sent more: its buffer is the limit, or whoever fills that.
    pub starved: bool,
    /// How its congestion control shares.
    pub law: Law,
    /// What has been counted.
    pub census: Census,
}

/// A stream's queue and state.
#[derive(Clone, Debug)]
pub(super) struct StreamState {
    control: VecDeque<(u32, Frame)>,
    data: VecDeque<(u32, Data)>,
    /// Bytes in the queue, as frames will have them; of these, without payload.
    queued: u64,
    pub control_bytes: u64,
    /// Bytes given to the transport.
    pub given: u64,
    /// Of these, acknowledged: never less than before.
    pub acknowledged: u64,
    pub gauge: Gauge,
    /// As the tuner saw it last.
    pub seen: Seen,
    /// The stream has been asked to take datagrams.
    pub invited: bool,
    /// Bytes by which datagrams are ahead of connections' payload while both want the stream.
    pub lead: i64,
    /// To be replaced: closed when another stream takes its place.
    pub replaced: bool,
    /// To be closed when nothing needs it any more.
    pub draining: bool,
    /// `shut`: our half is to be closed, or is closed. `closed`: it is closed.
    pub shut: bool,
    pub closed: bool,
    /// The peer has closed its half.
    pub peer_shut: bool,
    /// Time of the last frame received on it.
    pub last_received: Time,
    /// Time of the first datagram that it has taken since.
    pub datagram_at: Option<Time>,
    /// Time of the PING that is not answered yet.
    pub asked_at: Option<Time>,
    /// A PING was sent because the path fell silent, and only its PONG has been received since.
    pub questioned: bool,
}

impl StreamState {
    pub fn new(now: Time, gauge: Gauge) -> Self {
        Self {
            control: VecDeque::new(),
            data: VecDeque::new(),
            queued: 0,
            control_bytes: 0,
            given: 0,
            acknowledged: 0,
            gauge,
            seen: Seen::default(),
            invited: false,
            lead: 0,
            replaced: false,
            draining: false,
            shut: false,
            closed: false,
            peer_shut: false,
            last_received: now,
            datagram_at: None,
            asked_at: None,
            questioned: false,
        }
    }
    /// Whether it counts as one of those that there are to be: neither is it being closed, nor is another to take its
    /// place.
    pub fn counts(&self) -> bool {
        !self.draining && !self.replaced
    }
    /// Payload waits behind all control (P-22).
    pub fn push(&mut self, connection: u32, frame: Frame) {
        self.queued += frame.wire_bytes();
        match frame {
            Frame::Data(data) if data.len > 0 => self.data.push_back((connection, data)),
            frame => {
                self.control_bytes += frame.wire_bytes();
                self.control.push_back((connection, frame));
            }
        }
    }
    pub fn pop_control(&mut self) -> Option<(u32, Frame)> {
        let (connection, frame) = self.control.pop_front()?;
        self.queued -= frame.wire_bytes();
        self.control_bytes -= frame.wire_bytes();
        Some((connection, frame))
    }
    pub fn pop_data(&mut self) -> Option<(u32, Data)> {
        let (connection, data) = self.data.pop_front()?;
        self.queued -= HEADER as u64 + u64::from(data.len);
        Some((connection, data))
    }
    pub fn is_empty(&self) -> bool {
        self.control.is_empty() && self.data.is_empty()
    }
    /// Whether payload of connections waits.
    pub fn has_data(&self) -> bool {
        !self.data.is_empty()
    }
    /// All that was handed to the stream, given to the transport or not.
    pub fn handed(&self) -> u64 {
        self.given + self.queued
    }
    /// Room for segments: one waits here at most, since whatever does can no longer go elsewhere, and a transport that
    /// takes it gets another.
    pub fn room(&self, segment: u64) -> Bytes {
        Bytes::new(segment.saturating_sub(self.queued))
    }
    /// What the transport says now.
    pub fn measure(&mut self, gauge: Gauge) {
        self.gauge = gauge;
        self.acknowledged = self.acknowledged.max(self.given.saturating_sub(gauge.unacknowledged));
    }
}
