//! One byte stream over many connections, as traffic.

use super::key::{Key, choice, section};
use super::problem::Problems;
use super::tree::{Tree, Value};
use serde_json::{Value as Json, json};
use units::{Bytes, Time};

choice! {
    /// The aim of tuning the number of streams.
    pub enum StreamPolicy {
        /// More streams only to overcome limits of windows and buffers.
        Polite = "polite",
        /// More streams to use spare capacity. Others keep at least three quarters of a full path.
        Fill = "fill",
        /// More streams as long as goodput grows.
        Greedy = "greedy",
    }
}

choice! {
    /// How segments are distributed over streams.
    pub enum StreamScheduler {
        /// To the stream with the earliest estimated arrival.
        Earliest = "earliest",
        /// In turn, whatever a stream's rate.
        RoundRobin = "round-robin",
    }
}

choice! {
    /// Coupling of the streams' congestion controls.
    pub enum StreamCoupling {
        /// No coupling: each stream has `tcp.control`.
        None = "none",
        /// Linked increases (RFC 6356), over Reno.
        Lia = "lia",
        /// Opportunistic linked increases (Khalili et al. 2012), over Reno.
        Olia = "olia",
        /// Balanced linked adaptation (Peng et al. 2016), over Reno.
        Balia = "balia",
    }
}

/// The number of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamCount {
    /// A fixed number.
    Fixed(u32),
    /// Tuned during the transfer.
    Auto,
    /// By the optimizer of the CloudJet paper (Wang et al. 2014).
    Paper,
}

/// The most streams of a connection.
const MOST: u32 = 1024;

impl Key for StreamCount {
    type Range = ();

    fn read(tree: &Tree, _: Option<&()>, problems: &mut Problems) -> Option<Self> {
        match &tree.value {
            Value::Integer(_) => u32::read(tree, Some(&(1..=MOST)), problems).map(Self::Fixed),
            Value::String(word) if word == "auto" => Some(Self::Auto),
            Value::String(word) if word == "paper" => Some(Self::Paper),
            Value::String(word) => {
                problems.unknown(&tree.span, "a value here", word, ["auto", "paper"]);
                None
            }
            _ => super::key::wrong_kind(tree, "a number, \"auto\" or \"paper\"", problems),
        }
    }

    fn write(&self) -> Option<Value> {
        Some(match self {
            Self::Fixed(count) => Value::Integer(i128::from(*count)),
            Self::Auto => Value::String("auto".to_owned()),
            Self::Paper => Value::String("paper".to_owned()),
        })
    }

    fn schema(_: Option<&()>) -> Json {
        json!({ "oneOf": [{ "type": "integer", "minimum": 1, "maximum": MOST }, { "enum": ["auto", "paper"] }] })
    }

    fn describe(_: Option<&()>) -> String {
        format!(
            "whole number, 1 to {MOST}, or `auto` (Tuned during the transfer), or `paper` (Wang et al. 2014: the best \
             n              of 1 to 128 by PFTK's model, at the measured loss)"
        )
    }
}

const BUFFERS: std::ops::RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::from_mib(16 << 10);

section! {
    /// One byte stream over many connections.
    pub struct Stripe {
        /// Number of streams. For MPTCP `auto` is one for each of `paths`, or two without `paths`.
        streams: StreamCount = StreamCount::Auto;
        /// Upper limit of a tuned number of streams.
        most: u32 = 128, 1..=MOST;
        /// Aim of tuning the number of streams (`auto`).
        policy: StreamPolicy = StreamPolicy::Fill;
        /// How segments are distributed over streams.
        scheduler: StreamScheduler = StreamScheduler::Earliest;
        /// Length of a segment. Left out: what a stream sends in 2 ms, within 16 KiB to 256 KiB.
        segment: Option<Bytes> = None, Bytes::new(1)..=Bytes::from_mib(16);
        /// Initial credit: bytes that the receiver buffers, in order or not. It grows up to `max-credit` while the
        /// application keeps up.
        credit: Bytes = Bytes::from_mib(4), BUFFERS;
        /// Upper limit of the credit.
        max_credit: Bytes = Bytes::from_mib(64), BUFFERS;
        /// Delay of acknowledgements between the ends, to combine them.
        ack_delay: Time = Time::from_ms(5), Time::ZERO..=Time::from_secs(1);
        /// While at most this much is unacknowledged, all of it uses one stream (earliest).
        pin: Bytes = Bytes::new(64 << 10), Bytes::ZERO..=Bytes::from_mib(16 << 10);
        /// Late segments are sent on a second stream too, up to this part of all bytes.
        copies: f64 = 0.02, 0.0..=1.0;
        /// Coupling of the streams' congestion controls. Left out: none, and `lia` for MPTCP.
        coupling: Option<StreamCoupling> = None;
        /// Switches that the streams cross, in turn. Left out: as the network routes.
        paths: Vec<String> = Vec::new();
    }
}
