//! The reader of an event log, line by line.

use super::event::{self, TaskInfo, TaskMetrics};
use super::executors::unnamed;
use super::plan;
use super::{
    Application, Broadcast, Excluded, Executor, Job, Locality, Metrics, Rdd, Scan, ShuffleRead, ShuffleWrite, Stage,
    Task, TaskEnd,
};
use crate::error::{HistoryError as Error, Place, Problem};
use crate::memory::Memory;
use crate::words;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

/// The longest line that is read, in bytes: that of a job's start names every stage with its data sets, some 2 KB each.
pub const MOST_LINE: usize = 64 << 20;

/// Reads an application's log: [`LogReader::feed`] takes its files in their order, [`LogReader::finish`] gives the
/// application.
#[derive(Debug, Default)]
pub struct LogReader {
    application: Application,
    memory: Memory,
    /// Attempts without an end so far, by number.
    running: BTreeMap<u64, Task>,
    /// Places in the application's lists.
    stages: BTreeMap<(u32, u32), usize>,
    jobs: BTreeMap<u32, usize>,
    executors: BTreeMap<Arc<str>, usize>,
    /// Memory of executors that are not known yet: their block managers may come first.
    managers: BTreeMap<String, u64>,
    /// By the number of a metric: the place of the scan whose it is.
    metrics: BTreeMap<u64, usize>,
    /// By the number of a metric of files: the same.
    files: BTreeMap<u64, usize>,
    /// By the number of a metric: the place of the broadcast whose it is, of the one that it counts rows of, of the one
    /// whose rows are collected from its operator, and of the one that its operator reads.
    broadcasts: BTreeMap<u64, usize>,
    rows: BTreeMap<u64, usize>,
    collected: BTreeMap<u64, usize>,
    read: BTreeMap<u64, usize>,
    /// Whether an event of Spark's was there.
    seen: bool,
    line: Vec<u8>,
}

impl LogReader {
    /// Takes the content of one file, uncompressed. Places in errors count from its beginning.
    pub fn feed(&mut self, source: impl Read) -> Result<(), Error> {
        let mut source = BufReader::with_capacity(1 << 16, source);
        let (mut offset, mut number) = (0, 0);
        let mut broken: Option<Error> = None;
        if self.application.cut_off {
            return Err(Error::inconsistent(0, "the file before this one breaks off within a line: fetch it again"));
        }
        loop {
            number += 1;
            self.line.clear();
            let at = |error: Error| error.at(Place::Line(number));
            let read = source.by_ref().take(MOST_LINE as u64 + 1).read_until(b'\n', &mut self.line);
            if self.line.len() > MOST_LINE {
                let what = format!("a line of more than {MOST_LINE} bytes; an event stands on one line");
                return Err(at(Error::new(offset, Problem::Limit(what))));
            }
            match read {
                Ok(0) => {
                    self.application.cut_off |= broken.is_some();
                    return Ok(());
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    self.application.cut_off = true;
                    return Ok(());
                }
                Err(error) => return Err(at(Error::malformed(offset, "data of a log", error.to_string()))),
            }
            let line = std::mem::take(&mut self.line);
            let content = line.trim_ascii();
            if let Some(broken) = broken.take_if(|_| !content.is_empty()) {
                return Err(broken);
            }
            // An application that still runs, or that was killed, leaves a line without its end, after which whoever
            // copied it may have ended the line.
            match self.event(content) {
                Err(Wrong::Json(error)) if error.is_eof() => broken = Some(at(Wrong::Json(error).at(offset))),
                Err(wrong) => return Err(at(wrong.at(offset))),
                Ok(()) => {}
            }
            offset += line.len();
            self.line = line;
        }
    }

    /// The application, of which all files have been fed.
    pub fn finish(mut self) -> Result<Application, Error> {
        if !self.seen {
            return Err(Error::malformed(0, "events of Spark, as `{\"Event\":\"SparkListenerLogStart\",...}`", "none"));
        }
        self.application.jobs.sort_by_key(|job| job.id);
        self.application.stages.sort_by_key(|stage| (stage.id, stage.attempt));
        self.application.tasks.extend(self.running.into_values());
        // Before Spark 1.3 jobs had no times of their own.
        let Application { jobs, stages, .. } = &mut self.application;
        for job in jobs.iter_mut().filter(|job| job.submit_ms == 0) {
            let own = || stages.iter().filter(|stage| job.stages.binary_search(&stage.id).is_ok());
            job.submit_ms = own().filter_map(|stage| stage.submit_ms).min().unwrap_or(0);
            let ended = own().filter_map(|stage| stage.finish_ms).max();
            job.finish_ms = job.finish_ms.map(|finish| ended.unwrap_or(finish).max(finish));
        }
        self.application.executors.extend(unnamed(&self.application));
        Ok(self.application)
    }

    /// Takes the event of a line.
    fn event(&mut self, line: &[u8]) -> Result<(), Wrong> {
        if line.is_empty() {
            return Ok(());
        }
        let name = match line.strip_prefix(b"{\"Event\":\"").and_then(|rest| {
            let end = rest.iter().position(|byte| *byte == b'"')?;
            rest.get(..end)
        }) {
            Some(name) => String::from_utf8_lossy(name).into_owned(),
            None => parse::<event::Kind>(line)?.event.into_owned(),
        };
        self.seen |= name.starts_with("SparkListener");
        match name.as_str() {
            "SparkListenerLogStart" => self.application.version = parse::<event::LogStart>(line)?.version,
            "SparkListenerApplicationStart" => {
                let start = parse::<event::ApplicationStart>(line)?;
                let application = &mut self.application;
                (application.name, application.id) = (start.name, start.id.unwrap_or_default());
                application.start_ms = start.at;
            }
            "SparkListenerApplicationEnd" => {
                self.application.finish_ms = Some(parse::<event::ApplicationEnd>(line)?.at);
            }
            "SparkListenerEnvironmentUpdate" => {
                let update = parse::<event::EnvironmentUpdate>(line)?;
                if let Some(default_fs) = update.hadoop.default_fs {
                    self.memory.take(default_fs.len())?;
                    self.application.default_fs = Some(default_fs);
                }
                for (name, value) in update.properties.into_iter().filter(|(name, _)| name.starts_with("spark.")) {
                    self.memory.take(name.len() + value.len() + 128)?;
                    self.application.properties.insert(name, value);
                }
            }
            "SparkListenerBlockManagerAdded" => self.manager(parse(line)?)?,
            "SparkListenerExecutorAdded" => self.executor(parse(line)?)?,
            // Spark has no short name for it.
            "org.apache.spark.scheduler.SparkListenerMiscellaneousProcessAdded" => {
                let process = parse::<event::MiscellaneousProcessAdded>(line)?;
                if process.id == "yarn-am" {
                    self.application.master_ms.get_or_insert(process.at);
                }
            }
            // Spark has no short names for these; before 3.1 they were others, and are written beside them since.
            "org.apache.spark.scheduler.SparkListenerExecutorExcluded"
            | "org.apache.spark.scheduler.SparkListenerExecutorExcludedForStage"
            | "org.apache.spark.scheduler.SparkListenerExecutorBlacklisted"
            | "org.apache.spark.scheduler.SparkListenerExecutorBlacklistedForStage" => {
                let excluded = parse::<event::ExecutorExcluded>(line)?;
                self.memory.take(64)?;
                let executor = self.memory.name(&excluded.id)?;
                let stage = excluded.stage.map(|stage| (stage, excluded.attempt));
                self.application.excluded.insert(Excluded { executor, stage });
            }
            "SparkListenerExecutorRemoved" => {
                let removed = parse::<event::ExecutorRemoved>(line)?;
                if let Some(place) = self.executors.get(removed.id.as_str()) {
                    let executor = &mut self.application.executors[*place];
                    (executor.removed_ms, executor.reason) = (Some(removed.at), words(&removed.reason));
                }
            }
            "SparkListenerJobStart" => self.job(parse(line)?)?,
            "SparkListenerJobEnd" => {
                let end = parse::<event::JobEnd>(line)?;
                if let Some(place) = self.jobs.get(&end.id) {
                    let job = &mut self.application.jobs[*place];
                    job.finish_ms = Some(end.at.max(job.submit_ms));
                    job.succeeded = Some(end.result.result == "JobSucceeded");
                    job.failure = words(&end.result.exception.map(|exception| exception.message).unwrap_or_default());
                }
            }
            "SparkListenerStageSubmitted" | "SparkListenerStageCompleted" => {
                self.stage(parse::<event::StageEvent>(line)?.info)?;
            }
            "SparkListenerTaskStart" => {
                let start = parse::<event::TaskStart>(line)?;
                let task = self.task((start.stage, start.stage_attempt), &start.info)?;
                self.running.insert(task.id, task);
            }
            "SparkListenerTaskEnd" => {
                let end = parse::<event::TaskEnd>(line)?;
                let known = self.running.remove(&end.info.id);
                let fresh = match known {
                    Some(task) => task,
                    None => self.task((end.stage, end.stage_attempt), &end.info)?,
                };
                let (how, error) = ended(&end.reason);
                self.memory.take(error.len())?;
                let keeper = end.reason.keeper.as_ref().and_then(|keeper| keeper.executor.as_deref());
                let keeper = keeper.map(|executor| self.memory.name(executor)).transpose()?;
                self.application.tasks.push(Task {
                    keeper,
                    result_ms: (end.info.result > 0).then_some(end.info.result),
                    finish_ms: Some(end.info.finish.max(fresh.launch_ms)),
                    end: how,
                    error,
                    metrics: end.metrics.as_ref().map(metrics).unwrap_or_default(),
                    ..fresh
                });
            }
            // Events of SQL have their classes' whole names.
            "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart" => self.plan(line)?,
            "org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate" => {
                self.application.adaptive = true;
                self.plan(line)?;
            }
            "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates" => {
                for (metric, value) in parse::<event::DriverAccumUpdates>(line)?.updates {
                    if let Some(place) = self.files.get(&metric) {
                        self.application.scans[*place].files = u64::try_from(value).unwrap_or(0);
                    }
                    if let Some(place) = self.rows.get(&metric) {
                        self.application.broadcasts[*place].rows = u64::try_from(value).unwrap_or(0);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn manager(&mut self, added: event::BlockManagerAdded) -> Result<(), Problem> {
        let event::BlockManager { executor, host } = added.manager;
        if matches!(executor.as_str(), "driver" | "<driver>") {
            self.application.driver = host;
        } else if let Some(place) = self.executors.get(executor.as_str()) {
            self.application.executors[*place].memory = Some(added.memory);
        } else {
            self.memory.take(executor.len() + 64)?;
            self.managers.insert(executor, added.memory);
        }
        Ok(())
    }

    fn executor(&mut self, added: event::ExecutorAdded) -> Result<(), Problem> {
        self.memory.take(added.info.host.len() + size_of::<Executor>() + 128)?;
        let id = self.memory.name(&added.id)?;
        let executor = Executor {
            id: Arc::clone(&id),
            host: added.info.host,
            cores: added.info.cores,
            memory: self.managers.remove(&added.id),
            added_ms: added.at,
            ..Executor::default()
        };
        // A compacted log may name an executor again.
        if let Some(place) = self.executors.get(&id) {
            self.application.executors[*place] = executor;
        } else {
            self.executors.insert(id, self.application.executors.len());
            self.application.executors.push(executor);
        }
        Ok(())
    }

    /// The plan of a query, as it is at first or as adaptive execution has changed it: scans keep their metrics then.
    fn plan(&mut self, line: &[u8]) -> Result<(), Wrong> {
        let query = parse::<event::SqlExecution>(line)?.id;
        let plan::Planned { scans, broadcasts } = plan::planned(line);
        for plan::PlannedScan { name, format, location, metrics, files } in scans {
            let scan = Scan { query, name: words(&name), format: words(&format), location: words(&location), files: 0 };
            let scans = &mut self.application.scans;
            let known = metrics.iter().find_map(|metric| self.metrics.get(metric)).copied();
            let place = known.unwrap_or(scans.len());
            if known.is_none() {
                let texts = scan.name.len() + scan.format.len() + scan.location.len();
                self.memory.take(size_of::<Scan>() + texts)?;
                scans.push(scan);
            }
            for metric in metrics {
                if self.metrics.insert(metric, place).is_none() {
                    self.memory.take(48)?;
                }
            }
            if let Some(metric) = files {
                self.files.insert(metric, place);
            }
        }
        for plan::PlannedBroadcast { metrics, rows, keyed, collected, read } in broadcasts {
            let known = metrics.iter().find_map(|metric| self.broadcasts.get(metric)).copied();
            let place = known.unwrap_or(self.application.broadcasts.len());
            if known.is_none() {
                self.memory.take(size_of::<Broadcast>())?;
                self.application.broadcasts.push(Broadcast { keyed, ..Broadcast::default() });
            }
            // Where a plan has changed, operators below may be those of the one before, and this one's are run.
            for (metrics, of) in
                [(metrics, &mut self.broadcasts), (collected, &mut self.collected), (read, &mut self.read)]
            {
                for metric in metrics {
                    if of.insert(metric, place).is_none() {
                        self.memory.take(48)?;
                    }
                }
            }
            if let Some(metric) = rows {
                self.rows.insert(metric, place);
            }
        }
        Ok(())
    }

    fn job(&mut self, start: event::JobStart) -> Result<(), Problem> {
        let mut stages: Vec<u32> = start.stages.iter().map(|stage| stage.id).chain(start.stage_ids).collect();
        stages.sort_unstable();
        stages.dedup();
        self.memory.take(size_of::<Job>() + 4 * stages.len() + 64)?;
        for stage in start.stages {
            self.stage(stage)?;
        }
        let query = start.properties.and_then(|properties| properties.query?.parse().ok());
        let job = Job { id: start.id, submit_ms: start.at, stages, query, ..Job::default() };
        if let Some(place) = self.jobs.get(&start.id) {
            self.application.jobs[*place] = job;
        } else {
            self.jobs.insert(start.id, self.application.jobs.len());
            self.application.jobs.push(job);
        }
        Ok(())
    }

    /// What is said of a stage: when its job starts, when it is submitted, when it ends.
    fn stage(&mut self, info: event::StageInfo) -> Result<(), Problem> {
        let place = if let Some(place) = self.stages.get(&(info.id, info.attempt)) {
            *place
        } else {
            let name = words(&info.name);
            self.memory.take(size_of::<Stage>() + name.len() + 4 * info.parents.len() + 64)?;
            let mut rdds = Vec::new();
            for rdd in info.rdds {
                let name = words(&rdd.name);
                self.memory.take(size_of::<Rdd>() + name.len() + 4 * rdd.parents.len())?;
                let (memory, disk) = (rdd.level.memory, rdd.level.disk);
                rdds.push(Rdd { id: rdd.id, name, parents: rdd.parents, memory, disk });
            }
            let place = self.application.stages.len();
            self.stages.insert((info.id, info.attempt), place);
            let (id, attempt, tasks, parents) = (info.id, info.attempt, info.tasks, info.parents);
            self.application.stages.push(Stage { id, attempt, name, tasks, parents, rdds, ..Stage::default() });
            place
        };
        let stage = &mut self.application.stages[place];
        for (places, of) in
            [(&mut stage.scans, &self.metrics), (&mut stage.collected, &self.collected), (&mut stage.read, &self.read)]
        {
            places.extend(info.accumulables.iter().filter_map(|counted| of.get(&counted.id?)));
            places.sort_unstable();
            places.dedup();
        }
        stage.submit_ms = info.submit.or(stage.submit_ms);
        stage.finish_ms = info.finish.or(stage.finish_ms);
        if let Some(failure) = info.failure {
            stage.failure = words(&failure);
        }
        Ok(())
    }

    /// An attempt at a task without its end.
    fn task(&mut self, stage: (u32, u32), info: &TaskInfo) -> Result<Task, Problem> {
        self.memory.take(size_of::<Task>() + 48)?;
        Ok(Task {
            id: info.id,
            stage,
            index: info.index,
            attempt: info.attempt,
            partition: info.partition.and_then(|partition| u32::try_from(partition).ok()),
            executor: self.memory.name(&info.executor)?,
            host: self.memory.name(&info.host)?,
            locality: Locality::named(&info.locality),
            speculative: info.speculative,
            launch_ms: info.launch,
            ..Task::default()
        })
    }
}

/// Why a line is refused.
enum Wrong {
    Json(serde_json::Error),
    Problem(Problem),
}

impl Wrong {
    fn at(self, offset: usize) -> Error {
        match self {
            Self::Json(error) => {
                let words = error.to_string();
                let words = words.rsplit_once(" at line ").map_or(words.as_str(), |(words, _)| words);
                Error::malformed(offset + error.column().saturating_sub(1), "an event of Spark's log", words)
            }
            Self::Problem(problem) => Error::new(offset, problem),
        }
    }
}

impl From<Problem> for Wrong {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

fn parse<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, Wrong> {
    serde_json::from_slice(line).map_err(Wrong::Json)
}

/// How an attempt ended, and why (`TaskEndReason`).
fn ended(reason: &event::EndReason) -> (TaskEnd, String) {
    let end = match reason.reason.as_str() {
        "Success" => return (TaskEnd::Succeeded, String::new()),
        "FetchFailed" => TaskEnd::FetchFailed,
        "TaskKilled" | "TaskCommitDenied" => TaskEnd::Killed,
        "ExecutorLostFailure" | "Resubmitted" => TaskEnd::ExecutorLost,
        _ => TaskEnd::Failed,
    };
    let parts = [&reason.class, &reason.description, &reason.message, &reason.kill, &reason.loss];
    let said: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    (end, words(&if said.is_empty() { reason.reason.clone() } else { said.join(": ") }))
}

fn metrics(of: &TaskMetrics) -> Metrics {
    let mut metrics = Metrics {
        deserialize_ms: of.deserialize,
        deserialize_cpu_ns: of.deserialize_cpu,
        run_ms: of.run,
        cpu_ns: of.cpu,
        gc_ms: of.gc,
        serialize_ms: of.serialize,
        result_bytes: of.result,
        memory_spilled: of.memory_spilled,
        disk_spilled: of.disk_spilled,
        ..Metrics::default()
    };
    if let Some(read) = &of.read {
        metrics.read = ShuffleRead {
            remote_blocks: read.remote_blocks,
            local_blocks: read.local_blocks,
            remote_bytes: read.remote,
            remote_bytes_to_disk: read.remote_to_disk,
            local_bytes: read.local,
            wait_ms: read.wait,
            records: read.records,
        };
    }
    if let Some(write) = &of.write {
        metrics.write = ShuffleWrite { bytes: write.bytes, time_ns: write.time, records: write.records };
    }
    if let Some(input) = &of.input {
        (metrics.input_bytes, metrics.input_records) = (input.bytes, input.records);
    }
    if let Some(output) = &of.output {
        (metrics.output_bytes, metrics.output_records) = (output.bytes, output.records);
    }
    metrics
}
