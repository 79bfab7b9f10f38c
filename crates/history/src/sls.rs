//! The JSON trace of YARN's scheduler load simulator: where and when each container ran, without bytes.

use super::error::HistoryError as Error;
use super::{AttemptState, Id, JobHistory, JobState, TaskKind, Tasks};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Job {
    #[serde(rename = "am.type")]
    kind: Option<String>,
    #[serde(rename = "job.start.ms")]
    start: i64,
    #[serde(rename = "job.end.ms")]
    end: i64,
    /// Some writers omit the identifier, some write a number.
    #[serde(rename = "job.id")]
    id: Option<Value>,
    #[serde(rename = "job.tasks")]
    tasks: Vec<Container>,
}

#[derive(Deserialize)]
struct Container {
    #[serde(rename = "container.host")]
    host: Option<String>,
    #[serde(rename = "container.start.ms")]
    start: i64,
    #[serde(rename = "container.end.ms")]
    end: i64,
    #[serde(rename = "container.type")]
    kind: Option<String>,
}

/// Reads the job at `offset`, the `index`-th of its file. Times count from the start of the trace.
pub fn job(object: Value, offset: usize, index: usize) -> Result<JobHistory, Error> {
    let trace: Job = serde_json::from_value(object)
        .map_err(|e| Error::malformed(offset, "the fields of an SLS job", e.to_string()))?;
    if let Some(kind) = trace.kind.filter(|k| k != "mapreduce") {
        return Err(Error::malformed(offset, "a job with `am.type` \"mapreduce\"", format!("`{kind:.40}`")));
    }
    let job = JobHistory {
        id: match trace.id {
            Some(Value::String(id)) => id,
            Some(id) => id.to_string(),
            None => format!("job_{}", index + 1),
        },
        submit_ms: trace.start,
        launch_ms: trace.start,
        finish_ms: Some(trace.end),
        state: JobState::Succeeded,
        ..JobHistory::default()
    };
    let mut tasks = Tasks::default();
    let (mut maps, mut reduces) = (0, 0);
    for container in trace.tasks {
        let (kind, next) = match container.kind.as_deref() {
            Some("map") => (TaskKind::Map, &mut maps),
            Some("reduce") => (TaskKind::Reduce, &mut reduces),
            other => {
                let found = format!("`{:.40}`", other.unwrap_or("nothing"));
                return Err(Error::malformed(offset, "a `container.type` of \"map\" or \"reduce\"", found));
            }
        };
        // A container is an attempt. The trace does not say which attempts belong to one task, so each becomes a task.
        let id = Id { kind, task: *next, attempt: None };
        *next += 1;
        let task = tasks.task(&id);
        (task.start_ms, task.finish_ms) = (Some(container.start), Some(container.end));
        let attempt = tasks.attempt(&id, 0);
        (attempt.start_ms, attempt.finish_ms) = (Some(container.start), Some(container.end));
        attempt.state = AttemptState::Succeeded;
        if let Some(name) = container.host {
            let (rack, host) = name.rsplit_once('/').unwrap_or(("", &name));
            (attempt.rack, attempt.host) = (rack.to_owned(), host.to_owned());
        }
    }
    tasks.finish(job, offset)
}
