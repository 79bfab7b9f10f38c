//! `trunkline import` of an event log of Spark.

use crate::args::Import;
use crate::emit;
use crate::failure::Failure;
use crate::import::{metered, write};
use crate::interrupt::STOP;
use crate::screen::Screen;
use crate::table::Table;
use history::spark::{Application, SparkImportError, SparkImported, import};
use results::{RunResult, SparkApplication};
use runs::Error;
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// A prediction holds within this part of what is recorded.
const NEAR: f64 = 0.1;

/// Writes the scenario of an application, and says how near a run of it comes to the record.
pub fn import_spark(args: &Import, application: &Application, cluster: Option<(&str, &str)>) -> Result<(), Failure> {
    let imported = import(application, cluster).map_err(|error| match error {
        SparkImportError::Scenario(error) => Failure::Runs(Error::Scenario(error)),
        other => Failure::Input(other.to_string()),
    })?;
    let text = to_toml(&imported);
    let scenario = sim::parse(&application.id, &text, &[]).map_err(Error::Scenario)?;
    let result = if args.no_check {
        None
    } else {
        let run = metered(|effort| {
            let watch = &mut |progress: &sim::Progress| {
                (effort.progress)(0, progress);
                STOP.check()
            };
            Ok(sim::run(&scenario, watch).map_err(Error::from)?)
        })?;
        Some(run)
    };
    write(args.output.as_deref(), &text)?;
    let mut aside = String::new();
    for note in &imported.notes {
        let _ = writeln!(aside, "note: {note}");
    }
    let Some(result) = result else {
        let _ = io::stderr().lock().write_all(aside.as_bytes());
        return Ok(());
    };
    let (table, far) = compared(&imported, &result);
    if args.output.is_none() {
        aside.push_str(&table);
    } else {
        emit(&table)?;
    }
    if let (Some(far), false) = (&far, args.strict) {
        let _ = writeln!(aside, "warning: {far}");
    }
    let _ = io::stderr().lock().write_all(aside.as_bytes());
    match far {
        Some(far) if args.strict => Err(Failure::Input(far)),
        _ => Ok(()),
    }
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
fn compared(imported: &SparkImported, result: &RunResult) -> (String, Option<String>) {
    let recorded = &imported.recorded;
    let Some(spark) = &result.spark else { return (String::new(), Some("the run has no application".to_owned())) };
    let mut table = Table::new(["", "recorded", "predicted", "error"]);
    let mut row = |name: &str, unit: &str, recorded: f64, predicted: Option<f64>| {
        let error = predicted.filter(|_| recorded > 0.0).map(|predicted| predicted / recorded - 1.0);
        let mark = if error.is_none_or(|error| error.abs() <= NEAR) { "" } else { " *" };
        let shown = predicted.map_or_else(|| "no end".to_owned(), |predicted| format!("{predicted:.1} {unit}"));
        let error = error.map_or_else(String::new, |error| format!("{:+.1} %{mark}", error * 100.0));
        table.row([name.to_owned(), format!("{recorded:.1} {unit}"), shown, error]);
    };
    let took = spark.took().map(units::Time::as_secs_f64);
    row("first submission to last end", "s", recorded.took, took);
    for (number, (name, length)) in recorded.stages.iter().enumerate() {
        row(name, "s", *length, of_stage(spark, number));
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
        (Some(took), None) if (took / recorded.took - 1.0).abs() > NEAR => Some(format!(
            "the scenario does not reproduce its application: {took:.1} s where {:.1} s are recorded",
            recorded.took
        )),
        _ => None,
    };
    (table.shown(&Screen::of_output()), far)
}

/// From the launch of a stage's first task to the end of its last, in seconds.
fn of_stage(spark: &SparkApplication, number: usize) -> Option<f64> {
    let tasks = || spark.tasks.iter().filter(|task| task.stage == number);
    let first = tasks().map(|task| task.launch).min()?;
    let last = tasks().map(|task| task.finish).max()??;
    Some(last.saturating_sub(first).as_secs_f64())
}
