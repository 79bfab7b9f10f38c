//! Queues: how much they hold, and what they do with it.

use super::key::{Key, choice, quantity_pattern, section, wrong_kind};
use super::problem::Problems;
use super::tree::{Tree, Value};
use net::{Discipline, Limit};
use serde_json::{Value as Json, json};
use units::{BitRate, Bytes, Time};

choice! {
    /// How a queue treats what arrives and what waits.
    pub enum QueueKind {
        /// First in, first out; drops what arrives when it is full.
        DropTail = "drop-tail",
        /// The same, and marks ECN-capable packets above a threshold, as DCTCP asks of switches.
        Threshold = "threshold",
    }
}

/// How much a queue holds; the packet in transmission is outside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueLimit {
    /// So many packets.
    Packets(u32),
    /// So many bytes.
    Bytes(Bytes),
    /// As many bytes as the link, or the token bucket, sends in this time.
    Delay(Time),
}

impl Key for QueueLimit {
    type Range = ();

    fn read(tree: &Tree, _: Option<&()>, problems: &mut Problems) -> Option<Self> {
        let Value::String(text) = &tree.value else {
            return wrong_kind(tree, "a text like \"128 packets\", \"64 KB\" or \"400 ms\"", problems);
        };
        let number = text.trim().trim_end_matches("packets").trim_end_matches("packet");
        if number.len() < text.trim().len() {
            let packets = number.trim().parse().ok().filter(|packets| (1..=100_000_000).contains(packets));
            if packets.is_none() {
                problems.add(&tree.span, format!("\"{text}\" is not from 1 to 100000000 packets"));
            }
            return packets.map(Self::Packets);
        }
        let limit = text.parse().map(Self::Bytes).or_else(|_| text.parse().map(Self::Delay));
        match limit {
            Ok(Self::Bytes(Bytes::ZERO) | Self::Delay(Time::ZERO)) => {
                problems.add(&tree.span, "a queue holds at least something".to_owned());
                None
            }
            Ok(limit) => Some(limit),
            Err(error) => {
                // The duration's message would only tell half: name all three ways.
                let hint = units::nearest(unit_of(text), ["packets", "KB", "KiB", "MB", "MiB", "B", "ms", "us", "s"]);
                let hint = hint.map_or_else(|| error.to_string(), |unit| format!("did you mean `{unit}`?"));
                let message = format!("\"{text}\" is not a number of packets, a size or a duration");
                problems.add_with_help(&tree.span, message, hint);
                None
            }
        }
    }

    fn write(&self) -> Option<Value> {
        match self {
            Self::Packets(packets) => Some(Value::String(format!("{packets} packets"))),
            Self::Bytes(bytes) => bytes.write(),
            Self::Delay(delay) => delay.write(),
        }
    }

    fn schema(_: Option<&()>) -> Json {
        let (size, delay) = (quantity_pattern::<Bytes>(), quantity_pattern::<Time>());
        json!({ "type": "string", "pattern": format!("^ *[0-9]+ *packets? *$|{size}|{delay}") })
    }

    fn describe(_: Option<&()>) -> String {
        "number of packets, size, or duration at the rate of the link or bucket".to_owned()
    }
}

fn unit_of(text: &str) -> &str {
    text.trim().trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '_' | ' ' | '-' | '+'))
}

section! {
    /// A queue at the head of a link.
    pub struct Queue {
        /// Its discipline.
        kind: QueueKind = QueueKind::DropTail;
        /// How much it holds.
        limit: QueueLimit = QueueLimit::Packets(128);
        /// Threshold: marks a packet when the queue, counted with it, exceeds this (DCTCP's K).
        mark_above: Option<QueueLimit> = None;
    }
}

impl Queue {
    /// Its discipline.
    pub fn discipline(&self) -> Discipline {
        match self.kind {
            QueueKind::DropTail => Discipline::DropTail,
            QueueKind::Threshold => {
                Discipline::Threshold { mark_above: self.mark_above.map_or(Limit::Unlimited, Limit::from) }
            }
        }
    }

    /// What is wrong with its keys together in front of a transmitter of this rate: under which key, what, and what would help.
    pub fn contradiction(&self, rate: BitRate) -> Option<(&'static str, String, String)> {
        let threshold = self.kind == QueueKind::Threshold;
        if threshold && self.mark_above.is_none() {
            let help = "`mark-above = \"20 packets\"` at 1 Gbit/s, \"65 packets\" at 10 Gbit/s (Alizadeh et al. 2010)";
            return Some(("kind", "a threshold queue needs `mark-above`".to_owned(), help.to_owned()));
        }
        if !threshold && self.mark_above.is_some() {
            let message = format!("a queue of kind {} has no `mark-above`", self.kind.word());
            return Some(("mark-above", message, "`kind = \"threshold\"`".to_owned()));
        }
        let error = self.discipline().check(self.limit.into(), rate).err()?;
        Some(("mark-above", error.to_string(), "thresholds below `limit`".to_owned()))
    }
}

impl From<QueueLimit> for Limit {
    fn from(limit: QueueLimit) -> Self {
        match limit {
            QueueLimit::Packets(packets) => Self::Packets(packets),
            QueueLimit::Bytes(bytes) => Self::Bytes(bytes),
            QueueLimit::Delay(delay) => Self::Delay(delay),
        }
    }
}
