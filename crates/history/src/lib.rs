//! Histories of real jobs, as clusters recorded them, read into types.
//!
//! Pure: bytes in, [`JobHistory`] out. Three kinds are read: Hadoop's own job history (`.jhist`, in its two encodings
//! `Avro-Binary` and `Avro-Json`); the JSON traces of Rumen, which derive from it; and those of the YARN scheduler load
//! simulator (SLS), which keep only where and when containers ran.

mod avro;
pub mod coflow;
mod error;
pub mod import;
mod jhist;
mod rumen;
mod sls;
pub mod swim;

pub use error::{HistoryError, Problem};

use error::HistoryError as Error;
use serde_json::Value;
use std::collections::BTreeMap;

/// Largest file that is read: about the history of 20,000 tasks.
pub const MAX_BYTES: usize = 1 << 28;

/// Longest time between two moments of one job, in milliseconds: it fits in a simulated time.
const MAX_SPAN_MS: i64 = 200 * 86_400_000;

/// One job, as its history records it. Times are milliseconds since 1970 by the cluster's clock.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JobHistory {
    /// Job identifier, such as `job_1795217314114_0002`.
    pub id: String,
    /// The name that the user gave it.
    pub name: String,
    /// When the client submitted it.
    pub submit_ms: i64,
    /// When its AppMaster (or JobTracker) had set it up and started to run tasks.
    pub launch_ms: i64,
    /// When it ended.
    pub finish_ms: Option<i64>,
    /// How it ended.
    pub state: JobState,
    /// The AppMasters that ran it: one, plus one for each that died.
    pub masters: Vec<Master>,
    /// The map tasks by number.
    pub maps: Vec<Task>,
    /// The reduce tasks by number.
    pub reduces: Vec<Task>,
    /// Sums over all tasks, as the job itself reports them.
    pub counters: Counters,
}

/// How a job ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum JobState {
    /// The history has no end: the job was still running, or its AppMaster died.
    #[default]
    Unfinished,
    /// All tasks succeeded.
    Succeeded,
    /// A task failed too often, or the setup did.
    Failed,
    /// Killed by a user or operator.
    Killed,
}

/// The start of an AppMaster.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Master {
    /// Where it ran.
    pub host: String,
    /// When its process started.
    pub start_ms: i64,
}

/// Map or reduce.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TaskKind {
    /// A map.
    Map,
    /// A reduce.
    Reduce,
}

/// A task: one split, or one partition.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Task {
    /// Its number among the tasks of its kind.
    pub number: u32,
    /// When it was scheduled. Its attempts start later.
    pub start_ms: Option<i64>,
    /// When its first attempt succeeded.
    pub finish_ms: Option<i64>,
    /// Hosts that hold its split.
    pub preferred_hosts: Vec<String>,
    /// Its attempts by number.
    pub attempts: Vec<Attempt>,
}

impl Task {
    /// The attempt that succeeded.
    pub fn successful(&self) -> Option<&Attempt> {
        self.attempts.iter().find(|a| a.state == AttemptState::Succeeded)
    }
}

/// One run of a task on one host.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Attempt {
    /// Its number among the attempts of its task.
    pub number: u32,
    /// Where it ran; empty if it was withdrawn before it got a container.
    pub host: String,
    /// The rack of that host, such as `/default-rack`; empty if not recorded.
    pub rack: String,
    /// Whether the AppMaster classed its input as local to the node, the rack, or neither; empty if not recorded.
    pub locality: String,
    /// Whether it is a speculative attempt, started beside a slow one.
    pub speculative: bool,
    /// When its container was launched; `None` if it never was.
    pub start_ms: Option<i64>,
    /// When it ended.
    pub finish_ms: Option<i64>,
    /// Maps: when the map function had processed the last input record. Sorting, spilling and merging follow.
    pub map_finish_ms: Option<i64>,
    /// Reduces: when the last map output had been fetched.
    pub shuffle_finish_ms: Option<i64>,
    /// Reduces: when the final merge was set up.
    pub sort_finish_ms: Option<i64>,
    /// How it ended.
    pub state: AttemptState,
    /// Its counters; for a killed attempt, as of its last report.
    pub counters: Counters,
    /// Wall time of each twelfth of its progress, in milliseconds; empty if not recorded.
    pub clock_splits_ms: Vec<i64>,
    /// CPU time of each twelfth of its progress, in milliseconds; empty if not recorded.
    pub cpu_splits_ms: Vec<i64>,
}

/// How an attempt ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AttemptState {
    /// Not recorded: it was running when the job ended.
    #[default]
    Unfinished,
    /// It completed its task.
    Succeeded,
    /// It failed.
    Failed,
    /// It was killed: another attempt was faster, its node was lost, or the job was killed.
    Killed,
}

/// Counters by Hadoop's names, such as `HDFS_BYTES_READ`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters(BTreeMap<String, i64>);

impl Counters {
    /// The value of a counter, if recorded.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(|value| u64::try_from(*value).ok())
    }

    /// The value of a counter, zero if not recorded.
    pub fn count(&self, name: &str) -> u64 {
        self.get(name).unwrap_or(0)
    }

    /// Whether no counter is recorded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Enters a counter. The first of a name stays, because the framework's groups precede the user's.
    fn enter(&mut self, name: &str, value: i64) {
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), value);
        }
    }
}

/// The format of a history file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Hadoop's job history in the binary encoding of Avro, its default.
    AvroBinary,
    /// Hadoop's job history in the JSON encoding of Avro.
    AvroJson,
    /// Rumen's JSON trace: one object per job.
    Rumen,
    /// The JSON trace of the scheduler load simulator: one object per job.
    Sls,
}

/// Reads a history file of any format. Rumen and SLS files may hold several jobs.
pub fn read(bytes: &[u8]) -> Result<(Format, Vec<JobHistory>), Error> {
    if bytes.len() > MAX_BYTES {
        let what = format!("the file has {} bytes; up to {MAX_BYTES} are read", bytes.len());
        return Err(Error::new(MAX_BYTES, Problem::Limit(what)));
    }
    let first_line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    match first_line.trim_ascii() {
        b"Avro-Binary" => Ok((Format::AvroBinary, vec![jhist::read(bytes, jhist::Encoding::Binary)?])),
        b"Avro-Json" => Ok((Format::AvroJson, vec![jhist::read(bytes, jhist::Encoding::Json)?])),
        _ => read_json(bytes),
    }
}

/// Rumen and SLS both write one JSON object per job, one after the other or in a list.
fn read_json(bytes: &[u8]) -> Result<(Format, Vec<JobHistory>), Error> {
    if !matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[')) {
        let start: String = String::from_utf8_lossy(&bytes[..bytes.len().min(24)]).chars().take(24).collect();
        return Err(Error::new(0, Problem::UnknownFormat(start.escape_debug().to_string())));
    }
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    let mut jobs = Vec::new();
    let mut format = None;
    loop {
        let offset = values.byte_offset();
        let list = match values.next() {
            None => break,
            Some(Err(e)) => return Err(Error::json(offset, &e)),
            Some(Ok(Value::Array(list))) => list,
            Some(Ok(object)) => vec![object],
        };
        for object in list {
            let found = if object.get("jobID").is_some() {
                Format::Rumen
            } else if object.get("job.tasks").is_some() {
                Format::Sls
            } else {
                let expected = "a job of Rumen (with `jobID`) or of SLS (with `job.tasks`)";
                return Err(Error::malformed(offset, expected, "another JSON value"));
            };
            if *format.get_or_insert(found) != found {
                return Err(Error::inconsistent(offset, "the file mixes jobs of Rumen and of SLS"));
            }
            jobs.push(match found {
                Format::Sls => sls::job(object, offset, jobs.len())?,
                _ => rumen::job(object, offset)?,
            });
        }
    }
    match format {
        Some(format) => Ok((format, jobs)),
        None => Err(Error::malformed(bytes.len(), "at least one job", "the end of the file")),
    }
}

/// The part of a task's or attempt's identifier that follows the job's.
struct Id<'a> {
    kind: TaskKind,
    task: u32,
    attempt: Option<&'a str>,
}

impl<'a> Id<'a> {
    /// Reads `task_<cluster>_<job>_<m|r>_<task>` or `attempt_<the same>_<attempt>`. `None` for setup and cleanup tasks.
    fn parse(text: &'a str, offset: usize) -> Result<Option<Self>, Error> {
        let wrong = || Error::malformed(offset, "an identifier of a task or an attempt", format!("`{text:.80}`"));
        let mut parts = text.split('_').skip(3);
        let kind = match parts.next().ok_or_else(wrong)? {
            "m" => TaskKind::Map,
            "r" => TaskKind::Reduce,
            "s" | "c" | "j" | "t" => return Ok(None),
            _ => return Err(wrong()),
        };
        let task = parts.next().and_then(|n| n.parse().ok()).ok_or_else(wrong)?;
        Ok(Some(Self { kind, task, attempt: parts.next() }))
    }

    fn attempt(&self, offset: usize) -> Result<u32, Error> {
        let number = self.attempt.and_then(|n| n.parse().ok());
        number.ok_or_else(|| Error::malformed(offset, "an identifier of an attempt", "one of a task"))
    }
}

/// Tasks while they are gathered. The map is sparse, so that a hostile task number does not allocate.
#[derive(Default)]
struct Tasks(BTreeMap<(TaskKind, u32), (Task, BTreeMap<u32, Attempt>)>);

impl Tasks {
    fn task(&mut self, id: &Id) -> &mut Task {
        let entry = self.0.entry((id.kind, id.task)).or_default();
        entry.0.number = id.task;
        &mut entry.0
    }

    fn attempt(&mut self, id: &Id, number: u32) -> &mut Attempt {
        let attempts = &mut self.0.entry((id.kind, id.task)).or_default().1;
        let attempt = attempts.entry(number).or_default();
        attempt.number = number;
        attempt
    }

    /// Moves the tasks into the job, and checks that its times belong together.
    fn finish(self, mut job: JobHistory, offset: usize) -> Result<JobHistory, Error> {
        for ((kind, number), (mut task, attempts)) in self.0 {
            task.number = number;
            task.attempts = attempts.into_values().collect();
            match kind {
                TaskKind::Map => job.maps.push(task),
                TaskKind::Reduce => job.reduces.push(task),
            }
        }
        let attempts = job.maps.iter().chain(&job.reduces).flat_map(|t| &t.attempts);
        let moments = attempts.flat_map(|a| {
            [a.start_ms, a.finish_ms, a.map_finish_ms, a.shuffle_finish_ms, a.sort_finish_ms].into_iter().flatten()
        });
        let masters = job.masters.iter().map(|m| m.start_ms);
        for moment in moments.chain(masters).chain([job.launch_ms]).chain(job.finish_ms) {
            if moment.checked_sub(job.submit_ms).is_none_or(|span| span.abs() > MAX_SPAN_MS) {
                let what = format!("times of one job more than 200 days apart: {} and {moment} ms", job.submit_ms);
                return Err(Error::inconsistent(offset, what));
            }
        }
        Ok(job)
    }
}

/// A moment, if recorded: histories write 0 or -1 for one that never came.
fn stated(ms: i64) -> Option<i64> {
    (ms > 0).then_some(ms)
}
