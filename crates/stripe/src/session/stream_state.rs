//! A stream's queue of frames, and the measurements of its transport.

use super::tuning::{Census, Seen};
use crate::optimizer::Law;
use crate::wire::{Data, Frame, HEADER};
use std::collections::VecDeque;
use units::{BitRate, Bytes, Time};

/// Measurements of a stream's transport; of a TCP socket, from `TCP_INFO`. Counters run since the socket was opened.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Gauge {
    /// Smoothed round-trip time.
    pub rtt: Time,
    /// Retransmission timeout (RTO) without back-off.
    pub rto: Time,
    /// Rate: the larger of delivery rate and congestion window over round-trip time.
    pub rate: BitRate,
    /// Bytes taken from the session and not acknowledged by TCP, wherever they are.
    pub unacknowledged: u64,
    /// Maximum segment size: payload of a full TCP segment.
    pub mss: u64,
    /// Congestion window in bytes.
    pub window: u64,
    /// Minimum round-trip time.
    pub rtt_min: Time,
    /// Whether the socket is in slow start.
    pub starting: bool,
    /// Whether the congestion control would have sent more: the limit is the send buffer, or whoever fills it.
    pub starved: bool,
    /// Response function of its congestion control.
    pub law: Law,
    /// Counters of the socket.
    pub census: Census,
}

/// Queue and state of a stream.
#[derive(Clone, Debug)]
pub(super) struct StreamState {
    control: VecDeque<(u32, Frame)>,
    data: VecDeque<(u32, Data)>,
    /// Bytes of the queued frames, and of those without payload.
    queued: u64,
    pub control_bytes: u64,
    /// Bytes given to the transport.
    pub given: u64,
    /// Bytes of these that are acknowledged. It never decreases.
    pub acknowledged: u64,
    pub gauge: Gauge,
    /// Counters at the end of the last round trip, for the tuner.
    pub seen: Seen,
    /// The stream has been asked to take datagrams.
    pub invited: bool,
    /// Bytes by which datagrams are ahead of connections' payload while both want the stream.
    pub lead: i64,
    /// To be replaced: it is closed when another stream has taken its place.
    pub replaced: bool,
    /// To be closed when nothing needs it any more.
    pub draining: bool,
    /// Our half is to be closed, or is closed (`shut`); it is closed (`closed`).
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
    /// Whether it counts as one of the streams that there should be: it is neither being closed nor to be replaced.
    pub fn counts(&self) -> bool {
        !self.draining && !self.replaced
    }
    /// Queues a frame. Payload waits behind all control frames (P-22).
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
    /// Bytes handed to the stream, whether the transport has taken them or not.
    pub fn handed(&self) -> u64 {
        self.given + self.queued
    }
    /// Room for segments. At most one segment waits here: it can no longer go elsewhere, and a transport that takes it
    /// makes room for another.
    pub fn room(&self, segment: u64) -> Bytes {
        Bytes::new(segment.saturating_sub(self.queued))
    }
    /// Takes in a measurement of the transport.
    pub fn measure(&mut self, gauge: Gauge) {
        self.gauge = gauge;
        self.acknowledged = self.acknowledged.max(self.given.saturating_sub(gauge.unacknowledged));
    }
}
