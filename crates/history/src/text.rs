//! The text history that JobTrackers of Hadoop 0.17 to 1.x wrote (`org.apache.hadoop.mapred.JobHistory`).
//!
//! A record is its kind and `KEY="value"` pairs, ended by ` .` at the end of a line; values may span lines. Since
//! `Meta VERSION="1"` quotes, equals signs and dots within values are escaped by backslashes. Before it a record is a
//! line. A later record of one task or attempt adds to the earlier ones: a JobTracker that was restarted writes some
//! again.

use super::error::{HistoryError as Error, Place, Problem};
use super::memory::Memory;
use super::tasks::{Id, Tasks, stated};
use super::{AttemptState, Counted, Counters, JobHistory, JobState, is_framework, rack_and_host, tracker_host, words};
use std::borrow::Cow;

/// The kinds of records.
const KINDS: [&str; 6] = ["Meta", "Job", "Task", "MapAttempt", "ReduceAttempt", "Jobtracker"];

/// Most bytes of one record; real ones have a few thousand.
const MOST_RECORD: usize = 4 << 20;

/// Whether a file that begins so is such a history: `KIND KEY="`.
pub fn begins(content: &[u8]) -> bool {
    let start = &content[..content.len().min(80)];
    let Some(space) = start.iter().position(|b| *b == b' ') else { return false };
    let kind = KINDS.iter().any(|kind| kind.as_bytes() == &start[..space]);
    let rest = start[space..].trim_ascii_start();
    let key = rest.iter().take_while(|b| b.is_ascii_uppercase() || **b == b'_').count();
    kind && key > 0 && rest[key..].starts_with(b"=\"")
}

/// Reads the history of one job.
pub fn read(bytes: &[u8], memory: &mut Memory) -> Result<JobHistory, Error> {
    let mut builder = Builder { job: JobHistory::default(), tasks: Tasks::new(memory) };
    let mut escaped = false;
    let mut records = Records { bytes, at: 0, line: 1, by_lines: false };
    let mut first = true;
    while let Some(record) = records.next()? {
        let at = |problem| Error::new(record.offset, problem).at(Place::Line(record.line));
        let pairs = Pairs::parse(record.text, escaped).map_err(at)?;
        if first {
            // Without a version there are neither escapes nor ends of records but those of lines.
            escaped = pairs.kind == "Meta" && pairs.get("VERSION").is_some_and(|version| version != "0");
            records.by_lines = !escaped;
            first = false;
        }
        builder.record(&pairs).map_err(at)?;
    }
    let end = |what: &str| Error::inconsistent(bytes.len(), what).at(Place::Line(records.line));
    if builder.job.id.is_empty() {
        return Err(end("the history names no job (no record `Job JOBID=`)"));
    }
    if builder.job.submit_ms <= 0 {
        return Err(end("the history tells of no submitted job (no SUBMIT_TIME): its beginning is missing"));
    }
    builder.tasks.finish(builder.job, bytes.len())
}

// === records and their pairs ===

struct Record<'a> {
    text: &'a [u8],
    offset: usize,
    line: u64,
}

struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
    /// Whether a record ends with its line, whatever that ends with.
    by_lines: bool,
}

impl<'a> Records<'a> {
    fn next(&mut self) -> Result<Option<Record<'a>>, Error> {
        loop {
            let (offset, line) = (self.at, self.line);
            let mut ended = false;
            while self.at < self.bytes.len() && !ended {
                let rest = &self.bytes[self.at..];
                let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
                self.at += length;
                self.line += 1;
                let so_far = self.bytes[offset..self.at].trim_ascii_end();
                // The first line says whether records end with ` .`; before it, both ends are taken.
                ended = self.by_lines || so_far.is_empty() || so_far.ends_with(b" .") || line == 1;
                if self.at - offset > MOST_RECORD {
                    let what = format!("a record of more than {MOST_RECORD} bytes, without ` .` at the end of a line");
                    return Err(Error::new(offset, Problem::Limit(what)).at(Place::Line(line)));
                }
            }
            let text = self.bytes[offset..self.at].trim_ascii();
            if text.is_empty() {
                if self.at >= self.bytes.len() {
                    return Ok(None);
                }
                continue;
            }
            if !ended {
                return Err(Error::truncated(self.bytes.len(), "a record").at(Place::Line(line)));
            }
            return Ok(Some(Record { text: text.strip_suffix(b" .").unwrap_or(text), offset, line }));
        }
    }
}

struct Pairs<'a> {
    kind: Cow<'a, str>,
    pairs: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Pairs<'a> {
    fn parse(record: &'a [u8], escaped: bool) -> Result<Self, Problem> {
        // Names of users and jobs may be in any encoding; what matters is ASCII.
        let split = record.iter().position(|b| *b == b' ').unwrap_or(record.len());
        let (kind, mut rest) = (String::from_utf8_lossy(&record[..split]), record[split..].trim_ascii_start());
        if !KINDS.contains(&&*kind) {
            let found: String = kind.chars().take(40).collect();
            return Err(Problem::malformed("a record (`Job`, `Task`, `MapAttempt` ...)", format!("`{found}`")));
        }
        let mut pairs = Vec::new();
        while !rest.is_empty() {
            let wrong = |rest: &[u8]| {
                let found: String = String::from_utf8_lossy(rest).chars().take(40).collect();
                Problem::malformed("`KEY=\"value\"`", format!("`{}`", found.escape_debug()))
            };
            let equals = rest.iter().position(|b| *b == b'=').ok_or_else(|| wrong(rest))?;
            let key = String::from_utf8_lossy(&rest[..equals]);
            let value = rest[equals + 1..].strip_prefix(b"\"").ok_or_else(|| wrong(rest))?;
            let mut end = 0;
            while value.get(end).is_some_and(|b| *b != b'"') {
                end += if value[end] == b'\\' { 2 } else { 1 };
            }
            if end >= value.len() {
                return Err(wrong(rest));
            }
            let text = String::from_utf8_lossy(&value[..end]);
            pairs.push((key, if escaped { unescape(text) } else { text }));
            rest = value[end + 1..].trim_ascii_start();
        }
        Ok(Self { kind, pairs })
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.pairs.iter().find(|(k, _)| k == key).map(|(_, value)| &**value)
    }

    fn ms(&self, key: &str) -> Result<Option<i64>, Problem> {
        match self.get(key) {
            None | Some("") => Ok(None),
            Some(text) => match text.parse() {
                Ok(ms) => Ok(stated(ms)),
                Err(_) => Err(Problem::malformed(format!("milliseconds in {key}"), format!("`{text:.40}`"))),
            },
        }
    }
}

/// Without the backslashes before other characters.
fn unescape(text: Cow<str>) -> Cow<str> {
    if !text.contains('\\') {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        out.extend(if c == '\\' { characters.next() } else { Some(c) });
    }
    out.into()
}

// === from records to a job ===

struct Builder<'m> {
    job: JobHistory,
    tasks: Tasks<'m>,
}

impl Builder<'_> {
    fn record(&mut self, pairs: &Pairs) -> Result<(), Problem> {
        match &*pairs.kind {
            "Job" => self.job(pairs),
            "Task" => self.task(pairs),
            "MapAttempt" | "ReduceAttempt" => self.attempt(pairs),
            _ => Ok(()),
        }
    }

    fn job(&mut self, pairs: &Pairs) -> Result<(), Problem> {
        let id = pairs.get("JOBID").ok_or_else(|| Problem::malformed("JOBID in a record `Job`", "none"))?;
        self.same_job(id.strip_prefix("job_").unwrap_or(id))?;
        id.clone_into(&mut self.job.id);
        if let Some(name) = pairs.get("JOBNAME") {
            name.clone_into(&mut self.job.name);
        }
        if let Some(at) = pairs.ms("SUBMIT_TIME")? {
            self.job.submit_ms = at;
        }
        if let Some(at) = pairs.ms("LAUNCH_TIME")? {
            self.job.launch_ms = at;
        }
        self.job.finish_ms = pairs.ms("FINISH_TIME")?.or(self.job.finish_ms);
        if let Some(reason) = pairs.get("FAIL_REASON").or_else(|| pairs.get("ERROR")) {
            self.job.diagnostics = words(reason);
        }
        match pairs.get("JOB_STATUS") {
            Some("SUCCESS") => self.job.state = JobState::Succeeded,
            Some("FAILED") => self.job.state = JobState::Failed,
            Some("KILLED") => self.job.state = JobState::Killed,
            _ => {}
        }
        if let Some(text) = pairs.get("COUNTERS") {
            self.job.counters = counters(text, self.tasks.memory)?;
        }
        Ok(())
    }

    /// The job's part of an identifier is that of the history's job.
    fn same_job(&self, other: &str) -> Result<(), Problem> {
        let own = self.job.id.strip_prefix("job_").unwrap_or(&self.job.id);
        if own.is_empty() || own == other {
            return Ok(());
        }
        Err(Problem::Inconsistent(format!(
            "a record of job_{other:.80} in the history of job_{own:.80}: two histories are mixed, put each into a file \
             of its own"
        )))
    }

    fn task(&mut self, pairs: &Pairs) -> Result<(), Problem> {
        let Some(id) = self.id(pairs, "TASKID")? else { return Ok(()) };
        if let Some(splits) = pairs.get("SPLITS") {
            let hosts = self.tasks.hosts(splits.split(','))?;
            self.tasks.task(&id)?.preferred_hosts = hosts;
        }
        let task = self.tasks.task(&id)?;
        if let Some(at) = pairs.ms("START_TIME")? {
            task.start_ms = Some(at);
        }
        if let Some(at) = pairs.ms("FINISH_TIME")? {
            task.finish_ms = Some(at);
        }
        if let Some(state) = state(pairs.get("TASK_STATUS")) {
            task.state = state;
        }
        // Until Hadoop 0.19 counters stand with the task alone.
        if let Some(text) = pairs.get("COUNTERS")
            && self.tasks.successful(&id).is_some_and(|attempt| attempt.counters.is_empty())
        {
            let counters = counters(text, self.tasks.memory)?;
            if let Some(attempt) = self.tasks.successful(&id) {
                attempt.counters = counters;
            }
        }
        Ok(())
    }

    fn attempt(&mut self, pairs: &Pairs) -> Result<(), Problem> {
        let Some(id) = self.id(pairs, "TASK_ATTEMPT_ID")? else { return Ok(()) };
        let attempt = self.tasks.attempt(&id, id.attempt()?)?;
        if let Some(at) = pairs.ms("START_TIME")? {
            attempt.start_ms = Some(at);
        }
        let tracker = pairs.get("TRACKER_NAME").map(tracker_host);
        let named = pairs.get("HOSTNAME").filter(|name| !name.is_empty());
        let (rack, host) = match named {
            // Until Hadoop 0.19 it is the TaskTracker's name.
            Some(name) if name.starts_with("tracker_") => (String::new(), tracker_host(name)),
            Some(name) => rack_and_host(name),
            None => (String::new(), tracker.unwrap_or_default()),
        };
        if !host.is_empty() && (attempt.host.is_empty() || !rack.is_empty()) {
            attempt.host = host;
        }
        if let Some(locality) = pairs.get("LOCALITY") {
            locality.clone_into(&mut attempt.locality);
        }
        attempt.speculative |= pairs.get("AVATAAR") == Some("SPECULATIVE");
        if let Some(state) = state(pairs.get("TASK_STATUS")) {
            attempt.state = state;
            attempt.finish_ms = pairs.ms("FINISH_TIME")?;
            attempt.shuffle_finish_ms = pairs.ms("SHUFFLE_FINISHED")?;
            attempt.sort_finish_ms = pairs.ms("SORT_FINISHED")?;
            attempt.error = pairs.get("ERROR").map(words).unwrap_or_default();
        }
        let host = attempt.host.clone();
        self.tasks.stands_in(&host, rack)?;
        if let Some(text) = pairs.get("COUNTERS") {
            let counters = counters(text, self.tasks.memory)?;
            self.tasks.attempt(&id, id.attempt()?)?.counters = counters;
        }
        Ok(())
    }

    /// The identifier of a record of a map or a reduce. Setup and cleanup tasks have numbers of maps, and types of
    /// their own.
    fn id<'a>(&self, pairs: &'a Pairs, key: &str) -> Result<Option<Id<'a>>, Problem> {
        if !matches!(pairs.get("TASK_TYPE"), None | Some("MAP" | "REDUCE")) {
            return Ok(None);
        }
        let text = pairs.get(key).ok_or_else(|| Problem::malformed(format!("{key} in a record"), "none"))?;
        // Until Hadoop 0.17: tip_200801181120_0001_m_000003, task_200801181120_0001_m_000003_0.
        let id = Id::parse(text)?;
        if let Some(id) = &id {
            self.same_job(id.job)?;
        }
        Ok(id)
    }
}

fn state(status: Option<&str>) -> Option<AttemptState> {
    Some(match status? {
        "SUCCESS" => AttemptState::Succeeded,
        "FAILED" => AttemptState::Failed,
        "KILLED" => AttemptState::Killed,
        _ => return None,
    })
}

// === counters ===

/// Counters in either compact form: `{(group)(its name)[(counter)(its name)(value)]...}...` since 0.20, with
/// backslashes before brackets in names; `group.counter:value,...` by displayed names before.
fn counters(text: &str, memory: &mut Memory) -> Result<Counters, Problem> {
    let list = if text.starts_with('{') { grouped(text)? } else { listed(text) };
    let counted =
        list.iter().map(|(group, name, value)| Counted { name, value: *value, of_framework: is_framework(group) });
    Counters::gather(counted, memory)
}

/// Group, counter and value.
type Listed<'a> = Vec<(Cow<'a, str>, Cow<'a, str>, i64)>;

fn grouped(text: &str) -> Result<Listed<'_>, Problem> {
    let mut scanner = Scanner(text);
    let mut list = Vec::new();
    while !scanner.0.is_empty() {
        scanner.expect('{')?;
        let group = scanner.parenthesised()?;
        scanner.parenthesised()?;
        while scanner.0.starts_with('[') {
            scanner.expect('[')?;
            let name = scanner.parenthesised()?;
            scanner.parenthesised()?;
            let value = scanner.parenthesised()?;
            scanner.expect(']')?;
            let number =
                value.parse().map_err(|_| Problem::malformed("a counter's value", format!("`{value:.40}`")))?;
            list.push((group.clone(), name, number));
        }
        scanner.expect('}')?;
    }
    Ok(list)
}

struct Scanner<'a>(&'a str);

impl<'a> Scanner<'a> {
    fn expect(&mut self, bracket: char) -> Result<(), Problem> {
        self.0 = self.0.strip_prefix(bracket).ok_or_else(|| {
            let found: String = self.0.chars().take(40).collect();
            Problem::malformed(format!("`{bracket}` in counters"), format!("`{found}`"))
        })?;
        Ok(())
    }

    fn parenthesised(&mut self) -> Result<Cow<'a, str>, Problem> {
        self.expect('(')?;
        let mut escape = false;
        let end = self.0.find(|c| {
            let ends = c == ')' && !escape;
            escape = c == '\\' && !escape;
            ends
        });
        let end = end.ok_or_else(|| Problem::malformed("`)` in counters", "the end of their list"))?;
        let inner = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Ok(unescape(inner.into()))
    }
}

/// Displayed names of Hadoop 0.17 to 0.19, and the counters that they are.
const DISPLAYED: [(&str, &str); 15] = [
    ("HDFS bytes read", "HDFS_BYTES_READ"),
    ("HDFS bytes written", "HDFS_BYTES_WRITTEN"),
    ("Local bytes read", "FILE_BYTES_READ"),
    ("Local bytes written", "FILE_BYTES_WRITTEN"),
    ("Map input records", "MAP_INPUT_RECORDS"),
    ("Map input bytes", "MAP_INPUT_BYTES"),
    ("Map output records", "MAP_OUTPUT_RECORDS"),
    ("Map output bytes", "MAP_OUTPUT_BYTES"),
    ("Combine input records", "COMBINE_INPUT_RECORDS"),
    ("Combine output records", "COMBINE_OUTPUT_RECORDS"),
    ("Reduce input groups", "REDUCE_INPUT_GROUPS"),
    ("Reduce input records", "REDUCE_INPUT_RECORDS"),
    ("Reduce output records", "REDUCE_OUTPUT_RECORDS"),
    ("Reduce shuffle bytes", "REDUCE_SHUFFLE_BYTES"),
    ("Spilled Records", "SPILLED_RECORDS"),
];

fn listed(text: &str) -> Listed<'_> {
    // Names of the user's counters may hold any character, so what does not fit is left out.
    let entries = text.split(',').filter_map(|entry| {
        let (name, value) = entry.rsplit_once(':')?;
        let (group, name) = name.split_once('.').unwrap_or(("", name));
        let name = DISPLAYED.iter().find(|(displayed, _)| *displayed == name).map_or(name, |(_, hadoop)| hadoop);
        Some((group.trim().into(), name.into(), value.trim().parse().ok()?))
    });
    entries.collect()
}
