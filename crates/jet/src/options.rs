//! How a gateway behaves.

use std::sync::Arc;
use std::time::Duration;
use stripe::optimizer::{Limits, MOST_STREAMS, Policy, Tuner};
use stripe::session::{Carriage, Pool, Settings};
use stripe::wire::Hello;
use stripe::{Config, Segmentation};
use units::{Bytes, Time};

/// The longest payload of a segment, sent or accepted.
pub(crate) const MAX_PAYLOAD: u32 = 256 << 10;
/// Segment size and socket buffers of the paper's mode: 64 KB, "the default buffer size" (Wang et al. 2014, section 1).
const PAPER: u32 = 64 << 10;

/// Longer than any TCP of Linux waits for an acknowledgement: with `tcp_retries2` of 15 it counts 924.6 s
/// (Documentation/networking/ip-sysctl.rst), and gives up when the next retransmission is due, 120 s later at most.
pub const PATIENCE: Duration = Duration::from_mins(18);

/// How long keys are used, as SSH has it (RFC 4253, section 9). The TLS library looks after the number of records.
const KEYS_LAST: Duration = Duration::from_hours(1);

/// How many streams a session has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Streams {
    /// Tuned by measurement.
    Tuned(Policy),
    /// A fixed number.
    Fixed(u32),
    /// The paper's mode: this many streams, used in turn, each with 64 KB of socket buffer.
    Paper(u32),
}

/// Options that near and far gateways have in common.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many streams a session has.
    pub streams: Streams,
    /// The largest number of streams.
    pub most_streams: u32,
    /// Streams that are kept open while idle.
    pub warm: u32,
    /// The most connections of a session at once.
    pub connections: usize,
    /// Bytes held for one connection, each way.
    pub connection_memory: u64,
    /// Bytes held for one peer, each way.
    pub peer_memory: u64,
    /// Bytes held in all.
    pub memory: u64,
    /// How long a session outlives its streams where nothing says that the other end is gone (P-10).
    pub patience: Duration,
    /// A stream that is silent for this long is probed.
    pub keep_alive: Duration,
    /// A stream is replaced when its keys are about this old: at an age between half of this and all of it (P-2).
    pub keys_last: Duration,
    /// The congestion control of streams, by the kernel's name; `None` is the system's.
    pub congestion: Option<String>,
    /// Members of a bond with the hash `layer3+4` over which streams are spread although the system does not show it;
    /// the system shows its own bonds.
    pub members: Option<u32>,
    /// Whether datagrams of UDP are carried, and how.
    pub udp: Option<Udp>,
}

/// Options for datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Udp {
    /// How long a datagram may wait here for a stream.
    pub deadline: Duration,
    /// The most flows at once, for a session and for a peer. A flow is what one program's socket and one destination
    /// send each other.
    pub flows: u32,
    /// The most flows in all.
    pub flows_in_all: u32,
}

impl Default for Udp {
    fn default() -> Self {
        Self { deadline: Duration::from_millis(100), flows: 1024, flows_in_all: 4096 }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            streams: Streams::Tuned(Policy::Fill),
            most_streams: MOST_STREAMS,
            warm: 4,
            connections: 16_384,
            connection_memory: 64 << 20,
            peer_memory: 256 << 20,
            memory: 1 << 30,
            patience: PATIENCE,
            keep_alive: Duration::from_secs(10),
            keys_last: KEYS_LAST,
            congestion: None,
            members: None,
            udp: None,
        }
    }
}

impl Options {
    /// Credit of a connection before its window grows: enough for the first round trips of streams in slow start.
    fn first_credit(&self) -> Bytes {
        Bytes::new(self.connection_memory.min(1 << 20))
    }
    /// The settings of a session with a peer that has sent this HELLO; before that, with the limits of this end alone.
    pub(crate) fn settings(&self, peer: Option<&Hello>) -> Settings {
        let connection = Config {
            credit: self.first_credit(),
            max_credit: Bytes::new(self.connection_memory),
            peer_credit: peer.map_or(Bytes::ZERO, |hello| Bytes::new(hello.credit)),
            ..match self.streams {
                Streams::Paper(_) => Config::paper(PAPER),
                _ => Config::default(),
            }
        };
        let max_payload = peer.map_or(MAX_PAYLOAD, |hello| hello.max_payload.min(MAX_PAYLOAD));
        // A peer that allows no streams still has the one on which it said so.
        let max_streams = peer.map_or(u32::from(u16::MAX), |hello| u32::from(hello.max_streams).max(1));
        Settings {
            connection: Config { segmentation: fitting(connection.segmentation, max_payload), ..connection },
            max_payload: MAX_PAYLOAD,
            max_streams: self.most().min(max_streams),
            connections: self.connections,
            memory: self.peer_memory,
            patience: time(self.patience),
            keep_alive: time(self.keep_alive),
            warm: if let Streams::Tuned(_) = self.streams { self.warm } else { 1 },
            datagrams: self.udp.map(|udp| Carriage { wait: time(udp.deadline), flows: udp.flows }),
        }
    }
    /// The most streams that are accepted; a fixed number is its own limit.
    pub(crate) fn most(&self) -> u32 {
        match self.streams {
            Streams::Tuned(_) => self.most_streams.max(1),
            Streams::Fixed(number) | Streams::Paper(number) => number.max(1),
        }
    }
    /// The controller of the number of streams.
    pub(crate) fn tuner(&self, most: u32) -> Tuner {
        match self.streams {
            Streams::Tuned(policy) => Tuner::measuring(policy, Limits { first: self.warm, most }, self.warm),
            Streams::Fixed(number) | Streams::Paper(number) => Tuner::Fixed(number.min(most)),
        }
    }
    /// The fixed socket buffers of streams; `None` leaves them to the kernel.
    pub(crate) fn buffer(&self) -> Option<usize> {
        matches!(self.streams, Streams::Paper(_)).then_some(PAPER as usize)
    }
    /// Memory of all sessions together.
    pub(crate) fn pool(&self) -> Arc<Pool> {
        Pool::new(self.memory)
    }
}

/// The segment lengths to use with a peer. A peer that accepts less than the usual lengths gets one length.
fn fitting(segmentation: Segmentation, max_payload: u32) -> Segmentation {
    match segmentation {
        Segmentation::ByRate if max_payload < MAX_PAYLOAD => Segmentation::Fixed(max_payload.max(1)),
        Segmentation::Fixed(length) => Segmentation::Fixed(length.min(max_payload).max(1)),
        Segmentation::ByRate => Segmentation::ByRate,
    }
}

fn time(duration: Duration) -> Time {
    Time::from_ns(duration.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program by itself waits for 15 retransmissions at most (`tcp_retries2`). The timeout doubles from 200 ms up to
    /// 120 s: 0.2 (1 + 2 + ... + 2^9) + 5 x 120 + 120 s. That is 204.6 + 600 + 120 = 924.6 s, and one more of 120 s
    /// where the first timeout was longer.
    #[test]
    fn a_session_waits_longer_than_a_program_would_by_itself() {
        let doubled: f64 = (0..10).map(|power| 0.2 * f64::from(1 << power)).sum();
        let linux = doubled + 6.0 * 120.0;
        assert!((linux - 924.6).abs() < 0.01, "{linux}");
        assert!(Options::default().patience.as_secs_f64() > linux + 120.0);
    }
}
