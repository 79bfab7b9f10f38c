//! Applications of Spark: their event logs as scenarios, and what a run of one gives beside the record.

use crate::Error;
use history::spark::{Application, SparkImportError, SparkImported, import};
use results::page::{Comparison, ComparisonRow};
use results::{RunResult, SparkApplication, SparkTask, SparkTaskEnd};
use std::collections::BTreeSet;
use units::Time;

/// A recorded figure beside what a run gives.
#[derive(Clone, Debug, PartialEq)]
pub struct SparkLine {
    /// What it is of.
    pub name: String,
    /// Its unit: `s`, `MB`.
    pub unit: &'static str,
    /// As recorded.
    pub recorded: f64,
    /// By the run; none of what did not end in it.
    pub predicted: Option<f64>,
}

impl SparkLine {
    /// The error as a part of what is recorded.
    pub fn error(&self) -> Option<f64> {
        self.predicted.filter(|_| self.recorded > 0.0).map(|predicted| predicted / self.recorded - 1.0)
    }
}

/// Makes a scenario of an application. `cluster`: the name and the text of the cluster's.
pub fn import_spark(application: &Application, cluster: Option<(&str, &str)>) -> Result<SparkImported, Error> {
    import(application, cluster).map_err(|error| match error {
        SparkImportError::Scenario(error) => Error::Scenario(error),
        other => Error::Input(other.to_string()),
    })
}

/// The scenario of an application as a file, with where it is from.
pub fn spark_toml(imported: &SparkImported) -> String {
    let id: String = imported.scenario.name.chars().filter(|c| !c.is_control()).collect();
    let took = imported.recorded.took;
    format!(
        "# From the event log of {id}: {took:.1} s from the first job to the end of the last. What a task took but\n\
         # for waiting for shuffle blocks is its work; the network is that of [network].\n\n{}",
        imported.scenario.to_short_toml()
    )
}

/// Recorded beside predicted figures: first the whole, then each stage, then what the shuffles moved. None where the
/// run has no application.
pub fn check_spark(imported: &SparkImported, result: &RunResult) -> Option<Vec<SparkLine>> {
    let (recorded, spark) = (&imported.recorded, result.spark.as_ref()?);
    let line = |name: &str, unit, recorded, predicted| SparkLine { name: name.to_owned(), unit, recorded, predicted };
    let took = spark.took().map(Time::as_secs_f64);
    let mut lines = vec![line("first submission to last end", "s", recorded.took, took)];
    let stages = recorded.stages.iter().zip(lengths(spark));
    lines.extend(stages.map(|((name, length), predicted)| line(name, "s", *length, predicted)));
    lines.extend(
        recorded
            .executors
            .map(|last| line("ApplicationMaster to last executor", "s", last, executors(spark).map(Time::as_secs_f64))),
    );
    let of_stages: u32 = spark.stages.iter().map(|stage| stage.excluded_executors).sum();
    lines.extend(recorded.excluded.into_iter().flat_map(|excluded| {
        let count = |name, recorded: usize, predicted: f64| line(name, "executors", recorded as f64, Some(predicted));
        [
            count("excluded from stages", excluded.from_stages, of_stages.into()),
            count("excluded from the application", excluded.from_application, spark.excluded() as f64),
        ]
    }));
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let written = spark.tasks.iter().filter(|task| task.ended == SparkTaskEnd::Success).map(|task| task.shuffle_write);
    let moved = [
        ("shuffle, written", recorded.shuffle_write, written.sum()),
        ("shuffle, network", recorded.shuffle_remote, spark.shuffle_remote()),
        ("shuffle, same node", recorded.shuffle_local, spark.shuffle_local()),
    ];
    lines
        .extend(moved.map(|(name, recorded, predicted)| {
            line(name, "MB", megabytes(recorded), Some(megabytes(predicted.get())))
        }));
    lines.extend(recorded.into_workers.map(|bytes| {
        line("workers' interfaces, received", "MB", megabytes(bytes), Some(megabytes(into_workers(result))))
    }));
    Some(lines)
}

/// From the ApplicationMaster to the last executor that was there before the first job.
fn executors(spark: &SparkApplication) -> Option<Time> {
    let first = spark.jobs.first()?.submit?;
    let came = spark.executors.iter().filter_map(|executor| executor.registered);
    Some(came.filter(|at| *at <= first).max()?.saturating_sub(spark.master?))
}

/// Bytes that the interfaces of all workers received.
pub fn into_workers(result: &RunResult) -> u64 {
    // The master is the first of the nodes.
    result.nodes.iter().skip(1).map(|node| node.interface_received.get()).sum()
}

/// Recorded and predicted beside each other for the page. What did not end in the run has no line.
pub(crate) fn beside(imported: &SparkImported, result: &RunResult) -> Option<Comparison> {
    let row = |line: SparkLine| {
        let (unit, scale) = if line.unit == "MB" { ("B", 1e6) } else { (line.unit, 1.0) };
        let (predicted, actual) = (line.predicted? * scale, line.recorded * scale);
        Some(ComparisonRow { name: line.name, unit, predicted, actual, interval: None })
    };
    let rows = check_spark(imported, result)?.into_iter().filter_map(row).collect();
    let note = "the simulated scheduler decides where and when tasks start; what they worked is the event log's";
    let note = format!("{}: {note}.", imported.scenario.name);
    Some(Comparison { title: "Predicted beside recorded".to_owned(), note, rows })
}

/// From the launch of each stage's first attempt at a task to the end of the last, in seconds, of tasks that were done of
/// those that did so alone; none where a task has no end.
fn lengths(spark: &SparkApplication) -> Vec<Option<f64>> {
    let is_well = |task: &&SparkTask| task.ended == SparkTaskEnd::Success;
    let done: BTreeSet<_> = spark.tasks.iter().filter(is_well).map(|task| (task.stage, task.index)).collect();
    let counts = |task: &&SparkTask| is_well(task) || !done.contains(&(task.stage, task.index));
    let mut ends: Vec<Option<(Time, Option<Time>)>> = vec![None; spark.stages.len()];
    for task in spark.tasks.iter().filter(counts) {
        let (first, last) = ends[task.stage].unwrap_or((task.launch, Some(Time::ZERO)));
        let last = last.zip(task.finish).map(|(last, finish)| last.max(finish));
        ends[task.stage] = Some((first.min(task.launch), last));
    }
    let length = |end: Option<(Time, Option<Time>)>| {
        let (first, last) = end?;
        Some(last?.saturating_sub(first).as_secs_f64())
    };
    ends.into_iter().map(length).collect()
}
