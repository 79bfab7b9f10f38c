//! `trunkline import` of an event log of Spark.

use crate::args::Import;
use crate::failure::Failure;
use crate::import::{metered, write};
use crate::import_check::{Asked, Compared, percent, tell};
use crate::screen::Screen;
use crate::table::Table;
use history::spark::{Application, SparkImported};
use results::RunResult;
use runs::{BUDGET, Error, FAR, check_spark, failure_in, spark_toml, try_once};
use std::fmt::Write as _;
use std::path::Path;

/// Writes the scenario of an application, and says how near a run of it comes to the record.
pub fn import_spark(
    args: &Import,
    (log, application): (&Path, &Application),
    cluster: Option<(&str, &str)>,
) -> Result<(), Failure> {
    let mut imported = runs::import_spark(application, cluster)?;
    // Where standard output goes is not known, so no path leads from there to the log.
    if let Some(path) = args.output.as_deref().and_then(|output| runs::path_beside(log, output)) {
        imported.refer_to(path);
    }
    let text = spark_toml(&imported);
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

/// Recorded beside predicted figures, and what is not reproduced.
pub fn compared(imported: &SparkImported, result: &RunResult) -> Compared {
    let Some(lines) = check_spark(imported, result) else {
        let far = Some("the run has no application".to_owned());
        return Compared { table: String::new(), notes: String::new(), far };
    };
    let mut table = Table::new(["", "recorded", "predicted", "error"]);
    for line in &lines {
        let (unit, error) = (line.unit, line.error());
        let shown = line.predicted.map_or_else(|| "no end".to_owned(), |predicted| format!("{predicted:.1} {unit}"));
        let error = percent(error, error.is_some_and(|error| error.abs() > FAR));
        table.row([line.name.clone(), format!("{:.1} {unit}", line.recorded), shown, error]);
    }
    let (took, recorded) = (lines.first().and_then(|whole| whole.predicted), imported.recorded.took);
    let far = match (took, failure_in(result)) {
        (_, Some(failure)) => Some(failure),
        (Some(took), None) if (took / recorded - 1.0).abs() > FAR => Some(format!(
            "the scenario does not reproduce its application: {took:.1} s where {recorded:.1} s are recorded"
        )),
        _ => None,
    };
    Compared { table: table.shown(&Screen::of_output()), notes: String::new(), far }
}
