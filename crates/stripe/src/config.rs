//! The settings of a connection.

use units::{BitRate, Bytes, Time};

/// How new segments are given to streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scheduler {
    /// In turn, whatever a stream's speed (Wang et al. 2014, section 2.2): each segment belongs to a stream before that
    /// has room for it, so the slowest one holds all up.
    RoundRobin,
    /// To the stream that delivers it first, if it takes it now.
    #[default]
    EarliestDelivery,
}

/// How the byte stream is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Segmentation {
    /// Segments of this length, less at the end of what was written.
    Fixed(u32),
    /// What a stream transmits in 2 ms, 16 KiB at least and 256 KiB at most: small where it is slow, so that the last
    /// one does not take long; large where it is fast, so that it costs few calls.
    ByRate,
}

impl Segmentation {
    /// The longest segment for a stream of this rate.
    pub fn longest(self, rate: BitRate) -> u64 {
        match self {
            Self::Fixed(bytes) => u64::from(bytes.max(1)),
            Self::ByRate => rate.bytes_in(Time::from_ms(2)).get().clamp(16 << 10, 256 << 10),
        }
    }
    /// The shortest that is cut while more is there.
    pub(crate) fn shortest(self) -> u64 {
        self.longest(BitRate::from_bps(0))
    }
}

/// How one end of a connection behaves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// How segments are given to streams.
    pub scheduler: Scheduler,
    /// How the byte stream is cut.
    pub segmentation: Segmentation,
    /// How much this end holds, in order or not, before the application takes it; the other end may send so much before
    /// it is told more.
    pub credit: Bytes,
    /// How far that grows while the application keeps up.
    pub max_credit: Bytes,
    /// What the other end's `credit` is (from its HELLO).
    pub peer_credit: Bytes,
    /// An acknowledgement waits so long for more to acknowledge.
    pub ack_delay: Time,
    /// While no more than this is under way, all goes on one stream, so that a question and its answer never wait for
    /// the slowest. Not with round robin.
    pub pin: Bytes,
    /// A segment that is late while there is nothing else to send goes on a second stream too, as long as such copies
    /// make up no more than this share of all.
    pub copies: f64,
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
        }
    }
}

impl Config {
    /// As the paper has it (Wang et al. 2014, section 2.2): segments of one length in turn, and nothing else.
    pub fn paper(segment: u32) -> Self {
        Self {
            scheduler: Scheduler::RoundRobin,
            segmentation: Segmentation::Fixed(segment),
            pin: Bytes::ZERO,
            copies: 0.0,
            ..Self::default()
        }
    }
}
