//! Queues: how much they hold, and what they do with it.

use super::key::{Key, choice, quantity_pattern, section, wrong_kind};
use super::problem::Problems;
use super::tree::{Tree, Value};
use serde_json::{Value as Json, json};
use units::{Bytes, Time};

choice! {
    /// How a queue treats what arrives and what waits.
    pub enum QueueKind {
        /// First in, first out; drops what arrives when it is full.
        DropTail = "drop-tail",
        /// Drop-tail that marks ECN-capable packets above a threshold, as DCTCP asks of switches.
        Threshold = "threshold",
        /// Random early detection, Floyd and Jacobson 1993.
        Red = "red",
        /// Controlled delay, RFC 8289.
        Codel = "codel",
        /// Controlled delay of each flow and turns between them, RFC 8290.
        FqCodel = "fq-codel",
        /// A proportional integral controller of the delay, RFC 8033.
        Pie = "pie",
        /// A drop-tail queue for each class of `network.priority`, earlier classes first.
        Priority = "priority",
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
        /// The queue discipline.
        kind: QueueKind = QueueKind::DropTail;
        /// Capacity of the queue.
        limit: QueueLimit = QueueLimit::Packets(128);
        /// Marking threshold (threshold): a packet is marked if the queue, including it, exceeds this. DCTCP's K.
        mark_above: Option<QueueLimit> = None;
        /// Parameters of RED.
        red: Option<Red> = None;
        /// Parameters of CoDel.
        codel: Option<Codel> = None;
        /// Parameters of FQ-CoDel.
        fq_codel: Option<FqCodel> = None;
        /// Parameters of PIE.
        pie: Option<Pie> = None;
    }
}

section! {
    /// Random early detection.
    pub struct Red {
        /// Average queue below which no packet is dropped. Left out: 5 packets; adaptive, the greater of that and 2.5
        /// ms of packets.
        min: Option<QueueLimit> = None;
        /// Average queue at which the probability reaches `max-p`. Left out: three times `min` (Floyd 1997).
        max: Option<QueueLimit> = None;
        /// Probability of a drop at `max`. With `adaptive`, its initial value.
        max_p: f64 = 0.1, 0.000_001..=1.0;
        /// Weight of a new sample in the average. Left out: 0.002 (Floyd 1997); adaptive, 1 - exp(-1 / C) with C
        /// packets per second.
        weight: Option<f64> = None, 0.000_000_001..=1.0;
        /// Whether the probability rises from `max-p` at `max` to 1 at twice `max`. Else it is 1 above `max`.
        gentle: bool = true;
        /// Adaptive RED (Floyd et al. 2001): `max-p` follows the average queue every 0.5 s, within 0.01 to 0.5.
        adaptive: bool = false;
        /// Whether ECN-capable packets are marked instead of dropped early.
        ecn: bool = true;
        /// A typical packet: the unit of idle time, and of the probability with thresholds in bytes.
        packet: Bytes = Bytes::new(1_000), Bytes::new(1)..=Bytes::new(65_573);
    }
}

section! {
    /// Controlled delay.
    pub struct Codel {
        /// Acceptable standing sojourn time. Default: RFC 8289.
        target: Time = Time::from_ms(5), TIMES;
        /// Sojourn times may exceed the target for this long; about the longest round trip. Default: RFC 8289.
        interval: Time = Time::from_ms(100), TIMES;
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = true;
    }
}

section! {
    /// Controlled delay of each flow.
    pub struct FqCodel {
        /// Number of queues into which flows are hashed. Default: RFC 8290, 5.2.
        flows: u32 = 1_024, 1..=65_536;
        /// Bytes that a queue may send per turn. Left out: a full packet on the wire.
        quantum: Option<Bytes> = None, Bytes::new(1)..=Bytes::from_mb(1);
        /// Packets dropped at once from the longest queue when all together exceed the limit. Default: as in Linux.
        batch: u32 = 64, 1..=1_000_000;
        /// Acceptable standing sojourn time of each flow. Default: as CoDel's.
        target: Time = Time::from_ms(5), TIMES;
        /// Sojourn times may exceed the target for this long. Default: as CoDel's.
        interval: Time = Time::from_ms(100), TIMES;
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = true;
    }
}

choice! {
    /// How PIE knows how long packets wait.
    pub enum PieDelay {
        /// Sojourn time of the packet that left last.
        Timestamp = "timestamp",
        /// Queue length over the measured departure rate (RFC 8033, 5.2).
        DepartureRate = "departure-rate",
    }
}

section! {
    /// Proportional integral controller enhanced.
    pub struct Pie {
        /// Target of the queueing delay (QDELAY_REF). Defaults of PIE: RFC 8033, section 4.
        target: Time = Time::from_ms(15), TIMES;
        /// Time between updates of the drop probability (T_UPDATE).
        update: Time = Time::from_ms(15), TIMES;
        /// Length of a burst that passes after a quiet time (MAX_BURST).
        burst: Time = Time::from_ms(150), Time::ZERO..=Time::from_secs(100);
        /// Gain of the difference between delay and target, per second.
        alpha: f64 = 0.125, 0.0..=1_000_000.0;
        /// Gain of the change of the delay, per second.
        beta: f64 = 1.25, 0.0..=1_000_000.0;
        /// How the queueing delay is measured.
        delay: PieDelay = PieDelay::Timestamp;
        /// Drop probability up to which ECN-capable packets are marked instead (RFC 8033, 5.1); 0 never marks.
        mark_up_to: f64 = 0.1, 0.0..=1.0;
        /// Whether drops are spread evenly (RFC 8033, 5.4).
        derandomize: bool = true;
    }
}

/// The shortest and longest waiting times and intervals of disciplines.
const TIMES: std::ops::RangeInclusive<Time> = Time::from_us(1)..=Time::from_secs(100);

section! {
    /// One buffer for the queues of all ports of a switch, with dynamic thresholds (Choudhury and Hahne 1998).
    pub struct SharedBuffer {
        /// Capacity of the buffer of a switch. Each port's own `limit` holds too.
        size: Bytes = Bytes::from_mb(4), Bytes::new(1_538)..=Bytes::from_mb(1_000_000);
        /// Dynamic threshold (Choudhury and Hahne 1998): a port may hold this many times the free part of the buffer.
        alpha: f64 = 1.0, 0.001..=1_000_000.0;
    }
}

section! {
    /// A link with a queue of its own.
    pub struct Port {
        /// The link: "left -> right" for one direction, "left -- right" or a node's name for both.
        link: String = String::new();
        /// The queue at the sending end.
        queue: Queue = Queue::default();
    }
}

impl Queue {
    /// Fills in the defaults of its kind's own table.
    pub fn fill_defaults(&mut self) {
        match self.kind {
            QueueKind::Red => drop(self.red.get_or_insert_default()),
            QueueKind::Codel => drop(self.codel.get_or_insert_default()),
            QueueKind::FqCodel => drop(self.fq_codel.get_or_insert_default()),
            QueueKind::Pie => drop(self.pie.get_or_insert_default()),
            QueueKind::DropTail | QueueKind::Threshold | QueueKind::Priority => {}
        }
    }

    /// Whether it marks ECN-capable packets.
    pub fn marks(&self) -> bool {
        match self.kind {
            QueueKind::DropTail | QueueKind::Priority => false,
            QueueKind::Threshold => true,
            QueueKind::Red => self.red.clone().unwrap_or_default().ecn,
            QueueKind::Codel => self.codel.clone().unwrap_or_default().ecn,
            QueueKind::FqCodel => self.fq_codel.clone().unwrap_or_default().ecn,
            QueueKind::Pie => self.pie.clone().unwrap_or_default().mark_up_to > 0.0,
        }
    }

    /// Keys that contradict each other: under which key, what is wrong, and what would help.
    pub fn contradiction(&self) -> Option<(&'static str, String, String)> {
        if self.kind == QueueKind::Threshold && self.mark_above.is_none() {
            let help = "`mark-above = \"20 packets\"` at 1 Gbit/s, \"65 packets\" at 10 Gbit/s (Alizadeh et al. 2010)";
            return Some(("kind", "a threshold queue needs `mark-above`".to_owned(), help.to_owned()));
        }
        let own = self.own_tables();
        let (key, kind, _) = own.into_iter().find(|(_, kind, given)| *given && *kind != self.kind)?;
        let message = format!("a queue of kind {} has no `{key}`", self.kind.word());
        Some((key, message, format!("`kind = \"{}\"`", kind.word())))
    }

    /// The key of its own table, or `kind` where its kind has none.
    pub fn own_key(&self) -> &'static str {
        self.own_tables().iter().find(|(_, kind, _)| *kind == self.kind).map_or("kind", |(key, _, _)| key)
    }

    /// The keys that belong to one kind each, that kind, and whether the key is given.
    const fn own_tables(&self) -> [(&'static str, QueueKind, bool); 5] {
        [
            ("mark-above", QueueKind::Threshold, self.mark_above.is_some()),
            ("red", QueueKind::Red, self.red.is_some()),
            ("codel", QueueKind::Codel, self.codel.is_some()),
            ("fq-codel", QueueKind::FqCodel, self.fq_codel.is_some()),
            ("pie", QueueKind::Pie, self.pie.is_some()),
        ]
    }
}
