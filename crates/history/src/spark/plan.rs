//! Scans of files in a query's plan (`SparkPlanInfo`).
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

/// An object of the text that has not ended: an operator, its metadata, one of its metrics, or something else.
#[derive(Default)]
struct Object<'a> {
    /// The last key.
    key: &'a [u8],
    scan: PlannedScan,
    metric: (Option<u64>, String),
}

/// The metric of a scan's files, before Spark 3.1 `number of files`.
const FILES: [&str; 2] = ["number of files read", "number of files"];

/// No plan has as many operators one in the other: Spark's own recursion would not get through it.
const MOST_LEVELS: usize = 10_000;

/// The scans in the event of a line, which is valid JSON.
pub fn scans(line: &[u8]) -> Vec<PlannedScan> {
    let (mut found, mut open, mut rest) = (Vec::new(), Vec::<Object>::new(), line);
    while let Some(at) = memchr::memchr3(b'"', b'{', b'}', rest) {
        let from = &rest[at..];
        rest = &from[1..];
        match from[0] {
            b'{' if open.len() == MOST_LEVELS => break,
            b'{' => open.push(Object::default()),
            b'}' => {
                let Some(Object { scan, metric, .. }) = open.pop() else { break };
                if !scan.name.is_empty() && !scan.location.is_empty() {
                    found.push(scan);
                } else if let Some(around) = open.last_mut() {
                    match (around.key, metric) {
                        (b"metadata", _) => {
                            (around.scan.format, around.scan.location) = (scan.format, scan.location);
                        }
                        (b"metrics", (Some(number), name)) => {
                            around.scan.metrics.push(number);
                            if FILES.contains(&&*name) {
                                around.scan.files = Some(number);
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
                    _ => continue,
                };
                *of = serde_json::from_slice(text).unwrap_or_default();
            }
        }
    }
    found
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
