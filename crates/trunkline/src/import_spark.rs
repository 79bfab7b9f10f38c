//! `trunkline import` of an event log of Spark.

use crate::args::Import;
use crate::emit;
use crate::failure::Failure;
use crate::import::{metered, write};
use crate::screen::Screen;
use crate::table::Table;
use history::spark::{Application, SparkImported};
use results::RunResult;
use runs::{Error, check_spark, failure_in, run_scenario, spark_toml};
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// A prediction holds within this part of what is recorded.
const NEAR: f64 = 0.1;

/// Writes the scenario of an application, and says how near a run of it comes to the record.
pub fn import_spark(args: &Import, application: &Application, cluster: Option<(&str, &str)>) -> Result<(), Failure> {
    let imported = runs::import_spark(application, cluster)?;
    let text = spark_toml(&imported);
    let scenario = sim::parse(&application.id, &text, &[]).map_err(Error::Scenario)?;
    let result = if args.no_check { None } else { Some(metered(|effort| Ok(run_scenario(&scenario, 0, effort)?))?) };
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

/// Recorded beside predicted figures, and what is not reproduced.
fn compared(imported: &SparkImported, result: &RunResult) -> (String, Option<String>) {
    let Some(lines) = check_spark(imported, result) else {
        return (String::new(), Some("the run has no application".to_owned()));
    };
    let mut table = Table::new(["", "recorded", "predicted", "error"]);
    for line in &lines {
        let unit = line.unit;
        let mark = if line.error().is_none_or(|error| error.abs() <= NEAR) { "" } else { " *" };
        let shown = line.predicted.map_or_else(|| "no end".to_owned(), |predicted| format!("{predicted:.1} {unit}"));
        let error = line.error().map_or_else(String::new, |error| format!("{:+.1} %{mark}", error * 100.0));
        table.row([line.name.clone(), format!("{:.1} {unit}", line.recorded), shown, error]);
    }
    let (took, recorded) = (lines.first().and_then(|whole| whole.predicted), imported.recorded.took);
    let far = match (took, failure_in(result)) {
        (_, Some(failure)) => Some(failure),
        (Some(took), None) if (took / recorded - 1.0).abs() > NEAR => Some(format!(
            "the scenario does not reproduce its application: {took:.1} s where {recorded:.1} s are recorded"
        )),
        _ => None,
    };
    (table.shown(&Screen::of_output()), far)
}
