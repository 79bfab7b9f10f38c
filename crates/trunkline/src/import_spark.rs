//! `trunkline import` of an event log of Spark.

use crate::args::Import;
use crate::failure::Failure;
use crate::import::{metered, write};
use crate::import_check::{Asked, Compared, percent, tell};
use crate::screen::Screen;
use crate::table::Table;
use history::spark::{Application, SparkImportError, SparkImported, import};
use results::{RunResult, SparkApplication};
use runs::{BUDGET, Error, FAR, try_once};
use std::fmt::Write as _;
use units::Time;

/// Writes the scenario of an application, and says how near a run of it comes to the record.
pub fn import_spark(args: &Import, application: &Application, cluster: Option<(&str, &str)>) -> Result<(), Failure> {
    let imported = import(application, cluster).map_err(|error| match error {
        SparkImportError::Scenario(error) => Failure::Runs(Error::Scenario(error)),
        other => Failure::Input(other.to_string()),
    })?;
    let text = to_toml(&imported);
    let scenario = sim::parse(&application.id, &text, &[]).map_err(Error::Scenario)?;
    let asked = Asked { none: args.no_check, strict: args.strict, to_output: args.output.is_none() };
    let run = || metered(|effort| Ok(try_once(&scenario, BUDGET, effort)?));
    let checked = if asked.none { None } else { Some(run()?) };
    write(args.output.as_deref(), &text)?;
    let aside: String = imported.notes.iter().fold(String::new(), |mut aside, note| {
        let _ = writeln!(aside, "note: {note}");
        aside
    });
    tell(aside, checked.as_ref(), asked, |result| compared(&imported, result))
}

/// The scenario, with where it is from.
fn to_toml(imported: &SparkImported) -> String {
    let id: String = imported.scenario.name.chars().filter(|c| !c.is_control()).collect();
    let took = imported.recorded.took;
    format!(
        "# From the event log of {id}: {took:.1} s from the first job to the end of the last. What a task took but\n\
         # for waiting for shuffle blocks is its work; the network is that of [network].\n\n{}",
        imported.scenario.to_short_toml()
    )
}

/// Recorded beside predicted figures, and what is not reproduced.
fn compared(imported: &SparkImported, result: &RunResult) -> Compared {
    let recorded = &imported.recorded;
    let Some(spark) = &result.spark else {
        let far = Some("the run has no application".to_owned());
        return Compared { table: String::new(), notes: String::new(), far };
    };
    let mut table = Table::new(["", "recorded", "predicted", "error"]);
    let mut row = |name: &str, unit: &str, recorded: f64, predicted: Option<f64>| {
        let error = predicted.filter(|_| recorded > 0.0).map(|predicted| predicted / recorded - 1.0);
        let shown = predicted.map_or_else(|| "no end".to_owned(), |predicted| format!("{predicted:.1} {unit}"));
        let error = percent(error, error.is_some_and(|error| error.abs() > FAR));
        table.row([name.to_owned(), format!("{recorded:.1} {unit}"), shown, error]);
    };
    let took = spark.took().map(Time::as_secs_f64);
    row("first submission to last end", "s", recorded.took, took);
    for ((name, length), predicted) in recorded.stages.iter().zip(lengths(spark)) {
        row(name, "s", *length, predicted);
    }
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let moved = [
        ("shuffle, network", recorded.shuffle_remote, spark.shuffle_remote()),
        ("shuffle, same node", recorded.shuffle_local, spark.shuffle_local()),
    ];
    for (name, recorded, predicted) in moved {
        row(name, "MB", megabytes(recorded), Some(megabytes(predicted.get())));
    }
    let far = match (took, spark.failure()) {
        (_, Some(failure)) => Some(failure),
        (Some(took), None) if (took / recorded.took - 1.0).abs() > FAR => Some(format!(
            "the scenario does not reproduce its application: {took:.1} s where {:.1} s are recorded",
            recorded.took
        )),
        _ => None,
    };
    Compared { table: table.shown(&Screen::of_output()), notes: String::new(), far }
}

/// From the launch of each stage's first task to the end of its last, in seconds; none where a task has no end.
fn lengths(spark: &SparkApplication) -> Vec<Option<f64>> {
    let mut ends: Vec<Option<(Time, Option<Time>)>> = vec![None; spark.stages.len()];
    for task in &spark.tasks {
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
