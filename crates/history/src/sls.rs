//! The JSON trace of YARN's scheduler load simulator: where and when each container ran, without bytes.
//!
//! `hadoop-sls`, "SLS JSON input file format": since Hadoop 3 nearly every key may be left out, and one entry may stand
//! for several jobs or containers.

use super::error::{HistoryError as Error, Place, Problem};
use super::json::{Objects, Refused};
use super::memory::Memory;
use super::rumen::MIXED;
use super::tasks::{Id, Tasks};
use super::{AttemptState, JobHistory, JobState, TaskKind, rack_and_host};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// Most jobs or containers that one entry may stand for.
const MOST_COUNT: u32 = 100_000;

#[derive(Deserialize)]
struct Container {
    #[serde(rename = "container.host")]
    host: Option<String>,
    #[serde(rename = "container.start.ms")]
    start: Option<i64>,
    #[serde(rename = "container.end.ms")]
    end: Option<i64>,
    #[serde(rename = "duration.ms")]
    duration: Option<i64>,
    #[serde(rename = "container.type")]
    kind: Option<String>,
    count: Option<Count>,
}

/// What an object of the trace says: a job, or the numbers of nodes and racks.
#[derive(Default)]
struct Fields {
    kind: Option<String>,
    start: Option<i64>,
    end: Option<i64>,
    /// Some writers write a number.
    id: Option<Value>,
    count: Option<u32>,
    /// Whether it has the key, if only as an empty list.
    is_job: bool,
    containers: Vec<Container>,
}

/// Reads all jobs. Times count from the start of the trace.
pub fn read(bytes: &[u8], memory: &mut Memory) -> Result<Vec<JobHistory>, Error> {
    let mut jobs = Vec::new();
    let mut objects = Objects::new(bytes, 0);
    while let Some(object) = objects.next()? {
        let place = Place::Job(jobs.len() as u64 + 1);
        let (mut fields, mut refused) = (Fields::default(), Refused::default());
        let read = object.read_into(Reading { fields: &mut fields, memory, refused: &mut refused });
        read.map_err(|error| refused.or(error).at(place))?;
        if !fields.is_job {
            if jobs.is_empty() {
                continue; // `num.nodes` and `num.racks` come before the jobs.
            }
            let expected = "a job of SLS (with `job.tasks`)";
            return Err(Error::malformed(object.offset, expected, "another JSON value").at(place));
        }
        let count = fields.count.unwrap_or(1);
        for _ in 0..count {
            let index = jobs.len();
            jobs.push(job(&fields, index, memory, object.offset).map_err(|error| error.at(place))?);
        }
    }
    Ok(jobs)
}

fn job(fields: &Fields, index: usize, memory: &mut Memory, offset: usize) -> Result<JobHistory, Error> {
    let at = |problem| Error::new(offset, problem);
    if let Some(kind) = fields.kind.as_ref().filter(|k| *k != "mapreduce") {
        return Err(at(Problem::malformed("a job with `am.type` \"mapreduce\"", format!("`{kind:.40}`"))));
    }
    let start = fields.start.unwrap_or(0);
    memory.take(size_of::<JobHistory>() * 2).map_err(at)?;
    let mut job = JobHistory {
        id: match &fields.id {
            Some(Value::String(id)) if fields.count.is_none() => id.clone(),
            Some(id) if fields.count.is_none() => id.to_string(),
            _ => format!("job_{}", index + 1),
        },
        submit_ms: start,
        launch_ms: start,
        state: JobState::Succeeded,
        ..JobHistory::default()
    };
    let mut tasks = Tasks::without_hosts(memory);
    let (mut maps, mut reduces) = (0, 0);
    let mut last = start;
    for container in &fields.containers {
        let (kind, next) = match container.kind.as_deref() {
            Some("map") | None => (TaskKind::Map, &mut maps),
            Some("reduce") => (TaskKind::Reduce, &mut reduces),
            Some(other) => {
                let found = format!("`{other:.40}`");
                return Err(at(Problem::malformed("a `container.type` of \"map\" or \"reduce\"", found)));
            }
        };
        // Without a start a container is asked for when its job starts.
        let began = container.start.unwrap_or(start);
        let ended = match (container.end, container.duration) {
            (Some(end), _) => end,
            (None, Some(duration)) => began.saturating_add(duration),
            (None, None) => {
                let what = "a container with `container.end.ms` or `duration.ms`";
                return Err(at(Problem::malformed(what, "one with neither")));
            }
        };
        last = last.max(ended);
        for _ in 0..container.count.map_or(1, |count| count.0) {
            // A container is an attempt. The trace does not say which attempts belong to one task, so each becomes a
            // task.
            let id = Id::unnamed(kind, *next);
            *next += 1;
            let task = tasks.task(&id).map_err(at)?;
            (task.start_ms, task.finish_ms, task.state) = (Some(began), Some(ended), AttemptState::Succeeded);
            let attempt = tasks.attempt(&id, 0).map_err(at)?;
            (attempt.start_ms, attempt.finish_ms, attempt.state) = (Some(began), Some(ended), AttemptState::Succeeded);
            if let Some(name) = &container.host {
                let (rack, host) = rack_and_host(name);
                attempt.host.clone_from(&host);
                tasks.stands_in(&host, rack).map_err(at)?;
            }
        }
    }
    // The simulator takes 0 for an end that is left out.
    job.finish_ms = Some(fields.end.filter(|end| *end > 0).unwrap_or(last));
    tasks.finish(job, offset)
}

// === reading an object without holding more than its containers ===

struct Reading<'a> {
    fields: &'a mut Fields,
    memory: &'a mut Memory,
    refused: &'a mut Refused,
}

impl<'de> DeserializeSeed<'de> for Reading<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Reading<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a job of SLS")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { fields, memory, refused } = self;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "am.type" => fields.kind = map.next_value()?,
                "job.start.ms" => fields.start = map.next_value()?,
                "job.end.ms" => fields.end = map.next_value()?,
                "job.id" => fields.id = map.next_value::<Option<Scalar>>()?.map(|scalar| scalar.0),
                "job.count" => fields.count = map.next_value::<Option<Count>>()?.map(|count| count.0),
                "jobID" => return Err(refused.because(Problem::Inconsistent(MIXED.into()))),
                "job.tasks" => {
                    fields.is_job = true;
                    map.next_value_seed(List { containers: &mut fields.containers, memory, refused })?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// A text or a number, but no list that takes memory.
struct Scalar(Value);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Text(String),
            Number(i64),
        }
        Ok(Self(match Either::deserialize(deserializer)? {
            Either::Text(text) => text.into(),
            Either::Number(number) => number.into(),
        }))
    }
}

/// How many jobs or containers an entry stands for.
#[derive(Clone, Copy)]
struct Count(u32);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let count = u32::deserialize(deserializer)?;
        if count > MOST_COUNT {
            return Err(serde::de::Error::custom(format_args!("a count of {count}, more than {MOST_COUNT}")));
        }
        Ok(Self(count))
    }
}

struct List<'a> {
    containers: &'a mut Vec<Container>,
    memory: &'a mut Memory,
    refused: &'a mut Refused,
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of containers")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(container) = list.next_element::<Container>()? {
            let host = container.host.as_ref().map_or(0, String::len);
            self.memory.take(size_of::<Container>() * 2 + host).map_err(|problem| self.refused.because(problem))?;
            self.containers.push(container);
        }
        Ok(())
    }
}
