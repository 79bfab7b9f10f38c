//! An application of Spark that has just run on a testbed, simulated: simulated beside real, and the page of it.

use crate::emit;
use crate::failure::Failure;
use crate::import_spark::compared;
use crate::interrupt::STOP;
use crate::progress::Meter;
use crate::recorded_run::CLUSTER;
use crate::testbed_hadoop_predict::Predicted;
use history::spark::Application;
use results::RunResult;
use runs::{Effort, Error, Inputs, Told, import_spark, spark_toml};
use std::path::Path;
use units::Time;

/// Imports an application from the results of its run, simulates it, and says simulated beside real. `target` gets the
/// simulated run with its page. `into_workers`: bytes that the workers' interfaces received meanwhile.
pub fn predict_spark(
    application: &Application,
    into_workers: u64,
    (results, target): (&Path, &Path),
    quiet: bool,
    silent: bool,
) -> Result<Option<Predicted>, Failure> {
    let cluster = results.join(CLUSTER);
    let text = Inputs::new(&STOP).text(&cluster)?;
    let mut imported = import_spark(application, Some((&cluster.display().to_string(), &text)))?;
    imported.recorded.into_workers = Some(into_workers);
    let scenario = sim::parse(&application.id, &spark_toml(&imported), &[]).map_err(Error::Scenario)?;
    let meter = Meter::new(1, quiet);
    let progress = |run: usize, progress: &sim::Progress| meter.update(run, progress);
    let effort = Effort { threads: Some(1), stop: &STOP, progress: &progress };
    let told = Told { application: Some(&imported), ..Told::default() };
    let single = runs::single(&scenario, told, None, target, &effort);
    meter.finish();
    let single = single?;
    if !silent {
        emit(&format!("\n{}, simulated (predicted) beside real (recorded):\n", application.id))?;
        let compared = compared(&imported, &single.result);
        emit(&format!("{}{}", compared.table, compared.notes))?;
        for note in &imported.notes {
            emit(&format!("note: {note}\n"))?;
        }
        if let Some(far) = compared.far {
            eprintln!("warning: {far}");
        }
        emit(&format!("the page: {}/report.html\n", target.display()))?;
    }
    Ok(of_result(&single.result))
}

fn of_result(result: &RunResult) -> Option<Predicted> {
    let seconds = result.spark.as_ref()?.took().map(Time::as_secs_f64)?;
    Some(Predicted { seconds, into_workers: runs::into_workers(result) })
}
