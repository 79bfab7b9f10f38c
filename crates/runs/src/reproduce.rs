//! A recorded job and its scenario: the fit of what the record has and the simulation does not, and the check.
//!
//! Where recorded durations are the costs, an attempt takes the time that it took, net of what is simulated. What is
//! simulated, a run says: the remainder of each attempt and phase is raised by what the run's phase was too short, and
//! lowered by what it was too long, down to zero. The second run then differs by what overlaps, and corrects that. A
//! remainder holds nothing that waits for the network: a reduce's shuffle counts from the later of its own start and
//! the end of the last map, and bytes are fetched, read and written in any case.

use crate::{Effort, Error, cpu_time};
use history::JobHistory;
use history::import::{Imported, ImportedMany, Moments, Record};
use results::{Attempt, AttemptState, Phase, RunResult, TaskKind};
use scenario::{
    Fidelity, Job, Nodes, PlannedAttempt, PlannedKind, Scenario, Spark, SparkStage, TopologyKind, node_name,
};
use sim::RunError;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;
use units::Time;

/// CPU time that the runs of an import may take.
pub const BUDGET: Duration = Duration::from_mins(1);
/// With more packets than this a fit or a check goes by flows, which cost a hundredth and differ by what TCP takes to
/// get going.
const MOST_PACKETS: f64 = 8e6;
/// Payload of a full packet.
const SEGMENT: f64 = 1448.0;
/// Runs of a fit at most.
const RUNS: u32 = 4;
/// A job, and its attempts in the mean, that are as near as this are not fitted further.
const NEAR: f64 = 0.005;
/// A run that leaves more than this part of the error is the last.
const GAIN: f64 = 0.8;
/// A figure that differs by more than this is named.
pub const FAR: f64 = 0.10;
/// Differences below this, in seconds, are no matter of a model.
const SHORT: f64 = 0.5;

/// What a fit or a check came to.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The last run of the scenario as it is now; none if the budget did not suffice for one.
    pub result: Option<RunResult>,
    /// Runs that were made whole.
    pub runs: u32,
    /// CPU time of all runs.
    pub cpu: Duration,
    /// Whether the budget ended the last one.
    pub exhausted: bool,
    /// The result, and the fit, are of flows in place of packets.
    pub by_flows: bool,
}

/// Recorded and predicted figures of a job.
#[derive(Clone, Debug)]
pub struct Check {
    /// The figures, the job's time first.
    pub lines: Vec<Line>,
}

/// A job of many: seconds from launch to finish.
#[derive(Clone, Debug, PartialEq)]
pub struct JobLine {
    /// Its name.
    pub job: String,
    /// As recorded.
    pub recorded: f64,
    /// As predicted; none if it did not end.
    pub predicted: Option<f64>,
}

impl JobLine {
    /// The relative error; none where nothing is recorded or predicted.
    pub fn error(&self) -> Option<f64> {
        self.predicted.filter(|_| self.recorded > 0.0).map(|predicted| predicted / self.recorded - 1.0)
    }
    /// Whether the job's time is within 10 %.
    pub fn holds(&self) -> bool {
        self.error().is_some_and(|error| error.abs() <= FAR)
    }
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What it is.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// As recorded.
    pub recorded: f64,
    /// As predicted.
    pub predicted: f64,
}

impl Line {
    /// The relative error; none where nothing is recorded.
    pub fn error(&self) -> Option<f64> {
        (self.recorded > 0.0).then(|| self.predicted / self.recorded - 1.0)
    }
    /// Whether the error is one to name.
    pub fn is_far(&self) -> bool {
        let small = self.unit == "s" && (self.predicted - self.recorded).abs() < SHORT;
        !small && self.error().is_some_and(|error| error.abs() > FAR)
    }
}

impl Check {
    /// Whether the job's time is within 10 %.
    pub fn holds(&self) -> bool {
        self.lines.first().is_none_or(|job| job.error().is_none_or(|error| error.abs() <= FAR))
    }
    /// The phase to blame if the job's time is not: the one whose length errs most in seconds.
    pub fn blamed(&self) -> Option<&Line> {
        let seconds = |line: &&Line| (line.predicted - line.recorded).abs();
        let phases = self.lines.iter().skip(1).filter(|line| line.unit == "s");
        phases.max_by(|a, b| seconds(a).total_cmp(&seconds(b)))
    }
}

/// Runs the scenario once within what is left of the budget.
fn run(scenario: &Scenario, left: Duration, effort: &Effort<'_>) -> Result<Option<RunResult>, Error> {
    let begin = cpu_time();
    let result = sim::run(scenario, &mut |progress| {
        (effort.progress)(0, progress);
        let spent = cpu_time().saturating_sub(begin);
        if spent > left { ControlFlow::Break(()) } else { effort.stop.check() }
    });
    match result {
        Ok(result) => Ok(Some(result)),
        Err(RunError::Interrupted) => {
            effort.stop.look()?;
            Ok(None)
        }
        // What only flows cannot do is no error of the scenario, which is written in packets.
        Err(_) if scenario.run.fidelity == Fidelity::Flow => Ok(None),
        Err(other) => Err(other.into()),
    }
}

/// Runs an imported scenario, and where the recorded durations are its costs fits their remainders: the written
/// scenario then takes as long as the job did.
pub fn reproduce(imported: &mut Imported, budget: Duration, effort: &Effort<'_>) -> Result<Checked, Error> {
    let records: Vec<Record> = imported.record.iter().cloned().collect();
    fit(&mut imported.scenario, &records, budget, effort)
}

/// As [`reproduce`], for many jobs in one scenario: each has its own plan, and they are fitted in the same runs, beside
/// each other. None if they have no plans.
pub fn reproduce_all(
    imported: &mut ImportedMany,
    budget: Duration,
    effort: &Effort<'_>,
) -> Result<Option<Checked>, Error> {
    if imported.records.is_empty() {
        return Ok(None);
    }
    let records = imported.records.clone();
    fit(&mut imported.scenario, &records, budget, effort).map(Some)
}

/// Runs an imported scenario that has nothing to fit once.
pub fn try_once(scenario: &Scenario, budget: Duration, effort: &Effort<'_>) -> Result<Checked, Error> {
    fit(&mut scenario.clone(), &[], budget, effort)
}

/// Fits the plans of a scenario's jobs to their records, one for each job. Without records it runs once.
fn fit(scenario: &mut Scenario, records: &[Record], budget: Duration, effort: &Effort<'_>) -> Result<Checked, Error> {
    let begin = cpu_time();
    let spent = || cpu_time().saturating_sub(begin);
    let by_flows = goes_by_flows(scenario) && packets(scenario) > MOST_PACKETS;
    let by_flows = by_flows && (!records.is_empty() || scenario.spark.is_some());
    let mut checked = Checked { result: None, runs: 0, cpu: Duration::ZERO, exhausted: false, by_flows };
    let written = scenario.run.fidelity;
    if by_flows {
        scenario.run.fidelity = Fidelity::Flow;
    }
    let mut best: Option<(f64, Scenario, RunResult)> = None;
    loop {
        let mut average = scenario.clone();
        // One run stands for all: machines and tasks take what they take on average.
        (average.node.variation, average.mapreduce.task_variation) = (0.0, 0.0);
        let Some(result) = run(&average, budget.saturating_sub(spent()), effort)? else {
            checked.exhausted = true;
            break;
        };
        checked.runs += 1;
        if records.is_empty() {
            checked.result = Some(result);
            checked.cpu = spent();
            return Ok(checked);
        }
        let far = distance(records, &result);
        let fitted = adjusted(scenario, records, &result);
        let gains = best.as_ref().is_none_or(|(other, ..)| far < *other * GAIN);
        if best.as_ref().is_none_or(|(other, ..)| far < *other) {
            best = Some((far, scenario.clone(), result));
        }
        if far < NEAR || !gains || checked.runs == RUNS {
            break;
        }
        let Some(fitted) = fitted else { break };
        *scenario = fitted;
    }
    if let Some((_, fitted, result)) = best {
        *scenario = fitted;
        checked.result = Some(result);
    }
    scenario.run.fidelity = written;
    if by_flows && !checked.exhausted {
        // What is written runs in packets: so does the check, if it can.
        match run(scenario, budget.saturating_sub(spent()), effort)? {
            Some(result) => (checked.result, checked.by_flows) = (Some(result), false),
            None => checked.exhausted = true,
        }
    }
    checked.cpu = spent();
    Ok(checked)
}

/// Whether flows can show what a scenario has in packets.
fn goes_by_flows(scenario: &Scenario) -> bool {
    scenario.run.fidelity == Fidelity::Packet
        && scenario.network.topology != TopologyKind::Wifi
        && scenario.master.shared_buffer.is_none()
        && scenario.traffic.is_empty()
        && scenario.faults.is_empty()
}

/// Packets that the bytes of planned jobs, or of an application's shuffles, fill on their way between nodes, about.
fn packets(scenario: &Scenario) -> f64 {
    let of_jobs: f64 = scenario.job.iter().map(|job| packets_of(scenario, job)).sum();
    of_jobs + scenario.spark.as_ref().map_or(0.0, |spark| packets_of_shuffles(scenario, spark))
}

/// Of what each stage reads of its parents, on each worker its own part stays.
fn packets_of_shuffles(scenario: &Scenario, spark: &Spark) -> f64 {
    let written = |stage: &SparkStage| -> f64 {
        let each: f64 = stage.shuffle_writes.iter().map(|bytes| bytes.get() as f64).sum();
        each + stage.shuffle_write.get() as f64
    };
    let all: f64 = spark.parents().iter().flatten().map(|parent| written(&spark.stage[*parent])).sum();
    all * (1.0 - 1.0 / f64::from(scenario.cluster.workers.max(1))) / SEGMENT
}

fn packets_of(scenario: &Scenario, job: &Job) -> f64 {
    let Some(plan) = &job.plan else { return 0.0 };
    let mut bytes: f64 = job.splits.iter().map(|split| split.get() as f64).sum::<f64>() * job.map_ratio.unwrap_or(1.0);
    let replicas = f64::from(job.output_replication.unwrap_or(scenario.hdfs.replication) - 1);
    for attempt in &plan.attempt {
        bytes += replicas * attempt.output.unwrap_or_default().get() as f64;
        let place = attempt.task as usize;
        if attempt.kind == PlannedKind::Map
            && let (Some(split), Some(Nodes::List(hosts))) = (job.splits.get(place), job.split_hosts.get(place))
            && !hosts.iter().any(|host| node_name(*host) == attempt.node)
        {
            let part = attempt
                .after
                .zip(attempt.map)
                .map_or(1.0, |(after, map)| (after.as_secs_f64() / map.as_secs_f64().max(1e-3)).min(1.0));
            bytes += part * split.get() as f64;
        }
    }
    bytes / SEGMENT
}

/// How far a run is from the records: the mean over the jobs of the error of the job's time, or of the mean error of
/// its attempts if that is more.
fn distance(records: &[Record], result: &RunResult) -> f64 {
    let rows = succeeded(result, records.len());
    let far = (0..).zip(records.iter().zip(&rows)).map(|(job, (record, rows))| distance_of(record, result, job, rows));
    far.sum::<f64>() / records.len().max(1) as f64
}

fn distance_of(record: &Record, result: &RunResult, number: u32, rows: &Rows<'_>) -> f64 {
    let recorded = seconds(record.finish - record.launch).max(1e-3);
    let length = length(result, number).unwrap_or(0.0);
    let errors = record.attempts.iter().filter(|attempt| attempt.succeeded()).filter_map(|attempt| {
        let row = rows.get(&(attempt.map, attempt.task))?;
        let length = row.finish.saturating_sub(row.launched()).as_secs_f64();
        Some((length - seconds(attempt.end - attempt.start)).abs())
    });
    let (count, sum) = errors.fold((0.0, 0.0), |(count, sum), error| (count + 1.0, sum + error));
    let attempts = if count > 0.0 { sum / count / recorded } else { 0.0 };
    ((length - recorded).abs() / recorded).max(attempts)
}

/// Seconds from a job's launch to its end.
fn length(result: &RunResult, number: u32) -> Option<f64> {
    let job = result.jobs.get(number as usize)?;
    Some(job.finish?.saturating_sub(job.launch?).as_secs_f64())
}

/// The recorded jobs' times from launch to finish beside those of a run of their scenario.
pub fn check_all(imported: &ImportedMany, result: &RunResult) -> Vec<JobLine> {
    let jobs = (0..).zip(imported.records.iter().zip(&imported.scenario.job));
    let line = |(number, (record, job)): (u32, (&Record, &Job))| JobLine {
        job: job.name.clone(),
        recorded: seconds(record.finish - record.launch),
        predicted: length(result, number),
    };
    jobs.map(line).collect()
}

fn seconds(ms: i64) -> f64 {
    ms as f64 / 1e3
}

/// The attempts of a job that succeeded: whether a map, and the task's number.
type Rows<'a> = BTreeMap<(bool, u32), &'a Attempt>;

/// Those of the first so many jobs, sorted out in one pass: a trace has thousands of jobs.
fn succeeded(result: &RunResult, jobs: usize) -> Vec<Rows<'_>> {
    let mut all = vec![Rows::new(); jobs];
    for attempt in result.attempts.iter().filter(|attempt| attempt.state == AttemptState::Succeeded) {
        if let Some(rows) = all.get_mut(attempt.job as usize) {
            rows.insert((attempt.kind == TaskKind::Map, attempt.task), attempt);
        }
    }
    all
}

/// The ends of an attempt's phases in seconds. A map's count from its start, a reduce's from the later of its start and
/// the end of the last map.
struct Ends {
    first: Option<f64>,
    sort: Option<f64>,
    end: f64,
}

fn recorded_ends(attempt: &Moments, maps_end: i64) -> Ends {
    let from = if attempt.map { attempt.start } else { attempt.start.max(maps_end.min(attempt.end)) };
    let since = |moment: i64| seconds(moment - from).max(0.0);
    let sort = attempt.sort_end.filter(|_| attempt.first_end.is_some());
    Ends { first: attempt.first_end.map(since), sort: sort.map(since), end: since(attempt.end) }
}

fn predicted_ends(row: &Attempt, maps_end: Time) -> Ends {
    let start = row.launched();
    let from = if row.kind == TaskKind::Map { start } else { start.max(maps_end.min(row.finish)) };
    let since = |moment: Time| moment.saturating_sub(from).as_secs_f64();
    let starts = |phase: Phase| row.intervals.iter().filter(|i| i.phase == phase).map(|i| i.start).min();
    let ends = |phase: Phase| row.intervals.iter().filter(|i| i.phase == phase).map(|i| i.finish).max();
    let (first, sort) = if row.kind == TaskKind::Map {
        (starts(Phase::Merge).unwrap_or(row.finish), row.finish)
    } else {
        let reduce = starts(Phase::Reduce).or(starts(Phase::Write)).unwrap_or(row.finish);
        (ends(Phase::Fetch).unwrap_or(start).min(reduce), reduce)
    };
    Ends { first: Some(since(first)), sort: Some(since(sort)), end: since(row.finish) }
}

/// The scenario with each attempt's remainder corrected by what a run of it has shown; none without a plan.
fn adjusted(scenario: &Scenario, records: &[Record], result: &RunResult) -> Option<Scenario> {
    let mut scenario = scenario.clone();
    let mut any = None;
    let rows = succeeded(result, records.len());
    for ((record, job), rows) in records.iter().zip(&mut scenario.job).zip(&rows) {
        any = any.or(adjust(job, record, rows));
    }
    any.map(|()| scenario)
}

fn adjust(job: &mut Job, record: &Record, rows: &Rows<'_>) -> Option<()> {
    let maps_end = rows.values().filter(|row| row.kind == TaskKind::Map).map(|row| row.finish).max()?;
    let wanted: BTreeMap<(bool, u32), Ends> = record
        .attempts
        .iter()
        .filter(|attempt| attempt.succeeded())
        .map(|attempt| ((attempt.map, attempt.task), recorded_ends(attempt, record.maps_end())))
        .collect();
    let plan = job.plan.as_mut()?;
    for attempt in plan.attempt.iter_mut().filter(|attempt| attempt.succeeds()) {
        let key = (attempt.kind == PlannedKind::Map, attempt.task);
        if let (Some(wanted), Some(row)) = (wanted.get(&key), rows.get(&key)) {
            correct(attempt, wanted, &predicted_ends(row, maps_end));
        }
    }
    Some(())
}

/// Corrects the phases in their order. What one could not be shortened by, the next is shortened by.
fn correct(attempt: &mut PlannedAttempt, wanted: &Ends, found: &Ends) {
    let mut moved = 0.0;
    let mut shift = |place: &mut Option<Time>, wanted: f64, found: f64| {
        let now = place.unwrap_or_default().as_secs_f64();
        let next = (now + wanted - found - moved).max(0.0);
        moved += next - now;
        *place = Some(Time::from_ms((next * 1e3).round() as u64)).filter(|time| *time > Time::ZERO);
    };
    let first = if attempt.kind == PlannedKind::Map { &mut attempt.map } else { &mut attempt.copy };
    if let (Some(wanted), Some(found)) = (wanted.first, found.first) {
        shift(first, wanted, found);
    }
    if attempt.kind == PlannedKind::Map {
        let last = if wanted.first.is_some() { &mut attempt.sort } else { &mut attempt.map };
        return shift(last, wanted.end, found.end);
    }
    if let (Some(wanted), Some(found)) = (wanted.sort, found.sort) {
        shift(&mut attempt.sort, wanted, found);
    }
    shift(&mut attempt.reduce, wanted.end, found.end);
}

/// The recorded job beside a run of its scenario.
pub fn check(imported: &Imported, result: &RunResult) -> Check {
    let record = imported.record.clone().unwrap_or_else(|| Record::of(&imported.job, &imported.hosts));
    let mut lines = Vec::new();
    let mut add = |name, unit, recorded: f64, predicted: f64| lines.push(Line { name, unit, recorded, predicted });
    let job = result.jobs.first();
    let finish = job.and_then(|job| job.finish).unwrap_or(result.ended_at);
    let launch = job.and_then(|job| job.launch).unwrap_or(Time::ZERO);
    let since = |time: Time| time.saturating_sub(launch).as_secs_f64();
    add("job, launch to finish", "s", seconds(record.finish - record.launch), since(finish));
    for (map, names) in [(true, ["maps, mean", "maps, last end"]), (false, ["reduces, mean", "reduces, last end"])] {
        let recorded: Vec<&Moments> = record.succeeded(map).collect();
        let kind = if map { TaskKind::Map } else { TaskKind::Reduce };
        let rows: Vec<&Attempt> =
            result.attempts.iter().filter(|a| a.kind == kind && a.state == AttemptState::Succeeded).collect();
        if recorded.is_empty() {
            continue;
        }
        let mean = |sum: f64, count: usize| if count > 0 { sum / count as f64 } else { 0.0 };
        add(
            names[0],
            "s",
            mean(recorded.iter().map(|a| seconds(a.end - a.start)).sum(), recorded.len()),
            mean(rows.iter().map(|a| a.finish.saturating_sub(a.launched()).as_secs_f64()).sum(), rows.len()),
        );
        let last = recorded.iter().map(|a| a.end).max().unwrap_or(0);
        let predicted = rows.iter().map(|a| since(a.finish)).fold(0.0, f64::max);
        add(names[1], "s", seconds(last - record.launch), predicted);
        if map {
            continue;
        }
        let shuffled = recorded.iter().filter_map(|a| a.first_end).max();
        let from = recorded.iter().map(|a| a.start).min();
        if let (Some(to), Some(from)) = (shuffled, from) {
            let fetches = || rows.iter().flat_map(|a| &a.intervals).filter(|i| i.phase == Phase::Fetch);
            let first = rows.iter().map(|a| a.launched()).min().unwrap_or(Time::ZERO);
            let last = fetches().map(|i| i.finish).max().unwrap_or(first);
            add("shuffle, first start to last end", "s", seconds(to - from), last.saturating_sub(first).as_secs_f64());
        }
    }
    let counted = |reduce: bool, counter: &str| bytes(&imported.job, reduce, counter) / 1e6;
    let of = job.map(|job| job.bytes).unwrap_or_default();
    let megabytes = |bytes: units::Bytes| bytes.get() as f64 / 1e6;
    add(
        "read by maps",
        "MB",
        counted(false, "HDFS_BYTES_READ"),
        megabytes(of.hdfs_read_local + of.hdfs_read_remote + of.store_read.unwrap_or_default()),
    );
    add("shuffled", "MB", counted(true, "REDUCE_SHUFFLE_BYTES"), megabytes(of.shuffle_local + of.shuffle_remote));
    let written = counted(false, "HDFS_BYTES_WRITTEN") + counted(true, "HDFS_BYTES_WRITTEN");
    add("written", "MB", written, megabytes(of.written));
    // Less than a megabyte is no volume.
    lines.retain(|line| line.unit == "s" || line.recorded.max(line.predicted) >= 1.0);
    Check { lines }
}

/// A counter's sum over the attempts that succeeded.
fn bytes(job: &JobHistory, reduce: bool, counter: &str) -> f64 {
    let tasks = if reduce { &job.reduces } else { &job.maps };
    tasks.iter().filter_map(|task| task.successful()).map(|a| a.counters.count(counter) as f64).sum()
}
