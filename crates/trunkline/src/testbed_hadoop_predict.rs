//! A job that has just run on a testbed, simulated: simulated beside real, and the page of the same attempts.

use crate::emit;
use crate::failure::Failure;
use crate::import_check::{self, Asked};
use crate::interrupt::STOP;
use crate::progress::Meter;
use crate::testbed_hadoop_run::history_file;
use history::JobHistory;
use history::import::{self, ImportError, Settings, Sources};
use runs::{Effort, Error, Inputs, Likeness, Recorded, Told};
use std::path::Path;

/// Imports a job from the results of its run, simulates it, and says simulated beside real. `target` gets the simulated
/// run of the same attempts, with its page.
pub fn predict(results: &Path, job: &JobHistory, target: &Path, quiet: bool, silent: bool) -> Result<(), Failure> {
    let inputs = Inputs::new(&STOP);
    let history = history_file(results, &job.id)?;
    let found = inputs.job(std::slice::from_ref(&history), Some(&job.id))?;
    let cluster = results.join("cluster.toml");
    let text = inputs.text(&cluster)?;
    let described = inputs.settings(&results.join("run.toml"))?;
    let interfaces = described.interfaces.clone();
    let settings = match &found.configuration {
        None => described,
        Some((file, properties)) => {
            let own = Settings::of_job(properties);
            let own = own.map_err(|error| Failure::Input(format!("{}: {error}", file.display())))?;
            described.before(own)
        }
    };
    let name = cluster.display().to_string();
    let sources = Sources { cluster: Some((&name, &text)), settings: Some(settings), writer: None };
    let mut imported = import::import(&found.job, &sources).map_err(|error| match error {
        ImportError::Scenario(error) => Failure::Runs(Error::Scenario(error)),
        other => Failure::Input(format!("{}: {other}", history.display())),
    })?;
    sim::parse(&found.job.id, &imported.to_toml(), &[]).map_err(Error::Scenario)?;
    let meter = Meter::new(1, quiet);
    let progress = |run: usize, progress: &sim::Progress| meter.update(run, progress);
    let effort = Effort { threads: Some(1), stop: &STOP, progress: &progress };
    let asked = Asked { none: false, strict: false, to_output: silent };
    let checked = import_check::fit(&mut imported, asked, &effort)?;
    if !silent {
        emit(&format!("\n{}, simulated (predicted) beside real (recorded):\n", found.job.id))?;
        import_check::report(&imported, checked.as_ref(), asked)?;
    }
    let mut scenario = imported.scenario.clone();
    let job = inputs.replay(&mut scenario, &history)?;
    // One run stands for all: its attempts take what equal ones take on average.
    scenario.mapreduce.task_variation = 0.0;
    let recorded = Recorded { job, likeness: Likeness::Replayed, interfaces };
    let told = Told { recorded: Some(&recorded), changes: &[] };
    let single = runs::single(&scenario, told, None, target, &effort);
    meter.finish();
    let single = single?;
    if !silent {
        // Where an attempt runs is chance, and on slow links it decides: with few maps one that is far from its input
        // can double a job's time. Both are said, so that the chance is not taken for the model's error.
        let whole = single.comparison.as_ref().and_then(|comparison| comparison.rows.first());
        if let Some(row) = whole.filter(|row| row.actual > 0.0) {
            let error = 100.0 * (row.predicted / row.actual - 1.0);
            emit(&format!(
                "with the attempts where and when they were: {}: {:.1} {} ({error:+.1} %)\n",
                row.name, row.predicted, row.unit
            ))?;
        }
        emit(&format!("the page: {}/report.html\n", target.display()))?;
    }
    Ok(())
}
