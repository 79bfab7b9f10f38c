//! Rumen's JSON trace: what `TraceBuilder` extracts from job histories (`LoggedJob`, `LoggedTask`,
//! `LoggedTaskAttempt`).
//!
//! It lacks the AppMaster and the end of a map's input, and marks no attempt as speculative. A job may take most of the
//! file, so its tasks are read one at a time.

use super::error::{HistoryError as Error, Place, Problem};
use super::json::{Few, Objects, Refused};
use super::memory::Memory;
use super::properties::Property;
use super::tasks::{Id, Tasks, stated};
use super::{AttemptState, Counted, Counters, JobHistory, JobState, rack_and_host};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoggedTask {
    #[serde(rename = "taskID")]
    task_id: String,
    start_time: Option<i64>,
    finish_time: Option<i64>,
    task_status: Option<String>,
    #[serde(default)]
    attempts: Few<LoggedAttempt>,
    #[serde(default)]
    preferred_locations: Few<LoggedLocation>,
}

#[derive(Deserialize)]
struct LoggedLocation {
    #[serde(default)]
    layers: Few<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoggedAttempt {
    #[serde(rename = "attemptID")]
    attempt_id: String,
    result: Option<String>,
    start_time: Option<i64>,
    finish_time: Option<i64>,
    host_name: Option<String>,
    shuffle_finished: Option<i64>,
    sort_finished: Option<i64>,
    #[serde(default)]
    clock_splits: Few<i64>,
    #[serde(default)]
    cpu_usages: Few<i64>,
    resource_usage_metrics: Option<ResourceUsage>,
    hdfs_bytes_read: Option<i64>,
    hdfs_bytes_written: Option<i64>,
    file_bytes_read: Option<i64>,
    file_bytes_written: Option<i64>,
    map_input_bytes: Option<i64>,
    map_input_records: Option<i64>,
    map_output_bytes: Option<i64>,
    map_output_records: Option<i64>,
    combine_input_records: Option<i64>,
    reduce_input_groups: Option<i64>,
    reduce_input_records: Option<i64>,
    reduce_shuffle_bytes: Option<i64>,
    reduce_output_records: Option<i64>,
    spilled_records: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceUsage {
    cumulative_cpu_usage: Option<i64>,
}

impl LoggedAttempt {
    /// The counters by Hadoop's names; Rumen writes -1 for what is not recorded.
    fn counters(&self) -> impl Iterator<Item = Counted<'static>> {
        let cpu = self.resource_usage_metrics.as_ref().and_then(|m| m.cumulative_cpu_usage).and_then(stated);
        let counters = [
            ("CPU_MILLISECONDS", cpu),
            ("HDFS_BYTES_READ", self.hdfs_bytes_read),
            ("HDFS_BYTES_WRITTEN", self.hdfs_bytes_written),
            ("FILE_BYTES_READ", self.file_bytes_read),
            ("FILE_BYTES_WRITTEN", self.file_bytes_written),
            ("MAP_INPUT_BYTES", self.map_input_bytes),
            ("MAP_INPUT_RECORDS", self.map_input_records),
            ("MAP_OUTPUT_BYTES", self.map_output_bytes),
            ("MAP_OUTPUT_RECORDS", self.map_output_records),
            ("COMBINE_INPUT_RECORDS", self.combine_input_records),
            ("REDUCE_INPUT_GROUPS", self.reduce_input_groups),
            ("REDUCE_INPUT_RECORDS", self.reduce_input_records),
            ("REDUCE_SHUFFLE_BYTES", self.reduce_shuffle_bytes),
            ("REDUCE_OUTPUT_RECORDS", self.reduce_output_records),
            ("SPILLED_RECORDS", self.spilled_records),
        ];
        counters.into_iter().filter_map(|(name, value)| {
            value.filter(|v| *v >= 0).map(|value| Counted { name, value, of_framework: true })
        })
    }
}

/// Reads all jobs.
pub fn read(bytes: &[u8], memory: &mut Memory) -> Result<Vec<JobHistory>, Error> {
    let mut jobs = Vec::new();
    let mut objects = Objects::new(bytes, 0);
    while let Some(object) = objects.next()? {
        let place = Place::Job(jobs.len() as u64 + 1);
        let mut fields = Fields::default();
        let mut refused = Refused::default();
        let mut tasks = Tasks::new(memory);
        let read = object.read_into(Reading { fields: &mut fields, tasks: &mut tasks, refused: &mut refused });
        read.map_err(|error| refused.or(error).at(place))?;
        let end = object.end();
        let job = fields.job().map_err(|problem| Error::new(object.offset, problem).at(place))?;
        jobs.push(tasks.finish(job, end).map_err(|error| error.at(place))?);
    }
    Ok(jobs)
}

/// A trace has jobs of one kind.
pub const MIXED: &str = "the file mixes jobs of Rumen and of SLS";

/// What a job says of itself.
#[derive(Default)]
struct Fields {
    job: JobHistory,
    /// Of each identifier, the part that names the job, as the first task has it.
    of_tasks: String,
    outcome: Option<String>,
    submit: Option<i64>,
    launch: Option<i64>,
}

impl Fields {
    fn job(self) -> Result<JobHistory, Problem> {
        let Self { mut job, of_tasks, outcome, submit, launch } = self;
        if job.id.is_empty() {
            return Err(Problem::malformed("a job of Rumen (with `jobID`)", "one without"));
        }
        let own = job.id.strip_prefix("job_").unwrap_or(&job.id);
        if !of_tasks.is_empty() && of_tasks != own {
            return Err(Problem::Inconsistent(format!(
                "{} has tasks of job_{of_tasks:.80}: two jobs are mixed",
                job.id
            )));
        }
        job.submit_ms = submit.ok_or_else(|| Problem::malformed("a job with `submitTime`", "one without"))?;
        // Traces made for SLS omit the launch.
        job.launch_ms = launch.and_then(stated).unwrap_or(job.submit_ms);
        job.state = match outcome.as_deref() {
            Some("SUCCESS") => JobState::Succeeded,
            Some("KILLED") => JobState::Killed,
            Some(_) => JobState::Failed,
            None if job.finish_ms.is_some() => JobState::Succeeded,
            None => JobState::Unfinished,
        };
        Ok(job)
    }
}

struct Reading<'a, 'm> {
    fields: &'a mut Fields,
    tasks: &'a mut Tasks<'m>,
    refused: &'a mut Refused,
}

impl<'de> DeserializeSeed<'de> for Reading<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Reading<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a job of Rumen")
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "jobID" => self.fields.job.id = map.next_value::<Option<String>>()?.unwrap_or_default(),
                "jobName" => self.fields.job.name = map.next_value::<Option<String>>()?.unwrap_or_default(),
                "submitTime" => self.fields.submit = map.next_value()?,
                "launchTime" => self.fields.launch = map.next_value()?,
                "finishTime" => self.fields.job.finish_ms = map.next_value::<Option<i64>>()?.and_then(stated),
                "outcome" => self.fields.outcome = map.next_value()?,
                "mapTasks" | "reduceTasks" => map.next_value_seed(TaskList(&mut self))?,
                "job.tasks" => return Err(self.refused.because(Problem::Inconsistent(MIXED.into()))),
                "jobProperties" => map.next_value_seed(Configuration(&mut self))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The tasks of a kind, each moved into the job as it is read.
struct TaskList<'r, 'a, 'm>(&'r mut Reading<'a, 'm>);

impl<'de> DeserializeSeed<'de> for TaskList<'_, '_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TaskList<'_, '_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of tasks")
    }
    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(logged) = list.next_element::<LoggedTask>()? {
            task(self.0.tasks, &mut self.0.fields.of_tasks, logged).map_err(|p| self.0.refused.because(p))?;
        }
        Ok(())
    }
}

/// The job's properties, by their names.
struct Configuration<'r, 'a, 'm>(&'r mut Reading<'a, 'm>);

impl<'de> DeserializeSeed<'de> for Configuration<'_, '_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Configuration<'_, '_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("properties by their names")
    }
    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((name, value)) = map.next_entry::<String, Option<String>>()? {
            let Some(value) = value else { continue };
            let bytes = 2 * name.len() + value.len() + 2 * size_of::<Property>();
            self.0.tasks.memory.take(bytes).map_err(|problem| self.0.refused.because(problem))?;
            let property = Property { written: name, value, source: "jobProperties".into(), ..Property::default() };
            self.0.fields.job.properties.enter(property);
        }
        Ok(())
    }
}

fn task(tasks: &mut Tasks, of_tasks: &mut String, logged: LoggedTask) -> Result<(), Problem> {
    let Some(id) = Id::parse(&logged.task_id)? else { return Ok(()) };
    same_job(of_tasks, &id)?;
    let names: Vec<String> = logged.preferred_locations.0.into_iter().map(|l| l.layers.0.join("/")).collect();
    let hosts = tasks.hosts(names.iter().map(String::as_str))?;
    let out = tasks.task(&id)?;
    (out.start_ms, out.finish_ms) = (logged.start_time.and_then(stated), logged.finish_time.and_then(stated));
    (out.state, out.preferred_hosts) = (state(logged.task_status.as_deref()), hosts);
    for attempt in logged.attempts.0 {
        self::attempt(tasks, of_tasks, attempt)?;
    }
    Ok(())
}

fn same_job(of_tasks: &mut String, id: &Id) -> Result<(), Problem> {
    if of_tasks.is_empty() {
        id.job.clone_into(of_tasks);
    }
    if of_tasks != id.job {
        let what = format!("tasks of job_{of_tasks:.80} and of job_{:.80} in one job: two jobs are mixed", id.job);
        return Err(Problem::Inconsistent(what));
    }
    Ok(())
}

fn state(result: Option<&str>) -> AttemptState {
    match result {
        Some("SUCCESS" | "SUCCEEDED") => AttemptState::Succeeded,
        Some("KILLED") => AttemptState::Killed,
        Some(_) => AttemptState::Failed,
        None => AttemptState::Unfinished,
    }
}

fn attempt(tasks: &mut Tasks, of_tasks: &mut String, logged: LoggedAttempt) -> Result<(), Problem> {
    let Some(id) = Id::parse(&logged.attempt_id)? else { return Ok(()) };
    same_job(of_tasks, &id)?;
    let counters = Counters::gather(logged.counters(), tasks.memory)?;
    let splits = (logged.clock_splits.0.len() + logged.cpu_usages.0.len()) * size_of::<i64>();
    tasks.memory.take(splits + logged.host_name.as_ref().map_or(0, String::len))?;
    let out = tasks.attempt(&id, id.attempt()?)?;
    out.state = state(logged.result.as_deref());
    (out.start_ms, out.finish_ms) = (logged.start_time.and_then(stated), logged.finish_time.and_then(stated));
    out.shuffle_finish_ms = logged.shuffle_finished.and_then(stated);
    out.sort_finish_ms = logged.sort_finished.and_then(stated);
    out.counters = counters;
    (out.clock_splits_ms, out.cpu_splits_ms) = (logged.clock_splits.0, logged.cpu_usages.0);
    if let Some(name) = logged.host_name.filter(|n| !n.ends_with("UNKNOWN")) {
        let (rack, host) = rack_and_host(&name);
        out.host.clone_from(&host);
        tasks.stands_in(&host, rack)?;
    }
    Ok(())
}
