//! The settings of a connection.

use units::{BitRate, Bytes, Time};

/// The scheduler: which stream gets a new segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scheduler {
    /// In turn, whatever the rates of the streams are (Wang et al. 2014, section 2.2). A segment is assigned before its
    /// stream has room, so the slowest stream delays all others.
    RoundRobin,
    /// To the stream with the earliest estimated delivery, if it has room now.
    #[default]
    EarliestDelivery,
}

/// Lengths of segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Segmentation {
    /// Fixed length. The last segment of what was written may be shorter.
    Fixed(u32),
    /// What a stream transmits in 2 ms, from 16 KiB to 256 KiB. Segments are short on slow streams, so that the last
    /// one does not take long, and long on fast streams, so that they cost few calls.
    ByRate,
}

impl Segmentation {
    /// Length of the longest segment for a stream of this rate.
    pub fn longest(self, rate: BitRate) -> u64 {
        match self {
            Self::Fixed(bytes) => u64::from(bytes.max(1)),
            Self::ByRate => rate.bytes_in(Time::from_ms(2)).get().clamp(16 << 10, 256 << 10),
        }
    }
    /// Length of the shortest segment that is cut while more data waits.
    pub(crate) fn shortest(self) -> u64 {
        self.longest(BitRate::from_bps(0))
    }
}

/// Settings of one end of a connection.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// How segments are given to streams.
    pub scheduler: Scheduler,
    /// Lengths of segments.
    pub segmentation: Segmentation,
    /// Initial credit: bytes that this end holds, in order or not. The peer may send as much before the first ACK.
    pub credit: Bytes,
    /// Upper limit of the credit, which grows while the application keeps up.
    pub max_credit: Bytes,
    /// The other end's initial credit (from its HELLO).
    pub peer_credit: Bytes,
    /// Longest delay of an ACK, so that one ACK covers several segments.
    pub ack_delay: Time,
    /// While at most this much is unacknowledged, all of it goes on one stream, so that a request and its answer never
    /// wait for the slowest stream. Not with round robin.
    pub pin: Bytes,
    /// Limit of copies of late segments, as a part of all bytes sent. Copies go on a second stream while there is
    /// nothing else to send.
    pub copies: f64,
    /// While at most this much is unacknowledged, and streams lose segments now and then, all of it goes on a second
    /// stream too: a program waits for each short message, and for what a lost one holds up. Not with round robin.
    pub twice: Bytes,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            scheduler: Scheduler::EarliestDelivery,
            segmentation: Segmentation::ByRate,
            credit: Bytes::from_mib(4),
            max_credit: Bytes::from_mib(64),
            peer_credit: Bytes::from_mib(4),
            ack_delay: Time::from_ms(5),
            pin: Bytes::new(64 << 10),
            copies: 0.02,
            twice: Bytes::new(8 << 10),
        }
    }
}

impl Config {
    /// The paper's settings (Wang et al. 2014, section 2.2): segments of one length in round robin.
    pub fn paper(segment: u32) -> Self {
        Self {
            scheduler: Scheduler::RoundRobin,
            segmentation: Segmentation::Fixed(segment),
            pin: Bytes::ZERO,
            copies: 0.0,
            twice: Bytes::ZERO,
            ..Self::default()
        }
    }
}
