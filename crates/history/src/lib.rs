//! Histories of real jobs, as clusters recorded them, read into types.
//!
//! Pure: bytes in, [`JobHistory`] out. The format is found by looking ([`Format::detect`]): Hadoop's own job history
//! (`.jhist`, in its two encodings `Avro-Binary` and `Avro-Json`), and its text form of Hadoop 0.20 to 1.x; the JSON
//! traces of Rumen, which derive from either; and those of the YARN scheduler load simulator (SLS), which keep only
//! where and when containers ran. Each may be compressed ([`unpack`]).

mod avro;
mod beyond;
pub mod coflow;
mod error;
mod format;
pub mod import;
mod jhist;
mod json;
mod memory;
mod properties;
mod rumen;
mod sls;
pub mod spark;
pub mod swim;
mod tasks;
mod text;
mod unpack;
mod zstandard;

pub use error::{HistoryError, Place, Problem};
pub use format::Format;
pub use memory::Memory;
pub use properties::{Properties, Property, current_name, job_id_within, name_in_hadoop1};
pub use unpack::{Compression, unpack};

use error::HistoryError as Error;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Largest file that is read, compressed or not: about the history of 20,000 tasks.
pub const MAX_BYTES: usize = 1 << 28;

/// One job, as its history records it. Times are milliseconds since 1970 by the cluster's clock.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JobHistory {
    /// Job identifier, such as `job_1795217314114_0002`.
    pub id: String,
    /// The name that the user gave it.
    pub name: String,
    /// When the client submitted it.
    pub submit_ms: i64,
    /// When its AppMaster (or JobTracker) had set it up and started to run tasks; its submission if it never did.
    pub launch_ms: i64,
    /// When it ended.
    pub finish_ms: Option<i64>,
    /// How it ended.
    pub state: JobState,
    /// Why it failed or was killed, in the cluster's words; empty if it did not, or if that is not recorded.
    pub diagnostics: String,
    /// Whether its tasks ran one after the other within the AppMaster (an uber job).
    pub uber: bool,
    /// The AppMasters that ran it: one, plus one for each that died.
    pub masters: Vec<Master>,
    /// The map tasks by number.
    pub maps: Vec<Task>,
    /// The reduce tasks by number.
    pub reduces: Vec<Task>,
    /// The racks of hosts, such as `/default-rack`, where they are recorded.
    pub racks: BTreeMap<String, String>,
    /// Sums over all tasks, as the job itself reports them.
    pub counters: Counters,
    /// Its configuration, where the history holds it (Rumen since 2011).
    pub properties: Properties,
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
    /// When its first attempt succeeded, or when it was given up.
    pub finish_ms: Option<i64>,
    /// How it ended.
    pub state: AttemptState,
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
    /// Why it failed or was killed, in the cluster's words, shortened; empty if it did not, or if that is not recorded.
    pub error: String,
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

/// Counters by Hadoop's names, such as `HDFS_BYTES_READ`, in the order of their names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters(Vec<(Arc<str>, i64)>);

/// A counter as it is read: its name, its value, and whether its group is one of the framework's.
struct Counted<'a> {
    name: &'a str,
    value: i64,
    of_framework: bool,
}

impl Counters {
    /// Gathers counters. Of one name the framework's stands before the user's, and the first before others.
    fn gather<'a>(counted: impl Iterator<Item = Counted<'a>>, memory: &mut Memory) -> Result<Self, Problem> {
        let mut all = Vec::new();
        for counter in counted {
            memory.take(size_of::<(Arc<str>, i64)>())?;
            all.push((memory.name(counter.name)?, !counter.of_framework, counter.value));
        }
        all.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        all.dedup_by(|later, first| later.0 == first.0);
        Ok(Self(all.into_iter().map(|(name, _, value)| (name, value)).collect()))
    }

    /// The value of a counter, if recorded.
    pub fn get(&self, name: &str) -> Option<u64> {
        let place = self.0.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        u64::try_from(self.0[place].1).ok()
    }

    /// The value of a counter, zero if not recorded.
    pub fn count(&self, name: &str) -> u64 {
        self.get(name).unwrap_or(0)
    }

    /// Sets a counter.
    pub fn set(&mut self, name: &str, value: u64) {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        match self.0.binary_search_by(|(known, _)| (**known).cmp(name)) {
            Ok(place) => self.0[place].1 = value,
            Err(place) => self.0.insert(place, (name.into(), value)),
        }
    }

    /// Multiplies a counter, if it is recorded.
    pub(crate) fn scale(&mut self, name: &str, by: f64) {
        if let Ok(place) = self.0.binary_search_by(|(known, _)| (**known).cmp(name)) {
            let value = &mut self.0[place].1;
            *value = (*value as f64 * by) as i64;
        }
    }

    /// Whether no counter is recorded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether a group of counters is the framework's, by the names of all releases.
fn is_framework(group: &str) -> bool {
    group.starts_with("org.apache.hadoop.")
        || matches!(
            group,
            "FileSystemCounters" | "File Systems" | "Map-Reduce Framework" | "Job Counters " | "Shuffle Errors"
        )
}

/// Reads a history file of any format, compressed or not. Rumen and SLS files may hold several jobs.
pub fn read(bytes: &[u8]) -> Result<(Format, Vec<JobHistory>), Error> {
    read_into(bytes, &mut Memory::default())
}

/// As [`read`], for one of several files whose jobs share the memory.
pub fn read_into(bytes: &[u8], memory: &mut Memory) -> Result<(Format, Vec<JobHistory>), Error> {
    let bytes = &*unpack(bytes)?;
    let format = Format::detect(bytes)?;
    let jobs = match format {
        Format::AvroBinary => vec![jhist::read(bytes, jhist::Encoding::Binary, memory)?],
        Format::AvroJson => vec![jhist::read(bytes, jhist::Encoding::Json, memory)?],
        Format::Text => vec![text::read(bytes, memory)?],
        Format::Rumen => rumen::read(bytes, memory)?,
        Format::Sls => sls::read(bytes, memory)?,
    };
    Ok((format, jobs))
}

/// Most characters kept of what the cluster says of a failure: the message and the head of its stack trace.
const MOST_WORDS: usize = 500;

/// A message of the cluster, trimmed and shortened.
fn words(message: &str) -> String {
    let message = message.trim_matches(|c: char| c.is_whitespace() || c == ',');
    message.chars().take(MOST_WORDS).collect()
}

/// Rack and host of a name such as `/default-rack/w1`; the rack of a bare name is empty. Rumen of 2009 leaves the
/// backslashes with which the text history escapes dots, and layers of racks have no slash before them.
fn rack_and_host(name: &str) -> (String, String) {
    let name = name.replace('\\', "");
    match name.rsplit_once('/') {
        Some((rack, host)) if rack.is_empty() || rack.starts_with('/') => (rack.to_owned(), host.to_owned()),
        Some((rack, host)) => (format!("/{rack}"), host.to_owned()),
        None => (String::new(), name),
    }
}

/// The host in the name of a TaskTracker (`tracker_w1:localhost/127.0.0.1:3`) or a NodeManager (`w1`).
fn tracker_host(name: &str) -> String {
    name.strip_prefix("tracker_").unwrap_or(name).split(':').next().unwrap_or_default().to_owned()
}
