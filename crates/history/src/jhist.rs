//! Hadoop's own job history: a line with the encoding, a line with the schema, then the events.
//!
//! The events and fields are those of `org.apache.hadoop.mapreduce.jobhistory` (Events.avpr), releases 0.23 to 3.5.
//! Events that do not say where and when tasks ran are skipped.

use super::avro::{Binary, Schema};
use super::error::HistoryError as Error;
use super::{Attempt, AttemptState, Counters, Id, JobHistory, JobState, Master, Tasks, stated};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

#[derive(Clone, Copy)]
pub enum Encoding {
    Binary,
    Json,
}

/// Reads the history of one job.
pub fn read(bytes: &[u8], encoding: Encoding) -> Result<JobHistory, Error> {
    let line = |from: usize| bytes[from..].iter().position(|b| *b == b'\n').map(|length| from + length);
    let schema_at = line(0).ok_or_else(|| Error::truncated(bytes.len(), "its first line"))? + 1;
    let schema_end = line(schema_at).ok_or_else(|| Error::truncated(bytes.len(), "the line with the Avro schema"))?;
    let schema = Schema::parse(&bytes[schema_at..schema_end], schema_at)?;
    let events_at = schema_end + 1;
    let mut builder = Builder::default();
    match encoding {
        Encoding::Binary => {
            let mut records = Binary::new(&schema, bytes, events_at);
            loop {
                let offset = records.offset();
                let Some(record) = records.next()? else { break };
                builder.event(record, offset)?;
            }
        }
        Encoding::Json => {
            let mut records = serde_json::Deserializer::from_slice(&bytes[events_at..]).into_iter::<Value>();
            loop {
                let offset = events_at + records.byte_offset();
                let Some(record) = records.next() else { break };
                let record = record.map_err(|e| Error::json(offset, &e))?;
                builder.event(schema.unwrap_json(record, offset)?, offset)?;
            }
        }
    }
    builder.finish(bytes.len())
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
    node_manager_host: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobSubmitted {
    jobid: String,
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
    job_status: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskStarted {
    taskid: String,
    start_time: i64,
    #[serde(default)]
    split_locations: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskFinished {
    taskid: String,
    finish_time: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttemptStarted {
    attempt_id: String,
    start_time: i64,
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
    counts: Vec<JhCounter>,
}

#[derive(Deserialize)]
struct JhCounter {
    name: String,
    value: i64,
}

impl From<JhCounters> for Counters {
    fn from(counters: JhCounters) -> Self {
        let mut out = Self::default();
        for counter in counters.groups.iter().flat_map(|g| &g.counts) {
            out.enter(&counter.name, counter.value);
        }
        out
    }
}

// === from events to a job ===

#[derive(Default)]
struct Builder {
    job: JobHistory,
    tasks: Tasks,
}

impl Builder {
    fn event(&mut self, record: Value, offset: usize) -> Result<(), Error> {
        let Event { kind, event } = fields(record, "an event", offset)?;
        match kind.as_str() {
            "AM_STARTED" => {
                let e: AmStarted = fields(event, &kind, offset)?;
                self.job.masters.push(Master { host: e.node_manager_host, start_ms: e.start_time });
            }
            "JOB_SUBMITTED" => {
                let e: JobSubmitted = fields(event, &kind, offset)?;
                (self.job.id, self.job.name, self.job.submit_ms) = (e.jobid, e.job_name, e.submit_time);
            }
            "JOB_INFO_CHANGED" => {
                let e: JobInfoChange = fields(event, &kind, offset)?;
                (self.job.submit_ms, self.job.launch_ms) = (e.submit_time, e.launch_time);
            }
            "JOB_INITED" => self.job.launch_ms = fields::<JobInited>(event, &kind, offset)?.launch_time,
            "JOB_FINISHED" => {
                let e: JobFinished = fields(event, &kind, offset)?;
                self.job.state = JobState::Succeeded;
                self.job.finish_ms = stated(e.finish_time);
                self.job.counters = e.total_counters.map(Counters::from).unwrap_or_default();
            }
            "JOB_FAILED" | "JOB_KILLED" | "JOB_ERROR" => {
                let e: JobUnsuccessful = fields(event, &kind, offset)?;
                self.job.state = if e.job_status == "KILLED" { JobState::Killed } else { JobState::Failed };
                self.job.finish_ms = stated(e.finish_time);
            }
            "TASK_STARTED" => self.task_started(&fields(event, &kind, offset)?, offset)?,
            "TASK_FINISHED" => {
                let e: TaskFinished = fields(event, &kind, offset)?;
                if let Some(id) = Id::parse(&e.taskid, offset)? {
                    self.tasks.task(&id).finish_ms = stated(e.finish_time);
                }
            }
            "MAP_ATTEMPT_STARTED" | "REDUCE_ATTEMPT_STARTED" => {
                self.attempt_started(fields(event, &kind, offset)?, offset)?;
            }
            "MAP_ATTEMPT_FINISHED" | "REDUCE_ATTEMPT_FINISHED" => {
                self.attempt_ended(fields(event, &kind, offset)?, AttemptState::Succeeded, offset)?;
            }
            "MAP_ATTEMPT_FAILED" | "REDUCE_ATTEMPT_FAILED" => {
                self.attempt_ended(fields(event, &kind, offset)?, AttemptState::Failed, offset)?;
            }
            "MAP_ATTEMPT_KILLED" | "REDUCE_ATTEMPT_KILLED" => {
                self.attempt_ended(fields(event, &kind, offset)?, AttemptState::Killed, offset)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn task_started(&mut self, event: &TaskStarted, offset: usize) -> Result<(), Error> {
        if let Some(id) = Id::parse(&event.taskid, offset)? {
            let task = self.tasks.task(&id);
            task.start_ms = stated(event.start_time);
            let hosts = event.split_locations.split(',').map(|h| h.trim().rsplit('/').next().unwrap_or_default());
            task.preferred_hosts = hosts.filter(|h| !h.is_empty()).map(str::to_owned).collect();
        }
        Ok(())
    }

    fn attempt_started(&mut self, event: AttemptStarted, offset: usize) -> Result<(), Error> {
        if let Some(id) = Id::parse(&event.attempt_id, offset)? {
            let attempt = self.tasks.attempt(&id, id.attempt(offset)?);
            attempt.start_ms = stated(event.start_time);
            attempt.host = host(&event.tracker_name);
            attempt.locality = event.locality.unwrap_or_default();
            attempt.speculative = event.avataar.is_some_and(|a| a == "SPECULATIVE");
        }
        Ok(())
    }

    fn attempt_ended(&mut self, event: AttemptEnded, state: AttemptState, offset: usize) -> Result<(), Error> {
        let Some(id) = Id::parse(&event.attempt_id, offset)? else { return Ok(()) };
        let attempt: &mut Attempt = self.tasks.attempt(&id, id.attempt(offset)?);
        attempt.state = state;
        attempt.finish_ms = stated(event.finish_time);
        attempt.map_finish_ms = stated(event.map_finish_time);
        attempt.shuffle_finish_ms = stated(event.shuffle_finish_time);
        attempt.sort_finish_ms = stated(event.sort_finish_time);
        // An attempt that was withdrawn before it got a container has the host UNKNOWN.
        if event.hostname != "UNKNOWN" {
            if attempt.host.is_empty() {
                attempt.host = host(&event.hostname);
            }
            attempt.rack = event.rackname.unwrap_or_default();
        }
        attempt.counters = event.counters.map(Counters::from).unwrap_or_default();
        // Progress that was not sampled is recorded as -1.
        if event.clock_splits.iter().chain(&event.cpu_usages).all(|ms| *ms >= 0) {
            (attempt.clock_splits_ms, attempt.cpu_splits_ms) = (event.clock_splits, event.cpu_usages);
        }
        Ok(())
    }

    fn finish(self, offset: usize) -> Result<JobHistory, Error> {
        if self.job.id.is_empty() {
            return Err(Error::inconsistent(offset, "the history tells of no submitted job (no JOB_SUBMITTED)"));
        }
        if self.job.launch_ms <= 0 {
            return Err(Error::inconsistent(offset, "the job was never launched (no JOB_INITED)"));
        }
        self.tasks.finish(self.job, offset)
    }
}

fn fields<T: DeserializeOwned>(record: Value, what: &str, offset: usize) -> Result<T, Error> {
    serde_json::from_value(record).map_err(|e| Error::malformed(offset, format!("the fields of {what}"), e.to_string()))
}

/// The host in the name of a TaskTracker (`tracker_w1:localhost/127.0.0.1:3`) or a NodeManager (`w1`).
fn host(name: &str) -> String {
    name.strip_prefix("tracker_").unwrap_or(name).split(':').next().unwrap_or_default().to_owned()
}
