//! Scans of files and broadcasts in a query's plan (`SparkPlanInfo`).
//!
//! Its operators stand one in the other, two levels of JSON each: a query of many joins has more levels than a parser
//! takes that calls itself for each. So its text is walked with a stack.

/// An operator of a plan that reads files (`FileSourceScanExec`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PlannedScan {
    /// Its name, such as `Scan parquet spark_catalog.default.visits`.
    pub name: String,
    /// The format's name, such as `Parquet`.
    pub format: String,
    /// The kind of its list of files, and their paths: `InMemoryFileIndex(1 paths)[hdfs://m/visits]`.
    pub location: String,
    /// The numbers of its metrics.
    pub metrics: Vec<u64>,
    /// Of these the one that says how many files it reads.
    pub files: Option<u64>,
}

/// An operator of a plan that has its rows collected by the driver, which broadcasts them (`BroadcastExchangeExec`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PlannedBroadcast {
    /// The numbers of its metrics.
    pub metrics: Vec<u64>,
    /// Of these the one that counts its rows, since Spark 3.1.
    pub rows: Option<u64>,
    /// Whether they are broadcast by their keys, and not as they are (`IdentityBroadcastMode`).
    pub keyed: bool,
    /// Metrics of the operators below whose rows are collected without a shuffle between.
    pub collected: Vec<u64>,
    /// Metrics of the operator that reads what was broadcast.
    pub read: Vec<u64>,
}

/// What a plan says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Planned {
    pub scans: Vec<PlannedScan>,
    pub broadcasts: Vec<PlannedBroadcast>,
}

/// An object of the text that has not ended: an operator, its metadata, one of its metrics, or something else.
#[derive(Default)]
struct Object<'a> {
    /// The last key.
    key: &'a [u8],
    scan: PlannedScan,
    metric: (Option<u64>, String),
    /// Whether it broadcasts rows as they are.
    plain: bool,
    /// Its metric of rows.
    rows: Option<u64>,
    /// Metrics of the operators below, up to the next exchange.
    below: Vec<u64>,
    /// Broadcasts below that no operator with metrics has read yet, by their places.
    unread: Vec<usize>,
}

/// The metric of a scan's files, before Spark 3.1 `number of files`.
const FILES: [&str; 2] = ["number of files read", "number of files"];

const ROWS: &str = "number of output rows";
const BROADCAST: &str = "BroadcastExchange";

/// How the names of shuffles end, but for stages of adaptive execution, which stand around them: `Exchange`,
/// `ShuffleExchange`, `ReusedExchange`.
const EXCHANGE: &str = "Exchange";

/// How the mode is named that broadcasts rows as they are, for joins without equal keys.
const AS_THEY_ARE: &str = "IdentityBroadcastMode";

/// No plan has as many operators one in the other: Spark's own recursion would not get through it.
const MOST_LEVELS: usize = 10_000;

/// The scans and broadcasts in the event of a line, which is valid JSON.
pub fn planned(line: &[u8]) -> Planned {
    let (mut found, mut open, mut rest) = (Planned::default(), Vec::<Object>::new(), line);
    while let Some(at) = memchr::memchr3(b'"', b'{', b'}', rest) {
        let from = &rest[at..];
        rest = &from[1..];
        match from[0] {
            b'{' if open.len() == MOST_LEVELS => break,
            b'{' => open.push(Object::default()),
            b'}' => {
                let Some(object) = open.pop() else { break };
                if !object.scan.name.is_empty() {
                    operator(object, open.last_mut(), &mut found);
                } else if let Some(around) = open.last_mut() {
                    let Object { scan, metric, .. } = object;
                    match (around.key, metric) {
                        (b"metadata", _) => {
                            (around.scan.format, around.scan.location) = (scan.format, scan.location);
                        }
                        (b"metrics", (Some(number), name)) => {
                            around.scan.metrics.push(number);
                            if FILES.contains(&&*name) {
                                around.scan.files = Some(number);
                            }
                            if name == ROWS {
                                around.rows = Some(number);
                            }
                        }
                        _ => {}
                    }
                }
            }
            _ => {
                let text;
                (text, rest) = from.split_at(string(from));
                let Some(object) = open.last_mut() else { continue };
                if let Some(value) = rest.trim_ascii_start().strip_prefix(b":") {
                    object.key = &text[1..text.len().saturating_sub(1).max(1)];
                    if object.key == b"accumulatorId" {
                        object.metric.0 = number(value.trim_ascii_start());
                    }
                    continue;
                }
                let of = match object.key {
                    b"nodeName" => &mut object.scan.name,
                    b"Format" => &mut object.scan.format,
                    b"Location" => &mut object.scan.location,
                    b"name" => &mut object.metric.1,
                    b"simpleString" => {
                        object.plain = memchr::memmem::find(text, AS_THEY_ARE.as_bytes()).is_some();
                        continue;
                    }
                    _ => continue,
                };
                *of = serde_json::from_slice(text).unwrap_or_default();
            }
        }
    }
    found
}

/// An operator has ended, in the one around that takes its rows, if any.
fn operator(object: Object, around: Option<&mut Object>, found: &mut Planned) {
    let Object { scan, plain, rows, mut below, mut unread, .. } = object;
    let is_broadcast = scan.name == BROADCAST;
    if !scan.metrics.is_empty() {
        for place in unread.drain(..) {
            found.broadcasts[place].read.clone_from(&scan.metrics);
        }
    }
    if is_broadcast {
        unread.push(found.broadcasts.len());
        let (metrics, collected) = (scan.metrics, std::mem::take(&mut below));
        found.broadcasts.push(PlannedBroadcast { metrics, rows, keyed: !plain, collected, read: Vec::new() });
    } else if scan.name.ends_with(EXCHANGE) {
        // Other stages' tasks compute what is below a shuffle.
        below.clear();
    } else {
        below.extend_from_slice(&scan.metrics);
        if !scan.location.is_empty() {
            found.scans.push(scan);
        }
    }
    if let Some(around) = around {
        around.unread.append(&mut unread);
        // The longer list stays where it is: plans may be deep.
        if around.below.len() < below.len() {
            std::mem::swap(&mut around.below, &mut below);
        }
        around.below.append(&mut below);
    }
}

/// The length of the string that a text begins with, quotes included.
fn string(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(next) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += next;
        if text[at] == b'"' {
            return at + 1;
        }
        // What is escaped is no end.
        at += 2;
    }
    text.len()
}

/// The whole number that a text begins with.
fn number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}
