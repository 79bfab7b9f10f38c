//! Hadoop's own job history: a line with the encoding, a line with the schema, then the events.
//!
//! The events and fields are those of `org.apache.hadoop.mapreduce.jobhistory` (Events.avpr), releases 0.23 to 3.5.
//! Events that do not say where and when tasks ran are skipped.

use super::avro::{Binary, MAX_VALUES, schema, unwrap_json};
use super::error::{HistoryError as Error, Place, Problem};
use super::json::Objects;
use super::memory::Memory;
use super::tasks::{Id, Tasks, stated};
use super::{
    Attempt, AttemptState, Counted, Counters, JobHistory, JobState, Master, is_framework, rack_and_host, tracker_host,
    words,
};
use ::avro::Schema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

#[derive(Clone, Copy)]
pub enum Encoding {
    Binary,
    Json,
}

/// Reads the history of one job.
pub fn read(bytes: &[u8], encoding: Encoding, memory: &mut Memory) -> Result<JobHistory, Error> {
    let line = |from: usize| memchr::memchr(b'\n', &bytes[from..]).map(|length| from + length);
    let schema_at = line(0).ok_or_else(|| Error::truncated(bytes.len(), "its first line"))? + 1;
    let schema_end = line(schema_at).ok_or_else(|| Error::truncated(bytes.len(), "the line with the Avro schema"))?;
    let schema = schema(&bytes[schema_at..schema_end], schema_at)?;
    let events_at = schema_end + 1;
    let mut builder = Builder { job: JobHistory::default(), tasks: Tasks::new(memory) };
    let mut count = 0;
    let mut next = |record: Value, offset: usize| {
        builder.event(record).map_err(|problem| Error::new(offset, problem).at(Place::Event(count + 1)))?;
        count += 1;
        Ok(())
    };
    let read = match encoding {
        Encoding::Binary => binary(bytes, events_at, &schema, &mut next),
        Encoding::Json => json(bytes, events_at, &schema, &mut next),
    };
    read.map_err(|error| if error.place.is_none() { error.at(Place::Event(count + 1)) } else { error })?;
    builder.finish(bytes.len())
}

/// What each event is handed to, with its offset.
type Next<'a> = &'a mut dyn FnMut(Value, usize) -> Result<(), Error>;

fn binary(bytes: &[u8], at: usize, schema: &Schema, next: Next) -> Result<(), Error> {
    let mut records = Binary::new(schema, bytes, at);
    loop {
        let offset = records.offset();
        another(bytes, offset)?;
        let Some(record) = records.next()? else { return Ok(()) };
        next(record, offset)?;
    }
}

fn json(bytes: &[u8], at: usize, schema: &Schema, next: Next) -> Result<(), Error> {
    let mut records = Objects::new(bytes, at);
    loop {
        let rest = &bytes[records.offset()..];
        another(bytes, records.offset() + rest.len() - rest.trim_ascii_start().len())?;
        let Some(record) = records.next()? else { return Ok(()) };
        if record.values > MAX_VALUES as usize {
            let what = format!("more than {MAX_VALUES} values in one event");
            return Err(Error::new(record.offset, Problem::Limit(what)));
        }
        next(unwrap_json(schema, record.read()?, record.offset)?, record.offset)?;
    }
}

/// Where an event should begin, the first line of another history does not.
fn another(bytes: &[u8], offset: usize) -> Result<(), Error> {
    if bytes[offset..].starts_with(b"Avro-Json\n") || bytes[offset..].starts_with(b"Avro-Binary\n") {
        let what = "a second history begins here: put each into a file of its own";
        return Err(Error::inconsistent(offset, what));
    }
    Ok(())
}

// === events ===

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    event: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AmStarted {
    start_time: i64,
    #[serde(default)]
    node_manager_host: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobSubmitted {
    jobid: String,
    #[serde(default)]
    job_name: String,
    submit_time: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobInfoChange {
    submit_time: i64,
    launch_time: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobInited {
    launch_time: i64,
    #[serde(default)]
    uberized: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobFinished {
    finish_time: i64,
    total_counters: Option<JhCounters>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobUnsuccessful {
    finish_time: i64,
    job_status: Option<String>,
    diagnostics: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskStarted {
    taskid: String,
    start_time: i64,
    split_locations: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskEnded {
    taskid: String,
    finish_time: i64,
    /// Of `TaskFailed`: FAILED or KILLED.
    status: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttemptStarted {
    attempt_id: String,
    start_time: i64,
    #[serde(default)]
    tracker_name: String,
    locality: Option<String>,
    avataar: Option<String>,
}

/// The end of any attempt: map or reduce, successful or not. Each kind has some of the moments.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttemptEnded {
    attempt_id: String,
    finish_time: i64,
    #[serde(default)]
    map_finish_time: i64,
    #[serde(default)]
    shuffle_finish_time: i64,
    #[serde(default)]
    sort_finish_time: i64,
    #[serde(default)]
    hostname: String,
    #[serde(default)]
    rackname: Option<String>,
    error: Option<String>,
    counters: Option<JhCounters>,
    #[serde(default)]
    clock_splits: Vec<i64>,
    #[serde(default)]
    cpu_usages: Vec<i64>,
}

#[derive(Deserialize)]
struct JhCounters {
    groups: Vec<JhCounterGroup>,
}

#[derive(Deserialize)]
struct JhCounterGroup {
    name: Option<String>,
    counts: Vec<JhCounter>,
}

#[derive(Deserialize)]
struct JhCounter {
    name: String,
    value: i64,
}

impl JhCounters {
    fn gather(counters: Option<&Self>, memory: &mut Memory) -> Result<Counters, Problem> {
        let groups = counters.map_or(&[][..], |counters| &counters.groups);
        let counted = groups.iter().flat_map(|group| {
            let of_framework = group.name.as_deref().is_none_or(is_framework);
            group.counts.iter().map(move |c| Counted { name: &c.name, value: c.value, of_framework })
        });
        Counters::gather(counted, memory)
    }
}

// === from events to a job ===

struct Builder<'m> {
    job: JobHistory,
    tasks: Tasks<'m>,
}

impl Builder<'_> {
    fn event(&mut self, record: Value) -> Result<(), Problem> {
        let Event { kind, event } = fields(record, "an event")?;
        if let Some(id) = event.get("jobid").and_then(Value::as_str) {
            self.same_job(id.strip_prefix("job_").unwrap_or(id))?;
        }
        match kind.as_str() {
            "AM_STARTED" => {
                let e: AmStarted = fields(event, &kind)?;
                self.tasks.memory.take(size_of::<Master>() * 2 + e.node_manager_host.len())?;
                self.job.masters.push(Master { host: e.node_manager_host, start_ms: e.start_time });
            }
            "JOB_SUBMITTED" => {
                let e: JobSubmitted = fields(event, &kind)?;
                (self.job.id, self.job.name, self.job.submit_ms) = (e.jobid, e.job_name, e.submit_time);
            }
            "JOB_INFO_CHANGED" => {
                let e: JobInfoChange = fields(event, &kind)?;
                (self.job.submit_ms, self.job.launch_ms) = (e.submit_time, e.launch_time);
            }
            "JOB_INITED" => {
                let e: JobInited = fields(event, &kind)?;
                (self.job.launch_ms, self.job.uber) = (e.launch_time, e.uberized);
            }
            "JOB_FINISHED" => {
                let e: JobFinished = fields(event, &kind)?;
                self.job.state = JobState::Succeeded;
                self.job.finish_ms = stated(e.finish_time);
                self.job.counters = JhCounters::gather(e.total_counters.as_ref(), self.tasks.memory)?;
            }
            "JOB_FAILED" | "JOB_KILLED" | "JOB_ERROR" => {
                let e: JobUnsuccessful = fields(event, &kind)?;
                let killed = e.job_status.is_some_and(|status| status == "KILLED");
                self.job.state = if killed { JobState::Killed } else { JobState::Failed };
                self.job.finish_ms = stated(e.finish_time);
                self.job.diagnostics = e.diagnostics.as_deref().map(words).unwrap_or_default();
            }
            "TASK_STARTED" => self.task_started(&fields(event, &kind)?)?,
            "TASK_FINISHED" => self.task_ended(&fields(event, &kind)?, AttemptState::Succeeded)?,
            "TASK_FAILED" => self.task_ended(&fields(event, &kind)?, AttemptState::Failed)?,
            "MAP_ATTEMPT_STARTED" | "REDUCE_ATTEMPT_STARTED" => self.attempt_started(fields(event, &kind)?)?,
            "MAP_ATTEMPT_FINISHED" | "REDUCE_ATTEMPT_FINISHED" => {
                self.attempt_ended(fields(event, &kind)?, AttemptState::Succeeded)?;
            }
            "MAP_ATTEMPT_FAILED" | "REDUCE_ATTEMPT_FAILED" => {
                self.attempt_ended(fields(event, &kind)?, AttemptState::Failed)?;
            }
            "MAP_ATTEMPT_KILLED" | "REDUCE_ATTEMPT_KILLED" => {
                self.attempt_ended(fields(event, &kind)?, AttemptState::Killed)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// An event's job is that of the events before it; `id` is without its `job_`.
    fn same_job(&mut self, id: &str) -> Result<(), Problem> {
        if self.job.id.is_empty() {
            self.job.id = format!("job_{id}");
        }
        let own = self.job.id.strip_prefix("job_").unwrap_or(&self.job.id);
        if own == id {
            return Ok(());
        }
        Err(Problem::Inconsistent(format!(
            "an event of job_{id:.80} in the history of job_{own:.80}: two histories are mixed, put each into a file of \
             its own"
        )))
    }

    /// A map's or a reduce's identifier.
    fn id<'a>(&mut self, text: &'a str) -> Result<Option<Id<'a>>, Problem> {
        let id = Id::parse(text)?;
        if let Some(id) = &id {
            self.same_job(id.job)?;
        }
        Ok(id)
    }

    fn task_started(&mut self, event: &TaskStarted) -> Result<(), Problem> {
        let Some(id) = self.id(&event.taskid)? else { return Ok(()) };
        let hosts = self.tasks.hosts(event.split_locations.iter().flat_map(|hosts| hosts.split(',')))?;
        let task = self.tasks.task(&id)?;
        (task.start_ms, task.preferred_hosts) = (stated(event.start_time), hosts);
        Ok(())
    }

    fn task_ended(&mut self, event: &TaskEnded, state: AttemptState) -> Result<(), Problem> {
        let Some(id) = self.id(&event.taskid)? else { return Ok(()) };
        let task = self.tasks.task(&id)?;
        task.finish_ms = stated(event.finish_time);
        task.state = if event.status.as_deref() == Some("KILLED") { AttemptState::Killed } else { state };
        Ok(())
    }

    fn attempt_started(&mut self, event: AttemptStarted) -> Result<(), Problem> {
        let Some(id) = self.id(&event.attempt_id)? else { return Ok(()) };
        let attempt = self.tasks.attempt(&id, id.attempt()?)?;
        attempt.start_ms = stated(event.start_time);
        attempt.host = tracker_host(&event.tracker_name);
        attempt.locality = event.locality.unwrap_or_default();
        attempt.speculative = event.avataar.is_some_and(|a| a == "SPECULATIVE");
        Ok(())
    }

    fn attempt_ended(&mut self, event: AttemptEnded, state: AttemptState) -> Result<(), Problem> {
        let Some(id) = self.id(&event.attempt_id)? else { return Ok(()) };
        let counters = JhCounters::gather(event.counters.as_ref(), self.tasks.memory)?;
        self.tasks.memory.take((event.clock_splits.len() + event.cpu_usages.len()) * size_of::<i64>())?;
        let attempt: &mut Attempt = self.tasks.attempt(&id, id.attempt()?)?;
        attempt.state = state;
        attempt.finish_ms = stated(event.finish_time);
        attempt.map_finish_ms = stated(event.map_finish_time);
        attempt.shuffle_finish_ms = stated(event.shuffle_finish_time);
        attempt.sort_finish_ms = stated(event.sort_finish_time);
        attempt.error = event.error.as_deref().map(words).unwrap_or_default();
        attempt.counters = counters;
        // Progress that was not sampled is recorded as -1.
        if event.clock_splits.iter().chain(&event.cpu_usages).all(|ms| *ms >= 0) {
            (attempt.clock_splits_ms, attempt.cpu_splits_ms) = (event.clock_splits, event.cpu_usages);
        }
        // An attempt that was withdrawn before it got a container has the host UNKNOWN.
        if event.hostname != "UNKNOWN" {
            // Until Hadoop 0.22 the rack stands before the host.
            let (rack, name) = rack_and_host(&event.hostname);
            if attempt.host.is_empty() {
                attempt.host = tracker_host(&name);
            }
            let host = attempt.host.clone();
            self.tasks.stands_in(&host, event.rackname.unwrap_or(rack))?;
        }
        Ok(())
    }

    fn finish(self, offset: usize) -> Result<JobHistory, Error> {
        if self.job.submit_ms <= 0 {
            let what = "the history tells of no submitted job (no JOB_SUBMITTED): its beginning is missing";
            return Err(Error::inconsistent(offset, what));
        }
        let ended_badly = matches!(self.job.state, JobState::Failed | JobState::Killed);
        if self.job.launch_ms <= 0 && !ended_badly {
            let what = "the job was never launched (no JOB_INITED): its history is incomplete, fetch it again";
            return Err(Error::inconsistent(offset, what));
        }
        self.tasks.finish(self.job, offset)
    }
}

fn fields<T: DeserializeOwned>(record: Value, what: &str) -> Result<T, Problem> {
    serde_json::from_value(record).map_err(|e| Problem::malformed(format!("the fields of {what}"), e.to_string()))
}
