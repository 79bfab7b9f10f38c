//! One byte stream over many connections, as traffic.

use super::key::{Key, choice, section};
use super::problem::Problems;
use super::tree::{Tree, Value};
use serde_json::{Value as Json, json};
use units::{Bytes, Time};

choice! {
    /// What more streams are used for where their number is `auto`.
    pub enum StreamPolicy {
        /// To lift limits of windows and buffers, and for nothing else.
        Polite = "polite",
        /// To fill what others leave: no more than leave them three quarters of a full path.
        Fill = "fill",
        /// As long as it gains anything.
        Greedy = "greedy",
    }
}

choice! {
    /// How segments are given to streams.
    pub enum StreamScheduler {
        /// To the stream on which a segment arrives first.
        Earliest = "earliest",
        /// In turn, whatever a stream's speed.
        RoundRobin = "round-robin",
    }
}

choice! {
    /// How the congestion controls of streams are coupled.
    pub enum StreamCoupling {
        /// Not at all: each by `tcp.control`.
        None = "none",
        /// Linked increases (RFC 6356), over Reno.
        Lia = "lia",
        /// Opportunistic linked increases (Khalili et al. 2012), over Reno.
        Olia = "olia",
        /// Balanced linked adaptation (Peng et al. 2016), over Reno.
        Balia = "balia",
    }
}

/// How many streams there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamCount {
    /// So many.
    Fixed(u32),
    /// Tuned while they run.
    Auto,
    /// As the CloudJet paper's optimizer has it.
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
            "whole number, 1 to {MOST}, or `auto` (Tuned while they run), or `paper` (By Wang et al. 2014: the best of PFTK's model over n = 1 to 128, at the loss measured)"
        )
    }
}

const BUFFERS: std::ops::RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::from_mib(16 << 10);

section! {
    /// One byte stream over many connections.
    pub struct Stripe {
        /// How many streams; of MPTCP `auto` is one for each of `paths`, two without.
        streams: StreamCount = StreamCount::Auto;
        /// At most so many where they are tuned.
        most: u32 = 128, 1..=MOST;
        /// What more streams are used for where their number is `auto`.
        policy: StreamPolicy = StreamPolicy::Fill;
        /// How segments are given to streams.
        scheduler: StreamScheduler = StreamScheduler::Earliest;
        /// The length of segments; left out, what a stream transmits in 2 ms, 16 KiB to 256 KiB.
        segment: Option<Bytes> = None, Bytes::new(1)..=Bytes::from_mib(16);
        /// How much the receiver holds at first, in order or not; it grows up to `max-credit` while the application
        /// keeps up.
        credit: Bytes = Bytes::from_mib(4), BUFFERS;
        /// The most that it holds.
        max_credit: Bytes = Bytes::from_mib(64), BUFFERS;
        /// How long an acknowledgement between the ends waits for more to acknowledge.
        ack_delay: Time = Time::from_ms(5), Time::ZERO..=Time::from_secs(1);
        /// While no more than this is under way, all of it goes on one stream (earliest).
        pin: Bytes = Bytes::new(64 << 10), Bytes::ZERO..=Bytes::from_mib(16 << 10);
        /// A segment that is late goes on a second stream too, up to this part of all bytes.
        copies: f64 = 0.02, 0.0..=1.0;
        /// How the congestion controls of streams are coupled; left out, not at all, and MPTCP's by LIA.
        coupling: Option<StreamCoupling> = None;
        /// Switches through which the streams lead, one after the other in turn; left out, as the network routes them.
        paths: Vec<String> = Vec::new();
    }
}
