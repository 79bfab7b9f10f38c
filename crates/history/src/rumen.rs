//! Rumen's JSON trace: what `TraceBuilder` extracts from job histories (`LoggedJob`, `LoggedTask`,
//! `LoggedTaskAttempt`).
//!
//! It lacks the AppMaster and the end of a map's input, and marks no attempt as speculative.

use super::error::HistoryError as Error;
use super::{AttemptState, Counters, Id, JobHistory, JobState, Tasks, stated};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoggedJob {
    #[serde(rename = "jobID")]
    job_id: String,
    job_name: Option<String>,
    submit_time: i64,
    #[serde(default = "unknown")]
    launch_time: i64,
    #[serde(default = "unknown")]
    finish_time: i64,
    outcome: Option<String>,
    #[serde(default)]
    map_tasks: Vec<LoggedTask>,
    #[serde(default)]
    reduce_tasks: Vec<LoggedTask>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoggedTask {
    #[serde(rename = "taskID")]
    task_id: String,
    #[serde(default = "unknown")]
    start_time: i64,
    #[serde(default = "unknown")]
    finish_time: i64,
    #[serde(default)]
    attempts: Vec<LoggedAttempt>,
    #[serde(default)]
    preferred_locations: Vec<LoggedLocation>,
}

#[derive(Deserialize)]
struct LoggedLocation {
    layers: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoggedAttempt {
    #[serde(rename = "attemptID")]
    attempt_id: String,
    result: Option<String>,
    #[serde(default = "unknown")]
    start_time: i64,
    #[serde(default = "unknown")]
    finish_time: i64,
    host_name: Option<String>,
    #[serde(default = "unknown")]
    shuffle_finished: i64,
    #[serde(default = "unknown")]
    sort_finished: i64,
    #[serde(default)]
    clock_splits: Vec<i64>,
    #[serde(default)]
    cpu_usages: Vec<i64>,
    resource_usage_metrics: Option<ResourceUsage>,
    /// The counters, which are fields of the attempt, and whatever a newer Rumen adds.
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceUsage {
    #[serde(default = "unknown")]
    cumulative_cpu_usage: i64,
}

fn unknown() -> i64 {
    -1
}

/// Rumen's and Hadoop's name of a counter.
const COUNTERS: [(&str, &str); 14] = [
    ("hdfsBytesRead", "HDFS_BYTES_READ"),
    ("hdfsBytesWritten", "HDFS_BYTES_WRITTEN"),
    ("fileBytesRead", "FILE_BYTES_READ"),
    ("fileBytesWritten", "FILE_BYTES_WRITTEN"),
    ("mapInputBytes", "MAP_INPUT_BYTES"),
    ("mapInputRecords", "MAP_INPUT_RECORDS"),
    ("mapOutputBytes", "MAP_OUTPUT_BYTES"),
    ("mapOutputRecords", "MAP_OUTPUT_RECORDS"),
    ("combineInputRecords", "COMBINE_INPUT_RECORDS"),
    ("reduceInputGroups", "REDUCE_INPUT_GROUPS"),
    ("reduceInputRecords", "REDUCE_INPUT_RECORDS"),
    ("reduceShuffleBytes", "REDUCE_SHUFFLE_BYTES"),
    ("reduceOutputRecords", "REDUCE_OUTPUT_RECORDS"),
    ("spilledRecords", "SPILLED_RECORDS"),
];

/// Reads the job at `offset`.
pub fn job(object: Value, offset: usize) -> Result<JobHistory, Error> {
    let logged: LoggedJob = serde_json::from_value(object)
        .map_err(|e| Error::malformed(offset, "the fields of a Rumen job", e.to_string()))?;
    let job = JobHistory {
        id: logged.job_id,
        name: logged.job_name.unwrap_or_default(),
        submit_ms: logged.submit_time,
        // Traces made for SLS omit the launch.
        launch_ms: stated(logged.launch_time).unwrap_or(logged.submit_time),
        finish_ms: stated(logged.finish_time),
        state: match logged.outcome.as_deref() {
            Some("SUCCESS") => JobState::Succeeded,
            Some("KILLED") => JobState::Killed,
            Some(_) => JobState::Failed,
            None if logged.finish_time > 0 => JobState::Succeeded,
            None => JobState::Unfinished,
        },
        ..JobHistory::default()
    };
    let mut tasks = Tasks::default();
    for task in logged.map_tasks.into_iter().chain(logged.reduce_tasks) {
        let Some(id) = Id::parse(&task.task_id, offset)? else { continue };
        let out = tasks.task(&id);
        (out.start_ms, out.finish_ms) = (stated(task.start_time), stated(task.finish_time));
        out.preferred_hosts =
            task.preferred_locations.into_iter().filter_map(|l| l.layers.into_iter().last()).collect();
        for attempt in task.attempts {
            self::attempt(&mut tasks, attempt, offset)?;
        }
    }
    tasks.finish(job, offset)
}

fn attempt(tasks: &mut Tasks, logged: LoggedAttempt, offset: usize) -> Result<(), Error> {
    let Some(id) = Id::parse(&logged.attempt_id, offset)? else { return Ok(()) };
    let out = tasks.attempt(&id, id.attempt(offset)?);
    out.state = match logged.result.as_deref() {
        Some("SUCCESS") => AttemptState::Succeeded,
        Some("KILLED") => AttemptState::Killed,
        Some(_) => AttemptState::Failed,
        None => AttemptState::Unfinished,
    };
    (out.start_ms, out.finish_ms) = (stated(logged.start_time), stated(logged.finish_time));
    (out.shuffle_finish_ms, out.sort_finish_ms) = (stated(logged.shuffle_finished), stated(logged.sort_finished));
    if let Some(name) = logged.host_name.filter(|n| !n.ends_with("UNKNOWN")) {
        let (rack, host) = name.rsplit_once('/').unwrap_or(("", &name));
        (out.rack, out.host) = (rack.to_owned(), host.to_owned());
    }
    let mut counters = Counters::default();
    for (theirs, hadoop) in COUNTERS {
        if let Some(value) = logged.rest.get(theirs).and_then(Value::as_i64).filter(|v| *v >= 0) {
            counters.enter(hadoop, value);
        }
    }
    if let Some(cpu) = logged.resource_usage_metrics.and_then(|m| stated(m.cumulative_cpu_usage)) {
        counters.enter("CPU_MILLISECONDS", cpu);
    }
    out.counters = counters;
    (out.clock_splits_ms, out.cpu_splits_ms) = (logged.clock_splits, logged.cpu_usages);
    Ok(())
}
